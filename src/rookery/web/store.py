"""The visitors' games: in memory, and each in a file of its own, so that a restarted server still has them.

Games are found by a random id that only their visitor knows. Ids from a browser are looked up among the known ones;
no file name is ever made from them.
"""

from __future__ import annotations

import json
import os
import secrets
import threading
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rookery.errors import BadInput
from rookery.games.library import OWN, split_spec
from rookery.games.options import given_path
from rookery.games.position import Seat
from rookery.learn.files import sweep
from rookery.learn.locks import Lock
from rookery.web.session import GameSession, session_of
from rookery.web.thinking import Thought
from rookery.writing import write_whole

MOST_GAMES = 2000
"""games kept in all; the ones longest untouched go"""
MOST_OF_VISITOR = 50
TRY_AGAIN = 2.0  # seconds until what could not be written is written again
FOLDER_VARIABLE = "ROOKERY_WEB"


def default_folder() -> Path:
    """Return where games are kept unless somebody says otherwise."""
    told = os.environ.get(FOLDER_VARIABLE)
    if told:
        return given_path(told)
    data = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return given_path(data) / "rookery" / "web"


@dataclass
class Kept:
    """A game with its id and its visitor."""

    id: str
    visitor: str
    session: GameSession
    touched: float = field(default_factory=time.time)
    order: int = 0
    """higher than that of all games that were touched before"""
    version: int = 0
    """raised with each change, so that every page which shows the game notices"""
    thought: Thought | None = None
    """of the opponent, if it is its turn; shared by all pages that show the game"""
    trouble: str = ""
    """why the opponent does not move"""


@dataclass(frozen=True)
class Summary:
    """What a list tells of a game."""

    id: str
    touched: float
    spec: str
    people: frozenset[Seat]
    opponent: str
    plies: int
    score: float | None
    """of team 0; None if the game is not over"""
    order: int = 0


def is_summed_up(said: Any) -> bool:
    """Tell whether a saved game says what a list tells of it."""
    kinds = {"game": str, "people": list, "opponent": str, "actions": list}
    typed = isinstance(said, dict) and all(isinstance(said.get(name), kind) for name, kind in kinds.items())
    return typed and all(isinstance(seat, int) for seat in said["people"])


def changed_at(path: Path) -> float:
    """Return when a file was changed last, as the clock was then; 0 if it is gone."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


class Store:
    """All games of all visitors. Used by one thread, that of the page."""

    def __init__(self, folder: Path | None):
        """Open a folder of games; None keeps them in memory only."""
        self.folder = folder
        self.games: OrderedDict[str, Kept] = OrderedDict()
        self.unread: dict[str, dict[str, Any]] = {}
        self.writer, self.lock = ThreadPoolExecutor(1, "games"), threading.Lock()
        self.unwritten: dict[str, bytes | None] = {}
        """what is not on the disk yet, by id; None: the file is to go"""
        self.trouble = ""
        """why games cannot be written, if that is so"""
        self.tried = 0.0
        self.held: Lock | None = None
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            self.held = Lock(folder / ".lock", "served")
            with suppress(BadInput):  # another server has the folder, and perhaps half a file in it
                self.held.take()
                sweep(folder)
            self.read_folder(folder)
        self.changes = max((about["order"] for about in self.unread.values()), default=0)
        """how often any game was changed: tells which is newer, also where the clock was put back"""

    def read_folder(self, folder: Path) -> None:
        """Note the games of earlier servers; they are played again when somebody asks for one."""
        changed = [(path, changed_at(path)) for path in folder.glob("*.json")]
        for path, touched in sorted(changed, key=lambda both: both[1])[-MOST_GAMES:]:
            try:
                content = json.loads(path.read_text(encoding="utf-8"))
                name, _ = split_spec(content["session"]["game"])
                if name not in OWN:  # a file of that name would be run
                    continue
                about = {"visitor": str(content["visitor"]), "name": name, "touched": touched}
                about["order"] = int(content.get("order", 0))
                score = content.get("score") if content.get("score") in (0.0, 0.5, 1.0) else None
                self.unread[path.stem] = about | {"session": content["session"], "score": score}
            except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
                continue  # a file of somebody else; it stays where it is

    def add(self, visitor: str, session: GameSession) -> Kept:
        """Keep a new game."""
        self.changes += 1
        id = secrets.token_urlsafe(9).replace("-", "a").replace("_", "b")
        kept = Kept(id, visitor, session, order=self.changes)
        self.games[kept.id] = kept
        self.make_room(kept)
        return kept

    def make_room(self, kept: Kept) -> None:
        """Forget the oldest games of a visitor who has too many, and then of everybody, but never the one given."""
        unread = [id for id, content in self.unread.items() if content["visitor"] == kept.visitor]
        own = [id for id, game in self.games.items() if game.visitor == kept.visitor and game is not kept]
        for id in [*unread, *own][: len(unread) + len(own) + 1 - MOST_OF_VISITOR]:
            self.forget(id)
        while len(self.games) + len(self.unread) > MOST_GAMES:
            begun = (id for id, game in self.games.items() if game.session.ply == 0 and game is not kept)
            oldest = (id for id in (*self.unread, *self.games) if id != kept.id)
            self.forget(next(begun, None) or next(oldest))

    def forget(self, id: str) -> None:
        """Drop a game and its file. A page that still shows it can go on: its next change brings it back."""
        self.games.pop(id, None)
        self.unread.pop(id, None)
        self.write_later(id, None)

    def find(self, visitor: str, id: Any) -> Kept | None:
        """Return a game of a visitor; None for an id that is not known, or is somebody else's."""
        if not isinstance(id, str):
            return None
        if id in self.unread and self.unread[id]["visitor"] == visitor:
            content = self.unread.pop(id)
            try:
                session = session_of(content["session"])
                self.games[id] = Kept(id, visitor, session, content["touched"], content["order"])
            except BadInput:
                return None
        kept = self.games.get(id)
        return kept if kept is not None and kept.visitor == visitor else None

    def newest(self, visitor: str, game: str = "") -> tuple[str, str] | None:
        """Return the name and the id of the game a visitor touched last, of a certain game if that is named.

        Nothing is played again for it: the rules of the game may not be compiled yet.
        """
        own = [
            (content["order"], content["touched"], content["name"], id)
            for id, content in self.unread.items()
            if content["visitor"] == visitor
        ]
        own += [
            (kept.order, kept.touched, kept.session.game.name, id)
            for id, kept in self.games.items()
            if kept.visitor == visitor
        ]
        found = max((entry for entry in own if game in ("", entry[2])), default=None)
        return found[2:] if found else None

    def listed(self, visitor: str) -> list[Summary]:
        """List the games of a visitor in which something was played, the newest first; nothing is played again."""
        found = [
            Summary(id, entry["touched"], said["game"], frozenset(said["people"]), said["opponent"],
                    len(said["actions"]), entry["score"], entry["order"])
            for id, entry in self.unread.items()
            if entry["visitor"] == visitor and is_summed_up(said := entry["session"])
        ]  # fmt: skip
        found += [
            Summary(id, kept.touched, kept.session.plan.spec, kept.session.plan.people, kept.session.plan.opponent,
                    kept.session.ply, kept.session.score(), kept.order)
            for id, kept in self.games.items()
            if kept.visitor == visitor
        ]  # fmt: skip
        return sorted((one for one in found if one.plies), key=lambda one: (-one.order, -one.touched))

    def change(self, kept: Kept) -> None:
        """Note that a game has changed, and write it down."""
        self.changes += 1
        kept.touched, kept.version, kept.order = time.time(), kept.version + 1, self.changes
        known = kept.id in self.games
        self.games[kept.id] = kept
        self.games.move_to_end(kept.id)
        if not known:
            self.make_room(kept)
        if self.folder is not None:
            content = {
                "visitor": kept.visitor, "order": kept.order, "session": kept.session.to_json(),
                "score": kept.session.score(),
            }  # fmt: skip
            self.write_later(kept.id, json.dumps(content).encode())

    # -- the disk, which may take its time; the page may not --

    def write_later(self, id: str, content: bytes | None) -> None:
        """Have a game written, or its file removed; of several changes that wait only the last one is."""
        if self.folder is not None:
            with self.lock:
                self.unwritten[id] = content
            self.writer.submit(self.write_down, self.folder)

    def write_down(self, folder: Path) -> None:
        """Write all games that have changed; what cannot be written stays, and is tried again. Runs in its thread."""
        self.tried = time.monotonic()
        with self.lock:
            waiting = list(self.unwritten.items())
        for id, content in waiting:
            path = folder / f"{id}.json"  # an id of our own making
            try:
                if content is None:
                    path.unlink(missing_ok=True)
                else:
                    write_whole(path, content)
            except OSError as error:
                self.trouble = (
                    f"{error.filename} cannot be written: {error.strerror}. Games go on, but are lost when the server "
                    "ends, unless there is room and a right to write before."
                )
                return
            with self.lock:
                if self.unwritten.get(id, b"") is content:  # else it has changed again meanwhile
                    del self.unwritten[id]
        self.trouble = ""

    def try_again(self) -> None:
        """Write again what could not be written, now and then."""
        if self.trouble and self.folder is not None and time.monotonic() - self.tried > TRY_AGAIN:
            self.tried = time.monotonic()
            self.writer.submit(self.write_down, self.folder)

    def close(self) -> None:
        """Write what is still to be written."""
        if self.folder is not None and self.unwritten:
            self.writer.submit(self.write_down, self.folder)
        self.writer.shutdown(wait=True)
        if self.held is not None:
            self.held.give_back()
