"""Exact values of late positions of Pylos, by its pure rules.

The caps on turns and on repetition stand around the rules and are left out: what neither side can bring to an end by
the rules alone is a draw. A position keeps 24 bytes; the options and the history behind them are the same in all.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rookery.errors import BadInput
from rookery.games.library import load
from rookery.games.position import Position
from rookery.games.pylos import STATE, Pylos
from rookery.games.pylos_turns import LONGEST_HISTORY, SPHERES, judge
from rookery.search.solve import retrograde
from rookery.search.solve.graph import Fields
from rookery.search.solve.retrograde import MOST_POSITIONS, Solution

OFFSETS = {name: int(STATE.fields[name][1]) for name in STATE.names or ()} if STATE.fields else {}
STORED = Fields(OFFSETS["rules"], (OFFSETS["turns"], OFFSETS["turns"] + 4))  # the options begin with the rules


def spheres_left(position: Position) -> int:
    """Count the spheres in both reserves."""
    return 2 * SPHERES - sum(int(spheres).bit_count() for spheres in position.state["spheres"])


def pure(position: Position) -> Position:
    """Return a position under the rules alone: no turns counted, both caps as far away as they can be."""
    game = position.game
    if not isinstance(game, Pylos):
        raise BadInput(f"this solver is for pylos, not for {game.name}")
    free = load("pylos", rules=game.rules, removal=game.removal, ply_cap=LONGEST_HISTORY - 1)
    states = free.empty_states()
    for name in ("spheres", "pylos_mover", "phase"):
        states[name] = position.states[name]
    judge(states[0])
    return Position(free, states)


def solve(
    position: Position,
    most_positions: int = MOST_POSITIONS,
    stop: np.ndarray | None = None,
    report: Callable[[int], None] = lambda positions: None,
) -> Solution:
    """Find the exact value of a position and of its moves; raise BadInput if the graph outgrows `most_positions`."""
    return retrograde.solve(pure(position), most_positions, STORED, stop, report)
