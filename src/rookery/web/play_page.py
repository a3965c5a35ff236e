"""The page of a game: the board, whose turn it is, tools, and the panels beside it.

The pulse of the server drives everything: it lets the opponent move, reads what searches have found, and so renews
their leases. A page that is gone has left the pulse, and what was searched for it ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from nicegui import background_tasks, run, ui
from nicegui.events import KeyEventArguments

from rookery.arena.marks import marks_of
from rookery.games.library import load
from rookery.games.pictures.scene import Picture
from rookery.games.texas42 import record
from rookery.search.analysis import Analysis, Line
from rookery.web.board import Board
from rookery.web.dialogs import KEYS, NewGame, Share, title_of
from rookery.web.findings import best_line, rows_of, value_for
from rookery.web.frame import link, plain_button
from rookery.web.games import OFFERS, offer_of
from rookery.web.looking import Looking
from rookery.web.panels import AnalysisPanel, OpponentPanel, Space, ValueBar
from rookery.web.reckoning import can_be_reckoned
from rookery.web.session import NOBODY, GameSession, move_text
from rookery.web.site import Site
from rookery.web.store import Kept
from rookery.web.thinking import Thought
from rookery.web.told import Clock, Played, tell
from rookery.web.worths import Worth, worths_svg

BUTTON_ROW, BUTTONS_IN_ROW = 44, 8  # pixels of a row of buttons under the board; how many fit into it


class PlayPage:
    """One page that shows one game."""

    def __init__(self, site: Site, kept: Kept):
        self.site, self.kept = site, kept
        self.version = kept.version
        self.view: int | None = None  # ply that is looked at; None: the newest
        self.turned = False
        self.space: Space | None = None  # of Pylos
        self.analysing = False
        self.looking = Looking(site, kept.visitor)
        self.new_game: NewGame | None = None  # dialogs are built when they are first opened
        self.share: Share | None = None
        self.sent: tuple[Analysis, tuple[str, ...], tuple[Worth, ...], bool] | None = None
        self.client = ui.context.client
        self.build()
        self.refresh()
        self.client.on_connect(self.arrive)
        self.client.on_disconnect(lambda: site.pulse.leave(self))
        self.client.on_delete(self.leave)
        if self.client.has_socket_connection:  # the page was built after its socket, while something was compiled
            self.arrive()
        background_tasks.create(self.fill_opponents())

    def arrive(self) -> None:
        """Look after the game from now on; what a browser was told by methods is gone when it has loaded again."""
        self.site.pulse.join(self, self.tick)
        if self.space is not None:
            self.space.begin()

    def leave(self) -> None:
        """End everything that was done for this page."""
        self.site.pulse.leave(self)
        self.looking.leave()

    # -- building --

    @property
    def session(self) -> GameSession:
        """The game that is shown."""
        return self.kept.session

    def build(self) -> None:
        """Make the elements."""
        offer = offer_of(self.session.game)
        with ui.element("nav").classes("games").props('aria-label="Games"'):
            for name, other in OFFERS.items():
                link(other.title, f"/play/{name}", other is offer)
        picture = self.picture()
        with ui.element("main").classes("table"):
            with ui.element("div").classes("status"):
                self.now = ui.label().classes("now").props('role="status" aria-live="polite"').mark("status")
                self.who = ui.label().classes("who")
                self.clock = Clock([self.session.game.seat_name(seat) for seat in range(self.session.game.seats)])
                self.trouble = ui.label().classes("bad").mark("trouble")
                self.retry_button = plain_button("Try again", self.retry, "retry")
            with ui.element("div").classes("middle"):
                with ui.element("div").classes("side") as self.side:
                    self.bar = ValueBar()
                    with ui.element("div").classes("frame"):
                        active = self.session.persons_turn
                        self.board = Board(picture, self.session.ply, active, offer.title, self.play)
                self.build_tools()
            with ui.element("div").classes("panel"):
                self.opponent = OpponentPanel(self.other_opponent)
                self.analysis = AnalysisPanel(self.switch_analysis, self.looking.stop_analysis)
                with ui.element("section").classes("card") as self.facts:
                    self.notes = ui.label().classes("small").style("white-space: pre-line").mark("notes")
                    self.costs = ui.label().classes("table-text").mark("costs")
                with ui.element("section").classes("card"):
                    ui.html("<h2>Moves</h2>", sanitize=False)
                    self.moves = Played(self.look_back).mark("moves")
        self.side.style(f"--ratio: {picture.width / picture.height:.3f}")
        ui.keyboard(on_key=self.key, ignore=["input", "select", "textarea"])
        self.show_opponents()

    def build_tools(self) -> None:
        """Make the row of buttons under the board."""
        with ui.element("div").classes("tools"):
            self.undo_button = plain_button("Undo", self.undo, "undo")
            self.hint_button = plain_button("Hint", self.hint, "hint")
            self.resign_button = plain_button("Resign", self.resign, "resign")
            self.cost_button = plain_button("What did it cost?", lambda: self.looking.reckon(self.session), "cost")
            plain_button("New game", self.open_new_game, "new")
            plain_button("Share", self.open_share, "share")
            if self.session.game.name == "chess":
                plain_button("Flip", self.flip, "flip")
            if self.session.game.name == "pylos":
                self.space = Space(self.board, self.now.set_text)
            plain_button("‹", lambda: self.step(-1)).props('aria-label="One move back"')
            plain_button("›", lambda: self.step(1)).props('aria-label="One move on"')

    async def fill_opponents(self) -> None:
        """Show networks and ratings when they have been looked for."""
        await run.io_bound(self.site.look_for_opponents, self.session.game)
        self.show_opponents()

    def show_opponents(self) -> None:
        """Show whom one can play."""
        game = self.session.game
        ratings = self.site.ratings.get(game.spec, {})
        self.opponent.offer(self.site.opponents(game), ratings, self.session.plan.opponent)
        self.analysis.offer(self.site.opponents(game))

    def usual_opponent(self, spec: str) -> str:
        """Return who plays a new game: the present opponent if it is of the same kind, else the usual one."""
        if spec == self.session.game.spec:
            return self.session.plan.opponent
        usual = self.site.opponents(load(spec))[0]
        return usual.text(usual.usual)

    # -- showing --

    @property
    def shown_ply(self) -> int:
        """The ply that is looked at."""
        return self.session.ply if self.view is None else min(self.view, self.session.ply)

    def picture(self) -> Picture:
        """Draw what is looked at."""
        session = self.session
        viewer = session.viewer
        if self.turned and session.game.name == "chess":
            viewer = 1 - viewer
        return offer_of(session.game).draw(session.scene(self.shown_ply, viewer))

    def refresh(self) -> None:
        """Show the game as it is now."""
        session, picture = self.session, self.picture()
        self.version = self.kept.version
        live = self.shown_ply == session.ply
        tell(self.client, (
            self.board.showing(picture, session.ply, live and session.persons_turn, []),
            self.moves.showing(session.texts, self.shown_ply),
            self.clock.showing(session.seconds, NOBODY if session.over else session.mover),
        ))  # fmt: skip
        buttons = sum(not way.path for way in picture.ways) if live and session.persons_turn else 0
        self.side.style(f"--below: {BUTTON_ROW * math.ceil(buttons / BUTTONS_IN_ROW)}px")
        self.now.text = session.status() if live else f"After move {self.shown_ply} of {session.ply}"
        self.who.text = self.seats_text()
        self.unsaved = self.site.store.trouble
        self.trouble.text = self.trouble_text()
        self.retry_button.set_visibility(bool(self.kept.trouble))
        self.facts.set_visibility(bool(picture.notes))
        self.notes.text = "\n".join(picture.notes)
        self.costs.text = ""
        enable(self.undo_button, session.may_undo())
        enable(self.hint_button, session.persons_turn and live)
        self.cost_button.set_visibility(can_be_reckoned(session))
        enable(self.resign_button, not session.over and bool(session.plan.people))
        self.sent = None

    def trouble_text(self) -> str:
        """Say what is wrong, if something is."""
        told = [f"The opponent cannot go on: {self.kept.trouble}." if self.kept.trouble else ""]
        told.append(self.unsaved)
        return " ".join(part for part in told if part)

    def seats_text(self) -> str:
        """Say who plays what."""
        session = self.session
        names = [session.game.seat_name(seat) for seat in sorted(session.plan.people)]
        if len(names) == session.game.seats:
            return f"{title_of(session)}. You play all sides."
        return f"{title_of(session)}. You are {' and '.join(names)}." if names else f"{title_of(session)}. You watch."

    # -- the pulse --

    def tick(self) -> None:
        """Let the opponent move, and show what has changed."""
        self.site.host.advance(self.kept)
        if self.version != self.kept.version:
            self.view = None
            self.refresh()
        elif self.unsaved != self.site.store.trouble:
            self.refresh()
        self.site.store.try_again()
        self.show_hint()
        self.show_analysis()
        self.show_reckoning()

    def show_hint(self) -> None:
        """Mark a hint on the board once it is there."""
        thought = self.looking.take_hint()
        if thought is None or len(thought.actions) != self.session.ply or self.view is not None:
            return
        if thought.failure or thought.choice is None:
            self.now.text = f"No hint: {thought.failure}"
            return
        action, found = thought.choice.action, thought.choice.analysis
        lines = tuple(line for line in found.lines if line.action == action) if found else ()
        self.now.text = f"Hint: {move_text(thought.seen, action)}"
        self.board.point_out(marks_of(self.picture(), Analysis(action, 0.0, lines or (Line(action, 0.0),), 1)))

    def show_analysis(self) -> None:
        """Have the position that is looked at analysed, and show what is known by now."""
        if not self.analysing:
            return
        about = (self.kept.id, self.kept.version, self.shown_ply)
        look = self.looking.analyse(self.session, self.shown_ply, str(self.analysis.analyst.value), about)
        if look is None:
            self.analysis.show([], "", "Nothing to analyse here.")
            return
        found = look.read()
        if look.failure:
            self.analysis.show([], "", f"No analysis: {look.failure}")
        elif found is None:
            place = self.site.host.desk.place_of(look)
            self.analysis.show([], "", f"Waiting: {place} before it." if place else "Thinking.")
        elif (found, look.lines, look.worths, look.ended.is_set()) != self.sent:
            self.sent = (found, look.lines, look.worths, look.ended.is_set())
            self.show_found(look, found)

    def show_found(self, look: Thought, found: Analysis) -> None:
        """Show what a search has found so far."""
        seen, name = look.seen, self.session.game.seat_name(self.session.viewer)
        told = f"{look.by or 'Search'}: {found.note or f'{found.nodes:,} nodes'}"
        told += f", depth {found.depth}" if found.depth else ""
        told += "." if look.ended.is_set() else ", going on."
        if look.worths:
            self.analysis.show([], "", told, drawing=worths_svg(look.worths))
        else:
            self.analysis.show(rows_of(seen, found), best_line(seen, found), told, "\n".join(look.lines))
        self.board.point_out(marks_of(self.picture(), found))
        self.bar.show(value_for(seen, found, self.session.viewer), name)

    def show_reckoning(self) -> None:
        """Show how far the reckoning is, and what came out."""
        work = self.looking.reckoning
        if work is None:
            return
        work.read()
        if not work.ended.is_set():
            self.now.text = f"What did the plays cost? {work.done} of {len(record(work.position))} looked at."
            return
        self.looking.reckoning = None
        self.now.text = work.failure or self.session.status()
        self.costs.text = "\n".join(work.lines)

    # -- what the visitor does --

    def play(self, action: Any, ply: Any) -> None:
        """Make a move on the board."""
        if self.view is not None or not self.site.host.play(self.kept, action, ply):
            self.board.refuse()
            return
        self.after_change()

    def after_change(self) -> None:
        """Show a change and let the opponent begin at once."""
        self.view = None
        self.looking.drop_hint()
        self.refresh()
        self.site.host.advance(self.kept)

    def undo(self) -> None:
        """Take a move back."""
        if self.site.host.undo(self.kept):
            self.after_change()

    def resign(self) -> None:
        """Give up."""
        if self.site.host.resign(self.kept):
            self.after_change()

    def retry(self) -> None:
        """Ask an opponent again that has failed."""
        if self.site.host.retry(self.kept):
            self.after_change()

    def hint(self) -> None:
        """Ask for a good move."""
        if self.looking.ask_hint(self.session):
            self.now.text = "Looking for a hint."

    def other_opponent(self, text: str) -> None:
        """Let another player go on."""
        if self.site.host.seat_opponent(self.kept, text):
            self.after_change()

    def open_new_game(self) -> None:
        """Ask for a new game."""
        if self.new_game is None:
            with self.client.content:
                self.new_game = NewGame(offer_of(self.session.game), self.usual_opponent, self.begin)
        self.new_game.open()

    def open_share(self) -> None:
        """Show the game as text."""
        if self.share is None:
            with self.client.content:
                self.share = Share()
        self.share.open(self.session)

    def begin(self, session: GameSession) -> None:
        """Go to a new game."""
        kept = self.site.store.add(self.kept.visitor, session)
        self.site.store.change(kept)
        self.looking.leave()
        ui.navigate.to(f"/play/{session.game.name}?game={kept.id}")

    def flip(self) -> None:
        """Turn the board."""
        self.turned = not self.turned
        self.refresh()

    def look_back(self, ply: int) -> None:
        """Look at an earlier position, or at the newest again."""
        ply = max(0, min(ply, self.session.ply))
        self.view = None if ply == self.session.ply else ply
        self.refresh()

    def step(self, by: int) -> None:
        """Look at the position before or after."""
        self.look_back(self.shown_ply + by)

    def switch_analysis(self) -> None:
        """Switch the analysis on or off; off hides everything that was computed."""
        self.analysing = not self.analysing
        self.analysis.set_on(self.analysing)
        if not self.analysing:
            self.looking.stop_analysis()
            self.board.point_out([])
            self.bar.show(None)

    def hide_help(self) -> None:
        """Hide everything that was computed."""
        if self.analysing:
            self.switch_analysis()
        self.board.point_out([])

    def key(self, event: KeyEventArguments) -> None:
        """Hear a key."""
        if not event.action.keydown or event.modifiers.ctrl or event.modifiers.alt or event.modifiers.meta:
            return
        if any(sheet is not None and sheet.dialog.value for sheet in (self.new_game, self.share)):
            return  # what is behind a dialog hears nothing
        does: dict[str, Callable[[], Any]] = {
            "ArrowLeft": lambda: self.step(-1), "ArrowRight": lambda: self.step(1),
            "ArrowUp": lambda: self.look_back(0), "ArrowDown": lambda: self.look_back(self.session.ply),
            "u": self.undo, "h": self.hint, "n": self.open_new_game, "l": self.switch_analysis, "z": self.hide_help,
            "f": self.flip, "?": lambda: ui.notify("\n".join(KEYS), multi_line=True, classes="multi"),
        }  # fmt: skip
        if (action := does.get(event.key.name)) is not None:
            action()


def enable(button: ui.element, on: bool) -> None:
    """Let a button be pressed or not."""
    button.props(remove="disabled") if on else button.props("disabled")
