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
from rookery.search.borrowed import borrowed
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
    has_room,
    node_of,
)
from rookery.search.evaluations import UNIT, evaluate, promise
from rookery.search.evaluator import MOST_VALUE

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

    There must be room for the leaf (`has_room`).
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
            for seat in range(trail.sums.shape[0]):
                trail.sums[seat] = 0.0
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
            graph.child[edge] = node_of(graph, states[LEAF])
        node = int(graph.child[edge])


# ---- judgements ----------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def take_judgement(graph: Graph, node: int, logits: np.ndarray, value: float, rule: Rule) -> bool:
    """Give a node that has its edges its value and its moves their priors, from logits [actions]; False: no numbers."""
    first, last = graph.first[node], graph.first[node] + graph.degree[node]
    most, sound = -math.inf, abs(value) <= MOST_VALUE
    value = min(1.0, max(-1.0, value))  # one that is sure of it says a little more
    for edge in range(first, last):
        logit = float(logits[graph.action[edge]])
        sound &= math.isfinite(logit)
        most = max(most, logit)
    weights, unknown = 0.0, value if rule.own_value else 0.0
    for edge in range(first, last):
        weight = math.exp(float(logits[graph.action[edge]]) - most)
        graph.amaf_mean[edge] = weight  # only until all are known: a power is not computed twice
        weights += weight
    for edge in range(first, last):
        graph.prior[edge] = graph.amaf_mean[edge] / weights
        graph.amaf_mean[edge] = unknown
    graph.judged[node] = value
    return sound


@njit(cache=True, nogil=True)
def finish_judged(graph: Graph, trail: Trail, rule: Rule) -> None:
    """End a simulation at a leaf that has been judged."""
    node = trail.nodes[trail.place[DEPTH]]
    team = trail.teams[graph.seats[node]]
    for seat in range(trail.sums.shape[0]):
        trail.sums[seat] = graph.judged[node] if trail.teams[seat] == team else -graph.judged[node]
    finish(graph, trail, rule)


# ---- playouts ------------------------------------------------------------------------------------


@njit(cache=True, nogil=True, inline="always")
def fill_lists(graph: Graph, trail: Trail, state: State, actions: int) -> None:
    """List for each seat what it may still play below a leaf: its moves at the last node where it was to move.

    A seat that was never to move may have any action.
    """
    lists, left = trail.lists, trail.left
    for seat in range(left.shape[0]):
        left[seat] = -1
    left[mover(state)] = legal(state, lists[mover(state)])
    for depth in range(trail.place[DEPTH] - 1, -1, -1):
        node = trail.nodes[depth]
        seat, first, degree = graph.seats[node], graph.first[node], graph.degree[node]
        if left[seat] < 0:
            left[seat] = degree
            for i in range(degree):
                lists[seat, i] = graph.action[first + i]
    for seat in range(left.shape[0]):
        if left[seat] < 0:
            left[seat] = actions
            for action in range(actions):
                lists[seat, action] = action


@njit(cache=True, nogil=True, inline="always")
def play_on(state: State, trail: Trail, ply: int, rule: Rule, stream: Word) -> int:
    """Play random moves, to the end or as many as the rule says; return the last ply, or what is in the way.

    The seat's list is made anew at each ply. In games whose moves only vanish it is kept: what is drawn and not legal
    any more is struck. Every legal move is on the list, so each is as likely as any other either way.
    """
    lists, left, codes, drawn = trail.lists, trail.left, trail.codes, trail.place[DRAWN]
    last = ply + rule.plies
    while ply < last and not over(state):
        if ply == codes.shape[0]:
            return TOO_LONG
        seat = mover(state)
        if not rule.vanishing:
            left[seat] = legal(state, lists[seat])
        count, action, most, found = left[seat], NO_MOVE, 0, 0
        while count > 0 and found < rule.tries:
            i = below(count, stream, drawn)
            drawn += 1
            other = int(lists[seat, i])
            if not rule.vanishing or is_legal(state, other):
                promised = promise(state, other) if rule.tries > 1 else 0
                if found == 0 or promised > most:
                    action, most = other, promised
                found += 1
            else:
                count -= 1
                lists[seat, i] = lists[seat, count]
        left[seat] = count
        if action == NO_MOVE:
            return NO_MOVE
        codes[ply] = seat * rule.actions + action
        play(state, action)
        ply += 1
    trail.place[DRAWN] = drawn
    return ply


@njit(cache=True, nogil=True, inline="always")
def judge_playout(state: State, trail: Trail) -> None:
    """Write what the last position of a playout is worth to each seat: its payoff or, before the end, by evaluation."""
    result, teams = trail.result, trail.teams
    if over(state):
        for seat in range(result.shape[0]):
            result[seat] = payoff(state, seat)
    else:
        value, team = evaluate(state) / UNIT, teams[mover(state)]
        for seat in range(result.shape[0]):
            result[seat] = value if teams[seat] == team else -value


@njit(cache=True, nogil=True)
def play_out(graph: Graph, trail: Trail, states: np.ndarray, rule: Rule) -> int:
    """Play at random from the leaf, the result into `trail.result`; return the last ply, or what is in the way."""
    states[PLAYOUT] = states[LEAF]
    state, place = states[PLAYOUT], trail.place
    if rule.vanishing:
        fill_lists(graph, trail, state, rule.actions)
    ply = play_on(state, trail, place[DEPTH], rule, stream_of(rule.seed, place[DONE] + 1))
    if ply >= 0:
        judge_playout(state, trail)
    return int(ply)


# ---- going up ------------------------------------------------------------------------------------


@njit(cache=True, nogil=True, inline="always")
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
    for ply in range(depth if plies > depth else depth - 1, -1, -1):  # the leaf too if a playout began there
        node = trail.nodes[ply]
        if ply < depth:
            stamps[codes[ply]] = sample
        credit_node(graph, trail, node, result[graph.seats[node]], rule)
        looked += graph.degree[node]
    return int(looked)


@njit(cache=True, nogil=True, inline="always")
def back_up(graph: Graph, trail: Trail, share: float) -> None:
    """Add `share` of `trail.sums` to every edge taken, from its own seat's side, and count the simulation."""
    for ply in range(trail.place[DEPTH]):
        node, edge = trail.nodes[ply], trail.edges[ply]
        graph.chosen[node] += 1
        graph.visits[edge] += 1
        graph.total[edge] += trail.sums[graph.seats[node]] * share
    trail.place[DONE] += 1


@njit(cache=True, nogil=True)
def finish(graph: Graph, trail: Trail, rule: Rule) -> None:
    """End a simulation without playouts, whose value stands in `trail.sums`."""
    credit(graph, trail, trail.sums, trail.place[DEPTH], rule)
    back_up(graph, trail, 1.0)


@njit(cache=True, nogil=True, inline="always")
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

    A simulation may be left between two of its playouts; the next call goes on with it. FULL: there is no room for
    another one.
    """
    graph, trail, states = borrowed(graph), borrowed(trail), borrowed(states)
    spent, place = 0, trail.place
    while spent < budget and place[DONE] < target and not stop[0]:
        if place[PENDING] == 0:
            if not has_room(graph, trail):
                return FULL
            went = descend(graph, trail, states, rule)
            if went == WAITING:
                for seat in range(trail.sums.shape[0]):
                    trail.sums[seat] = 0.0
                place[PENDING] = rule.playouts
            elif went == FINISHED:
                looked = credit(graph, trail, trail.sums, place[DEPTH], rule)
                back_up(graph, trail, 1.0)
                spent += 1 + 2 * looked // EDGES_A_PLY
            else:
                return went
        else:
            plies = play_out(graph, trail, states, rule)
            if plies < 0:
                return plies
            for seat in range(trail.sums.shape[0]):
                trail.sums[seat] += trail.result[seat]
            looked = credit(graph, trail, trail.result, plies, rule)
            spent += 1 + plies + 2 * looked // EDGES_A_PLY
            place[PENDING] -= 1
            if place[PENDING] == 0:
                back_up(graph, trail, 1.0 / rule.playouts)
    return FINISHED
