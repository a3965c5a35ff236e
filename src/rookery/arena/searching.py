"""Players that search: one adapter for all searches, and how they spend a clock.

A search is a function `search(position, limits, watch, **settings) -> Analysis`. It is named by its module and imported
when it is first asked, for importing it may mean compiling it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from importlib import import_module
from typing import Any, Protocol

from rookery.arena.player import Choice, Player, Turn
from rookery.games.position import Action, Position, Seat
from rookery.games.rng import random_below
from rookery.search.analysis import Analysis, Limits, Line, Watch

MOVES_AHEAD = 30  # a clock is shared out over so many moves
RESERVE = 0.05  # seconds of a clock that are not shared out: a search ends a little late
INCREMENT_SHARE = 0.75  # of the increment is spent at once
MOST_OF_CLOCK = 0.4  # of what is left, at most, for one move
LEAST = 0.001  # seconds; a search that has run out of time still answers


class Search(Protocol):
    """What looks for a move."""

    def __call__(self, position: Position, limits: Limits, watch: Watch | None = None, **settings: Any) -> Analysis: ...


def imported_search(module: str) -> Search:
    """Return the search of a module."""
    search: Search = import_module(module).search
    return search


def seconds_for(turn: Turn, own: float | None) -> float | None:
    """Return the time for a move: the least of the player's own, the turn's and a share of the clock; None if free."""
    times = [seconds for seconds in (own, turn.seconds) if seconds is not None]
    if turn.clock is not None:
        left = turn.clock[turn.position.mover] - RESERVE
        times.append(min(left / MOVES_AHEAD + INCREMENT_SHARE * turn.increment, MOST_OF_CLOCK * left))
    return max(LEAST, min(times)) if times else None


class Analyst(Player):
    """A player that can show what it thinks."""

    report: Callable[[Analysis], None] | None = None
    """called during a search with what is known so far"""
    lines_wanted: int = 1
    """how many moves to value, for those who want to see more than the best; some value all of them anyway"""

    def advice(self, turn: Turn) -> str:
        """Say which move to make and why, in a line or more."""
        choice = self.choose(turn)
        move, found = turn.position.move_text(choice.action), choice.analysis
        return f"{self.name} would play {move}" + (f": value {found.value:+.3f}" if found else "")


class SearchPlayer(Analyst):
    """A player that plays what a search finds."""

    def __init__(
        self,
        module: str,
        limits: Limits,
        usual: Limits,
        settings: Mapping[str, Any] | None = None,
        takes: Collection[str] = (),
    ):
        """Make a player of the search of a module.

        usual  limits that hold where neither `limits` nor a turn says anything
        takes  what the search wants to be told beside its settings: seed, stream, lines, ply
        """
        self.module, self.limits, self.usual = module, limits, usual
        self.settings, self.takes = dict(settings or {}), takes
        self.prepared = False

    @cached_property
    def search(self) -> Search:
        """The search itself."""
        return imported_search(self.module)

    def prepare(self, start: Position) -> None:
        """Compile the search, by a look at a position after one move: the first one is often answered by heart."""
        position = start.copy()
        if not self.prepared and not position.over:
            position.play(int(position.legal()[0]))
            least = Limits(depth=1) if self.limits.depth or self.usual.depth else Limits(nodes=1)
            self.search(start if position.over else position, least, **self.settings)
            self.prepared = True

    def new_game(self, start: Position, seat: Seat) -> None:
        """Compile the search if that is not done, so that no clock runs meanwhile."""
        self.prepare(start)

    def limits_for(self, turn: Turn) -> Limits:
        """Say what a search may spend on a move."""
        limits = Limits(self.limits.depth, self.limits.nodes, seconds_for(turn, self.limits.seconds))
        return self.usual if limits == Limits() else limits

    def choose(self, turn: Turn) -> Choice:
        """Search, and play what is found."""
        analysis = self.analyse(turn)
        return Choice(analysis.action, analysis)

    def analyse(self, turn: Turn) -> Analysis:
        """Search a turn."""
        limits, search = self.limits_for(turn), self.search  # importing it takes none of its time
        watch = Watch(seconds=limits.seconds, stop=turn.stop, report=self.report)
        lines = max(1, min(self.lines_wanted, turn.position.game.most_legal))
        told = {"seed": turn.seed, "stream": turn.seed, "lines": lines, "ply": len(turn.moves)}
        wanted = {name: value for name, value in told.items() if name in self.takes}
        return search(turn.position, limits, watch, **self.settings, **wanted)


class GreedyPlayer(SearchPlayer):
    """A player that wins at once if it can, by the seed if in several ways."""

    def choose(self, turn: Turn) -> Choice:
        """Take a win, else what the search finds."""
        wins = winning_moves(turn.position)
        if not wins:
            return super().choose(turn)
        win = wins[random_below(len(wins), turn.seed, 0, 0)]
        return Choice(win, Analysis(win, 1.0, (Line(win, 1.0, moves=(win,)),), 0, 1, True, "wins at once"))


def winning_moves(position: Position) -> list[Action]:
    """List the moves that end the game with the best result for the mover, if that is a win."""
    results: dict[Action, float] = {}
    for action in position.legal():
        after = position.copy()
        after.play(int(action))
        if after.over:
            results[int(action)] = after.payoff(position.mover)
    best = max(results.values(), default=0.0)
    return [action for action, result in results.items() if result == best] if best > 0 else []
