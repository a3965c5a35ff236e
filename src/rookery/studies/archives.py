"""Arrays in NumPy archives (NPZ), read without pickle: the same arrays give the same bytes, since no date is kept.

Whoever reads an archive trusts no length in it: an array is as large as its header says, and no larger than is allowed.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping

import numpy as np

NO_DATE = (1980, 1, 1, 0, 0, 0)
UNIX = 3


def digest(content: bytes) -> str:
    """Return the checksum of a file's content."""
    return hashlib.sha256(content).hexdigest()


def packed(arrays: Mapping[str, np.ndarray], deflated: bool = False) -> bytes:
    """Return the bytes of an archive of some arrays, in their order."""
    buffer, how = io.BytesIO(), zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED
    with zipfile.ZipFile(buffer, "w", how, compresslevel=6) as archive:
        for name, array in arrays.items():
            content = io.BytesIO()
            np.lib.format.write_array(content, np.ascontiguousarray(array), allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", NO_DATE)
            entry.compress_type = how
            entry.create_system = UNIX  # else it would tell on which system it was made
            archive.writestr(entry, content.getvalue())
    return buffer.getvalue()


def unpacked(archive: zipfile.ZipFile, name: str, most: int) -> np.ndarray:
    """Return an array of an archive, of so many bytes at most; checksums are compared."""
    size = archive.getinfo(f"{name}.npy").file_size
    if size > most:
        raise ValueError(f"array {name} would have {size} bytes")
    return read_array(name, io.BytesIO(archive.read(f"{name}.npy")), size)


def read_array(name: str, member: io.BytesIO, size: int) -> np.ndarray:
    """Read an array that is as large as its header says."""
    version = np.lib.format.read_magic(member)
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in readers:
        raise ValueError(f"array {name} is of version {version}")
    shape, _, dtype = readers[version](member)
    if dtype.hasobject:
        raise ValueError(f"array {name} holds Python objects")
    claimed = int(np.prod([int(extent) for extent in shape], dtype=object)) * dtype.itemsize
    if claimed != size - member.tell():
        raise ValueError(f"array {name} should have {claimed} bytes, and has {size - member.tell()}")
    member.seek(0)
    array: np.ndarray = np.lib.format.read_array(member, allow_pickle=False)
    return array
