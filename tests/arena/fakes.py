"""Players for tests of matches: simple, and wrong in many ways."""

from __future__ import annotations

import threading
import time

from rookery.arena.player import Choice, Player, PlayerFailed
from rookery.games.rng import random_below


class Lowest(Player):
    """Always the first legal move: no chance in it."""

    name = "lowest"

    def choose(self, turn):
        return Choice(int(turn.position.legal()[0]))


class Seeded(Player):
    """Any legal move, by the seed of the turn."""

    name = "seeded"

    def choose(self, turn):
        legal = turn.position.legal()
        return Choice(int(legal[random_below(len(legal), turn.seed, 0, 0)]))


class Batched(Seeded):
    """The same for many games together; remembers how many it was asked for."""

    name = "batched"

    def __init__(self):
        self.asked = []

    def choose_many(self, turns):
        self.asked.append(len(turns))
        return [self.choose(turn) for turn in turns]


class Keeper(Seeded):
    """Keeps what it was handed."""

    name = "keeper"

    def __init__(self):
        self.turns, self.begun, self.closed = [], [], 0

    def choose(self, turn):
        self.turns.append(turn)
        return super().choose(turn)

    def new_game(self, start, seat):
        self.begun.append((start, seat))

    def close(self):
        self.closed += 1


class Oracle(Keeper):
    name = "oracle:keeper"
    sees_all = True


class Failing(Seeded):
    """Goes wrong at its third move of a game."""

    name = "failing"

    def __init__(self, how):
        self.how = how

    def choose(self, turn):
        if len(turn.moves) < 5:
            return super().choose(turn)
        return self.how(turn)


def give_up(turn):
    raise PlayerFailed("the engine has died")


def stumble(turn):
    return [][1]


def play_taken(turn):
    return Choice(next(a for a in range(turn.position.game.actions) if a not in turn.position.legal()))


def play_nowhere(turn):
    return Choice(10**9)


def say_nothing(turn):
    return None


def say_a_word(turn):
    return Choice("e2e4")


FAILURES = {
    give_up: "failing: the engine has died",
    stumble: "failing: IndexError: list index out of range",
    play_taken: "failing: illegal move: ",
    play_nowhere: "failing: illegal move: 1000000000",
    say_nothing: "failing: illegal move: None",
    say_a_word: "failing: illegal move: 'e2e4'",
}


class Slow(Seeded):
    """Takes its time, unless told to stop."""

    name = "slow"

    def __init__(self, seconds):
        self.seconds, self.clocks = seconds, []

    def choose(self, turn):
        self.clocks.append((turn.clock, turn.increment, turn.seconds))
        limit = time.perf_counter() + self.seconds
        while time.perf_counter() < limit and not turn.stop[0]:
            time.sleep(0.001)
        return super().choose(turn)


class Crowded(Seeded):
    """Fails if two threads use it at once."""

    name = "crowded"

    def __init__(self):
        self.lock = threading.Lock()

    def choose(self, turn):
        if not self.lock.acquire(blocking=False):
            raise PlayerFailed("two threads at once")
        try:
            time.sleep(0.0005)
            return super().choose(turn)
        finally:
            self.lock.release()
