"""Parts of the page of training: the card of a run, and the board on which its network plays."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from nicegui import run, ui

from rookery.errors import BadInput
from rookery.learn.summaries import duration
from rookery.web.board import Board
from rookery.web.frame import plain_button
from rookery.web.games import OFFERS
from rookery.web.session import GameSession
from rookery.web.site import Site, new_seed
from rookery.web.store import Kept
from rookery.web.trainings import Card
from rookery.web.watching import checkpoint_of, picture_of

Found = TypeVar("Found")
TICK = 0.2
REST = 15  # ticks for which the end of a game stays on the board


async def aside(do: Callable[..., Found | None], *arguments: object) -> Found:
    """Call a function in another thread.

    NiceGUI turns the end of whoever waits into an answer of nothing; here it is an end again, else timers would go on.
    """
    found = await run.io_bound(do, *arguments)
    if found is None:
        raise asyncio.CancelledError
    return found


def rating_text(elo: float | None, interval: tuple[float, float] | None) -> str:
    """Write a rating with its interval."""
    if elo is None:
        return ""
    return f"{elo:,.0f}" + (f" ({interval[0]:,.0f} to {interval[1]:,.0f})" if interval else "")


def figures_text(card: Card) -> str:
    """Say in a line where a run stands."""
    parts = [f"{card.games:,} of {card.planned:,} games"] if card.planned else []
    parts += [f"{card.speed:,.2f} games/s"] if card.speed is not None else []
    parts += [f"{duration(card.left)} left"] if card.left is not None else []
    parts += [f"Elo {rating_text(card.elo, card.interval)}"] if card.elo is not None else []
    return " · ".join(parts) or "no games yet"


class CardPart:
    """The card of one run."""

    def __init__(
        self,
        name: str,
        on_open: Callable[[str], Awaitable[None]],
        on_plot: Callable[[str, bool], Awaitable[None] | None],
    ):
        with ui.element("article").classes("card run").mark(f"run-{name}") as self.body:
            with ui.element("div").classes("heading"):
                self.box = ui.checkbox(on_change=lambda event: on_plot(name, bool(event.value)))
                self.box.props(f'dense aria-label="Plot {name}"')
                opener = ui.element("button").classes("name").props('type="button"')
                opener.on("click", lambda: on_open(name))
                with opener:
                    ui.label(name)
                self.status = ui.label().classes("state")
            with ui.element("div").classes("track"):
                self.bar = ui.element("div").classes("share").style("width: 0")
            self.figures = ui.label().classes("small number")
            self.game = ui.label().classes("small")

    def show(self, card: Card, here: bool, plotted: bool) -> None:
        """Show where the run stands."""
        self.body.classes(add="here" if here else "", remove="" if here else "here")
        self.status.text = card.status
        wrong = card.can_resume or card.status in ("damaged", "failed to begin")
        tone = "good" if card.status == "complete" else "bad" if wrong else ""
        self.status.classes(replace=f"state {tone}")
        self.bar.style(f"width: {100 * card.share:.1f}%")
        self.figures.text = figures_text(card)
        self.game.text = card.game
        if self.box.value != plotted:
            self.box.value = plotted


class WatchPart:
    """A board on which the newest checkpoint of a run plays itself, game after game."""

    def __init__(self, site: Site, visitor: str):
        self.site, self.visitor = site, visitor
        self.run, self.version, self.rest = "", -1, 0
        self.kept: Kept | None = None
        self.board: Board | None = None
        self.on = False
        self.button = plain_button("Watch a game", self.switch, "watch")
        self.told = ui.label().classes("small").mark("watch-told")
        self.frame = ui.element("div").classes("watch")
        with self.frame:
            self.text = ui.label().classes("table-text")
        ui.timer(TICK, self.tick)

    def turn_to(self, name: str) -> None:
        """Watch another run, if one is watched."""
        if name != self.run:
            self.leave()
            self.run = name

    def leave(self) -> None:
        """End the game that is looked at."""
        self.on = False
        self.site.watching.end(self.kept)
        self.kept = None
        if not self.frame.is_deleted:
            self.show_switch()

    def show_switch(self) -> None:
        """Show whether a game is watched."""
        self.button.classes(add="on" if self.on else "", remove="" if self.on else "on")

    async def switch(self) -> None:
        """Watch, or no longer."""
        if self.on:
            self.leave()
            return
        self.on = True
        self.show_switch()
        await self.begin()

    async def begin(self) -> None:
        """Begin a game of what is the newest checkpoint now."""
        name = self.run
        self.told.text = "Setting up a game."
        try:
            session = await aside(self.set_up, name)
        except (BadInput, OSError) as error:
            self.told.text = str(error)
            self.on = False
            self.show_switch()
            return
        if not self.on or name != self.run:
            return
        self.site.watching.end(self.kept)
        self.kept, self.version, self.rest = self.site.watching.begin(self.visitor, session), -1, 0
        self.show_board(session)

    def set_up(self, name: str) -> GameSession:
        """Find the run's folder and set up a game."""
        return self.site.watching.prepare(self.site.trainings.trainer.folder(name), new_seed())

    def show_board(self, session: GameSession) -> None:
        """Make the board of a game."""
        picture = picture_of(session)
        self.frame.clear()
        with self.frame:
            self.text = ui.label().classes("table-text")
            self.board = (
                Board(picture, session.ply, False, OFFERS[session.game.name].title, lambda action, ply: None)
                if picture
                else None
            )

    async def tick(self) -> None:
        """Let the network move, and begin the next game a while after the end of one."""
        kept = self.kept
        if kept is None:
            return
        self.site.watching.host.advance(kept)
        if kept.version != self.version:
            self.version = kept.version
            self.show(kept)
        if kept.session.over:
            self.rest += 1
            if self.rest == REST:
                await self.begin()

    def show(self, kept: Kept) -> None:
        """Show the position."""
        session = kept.session
        picture = picture_of(session)
        if self.board is not None and picture is not None:
            self.board.show(picture, session.ply, False)
        else:
            self.text.text = session.position.draw()
        last = f", last move {session.texts[-1]}" if session.texts else ""
        state = kept.trouble or (session.status() if session.over else f"after {session.ply} moves{last}")
        self.told.text = f"{checkpoint_of(session)} against itself: {state}"
