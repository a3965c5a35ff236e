"""The bench of searches measures whole searches, and divides what was done by the time it took."""

from __future__ import annotations

import os
import sys

import numpy as np
import pytest

from rookery import load
from rookery.benchmarks import search as bench
from rookery.benchmarks.peers import mctx_simulations, one_core
from rookery.benchmarks.search import Measure, Perceptron, asking_perceptron, bench_search, without_network
from rookery.benchmarks.tables import search_table
from rookery.search.trees import TreeSettings
from support import CONNECT_FOUR


def test_all_simulations_are_counted(monkeypatch):
    monkeypatch.setattr(bench, "TREES", 4)
    monkeypatch.setattr(bench, "ENOUGH", 60)
    game = load(CONNECT_FOUR)
    assert asking_perceptron(game, TreeSettings(simulations=20))() == 80
    assert asking_perceptron(game, TreeSettings(simulations=20, gumbel=7))() == 80
    assert without_network(game, 10, 3)() == 60  # of 30 simulations each, two searches are enough


def test_the_perceptron_has_the_shape_of_the_peer():
    game = load(CONNECT_FOUR)
    network = Perceptron(game)
    assert (network.first.shape, network.second.shape) == ((84, 64), (64, 8))
    logits, values = network(game.start().observe().reshape(1, -1))
    assert logits.shape == (1, 7)
    assert -1 < values[0] < 1


def test_medians_and_ratios_are_of_the_rounds():
    speeds = iter([(10, 1.0), (100, 10.0), (30, 1.0), (90, 9.0), (20, 1.0), (50, 5.0)])
    ticks: list[int] = []
    take = lambda: next(speeds)  # noqa: E731
    (row,) = bench_search([Measure("x", "moves", take, take)], 3, lambda: ticks.append(1))
    assert len(ticks) == 3
    assert (row.speed, row.low, row.high, row.peer) == (20, 10, 30, 10)
    assert row.as_dict()["against_peer"] == 2
    assert search_table([row]).row_count == 1


def test_less_than_one_a_second_is_not_printed_as_nothing():
    (row,) = bench_search([Measure("x", "boards", lambda: (1, 8.0))], 1, lambda: None)
    assert list(search_table([row]).columns[1].cells) == ["0.125"]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system does not let us choose cores")
def test_a_measurement_keeps_to_one_core_and_gives_the_others_back():
    before = os.sched_getaffinity(0)
    with one_core():
        assert len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == before


def test_without_mctx_there_is_nothing_to_compare_with(monkeypatch):
    monkeypatch.setitem(sys.modules, "mctx", None)
    assert mctx_simulations(np.zeros((84, 4), np.float32), np.zeros((4, 8), np.float32), 2, 2, True) is None


@pytest.mark.parametrize("gumbel", [False, True])
def test_mctx_makes_the_simulations_it_is_asked_for(gumbel):
    for name in ("jax", "mctx", "pgx"):
        pytest.importorskip(name)
    network = Perceptron(load(CONNECT_FOUR))
    measure = mctx_simulations(network.first, network.second, 4, 5, gumbel)
    count, seconds = measure()
    assert count == 20
    assert seconds > 0
