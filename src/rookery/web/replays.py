"""Games to look at again: the visitor's own, those loaded from files, and those of the ledger.

No browser is needed here. A browser names a game by a key; keys are looked up, and a visitor's own games are found only
for that visitor.
"""

from __future__ import annotations

import re
import secrets
import time
from collections import OrderedDict
from copy import copy
from dataclasses import dataclass
from pathlib import Path

from rookery.arena.ledger import Ledger
from rookery.arena.records import GameRecord
from rookery.errors import BadInput
from rookery.games.library import load
from rookery.games.pictures.scene import Scene
from rookery.games.position import Seat
from rookery.web.found import Found
from rookery.web.games import OFFERS
from rookery.web.loading import MOST_PLIES, of_record
from rookery.web.session import GameSession
from rookery.web.store import Store, Summary

SHOWN = 30
"""games on one page of the list"""
MOST_VISITORS, MOST_LOADED = 20, 50  # games from files are kept in memory only
RESULTS = {"first": 1.0, "second": 0.0, "draw": 0.5}
"""how the filter calls scores of team 0"""


@dataclass(frozen=True)
class Wanted:
    """Which games are listed."""

    game: str = ""
    player: str = ""
    result: str = ""
    """a name of RESULTS, "open" for games that are not over, or empty"""
    page: int = 0

    def takes(self, entry: Entry) -> bool:
        """Tell whether a game is wanted."""
        if self.game and entry.game != self.game:
            return False
        if self.player and not any(self.player.lower() in player.lower() for player in entry.players):
            return False
        if self.result == "open":
            return entry.score is None
        return not self.result or entry.score == RESULTS[self.result]


@dataclass(frozen=True)
class Entry:
    """A game in the list."""

    key: str
    game: str
    """its name without options"""
    variant: str
    players: tuple[str, str]
    """of team 0 and team 1"""
    score: float | None
    """of team 0; None if it is not over"""
    plies: int
    date: str
    source: str
    """where it is from, in a word"""

    @property
    def result(self) -> str:
        """How it ended, in few signs."""
        return "not over" if self.score is None else {1.0: "1 - 0", 0.0: "0 - 1"}.get(self.score, "½ - ½")


@dataclass(frozen=True)
class Replay:
    """A game that is looked at again."""

    entry: Entry
    session: GameSession
    opening: int = 0
    """moves that no player chose"""
    reason: str = ""
    """why it ended"""

    @property
    def is_open(self) -> bool:
        """Whether everything may be seen: not while a visitor still plays with hidden tiles."""
        return self.entry.source != "played here" or self.session.over or self.session.game.information == "perfect"

    def scene(self, ply: int, viewer: Seat, line: GameSession | None = None) -> Scene:
        """Return what is seen after some moves, of the game or of a side line."""
        session = line or self.session
        if not self.is_open:
            return session.scene(ply, session.viewer)
        actions = tuple(session.actions[:ply])
        return Scene(session.positions[ply].copy(), session.positions[0].copy(), actions, viewer)


class Loaded:
    """Games that visitors have loaded from files, in memory; the oldest go."""

    def __init__(self) -> None:
        self.visitors: OrderedDict[str, list[Replay]] = OrderedDict()

    def add(self, visitor: str, games: list[Found]) -> str:
        """Keep games and return the key of the first."""
        made = []
        for found in games:
            session = found.session
            score = session.score() if found.score is None else found.score
            entry = Entry(
                "f" + secrets.token_hex(8), session.game.name, variant_of(session.plan.spec), found.players, score,
                session.ply, found.date[:16].replace("T", " "), "file",
            )  # fmt: skip
            made.append(Replay(entry, session, found.opening, found.reason))
        kept = [*made, *self.visitors.get(visitor, [])][:MOST_LOADED]
        while len(kept) > len(made) and sum(one.session.ply for one in kept) > MOST_PLIES:
            kept.pop()
        self.visitors[visitor] = kept
        self.visitors.move_to_end(visitor)
        while len(self.visitors) > MOST_VISITORS:
            self.visitors.popitem(last=False)
        return made[0].entry.key

    def find(self, visitor: str, key: str) -> Replay | None:
        """Return a game of a visitor."""
        return next((one for one in self.visitors.get(visitor, []) if one.entry.key == key), None)


# ---- lists ---------------------------------------------------------------------------------------


def variant_of(spec: str) -> str:
    """Name a variant for people."""
    offer = OFFERS[spec.partition(":")[0]]
    return next((name for name, known in offer.variants.items() if known == spec), spec.partition(":")[2] or "usual")


def own_entry(one: Summary) -> Entry:
    """Describe a game of the page."""
    game = load(one.spec)
    players = []
    for team in (0, 1):
        seats = [seat for seat in range(game.seats) if game.teams[seat] == team]
        held = sum(seat in one.people for seat in seats)
        players.append("you" if held == len(seats) else f"you and {one.opponent}" if held else one.opponent)
    date = time.strftime("%Y-%m-%d %H:%M", time.localtime(one.touched))
    names = (players[0], players[1])
    return Entry("p" + one.id, game.name, variant_of(one.spec), names, one.score, one.plies, date, "played here")


def ledger_entry(number: int, record: GameRecord) -> Entry:
    """Describe a game of the ledger."""
    name, date = record.game.partition(":")[0], record.date[:16].replace("T", " ")
    variant = variant_of(record.game)
    return Entry(f"l{number}", name, variant, record.players, record.score, len(record.moves), date, "ledger")


def own_entries(store: Store, loaded: Loaded, visitor: str, wanted: Wanted) -> list[Entry]:
    """List the games of a visitor, those loaded from files first."""
    entries = [replay.entry for replay in loaded.visitors.get(visitor, [])]
    for one in store.listed(visitor):
        try:
            entries.append(own_entry(one))
        except (BadInput, KeyError):  # of a game that is no longer offered
            continue
    return [entry for entry in entries if wanted.takes(entry)]


def page_of(own: list[Entry], ledger: Path | None, wanted: Wanted) -> tuple[list[Entry], bool]:
    """Return one page of the list, own games first, then the ledger's, and whether there are more."""
    begin = SHOWN * max(0, wanted.page)
    shown = own[begin : begin + SHOWN + 1]
    if len(shown) <= SHOWN and wanted.result != "open":
        most = SHOWN + 1 - len(shown)
        found = ledger_records(ledger, wanted, most, max(0, begin - len(own)))
        room = found[: most - 1] if len(found) == most else found
        shown += [ledger_entry(*one) for one in room if one[1].game.partition(":")[0] in OFFERS]
        return shown, len(found) == most
    return shown[:SHOWN], len(shown) > SHOWN


def ledger_records(path: Path | None, wanted: Wanted, most: int, skip: int) -> list[tuple[int, GameRecord]]:
    """List games of the ledger, the newest first; none without a ledger."""
    try:
        with Ledger(path, create=False) as ledger:
            return ledger.listed(wanted.game, wanted.player, RESULTS.get(wanted.result), most, skip)
    except (BadInput, OSError):
        return []


# ---- one game ------------------------------------------------------------------------------------


def own_game(store: Store, loaded: Loaded, visitor: str, key: str) -> Replay | None:
    """Return a game of a visitor by its key."""
    kept = store.find(visitor, key[1:]) if key.startswith("p") else None
    if kept is None:
        return loaded.find(visitor, key)
    session, plan = snapshot(kept.session), kept.session.plan
    summary = Summary(kept.id, kept.touched, plan.spec, plan.people, plan.opponent, session.ply, session.score())
    return Replay(own_entry(summary), session, 0, session.result())


def snapshot(session: GameSession) -> GameSession:
    """Copy a game as it is now, for it may go on while it is looked at; positions are never changed once made."""
    made = copy(session)
    made.positions, made.actions = list(session.positions), list(session.actions)
    made.texts, made.seconds = list(session.texts), list(session.seconds)
    return made


def name_of(store: Store, visitor: str, key: str) -> str:
    """Return which game a key of the visitor's own is of, before its rules are needed; empty if it is not known."""
    return next((one.spec.partition(":")[0] for one in store.listed(visitor) if f"p{one.id}" == key), "")


def ledger_record(path: Path | None, key: str) -> GameRecord | None:
    """Return the record of a game of the ledger by its key; nothing is played again yet."""
    if not re.fullmatch(r"l[0-9]{1,15}", key):
        return None
    with Ledger(path, create=False) as ledger:
        return ledger.numbered(int(key[1:]))


def replay_of(record: GameRecord, key: str) -> Replay:
    """Play a game of the ledger again; BadInput if that cannot be done."""
    found = of_record(record)
    return Replay(ledger_entry(int(key[1:]), record), found.session, found.opening, found.reason)
