"""One heart for all pages: each looks after its game a few times a second, as long as its browser is there.

A timer for each page would cost a task for each of its beats; fifty idle pages then keep a server busy.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Hashable

TICK = 0.2
"""seconds between two looks"""
log = logging.getLogger("rookery.web")


class Pulse:
    """Calls the pages that have joined. Used by one thread, that of the pages."""

    def __init__(self) -> None:
        self.ticks: dict[Hashable, Callable[[], None]] = {}
        self.task: asyncio.Task[None] | None = None

    def join(self, key: Hashable, tick: Callable[[], None]) -> None:
        """Have a function called until its key leaves."""
        self.ticks[key] = tick
        if self.task is None or self.task.done():
            self.task = asyncio.get_running_loop().create_task(self.beat())

    def leave(self, key: Hashable) -> None:
        """Call a function no more."""
        self.ticks.pop(key, None)

    async def beat(self) -> None:
        """Call all, one after the other; between two of them other work has its turn."""
        clock = asyncio.get_running_loop().time
        while self.ticks:
            begun = clock()
            for key in list(self.ticks):
                if (tick := self.ticks.get(key)) is not None:
                    self.call(tick)
                    await asyncio.sleep(0)
            await asyncio.sleep(max(0.0, begun + TICK - clock()))

    def call(self, tick: Callable[[], None]) -> None:
        """Call one; its mistake must not stop the others."""
        try:
            tick()
        except Exception:
            log.exception("a page could not look after its game")
