"""The board of a page: an element that draws a picture and sends moves."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from nicegui.element import Element
from nicegui.events import GenericEventArguments

from rookery.games.pictures.scene import Picture
from rookery.web.told import Call, remember, tell


class Board(Element, component="board.js", esm={"rookery-solid": "solid"}):
    """A board. `on_play` hears the action of a move and the number of moves its sender had seen."""

    def __init__(self, picture: Picture, ply: int, active: bool, label: str, on_play: Callable[[Any, Any], None]):
        super().__init__()
        self.on_play = on_play
        self._props["fixed"] = fixed_part(picture)
        self._props["first"] = shown(picture, ply, active)
        self._props["label"] = label
        self.on("play", self.heard)

    def set_solid(self, on: bool) -> None:
        """Show the pyramid of Pylos in three dimensions, or as grids."""
        self.run_method("space", on)

    def heard(self, event: GenericEventArguments) -> None:
        """Pass on a move; what is not of the right form is refused."""
        sent = event.args
        if isinstance(sent, dict):
            self.on_play(sent.get("action"), sent.get("ply"))
        else:
            self.refuse()

    def show(self, picture: Picture, ply: int, active: bool) -> None:
        """Draw another position of the same game; what is drawn over the board stays."""
        tell(self.client, [self.showing(picture, ply, active)])

    def showing(self, picture: Picture, ply: int, active: bool, marks: list[dict[str, Any]] | None = None) -> Call:
        """Return what is to be told to draw another position: what has changed, and what is drawn over the board."""
        state, fixed = shown(picture, ply, active), fixed_part(picture)
        turned = fixed != self._props["fixed"]
        remember(self, first=state, fixed=fixed)
        return self, "show", (state, fixed if turned else "", marks)

    def refuse(self) -> None:
        """Take back what the browser has drawn as pending."""
        self.run_method("reject")

    def point_out(self, marks: list[dict[str, Any]]) -> None:
        """Draw discs and arrows over the board."""
        self.run_method("heat", marks)


@lru_cache(maxsize=64)
def written(width: float, height: float, symbols: str, ground: str) -> str:
    """Write the part of a picture that is the same in a whole game, once for all who play it."""
    return json.dumps({"width": width, "height": height, "symbols": symbols, "ground": ground})


def fixed_part(picture: Picture) -> str:
    """Return what the component must know once a game, as JSON."""
    return written(picture.width, picture.height, picture.symbols, picture.ground)


def shown(picture: Picture, ply: int, active: bool) -> str:
    """Return what the component must know of a position, as JSON: NiceGUI watches every list inside a list."""
    return json.dumps(picture.changing() | {"ply": ply, "active": active}, separators=(",", ":"))
