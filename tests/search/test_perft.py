"""Perft against a plain walk over positions, and across threads and slices."""

from __future__ import annotations

import pytest

from rookery import BadInput, load
from rookery.games.game import Position
from rookery.search import perft as module
from rookery.search.perft import perft
from support import SPECS


def slow_perft(position: Position, depth: int) -> int:
    if depth == 0:
        return 1
    total = 0
    for action in position.legal():
        child = position.copy()
        child.play(int(action))
        total += slow_perft(child, depth - 1)
    return total


@pytest.mark.parametrize("spec", SPECS)
def test_counts_are_those_of_a_plain_walk(spec):
    game = load(spec)
    depth = 2 if game.most_legal > 100 and game.name == "domineering" else 3
    if game.name == "domineering" and game.most_legal > 100:
        position = game.position("/".join(["#" * 16] * 13 + ["." * 16] * 3) + " h")
    else:
        position = game.start()
    counts = perft(position, depth)
    assert list(counts) == position.moves()
    assert sum(counts.values()) == slow_perft(position, depth)


def test_a_walk_in_small_slices_counts_the_same(monkeypatch):
    position = load("pylos").start()
    for cell in (0, 2, 1, 3, 4):
        position.play(cell)
    whole = perft(position, 4)
    monkeypatch.setattr(module, "SLICE", 7)
    reported: list[int] = []
    assert perft(position, 4, threads=3, report=reported.append) == whole
    assert sum(reported) == sum(whole.values())


def test_games_that_end_early_are_not_counted():
    position = load("domineering", rows=2, cols=2).start()
    assert [sum(perft(position, depth).values()) for depth in (1, 2, 3)] == [2, 0, 0]


def test_a_depth_below_1_is_refused():
    with pytest.raises(BadInput, match="depth must be at least 1, not 0"):
        perft(load("pylos").start(), 0)
