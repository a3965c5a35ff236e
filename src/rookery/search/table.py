"""The transposition table: what a search knows of positions it has met before.

Entries lie in an array in pairs; a position's key names its pair. The first of a pair keeps the deeper search: it gives
way to one at least as deep, or when it stems from an earlier search. What it gives up, or what is not deep
enough for it, goes to the second, which always takes the latest. An entry belongs to a position if all 64 bits of
the key are the same.

Scores of wins count plies from the root (`rookery.search.evaluations`); in the table they count from the position
itself, since it may be met again at another distance.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from numba import int64, njit, uint64

from rookery.errors import BadInput
from rookery.games.bits import Word
from rookery.games.game import Game
from rookery.games.options import whole_number
from rookery.search.evaluations import UNIT

ENTRY = np.dtype(
    [
        ("key", np.uint64),
        ("score", np.int32),
        ("move", np.int32),
        ("depth", np.int16),
        ("bound", np.uint8),
        ("age", np.uint8),  # number of the search it stems from; 0: empty
    ],
    align=True,
)
NO_BOUND, LOWER, UPPER, EXACT = 0, 1, 2, 3  # what a score says; NO_BOUND: only the move is to be used
COMPLETE = 4  # added to a bound that holds at every greater depth too, because every line ended with the game
MOST_MEGABYTES = 1 << 16
GAME, QUIET_PLIES, IN_USE = 0, 1, 2  # numbers kept in `Table.use`
LENDING = threading.Lock()


class Table(NamedTuple):
    """Entries, and the number of the search that uses them."""

    entries: np.ndarray
    """[2^n] ENTRY"""
    age: np.ndarray
    """[1] 1..255, then from 1 again"""
    use: np.ndarray
    """[3] a number for its game, 0 before the first search; the quiet plies of its scores; 1 while a search uses it"""


def new_table(megabytes: int) -> Table:
    """Make an empty table of at most so many megabytes; its pages are taken from the system as they are used."""
    wanted = whole_number("table_megabytes", megabytes, 1, MOST_MEGABYTES) * 1_000_000 // ENTRY.itemsize
    return Table(np.zeros(1 << (wanted.bit_length() - 1), ENTRY), np.ones(1, np.uint8), np.zeros(3, np.int64))


@contextmanager
def lent(table: Table, game: Game, quiet_plies: int) -> Iterator[None]:
    """Let one search use a table; refuse one that is in use, or whose scores mean something else."""
    number = int.from_bytes(hashlib.sha256(game.spec.encode()).digest()[:7]) + 1
    with LENDING:
        if table.use[IN_USE]:
            raise BadInput("the table is used by another search at this moment; threads need a table each")
        if table.use[GAME] not in (0, number):
            raise BadInput(f"the table holds positions of another game than {game.spec}; new_table makes an empty one")
        if table.use[GAME] and table.use[QUIET_PLIES] != quiet_plies:
            raise BadInput(
                f"the table holds scores of searches with quiet_plies={table.use[QUIET_PLIES]}, "
                f"which mean nothing where quiet_plies={quiet_plies}"
            )
        table.use[:] = number, quiet_plies, 1
    try:
        yield
    finally:
        table.use[IN_USE] = 0


@njit(cache=True, nogil=True)
def new_search(table: Table) -> None:
    """Let what earlier searches have stored give way from now on."""
    table.age[0] = table.age[0] % 255 + 1


@njit(cache=True, nogil=True)
def pair_of(table: Table, key: Word) -> int:
    """Return the index of the first of the two entries a key may be in."""
    return int(int64(uint64(key) & uint64(table.entries.shape[0] - 2)))


@njit(cache=True, nogil=True)
def find(table: Table, key: Word) -> int:
    """Return the index of a position's entry, or -1."""
    first = pair_of(table, key)
    for i in range(first, first + 2):
        if table.entries[i].key == key and table.entries[i].age != 0:
            return i
    return -1


@njit(cache=True, nogil=True)
def store(table: Table, key: Word, score: int, move: int, depth: int, bound: int) -> None:
    """Enter what a search has found out about a position; the score counts from the position."""
    first = pair_of(table, key)
    place, held = first, table.entries[first]
    if held.key != key or held.age == 0:
        if held.age == table.age[0] and held.depth > depth:
            place = first + 1
        else:
            table.entries[first + 1] = table.entries[first]
    entry = table.entries[place]
    entry.key, entry.score, entry.move, entry.depth = key, score, move, depth
    entry.bound, entry.age = bound, table.age[0]


@njit(cache=True, nogil=True)
def from_position(score: int, level: int) -> int:
    """Turn a score that counts plies from the root into one that counts from a position so many plies below it."""
    if score > UNIT:
        return score + level
    return score - level if score < -UNIT else score


@njit(cache=True, nogil=True)
def from_root(score: int, level: int) -> int:
    """Turn a score of the table back into one that counts plies from the root."""
    if score > UNIT:
        return score - level
    return score + level if score < -UNIT else score
