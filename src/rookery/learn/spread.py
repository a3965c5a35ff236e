"""How work of many independent pieces is spread: over one process, or over what else can be called like `in_turn`.

Also what long work tells (`Say`) and what it asks (`Over`).
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection
from typing import Any, Protocol

from rookery.errors import BadInput

Worker = Callable[[Any], Any]
Say = Callable[[int, int, str], None]
"""told how much is done, of how much, and a note"""
Over = Callable[[], bool]
"""asked whether it is time to stop"""


class Spreader(Protocol):
    """Whoever has pieces of work done. Some deliver results in another order than that of the pieces."""

    def __call__(self, maker: Callable[[], Worker], tasks: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        """Yield each task with what the worker that `maker` makes returned for it."""


def in_turn(maker: Callable[[], Worker], tasks: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Do one task after another in this process, and yield each with its result."""
    worker = maker()
    for task in tasks:
        yield task, worker(task)


class Threads:
    """Threads of this process, each with a worker of its own: for work that leaves the interpreter alone meanwhile."""

    def __init__(self, count: int):
        self.count = count

    def __call__(self, maker: Callable[[], Worker], tasks: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        """Yield each task with its result, as they come; who stops listening waits for those at work alone."""
        wanted, own = list(tasks), threading.local()

        def begin() -> None:
            own.worker = maker()

        pool = ThreadPoolExecutor(max(1, min(self.count, len(wanted))), initializer=begin)
        try:
            waiting = {pool.submit(lambda task: own.worker(task), task): task for task in wanted}
            for future in as_completed(waiting):
                yield waiting[future], future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


class Processes:
    """Processes of this machine: for work that holds the interpreter so long that threads would wait for each other.

    A program that uses it begins below `if __name__ == "__main__"`, as every new process reads it again.
    """

    def __init__(self, count: int):
        self.count = count

    def __call__(self, maker: Callable[[], Worker], tasks: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        """Yield each task with its result, as they come; a single one is not worth a process."""
        wanted = list(tasks)
        if min(self.count, len(wanted)) < 2:
            yield from in_turn(maker, wanted)
            return
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(min(self.count, len(wanted)), context, begin_work, (maker,))
        try:
            waiting = {pool.submit(work, task): task for task in wanted}
            for future in as_completed(waiting):
                yield waiting[future], future.result()
        except BrokenProcessPool:
            raise BadInput(
                "a process that helped has ended, perhaps for want of memory; what was finished is kept"
            ) from None
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


made: list[Worker] = []
"""the worker of this process, if it is one that helps"""


def begin_work(maker: Callable[[], Worker]) -> None:
    """Make the worker of a process that helps."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that is helped hears it, too, and says what follows
    threading.Thread(target=leave_with_parent, daemon=True).start()
    made.append(maker())


def work(task: Any) -> Any:
    """Do a task."""
    return made[0](task)


def leave_with_parent() -> None:
    """End this process when the one that started it has ended, which may be by force."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(1)
