"""Perft against a plain walk over positions, and across threads and slices."""

from __future__ import annotations

import pytest

from rookery import BadInput, load
from rookery.games.position import Position
from rookery.search import perft as module
from rookery.search.perft import perft
from support import SPECS, random_walk


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
    walked = [position.copy() for position, _ in random_walk(load(spec), 3)]
    position = walked[max(0, len(walked) - 4)]
    breadth = len(position.legal())
    depth = 3 if breadth <= 12 else 2 if breadth <= 60 else 1
    counts = perft(position, depth)
    assert list(counts) == position.moves()
    assert sum(counts.values()) == slow_perft(position, depth)


def test_a_walk_in_small_slices_counts_the_same(monkeypatch):
    position = load("pylos").start()
    for cell in (0, 2, 1, 3, 4):
        position.play(cell)
    whole = perft(position, 4)
    monkeypatch.setattr(module, "SLICE", 7)
    reported: list[tuple[int, int]] = []
    assert perft(position, 4, threads=3, report=lambda *done: reported.append(done)) == whole
    assert sum(leaves for leaves, _ in reported) == sum(whole.values())
    assert sum(moves for _, moves in reported) == len(whole)


def test_games_that_end_early_are_not_counted():
    position = load("domineering", rows=2, cols=2).start()
    assert [sum(perft(position, depth).values()) for depth in (1, 2)] == [2, 0]


def test_a_drawn_game_is_not_continued_where_published_counts_go_on():
    position = load("chess").position("K1k5/8/P7/8/8/8/8/8 w - - 0 1")
    assert sum(perft(position, 6).values()) == slow_perft(position, 6) == 2015  # published: 2217


def test_a_depth_below_1_is_refused():
    for depth in (0, -1, 10**12, 1.5):
        with pytest.raises(BadInput, match=f"depth must be a whole number in 1..600, not {depth}"):
            perft(load("pylos").start(), depth)


def test_an_interrupt_stops_the_threads():
    def interrupted(leaves: int, moves: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        perft(load("domineering").start(), 9, threads=2, report=interrupted)  # would take years


def test_no_threads_are_refused():
    with pytest.raises(BadInput, match=r"threads must be a whole number in 1..1024, not 0"):
        perft(load("pylos").start(), 2, threads=0)
