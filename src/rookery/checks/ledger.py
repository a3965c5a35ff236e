"""Checks of a ledger: games of the arena."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from rookery.arena.ledger import Ledger
from rookery.arena.records import GameRecord
from rookery.checks import games
from rookery.checks.finding import Finding, Sample, about, if_above, percent
from rookery.errors import BadInput
from rookery.games.library import load

FAILED, OFTEN_FAILED = 0.0, 0.02
UNPAIRED = 0.1
MOST_GAMES = 20_000
"""the newest, of each game"""
DATABASES = (b"SQLite format 3\x00",)


def is_ledger(path: Path) -> bool:
    """Tell whether a path is a database, which a ledger is."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(16) in DATABASES


def check_ledger(path: Path, sample: Sample) -> list[Finding]:
    """Check the games of every game in a ledger."""
    found: list[Finding] = []
    with Ledger(path, create=False) as ledger:
        kinds = ledger.count()
        if not kinds:
            raise BadInput(f"the ledger {path} holds no games")
        for spec, version in kinds:
            sample.say(f"games of {spec}")
            records = list(ledger.games(spec, version))[-MOST_GAMES:]
            found += about(spec if len(kinds) > 1 else "", check_records(spec, records))
    return found


def check_records(spec: str, records: list[GameRecord]) -> list[Finding]:
    """Check games of one game."""
    looked = f"{len(records):,} games"
    count = len(records)
    wins = sum(record.first_score == 1 for record in records)
    losses = sum(record.first_score == 0 for record in records)
    found = [failures(records), *pairs(records)]
    if count >= games.FEWEST_GAMES:
        found += [games.draws((count - wins - losses) / count, looked), *games.first_mover(wins, losses, looked)]
    try:
        game = load(spec)
    except BadInput:
        game = None  # of a file that is not there any more
    whole = [(record.players, record.start, record.actions) for record in records]
    openings = [
        (record.start, games.canonical(game, record.actions[: record.opening + games.OPENING_PLIES]))
        for record in records if record.number % 2 == 0  # the other game of a pair begins alike on purpose
    ]  # fmt: skip
    return [*found, *games.opening_variety(openings, looked), *games.distinct_games(whole, looked)]


def failures(records: list[GameRecord]) -> Finding:
    """Check that no game was lost because a player failed."""
    failed = sum(record.reason.startswith(tuple(f"{player}: " for player in record.players)) for record in records)
    share = failed / len(records)
    told = f"{failed} of {len(records):,}, {percent(share)}"
    return Finding("failures", if_above(share, FAILED, OFTEN_FAILED), share, told, "none", "reasons of results")


def pairs(records: list[GameRecord]) -> list[Finding]:
    """Check that games were played in pairs with the seats swapped; one game, as people keep it, is no match."""
    games_of = Counter(record.match for record in records)
    seats: dict[tuple[str, int], list[tuple[str, str]]] = {}
    for record in records:
        if games_of[record.match] > 1:
            seats.setdefault((record.match, record.pair), []).append(record.players)
    if not seats:
        return []
    odd = sum(len(both) != 2 or both[0] != both[1][::-1] for both in seats.values())
    share = odd / len(seats)
    told = f"{odd} of {len(seats)} are not"
    verdict, expected = if_above(share, UNPAIRED), "games in pairs with the seats swapped"
    return [Finding("pairs", verdict, share, told, expected, f"{len(seats)} pairs")]
