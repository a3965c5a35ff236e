"""Means over parts of a run."""

from __future__ import annotations

import json

import numpy as np
import pytest

from rookery.studies.curves import Curve, Point, read_curves, seconds_at


def curve(values, step: int = 10) -> Curve:
    return Curve(tuple(Point(step * (number + 1), float(value), step) for number, value in enumerate(values)))


def test_a_mean_weighs_each_line_by_its_games():
    assert Curve((Point(10, 1.0, 10), Point(40, 2.0, 30))).mean() == pytest.approx(1.75)


def test_the_end_is_the_last_tenth():
    found = curve([1.0] * 90 + [0.5, 0.7] * 5).at_end()
    assert found.mean == pytest.approx(0.6)
    assert found.count == 10
    assert found.low < 0.6 < found.high


def test_few_lines_have_no_interval():
    assert not curve([1.0, 2.0]).estimate().known
    assert Curve(()).estimate() is None
    assert Curve(()).at_end() is None


def test_intervals_of_blocks_hold_the_mean_of_a_steady_figure():
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(400):
        found = curve(rng.normal(0.4, 0.1, 60)).estimate()
        held += found.low <= 0.4 <= found.high
    assert 0.91 < held / 400 < 0.99


def test_a_figure_near_a_number_of_games_needs_a_run_that_is_as_long():
    found = curve(range(100))
    assert found.near(500).mean == pytest.approx(49.5, abs=1)
    assert found.near(1001) is None


def test_a_level_is_reached_where_the_averaged_figure_is_at_or_below_it():
    assert curve(np.linspace(1, 0, 101), 1).falls_to(0.2501) == 77  # the mean of two neighbours
    assert curve(np.linspace(1, 0.3, 101), 1).falls_to(0.25) is None


def test_a_grid_has_a_mean_for_each_cell():
    assert curve([1, 2, 3, 4]).on_grid([20, 40]) == [1.5, 3.5]
    assert np.isnan(curve([1, 2]).on_grid([20, 40])[1])


def test_curves_are_read_from_a_run_and_seconds_lie_between_its_lines(tmp_path):
    lines = [{"step": 5}, {"step": 10, "a": 1.0, "b": 4.0}, {"step": 30, "a": None, "b": 8.0}, {"step": "?", "a": 1}]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = read_curves(tmp_path, ("a", "b"))
    assert found["a"].points == (Point(10, 1.0, 5.0),)
    assert found["b"].points == (Point(10, 4.0, 5.0), Point(30, 8.0, 20.0))
    assert seconds_at(found["b"], 20) == pytest.approx(6.0)
    assert seconds_at(found["b"], 5) == pytest.approx(2.0)
    assert seconds_at(found["b"], 99) == 8.0
    assert seconds_at(Curve(()), 5) is None
