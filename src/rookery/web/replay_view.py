"""The page on which a game is looked at again: step, jump, autoplay, its value over the moves, costly moves marked.

Board, list of moves and graph are three views of one ply, of the game or of a side line that was tried from it. Values
are computed at the desk of all searches; a timer of the page takes what is known, and with the page the search ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from nicegui import background_tasks, run, ui
from nicegui.events import KeyEventArguments

from rookery.arena.marks import marks_of
from rookery.errors import BadInput
from rookery.games.pictures.scene import Picture
from rookery.games.position import Seat
from rookery.search.analysis import Analysis, Line
from rookery.web.board import Board
from rookery.web.frame import link, plain_button
from rookery.web.games import offer_of, sides_of
from rookery.web.graph import Graph, MoveList
from rookery.web.keeping import keep, record_of
from rookery.web.opponents import Opponent
from rookery.web.panels import ValueBar
from rookery.web.replay_list import address_of
from rookery.web.replay_parts import LinesPart, named
from rookery.web.replays import Replay, Wanted
from rookery.web.session import GameSession, Plan, move_text
from rookery.web.side_lines import SideLines, cut
from rookery.web.site import Site, new_seed
from rookery.web.valuation import GRADES, Valuation

TICK = 0.2
PACES = {2.0: "2 s a move", 1.0: "1 s a move", 0.4: "0.4 s a move"}
KEYS = (
    "left, right or k, j: one move back, on", "up, down: first, last position", "p: play by itself, or stop",
    "f: turn the board, or look from the next seat", "l: evaluate the game, or stop", "z: hide all that was computed",
    "b, m, i: next blunder, mistake, inaccuracy", "Escape: from a side line back to the game", "?: this list",
)  # fmt: skip


TURNS = {"chess": "Flip", "texas42": "Next seat"}
"""games that look different from another seat, and what the button says"""


class ReplayPage:
    """One page that shows one game again."""

    def __init__(self, site: Site, visitor: str, replay: Replay, wanted: Wanted):
        self.site, self.visitor, self.replay, self.wanted = site, visitor, replay, wanted
        self.lines = SideLines(replay.session, site.beside.of(visitor, replay.entry.key))
        self.ply = self.session.ply
        self.viewer: Seat = 0
        self.valuation: Valuation | None = None
        self.wanted_values = self.evaluating = self.hidden = False
        self.build()
        self.refresh()
        ui.timer(TICK, self.tick)
        self.autoplay = ui.timer(1.0, lambda: self.step(1, by_itself=True), active=False, immediate=False)
        ui.context.client.on_delete(self.leave)
        background_tasks.create(self.fill_analysts())

    @property
    def session(self) -> GameSession:
        """The game, or the side line that is on the board."""
        return self.lines.session

    # -- building --

    def build(self) -> None:
        """Make the elements."""
        picture, game = self.picture(), self.session.game
        with ui.element("div").classes("status"):
            with ui.element("div").classes("back"):
                link("‹ All games", address_of(self.wanted), False)
            self.now = ui.label().classes("now").props('role="status" aria-live="polite"').mark("status")
            ui.label(self.told()).classes("who")
            ui.label(self.replay.reason).classes("small")
        with ui.element("div").classes("middle"):
            with ui.element("div").classes("side") as side:
                self.bar = ValueBar()
                with ui.element("div").classes("frame"):
                    self.board = Board(picture, self.ply, self.may_try(), offer_of(game).title, self.try_move)
            side.style(f"--ratio: {picture.width / picture.height:.3f}")
            self.build_tools()
            self.chips = LinesPart(self.lines, self.show_line)
            with ui.element("div").classes("under"):
                self.graph = Graph(sides_of(self.session.game), self.session.ply, self.jump)
        with ui.element("div").classes("panel"):
            self.build_evaluation()
            with ui.element("section").classes("card"):
                ui.html("<h2>Moves</h2>", sanitize=False)
                self.moves = MoveList(self.session.texts, self.jump).mark("moves")
            with ui.element("section").classes("card") as self.facts:
                self.notes = ui.label().classes("small").style("white-space: pre-line").mark("notes")
        ui.keyboard(on_key=self.key, ignore=["input", "select", "textarea"])

    def build_tools(self) -> None:
        """Make the row of buttons under the board."""
        with ui.element("div").classes("tools"):
            for text, label, does in (
                ("«", "First position", lambda: self.jump(0)), ("‹", "One move back", lambda: self.step(-1)),
                ("›", "One move on", lambda: self.step(1)), ("»", "Last position", lambda: self.jump(self.session.ply)),
            ):  # fmt: skip
                plain_button(text, does, label.replace(" ", "-").lower()).props(f'aria-label="{label}"')
            self.play_button = plain_button("Autoplay", self.switch_autoplay, "autoplay")
            self.pace = ui.select(PACES, value=1.0, on_change=self.set_pace)
            self.pace.props('dense outlined options-dense aria-label="Pace"')
            if (turn := TURNS.get(self.session.game.name)) is not None:
                plain_button(turn, self.flip, "flip")
            if self.session.game.information == "perfect":
                plain_button("Play on", self.play_on, "play-on").props('title="Play on from this position"')
            if self.replay.entry.source == "played here" and self.session.over:
                plain_button("Keep", self.keep, "keep").props('title="Put this game into the ledger"')

    def build_evaluation(self) -> None:
        """Make the part that asks for values and tells how far they are."""
        with ui.element("section").classes("card"):
            with ui.element("div").classes("heading"):
                ui.html("<h2>Evaluation</h2>", sanitize=False).style("flex: 1")
                self.switch = plain_button("Evaluate", self.switch_evaluation, "evaluate")
            self.analyst = ui.select([], on_change=self.other_analyst).props("dense outlined options-dense")
            self.analyst.classes("w-full").props('aria-label="Evaluation by"').mark("analyst")
            self.progress = ui.label("Off. Press l to switch it on.").classes("small number").mark("progress")
            self.costly = ui.label().classes("small number").mark("costly")
            self.better = ui.label().classes("small")
        self.show_analysts()

    async def fill_analysts(self) -> None:
        """Offer networks when they have been looked for."""
        await run.io_bound(self.site.look_for_opponents, self.session.game)
        self.show_analysts()

    def analysts(self) -> list[Opponent]:
        """List who can evaluate: those who tell values and have levels."""
        return [one for one in self.site.opponents(self.session.game) if len(one.levels) > 1]

    def show_analysts(self) -> None:
        """Show who can evaluate."""
        names = [one.name for one in self.analysts()]
        chosen = self.analyst.value if self.analyst.value in names else next(iter(names), None)
        self.analyst.set_options(names, value=chosen)

    # -- showing --

    def told(self) -> str:
        """Say who played what, and how it ended."""
        entry, sides = self.replay.entry, sides_of(self.session.game)
        players = [f"{side}: {player or '?'}" for side, player in zip(sides, entry.players, strict=True)]
        return f"{offer_of(self.session.game).title}, {entry.variant}. {'; '.join(players)}. {entry.result}"

    def picture(self) -> Picture:
        """Draw the position that is looked at."""
        return offer_of(self.session.game).draw(self.replay.scene(self.ply, self.viewer, self.session))

    def sit_down(self) -> bool:
        """Who tries moves where tiles are hidden sees those of whoever is to play; return whether the seat changed."""
        position, before = self.session.positions[self.ply], self.viewer
        if self.lines.current is not None and self.session.game.information == "hidden" and not position.over:
            self.viewer = position.mover
        return self.viewer != before

    def may_try(self) -> bool:
        """Tell whether moves can be tried on the board."""
        return self.replay.is_open and not self.session.positions[self.ply].over

    def refresh(self) -> None:
        """Show the position that is looked at in all views."""
        turned = self.sit_down()
        picture = self.picture()
        if turned:
            self.board.show(picture, self.ply, self.may_try())  # also what else never changes
        self.now.text = self.where()
        self.facts.set_visibility(bool(picture.notes))
        self.notes.text = "\n".join(picture.notes)
        self.graph.go(self.ply, self.moves, self.board, picture, self.show_value(picture), self.may_try())

    def where(self) -> str:
        """Say which position it is."""
        text = f"Move {self.ply} of {self.session.ply}"
        if self.lines.current is not None and self.ply > self.lines.current.begin:
            return f"Side line, move {self.ply} of {self.session.ply}: {self.session.texts[self.ply - 1]}"
        if self.ply == 0:
            return f"{text}: the start"
        opening = ", opening" if self.ply <= self.replay.opening else ""
        return f"{text}: {self.session.texts[self.ply - 1]}{opening}"

    def show_value(self, picture: Picture) -> list[dict[str, Any]]:
        """Show what the position is worth, and what would have been better; return marks for the board."""
        judged = self.valuation.judged if self.valuation and not self.hidden else {}
        here, before = judged.get(self.ply), judged.get(self.ply - 1)
        self.bar.show(None if here is None else here.value, sides_of(self.session.game)[0])
        best = here.best if here is not None else None
        shown = Analysis(best, 0.0, (Line(best, here.value),), 1) if here is not None and best is not None else None
        self.better.text = ""
        if before is not None and before.best is not None and before.best != self.session.actions[self.ply - 1]:
            text = move_text(self.session.positions[self.ply - 1], before.best)
            lost = self.valuation.losses(self.replay.opening).get(self.ply - 1) if self.valuation else None
            self.better.text = f"Instead: {text}" + (f" (this move lost {lost:.2f})" if lost else "")
        return [{**mark, "text": ""} for mark in marks_of(picture, shown)] if shown else []

    def show_graph(self) -> None:
        """Draw the values that are known and mark the costly moves, on the board too."""
        valuation = None if self.hidden else self.valuation
        grades = valuation.grades(self.replay.opening) if valuation else {}
        values = valuation.values() if valuation else [None] * (self.session.ply + 1)
        marks = {ply + 1: grade for ply, grade in grades.items()}
        self.graph.show(values, marks)
        self.moves.grade(marks)
        counts = [(name, sum(grade == name for grade in grades.values())) for name, _ in GRADES]
        self.costly.text = ", ".join(f"{count} {named(name, count)}" for name, count in counts) if valuation else ""
        self.board.point_out(self.show_value(self.picture()))

    def show_line(self, ply: int) -> None:
        """Turn to a position of another line, with all that belongs to it."""
        self.ply, current = ply, self.lines.current
        self.set_autoplay(False)
        self.moves.tell(self.session.texts, self.session.ply if current is None else current.begin)
        if self.valuation is not None:
            before = self.valuation
            before.pause()
            self.valuation = self.site.valuation(replace(self.replay, session=self.session), before.text)
            self.valuation.learn(before)
            self.set_evaluating(self.wanted_values and bool(self.valuation.missing))
        self.chips.show()
        self.show_graph()
        self.refresh()

    # -- the timer --

    def tick(self) -> None:
        """Have the evaluation go on, and show what is new."""
        valuation = self.valuation
        if valuation is None or not self.evaluating:
            return
        if valuation.advance(self.site.host.desk):
            self.show_graph()
        left, all_plies = len(valuation.missing), self.session.ply + 1
        if valuation.failure:
            self.progress.text = f"No values: {valuation.failure}"
        elif left:
            place = self.site.host.desk.place_of(valuation.stretch) if valuation.stretch else 0
            waits = f", {place} before it" if place else ""
            self.progress.text = f"{all_plies - left} of {all_plies} positions by {valuation.text}{waits}."
        else:
            self.progress.text = f"All {all_plies} positions by {valuation.text}."
            self.set_evaluating(False)

    # -- what the visitor does --

    def try_move(self, action: Any, ply: Any) -> None:
        """Try a move on the board; one that was made there leads on, any other begins a side line."""
        after = self.lines.play(action, ply) if self.may_try() and ply == self.ply else None
        if after is None:
            self.board.refuse()
        else:
            self.show_line(after)

    def play_on(self) -> None:
        """Begin a game from the position on the board, for whoever is to move there."""
        if self.session.positions[self.ply].over:
            ui.notify("The game is over in this position. Go back some moves.")
            return
        session, plan = cut(self.session, self.ply), self.replay.session.plan
        usual = self.site.opponents(session.game)[0]
        opponent = plan.opponent or usual.text(usual.usual)
        session.plan = Plan(plan.spec, frozenset([session.position.mover]), opponent, new_seed(), plan.start)
        kept = self.site.store.add(self.visitor, session)
        self.site.store.change(kept)
        ui.navigate.to(f"/play/{session.game.name}?game={kept.id}")

    async def keep(self) -> None:
        """Put the game into the ledger and turn to it there."""
        try:
            record = record_of(self.replay.session, self.replay.entry.key)
            number = await run.io_bound(keep, self.site.ledger, record)
        except (BadInput, OSError) as error:
            ui.notify(str(error), type="negative")
            return
        if number is not None:
            ui.navigate.to(address_of(self.wanted, f"l{number}"))

    def jump(self, ply: Any) -> None:
        """Look at a position."""
        if isinstance(ply, int):
            ply = max(0, min(ply, self.session.ply))
            if ply != self.ply:
                self.ply = ply
                self.refresh()

    def step(self, by: int, by_itself: bool = False) -> None:
        """Look at the position before or after; a hand on the buttons ends autoplay."""
        if self.autoplay.active and (not by_itself or self.ply + by >= self.session.ply):
            self.set_autoplay(False)
        self.jump(self.ply + by)

    def switch_autoplay(self) -> None:
        """Let the game play by itself, from the start if it is at its end, or stop it."""
        on = not self.autoplay.active
        if on and self.ply == self.session.ply:
            self.jump(0)
        self.set_autoplay(on)

    def set_autoplay(self, on: bool) -> None:
        """Start or stop autoplay."""
        self.autoplay.active = on
        self.play_button.classes(add="on" if on else "", remove="" if on else "on")
        self.play_button.props(f'aria-pressed="{str(on).lower()}"')

    def set_pace(self) -> None:
        """Take another pace."""
        if self.pace.value in PACES:
            self.autoplay.interval = float(self.pace.value)

    def flip(self) -> None:
        """Turn the board, or look from the next seat."""
        if self.session.game.name in TURNS:
            self.viewer = (self.viewer + 1) % self.session.game.seats
            self.board.show(self.picture(), self.ply, self.may_try())
            self.refresh()

    def switch_evaluation(self) -> None:
        """Have the game evaluated, or stop that; what is known stays."""
        chosen = next((one for one in self.analysts() if one.name == self.analyst.value), None)
        if not self.replay.is_open or chosen is None:
            self.progress.text = "Hidden tiles: this hand is evaluated when it is over." if chosen else "Nobody can."
            return
        self.hidden, self.wanted_values = False, not self.evaluating
        if not self.evaluating:
            line = replace(self.replay, session=self.session)
            self.valuation = self.site.valuation(line, chosen.text(chosen.usual))
            self.valuation.failure = ""
            self.show_graph()
        self.set_evaluating(not self.evaluating)

    def set_evaluating(self, on: bool) -> None:
        """Start or stop the work."""
        self.evaluating = on
        self.switch.classes(add="on" if on else "", remove="" if on else "on")
        self.switch.props(f'aria-pressed="{str(on).lower()}"')
        if not on and self.valuation is not None:
            self.valuation.pause()

    def other_analyst(self) -> None:
        """Begin anew with another player."""
        if self.valuation is not None:
            self.set_evaluating(False)
            self.switch_evaluation()

    def hide_help(self) -> None:
        """Hide everything that was computed."""
        self.set_evaluating(False)
        self.hidden, self.wanted_values = True, False
        self.progress.text = "Hidden. Press l to show it."
        self.show_graph()

    def next_costly(self, grade: str) -> None:
        """Go to the next move of a grade, after the last to the first."""
        grades = self.valuation.grades(self.replay.opening) if self.valuation and not self.hidden else {}
        plies = sorted(ply + 1 for ply, name in grades.items() if name == grade)
        if plies:
            self.jump(next((ply for ply in plies if ply > self.ply), plies[0]))

    def key(self, event: KeyEventArguments) -> None:
        """Hear a key."""
        if not event.action.keydown or event.modifiers.ctrl or event.modifiers.alt or event.modifiers.meta:
            return
        does: dict[str, Callable[[], Any]] = {
            "ArrowLeft": lambda: self.step(-1), "k": lambda: self.step(-1), "ArrowRight": lambda: self.step(1),
            "j": lambda: self.step(1), "ArrowUp": lambda: self.jump(0),
            "ArrowDown": lambda: self.jump(self.session.ply),
            "p": self.switch_autoplay, "f": self.flip, "l": self.switch_evaluation, "z": self.hide_help,
            "b": lambda: self.next_costly("blunder"), "m": lambda: self.next_costly("mistake"),
            "i": lambda: self.next_costly("inaccuracy"),
            "Escape": self.chips.leave,
            "?": lambda: ui.notify("\n".join(KEYS), multi_line=True, classes="multi"),
        }  # fmt: skip
        if (action := does.get(event.key.name)) is not None:
            action()

    def leave(self) -> None:
        """End the work when the page is gone."""
        if self.valuation is not None:
            self.valuation.pause()
