"""The list of games that can be looked at again: filters, the games, and a file to be loaded.

Filters are in the address, so a list can be gone back to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from nicegui import run, ui

from rookery.errors import BadInput
from rookery.web.foreign import LARGEST_ARCHIVE
from rookery.web.found import MOST_GAMES
from rookery.web.frame import link, plain_button
from rookery.web.games import OFFERS
from rookery.web.loading import games_of
from rookery.web.replays import RESULTS, Entry, Wanted
from rookery.web.site import Site

ALL = "all"
SAID = {ALL: "Any result", "first": "1 - 0", "second": "0 - 1", "draw": "Draw", "open": "Not over"}
ENDINGS = ".pgn,.psq,.npz,.txt,.json,.jsonl,.text,text/*,application/json"
LONGEST_PLAYER = 80  # signs of the filter


def wanted_of(game: str, player: str, result: str, page: str) -> Wanted:
    """Read filters from an address; what is not known filters nothing."""
    number = int(page) if page.isdecimal() and len(page) < 7 else 0
    return Wanted(
        game if game in OFFERS else "", player[:LONGEST_PLAYER], result if result in (*RESULTS, "open") else "", number
    )


def address_of(wanted: Wanted, key: str = "") -> str:
    """Return the address of a list with a game beside it."""
    said = {"of": wanted.game, "player": wanted.player, "result": wanted.result, "page": wanted.page or "", "game": key}
    query = urlencode({name: value for name, value in said.items() if value})
    return f"/replay?{query}" if query else "/replay"


class GameList:
    """The list beside the board."""

    def __init__(self, site: Site, visitor: str, wanted: Wanted, entries: Sequence[Entry], more: bool, key: str):
        self.site, self.visitor, self.wanted = site, visitor, wanted
        with ui.element("section").classes("list").props('aria-label="Games"'):
            self.build_filters()
            with ui.element("div").classes("entries").mark("entries"):
                for entry in entries:
                    entry_link(entry, address_of(wanted, entry.key), entry.key == key)
                if not entries:
                    ui.label(self.nothing()).classes("small")
            self.build_pages(more)
            plain_button("Load a file", self.open_dialog, "load")
        self.build_dialog()

    def build_filters(self) -> None:
        """Make the filters."""
        games = {ALL: "All games"} | {name: offer.title for name, offer in OFFERS.items()}
        wanted = self.wanted
        with ui.element("div").classes("filters"):
            self.game = ui.select(games, value=wanted.game or ALL, on_change=self.filter)
            self.game.props('dense outlined options-dense aria-label="Game"').mark("of-game")
            self.result = ui.select(SAID, value=wanted.result or ALL, on_change=self.filter)
            self.result.props('dense outlined options-dense aria-label="Result"').mark("of-result")
            self.player = ui.input(placeholder="Player", value=wanted.player).on("keydown.enter", self.filter)
            self.player.props('dense outlined aria-label="Player" debounce=0').mark("of-player").on("blur", self.filter)

    def filter(self) -> None:
        """Show the list that is wanted now."""
        wanted = wanted_of(str(self.game.value), str(self.player.value or ""), str(self.result.value), "0")
        if wanted != Wanted(self.wanted.game, self.wanted.player, self.wanted.result):
            ui.navigate.to(address_of(wanted))

    def nothing(self) -> str:
        """Say why there are no games and where to get some."""
        if self.wanted == Wanted():
            return "No games yet. Play one here, load a file, or fill the ledger with `rookery match`."
        return "No games like that."

    def build_pages(self, more: bool) -> None:
        """Lead to the other pages of the list."""
        wanted = self.wanted
        with ui.element("nav").classes("games").props('aria-label="Pages of the list"'):
            for text, page in (("Newer", wanted.page - 1), ("Older", wanted.page + 1)):
                if (page >= 0 and page < wanted.page) or (page > wanted.page and more):
                    link(text, address_of(Wanted(wanted.game, wanted.player, wanted.result, page)), False)

    # -- files --

    def build_dialog(self) -> None:
        """Make the dialog that asks for a file."""
        with ui.dialog() as self.dialog, ui.card().classes("sheet"):
            ui.html("<h1>Load a file</h1>", sanitize=False)
            ui.label(
                "Chess: PGN. Gomoku: PSQ of Piskvork and Gomocup, json. Domineering: NPZ of the study. "
                "Texas 42: JSON lines. All games: text and json of `rookery export`, what Share wrote, saved games. "
                f"The first {MOST_GAMES} games of a file are read. They stay until the server ends."
            ).classes("small")
            upload = ui.upload(
                label="Choose a file, or drop it here", auto_upload=True, max_files=1, max_file_size=LARGEST_ARCHIVE,
                on_upload=self.loaded, on_rejected=self.too_large,
            )  # fmt: skip
            upload.classes("w-full").props(f'accept="{ENDINGS}" flat').mark("upload")
            self.complaint = ui.label().classes("bad").mark("complaint")
            plain_button("Close", self.dialog.close)

    def open_dialog(self) -> None:
        """Ask for a file."""
        self.complaint.text = ""
        self.dialog.open()

    def too_large(self) -> None:
        """Say why a file was not taken."""
        self.complaint.text = f"Files of up to {LARGEST_ARCHIVE // 1_000_000} MB are read."

    async def loaded(self, event: Any) -> None:
        """Read a file and show its first game, or say what is wrong with it."""
        if event.file.size() > LARGEST_ARCHIVE:  # what the browser was told need not be what it does
            self.too_large()
            return
        try:
            found = await run.io_bound(games_of, await event.file.read()) or []
        except BadInput as error:
            event.sender.reset()
            self.complaint.text = str(error)[:500]
            return
        ui.navigate.to(address_of(Wanted(), self.site.loaded.add(self.visitor, found)))


def entry_link(entry: Entry, target: str, here: bool) -> None:
    """Put a game into the list."""
    made = ui.element("a").classes("entry here" if here else "entry")
    made._props["href"] = target
    if here:
        made.props('aria-current="true"')
    with made:
        with ui.element("div").classes("line"):
            ui.label(OFFERS[entry.game].title).style("font-weight: 600")
            ui.label(entry.result)
        ui.label(" – ".join(player or "?" for player in entry.players))
        with ui.element("div").classes("line small"):
            ui.label(f"{entry.variant}, {entry.plies} moves")
            ui.label(f"{entry.source} {entry.date}")
