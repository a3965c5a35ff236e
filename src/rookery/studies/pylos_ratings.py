"""Strength in the Pylos study: one contest on the game that V3 to V5 were taught, a small one on the official game.

Anchors are the middle and the last checkpoint of each run of the ladder. They and the references meet each other, the
last ones four times as long. Every other checkpoint of the ladder meets the anchors of its own run, the last one of an
ablation the last ones of the ladder, and both the references but the most costly one. One fit rates all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from rookery.arena.ledger import Ledger
from rookery.arena.ratings import REFERENCE, Ratings, fit
from rookery.arena.records import GameRecord
from rookery.arena.score import Score
from rookery.games.library import load
from rookery.learn.rating import LEDGER, Contest, Entry, Pairing, RatingSettings, player_name
from rookery.learn.rating_report import reference_ratings
from rookery.learn.runs import Run

GREEDY, OFFICIAL = "pylos:removal=greedy", "pylos"
REFERENCES = ("alphabeta:depth=1", "alphabeta:depth=3", "alphabeta:depth=5")
COSTLY = "alphabeta:depth=5"
"""a reference that meets anchors only: forty games of it take two minutes of a core"""
SIMULATIONS = 32
PIVOT = "alphabeta:depth=3"
"""intervals are for the distance from it: that from `random` is known badly, since networks win all games there"""
LONGER = 4
"""so many times more games between the last networks of the ladder: who is above whom is asked of them"""


def checkpoints_there(run: Run) -> list[dict[str, Any]]:
    """List the checkpoints of a run whose files are there: a run that was copied may not have brought all."""
    return [entry for entry in run.checkpoints if (run.folder / entry["file"]).is_file()]


class StudyContest(Contest):
    """Who meets whom in the study."""

    def __init__(self, ladder: Sequence[Run], ablations: Sequence[Run], settings: RatingSettings, game: str):
        """Say who meets whom on a game; of the ablations the last checkpoints alone."""
        self.ladder = {run.folder for run in ladder}
        super().__init__([*ladder, *ablations], settings, load(game))

    def listed(self, run: Run) -> list[Entry]:
        """List all checkpoints of a run of the ladder, and the last one of another."""
        found = checkpoints_there(run)
        on_ladder = run.folder in self.ladder
        anchors = {found[-1]["step"], found[len(found) // 2]["step"]} if found and on_ladder else set()
        return [
            Entry(
                run, entry["step"], path := run.folder / entry["file"], player_name(path, self.settings.simulations),
                entry["step"] in anchors, False,
            )
            for entry in (found if on_ladder else found[-1:])
        ]  # fmt: skip

    def last_names(self) -> dict[str, str]:
        """Return the last player of each run of the ladder, by the name of the run."""
        return {entry.run.folder.name: entry.name for entry in self.entries if entry.run.folder in self.ladder}

    def paired(self) -> Iterator[Pairing]:
        """Yield who meets whom."""
        last, games = list(dict.fromkeys(self.last_names().values())), self.settings.games
        anchors = list(dict.fromkeys(entry.name for entry in self.entries if entry.anchor))
        for names in combinations([*self.references, *anchors], 2):
            yield self.pairing(names, games * (LONGER if set(names) <= set(last) else 1))
        met, costly = set(anchors), self.canonical(COSTLY)
        quick = [name for name in self.references if name != costly]
        for entry in self.entries:
            if entry.name in met:
                continue
            met.add(entry.name)
            own = [other.name for other in self.entries if other.anchor and other.run is entry.run]
            for name in dict.fromkeys([*quick, *(own or last)]):
                yield self.pairing((entry.name, name), games)


class LastContest(StudyContest):
    """The last networks of the ladder alone, all of them anchors."""

    def listed(self, run: Run) -> list[Entry]:
        """List the last checkpoint of a run."""
        return super().listed(run)[-1:]


def contests(ladder: Sequence[Run], ablations: Sequence[Run], games: int, threads: int) -> dict[str, StudyContest]:
    """Return both contests; nothing is played."""
    settings = RatingSettings(
        games, games, SIMULATIONS, references=REFERENCES, threads=threads, again=True, seed=1
    )  # fmt: skip
    return {
        "greedy": StudyContest(ladder, ablations, settings, GREEDY),
        "official": LastContest(ladder, (), settings, OFFICIAL),
    }


# ---- what was found ------------------------------------------------------------------------------


def contest_facts(contest: StudyContest) -> dict[str, Any]:
    """Fit all games of a contest and return the ratings for JSON."""
    results, settings = contest.results(), contest.settings
    pivot = contest.canonical(PIVOT)
    from_random = fit(results, {REFERENCE: 0.0})
    ratings = fit(results, {pivot: from_random[pivot].elo})
    tied, references = from_random[pivot], reference_ratings(contest, ratings)
    references[REFERENCE] = reference_ratings(contest, from_random)[REFERENCE]
    return {
        "game": contest.game.spec, "version": contest.game.version, "simulations": settings.simulations,
        "openings": contest.opening, "seed": settings.seed, "references": references,
        "pivot": {"player": pivot, "elo": round(tied.elo, 1), "error": round(tied.error, 1)},
        "checkpoints": [rating_row(entry, ratings) for entry in contest.entries],
        "head_to_head": head_to_head(contest),
        "fit": {
            "games": ratings.games, "advantage": ratings.advantage, "advantage_error": ratings.advantage_error,
            "draws": ratings.draws, "draws_error": ratings.draws_error,
        },
    }  # fmt: skip


def rating_row(entry: Entry, ratings: Ratings) -> dict[str, Any]:
    """Return the rating of a checkpoint."""
    rating = ratings[entry.name]
    return {
        "run": entry.run.folder.name, "step": entry.step, "elo": round(rating.elo, 1),
        "interval": [round(end, 1) for end in rating.interval], "games": rating.games, "score": rating.score,
    }  # fmt: skip


def head_to_head(contest: StudyContest) -> list[dict[str, Any]]:
    """Return how the last networks of the ladder, and these and the references, did against each other."""
    last = contest.last_names()
    named = {name: run for run, name in last.items()} | {name: name for name in contest.references}
    matches = stored_matches(contest)
    rows = []
    for pairing in contest.pairings:
        first, second = pairing.names
        records = matches.get(contest.identity(pairing.names), [])
        if first in named and second in named and not set(pairing.names) <= set(contest.references) and records:
            if list(last.values()).count(second) and not list(last.values()).count(first):
                first, second = second, first  # networks before references
            rows.append({"first": named[first], "second": named[second]} | score_of(first, records).as_dict())
    return rows


def stored_matches(contest: StudyContest) -> dict[str, list[GameRecord]]:
    """Return the games that the runs keep, by match; a match that several keep counts once."""
    found: dict[str, list[GameRecord]] = {}
    for path in dict.fromkeys(run.folder / LEDGER for run in contest.runs):
        if path.exists():
            here: dict[str, list[GameRecord]] = {}
            for record in games_in(path, contest):
                here.setdefault(record.match, []).append(record)
            for match, records in here.items():
                found[match] = max(found.get(match, []), records, key=len)
    return found


def games_in(path: Path, contest: StudyContest) -> list[GameRecord]:
    """Return the games of a contest's game that a ledger holds."""
    with Ledger(path) as ledger:
        return list(ledger.games(contest.game.spec, contest.game.version))


def score_of(player: str, records: Sequence[GameRecord]) -> Score:
    """Sum up a match as one of its players sees it, pair by pair."""
    pairs: dict[int, list[float]] = {}
    for record in records:
        pairs.setdefault(record.pair, []).append(record.score_of(record.players.index(player)))
    return Score(tuple((scores[0], scores[1]) for scores in pairs.values() if len(scores) == 2))
