"""RAVE in many positions at once, the leaves of all judged together.

The search of each position is that of `dag.py` with an evaluator, simulation for simulation: it has a graph and a trail
of its own, rows of shared arrays, and the same kernels walk there. What is shared is the judge, who is asked about the
leaves of many graphs in one batch. Half of the graphs wait for him while threads walk in the other half.

    batch = RaveBatch(game, rule, simulations=100, judge=judge, threads=8)
    choices = batch.search(states, seeds)

A graph is as large as so many simulations can make it, so it never has to grow.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
from numba import njit

from rookery.errors import BadInput, BrokenGame
from rookery.games.game import Game
from rookery.games.options import whole_number
from rookery.games.position import Position
from rookery.games.rng import random_bits
from rookery.search.borrowed import borrowed
from rookery.search.dag_graph import DEPTH, DONE, FINISHED, TOO_LONG, WAITING, Graph, Rule, Trail, expand, node_of
from rookery.search.dag_kernels import LEAF, ROOT, descend, finish, finish_judged, take_judgement
from rookery.search.dag_rows import graph_at, new_graphs, new_trails, trail_at, with_seed
from rookery.search.threads import MOST_THREADS, new_stop

Judge = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""positions [N], records of the rules -> logits [N, actions] and values [N], float32, from the mover's side"""

NO_ROW = -1
NOT_SOUND = -9
"""how a walk went: the judge's answers are no numbers, or values outside [-1, 1]"""
SLICES = 2
"""slices of a half for each thread, so that nobody waits long for the slowest"""
MOST_SIMULATIONS = 1 << 20


@dataclass(frozen=True)
class RaveChoices:
    """What the searches have found; the first axis is positions."""

    actions: np.ndarray
    """moves to play: the most visited, or drawn by visits"""
    best: np.ndarray
    """the most visited"""
    values: np.ndarray
    """mean result of the most visited, from the mover's side"""


# ---- the walk ------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def walk(graph: Graph, trail: Trail, states: np.ndarray, rule: Rule, target: int) -> int:
    """Make simulations until a leaf must be judged (WAITING) or so many are done (FINISHED); or say what is wrong."""
    place = trail.place
    while place[DONE] < target:
        went = descend(graph, trail, states, rule)
        if went == WAITING:
            node = trail.nodes[place[DEPTH]]
            if graph.degree[node] == 0:
                grown = expand(graph, node, states[LEAF], trail.moves, 0.0)
                return WAITING if grown == FINISHED else grown
            finish_judged(graph, trail, rule)
        elif went == FINISHED:
            finish(graph, trail, rule)
        else:
            return int(went)
    return FINISHED


@njit(cache=True, nogil=True)
def begin_one(graph: Graph, trail: Trail, states: np.ndarray) -> int:
    """Forget a graph, and make the root with its edges, which waits to be judged."""
    graph.used[:] = 0
    graph.slots[:] = 0
    trail.place[:] = 0
    trail.nodes[0] = node_of(graph, states[ROOT])
    states[LEAF] = states[ROOT]
    grown = expand(graph, 0, states[ROOT], trail.moves, 0.0)
    return WAITING if grown == FINISHED else int(grown)


@njit(cache=True, nogil=True)
def go_on(
    graphs: Graph,
    trails: Trail,
    states: np.ndarray,
    rule: Rule,
    seeds: np.ndarray,
    target: int,
    rows: np.ndarray,
    logits: np.ndarray,
    values: np.ndarray,
    went: np.ndarray,
    stop: np.ndarray,
) -> None:
    """Take what the judge says of each waiting leaf, and walk on in each graph until the next.

    rows  [G] row of the answers that is a graph's; NO_ROW: it begins, or is done
    went  [G] how it went: WAITING, FINISHED or what is wrong
    """
    graphs, trails, states = borrowed(graphs), borrowed(trails), borrowed(states)
    for g in range(went.shape[0]):
        if stop[0]:
            return
        graph, trail, own = graph_at(graphs, g), trail_at(trails, g), with_seed(rule, seeds[g])
        if went[g] == WAITING and rows[g] != NO_ROW:
            node = trail.nodes[trail.place[DEPTH]]
            if not take_judgement(graph, node, logits[rows[g]], float(values[rows[g]]), own):
                went[g] = NOT_SOUND
                continue
            if trail.place[DEPTH] > 0:  # else it was the root, judged before the first simulation
                finish_judged(graph, trail, own)
            went[g] = walk(graph, trail, states[g], own, target)


@njit(cache=True, nogil=True)
def begin_all(graphs: Graph, trails: Trail, states: np.ndarray, went: np.ndarray) -> None:
    """Begin in every graph."""
    for g in range(went.shape[0]):
        went[g] = begin_one(graph_at(graphs, g), trail_at(trails, g), states[g])


# ---- the choice ----------------------------------------------------------------------------------


@njit(cache=True, nogil=True, inline="always")
def is_ahead(graph: Graph, one: int, other: int) -> bool:
    """Tell whether an edge ranks before another: more visits, the better mean, the likelier, the lower action."""
    if graph.visits[one] != graph.visits[other]:
        return bool(graph.visits[one] > graph.visits[other])
    first = graph.total[one] / max(graph.visits[one], 1)
    second = graph.total[other] / max(graph.visits[other], 1)
    if first != second:
        return bool(first > second)
    if graph.prior[one] != graph.prior[other]:
        return bool(graph.prior[one] > graph.prior[other])
    return bool(graph.action[one] < graph.action[other])


@njit(cache=True, nogil=True)
def foremost_edge(graph: Graph) -> int:
    """Return the root's edge that ranks before all others."""
    best = graph.first[0]
    for edge in range(best + 1, best + graph.degree[0]):
        if is_ahead(graph, edge, best):
            best = edge
    return int(best)


@njit(cache=True, nogil=True)
def ranked_edges(graph: Graph, order: np.ndarray) -> int:
    """Write the root's visited edges into `order`, best first; return how many there are."""
    count = 0
    for edge in range(graph.first[0], graph.first[0] + graph.degree[0]):
        if graph.visits[edge] == 0:
            continue
        i = count
        while i > 0 and is_ahead(graph, edge, order[i - 1]):
            order[i] = order[i - 1]
            i -= 1
        order[i] = edge
        count += 1
    return count


@njit(cache=True, nogil=True)
def drawn_edge(graph: Graph, order: np.ndarray, count: int, temperature: float, seed: int) -> int:
    """Draw one of the ranked edges, with chances that grow as visits ** (1 / temperature)."""
    most, total = graph.visits[order[0]], 0.0
    for i in range(count):
        total += (graph.visits[order[i]] / most) ** (1.0 / temperature)
    point = random_bits(seed, 0, 0) / 2.0**64 * total  # simulations draw from the streams 1, 2, ...
    passed = 0.0
    for i in range(count):
        passed += (graph.visits[order[i]] / most) ** (1.0 / temperature)
        if passed > point:
            return int(order[i])
    return int(order[count - 1])


@njit(cache=True, nogil=True)
def choose_all(
    graphs: Graph, seeds: np.ndarray, temperature: float, actions: np.ndarray, best: np.ndarray, values: np.ndarray
) -> None:
    """Write the move to play, the most visited one and its mean result, for each graph."""
    order = np.empty(graphs.action.shape[1], np.int64)
    for g in range(actions.shape[0]):
        graph = graph_at(graphs, g)
        edge = first = foremost_edge(graph)
        if temperature > 0.0:
            edge = drawn_edge(graph, order, ranked_edges(graph, order), temperature, seeds[g])
        actions[g], best[g] = graph.action[edge], graph.action[first]
        values[g] = graph.total[first] / graph.visits[first]


# ---- together ------------------------------------------------------------------------------------


@dataclass(eq=False)
class Half:
    """Some of the positions, which are walked in and judged together."""

    graphs: Graph
    trails: Trail
    states: np.ndarray
    seeds: np.ndarray
    went: np.ndarray
    rows: np.ndarray
    walks: list[Future[None]] = field(default_factory=list)
    answers: tuple[np.ndarray, np.ndarray] | None = None
    """what the judge last said of its leaves"""

    def leaves(self) -> np.ndarray:
        """Return the leaves that wait to be judged; their rows are noted."""
        waiting = np.flatnonzero(self.went == WAITING)
        self.rows[:] = NO_ROW
        self.rows[waiting] = np.arange(len(waiting))
        found: np.ndarray = self.states[waiting, LEAF]
        return found


class RaveBatch:
    """Searches side by side. One may be used again and again; its memory is taken once."""

    def __init__(self, game: Game, rule: Rule, simulations: int, judge: Judge, threads: int = 1):
        """Make ready; `rule` is `dag.rule_of` with an evaluator, and its seed is not used."""
        self.game, self.rule, self.judge = game, rule, judge
        self.simulations = whole_number("simulations", simulations, 1, MOST_SIMULATIONS)
        self.threads = whole_number("threads", threads, 1, MOST_THREADS)
        self.graphs, self.trails = new_graphs(0, 1, 1), new_trails(game, 0)

    def search(self, states: np.ndarray, seeds: np.ndarray, temperature: float = 0.0) -> RaveChoices:
        """Search positions [N], none of them over, each with its seed [N]."""
        self.check(states, seeds, temperature)
        whole = self.made_ready(states, seeds)
        middle = (len(states) + 1) // 2
        halves = [part_of(whole, slice(0, middle)), part_of(whole, slice(middle, len(states)))]
        stop = new_stop()
        with ThreadPoolExecutor(self.threads) as pool:
            try:
                self.run(halves, pool, stop)
            except BaseException:
                stop[0] = 1
                raise
        choices = RaveChoices(*(np.empty(len(states), dtype) for dtype in (np.int64, np.int64, np.float64)))
        choose_all(whole.graphs, whole.seeds, float(temperature), choices.actions, choices.best, choices.values)
        return choices

    def check(self, states: np.ndarray, seeds: np.ndarray, temperature: float) -> None:
        """Refuse what is no list of positions and seeds, or no temperature."""
        if states.ndim != 1 or states.dtype != self.game.state:
            raise BadInput(
                f"states must be a list of positions, records of {self.game.name}, not {states.dtype} of shape "
                f"{states.shape}"
            )
        if np.shape(seeds) != states.shape or np.asarray(seeds).dtype.kind not in "iu":
            raise BadInput(
                f"seeds must be {len(states)} whole numbers, one for each position, not {np.asarray(seeds).dtype} of "
                f"shape {np.shape(seeds)}"
            )
        if not 0.0 <= temperature < math.inf:
            raise BadInput(f"temperature of a search must be a finite number from 0 on, not {temperature!r}")

    def made_ready(self, states: np.ndarray, seeds: np.ndarray) -> Half:
        """Begin in all positions; the arrays are made anew if there are more than ever before."""
        count = len(states)
        if count > len(self.graphs.used):
            nodes = self.simulations + 2
            self.graphs = new_graphs(count, nodes, nodes * self.game.most_legal)
            self.trails = new_trails(self.game, count)
        some = slice(0, count)
        whole = Half(
            Graph(*(array[some] for array in self.graphs)), Trail(*(array[some] for array in self.trails)),
            np.repeat(states[:, None], 3, 1), np.ascontiguousarray(seeds, np.int64), np.empty(count, np.int64),
            np.full(count, NO_ROW),
        )  # fmt: skip
        begin_all(whole.graphs, whole.trails, whole.states, whole.went)
        self.refuse(whole)
        return whole

    def run(self, halves: list[Half], pool: ThreadPoolExecutor, stop: np.ndarray) -> None:
        """Judge one half while threads walk in the other, until all are done."""
        busy = [half for half in halves if len(half.went)]
        while busy:
            for half in list(busy):
                for future in half.walks:
                    future.result()
                self.refuse(half)
                leaves = half.leaves()
                if len(leaves) == 0:
                    busy.remove(half)
                    continue
                half.answers = self.answers(leaves)
                half.walks = self.walk_on(half, half.answers, pool, stop)

    def answers(self, leaves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ask the judge."""
        logits, values = self.judge(leaves)
        logits, values = np.ascontiguousarray(logits, np.float32), np.ascontiguousarray(values, np.float32)
        if logits.shape != (len(leaves), self.game.actions) or values.shape != (len(leaves),):
            raise BadInput(
                f"the judge answers with arrays of shape {(logits.shape, values.shape)}; asked for were logits "
                f"{(len(leaves), self.game.actions)} and values {(len(leaves),)}"
            )
        return logits, values

    def walk_on(
        self, half: Half, answers: tuple[np.ndarray, np.ndarray], pool: ThreadPoolExecutor, stop: np.ndarray
    ) -> list[Future[None]]:
        """Let threads walk on in a half."""
        count = len(half.went)
        size = -(-count // (SLICES * self.threads))
        parts = [part_of(half, slice(begin, begin + size)) for begin in range(0, count, size)]
        return [
            pool.submit(
                go_on, part.graphs, part.trails, part.states, self.rule, part.seeds, self.simulations, part.rows,
                *answers, part.went, stop,
            )
            for part in parts
        ]  # fmt: skip

    def refuse(self, half: Half) -> None:
        """Raise what a kernel has found wrong."""
        for g in np.flatnonzero(half.went < 0)[:1]:
            root, name = Position(self.game, half.states[g, ROOT : ROOT + 1].copy()), self.game.name
            if half.went[g] == NOT_SOUND:
                raise BadInput(self.unsound(half, g))
            if half.went[g] == TOO_LONG:
                raise BrokenGame(f"{name}: a game from {root.text()!r} goes on after 'longest' ({self.game.longest})")
            if root.over:
                raise BadInput(f"there is nothing to search in {root.text()!r} ({name}): the game is over")
            raise BadInput(
                f"search: the play from {root.text()!r} ({name}) comes to a position that is not over and has no legal "
                "move; a position in which something is hidden cannot be searched"
            )

    def unsound(self, half: Half, g: int) -> str:
        """Say what the judge said of a leaf, and what he may say."""
        assert half.answers is not None
        leaf, row = Position(self.game, half.states[g, LEAF : LEAF + 1].copy()), half.rows[g]
        logits, value = half.answers[0][row][leaf.legal()], half.answers[1][row]
        return (
            f"the judge answers with a value of {value} and logits of {logits.min()} to {logits.max()} in "
            f"{leaf.text()!r} ({self.game.name}); values must lie in -1..1, logits of legal moves must be finite"
        )


def part_of(half: Half, some: slice) -> Half:
    """Return some of the positions; nothing is copied."""
    return Half(
        Graph(*(array[some] for array in half.graphs)), Trail(*(array[some] for array in half.trails)),
        half.states[some], half.seeds[some], half.went[some], half.rows[some],
    )  # fmt: skip
