"""What a game says about its moves at a glance: a hint, for priors and playouts where there is no network.

`hint` is generic like the functions of `rookery.games.rules`, but optional: without hints all moves look alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit, uint64
from numba.extending import overload

from rookery.games.bits import Word, popcount
from rookery.games.domineering import line_of
from rookery.games.game import Game
from rookery.games.rules import State, rules_of


@njit(cache=True, nogil=True)
def no_hint(state: State, action: int) -> int:
    """Say nothing."""
    return 0


@njit(cache=True, nogil=True)
def free_places(state: State, seat: int, line: int) -> Word:
    """Return the free places of a line of Domineering, as a seat sees it, as bits 1..16; none outside the frame."""
    if line < 0 or line > 15:
        return uint64(0)
    return ((~state.covered[seat, line >> 2] >> uint64(16 * (line & 3))) & uint64(0xFFFF)) << uint64(1)


@njit(cache=True, nogil=True)
def domineering_hint(state: State, action: int) -> int:
    """Return how many moves a domino takes from the other player, less those it takes from its own besides itself.

    Its two squares are place j of the lines i and i + 1. The other player's dominoes lie along these lines, so he loses
    one for each free neighbour there; one's own lie across, so one loses one for each free place j of the lines before
    and after.
    """
    seat = state.domineering_mover
    length = state.rows if seat == 1 else state.cols
    number = action - seat * (state.rows - 1) * state.cols
    line = line_of(number, length)
    place = uint64(number - line * length)
    beside, middle = uint64(5) << place, uint64(2) << place
    taken = popcount(free_places(state, seat, line) & beside) + popcount(free_places(state, seat, line + 1) & beside)
    before, behind = free_places(state, seat, line - 1), free_places(state, seat, line + 2)
    return taken - popcount(before & middle) - popcount(behind & middle)


HINTS: dict[str, Callable[..., int]] = {"rookery.games.domineering": domineering_hint}  # module of the rules -> hint


def hint(state: State, action: int) -> int:
    """Tell how good a legal move looks, in small whole numbers; 0 for all moves of a game without hints."""
    return HINTS.get(rules_of(state.dtype.names).module, no_hint)(state, action)


@overload(hint)
def choose_hint(state: Any, action: Any) -> Callable[..., int]:
    """Pick a game's hint while compiling."""
    chosen = HINTS.get(rules_of(getattr(state, "fields", ())).module, no_hint)

    def call(state: Any, action: Any) -> int:
        return chosen(state, action)

    return call


def has_hints(game: Game) -> bool:
    """Tell whether a game says anything about its moves."""
    return rules_of(game.state.names).module in HINTS
