"""Players of Texas 42 that value plays in points: by worlds their seat thinks possible, or with all hands open.

In the auction they bid as the plain player does.
"""

from __future__ import annotations

import numpy as np

from rookery.arena.player import Choice, Turn
from rookery.arena.searching import Analyst
from rookery.arena.texas42_heuristic import in_auction
from rookery.arena.texas42_report import known_lines, play_lines
from rookery.games.library import load
from rookery.games.position import Position, Seat
from rookery.games.rng import random_below
from rookery.games.texas42_auction import ALL_POINTS, PLAYING
from rookery.games.texas42_tiles import NOT_NAMED, tiles_text
from rookery.search.analysis import Analysis, Line
from rookery.search.expected import Exact, Expected, Oracle, expected
from rookery.search.posterior import Habits
from rookery.search.threads import Stopped
from rookery.search.worlds import Worlds


def lead_of(position: Position) -> int:
    """Return the points the mover's team has taken more than the other; 0 where points do not count."""
    if position.state["declaration"] > NOT_NAMED:
        return 0
    team, taken = position.mover & 1, position.state["points"].astype(int)
    return int(taken[team] - taken[1 - team])


class PointsPlayer(Analyst):
    """A player that knows what its plays are worth."""

    def __init__(self, threads: int = 1):
        self.exact = Exact(threads)

    def prepare(self, start: Position) -> None:
        """Compile what is needed, on a deal of its own."""
        expected(load("texas42").start(1), 1, oracle=self.exact)

    def new_game(self, start: Position, seat: Seat) -> None:
        """Compile before a clock runs."""
        self.prepare(start)

    def choose(self, turn: Turn) -> Choice:
        """Choose the best play; one that is told to stop takes any."""
        if turn.position.state["phase"] != PLAYING:
            return Choice(in_auction(turn.position))
        self.exact.stop = turn.stop
        try:
            analysis = self.analyse(turn)
        except Stopped:
            return Choice(int(turn.position.legal()[0]))
        return Choice(analysis.action, analysis)

    def advice(self, turn: Turn) -> str:
        """Say which play to make and what it is worth; in the auction, that a rule of thumb says so."""
        told, position = super().advice(turn), turn.position
        if position.state["phase"] == PLAYING:
            return told
        hand = tiles_text([int(tile) for tile in position.state["tiles"][position.mover]])
        return f"{told}, by a rule of thumb; `rookery bid {position.game.spec} {hand}` tells how often bids are made"

    def analyse(self, turn: Turn) -> Analysis:
        """Value the plays of a turn."""
        raise NotImplementedError


class ExpectedPlayer(PointsPlayer):
    """A player that averages over the worlds its seat thinks possible."""

    def __init__(
        self, worlds: int = 100, choice: str = "mean", habits: Habits | None = None, threads: int = 1,
        oracle: Oracle | None = None,
    ):  # fmt: skip
        super().__init__(threads)
        self.worlds, self.rule, self.habits = worlds, choice, habits
        self.oracle: Oracle = oracle or self.exact

    def prepare(self, start: Position) -> None:
        """Compile what is needed, on a deal of its own."""
        expected(load("texas42").start(1), 1, oracle=self.oracle)

    def expected(self, turn: Turn) -> Expected:
        """Draw worlds by the seed and value the plays in points."""
        return expected(turn.position, self.worlds, turn.seed, self.oracle, habits=self.habits)

    def advice(self, turn: Turn) -> str:
        """Say what each play is worth in points, and how likely the bid is made."""
        if turn.position.state["phase"] != PLAYING:
            return super().advice(turn)
        self.exact.stop = turn.stop
        known, found = known_lines(turn.position, Worlds(turn.position)), self.expected(turn)
        return "\n".join([*known, *play_lines(turn.position, found, rule=self.rule)])

    def analyse(self, turn: Turn) -> Analysis:
        """Value the plays in [-1, 1]."""
        found = self.expected(turn)
        values = values_of(found, self.rule, lead_of(turn.position))
        chosen = found.choice(self.rule)
        order = sorted(np.flatnonzero(found.legal), key=lambda slot: (slot != chosen, -values[slot]))
        lines = tuple(Line(int(slot), float(values[slot]), found.worlds) for slot in order)
        return Analysis(chosen, lines[0].value, lines, found.worlds, note=note_of(found))


def values_of(found: Expected, rule: str, lead: int) -> np.ndarray:
    """Return what plays [7] are worth in [-1, 1]: the final difference of points over 42, or chances of the bid."""
    return (found.mean + lead) / ALL_POINTS if rule == "mean" else 2.0 * found.success - 1.0


def note_of(found: Expected) -> str:
    """Say how many worlds were looked at."""
    if found.complete:
        return f"all {found.worlds:,} worlds"
    return f"{found.worlds:,} worlds" + (f", effective {found.effective:.0f}" if found.effective < found.worlds else "")


class OpenPlayer(PointsPlayer):
    """A player that sees all hands and plays what is best against the best play of all; ties by the seed."""

    def analyse(self, turn: Turn) -> Analysis:
        """Solve the position."""
        q, slots = self.exact(turn.position.states)[0], turn.position.legal()
        best = [int(slot) for slot in slots if q[slot] == q[slots].max()]
        chosen, lead = best[random_below(len(best), turn.seed, 0, 0)], lead_of(turn.position)
        order = sorted(slots, key=lambda slot: (slot != chosen, -q[slot]))
        lines = tuple(Line(int(slot), float(q[slot] + lead) / ALL_POINTS) for slot in order)
        return Analysis(chosen, lines[0].value, lines, 1, proven=True)
