"""Cells of the board that an action touches, and where they are drawn."""

from __future__ import annotations

import pytest

from rookery import load
from support import random_walk

GRIDS = ["chess", "chess:chess960=5", "domineering:rows=3,cols=7", "gomoku:size=9", "pylos"]


@pytest.mark.parametrize("spec", GRIDS)
def test_the_drawing_changes_at_the_cells_of_a_move(spec):
    game, played = load(spec), 0
    for position, action in random_walk(game, seed=5):
        if action is None or played == 60:
            break
        cells = game.cells_of(position.state, action)
        before = position.draw().split("\n")
        after = position.copy()
        after.play(action)
        drawn = after.draw().split("\n")
        assert cells or position.move_text(action) == "stop"
        for line, column in map(game.drawn_at, cells):
            assert before[line][column] != drawn[line][column]
        played += 1
    assert played > 5


@pytest.mark.parametrize("spec", GRIDS)
def test_cells_are_named_as_in_the_move(spec):
    game = load(spec)
    for position, action in random_walk(game, seed=6):
        if action is None:
            break
        text = position.move_text(action)
        for board, row, col in game.cells_of(position.state, action):
            square = f"{'abcdefghijklmnopqrst'[col]}{row + 1}"
            assert (f"{board + 1}{square}" if game.name == "pylos" else square) in text.lower() or is_castling(text)


def is_castling(text):
    return text[:2] in ("e1", "e8") or (text[1] in "18" and text[3] == text[1])


def test_castling_is_shown_where_the_king_goes():
    for spec, move in (("chess", "e1g1"), ("chess:chess960=518", "e1h1")):
        position = load(spec).position("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
        assert position.game.cells_of(position.state, position.action(move)) == ((0, 0, 6),)
    position = load("chess:chess960=518").position("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1")
    assert position.game.cells_of(position.state, position.action("e8a8")) == ((0, 7, 2),)


def test_choices_of_an_opening_and_tiles_have_no_cell():
    game = load("gomoku:size=9,opening=swap2")
    assert game.cells_of(game.start().state, game.points + 1) == ()
    assert load("texas42").cells_of(load("texas42").start().state, 3) == ()
