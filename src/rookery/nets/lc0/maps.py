"""Where the 1858 moves of Lc0's policy stand among the raw numbers of its three kinds of head.

    attention    64 x 64 pairs of squares, then promotions 24 f + 3 t + c: from file f to file t, c queen, rook, bishop
    convolution  73 planes of 64 source squares: 8 directions x 7 distances, 8 jumps, 9 promotions
    dense        the list itself

A map has the number of a move for each raw number, -1 where there is no such move. Squares are file + 8 rank as the
mover sees the board; promotions to a knight are plain pairs.
"""

from __future__ import annotations

from functools import cache

import numpy as np

DIRECTIONS = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)]
JUMPS = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]
QUEEN, ROOK, BISHOP = 0, 1, 2


@cache
def numbers() -> dict[tuple[int, int, int | None], int]:
    """Number the moves: (source, target, promoted piece or None)."""
    moves: list[tuple[int, int, int | None]] = [
        (source, target, None) for source in range(64) for target in range(64) if reaches(source, target)
    ]
    for file in range(8):
        for to in range(max(file - 1, 0), min(file + 1, 7) + 1):
            moves += [(48 + file, 56 + to, piece) for piece in (QUEEN, ROOK, BISHOP)]
    return {move: number for number, move in enumerate(moves)}


def reaches(source: int, target: int) -> bool:
    """Tell whether a queen or a knight could go from one square to another on an empty board."""
    files, ranks = abs(source % 8 - target % 8), abs(source // 8 - target // 8)
    return source != target and (files == 0 or ranks == 0 or files == ranks or {files, ranks} == {1, 2})


@cache
def attention_map() -> np.ndarray:
    """Number the moves of the 4288 raw numbers of an attention head."""
    pairs = [numbers().get((source, target, None), -1) for source in range(64) for target in range(64)]
    promotions = [
        numbers().get((48 + file, 56 + to, piece), -1) for file in range(8) for to in range(8) for piece in range(3)
    ]
    return np.array(pairs + promotions, np.int64)


@cache
def convolution_map() -> np.ndarray:
    """Number the moves of the 4672 raw numbers of a convolution head."""
    ways: list[tuple[int, int, int | None]] = [
        (files * far, ranks * far, None) for files, ranks in DIRECTIONS for far in range(1, 8)
    ]
    ways += [(files, ranks, None) for files, ranks in JUMPS]
    ways += [(files, 1, piece) for files in (-1, 0, 1) for piece in (ROOK, BISHOP, QUEEN)]
    return np.array([number_of(way, source) for way in ways for source in range(64)], np.int64)


def number_of(way: tuple[int, int, int | None], source: int) -> int:
    """Number the move that goes a way from a square, -1 if the board or the list has none."""
    file, rank = source % 8 + way[0], source // 8 + way[1]
    if not (0 <= file < 8 and 0 <= rank < 8):
        return -1
    return numbers().get((source, file + 8 * rank, way[2]), -1)


def places_of(mapped: np.ndarray) -> np.ndarray:
    """Turn a map round: where each of the 1858 moves stands among the raw numbers."""
    places = np.full(len(numbers()), -1, np.int64)
    used = np.flatnonzero(mapped >= 0)
    places[mapped[used]] = used
    return places


@cache
def reach_table() -> np.ndarray:
    """Return what an attention body with a map appends to square a in column b: -1 on a itself, 1 where a queen or a
    knight reaches b."""
    table = [[float(reaches(a, b)) - float(a == b) for b in range(64)] for a in range(64)]
    return np.array(table, np.float32)
