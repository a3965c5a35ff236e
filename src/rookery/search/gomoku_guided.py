"""Games by the baseline player of Gomoku, with what it thinks of every position: what networks imitate.

A game begins with some random stones: the first within two rows and columns of the centre, the others as near to a
stone as the player's own moves are. Then the player plays both colours, but some moves are drawn at random from the
twenty it considers. Of every position behind the opening it is noted what the player would do and what that is worth,
by the search of `gomoku_baseline`, move for move and score for score.

Game number g of a seed is a pure function of (seed, g, guidance). Number 3 k of its stream decides whether move k is
explored, the two behind it which one it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import int64, njit, uint64

from rookery.games.bits import lowest_bit, popcount
from rookery.games.gomoku_board import BLACK, LARGEST, SMALLEST
from rookery.games.options import whole_number
from rookery.games.rng import below, number, stream_of
from rookery.games.rules import State
from rookery.search.gomoku_baseline import (
    DEEPEST,
    ENTRY,
    FRAME,
    MOST,
    WIDTH,
    WIN,
    list_moves,
    walk,
    winning_move,
)
from rookery.search.gomoku_groups import BOARD, flip
from rookery.search.gomoku_lines import add_near, empty_record, free_in_row, new_record, point_of
from rookery.search.threads import new_stop, on_threads

DRAWN, BLACK_WON, WHITE_WON = 0, 1, 2
DEPTH, OPENING, EXPLORE, ALL_MOVES = range(4)
"""places in `Guidance.numbers`"""
MOST_OPENING = 8  # with nine stones a game may be over
SEARCHES = uint64(0x5EA2C4)  # the stream of numbers that tell the searches of a game apart
SLICE = 4
"""games that a thread takes at a time"""
FOREVER = 1 << 60


@dataclass(frozen=True)
class Guidance:
    """How games are played."""

    depth: int = 2
    """plies the player looks ahead"""
    opening: int = 4
    """random stones at the beginning"""
    explore: int = 10
    """percent of the moves after them that are drawn at random"""
    all_moves: bool = False
    """whether every move the player considers is given its exact score; takes longer"""

    def __post_init__(self) -> None:
        whole_number("depth", self.depth, 1, DEEPEST)
        whole_number("opening (stones)", self.opening, 0, MOST_OPENING)
        whole_number("explore (percent)", self.explore, 0, 100)

    @property
    def numbers(self) -> np.ndarray:
        """The same for compiled code."""
        return np.array([self.depth, self.opening, self.explore, self.all_moves], np.int64)


@dataclass(frozen=True)
class GuidedGames:
    """Some games that follow one another; P is the number of points."""

    moves: np.ndarray
    """[G, P] int16 points; -1 behind the end"""
    lengths: np.ndarray
    """[G] int16"""
    results: np.ndarray
    """[G] int8: 0 drawn, 1 won by Black, 2 by White"""
    chosen: np.ndarray
    """[G, P] int16: what the player would do; -1 in the opening and behind the end"""
    scores: np.ndarray
    """[G, P] int32: what that is worth, from the mover's side"""
    considered: np.ndarray
    """[G, P, 20] int16 with `all_moves`, else [G, 0, 20]: the moves considered, -1 behind the last"""
    worths: np.ndarray
    """[G, P, 20] int32: their scores, from the mover's side"""


# ---- one position --------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def open_root(board: State, frames: np.ndarray, place: np.ndarray, colour: int) -> None:
    """Make the root ready, of which `near` is known."""
    root = frames[0]
    root.floor, root.alpha, root.beta, root.best = -MOST, -MOST, MOST, -MOST
    list_moves(board, colour, root)
    place[:] = 0


@njit(cache=True, nogil=True)
def best_move(
    board: State, frames: np.ndarray, place: np.ndarray, table: np.ndarray, setting: tuple[int, int, int]
) -> tuple[int, int]:
    """Search a position whose root is ready; return the player's move and its score."""
    root, win = frames[0], winning_move(board, setting[1], frames[0])
    if win >= 0:
        return win, WIN
    walk(board, frames, place, table, setting, FOREVER)
    for i in range(root.next):
        if root.values[i] == root.best:
            return point_of(root.moves[i]), root.best
    return point_of(root.moves[0]), root.best


@njit(cache=True, nogil=True)
def score_all(
    board: State, frames: np.ndarray, place: np.ndarray, table: np.ndarray, setting: tuple[int, int, int]
) -> None:
    """Give every move of a root that is ready its exact score, by a full window for each."""
    root = frames[0]
    count = root.count
    for i in range(count):
        root.alpha, root.best, root.count = -MOST, -MOST, i + 1
        walk(board, frames, place, table, setting, FOREVER)


# ---- games ---------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def drawn_point(board: State, near: np.ndarray, drawn: int) -> int:
    """Return a free point near the stones by a number below how many there are."""
    for row in range(board.size):
        points = near[row] & free_in_row(board, row)
        count = int64(popcount(points))
        if drawn < count:
            for _ in range(drawn):
                points &= points - uint64(1)
            return int(row * board.size + lowest_bit(points))
        drawn -= count
    return -1


@njit(cache=True, nogil=True)
def opening_point(board: State, near: np.ndarray, key: int, ply: int) -> int:
    """Draw a stone of the opening."""
    if ply == 0:
        middle, span = (board.size - 1) // 2, min(5, board.size)
        row, col = int64(below(span, key, 1)), int64(below(span, key, 2))
        return int((middle - span // 2 + row) * board.size + middle - span // 2 + col)
    count = 0
    for row in range(board.size):
        count += int64(popcount(near[row] & free_in_row(board, row)))
    return drawn_point(board, near, int64(below(count, key, 3 * ply + 1)))


@njit(cache=True, nogil=True)
def play_game(
    key: int,
    guidance: np.ndarray,
    board: State,
    frames: np.ndarray,
    table: np.ndarray,
    place: np.ndarray,
    out: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray],
) -> tuple[int, int]:
    """Play the game whose random numbers start at `key` on an empty board; return its length and result.

    out  moves, chosen, scores [P] and considered, worths [P, WIDTH] or [0, WIDTH] of the game
    """
    moves, chosen, scores, considered, worths = out
    root, points = frames[0], board.size * board.size
    for row in range(LARGEST):
        root.near[row] = uint64(0)
    for ply in range(points):
        colour, free = ply & 1, points - ply
        if ply < guidance[OPENING]:
            point = opening_point(board, root.near, key, ply)
        elif ply == 0:
            point = (board.size - 1) // 2 * (board.size + 1)
            chosen[0], scores[0] = point, 0
        else:
            setting = (guidance[DEPTH], colour, free)
            salt = number(SEARCHES, ply)  # depths left differ from search to search, so entries must not be shared
            board.key ^= salt
            open_root(board, frames, place, colour)
            if guidance[ALL_MOVES]:
                score_all(board, frames, place, table, setting)
                for i in range(root.count):
                    considered[ply, i], worths[ply, i] = point_of(root.moves[i]), root.values[i]
                open_root(board, frames, place, colour)
            point, score = best_move(board, frames, place, table, setting)
            board.key ^= salt
            chosen[ply], scores[ply] = point, score
            if below(100, key, 3 * ply) < guidance[EXPLORE]:
                point = point_of(root.moves[int64(below(root.count, key, 3 * ply + 1))])
        moves[ply] = point
        if board.fives[colour, point] > 0:
            return ply + 1, BLACK_WON if colour == BLACK else WHITE_WON
        flip(board, colour, point, 1)
        add_near(board, root.near, point)
    return points, DRAWN


@njit(cache=True, nogil=True)
def play_games(
    seed: int,
    first: int,
    guidance: np.ndarray,
    stop: np.ndarray,
    boards: np.ndarray,
    empty: np.ndarray,
    frames: np.ndarray,
    table: np.ndarray,
    out: tuple[np.ndarray, ...],
) -> None:
    """Play games `first`, `first` + 1, ... one after the other; `stop` [1] is looked at before each."""
    moves, chosen, scores, considered, worths, lengths, results = out
    place = np.zeros(3, np.int64)
    for g in range(lengths.shape[0]):
        if stop[0]:
            return
        boards[0] = empty[0]
        key = stream_of(seed, first + g)
        lengths[g], results[g] = play_game(
            key, guidance, boards[0], frames, table, place, (moves[g], chosen[g], scores[g], considered[g], worths[g])
        )


def guided_games(
    games: int, size: int = 15, seed: int = 0, first: int = 0, guidance: Guidance | None = None, threads: int = 1
) -> GuidedGames:
    """Play games `first` to `first + games - 1` of a seed; the same ones on any number of threads."""
    whole_number("games", games, 0, 1 << 40)
    whole_number("seed", seed, 0, (1 << 63) - 1)
    whole_number("size", size, SMALLEST, LARGEST)
    how = guidance or Guidance()
    points, deep = size * size, size * size if how.all_moves else 0
    found = GuidedGames(
        np.full((games, points), -1, np.int16), np.zeros(games, np.int16), np.zeros(games, np.int8),
        np.full((games, points), -1, np.int16), np.zeros((games, points), np.int32),
        np.full((games, deep, WIDTH), -1, np.int16), np.zeros((games, deep, WIDTH), np.int32),
    )  # fmt: skip
    numbers, stop, bits = how.numbers, new_stop(), min(max(2 * how.depth + 3, 8), 22)

    def play_some(begin: int) -> None:
        some = slice(begin, begin + SLICE)
        memory = new_record(BOARD, size), empty_record(BOARD, size), np.zeros(how.depth + 1, FRAME)
        arrays = (
            found.moves, found.chosen, found.scores, found.considered, found.worths, found.lengths, found.results
        )  # fmt: skip
        table = np.zeros(1 << bits, ENTRY)
        play_games(seed, first + begin, numbers, stop, *memory, table, tuple(array[some] for array in arrays))

    on_threads(play_some, range(0, games, SLICE), threads, stop)
    return found
