"""Exact values of small games of any shape, cycles included, by retrograde analysis.

Where moves can be undone, a position may come back, and a plain search either never ends or believes a value that
held only because a cycle was cut. So the positions reachable from the one in question are written down as a graph
first; then values walk backwards along its edges from the ends of games:

- a position is won for its mover if one of its moves leads to a position won for the mover's team;
- it is lost once all its moves are known to lead to positions won for the others.

What neither rule ever reaches is a draw: nobody can force an end, or only a drawn one. The graph grows in rounds, and
values are drawn after each. Positions with a known value, and what only they lead to, are not explored any further,
so a value is often proven long before the graph is complete; what leads out of the explored part counts as unknown.

Positions are told apart by `key`, so the end of a game may depend only on what `key` hashes, not on a ply count or on
repetition.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit

from rookery.errors import BadInput
from rookery.games.options import whole_number
from rookery.games.position import Action, Position
from rookery.search.solve.graph import DRAW, LOSS, UNKNOWN, WALK_SLICE, WIN, Fields, Graph, slices
from rookery.search.threads import new_stop

MOST_POSITIONS = 2_000_000
CEILING = 1_000_000_000  # positions are numbered in 32 bits
FIRST_ROUND = 2_000
GROWTH = 2  # from one round to the next


@njit(cache=True, nogil=True)
def count_parents(nodes: np.ndarray, edges: np.ndarray, starts: np.ndarray, begin: int, end: int) -> None:
    """Add the number of edges into each position, for the positions whose moves lie in a range."""
    for node in range(begin, end):
        if nodes[node].first >= 0:
            for i in range(nodes[node].first, nodes[node].first + nodes[node].moves):
                starts[edges[i] + 1] += 1


@njit(cache=True, nogil=True)
def list_parents(
    nodes: np.ndarray, edges: np.ndarray, fill: np.ndarray, parents: np.ndarray, begin: int, end: int
) -> None:
    """Write each position into the lists of those it leads to."""
    for node in range(begin, end):
        if nodes[node].first >= 0:
            for i in range(nodes[node].first, nodes[node].first + nodes[node].moves):
                parents[fill[edges[i]]] = node
                fill[edges[i]] += 1


@njit(cache=True, nogil=True)
def tell_parents(
    nodes: np.ndarray, starts: np.ndarray, parents: np.ndarray, queue: np.ndarray, place: np.ndarray, budget: int
) -> bool:
    """Draw conclusions from the next known positions of the queue; return whether the queue is done.

    The queue is in order of plies to the end: the first win found is the shortest, the last loss the longest.

    place  [2]  how far the queue is done, how long it is
    """
    for _ in range(budget):
        if place[0] == place[1]:
            return True
        node = queue[place[0]]
        place[0] += 1
        for i in range(starts[node], starts[node + 1]):
            parent = parents[i]
            if nodes[parent].known != UNKNOWN:
                continue
            if (nodes[node].known == WIN) == (nodes[node].team == nodes[parent].team):
                nodes[parent].known = WIN
            else:
                nodes[parent].left -= 1
                if nodes[parent].left > 0:
                    continue
                nodes[parent].known = LOSS
            nodes[parent].plies = nodes[node].plies + 1
            queue[place[1]] = parent
            place[1] += 1
    return False


@njit(cache=True, nogil=True)
def reach(
    nodes: np.ndarray, edges: np.ndarray, seen: np.ndarray, queue: np.ndarray, place: np.ndarray, budget: int
) -> bool:
    """Go on listing what can be reached through positions of unknown value; return whether all is listed.

    The first position is always gone through, so that the values of all its moves are found.
    """
    for _ in range(budget):
        if place[0] == place[1]:
            return True
        node = queue[place[0]]
        place[0] += 1
        if nodes[node].first < 0 or (nodes[node].known != UNKNOWN and node != 0):
            continue
        for i in range(nodes[node].first, nodes[node].first + nodes[node].moves):
            child = edges[i]
            if seen[child] == 0:
                seen[child] = 1
                queue[place[1]] = child
                place[1] += 1
    return False


@dataclass(frozen=True)
class MoveValue:
    """What a move leads to, from the side of who makes it."""

    action: Action
    value: int | None
    """1 won, 0 drawn, -1 lost, None not known"""
    plies: int | None
    """within how many plies, this move included, the winner can end the game; None for draws and unknown values"""


@dataclass(frozen=True)
class Solution:
    """The exact value of a position."""

    value: int
    """from the mover's side: 1, 0 or -1"""
    plies: int | None
    """within how many plies the winner can end the game; None for draws"""
    moves: tuple[MoveValue, ...]
    """the legal moves in increasing order"""
    positions: int
    """positions in the graph that proved it"""
    complete: bool
    """whether these are all that can be reached; then plies are those of best play by both"""

    @property
    def best(self) -> Action | None:
        """A best move: the fastest win, else a draw, else the slowest loss; None if the game is over."""
        known = [move for move in self.moves if move.value is not None]
        return max(known, key=worth).action if known else None


def worth(move: MoveValue) -> tuple[int, int]:
    """Order moves of known value, the best highest."""
    value = move.value or 0
    return value, -value * (move.plies or 0)


def find_values(graph: Graph, stop: np.ndarray) -> None:
    """Draw all conclusions from the ends of games that the graph holds."""
    nodes, size = graph.nodes[: graph.size], graph.size
    expanded = nodes["first"] >= 0
    nodes["known"][expanded] = UNKNOWN
    nodes["left"] = nodes["moves"]
    nodes["plies"] = 0
    starts = np.zeros(size + 1, np.int64)
    for begin, end in slices(size):
        count_parents(nodes, graph.edges, starts, begin, end)
    starts = np.cumsum(starts)
    parents, fill = np.empty(int(starts[-1]), np.int32), starts[:-1].copy()
    for begin, end in slices(size):
        list_parents(nodes, graph.edges, fill, parents, begin, end)
    ends = np.flatnonzero((nodes["known"] == WIN) | (nodes["known"] == LOSS))
    queue = np.empty(size, np.int32)
    queue[: len(ends)] = ends
    place = np.array([0, len(ends)])
    while not tell_parents(nodes, starts, parents, queue, place, WALK_SLICE) and not stop[0]:
        pass


def unknown_part(graph: Graph) -> np.ndarray:
    """Return the positions of unknown value that matter for the values of the first one's moves, nearest first."""
    seen, queue = np.zeros(graph.size, np.uint8), np.zeros(graph.size, np.int32)
    seen[0], place = 1, np.array([0, 1])
    while not reach(graph.nodes, graph.edges, seen, queue, place, WALK_SLICE):
        pass
    queue = queue[: place[1]]
    unknown: np.ndarray = queue[graph.nodes["known"][queue] == UNKNOWN]
    return unknown


def unexpanded(graph: Graph, numbers: np.ndarray) -> np.ndarray:
    """Return those of some positions that wait to be expanded."""
    nodes = graph.nodes[numbers]
    waiting: np.ndarray = numbers[(nodes["first"] < 0) & (nodes["known"] == UNKNOWN)].astype(np.int32)
    return waiting


def grow_to(graph: Graph, frontier: np.ndarray, most: int, stop: np.ndarray) -> None:
    """Expand a frontier, then what was found behind it, up to a number of positions."""
    while len(frontier):
        before = graph.size
        if not graph.grow(frontier, most, stop):
            return
        frontier = unexpanded(graph, np.arange(before, graph.size))


def explore(
    position: Position,
    most_positions: int = MOST_POSITIONS,
    fields: Fields | None = None,
    stop: np.ndarray | None = None,
    report: Callable[[int], None] = lambda positions: None,
) -> Graph:
    """Grow the graph of a position until the values of its moves are known, or it has `most_positions` positions.

    Of each state what `fields` says is stored, all if it is not given.
    The limit is never passed: a position is expanded only if there is room for as many as a position can have moves.
    `report` is called after each round with the number of positions so far.
    """
    check_solvable(position)
    most = whole_number("most_positions", most_positions, 1, CEILING)
    stop = new_stop() if stop is None else stop
    graph = Graph(position, fields or Fields(position.game.state.itemsize))
    frontier, limit = unexpanded(graph, np.arange(1)), FIRST_ROUND
    while len(frontier) and not stop[0]:
        limit = min(max(limit, graph.size) * GROWTH, most)
        grow_to(graph, frontier, limit, stop)
        find_values(graph, stop)
        if stop[0]:  # what has no value yet may still get one
            break
        report(graph.size)
        unknown = unknown_part(graph)
        frontier = unexpanded(graph, unknown)
        if not len(frontier):
            graph.nodes["known"][unknown] = DRAW
        if settled(graph) or graph.size + len(graph.moves) > most:
            break
    return graph


def settled(graph: Graph) -> bool:
    """Tell whether the values of the first position's moves are known, and so its own."""
    first, moves = int(graph.nodes[0]["first"]), int(graph.nodes[0]["moves"])
    children = graph.edges[first : first + moves]
    return first >= 0 and bool(np.all(graph.nodes["known"][children] != UNKNOWN))


def check_solvable(position: Position) -> None:
    """Refuse games in which values by retrograde analysis mean nothing."""
    game = position.game
    if game.information != "perfect" or len(set(game.teams)) != 2:
        raise BadInput(f"{game.name} cannot be solved: values need two sides that see everything")


def solve(
    position: Position,
    most_positions: int = MOST_POSITIONS,
    fields: Fields | None = None,
    stop: np.ndarray | None = None,
    report: Callable[[int], None] = lambda positions: None,
) -> Solution:
    """Find the exact value of a position and of its moves; raise BadInput if the graph outgrows `most_positions`."""
    graph = explore(position, most_positions, fields, stop, report)
    value = graph.value(0)
    if value is None:
        raise BadInput(
            f"position {position.text()!r} of {position.game.name} is not solved within {most_positions:,} positions "
            "(most_positions); allow more, or take a later position"
        )
    return Solution(value, plies_of(graph, 0) if value else None, move_values(graph), graph.size, is_complete(graph))


def is_complete(graph: Graph) -> bool:
    """Tell whether every position that can be reached is in the graph and expanded."""
    nodes = graph.nodes[: graph.size]
    return not np.any((nodes["first"] < 0) & (nodes["known"] == UNKNOWN))


def plies_of(graph: Graph, number: int) -> int:
    """Return the plies from a won or lost position to the end."""
    return int(graph.nodes[number]["plies"])


def move_values(graph: Graph) -> tuple[MoveValue, ...]:
    """Return the value of each move of the first position, from the side of its mover."""
    if graph.root.over:
        return ()
    first, found = int(graph.nodes[0]["first"]), []
    for i, action in enumerate(graph.root.legal()):
        child = int(graph.edges[first + i])
        value = graph.value(child)
        if value is not None and graph.nodes[child]["team"] != graph.nodes[0]["team"]:
            value = -value
        found.append(MoveValue(int(action), value, 1 + plies_of(graph, child) if value else None))
    return tuple(found)
