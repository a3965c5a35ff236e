"""How work of many independent pieces is spread: over one process, or over what else can be called like `in_turn`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

Worker = Callable[[Any], Any]


class Spreader(Protocol):
    """Whoever has pieces of work done. Some deliver results in another order than that of the pieces."""

    def __call__(self, maker: Callable[[], Worker], tasks: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        """Yield each task with what the worker that `maker` makes returned for it."""


def in_turn(maker: Callable[[], Worker], tasks: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Do one task after another in this process, and yield each with its result."""
    worker = maker()
    for task in tasks:
        yield task, worker(task)
