"""The pyramid of Pylos: cells, what rests on what, shapes, raises and their numbers.

A cell is (level, row, column); level L has (4 - L) x (4 - L) cells. People write "2b3": second level from the
bottom, column b, row 3.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit, uint32

from rookery.errors import BadInput
from rookery.games.bits import Word
from rookery.games.notation import parse_square, square_text

SIZES = (4, 3, 2, 1)
FIRST = (0, 16, 25, 29)
PLACES = [(level, row, col) for level, size in enumerate(SIZES) for row in range(size) for col in range(size)]
CELLS = len(PLACES)
APEX = CELLS - 1
NEVER = 0xFFFFFFFF  # a shape nobody completes: a player's spheres use the 30 low bits


def cell_of(level: int, row: int, col: int) -> int:
    """Number a cell."""
    return FIRST[level] + SIZES[level] * row + col


def mask_of(cells: list[int]) -> int:
    """Set the bits of some cells."""
    return sum(1 << cell for cell in cells)


def resting_on(cell: int) -> list[int]:
    """List the four cells that carry a cell; none on the bottom."""
    level, row, col = PLACES[cell]
    return [cell_of(level - 1, row + r, col + c) for r in (0, 1) for c in (0, 1)] if level else []


def cone(cell: int) -> set[int]:
    """Collect all cells that hold up a cell, directly or not."""
    below = set(resting_on(cell))
    return below.union(*(cone(support) for support in below))


def squares() -> list[list[int]]:
    """List the 14 squares of four neighbours on one level; each carries one cell of the next level."""
    return [resting_on(cell) for cell in range(16, CELLS)]


def lines() -> list[list[int]]:
    """List the 14 lines: rows and columns of the two lower levels."""
    found = []
    for level in (0, 1):
        for i in range(SIZES[level]):
            found.append([cell_of(level, i, j) for j in range(SIZES[level])])
            found.append([cell_of(level, j, i) for j in range(SIZES[level])])
    return found


def shapes_through() -> np.ndarray:
    """Tabulate the masks of the at most four squares (first) and two lines (last) through each cell."""
    table = np.full((CELLS, 6), NEVER, np.uint32)
    for cell in range(CELLS):
        for column, shapes in ((0, squares()), (4, lines())):
            masks = [mask_of(shape) for shape in shapes if cell in shape]
            table[cell, column : column + len(masks)] = masks
    return table


def raise_pairs() -> list[tuple[int, int]]:
    """List (source, destination) of the 273 raises in the order of their actions."""
    return [(src, dst) for src in range(CELLS) for dst in range(CELLS) if PLACES[dst][0] > PLACES[src][0]]


def raise_targets() -> np.ndarray:
    """Tabulate the cells to which a sphere can ever be raised: higher, and not held up by it. 156 in all."""
    targets = [[dst for src, dst in raise_pairs() if src == cell and cell not in cone(dst)] for cell in range(CELLS)]
    return np.array([mask_of(cells) for cells in targets], np.uint32)


def raise_offsets() -> np.ndarray:
    """Tabulate for each source the number to which a destination is added to give the action."""
    offsets = np.zeros(CELLS, np.int32)
    for action, (src, dst) in enumerate(raise_pairs(), start=CELLS):
        offsets[src] = action - dst
    return offsets


def cell_symmetries() -> dict[str, np.ndarray]:
    """Tabulate where each of the 8 symmetries of the square moves each cell."""
    turns: dict[str, Callable[[int, int, int], tuple[int, int]]] = {
        "identity": lambda row, col, last: (row, col),
        "quarter turn": lambda row, col, last: (col, last - row),
        "half turn": lambda row, col, last: (last - row, last - col),
        "three-quarter turn": lambda row, col, last: (last - col, row),
        "mirror": lambda row, col, last: (row, last - col),
        "flip": lambda row, col, last: (last - row, col),
        "transpose": lambda row, col, last: (col, row),
        "anti-transpose": lambda row, col, last: (last - col, last - row),
    }
    return {
        name: np.array([cell_of(level, *turn(row, col, SIZES[level] - 1)) for level, row, col in PLACES])
        for name, turn in turns.items()
    }


def cell_text(cell: int) -> str:
    """Write a cell: level from 1, column letter, row."""
    level, row, col = PLACES[cell]
    return f"{level + 1}{square_text(row, col)}"


def parse_cell(text: str) -> int:
    """Read a cell."""
    if text[:1] not in ("1", "2", "3", "4"):
        raise BadInput(f"{text!r} is no cell of the pyramid; cells are a level 1..4 and a square, 1a1..1d4 to 4a1")
    level = int(text[0]) - 1
    return cell_of(level, *parse_square(text[1:], SIZES[level], SIZES[level]))


# ---- compiled: sets of cells as the bits of a 32-bit word ----------------------------------------

RAISES = raise_targets()
OFFSETS = raise_offsets()


@njit(cache=True, nogil=True)
def bit(cell: int) -> Word:
    """Return the mask of one cell."""
    return uint32(uint32(1) << uint32(cell))


@njit(cache=True, nogil=True)
def supported(both: Word) -> Word:
    """Return the cells whose four supports are filled, and the whole bottom; `both` holds all spheres."""
    full = both & (both >> uint32(1)) & (both >> uint32(4)) & (both >> uint32(5))
    second = (full & uint32(7)) | ((full >> uint32(1)) & uint32(0o70)) | ((full >> uint32(2)) & uint32(0o700))
    upper = (both >> uint32(16)) & uint32(0o777)
    full = upper & (upper >> uint32(1)) & (upper >> uint32(3)) & (upper >> uint32(4))
    third = (full & uint32(0b11)) | ((full >> uint32(1)) & uint32(0b1100))
    apex = uint32(1) if (both >> uint32(25)) & uint32(0b1111) == uint32(0b1111) else uint32(0)
    return uint32(uint32(0xFFFF) | (second << uint32(16)) | (third << uint32(25)) | (apex << uint32(29)))


@njit(cache=True, nogil=True)
def carrying(both: Word) -> Word:
    """Return the cells on which a sphere rests."""
    upper = (both >> uint32(16)) & uint32(0o777)
    spread = (upper & uint32(7)) | ((upper & uint32(0o70)) << uint32(1)) | ((upper & uint32(0o700)) << uint32(2))
    first = spread | (spread << uint32(1)) | (spread << uint32(4)) | (spread << uint32(5))
    upper = (both >> uint32(25)) & uint32(0b1111)
    spread = (upper & uint32(0b11)) | ((upper & uint32(0b1100)) << uint32(1))
    second = spread | (spread << uint32(1)) | (spread << uint32(3)) | (spread << uint32(4))
    third = uint32(0b1111) if (both >> uint32(29)) & uint32(1) != uint32(0) else uint32(0)
    return uint32(first | (second << uint32(16)) | (third << uint32(25)))


@njit(cache=True, nogil=True)
def raised(action: int) -> tuple[int, int]:
    """Return source and destination of a raise."""
    if action < 254:
        source = (action - 30) // 14
    elif action < 299:
        source = 16 + (action - 254) // 5
    else:
        source = 25 + action - 299
    return source, action - OFFSETS[source]
