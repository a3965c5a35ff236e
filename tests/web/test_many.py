"""Fifty visitors at once, each at the socket of a page of their own; no browsers are needed for that."""

from __future__ import annotations

import asyncio
import statistics
import time

import pytest

from browsing import Server
from guests import Guest

VISITORS, MOVES = 50, 5


async def play(guest: Guest) -> list[float]:
    """Play some moves; return the seconds until each was shown."""
    seconds = []
    for number in range(MOVES):
        await guest.until(lambda: guest.state["active"])
        begun = time.perf_counter()
        await guest.move(7 * guest.number + 13 * number)
        seconds.append(time.perf_counter() - begun)
        await asyncio.sleep(1 + guest.number % 10 / 10)
    await guest.leave()
    return seconds


@pytest.mark.slow
def test_fifty_visitors_at_once_are_all_answered(tmp_path):
    server = Server(tmp_path, "--searches", "2")
    server.start()
    guests = [Guest(number, server.address) for number in range(VISITORS)]

    async def visit() -> list[list[float]]:
        for guest in guests:
            await guest.enter()
        return await asyncio.gather(*(play(guest) for guest in guests))

    try:
        seconds = [second for each in asyncio.run(visit()) for second in each]
    finally:
        server.stop()
    assert len(seconds) == VISITORS * MOVES
    print(f"median {1000 * statistics.median(seconds):.0f} ms, longest {1000 * max(seconds):.0f} ms")
