"""Texas 42: published exact values of whole hands, found by looking ahead to the end with the game's own rules.

This search is plain and slow, so only two of the ten published deals are tried.
"""

from __future__ import annotations

import numpy as np
import pytest

from rookery import load
from rookery.games import texas42

ROOT_VALUES = {0: [42, 38, 42, 42, 38, 42, 42], 1: [4, 26, 38, -6, 16, 8, -2]}
"""of each seed's deal, with the declaration of that number: the value of each lead"""


class Solver:
    """Alpha-beta on points still to come, team 0 minus team 1, with bounds remembered between tricks."""

    def __init__(self, position):
        self.states = np.repeat(position.states, 30)
        self.bounds: dict[tuple[int, int], tuple[int, int]] = {}

    def after(self, depth: int, action: int, alpha: int, beta: int) -> int:
        """The value of an action: what it gains and what comes then."""
        states = self.states
        states[depth + 1] = states[depth]
        state = states[depth + 1]
        texas42.play(state, action)
        before, now = states["points"][depth], state["points"]
        gain = int(now[0]) - int(now[1]) - int(before[0]) + int(before[1])
        return gain + self.value(depth + 1, alpha - gain, beta - gain)

    def value(self, depth: int, alpha: int, beta: int) -> int:
        state = self.states[depth]
        if texas42.over(state):
            return 0
        place = (int(state["played"]), int(state["texas42_mover"])) if depth % 4 == 0 else None
        low, high = self.bounds.get(place, (-42, 42)) if place else (-42, 42)
        if low >= beta or high <= alpha or low == high:
            return low if low >= beta or low == high else high
        alpha, beta = max(alpha, low), min(beta, high)
        found = self.best(depth, alpha, beta)
        if place:
            self.bounds[place] = (low if found <= alpha else found, high if found >= beta else found)
        return found

    def best(self, depth: int, alpha: int, beta: int) -> int:
        state, out = self.states[depth], np.empty(7, np.int32)
        maximise = state["texas42_mover"] % 2 == 0
        best = -99 if maximise else 99
        for action in out[: texas42.legal(state, out)]:
            value = self.after(depth, int(action), alpha, beta)
            best = max(best, value) if maximise else min(best, value)
            if maximise:
                alpha = max(alpha, best)
            else:
                beta = min(beta, best)
            if alpha >= beta:
                break
        return best


@pytest.mark.slow
@pytest.mark.parametrize("seed", ROOT_VALUES)
def test_vector_27_exact_values_of_the_first_leads(seed):
    solver = Solver(load("texas42").set_up(texas42.deal(seed), seed, 0))
    assert [solver.after(0, slot, -43, 43) for slot in range(7)] == ROOT_VALUES[seed]
