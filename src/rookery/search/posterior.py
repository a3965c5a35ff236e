"""How likely worlds of Texas 42 are, by what the others have played in them.

By the rules alone all worlds are alike. Who believes that players choose well believes some worlds more than others:
the weight of a world is the product, over the last plays of the other seats, of the chance that a player with the hand
it has in that world plays what was played. The chance is softmax((Q - mean Q) / tau) over the legal plays, with Q in
points from the actor's side, mixed with a share of blind choice. Hands are those of that moment, so a play is judged
in the position before it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit

from rookery.errors import BadInput
from rookery.games.bits import popcount
from rookery.games.options import whole_number
from rookery.games.rules import State, legal
from rookery.games.texas42_auction import PLAYING
from rookery.games.texas42_play import put
from rookery.games.texas42_tiles import HAND, NO_SUIT, NO_TILE, TILES, bit
from rookery.search.worlds import Drawn

LEAST_LOG = -30.0  # below the likeliest world; what is less likely still weighs as much

Oracle = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Habits:
    """A model of how players choose."""

    tau: float = 10.0
    """points by which a play must be worse to be taken less often by a factor of e"""
    mix: float = 0.1
    """share of plays made blindly"""
    last: int = 8
    """how many of the last plays are looked at"""

    def __post_init__(self) -> None:
        whole_number("last of habits", self.last, 1, TILES)
        if not self.tau > 0:
            raise BadInput(f"tau of habits must be a number above 0, not {self.tau!r}")
        if not 0 <= self.mix <= 1:
            raise BadInput(f"mix of habits must lie in 0..1, not {self.mix!r}")


@njit(cache=True, nogil=True)
def rewind(state: State, plays: int) -> None:
    """Go back to the position after so many plays of the same hand."""
    state.played = 0
    state.voids[:] = 0
    state.points[:] = 0
    state.leaders[1:] = state.opener
    state.led_suit = NO_SUIT
    state.phase = PLAYING
    state.texas42_mover = state.leaders[0]
    again = state.history.copy()
    state.history[:] = NO_TILE
    state.plays = 0
    while state.plays < plays:  # a seat that sits out has a place without a tile, which `put` leaves behind
        put(state, again[state.plays])


@njit(cache=True, nogil=True)
def rewind_all(states: np.ndarray, plays: np.ndarray, out: np.ndarray) -> None:
    """Write the positions [N] in which the hands of `states` stood after so many plays [N]."""
    for i in range(states.shape[0]):
        out[i] = states[i]
        rewind(out[i], plays[i])


@njit(cache=True, nogil=True)
def chances_of(
    before: np.ndarray, tiles: np.ndarray, q: np.ndarray, tau: float, mix: float, slots: np.ndarray, out: np.ndarray
) -> None:
    """Write the chance [N] that the mover of each position plays a tile.

    before  [N] positions
    tiles   [N] what was played in them
    q       [N, 7] from the mover's side
    slots   [7] room for a legal list
    """
    for i in range(before.shape[0]):
        count = legal(before[i], slots)
        most = q[i, slots[0]]
        for k in range(1, count):
            most = max(most, q[i, slots[k]])
        total = 0.0
        for k in range(count):
            total += np.exp((q[i, slots[k]] - most) / tau)
        played = popcount(before[i].hands[before[i].texas42_mover] & (bit(tiles[i]) - np.uint32(1)))
        out[i] = (1.0 - mix) * np.exp((q[i, played] - most) / tau) / total + mix / count


def rewound(states: np.ndarray, plays: np.ndarray) -> np.ndarray:
    """Return the positions in which hands stood after so many plays; all four hands must be there."""
    out = np.empty(len(states), states.dtype)
    rewind_all(states, np.asarray(plays, np.int64), out)
    return out


def weights_of(drawn: Drawn, oracle: Oracle, habits: Habits | None) -> np.ndarray:
    """Return the weights [W] of the worlds of several positions: 1 for the likeliest of each; without habits, for all.

    Who looks is the seat to move. Its own plays say nothing about the other hands.
    """
    if habits is None:
        return np.ones(len(drawn.states))
    logs = log_weights(drawn.states, oracle, habits)
    most = np.repeat(np.maximum.reduceat(logs, drawn.begins[:-1]), np.diff(drawn.begins))
    return np.asarray(np.exp(np.maximum(logs - most, LEAST_LOG)))


def log_weights(worlds: np.ndarray, oracle: Oracle, habits: Habits) -> np.ndarray:
    """Return the logarithm [W] of the chance of the last plays in each world; 0 where nothing was played."""
    logs = np.zeros(len(worlds))
    for back in range(1, habits.last + 1):
        at = worlds["plays"].astype(np.int64) - back
        leaders = np.take_along_axis(worlds["leaders"], np.maximum(at, 0)[:, None] >> 2, 1)[:, 0]
        placed = np.take_along_axis(worlds["history"], np.maximum(at, 0)[:, None], 1)[:, 0]
        asked = np.flatnonzero((at >= 0) & (placed != NO_TILE) & ((leaders + at) % 4 != worlds["texas42_mover"]))
        if not len(asked):
            continue
        before = rewound(worlds[asked], at[asked])
        tiles = placed[asked].astype(np.int64)
        chances, q = np.empty(len(asked)), np.asarray(oracle(before), np.float64)
        chances_of(before, tiles, q, habits.tau, habits.mix, np.zeros(HAND, np.int32), chances)
        with np.errstate(divide="ignore"):  # without blind choice a chance may vanish
            logs[asked] += np.maximum(np.log(chances), 20 * LEAST_LOG)
    return logs
