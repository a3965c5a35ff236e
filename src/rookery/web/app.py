"""The app: which address leads to which page, and how the server is started.

Importing this module imports NiceGUI; only `rookery serve` and tests do.
"""

from __future__ import annotations

import logging
import threading

from nicegui import Client, app, core, run, ui
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from rookery.web.arena_page import ArenaPage
from rookery.web.frame import frame, link
from rookery.web.games import OFFERS
from rookery.web.guard import Guard
from rookery.web.play_page import PlayPage
from rookery.web.replay_page import build_replay
from rookery.web.site import Site
from rookery.web.socket import Gate, Seldom
from rookery.web.studies_page import build_studies
from rookery.web.training_page import TrainingPage

FIRST_GAME = "gomoku"
RECONNECT = 12.0
"""seconds for which a page waits for its browser: phones that sleep and busy machines need some. Searches end sooner"""
log = logging.getLogger("rookery.web")


def visitor_id() -> str:
    """Return the id of the browser that asks, from its signed cookie."""
    return str(app.storage.browser["id"])


def build(site: Site) -> None:
    """Register the pages."""

    @ui.page("/", title="Rookery")
    @ui.page("/play", title="Rookery: play")
    async def index() -> None:
        newest = site.store.newest(visitor_id())
        await game_page(site, *(newest or (FIRST_GAME, "")))

    @ui.page("/play/{name}", title="Rookery: play")
    async def play(name: str, game: str = "") -> None:
        await game_page(site, name, game)

    @ui.page("/arena", title="Rookery: arena")
    async def arena() -> None:
        frame("Arena")
        ArenaPage(site, visitor_id())

    @ui.page("/training", title="Rookery: training")
    def training() -> None:
        frame("Training")
        TrainingPage(site, visitor_id())

    build_replay(site, visitor_id)
    build_studies(site)
    build_refusals()


def build_refusals() -> None:
    """Answer wrong addresses and our own mistakes in words, without telling a stranger how the server is made."""

    def told(request: Request, status: int, text: str) -> Response:
        with Client(ui.page("", title="Rookery"), request=request) as client:
            frame("")
            with ui.element("main").classes("note"):
                ui.label(text)
                link("To the board", "/", False)
        return client.build_response(request, status)

    async def not_found(request: Request, error: Exception) -> Response:
        if request.url.path.startswith("/_nicegui"):
            return PlainTextResponse("There is nothing here.", 404)
        return told(request, 404, "There is no such page here.")

    async def failed(request: Request, error: Exception) -> Response:
        log.error("a page could not be built", exc_info=error)
        return told(request, 500, "Something went wrong here, and was written down.")

    app.add_exception_handler(404, not_found)
    app.add_exception_handler(Exception, failed)


async def game_page(site: Site, name: str, id: str) -> None:
    """Build the page of a game; what has to be compiled first is waited for behind a page that says so."""
    frame("Play")
    if name not in OFFERS:
        with ui.element("main").classes("note"):
            ui.label("There is no such game here. There are:")
            for known, offer in OFFERS.items():
                link(offer.title, f"/play/{known}", False)
        return
    visitor = visitor_id()
    if name not in site.prepared:
        with ui.element("main").classes("note") as note:
            ui.label(f"Getting {OFFERS[name].title} ready. The first time its rules are compiled for this machine.")
        await ui.context.client.connected()
        await run.io_bound(site.prepare, name)
        if ui.context.client.is_deleted:
            return  # the visitor has left meanwhile
        note.delete()
    newest = site.store.newest(visitor, name)
    found = [site.store.find(visitor, one) for one in (id, newest[1] if newest else "")]
    fitting = [kept for kept in found if kept is not None and kept.session.game.name == name]
    PlayPage(site, fitting[0] if fitting else site.begin(visitor, name))


def start(site: Site, host: str, port: int, hosts: tuple[str, ...], token: str, secret: str) -> None:
    """Serve until somebody ends it."""
    build(site)
    app.on_startup(lambda: threading.Thread(target=site.warm, daemon=True, name="warming").start())
    app.on_shutdown(site.close)
    app.add_middleware(Guard, hosts=hosts, token=token)
    Gate(core.sio)
    for name in ("nicegui", "rookery.web", "asyncio"):
        logging.getLogger(name).addFilter(Seldom())
    ui.run(
        host=host, port=port, title="Rookery", favicon=ICON, reload=False, show=False, tailwind=False, unocss="mini",
        storage_secret=secret, show_welcome_message=False, uvicorn_logging_level="warning",
        reconnect_timeout=RECONNECT,
        ws_per_message_deflate=False,  # messages are short, and to press them takes longer than to send them
    )  # fmt: skip


ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="-20 -20 40 40"><path fill="#1F6F8B" d="M-10 -15h5v3.5h2.5v-3.5h5'
    'v3.5h2.5v-3.5h5v7.5l-3 3 1.5 13h-17l1.5 -13 -3 -3zM-12 15h24v-3.5q0 -2 -2 -2h-20q-2 0 -2 2z"/></svg>'
)
