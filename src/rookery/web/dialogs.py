"""The dialogs of the page of a game: a new game, and the game as text."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import run, ui

from rookery.errors import BadInput
from rookery.games.library import load
from rookery.web.frame import plain_button
from rookery.web.games import Offer, offer_of
from rookery.web.session import GameSession, Plan
from rookery.web.sharing import position_text, read_shared, shared_text
from rookery.web.site import new_seed

ALL_SEATS, NO_SEAT = "Both sides (two people, one screen)", "Nobody: watch"
KEYS = (
    "left, right: one move back or on", "up, down: first and last position", "u: undo", "h: hint", "n: new game",
    "f: turn the board", "l: analysis on or off", "z: hide all that was computed",
    "on the board: Tab, then arrows and Enter; Escape lets go", "?: this list",
)  # fmt: skip
LONGEST_COMPLAINT = 300
"""signs; a complaint repeats what it is about"""
COPY = "() => navigator.clipboard && navigator.clipboard.writeText(getElement({}).$el.querySelector('textarea').value)"
"""browsers lend the clipboard only to pages of the same machine or with a certificate"""


class NewGame:
    """Asks for the variant, the side and where to begin."""

    def __init__(self, offer: Offer, opponent: Callable[[str], str], on_start: Callable[[GameSession], None]):
        """Build the dialog; `opponent` returns the usual opponent of a game's spec."""
        self.offer, self.opponent, self.on_start = offer, opponent, on_start
        with ui.dialog() as self.dialog, ui.card().classes("sheet"):
            ui.html(f"<h1>New game of {offer.title}</h1>", sanitize=False)
            variants = list(offer.variants)
            self.variant = ui.select(variants, value=variants[0], label="Variant").classes("w-full")
            seats = self.seats()
            self.side = ui.select(seats, value=seats[offer.seat], label="You play").classes("w-full")
            self.practice = ui.checkbox("Moves may be taken back", value=True)
            self.text = ui.textarea("Begin from (optional): a position, or a shared game").classes("w-full")
            self.text.mark("begin")
            self.complaint = ui.label().classes("bad").mark("complaint")
            with ui.element("div").classes("tools"):
                plain_button("Start", self.start, "start").classes("on")
                plain_button("Cancel", self.dialog.close)

    def seats(self) -> list[str]:
        """List what a visitor can be."""
        game = load(self.offer.spec)
        both = [ALL_SEATS] if game.information == "perfect" else []
        return [*(game.seat_name(seat) for seat in range(game.seats)), *both, NO_SEAT]

    def people(self) -> frozenset[int]:
        """Return the seats the visitor wants."""
        game, side = load(self.offer.spec), self.side.value
        named = [seat for seat in range(game.seats) if game.seat_name(seat) == side]
        if side == NO_SEAT:
            return frozenset()
        if side == ALL_SEATS:
            return frozenset(range(game.seats))
        if not named:  # a browser may send what is not in the list, or nothing
            names = ", ".join(game.seat_name(seat) for seat in range(game.seats))
            raise BadInput(f"{side!r} is no side; there are {names}")
        return frozenset(named)

    def open(self) -> None:
        """Show the dialog."""
        self.complaint.text = ""
        self.dialog.open()

    async def start(self) -> None:
        """Begin what was asked for, or say why not; a long game takes a while to be played again."""
        try:
            session = await run.io_bound(self.session)
        except BadInput as error:
            told = str(error)
            self.complaint.text = told if len(told) <= LONGEST_COMPLAINT else told[:LONGEST_COMPLAINT] + " ..."
            return
        if session is not None:  # None: the server is about to end
            self.dialog.close()
            self.on_start(session)

    def session(self) -> GameSession:
        """Make the game; BadInput if a text is wrong."""
        spec = self.offer.variants.get(self.variant.value, self.offer.spec)
        start, actions, given = "", list[int](), str(self.text.value or "").strip()
        if given:
            game, start, actions = read_shared(given, load(spec), self.offer.variants.values())
            spec = game.spec
        plan = Plan(spec, self.people(), self.opponent(spec), new_seed(), start, bool(self.practice.value))
        return GameSession(plan, actions)


class Share:
    """Shows the game as text, to be copied or saved."""

    def __init__(self) -> None:
        with ui.dialog() as self.dialog, ui.card().classes("sheet"):
            ui.html("<h1>This game as text</h1>", sanitize=False)
            ui.label("Paste it under New game to go on from there.").classes("small")
            self.text = ui.textarea("The game").props("readonly autogrow").classes("w-full").mark("shared")
            self.position = ui.textarea("The position alone").props("readonly autogrow").classes("w-full")
            self.position.mark("shared-position")
            with ui.element("div").classes("tools"):
                copy = ui.element("button").classes("plain").props('type="button"').mark("copy")
                copy.on("click", js_handler=COPY.format(self.text.id))
                with copy:
                    ui.label("Copy")
                plain_button("Save as a file", self.save)
                plain_button("Close", self.dialog.close)
        self.name = "game.txt"

    def open(self, session: GameSession) -> None:
        """Show a game."""
        self.text.value, self.position.value = shared_text(session), position_text(session)
        self.position.props["label"] = (
            "The position alone (FEN)" if session.game.name == "chess" else "The position alone"
        )
        self.name = f"{session.game.name}.{'pgn' if session.game.name == 'chess' else 'txt'}"
        self.dialog.open()

    def save(self) -> None:
        """Hand the text to the browser as a file."""
        ui.download.content(str(self.text.value), self.name)


def title_of(session: GameSession) -> str:
    """Name a game for people."""
    offer = offer_of(session.game)
    known = next((name for name, spec in offer.variants.items() if spec == session.plan.spec), "")
    return f"{offer.title}, {known or session.game.label}"
