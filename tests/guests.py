"""Visitors without a browser: they read a page, open its socket and play on its board."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable
from typing import Any

import httpx
import socketio

PATIENCE = 60.0  # seconds
ESCAPES = (("&lt;", "<"), ("&gt;", ">"), ("&#36;", "$"), ("&#96;", "`"), ("&amp;", "&"))


def elements_of(page: str) -> dict[str, Any]:
    """Return the elements of a page by their ids."""
    text = re.search(r"parseElements\(String\.raw`(.*?)`\)", page, re.S)[1]
    for sign, letter in ESCAPES:
        text = text.replace(sign, letter)
    found: dict[str, Any] = json.loads(text)
    return found


def board_of(elements: dict[str, Any]) -> str:
    """Return the id of the board; nothing while the game is being compiled."""
    return next((id for id, one in elements.items() if "fixed" in one.get("props", {})), "")


class Guest:
    """A visitor of a server, who keeps the cookie that was given at the first visit."""

    def __init__(self, number: int, address: str):
        self.number, self.address = number, address
        self.cookies = httpx.Cookies()
        self.state: dict[str, Any] = {}
        self.visits = self.moves = 0
        self.socket: socketio.AsyncClient | None = None

    async def enter(self, path: str = "/") -> None:
        """Read a page and open its socket."""
        async with httpx.AsyncClient(base_url=self.address, timeout=PATIENCE, cookies=self.cookies) as http:
            page = (await http.get(path)).text
            self.cookies = httpx.Cookies(http.cookies)
        self.client = re.search(r"client_id.: .([0-9a-f-]+).", page)[1]
        self.elements = elements_of(page)
        self.board = board_of(self.elements)
        self.state = json.loads(self.elements[self.board]["props"]["first"])
        self.visits += 1
        self.next_page = ""
        self.changed = asyncio.Event()  # belongs to the loop of this visit
        self.socket = socketio.AsyncClient(reconnection=False)
        self.socket.on("run_javascript", self.hear)
        self.socket.on("open", self.turn_to)
        self.socket.on("update", self.take_in)
        asked = f"client_id={self.client}&next_message_id=0&implicit_handshake=true"
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        await self.socket.connect(
            f"{self.address}?{asked}&tab_id=tab{self.number}&document_id=page{self.number}-{self.visits}",
            headers={"Cookie": cookies, "Origin": self.address},
            transports=["websocket"], socketio_path="/_nicegui_ws/socket.io", wait_timeout=PATIENCE,
        )  # fmt: skip

    async def leave(self) -> None:
        """Close the page."""
        if self.socket is not None:
            await self.socket.disconnect()
            self.socket = None

    def hear(self, data: dict[str, str]) -> None:
        """Note what the board is told to show."""
        found = re.search(r'"\{\\"men.*?\}"', data["code"])
        if found:
            self.state = json.loads(json.loads(found[0]))
            self.changed.set()

    def turn_to(self, data: dict[str, str]) -> None:
        """Note which page the browser is told to open."""
        self.next_page = data["path"]
        self.changed.set()

    def take_in(self, data: dict[str, Any]) -> None:
        """Note elements that are new or changed; those that are gone come as null."""
        self.elements.update((id, one) for id, one in data.items() if isinstance(one, dict))
        self.changed.set()

    async def until(self, condition: Callable[[], Any], patience: float = PATIENCE) -> None:
        """Wait until what the board shows is as wanted."""
        end = time.monotonic() + patience
        while not condition():
            self.changed.clear()
            await asyncio.wait_for(self.changed.wait(), max(0.01, end - time.monotonic()))

    async def send(self, element: str, args: list[Any]) -> None:
        """Send the first event an element listens to."""
        listener = self.elements[element]["events"][0]["listener_id"]
        message = {"id": int(element), "client_id": self.client, "listener_id": listener, "args": args}
        await self.socket.emit("event", message)

    async def move(self, choice: int) -> None:
        """Make one of the moves that are possible, and wait until the board shows it."""
        ply, ways = self.state["ply"], self.state["ways"]
        sent = json.dumps({"action": ways[choice % len(ways)][0], "ply": ply})
        await self.send(self.board, [sent])
        await self.until(lambda: self.state["ply"] > ply)
        self.moves += 1

    async def press(self, words: str) -> None:
        """Press the button with these words on it, as soon as it is there."""
        await self.until(lambda: self.button(words))
        await self.send(self.button(words), ["{}"])

    def button(self, words: str) -> str:
        """Return the id of a button; nothing if there is none."""
        found = (id for id, one in self.elements.items() if one.get("events") and one.get("text") == words)
        return next(found, "")
