"""Whatever a browser may send to the page: texts, files, moves, requests, addresses and events of its elements."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import traceback
from collections.abc import Callable
from contextlib import closing
from functools import cache
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qs

from fuzz.boards import WORDS, folder, game_of
from fuzz.files import domineering_seeds
from fuzz.target import Target, accepts, reader, same
from fuzz.texts import JSON_WORDS, export_seeds, listed, texas42_lines
from rookery.errors import BadInput
from rookery.games import library
from rookery.web.games import OFFERS
from rookery.web.guard import Guard
from rookery.web.loading import games_of
from rookery.web.replay_list import address_of, wanted_of
from rookery.web.replays import Loaded, ledger_record, name_of, own_entries, own_game, page_of
from rookery.web.session import GameSession, Plan, session_of
from rookery.web.sharing import read_shared, shared_text
from rookery.web.store import Store

MOST_LINES = 12
"""of an input that are said to an engine"""

# ---- texts and files of visitors -----------------------------------------------------------------


def no_file_run(read: Callable[[bytes], bool]) -> Callable[[bytes], bool]:
    """Make a target's function of one whose inputs come from strangers: none may name a file with a program in it."""

    def run_a_file(path: object) -> Any:
        raise AssertionError(f"{path} would have been run")

    def guarded(data: bytes) -> bool:
        with patch.object(library, "from_path", run_a_file):
            return read(data)

    return guarded


def of_a_stranger(read: Callable[[str], None]) -> Callable[[bytes], bool]:
    """Make a target's function of one whose texts come from strangers."""
    return no_file_run(reader(read))


def load_upload(data: bytes) -> None:
    """Load a file as the page of replays does; every game can be shared and read again."""
    found = games_of(data)
    allowed = {spec for offer in OFFERS.values() for spec in offer.variants.values()}
    for one in found[:3]:
        session = one.session
        if session.plan.spec in allowed and session.game.information == "perfect":
            _, _, actions = read_shared(shared_text(session), session.game, allowed)
            same(actions, session.actions)
    loaded = Loaded()
    key = loaded.add("visitor", found)
    replay = loaded.find("visitor", key)
    assert replay is not None
    replay.scene(replay.session.ply, 0)
    replay.entry.result.strip()


def upload_seeds() -> list[bytes]:
    """Return files of every kind that is read."""
    pgn = '[Event "?"]\n[White "a"]\n[Black "b"]\n[Result "1-0"]\n\n1. e4 {good} e5 (1... c5 $2) 2. Nf3 Nc6 ; x\n1-0\n'
    fen = '[Event "?"]\n[SetUp "1"]\n[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n\n1. e4 Kd7 *\n'
    gomoku = {"black": "a", "white": "b", "result": "Black wins", "moves": ["E5", "D5", "E6"], "date": "2030-01-02"}
    shared = "game: domineering:rows=8,cols=8\nmoves: a1-a2 c3-d3\n"
    psq = "Piskvorky 15x15, 11:11, 0\r\n8,8,0\r\n9,8,0\r\n8,9,1203\r\nC:\\a\\x.zip\r\ny.zip\r\n-1\r\n0,Renju\r\n"
    texts = [pgn, fen, pgn + "\n" + fen, json.dumps(gomoku), json.dumps([gomoku]), shared, psq]
    return [*listed(*texts), *export_seeds(), *texas42_lines(), *saved_seeds(), *domineering_seeds()]


def load_shared(text: str) -> None:
    """Begin a game from a text, as the dialog of a new game does; its first byte chooses the game."""
    names = list(OFFERS)
    offer = OFFERS[names[ord(text[0]) % len(names)] if text else names[0]]
    game, start, actions = read_shared(text[1:], game_of(offer.spec), offer.variants.values())
    session = GameSession(Plan(game.spec, frozenset([0]), "random", 1, start), actions)
    session.status()
    shared_text(session)
    offer.draw(session.scene()).changing()


def shared_seeds() -> list[bytes]:
    """Share a game of each kind after a few moves, and its position."""
    texts = []
    for number, offer in enumerate(OFFERS.values()):
        session = GameSession(Plan(offer.spec, frozenset([0]), "random", 1))
        texts.append(chr(number) + session.position.text())
        for _ in range(3):
            session.make(int(session.position.legal()[0]))
        texts.append(chr(number) + shared_text(session))
    return listed(*texts)


def load_saved(text: str) -> None:
    """Read a saved game, as a server does that begins; then ask for it by the ways of the page."""
    place = folder() / "web"
    place.mkdir(exist_ok=True)
    (place / "one.json").write_text(text, encoding="utf-8", errors="replace")
    with closing(Store(place)) as store:  # else the next one waits for its folder
        store.listed("me")
        store.newest("me")
        store.newest("me", "gomoku")
        name_of(store, "me", "pone")
        own_entries(store, Loaded(), "me", wanted_of("", "r", "draw", "0"))
        for entry in own_entries(store, Loaded(), "me", wanted_of("", "", "", "")):
            assert entry.result
        own_game(store, Loaded(), "me", "pone")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise BadInput("no JSON, which the store passes over") from None
    session = session_of(content.get("session") if isinstance(content, dict) else content)
    same(session_of(session.to_json()).to_json(), session.to_json())
    session.status()
    session.scene()


def saved_seeds() -> list[bytes]:
    """Save games as the page does."""
    texts = []
    for spec in ("gomoku:size=9", "pylos", "texas42"):
        session = GameSession(Plan(spec, frozenset([0]), "random", 1), [])
        for _ in range(4):
            session.make(int(session.position.legal()[0]))
        texts.append(json.dumps({"visitor": "me", "session": session.to_json(), "score": None}))
    return listed(*texts)


def make_moves(text: str) -> None:
    """Send what a board may send, message by message, to a game."""
    session = GameSession(Plan("gomoku:size=9", frozenset([0, 1]), "random", 1))
    for line in text.splitlines()[:MOST_LINES]:
        try:
            sent = json.loads(line)
        except (ValueError, RecursionError):
            continue
        sent = sent if isinstance(sent, dict) else {"action": sent, "ply": session.ply}
        before = session.ply
        assert session.play(sent.get("action"), sent.get("ply")) == (session.ply == before + 1)
    if not session.ply:
        raise BadInput("nothing of that is a move")


# ---- requests and pages --------------------------------------------------------------------------


def ask_guard(text: str) -> None:
    """Send a request to the guard: host, origin, cookie, query and path, a line each; look up what the query names."""
    parts = [*text.split("\n")[:5], "", "", "", "", ""][:5]
    host, origin, cookie, query, path = (part.encode("utf-8", "replace") for part in parts)
    statuses = []
    for token in ("", "secret"):
        sent: list[Any] = []
        headers = [(b"host", host), (b"origin", origin), (b"cookie", cookie)]
        scope = {"type": "http", "path": path.decode(errors="replace"), "query_string": query, "headers": headers}
        run_to_end(Guard(welcome, token=token)(scope, nothing, collecting(sent)))
        statuses.append(sent[0]["status"])
    assert set(statuses) <= {200, 303, 401, 403}, statuses
    assert statuses[1] != 200 or "rookery_token" in parts[2], "let in without the token"
    asked = {name: values[0] for name, values in parse_qs(query.decode("latin-1")).items()}
    wanted = wanted_of(*(asked.get(name, "") for name in ("of", "player", "result", "page")))
    address_of(wanted, asked.get("game", ""))
    page_of([], folder() / "none.db", wanted)
    accepts(ledger_record, folder() / "none.db", asked.get("game", ""))
    if 200 not in statuses and 303 not in statuses:
        raise BadInput("refused")


async def welcome(scope: Any, receive: Any, send: Any) -> None:
    """Let everybody in."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"welcome"})


async def nothing() -> dict[str, Any]:
    """Receive an empty request."""
    return {"type": "http.request", "body": b"", "more_body": False}


def collecting(sent: list[Any]) -> Any:
    """Return a `send` that keeps what is sent."""

    async def send(message: Any) -> None:
        sent.append(message)

    return send


@cache
def loop() -> asyncio.AbstractEventLoop:
    """Return the loop in which the page lives."""
    return asyncio.new_event_loop()


def run_to_end(work: Any) -> Any:
    """Run a coroutine."""
    return loop().run_until_complete(work)


class Pages:
    """The whole site in this process, with one visitor; nobody thinks, trains or plays in it."""

    def __init__(self) -> None:
        os.environ["NICEGUI_STORAGE_PATH"] = str(folder() / "visitors")  # read when NiceGUI is imported
        from nicegui import app, core
        from nicegui.testing.user_simulation import user_simulation

        from rookery.web.app import build
        from rookery.web.host import Host
        from rookery.web.site import Site
        from rookery.web.thinking import Desk

        self.site = Site(Host(Store(None), Desk(1)), runs=folder() / "runs", ledger=folder() / "none.db")
        self.site.look_for_opponents = lambda game: None  # type: ignore[method-assign]
        self.site.prepared.update(OFFERS)
        self.site.host.desk.submit = lambda thought: thought  # type: ignore[method-assign]
        self.site.trainings.trainer.launch = refuse  # type: ignore[method-assign]
        self.site.contests.start = refuse  # type: ignore[method-assign]
        self.simulation = user_simulation()
        self.user = run_to_end(self.simulation.__aenter__())
        core.root, core.script_mode = None, False  # outside of pytest it would begin this program anew for a page
        build(self.site)
        self.raised: list[Exception] = []
        app.on_exception(self.note)
        logging.getLogger("nicegui").setLevel(logging.CRITICAL)
        self.pages: list[Any] = []
        for address in ("/play/gomoku", "/play/chess", "/training", "/arena", "/replay", "/play/pylos"):
            run_to_end(self.user.open(address))
            self.pages.append(self.user.client)

    def note(self, error: Exception) -> None:
        """Keep what a handler has raised."""
        self.raised.append(error)

    def listeners(self, client: Any) -> list[tuple[Any, str]]:
        """List what a browser can trigger on a page."""
        return [(element, key) for element in list(client.elements.values()) for key in element._event_listeners]

    def complain(self) -> None:
        """Raise what one of our handlers raised; what NiceGUI itself refuses never reaches us."""
        raised, self.raised[:] = list(self.raised), []
        for error in raised:
            frames = traceback.extract_tb(error.__traceback__)
            if any(f"{os.sep}rookery{os.sep}" in frame.filename for frame in frames):
                raise error

    def tidy(self) -> None:
        """Forget pages that were opened since."""
        from nicegui import Client

        for client in list(Client.instances.values()):
            if client not in self.pages:
                client.delete()


def refuse(*_: object) -> Any:
    """Start nothing."""
    raise BadInput("nothing is started while the page is fuzzed")


@cache
def pages() -> Pages:
    """Return the site."""
    return Pages()


def open_page(text: str) -> None:
    """Ask for a page by its path and query, as a browser would; none may fail."""
    site, (path, _, query) = pages(), text.partition("?")
    sent: list[Any] = []
    scope = {
        "type": "http", "method": "GET", "scheme": "http", "root_path": "", "extensions": {},
        "asgi": {"version": "3.0"}, "path": "/" + path, "raw_path": b"/" + path.encode("utf-8", "replace"),
        "query_string": query.encode("utf-8", "replace"), "headers": [(b"host", b"localhost")], "http_version": "1.1",
        "server": ("localhost", 80), "client": ("127.0.0.1", 1),
    }  # fmt: skip
    from nicegui import app

    run_to_end(app(scope, nothing, collecting(sent)))
    site.complain()
    site.tidy()
    status = next(message["status"] for message in sent if message["type"] == "http.response.start")
    assert status < 500, f"status {status}"
    if status >= 400:
        raise BadInput(f"status {status}")


def send_event(data: bytes) -> bool:
    """Trigger an element of a page: three bytes choose page and element, the rest is what it is told, as JSON."""
    site = pages()
    head, rest = (data + bytes(3))[:3], data[3:].decode("utf-8", "replace")
    client = site.pages[head[0] % len(site.pages)]
    found = site.listeners(client)
    element, key = found[int.from_bytes(head[1:], "little") % len(found)]
    try:
        arguments = [json.dumps(json.loads(rest))] if rest else []
    except (ValueError, RecursionError):
        arguments = [json.dumps(rest)]

    async def send() -> None:
        client.handle_event({"id": element.id, "listener_id": key, "args": arguments})
        await asyncio.sleep(0.002)

    try:
        run_to_end(send())
    except Exception as error:
        site.raised.append(error)
    site.complain()
    site.tidy()
    return True


def event_seeds() -> list[bytes]:
    """Send a move, a choice, a number and a text to the elements of all pages."""
    site, seeds = pages(), []
    told = (
        b'{"action": 40, "ply": 0}',
        b"1",
        b'"abc"',
        b'{"value": 3, "label": "x"}',
        b"null",
        b'{"key": "u", "action": "keydown"}',
    )
    for number, client in enumerate(site.pages):
        places = range(0, len(site.listeners(client)), 3)
        seeds += [bytes([number]) + at.to_bytes(2, "little") + told[(at + number) % len(told)] for at in places]
    return seeds


TARGETS = (
    Target(
        "web-upload",
        no_file_run(lambda data: accepts(load_upload, data)),
        upload_seeds,
        (
            *WORDS["chess"],
            *JSON_WORDS,
            "[Event ",
            '[FEN "',
            ".py",
            "/../",
            "game:",
            "moves:",
            "start:",
            "{",
            "(",
            ";",
            "$1",
            "Piskvorky ",
            "20x20",
            "hands",
            "PK\x03\x04",
        ),
        (
            "rookery.web.loading",
            "rookery.web.foreign",
            "rookery.web.found",
            "rookery.web.sharing",
            "rookery.arena.exports",
        ),
    ),
    Target(
        "web-shared",
        of_a_stranger(load_shared),
        shared_seeds,
        ("game: ", "start: ", "moves: ", "position: ", *WORDS["texas42"]),
        ("rookery.web.sharing", "rookery.web.session"),
    ),
    Target(
        "web-saved-game",
        of_a_stranger(load_saved),
        saved_seeds,
        (*JSON_WORDS, "session", "actions", "resigned", "people", "seed", "score"),
        ("rookery.web.session", "rookery.web.store", "rookery.web.replays"),
    ),
    Target(
        "web-moves",
        reader(make_moves),
        lambda: listed('{"action": 40, "ply": 0}\n{"action": 41, "ply": 1}', "40\n41\n31"),
        JSON_WORDS,
        ("rookery.web.session",),
    ),
    Target(
        "web-request",
        reader(ask_guard),
        lambda: listed(
            "localhost:8080\nhttp://localhost:8080\nrookery_token=x\ntoken=secret&of=gomoku&page=2&game=l12\n/enter",
            "127.0.0.1\n\n\n\n/",
        ),
        ("rookery_token=", "token=", "game=l", "page=", "[::1]", "http://", ";", "@"),
        ("rookery.web.guard", "rookery.web.replay_list"),
    ),
    Target(
        "web-route",
        reader(open_page),
        lambda: listed(
            "",
            "play/gomoku",
            "play/chess?game=x",
            "replay?of=gomoku&page=1&game=l1",
            "arena",
            "training",
            "studies",
            "studies/pylos",
            "enter?token=x",
        ),
        ("play/", "replay?", "studies/", "game=", "of=", "page=", "player=", "%2e%2e/", "..", "pone", "l1"),
    ),
    Target("web-event", send_event, event_seeds, (*JSON_WORDS, "action", "ply", "value", "label", "key", "keydown")),
)
"""what the page hears"""
