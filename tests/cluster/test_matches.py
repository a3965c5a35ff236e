"""Matches on a cluster are those in process; players travel with their networks."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from cluster.conftest import ROOM, a_worker, kill_node, on_nodes
from nets.samples import on_one_thread
from rookery import load
from rookery.arena.ledger import Ledger
from rookery.arena.matches import Match, MatchSettings, play_match
from rookery.arena.players import make_player
from rookery.arena.sprt import Sprt
from rookery.cluster.matches import MatchCrew, MatchWorker, Travelling, refiled
from rookery.cluster.nodes import joined
from rookery.errors import BadInput
from rookery.nets.configs import PerceptronConfig
from rookery.nets.files import About, save_network
from rookery.nets.residual import build
from support import CONNECT_FOUR, run_rookery

SETTINGS = MatchSettings(games=24, seed=5, opening="random:2", threads=1, at_once=4)


@pytest.fixture
def network(tmp_path) -> str:
    """A file of a small network that plays connect four."""
    game = load(CONNECT_FOUR)
    about = About(game=game.spec, rules_version=game.version, observation="planes", step=0, notes="")
    save_network(tmp_path / "small.pth", build(PerceptronConfig(inputs=84, actions=7, hidden=(8,)), 1), about)
    return str(tmp_path / "small.pth")


def match_of(first: str, second: str, settings: MatchSettings, finished: Any = None, **more: Any) -> Match:
    game = load(CONNECT_FOUR)
    makers = (lambda: make_player(first, game)), (lambda: make_player(second, game))
    return play_match(game, *makers, settings, finished, **more)


def games_of(match: Match) -> list[Any]:
    """Return all games of a match without what is different each time."""
    return [replace(record, seconds=(0.0, 0.0), match="", date="") for _, record in sorted(match.records.items())]


# ---- without a cluster ---------------------------------------------------------------------------


def test_a_text_is_written_again_with_other_files():
    def other(name: str) -> str:
        return f"/there/{name}"

    assert refiled("net:a.pth,sims=8", other) == "net:/there/a.pth,sims=8"
    assert refiled("net:zoo:pylos,sims=8", other) == "net:zoo:pylos,sims=8"
    assert refiled("oracle:lookahead:b.pth", other) == "oracle:lookahead:/there/b.pth"
    assert refiled("bidder:stage2:c.pth", other) == "bidder:stage2:/there/c.pth"
    assert refiled("eq:worlds=5,oracle=d.pth", other) == "eq:worlds=5,oracle=/there/d.pth"
    assert refiled("eq:worlds=5", other) == "eq:worlds=5"
    assert refiled("uci:engine x,time=1", other) == "uci:engine x,time=1"


def test_a_player_plays_where_its_file_is_not(network):
    travelling = Travelling(f"net:{network},sims=2", "as it was called")
    os.remove(network)
    assert travelling.make(CONNECT_FOUR).name == "as it was called"


def test_a_worker_plays_the_games_of_a_match_whoever_plays_the_others(network):
    texts = f"net:{network},sims=2", "random"
    with on_one_thread():
        whole = match_of(*texts, replace(SETTINGS, games=8))
        plans = all_plans(replace(SETTINGS, games=8))
        worker = MatchWorker(CONNECT_FOUR, (Travelling(texts[0], texts[0]), Travelling(texts[1], texts[1])), SETTINGS)
        records = [*worker(plans[5:]), *worker(plans[:5])]
    found = {record.number: record.actions for record in records}
    assert found == {number: record.actions for number, record in whole.records.items()}


def all_plans(settings: MatchSettings) -> list[Any]:
    from rookery.arena.crew import Plans

    plans = Plans(load(CONNECT_FOUR), settings)
    return [plans.take() for _ in range(settings.games)]


# ---- on nodes ------------------------------------------------------------------------------------


def hire(cluster: Any, first: str, second: str, workers: int = 2) -> Any:
    return partial(MatchCrew, cluster, (first, second), workers, lambda what: None)


@pytest.mark.parametrize("second", ["random", "alphabeta:depth=2"])
@on_nodes
def test_a_match_on_a_cluster_is_the_match_in_process(nodes, network, second):
    first = f"net:{network},sims=4"
    with on_one_thread():
        alone = match_of(first, second, SETTINGS)
    with joined(nodes.address) as cluster:
        spread = match_of(first, second, SETTINGS, hire=hire(cluster, first, second))
    assert games_of(spread) == games_of(alone)
    assert spread.score == alone.score


@on_nodes
def test_a_test_is_decided_after_the_same_pair(nodes):
    settings = replace(SETTINGS, games=400, sprt=Sprt(0, 100))
    alone = match_of("alphabeta:depth=2", "random", settings)
    with joined(nodes.address) as cluster:
        spread = match_of("alphabeta:depth=2", "random", settings, hire=hire(cluster, "alphabeta:depth=2", "random"))
    assert alone.verdict == "H1"
    assert (spread.verdict, spread.ordered) == (alone.verdict, alone.ordered)


@on_nodes
def test_a_match_is_complete_and_the_same_though_a_worker_and_a_node_are_killed(nodes):
    texts, settings = ("alphabeta:depth=3", "mcts:sims=200"), replace(SETTINGS, games=120)
    alone = match_of(*texts, settings)
    node = nodes.add_node(num_cpus=2, object_store_memory=ROOM)
    nodes.wait_for_nodes()
    killed: list[str] = []

    def finished(match: Match, record: Any) -> None:
        if len(match.records) == 10:
            kill_node(nodes, node)
            killed.append("node")
        if len(match.records) == 20:
            os.kill(a_worker(nodes), signal.SIGKILL)
            killed.append("worker")

    with joined(nodes.address) as cluster:
        spread = match_of(*texts, settings, finished, hire=hire(cluster, *texts, workers=4))
    assert killed == ["node", "worker"]
    assert games_of(spread) == games_of(alone)


@on_nodes
def test_the_command_plays_on_a_cluster_what_it_plays_here(nodes, tmp_path):
    def played(*more: str) -> dict[str, Any]:
        ledger = tmp_path / f"{len(more)}.db"
        match = ["match", "greedy", "random", "--game", "domineering:rows=4,cols=4", "--games", "24", "--seed", "3"]
        done = run_rookery(*match, "--ledger", str(ledger), "--json", *more)
        assert done.returncode == 0, done.stderr
        with Ledger(ledger) as opened:
            stored = sorted((game.number, game.actions) for game in opened.games())
        found = json.loads(done.stdout)
        return {"stored": stored} | {name: found[name] for name in ("games", "wins", "draws", "losses")}

    alone = played()
    assert len(alone["stored"]) == 24
    assert played("--ray", nodes.address, "--workers", "2") == alone


@on_nodes
def test_a_person_cannot_play_on_other_machines(nodes):
    with joined(nodes.address) as cluster, pytest.raises(BadInput, match="sits at this terminal"):
        match_of("human", "random", SETTINGS, hire=hire(cluster, "human", "random"))
