"""A simulated visitor of the pages, without a browser: NiceGUI finds elements and sends their events."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

from nicegui.testing import User
from nicegui.testing.user_simulation import user_simulation

from rookery.web.app import build
from rookery.web.host import Host
from rookery.web.site import Site
from rookery.web.store import Store
from rookery.web.thinking import Desk

PATIENCE = 60.0  # seconds; compiling under load takes long


@asynccontextmanager
async def visiting(address: str, games: Iterable[str] = (), **parts: Any) -> AsyncIterator[tuple[User, Site]]:
    """Open a page of a server that has some games ready; `parts` are those of the site."""
    site = Site(Host(Store(None), Desk(2)), **parts)
    site.look_for_opponents = lambda game: None  # reading networks takes seconds
    async with user_simulation() as user:
        build(site)
        for game in games:
            site.prepare(game)
        await user.open(address)
        try:
            yield user, site
        finally:
            site.close()


async def eventually(condition: Callable[[], Any]) -> None:
    """Wait until something is so, while the page goes on."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it never came to pass"
        await asyncio.sleep(0.01)


def only(user: User, **what: Any) -> Any:
    """Return the only element of a kind or with a marker."""
    (element,) = user.find(**what).elements
    return element


async def seen(user: User, text: str) -> None:
    """Wait until the page shows a text."""
    await user.should_see(text, retries=int(10 * PATIENCE))
