"""Matches of studies: a network against a player or another network, all games side by side.

Games begin with an opening, in Gomoku random stones in the middle of the board, each played twice with the colours
swapped. The network's trees are searched in one batch; a player without a network thinks on threads, one that thinks by
time and an engine in as many games as there are processors, so that its time is its own.

A match is a file, `matches/NAME.json`, with the scores of all pairs. One that was stopped goes on with the pairs that
are missing; one whose networks, players or settings are others is played anew. Where nobody asks for the numbers in
which networks judge, a whole match counts in whatever numbers it was played.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rookery.arena.crowd import Crowd, Regulars, crowd_of, play_counted
from rookery.arena.engine import EnginePlayer
from rookery.arena.matches import Match, MatchSettings
from rookery.arena.networks import network_for
from rookery.arena.openings import usual_openings
from rookery.arena.player import Player
from rookery.arena.players import make_player
from rookery.arena.ratings import Result
from rookery.arena.records import GameRecord
from rookery.arena.score import Score
from rookery.arena.searching import SearchPlayer
from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.library import load
from rookery.learn.files import write_json
from rookery.learn.spread import Over, Say
from rookery.search.threads import cores

FOLDER = "matches"
URGENCY = "parent"  # with any reduction, a side that is losing never looks for the move that blocks
MOST_AT_ONCE = 512  # games side by side

Search = tuple[tuple[str, Any], ...]
"""settings of a tree search by name"""


@dataclass(frozen=True)
class Meeting:
    """A match to be played; scores are those of the first."""

    name: str
    game: str
    first: Path
    """a network's file"""
    second: Path | str
    """another network's file, or a player's text"""
    games: int
    simulations: int
    opening: str | None = None
    """how games begin; None: as is usual in the game"""
    search: Search = (("urgency", URGENCY),)
    """settings of the networks' searches"""
    fours: bool = False
    """whether the first looks for wins by fours, too"""
    precision: str = "auto"
    """numbers in which networks judge; auto: as is usual on the device"""

    @property
    def sides(self) -> dict[str, Path | str]:
        """The players."""
        return {"first": self.first, "second": self.second}

    def identity(self) -> dict[str, Any]:
        """Return all that makes the match what it is, for JSON: networks by their content."""
        return {side: mark(who) for side, who in self.sides.items()} | self.how()

    def how(self) -> dict[str, Any]:
        """Return how it is played, for JSON."""
        game = load(self.game)
        facts = {"game": game.spec, "rules_version": game.version, "opening": self.opening or usual_openings(game)}
        how = {"games": self.games, "simulations": self.simulations} | dict(self.search)
        numbers = {"precision": self.precision} if self.precision != "auto" else {}
        return facts | how | numbers | ({"fours": "leaves"} if self.fours else {})


@dataclass(frozen=True)
class Found:
    """What is known of a match."""

    identity: dict[str, Any]
    pairs: dict[int, tuple[float, float]]
    """the scores of each pair by its number: as first to move, then as second"""
    seconds: float = 0.0
    """that playing took"""

    @property
    def score(self) -> Score:
        """The result of the pairs that are there."""
        return Score(tuple(self.pairs[number] for number in sorted(self.pairs)))

    @property
    def complete(self) -> bool:
        """Whether all pairs are there."""
        return 2 * len(self.pairs) >= int(self.identity["games"])

    def results(self, first: str, second: str) -> list[Result]:
        """Return the games for a fit of ratings, in which the two have these names."""
        games = [(first, second, own, 1) for own, _ in self.pairs.values()]
        return games + [(second, first, 1.0 - own, 1) for _, own in self.pairs.values()]

    def facts(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        low, high = self.score.interval
        counts = {"wins": self.score.wins, "draws": self.score.draws, "losses": self.score.losses}
        return {"games": len(self.score.games), "score": self.score.score, "low": low, "high": high} | counts


def mark(who: Path | str) -> str:
    """Name a player by its text, a network by its content."""
    if isinstance(who, str):
        return who
    try:
        return hashlib.sha256(who.read_bytes()).hexdigest()[:16]
    except OSError as error:
        raise BadInput(f"the network {who} cannot be read: {error.strerror}") from None


def match_file(study: Path, name: str) -> Path:
    """Return where a match is kept."""
    return study / FOLDER / f"{name}.json"


def read_match(study: Path, name: str) -> Found | None:
    """Read what is known of a match; None if nothing is."""
    path = match_file(study, name)
    try:
        content = json.loads(path.read_bytes())
        pairs = {int(number): (float(one), float(other)) for number, (one, other) in content["pairs"].items()}
        return Found(content["identity"], pairs, float(content["seconds"]))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"{path} is damaged ({error!r}); remove it to play the match anew") from None


def known_of(study: Path, meeting: Meeting) -> Found:
    """Return what is known of this very match: nothing if other players met, or by other settings.

    One that was stopped goes on in the numbers in which it began, or not at all.
    """
    identity, found = meeting.identity(), read_match(study, meeting.name)
    return found if found is not None and is_meant(found, identity) else Found(identity, {})


def is_meant(found: Found, wanted: dict[str, Any]) -> bool:
    """Tell whether a match is the one that is wanted; a whole one in any numbers, where none are asked for."""
    free = {"precision"} - wanted.keys() if found.complete else set()
    return {name: value for name, value in found.identity.items() if name not in free} == wanted


def kept_of(study: Path, meeting: Meeting) -> Found | None:
    """Read what is known of a match whose networks may be elsewhere; None if there is nothing, or another match."""
    found = read_match(study, meeting.name)
    if found is None:
        return None
    wanted = meeting.how()
    for side, who in meeting.sides.items():
        away = isinstance(who, Path) and not who.exists()
        wanted[side] = found.identity.get(side) if away else mark(who)
    return found if is_meant(found, wanted) else None


class Table:
    """Where matches are played. Networks of one shape share a player, since on a card that takes longer than weights.

    `over` is asked whether it is time to stop, before a match and whenever a game ends.
    """

    def __init__(self, study: Path, device: str, over: Over, threads: int | None = None):
        self.study, self.device, self.over = study, device, over
        self.threads = threads or cores()
        self.regulars = Regulars()

    def play(self, meeting: Meeting, say: Say = lambda done, total, note: None) -> bool:
        """Play what is missing of a match and keep it; False if it was stopped before all was there."""
        found = known_of(self.study, meeting)
        if found.complete:
            return True
        if self.over():
            return False
        begun, before = time.monotonic(), found.score.games
        watch = Deadline(self.over, lambda match: say(len(before) + len(match.records), meeting.games, ""))
        match = self.meet(meeting, frozenset(found.pairs), watch)
        numbers = sorted({number // 2 for number in match.records})
        new = {number: pair for number in numbers if (pair := match.pair(number)) is not None}
        spent = found.seconds + time.monotonic() - begun
        found = Found(found.identity, found.pairs | new, round(spent, 3))
        self.keep(meeting.name, found)
        if match.interrupted and not watch.rung:
            raise KeyboardInterrupt
        return found.complete

    def keep(self, name: str, found: Found) -> None:
        """Write a match."""
        path = match_file(self.study, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, asdict(found) | {"facts": found.facts()})

    def meet(self, meeting: Meeting, known: frozenset[int], watch: Deadline) -> Match:
        """Play the pairs of a match that are not known."""
        game, left = load(meeting.game), meeting.games - 2 * len(known)
        first = self.network(meeting.first, game, meeting, "first", meeting.fours)
        made = [self.other(meeting, game)]  # a match may want several of a kind; the first is there already

        def another() -> Player:
            return made.pop() if made else make_player(str(meeting.second), game)

        how = MatchSettings(
            games=meeting.games, seed=seed_of(meeting.name), threads=min(left, self.slots(made[0])),
            at_once=min(left, MOST_AT_ONCE), opening=meeting.opening, known=known,
        )  # fmt: skip
        return play_counted(game, lambda: first, another, how, watch)

    def other(self, meeting: Meeting, game: Game) -> Player:
        """Return the second player of a match."""
        if isinstance(meeting.second, str):
            return make_player(meeting.second, game)
        return self.network(meeting.second, game, meeting, "second")

    def network(self, path: Path, game: Game, meeting: Meeting, role: str, fours: bool = False) -> Crowd:
        """Return the player of a network."""
        loaded, how, numbers = network_for(str(path), game), dict(meeting.search), meeting.precision
        return self.regulars.player(
            (role, repr(loaded.config), meeting.simulations, meeting.search, numbers, fours), role, loaded,
            lambda: crowd_of(loaded, game, meeting.simulations, how, self.device, numbers, fours),
        )  # fmt: skip

    def slots(self, player: Player) -> int:
        """Say how many games a player plays side by side."""
        by_time = isinstance(player, SearchPlayer) and (player.limits.seconds or player.usual.seconds)
        return self.threads if by_time or isinstance(player, EnginePlayer) else MOST_AT_ONCE


class Deadline:
    """Tells of games that end, and interrupts the match at the first one after which it is time to stop."""

    def __init__(self, over: Over, tell: Callable[[Match], None]):
        self.over, self.tell, self.rung = over, tell, False

    def __call__(self, match: Match, record: GameRecord) -> None:
        self.tell(match)
        if not self.rung and self.over():
            self.rung = True
            raise KeyboardInterrupt


def seed_of(name: str) -> int:
    """Return the seed of a match by its name."""
    return int(hashlib.sha256(name.encode()).hexdigest()[:15], 16)
