"""The bench measures what it says: the same games everywhere, speeds that fit a clock, ratios of what stands beside."""

from __future__ import annotations

import time

import numpy as np
import pytest

from rookery import load
from rookery.benchmarks import rules as bench
from rookery.benchmarks.peers import openspiel_rollouts
from rookery.benchmarks.rules import Row, bench_game, check_results, example_game, in_perft, on_cpu
from rookery.search.playout import random_games
from support import CONNECT_FOUR


def test_speeds_are_plies_over_seconds():
    game = load("pylos")
    random_games(game, 10)
    begin = time.perf_counter()
    plies, seconds = on_cpu(game, 2000, 1, seed=1)()
    assert plies == random_games(game, 2000, seed=1).plies.sum()
    assert 0 < seconds <= time.perf_counter() - begin


def test_a_row_says_how_many_times_faster():
    row = Row("x", 10.0, one_core=8e6, all_cores=16e6, cores=2, perft=1e6, openspiel=2e6, card=80e6)
    assert (row.against_openspiel, row.card_against_cores) == (4, 5)
    assert Row("x", 10.0, 1.0, 1.0, 1, 1.0).as_dict()["against_openspiel"] is None


def test_a_game_is_measured_round_by_round():
    rounds: list[int] = []
    row = bench_game(load(CONNECT_FOUR), "cpu", 3, 0.02, 1, lambda: rounds.append(1))
    assert len(rounds) == 3
    assert row.game == "connect_four"
    assert 15 < row.mean_plies < 30
    assert min(row.one_core, row.all_cores, row.perft) > 0
    assert all(low <= getattr(row, name) <= high for name, (low, high) in row.ranges.items())


def test_compiling_is_not_taken_for_a_long_perft(monkeypatch):
    depths: list[int] = []
    clock = [0.0]

    def slow_at_first(position: object, depth: int) -> dict[str, int]:
        depths.append(depth)
        clock[0] += 0.001 if len(depths) > 1 and depth < 5 else 20.0
        return {"": 1}

    monkeypatch.setattr(bench, "perft", slow_at_first)
    monkeypatch.setattr(bench.time, "perf_counter", lambda: clock[0])
    in_perft(load("pylos"), 0.4)()
    assert depths == [2, 2, 3, 4, 5, 5]


def test_wrong_games_are_not_measured():
    game = load("pylos")
    good = random_games(game, 20, seed=1)
    check_results(game, good, good)
    with pytest.raises(RuntimeError, match="not the games that should have been played"):
        check_results(game, random_games(game, 20, seed=2), good)
    good.payoffs[3] = np.array([1, 1])
    with pytest.raises(RuntimeError, match="pylos"):
        check_results(game, good, good)


def test_the_example_is_found():
    assert example_game() == CONNECT_FOUR
    assert CONNECT_FOUR in bench.all_games()


def test_openspiel_plays_as_many_games_as_it_is_asked_for():
    pytest.importorskip("pyspiel")
    play = openspiel_rollouts("connect_four")
    assert play is not None
    few, many = play(200), play(20_000)
    assert many > 20 * few > 0
    assert openspiel_rollouts("pylos") is None
