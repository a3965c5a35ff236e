"""Work on several threads that can be stopped.

Compiled code frees the interpreter, so plain threads use all cores. It polls a one-element array and returns soon after
that is set: an interrupt is heard while kernels run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from rookery.games.options import whole_number

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_THREADS = 1024


class Stopped(Exception):
    """Work was told to stop before it had what was asked for."""


def cores() -> int:
    """Count the cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def new_stop() -> np.ndarray:
    """Make the array whose element, once 1, tells compiled code to return."""
    return np.zeros(1, np.int32)


def on_threads(work: Callable[[Item], Result], items: Iterable[Item], threads: int, stop: np.ndarray) -> list[Result]:
    """Do the work for each item and return the results in order; whatever goes wrong, or an interrupt, stops all."""
    with ThreadPoolExecutor(whole_number("threads", threads, 1, MOST_THREADS)) as pool:
        waiting = [pool.submit(work, item) for item in items]
        try:
            return [future.result() for future in waiting]
        except BaseException:
            stop[0] = 1
            pool.shutdown(wait=False, cancel_futures=True)
            raise
