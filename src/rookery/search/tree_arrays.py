"""B trees side by side in arrays.

A node is a position, an edge a legal move of it. The edges of a node lie together in its tree's pool, in the order of
their actions (in order of prior under the `lc0` urgency). Both pools fill from the front, a child behind its parent, so
the subtree of a move can be shifted to the front when the move is played.

Values belong to the mover of the node they are stored at: a node's mean to its own mover, an edge's mean to the mover
of the node it leads away from. A finished game has no mover; its node takes the seat of the move before.

Where several leaves of a tree are under way together, each counts as a visit until its value comes back.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import float32, njit

from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.search.tree_settings import TreeSettings

NODE = np.dtype(
    [
        ("first", np.int32),  # its edges: first, first + 1, ..., first + count - 1
        ("count", np.int32),  # 0: the game is over, or the root has not been looked at
        ("visits", np.int32),  # its own evaluation and everything below
        ("mean", np.float32),  # of all values that came up to it
        ("mass", np.float32),  # priors of its visited moves together
        ("value", np.float32),  # the evaluator's, or the result
        ("seat", np.int16),
        ("proof", np.int16),  # 1: its mover wins, -1: loses, 0: unknown
        ("moved", np.int32),  # where the node goes when the pool is compacted
    ],
    align=True,
)
EDGE = np.dtype(
    [
        ("prior", np.float32),
        ("mean", np.float32),
        ("visits", np.int32),
        ("child", np.int32),  # node, -1: none yet, -2: under way
        ("action", np.int16),
        ("proof", np.int16),  # 1: the move wins, -1: it loses, 0: unknown
    ],
    align=True,
)
TREE = np.dtype(
    [
        ("stream", np.int64),  # random numbers of this tree; a game keeps its stream
        ("search", np.int32),  # number of the search in the game, so that each draws other noise
        ("ply", np.int32),  # of the game, for the temperature
        ("nodes", np.int32),
        ("edges", np.int32),
        ("budget", np.int32),  # simulations this search may make
        ("made", np.int32),  # simulations made
        ("gathered", np.int32),  # leaves under way
        ("fresh", np.int32),  # FRESH: the root's noise is still to be drawn; PLAIN: no noise, no forced playouts
        ("status", np.int32),
        ("chosen", np.int32),  # edge of the root
    ],
    align=True,
)
SLOT = np.dtype(
    [
        ("depth", np.int32),  # of the leaf
        ("node", np.int32),  # the last known node on the way to it
        ("edge", np.int32),  # the last edge, -1 at the root
        ("over", np.int32),
    ],
    align=True,
)
STEP = np.dtype([("node", np.int32), ("edge", np.int32)], align=True)
NUMBER = np.dtype([("x", np.float32)], align=True)

SEARCHING, SPENT, DECIDED, FULL, OVER, STUCK = range(6)
STATUSES = (
    "searching", "all simulations made", "decided early", "the pool of edges is full", "the game is over",
    "a position that is not the end has no legal move",
)  # fmt: skip
NONE, UNDER_WAY = -1, -2
DRAWN, FRESH, PLAIN = range(3)


MOST_ACTIONS = 1 << 15  # an edge's action has 16 bits
LINE = 64  # bytes to a line of the cache
MOST_RECORDS = (1 << 31) - 1  # nodes and edges of a tree are numbered with 32 bits


Single = Any  # a float32; Any, because it is one of Numba's, not Python's
LOW, HIGH = float32(-1e30), float32(1e30)  # below and above all scores


class Arrays(NamedTuple):
    """B trees, L leaves of each at a time; row b * L + l belongs to leaf l of tree b."""

    options: Any  # [1] OPTIONS
    roots: Any  # [B] states
    leaves: Any  # [B * L] states
    trees: Any  # [B] TREE
    nodes: Any  # [B, N] NODE
    edges: Any  # [B, E] EDGE
    gumbels: Any  # [B, most_legal] NUMBER: noise + logit of each root move; [B, 1] without Gumbel search
    slots: Any  # [B * L] SLOT
    path: Any  # [B * L, D] STEP: nodes and edges from the root to the leaf
    logits: Any  # [B * L, A] NUMBER: the evaluator's answers
    values: Any  # [B * L] NUMBER


class Tree(NamedTuple):
    """What kernels work on: the first record of each array that belongs to one tree (see `rookery.search.records`)."""

    options: Any
    root: Any
    leaves: Any
    tree: Any
    nodes: Any
    edges: Any
    gumbels: Any
    slots: Any
    path: Any
    logits: Any
    values: Any


@njit(cache=True, nogil=True, inline="always")
def tree_of(a: Arrays, b: int) -> Tree:
    """Return tree b. Written into its callers, because a function cannot return records."""
    row = b * a.options[0].leaves
    return Tree(
        a.options[0], a.roots[b], a.leaves[row], a.trees[b], a.nodes[b, 0], a.edges[b, 0], a.gumbels[b, 0],
        a.slots[row], a.path[row, 0], a.logits[row, 0], a.values[row],
    )  # fmt: skip


def aligned(trees: int, records: int, kind: np.dtype[Any]) -> np.ndarray:
    """Make zeros, [B, N], that begin with a line of the cache: then no node lies across two."""
    size = trees * records * kind.itemsize
    plain = np.zeros(size + LINE, np.uint8)
    first = -plain.ctypes.data % LINE
    return plain[first : first + size].view(kind).reshape(trees, records)


def room(game: Game, settings: TreeSettings, trees: int, nodes: int, edges: int) -> Arrays:
    """Make empty trees with room for so many nodes and edges each."""
    most = max(1, game.most_legal)
    if edges < 2 * most:
        raise BadInput(f"a tree of {game.name} needs room for at least {2 * most} edges, not {edges}")
    if edges > MOST_RECORDS:
        raise BadInput(
            f"a tree of {game.name} with {nodes} nodes may need {edges} edges; at most {MOST_RECORDS} can be numbered: "
            "ask for fewer simulations, or say how many edges there shall be room for"
        )
    if game.actions > MOST_ACTIONS:
        raise BadInput(f"{game.name} has {game.actions} actions; trees can number at most {MOST_ACTIONS}")
    rows = trees * settings.leaves
    depth = min(game.longest, nodes) + 1
    logits = np.ones((rows, game.actions), np.float32)  # until an evaluator says more
    return Arrays(
        options=settings.record(game, nodes, edges, depth),
        roots=game.empty_states(trees),
        leaves=game.empty_states(rows),
        trees=np.zeros(trees, TREE),
        nodes=aligned(trees, nodes, NODE),
        edges=aligned(trees, edges, EDGE),
        gumbels=np.zeros((trees, most if settings.gumbel else 1), NUMBER),
        slots=np.zeros(rows, SLOT),
        path=np.zeros((rows, depth), STEP),
        logits=logits.view(NUMBER),
        values=np.zeros(rows, NUMBER),
    )
