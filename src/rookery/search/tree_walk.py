"""One simulation: down to a leaf, and its value back up. The same source runs on a CPU and in a warp.

What a leaf becomes is in `tree_leaf`.

Selection is PUCT. Of a node with the visited moves' visits N together, the next move is the one with the largest

    mean + c(N) * sqrt(max(N, 1)) * prior / (1 + visits)

where an unvisited move's mean is the node's first-play urgency. Leaves under way count as visits and change no mean.
Arithmetic avoids a product followed by a sum: a card would fuse the two and round otherwise than a CPU.
"""

from __future__ import annotations

import math
from typing import Any

from numba import float32, int32, int64

from rookery.games.rules import observe, over, play
from rookery.search.inner import inner
from rookery.search.lanes import lane_argmax, lane_count, lane_max, lane_rank, lane_sync
from rookery.search.records import at, copy_front, copy_of
from rookery.search.tree_arrays import FRESH, FULL, HIGH, LOW, NONE, SEARCHING, SPENT, STUCK, UNDER_WAY, Single, Tree
from rookery.search.tree_forced import exploration, forced_edge, forces
from rookery.search.tree_keep import full
from rookery.search.tree_leaf import expand
from rookery.search.tree_root import decided, gumbel_edge, prepare_root
from rookery.search.tree_settings import INFINITE, PARENT, REDUCED

# ---- down ----------------------------------------------------------------------------------------


@inner
def worst_mean(t: Tree, node: Any, lane: int, width: int) -> Single:
    """Return the lowest mean of a node's visited moves, on every lane; above all means if there are none."""
    worst = HIGH
    for e in range(node.first + lane, node.first + node.count, width):
        edge = at(t.edges, e)
        if edge.child >= 0:
            worst = min(worst, edge.mean)
    return -lane_max(-worst)


@inner
def first_urgency(t: Tree, node: Any, lane: int, width: int) -> Single:
    """Return what an unvisited move of a node is taken to be worth, on every lane."""
    if t.options.urgency == PARENT:
        return node.mean
    if t.options.urgency == INFINITE:
        return HIGH
    reduced = node.mean - math.sqrt(t.options.reduction_squared * node.mass)
    if t.options.urgency == REDUCED:
        return max(reduced, min(node.mean, worst_mean(t, node, lane, width)))
    return reduced


@inner
def puct_edge(t: Tree, n: int, lane: int, width: int) -> int:
    """Return the edge of a node to follow, on every lane: the highest score, on a tie the lowest edge."""
    node, options = at(t.nodes, n), t.options
    scale, urgency, first = exploration(options, node.visits), first_urgency(t, node, lane, width), node.first
    best, chosen = LOW, int32(first + lane)
    for e in range(int32(first + lane), int32(first + node.count), int32(width)):  # words of 32 bits, for a card's sake
        edge = at(t.edges, e)
        mean = edge.mean  # read in any case: a choice between two numbers is no branch to be guessed wrong
        mean = mean if edge.visits > 0 else urgency
        score = mean + scale * edge.prior / (float32(1) + float32(edge.visits))
        if options.prove and edge.proof != 0:
            score = HIGH if edge.proof > 0 else score - float32(1e6)
        if score > best:
            best, chosen = score, int32(e)
    return int(lane_argmax(best, chosen))


@inner
def root_edge(t: Tree, lane: int, width: int) -> int:
    """Return the root's edge to follow where something else than PUCT decides, on every lane; else -1."""
    if t.options.gumbel > 0:
        return gumbel_edge(t, lane, width)
    return forced_edge(t, lane, width) if forces(t) else -1


@inner
def descend(t: Tree, row: int, lane: int, width: int) -> bool:
    """Walk to a leaf and leave its position in `at(t.leaves, row)`; False if it is under way already."""
    leaf, path = at(t.leaves, row), at(t.path, row * t.options.depth)
    copy_front(leaf, t.root, t.options.state_words, lane, width)
    lane_sync()
    n, e, depth, child = int64(0), int64(-1), int64(0), int32(0)
    while child >= 0 and at(t.nodes, n).count > 0:
        e = int64(root_edge(t, lane, width)) if n == 0 else int64(-1)
        if e < 0:
            e = int64(puct_edge(t, n, lane, width))
        if lane == 0:
            step = at(path, depth)
            step.node, step.edge = int32(n), int32(e)
            play(leaf, int(at(t.edges, e).action))
        depth += 1
        child = at(t.edges, e).child
        if child >= 0:
            n = int64(child)
    if lane == 0:
        slot = at(t.slots, row)
        slot.depth, slot.node, slot.edge = int32(depth), int32(n), int32(e)
        slot.over = int32(over(leaf))
    lane_sync()
    return bool(child != UNDER_WAY)


@inner
def mark(t: Tree, row: int, by: int, lane: int, width: int) -> None:
    """Count a leaf under way along its path, or take it back; no node is touched by two lanes."""
    path = at(t.path, row * t.options.depth)
    for k in range(lane, at(t.slots, row).depth, width):
        at(t.nodes, at(path, k).node).visits += int32(by)
        at(t.edges, at(path, k).edge).visits += int32(by)


@inner
def show_under_way(t: Tree, row: int, lane: int, width: int) -> None:
    """Let the walks to other leaves of the batch see one that is under way."""
    slot = at(t.slots, row)
    if slot.edge < 0:
        return  # the root is alone
    node = at(t.nodes, slot.node)
    mean = first_urgency(t, node, lane, width)
    if slot.node == 0 and t.options.gumbel > 0:
        mean = node.value
    elif mean == HIGH:
        mean = node.mean
    if lane == 0 and at(t.edges, slot.edge).child == NONE:
        at(t.edges, slot.edge).child, at(t.edges, slot.edge).mean = int32(UNDER_WAY), mean
    mark(t, row, int32(1), lane, width)
    lane_sync()


@inner
def gather(t: Tree, lane: int, width: int) -> None:
    """Walk to as many leaves as there are slots, simulations left, and different leaves to be found."""
    tree, options = t.tree, t.options
    if tree.status != SEARCHING:
        return
    wanted = min(options.leaves, tree.budget - tree.made)
    if at(t.nodes, 0).visits == 0:
        wanted = int32(1)
    elif tree.fresh == FRESH:
        prepare_root(t, lane, width)
    found = int64(0)
    while found < wanted and descend(t, found, lane, width):
        if options.leaves > 1:
            show_under_way(t, found, lane, width)
        found += 1
        if lane == 0:
            tree.gathered = int32(found)
        lane_sync()


@inner
def observe_leaves(t: Tree, kind: int, observations: Any, first: int, lane: int, width: int) -> None:
    """Write the observations of a tree's leaves into rows first, first + 1, ...; nothing where the game is over."""
    for row in range(t.tree.gathered):
        if not at(t.slots, row).over:
            leaf = copy_of(at(t.leaves, row))
            for i in range(lane, observations.shape[1], width):
                observations[first + row, i] = observe(leaf, kind, i)


@inner
def forget(t: Tree) -> None:
    """Take back the leaves under way of a tree, as if they had never been reached; one lane is enough."""
    if t.options.leaves > 1:
        for row in range(int64(t.tree.gathered)):
            mark(t, row, int32(-1), 0, 1)
            edge = at(t.slots, row).edge
            if edge >= 0 and at(t.edges, edge).child == UNDER_WAY:
                at(t.edges, edge).child, at(t.edges, edge).mean = int32(NONE), float32(0)
    t.tree.gathered = int32(0)


# ---- up ------------------------------------------------------------------------------------------


@inner
def settle(t: Tree, n: int, e: int, child: int) -> None:
    """Carry a proof from a child to an edge, and to the node if it wins or all its moves lose."""
    node, below = at(t.nodes, n), at(t.nodes, child)
    same = t.options.teams[node.seat] == t.options.teams[below.seat]
    at(t.edges, e).proof = below.proof if same else -below.proof
    if at(t.edges, e).proof > 0:
        node.proof = 1
        return
    for other in range(node.first, node.first + node.count):
        if at(t.edges, other).proof >= 0:
            return
    node.proof = -1


@inner
def count_value(t: Tree, n: int, value: Single) -> None:
    """Let a value, seen by a node's mover, enter the node's statistics."""
    node = at(t.nodes, n)
    node.visits += int32(1)
    node.mean = node.mean + (value - node.mean) / float32(node.visits)


@inner
def count_step(t: Tree, n: int, e: int, value: Single) -> None:
    """Let a value, seen by a node's mover, enter the statistics of the node and of the edge that was followed."""
    node, edge = at(t.nodes, n), at(t.edges, e)
    if edge.visits == 0:
        node.mass += edge.prior
        edge.mean = value
    edge.visits += int32(1)
    edge.mean = edge.mean + (value - edge.mean) / float32(edge.visits)
    count_value(t, n, value)


@inner
def turned(value: Single, discount: Single, turns: int) -> Single:
    """Return a value as the other team sees it, discounted, as often as the team changed."""
    for _ in range(turns):
        value = -(discount * value)
    return value


@inner
def carry_up(t: Tree, row: int, leaf: int, lane: int, width: int) -> None:
    """Carry a leaf's value to the root, each lane to its own depths. It turns whenever the team to move changes."""
    options, path, depth = t.options, at(t.path, row * t.options.depth), int(at(t.slots, row).depth)
    value = at(t.nodes, leaf).value
    if lane == 0:
        count_value(t, leaf, value)
    for part in range((depth + width - 1) // width - 1, -1, -1):
        k = part * width + lane
        changed = False
        if k < depth:
            below = at(path, k + 1).node if k + 1 < depth else int32(leaf)
            seat, next_seat = at(t.nodes, at(path, k).node).seat, at(t.nodes, below).seat
            changed = options.teams[seat] != options.teams[next_seat]
        turns, nearer_root = lane_count(changed), lane_rank(changed, lane)
        if k < depth:
            here = turned(value, options.discount, turns - nearer_root)
            count_step(t, int(at(path, k).node), int(at(path, k).edge), here)
        value = turned(value, options.discount, turns)


@inner
def carry_proof(t: Tree, row: int, leaf: int) -> None:
    """Carry the proof of a leaf as far up as it decides something; one lane is enough."""
    child, path = leaf, at(t.path, row * t.options.depth)
    for k in range(at(t.slots, row).depth - 1, -1, -1):
        if at(t.nodes, child).proof == 0:
            break
        n, e = int(at(path, k).node), int(at(path, k).edge)
        if at(t.edges, e).proof == 0:
            settle(t, n, e, child)
        child = n


@inner
def note_status(t: Tree) -> None:
    """Note whether the search of a tree has ended, and why."""
    tree, options = t.tree, t.options
    if tree.status == STUCK:
        return
    if tree.made >= tree.budget:
        tree.status = SPENT
    elif full(t):
        tree.status = FULL
    elif options.early:
        decided(t)


@inner
def back_up(t: Tree, moves: Any, lane: int, width: int) -> None:
    """Take in the evaluator's answers for the leaves under way; `moves` is room for a legal list."""
    tree, gathered = t.tree, int64(t.tree.gathered)
    if gathered == 0:
        return
    lane_sync()
    if t.options.leaves > 1:
        for row in range(gathered):
            mark(t, row, int32(-1), lane, width)
        lane_sync()
    for row in range(gathered):
        n = expand(t, row, moves, lane, width)
        carry_up(t, row, n, lane, width)
        lane_sync()
        if lane == 0:
            if t.options.prove:
                carry_proof(t, row, n)
            tree.made += int32(1 if at(t.slots, row).depth > 0 else 0)
        lane_sync()
    if lane == 0:
        tree.gathered = int32(0)
        note_status(t)
    lane_sync()
