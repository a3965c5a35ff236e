"""What each play of a hand of Texas 42 has cost, in points.

Two answers, as there are two questions. `known` is what the play gave away by what its seat could know: the best
expected Q less that of the play, over worlds that agreed with all the seat had seen. `open` is what it gave away with
all hands open, which nobody at the table could know: the best exact Q less that of the play.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rookery.errors import BadInput
from rookery.games.position import Position, Seat
from rookery.games.rng import random_bits
from rookery.games.texas42 import record, state_of
from rookery.games.texas42_tiles import NAMES, NO_TILE, NOT_NAMED
from rookery.search.expected import Exact, expected_many
from rookery.search.posterior import rewound
from rookery.search.worlds import one_seed

COSTS_STREAM = 4243


@dataclass(frozen=True)
class Cost:
    """One play and what it gave away, in points of the difference between the teams."""

    number: int
    """of the play, from 0"""
    seat: Seat
    tile: int
    choices: int
    """tiles that could be played"""
    known: float
    """by what the seat could know"""
    known_best: int
    """the best tile by that"""
    open: float
    """with all hands open"""
    open_best: int
    """a best tile then; the one played if it is one"""


def costs(
    position: Position,
    worlds: int = 100,
    seed: int = 0,
    threads: int = 1,
    report: Callable[[int], None] = lambda plays: None,
) -> list[Cost]:
    """Return what each play so far has cost; all hands must be known. `report` hears how many plays are done.

    Where worlds are a sample, the play that looks best is a little too lucky in it, so `known` is a little too high.
    """
    state = state_of(position)
    if (state["tiles"] == NO_TILE).any():
        raise BadInput(f"what plays have cost can be told only if all hands are known, not in {position.text()!r}")
    if state["declaration"] > NOT_NAMED:
        raise BadInput(f"plays cost no points in {NAMES[state['declaration']]}, which is made or set as a whole")
    exact, found, seed = Exact(threads), [], int(one_seed(seed)[0])
    for number, (seat, tile) in enumerate(record(position)):
        before = rewound(position.states, np.array([number]))
        slots = before["tiles"][0, seat]
        played = int(np.flatnonzero(slots == tile)[0])
        key = int(random_bits(seed, COSTS_STREAM, number)) >> 1
        seen = expected_many(before, worlds, np.array([key]), exact, threads=threads)[0]
        q = np.where(seen.legal, exact(before)[0], -np.inf)
        best, gone = int(np.nanargmax(seen.mean)), float(q.max() - q[played])
        known = float(seen.mean[best] - seen.mean[played])
        best = played if known == 0 else best
        open_best = played if gone == 0 else int(np.argmax(q))
        choices = int(seen.legal.sum())
        found.append(Cost(number, seat, tile, choices, known, int(slots[best]), gone, int(slots[open_best])))
        report(number + 1)
    return found
