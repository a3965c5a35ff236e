"""Guided games of Domineering on 16 x 16: alpha-beta of a few plies, random openings, random moves in between.

The search judges a position by the mover's moves left minus the other's; who has none on his turn has lost. How deep it
looks depends on the number of legal moves (`Guidance`). Of the moves with the highest value it plays the one that gains
most at once (`domineering_gains`), and of those the one with the highest random number.

Game number g of a seed is a pure function of (seed, g, guidance): all numbers are drawn from stream g of the seed.
Ply k owns 512 of them: number 512 * k + action is that of a move, and the two behind the last action's decide whether a
move is explored and which one it is.

One ply is judged without trying its moves, since the gains of all are known at once. So depth 2 tries the moves of one
player, and depth 3 those of both, the best gains first.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np
from numba import int64, njit, uint64

from rookery.games.bits import lowest_bit
from rookery.games.options import whole_number
from rookery.games.rng import below, number, stream_of
from rookery.search.domineering_gains import (
    GAIN,
    HIGHEST,
    OTHERS,
    OWN,
    PLACES,
    PLANES,
    can_end,
    count_plane,
    highest_gain,
    lay,
    lift,
    moves_with,
    nth_move,
    set_empty,
    survey,
)  # fmt: skip
from rookery.search.threads import new_stop, on_threads

LONGEST = 128
"""plies of the longest game there can be"""
WON = 10_000
"""value of a won position; differences of moves lie in -240..240"""
DRAWS = 512
"""random numbers that belong to a ply"""
WHETHER, WHICH = 2 * PLACES, 2 * PLACES + 1
"""those behind the moves': whether a move is explored, and which move that is"""
SLICE = 16
"""games that a thread takes at a time"""
OPENING, EXPLORE, DEPTH_TWO, DEPTH_ONE = range(4)
"""places in `Guidance.numbers`"""


@dataclass(frozen=True)
class Guidance:
    """How guided games are played."""

    opening: int = 16
    """random plies at the beginning"""
    explore: int = 30
    """percent of the moves after them that are random, too"""
    depth_two: int = 35
    """fewest legal moves at which the search looks two plies ahead; with less it looks three ahead"""
    depth_one: int = 90
    """fewest legal moves at which it looks one ply ahead"""

    def __post_init__(self) -> None:
        whole_number("opening", self.opening, 0, LONGEST)
        whole_number("explore (percent)", self.explore, 0, 100)
        whole_number("depth_one (legal moves)", self.depth_one, 0, PLACES + 1)
        whole_number("depth_two (legal moves)", self.depth_two, 0, self.depth_one)

    @property
    def numbers(self) -> np.ndarray:
        """The same for compiled code."""
        return np.array(astuple(self), np.int64)


@dataclass(frozen=True)
class GuidedGames:
    """Some games that follow one another."""

    moves: np.ndarray
    """[G, LONGEST] int16 actions; -1 behind the end"""
    explored: np.ndarray
    """[G, LONGEST] bool: drawn at random, in the opening or later; False behind the end"""
    lengths: np.ndarray
    """[G] int16 plies"""


@njit(cache=True, nogil=True)
def one_ply(free: np.ndarray, seat: int, lead: int, desk: np.ndarray) -> int:
    """Return the value of a position by the best of its moves; `lead` is the difference of moves before them."""
    planes = desk[1]
    survey(free, seat, planes)
    gain = highest_gain(planes)
    if gain < -HIGHEST:
        return -WON
    if can_end(planes, count_plane(planes, OTHERS)):
        return WON
    return lead + gain


@njit(cache=True, nogil=True)
def two_plies(free: np.ndarray, seat: int, lead: int, enough: int, desk: np.ndarray) -> int:
    """Return the value of a position by its moves and the replies; if it is `enough` or more, perhaps too little."""
    planes = desk[2]
    survey(free, seat, planes)
    if can_end(planes, count_plane(planes, OTHERS)):
        return WON
    best = -WON
    for gain in range(HIGHEST, -HIGHEST - 1, -1):
        if lead + gain + HIGHEST <= best:
            break  # a reply gains -3 at least, and no move ends the game
        for word in range(4):
            left = moves_with(planes, GAIN, gain + HIGHEST, word)
            while left != uint64(0):
                place = 64 * word + lowest_bit(left)
                left &= left - uint64(1)
                lay(free, seat, place)
                value = -one_ply(free, 1 - seat, -lead - gain, desk)
                lift(free, seat, place)
                if value > best:
                    best = value
                    if best >= enough:
                        return best
    return best


@njit(cache=True, nogil=True)
def value_after(free: np.ndarray, seat: int, lead: int, depth: int, enough: int, desk: np.ndarray) -> int:
    """Return the value of the position after a move, for its mover `seat`, who looks `depth` plies ahead."""
    if depth == 0:
        survey(free, seat, desk[1])
        return lead if count_plane(desk[1], OWN) > 0 else -WON
    if depth == 1:
        return one_ply(free, seat, lead, desk)
    return two_plies(free, seat, lead, enough, desk)


@njit(cache=True, nogil=True)
def ordered(seat: int, key: int, ply: int, planes: np.ndarray, only_best: bool, order: np.ndarray) -> int:
    """Write places into `order` [2, PLACES], first the highest gains, of equal ones the higher random numbers.

    Row 1 has their gains. With `only_best` the moves with the highest gain are enough. Returns how many there are.
    """
    count = 0
    numbers = np.empty(PLACES, np.uint64)
    for gain in range(HIGHEST, -HIGHEST - 1, -1):
        begin = count
        for word in range(4):
            left = moves_with(planes, GAIN, gain + HIGHEST, word)
            while left != uint64(0):
                place = 64 * word + lowest_bit(left)
                left &= left - uint64(1)
                drawn = number(key, ply * DRAWS + seat * PLACES + place)
                i = count
                while i > begin and numbers[i - 1] < drawn:
                    numbers[i], order[0, i] = numbers[i - 1], order[0, i - 1]
                    i -= 1
                numbers[i], order[0, i], order[1, count] = drawn, place, gain
                count += 1
        if only_best and count > 0:
            break
    return count


@njit(cache=True, nogil=True)
def choose(free: np.ndarray, seat: int, depth: int, key: int, ply: int, desk: np.ndarray, order: np.ndarray) -> int:
    """Return the place of the move that a search of `depth` 1, 2 or 3 plies plays; `desk[0]` has been surveyed.

    desk   [3, PLANES, 4] planes for positions one and two plies ahead, besides
    order  [2, PLACES] room for a list
    """
    own, others = count_plane(desk[0], OWN), count_plane(desk[0], OTHERS)
    plain = depth == 1 and not can_end(desk[0], others)  # then the highest gain is the highest value
    count = ordered(seat, key, ply, desk[0], plain, order)
    if plain:
        return int(order[0, 0])
    best, chosen = -WON - 1, -1
    for i in range(count):
        place, lead = order[0, i], own - others + order[1, i]
        lay(free, seat, place)
        value = -value_after(free, 1 - seat, -lead, depth - 1, -best, desk)
        lift(free, seat, place)
        if value > best:
            best, chosen = value, place
            if best == WON:
                break
    return int(chosen)


@njit(cache=True, nogil=True)
def play_game(
    key: int,
    guidance: np.ndarray,
    free: np.ndarray,
    desk: np.ndarray,
    order: np.ndarray,
    moves: np.ndarray,
    explored: np.ndarray,
) -> int:
    """Play the game whose random numbers start at `key`, and return its length.

    free      [2, 4], desk [3, PLANES, 4], order [2, PLACES]: room to work in
    moves     [LONGEST] actions, -1 behind the end
    explored  [LONGEST]
    """
    set_empty(free)
    moves[:], explored[:] = -1, False
    for ply in range(LONGEST + 1):
        seat = ply & 1
        survey(free, seat, desk[0])
        count = count_plane(desk[0], OWN)
        if count == 0:
            return ply
        at_random = ply < guidance[OPENING] or below(100, key, ply * DRAWS + WHETHER) < guidance[EXPLORE]
        if at_random:
            place = nth_move(desk[0], int64(below(count, key, ply * DRAWS + WHICH)))
        else:
            depth = 1 if count >= guidance[DEPTH_ONE] else 2 if count >= guidance[DEPTH_TWO] else 3
            place = choose(free, seat, depth, key, ply, desk, order)
        lay(free, seat, place)
        moves[ply], explored[ply] = seat * PLACES + place, at_random
    return LONGEST


@njit(cache=True, nogil=True)
def play_games(
    seed: int,
    first: int,
    guidance: np.ndarray,
    stop: np.ndarray,
    moves: np.ndarray,
    explored: np.ndarray,
    lengths: np.ndarray,
) -> None:
    """Play games `first`, `first` + 1, ... one after the other; `stop` [1] is looked at before each."""
    free = np.empty((2, 4), np.uint64)
    desk = np.empty((3, PLANES, 4), np.uint64)
    order = np.empty((2, PLACES), np.int64)
    for g in range(lengths.shape[0]):
        if stop[0]:
            return
        key = stream_of(seed, first + g)
        lengths[g] = play_game(key, guidance, free, desk, order, moves[g], explored[g])


def guided_games(
    games: int, seed: int = 0, first: int = 0, guidance: Guidance | None = None, threads: int = 1
) -> GuidedGames:
    """Play games `first` to `first + games - 1` of a seed; the same ones on any number of threads."""
    whole_number("games", games, 0, 1 << 40)
    whole_number("seed", seed, 0, (1 << 63) - 1)
    found = GuidedGames(
        np.full((games, LONGEST), -1, np.int16), np.zeros((games, LONGEST), np.bool_), np.zeros(games, np.int16)
    )
    numbers, stop = (guidance or Guidance()).numbers, new_stop()

    def play_some(begin: int) -> None:
        some = slice(begin, begin + SLICE)
        play_games(seed, first + begin, numbers, stop, found.moves[some], found.explored[some], found.lengths[some])

    on_threads(play_some, range(0, games, SLICE), threads, stop)
    return found
