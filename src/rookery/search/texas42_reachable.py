"""All positions that one deal of Texas 42 can reach, ply by ply.

Hands are given, so a position is the set of tiles that are played, who leads the current trick, and its tiles in order.
Ways that lead to the same one are one: past tricks do not matter. A position is a word:

    bits 0..27    tiles that are played
    bits 28..29   leader of the current trick
    bits 30..44   its tiles, five bits each, NO_TILE where there is none
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numba import int64, njit

from rookery.games.texas42_tiles import FOLLOW, LEADS, NO_TILE, POWER, SEATS, TILES

LEADER, TRICK, PLACE = 28, 30, 5  # first bits, bits of a tile
EMPTY = (NO_TILE << 10 | NO_TILE << 5 | NO_TILE) << TRICK
ALL = (1 << TILES) - 1


@njit(cache=True, nogil=True)
def tile_at(word: int, place: int) -> int:
    """Return a tile of the current trick."""
    return int((int64(word) >> (TRICK + PLACE * place)) & 31)


@njit(cache=True, nogil=True)
def legal_in(word: int, hands: np.ndarray, declaration: int, lying: int) -> int:
    """Return the tiles that may be played, as a set."""
    leader = (word >> LEADER) & 3
    held = hands[(leader + lying) & 3] & ~word & ALL
    if lying == 0:
        return int(held)
    following = held & int64(FOLLOW[declaration, LEADS[declaration, tile_at(word, 0)]])
    return int(following) if following else int(held)


@njit(cache=True, nogil=True)
def behind(word: int, tile: int, declaration: int, lying: int) -> int:
    """Return the position after a play."""
    played = (word & ALL) | (int64(1) << tile)
    leader = (word >> LEADER) & 3
    if lying < SEATS - 1:
        others = word & ~ALL & ~(int64(31) << (TRICK + PLACE * lying))
        return int(others | (int64(tile) << (TRICK + PLACE * lying)) | played)
    suit = LEADS[declaration, tile_at(word, 0)]
    best, winner = POWER[declaration, suit, tile], SEATS - 1
    for place in range(SEATS - 1):
        strength = POWER[declaration, suit, tile_at(word, place)]
        if strength > best:
            best, winner = strength, place
    return int(int64(EMPTY) | (((leader + winner) & 3) << LEADER) | played)


@njit(cache=True, nogil=True)
def expand(words: np.ndarray, hands: np.ndarray, declaration: int, lying: int, out: np.ndarray) -> int:
    """Write the positions after every play in each of some positions, with repetitions; return how many.

    With no room (`out` empty) they are only counted.
    """
    count = 0
    for word in words:
        tiles = legal_in(word, hands, declaration, lying)
        while tiles:
            lowest = tiles & -tiles
            tiles ^= lowest
            if len(out):
                tile = 0
                while lowest >> tile != 1:
                    tile += 1
                out[count] = behind(word, tile, declaration, lying)
            count += 1
    return count


def reachable(hands: np.ndarray, declaration: int, leader: int) -> Iterator[np.ndarray]:
    """Yield the positions before each of the 28 plays, as words, each once.

    Within a trick the order of its tiles tells all ways apart; only where it ends do some of them meet.
    """
    sets = np.asarray(hands, np.int64)
    words = np.array([EMPTY | leader << LEADER], np.int64)
    for ply in range(TILES):
        yield words
        nothing = np.empty(0, np.int64)
        after = np.empty(expand(words, sets, declaration, ply & 3, nothing), np.int64)
        expand(words, sets, declaration, ply & 3, after)
        if ply & 3 == SEATS - 1:
            after.sort()
            after = after[np.concatenate([[True], after[1:] != after[:-1]])]
        words = after


def kept_of_words(words: np.ndarray) -> dict[str, np.ndarray]:
    """Return what a file keeps of positions, besides the deal: tiles played, the trick, its leader."""
    trick = np.stack([(words >> (TRICK + PLACE * place)) & 31 for place in range(SEATS - 1)], 1)
    return {
        "played": (words & ALL).astype(np.uint32),
        "trick": trick.astype(np.int8),
        "leader": ((words >> LEADER) & 3).astype(np.int8),
    }
