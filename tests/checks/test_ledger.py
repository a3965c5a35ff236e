"""Ledgers, made up well and badly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from checks.verdicts import complains, in_order, silent
from rookery.arena.ledger import Ledger
from rookery.arena.records import GameRecord
from rookery.checks import Sample, Verdict, ledger
from rookery.errors import BadInput

BOARD = "domineering:rows=4,cols=4"


def game(number: int, actions: tuple[int, ...], reason: str = "no move", swapped: bool | None = None) -> GameRecord:
    """Make a game of a match, the seats swapped in every second one."""
    players = ("one", "two") if not (number % 2 if swapped is None else swapped) else ("two", "one")
    return GameRecord(
        game=BOARD, version=1, start="x", actions=actions, moves=tuple(map(str, actions)), opening=2, players=players,
        first_team=0, score=float(number % 3 == 0), payoff=1.0, reason=reason, seconds=(0.1, 0.1), seed=0, match="m",
        number=number, pair=number // 2,
    )  # fmt: skip


def random_actions(number: int) -> tuple[int, ...]:
    rng = np.random.default_rng(number // 2)  # a pair begins alike
    return tuple(rng.integers(0, 24, 10).tolist())


def test_a_sound_ledger_is_in_order(tmp_path):
    path = tmp_path / "ledger.sqlite"
    with Ledger(path) as opened:
        opened.store([game(number, random_actions(number)) for number in range(60)])
    assert ledger.is_ledger(path)
    found = ledger.check_ledger(path, Sample())
    in_order(found, "failures", "pairs", "draws", "first-mover", "opening-variety", "distinct-games")


def test_players_without_chance_are_found():
    found = ledger.check_records(BOARD, [game(number, (1, 2, 3)) for number in range(60)])
    complains(found, "opening-variety", Verdict.WRONG)
    complains(found, "distinct-games", Verdict.WRONG)


def test_games_lost_by_failing_are_found():
    failed = [game(number, random_actions(number), "one: no answer") for number in range(40)]
    complains(ledger.check_records(BOARD, failed), "failures", Verdict.WRONG)


def test_games_that_are_not_in_pairs_are_found():
    alone = [game(number, random_actions(number), swapped=False) for number in range(40)]
    complains(ledger.check_records(BOARD, alone), "pairs", Verdict.WARNING)


def test_games_that_people_kept_are_no_matches():
    kept = [replace(game(0, random_actions(2 * number)), match=f"kept {number}") for number in range(40)]
    silent(ledger.check_records(BOARD, kept), "pairs")
    both = [*kept, *(game(number, random_actions(number)) for number in range(4))]
    in_order(ledger.check_records(BOARD, both), "pairs")


def test_an_empty_ledger_is_told(tmp_path):
    Ledger(tmp_path / "ledger.sqlite").close()
    with pytest.raises(BadInput, match="holds no games"):
        ledger.check_ledger(tmp_path / "ledger.sqlite", Sample())
