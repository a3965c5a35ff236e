"""Forced playouts and what is taught without them, against their definition."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rookery import BadInput, load
from rookery.search.tree_arrays import PLAIN
from rookery.search.trees import Trees, TreeSettings
from search.slow_trees import Hashed, SlowTree, same_tree
from search.test_trees import noise_key, positions_of
from support import CONNECT_FOUR

f32 = np.float32
WAYS = [
    {"forced": 2.0},
    {"forced": 2.0, "noise": 0.25, "alpha": 0.5},
    {"forced": 8.0, "leaves": 3, "urgency": "reduced"},
    {"forced": 3.0, "c_factor": 2.0, "c_base": 50.0, "prove": True},
]


class SlowForcedTree(SlowTree):
    """A tree whose root looks first at moves that it must look at more often."""

    def select(self, node):
        if node is self.root:
            total = sum(edge.visits + edge.waiting for edge in node.edges)
            for edge in node.edges:
                visits = edge.visits + edge.waiting
                if 0 < visits < math.sqrt(self.settings.forced * edge.prior * total) and not edge.proof:
                    return edge
        return super().select(node)


def slow_target(root, settings):
    """Take forced visits back one by one, as the definition reads."""
    total = sum(edge.visits for edge in root.edges)
    best = max(root.edges, key=lambda edge: edge.visits)
    c = settings.c + settings.c_factor * math.log((total + 1 + settings.c_base) / settings.c_base)
    found = {}

    def puct(edge, visits):
        return edge.mean + c * math.sqrt(max(total, 1)) * edge.prior / (1 + visits)

    for edge in root.edges:
        left = edge.visits
        if edge is not best:
            allowed = math.floor(math.sqrt(settings.forced * edge.prior * total))
            for _ in range(min(allowed, edge.visits)):
                if puct(edge, left - 1) >= puct(best, best.visits):
                    break
                left -= 1
            left = left if left > 1 else 0
        found[edge.action] = left
    return found


def searched(way, simulations=80, count=6, plies=4):
    """Search positions on both ways; return the fast trees and the slow ones."""
    game = load(CONNECT_FOUR)
    settings = TreeSettings(simulations=simulations, policy="weights", **way)
    evaluator, positions = Hashed(game), positions_of(game, range(count), plies)
    trees = Trees(game, settings, trees=count)
    trees.begin(positions)
    trees.run(evaluator)
    slow = [SlowForcedTree(position, settings, evaluator) for position in positions]
    for b, tree in enumerate(slow):
        if settings.noise:
            tree.run(0)
            tree.add_noise(noise_key(trees, b))
        tree.run(simulations)
    return trees, slow


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_forced_trees_equal_the_slow_ones_node_for_node(way):
    trees, slow = searched(way)
    for b, tree in enumerate(slow):
        assert same_tree(trees, b, 0, tree.root) > 1


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_what_is_taught_is_what_is_left_when_forced_visits_are_taken_back(way):
    trees, slow = searched({**way, "prune": True})
    fewer = 0
    for b, tree in enumerate(slow):
        expected = slow_target(tree.root, trees.settings)
        actions, shares = trees.policy(b)
        total = sum(expected.values())
        assert dict(zip(actions.tolist(), (shares * total).round(6).tolist(), strict=True)) == expected
        fewer += total < sum(edge.visits for edge in tree.root.edges)
    assert fewer > 0


def test_every_visited_move_has_the_visits_it_must_have():
    trees, slow = searched({"forced": 2.0, "noise": 0.25})
    for tree in slow:
        total = sum(edge.visits for edge in tree.root.edges)
        short = [
            edge
            for edge in tree.root.edges
            if edge.visits and edge.visits + 1 < math.sqrt(2.0 * edge.prior * total)  # one is due next
        ]
        assert not short
    plain, _ = searched({"noise": 0.25})
    assert (trees.arrays.edges["visits"] != plain.arrays.edges["visits"]).any()


def test_the_most_visited_move_keeps_its_visits_and_moves_with_one_visit_are_dropped():
    trees, _ = searched({"forced": 4.0, "prune": True}, count=20)
    for b in range(20):
        first, count = trees.edges_of(b, 0)
        visits = trees.arrays.edges[b, first : first + count]["visits"]
        left = trees.policy(b)[1]
        assert left.argmax() == visits.argmax()
        assert not left[(visits <= 1) & (visits < visits.max())].any()


def test_a_move_is_drawn_by_visits_without_forced_ones():
    game = load(CONNECT_FOUR)
    position = positions_of(game, [3], 4)[0]
    settings = TreeSettings(simulations=60, policy="weights", c=0.3, forced=2.0, prune=True, temperature=1.0)
    trees = Trees(game, settings, trees=400)
    trees.begin([position] * 400)
    trees.run(Hashed(game))
    actions, shares = trees.policy(0)
    first, count = trees.edges_of(0, 0)
    visits = trees.arrays.edges[0, first : first + count]["visits"]
    dropped = set(actions[(shares == 0) & (visits > 0)].tolist())
    drawn = trees.choose()
    assert dropped
    assert not dropped & set(drawn)
    for action, share in zip(actions.tolist(), shares, strict=True):
        assert drawn.count(action) / 400 == pytest.approx(share, abs=5 * math.sqrt(0.25 / 400))


def test_a_search_without_noise_forces_nothing():
    game = load(CONNECT_FOUR)
    positions = positions_of(game, range(4), 4)
    found = []
    for forced in (0.0, 5.0):
        trees = Trees(game, TreeSettings(simulations=50, policy="weights", forced=forced), trees=4)
        trees.begin(positions)
        trees.arrays.trees["fresh"] = PLAIN
        trees.run(Hashed(game))
        found.append(trees.arrays.edges["visits"].copy())
    assert (found[0] == found[1]).all()


def test_what_excludes_each_other_is_refused():
    with pytest.raises(BadInput, match="gumbel and forced exclude each other"):
        TreeSettings(gumbel=4, forced=2.0)
    with pytest.raises(BadInput, match="prune needs forced above 0"):
        TreeSettings(prune=True)
