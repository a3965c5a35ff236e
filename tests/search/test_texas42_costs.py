"""What plays of Texas 42 have cost."""

from __future__ import annotations

import numpy as np
import pytest

from games.slow_texas42 import ALL_TILES
from rookery import BadInput, load
from rookery.games import texas42
from rookery.search.solve.texas42 import Solver
from rookery.search.texas42_costs import costs
from rookery.search.worlds import Worlds
from search.slow_expected import slow_expected
from search.test_worlds import played_to

GAME, SOLVER = load("texas42"), Solver()


@pytest.mark.parametrize("seed", range(4))
def test_costs_with_all_hands_open_lead_from_the_exact_value_to_the_result(seed):
    position = played_to(seed, 28)[0]
    hands = [list(map(int, hand)) for hand in position.state["tiles"]]
    start = GAME.set_up(hands, int(position.state["declaration"]), int(position.state["opener"]))
    found = costs(position, worlds=1)
    given_away = [sum(cost.open for cost in found if cost.seat % 2 == team) for team in (0, 1)]
    taken = texas42.points(position)
    assert int(SOLVER.values(start.states)[0]) - given_away[0] + given_away[1] == taken[0] - taken[1]
    assert [(cost.seat, cost.tile) for cost in found] == texas42.record(position)
    assert all(cost.open >= 0 and cost.known >= 0 for cost in found)
    for cost in found:
        assert (cost.open_best == cost.tile) == (cost.open == 0)
        assert (cost.known_best == cost.tile) == (cost.known == 0)
        assert cost.choices > 1 or cost.known == cost.open == 0


def test_costs_by_what_a_seat_could_know_are_those_of_full_enumeration():
    position = played_to(5, 28)[0]
    found = costs(position, worlds=100)
    for plays in range(20, 28):
        before, slow = played_to(5, plays)
        assert Worlds(before).count <= 100
        means = {tile: numbers[0] for tile, numbers in slow_expected(slow, 0, 30).items()}
        played = ALL_TILES[texas42.record(position)[plays][1]]
        assert before.mover == found[plays].seat
        assert found[plays].choices == len(means)
        assert found[plays].known == pytest.approx(max(means.values()) - means[played])
        assert means[ALL_TILES[found[plays].known_best]] == pytest.approx(max(means.values()))


def test_costs_depend_on_the_seed_alone_and_progress_is_told():
    position, told = played_to(2, 10)[0], []
    one = costs(position, 5, 7, report=told.append)
    assert told == list(range(1, 11))
    assert one == costs(position, 5, 7, threads=2)
    assert np.any([a.known != b.known for a, b in zip(one, costs(position, 5, 8), strict=True)])


def test_costs_need_all_hands():
    with pytest.raises(BadInput, match="only if all hands are known"):
        costs(played_to(2, 10)[0].seen_by(1))
