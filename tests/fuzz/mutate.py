"""Inputs made of examples by small changes: for targets that no coverage guides, and where atheris is missing."""

from __future__ import annotations

import random
from collections.abc import Sequence

STRANGE = [
    b"\x00", b"\xff", b"\n", b"\r\n", b" ", b"-", b"-0", b"1e999", b"nan", b"0x", b"9" * 20, b"9" * 400, b"\xc2\xb2",
    b"\xd9\xa3", b"\xe2\x80\xae", b"\xed\xa0\x80", b'"', b"'", b"\\", b"{", b"[" * 2000, b"null", b"true", b"{}", b"[]",
    b"..", b"/", b":", b"=", b",", b"%00", b"\xef\xbb\xbf",
]  # fmt: skip
"""pieces at which readers have stumbled: of Unicode, of numbers, of paths, and brackets without end"""
NUMBERS = (0, 1, 127, 128, 255, 256, 32767, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**64 - 1)


def mutated(rng: random.Random, corpus: Sequence[bytes], words: Sequence[bytes], longest: int) -> bytes:
    """Make an input: an example after a few changes."""
    data = bytearray(rng.choice(corpus))
    for _ in range(1 + min(9, int(rng.expovariate(0.6)))):
        change(rng, data, corpus, words)
    return bytes(data[:longest])


def change(rng: random.Random, data: bytearray, corpus: Sequence[bytes], words: Sequence[bytes]) -> None:
    """Change a few bytes in place."""
    begin = rng.randrange(len(data) + 1)
    end = min(len(data), begin + int(rng.expovariate(0.2)))
    kind = rng.randrange(8)
    if kind == 0 and data:  # one bit
        data[begin % len(data)] ^= 1 << rng.randrange(8)
    elif kind == 1:
        del data[begin:end]
    elif kind == 2:
        data[begin:end] = data[begin:end] * rng.choice((2, 3, 50))
    elif kind == 3:
        data[begin:end] = rng.choice(STRANGE)
    elif kind == 4 and words:
        data[begin : rng.choice((begin, end))] = rng.choice(words)
    elif kind == 5:  # part of another example
        other = rng.choice(corpus)
        start = rng.randrange(len(other) + 1)
        data[begin:end] = other[start : start + rng.randrange(1, 200)]
    elif kind == 6:
        data[begin:end] = rng.randbytes(end - begin)
    else:
        number = rng.choice(NUMBERS) + rng.choice((-1, 0, 0, 1))
        data[begin:end] = rng.choice(
            (str(number).encode(), (number % 2**64).to_bytes(8, "little")[: rng.choice((1, 2, 4, 8))])
        )
