"""Lc0's search: down to the leaves of a batch.

At a node with N visits the next move is the one with the largest

    Q + M + cpuct(N) * sqrt(max(N - 1, 1)) * P / (1 + visits + visits under way)
    cpuct(N) = cpuct + cpuct_factor * ln((N + cpuct_base) / cpuct_base)

where Q is the mean value of the move, for one not yet visited the node's mean less fpu_value * sqrt(priors of the
visited moves together), P its prior and M what the moves left are worth; on a tie the one with the higher prior.
Visits under way change no mean. A walk that ends at a leaf under way is a collision: it holds the way there busy until
the batch is judged.
"""

from __future__ import annotations

import math
from typing import Any

from numba import float32, int16, int32, int64, njit, uint64

from rookery.games.chess import MATE, ON
from rookery.games.chess_board import RIGHTS
from rookery.games.chess_lc0_input import encode
from rookery.games.chess_moves import men_in, words_at, write_legal
from rookery.games.rules import State, play
from rookery.search.borrowed import borrowed
from rookery.search.inner import inner
from rookery.search.lc0_arrays import ENDED, MOST_COLLISIONS, NONE, OPEN, TWO_FOLD, Arrays
from rookery.search.lc0_backup import back_up, expand, recall, remember, view_key
from rookery.search.lc0_twins import copy_priors, plies_since_same, speaker_of, twin_key

LOW = -1e300
MANY = 1 << 24
FEW_NODES, MANY_NODES, GROWTH = 28, 145_000, 1.25  # how the visits that may collide grow with the tree
AT_ONCE = 2.4  # leaves of a batch that need no network, in batches


# ---- down ----------------------------------------------------------------------------------------


@inner
def moves_left_utility(options: Any, q: float, plies: float, parent_plies: float) -> float:
    """Return what it is worth that a visited move leads to a shorter or longer game."""
    effect = min(max(options.m_slope * (plies - parent_plies), -options.m_most), options.m_most)
    if q > 0:
        effect = -effect
    elif q == 0:
        effect = 0.0
    far = abs(q)
    if 0 < options.m_threshold < 1:
        far = max(0.0, far - options.m_threshold) / (1 - options.m_threshold)
    return float(effect * (options.m_constant + options.m_scaled * far + options.m_quadratic * far * far))


@inner
def urgency_of(t: Arrays, n: int) -> float:
    """Return what an unvisited move of a node is taken to be worth."""
    node, mass = t.nodes[n], 0.0
    if t.options[0].absolute:
        return float(t.options[0].fpu_value)
    for e in range(node.first, node.first + node.count):
        child = t.edges[e].child
        if child >= 0 and t.nodes[child].visits > 0:
            mass += t.edges[e].prior
    return float(node.value / node.visits - t.options[0].fpu_value * math.sqrt(mass))


@inner
def scale_of(t: Arrays, visits: int) -> float:
    """Return the factor of prior / (1 + visits) at a node with so many visits."""
    options = t.options[0]
    cpuct = options.cpuct + options.cpuct_factor * math.log((visits + options.cpuct_base) / options.cpuct_base)
    return float(cpuct * math.sqrt(max(visits - 1, 1)))


@inner
def best_edge(t: Arrays, n: int) -> tuple[int, int]:
    """Return the edge to follow, and how many visits it would get before another one overtakes it."""
    node, options = t.nodes[n], t.options[0]
    urgency, scale = urgency_of(t, n), scale_of(t, node.visits)
    parent_q, parent_plies = node.value / node.visits, node.plies / node.visits
    lengths = options.moves_left and abs(parent_q) > options.m_threshold
    restricted = n == 0 and t.tree[0].restricted
    best, second, chosen, unvisited = LOW, LOW, -1, 0
    best_value, best_weight, best_visits = 0.0, 0.0, 0.0
    for e in range(node.first, node.first + node.count):
        edge = t.edges[e]
        if restricted and not t.allowed[edge.action]:
            continue
        q, visits = urgency, 0.0
        if edge.child >= 0:
            child = t.nodes[edge.child]
            visits = float(child.visits + child.flight)
            if child.visits > 0:
                q = -child.value / child.visits
                if lengths:
                    q += moves_left_utility(options, q, child.plies / child.visits, parent_plies)
        weight = scale * edge.prior
        score = q + weight / (1 + visits)
        if score > best:
            best, second, chosen = score, best, e
            best_value, best_weight, best_visits = q, weight, visits
        elif score > second:
            second = score
        if edge.child == NONE:
            unvisited += 1
            if unvisited == 2 and n > 0:
                break  # the others have lower priors; moves of a root may have been left out before
    ahead = MANY
    if second > best_value:
        ahead = int(min(float(MANY), best_weight / (second - best_value) - best_visits))
    return chosen, max(1, ahead)


@inner
def new_node(t: Arrays, state: State, parent: int, depth: int) -> int:
    """Make the node of a position and its edges, so far without priors; -1 if there is no more room."""
    tree = t.tree[0]
    words = words_at(state, state.plies & 7)
    drawn = depth > 0 and state.ending != ON and state.ending != MATE
    count = 0
    if not drawn:
        count = write_legal(men_in(words), words[RIGHTS], state.checkers, state.pinned, t.moves)
    if tree.nodes >= t.nodes.shape[0] or tree.edges + count > t.edges.shape[0]:
        tree.full = 1
        return NONE
    n, first = int(tree.nodes), int(tree.edges)
    node = t.nodes[n]
    node.value, node.draws, node.plies, node.own, node.ends = 0.0, 0.0, 0.0, 0.0, 0.0
    node.parent, node.first, node.count, node.visits, node.flight = parent, first, count, 0, 0
    node.kind, node.lower, node.upper, node.cycle = OPEN, -1, 1, 0
    node.key = twin_key(state) if t.options[0].transpositions else uint64(0)
    if drawn or count == 0:
        result = -1 if state.ending == MATE else 0
        node.kind, node.lower, node.upper = ENDED, result, result
    elif t.options[0].two_fold and depth >= 4:
        cycle = plies_since_same(state)
        if 0 < cycle <= depth:
            node.kind, node.cycle, node.ends = TWO_FOLD, cycle, cycle
    for i in range(count):
        edge = t.edges[first + i]
        edge.prior, edge.child, edge.action = float32(0), int32(NONE), int16(t.moves[i])
    tree.nodes, tree.edges = int32(n + 1), int32(first + count)
    return n


@inner
def descend(t: Arrays, row: int) -> tuple[int, int, int]:
    """Walk to a leaf, leaving its position in row `row`; return its node (-1: no room), depth, and visits that fit.

    With transpositions, a node that has a speaker is a leaf.
    """
    t.leaves[row] = t.root[0]
    state = t.leaves[row]
    n, depth, ahead, twins = 0, 0, MANY, t.options[0].transpositions
    while t.nodes[n].visits > 0 and t.nodes[n].kind == OPEN and not (twins and speaker_of(t, n) >= 0):
        e, most = best_edge(t, n)
        ahead = min(ahead, most)
        play(state, int(t.edges[e].action))
        depth += 1
        child = int(t.edges[e].child)
        if child == NONE:
            child = new_node(t, state, n, depth)
            if child == NONE:
                return NONE, depth, ahead
            t.edges[e].child = child
            return child, depth, ahead
        n = child
    return n, depth, ahead


@inner
def mark(t: Arrays, n: int, visits: int) -> None:
    """Count visits under way along the way to a node, or take them back."""
    while n >= 0:
        t.nodes[n].flight += int32(visits)
        n = t.nodes[n].parent


# ---- batches -------------------------------------------------------------------------------------


@inner
def collisions_allowed(t: Arrays) -> int:
    """Return how many visits may collide before a batch is judged as it is."""
    nodes, most = float(t.nodes[0].visits), float(t.options[0].collisions)
    if nodes <= FEW_NODES:
        return 1
    share = min(1.0, (nodes - FEW_NODES) / (MANY_NODES - FEW_NODES))
    return int(1 + (most - 1) * share**GROWTH)


@inner
def collide(t: Arrays, n: int, visits: int) -> None:
    """Note a collision."""
    collision = t.collisions[t.batch[0].collided]
    collision.node, collision.visits = int32(n), int32(visits)
    t.batch[0].collided += int32(1)
    mark(t, n, visits)


@inner
def count_walk(t: Arrays, depth: int) -> None:
    """Enter a visit into the statistics of the search."""
    tree = t.tree[0]
    tree.made += int64(1)
    tree.depths += int64(depth)
    tree.deepest = max(tree.deepest, int32(depth))


@inner
def borrow(t: Arrays, n: int) -> bool:
    """Back up what the most visited twin of a leaf has found, if there is one; not for a leaf that is being judged."""
    node = t.nodes[n]
    if not t.options[0].transpositions or (node.visits == 0 and node.flight > 0):
        return False
    twin = speaker_of(t, n)
    if twin < 0:
        return False
    if node.visits == 0:
        copy_priors(t, n, twin)
    of = t.nodes[twin]
    back_up(t, n, of.value / of.visits, of.draws / of.visits, of.plies / of.visits)
    t.tree[0].known += int64(1)
    return True


@njit(cache=True, nogil=True)
def gather(t: Arrays, most: int, target: int) -> int:
    """Gather leaves until `most` wait for the network or the root would have `target` visits; return how many wait.

    Leaves that need no network are backed up at once.
    """
    t = borrowed(t)
    tree, batch, at_once, budget = t.tree[0], t.batch[0], 0, collisions_allowed(t)
    while batch.gathered < most and at_once < AT_ONCE * most and budget > 0 and batch.collided < MOST_COLLISIONS:
        if tree.full or t.nodes[0].visits + batch.gathered >= target:
            break
        row = int(batch.gathered)
        n, depth, ahead = descend(t, row)
        if n < 0:
            break
        if t.nodes[n].kind != OPEN:
            count_walk(t, depth)
            back_up(t, n, 0.0, 0.0, 0.0)
            at_once += 1
        elif borrow(t, n):
            count_walk(t, depth)
            at_once += 1
        elif t.nodes[n].flight > 0:
            visits = min(ahead, budget)
            collide(t, n, visits)
            budget -= visits
        else:
            count_walk(t, depth)
            slot = t.slots[row]
            slot.turn = encode(t.leaves[row], t.options[0].form, t.options[0].fill, t.masks[row], t.values[row])
            slot.node, slot.key = int32(n), view_key(t, row)  # which needs the turn
            if recall(t, row):
                tree.known += int64(1)
                at_once += 1
            else:
                mark(t, n, 1)
                batch.gathered += int32(1)
    return int(batch.gathered)


@inner
def all_numbers(t: Arrays, answers: Any) -> bool:
    """Tell whether all that is asked about the leaves that wait was answered with finite numbers."""
    for row in range(t.batch[0].gathered):
        node, turn = t.nodes[t.slots[row].node], int(t.slots[row].turn)
        total = answers[row, 1861] + answers[row, 1859] + answers[row, 1862]
        sound = math.isfinite(total)
        for i in range(node.count):
            sound &= math.isfinite(answers[row, t.table[turn, t.edges[node.first + i].action]])
        if not sound:
            return False
    return True


@njit(cache=True, nogil=True)
def take_in(t: Arrays, answers: Any) -> bool:
    """Take in what the network says of the leaves that wait: logits, chances, q and plies left, [n, 1858 + 5].

    Where any of that is no finite number nothing is taken in, and False comes back.
    """
    t, answers = borrowed(t), borrowed(answers)
    waiting, sound = int(t.batch[0].gathered), all_numbers(t, answers)
    release(t)
    for row in range(waiting if sound else 0):
        n, turn = int(t.slots[row].node), int(t.slots[row].turn)
        node = t.nodes[n]
        for i in range(node.count):
            t.logits[i] = answers[row, t.table[turn, t.edges[node.first + i].action]]
        q, d, m = float(answers[row, 1861]), float(answers[row, 1859]), float(answers[row, 1862])
        remember(t, row, q, d, m)
        expand(t, n)
        node.own = float32(q)
        back_up(t, n, q, d, m)
    return bool(sound)


@njit(cache=True, nogil=True)
def release(t: Arrays) -> None:
    """Take back all of a batch that is under way."""
    batch = t.batch[0]
    for i in range(batch.collided):
        mark(t, int(t.collisions[i].node), -int(t.collisions[i].visits))
    for row in range(batch.gathered):
        mark(t, int(t.slots[row].node), -1)
    batch.collided, batch.gathered = int32(0), int32(0)


@njit(cache=True, nogil=True)
def begin_tree(t: Arrays) -> None:
    """Forget the tree and make the node of the root."""
    tree, batch = t.tree[0], t.batch[0]
    tree.nodes, tree.edges, tree.full, batch.gathered, batch.collided = 0, 0, 0, 0, 0
    new_node(t, t.root[0], NONE, 0)
