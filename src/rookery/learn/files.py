"""Files that are there whole or not at all, and logs of lines that survive a killed writer.

A whole file is written under another name that begins with `.part-`, brought to the disk and renamed. What a killed
process leaves is one such part, which nobody reads and `sweep` removes. Everything goes through a few functions of
`os`, so that tests can make each of them fail.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import zlib
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

PART = ".part-"
FOREIGN_PARTS = ".*.part"  # those of other modules that write networks whole
USUAL_LINE = 4096  # bytes of a line; where lines are longer, more of a log is read from its end
CHUNK = 1 << 24  # bytes given to the system at once


class NotWritten(OSError):
    """A file that could not be written: the disk is full, the folder read-only. What was there before still is."""

    def __init__(self, path: Path, error: OSError):
        super().__init__(error.errno, error.strerror or str(error), str(path))
        self.path = path

    def __str__(self) -> str:
        gone = self.errno == errno.ENOENT
        rest = "its folder was removed or renamed while it was used" if gone else "what was saved before is intact"
        return f"{self.path} cannot be written: {self.strerror}; {rest}"


@contextlib.contextmanager
def told(path: Path, outermost: bool = False) -> Iterator[None]:
    """Turn an error of the system into one that names the file a person knows; of several, the innermost counts."""
    try:
        yield
    except OSError as error:
        if isinstance(error, NotWritten) and not outermost:
            raise
        raise NotWritten(path, error) from error


def part_of(path: Path) -> Path:
    """Return the name a file has while it is written."""
    return path.with_name(PART + path.name)


# ---- whole files ---------------------------------------------------------------------------------


class Sink:
    """A file being written from its start; what other modules write to. Counts bytes and forms their checksum."""

    def __init__(self, descriptor: int):
        self.descriptor, self.size, self.checksum = descriptor, 0, 0

    def write(self, data: Any) -> int:
        """Write all of the data."""
        view = memoryview(data).cast("B")
        for begin in range(0, len(view), CHUNK):
            piece = view[begin : begin + CHUNK]
            write_all(self.descriptor, piece)
            self.checksum = zlib.crc32(piece, self.checksum)
        self.size += len(view)
        return len(view)


def write_all(descriptor: int, data: Any) -> None:
    """Write until everything is written: the system may take less at a time."""
    view = memoryview(data)
    while len(view):
        view = view[os.write(descriptor, view) :]


def fill(path: Path, write: Callable[[Sink], None], sync: bool = True) -> Sink:
    """Write a file in its place and bring it to the disk; return what is known of it."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        sink = Sink(descriptor)
        write(sink)
        if sync:
            os.fsync(descriptor)
        return sink
    finally:
        os.close(descriptor)


def write_bytes(data: bytes, sink: Sink) -> None:
    """Write bytes as they are."""
    sink.write(data)


def write_whole(path: Path, data: bytes, sync: bool = True) -> None:
    """Write a file so that there is either the old one or the whole new one.

    Without `sync` it is safe from a killed process, but not from a power cut: for files that are soon written again.
    """

    def save(part: Path) -> None:
        fill(part, partial(write_bytes, data), sync=False)

    save_whole(path, save, sync)


def write_json(path: Path, values: Any, sync: bool = True) -> None:
    """Write values as JSON, whole."""
    write_whole(path, (json.dumps(values, indent=1, allow_nan=False) + "\n").encode(), sync)


def save_whole(path: Path, save: Callable[[Path], None], sync: bool = True) -> None:
    """Let `save` write a file under another name, then put it in its place."""
    part = part_of(path)
    with told(path):
        try:
            save(part)
            if sync:
                sync_file(part)
            os.replace(part, path)
        except BaseException:
            remove_quietly(part)
            raise
        if sync:
            sync_folder(path.parent)


def sync_file(path: Path) -> None:
    """Bring a file to the disk."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk, where the system knows how."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_quietly(path: Path) -> None:
    """Remove a file or a folder if that can be done: used where something else has failed already."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        os.unlink(path)


def sweep(folder: Path, spare: tuple[str, ...] = ()) -> None:
    """Remove the parts that killed writers left, but for those of the files in `spare`."""
    for path in folder.glob(".*"):
        if is_part(path) and path.name.removeprefix(PART) not in spare:
            remove_quietly(path)


def is_part(path: Path) -> bool:
    """Tell whether a killed writer left this."""
    return path.name.startswith(PART) or fnmatchcase(path.name, FOREIGN_PARTS)


# ---- lines ---------------------------------------------------------------------------------------


class LineLog:
    """A file of JSON lines that grows. A line that a killed process has half written is not a line."""

    def __init__(self, path: Path):
        self.path = path

    def append(self, values: dict[str, Any]) -> None:
        """Add a line; if it cannot be written whole, nothing of it stays."""
        line = (json.dumps(values, allow_nan=False) + "\n").encode()
        with told(self.path):
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            try:
                before = os.fstat(descriptor).st_size
                try:
                    write_all(descriptor, line)
                except OSError:
                    with contextlib.suppress(OSError):
                        os.ftruncate(descriptor, before)
                    raise
            finally:
                os.close(descriptor)

    def read(self) -> list[dict[str, Any]]:
        """Return the lines that are whole."""
        return [values for _, values in self.lines()]

    def tail(self, count: int) -> list[dict[str, Any]]:
        """Return the last whole lines, without reading more of a long file than they need."""
        room = count * USUAL_LINE
        try:
            with open(self.path, "rb") as file:
                length = file.seek(0, os.SEEK_END)
                while True:
                    begin = file.seek(max(0, length - room))
                    pieces = file.read().splitlines(keepends=True)[1 if begin else 0 :]  # the first is cut somewhere
                    found = [values for piece in pieces if (values := whole_line(piece)) is not None]
                    if len(found) >= count or begin == 0:
                        return found[-count:]
                    room *= 4
        except FileNotFoundError:
            return []

    def lines(self) -> Iterator[tuple[bytes, dict[str, Any]]]:
        """Yield each whole line as it is written, and what it says."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return
        for line in data.splitlines(keepends=True):
            values = whole_line(line)
            if values is not None:
                yield line, values

    def keep_until(self, key: str, last: float) -> None:
        """Drop the lines in which `key` is beyond `last`, and what is no line."""
        try:
            before = self.path.read_bytes()
        except FileNotFoundError:
            return
        kept = b"".join(line for line, values in self.lines() if values.get(key, last) <= last)
        if kept != before:
            write_whole(self.path, kept)

    def mend(self) -> None:
        """Drop a line that a killed process has half written, so that the next one does not run into it."""
        try:
            with open(self.path, "rb") as file:
                if file.seek(0, os.SEEK_END) == 0:
                    return
                file.seek(-1, os.SEEK_END)
                whole = file.read() == b"\n"
        except FileNotFoundError:
            return
        if not whole:
            write_whole(self.path, b"".join(line for line, _ in self.lines()))

    def sync(self) -> None:
        """Bring the lines to the disk."""
        if self.path.exists():
            with told(self.path):
                sync_file(self.path)


def whole_line(line: bytes) -> dict[str, Any] | None:
    """Read a line; None if it is damaged, or has no end."""
    if not line.endswith(b"\n"):
        return None
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None
