"""Shares, warm cells and lines of an analysis."""

from __future__ import annotations

import pytest

from rookery import load
from rookery.arena.findings import analysis_facts, heat, moves_of, shares
from rookery.search.analysis import Analysis, Line


def analysis(*lines, action=None):
    return Analysis(lines[0].action if action is None else action, 0.5, lines, nodes=100)


def test_shares_are_of_visits_else_of_priors_else_all_for_the_move():
    assert shares(analysis(Line(3, 0.1, visits=30, prior=0.9), Line(5, 0.0, visits=10))) == {3: 0.75, 5: 0.25}
    assert shares(analysis(Line(3, 0.1, prior=0.2), Line(5, 0.0, prior=0.2))) == {3: 0.5, 5: 0.5}
    assert shares(analysis(Line(3, 0.1), Line(5, 0.0))) == {3: 1.0, 5: 0.0}
    assert shares(analysis(Line(3, 0.1), action=7)) == {3: 0.0, 7: 1.0}


def test_a_cell_is_as_warm_as_all_moves_that_touch_it():
    position = load("domineering:rows=3,cols=3").start()
    first, second, third = (position.action(move) for move in ("a1-a2", "a2-a3", "c1-c2"))
    lines = [Line(first, 0, visits=30), Line(second, 0, visits=20), Line(third, 0, visits=0)]
    assert heat(position, analysis(*lines)) == {
        (0, 0, 0): pytest.approx(0.6),
        (0, 1, 0): 1.0,
        (0, 2, 0): pytest.approx(0.4),
        (0, 0, 2): 0.0,
        (0, 1, 2): 0.0,
    }


def test_the_warmest_cell_is_1():
    position = load("domineering:rows=3,cols=3").start()
    lines = [Line(position.action("a1-a2"), 0, visits=30), Line(position.action("c1-c2"), 0, visits=10)]
    warmth = heat(position, analysis(*lines))
    assert (warmth[0, 0, 0], warmth[0, 0, 2]) == (1.0, pytest.approx(1 / 3))


def test_a_game_without_a_grid_has_no_warm_cells():
    assert heat(load("texas42").start(1), analysis(Line(0, 0.1, visits=3))) == {}


def test_a_line_is_written_as_far_as_it_can_be_played():
    position = load("domineering:rows=3,cols=3").start()
    play = tuple(position.action(move) for move in ("a1-a2", "b1-c1", "a1-a2"))
    assert moves_of(position, Line(play[0], 0.1, moves=play)) == ["a1-a2", "b1-c1"]
    assert moves_of(position, Line(play[0], 0.1)) == ["a1-a2"]
    assert position.text() == load("domineering:rows=3,cols=3").start().text()


def test_facts_hold_the_best_lines_for_programs():
    position = load("domineering:rows=3,cols=3").start()
    facts = analysis_facts(position, analysis(Line(0, 0.5, visits=3, prior=0.2), Line(1, 0.0, visits=1)), lines=1)
    assert facts == {
        "value": 0.5, "nodes": 100, "depth": 0, "proven": False, "note": "",
        "lines": [{"move": "a1-a2", "value": 0.5, "visits": 3, "share": 0.75, "prior": 0.2, "moves": ["a1-a2"]}],
    }  # fmt: skip
