"""Disks that are full or read-only, and files that may not grow."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

FILLER = "filler"


@dataclass(frozen=True)
class Disk:
    """A small file system of its own."""

    folder: Path

    def fill_up(self, leaving: int = 0) -> None:
        """Leave no more room than so many bytes."""
        (self.folder / FILLER).write_bytes(os.urandom(max(0, shutil.disk_usage(self.folder).free - leaving)))

    def remount(self, how: str) -> None:
        """Make it read-only, ro, or writable, rw."""
        subprocess.run(["mount", "-o", f"remount,{how}", str(self.folder)], check=True)

    def make_room(self) -> None:
        """Make it writable, with all its room."""
        self.remount("rw")
        (self.folder / FILLER).unlink(missing_ok=True)


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Disk]:
    """Mount a file system in memory; skip the test where that is not allowed."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield Disk(folder)
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def largest_file(limit: int) -> Callable[[], None]:
    """Return what a child calls so that none of its files may have more bytes; needs no rights."""
    resource = pytest.importorskip("resource")
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
