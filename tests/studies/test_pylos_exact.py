"""Judging by exact values: the sums, on values that are made up, and positions that are solved."""

from __future__ import annotations

import numpy as np
import pytest

from rookery.games.library import load
from rookery.search.solve.pylos import solve, spheres_left
from rookery.search.solve.pylos_samples import ILLEGAL, UNKNOWN
from rookery.studies.pylos_exact import first_moves, positions_with, scores, solved_with

EXACT = {
    "value": np.array([1, -1, 0, 1], np.int8),
    "move_values": np.array([[1, -1, 2], [-1, -1, 2], [0, -1, 2], [1, -1, 3]], np.int8),
}


def test_signs_are_judged_where_there_is_a_winner():
    found = scores(EXACT, np.array([0.2, 0.3, 0.9, 0.1]), np.array([0, 0, 0, 0]))
    assert (found["signs"]["mean"], found["signs"]["count"]) == (pytest.approx(2 / 3), 3)
    assert found["error"] == pytest.approx((0.8 + 1.3 + 0.9 + 0.9) / 4)


def test_moves_are_judged_where_one_gives_the_value_away_and_what_is_not_known_is_left_out():
    found = scores(EXACT, np.zeros(4), np.array([1, 0, 0, 2]), "search_")
    assert (found["search_moves"]["mean"], found["search_moves"]["count"]) == (0.5, 2)


def test_the_policys_first_move_is_a_legal_one():
    assert (UNKNOWN, ILLEGAL) == (3, 2)
    logits = np.array([[0.0, 1.0, 9.0], [3.0, 1.0, 2.0], [1.0, 2.0, 9.0], [0.0, 1.0, 9.0]])
    assert first_moves(logits, EXACT["move_values"]).tolist() == [1, 0, 1, 2]


def test_positions_have_exactly_so_many_spheres_left_and_the_solvers_values():
    game = load("pylos")
    told = []
    found, unsolved = solved_with(game, 2, 3, 1, told.append)
    again, _ = solved_with(game, 2, 3, 2, lambda done: None)
    assert (len(found), unsolved, told[-1]) == (3, 0, 3)
    assert [position.text() for position, _ in found] == [position.text() for position, _ in again]
    drawn = positions_with(game, 2, 3)
    for position, solution in found:
        assert spheres_left(position) == 2
        assert solution.value == solve(position).value
    assert spheres_left(next(drawn)) == 2
