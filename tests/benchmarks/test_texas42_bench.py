"""The bench of Texas 42 measures what it says."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from rookery.benchmarks import texas42 as bench
from rookery.cli import app
from rookery.games.texas42 import deal


def test_positions_are_those_of_the_deals():
    state = bench.position_after(5, 13)[0]
    assert state["tiles"].tolist() == deal(13)
    assert (state["plays"], state["declaration"], state["opener"]) == (5, 3, 0)
    assert bench.position_after(5, 13).tobytes() == bench.position_after(5, 13).tobytes()


def test_a_row_sums_up_its_times():
    row = bench.row_of("x", [0.001] * 19 + [0.021], 5.0)
    assert (row.samples, row.floor, row.unit) == (20, 5.0, "ms")
    assert (row.mean, row.median, row.highest) == pytest.approx((2.0, 1.0, 21.0))
    assert 1.0 <= row.late <= 21.0


def test_the_command_prints_every_row():
    answer = CliRunner().invoke(app, ["bench", "texas42", "--deals", "2", "--seed", "7", "--json"])
    found = json.loads(answer.stdout)
    assert [row["name"] for row in found["texas42"]] == [name for name, *_ in bench.measures()]
    assert found["settings"] == {"deals": 2, "seed": 7}
    assert all(row["samples"] == 2 and 0 <= row["median"] <= row["highest"] for row in found["texas42"])
    table = CliRunner().invoke(app, ["bench", "texas42", "--deals", "1"]).stdout
    assert "all leads of the deal" in table
