"""What all pages share: the games, those who think about them, and what a browser must not decide."""

from __future__ import annotations

import math
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from rookery.games.game import Game
from rookery.games.library import load
from rookery.learn.locks import waiting_lock
from rookery.search.threads import cores
from rookery.web.contests import Contests
from rookery.web.games import OFFERS, ready
from rookery.web.host import Host
from rookery.web.opponents import Opponent, opponents_for, ratings_of
from rookery.web.processes import Trainer
from rookery.web.pulse import Pulse
from rookery.web.replays import Loaded, Replay
from rookery.web.session import MOST_SEED, GameSession, Plan
from rookery.web.side_lines import LinesBeside
from rookery.web.store import Kept, Store
from rookery.web.thinking import Desk
from rookery.web.trainings import Trainings
from rookery.web.valuation import Valuation
from rookery.web.watching import Watching
from rookery.writing import write_whole

SECRET_FILE = "secret"
MOST_VALUED = 100  # games whose values are kept in memory
HOLDS = 30.0
"""seconds for which the list of opponents and their ratings holds"""


@dataclass
class Site:
    """The state of a server."""

    host: Host
    runs: Path | None = None
    """folder in which networks of runs are looked for"""
    studies: Path | None = None
    """folder in which reports of studies are looked for"""
    ledger: Path | None = None
    prepared: set[str] = field(default_factory=set)
    """games whose rules are compiled and loaded"""
    known: dict[str, list[Opponent]] = field(default_factory=dict)
    """opponents by game, networks too"""
    ratings: dict[str, dict[str, str]] = field(default_factory=dict)
    looked: dict[str, float] = field(default_factory=dict)
    """when opponents of a game were looked for"""
    searching: threading.Lock = field(default_factory=threading.Lock)
    loaded: Loaded = field(default_factory=Loaded)
    """games that visitors brought in files"""
    valued: OrderedDict[Hashable, Valuation] = field(default_factory=OrderedDict)
    """values of games that were looked at again, the newest last"""
    pulse: Pulse = field(default_factory=Pulse)
    """calls the pages that show games"""
    beside: LinesBeside = field(default_factory=LinesBeside)
    """side lines of games that are looked at again"""
    closing: bool = False

    @property
    def store(self) -> Store:
        """The games."""
        return self.host.store

    @cached_property
    def trainings(self) -> Trainings:
        """The runs, and the processes that train them."""
        return Trainings(Trainer(self.runs or Path("runs")))

    @cached_property
    def watching(self) -> Watching:
        """Games of networks that are being trained."""
        return Watching(self.host.desk)

    @cached_property
    def contests(self) -> Contests:
        """The matches and round robins of the visitors."""
        return Contests(self.host.desk.places, self.ledger)

    def prepare(self, name: str) -> None:
        """Compile the rules of a game, or load them; takes a while, so never in the thread of the pages."""
        ready(name)
        self.prepared.add(name)

    def warm(self) -> None:
        """Get all games ready one after the other, networks too, so that nobody waits for them later."""
        for name, offer in OFFERS.items():
            if self.closing:
                return
            if name not in self.prepared:
                self.prepare(name)
            self.look_for_opponents(load(offer.spec))

    def opponents(self, game: Game) -> list[Opponent]:
        """Return who can play a game, as far as that is known without waiting."""
        return self.known.get(game.spec) or opponents_for(game, with_networks=False)

    def look_for_opponents(self, game: Game) -> None:
        """Find networks and ratings of a game; takes a while, so never in the thread of the pages.

        Runs go on and games are added to the ledger while the server is up, so what was found does not hold for ever.
        """
        with self.searching:  # who comes second waits for what the first one finds
            if time.monotonic() - self.looked.get(game.spec, -math.inf) > HOLDS:
                self.ratings[game.spec] = ratings_of(game, self.ledger)
                self.known[game.spec] = opponents_for(game, self.runs)
                self.looked[game.spec] = time.monotonic()

    def valuation(self, replay: Replay, text: str) -> Valuation:
        """Return the values of a game by a player, as far as they are known."""
        about = (replay.entry.key, tuple(replay.session.actions), text)
        if about not in self.valued:
            self.valued[about] = Valuation(text, replay.session)
        self.valued.move_to_end(about)
        while len(self.valued) > MOST_VALUED:
            self.valued.popitem(last=False)
        return self.valued[about]

    def begin(self, visitor: str, name: str) -> Kept:
        """Begin the usual game."""
        offer = OFFERS[name]
        plan = Plan(offer.spec, frozenset([offer.seat]), "", new_seed())
        session = GameSession(plan)
        usual = self.opponents(session.game)[0]
        session.plan = Plan(offer.spec, plan.people, usual.text(usual.usual), plan.seed)
        return self.store.add(visitor, session)

    def close(self) -> None:
        """End all searches and write what is to be written."""
        self.closing = True
        self.contests.close()
        self.host.desk.close()
        self.store.close()
        self.trainings.trainer.close()
        self.watching.close()


def new_seed() -> int:
    """Draw a seed, so that no two games are alike."""
    return secrets.randbelow(MOST_SEED)


def make_site(folder: Path | None, runs: Path | None, searches: int = 0, studies: Path | None = None) -> Site:
    """Set up a server; without a folder its games are gone when it ends."""
    store = Store(folder / "games" if folder else None)
    return Site(Host(store, Desk(searches or cores())), runs, studies)


def kept_secret(folder: Path) -> str:
    """Return the key by which cookies are signed: made once, readable by nobody else."""
    path = folder / SECRET_FILE
    folder.mkdir(parents=True, exist_ok=True)
    with waiting_lock(folder / f".{SECRET_FILE}.lock"):  # two servers that begin at once share it
        if not path.exists() or not path.read_text():
            write_whole(path, secrets.token_hex(32).encode(), mode=0o600)
        return path.read_text()
