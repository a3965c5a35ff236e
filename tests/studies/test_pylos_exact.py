"""Judging by exact values: the sums, on values that are made up, and positions that are solved."""

from __future__ import annotations

import numpy as np
import pytest

from rookery.games.library import load
from rookery.search.solve.pylos import solve, spheres_left
from rookery.search.solve.pylos_samples import ILLEGAL, UNKNOWN, Sample, write
from rookery.studies.pylos_exact import first_moves, positions_with, scores, solved_with, stored_arrays

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


def test_positions_that_were_solved_are_read_again_and_made_anew_if_their_file_is_damaged(tmp_path):
    pairs, _ = solved_with(load("pylos"), 1, 2, 1, lambda done: None)
    path, settings = tmp_path / "exact.npz", {"count": 2}
    write(Sample(pairs, 0, settings), path)
    assert stored_arrays(path, settings)["text"].tolist() == [position.text() for position, _ in pairs]
    assert stored_arrays(path, {"count": 3}) is None
    assert stored_arrays(tmp_path / "none.npz", settings) is None
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], whole[:100] + b"?" * 40 + whole[140:], b"PK\x03\x04", b"", b"text"):
        path.write_bytes(content)
        assert stored_arrays(path, settings) is None
