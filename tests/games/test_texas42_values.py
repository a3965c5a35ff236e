"""Texas 42: published exact values of whole hands, found by looking ahead to the end with the game's own rules."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit, uint64

from rookery import load
from rookery.games import texas42
from rookery.games.position import Position
from rookery.games.rng import scramble
from rookery.games.rules import legal, over, play

LEAD_VALUES = [
    [42, 38, 42, 42, 38, 42, 42],
    [4, 26, 38, -6, 16, 8, -2],
    [-14, -4, -4, -16, -4, -36, -26],
    [-18, -6, -20, -8, -20, -20, -20],
    [16, 26, -16, 16, 16, 16, 26],
    [-18, 2, 4, 4, 4, -28, 4],
    [10, -14, -14, -12, -14, -14, 10],
    [-26, -28, -28, -26, -26, -28, -26],
    [40, 40, 40, 40, 14, 40, 40],
    [20, -42, -40, -40, -6, 8, 8],
]
"""of each seed's deal, with the declaration of that number: the value of each lead"""
ROOT_VALUES = [42, 38, -4, -6, 26, 4, 10, -26, 40, 20]

MOST = 42  # points of a hand
NO, YES, UNKNOWN = 0, 1, 2
PLACES = 1 << 21
BOUNDS = np.dtype([("place", np.int64), ("low", np.int64), ("high", np.int64)])
"""what is known of a position between two tricks: tiles played and mover, bounds of its points still to come"""


@njit(cache=True)
def bounds_of(state, table):
    """Find the bounds of a position between two tricks; they replace those of another that had the same slot."""
    place = (int(state.played) << 2) | int(state.texas42_mover)
    bounds = table[scramble(uint64(place)) & uint64(PLACES - 1)]
    if bounds.place != place:
        bounds.place, bounds.low, bounds.high = place, -MOST, MOST
    return bounds


@njit(cache=True)
def known_answer(state, wanted, table):
    """Tell without looking ahead whether team 0 still wins `wanted` points more than team 1."""
    if over(state):
        return YES if wanted <= 0 else NO
    if state.plays & 3 == 0:
        bounds = bounds_of(state, table)
        if bounds.low >= wanted:
            return YES
        if bounds.high < wanted:
            return NO
    return UNKNOWN


@njit(cache=True)
def remember(state, wanted, answer, table):
    """Keep an answer about a position between two tricks."""
    if state.plays & 3 == 0:
        bounds = bounds_of(state, table)
        if answer == YES:
            bounds.low = wanted
        else:
            bounds.high = wanted - 1


@njit(cache=True)
def lead_of_team_0(state):
    return int(state.points[0]) - int(state.points[1])


@njit(cache=True)
def reaches(states, moves, left, wanted, table):
    """Tell whether team 0 can win `wanted[0]` points more than team 1 from `states[0]` on, by trying everything.

    states  [29]     the position on each level of the search
    moves   [29, 7]  its legal moves, of which the last left[level] are still to be tried
    wanted  [29]     what team 0 must still win there
    """
    level = 0
    answer = known_answer(states[0], wanted[0], table)
    left[0] = legal(states[0], moves[0])
    while level > 0 or answer == UNKNOWN:
        if answer == UNKNOWN:
            left[level] -= 1
            states[level + 1] = states[level]
            play(states[level + 1], moves[level, left[level]])
            gained = lead_of_team_0(states[level + 1]) - lead_of_team_0(states[level])
            wanted[level + 1] = wanted[level] - gained
            level += 1
            answer = known_answer(states[level], wanted[level], table)
            if answer == UNKNOWN:
                left[level] = legal(states[level], moves[level])
        else:
            level -= 1
            decides = YES if states[level].texas42_mover & 1 == 0 else NO
            if answer != decides and left[level] > 0:
                answer = UNKNOWN
            else:
                remember(states[level], wanted[level], answer, table)
    return answer == YES


def values_of_leads(position: Position) -> list[int]:
    """The exact value of each move, points of team 0 minus those of team 1; one table serves all."""
    table = np.zeros(PLACES, BOUNDS)
    moves, left, wanted = np.zeros((29, 7), np.int32), np.zeros(29, np.int64), np.zeros(29, np.int64)
    values = []
    for action in position.legal():
        after = position.copy()
        after.play(int(action))
        states = np.repeat(after.states, 29)
        low, high = -MOST, MOST
        while low < high:
            wanted[0] = (low + high + 1) // 2
            if reaches(states, moves, left, wanted, table):
                low = int(wanted[0])
            else:
                high = int(wanted[0]) - 1
        values.append(low)
    return values


@pytest.mark.parametrize("seed", range(10))
def test_vector_27_exact_values_of_the_first_leads(seed):
    values = values_of_leads(load("texas42").set_up(texas42.deal(seed), seed, 0))
    assert values == LEAD_VALUES[seed]
    assert max(values) == ROOT_VALUES[seed]
