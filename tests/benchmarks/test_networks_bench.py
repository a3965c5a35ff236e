"""The bench of networks asks evaluator and module the same, and reports medians."""

from __future__ import annotations

from rookery.benchmarks.networks import CONFIGS, bench_networks, made_row, positions_a_second
from rookery.benchmarks.tables import networks_table
from rookery.nets.configs import PerceptronConfig
from rookery.nets.residual import build


def test_every_network_is_measured_at_every_size_once_a_round():
    ticks: list[int] = []
    configs = {"small": PerceptronConfig(inputs=3, actions=2, hidden=(4,))}
    rows = bench_networks(configs, (1, 8), 2, lambda: ticks.append(1), seconds=0.0)
    assert [(row.network, row.batch) for row in rows] == [("small", 1), ("small", 8)]
    assert all(0 < row.low <= row.speed <= row.high and row.bf16 > 0 for row in rows)
    assert len(ticks) == 2
    assert networks_table(rows).row_count == 2


def test_the_pass_that_warms_up_does_not_count(monkeypatch):
    times, passes = iter([10.0, 10.0, 11.0, 12.0]), []
    monkeypatch.setattr("rookery.benchmarks.networks.time.process_time", lambda: next(times))
    assert positions_a_second(lambda: passes.append(1), 6, 1.5) == 2 * 6 / 2.0
    assert len(passes) == 3


def test_medians_are_of_the_rounds():
    row = made_row("x", 4, [(30.0, 10.0, 50.0), (10.0, 30.0, 30.0), (20.0, 5.0, 70.0)])
    assert (row.speed, row.low, row.high, row.plain, row.bf16) == (20, 10, 30, 10, 50)
    assert row.as_dict()["against_plain"] == 2
    assert row.as_dict()["bf16_against"] == 2.5


def test_the_networks_of_pylos_are_the_original_ones():
    counts = {name: build(config).weights for name, config in CONFIGS.items() if name.startswith("Pylos")}
    assert counts == {"Pylos V3": 226_352, "Pylos V4": 893_488, "Pylos V5": 1_527_856}
