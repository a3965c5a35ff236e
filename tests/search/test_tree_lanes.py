"""Tree search by several lanes builds the trees that one lane builds: what a card does, watched without a card."""

from __future__ import annotations

import pytest

from rookery import load
from rookery.search import trees as module
from rookery.search.tree_arrays import DECIDED
from rookery.search.trees import Trees, TreeSettings
from search.several_lanes import StaysAway, Warp
from search.slow_trees import Hashed
from search.test_trees import positions_of
from support import CONNECT_FOUR

LANES = 3
WAYS = [
    {"c": 0.05},  # deep: more than twice as many plies as there are lanes
    {"c": 0.3, "early_stop": True},
    {"discount": 0.9, "prove": True, "leaves": 3, "c": 0.3},
    {"urgency": "reduced", "reduction": 0.3, "leaves": 2},
    {"urgency": "lc0", "reduction": 0.3, "discount": 0.97, "c": 0.2},
    {"gumbel": 5, "c": 0.1},
    {"forced": 4.0, "prune": True, "temperature": 1.0, "c": 0.3, "leaves": 2},
]
CASES = [
    *((CONNECT_FOUR, way) for way in WAYS),
    ("texas42", WAYS[2]),
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


def forced_of(game, count):
    """Positions with a single move, after which there are several: their edges are shifted over themselves."""
    found = []
    for position in positions_of(game, range(60), 14):
        after = position.copy()
        after.play(int(position.legal()[0]))
        if len(position.legal()) == 1 and not after.over and len(after.legal()) > 2:
            found.append(position)
    return found[:count]


def deepest(trees, b, n=0):
    """Return how many plies a tree is deep."""
    first, count = trees.edges_of(b, n)
    children = [int(e["child"]) for e in trees.arrays.edges[b, first : first + count] if e["child"] >= 0]
    return 1 + max((deepest(trees, b, child) for child in children), default=-1)


@pytest.mark.parametrize("last_first", [False, True])
@pytest.mark.parametrize("away", range(LANES))
def test_a_lane_that_stays_away_is_noticed(away, last_first):
    warp = Warp(LANES, last_first)
    agree = warp.replaced

    def one_too_few(lane):
        assert agree["lane_sum"](lane) == sum(range(LANES))
        if lane != away:
            agree["lane_sync"]()

    def something_else(lane):
        agree["lane_max" if lane == away else "lane_sum"](lane)

    for work in (one_too_few, something_else):
        with pytest.raises(StaysAway):
            warp.run(work)


@pytest.mark.parametrize("last_first", [False, True])
def test_a_lane_that_does_not_wait_for_what_another_writes_is_noticed(last_first):
    warp, board = Warp(LANES, last_first), []

    def careless(lane):
        if lane == 1:
            board.append(lane)
        seen.append(len(board))

    seen = []
    warp.run(careless)
    assert sorted(seen) == [0, 1, 1]


@pytest.mark.parametrize("last_first", [False, True])
@pytest.mark.parametrize(("spec", "way"), CASES, ids=str)
def test_several_lanes_build_the_trees_that_one_builds(spec, way, last_first, monkeypatch):
    game = load(spec)
    settings = TreeSettings(simulations=30, policy="weights", **way)
    positions = forced_of(game, 2) if spec == "texas42" else positions_of(game, range(2), 8)
    alone = searched(game, settings, positions, moves=1)
    warp = Warp(LANES, last_first)
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
    if "early_stop" in way:
        assert (alone.arrays.trees["status"] == DECIDED).any()
