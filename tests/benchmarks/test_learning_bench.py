"""The benches of self-play and training measure what they say."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from rookery.cli import app
from rookery.errors import BadInput

pytestmark = pytest.mark.slow


def test_self_play_is_measured_beside_the_network_alone():
    answer = CliRunner().invoke(app, ["bench", "selfplay", "--rounds", "1", "--json"])
    assert answer.exit_code == 0, answer.output
    found = json.loads(answer.stdout)
    (row,) = found["selfplay"]
    assert found["at_once"] == 128
    assert 25 < row["plies"] < 100  # games of a network that knows nothing
    assert row["step"] > 0
    assert row["simulations"] == pytest.approx(row["games"] * row["plies"] * 64, rel=1e-6)


@pytest.mark.parametrize("fours", [[], ["--fours"]], ids=str)
def test_self_play_of_a_tower_is_measured_too(fours):
    answer = CliRunner().invoke(app, ["bench", "selfplay", "--game", "gomoku", *fours, "--rounds", "1", "--json"])
    assert answer.exit_code == 0, answer.output
    found = json.loads(answer.stdout)
    assert found["at_once"] == 4
    assert found["fours"] == bool(fours)
    assert found["selfplay"][0]["simulations"] > 0
    assert found["selfplay"][0]["step"] > 0


def test_a_game_that_is_not_measured_is_refused():
    answer = CliRunner().invoke(app, ["bench", "selfplay", "--game", "chess"])
    assert isinstance(answer.exception, BadInput)
    assert "game" in str(answer.exception)


def test_fours_are_refused_where_there_are_none():
    answer = CliRunner().invoke(app, ["bench", "selfplay", "--fours"])
    assert isinstance(answer.exception, BadInput)
    assert "gomoku, not in pylos" in str(answer.exception)


def test_lessons_are_measured_on_both_boards_beside_their_floors(monkeypatch):
    monkeypatch.setattr("rookery.benchmarks.lessons.SUPERVISORS", {"baseline:depth=1": (300, 1000.0)})
    answer = CliRunner().invoke(app, ["bench", "lessons", "--rounds", "2", "--json"])
    assert answer.exit_code == 0, answer.output
    found = json.loads(answer.stdout)
    assert found["threads"] == 2
    assert [row["game"] for row in found["lessons"]] == ["gomoku:size=9", "gomoku:size=15"]
    assert all(0 < row["low"] <= row["speed"] <= row["high"] for row in found["lessons"])
    answer = CliRunner().invoke(app, ["bench", "lessons", "--rounds", "1"])
    assert "baseline:depth=1" in answer.stdout
    assert "1,000" in answer.stdout


def test_the_floors_of_lessons_are_those_of_two_threads():
    from rookery.benchmarks.lessons import SUPERVISORS, THREADS

    assert THREADS == 2
    assert {text: floor for text, (_, floor) in SUPERVISORS.items()} == {
        "baseline:depth=2": 20_000, "baseline:depth=6": 20,
    }  # fmt: skip


def test_gradient_steps_are_measured_for_every_batch():
    answer = CliRunner().invoke(app, ["bench", "train", "--rounds", "1", "--json"])
    assert answer.exit_code == 0, answer.output
    rows = json.loads(answer.stdout)["train"]
    assert [row["batch"] for row in rows] == [256, 1024]
    assert all(row["low"] <= row["speed"] <= row["high"] for row in rows)
