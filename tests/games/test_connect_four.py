"""The example game against the rule book, the known numbers of positions, and its length."""

from __future__ import annotations

import pytest

from rookery import BadInput, load
from rookery.search.perft import perft
from support import CONNECT_FOUR, random_walk

POSITIONS_BY_PLY = [1, 7, 49, 238, 1120, 4263, 16422]  # distinct positions, OEIS A212693


class SlowConnectFour:
    """Seven lists of stones."""

    def __init__(self):
        self.columns: list[list[int]] = [[] for _ in range(7)]
        self.player = 0

    def has_line(self, player: int) -> bool:
        stones = {(c, r) for c, column in enumerate(self.columns) for r, owner in enumerate(column) if owner == player}
        steps = [(1, 0), (0, 1), (1, 1), (1, -1)]
        return any(all((c + i * dc, r + i * dr) in stones for i in range(4)) for c, r in stones for dc, dr in steps)

    def moves(self) -> list[int]:
        if self.has_line(0) or self.has_line(1):
            return []
        return [column for column in range(7) if len(self.columns[column]) < 6]

    def play(self, column: int) -> None:
        self.columns[column].append(self.player)
        self.player = 1 - self.player


def compare_game(seed: int) -> None:
    slow = SlowConnectFour()
    for position, action in random_walk(load(CONNECT_FOUR), seed):
        assert position.legal().tolist() == slow.moves()
        assert position.mover == slow.player
        if action is not None:
            slow.play(action)
    assert position.payoff(0) == slow.has_line(0) - slow.has_line(1) == -position.payoff(1)


def test_games_agree_with_the_rule_book():
    for seed in range(150):
        compare_game(seed)


@pytest.mark.slow
def test_thousands_of_games_agree_with_the_rule_book():
    for seed in range(3000):
        compare_game(seed)


def test_the_number_of_positions_by_ply_is_the_known_one():
    level = {load(CONNECT_FOUR).start().key: load(CONNECT_FOUR).start()}
    for count in POSITIONS_BY_PLY[:6]:
        assert len(level) == count
        following = {}
        for position in level.values():
            for action in position.legal():
                child = position.copy()
                child.play(int(action))
                following[child.key] = child
        level = following


def test_perft_counts_every_sequence_while_nobody_can_win():
    assert sum(perft(load(CONNECT_FOUR).start(), 6).values()) == 7**6


def test_perft_leaves_out_finished_games():
    def slow_perft(slow: SlowConnectFour, depth: int) -> int:
        if depth == 0:
            return 1
        total = 0
        for column in slow.moves():
            child = SlowConnectFour()
            child.columns, child.player = [list(c) for c in slow.columns], slow.player
            child.play(column)
            total += slow_perft(child, depth - 1)
        return total

    slow, position = SlowConnectFour(), load(CONNECT_FOUR).start()
    for column in (3, 3, 2, 2, 1):  # the next player must stop a line
        slow.play(column)
        position.play(column)
    counts = [sum(perft(position, depth).values()) for depth in (1, 2, 3, 4)]
    assert counts == [slow_perft(slow, depth) for depth in (1, 2, 3, 4)]
    assert counts[3] < 7**4


def test_the_example_has_at_most_100_lines():
    with open(CONNECT_FOUR) as file:
        assert len(file.readlines()) <= 100


@pytest.mark.parametrize(
    "text",
    [
        "......./......./......./......./......x/.......",  # hangs
        "......./......./......./......./......./......o",  # o cannot be ahead
        "......./......./......./......./......./xx.....",  # x two ahead
        "......./......./......./......./oooo.../xxxx...",  # x is to move and has a line already
    ],
)
def test_an_impossible_position_is_refused(text):
    with pytest.raises(BadInput, match="hangs in the air"):
        load(CONNECT_FOUR).position(text)


@pytest.mark.parametrize("move", ["0", "8", "x", ""])
def test_a_wrong_move_is_refused(move):
    with pytest.raises(BadInput, match="is no move of connect_four; moves are written like 1, 2, 3"):
        load(CONNECT_FOUR).start().play(move)


def test_a_full_column_is_refused():
    position = load(CONNECT_FOUR).start()
    for _ in range(6):
        position.play("4")
    with pytest.raises(BadInput, match="move '4' is not legal"):
        position.play("4")
