"""The parts beside the board: opponent, analysis, value. Each is told what to show and tells what was asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from nicegui import app, ui

from rookery.arena.marks import value_text
from rookery.web.board import Board
from rookery.web.findings import ROWS_SHOWN, Row
from rookery.web.frame import plain_button
from rookery.web.opponents import Opponent, found_by
from rookery.web.told import Lines


class OpponentPanel:
    """Who plays against the visitor, how strong, and its rating."""

    def __init__(self, on_change: Callable[[str], None]):
        self.on_change, self.opponents, self.ratings = on_change, list[Opponent](), dict[str, str]()
        self.shown: tuple[str, int] = ("", 0)
        with ui.element("section").classes("card"):
            ui.html("<h2>Opponent</h2>", sanitize=False)
            self.who = ui.select([], on_change=self.chosen).props("dense outlined options-dense").classes("w-full")
            self.who.props('aria-label="Opponent"').mark("opponent")
            self.strength = ui.slider(min=0, max=1, step=1, value=0, on_change=self.moved)
            self.strength.props('aria-label="Strength" snap markers').mark("strength")
            self.told = ui.label().classes("small number")

    def offer(self, opponents: Sequence[Opponent], ratings: dict[str, str], text: str) -> None:
        """Show whom one can choose, and who plays now."""
        self.opponents, self.ratings = list(opponents), ratings
        found = found_by(opponents, text)
        names = [opponent.name for opponent in opponents]
        name, level = (found[0].name, found[1]) if found else (text, 0)
        self.shown = (name, level)
        self.who.set_options(names if found else [*names, text], value=name)
        self.show_level(found[0] if found else None, level)

    def show_level(self, opponent: Opponent | None, level: int) -> None:
        """Show the strength of an opponent, and its rating if it has one."""
        levels = opponent.levels if opponent else ()
        self.strength.set_visibility(len(levels) > 1)
        self.strength._props["max"] = max(1, len(levels) - 1)
        self.strength.value = level
        self.strength.update()
        rating = self.ratings.get(opponent.text(level), "") if opponent else ""
        told = [f"{levels[level][0]} {opponent.unit}" if opponent and opponent.unit else ""]
        told.append(f"rating {rating}" if rating else opponent.card if opponent and opponent.card else "not rated")
        self.told.text = " · ".join(part for part in told if part)

    def current(self) -> Opponent | None:
        """Return the opponent that is shown."""
        return next((opponent for opponent in self.opponents if opponent.name == self.shown[0]), None)

    def chosen(self, event: Any) -> None:
        """Hear that another opponent is wanted."""
        wanted = next((opponent for opponent in self.opponents if opponent.name == event.value), None)
        if wanted is not None and wanted.name != self.shown[0]:
            self.shown = (wanted.name, wanted.usual)
            self.show_level(wanted, wanted.usual)
            self.on_change(wanted.text(wanted.usual))

    def moved(self, event: Any) -> None:
        """Hear that another strength is wanted."""
        opponent = self.current()
        if opponent is None or not isinstance(event.value, int | float) or not math.isfinite(event.value):
            return
        if int(event.value) == self.shown[1]:
            return
        level = max(0, min(int(event.value), len(opponent.levels) - 1))
        self.shown = (opponent.name, level)
        self.show_level(opponent, level)
        self.on_change(opponent.text(level))


class AnalysisPanel:
    """What a search thinks: rows of moves that keep their places, the best line, and who says so."""

    def __init__(self, on_switch: Callable[[], None], on_analyst: Callable[[], None]):
        with ui.element("section").classes("card"):
            with ui.element("div").classes("heading"):
                ui.html("<h2>Analysis</h2>", sanitize=False).style("flex: 1")
                self.switch = plain_button("Analyse", on_switch, "analyse")
            self.analyst = ui.select([], on_change=on_analyst).props("dense outlined options-dense").classes("w-full")
            self.analyst.props('aria-label="Analysis by"').mark("analyst")
            self.told = ui.label("Off. Press l to switch it on.").classes("small number")
            self.body = Lines(ROWS_SHOWN)
            self.drawing = ui.html("", sanitize=False).mark("worths")
            self.line = ui.label().classes("small number")
            self.more = ui.label().classes("table-text")

    def offer(self, opponents: Sequence[Opponent]) -> None:
        """Show who can analyse: those who have levels, of which the stronger ones follow the weaker ones."""
        names = [opponent.name for opponent in opponents if len(opponent.levels) > 1]
        chosen = self.analyst.value if self.analyst.value in names else next(iter(names), None)
        self.analyst.set_options(names, value=chosen)

    def show(self, rows: Sequence[Row], line: str, told: str, more: str = "", drawing: str = "") -> None:
        """Show what was found; `more` is text in columns, `drawing` an SVG of our own making."""
        most = max((row.share for row in rows), default=1.0) or 1.0
        self.body.show([
            [row.move, round(100 * row.share / most), f"{row.visits:,}" if row.visits else "", value_text(row.value)]
            for row in rows
        ])  # fmt: skip
        self.line.text = f"Best line: {line}" if line else ""
        self.told.text = told
        self.more.text = more
        self.drawing.content = drawing

    def set_on(self, on: bool) -> None:
        """Show whether it is switched on."""
        self.switch.classes(add="on" if on else "", remove="" if on else "on")
        self.switch.props(f'aria-pressed="{str(on).lower()}"')
        if not on:
            self.show([], "", "Off. Press l to switch it on.")


class ValueBar:
    """A bar that tells for which side the position on the board is good."""

    def __init__(self) -> None:
        with ui.element("div").classes("bar").props('role="img"') as self.body:
            self.own = ui.element("div").classes("own")
        self.show(None)

    def show(self, value: float | None, whose: str = "") -> None:
        """Show a value from the side of those who are named; None: it is not known."""
        share = 50.0 if value is None else 50 * (1 + max(-1.0, min(1.0, value)))
        self.own.style(f"--share: {share:.1f}%")
        told = "unknown" if value is None else value_text(value)
        self.body.props(f'aria-label="Value{f" for {whose}" if whose else ""}: {told}"')


class Space:
    """The pyramid of Pylos in three dimensions, or as grids; what a visitor chose is remembered."""

    def __init__(self, board: Board, on_trouble: Callable[[str], object]):
        self.board, self.on_trouble, self.asked = board, on_trouble, False
        self.on = app.storage.user.get("solid") is not False
        self.button = plain_button("3D", self.ask, "solid").classes("on" if self.on else "")
        board.on("flat", self.missing)

    def begin(self) -> None:
        """Show a board that was built anew as it was."""
        if self.on:
            self.board.set_solid(True)

    def ask(self) -> None:
        """Hear that the visitor wants the one or the other."""
        self.asked = True
        self.switch()

    def switch(self) -> None:
        """Turn from the one to the other."""
        self.on = app.storage.user["solid"] = not self.on
        self.button.classes(add="on" if self.on else "", remove="" if self.on else "on")
        self.board.set_solid(self.on)

    def missing(self) -> None:
        """Hear that the browser cannot draw in three dimensions."""
        if self.on:
            self.switch()
        if self.asked:
            self.on_trouble("This browser draws nothing in three dimensions (WebGL is missing).")
