"""Arrays as compressed bytes: one stream of zlib, whatever it is made of."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from rookery.learn import packing
from rookery.learn.packing import packed, unpacked

KINDS = [
    np.arange(10, dtype=np.int16),
    np.zeros((0, 7), np.float32),
    np.random.default_rng(1).integers(0, 3, (1000, 33)).astype(np.float32),
    np.zeros(5, np.dtype([("a", np.int32), ("b", np.float64)], align=True)),
    np.asfortranarray(np.arange(12).reshape(3, 4)),
]


@pytest.mark.parametrize("piece", [1, 64, 1000, 1 << 23])
@pytest.mark.parametrize("array", KINDS, ids=lambda array: f"{array.dtype.kind}{array.shape}")
def test_any_reader_of_zlib_gets_the_bytes_of_the_array_back(array, piece, monkeypatch):
    monkeypatch.setattr(packing, "PIECE", piece)
    made, some = packed(array[:40]), array[:40]
    plain = np.frombuffer(zlib.decompress(made.tobytes()), array.dtype).reshape(some.shape)
    again = unpacked(made, some.shape, array.dtype)
    assert (plain == some).all()
    assert (again == some).all()
    assert again.flags.writeable


def test_the_same_array_makes_the_same_bytes_with_any_number_of_cores(monkeypatch):
    array = np.random.default_rng(2).integers(0, 5, 3_000_000)
    one = packed(array)
    monkeypatch.setattr(packing, "cores", lambda: 1)
    assert (packed(array) == one).all()


def test_a_damaged_stream_is_refused():
    made = packed(np.arange(1000)).copy()
    made[-1] ^= 1
    with pytest.raises(zlib.error):
        unpacked(made, (1000,), np.dtype(np.int64))
