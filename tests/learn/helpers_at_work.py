"""Work for processes that help: module and functions that a new process can read."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from rookery.learn.spread import Processes


def squarer() -> Callable[[int], tuple[int, int]]:
    """Return what squares numbers and says in which process."""
    return lambda number: (number * number, os.getpid())


def leaver() -> Callable[[int], int]:
    """Return what ends its process at number 3."""
    return lambda number: os._exit(1) if number == 3 else number


def refuser() -> Callable[[int], int]:
    """Return what cannot do its work."""

    def refuse(number: int) -> int:
        raise ValueError(f"{number} cannot be done")

    return refuse


def sleeper() -> Callable[[Path], None]:
    """Return what writes down its process and sleeps for a minute."""

    def sleep(folder: Path) -> None:
        (folder / str(os.getpid())).touch()
        time.sleep(60)

    return sleep


if __name__ == "__main__":  # waits for two that sleep
    list(Processes(2)(sleeper, [Path(sys.argv[1])] * 2))
