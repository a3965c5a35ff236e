"""RAVE's simulations, compiled: going down the graph, playing out, going up with the result.

docs/search/rave.md derives what is done here.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from rookery.games.bits import Word
from rookery.games.rng import below, stream_of
from rookery.games.rules import State, is_legal, legal, mover, over, payoff, play
from rookery.search.dag_graph import (
    DEEPEST,
    DEPTH,
    DONE,
    DRAWN,
    FINISHED,
    FULL,
    NO_MOVE,
    PENDING,
    TOO_LONG,
    WAITING,
    Graph,
    Rule,
    Trail,
    expand,
    node_of,
)
from rookery.search.hints import hint

ROOT, LEAF, PLAYOUT = 0, 1, 2  # the three states a search holds
EDGES_A_PLY = 32  # edges that are looked at in the time of one ply of a playout, about


# ---- going down ----------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def best_edge(graph: Graph, node: int, c: float, k: float, begin: int) -> int:
    """Return the edge with the highest score; of equals the first in a round that starts with edge number `begin`."""
    first, last = graph.first[node], graph.first[node] + graph.degree[node]
    visits, total, prior = graph.visits[first:last], graph.total[first:last], graph.prior[first:last]
    amaf_mean, chosen = graph.amaf_mean[first:last], float(graph.chosen[node])
    beta = math.sqrt(k / (3.0 * chosen + k))
    unvisited = c * math.sqrt(chosen)
    visited = c * math.sqrt(math.log(max(chosen, 1.0)))
    best, best_score = 0, -math.inf
    for half in range(2):  # the round: from `begin` to the end, then from the start
        low, high = (begin, visits.shape[0]) if half == 0 else (0, begin)
        for i in range(low, high):
            n = visits[i]
            if n == 0:
                score = amaf_mean[i] + unvisited * prior[i]
            else:
                mean = (1.0 - beta) * (total[i] / n) + beta * amaf_mean[i]
                score = mean + visited * prior[i] / (1.0 + n)
            if score > best_score:
                best, best_score = i, score
    return int(first + best)


@njit(cache=True, nogil=True)
def descend(graph: Graph, trail: Trail, states: np.ndarray, rule: Rule) -> int:
    """Walk from the root to a leaf; say WAITING if it must be judged, FINISHED if `trail.sums` holds its exact value.

    The walk ends with the first edge never taken before, at a node without edges, at the end of the game and, as a
    draw, where it comes back to a position of its own.
    """
    place, number = trail.place, trail.place[DONE] + 1
    stream = stream_of(rule.seed, number)
    place[DRAWN], place[DEPTH], place[PENDING] = 0, 0, 0
    states[LEAF] = states[ROOT]
    node, depth, fresh = 0, 0, False
    while True:
        trail.nodes[depth] = node
        if graph.on_path[node] == number:
            trail.sums[:] = 0.0
            return FINISHED
        graph.on_path[node] = number
        graph.reached[node] += 1
        if fresh or depth == rule.depth:
            return WAITING
        if graph.degree[node] == 0:
            if graph.reached[node] <= rule.expand_after:
                return WAITING
            grown = expand(graph, node, states[LEAF], trail.moves, rule.sharpness)
            if grown != FINISHED:
                return grown
        begin = below(graph.degree[node], stream, place[DRAWN])
        place[DRAWN] += 1
        edge = best_edge(graph, node, rule.c, rule.k, begin)
        fresh = graph.visits[edge] == 0
        if depth == trail.codes.shape[0]:
            return TOO_LONG
        trail.edges[depth] = edge
        trail.codes[depth] = graph.seats[node] * rule.actions + graph.action[edge]
        play(states[LEAF], int(graph.action[edge]))
        depth += 1
        place[DEPTH], place[DEEPEST] = depth, max(place[DEEPEST], depth)
        if over(states[LEAF]):  # asked of the state, not kept: in chess it depends on the way here
            trail.nodes[depth] = -1
            for seat in range(trail.sums.shape[0]):
                trail.sums[seat] = payoff(states[LEAF], seat)
            return FINISHED
        if graph.child[edge] < 0:
            child = node_of(graph, states[LEAF])
            if child == FULL:
                return FULL
            graph.child[edge] = child
        node = int(graph.child[edge])


# ---- playouts ------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def play_listed(
    state: State, moves: np.ndarray, codes: np.ndarray, ply: int, actions: int, tries: int, stream: Word, drawn: int
) -> tuple[int, int]:
    """Play random moves to the end, from a new list at each ply; return the last ply and the numbers drawn."""
    while not over(state):
        if ply == codes.shape[0]:
            return TOO_LONG, drawn
        count = legal(state, moves)
        if count == 0:
            return NO_MOVE, drawn
        action = int(moves[below(count, stream, drawn)])
        for i in range(1, tries):
            other = int(moves[below(count, stream, drawn + i)])
            if hint(state, other) > hint(state, action):
                action = other
        drawn += tries
        codes[ply] = mover(state) * actions + action
        play(state, action)
        ply += 1
    return ply, drawn


@njit(cache=True, nogil=True)
def play_vanishing(
    state: State,
    lists: np.ndarray,
    left: np.ndarray,
    codes: np.ndarray,
    ply: int,
    actions: int,
    tries: int,
    stream: Word,
    drawn: int,
) -> tuple[int, int]:
    """Do the same for games whose moves only vanish: draw from the seat's list and strike what is not legal any more.

    Every legal move is on the list, so each is as likely as any other, as if the list had been made anew.
    """
    while not over(state):
        if ply == codes.shape[0]:
            return TOO_LONG, drawn
        seat = mover(state)
        count, action, best, found = left[seat], NO_MOVE, 0, 0
        while count > 0 and found < tries:
            i = below(count, stream, drawn)
            drawn += 1
            drawn_action = int(lists[seat, i])
            if is_legal(state, drawn_action):
                look = hint(state, drawn_action) if tries > 1 else 0
                if found == 0 or look > best:
                    action, best = drawn_action, look
                found += 1
            else:
                count -= 1
                lists[seat, i] = lists[seat, count]
        left[seat] = count
        if action == NO_MOVE:
            return NO_MOVE, drawn
        codes[ply] = seat * actions + action
        play(state, action)
        ply += 1
    return ply, drawn


@njit(cache=True, nogil=True)
def fill_lists(graph: Graph, trail: Trail, state: State, actions: int) -> None:
    """List for each seat what it may still play below a leaf: its moves at the last node where it was to move.

    A seat that was never to move may have any action.
    """
    lists, left = trail.lists, trail.left
    left[:] = -1
    left[mover(state)] = legal(state, lists[mover(state)])
    for depth in range(trail.place[DEPTH] - 1, -1, -1):
        node = trail.nodes[depth]
        seat, first, degree = graph.seats[node], graph.first[node], graph.degree[node]
        if left[seat] < 0:
            left[seat] = degree
            lists[seat, :degree] = graph.action[first : first + degree]
    for seat in range(left.shape[0]):
        if left[seat] < 0:
            left[seat] = actions
            for action in range(actions):
                lists[seat, action] = action


@njit(cache=True, nogil=True)
def play_out(graph: Graph, trail: Trail, states: np.ndarray, rule: Rule) -> int:
    """Play a random game from the leaf into `trail.result`; return its last ply, or what is in the way."""
    states[PLAYOUT] = states[LEAF]
    state, place = states[PLAYOUT], trail.place
    ply, stream, drawn = place[DEPTH], stream_of(rule.seed, place[DONE] + 1), place[DRAWN]
    if rule.vanishing:
        fill_lists(graph, trail, state, rule.actions)
        ply, drawn = play_vanishing(
            state, trail.lists, trail.left, trail.codes, ply, rule.actions, rule.tries, stream, drawn
        )
    else:
        ply, drawn = play_listed(state, trail.moves, trail.codes, ply, rule.actions, rule.tries, stream, drawn)
    place[DRAWN] = drawn
    for seat in range(trail.result.shape[0]):
        trail.result[seat] = payoff(state, seat)
    return int(ply)


# ---- going up ------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def credit_node(graph: Graph, trail: Trail, node: int, value: float, rule: Rule) -> None:
    """Credit a result to each move of a node that its seat has played in the sample, here or later."""
    first, last = graph.first[node], graph.first[node] + graph.degree[node]
    action, amaf_visits = graph.action[first:last], graph.amaf_visits[first:last]
    amaf_total, amaf_mean = graph.amaf_total[first:last], graph.amaf_mean[first:last]
    offset = graph.seats[node] * rule.actions
    stamps, sample = trail.stamps[offset : offset + rule.actions], trail.samples[0]
    for i in range(action.shape[0]):
        if stamps[action[i]] == sample:
            amaf_visits[i] += 1
            amaf_total[i] += value
            amaf_mean[i] = amaf_total[i] / amaf_visits[i]


@njit(cache=True, nogil=True)
def credit(graph: Graph, trail: Trail, result: np.ndarray, plies: int, rule: Rule) -> int:
    """Credit one sample to all moves as first, from its last ply up to the root; return the edges looked at."""
    depth, looked, stamps, codes = trail.place[DEPTH], 0, trail.stamps, trail.codes
    sample = trail.samples[0] = trail.samples[0] + 1
    for ply in range(plies - 1, depth - 1, -1):
        stamps[codes[ply]] = sample
    if plies > depth:  # the leaf: an ancestor of the playout's moves
        leaf = trail.nodes[depth]
        credit_node(graph, trail, leaf, result[graph.seats[leaf]], rule)
        looked += graph.degree[leaf]
    for ply in range(depth - 1, -1, -1):
        node = trail.nodes[ply]
        stamps[codes[ply]] = sample
        credit_node(graph, trail, node, result[graph.seats[node]], rule)
        looked += graph.degree[node]
    return int(looked)


@njit(cache=True, nogil=True)
def back_up(graph: Graph, trail: Trail, share: float) -> None:
    """Add `share` of `trail.sums` to every edge taken, from its own seat's side, and count the simulation."""
    for ply in range(trail.place[DEPTH]):
        node, edge = trail.nodes[ply], trail.edges[ply]
        graph.chosen[node] += 1
        graph.visits[edge] += 1
        graph.total[edge] += trail.sums[graph.seats[node]] * share
    trail.place[DONE] += 1


@njit(cache=True, nogil=True)
def finish(graph: Graph, trail: Trail, rule: Rule) -> int:
    """End a simulation whose value stands in `trail.sums`; return the edges looked at."""
    looked = credit(graph, trail, trail.sums, trail.place[DEPTH], rule)
    back_up(graph, trail, 1.0)
    return looked


@njit(cache=True, nogil=True)
def principal(graph: Graph, edge: int, out: np.ndarray) -> int:
    """Write an edge's move and the most visited ones that follow into `out`; return how many.

    The line ends where nobody has gone on. It may go round in circles where the play does: `out` ends it then.
    """
    count = 0
    while True:
        out[count] = graph.action[edge]
        count += 1
        node = graph.child[edge]
        if node < 0 or graph.chosen[node] == 0 or count == out.shape[0]:
            return count
        edge = graph.first[node]
        for other in range(edge + 1, edge + graph.degree[node]):
            if graph.visits[other] > graph.visits[edge]:
                edge = other


@njit(cache=True, nogil=True)
def principals(graph: Graph, edges: np.ndarray, out: np.ndarray, lengths: np.ndarray) -> None:
    """Write the principal line of each edge into a row of `out`, and its length."""
    for i in range(edges.shape[0]):
        lengths[i] = principal(graph, edges[i], out[i])


# ---- together ------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def simulate(
    graph: Graph, trail: Trail, states: np.ndarray, rule: Rule, target: int, budget: int, stop: np.ndarray
) -> int:
    """Make simulations with playouts until `target` are done, the budget of plies is spent or `stop` is set.

    A simulation may be left between two of its playouts; the next call goes on with it.
    """
    spent, place = 0, trail.place
    while spent < budget and place[DONE] < target and not stop[0]:
        if place[PENDING] == 0:
            went = descend(graph, trail, states, rule)
            if went == WAITING:
                trail.sums[:] = 0.0
                place[PENDING] = rule.playouts
            elif went == FINISHED:
                spent += 1 + 2 * finish(graph, trail, rule) // EDGES_A_PLY
            else:
                return went
        else:
            plies = play_out(graph, trail, states, rule)
            if plies < 0:
                return plies
            trail.sums[:] += trail.result
            looked = credit(graph, trail, trail.result, plies, rule)
            spent += 1 + plies + 2 * looked // EDGES_A_PLY
            place[PENDING] -= 1
            if place[PENDING] == 0:
                back_up(graph, trail, 1.0 / rule.playouts)
    return FINISHED
