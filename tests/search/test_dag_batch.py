"""RAVE in many positions at once, against the search of one position."""

from __future__ import annotations

import numpy as np
import pytest

from rookery import BadInput
from rookery.games.game import Game
from rookery.games.position import Position, fill_observation
from rookery.search import dag
from rookery.search.analysis import Limits
from rookery.search.dag_batch import Judge, RaveBatch
from rookery.search.dag_rows import graph_at
from search.test_dag import SMALL, Guess, after, grown, nodes_of

SIMULATIONS = 60


class Row:
    """One of many graphs, in the form of a single search."""

    def __init__(self, batch: RaveBatch, g: int):
        self.graph = graph_at.py_func(batch.graphs, g)


def some_positions(spec: str, count: int) -> list[Position]:
    """Positions of different stages; none is over."""
    return [after(spec, moves % 5, seed=moves) for moves in range(count)]


def judge_of(game: Game, evaluator) -> Judge:
    """A judge that asks an evaluator."""
    kind, size = list(game.observations).index(evaluator.kind), int(np.prod(game.observations[evaluator.kind]))

    def judge(states):
        observations = np.empty((len(states), size), np.float32)
        for row, state in enumerate(states):
            fill_observation(state, kind, observations[row])
        return evaluator(observations)

    return judge


def batch_of(position: Position, evaluator, threads: int = 1, **settings) -> RaveBatch:
    rule = dag.rule_of(position.game, Limits(nodes=SIMULATIONS), evaluator=evaluator, **settings)
    return RaveBatch(position.game, rule, SIMULATIONS, judge_of(position.game, evaluator), threads)


def searched(batch: RaveBatch, positions: list[Position], seeds, temperature=0.0):
    return batch.search(np.concatenate([p.states for p in positions]), np.array(seeds), temperature)


@pytest.mark.parametrize(
    ("spec", "threads"), [(SMALL, 1), (SMALL, 3), pytest.param("pylos", 2, marks=pytest.mark.slow)]
)
def test_each_search_is_that_of_one_position_simulation_for_simulation(spec, threads):
    positions, seeds = some_positions(spec, 9), [5 * n - 7 for n in range(9)]
    guess = Guess(positions[0].game)
    settings = {"c": 2.0, "k": 30.0, "own_value": True}
    batch = batch_of(positions[0], guess, threads, **settings)
    for chosen in (slice(0, 9), slice(2, 5)):  # the memory of a larger search is used again
        found = searched(batch, positions[chosen], seeds[chosen])
        for g, (position, seed) in enumerate(zip(positions[chosen], seeds[chosen], strict=True)):
            single = grown(position, SIMULATIONS, evaluator=guess, seed=seed, **settings)
            assert nodes_of(Row(batch, g)) == nodes_of(single)
            lines = dag.analysed(single, 0.0)
            assert (found.actions[g], found.best[g]) == (lines.action, lines.action)
            assert found.values[g] == lines.value


def test_drawn_moves_are_those_of_the_single_search():
    positions, seeds = some_positions(SMALL, 20), list(range(20))
    guess = Guess(positions[0].game)
    found = searched(batch_of(positions[0], guess), positions, seeds, temperature=1.5)
    singles = [
        dag.search(position, Limits(nodes=SIMULATIONS), evaluator=guess, seed=seed, temperature=1.5).action
        for position, seed in zip(positions, seeds, strict=True)
    ]
    assert found.actions.tolist() == singles
    assert (found.actions != found.best).any()


def test_only_positions_that_wait_are_judged():
    positions = some_positions(SMALL, 6)
    guess = Guess(positions[0].game)
    batch = batch_of(positions[0], guess)
    searched(batch, positions, range(6))
    assert guess.asked == batch.graphs.used[:, 0].sum()


def test_answers_that_are_no_numbers_are_refused():
    position = after(SMALL, 0)
    batch = batch_of(position, Guess(position.game))
    for logit, value in ((0.0, np.nan), (0.0, 1.5), (np.inf, 0.0)):
        batch.judge = lambda states, logit=logit, value=value: (
            np.full((len(states), position.game.actions), logit, np.float32), np.full(len(states), value, np.float32),
        )  # fmt: skip
        with pytest.raises(BadInput) as told:
            searched(batch, [position] * 3, range(3))
        said = f"a value of {value} and logits of {logit} to {logit} in {position.text()!r} (domineering); values must"
        assert said in str(told.value)
    batch.judge = lambda states: (np.zeros((len(states), 3), np.float32), np.zeros(len(states), np.float32))
    with pytest.raises(BadInput, match="the judge answers with arrays of shape"):
        searched(batch, [position] * 3, range(3))


def test_a_position_that_is_over_is_refused():
    position = after("domineering:rows=2,cols=2", 0)
    while not position.over:
        position.play(int(position.legal()[0]))
    first = after("domineering:rows=2,cols=2", 0)
    with pytest.raises(BadInput, match="the game is over") as told:
        searched(batch_of(position, Guess(position.game)), [first, position], [0, 0])
    assert repr(position.text()) in str(told.value)


def test_a_judge_who_is_wrong_about_one_leaf_among_many_is_told_which():
    positions = some_positions(SMALL, 6)
    batch = batch_of(positions[0], Guess(positions[0].game))
    right, wrong = batch.judge, positions[4]

    def judge(states):
        logits, values = right(states)
        texts = [Position(wrong.game, states[row : row + 1]).text() for row in range(len(states))]
        return logits, np.where(np.array(texts) == wrong.text(), np.float32(-2), values)

    batch.judge = judge
    with pytest.raises(BadInput) as told:
        searched(batch, positions, range(6))
    assert "a value of -2.0 and" in str(told.value)
    assert repr(wrong.text()) in str(told.value)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"seeds": np.arange(4)}, r"seeds must be 3 whole numbers, one for each position, not int64 of shape \(4,\)"),
        ({"seeds": np.ones(3)}, "not float64"),
        ({"states": np.zeros(3)}, "records of domineering, not float64"),
        ({"temperature": -0.5}, "temperature of a search must be a finite number from 0 on, not -0.5"),
        ({"temperature": np.nan}, "not nan"),
    ],
)
def test_what_is_no_list_of_positions_with_seeds_is_refused(changed, told):
    position = after(SMALL, 0)
    batch = batch_of(position, Guess(position.game))
    with pytest.raises(BadInput, match=told):
        batch.search(**{"states": np.repeat(position.states, 3), "seeds": np.arange(3)} | changed)


@pytest.mark.parametrize(("name", "value"), [("simulations", 0), ("threads", 0)])
def test_impossible_numbers_are_refused(name, value):
    position = after(SMALL, 0)
    rule = dag.rule_of(position.game, Limits(nodes=1), evaluator=Guess(position.game))
    values = {"simulations": 5, "threads": 1} | {name: value}
    with pytest.raises(BadInput, match=f"{name} must be a whole number"):
        RaveBatch(position.game, rule, judge=judge_of(position.game, Guess(position.game)), **values)
