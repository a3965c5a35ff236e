"""Expected values in nello and sevens, after splash and plunge, and players that use them."""

from __future__ import annotations

import numpy as np
import pytest

from games.slow_texas42 import ALL_TILES
from games.slow_texas42_house import SlowHouseHand
from rookery import BadInput, load, make_player
from rookery.arena.player import turn_of
from rookery.arena.texas42_report import known_lines
from rookery.search.expected import Exact, expected
from rookery.search.posterior import Habits, rewound
from rookery.search.solve.texas42 import Solver, solve
from rookery.search.texas42_answers import answers
from rookery.search.texas42_costs import costs
from rookery.search.worlds import Worlds
from search.solve.test_texas42_house import after, endings, slow_makes
from search.test_expected import weighed
from support import HOUSE_42


@pytest.mark.parametrize(("name", "plays"), [("nello", 17), ("nello-suit", 18), ("sevens", 22)])
def test_the_chance_of_a_house_contract_is_that_over_all_worlds_by_trying_everything(name, plays):
    for seed in range(3):
        position, slow = endings(name, seed, plays)
        found = expected(position, 10_000)
        made = {int(slot): [] for slot in position.legal()}
        for state in Worlds(position).listed():
            world = SlowHouseHand([[ALL_TILES[t] for t in hand] for hand in state["tiles"]], name, slow.bidder)
            for _, tile in slow.plays:
                world.play(tile)
            for slot, outcomes in made.items():
                outcomes.append(slow_makes(after(world, ALL_TILES[state["tiles"][position.mover, slot]])))
        side = 1 if position.mover % 2 == slow.bidder % 2 else -1
        for slot, outcomes in made.items():
            assert found.make[slot] == pytest.approx(np.mean(outcomes))
            assert found.mean[slot] == pytest.approx(42 * side * (2 * np.mean(outcomes) - 1))


def test_an_oracle_answers_straight_hands_and_house_contracts_together():
    straight, house = load("texas42:declaration=fives").start(1), load("texas42:declaration=sevens").start(2)
    for position in (straight, house):
        for _ in range(14):
            position.play(int(position.legal()[0]))
    together = Exact()(np.concatenate([straight.states, house.states]))
    assert (together[0] == Exact()(straight.states)[0]).all()
    assert (together[1] == Exact()(house.states)[0]).all()
    assert set(np.abs(together[1])) == {42}


def test_the_solver_of_points_refuses_what_is_not_about_points():
    with pytest.raises(BadInput, match="position 0 is nello, which is made or set and has no points to solve for"):
        solve(load("texas42:declaration=nello").start().states)


def test_worlds_of_nello_are_weighed_by_plays_and_not_by_the_empty_places():
    position, _ = endings("nello", 5, 16)
    worlds = Worlds(position).listed()[:50]
    again = rewound(worlds, np.full(len(worlds), int(worlds["plays"][0])))
    assert again.tobytes() == worlds.tobytes()
    assert np.isfinite(weighed(worlds, Exact(), Habits(last=6))).all()


@pytest.mark.parametrize("text", ["eq:worlds=5", "eq:worlds=5,choice=make", "heuristic", "oracle:exact"])
@pytest.mark.parametrize(("bids", "name"), [("1m", "nello"), ("1m", "sevens"), ("plunge-4m", "fives")])
def test_players_play_house_contracts_to_their_end(text, bids, name):
    hands = [["6-6", "5-5", "4-4", "3-3", "1-0", "2-0", "3-0"], ["0-0", "1-1", "2-1", "3-1", "4-1", "5-1", "6-1"]]
    hands += [["2-2", "3-2", "4-2", "5-2", "6-2", "4-3", "5-3"], ["6-3", "4-0", "5-0", "6-0", "5-4", "6-4", "6-5"]]
    position = load(HOUSE_42).set_up(hands, None, 0, [], [bids, "pass", "pass", "pass"])
    position.play(name)
    player = make_player(text, position.game)
    while not position.over:
        found = player.choose(turn_of(player, position, position, (), seed=1))
        if found.analysis:
            assert all(-1 <= line.value <= 1 for line in found.analysis.lines)
        position.play(found.action)
    assert abs(position.payoff(0)) == pytest.approx((4 if bids.startswith("plunge") else 1) / 7)


def test_what_is_told_in_points_leaves_house_contracts_out():
    position, _ = endings("sevens", 2, 20)
    facts = answers([position, load("texas42:declaration=fives").start(1)], Solver())
    assert (facts[0]["value"], facts[0]["q"]) == (None, [None] * 7)
    assert facts[0]["worlds"] == Worlds(position).count
    assert facts[1]["value"] is not None
    with pytest.raises(BadInput, match="plays cost no points in sevens, which is made or set as a whole"):
        costs(position)


def test_the_goal_of_a_house_contract_is_told():
    nello, sevens = endings("nello", 5, 16)[0], endings("sevens", 2, 20)[0]
    assert "must lose every trick" in known_lines(nello, Worlds(nello))[0]
    assert "must take every trick" in known_lines(sevens, Worlds(sevens))[0]
