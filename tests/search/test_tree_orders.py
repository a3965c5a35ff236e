"""Searches that are broken off, taken up again and played on in any order equal those of the slow search."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from rookery import load
from rookery.search.tree_arrays import NONE
from rookery.search.trees import Trees, TreeSettings
from search.slow_trees import Hashed, SlowTree, same_tree
from search.test_trees import positions_of
from support import CONNECT_FOUR

WAYS = [
    {"leaves": 1},
    {"leaves": 1, "urgency": "infinite", "early_stop": True},
    {"leaves": 2, "prove": True, "early_stop": True},
    {"leaves": 3, "urgency": "infinite", "discount": 0.9},
    {"leaves": 4, "urgency": "reduced", "reduction": 0.3},
    {"leaves": 5, "urgency": "lc0", "reduction": 0.3, "prove": True},
]


class BrokenOff(Exception):
    """What an evaluator raises that was told to."""


class Failing(Hashed):
    """An evaluator that fails when it is asked for the n-th time."""

    asked = 0

    def __call__(self, observations):
        self.asked -= 1
        if self.asked == 0:
            raise BrokenOff
        return super().__call__(observations)


class Pair:
    """Two trees and the slow ones beside them, of games that are not over."""

    def __init__(self, game, settings, seed):
        self.game, self.settings = game, settings
        positions = positions_of(game, (seed, seed + 1), 5)
        self.trees = Trees(game, settings, trees=2, nodes=400, keep=True)
        self.trees.begin(positions)
        self.slow = [SlowTree(position, settings, Hashed(game)) for position in positions]
        self.made = [0, 0]

    def run(self, until):
        """Search until the evaluator is asked for the n-th time; 0: to the end."""
        evaluator = Failing(self.game)
        evaluator.asked = until
        with contextlib.suppress(BrokenOff):
            self.trees.run(evaluator)
        made = self.trees.arrays.trees["made"].tolist()
        for b, slow in enumerate(self.slow):
            if self.trees.arrays.nodes[b, 0]["visits"] > 0:
                slow.run(made[b] - self.made[b])
        self.made = made

    def play(self):
        """Play on where both games go on, and begin the next searches."""
        actions = self.trees.choose()
        if all(not after(slow.position, action).over for slow, action in zip(self.slow, actions, strict=True)):
            self.trees.play(actions)
            for slow, action in zip(self.slow, actions, strict=True):
                slow.play(action)
        self.again()

    def again(self):
        """Begin another search of the same positions."""
        self.trees.again()
        self.made = [0, 0]

    def check(self):
        """Check that the trees are equal, and that nothing is left of leaves under way."""
        for b, slow in enumerate(self.slow):
            used = self.trees.arrays.edges[b, : self.trees.arrays.trees[b]["edges"]]
            assert (used["child"] >= NONE).all()
            assert (used["mean"][used["visits"] == 0] == 0).all()
            if slow.root:
                same_tree(self.trees, b, 0, slow.root)


def after(position, action):
    """The position after a move."""
    copy = position.copy()
    copy.play(action)
    return copy


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("spec", [CONNECT_FOUR, "pylos"])
def test_searches_broken_off_and_taken_up_in_any_order_equal_the_slow_ones(spec, way):
    game = load(spec)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        pair = Pair(game, TreeSettings(simulations=24, policy="weights", **way), seed)
        for _ in range(10):
            pair.run(int(rng.integers(0, 8)))
            pair.check()
            if pair.trees.arrays.nodes[:, 0]["count"].all() and rng.random() < 0.6:
                (pair.play if rng.random() < 0.7 else pair.again)()
                pair.check()
