"""Where compiled kernels are kept.

Numba notices an edit of the file a function is written in, but not an edit of a function it calls in
another file. So the cache folder is named by a hash of every kernel source of the package and of the
Numba version: any edit opens a new, empty folder, and an old result can never come back.

The folder lies under `ROOKERY_CACHE` if that is set, else under the user's cache folder. If neither can
be written, kernels are compiled into a temporary folder that goes with the process, with a warning.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import warnings
from functools import cache as once
from pathlib import Path

import numba

PACKAGE = Path(__file__).resolve().parent.parent
KERNEL_ROOMS = ("games", "search")


def kernel_sources() -> list[Path]:
    """List the files whose edit makes every compiled kernel stale."""
    return sorted(path for room in KERNEL_ROOMS for path in (PACKAGE / room).rglob("*.py"))


def fingerprint() -> str:
    """Hash the kernel sources and the versions they are compiled with."""
    digest = hashlib.sha256(f"{numba.__version__} {sys.version_info[:3]}".encode())
    for path in kernel_sources():
        digest.update(str(path.relative_to(PACKAGE)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def parent() -> Path:
    """Return the folder that holds one cache folder per state of the sources."""
    chosen = os.environ.get("ROOKERY_CACHE")
    if chosen:
        return Path(chosen).expanduser().resolve()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "rookery"
    if sys.platform == "win32" and "LOCALAPPDATA" in os.environ:
        return Path(os.environ["LOCALAPPDATA"]) / "rookery" / "cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rookery"


@once
def folder() -> Path:
    """Return the cache folder of this process, made if need be."""
    wanted = parent() / fingerprint()
    try:
        wanted.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=wanted).close()
    except OSError as error:
        # Not a shared name under /tmp: a cache holds pickles, and whoever can write them runs code here.
        temporary = Path(tempfile.mkdtemp(prefix="rookery-"))
        warnings.warn(
            f"kernels are compiled anew in each process: the cache folder {wanted} cannot be written "
            f"({error.strerror}); set ROOKERY_CACHE to a folder that can",
            stacklevel=2,
        )
        return temporary
    return wanted


def use() -> None:
    """Point Numba at the cache folder; must run before a kernel is defined."""
    numba.config.CACHE_DIR = str(folder())
