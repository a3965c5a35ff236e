"""Ratings and matches that are killed: no game is lost, doubled or half there."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from faults.killing import Child, Work, kill_again_and_again, rookery
from learn.support_runs import SMALL_BOARD, run_of_networks
from rookery.arena.ledger import Ledger
from rookery.arena.records import GameRecord
from rookery.learn.rating import LEDGER
from rookery.learn.runs import Run

pytestmark = [pytest.mark.faults, pytest.mark.slow]

STEPS = [10, 20, 30, 40, 50, 60]
GAMES = 800


def games(path: Path) -> list[GameRecord]:
    """Return the games of a ledger without what depends on the clock; every page of the file is looked at."""
    if not path.exists() or not path.stat().st_size:
        return []
    with Ledger(path, create=False) as ledger:
        assert ledger.connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        return [replace(game, date="", seconds=(0.0, 0.0)) for game in ledger.games()]


def count(path: Path) -> int:
    """Count the games of a ledger."""
    if not path.exists():
        return 0
    with Ledger(path) as ledger:
        return sum(ledger.count().values())


def matches(path: Path) -> dict[str, list[GameRecord]]:
    """Return the games of each match."""
    found = defaultdict(list)
    for game in games(path):
        found[game.match].append(game)
    return found


# ---- ratings -------------------------------------------------------------------------------------


def rate(run: Path, how: Callable[..., Child] = rookery) -> Child:
    """Begin to rate a run, or go on."""
    options = ["--round-robin-games", "40", "--search-iters", "8", "--references", "none", "--threads", "1"]
    return how("elo", str(run), *options)


def ratings(run: Path) -> list[dict]:
    """Return what the manifest says of checkpoints, without when they were saved."""
    return [{**entry, "timestamp": ""} for entry in Run.open(run).checkpoints]


def check_matches(run: Path) -> None:
    """Every match is there with all its games or with none."""
    for match in matches(run / LEDGER).values():
        assert [game.number for game in match] == list(range(40))


def test_ratings_are_the_same_however_often_they_are_killed(tmp_path):
    run_of_networks(tmp_path / "straight", STEPS)
    shutil.copytree(tmp_path / "straight", tmp_path / "kept")
    rate(tmp_path / "straight").finish()
    run = tmp_path / "run"
    shutil.copytree(tmp_path / "kept", run)

    def finished() -> None:
        assert sorted(games(run / LEDGER), key=str) == sorted(games(tmp_path / "straight" / LEDGER), key=str)
        assert ratings(run) == ratings(tmp_path / "straight")
        assert all(isinstance(entry["elo"], float) for entry in ratings(run))
        shutil.rmtree(run)
        shutil.copytree(tmp_path / "kept", run)

    work = Work(
        "ratings", lambda how: rate(run, how.rookery), lambda: count(run / LEDGER), 0.3,
        lambda: check_matches(run), finished,
    )  # fmt: skip
    kill_again_and_again(work, seed=8)


# ---- matches -------------------------------------------------------------------------------------


def test_what_a_killed_match_has_stored_is_the_beginning_of_the_whole_match(tmp_path):
    def play(ledger: Path, how: Callable[..., Child] = rookery) -> Child:
        told = ["match", "random", "greedy", "--game", SMALL_BOARD, "--games", str(GAMES), "--threads", "1"]
        return how(*told, "--seed", "9", "--ledger", str(ledger))

    play(tmp_path / "whole").finish()
    (whole,) = matches(tmp_path / "whole").values()
    assert len(whole) == GAMES
    ledger = tmp_path / "killed"

    def check() -> None:
        for name, match in matches(ledger).items():
            assert match == [replace(game, match=name) for game in whole[: len(match)]]

    def finished() -> None:
        check()
        assert [match for match in matches(ledger).values() if len(match) == GAMES]

    work = Work("matches", lambda how: play(ledger, how.rookery), lambda: count(ledger), 0.5, check, finished)
    kill_again_and_again(work, seed=9)
