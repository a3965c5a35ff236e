"""Concepts of chess that a network may or may not see: what is true of a board, from the mover's side.

Boards are the twelve planes of men that Lc0's networks read first, [N, 12, 8, 8]: my pawns, knights, bishops, rooks,
queens and king, then theirs; rows are ranks, the mover's first rank is row 0. A concept is asked of a whole board, or
of some of its squares, where the men stand that it is about:

    material        what my men are worth more than theirs, in pawns; of the board
    attacks         squares that my men attack, less those that theirs do; of the board
    king-attacked   whether I am in check; of my king's square
    passed-pawn     whether no pawn of theirs can stop or take my pawn on its way; of the squares of my pawns
    attacked-man    whether a man of theirs attacks mine; of the squares of my men without the king
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING = range(6)
WORTH = (1, 3, 3, 5, 9)
STRAIGHT = ((0, 1), (1, 0), (0, -1), (-1, 0))
DIAGONAL = ((1, 1), (1, -1), (-1, -1), (-1, 1))
JUMPS = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))
BOARD = -1
"""stands for a square where a concept is asked of the whole board"""
DRAWN = 2
"""squares of a board at most of which a concept is asked"""


class Found(NamedTuple):
    """What is true of K boards or squares."""

    rows: np.ndarray
    """[K] numbers of the boards, in increasing order"""
    squares: np.ndarray
    """[K] of 64, or BOARD"""
    targets: np.ndarray
    """[K] numbers; 1 and 0 where something is true or not"""


@dataclass(frozen=True)
class Concept:
    """Something that can be said of a board or of its squares."""

    name: str
    says: str
    truth: bool
    """whether it is true or not; else it is a number"""
    find: Callable[[np.ndarray, np.random.Generator], Found]


# ---- attacks -------------------------------------------------------------------------------------


def shifted(squares: np.ndarray, files: int, ranks: int) -> np.ndarray:
    """Move the squares of boards [N, 8, 8] by files and ranks; what leaves the board is gone."""
    found = np.zeros_like(squares)
    to_ranks, from_ranks = spans(ranks)
    to_files, from_files = spans(files)
    found[:, to_ranks, to_files] = squares[:, from_ranks, from_files]
    return found


def spans(step: int) -> tuple[slice, slice]:
    """Return the rows that are reached by a step, and those from which they are."""
    return slice(max(step, 0), 8 + min(step, 0)), slice(max(-step, 0), 8 - max(step, 0))


def attacked(men: np.ndarray, occupied: np.ndarray, forward: int) -> np.ndarray:
    """Return the squares [N, 8, 8] that men [N, 6, 8, 8] attack; pawns go by `forward` ranks, 1 or -1."""
    found: np.ndarray = shifted(men[:, PAWN], -1, forward) | shifted(men[:, PAWN], 1, forward)
    for files, ranks in JUMPS:
        found |= shifted(men[:, KNIGHT], files, ranks)
    for directions, riders in ((STRAIGHT, (ROOK, QUEEN)), (DIAGONAL, (BISHOP, QUEEN))):
        sliders = men[:, riders[0]] | men[:, riders[1]]
        for files, ranks in directions:
            found |= shifted(men[:, KING], files, ranks)
            ray = shifted(sliders, files, ranks)
            while ray.any():
                found |= ray
                ray = shifted(ray & ~occupied, files, ranks)
    return found


def attacks_of(boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the squares [N, 8, 8] that I attack, and those that they do."""
    occupied = np.logical_or.reduce(boards, 1)
    return attacked(boards[:, :6], occupied, 1), attacked(boards[:, 6:], occupied, -1)


def passed_pawns(boards: np.ndarray) -> np.ndarray:
    """Return the squares [N, 8, 8] of my pawns before which no pawn of theirs stands, on their file or the next."""
    theirs = boards[:, 6 + PAWN]
    ahead = np.zeros_like(theirs)
    for rank in range(6, -1, -1):
        ahead[:, rank] = ahead[:, rank + 1] | theirs[:, rank + 1]
    stopped = ahead | shifted(ahead, 1, 0) | shifted(ahead, -1, 0)
    passed: np.ndarray = boards[:, PAWN] & ~stopped
    return passed


# ---- concepts ------------------------------------------------------------------------------------


def of_boards(targets: np.ndarray) -> Found:
    """Ask of whole boards."""
    rows = np.arange(len(targets))
    return Found(rows, np.full(len(rows), BOARD), targets.astype(np.float64))


def of_squares(asked: np.ndarray, truths: np.ndarray, random: np.random.Generator) -> Found:
    """Ask of a few of the squares [N, 8, 8] of each board, drawn at random."""
    order = random.random(asked.shape) * asked
    places = np.argsort(-order.reshape(len(asked), 64), axis=1, kind="stable")[:, :DRAWN]
    there = np.take_along_axis(asked.reshape(len(asked), 64), places, 1)
    rows, columns = np.nonzero(there)
    squares = places[rows, columns]
    return Found(rows, squares, truths.reshape(len(asked), 64)[rows, squares].astype(np.float64))


def material(boards: np.ndarray, random: np.random.Generator) -> Found:
    """Say what my men are worth more than theirs."""
    counts = boards.sum((2, 3))
    return of_boards((counts[:, :5] - counts[:, 6:11]) @ np.array(WORTH))


def attacks(boards: np.ndarray, random: np.random.Generator) -> Found:
    """Say how many squares more I attack than they do."""
    mine, theirs = attacks_of(boards)
    return of_boards(mine.sum((1, 2)) - theirs.sum((1, 2)))


def king_attacked(boards: np.ndarray, random: np.random.Generator) -> Found:
    """Say whether my king is attacked, of the square where he stands."""
    return of_squares(boards[:, KING], attacks_of(boards)[1], random)


def passed_pawn(boards: np.ndarray, random: np.random.Generator) -> Found:
    """Say of my pawns whether they are passed."""
    return of_squares(boards[:, PAWN], passed_pawns(boards), random)


def attacked_man(boards: np.ndarray, random: np.random.Generator) -> Found:
    """Say of my men whether they are attacked."""
    return of_squares(np.logical_or.reduce(boards[:, :KING], 1), attacks_of(boards)[1], random)


CONCEPTS = {
    concept.name: concept
    for concept in (
        Concept("material", "what my men are worth more than theirs, in pawns", False, material),
        Concept("attacks", "squares that I attack, less those that they do", False, attacks),
        Concept("king-attacked", "whether I am in check, at my king", True, king_attacked),
        Concept("passed-pawn", "whether a pawn of mine is passed, at the pawn", True, passed_pawn),
        Concept("attacked-man", "whether a man of mine is attacked, at the man", True, attacked_man),
    )
}
