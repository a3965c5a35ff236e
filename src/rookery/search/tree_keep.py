"""Keeping what is known: when a move is played, its subtree becomes the tree."""

from __future__ import annotations

from typing import Any

from numba import int32, int64

from rookery.games.rules import over, play
from rookery.search.inner import inner
from rookery.search.lanes import lane_sync
from rookery.search.records import at, copy_record
from rookery.search.tree_arrays import FRESH, FULL, OVER, SEARCHING, Tree
from rookery.search.tree_settings import LC0


@inner
def clear(t: Tree) -> None:
    """Forget a tree; the next simulation looks at its root."""
    tree = t.tree
    tree.nodes, tree.edges = int32(0), int32(0)
    at(t.nodes, 0).visits, at(t.nodes, 0).count, at(t.nodes, 0).proof = int32(0), int32(0), 0


@inner
def full(t: Tree) -> bool:
    """Tell whether the pools might not hold another batch of leaves."""
    tree, options = t.tree, t.options
    lists = options.leaves + (1 if options.urgency == LC0 else 0)  # sorting takes room for another one
    return bool(tree.edges + lists * options.most_legal > options.edges or tree.nodes + options.leaves > options.nodes)


@inner
def begin(t: Tree, budget: int) -> None:
    """Begin a search of so many simulations from the tree's root, keeping what is known of it."""
    tree = t.tree
    if t.options.gumbel > 0:
        clear(t)  # sequential halving counts visits from nothing
    tree.budget, tree.made, tree.gathered = int32(budget), int32(0), int32(0)
    tree.fresh, tree.status = int32(FRESH), int32(SEARCHING)
    tree.search += int32(1)
    if over(t.root):
        tree.status = int32(OVER)
    elif at(t.nodes, 0).visits > 0 and full(t):  # what was kept may leave no room
        tree.status = int32(FULL)


@inner
def number_kept(t: Tree, root: int, lane: int, width: int) -> None:
    """Give the nodes below a new root, and it, their new numbers; -1 to all others. Children lie behind parents."""
    total = int(t.tree.nodes)
    for n in range(lane, total, width):
        at(t.nodes, n).moved = int32(-1)
    lane_sync()
    if lane == 0:
        at(t.nodes, root).moved = int32(0)
    lane_sync()
    kept = 0
    for n in range(root, total):
        node = at(t.nodes, n)
        if node.moved >= 0:
            for e in range(node.first + lane, node.first + node.count, width):
                if at(t.edges, e).child >= 0:
                    at(t.nodes, at(t.edges, e).child).moved = int32(0)
            lane_sync()
            if lane == 0:
                node.moved = int32(kept)
            kept += 1
            lane_sync()


@inner
def shift_edges(t: Tree, source: int, target: int, count: int, lane: int, width: int) -> None:
    """Copy edges towards the front, where they may overlap themselves, with their children's new numbers."""
    for base in range(0, count, width):
        i = base + lane
        edge = at(t.edges, source + (i if i < count else 0))
        prior, mean, visits, child = edge.prior, edge.mean, edge.visits, edge.child
        action, proof = edge.action, edge.proof
        lane_sync()
        if i < count:
            moved = at(t.edges, target + i)
            moved.prior, moved.mean, moved.visits = prior, mean, visits
            moved.child = at(t.nodes, child).moved if child >= 0 else child
            moved.action, moved.proof = action, proof
        lane_sync()


@inner
def compact(t: Tree, root: int, lane: int, width: int) -> None:
    """Shift the subtree of a node to the front of the pools."""
    number_kept(t, root, lane, width)
    total = int(t.tree.nodes)
    first, kept = int64(0), int64(0)
    for n in range(root, total):
        node = at(t.nodes, n)
        if node.moved < 0:
            continue
        count = int(node.count)
        shift_edges(t, int(node.first), first, count, lane, width)
        if kept < n:
            copy_record(at(t.nodes, kept), node, lane, width)
        lane_sync()
        if lane == 0:
            at(t.nodes, kept).first = int32(first)
        lane_sync()
        first += count
        kept += 1
    if lane == 0:
        t.tree.nodes, t.tree.edges = int32(kept), int32(first)
    lane_sync()


@inner
def play_on(t: Tree, action: int, keep: Any, lane: int, width: int) -> None:
    """Play a legal action at the root and keep its subtree, or nothing."""
    root, child = at(t.nodes, 0), int64(-1)
    for e in range(root.first, root.first + root.count):
        if at(t.edges, e).action == action:
            child = int64(at(t.edges, e).child)
    lane_sync()
    if lane == 0:
        play(t.root, action)
        t.tree.ply += int32(1)
    lane_sync()
    if keep and child >= 0 and at(t.nodes, child).count > 0:
        compact(t, child, lane, width)
    elif lane == 0:
        clear(t)
    lane_sync()
