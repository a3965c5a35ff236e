"""The tree of Lc0's search in arrays.

A node is a position, an edge a legal move of it. A node and its edges are made together when a leaf is reached for the
first time, so both pools fill in one order, a child behind its parent, and the subtree of a move can be shifted to the
front. Edges stand in order of falling prior once the network has judged the position.

Values belong to the mover of the node they are stored at. Sums run over all visits; a settled node (the game is over,
or its result is proven) has its result times its visits, whatever had come up to it before.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from rookery.games.chess_lc0 import ACTIONS
from rookery.games.chess_lc0_input import PLANES
from rookery.games.chess_lc0_turns import turned_actions
from rookery.games.game import Game
from rookery.search.inner import inner

NODE = np.dtype(
    [
        ("key", np.uint64),  # shared with its twins; 0 if it has none, or they are not looked for
        ("value", np.float64),  # sum of values
        ("draws", np.float64),  # sum of chances to draw
        ("plies", np.float64),  # sum of plies to the end of the game
        ("own", np.float32),  # the network's value
        ("ends", np.float32),  # plies to the end, of a settled node
        ("parent", np.int32),  # -1 at the root
        ("first", np.int32),  # its edges: first, first + 1, ..., first + count - 1
        ("visits", np.int32),  # whose values have come back
        ("flight", np.int32),  # visits under way
        ("moved", np.int32),  # where the node goes when the pool is compacted
        ("count", np.int16),
        ("cycle", np.int16),  # plies since the same position, of a two-fold draw
        ("kind", np.int8),
        ("lower", np.int8),  # the result is at least this
        ("upper", np.int8),  # and at most this
    ],
    align=True,
)
EDGE = np.dtype([("prior", np.float32), ("child", np.int32), ("action", np.int16)], align=True)
TREE = np.dtype(
    [
        ("nodes", np.int32),
        ("edges", np.int32),
        ("restricted", np.int32),  # whether only some moves of the root are searched
        ("full", np.int32),
        ("deepest", np.int32),  # leaf of this search
        ("made", np.int64),  # visits of this search
        ("depths", np.int64),  # of its leaves, together
        ("known", np.int64),  # leaves of this search that were found in memory
    ],
    align=True,
)
BATCH = np.dtype(
    [
        ("gathered", np.int32),  # leaves that wait for the network
        ("collided", np.int32),  # collisions
    ],
    align=True,
)
SLOT = np.dtype([("key", np.uint64), ("node", np.int32), ("turn", np.int32)], align=True)
COLLISION = np.dtype([("node", np.int32), ("visits", np.int32)], align=True)

OPEN, ENDED, TWO_FOLD, PROVEN = range(4)
NONE = -1
MOST_VISITS = 1 << 30
MOST_COLLISIONS = 256  # of one batch, each a walk of its own
EDGES_A_NODE = 40
BYTES_A_NODE = NODE.itemsize + EDGES_A_NODE * EDGE.itemsize + 4 * np.dtype(np.int32).itemsize  # speakers: 4 at most
REMEMBERED_MOVES = 64  # of a position whose evaluation is remembered

MEMORY = np.dtype(
    [
        ("key", np.uint64),
        ("q", np.float32),
        ("d", np.float32),
        ("m", np.float32),
        ("count", np.int32),  # legal moves; 0: nothing is remembered here
        ("logits", np.float32, (REMEMBERED_MOVES,)),  # in order of actions
    ],
    align=True,
)


class Arrays(NamedTuple):
    """One tree, with a batch of up to L leaves that wait for the network."""

    options: Any  # [1] OPTIONS
    tree: Any  # [1] TREE
    batch: Any  # [1] BATCH
    root: Any  # [1] state
    leaves: Any  # [L + 1] states; the last one is scratch
    nodes: Any  # [N] NODE
    edges: Any  # [E] EDGE
    slots: Any  # [L + 1] SLOT
    masks: Any  # [L + 1, 112] what the network reads
    values: Any  # [L + 1, 112]
    collisions: Any  # [C] COLLISION
    allowed: Any  # [1858] moves of the root that are searched, if not all are
    table: Any  # [8, 1858] policy indices of turned boards
    moves: Any  # [most_legal] scratch
    logits: Any  # [most_legal] scratch
    shares: Any  # [most_legal] scratch
    memory: Any  # [M] MEMORY
    speakers: Any  # [S] number + 1 of the most visited of twins, by their key; S a power of two above 2 N, or 1


OF_A_BATCH = ("batch", "leaves", "slots", "masks", "values", "collisions")
"""arrays that belong to a batch; all others are the tree's"""


def room(game: Game, options: np.ndarray, batch: int, nodes: int, remembered: int) -> Arrays:
    """Make an empty tree. What is not touched takes no memory yet."""
    return Arrays(
        options=options,
        tree=np.zeros(1, TREE),
        batch=np.zeros(1, BATCH),
        root=game.empty_states(1),
        leaves=game.empty_states(batch + 1),
        nodes=np.zeros(nodes, NODE),
        edges=np.zeros(max(nodes * EDGES_A_NODE, 2 * game.most_legal), EDGE),
        slots=np.zeros(batch + 1, SLOT),
        masks=np.zeros((batch + 1, PLANES), np.uint64),
        values=np.zeros((batch + 1, PLANES), np.float32),
        collisions=np.zeros(MOST_COLLISIONS, COLLISION),
        allowed=np.zeros(ACTIONS, np.uint8),
        table=turned_actions(),
        moves=np.zeros(game.most_legal, np.int32),
        logits=np.zeros(game.most_legal, np.float32),
        shares=np.zeros(game.most_legal, np.float64),
        memory=np.zeros(max(1, remembered), MEMORY),
        speakers=np.zeros(1 << (2 * nodes).bit_length() if options["transpositions"][0] else 1, np.int32),
    )


def another_batch(t: Arrays) -> Arrays:
    """Return the same tree with room for another batch, so that one can be gathered while another is judged."""
    apart = {name: np.zeros_like(getattr(t, name)) for name in Arrays._fields if name in OF_A_BATCH}
    return t._replace(**apart)


# ---- going on with a part of the tree ------------------------------------------------------------


@inner
def unvisit(t: Arrays, n: int) -> None:
    """Take a node's visits back from it and from all above, so that it is as if it had never been reached."""
    visits, draws, plies = t.nodes[n].visits, t.nodes[n].draws, t.nodes[n].plies
    value, at = t.nodes[n].value, n
    while at >= 0:
        node = t.nodes[at]
        if node.kind == OPEN or at == n:
            node.value, node.draws, node.plies = node.value - value, node.draws - draws, node.plies - plies
            node.visits -= visits
        else:  # what is proven stays so
            break
        value, plies, at = -value, plies + visits, node.parent
    t.nodes[n].kind, t.nodes[n].visits = OPEN, 0


@njit(cache=True, nogil=True)
def keep_subtree(t: Arrays, top: int) -> None:
    """Shift the subtree of a node to the front of the pools; all else is forgotten."""
    tree = t.tree[0]
    nodes, edges = 0, 0
    for n in range(tree.nodes):
        node = t.nodes[n]
        kept = n == top or (n > top and t.nodes[node.parent].moved >= 0)
        node.moved = NONE
        if kept:
            node.moved = nodes
            nodes += 1
    nodes = 0
    for n in range(tree.nodes):
        if t.nodes[n].moved < 0:
            continue
        node, first = t.nodes[n], t.nodes[n].first
        for i in range(node.count):
            t.edges[edges + i] = t.edges[first + i]
            child = t.edges[edges + i].child
            if child >= 0:  # it stands behind, so it has not been shifted yet
                t.edges[edges + i].child = t.nodes[child].moved
                t.nodes[child].parent = nodes
        node.first = edges
        edges += node.count
        if n == top:
            node.parent = NONE
        t.nodes[nodes] = t.nodes[n]
        nodes += 1
    tree.nodes, tree.edges, tree.full = nodes, edges, 0
    revert_draws(t)
    if t.nodes[0].kind == PROVEN:
        reopen(t)


@inner
def reopen(t: Arrays) -> None:
    """Let a root be searched whose result is proven; what is proven of its moves stays.

    Its sums are made again from those of its moves. Of its own evaluation only the value is kept, so for draws and
    plies its own visit counts as the mean of the others.
    """
    root, visits, value, draws, plies = t.nodes[0], 0, 0.0, 0.0, 0.0
    for e in range(root.first, root.first + root.count):
        child = t.edges[e].child
        if child >= 0:
            node = t.nodes[child]
            visits += node.visits
            value, draws, plies = value - node.value, draws + node.draws, plies + node.plies + node.visits
    more = (visits + 1) / max(1, visits)
    root.visits, root.value, root.draws, root.plies = visits + 1, value + root.own, draws * more, plies * more
    root.kind, root.lower, root.upper = OPEN, -1, 1


@inner
def revert_draws(t: Arrays) -> None:
    """Take back two-fold draws whose first occurrence is no longer inside the tree."""
    for n in range(t.tree[0].nodes):
        node = t.nodes[n]
        depth = 0 if node.parent < 0 else t.nodes[node.parent].moved + 1
        node.moved = depth  # scratch, while the nodes are passed through from the front
        if node.kind == TWO_FOLD and (depth < 4 or depth < node.cycle):
            unvisit(t, n)
