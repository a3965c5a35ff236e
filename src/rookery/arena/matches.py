"""Matches: pairs of games from the same opening with the seats swapped, many at once, the same for the same seed.

What a game becomes depends on its number, the seed and the players, not on how many are played beside it: openings
are drawn in order, and every decision has a seed of its own. A sequential test looks at the pairs in order, too, so
it stops after the same pair however many were under way.

Players that choose for many games together (they have a `choose_many` of their own) are asked for all games in
which they are to move; all others play one game after another, on as many threads as are given, each thread with
players of its own. With a time control every game is played apart, so that a clock shows a player's own time.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from rookery.arena.clocks import TimeControl
from rookery.arena.crew import Crew, Maker, Plans
from rookery.arena.pairs import count_pairs
from rookery.arena.records import GameRecord
from rookery.arena.score import Score
from rookery.arena.sprt import Sprt
from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.options import whole_number
from rookery.search.threads import MOST_THREADS

MOST_GAMES = 10_000_000
AT_ONCE = 64  # games of players that choose together


@dataclass(frozen=True)
class MatchSettings:
    """How a match is played."""

    games: int = 200
    """at most so many, an even number"""
    seed: int = 0
    """same seed, same games"""
    opening: str | None = None
    """what `Openings` reads; None for the game's usual ones"""
    time_control: TimeControl | None = None
    sprt: Sprt | None = None
    """stop as soon as this test is decided"""
    threads: int = 1
    at_once: int = AT_ONCE
    """games of players that choose for many together"""
    most_plies: int | None = None
    """a game with so many moves is a draw"""
    known: frozenset[int] = frozenset()
    """numbers of pairs that are not played, since somebody knows them from before"""

    def __post_init__(self) -> None:
        if whole_number("games", self.games, 2, MOST_GAMES) % 2:
            raise BadInput(f"games must be an even number, since they are played in pairs, not {self.games}")
        whole_number("seed", self.seed, -(2**63), 2**63 - 1)
        whole_number("threads", self.threads, 1, MOST_THREADS)
        whole_number("games at once", self.at_once, 1, MOST_GAMES)
        if self.most_plies is not None:
            whole_number("the limit of plies", self.most_plies, 1, 2**31)
        if self.known and self.sprt:
            raise BadInput("a sequential test needs all pairs from the first on; none may be known from before")


@dataclass
class Match:
    """A match and what has come of it so far; scores are those of the first player."""

    game: Game
    names: tuple[str, str]
    settings: MatchSettings
    openings: str
    """text of the openings"""
    identity: str = field(default_factory=lambda: uuid.uuid4().hex)
    records: dict[int, GameRecord] = field(default_factory=dict)
    """finished games by number"""
    ordered: list[tuple[float, float]] = field(default_factory=list)
    """scores of the pairs from the first on, as long as none is missing"""
    verdict: str = ""
    """of the sequential test: H0, H1 or nothing"""
    interrupted: bool = False

    def score_of(self, number: int) -> float:
        """Return the first player's score in a finished game; it holds team 0 in even games."""
        return self.records[number].score_of(number % 2)

    def add(self, record: GameRecord) -> None:
        """Take in a finished game, and put the test to every pair that is now complete."""
        self.records[record.number] = record
        while not self.verdict and (pair := self.pair(len(self.ordered))) is not None:
            self.ordered.append(pair)
            if self.settings.sprt:
                self.verdict = self.settings.sprt.verdict(count_pairs(self.ordered))

    def pair(self, number: int) -> tuple[float, float] | None:
        """Return the scores of a pair; None if one of its games is missing."""
        games = (2 * number, 2 * number + 1)
        return (self.score_of(games[0]), self.score_of(games[1])) if all(g in self.records for g in games) else None

    @property
    def score(self) -> Score:
        """Result over the pairs that count: those up to the verdict, or all that are complete."""
        if self.verdict:
            return Score(tuple(self.ordered))
        pairs = (self.pair(number) for number in sorted({number // 2 for number in self.records}))
        return Score(tuple(pair for pair in pairs if pair is not None))

    @property
    def counted(self) -> list[GameRecord]:
        """The games of the pairs that count."""
        last = len(self.ordered) if self.verdict else self.settings.games // 2
        return [
            record
            for number, record in sorted(self.records.items())
            if number // 2 < last and self.pair(number // 2) is not None
        ]

    @property
    def ratio(self) -> float | None:
        """Log-likelihood ratio of the sequential test; None if there is none."""
        return self.settings.sprt.ratio(self.score.counts) if self.settings.sprt else None

    @property
    def reasons(self) -> Counter[str]:
        """How often games ended for each reason."""
        return Counter(record.reason for record in self.counted)

    @property
    def first_team_score(self) -> float:
        """Points a game of the team that begins; 1/2 before anything is played."""
        scores = [record.first_score for record in self.counted]
        return sum(scores) / len(scores) if scores else 0.5

    def _repr_html_(self) -> str:
        """Show the result in a notebook."""
        from rookery.arena.shown import match_html

        return match_html(self)

    def seconds_a_move(self, side: int) -> float:
        """Return the mean thinking time of a player for a move, over the games that count."""
        seconds, moves = 0.0, 0.0
        for record in self.counted:
            seconds += record.seconds[(record.number + side) % 2]
            moves += (len(record.moves) - record.opening) / 2
        return seconds / moves if moves else 0.0


class Playing(Protocol):
    """Whoever plays the games of a match: a `Crew` of threads, or workers elsewhere."""

    names: tuple[str, str]
    trouble: BaseException | None

    def start(self) -> None:
        """Begin to play."""

    def next_record(self) -> GameRecord | None:
        """Wait for the next game that ends; None if there will be no more, or something has gone wrong."""

    def left_over(self) -> Iterator[GameRecord]:
        """Yield the games that have ended and were not taken in."""

    def halt(self) -> None:
        """Stop, leaving games unfinished."""

    def close(self) -> None:
        """Stop, and let the players go."""


Hire = Callable[[tuple[Maker, Maker], Plans, MatchSettings], Playing]


def play_match(
    game: Game,
    first: Maker,
    second: Maker,
    settings: MatchSettings,
    finished: Callable[[Match, GameRecord], None] | None = None,
    hire: Hire = Crew,
) -> Match:
    """Play a match and return what came of it.

    `first` and `second` make a player each time they are called, since several games may be under way. `hire` says who
    plays. `finished` is called for every game as it ends, in the thread of the caller. An interrupt ends the match;
    what is finished counts, and is reported, the game in whose report the interrupt fell a second time. What a person
    can mend, such as a position that a player refuses, ends the match with an error, once what is finished has been
    reported.
    """
    if sorted(set(game.teams)) != [0, 1]:
        raise BadInput(f"a match needs a game of two teams, 0 and 1; those of {game.spec} are {game.teams}")
    plans = Plans(game, settings)
    plans.checked(next(iter(plans.openings)))  # a wrong file of openings is told before players are made
    crew = hire((first, second), plans, settings)
    try:
        match = Match(game, crew.names, settings, plans.openings.text)
        collector = Collector(match, crew, finished)
        crew.start()
        try:
            collector.until_decided()
        except KeyboardInterrupt:
            match.interrupted = True
        crew.halt()
        collector.rest()
        if crew.trouble:
            raise crew.trouble
        return match
    finally:
        crew.close()


class Collector:
    """Takes in the games of a crew as they end."""

    def __init__(self, match: Match, crew: Playing, finished: Callable[[Match, GameRecord], None] | None):
        self.match, self.crew, self.finished = match, crew, finished
        self.untold: GameRecord | None = None  # whose report was interrupted

    def until_decided(self) -> None:
        """Take in games until all are there or the test is decided."""
        while not self.match.verdict and (record := self.crew.next_record()) is not None:
            self.add(record)

    def add(self, record: GameRecord) -> None:
        """Take in a game and report it."""
        self.untold = record = record.seated(self.match.identity, datetime.now(UTC).isoformat(timespec="seconds"))
        self.match.add(record)
        self.tell()

    def tell(self) -> None:
        """Report the last game; after an interrupt this may be the second time."""
        if self.untold and self.finished:
            self.finished(self.match, self.untold)
        self.untold = None

    def rest(self) -> None:
        """Take in the games that had ended before the crew stopped."""
        self.tell()
        for record in self.crew.left_over():
            self.add(record)
