"""Random numbers as a pure function of (seed, stream, counter).

A generator with state would tie a game to the thread that plays it. Here number `counter` of stream
`stream` is computed from nothing but these integers, so a game is the same on one thread, on sixteen and
on a card, and can be entered in the middle.

A stream is SplitMix64 started at a key made of seed and stream: number k is `scramble(key + (k + 1) * STEP)`.
"""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from rookery.games.bits import Word

STEP = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio, odd: every counter gives another word
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)


@njit(cache=True, nogil=True)
def scramble(word: Word) -> Word:
    """Map a 64-bit word one to one onto another that looks unrelated."""
    word = uint64(word)
    word = (word ^ (word >> uint64(30))) * FIRST
    word = (word ^ (word >> uint64(27))) * SECOND
    return word ^ (word >> uint64(31))


@njit(cache=True, nogil=True)
def hashed(word: Word) -> Word:
    """Scramble a word so that zero, too, becomes something else: a hash without collisions."""
    return scramble(uint64(word) + STEP)


@njit(cache=True, nogil=True)
def number(key: Word, counter: int) -> Word:
    """Return number `counter` of the SplitMix64 sequence that starts at `key`."""
    return scramble(uint64(key) + (uint64(counter) + uint64(1)) * STEP)


@njit(cache=True, nogil=True)
def stream_of(seed: int, stream: int) -> Word:
    """Return the key at which a stream of a seed starts, for those who draw many numbers from it."""
    return scramble(scramble(uint64(seed) + STEP) ^ uint64(stream))


@njit(cache=True, nogil=True)
def below(limit: int, key: Word, counter: int) -> int:
    """Return number `counter` of the stream that starts at `key` as an integer in 0..limit-1; see `random_below`."""
    return int(((number(key, counter) >> uint64(32)) * uint64(limit)) >> uint64(32))


@njit(cache=True, nogil=True)
def random_bits(seed: int, stream: int, counter: int) -> Word:
    """Return 64 random bits."""
    return number(stream_of(seed, stream), counter)


@njit(cache=True, nogil=True)
def random_below(limit: int, seed: int, stream: int, counter: int) -> int:
    """Return an integer in 0..limit-1, for a limit below 2^31; its bias is under limit / 2^32."""
    return below(limit, stream_of(seed, stream), counter)
