"""Arrays as compressed bytes, made by all cores.

The bytes are one stream of zlib, whoever made them: pieces of an array are compressed beside each other, each without
knowing the others, and put one behind the other. The state of a run on a card is gigabytes, and while it is saved the
card waits.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from rookery.search.threads import cores

PIECE = 1 << 23  # bytes; so the same array always makes the same stream
QUICK = 1
HEADER = b"\x78\x01"  # of a stream of zlib that was made quickly


def deflated(piece: memoryview, last: bool) -> bytes:
    """Compress a piece of a stream."""
    maker = zlib.compressobj(QUICK, zlib.DEFLATED, -zlib.MAX_WBITS)
    return maker.compress(piece) + maker.flush(zlib.Z_FINISH if last else zlib.Z_FULL_FLUSH)


def packed(array: np.ndarray) -> np.ndarray:
    """Compress an array into bytes; rows of a replay are full of repetitions."""
    flat: Any = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    data = memoryview(flat)
    pieces = [data[first : first + PIECE] for first in range(0, len(data), PIECE)] or [data]
    with ThreadPoolExecutor(min(cores(), len(pieces))) as pool:
        waiting = [pool.submit(deflated, piece, piece is pieces[-1]) for piece in pieces]
        found = [HEADER, *(each.result() for each in waiting), zlib.adler32(data).to_bytes(4, "big")]
    return np.frombuffer(b"".join(found), np.uint8)


def unpacked(data: np.ndarray, shape: Sequence[int], dtype: np.dtype[Any]) -> np.ndarray:
    """Undo `packed`."""
    return np.frombuffer(zlib.decompress(data.tobytes()), dtype).reshape(shape).copy()
