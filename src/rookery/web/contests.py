"""Contests of the page: matches and round robins, played live in threads, with pause, step and pace. Plain Python.

Several games of a match are played side by side, each at a table, which is a thread of the match. What a game becomes
does not depend on how many are played beside it.

A contest is played while somebody looks. Reading it renews its lease, as with searches: two seconds after the last look
it waits, and after ten minutes it ends. All contests together think about as many moves at a time as the desk has
places; tables take turns for them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from rookery.arena.ledger import Ledger
from rookery.arena.matches import Match, MatchSettings, play_match
from rookery.arena.player import Choice, Player, PlayerFailed, Turn, shown_to, turn_of
from rookery.arena.players import make_player
from rookery.arena.records import GameRecord
from rookery.arena.score import Score
from rookery.errors import BadInput
from rookery.games import rules
from rookery.games.game import Game
from rookery.games.library import load
from rookery.games.options import whole_number
from rookery.games.pictures.scene import Scene
from rookery.games.position import Action, Position, Seat
from rookery.web.games import OFFERS
from rookery.web.thinking import LEASE

MOST_GAMES = 1000
"""of a match"""
MOST_PLAYERS = 8
MOST_BOARDS = 9
"""games of a contest that are played side by side"""
MOST_CONTESTS = 16
"""contests that have not ended"""
OPENINGS = {"": "Usual openings", "random:2": "2 random moves", "random:6": "6 random moves"}
"""how games may begin, and what people read; other texts could name files"""
LONGEST_PACE = 5.0
"""seconds between two moves"""
ABANDONED = 600.0  # seconds after which a contest that nobody reads ends
LOOK = 0.05  # seconds between two looks at whether a move may be made
BREATH = 0.005  # seconds between two moves of a contest; players that need no time would leave none for the pages
PATIENCE = 10.0


@dataclass(frozen=True)
class Order:
    """What is to be played: a match if there are two players, else a round robin of matches."""

    spec: str
    texts: tuple[str, ...]
    """texts of the players"""
    games: int
    """of each match, an even number"""
    seed: int
    keep: bool = False
    """whether the games go into the ledger"""
    names: tuple[str, ...] = ()
    """what people read instead of the texts"""
    boards: int = 1
    """games that are played side by side"""
    opening: str = ""
    """one of OPENINGS"""

    @property
    def labels(self) -> tuple[str, ...]:
        """What the players are called."""
        return self.names or self.texts

    def __post_init__(self) -> None:
        whole_number("the number of players", len(self.texts), 2, MOST_PLAYERS)
        if len(set(self.texts)) < len(self.texts):
            raise BadInput("the players must differ: a match of a player with itself tells nothing")
        whole_number("games", self.games, 2, MOST_GAMES)
        whole_number("boards", self.boards, 1, MOST_BOARDS)
        if self.opening not in OPENINGS:
            raise BadInput(f"the opening must be one of {', '.join(OPENINGS.values())}, not {self.opening!r}")
        MatchSettings(games=self.games, seed=self.seed)


@dataclass(frozen=True)
class Live:
    """A position of a game that is being played."""

    start: Position
    actions: tuple[Action, ...]
    position: Position
    holders: tuple[int, int]
    """numbers of the players that hold team 0 and team 1"""


@dataclass
class Table:
    """Where one game after the other is played."""

    turn: threading.Condition
    """on which a player waits who wants to move; all tables of a contest have one lock"""
    live: Live | None = None
    moved: float = -1.0
    """when the last move was begun"""
    waiting: bool = False
    """whether a player wants to move"""


class Contest:
    """A match or round robin while it is played."""

    def __init__(
        self, order: Order, places: threading.Semaphore, ledger: Path | None = None,
        make: Callable[[str, Game], Player] = make_player,
    ):  # fmt: skip
        self.order, self.places, self.ledger, self.make = order, places, ledger, make
        self.lock = threading.RLock()
        self.looked = time.monotonic()
        self.admitted = -1.0
        """when the last move of all tables was begun"""
        self.paused, self.steps, self.pace, self.ended = False, 0, 0.0, False
        self.pairing = (0, 1)
        self.tables = [Table(threading.Condition(self.lock)) for _ in range(min(order.boards, order.games))]
        self.seated: dict[int, int] = {}
        """tables of the present match by the threads that play there"""
        self.scores: dict[tuple[int, int], Score] = {}
        """of the first player of each pair, over complete pairs of games"""
        self.finished = 0
        """games"""
        self.version = 0
        self.trouble = ""
        self.turn_stop: np.ndarray | None = None  # of the match, which its players look at
        self.thread = threading.Thread(target=self.run, daemon=True, name="contest")

    # -- what visitors ask --

    @property
    def planned(self) -> int:
        """How many games there are in all."""
        return self.order.games * len(self.pairings)

    @property
    def pairings(self) -> list[tuple[int, int]]:
        """The players of each match, by their numbers."""
        return list(combinations(range(len(self.order.texts)), 2))

    @property
    def over(self) -> bool:
        """Whether nothing more will be played."""
        return self.thread.ident is not None and not self.thread.is_alive()

    def read(self) -> int:
        """Renew the lease; return a number that changes with each move."""
        self.looked = time.monotonic()
        return self.version

    def set_paused(self, paused: bool) -> None:
        """Stop after the moves that are thought about, or go on."""
        with self.lock:
            self.paused, self.steps = paused, 0
            self.wake()

    def step(self) -> None:
        """Pause, and play one move: that of the table which has waited longest."""
        with self.lock:
            self.paused, self.steps = True, 1
            self.wake()

    def set_pace(self, seconds: float) -> None:
        """Let so many seconds pass from move to move of a game."""
        with self.lock:
            self.pace = max(0.0, min(float(seconds), LONGEST_PACE))
            self.wake()

    def end(self) -> None:
        """Leave what is unfinished; what is finished counts."""
        with self.lock:
            self.ended = True
            if self.turn_stop is not None:
                self.turn_stop[0] = 1
            for table in self.tables:
                table.turn.notify()

    # -- in the threads of the match --

    def run(self) -> None:
        """Play all matches, one after the other."""
        try:
            game = load(self.order.spec)
            warm_board(game)
            for pairing in self.pairings:
                if not self.ended:
                    self.play(game, pairing)
        except (BadInput, PlayerFailed, OSError) as error:
            self.trouble = str(error)
        except Exception as error:  # a mistake is told in the page, not lost with the thread
            self.trouble = f"{type(error).__name__}: {error}"
        finally:
            self.version += 1

    def play(self, game: Game, pairing: tuple[int, int]) -> None:
        """Play the match of two players."""
        self.pairing, self.seated = pairing, {}
        for table in self.tables:
            table.live = table.live or Live(game.start(0), (), game.start(0), pairing)
        self.version += 1
        first, second = (self.maker(game, number) for number in pairing)
        order, opening = self.order, self.order.opening or None
        settings = MatchSettings(games=order.games, seed=order.seed, opening=opening, threads=len(self.tables))
        ledger = Ledger(self.ledger) if order.keep else None
        try:
            play_match(game, first, second, settings, lambda match, record: self.note_end(match, record, ledger))
        finally:
            if ledger:
                ledger.close()

    def maker(self, game: Game, number: int) -> Callable[[], Player]:
        """Return what makes a player of this contest."""
        return lambda: Seated(self.make(self.order.texts[number], game), self, number)

    def table(self) -> Table:
        """Return the table at which this thread plays."""
        with self.lock:
            return self.tables[self.seated.setdefault(threading.get_ident(), len(self.seated))]

    def admit(self, turn: Turn) -> bool:
        """Wait until the next move may be made, and take a place to think; False if none may be made any more."""
        table = self.table()
        with self.lock:
            self.turn_stop = turn.stop
            table.waiting = True
            while not self.ended:
                wait = self.due_in(table)
                if wait <= 0 and self.places.acquire(blocking=False):
                    break
                if time.monotonic() - self.looked > ABANDONED:
                    self.ended = True
                table.turn.wait(min(wait, LOOK) if wait > 0 else LOOK)
            table.waiting = False
            self.steps, table.moved = 0, time.monotonic()
            self.admitted = table.moved
            self.wake()
            return not self.ended

    def next_table(self) -> Table | None:
        """Return the table that has waited longest of all that want to move."""
        return min((each for each in self.tables if each.waiting), key=lambda each: each.moved, default=None)

    def due_in(self, table: Table) -> float:
        """Return in how many seconds a table may move; a look later if that is not known."""
        now = time.monotonic()
        if now - self.looked > LEASE or table is not self.next_table():
            return LOOK
        if self.paused:
            return 0.0 if self.steps > 0 else LOOK
        return max(table.moved + self.pace, self.admitted + BREATH) - now

    def wake(self) -> None:
        """Let the next table look again; waking all for each move would leave no time for the pages."""
        table = self.next_table()
        if table is not None:
            table.turn.notify()

    def leave(self) -> None:
        """Give back a place to think."""
        self.places.release()
        with self.lock:
            self.wake()

    def note(self, turn: Turn, choice: Choice, player: int) -> None:
        """Show the position after a move of a player."""
        position, action = turn.position.copy(), choice.action
        if rules.is_legal(position.state, action):
            team = position.game.teams[position.mover]
            other = self.pairing[0] if player == self.pairing[1] else self.pairing[1]
            position.play(action)
            holders = (player, other) if team == 0 else (other, player)
            self.table().live = Live(turn.start, (*turn.moves, action), position, holders)
            self.version += 1

    def note_end(self, match: Match, record: GameRecord, ledger: Ledger | None) -> None:
        """Take in a finished game."""
        self.scores[self.pairing] = match.score
        self.finished += 1
        self.version += 1
        if ledger:
            ledger.store([record])


def warm_board(game: Game) -> None:
    """Draw two positions, so that nothing is left to compile when a page draws one."""
    offer, start = OFFERS.get(game.name), game.start(0)
    if offer:
        offer.draw(Scene(start, start, (), 0))
        position, action = start.copy(), int(start.legal()[0])
        position.play(action)
        offer.draw(Scene(position, start, (action,), 0))


class Seated(Player):
    """A player of a contest: moves when the contest lets it, and shows what it did.

    It is handed the whole position, for the board; the player inside sees what its seat may see.
    """

    sees_all = True

    def __init__(self, inner: Player, contest: Contest, number: int):
        self.inner, self.contest, self.number, self.name = inner, contest, number, inner.name

    def new_game(self, start: Position, seat: Seat) -> None:
        """Pass on that a game begins."""
        self.inner.new_game(shown_to(self.inner, start, seat), seat)

    def choose(self, turn: Turn) -> Choice:
        """Wait for the contest, then choose; what is answered after the end of a contest is no move."""
        if not self.contest.admit(turn):
            turn.stop[0] = 1
            return Choice(int(turn.position.legal()[0]))
        try:
            asked = turn_of(self.inner, turn.start, turn.position, turn.moves, seed=turn.seed, stop=turn.stop)
            choice = self.inner.choose(asked)
        finally:
            self.contest.leave()
        self.contest.note(turn, choice, self.number)
        return choice

    def close(self) -> None:
        """Free what the player holds."""
        self.inner.close()


class Contests:
    """All contests of all visitors, at most one of a kind for each. Used by one thread, that of the page."""

    def __init__(self, places: int, ledger: Path | None = None):
        self.places, self.ledger = threading.Semaphore(places), ledger
        self.of: dict[tuple[str, str], Contest] = {}

    def find(self, visitor: str, kind: str) -> Contest | None:
        """Return the contest a visitor has begun."""
        return self.of.get((visitor, kind))

    def start(self, visitor: str, kind: str, order: Order) -> Contest:
        """Begin a contest; the visitor's last one of the kind ends."""
        before = self.of.get((visitor, kind))
        if before is not None:
            before.end()
        alive = [contest for contest in self.of.values() if not contest.over and not contest.ended]
        if len(alive) >= MOST_CONTESTS:
            raise BadInput(f"{MOST_CONTESTS} contests are being played here; try again later")
        self.of = {key: contest for key, contest in self.of.items() if contest in alive or key[0] == visitor}
        contest = self.of[visitor, kind] = Contest(order, self.places, self.ledger)
        contest.thread.start()
        return contest

    def close(self) -> None:
        """End all contests."""
        for contest in self.of.values():
            contest.end()
        for contest in self.of.values():
            contest.thread.join(PATIENCE)
