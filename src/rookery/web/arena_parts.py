"""Parts of the page of the arena: a contest with its boards and tools, and the table of a round robin."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from nicegui import ui
from nicegui.element import Element

from rookery.web.board import Board, shown
from rookery.web.contests import LONGEST_PACE, Contest, Live
from rookery.web.frame import plain_button
from rookery.web.games import OFFERS
from rookery.web.standings import crosstable, live_picture, live_text, score_text


class Caption(Element, component="caption.js"):
    """The lines under a board; both change by one message, so they never disagree."""

    def __init__(self, lines: Sequence[str]):
        super().__init__()
        self._props["first"] = json.dumps(lines)

    def tell(self, lines: Sequence[str], board: Board, state: str) -> None:
        """Show other lines, and another position on the board."""
        # A page that is built again begins with the props.
        self._props["first"], board._props["first"] = json.dumps(lines), state
        self.run_method("tell", self._props["first"], board.id, state)


class BoardPart:
    """The board of one table, with who plays there."""

    def __init__(self, live: Live, labels: Sequence[str]):
        self.labels, self.live = labels, live
        with ui.element("figure").classes("at-table"):
            title = OFFERS[live.position.game.name].title
            self.board = Board(live_picture(live), len(live.actions), False, title, lambda action, ply: None)
            self.caption = Caption(live_text(live, labels))

    def show(self, live: Live) -> None:
        """Draw another position, if it is another."""
        if live is not self.live:
            self.live = live
            state = shown(live_picture(live), len(live.actions), False)
            self.caption.tell(live_text(live, self.labels), self.board, state)


class ContestPart:
    """How a contest stands: names, score, interval, live boards, and what a visitor may do with it."""

    def __init__(self) -> None:
        self.contest: Contest | None = None
        self.shown: object = None
        self.boards: list[BoardPart] = []
        with ui.element("section").classes("card column"):
            with ui.element("div").classes("versus"):
                self.first = ui.label().mark("first-name")
                self.against = ui.label().classes("small")
                self.second = ui.label().mark("second-name")
            with ui.element("div").classes("wdl").props('role="img" aria-label="No games yet"') as self.bar:
                self.shares = [ui.element("div").style(f"background: {colour}; width: 0") for colour in COLOURS]
            self.score = ui.label().classes("number").props('aria-live="polite"').mark("score")
            self.count = ui.label("Choose two players and press Start.").classes("small number").mark("count")
            with ui.element("div").classes("choices-row"):
                self.pause = plain_button("Pause", self.switch_pause, "pause")
                self.step = plain_button("Step", self.one_step, "step")
                self.finish = plain_button("End", self.end, "end")
                ui.label("Pace").classes("small").style("padding: 0 4px 0 8px")
                self.pace = ui.slider(min=0, max=LONGEST_PACE, step=0.1, value=0, on_change=self.set_pace)
                self.pace.props('aria-label="Seconds between moves"').style("width: 160px; margin: 0 8px").mark("pace")
                self.pace_told = ui.label("as fast as it goes").classes("small number")
            self.trouble = ui.label().classes("bad").mark("contest-trouble")
            self.frame = ui.element("div").classes("live")

    # -- what the visitor does --

    def begin(self, contest: Contest) -> None:
        """Turn to a new contest."""
        contest.set_pace(self.wanted_pace())
        self.show(contest)

    def switch_pause(self) -> None:
        """Pause, or go on."""
        if self.contest is not None:
            self.contest.set_paused(not self.contest.paused)
            self.show_tools(self.contest)

    def one_step(self) -> None:
        """Play one move."""
        if self.contest is not None:
            self.contest.step()
            self.show_tools(self.contest)

    def end(self) -> None:
        """Leave what is unfinished."""
        if self.contest is not None:
            self.contest.end()

    def wanted_pace(self) -> float:
        """Return the seconds between two moves; what a browser sends need be no number."""
        told: Any = self.pace.value
        return float(told) if isinstance(told, int | float) and math.isfinite(told) else 0.0

    def set_pace(self) -> None:
        """Let some time pass from move to move."""
        seconds = self.wanted_pace()
        self.pace_told.text = f"{seconds:.1f} s a move" if seconds else "as fast as it goes"
        if self.contest is not None:
            self.contest.set_pace(seconds)

    # -- showing --

    def show(self, contest: Contest | None) -> None:
        """Show how a contest stands, if that has changed; reading it renews its lease."""
        if contest is None:
            return
        if contest is not self.contest:
            self.contest, self.boards = contest, []
            self.frame.clear()
        state = (contest.read(), contest.over, contest.paused)
        if state == self.shown:
            return
        self.shown = state
        one, other = contest.pairing
        self.first.text, self.second.text = contest.order.labels[one], contest.order.labels[other]
        self.against.text = "against"
        self.show_score(contest)
        self.show_tools(contest)
        self.show_boards(contest)

    def show_score(self, contest: Contest) -> None:
        """Show wins, draws and losses of the first player, and the score."""
        score = contest.scores.get(contest.pairing)
        self.score.text = score_text(score)
        results = (score.wins, score.draws, score.losses) if score else (0, 0, 0)
        for share, number in zip(self.shares, results, strict=True):
            share.style(f"width: {100 * number / max(1, sum(results)):.1f}%")
        told = "{} won, {} drawn, {} lost".format(*results)
        self.bar.props(f'aria-label="{told}"')
        state = "ended" if contest.ended and contest.over else "done" if contest.over else ""
        state = state or ("paused" if contest.paused else "playing")
        self.count.text = f"{contest.finished} of {contest.planned} games finished, {state}. {told}."
        self.trouble.text = f"The contest cannot go on: {contest.trouble}" if contest.trouble else ""

    def show_tools(self, contest: Contest) -> None:
        """Show what can be done."""
        self.pause.classes(add="on" if contest.paused else "", remove="" if contest.paused else "on")
        self.pause.props(f'aria-pressed="{str(contest.paused).lower()}"')
        for button in (self.pause, self.step, self.finish):
            button.props(remove="disabled") if not contest.over else button.props("disabled")

    def show_boards(self, contest: Contest) -> None:
        """Draw the games that are being played; all boards come at once, so that nothing moves later."""
        lives = [table.live for table in contest.tables if table.live is not None]
        if len(lives) < len(contest.tables):
            return
        if not self.boards:
            picture, columns = live_picture(lives[0]), math.ceil(math.sqrt(len(lives)))
            self.frame.style(f"--ratio: {picture.width / picture.height:.3f}; --columns: {columns}")
            with self.frame:
                self.boards = [BoardPart(live, contest.order.labels) for live in lives]
        for part, live in zip(self.boards, lives, strict=True):
            part.show(live)


COLOURS = ("var(--good)", "var(--muted)", "var(--bad)")


class CrossPart:
    """The table of a round robin: rows against columns, tinted by score."""

    def __init__(self) -> None:
        self.shown: object = None
        with ui.element("div").classes("scrolling"):
            self.body = ui.element("table").classes("lined crosstable").mark("crosstable")

    def show(self, contest: Contest | None) -> None:
        """Show the table, if it has changed."""
        state = (id(contest), contest.finished) if contest else None
        if contest is None or state == self.shown:
            return
        self.shown = state
        self.body.clear()
        texts = contest.order.labels
        with self.body:
            self.head([str(number) for number in range(1, len(texts) + 1)])
            for number, (text, row) in enumerate(zip(texts, crosstable(contest), strict=True), start=1):
                with ui.element("tr"):
                    cell("td", f"{number}. {text}", None)
                    for told, share in row:
                        cell("td", told, share)

    def head(self, names: list[str]) -> None:
        """Make the first row."""
        with ui.element("tr"):
            for name in ("player", *names, "points"):
                cell("th", name, None)


def cell(tag: str, text: str, share: float | None) -> None:
    """Put a cell into a table, tinted by a score."""
    made = ui.element(tag)
    if share is not None:
        tone, strength = ("good", share - 0.5) if share >= 0.5 else ("bad", 0.5 - share)
        made.style(f"background: color-mix(in srgb, var(--{tone}) {60 * strength:.0f}%, transparent)")
    with made:
        ui.label(text)
