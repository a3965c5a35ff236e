"""The tiles of Texas 42: numbers, suits, declarations, who beats whom.

The double-six set has 28 tiles, written high pip first, "6-4". A tile's id is high * (high + 1) / 2 + low, so 0-0 is 0
and 6-6 is 27. A set of tiles is the bits of a 32-bit word.

A declaration calls a suit. Suits 0..6 are the pips, suit 7 is the called suit; a called tile belongs to no pip suit:

    0..6   the seven tiles with that pip are called and are trump
    7      the seven doubles are called and are trump
    8      the seven doubles are called, a suit of their own without the power of trump
    9      nothing is called: no trump, "follow me"

A led tile leads the called suit if it belongs to it, else the suit of its high pip.

House contracts (`texas42_house`) are numbered after these; 10 stands for none named yet:

    11     nello, doubles high: as 9
    12     nello, doubles low: as 9, but a double is the worst of its suit
    13     nello, doubles as a suit: as 8
    14     sevens: the tile whose pips are nearest to seven in all wins, and must be played
    15     sevens, free: the same, but anything may be played

In sevens a suit is a distance from seven, 0..7; suits are not followed.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from numba import njit, uint32

from rookery.errors import BadInput
from rookery.games.bits import Word
from rookery.games.options import whole_number

PAIRS = [(high, low) for high in range(7) for low in range(high + 1)]
TILES = len(PAIRS)
NO_TILE = TILES  # stands where there is no tile, or an unknown one
SEATS, HAND = 4, 7
CALLED = 7
SUITS = 8
NO_SUIT = SUITS  # while no tile is led
DECLARATIONS = (
    "blanks", "ones", "twos", "threes", "fours", "fives", "sixes", "doubles", "doubles-suit", "no-trump",
)  # fmt: skip
DOUBLES_SUIT, NO_TRUMP = 8, 9
NOT_NAMED = len(DECLARATIONS)  # the declaration before one is named
NELLO, NELLO_LOW, NELLO_SUIT, SEVENS, SEVENS_FREE = range(NOT_NAMED + 1, NOT_NAMED + 6)
HOUSE_DECLARATIONS = ("nello", "nello-low", "nello-suit", "sevens", "sevens-free")
NAMES = (*DECLARATIONS, "-", *HOUSE_DECLARATIONS)  # by number
NEAREST = 7  # what sevens wants the pips of a tile to be
COUNTS = {(5, 5): 10, (6, 4): 10, (5, 0): 5, (4, 1): 5, (3, 2): 5}
ALL_TILES = (1 << TILES) - 1


# ---- the rules about tiles -----------------------------------------------------------------------


def is_called(declaration: int, tile: int) -> bool:
    """Tell whether a tile belongs to the called suit."""
    high, low = PAIRS[tile]
    if declaration in (7, DOUBLES_SUIT, NELLO_SUIT):
        return high == low
    return declaration in (high, low)


def distance(tile: int) -> int:
    """Return how far the pips of a tile are from seven."""
    return abs(NEAREST - sum(PAIRS[tile]))


def suit_led(declaration: int, tile: int) -> int:
    """Return the suit a tile leads; in sevens its distance."""
    if declaration >= SEVENS:
        return distance(tile)
    return CALLED if is_called(declaration, tile) else PAIRS[tile][0]


def follows(declaration: int, suit: int, tile: int) -> bool:
    """Tell whether a tile belongs to a suit; in sevens, whether that is its distance."""
    if declaration >= SEVENS:
        return suit == distance(tile)
    if suit == CALLED or is_called(declaration, tile):
        return suit == CALLED and is_called(declaration, tile)
    return suit in PAIRS[tile]


def rank(declaration: int, suit: int, tile: int) -> int:
    """Rank a tile in a suit it follows, 0..7: the double first, then by the other pip; doubles alone by their pip."""
    high, low = PAIRS[tile]
    if suit == CALLED and declaration in (7, DOUBLES_SUIT, NELLO_SUIT):
        return high
    pip = declaration if suit == CALLED else suit
    if declaration == NELLO_LOW:
        return 0 if high == low else high + low - pip + 1
    return 7 if high == low else high + low - pip


def power(declaration: int, suit: int, tile: int) -> int:
    """Return the strength of a tile when a suit is led; the highest of a trick wins, 0 cannot."""
    if declaration >= SEVENS:
        return 8 - distance(tile)
    if declaration < DOUBLES_SUIT and is_called(declaration, tile):
        return 16 + rank(declaration, CALLED, tile)
    return 1 + rank(declaration, suit, tile) if follows(declaration, suit, tile) else 0


def called_rank(declaration: int, tile: int) -> int:
    """Return a tile's place in the called suit, 0 for the best; 7 if it is not called."""
    if not is_called(declaration, tile):
        return 7
    mine = rank(declaration, CALLED, tile)
    return sum(is_called(declaration, other) and rank(declaration, CALLED, other) > mine for other in range(TILES))


# ---- tables for compiled code --------------------------------------------------------------------

ALL = range(len(DECLARATIONS))
EVERY = range(len(NAMES))  # house contracts too
HIGH = np.array([high for high, _ in PAIRS], np.int8)
LOW = np.array([low for _, low in PAIRS], np.int8)
COUNT = np.array([*(COUNTS.get(pair, 0) for pair in PAIRS), 0], np.int8)  # an empty place, NO_TILE, is worth nothing
LEADS = np.array([[suit_led(d, tile) for tile in range(TILES)] for d in EVERY], np.int8)
POWER = np.array(  # an empty place never wins
    [[[*(power(d, s, t) for t in range(TILES)), -1] for s in range(SUITS)] for d in EVERY], np.int8
)
CALLED_RANK = np.array([[called_rank(d, tile) for tile in range(TILES)] for d in EVERY], np.int8)
FOLLOW = np.array(
    [[sum(1 << t for t in range(TILES) if follows(d, s, t)) for s in range(SUITS)] for d in EVERY], np.uint32
)
BITS = np.uint32(1) << np.arange(TILES, dtype=np.uint32)
MEMBER = FOLLOW[..., None] & BITS != 0
ABOVE = (  # tiles of a suit that rank above a tile of it
    (MEMBER[..., None] & MEMBER[..., None, :] & (POWER[..., None, :TILES] > POWER[..., :TILES, None])) * BITS
).sum(-1, dtype=np.uint32)
DOUBLES = np.uint32(sum(1 << tile for tile, (high, low) in enumerate(PAIRS) if high == low))


@njit(cache=True, nogil=True)
def bit(tile: int) -> Word:
    """Return the set of one tile."""
    return uint32(1) << uint32(tile)


# ---- for people ----------------------------------------------------------------------------------


def deal(seed: int) -> list[list[int]]:
    """Return the four hands that the published data of this game gives a seed, each sorted by tile id."""
    tiles = list(range(TILES))
    seed = whole_number("seed", seed, 0, 2**63 - 1)
    random.Random(seed).shuffle(tiles)
    return [sorted(tiles[HAND * seat : HAND * (seat + 1)]) for seat in range(SEATS)]


def tile_text(tile: int) -> str:
    """Write a tile: "6-4"."""
    high, low = PAIRS[tile]
    return f"{high}-{low}"


DECLARATION_NUMBERS = [str(number) for number in range(len(DECLARATIONS))]
TILE_BY_TEXT = {f"{a}-{b}": tile for tile, pair in enumerate(PAIRS) for a, b in (pair, pair[::-1])}


def read_tile(value: Any) -> int:
    """Return the id of a tile given as id or text."""
    if isinstance(value, str) and value.strip() in TILE_BY_TEXT:
        return TILE_BY_TEXT[value.strip()]
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and 0 <= value < TILES:
        return int(value)
    ids = "" if isinstance(value, str) else f", or their ids, whole numbers 0..{TILES - 1}"
    raise BadInput(f"{value!r} is no tile; tiles are 0-0..6-6, written high-low{ids}")


def read_declaration(value: Any) -> int:
    """Return the number of a declaration given as number or name."""
    text = str(value).strip()
    if text in DECLARATIONS or text in HOUSE_DECLARATIONS:
        return NAMES.index(text)
    if text in DECLARATION_NUMBERS:
        return int(text)
    names, house = ", ".join(DECLARATIONS), ", ".join(HOUSE_DECLARATIONS)
    raise BadInput(
        f"{value!r} is no declaration; they are {names}, or their numbers 0..{len(DECLARATIONS) - 1}, and {house}"
    )


def tiles_of(word: Any) -> list[int]:
    """List the tiles of a set in increasing order."""
    return [tile for tile in range(TILES) if int(word) >> tile & 1]


def tile_set(tiles: list[int]) -> int:
    """Make the set of some tiles."""
    return sum(1 << tile for tile in tiles)


def tiles_text(tiles: list[int]) -> str:
    """Write tiles with commas between them; "-" for none."""
    return ",".join(tile_text(tile) for tile in tiles) or "-"
