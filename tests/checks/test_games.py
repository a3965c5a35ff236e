"""Many games: how different they are, how they end, and what parts share."""

from __future__ import annotations

import numpy as np

from checks.verdicts import complains, in_order
from rookery.checks import Verdict, games
from rookery.games.library import load

SMALL = load("domineering:rows=4,cols=4")


def random_openings(count, seed=0):
    return np.random.default_rng(seed).integers(0, 12, (count, 8)).tolist()


def test_games_that_begin_differently_are_in_order():
    openings = games.openings_of(SMALL, random_openings(40))
    in_order(games.opening_variety(openings, ""), "opening-variety")
    in_order(games.distinct_games([tuple(each) for each in random_openings(40)], ""), "distinct-games")


def test_games_that_all_begin_alike_are_found():
    complains(games.opening_variety([(1, 2, 3)] * 30 + [(4, 5, 6)] * 10, "games"), "opening-variety", Verdict.WRONG)
    complains(games.opening_variety([(1,)] * 12 + [(n,) for n in range(28)], "games"), "opening-variety")
    complains(games.distinct_games([(1, 2)] * 40, "games"), "distinct-games", Verdict.WRONG)
    assert games.opening_variety([(1,)] * 5, "") == []


def test_mirror_images_begin_alike():
    tables = SMALL.symmetries().actions
    one = [0, 14, 5]
    images = [tables[s][one].tolist() for s in range(len(tables))]
    assert len({games.canonical(SMALL, image) for image in images}) == 1
    assert len({games.canonical(None, image) for image in images}) > 1


def test_draws_and_games_that_were_called_off_are_found():
    in_order(games.draws(0.1, ""), "draws")
    in_order(games.cut_off(0.1, ""), "cut-off")
    complains(games.draws(0.97, "games"), "draws", Verdict.WRONG)
    complains(games.draws(0.7, "games"), "draws", Verdict.WARNING)
    complains(games.cut_off(0.4, "games"), "cut-off", Verdict.WARNING)
    complains(games.cut_off(0.9, "games"), "cut-off", Verdict.WRONG)


def test_a_side_that_always_wins_is_worth_a_warning_only():
    in_order(games.first_mover(60, 40, ""), "first-mover")
    complains(games.first_mover(100, 0, "games"), "first-mover", Verdict.WARNING)
    complains(games.first_mover(1, 99, "games"), "first-mover", Verdict.WARNING)
    assert games.first_mover(0, 0, "") == []


def test_what_judges_must_not_be_among_what_is_learned_from():
    known, apart = np.arange(100), np.arange(100, 150)
    in_order(games.split_leak(known, apart, ""), "split-leak")
    complains(games.split_leak(known, np.arange(95, 145), "games"), "split-leak", Verdict.WARNING)
    complains(games.split_leak(known, np.arange(50), "games"), "split-leak", Verdict.WRONG)
    assert games.split_leak(known, np.zeros(0), "") == []
