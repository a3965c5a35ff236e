"""The page of games that are looked at again: its address, the list, and beside it the game that was chosen."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import run, ui

from rookery.errors import BadInput
from rookery.web.frame import frame, style
from rookery.web.games import OFFERS
from rookery.web.replay_list import GameList, wanted_of
from rookery.web.replay_view import ReplayPage
from rookery.web.replays import Wanted, ledger_record, name_of, own_entries, own_game, page_of, replay_of
from rookery.web.site import Site


def build_replay(site: Site, visitor_id: Callable[[], str]) -> None:
    """Register the page."""

    @ui.page("/replay", title="Rookery: replay")
    async def replay(of: str = "", player: str = "", result: str = "", page: str = "", game: str = "") -> None:
        frame("Replay")
        ui.add_css(style("replay.css"))
        visitor, wanted = visitor_id(), wanted_of(of, player, result, page)
        own = own_entries(site.store, site.loaded, visitor, wanted)
        entries, more = await run.io_bound(page_of, own, site.ledger, wanted) or ([], False)
        key = game or (entries[0].key if entries else "")
        with ui.element("main").classes("replay").classes("chosen" if game else "unchosen"):
            GameList(site, visitor, wanted, entries, more, key)
            place = ui.element("div").classes("table")
        if not key:
            with place:
                ui.label("Choose a game, or load a file.").classes("note")
            return
        await show_game(site, visitor, wanted, key, place)


async def show_game(site: Site, visitor: str, wanted: Wanted, key: str, place: ui.element) -> None:
    """Show a game once its rules are there, or why it cannot be shown."""
    with place:
        note = ui.label("Getting the game ready.").classes("note")
    found, trouble = None, "There is no such game here."
    try:
        record = await run.io_bound(ledger_record, site.ledger, key)
        name = record.game.partition(":")[0] if record else name_of(site.store, visitor, key)
        if name in OFFERS and name not in site.prepared:  # playing it again needs the rules, which may be compiled now
            await ui.context.client.connected()
            await run.io_bound(site.prepare, name)
        if record is not None:
            found = await run.io_bound(replay_of, record, key)
        else:
            found = own_game(site.store, site.loaded, visitor, key)
    except (BadInput, OSError) as error:
        trouble = f"This game cannot be shown: {error}"
    if found is None:
        note.text = trouble
        return
    note.delete()
    with place:
        ReplayPage(site, visitor, found, wanted)
