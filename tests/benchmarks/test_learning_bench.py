"""The benches of self-play and training measure what they say."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from rookery.cli import app

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


def test_gradient_steps_are_measured_for_every_batch():
    answer = CliRunner().invoke(app, ["bench", "train", "--rounds", "1", "--json"])
    assert answer.exit_code == 0, answer.output
    rows = json.loads(answer.stdout)["train"]
    assert [row["batch"] for row in rows] == [256, 1024]
    assert all(row["low"] <= row["speed"] <= row["high"] for row in rows)
