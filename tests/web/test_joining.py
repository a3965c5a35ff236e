"""Runs that differ only in their seed, as one curve."""

from __future__ import annotations

import math
import statistics

import pytest

from rookery.web.charts import training_options
from rookery.web.curves import MOST_BESIDE, MOST_POINTS, Curve, averaged
from rookery.web.joining import alike, caption, group_names, joined, joined_ratings
from rookery.web.training_page import zoom_in


def line(name, *points, reach=0.0):
    """Return a curve through some points."""
    steps, values = zip(*points, strict=True) if points else ((), ())
    return Curve(name, steps, values, tuple(v - reach for v in values), tuple(v + reach for v in values))


def slow_value(curve, step):
    """Return where the straight line between the neighbours of a step lies."""
    for (a, low), (b, high) in zip(
        zip(curve.steps, curve.means, strict=True), list(zip(curve.steps, curve.means, strict=True))[1:], strict=False
    ):
        if a <= step <= b:
            return low + (high - low) * (step - a) / (b - a)
    raise AssertionError(f"{step} is outside of the curve")


def test_runs_with_the_same_settings_but_another_seed_are_alike():
    one = {"seed": 1, "folder": "a", "network.width": 8}
    settings = {"a": one, "b": one | {"network.width": 9}, "c": one | {"seed": 2, "folder": "c"}, "d": {}, "e": {}}
    assert alike(settings) == [["a", "c"], ["b"], ["d"], ["e"]]


@pytest.mark.parametrize(
    ("groups", "names"),
    [
        ([["v5-s1", "v5-s2", "v5-s3"], ["v4-s1"]], ["v5 (3 runs)", "v4-s1"]),
        ([["run_seed1", "run_seed2"]], ["run (2 runs)"]),
        ([["one", "two"]], ["one, two (2 runs)"]),
        ([["v-s1", "v-s2"], ["v-s3", "v-s4"]], ["v-s1, v-s2 (2 runs)", "v-s3, v-s4 (2 runs)"]),
        ([["loss1", "loss2"]], ["los (2 runs)"]),
    ],
)
def test_groups_are_named_by_what_their_runs_have_in_common(groups, names):
    assert group_names(groups) == names


def test_the_mean_and_the_band_are_those_of_the_runs_as_far_as_all_go():
    curves = [line("a", (0, 1.0), (10, 3.0), (20, 1.0)), line("b", (5, 2.0), (30, 7.0)), line("c", (0, 0.0), (25, 5.0))]
    for band in ("range", "error"):
        mean = joined("all", curves, band)
        assert mean.steps == (5, 10, 20)
        assert mean.runs == 3
        for at, step in enumerate(mean.steps):
            values = [slow_value(curve, step) for curve in curves]
            reach = 1.96 * statistics.stdev(values) / math.sqrt(3)
            middle = statistics.mean(values)
            ends = (min(values), max(values)) if band == "range" else (middle - reach, middle + reach)
            assert mean.means[at] == pytest.approx(middle, rel=1e-5)
            assert (mean.lows[at], mean.highs[at]) == pytest.approx(ends, rel=1e-5)


@pytest.mark.parametrize("other", [line("b"), line("b", (50, 1.0), (60, 2.0))])
def test_runs_that_have_no_steps_in_common_have_no_line(other):
    assert joined("all", [line("a", (0, 1.0), (10, 3.0)), other]).steps == ()


def test_the_band_of_joined_ratings_reaches_over_all_intervals():
    mean = joined_ratings("all", [line("a", (0, 0.0), (10, 100.0), reach=5), line("b", (0, 50.0), (10, 70.0), reach=9)])
    assert (mean.steps, mean.means) == ((0, 10), (25, 85))
    assert (mean.lows, mean.highs) == ((-5, 61), (59, 105))
    assert joined_ratings("none", []).steps == ()


def test_the_part_that_is_looked_at_has_the_most_points():
    points = [(float(step), float(step % 7)) for step in range(10_000)]
    whole, part = averaged("a", points, 1), averaged("a", points, 1, (2000.0, 2299.0))
    assert whole.width == 25
    assert part.width == 1
    inside = [(step, mean) for step, mean in zip(part.steps, part.means, strict=True) if 2000 <= step <= 2299]
    assert inside == points[2000:2300]
    assert len(part.steps) <= MOST_POINTS + 2 * MOST_BESIDE
    assert (part.steps[-1], min(part.lows), max(part.highs)) == (9999, 0, 6)


def test_the_caption_says_what_lines_and_bands_are():
    one, three = line("a", (0, 1.0)), joined("all", [line("a", (0, 1.0)), line("b", (0, 2.0))])
    assert caption([], "range") == "No figures yet."
    assert caption([one], "") == "Each point is one line of the log; of ratings, the 95 % interval."
    assert "n = 2" in caption([three], "range")
    assert "lowest run to the highest" in caption([three], "range")
    assert "1.96 standard errors" in caption([one, three], "error")


def test_a_zoom_is_read_from_both_forms_and_nonsense_is_not():
    assert zoom_in({"start": 10, "end": 20.5}) == zoom_in({"batch": [{"start": 10, "end": 20.5}]}) == (10.0, 20.5)
    for wrong in (None, [], "x", {}, {"start": 20, "end": 10}, {"start": -1, "end": 5}, {"batch": [7]}, {"start": "1"}):
        assert zoom_in(wrong) is None


def test_a_plot_keeps_its_zoom():
    options = training_options("Value loss", [line("a", (0, 1.0), (10, 2.0))], [], zoom=(25.0, 50.0))
    assert all((zoom["start"], zoom["end"]) == (25.0, 50.0) for zoom in options["dataZoom"])
