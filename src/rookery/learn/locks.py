"""Locks on files: one process at a time.

The system gives a lock back when its holder ends, however it ends, so a lock is never stale. What the holder writes
into the file is for people only.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from rookery.errors import BadInput
from rookery.games.cache import lock_file
from rookery.learn.files import told

ATTEMPTS, PAUSE = 10, 0.05  # who only looks whether a lock is held holds it for a moment


def try_lock(descriptor: int) -> bool:
    """Take the lock on an open file if nobody has it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(descriptor, 0, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


class Lock:
    """The right to train a run, or to make something else. `take` refuses if another process, or another part of this
    one, has it."""

    def __init__(self, path: Path, doing: str = "trained"):
        self.path, self.doing = path, doing
        self.descriptor: int | None = None

    @property
    def held(self) -> bool:
        """Whether this object has the lock."""
        return self.descriptor is not None

    def take(self) -> None:
        """Take the lock and say in the file who has it."""
        if self.held:
            return
        with told(self.path):
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        for _ in range(ATTEMPTS):
            if try_lock(descriptor):
                break
            time.sleep(PAUSE)
        else:
            os.close(descriptor)
            raise BadInput(f"{self.path.parent} is being {self.doing} by {holder(self.path)}; wait, or end it first")
        self.descriptor = descriptor
        note = {"process": os.getpid(), "machine": socket.gethostname(), "since": int(time.time())}
        with contextlib.suppress(OSError):  # a full disk: the lock holds all the same
            os.ftruncate(descriptor, 0)
            os.write(descriptor, json.dumps(note).encode())

    def give_back(self) -> None:
        """Let others have it."""
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None


def holder(path: Path) -> str:
    """Say who holds a lock."""
    try:
        note = json.loads(path.read_bytes())
        return f"process {note['process']} on {note['machine']}"
    except (OSError, ValueError, TypeError, KeyError):
        return "another process"


def holding_process(path: Path) -> int | None:
    """Return the process that holds a lock; None if nobody does, or somebody on another machine."""
    if not is_locked(path):
        return None
    try:
        note = json.loads(path.read_bytes())
        process = note["process"] if note["machine"] == socket.gethostname() else None
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return process if type(process) is int and process > 1 else None


def is_locked(path: Path) -> bool:
    """Tell whether somebody holds a lock; changes nothing and needs no right to write."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        return not try_lock(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def waiting_lock(path: Path) -> Iterator[None]:
    """Wait for a lock that is held for moments only."""
    with told(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        lock_file(descriptor)
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def patient_lock(path: Path, over: Callable[[], bool], waiting: Callable[[], None]) -> Iterator[bool]:
    """Wait for a lock that others hold while they make something; give whether it was had before `over` said to stop.

    `waiting` is called once if somebody else has it.
    """
    lock, told_so = Lock(path, "made"), False
    while not lock.held:
        try:
            lock.take()  # tries for a moment
        except BadInput:
            if over():
                break
            if not told_so:
                waiting()
            told_so = True
    try:
        yield lock.held
    finally:
        lock.give_back()
