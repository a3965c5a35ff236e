"""Trees built on the card equal those built on the CPU."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from rookery import load
from rookery.search.trees import Trees, TreeSettings
from search.slow_trees import Hashed, SlowTree
from search.test_tree_lanes import deepest
from support import CONNECT_FOUR, SPECS, random_walk

pytestmark = pytest.mark.gpu

WAYS = [
    {},
    {"urgency": "reduced", "reduction": 0.3},
    {"urgency": "infinite", "leaves": 3},
    {"urgency": "lc0", "reduction": 0.33, "leaves": 4},
    {"discount": 0.97, "prove": True},
    {"forced": 2.0, "prune": True, "leaves": 2, "c": 0.5},
]


def positions_of(game, count, plies):
    found = []
    for seed in range(count):
        walk = itertools.islice(random_walk(game, seed), plies + 1)
        found.append([position.copy() for position, _ in walk if not position.over][-1])
    return found


def asking(evaluator):
    """Make an evaluator on the host answer for the card."""

    def evaluate(observations, logits, values):
        given = evaluator(observations.copy_to_host())
        for target, answer in zip((logits, values), given, strict=True):
            target.copy_to_device(np.ascontiguousarray(answer).view(target.dtype))

    return evaluate


def same(fast, slow):
    """Tell for each tree whether both are equal: all nodes and edges in use."""
    equal = []
    for b in range(slow.count):
        nodes, edges = (int(slow.arrays.trees[b][name]) for name in ("nodes", "edges"))
        used = int(fast.arrays.trees[b]["nodes"]) == nodes and int(fast.arrays.trees[b]["edges"]) == edges
        names = [name for name in slow.arrays.nodes.dtype.names if name != "moved"]
        used = used and all((fast.arrays.nodes[b, :nodes][n] == slow.arrays.nodes[b, :nodes][n]).all() for n in names)
        equal.append(bool(used and (fast.arrays.edges[b, :edges] == slow.arrays.edges[b, :edges]).all()))
    return np.array(equal)


def same_visits(fast, slow):
    """Tell for each tree whether both have the same nodes and looked at the same moves as often, values aside."""
    equal = []
    for b in range(slow.count):
        nodes, edges = (int(slow.arrays.trees[b][name]) for name in ("nodes", "edges"))
        used = int(fast.arrays.trees[b]["nodes"]) == nodes and int(fast.arrays.trees[b]["edges"]) == edges
        pairs = [(fast.arrays.edges[b, :edges][n], slow.arrays.edges[b, :edges][n]) for n in ("action", "visits")]
        equal.append(bool(used and all((one == other).all() for one, other in pairs)))
    return np.array(equal)


def both(game, settings, positions, evaluator, moves=0):
    """Search on both machines, playing some moves; return the trees."""
    from rookery.search.trees_cuda import TreesOnCard

    slow = Trees(game, settings, trees=len(positions), keep=moves > 0)
    fast = TreesOnCard(game, settings, len(positions), keep=moves > 0)
    slow.begin(positions)
    fast.begin(positions)
    for k in range(moves + 1):
        slow.run(evaluator)
        fast.run(evaluator.kind, asking(evaluator))
        if k < moves:
            actions = slow.choose()
            assert fast.choose().copy_to_host().tolist() == actions
            slow.play(actions)
            fast.play(fast.actions)
            slow.again()
            fast.again()
    return fast.fetch(), slow


@pytest.mark.parametrize("spec", SPECS)
def test_trees_are_equal_in_every_game(spec):
    game = load(spec)
    if game.start().over:
        return
    for way in WAYS:
        settings = TreeSettings(simulations=40, policy="weights", **way)
        fast, slow = both(game, settings, positions_of(game, 24, 6), Hashed(game))
        assert same(fast, slow).all(), way


@pytest.mark.parametrize("spec", [CONNECT_FOUR, "pylos", "texas42"])
def test_kept_subtrees_are_equal(spec):
    game = load(spec)
    settings = TreeSettings(simulations=30, policy="weights")
    fast, slow = both(game, settings, positions_of(game, 16, 2), Hashed(game), moves=3)
    assert same(fast, slow).all()


def test_trees_more_than_twice_as_deep_as_a_warp_is_wide_are_equal():
    game = load("pylos")
    settings = TreeSettings(simulations=150, policy="weights", c=0.0, urgency="lc0", discount=0.97)
    fast, slow = both(game, settings, positions_of(game, 8, 2), Hashed(game))
    assert max(deepest(slow, b) for b in range(8)) > 64
    assert same(fast, slow).all()


@pytest.mark.parametrize("way", [{}, {"noise": 0.25}, {"gumbel": 8}, {"noise": 0.25, "forced": 2.0}], ids=str)
def test_nearly_all_trees_are_equal_with_softmax_and_noise(way):
    game, evaluator = load(CONNECT_FOUR), Hashed(load(CONNECT_FOUR), policy="logits")
    settings, positions = TreeSettings(simulations=60, **way), positions_of(game, 400, 8)
    equal = same_visits(*both(game, settings, positions, evaluator))
    assert equal.mean() >= 0.99
    for b in np.flatnonzero(~equal) if not way else ():  # the slow search draws no noise
        slow = SlowTree(positions[b], settings, evaluator)
        slow.run(settings.simulations)
        assert slow.gap < 1e-6, positions[b].text()


@pytest.mark.parametrize("spec", [CONNECT_FOUR, "gomoku", "chess"])
def test_searches_without_a_network_are_equal(spec):
    from rookery.search.trees_cuda import TreesOnCard

    game = load(spec)
    settings = TreeSettings(simulations=200, policy="weights")
    positions = positions_of(game, 40, 10)
    slow, fast = Trees(game, settings, trees=40), TreesOnCard(game, settings, 40)
    slow.begin(positions)
    fast.begin(positions)
    slow.run(0)
    fast.run_even(201)
    assert same(fast.fetch(), slow).all()
