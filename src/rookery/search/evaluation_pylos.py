"""Pylos: who has more spheres in reserve.

Whoever runs out of spheres loses, so a sphere saved by a raise or taken back is what players fight for.
"""

from __future__ import annotations

from rookery.games.pylos import STATE
from rookery.games.pylos_turns import DRAWN, SPHERES, reserve
from rookery.games.rules import State
from rookery.search.evaluations import UNIT, supplies


@supplies("evaluate", STATE)
def evaluate(state: State) -> int:
    seat = state.pylos_mover
    return (reserve(state, seat) - reserve(state, 1 - seat)) * (UNIT // (SPHERES + 1))


@supplies("ended_by_history", STATE)
def ended_by_history(state: State) -> bool:
    return bool(state.result == DRAWN)  # by the cap on turns or on repetitions; a key counts neither
