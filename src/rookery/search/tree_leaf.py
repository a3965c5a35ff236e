"""A leaf becomes a node: its seat and value, the edges of its moves, their priors."""

from __future__ import annotations

import math
from typing import Any

from numba import float32, int32

from rookery.games.rules import legal, mover, payoff
from rookery.search.evaluator import SURE_FROM
from rookery.search.inner import inner
from rookery.search.lanes import lane_max, lane_sum, lane_sync, lanes_legal
from rookery.search.records import at
from rookery.search.tree_arrays import LOW, NONE, STUCK, Single, Tree
from rookery.search.tree_settings import LC0


@inner
def list_moves(t: Tree, row: int, moves: Any, lane: int, width: int) -> int:
    """Write the legal actions of a leaf and return how many, on every lane."""
    if t.options.in_lanes:
        return lanes_legal(at(t.leaves, row), t.options.actions, moves, lane, width)
    if lane == 0:
        t.tree.chosen = int32(legal(at(t.leaves, row), moves))
    lane_sync()
    return int(t.tree.chosen)


@inner
def new_edges(t: Tree, row: int, first: int, count: int, moves: Any, lane: int, width: int) -> Single:
    """Make edges for the legal moves with the evaluator's number of each; return the largest number."""
    top, given = LOW, at(t.logits, row * t.options.actions)
    for i in range(lane, count, width):
        edge, action = at(t.edges, first + i), int(moves[i])
        edge.prior = at(given, action).x
        edge.mean, edge.visits, edge.child = float32(0), int32(0), int32(NONE)
        edge.action, edge.proof = action, 0
        top = max(top, edge.prior)
    return lane_max(top)


@inner
def give_priors(t: Tree, first: int, count: int, top: Single, lane: int, width: int) -> None:
    """Turn the evaluator's numbers into priors: the softmax of logits, or each one's share of the weights."""
    mass = float32(0)
    for e in range(first + lane, first + count, width):
        edge = at(t.edges, e)
        if not t.options.weights:
            edge.prior = math.exp((edge.prior - top) * t.options.sharpness)
        mass += edge.prior
    mass = lane_sum(mass)
    for e in range(first + lane, first + count, width):
        edge = at(t.edges, e)
        edge.prior = edge.prior / mass if mass > float32(0) else float32(1) / float32(count)
    lane_sync()


@inner
def sort_by_prior(t: Tree, first: int, count: int, lane: int, width: int) -> None:
    """Put new edges into order of falling prior, equal ones in order of action; the room behind them is scratch."""
    for e in range(first + lane, first + count, width):
        prior, place = at(t.edges, e).prior, first + count
        for other in range(first, first + count):
            higher = at(t.edges, other).prior
            if higher > prior or (higher == prior and other < e):
                place += 1
        at(t.edges, place).prior = prior
        at(t.edges, place).action = at(t.edges, e).action
    lane_sync()
    for e in range(first + lane, first + count, width):
        at(t.edges, e).prior = at(t.edges, e + count).prior
        at(t.edges, e).action = at(t.edges, e + count).action
    lane_sync()


@inner
def new_node(t: Tree, row: int, n: int, value: Single) -> None:
    """Make the node of a leaf, so far without edges: its seat and value."""
    node, slot, state = at(t.nodes, n), at(t.slots, row), at(t.leaves, row)
    node.visits, node.count, node.first = int32(0), int32(0), t.tree.edges
    node.mean, node.mass = float32(0), float32(0)
    node.proof = 0
    if slot.over:
        node.seat = at(t.nodes, slot.node).seat
        value = float32(payoff(state, int(node.seat)))
        if t.options.prove:
            node.proof = int32(value > float32(0.999)) - int32(value < float32(-0.999))
    else:
        node.seat = mover(state)
        if abs(value) > float32(SURE_FROM):
            value = float32(1) if value > float32(0) else float32(-1)
            if t.options.prove:
                node.proof = int32(value)
    node.value = value


@inner
def expand(t: Tree, row: int, moves: Any, lane: int, width: int) -> int:
    """Make the leaf's node and, unless the game is over, its edges; return the node. Known nodes stay as they are."""
    slot, tree = at(t.slots, row), t.tree
    if slot.edge >= 0 and at(t.edges, slot.edge).child >= 0:
        return int(slot.node)  # a finished game, seen before
    n = int(tree.nodes)
    lane_sync()
    if lane == 0:
        new_node(t, row, n, float32(at(t.values, row).x))
        tree.nodes = int32(n + 1)
        if slot.edge >= 0:
            at(t.edges, slot.edge).child = int32(n)
    lane_sync()
    if not slot.over:
        first = int(tree.edges)
        count = list_moves(t, row, moves, lane, width)
        top = new_edges(t, row, first, count, moves, lane, width)
        give_priors(t, first, count, top, lane, width)
        if t.options.urgency == LC0:
            sort_by_prior(t, first, count, lane, width)
        if lane == 0:
            at(t.nodes, n).count = int32(count)
            tree.edges = int32(first + count)
            if count == 0:
                tree.status = int32(STUCK)
        lane_sync()
    return n
