"""Forced playouts at the root, and targets without them (KataGo: Wu, Accelerating Self-Play Learning in Go, 2019).

A root move that was visited at all is visited at least

    forced(move) = sqrt(k * prior * N)

times, N being the visits of all root moves together: so noise in the priors gets a look at moves that the search would
drop at once. Whoever learns from the visits shall not learn these. With `prune` up to forced(move) visits of every
move but the most visited one are taken back, as long as PUCT would not have preferred the move with so few of them to
the most visited one, with the means as they are; and a move left with a single visit is dropped.
"""

from __future__ import annotations

import math
from typing import Any

from numba import float32, int32, int64

from rookery.search.inner import inner
from rookery.search.lanes import lane_argmax
from rookery.search.records import at
from rookery.search.tree_arrays import PLAIN, Single, Tree


@inner
def exploration(options: Any, visits: int) -> Single:
    """Return the factor of prior / (1 + visits) at a node with so many visits, its own evaluation included."""
    c = options.c
    if options.c_factor > float32(0):
        grown = math.log((float32(visits) + options.c_base) / options.c_base)
        c = c + float32(options.c_factor * grown)
    return c * math.sqrt(max(float32(visits) - float32(1), float32(1)))


@inner
def forces(t: Tree) -> bool:
    """Tell whether moves of this search's root are visited more often than they earn."""
    return bool(t.options.forced > float32(0) and t.tree.fresh != PLAIN)


@inner
def forced_squared(t: Tree, e: int) -> Single:
    """Return the square of how often a root move must be visited, if it is at all."""
    return t.options.forced * at(t.edges, e).prior * (float32(at(t.nodes, 0).visits) - float32(1))


@inner
def forced_edge(t: Tree, lane: int, width: int) -> int:
    """Return the first root move that was visited, but not as often as it must be, on every lane; -1 if all were."""
    root = at(t.nodes, 0)
    found, chosen = float32(0), int32(root.first + root.count)
    for e in range(root.first + lane, root.first + root.count, width):
        edge = at(t.edges, e)
        visits = float32(edge.visits)
        due = edge.visits > 0 and visits * visits < forced_squared(t, e) and edge.proof == 0
        if due and found == float32(0):
            found, chosen = float32(1), int32(e)
    chosen = lane_argmax(found, chosen)
    return int(chosen) if chosen < root.first + root.count else -1


# ---- what is left for the target -----------------------------------------------------------------


@inner
def most_visited(t: Tree) -> int:
    """Return the root's most visited edge, of equals the first."""
    root = at(t.nodes, 0)
    best = int64(root.first)
    for e in range(root.first + 1, root.first + root.count):
        if at(t.edges, e).visits > at(t.edges, best).visits:
            best = e
    return int(best)


@inner
def score_with(t: Tree, e: int, visits: int) -> float:
    """Return the PUCT score a root move would have with so many visits.

    In double precision, so that a card, which rounds a product and a sum at once, takes back as many as a CPU.
    """
    edge, scale = at(t.edges, e), float(exploration(t.options, at(t.nodes, 0).visits))
    return float(edge.mean) + scale * float(edge.prior) / (1.0 + visits)


@inner
def earned_visits(t: Tree, e: int, best: int) -> int:
    """Return the visits of a root move without those that were forced; `best` is the most visited move."""
    visits = int64(at(t.edges, e).visits)
    if e == best or visits == 0:
        return int(visits)
    least, bar = (
        float(visits) - math.sqrt(float(forced_squared(t, e))),
        score_with(t, best, int(at(t.edges, best).visits)),
    )
    while visits > 0 and float(visits - 1) >= least and score_with(t, e, int(visits) - 1) < bar:
        visits -= 1
    return int(visits) if visits > 1 else 0


@inner
def target_visits(t: Tree, e: int, best: int) -> int:
    """Return the visits of a root move that are taught and drawn by: all, or those it earned."""
    if t.options.prune and forces(t):
        return earned_visits(t, e, best)
    return int(at(t.edges, e).visits)
