"""The benchmark of Texas 42 by what one seat can know."""

from __future__ import annotations

import numpy as np

from rookery.benchmarks import texas42_play


def test_rows_tell_what_was_measured_and_the_floors_they_must_reach(monkeypatch):
    monkeypatch.setattr(texas42_play, "WORLDS_DRAWN", 2_000)
    monkeypatch.setattr(texas42_play, "WORLDS_OF_A_HAND", 2)
    monkeypatch.setattr(texas42_play, "WORLDS_OF_A_DECISION", 3)
    told = []
    rows = list(texas42_play.bench_play(2, 5, told.append))
    assert [row.name for row in rows] == told == list(texas42_play.ROWS)
    assert [(row.unit, row.floor) for row in rows] == [("worlds/s", 200_000), ("hands/s", 1), ("ms", 100)]
    assert all(0 < row.median <= row.highest for row in rows)
    assert [row.samples for row in rows] == [2, 2, 2]


def test_the_mean_of_rates_is_that_of_the_whole():
    row = texas42_play.rate_row("x", "hands/s", [1.0, 4.0], 1.0)  # two hands in 1.25 s
    assert np.isclose(row.mean, 1.6)
    assert row.highest == 4.0
