"""Elements that hear of changes by one message for all of them.

An element of NiceGUI that changes is sent whole, with everything that has not changed. What changes with each move is
therefore kept in components of our own, which are told what is new; their properties are only for a page that is built
again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from nicegui import Client
from nicegui.element import Element
from nicegui.events import GenericEventArguments

Call = tuple[Element, str, tuple[Any, ...]]
"""a component, a method of it, and what it is told"""


def tell(client: Client, calls: Iterable[Call]) -> None:
    """Tell several components something, by one message."""
    parts = (f"runMethod({element.id}, {json.dumps(name)}, {json.dumps(told)})" for element, name, told in calls)
    client.run_javascript(";".join(parts))


def remember(element: Element, **properties: Any) -> None:
    """Set what a component begins with when the page is built again, and send nothing."""
    with element._props.suspend_updates():
        element._props.update(properties)


class Played(Element, component="played.js"):
    """The moves of a game. `on_pick` hears the number of moves after which the game is to be shown."""

    def __init__(self, on_pick: Callable[[int], None]):
        super().__init__()
        self.on_pick, self.texts = on_pick, list[str]()
        self._props["content"], self._props["place"] = "[]", 0
        self.on("pick", self.heard)

    def heard(self, event: GenericEventArguments) -> None:
        """Pass on a click; what is not of the right form is dropped."""
        if isinstance(event.args, int) and not isinstance(event.args, bool):
            self.on_pick(event.args)

    def showing(self, texts: Sequence[str], ply: int) -> Call:
        """Return what is to be told: the moves from the first one that differs, and how many are on the board."""
        kept = 0
        while kept < min(len(texts), len(self.texts)) and texts[kept] == self.texts[kept]:
            kept += 1
        self.texts = list(texts)
        remember(self, content=json.dumps(self.texts), place=ply)
        return self, "show", (kept, self.texts[kept:], ply)


class Clock(Element, component="clock.js"):
    """The time each seat has used. The browser counts on by itself until it is told something else."""

    def __init__(self, names: Sequence[str]):
        super().__init__()
        self.classes("small clock")
        self._props["names"] = json.dumps(list(names))
        self._props["first"] = "[[], -1]"

    def showing(self, seconds: Sequence[float], running: int) -> Call:
        """Return what is to be told: the times, and whose clock runs; -1: nobody's."""
        told = [round(used, 1) for used in seconds]
        remember(self, first=json.dumps([told, running]))
        return self, "show", (told, running)


class Lines(Element, component="lines.js"):
    """The moves that a search thinks best."""

    def __init__(self, places: int):
        super().__init__()
        self.shown: list[list[Any]] = []
        self._props["first"], self._props["places"] = "[]", places

    def show(self, rows: list[list[Any]]) -> None:
        """Show some moves: each with the length of its bar in percent and two texts."""
        if rows != self.shown:
            self.shown = rows
            remember(self, first=json.dumps(rows))
            tell(self.client, [(self, "show", (rows,))])
