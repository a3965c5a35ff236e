"""Two views of a game that is looked at again: its moves, and its value over them, with costly moves marked."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from nicegui.element import Element
from nicegui.events import GenericEventArguments

from rookery.games.pictures.scene import Picture
from rookery.web.board import Board, shown


class MoveList(Element, component="moves.js"):
    """The moves of a game, drawn in the browser: a game of 300 moves is one element. `on_pick` hears a ply."""

    def __init__(self, texts: Sequence[str], on_pick: Callable[[Any], None]):
        super().__init__()
        self.on_pick = on_pick
        self._props["content"] = json.dumps(list(texts))
        self._props["marks"] = "{}"
        self._props["place"] = self._props["begin"] = len(texts)
        self.on("pick", self.heard)

    def heard(self, event: GenericEventArguments) -> None:
        """Pass on a click; what is not of the right form is dropped."""
        if isinstance(event.args, int) and not isinstance(event.args, bool):
            self.on_pick(event.args)

    def tell(self, texts: Sequence[str], begin: int) -> None:
        """Show other moves; those from `begin` on are a side line."""
        self._props["content"], self._props["begin"] = json.dumps(list(texts)), begin
        self.run_method("tell", self._props["content"], begin)

    def grade(self, grades: dict[int, str]) -> None:
        """Mark costly moves, each by the ply that it leads to."""
        self._props["marks"] = json.dumps(grades)
        self.run_method("grade", self._props["marks"])


class Graph(Element, component="graph.js"):
    """A graph. `on_jump` hears the ply that was clicked."""

    def __init__(self, sides: tuple[str, str], plies: int, on_jump: Callable[[Any], None]):
        super().__init__()
        self.on_jump = on_jump
        self._props["sides"] = json.dumps(sides)
        self._props["first"] = json.dumps({"values": [None] * (plies + 1), "marks": {}})
        self._props["place"] = 0
        self.on("jump", self.heard)

    def heard(self, event: GenericEventArguments) -> None:
        """Pass on a click; what is not of the right form is dropped."""
        if isinstance(event.args, int) and not isinstance(event.args, bool):
            self.on_jump(event.args)

    def show(self, values: Sequence[float | None], marks: dict[int, str]) -> None:
        """Draw the values of all positions for the first side; `marks` grades moves by the ply that they lead to."""
        rounded = [None if value is None else round(value, 3) for value in values]
        # A page that is built again begins with the props.
        self._props["first"] = json.dumps({"values": rounded, "marks": marks})
        self.run_method("show", self._props["first"])

    def go(
        self, ply: int, moves: MoveList, board: Board, picture: Picture, marks: list[dict[str, Any]], active: bool
    ) -> None:
        """Show a position here, in the list and on the board, all by one message; `active`: moves may be tried."""
        state = shown(picture, ply, active)
        board._props["first"] = state
        moves._props["place"] = self._props["place"] = ply
        self.run_method("go", ply, moves.id, board.id, state, marks)
