"""Where games are played: one after another by two players, or many at once by players that choose together."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from rookery.arena.player import Player, PlayerFailed, Turn
from rookery.arena.running import Answer, RunningGame, failure

if TYPE_CHECKING:
    from rookery.arena.crew import Crew

Timed = tuple[Answer, float]
"""an answer and the seconds it took"""


def gains_from_many(player: Player) -> bool:
    """Tell whether a player chooses for many games in a way of its own."""
    return type(player).choose_many is not Player.choose_many


def ask(player: Player, turn: Turn) -> Timed:
    """Ask a player for one move; whatever it raises is its failure, unless a person can mend it."""
    begun = time.perf_counter()
    answer: Answer
    try:
        answer = player.choose(turn)
    except Exception as error:
        answer = PlayerFailed(failure(player, error))
    return answer, time.perf_counter() - begun


def ask_many(player: Player, turns: Sequence[Turn]) -> list[Timed]:
    """Ask a player for many games; if that fails, for each alone, so that no more games are lost than must be."""
    begun = time.perf_counter()
    try:
        choices = list(player.choose_many(turns))
        if len(choices) != len(turns):
            raise PlayerFailed(f"{len(choices)} choices for {len(turns)} games")
    except Exception:
        return [ask(player, turn) for turn in turns]
    share = (time.perf_counter() - begun) / len(turns)
    return [(choice, share) for choice in choices]


class Apart:
    """Two players who play one game after another."""

    def __init__(self, crew: Crew, players: tuple[Player, Player]):
        self.crew, self.players = crew, players

    def run(self) -> None:
        """Play until no game is left or the match is stopped."""
        while not self.crew.is_stopped() and (plan := self.crew.plans.take()) is not None:
            game = self.crew.new_game(plan, self.players)
            while game.score is None and not self.crew.is_stopped():
                answer, seconds = ask(game.player, game.turn())
                if not self.crew.is_stopped():  # an answer given because of the stop is no move
                    game.take(answer, seconds)
            if game.score is not None:
                self.crew.ended.put(game.record())


class Together:
    """Many games at once. A side has one player for all games, or one for each slot, asked on threads."""

    def __init__(self, crew: Crew, sides: tuple[list[Player], list[Player]], slots: int):
        self.crew, self.sides, self.slots = crew, sides, slots
        self.games: dict[int, RunningGame] = {}

    def run(self) -> None:
        """Play until no game is left or the match is stopped."""
        with ThreadPoolExecutor(max(map(len, self.sides))) as pool:
            while not self.crew.is_stopped():
                self.fill()
                if not self.games:
                    return
                for side in (0, 1):
                    self.move(side, pool)

    def player(self, side: int, slot: int) -> Player:
        """Return who plays for a side in a slot."""
        players = self.sides[side]
        return players[slot] if len(players) > 1 else players[0]

    def fill(self) -> None:
        """Begin a game in every free slot, as long as there are any."""
        for slot in range(self.slots):
            while slot not in self.games and (plan := self.crew.plans.take()) is not None:
                game = self.crew.new_game(plan, (self.player(0, slot), self.player(1, slot)))
                self.games[slot] = game
                self.clear(slot)

    def clear(self, slot: int) -> None:
        """Hand over the game of a slot if it has ended."""
        if self.games[slot].score is not None:
            self.crew.ended.put(self.games.pop(slot).record())

    def move(self, side: int, pool: ThreadPoolExecutor) -> None:
        """Let one side move in every game in which it is its turn."""
        slots = [slot for slot, game in self.games.items() if game.side == side]
        if not slots or self.crew.is_stopped():
            return
        turns = [self.games[slot].turn() for slot in slots]
        if len(self.sides[side]) == 1 and gains_from_many(self.sides[side][0]):
            answers = ask_many(self.sides[side][0], turns)
        else:
            answers = list(pool.map(ask, [self.player(side, slot) for slot in slots], turns))
        if self.crew.is_stopped():  # answers given because of the stop are no moves
            return
        for slot, (answer, seconds) in zip(slots, answers, strict=True):
            self.games[slot].take(answer, seconds)
            self.clear(slot)
