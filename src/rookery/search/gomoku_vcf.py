"""Win by continuous fours (VCF) in Gomoku, freestyle.

The attacker plays only moves that make a four, so the defender has one answer: the point that would make it a five. The
attacker has won once two points make a five. An answer may make a four of the defender; then the attacker must
play on the point where that would become a five, and this must again make a four. Within these moves the search is
exhaustive, so what it denies is not there.

Stones are held as lines (`gomoku_lines`), side 0 the attacker's. A window is five points in a row without an obstacle;
with one free point left it is a four, and that point makes a five; with two, either of them makes a four. All windows
of a line are counted at once, with one bit each. A move changes four lines.

A node is an attacking move together with its answer. Positions that were searched in vain are kept in a table by a
64-bit hash of all stones and the attacker. Moves are not listed: the fours of a position are in order, and once the
last one is taken back the next is found from it.

The lanes of a warp (`lanes`) take the same way through a search. They share out the lines when a board is taken over,
and the directions when a stone is put: nothing that belongs to a direction is written by two of them.
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
from rookery.search.gomoku_lines import LINES, checked, key_of, lay_state, new_record
from rookery.search.inner import inner
from rookery.search.lanes import lane_count, lane_sync, lane_union

ATTACKER, DEFENDER = 0, 1
RUNNING, WON, FAILED = 0, 1, 2
LEVEL, NODES, STATUS, LAST = 0, 1, 2, 3  # what `place` holds; LAST: the answer a double threat leaves, or -1
SLICE = 5_000  # nodes between two looks at the outside world, a few milliseconds
MOST_NODES = 10**12
TABLE_BITS = 16
ALL = ~uint64(0)
FORCED = DIRECTIONS  # where a move is the only one: in no direction is there another

THREATS = np.dtype(
    [
        ("lines", np.uint64, (2, DIRECTIONS, LINES)),  # as in `gomoku_lines`, the attacker's first
        ("fives", np.uint64, (2, DIRECTIONS, LINES)),  # points that make a five, as bits of each line
        ("fours", np.uint64, (DIRECTIONS, LINES)),  # points that make a four of the attacker
        ("five_lines", np.uint64, (2, DIRECTIONS)),  # lines that have such points
        ("four_lines", np.uint64, (DIRECTIONS,)),
        ("key", np.uint64),
        ("attacker", np.int32),
    ],
    align=True,
)
PATH = np.dtype(
    [
        ("attack", np.int32),  # the four being tried, -1 if none is left
        ("direction", np.int32),  # in which it was found
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


@inner
def find_on_line(threats: State, direction: int, line: int) -> tuple[Word, Word, Word]:
    """Find the threats of one line: the attacker's fives, the defender's, and the attacker's fours."""
    attack, defence = threats.lines[ATTACKER, direction, line], threats.lines[DEFENDER, direction, line]
    fives, fours = makers(attack, defence)
    answers, _ = makers(defence, attack)
    threats.fives[ATTACKER, direction, line] = fives
    threats.fives[DEFENDER, direction, line] = answers
    threats.fours[direction, line] = fours
    return fives, answers, fours


@inner
def refresh(threats: State, direction: int, line: int) -> None:
    """Find the threats of one line again, and note whether there are any."""
    fives, answers, fours = find_on_line(threats, direction, line)
    bit = uint64(1) << uint64(line)
    threats.five_lines[ATTACKER, direction] &= ~bit
    threats.five_lines[DEFENDER, direction] &= ~bit
    threats.four_lines[direction] &= ~bit
    if fives:
        threats.five_lines[ATTACKER, direction] |= bit
    if answers:
        threats.five_lines[DEFENDER, direction] |= bit
    if fours:
        threats.four_lines[direction] |= bit


@inner
def clear_line(threats: State, direction: int, line: int) -> None:
    """Say that a line has no threats."""
    threats.fives[ATTACKER, direction, line] = uint64(0)
    threats.fives[DEFENDER, direction, line] = uint64(0)
    threats.fours[direction, line] = uint64(0)


@inner
def flip(board: State, threats: State, side: int, point: int, lane: int, width: int) -> None:
    """Put a stone of a side on a point, or take it away."""
    lane_sync()
    for direction in range(lane, DIRECTIONS, width):
        line = board.line[point, direction]
        threats.lines[side, direction, line] ^= uint64(1) << uint64(board.shift[point, direction])
        refresh(threats, direction, line)
    if lane == 0:
        threats.key ^= key_of(side ^ threats.attacker, point)
    lane_sync()


@inner
def five_point(board: State, threats: State, side: int, besides: int) -> int:
    """Return a point that makes a five of a side, other than a given one; -1 if there is none."""
    for direction in range(DIRECTIONS):
        lines = threats.five_lines[side, direction]
        while lines:
            line = lowest_bit(lines)
            lines &= lines - uint64(1)
            points = threats.fives[side, direction, line]
            while points:
                point = board.origin[direction, line] + lowest_bit(points) * board.step[direction]
                if point != besides:
                    return int(point)
                points &= points - uint64(1)
    return -1


@inner
def makes_four(board: State, threats: State, point: int, directions: int) -> bool:
    """Tell whether a point makes a four of the attacker in one of the first so many directions."""
    for direction in range(directions):
        points = threats.fours[direction, board.line[point, direction]]
        if (points >> uint64(board.shift[point, direction])) & uint64(1):
            return True
    return False


@inner
def next_four(board: State, threats: State, point: int, direction: int) -> tuple[int, int]:
    """Return the four that follows the one found on a point in a direction, and its direction; point -1: the first.

    Fours are in order of direction, line and place, and found in the first of their directions. None is left: -1.
    """
    first, later = uint64(0), ALL  # the line to begin with, and the points of it that were not looked at
    if point >= 0 and direction < DIRECTIONS:
        first, later = uint64(board.line[point, direction]), ALL << uint64(board.shift[point, direction] + 1)
    while direction < DIRECTIONS:
        lines = threats.four_lines[direction] & (ALL << first)
        while lines:
            line = lowest_bit(lines)
            lines &= lines - uint64(1)
            points = threats.fours[direction, line]
            if uint64(line) == first:
                points &= later
            while points:
                found = board.origin[direction, line] + lowest_bit(points) * board.step[direction]
                points &= points - uint64(1)
                if not makes_four(board, threats, found, direction):
                    return int(found), direction
        direction, first, later = direction + 1, uint64(0), ALL
    return -1, FORCED


# ---- the search ----------------------------------------------------------------------------------


@inner
def find_threats(board: State, threats: State, lane: int, width: int) -> None:
    """Find the threats of all lines."""
    lane_sync()
    for direction in range(DIRECTIONS):
        fives, answers, fours = uint64(0), uint64(0), uint64(0)
        for line in range(lane, 2 * board.size - 1, width):
            own, other = threats.lines[ATTACKER, direction, line], threats.lines[DEFENDER, direction, line]
            if popcount(own & ~other) >= 3 or popcount(other & ~own) >= 4:  # fewer stones make no threat
                bit = uint64(1) << uint64(line)
                five, answer, four = find_on_line(threats, direction, line)
                fives |= bit if five else uint64(0)
                answers |= bit if answer else uint64(0)
                fours |= bit if four else uint64(0)
            else:
                clear_line(threats, direction, line)
        if lane_count((fives | answers | fours) != uint64(0)) > 0:
            fives, answers, fours = lane_union(fives), lane_union(answers), lane_union(fours)
        if lane == 0:
            threats.five_lines[ATTACKER, direction] = fives
            threats.five_lines[DEFENDER, direction] = answers
            threats.four_lines[direction] = fours
    lane_sync()


@njit(cache=True, nogil=True)
def begin(board: State, threats: State, attacker: int, key: Word, path: Any, place: Any, lane: int, width: int) -> None:
    """Take over the lines of a board, with a hash of its stones, and stand before the first move of a search."""
    for line in range(lane, 2 * board.size - 1, width):
        for direction in range(DIRECTIONS):
            threats.lines[ATTACKER, direction, line] = board.lines[attacker, direction, line]
            threats.lines[DEFENDER, direction, line] = board.lines[1 - attacker, direction, line]
    stand(board, threats, attacker, key, path, place, lane, width)


@njit(cache=True, nogil=True)
def stand(board: State, threats: State, attacker: int, key: Word, path: Any, place: Any, lane: int, width: int) -> None:
    """Stand before the first move of a search of the lines that the record of threats holds."""
    find_threats(board, threats, lane, width)
    five = five_point(board, threats, ATTACKER, -1)
    move, direction = (five, FORCED) if five >= 0 else first_four(board, threats)
    if lane == 0:
        threats.attacker, threats.key = attacker, key ^ hashed(uint64(attacker))
        path[0].attack, path[0].direction, path[0].answer = move, direction, -1
        place[LEVEL], place[NODES], place[STATUS], place[LAST] = 0, 0, WON if five >= 0 else RUNNING, -1
    lane_sync()


@inner
def first_four(board: State, threats: State) -> tuple[int, int]:
    """Return the attacker's first move and its direction: the first four, or the one that also stops a five."""
    danger = five_point(board, threats, DEFENDER, -1)
    if danger < 0:
        return next_four(board, threats, -1, 0)
    if five_point(board, threats, DEFENDER, danger) < 0 and makes_four(board, threats, danger, DIRECTIONS):
        return danger, FORCED
    return -1, FORCED


@inner
def attack(board: State, threats: State, frame: State, move: int, direction: int, lane: int, width: int) -> int:
    """Try a four: return the point of a second five, which wins; where there is none play the answer, and return -1."""
    flip(board, threats, ATTACKER, move, lane, width)
    answer = five_point(board, threats, ATTACKER, -1)
    second = five_point(board, threats, ATTACKER, answer)
    if lane == 0:
        frame.attack, frame.direction, frame.answer = move, direction, answer
    if second < 0:
        flip(board, threats, DEFENDER, answer, lane, width)
    return second


@inner
def take_back(board: State, threats: State, frame: State, lane: int, width: int) -> tuple[int, int]:
    """Take an attack and its answer back; return the next four to try, and its direction."""
    flip(board, threats, DEFENDER, frame.answer, lane, width)
    flip(board, threats, ATTACKER, frame.attack, lane, width)
    return next_four(board, threats, int(frame.attack), int(frame.direction))


@inner
def is_known(threats: State, failed: Any) -> bool:
    """Tell whether a position was searched in vain."""
    return bool(failed[threats.key & uint64(failed.shape[0] - 1)] == threats.key)


@inner
def remember(threats: State, failed: Any, lane: int) -> None:
    """Remember that a position is not won by fours."""
    lane_sync()
    if lane == 0:
        failed[threats.key & uint64(failed.shape[0] - 1)] = threats.key


@njit(cache=True, nogil=True)
def solve(
    board: State, threats: State, path: Any, place: Any, failed: Any, budget: int, stop: Any, lane: int, width: int
) -> int:
    """Go on until the search is done or has taken `budget` more nodes; return its status.

    board   a record of `gomoku_lines`, of which only what belongs to an empty board is read
    path    the moves from the root to here, of dtype PATH; as long as `longest_path` says
    place   [4]    level, nodes so far, status, the winning five after the last answer
    failed  [2^n]  hashes of positions without a win
    """
    level, nodes, status, last = int(place[LEVEL]), int(place[NODES]), int(place[STATUS]), int(place[LAST])
    most, move, direction = nodes + budget, int(path[level].attack), int(path[level].direction)
    while status == RUNNING and nodes < most and stop[0] == 0:
        if move >= 0:
            nodes += 1
            last = attack(board, threats, path[level], move, direction, lane, width)
            if last >= 0:
                status = WON
            else:
                level += 1
                move, direction = (-1, FORCED) if is_known(threats, failed) else first_four(board, threats)
        else:
            remember(threats, failed, lane)
            if level == 0:
                status = FAILED
            else:
                level -= 1
                move, direction = take_back(board, threats, path[level], lane, width)
    leave(path, place, level, nodes, status, last, move, direction, lane)
    return status


@inner
def leave(
    path: Any, place: Any, level: int, nodes: int, status: int, last: int, move: int, direction: int, lane: int
) -> None:
    """Write down where a search stands, for whoever goes on with it or reads its line."""
    lane_sync()
    if lane == 0:
        path[level].attack, path[level].direction = move, direction
        place[LEVEL], place[NODES], place[STATUS], place[LAST] = level, nodes, status, last
    lane_sync()


def longest_path(points: int, nodes: int = MOST_NODES) -> int:
    """Return how long the path of a search of so many nodes on a board of so many points can be."""
    return min(points // 2, nodes) + 2


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
    board, threats = new_record((), game.size), np.zeros(1, THREATS)
    path, place = np.zeros(longest_path(game.points, limit), PATH), np.zeros(4, np.int64)
    failed = np.zeros(1 << TABLE_BITS, np.uint64)
    key = np.uint64(lay_state(board[0], position.state))
    begin(board[0], threats[0], int(position.state["colour"]), key, path, place, 0, 1)
    while place[STATUS] == RUNNING and place[NODES] < limit and not watch.ended:
        solve(board[0], threats[0], path, place, failed, min(SLICE, limit - int(place[NODES])), watch.stop, 0, 1)
    line = winning_line(path, place) if place[STATUS] == WON else None
    return Fours(line, bool(place[STATUS] != RUNNING), int(place[NODES]))


def vcf(position: Position, nodes: int = 1_000_000) -> tuple[Action, ...] | None:
    """Return a line of continuous fours that wins for the side to move, up to the five; None if none was found."""
    return search_fours(position, nodes).line
