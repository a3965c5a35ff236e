"""Where compiled kernels are kept.

Numba notices an edit of the file a function is written in, but not an edit of a function it calls in
another file. So the cache folder is named by a hash of every kernel source of the package and of the
Numba version: any edit opens a new, empty folder, and an old result can never come back.

Several processes share the folder. Numba numbers the files of a function's versions without asking whether another
process is doing the same, so two could take one name, and one game's code would be found under another's. Saving and
loading are therefore done under a lock.

The folder lies under `ROOKERY_CACHE` if that is set, else under the user's cache folder. If neither can
be written, kernels are compiled into a temporary folder that is removed when the process ends, with a warning.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import os
import shutil
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import IndexDataCacheFile

PACKAGE = Path(__file__).resolve().parent.parent
KERNEL_ROOMS = ("games", "search")
PLAIN_FOLDERS = ("pictures",)  # of these rooms, which hold nothing that is compiled
KERNEL_FILES = ("learn/book.py",)  # those of other rooms whose functions are compiled into kernels of other files


def kernel_sources() -> list[Path]:
    """List the files whose edit makes every compiled kernel stale."""
    rooms = (path for room in KERNEL_ROOMS for path in (PACKAGE / room).rglob("*.py"))
    compiled = (path for path in rooms if path.parent.name not in PLAIN_FOLDERS)
    return sorted([*compiled, *(PACKAGE / file for file in KERNEL_FILES)])


def fingerprint() -> str:
    """Hash the kernel sources and the versions they are compiled with."""
    digest = hashlib.sha256(f"{numba.__version__} {sys.version_info[:3]}".encode())
    for path in kernel_sources():
        digest.update(str(path.relative_to(PACKAGE)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def source_hash(module: str, file: Path) -> str:
    """Hash what a game is written in: its file, and the whole package of a game that is installed as part of one.

    The package's own games need no more than their file: the folder's name covers all of it.
    """
    digest = hashlib.sha256(file.read_bytes())
    package = sys.modules.get(module.partition(".")[0])
    if not file.is_relative_to(PACKAGE):
        for folder_path in sorted(getattr(package, "__path__", ())):
            for path in sorted(Path(folder_path).rglob("*.py")):
                digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def parent() -> Path:
    """Return the folder that holds one cache folder per state of the sources."""
    chosen = os.environ.get("ROOKERY_CACHE")
    if chosen:
        return Path(os.path.expanduser(chosen)).resolve()  # ~NAME of nobody stays as it is
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "rookery"
    if sys.platform == "win32" and "LOCALAPPDATA" in os.environ:
        return Path(os.environ["LOCALAPPDATA"]) / "rookery" / "cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rookery"


@functools.cache
def folder() -> Path:
    """Return the cache folder of this process, made if need be."""
    wanted = parent() / fingerprint()
    try:
        wanted.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=wanted).close()
    except OSError as error:
        # Not a shared name under /tmp: a cache holds pickles, and whoever can write them runs code here.
        temporary = Path(tempfile.mkdtemp(prefix="rookery-"))
        atexit.register(shutil.rmtree, temporary, ignore_errors=True)
        warnings.warn(
            f"kernels are compiled anew in each process: the cache folder {wanted} cannot be written "
            f"({error.strerror}); set ROOKERY_CACHE to a folder that can",
            stacklevel=2,
        )
        return temporary
    return wanted


# ---- one process at a time -----------------------------------------------------------------------

LOCK = threading.RLock()
HELD = [0]  # how often the thread that holds the lock has taken it
MISSES = [0]  # kernels that were not in the cache


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other threads and processes out while a file of the cache is read or written.

    Loading one kernel may load another, so the holder may take the lock again.
    """
    with LOCK, open(path, "a+b") as file:
        if HELD[0] == 0:
            lock_file(file.fileno())
        HELD[0] += 1
        try:
            yield  # closing the file gives the lock back
        finally:
            HELD[0] -= 1


def lock_file(descriptor: int) -> None:
    """Wait for the lock on an open file."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX)


def guarded(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a method of Numba's cache files run under the lock, if it works in our folder."""

    @functools.wraps(method)
    def run(self: Any, *arguments: Any) -> Any:
        if not Path(self._index_path).is_relative_to(folder()):
            return method(self, *arguments)
        with locked(folder() / "lock"):
            found = method(self, *arguments)
        MISSES[0] += method.__name__ == "load" and found is None
        return found

    return run


def guard(cache_file: type[Any]) -> None:
    """Put the lock around saving and loading of a class of cache files, once."""
    for name in ("save", "load"):
        if not hasattr(getattr(cache_file, name), "__wrapped__"):
            setattr(cache_file, name, guarded(getattr(cache_file, name)))


def use() -> None:
    """Point Numba at the cache folder; must run before a kernel is defined."""
    numba.config.CACHE_DIR = str(folder())
    guard(IndexDataCacheFile)
