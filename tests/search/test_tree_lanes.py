"""Tree search by several lanes builds the trees that one lane builds: what a card does, watched without a card."""

from __future__ import annotations

import pytest

from rookery import load
from rookery.search import trees as module
from rookery.search.trees import Trees, TreeSettings
from search.several_lanes import Warp
from search.slow_trees import Hashed
from search.test_trees import positions_of
from support import CONNECT_FOUR

LANES = 3
WAYS = [
    {"c": 0.05},  # deep: more than twice as many plies as there are lanes
    {"discount": 0.9, "prove": True, "leaves": 3, "c": 0.3},
    {"urgency": "reduced", "reduction": 0.3, "leaves": 2},
    {"urgency": "lc0", "reduction": 0.3, "discount": 0.97, "c": 0.2},
    {"gumbel": 5, "c": 0.1},
]


def searched(game, settings, positions, moves):
    """Search some positions and play some moves, keeping subtrees."""
    trees = Trees(game, settings, trees=len(positions), keep=True)
    trees.arrays.options["in_lanes"] = game.name != "texas42"
    trees.begin(positions)
    for k in range(moves + 1):
        trees.run(Hashed(game))
        if k < moves:
            trees.play(trees.choose())
            trees.again()
    return trees


def deepest(trees, b, n=0):
    """Return how many plies a tree is deep."""
    first, count = trees.edges_of(b, n)
    children = [int(e["child"]) for e in trees.arrays.edges[b, first : first + count] if e["child"] >= 0]
    return 1 + max((deepest(trees, b, child) for child in children), default=-1)


@pytest.mark.parametrize(("spec", "way"), [*((CONNECT_FOUR, way) for way in WAYS), ("texas42", WAYS[1])], ids=str)
def test_several_lanes_build_the_trees_that_one_builds(spec, way, monkeypatch):
    game = load(spec)
    settings = TreeSettings(simulations=30, policy="weights", **way)
    positions = positions_of(game, range(2), 8)
    alone = searched(game, settings, positions, moves=1)
    warp = Warp(LANES)
    monkeypatch.setattr(module, "step", warp.step)
    monkeypatch.setattr(module, "play_tree", warp.play_tree)
    together = searched(game, settings, positions, moves=1)
    assert (together.arrays.trees == alone.arrays.trees).all()
    for b in range(len(positions)):
        nodes, edges = (int(alone.arrays.trees[b][name]) for name in ("nodes", "edges"))
        for name in set(alone.arrays.nodes.dtype.names) - {"moved"}:
            assert (together.arrays.nodes[b, :nodes][name] == alone.arrays.nodes[b, :nodes][name]).all(), name
        assert (together.arrays.edges[b, :edges] == alone.arrays.edges[b, :edges]).all()
    if way == WAYS[0]:
        assert max(deepest(alone, b) for b in range(len(positions))) > 2 * LANES
