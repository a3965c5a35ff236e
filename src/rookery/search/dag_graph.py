"""A graph of positions as arrays: its pools of nodes and edges, and what one simulation notes on its way.

Nodes are positions, numbered as they come; 0 is the root. The edges of a node are its legal moves in increasing order,
side by side in one pool from `first` on. `slots` is an open-addressing hash table from keys to nodes. A position that
ends the game is no node: its result is read from the state each time. The pools begin small, since most searches are,
and grow between simulations.

All means kept at a node are from the side of the seat to move there.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import int64, njit, uint64

from rookery.games.bits import Word
from rookery.games.game import Game
from rookery.games.rules import State, key, legal, mover
from rookery.search.evaluations import promise

FULL, NO_MOVE, TOO_LONG, FINISHED, WAITING = -3, -2, -1, 0, 1  # how a descent or a playout went
DONE, DRAWN, DEPTH, PENDING, DEEPEST = 0, 1, 2, 3, 4  # numbers in `Trail.place`
EDGES_A_NODE = 4  # the pool of nodes is smaller than that of edges by this
FIRST_ROOM = 1 << 14  # edges of a new graph
GROWTH = 8  # the last step, to the usual capacity, then copies 60 MB: a pause of some 30 ms


class Graph(NamedTuple):
    """Everything known about the positions reached; the first axis of an array is nodes, edges or slots."""

    used: np.ndarray
    """[2] nodes and edges in use; what lies behind them in the pools is not set"""
    slots: np.ndarray
    """hash table: node + 1, or 0 for a free slot; their number is a power of two"""
    keys: np.ndarray
    seats: np.ndarray
    """seat to move"""
    first: np.ndarray
    """first edge"""
    degree: np.ndarray
    """number of edges; 0 until the node is expanded"""
    reached: np.ndarray
    """simulations that came here, through any parent"""
    chosen: np.ndarray
    """N: simulations that chose a move here, the sum of `visits` over the node's edges"""
    judged: np.ndarray
    """the evaluator's value, from the mover's side"""
    on_path: np.ndarray
    """number of the last simulation that passed"""
    action: np.ndarray
    child: np.ndarray
    """node behind the edge; -1 until it is known"""
    visits: np.ndarray
    """n: simulations that chose this move at this node"""
    total: np.ndarray
    """sum of their results"""
    amaf_visits: np.ndarray
    """samples in which the seat played this move here or later"""
    amaf_total: np.ndarray
    """sum of their results"""
    amaf_mean: np.ndarray
    """their mean, kept because a node's edges are looked at far more often than credited; without samples 0, or what
    the rule says"""
    prior: np.ndarray


class Trail(NamedTuple):
    """Where a simulation has gone, and room to work in."""

    place: np.ndarray
    """[5] simulations done, random numbers drawn in this one, its depth, its playouts to come; the deepest so far"""
    nodes: np.ndarray
    """[plies + 1] nodes on the path, the leaf last"""
    edges: np.ndarray
    """[plies] edges taken"""
    codes: np.ndarray
    """[plies] moves played, in the graph and in the playout, as seat * actions + action"""
    stamps: np.ndarray
    """[seats * actions] number of the last sample in which a move was played"""
    samples: np.ndarray
    """[1] samples credited so far"""
    moves: np.ndarray
    """[most_legal] room for a legal list"""
    lists: np.ndarray
    """[seats, actions] moves that a seat may still have in this playout"""
    left: np.ndarray
    """[seats] how many these are"""
    result: np.ndarray
    """[seats] of the playout"""
    sums: np.ndarray
    """[seats] of the results of this simulation's playouts"""
    teams: np.ndarray
    """[seats]"""


class Rule(NamedTuple):
    """What a search is told; numbers only."""

    c: float
    k: float
    playouts: int
    expand_after: int
    depth: int
    seed: int
    actions: int
    vanishing: bool
    sharpness: float
    """of the priors by promise; 0 for uniform ones"""
    tries: int
    """moves drawn at each ply of a playout, of which the one that promises most is played"""
    plies: int
    """moves after which a playout is judged by the game's evaluation"""
    own_value: bool
    """whether a move without samples is taken to be worth what the evaluator says of its node"""


# ---- the pools -----------------------------------------------------------------------------------


def new_graph(capacity: int) -> Graph:
    """Make an empty graph with room for so many edges."""
    nodes = capacity // EDGES_A_NODE + 1
    slots = 1 << (2 * nodes).bit_length()
    return Graph(
        used=np.zeros(2, np.int64),
        slots=np.zeros(slots, np.int32),
        keys=np.empty(nodes, np.uint64),
        seats=np.empty(nodes, np.int32),
        first=np.empty(nodes, np.int64),
        degree=np.empty(nodes, np.int32),
        reached=np.empty(nodes, np.int64),
        chosen=np.empty(nodes, np.int64),
        judged=np.empty(nodes, np.float64),
        on_path=np.empty(nodes, np.int64),
        action=np.empty(capacity, np.int32),
        child=np.empty(capacity, np.int32),
        visits=np.empty(capacity, np.int32),
        total=np.empty(capacity, np.float64),
        amaf_visits=np.empty(capacity, np.int32),
        amaf_total=np.empty(capacity, np.float64),
        amaf_mean=np.empty(capacity, np.float64),
        prior=np.empty(capacity, np.float32),
    )


def enlarged(graph: Graph, capacity: int) -> Graph:
    """Return a copy of a graph with more room."""
    larger = new_graph(capacity)
    larger.used[:] = graph.used
    nodes, edges = graph.used
    for old, new in zip(graph[2:], larger[2:], strict=True):  # all behind `used` and `slots`
        count = edges if old.shape == graph.action.shape else nodes
        new[:count] = old[:count]
    fill_slots(larger)
    return larger


def new_trail(game: Game) -> Trail:
    """Make the room one simulation needs."""
    return Trail(
        place=np.zeros(5, np.int64),
        nodes=np.zeros(game.longest + 2, np.int64),
        edges=np.zeros(game.longest + 1, np.int64),
        codes=np.zeros(game.longest + 1, np.int32),
        stamps=np.zeros(game.seats * game.actions, np.int64),
        samples=np.zeros(1, np.int64),
        moves=np.zeros(game.most_legal, np.int32),
        lists=np.zeros((game.seats, game.actions), np.int32),
        left=np.zeros(game.seats, np.int64),
        result=np.zeros(game.seats, np.float64),
        sums=np.zeros(game.seats, np.float64),
        teams=np.array(game.teams, np.int64),
    )


# ---- nodes and edges -----------------------------------------------------------------------------


@njit(cache=True, nogil=True, inline="always")
def slot_of(graph: Graph, word: Word) -> int:
    """Return the slot that holds a key, or the free one where it belongs."""
    mask = graph.slots.shape[0] - 1
    slot: int = int64(uint64(word) & uint64(mask))
    while graph.slots[slot] > 0 and graph.keys[graph.slots[slot] - 1] != word:
        slot = (slot + 1) & mask
    return slot


@njit(cache=True, nogil=True)
def fill_slots(graph: Graph) -> None:
    """Put all nodes into the hash table, which must be empty."""
    for node in range(graph.used[0]):
        graph.slots[slot_of(graph, graph.keys[node])] = node + 1


@njit(cache=True, nogil=True, inline="always")
def has_room(graph: Graph, trail: Trail) -> bool:
    """Tell whether a simulation can be made: each makes one node at most, and the edges of one."""
    nodes, edges = graph.used[0], graph.used[1]
    return bool(nodes < graph.keys.shape[0] and edges + trail.moves.shape[0] <= graph.action.shape[0])


@njit(cache=True, nogil=True)
def node_of(graph: Graph, state: State) -> int:
    """Return the node of a position, a new one if it is not known yet; there must be room for it."""
    word = key(state)
    slot = slot_of(graph, word)
    if graph.slots[slot] > 0:
        return int(graph.slots[slot]) - 1
    node = graph.used[0]
    graph.used[0] += 1
    graph.slots[slot] = node + 1
    graph.keys[node] = word
    graph.seats[node] = mover(state)
    graph.degree[node] = 0
    graph.reached[node] = 0
    graph.chosen[node] = 0
    graph.on_path[node] = 0
    return int(node)


@njit(cache=True, nogil=True)
def expand(graph: Graph, node: int, state: State, moves: np.ndarray, sharpness: float) -> int:
    """Give a node its edges, for which there must be room; say FINISHED, or NO_MOVE if there are none."""
    count = legal(state, moves)
    if count == 0:
        return NO_MOVE
    first = graph.used[1]
    graph.used[1] += count
    graph.first[node], graph.degree[node] = first, count
    weights = 0.0
    for i in range(count):
        edge = first + i
        graph.action[edge] = moves[i]
        graph.child[edge] = -1
        graph.visits[edge] = graph.amaf_visits[edge] = 0
        graph.total[edge] = graph.amaf_total[edge] = graph.amaf_mean[edge] = 0.0
        weight = math.exp(sharpness * promise(state, int(moves[i]))) if sharpness > 0.0 else 1.0
        graph.prior[edge] = weight
        weights += weight
    for i in range(count):
        graph.prior[first + i] /= weights
    return FINISHED
