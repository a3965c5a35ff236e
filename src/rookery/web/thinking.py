"""Searches beside the page: a few at a time, each ending when nobody looks at it any more.

A page asks for a `Thought` and reads it now and then. Reading renews its lease: a thought that was not read for two
seconds is stopped. That one rule covers closed tabs, left pages, lost networks and crashed browsers.

Players work in plain threads: compiled code and networks free the interpreter while they run.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from rookery.arena.player import Choice, Player, PlayerFailed, Turn, turn_of, turn_seed
from rookery.arena.players import make_player
from rookery.arena.searching import Analyst
from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.position import Action, Position
from rookery.search.analysis import Analysis
from rookery.search.threads import new_stop
from rookery.web.worths import Worth, worths_of

LEASE = 2.0
"""seconds after which a thought that nobody reads is stopped"""
SWEEP = 0.25  # seconds between two looks at the leases
IDLE_PLAYERS = 8  # players kept for the next move
MOST_WAITING = 64
"""thoughts that may wait; more are refused"""
MOST_OF_OWNER = 8
"""thoughts of one visitor that may wait or be thought; more are refused"""
LINES_SHOWN = 8


class Thought:
    """One decision, while it is made: by one player, or by several in turn, each of which knows better."""

    def __init__(
        self, texts: tuple[str, ...], start: Position, actions: tuple[Action, ...], position: Position, seed: int
    ):
        """Prepare a decision in `position`, to which `actions` lead from `start`, by the players of some texts."""
        self.texts, self.start, self.actions, self.position, self.seed = texts, start, actions, position, seed
        self.seen: Position = position
        self.stop: np.ndarray = new_stop()
        self.latest: Analysis | None = None
        """what is known so far"""
        self.by = ""
        """who found it"""
        self.choice: Choice | None = None
        """what was decided in the end"""
        self.failure = ""
        """why nothing was decided"""
        self.wants_advice = False
        """whether the player is to explain itself in lines, which may take it as long again"""
        self.lines: tuple[str, ...] = ()
        """what was explained"""
        self.worths: tuple[Worth, ...] = ()
        """what each play of Texas 42 is worth"""
        self.owner = ""
        """the visitor for whom it is; empty: nobody in particular"""
        self.urgent = False
        """whether somebody's game stands still until it is done; others are thought when there is room"""
        self.refused = False
        """whether it failed only because there were too many"""
        self.level = 0
        """how many of the players have decided"""
        self.gives_way = False
        """whether it has left its place to others, and wants to go on after them"""
        self.begun = False
        self.ended = threading.Event()
        self.looked = time.monotonic()

    def read(self) -> Analysis | None:
        """Return what is known so far, and renew the lease."""
        self.looked = time.monotonic()
        return self.latest

    def cancel(self) -> None:
        """Have the search end soon."""
        self.stop[0] = 1

    @property
    def is_stale(self) -> bool:
        """Whether nobody has looked for too long."""
        return time.monotonic() - self.looked > LEASE

    @property
    def game(self) -> Game:
        """The game that is thought about."""
        return self.start.game

    def turn(self, player: Player) -> Turn:
        """Return what the player is handed."""
        seed = turn_seed(self.seed, 0, len(self.actions))
        return turn_of(player, self.start, self.position, self.actions, seed=seed, stop=self.stop)

    def think(self, player: Player) -> None:
        """Let a player decide."""
        turn = self.turn(player)
        self.seen = turn.position
        if isinstance(player, Analyst):
            player.lines_wanted = LINES_SHOWN
            player.report = self.note
        choice = player.choose(turn)
        self.latest, self.by = choice.analysis or self.latest, player.name
        self.choice = choice
        if self.wants_advice and not self.stop[0]:
            self.worths = worths_of(player, turn)
            if isinstance(player, Analyst) and not self.worths:
                self.lines = tuple(player.advice(turn).split("\n"))

    def work(self, desk: Desk) -> None:
        """Let the players decide, one after the other, until somebody says stop or other thoughts want the place."""
        self.gives_way = False
        while self.level < len(self.texts) and not self.failure and not self.stop[0] and not self.gives_way:
            desk.ask(self, self.texts[self.level])
            self.level += 1
            self.gives_way = self.level < len(self.texts) and bool(desk.waiting)

    def note(self, analysis: Analysis) -> None:
        """Keep what is known so far."""
        self.latest = analysis


class Desk:
    """Where thoughts are thought: so many at a time, the others wait in a queue."""

    def __init__(self, places: int = 2, make: Callable[[str, Game], Player] = make_player):
        self.places, self.make = places, make
        self.lock = threading.Condition()
        self.waiting: deque[Thought] = deque()
        self.running: list[Thought] = []
        self.idle: list[tuple[str, str, Player]] = []
        self.closed = False
        self.threads: list[threading.Thread] = []

    def open(self) -> None:
        """Start the threads, if they do not run."""
        if not self.threads:
            work = [threading.Thread(target=self.work, daemon=True, name=f"thought-{i}") for i in range(self.places)]
            self.threads = [*work, threading.Thread(target=self.sweep, daemon=True, name="leases")]
            for thread in self.threads:
                thread.start()

    def submit(self, thought: Thought) -> Thought:
        """Put a thought into the queue; one too many fails at once."""
        with self.lock:
            self.open()
            own = sum(other.owner == thought.owner for other in (*self.waiting, *self.running)) if thought.owner else 0
            if self.closed or len(self.waiting) >= MOST_WAITING or own >= MOST_OF_OWNER:
                thought.failure = "too many searches are waiting; try again in a moment"
                thought.refused = True
                thought.ended.set()
            else:
                thought.looked = time.monotonic()
                self.waiting.append(thought)
                self.lock.notify_all()
        return thought

    def place_of(self, thought: Thought) -> int:
        """Return how many thoughts come first; 0 if it is being thought, or was."""
        with self.lock:
            queue = sorted(self.waiting, key=lambda one: not one.urgent)
            return queue.index(thought) + 1 if thought in queue else 0

    def work(self) -> None:
        """Think one thought after another."""
        while (thought := self.next()) is not None:
            try:
                thought.work(self)
            except Exception as error:  # a mistake must not take a thread with it
                thought.failure = f"{type(error).__name__}: {error}"
            finally:
                self.put_down(thought)

    def put_down(self, thought: Thought) -> None:
        """End a thought, or let it wait for its next turn if it has only given way to others."""
        with self.lock:
            self.running.remove(thought)
            if thought.gives_way and not thought.failure and not self.closed:
                self.waiting.append(thought)
            else:
                thought.ended.set()
            self.lock.notify_all()

    def next(self) -> Thought | None:
        """Wait for a thought that is still wanted; None when the desk is closed."""
        with self.lock:
            while not self.closed:
                self.drop_unwanted()
                if (thought := self.first()) is not None:
                    self.waiting.remove(thought)
                    thought.begun = True
                    self.running.append(thought)
                    return thought
                self.lock.wait()
        return None

    def drop_unwanted(self) -> None:
        """Take out of the queue what nobody waits for any more."""
        for thought in [one for one in self.waiting if one.stop[0] or one.is_stale]:
            self.waiting.remove(thought)
            thought.cancel()
            thought.failure = "nobody waited for it"
            thought.ended.set()

    def first(self) -> Thought | None:
        """Return what comes next: a game that stands still, else an analysis, which leaves one place for games."""
        urgent = next((thought for thought in self.waiting if thought.urgent), None)
        if urgent is not None:
            return urgent
        others = sum(not thought.urgent for thought in self.running)
        return self.waiting[0] if self.waiting and others < max(1, self.places - 1) else None

    def ask(self, thought: Thought, text: str) -> None:
        """Find a player and let it decide; what goes wrong is told in words."""
        try:
            player = self.borrow(thought, text)
        except (BadInput, PlayerFailed, OSError) as error:
            thought.failure = str(error)
            return
        try:
            thought.think(player)
        except (BadInput, PlayerFailed, OSError) as error:
            thought.failure = str(error)
        except Exception as error:  # a player with a mistake is not used again
            thought.failure = f"{text} failed: {type(error).__name__}: {error}"
        if thought.failure:
            with suppress(Exception):
                player.close()
        else:
            self.give_back(thought, text, player)

    def borrow(self, thought: Thought, text: str) -> Player:
        """Return a player that nobody uses, or make one."""
        wanted = (text, thought.game.spec)
        with self.lock:
            for entry in self.idle:
                if entry[:2] == wanted:
                    self.idle.remove(entry)
                    return entry[2]
        player = self.make(text, thought.game)
        try:
            player.new_game(thought.turn(player).start, thought.position.mover)
        except BaseException:
            player.close()
            raise
        return player

    def give_back(self, thought: Thought, text: str, player: Player) -> None:
        """Keep a player for the next move; the one longest unused goes."""
        if isinstance(player, Analyst):
            player.report = None
        with self.lock:
            self.idle.append((text, thought.game.spec, player))
            gone = self.idle.pop(0)[2] if len(self.idle) > IDLE_PLAYERS else None
        if gone is not None:
            gone.close()

    def sweep(self) -> None:
        """Stop what nobody looks at."""
        while not self.closed:
            with self.lock:
                thoughts = [*self.running, *self.waiting]
            for thought in thoughts:
                if thought.is_stale:
                    thought.cancel()
            time.sleep(SWEEP)

    def close(self) -> None:
        """Stop everything and free the players."""
        with self.lock:
            self.closed = True
            for thought in [*self.running, *self.waiting]:
                thought.cancel()
            idle, self.idle = self.idle, []
            self.lock.notify_all()
        for *_, player in idle:
            with suppress(Exception):
                player.close()
