"""Random numbers: the published sequence, independence of streams, uniformity."""

from __future__ import annotations

import numpy as np

from rookery.games.rng import number, random_below, random_bits, scramble

SPLITMIX_1234567 = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]


def slow_scramble(word: int) -> int:
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) % 2**64
    return word ^ (word >> 31)


def test_a_key_gives_the_published_splitmix_sequence():
    assert [int(number(1234567, counter)) for counter in range(4)] == SPLITMIX_1234567


def test_bits_are_the_written_formula_for_odd_seeds_too():
    step = 0x9E3779B97F4A7C15
    for seed, stream, counter in [(0, 0, 0), (1, 2, 3), (-1, 5, 7), (2**62, 2**40, 123456789)]:
        key = slow_scramble(slow_scramble((seed + step) % 2**64) ^ stream)
        assert int(random_bits(seed, stream, counter)) == slow_scramble((key + (counter + 1) * step) % 2**64)


def test_scrambling_is_one_to_one_on_a_sample():
    assert len({int(scramble(np.uint64(word))) for word in range(20_000)}) == 20_000


def test_numbers_below_a_limit_are_uniform():
    for limit in (2, 7, 240):
        drawn = [random_below(limit, 1, stream, counter) for stream in range(40) for counter in range(600)]
        counts = np.bincount(drawn, minlength=limit)
        expected = len(drawn) / limit
        chi_squared = float(((counts - expected) ** 2 / expected).sum())
        assert len(counts) == limit
        assert abs(chi_squared - (limit - 1)) < 4.5 * (2 * (limit - 1)) ** 0.5 + 8


def test_neighbouring_seeds_streams_and_counters_are_unrelated():
    words = [random_bits(seed, stream, counter) for seed in range(12) for stream in range(12) for counter in range(12)]
    assert len(set(map(int, words))) == len(words)
    bits = np.unpackbits(np.array(words, np.uint64).view(np.uint8).reshape(-1, 8), axis=1).astype(float)
    assert np.abs(bits.mean(0) - 0.5).max() < 0.06
    shifted = np.corrcoef(bits[:-1].reshape(-1), bits[1:].reshape(-1))[0, 1]
    assert abs(shifted) < 0.015
