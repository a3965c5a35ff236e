"""Parts of the page of a game that is looked at again: its side lines, and how grades are written."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from nicegui import ui

from rookery.web.frame import plain_button
from rookery.web.side_lines import SideLines


class LinesPart:
    """The game and the lines that were tried beside it, as buttons; `on_turn` hears the ply to turn to."""

    def __init__(self, lines: SideLines, on_turn: Callable[[int], None]):
        self.lines, self.on_turn = lines, on_turn
        self.body = ui.element("div").classes("lines-beside").mark("lines")
        self.show()

    def show(self) -> None:
        """Show what there is; nothing without side lines."""
        self.body.clear()
        self.body.set_visibility(bool(self.lines.lines))
        if not self.lines.lines:
            return
        with self.body:
            chip("The game", self.lines.current is None, self.leave, "the-game")
            for number, line in enumerate(self.lines.lines):
                chip(line.title, line is self.lines.current, partial(self.open, number), "line")
            if self.lines.current is not None:
                plain_button("Drop this line", self.drop, "drop-line")

    def open(self, number: int) -> None:
        """Turn to a side line."""
        if number < len(self.lines.lines):
            self.on_turn(self.lines.open(number))

    def leave(self) -> None:
        """Turn back to the game."""
        if self.lines.current is not None:
            self.on_turn(self.lines.leave())

    def drop(self) -> None:
        """Forget the side line on the board."""
        if self.lines.current is not None:
            self.on_turn(self.lines.drop())


def chip(text: str, here: bool, does: Callable[[], None], marker: str) -> None:
    """Make a button that turns to a line."""
    made = plain_button(text, does, marker).classes("on" if here else "")
    made.props(f'aria-pressed="{str(here).lower()}"')


def named(grade: str, count: int) -> str:
    """Write a grade in the number that fits."""
    if count == 1:
        return grade
    return "inaccuracies" if grade == "inaccuracy" else f"{grade}s"
