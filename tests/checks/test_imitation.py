"""Lessons, stages of imitation and curricula, made up well and badly."""

from __future__ import annotations

import json

import numpy as np
import pytest

from checks.small_networks import BOARD, kept, small_network
from checks.verdicts import complains, in_order, silent
from rookery.checks import Sample, Verdict, imitation
from rookery.errors import BadInput
from rookery.games.library import load
from rookery.learn.imitation import FIGURES, NETWORK, SHARDS, Imitation, ImitationSettings, make_imitation
from rookery.learn.lessons import SHARD, Lessons, save_lessons, shard_path
from support import random_walk

FEW = Sample(positions=64)
SETTINGS = {
    "game": BOARD, "device": "cpu", "threads": 1,
    "network": {"kind": "residual", "observation": "planes", "width": 16, "blocks": 1},
    "lessons": {"supervisor": "alphabeta:depth=2", "positions": 400, "opening": 1, "held_out": 0.25},
    "training": {"batch": 32, "passes": 4},
}  # fmt: skip


def lessons_of(seed: int, collapsed: bool) -> Lessons:
    """Make a shard of random games with made-up opinions; a collapsed one has every trouble there is."""
    game = load(BOARD)
    shape, rng = (SHARD, game.longest), np.random.default_rng(seed)
    moves, chosen = np.full(shape, -1, np.int16), np.full(shape, -1, np.int16)
    for g in range(SHARD):
        walk = [action for _, action in random_walk(game, 0 if collapsed else 1000 * seed + g) if action is not None]
        moves[g, : len(walk)] = chosen[g, : len(walk)] = walk
    values = rng.uniform(-0.9, 0.9, shape).astype(np.float32)
    if collapsed:
        values = 10 * np.sign(values)
        chosen[3, 0] = game.actions - 1  # a move of the other side
    nothing = np.zeros((SHARD, 0, 1), np.int16)
    return Lessons(moves, chosen, values, nothing, nothing.astype(np.float32))


def made_up(folder, collapsed: bool):
    """Make a stage with games, figures and a network."""
    make_imitation(folder, ImitationSettings.model_validate(SETTINGS))
    (folder / SHARDS).mkdir()
    for number in range(2):
        save_lessons(shard_path(folder / SHARDS, number), lessons_of(number, collapsed))
    with Imitation(folder) as stage:
        for step in range(1, 5):
            taught = 1 / step if not collapsed else 0.1 * step
            held = taught if not collapsed else 3.0
            figures = {"value_loss": held, "policy_loss": held, "taught_value_loss": taught}
            stage.figures.append({"pass": step, "steps": step, "taught_policy_loss": taught} | figures)
    kept(folder / NETWORK, small_network())
    return folder


@pytest.fixture(scope="module")
def stages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stages")
    return {name: made_up(folder / name, name == "collapsed") for name in ("healthy", "collapsed")}


def test_a_healthy_stage_is_in_order(stages):
    found = imitation.check_imitation(stages["healthy"], FEW)
    in_order(found, "target-range", "target-saturation", "opening-variety", "distinct-games", "split-leak", "masks")
    in_order(found, "rows-sound", "label-scale", "loss-numbers", "loss-falls", "loss-rises", "validation-gap")
    in_order(found, "learning-rate", "duplicates", "weights-numbers")
    assert {"value-fit", "policy-fit"} <= {each.name for each in found}


def test_a_collapsed_stage_is_found_in_every_respect(stages):
    found = imitation.check_imitation(stages["collapsed"], FEW)
    for name in ("target-range", "target-saturation", "opening-variety", "distinct-games", "split-leak", "rows-sound",
                 "loss-falls", "validation-gap", "duplicates"):  # fmt: skip
        complains(found, name, Verdict.WRONG)


def test_a_folder_of_shards_is_checked_alone(stages):
    assert imitation.is_lessons(stages["healthy"] / SHARDS)
    assert not imitation.is_lessons(stages["healthy"])
    found = imitation.check_lessons_folder(stages["healthy"] / SHARDS, FEW)
    in_order(found, "split-leak")
    silent(found, "loss-falls")


def test_a_damaged_shard_is_told(tmp_path):
    folder = made_up(tmp_path / "one", collapsed=False)
    shard_path(folder / SHARDS, 1).write_bytes(b"nothing")
    complains(imitation.check_lessons_folder(folder / SHARDS, FEW), "rows-sound", Verdict.WRONG)


def test_stages_of_a_curriculum_are_checked_and_those_missed_are_found(tmp_path):
    (tmp_path / "stages").mkdir()
    with pytest.raises(BadInput, match="no stage was begun"):
        imitation.check_curriculum(tmp_path, FEW)
    made_up(tmp_path / "stages" / "1a", collapsed=False)
    told = [{"stage": "1a", "status": "met", "account": "stage 1a is done"}]
    (tmp_path / "progress.json").write_text(json.dumps({"stages": told}))
    found = imitation.check_curriculum(tmp_path, FEW)
    in_order(found, "stage-done")
    assert {each.target.partition("/")[0] for each in found} == {"1a"}
    told[0] = {"stage": "1a", "status": "missed", "account": "stage 1a is not done: random was not met"}
    (tmp_path / "progress.json").write_text(json.dumps({"stages": told}))
    complains(imitation.check_curriculum(tmp_path, FEW), "stage-done", Verdict.WARNING)


def test_a_stage_without_figures_or_network_is_checked_by_its_games(tmp_path):
    folder = made_up(tmp_path / "one", collapsed=False)
    (folder / FIGURES).unlink(), (folder / NETWORK).unlink()
    in_order(imitation.check_imitation(folder, FEW), "rows-sound")
