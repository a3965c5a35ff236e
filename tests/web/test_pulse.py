"""The pulse: pages are called as long as they are there, and none harms another."""

from __future__ import annotations

import asyncio
import logging

from rookery.web import pulse as module
from rookery.web.pulse import Pulse


def test_pages_are_called_until_they_leave_and_a_broken_one_harms_nobody(monkeypatch, caplog):
    monkeypatch.setattr(module, "TICK", 0.001)
    called = []

    def broken():
        called.append("broken")
        raise ZeroDivisionError("oops")

    async def live():
        pulse = Pulse()
        pulse.join(1, broken)
        pulse.join(2, lambda: called.append("good"))
        while called.count("good") < 3:
            await asyncio.sleep(0.001)
        assert called.count("broken") >= 2
        pulse.leave(1)
        pulse.leave(2)
        await pulse.task  # a heart without pages stops
        before = len(called)
        pulse.join(3, lambda: called.append("late"))
        while len(called) == before:
            await asyncio.sleep(0.001)
        pulse.leave(3)
        await pulse.task

    with caplog.at_level(logging.CRITICAL, "rookery.web"):
        asyncio.run(live())
    assert called[-1] == "late"
