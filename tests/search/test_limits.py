"""What every search says to limits that are none."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rookery import BadInput, load
from rookery.games.position import Position
from rookery.search import alphabeta, dag, gomoku_advanced, gomoku_baseline, gomoku_vcf, perft, trees
from rookery.search.analysis import Analysis, Limits
from rookery.search.solve import domineering, pylos, retrograde

SEARCHES = {
    "trees": trees.search,
    "dag": dag.search,
    "alphabeta": alphabeta.search,
    "baseline": gomoku_baseline.search,
    "advanced": gomoku_advanced.search,
}
NO_WHOLE_NUMBERS = [1000.0, 1.5, -1, 0, True, False, math.nan, math.inf, "4", [4], 1 << 63, np.float32(4)]
NO_TIMES = [-0.5, 0, 0.0, True, False, math.nan, "4", [4], 1j, np.float32(-1)]


def few_stones() -> Position:
    """Return a position of Gomoku that no search answers by heart."""
    position = load("gomoku:size=7").start()
    for move in ("D4", "E5", "C5"):
        position.play(move)
    return position


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize(
    ("limit", "value"),
    [(limit, value) for limit in ("depth", "nodes") for value in NO_WHOLE_NUMBERS]
    + [("seconds", value) for value in NO_TIMES],
)
def test_a_limit_that_is_none_is_refused_by_name_and_value(name, limit, value):
    with pytest.raises(BadInput) as error:
        SEARCHES[name](few_stones(), Limits(**{limit: value}))
    assert f"{limit} of a search must be" in str(error.value)
    assert repr(value) in str(error.value)


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        ("trees", Limits(nodes=np.int64(20))),
        ("dag", Limits(nodes=np.int32(20), seconds=math.inf)),
        ("alphabeta", Limits(depth=np.int8(2), seconds=np.float32(100))),
        ("baseline", Limits(depth=np.int64(2), nodes=np.int64(1000))),
        ("advanced", Limits(nodes=np.int64(1000), seconds=np.float64(100))),
        ("advanced", Limits(depth=np.uint8(2), seconds=100)),
    ],
)
def test_numbers_of_numpy_are_limits_as_good_as_others(name, limits):
    position = few_stones()
    found = SEARCHES[name](position, limits)
    assert isinstance(found, Analysis)
    assert found.action in position.legal()


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("dag", "a search needs an end: give nodes, seconds or a watch"),
        ("baseline", "baseline needs the depth of its search"),
        ("advanced", "advanced needs a limit of its search: depth, nodes or seconds"),
    ],
)
def test_a_search_that_needs_a_limit_says_so(name, complaint):
    with pytest.raises(BadInput, match=complaint):
        SEARCHES[name](few_stones(), Limits(depth=None, nodes=None, seconds=None))


ENDS = {
    "nodes of a search for fours": lambda value: gomoku_vcf.search_fours(few_stones(), value),
    "depth": lambda value: perft.perft(few_stones(), value),
    "most_positions": lambda value: retrograde.solve(load("domineering:rows=2,cols=2").start(), value),
    "most_positions of pylos": lambda value: pylos.solve(load("pylos").start(), value),
    "table_mb": lambda value: domineering.solve(load("domineering:rows=2,cols=2").start(), value),
    "the size of a table": domineering.solve_table,
}


@pytest.mark.parametrize("what", ENDS)
@pytest.mark.parametrize("value", [1000.0, 1.5, -1, 0, True, None, math.nan, "4"])
def test_solvers_refuse_what_is_no_limit(what, value):
    with pytest.raises(BadInput) as error:
        ENDS[what](value)
    assert what.removesuffix(" of pylos") in str(error.value)
    assert repr(value) in str(error.value)
