"""Plans for many cards: bounds by division, and a simulation that must agree with them where nothing is random."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rookery.benchmarks.scale import (
    V5,
    Cluster,
    Measured,
    Recipe,
    Simulation,
    bounds,
    measure_rows,
    planned,
    shared_out,
    step_seconds,
)
from rookery.errors import BadInput
from support import ROOT

ONE = Measured(
    positions=1000.0,
    batches=(100, 200),
    steps=(10.0, 5.0),
    sent=10.0,
    kept=100.0,
    packed=1e6,
    unpacked=1e6,
    weights=1000.0,
)
RECIPE = Recipe(draws=2.0, batch=100, chunk=0.1, publish=1.0, ahead=2.0)


def cluster(cards: int, learners: int = 1, **changes: float) -> Cluster:
    return Cluster(cards, learners, cards_a_machine=4, link=1e9, cores=1, latency=0.0, **changes)


def test_a_step_takes_what_was_measured_and_between_two_sizes_what_lies_between():
    assert step_seconds(ONE, cluster(2), RECIPE) == pytest.approx(0.1)
    assert step_seconds(ONE, cluster(2), replace(RECIPE, batch=150)) == pytest.approx(0.15)


def test_gradients_of_two_machines_go_over_the_link_once_each_way():
    slow = replace(cluster(16, learners=8), link=1e4, latency=0.01)
    assert step_seconds(ONE, slow, RECIPE) == pytest.approx(0.1 + 2 * 0.5 * 1000 / 1e4 + 0.01)


def test_each_part_can_be_the_first_that_is_full():
    plain = cluster(3)
    assert bounds(ONE, plain, RECIPE)[0] == ("learners", pytest.approx(100 / 2.0 / 0.1))
    assert bounds(ONE, plain, replace(RECIPE, draws=0.1))[0] == ("players", 2000.0)
    thin = replace(plain, link=1e3)
    assert bounds(ONE, thin, replace(RECIPE, draws=0.1))[0] == ("links", 100.0)
    slow = replace(ONE, unpacked=50.0)
    assert bounds(slow, plain, replace(RECIPE, draws=0.1))[0] == ("unpacking", 50.0)
    slow = replace(ONE, packed=50.0)
    assert bounds(slow, plain, replace(RECIPE, draws=0.1))[0] == ("packing", 100.0)  # by two players


@pytest.mark.parametrize("change", ["learners", "players", "links", "unpacking"])
def test_without_chance_the_simulation_plays_what_the_fullest_part_can_take(change):
    measured = replace(ONE, unpacked=300.0) if change == "unpacking" else ONE
    recipe = RECIPE if change == "learners" else replace(RECIPE, draws=0.05)
    machines = replace(cluster(3), link=2e3) if change == "links" else cluster(3)
    first = bounds(measured, machines, recipe)[0]
    assert first.part == change
    found = Simulation(measured, machines, recipe, jitter=0.0).run(200.0)
    assert found.positions == pytest.approx(first.positions, rel=0.01)
    assert (found.learners_idle < 0.01) == (change == "learners")
    assert (found.players_waiting < 0.01) == (change == "players")


def test_weights_are_older_where_more_steps_are_due_ahead():
    near = Simulation(ONE, cluster(9), replace(RECIPE, ahead=0.5), seed=1).run(100.0)
    far = Simulation(ONE, cluster(9), replace(RECIPE, ahead=8.0), seed=1).run(100.0)
    assert near.age < far.age
    assert near.age <= near.oldest
    assert near.positions == pytest.approx(far.positions, rel=0.05)


def test_the_same_seed_gives_the_same_outcome_and_another_seed_another():
    outcomes = [Simulation(ONE, cluster(9), RECIPE, seed=seed).run(50.0) for seed in (1, 1, 2)]
    assert outcomes[0] == outcomes[1] != outcomes[2]


def test_cards_are_shared_out_so_that_no_other_share_plays_more():
    best = shared_out(ONE, 8, RECIPE, 1e9)
    every = [bounds(ONE, Cluster(8, learners, link=1e9), RECIPE)[0].positions for learners in range(1, 8)]
    assert bounds(ONE, best, RECIPE)[0].positions == max(every)
    assert 1 < best.learners < 7


def test_packed_positions_are_smaller_than_kept_ones_and_all_come_back():
    found = measure_rows(2, lambda: None, at_once=4)
    assert found.positions > 20
    assert 0 < found.sent < found.kept == 92 * 4 + 186 * 6 + 2 + 1 + 2 + 4 + 4 + 4 + 8
    assert found.packed > 0
    assert found.unpacked > 0


def test_a_cluster_needs_cards_that_learn_and_cards_that_play():
    with pytest.raises(BadInput, match="between 1 and 7 of 8 cards, not 8"):
        cluster(8, learners=8)


ROWS = {
    "machines": ("machines",),
    "cards that play, that learn": ("cards that play", "cards that learn"),
    "full first": ("full first",),
    "positions a second, at most": ("positions a second, at most",),
    "positions a second, simulated": ("positions a second, simulated",),
    "gradient steps a second": ("gradient steps a second",),
    "positions in a step": ("positions in a step",),
    "MB/s into a learning machine": ("MB/s into a learning machine",),
    "MB/s of weights out of a machine": ("MB/s of weights out of a machine",),
    "GB of replay for a minute of play": ("GB of replay for a minute",),
    "learners idle": ("learners idle",),
    "age of weights in steps, mean and 95 %": ("age of weights in steps, mean", "age of weights in steps, 95 %"),
}
"""rows of the table in docs/past-one-machine.md, and the lines of the command that they show"""


def test_the_page_shows_what_the_command_computes():
    plans = [planned(V5, cards, Recipe(), 12.5e9, 60.0, 0).lines() for cards in (2, 8, 64, 256)]
    page = (ROOT / "docs" / "past-one-machine.md").read_text().partition("| | 2 cards |")[2]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("| ")
    ]
    shown = {row[0]: row[1:] for row in rows}
    assert shown == {
        title: [", ".join(plan[name] for name in names) for plan in plans] for title, names in ROWS.items()
    }
