"""Win by continuous fours (VCF) in Gomoku, freestyle.

The attacker plays only moves that make a four, so the defender has one answer: the point that would make it a five. The
attacker has won once two points make a five. An answer may make a four of the defender; then the attacker must
play on the point where that would become a five, and this must again make a four. Within these moves the search is
exhaustive, so what it denies is not there.

Stones are held as lines (`gomoku_lines`), side 0 the attacker's. A window is five points in a row without an obstacle;
with one free point left it is a four, and that point makes a five; with two, either of them makes a four. All windows
of a line are counted at once, with one bit each. A move changes four lines.

A node is an attacking move together with its answer. Positions that were searched in vain are kept in a table by a
64-bit hash of all stones and the attacker.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit, uint64

from rookery.games.bits import Word, lowest_bit, popcount
from rookery.games.gomoku_board import DIRECTIONS, PLAY
from rookery.games.options import whole_number
from rookery.games.position import Action, Position
from rookery.games.rng import hashed
from rookery.games.rules import State
from rookery.search.analysis import Watch
from rookery.search.gomoku_lines import LINES, POINTS, checked, flip_bits, key_of, lay_state, new_record

ATTACKER, DEFENDER = 0, 1
RUNNING, WON, FAILED = 0, 1, 2
LEVEL, NODES, STATUS, LAST = 0, 1, 2, 3  # what `place` holds; LAST: the answer a double threat leaves, or -1
SLICE = 5_000  # nodes between two looks at the outside world, a few milliseconds
MOST_NODES = 10**12
TABLE_BITS = 16

THREATS: tuple[Any, ...] = (
    ("fives", np.uint64, (2, DIRECTIONS, LINES)),  # points that make a five, as bits of each line
    ("fours", np.uint64, (DIRECTIONS, LINES)),  # points that make a four of the attacker
    ("five_lines", np.uint64, (2, DIRECTIONS)),  # lines that have such points
    ("four_lines", np.uint64, (DIRECTIONS,)),
    ("key", np.uint64),
    ("attacker", np.int32),
)
PATH = np.dtype(
    [
        ("moves", np.int16, (POINTS,)),  # fours to try
        ("count", np.int32),
        ("next", np.int32),
        ("attack", np.int32),  # the one being tried, and its answer
        ("answer", np.int32),
    ],
    align=True,
)


# ---- lines ---------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def spread(windows: Word) -> Word:
    """Return the points of windows that are given by their first ones."""
    pairs = windows | (windows << uint64(1))
    return pairs | (pairs << uint64(2)) | (windows << uint64(4))


@njit(cache=True, nogil=True)
def makers(own: Word, other: Word) -> tuple[Word, Word]:
    """Return the points of a line that make a five, and those that make a four."""
    free = ~(own | other)
    pairs = ~other & (~other >> uint64(1))
    clear = pairs & (pairs >> uint64(2)) & (~other >> uint64(4))
    first, second = free ^ (free >> uint64(1)), free & (free >> uint64(1))  # count in two binary digits and a rest
    third, fourth = first & (first >> uint64(2)), second ^ (second >> uint64(2))
    more = second & (second >> uint64(2))
    parity, last = first ^ (first >> uint64(2)), free >> uint64(4)
    fifth = parity & last
    odd = parity ^ last
    any_two = third | fourth | more | fifth
    one = clear & odd & ~any_two
    two = clear & ~odd & (third ^ fourth ^ fifth) & ~more & ~((third & fourth) | (third & fifth) | (fourth & fifth))
    return spread(one) & free, spread(two) & free


@njit(cache=True, nogil=True)
def refresh(threats: State, direction: int, line: int) -> None:
    """Find the threats of one line again."""
    attack, defence = threats.lines[ATTACKER, direction, line], threats.lines[DEFENDER, direction, line]
    bit = uint64(1) << uint64(line)
    fives, fours = makers(attack, defence)
    answers, _ = makers(defence, attack)
    threats.fives[ATTACKER, direction, line] = fives
    threats.fives[DEFENDER, direction, line] = answers
    threats.fours[direction, line] = fours
    threats.five_lines[ATTACKER, direction] &= ~bit
    threats.five_lines[DEFENDER, direction] &= ~bit
    threats.four_lines[direction] &= ~bit
    if fives:
        threats.five_lines[ATTACKER, direction] |= bit
    if answers:
        threats.five_lines[DEFENDER, direction] |= bit
    if fours:
        threats.four_lines[direction] |= bit


@njit(cache=True, nogil=True)
def clear_line(threats: State, direction: int, line: int) -> None:
    """Say that a line has no threats."""
    threats.fives[ATTACKER, direction, line] = uint64(0)
    threats.fives[DEFENDER, direction, line] = uint64(0)
    threats.fours[direction, line] = uint64(0)


@njit(cache=True, nogil=True)
def flip(threats: State, side: int, point: int) -> None:
    """Put a stone of a side on a point, or take it away."""
    flip_bits(threats, side, point)
    threats.key ^= key_of(side ^ threats.attacker, point)
    for direction in range(DIRECTIONS):
        refresh(threats, direction, threats.line[point, direction])


@njit(cache=True, nogil=True)
def five_point(threats: State, side: int, besides: int) -> int:
    """Return a point that makes a five of a side, other than a given one; -1 if there is none."""
    for direction in range(DIRECTIONS):
        lines = threats.five_lines[side, direction]
        while lines:
            line = lowest_bit(lines)
            lines &= lines - uint64(1)
            points = threats.fives[side, direction, line]
            while points:
                point = threats.origin[direction, line] + lowest_bit(points) * threats.step[direction]
                if point != besides:
                    return int(point)
                points &= points - uint64(1)
    return -1


@njit(cache=True, nogil=True)
def makes_four(threats: State, point: int, directions: int) -> bool:
    """Tell whether a point makes a four of the attacker in one of the first so many directions."""
    for direction in range(directions):
        points = threats.fours[direction, threats.line[point, direction]]
        if (points >> uint64(threats.shift[point, direction])) & uint64(1):
            return True
    return False


@njit(cache=True, nogil=True)
def list_fours(threats: State, frame: State) -> None:
    """List all points that make a four, each once."""
    count = 0
    for direction in range(DIRECTIONS):
        lines = threats.four_lines[direction]
        while lines:
            line = lowest_bit(lines)
            lines &= lines - uint64(1)
            points = threats.fours[direction, line]
            while points:
                point = threats.origin[direction, line] + lowest_bit(points) * threats.step[direction]
                points &= points - uint64(1)
                if not makes_four(threats, point, direction):
                    frame.moves[count] = point
                    count += 1
    frame.count = count


# ---- the search ----------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def begin(threats: State, lines: np.ndarray, attacker: int, key: Word, path: np.ndarray, place: np.ndarray) -> None:
    """Take over the lines of a board, with a hash of its stones, and stand before the first move of a search."""
    threats.attacker = attacker
    threats.key = key ^ hashed(uint64(attacker))
    for direction in range(DIRECTIONS):
        threats.five_lines[ATTACKER, direction] = uint64(0)
        threats.five_lines[DEFENDER, direction] = uint64(0)
        threats.four_lines[direction] = uint64(0)
        for line in range(2 * threats.size - 1):
            own, other = lines[attacker, direction, line], lines[1 - attacker, direction, line]
            threats.lines[ATTACKER, direction, line] = own
            threats.lines[DEFENDER, direction, line] = other
            if popcount(own & ~other) >= 3 or popcount(other & ~own) >= 4:  # fewer stones make no threat
                refresh(threats, direction, line)
            else:
                clear_line(threats, direction, line)
    place[LEVEL], place[NODES], place[STATUS], place[LAST] = 0, 0, RUNNING, -1
    five = five_point(threats, ATTACKER, -1)
    if five >= 0:
        path[0].attack, path[0].answer = five, -1
        place[STATUS] = WON
    else:
        list_attacks(threats, path[0])


@njit(cache=True, nogil=True)
def list_attacks(threats: State, frame: State) -> None:
    """List the attacker's moves: all fours, or the one that also stops a five."""
    frame.next, frame.count = 0, 0
    danger = five_point(threats, DEFENDER, -1)
    if danger < 0:
        list_fours(threats, frame)
    elif five_point(threats, DEFENDER, danger) < 0 and makes_four(threats, danger, DIRECTIONS):
        frame.moves[0], frame.count = danger, 1


@njit(cache=True, nogil=True)
def step_back(threats: State, path: np.ndarray, place: np.ndarray, failed: np.ndarray) -> None:
    """Remember that a position is not won by fours, and return to the one before."""
    failed[threats.key & uint64(failed.shape[0] - 1)] = threats.key
    if place[LEVEL] == 0:
        place[STATUS] = FAILED
        return
    place[LEVEL] -= 1
    frame = path[place[LEVEL]]
    flip(threats, DEFENDER, frame.answer)
    flip(threats, ATTACKER, frame.attack)


@njit(cache=True, nogil=True)
def attack(threats: State, path: np.ndarray, place: np.ndarray, failed: np.ndarray) -> None:
    """Try the next four of a position, and its answer."""
    frame = path[place[LEVEL]]
    frame.attack = frame.moves[frame.next]
    frame.next += 1
    place[NODES] += 1
    flip(threats, ATTACKER, frame.attack)
    frame.answer = five_point(threats, ATTACKER, -1)
    place[LAST] = five_point(threats, ATTACKER, frame.answer)
    if place[LAST] >= 0:
        place[STATUS] = WON
        return
    flip(threats, DEFENDER, frame.answer)
    place[LEVEL] += 1
    following = path[place[LEVEL]]
    if failed[threats.key & uint64(failed.shape[0] - 1)] == threats.key:
        following.next, following.count = 0, 0
    else:
        list_attacks(threats, following)


@njit(cache=True, nogil=True)
def solve(
    threats: State, path: np.ndarray, place: np.ndarray, failed: np.ndarray, budget: int, stop: np.ndarray
) -> int:
    """Go on until the search is done or has taken `budget` more nodes; return its status.

    path    [points // 2 + 2]  the moves from the root to here, of dtype PATH
    place   [4]                level, nodes so far, status, the winning five after the last answer
    failed  [2^n]              hashes of positions without a win
    """
    last = place[NODES] + budget
    while place[STATUS] == RUNNING and place[NODES] < last and stop[0] == 0:
        frame = path[place[LEVEL]]
        if frame.next == frame.count:
            step_back(threats, path, place, failed)
        else:
            attack(threats, path, place, failed)
    return int(place[STATUS])


# ---- for people ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fours:
    """What a search for a win by fours has found."""

    line: tuple[Action, ...] | None
    """attack and answer in turns up to the five that wins; None if no win was found"""
    complete: bool
    """whether the answer is certain; False if the search ended at its limit"""
    nodes: int


def winning_line(path: np.ndarray, place: np.ndarray) -> tuple[Action, ...]:
    """Read the line that has won off the path."""
    moves: list[Action] = []
    for level in range(int(place[LEVEL]) + 1):
        moves += [int(path[level]["attack"]), int(path[level]["answer"])]
    return tuple(move for move in [*moves, int(place[LAST])] if move >= 0)


def search_fours(position: Position, nodes: int = 1_000_000, watch: Watch | None = None) -> Fours:
    """Search for a win by continuous fours of the side to move, in at most so many nodes."""
    game = checked(position, "the search for fours")
    limit, watch = whole_number("nodes of a search for fours", nodes, 1, MOST_NODES), watch or Watch()
    if position.state["phase"] != PLAY:
        return Fours(None, True, 0)
    board, threats = new_record((), game.size), new_record(THREATS, game.size)
    path, place = np.zeros(game.points // 2 + 2, PATH), np.zeros(4, np.int64)
    failed = np.zeros(1 << TABLE_BITS, np.uint64)
    key = np.uint64(lay_state(board[0], position.state))
    begin(threats[0], board[0]["lines"], int(position.state["colour"]), key, path, place)
    while place[STATUS] == RUNNING and place[NODES] < limit and not watch.ended:
        solve(threats[0], path, place, failed, min(SLICE, limit - int(place[NODES])), watch.stop)
    line = winning_line(path, place) if place[STATUS] == WON else None
    return Fours(line, bool(place[STATUS] != RUNNING), int(place[NODES]))


def vcf(position: Position, nodes: int = 1_000_000) -> tuple[Action, ...] | None:
    """Return a line of continuous fours that wins for the side to move, up to the five; None if none was found."""
    return search_fours(position, nodes).line
