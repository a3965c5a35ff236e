"""Who plays the games of a match: threads, the players they hold, and the queue of games that have ended."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

from rookery.arena.openings import Opening, Openings
from rookery.arena.player import Player
from rookery.arena.records import GameRecord
from rookery.arena.running import Plan, RunningGame
from rookery.arena.tables import Apart, Together, gains_from_many
from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.search.threads import new_stop

if TYPE_CHECKING:
    from rookery.arena.matches import MatchSettings

Maker = Callable[[], Player]
PATIENCE = 10.0  # seconds in which players that are told to stop should do so


class Source(Protocol):
    """Where games to be played come from."""

    def take(self) -> Plan | None:
        """Return the next game; None if there are no more."""


class Plans:
    """The games of a match in order, handed out to whoever is free."""

    def __init__(self, game: Game, settings: MatchSettings):
        self.openings = Openings(game, settings.opening, settings.seed)
        self.most_plies, self.known = settings.most_plies, settings.known
        self.plans = self.paired(settings.games)
        self.lock = threading.Lock()

    def paired(self, games: int) -> Iterator[Plan]:
        """Yield two games for each opening, the second with the seats swapped."""
        openings = iter(self.openings)
        for pair in range(games // 2):
            opening = self.checked(next(openings))
            if pair in self.known:
                continue
            yield Plan(2 * pair, opening, (0, 1))
            yield Plan(2 * pair + 1, opening, (1, 0))

    def checked(self, opening: Opening) -> Opening:
        """Refuse an opening after which nobody would make a move."""
        plies = len(opening.moves)
        if self.most_plies is not None and plies >= self.most_plies:
            raise BadInput(
                f"the limit of plies must leave something to play: it is {self.most_plies}, and an opening of "
                f"{self.openings.text!r} has {plies} moves"
            )
        return opening

    def take(self) -> Plan | None:
        """Return the next game; None if there are no more."""
        with self.lock:
            return next(self.plans, None)


class Crew:
    """The threads on which a match is played, their players, and the queue of games that have ended."""

    def __init__(self, makers: tuple[Maker, Maker], plans: Source, settings: MatchSettings):
        self.plans, self.settings = plans, settings
        self.stop = new_stop()
        self.ended: queue.SimpleQueue[GameRecord | BaseException | None] = queue.SimpleQueue()
        self.trouble: BaseException | None = None  # what ended a thread
        self.made: list[Player] = []
        try:
            self.workers = self.set_up(makers)
        except BaseException:
            self.close_players()
            raise
        self.names = (self.made[0].name, self.made[1].name)
        self.threads = [threading.Thread(target=self.work, args=[worker], daemon=True) for worker in self.workers]
        self.running = len(self.threads)

    def set_up(self, makers: tuple[Maker, Maker]) -> list[Apart | Together]:
        """Make the players and say who plays where."""
        settings = self.settings
        sides = [[self.make(maker)] for maker in makers]
        many = [gains_from_many(players[0]) for players in sides]
        slots = min(settings.games, settings.at_once if all(many) else settings.threads)
        if settings.time_control or not any(many):
            slots = min(settings.games, settings.threads)
            many = [False, False]
        if any(player.at_terminal for player in self.made):
            slots = 1
        for side, maker in enumerate(makers):
            if not many[side]:
                sides[side] += [self.make(maker) for _ in range(slots - 1)]
        if any(many):
            return [Together(self, (sides[0], sides[1]), slots)]
        return [Apart(self, (sides[0][slot], sides[1][slot])) for slot in range(slots)]

    def make(self, maker: Maker) -> Player:
        """Make a player, to be closed at the end."""
        self.made.append(maker())
        return self.made[-1]

    def start(self) -> None:
        """Begin to play."""
        for thread in self.threads:
            thread.start()

    def work(self, worker: Apart | Together) -> None:
        """Let a worker play until nothing is left; whatever goes wrong is told to the caller's thread."""
        try:
            worker.run()
            self.ended.put(None)
        except BaseException as error:
            self.ended.put(error)

    def new_game(self, plan: Plan, players: tuple[Player, Player]) -> RunningGame:
        """Begin a game."""
        game = RunningGame(plan, players, self.settings.seed, self.stop)
        game.begin(self.settings.time_control, self.settings.most_plies)
        return game

    def next_record(self) -> GameRecord | None:
        """Wait for the next game that ends; None if there will be no more, or a thread has come to grief."""
        while self.running and not self.trouble:
            ended = self.ended.get()
            if isinstance(ended, GameRecord):
                return ended
            self.trouble = ended
            self.running -= 1
        return None

    def left_over(self) -> Iterator[GameRecord]:
        """Yield the games that have ended and were not taken in."""
        while not self.ended.empty():
            ended = self.ended.get()
            if isinstance(ended, GameRecord):
                yield ended

    def halt(self) -> None:
        """Stop all threads, leaving their games unfinished; one that does not listen is waited for once."""
        patience = 0.0 if self.is_stopped() else PATIENCE
        self.stop[0] = 1
        limit = time.monotonic() + patience
        for thread in self.threads:
            if thread.ident is not None:
                thread.join(max(0.0, limit - time.monotonic()))

    def close(self) -> None:
        """Stop all threads and close the players."""
        self.halt()
        self.close_players()

    def close_players(self) -> None:
        """Close every player, whatever the others do."""
        for player in self.made:
            with contextlib.suppress(Exception):  # the match is over; there is nobody left to lose a game
                player.close()

    def is_stopped(self) -> bool:
        """Tell whether games are to be left unfinished."""
        return bool(self.stop[0])
