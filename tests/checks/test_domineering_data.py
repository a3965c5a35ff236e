"""Games of the Domineering study, made up well and badly."""

from __future__ import annotations

import numpy as np
import pytest

from checks.verdicts import complains, in_order
from rookery.checks import Sample, Verdict, domineering
from rookery.games.library import load
from rookery.studies.domineering_files import GameRecords, records_of, write_games
from support import random_walk

FEW = Sample(positions=64)


@pytest.fixture(scope="module")
def records():
    moves = np.full((40, 128), -1, np.int16)
    for g in range(40):
        walk = [action for _, action in random_walk(load("domineering"), g) if action is not None]
        moves[g, : len(walk)] = walk
    lengths = (moves >= 0).sum(1).astype(np.int16)
    explored = (np.arange(128) < 16) & (moves >= 0)
    return records_of(moves, lengths, explored)


def test_sound_games_are_in_order(tmp_path, records):
    path = tmp_path / "games.npz"
    write_games(path, records)
    found = domineering.check_games_files([path], FEW)
    in_order(found, "rows-sound", "opening-variety", "distinct-games", "first-mover", "explored", "masks")
    in_order(found, "target-range", "label-scale", "split-leak")


def test_games_that_cannot_be_are_found(tmp_path, records):
    path = tmp_path / "games.npz"
    write_games(path, GameRecords(records.moves, records.lengths, ~records.winners, records.explored))
    found = domineering.check_games_files([path], FEW)
    complains(found, "rows-sound", Verdict.WRONG)
    assert "game 0" in found[0].measured


def test_the_same_game_again_and_again_is_found(records):
    found = domineering.check_games(records[np.zeros(40, int)], FEW)
    complains(found, "opening-variety", Verdict.WRONG)
    complains(found, "distinct-games", Verdict.WRONG)


def test_moves_that_are_all_random_are_found(records):
    random = GameRecords(records.moves, records.lengths, records.winners, records.moves >= 0)
    complains(domineering.check_games(random, FEW), "explored", Verdict.WRONG)


def test_boards_that_train_and_validate_are_found(records):
    twice = records[np.repeat(np.arange(40), 2)]
    apart = np.tile([0, 1], 40)
    complains(domineering.leak_after(twice, apart, 16), "split-leak", Verdict.WRONG)
    in_order(domineering.leak_after(records, np.arange(40) % 2, 16), "split-leak")


def test_a_file_without_games_is_told(records):
    complains(domineering.check_games(records[:0], FEW), "rows-sound", Verdict.WRONG)
