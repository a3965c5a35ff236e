"""Rating the checkpoints of runs: anchors meet each other, all others meet the anchors, and one fit rates them all.

Anchors of a run are all its checkpoints if these are ten or fewer, else the first, one in every so many games, and
the latest. Reference players that belong to no run meet everybody, as anchors do; `random` is always one of them and
is 0, so that ratings of all runs are on one scale.

Every pairing is a match in pairs of games from random openings, whose seed follows from who plays. Its games are kept
in the folder of a run once it is over: a rating that was interrupted goes on after the last whole match, and a later
one plays only what is missing. In that file a network is named by its file and a checksum of its content, so that
folders may be moved and a checkpoint that was made anew is another player.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any

from rookery.arena.ledger import Ledger
from rookery.arena.matches import Match, MatchSettings, play_match
from rookery.arena.openings import usual_openings
from rookery.arena.player import Player
from rookery.arena.players import make_player
from rookery.arena.ratings import REFERENCE, Rating, Ratings, Result, fit
from rookery.arena.records import GameRecord
from rookery.arena.texts import quoted_word
from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.options import whole_number
from rookery.learn.runs import Run

LEDGER = "ratings.sqlite"
ALL_ANCHORS = 10
"""checkpoints of a run up to which all are anchors"""
LABELS = ((1050, "Baseline"), (1150, "Beginner"), (1300, "Novice"), (1500, "Intermediate"), (1700, "Advanced"))
"""ratings below which a label holds: the original's for training"""
BEST_LABEL = "Expert"
MOST_AT_ONCE = 256  # games of a match
PLAYERS_KEPT = 64  # networks that wait for their next match in memory


@dataclass(frozen=True)
class RatingSettings:
    """How checkpoints are rated."""

    games: int = 40
    """of a checkpoint against each anchor"""
    round_robin_games: int = 50
    """of each two anchors"""
    simulations: int = 32
    """a move"""
    anchor_spacing: int = 10_000
    """games of self-play from one anchor of a run to the next"""
    references: tuple[str, ...] = ("alphabeta:depth=1", "alphabeta:depth=3")
    """players that belong to no run, beside `random`"""
    opening: str | None = None
    """what `Openings` reads; None for the game's usual ones"""
    seed: int = 0
    """same seed, same games"""
    threads: int = 1
    """for players that do not choose for many games together"""
    again: bool = False
    """whether checkpoints that are rated are rated anew"""

    def __post_init__(self) -> None:
        for name in ("games", "round_robin_games"):
            if whole_number(name.replace("_", "-"), getattr(self, name), 2, 1_000_000) % 2:
                raise BadInput(f"{name.replace('_', '-')} must be even, since games are played in pairs")
        whole_number("search-iters", self.simulations, 1, 1 << 30)
        whole_number("anchor-spacing", self.anchor_spacing, 1, 1 << 31)


@dataclass(frozen=True)
class Entry:
    """A checkpoint to be rated."""

    run: Run
    step: int
    path: Path
    name: str
    """of the player it is"""
    anchor: bool
    rated: bool
    """whether the manifest has a rating of it"""


@dataclass(frozen=True)
class Pairing:
    """Two players who are to meet."""

    names: tuple[str, str]
    games: int
    home: Path
    """the ledger that keeps the games"""


def label_of(elo: float) -> str:
    """Put a rating into a word."""
    return next((label for limit, label in LABELS if elo < limit), BEST_LABEL)


def anchor_steps(steps: Sequence[int], spacing: int) -> list[int]:
    """Choose anchors among the steps of a run's checkpoints, which come in order."""
    if len(steps) <= ALL_ANCHORS:
        return list(steps)
    chosen = [steps[0]]
    for step in steps:
        if step - chosen[-1] >= spacing:
            chosen.append(step)
    return chosen if chosen[-1] == steps[-1] else [*chosen, steps[-1]]


def player_name(path: Path, simulations: int) -> str:
    """Name a network by its file and content."""
    try:
        content = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    except OSError as error:
        raise BadInput(f"the checkpoint {path} cannot be read: {error.strerror}") from None
    return f"net:{path.name}#{content},sims={simulations}"


def entries_of(run: Run, settings: RatingSettings) -> list[Entry]:
    """List the checkpoints of a run."""
    listed = run.checkpoints
    if not listed:
        raise BadInput(f"{run.folder} has no checkpoints yet")
    anchors = anchor_steps([entry["step"] for entry in listed], settings.anchor_spacing)
    return [
        Entry(
            run, entry["step"], path := run.folder / entry["file"], player_name(path, settings.simulations),
            entry["step"] in anchors, isinstance(entry.get("elo"), int | float),
        )
        for entry in listed
    ]  # fmt: skip


class Contest:
    """Everything that is played to rate some runs."""

    def __init__(self, runs: Sequence[Run], settings: RatingSettings, game: Game | None = None):
        """Say who meets whom; nothing is played. `game` is what networks meet on, else that of the first run."""
        self.runs, self.settings, self.game = list(runs), settings, game or runs[0].game
        self.opening = settings.opening or usual_openings(self.game)
        self.entries = [entry for run in self.runs for entry in self.listed(run)]
        self.paths = {entry.name: entry.path for entry in self.entries}
        self.homes = {entry.name: entry.run.folder / LEDGER for entry in self.entries}
        self.references = list(dict.fromkeys([REFERENCE, *map(self.canonical, settings.references)]))
        self.pairings = list(self.paired()) if self.due else []
        self.network: Callable[[str], Player] = lru_cache(maxsize=PLAYERS_KEPT)(self.new_player)

    def listed(self, run: Run) -> list[Entry]:
        """List the checkpoints of a run that take part."""
        return entries_of(run, self.settings)

    @property
    def due(self) -> list[Entry]:
        """The checkpoints that get a rating."""
        return [entry for entry in self.entries if self.settings.again or not entry.rated]

    def paired(self) -> Iterator[Pairing]:
        """Yield who meets whom: anchors and references each other, then all others these."""
        anchors = [*self.references, *dict.fromkeys(entry.name for entry in self.entries if entry.anchor)]
        for names in combinations(anchors, 2):
            yield self.pairing(names, self.settings.round_robin_games)
        for name in dict.fromkeys(entry.name for entry in self.due if entry.name not in anchors):
            for anchor in anchors:
                yield self.pairing((name, anchor), self.settings.games)

    def pairing(self, names: tuple[str, ...], games: int) -> Pairing:
        """Make a pairing: the same two are the same match in whichever order they are named."""
        first, second = sorted(names)
        own = [self.homes[name] for name in (first, second) if name in self.homes]
        return Pairing((first, second), games, own[0] if own else self.runs[0].folder / LEDGER)

    def identity(self, names: tuple[str, str]) -> str:
        """Name a match by all that makes it what it is, but for its length: a longer one begins alike."""
        facts = [*names, self.game.spec, str(self.game.version), self.opening, str(self.settings.seed)]
        return "rating-" + hashlib.sha256("\n".join(facts).encode()).hexdigest()[:32]

    # -- players --

    def canonical(self, text: str) -> str:
        """Return the name of a reference player; refuse what is none."""
        player = make_player(text, self.game)
        player.close()
        if player.at_terminal:
            raise BadInput(f"reference {text!r}: a person cannot play so many games")
        return player.name

    def new_player(self, name: str) -> Player:
        """Make the player of a checkpoint."""
        place = quoted_word(str(self.paths[name].resolve()))
        player = make_player(f"net:{place},sims={self.settings.simulations}", self.game)
        player.name = name
        return player

    def maker(self, name: str) -> Callable[[], Player]:
        """Return what makes a player each time it is called; a network plays all its games as one."""
        return lambda: self.network(name) if name in self.paths else make_player(name, self.game)

    def prepare(self) -> None:
        """Refuse networks that cannot play the game before anything is played, and compile what plays."""
        for name in self.paths if self.pairings else ():
            self.new_player(name)
        for name in [*list(self.paths)[:1], *self.references] if self.pairings else ():
            player = self.maker(name)()
            player.prepare(self.game.start())
            player.close()

    # -- playing --

    def played(self) -> dict[str, list[Result]]:
        """Return the results of each match that the runs' ledgers hold; one that several hold counts once."""
        found: dict[str, list[Result]] = {}
        for path in dict.fromkeys(run.folder / LEDGER for run in self.runs):
            if path.exists():
                with Ledger(path) as ledger:
                    for match, results in ledger.matches(self.game.spec, self.game.version).items():
                        found[match] = max(found.get(match, []), results, key=games_in)
        return found

    def missing(self) -> list[Pairing]:
        """List the pairings that are still to be played."""
        done = self.played()
        return [p for p in self.pairings if games_in(done.get(self.identity(p.names), [])) < p.games]

    def play(self, say: Callable[[Match], None] = lambda match: None) -> bool:
        """Play what is missing, telling of each game as it ends; return False if interrupted."""
        for pairing in self.missing():
            match = self.meet(pairing, say)
            if match.interrupted:
                return False
        return True

    def meet(self, pairing: Pairing, say: Callable[[Match], None]) -> Match:
        """Play a match and keep its games, unless it was interrupted."""
        identity, settings = self.identity(pairing.names), self.settings
        match = play_match(
            self.game, self.maker(pairing.names[0]), self.maker(pairing.names[1]),
            MatchSettings(
                games=pairing.games, seed=int(identity[-15:], 16), opening=self.opening, threads=settings.threads,
                at_once=min(pairing.games, MOST_AT_ONCE),
            ),
            lambda match, record: say(match),
        )  # fmt: skip
        for record in match.records.values():
            if record.reason.startswith(tuple(f"{name}: " for name in self.paths)):
                raise BadInput(f"a network did not play, so nothing is rated: {record.reason}")
        if not match.interrupted:
            with Ledger(pairing.home) as ledger:
                ledger.store([replace(record, match=identity) for record in ordered(match)])
        return match

    # -- rating --

    def results(self) -> list[Result]:
        """Return all games that the players of this contest have played against each other."""
        known = {*self.paths, *self.references}
        results = [result for match in self.played().values() for result in match]
        return [result for result in results if result[0] in known and result[1] in known]

    def rate(self) -> Ratings | None:
        """Fit all games and enter the ratings that are due; None if none is."""
        if not self.due:
            return None
        ratings = fit(self.results(), {REFERENCE: 0.0})
        for entry in self.due:
            entry.run.rate(entry.step, **rating_facts(ratings[entry.name]))
        for run in self.runs:
            enter_best(run)
        return ratings


def games_in(results: Sequence[Result]) -> int:
    """Count games."""
    return sum(number for *_, number in results)


def ordered(match: Match) -> list[GameRecord]:
    """Return the games of a match by number."""
    return [match.records[number] for number in sorted(match.records)]


def rating_facts(rating: Rating) -> dict[str, Any]:
    """Return what the manifest says of a rating."""
    low, high = rating.interval
    return {
        "elo": round(rating.elo, 1), "label": label_of(rating.elo), "interval": [round(low, 1), round(high, 1)],
        "rating_games": rating.games,
    }  # fmt: skip


def enter_best(run: Run) -> None:
    """Call the checkpoint with the highest rating the best."""
    rated = [entry for entry in run.checkpoints if isinstance(entry.get("elo"), int | float)]
    if rated:
        run.set_best(max(rated, key=lambda entry: (entry["elo"], entry["step"]))["step"])
