"""The page of training: runs as cards, their curves on one plot, and what there is to know of one of them."""

from __future__ import annotations

import shlex
import time
from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import ui
from nicegui.events import GenericEventArguments

from rookery.errors import BadInput
from rookery.learn.settings import packaged_names
from rookery.web.charts import ends_of, training_options
from rookery.web.curves import Span
from rookery.web.frame import plain_button, style
from rookery.web.joining import BANDS, caption
from rookery.web.site import Site
from rookery.web.training_parts import CardPart, WatchPart, aside, rating_text
from rookery.web.trainings import FIGURES, Card

TICK = 1.0  # seconds
ONE_CLICK = 2.0  # seconds in which two clicks on Start are one
CARDS_SHOWN = 40
MOST_PLOTTED = 40
WHOLE: Span = (0.0, 100.0)
"""the zoom that shows everything, in per cent"""
SMOOTHINGS = {1: "1 point", 5: "5 points", 20: "20 points", 100: "100 points"}


class TrainingPage:
    """One page that shows the runs of the server."""

    def __init__(self, site: Site, visitor: str):
        self.site, self.visitor = site, visitor
        self.cards: dict[str, Card] = {}
        self.parts: dict[str, CardPart] = {}
        self.plotted: list[str] = []
        self.open_run = ""
        self.drawn: Any = None
        self.zoom, self.ends = WHOLE, WHOLE
        self.compared: object = None
        self.busy = False
        self.started = -ONE_CLICK
        self.build()
        ui.timer(TICK, self.tick)
        for first in (self.tick, self.show_command):
            ui.timer(0.05, first, once=True)
        ui.context.client.on_delete(self.watch.leave)

    # -- building --

    def build(self) -> None:
        """Make the elements."""
        ui.add_css(style("work.css"))
        with ui.element("main").classes("training"):
            with ui.element("div").classes("column"):
                self.build_start()
                self.filter = ui.input(placeholder="Filter by name, game or status").props("dense outlined clearable")
                self.filter.props('aria-label="Filter"').on_value_change(self.show_cards)
                with ui.element("div").classes("choices-row"):
                    self.told = ui.label("Looking at the runs.").classes("small").style("flex: 1").mark("told")
                    self.all_button = plain_button("Tick all", self.tick_all, "tick-all")
                self.list = ui.element("div").classes("column runs")
            with ui.element("div").classes("column"):
                self.build_plot()
                self.build_details()

    def build_start(self) -> None:
        """Make the form that starts a run."""
        with ui.element("details").classes("card"):
            with ui.element("summary"):
                ui.label("Start a run")
            with ui.element("div").classes("column form"):
                names = packaged_names()
                usual = "pylos_quick" if "pylos_quick" in names else names[0]
                self.config = ui.select(names, value=usual, label="Settings").props("dense outlined options-dense")
                self.config.props('aria-label="Settings"')
                with ui.element("div").classes("pair"):
                    self.games = ui.number("Games", min=1, precision=0).props("dense outlined").mark("games")
                    self.seed = ui.number("Seed", precision=0).props("dense outlined").mark("seed")
                self.changes = ui.input("Other settings, such as selfplay.simulations=20 threads=1")
                self.changes.props("dense outlined").mark("changes")
                self.outlives = ui.checkbox("goes on when the server ends", value=True).props("dense")
                plain_button("Start", self.start, "start")  # above the command, whose length changes
                self.command = ui.label().classes("table-text command").mark("command")
                for field in (self.config, self.games, self.seed, self.changes):
                    field.on_value_change(self.show_command)

    def build_plot(self) -> None:
        """Make the plot and what chooses its curves."""
        with ui.element("section").classes("card"):
            with ui.element("div").classes("choices-row"):
                self.figure = ui.select(list(FIGURES), value=next(iter(FIGURES))).props('aria-label="Figure"')
                self.smoothing = ui.select(SMOOTHINGS, value=5).props('aria-label="Smoothing"')
                for field in (self.figure, self.smoothing):
                    field.props("dense outlined options-dense").on_value_change(self.draw)
                self.logarithmic = ui.checkbox("logarithmic", on_change=self.draw).props("dense")
                self.join = ui.checkbox("join seeds", value=True, on_change=self.draw).props("dense").mark("join")
                self.band = ui.select(BANDS, value="range", on_change=self.draw).mark("band")
                self.band.props('dense outlined options-dense aria-label="Band"')
            self.chart = ui.echart(training_options("", [], []), renderer="svg").classes("chart").mark("chart")
            self.chart.on("chart:datazoom", self.zoomed, throttle=0.2, leading_events=False)
            self.caption = ui.label("Tick a run to see its curves.").classes("small number").mark("caption")

    def build_details(self) -> None:
        """Make the part about one run."""
        with ui.element("section").classes("card"):
            with ui.element("div").classes("heading"):
                self.title = ui.label("No run is open.").classes("now").style("flex: 1").mark("title")
                self.stop_button = plain_button("Stop", self.stop, "stop")
                self.resume_button = plain_button("Resume", self.resume, "resume")
            self.note = ui.label().classes("small").mark("note")
            self.run_command = ui.label().classes("table-text command").mark("run-command")
            with ui.tabs().props("dense no-caps align=left") as tabs:
                for name in ("Checkpoints", "Settings", "Watch", "Log"):
                    ui.tab(name)
            with ui.tab_panels(tabs, value="Checkpoints").props("keep-alive").classes("panels"):
                with ui.tab_panel("Checkpoints"):
                    self.checkpoints = table(("step", "games"), ("elo", "rating"), ("saved", "saved"), ("best", ""))
                with ui.tab_panel("Settings"):
                    self.only = ui.checkbox("only what differs", value=True, on_change=self.show_details)
                    self.only.props("dense").mark("only")
                    self.same = ui.label().classes("small").mark("same")
                    self.settings = ui.element("div").classes("scrolling").mark("settings")
                with ui.tab_panel("Watch"):
                    self.watch = WatchPart(self.site, self.visitor)
                with ui.tab_panel("Log"):
                    self.log = ui.label().classes("table-text").mark("log")
        self.stop_button.set_visibility(False)
        self.resume_button.set_visibility(False)

    # -- the timer --

    async def tick(self) -> None:
        """Read what has changed, beside the page's thread, and show it."""
        if self.busy:  # a slow disk must not pile up reads
            return
        self.busy = True
        try:
            self.cards = {card.name: card for card in await aside(self.site.trainings.look)}
            if self.cards and not self.open_run:
                self.open(next(iter(self.cards)))
                self.plotted = [self.open_run]
            self.show_cards()
            await self.draw()
            await self.show_details()
        except OSError as error:
            self.told.text = f"The runs cannot be read: {error}"
        finally:
            self.busy = False

    def show_cards(self) -> None:
        """Show the cards that fit the filter, each in its place."""
        wanted = str(self.filter.value or "").lower()
        fitting = [card for card in self.cards.values() if wanted in f"{card.name} {card.game} {card.status}".lower()]
        names = [card.name for card in fitting[:CARDS_SHOWN]]
        if names != list(self.parts):
            self.list.clear()
            with self.list:
                self.parts = {name: CardPart(name, self.open_now, self.plot) for name in names}
        for card in fitting[:CARDS_SHOWN]:
            self.parts[card.name].show(card, card.name == self.open_run, card.name in self.plotted)
        hidden = len(fitting) - len(names)
        more = f"{hidden} more: use the filter." if hidden > 0 else ""
        empty = f"No runs in {self.site.trainings.trainer.runs} yet. Start one above, or by `rookery train`."
        self.told.text = more if self.cards else empty
        self.all_button.set_visibility(len(names) > 1)

    async def draw(self) -> None:
        """Draw the curves of the chosen runs, if they have changed."""
        names = [name for name in self.plotted if name in self.cards][:MOST_PLOTTED]
        figure, smoothing = str(self.figure.value), int(self.smoothing.value or 1)
        band = str(self.band.value) if self.join.value else ""
        if figure not in FIGURES or (band and band not in BANDS):
            return
        curves, ratings = await aside(self.site.trainings.drawn, names, figure, smoothing, band, self.looked())
        key = (curves, ratings, figure, self.logarithmic.value)
        if key == self.drawn:
            return
        self.drawn, self.ends = key, ends_of([*curves, *ratings])
        self.chart.options.clear()
        self.chart.options.update(training_options(figure, curves, ratings, bool(self.logarithmic.value), self.zoom))
        self.chart.update()
        self.band.set_visibility(any(curve.runs > 1 for curve in curves))
        bare = " A logarithmic scale has no bands." if self.logarithmic.value else ""
        self.caption.text = (caption(curves, band) if names else "Tick a run to see its curves.") + bare

    def looked(self) -> Span | None:
        """Return the steps between which the plot is looked at; None for all."""
        if self.zoom == WHOLE:
            return None
        (first, last), (begin, end) = self.ends, self.zoom
        return first + (last - first) * begin / 100, first + (last - first) * end / 100

    async def zoomed(self, event: GenericEventArguments) -> None:
        """Send more points of the part that is looked at now."""
        zoom = zoom_in(event.args)
        if zoom is not None and zoom != self.zoom:
            self.zoom = zoom
            await self.draw()

    # -- one run --

    async def show_details(self) -> None:
        """Show what there is to know of the run that is open."""
        card = self.cards.get(self.open_run)
        if card is None:
            return
        self.title.text = f"{card.name}: {card.status}"
        self.note.text = card.note
        self.stop_button.set_visibility(card.alive)
        self.resume_button.set_visibility(card.can_resume)
        rows, settings, log, command = await aside(self.read_details, card.name)
        if card.name == self.open_run:
            self.run_command.text = command if card.alive or card.can_resume else ""
            if rows != self.checkpoints.rows:
                self.checkpoints.rows = rows
            self.log.text = log or "Nothing: it was not started from this page."
            self.show_settings(settings)

    def read_details(self, name: str) -> tuple[list[dict[str, Any]], dict[str, list[str]], str, str]:
        """Read what there is to know of a run."""
        trainings = self.site.trainings
        trainer, ticked = trainings.trainer, [each for each in self.plotted if each in self.cards]
        chosen = ticked if len(ticked) > 1 else [name]
        started, log = trainer.started.get(name), trainer.log(name)
        try:
            rows = [
                row | {"elo": rating_text(row["elo"], row["interval"]), "best": "best" if row["best"] else ""}
                for row in trainings.checkpoints(name)
            ]
            settings = trainings.compared(chosen)
            command = started.command if started and started.code is None else trainer.resumed(name)
        except (BadInput, OSError):
            return [], {}, log, shlex.join(started.command) if started else ""
        return rows, {"": chosen, **settings}, log, shlex.join(command)

    def show_settings(self, found: dict[str, list[str]]) -> None:
        """Show the settings of the chosen runs side by side, those that differ marked."""
        several, only = len(next(iter(found.values()), [])) > 1, bool(self.only.value)
        if self.compared == (found, only):
            return
        self.compared = (found, only)
        differing = {key for key, values in found.items() if key and len(set(values)) > 1}
        none = f"All {len(found) - 1} settings of these runs are the same."
        told = f"{len(differing)} of {len(found) - 1} settings differ (≠)." if differing else none
        self.same.text = told if several else "Tick two runs or more to compare their settings."
        shown = {key: values for key, values in found.items() if key in differing or not (only and several)}
        self.settings.clear()
        with self.settings, ui.element("table").classes("lined"):
            for key, values in ({"": found.get("", [])} | shown).items():
                with ui.element("tr").classes("differs" if key in differing else ""):
                    for text in (f"≠ {key}" if key in differing else key, *values):
                        with ui.element("td" if key else "th"):
                            ui.label(text)

    def open(self, name: str) -> None:
        """Turn to a run."""
        self.open_run = name
        self.watch.turn_to(name)

    async def open_now(self, name: str) -> None:
        """Turn to a run and show it at once."""
        self.open(name)
        self.show_cards()
        await self.show_details()

    def plot(self, name: str, on: bool) -> Awaitable[None] | None:
        """Note at once that a run is drawn, or no longer, so that its box is not set back; return what draws it."""
        if on == (name in self.plotted):
            return None
        self.plotted = [each for each in self.plotted if each != name] + ([name] if on else [])
        return self.redraw()

    async def tick_all(self) -> None:
        """Draw all runs whose cards are shown, or none if all are drawn."""
        shown = list(self.parts)
        drawn = all(name in self.plotted for name in shown)
        self.plotted = [name for name in self.plotted if name not in shown] + ([] if drawn else shown)
        self.show_cards()
        await self.redraw()

    async def redraw(self) -> None:
        """Show the curves and the settings of the runs that are chosen now."""
        await self.draw()
        await self.show_details()

    # -- what the visitor does --

    def wanted(self) -> tuple[str, int | None, int | None, list[str]]:
        """Return what the form says."""
        games, seed = (None if field.value is None else int(field.value) for field in (self.games, self.seed))
        return str(self.config.value), games, seed, str(self.changes.value or "").split()

    async def show_command(self) -> None:
        """Show the command that Start would give, or what is wrong with it."""
        await self.attempt(lambda: shlex.join(self.site.trainings.trainer.planned(*self.wanted())), self.command)

    async def start(self) -> None:
        """Start a run and turn to it."""
        if time.monotonic() - self.started < ONE_CLICK:  # the second half of a double click
            return
        self.started = time.monotonic()
        trainer, outlives = self.site.trainings.trainer, bool(self.outlives.value)
        started = await self.attempt(lambda: trainer.start(*self.wanted(), outlives).name, self.command)
        if started:
            self.plotted.append(started)
            self.open(started)
            ui.notify(f"{started} has been started.")

    async def stop(self) -> None:
        """Ask the process of the open run to stop."""
        name = self.open_run

        def ask() -> str:
            self.site.trainings.trainer.stop(name)
            return "It has been asked to stop."

        await self.attempt(ask, self.note)

    async def resume(self) -> None:
        """Go on with the open run."""
        name, outlives = self.open_run, bool(self.outlives.value)
        await self.attempt(lambda: self.site.trainings.trainer.resume(name, outlives).name, None)

    async def attempt(self, do: Callable[[], str], place: ui.label | None) -> str:
        """Do something beside the page's thread; show what came of it, or why it was refused."""
        try:
            told = await aside(do)
        except (BadInput, OSError, ValueError, OverflowError) as error:
            if place is None:
                ui.notify(str(error), type="negative")
            else:
                place.text = str(error)
            return ""
        if place is not None:
            place.text = told
        return told


def zoom_in(sent: Any) -> Span | None:
    """Read a zoom, in per cent, from what a plot has sent; None if it is not there or makes no sense."""
    told = sent.get("batch") if isinstance(sent, dict) else None
    one = told[0] if isinstance(told, list) and told else sent
    start, end = (one.get("start"), one.get("end")) if isinstance(one, dict) else (None, None)
    if not isinstance(start, int | float) or not isinstance(end, int | float):
        return None
    return (float(start), float(end)) if 0 <= start <= end <= 100 else None


def table(*columns: tuple[str, str]) -> ui.table:
    """Make a plain table."""
    made = [{"name": name, "label": label, "field": name, "align": "left"} for name, label in columns]
    return (
        ui.table(rows=[], columns=made, row_key=columns[0][0], pagination=10).props("flat dense").classes("plain-table")
    )
