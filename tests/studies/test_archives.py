"""Arrays in archives."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest

from rookery.studies.archives import digest, packed, unpacked

ARRAYS = {"moves": np.arange(12, dtype=np.int16).reshape(3, 4), "won": np.array([True, False, True])}


@pytest.mark.parametrize("deflated", [False, True])
def test_arrays_come_back_and_give_the_same_bytes_again(deflated):
    content = packed(ARRAYS, deflated)
    assert digest(content) == digest(packed({name: array.copy() for name, array in ARRAYS.items()}, deflated))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for name, array in ARRAYS.items():
            found = unpacked(archive, name, 1000)
            assert found.dtype == array.dtype
            assert (found == array).all()


def test_what_is_larger_than_allowed_or_holds_objects_is_refused():
    with zipfile.ZipFile(io.BytesIO(packed(ARRAYS))) as archive, pytest.raises(ValueError, match="moves would have"):
        unpacked(archive, "moves", 100)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive, archive.open("odd.npy", "w") as member:
        np.lib.format.write_array(member, np.array([{}], object), allow_pickle=True)
    with zipfile.ZipFile(content) as archive, pytest.raises(ValueError, match="odd holds Python objects"):
        unpacked(archive, "odd", 1000)
