"""The solver of Texas 42 against trying everything, the published values, and itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.slow_texas42 import HAND_22, NAMES
from rookery import load
from rookery.errors import BadInput
from rookery.games import texas42
from rookery.games.position import Position
from rookery.games.texas42_tiles import read_tile, tile_text, tiles_of
from rookery.search.solve import texas42_suits
from rookery.search.solve.texas42 import ILLEGAL, Solver, solve
from rookery.search.solve.texas42_table import MOST_DEALS
from rookery.search.threads import Stopped
from search.solve.slow_texas42_values import slow_q

LEAD_VALUES = [
    [42, 38, 42, 42, 38, 42, 42],
    [4, 26, 38, -6, 16, 8, -2],
    [-14, -4, -4, -16, -4, -36, -26],
    [-18, -6, -20, -8, -20, -20, -20],
    [16, 26, -16, 16, 16, 16, 26],
    [-18, 2, 4, 4, 4, -28, 4],
    [10, -14, -14, -12, -14, -14, 10],
    [-26, -28, -28, -26, -26, -28, -26],
    [40, 40, 40, 40, 14, 40, 40],
    [20, -42, -40, -40, -6, 8, 8],
]
"""published: of each seed's deal, with the declaration of that number, the value of each lead of seat 0"""
SOLVER = Solver()


def root(seed: int) -> Position:
    return load("texas42").set_up(texas42.deal(seed), seed % 10, 0)


def random_position(rng: np.random.Generator, plays: int) -> Position:
    """A deal with any declaration and leader after some random plays."""
    hands = rng.permutation(28).reshape(4, 7).tolist()
    position = load("texas42").set_up(hands, int(rng.integers(10)), int(rng.integers(4)))
    for _ in range(plays):
        position.play(int(rng.choice(position.legal())))
    return position


def random_states(seed: int, count: int, most_plays: int = 28) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.concatenate([random_position(rng, int(rng.integers(most_plays + 1))).states for _ in range(count)])


def check_against_all(position: Position) -> None:
    expected = slow_q(position)
    solved = SOLVER.q(position.states)
    assert solved.q[0].tolist() == [ILLEGAL if value is None else value for value in expected]
    legal = [value for value in expected if value is not None]
    assert solved.values[0] == (max(legal) if position.mover % 2 == 0 else min(legal))
    assert SOLVER.values(position.states)[0] == solved.values[0]


# ---- values --------------------------------------------------------------------------------------


def test_published_values_of_all_leads():
    solved = SOLVER.q(np.concatenate([root(seed).states for seed in range(10)]))
    assert solved.q.tolist() == LEAD_VALUES
    assert solved.values.tolist() == [max(values) for values in LEAD_VALUES]
    assert solved.q.dtype == solved.values.dtype == np.int8


@pytest.mark.parametrize(("plays", "expected"), [(16, {"5-0": -4, "5-4": 6, "6-3": -4}), (20, {"6-1": 12, "6-2": 12})])
def test_published_values_within_a_hand(plays, expected):
    position = load("texas42").set_up(texas42.deal(42), 6, 0, HAND_22.split()[:plays])
    solved = SOLVER.q(position.states)
    assert {position.move_text(slot): solved.q[0, slot] for slot in position.legal()} == expected
    assert solved.values[0] == (min if position.mover % 2 else max)(expected.values())
    assert (solved.q[0] == ILLEGAL).sum() == 7 - len(expected)


@given(st.integers(0, 2**32 - 1), st.integers(17, 27))
def test_endings_agree_with_trying_everything(seed, plays):
    check_against_all(random_position(np.random.default_rng(seed), plays))


@pytest.mark.slow
@pytest.mark.parametrize("plays", range(15, 28))
def test_hundreds_of_endings_of_each_length_agree_with_trying_everything(plays):
    rng = np.random.default_rng(plays)
    for _ in range(300 if plays > 16 else 60):
        check_against_all(random_position(rng, plays))


@pytest.mark.parametrize("seed", range(20))
def test_a_tile_is_worth_what_it_gains_and_what_comes_after(seed):
    position = random_position(np.random.default_rng(seed), 0)
    while not position.over:
        solved, best = SOLVER.q(position.states), []
        for slot in position.legal():
            after = position.copy()
            after.play(int(slot))
            taken = np.subtract(texas42.points(after), texas42.points(position))
            assert solved.q[0, slot] == taken[0] - taken[1] + SOLVER.values(after.states)[0]
            best.append(solved.q[0, slot])
        assert solved.values[0] == (min if position.mover % 2 else max)(best)
        position.play(int(position.legal()[seed % len(position.legal())]))


def test_a_hand_that_is_over_is_worth_nothing_more():
    solved = solve(random_position(np.random.default_rng(0), 28).states)
    assert solved.values.tolist() == [0]
    assert (solved.q == ILLEGAL).all()


def test_the_auction_before_a_hand_changes_no_value():
    deal, game = texas42.deal(3), load("texas42:auction=redeal")
    bid = game.set_up(deal, 3, 0, bids=["30", "pass", "pass", "pass"])
    assert SOLVER.q(bid.states).q[0].tolist() == LEAD_VALUES[3]


# ---- batches -------------------------------------------------------------------------------------


def test_threads_and_tables_do_not_change_answers():
    states = random_states(1, 150)
    expected = SOLVER.q(states)
    for solver in (Solver(threads=3), Solver(memory=1), Solver(threads=2, memory=4)):
        solved = solver.q(states)
        assert (solved.q == expected.q).all()
        assert (solved.values == expected.values).all()
        assert (solver.values(states) == expected.values).all()


def test_a_deal_met_again_under_another_declaration_is_solved_anew():
    deals = [load("texas42").set_up(texas42.deal(5), declaration, 0).states for declaration in (5, 6, 5, 9, 5)]
    together = SOLVER.q(np.concatenate(deals))
    for i, states in enumerate(deals):
        assert (Solver().q(states).q[0] == together.q[i]).all()


def test_running_out_of_numbers_for_deals_empties_the_table():
    solver, states = Solver(), random_states(2, 20, 8)
    expected = solver.q(states)
    solver.benches.queue[0].desks["deal"] = MOST_DEALS - 10
    assert (solver.q(states).q == expected.q).all()
    assert solver.benches.queue[0].desks["deal"][0] < 20


def test_progress_counts_all_positions():
    done = []
    SOLVER.q(random_states(3, 50), report=done.append)
    assert sum(done) == 50


def test_a_stopped_solver_says_so_and_works_again():
    solver, stop = Solver(), np.ones(1, np.int32)
    with pytest.raises(Stopped):
        solver.q(root(0).states, stop=stop)
    assert solver.q(root(0).states).q[0].tolist() == LEAD_VALUES[0]


def test_a_batch_is_stopped_on_its_way():
    stop, done = np.zeros(1, np.int32), []

    def report(positions: int) -> None:
        done.append(positions)
        stop[0] = 1

    with pytest.raises(Stopped):
        Solver().q(random_states(4, 100), stop=stop, report=report)
    assert sum(done) < 100


def test_no_positions_have_no_values():
    assert SOLVER.q(random_states(0, 1)[:0]).q.shape == (0, 7)


# ---- what is refused -----------------------------------------------------------------------------


def test_hidden_hands_are_refused():
    with pytest.raises(BadInput, match="position 1 has hidden hands"):
        solve(np.concatenate([root(0).states, root(0).seen_by(2).states]))


def test_a_position_without_a_declaration_is_refused():
    with pytest.raises(BadInput, match="position 0 has no declaration"):
        solve(load("texas42:auction=redeal").start().states)


@pytest.mark.parametrize("states", [None, np.zeros(3), load("pylos").start().states, root(0).state])
def test_what_is_no_array_of_its_positions_is_refused(states):
    with pytest.raises(BadInput, match="solver of texas42 takes"):
        solve(states)


def test_memory_and_threads_must_be_possible():
    with pytest.raises(BadInput, match="memory"):
        Solver(memory=0)
    with pytest.raises(BadInput, match="threads"):
        Solver(threads=0)


# ---- tiles that can be exchanged -----------------------------------------------------------------


def test_tiles_are_set_apart_by_what_tells_them_apart():
    def between(name: str, first: str, second: str) -> list[str]:
        found = texas42_suits.apart(NAMES.index(name), read_tile(first), read_tile(second))
        return [tile_text(tile) for tile in tiles_of(found)]

    assert between("sixes", "6-3", "6-1") == ["6-2"]
    assert between("sixes", "6-3", "5-3") == between("sixes", "5-5", "5-4") == [tile_text(t) for t in range(28)]
    assert between("doubles", "6-6", "3-3") == ["4-4", "5-5"]
    assert between("doubles-suit", "1-1", "0-0") == []
    assert between("no-trump", "6-1", "6-0") == ["0-0", "1-0", "1-1"]
    assert between("no-trump", "6-3", "6-1") == ["1-0", "1-1", "3-0", "3-1", "3-2", "3-3", "6-2"]
    assert between("no-trump", "6-0", "3-0") == [
        "3-1", "3-2", "3-3", "4-0", "4-3", "5-0", "5-3", "6-1", "6-2", "6-3", "6-4", "6-5", "6-6",
    ]  # fmt: skip


@pytest.mark.parametrize("declaration", range(10))
def test_the_same_tiles_are_set_apart_in_either_order(declaration):
    apart = texas42_suits.suits_of(declaration)["apart"]
    assert (apart == apart.T).all()
