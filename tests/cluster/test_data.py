"""Data of the studies made on a cluster are those made in process, byte for byte."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from cluster.conftest import a_worker, on_nodes
from rookery import load
from rookery.cluster.crew import Spread
from rookery.cluster.nodes import joined
from rookery.errors import BadInput
from rookery.learn.lessons import gather_lessons
from rookery.learn.sections import LessonSettings
from rookery.learn.spread import in_turn
from rookery.nets.configs import TowerConfig
from rookery.nets.residual import build
from rookery.studies.domineering_bootstrap import BootstrapSettings, bootstrap_recipe
from rookery.studies.domineering_games import Recipe, alphabeta_recipe, make_games
from rookery.studies.domineering_rave import RaveSettings, rave_recipe
from rookery.studies.texas42_decisions import DecisionSettings, Elsewhere, Packed, labeller_of, make_decisions
from rookery.studies.texas42_positions import PositionSettings, make_positions


def files_in(folder: Path) -> dict[str, bytes]:
    """Return what a folder holds; npz files of NumPy have no dates in them."""
    kinds = (".npz", ".json", ".safetensors")
    return {path.name: path.read_bytes() for path in sorted(folder.rglob("*")) if path.suffix in kinds}


def backwards(maker: Any, tasks: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Do all tasks, the last one first: the order must not matter."""
    worker = maker()
    for task in reversed(list(tasks)):
        yield task, worker(task)


class Struck(Spread):
    """Work spread over a cluster, one of whose workers is killed after the first result."""

    nodes: Any

    def __call__(self, maker: Any, tasks: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        for number, found in enumerate(super().__call__(maker, tasks)):
            if number == 0:
                os.kill(a_worker(self.nodes), signal.SIGKILL)
            yield found


# ---- what is made, by whom -----------------------------------------------------------------------


def domineering(folder: Path, spread: Any) -> None:
    make_games(folder, 40, alphabeta_recipe(seed=2), spread=None if spread is in_turn else spread)


def with_network(folder: Path, spread: Any) -> None:
    """Make phase 3 of Domineering; what it needs of the phases before is made here."""
    make_games(folder, 24, alphabeta_recipe(seed=5))
    first = BootstrapSettings(width=4, blocks=0, round=3, openings=2, passes=1, batch=128)
    make_games(folder, 6, bootstrap_recipe(folder, 0, first, torch.device("cpu")))
    then = RaveSettings(simulations=6, passes=1, batch=128, at_once=3)
    recipe = rave_recipe(folder, 0, then, torch.device("cpu"), 1)
    make_games(folder, 12, recipe, spread=None if spread is in_turn else spread)


def positions(folder: Path, spread: Any) -> None:
    make_positions(folder, 20, PositionSettings(source="random", per_deal=2, per_shard=4), spread=spread)


def decisions(folder: Path, spread: Any) -> None:
    files, settings = ["exact", ""], DecisionSettings(worlds=2, per_shard=2)
    elsewhere = None if spread is in_turn else Elsewhere(spread, Packed(files))
    make_decisions(folder, 7, settings, labeller_of(files, "cpu", 1), elsewhere=elsewhere)


def lessons(folder: Path, spread: Any) -> None:
    settings = LessonSettings(supervisor="baseline:depth=2", positions=4000, threads=1)
    game = load("gomoku", size=7)
    gather_lessons(folder, game, settings, 5, spread=None if spread is in_turn else spread)


MAKERS = [domineering, with_network, positions, decisions, lessons]

# ---- tests ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("make", MAKERS)
def test_data_do_not_depend_on_the_order_in_which_their_parts_are_made(make, tmp_path, monkeypatch):
    monkeypatch.setattr("rookery.studies.domineering_games.PART", 10)
    make(tmp_path / "first", in_turn)
    make(tmp_path / "second", backwards)
    wanted, found = files_in(tmp_path / "first"), files_in(tmp_path / "second")
    assert len(wanted) > 1
    assert {name: found[name] for name in wanted} == wanted  # of lessons there may be more


@on_nodes
@pytest.mark.parametrize("make", MAKERS)
def test_data_made_on_a_cluster_are_those_made_in_process(make, nodes, tmp_path, monkeypatch):
    monkeypatch.setattr("rookery.studies.domineering_games.PART", 10)
    make(tmp_path / "first", in_turn)
    with joined(nodes.address) as cluster:
        spread = Struck(cluster, 2)
        spread.nodes = nodes
        make(tmp_path / "second", spread)
    wanted, found = files_in(tmp_path / "first"), files_in(tmp_path / "second")
    assert len(wanted) > 1
    assert {name: found[name] for name in wanted} == wanted


def test_a_phase_whose_rounds_follow_from_each_other_is_not_made_elsewhere(tmp_path):
    recipe = Recipe(2, 0, {}, make=lambda first, count: pytest.fail("nothing is to be made"))
    with pytest.raises(BadInput, match="games of phase 2 cannot be made elsewhere"):
        make_games(tmp_path, 10, recipe, spread=backwards)


def test_networks_of_phase_3_travel_as_they_are():
    network = build(TowerConfig(planes=2, rows=3, cols=4, width=4, blocks=1, policy_hidden=3, value_hidden=4), 1).eval()
    seen = torch.ones(2, 24)
    copied = pickle.loads(pickle.dumps(network))
    assert torch.equal(copied(seen)[0], network(seen)[0])
