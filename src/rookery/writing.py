"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import uuid
from pathlib import Path


def write_whole(path: str | Path, content: bytes, mode: int = 0o666) -> None:
    """Write a file under another name, force it to the disk, and put it into place.

    Killed at any moment, or out of room, this leaves the old file or the new one, never a part of either. An OSError
    names the file. `mode` says who may read a new file, less what the process forbids.
    """
    place = Path(path)
    temporary = place.with_name(f".{place.name}.{uuid.uuid4().hex}.part")
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(place)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, str(place)) from error
        raise
    force_folder(place.parent)


def force_folder(folder: Path) -> None:
    """Force a new name to the disk, where the system can do so."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
