"""RAVE: Monte Carlo search on a graph of positions, with all moves as first.

Positions that are reached in several orders of moves are one node. A node judges its moves twice: by the simulations
that chose them there, and by all simulations through it in which the same seat played them sooner or later. The second
kind comes in far faster and is trusted at first; docs/search/rave.md derives the formula.

    search(position, Limits(nodes=10_000))
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from rookery.errors import BadInput, BrokenGame
from rookery.games.game import Game
from rookery.games.options import whole_number
from rookery.games.position import Action, Position, fill_observation
from rookery.games.rng import random_bits
from rookery.search.analysis import Analysis, Limits, Line, Watch, out_of_time
from rookery.search.dag_graph import (
    DEEPEST,
    DEPTH,
    DONE,
    FINISHED,
    FIRST_ROOM,
    FULL,
    GROWTH,
    NO_MOVE,
    TOO_LONG,
    WAITING,
    Graph,
    Rule,
    Trail,
    enlarged,
    expand,
    fill_slots,
    has_room,
    new_graph,
    new_trail,
    node_of,
)
from rookery.search.dag_kernels import (
    LEAF,
    ROOT,
    descend,
    finish,
    finish_judged,
    principals,
    simulate,
    take_judgement,
)  # fmt: skip
from rookery.search.evaluations import playout_plies, promise_unit
from rookery.search.evaluator import Evaluator
from rookery.search.threads import new_stop

EXPLORATION = 1.0
EQUIVALENCE = 1000.0
CAPACITY = 1 << 23  # edges; the arrays take 60 bytes for each, those of the nodes included
FOREVER = 1 << 62
LARGEST = 1 << 30
SHARPEST = 10.0  # promises count few units, but their exponentials must stay finite
SLICE_SECONDS = 0.01
FIRST_SLICE = 1000  # plies: how fast a game runs is not known yet
REPORT_SECONDS = 0.5


@dataclass
class Search:
    """A search under way: its position, its graph, and why it ended."""

    position: Position
    graph: Graph
    trail: Trail
    states: np.ndarray
    rule: Rule
    evaluator: Evaluator | None
    capacity: int
    """edges that the graph may grow to"""
    note: str = ""

    @property
    def done(self) -> int:
        """Simulations made."""
        return int(self.trail.place[DONE])


def search(
    position: Position,
    limits: Limits,
    watch: Watch | None = None,
    *,
    seed: int = 0,
    c: float = EXPLORATION,
    k: float = EQUIVALENCE,
    playouts: int = 1,
    evaluator: Evaluator | None = None,
    temperature: float = 0.0,
    expand_after: int = 1,
    sharpness: float = 1.0,
    tries: int = 3,
    plies: int | None = None,
    own_value: bool = False,
    capacity: int = CAPACITY,
) -> Analysis:
    """Look ahead from a position and return what was found; same seed and number of simulations, same outcome.

    limits        `nodes` counts simulations, `depth` bounds the plies walked in the graph
    c             weight of the priors
    k             simulations at which a node trusts both kinds of means alike
    playouts      random games from each leaf; with an evaluator none are played, and it must be 1
    evaluator     judges leaves and gives priors; without one priors are uniform
    temperature   0 plays the most visited move; t > 0 draws it with chances that grow as visits ** (1 / t)
    expand_after  simulations that end at a position before it gets edges; with an evaluator it has them at once
    sharpness     without an evaluator priors grow as exp(sharpness * promise), in games that say what a move promises
    tries         moves drawn at each ply of a playout, of which the one that promises most is played; 1: plain random
    plies         moves after which a playout is judged by the game's evaluation; 0: it is played to the end; None: what
                  the game says, which is 20 in Domineering and 0 in the others
    own_value     with an evaluator, a move of which nothing is known yet counts as the position's own value, not as a
                  draw: so a search that is behind does not try all moves before it looks deeper
    capacity      edges the graph can hold; when they are used up the search ends and says so
    """
    if position.over:
        raise BadInput(f"there is nothing to search in {position.text()!r}: the game is over")
    if watch is None and limits.nodes is None and limits.seconds is None:
        raise BadInput("a search needs an end: give nodes, seconds or a watch that somebody stops")
    if not 0.0 <= temperature < math.inf:
        raise BadInput(f"temperature of a search must be a finite number from 0 on, not {temperature!r}")
    rule = rule_of(
        position.game,
        limits,
        seed=seed,
        c=c,
        k=k,
        playouts=playouts,
        evaluator=evaluator,
        expand_after=expand_after,
        sharpness=sharpness,
        tries=tries,
        plies=plies,
        own_value=own_value,
    )
    running = begin(position, rule, evaluator, whole_number("capacity of a search", capacity, 1, LARGEST))
    run(running, limits, watch or Watch(limits.seconds))
    return analysed(running, temperature)


def rule_of(
    game: Game,
    limits: Limits,
    *,
    seed: int = 0,
    c: float = EXPLORATION,
    k: float = EQUIVALENCE,
    playouts: int = 1,
    evaluator: Evaluator | None = None,
    expand_after: int = 1,
    sharpness: float = 1.0,
    tries: int = 3,
    plies: int | None = None,
    own_value: bool = False,
) -> Rule:
    """Put the settings together as the kernels read them; refuse those that make no sense."""
    if not 0.0 <= c < math.inf:
        raise BadInput(f"c of a search must be a finite number from 0 on, not {c!r}")
    if not 0.0 <= sharpness <= SHARPEST:
        raise BadInput(f"sharpness of a search must lie in 0..{SHARPEST:g}, not {sharpness!r}")
    if not 0.0 < k < math.inf:
        raise BadInput(f"k of a search must be a positive finite number, not {k!r}")
    if evaluator is not None and playouts != 1:
        raise BadInput(f"playouts of a search must be 1 where an evaluator judges the leaves, not {playouts!r}")
    state = game.empty_states()[0]
    unit, plies = int(promise_unit(state)), int(playout_plies(state)) if plies is None else plies
    expand_after = whole_number("expand_after of a search", expand_after, 0, LARGEST)
    return Rule(
        c=float(c),
        k=float(k),
        playouts=whole_number("playouts of a search", playouts, 1, LARGEST),
        expand_after=FOREVER if evaluator is not None else expand_after,
        depth=limits.depth or FOREVER,
        seed=whole_number("seed", seed, -(2**63), 2**63 - 1),
        actions=game.actions,
        vanishing=game.vanishing,
        sharpness=float(sharpness) / unit if unit and evaluator is None else 0.0,
        tries=whole_number("tries of a search", tries, 1, LARGEST) if unit else 1,
        plies=whole_number("plies of a playout", plies, 0, LARGEST) or FOREVER,
        own_value=own_value,
    )


# ---- beginning -----------------------------------------------------------------------------------


def begin(position: Position, rule: Rule, evaluator: Evaluator | None, capacity: int) -> Search:
    """Make a graph that holds the root with its edges."""
    moves = len(position.legal())
    if moves > capacity:
        raise BadInput(f"capacity of a search must hold the {moves} moves of {position.text()!r}, not {capacity}")
    graph, trail = new_graph(min(max(FIRST_ROOM, moves), capacity)), new_trail(position.game)
    running = Search(position, graph, trail, np.repeat(position.states, 3), rule, evaluator, capacity)
    fill_slots(graph)  # nothing is in it yet: compiled, if need be, before it grows and the time is taken
    node_of(graph, position.state)
    refuse(running, expand(graph, 0, position.state, trail.moves, rule.sharpness))
    if evaluator is not None:
        judge(running, 0, running.states[ROOT])
    else:  # compiles it, if need be, before the time is taken
        simulate(running.graph, running.trail, running.states, rule, 0, 0, new_stop())
    return running


def refuse(running: Search, went: int) -> None:
    """Raise what a kernel has found wrong with the game or the position."""
    game = running.position.game
    if went == NO_MOVE:
        raise BadInput(
            f"search: the play from {running.position.text()!r} ({game.name}) comes to a position that is not over and "
            "has no legal move; a position in which something is hidden cannot be searched"
        )
    if went == TOO_LONG:
        text = running.position.text()
        raise BrokenGame(f"{game.name}: a game from {text!r} goes on after 'longest' ({game.longest}) actions")


# ---- running -------------------------------------------------------------------------------------


def run(running: Search, limits: Limits, watch: Watch) -> None:
    """Make simulations until a limit is reached, somebody says stop or the graph is full."""
    target, reported, budget = limits.nodes or FOREVER, watch.spent, FIRST_SLICE
    while running.done < target and not out_of_time(limits, watch):
        begun = time.perf_counter()
        if running.evaluator is None:
            went = simulate(running.graph, running.trail, running.states, running.rule, target, budget, watch.stop)
        else:
            went = simulate_judged(running)
        refuse(running, went)
        if went == FULL:
            room = running.graph.action.shape[0]
            if room == running.capacity:
                running.note = f"the graph is full ({room} edges): ended after {running.done} simulations"
                return
            running.graph = enlarged(running.graph, min(room * GROWTH, running.capacity))
        budget = paced(budget, time.perf_counter() - begun, limits, watch)
        if watch.report is not None and watch.spent - reported >= REPORT_SECONDS:
            reported = watch.spent
            watch.report(analysed(running, 0.0))


def paced(budget: int, took: float, limits: Limits, watch: Watch) -> int:
    """Return the plies of the next slice, so that it ends with the time there is and takes 10 ms at most, about.

    The machine may be busy, so a slice is never much longer than the last one: twice.
    """
    ends = [seconds - watch.spent for seconds in (limits.seconds, watch.seconds) if seconds is not None]
    wanted = max(min([SLICE_SECONDS, *ends]), 0.0)
    return max(1, int(budget * min(2.0, wanted / max(took, 1e-6))))


def simulate_judged(running: Search) -> int:
    """Make one simulation whose leaf the evaluator judges."""
    graph, trail = running.graph, running.trail
    if not has_room(graph, trail):
        return FULL
    went = descend(graph, trail, running.states, running.rule)
    if went == WAITING:
        node = int(trail.nodes[trail.place[DEPTH]])
        if graph.degree[node] == 0:
            grown = expand(graph, node, running.states[LEAF], trail.moves, 0.0)
            if grown != FINISHED:
                return int(grown)
            judge(running, node, running.states[LEAF])
        finish_judged(graph, trail, running.rule)
        return FINISHED
    if went == FINISHED:
        finish(graph, trail, running.rule)
    return went


def judge(running: Search, node: int, state: np.void) -> None:
    """Ask the evaluator about a node that has its edges: its value and the priors of its moves."""
    game, evaluator = running.position.game, running.evaluator
    assert evaluator is not None
    kinds = list(game.observations)
    if evaluator.kind not in kinds:
        raise BadInput(f"the evaluator reads {evaluator.kind!r}, but {game.name} has {', '.join(kinds)}")
    observation = np.empty((1, int(np.prod(game.observations[evaluator.kind]))), np.float32)
    fill_observation(state, kinds.index(evaluator.kind), observation[0])
    logits, values = evaluator(observation)
    if np.shape(logits) != (1, game.actions) or np.shape(values) != (1,):
        raise BadInput(
            f"the evaluator answers with arrays of shape {(np.shape(logits), np.shape(values))}; asked for were logits "
            f"{(1, game.actions)} and values (1,)"
        )
    row = np.ascontiguousarray(logits, np.float32)[0]
    if not take_judgement(running.graph, node, row, float(values[0]), running.rule):
        raise BadInput(f"the evaluator answers with logits or a value ({values[0]}) that are no numbers in [-1, 1]")


# ---- what was found ------------------------------------------------------------------------------


def analysed(running: Search, temperature: float) -> Analysis:
    """Say what a search has found so far."""
    graph = running.graph
    edges = ranked(graph)
    edges = edges[graph.visits[edges] > 0] if running.done else edges[:1]
    moves = np.empty((len(edges), int(running.trail.place[DEEPEST]) + 1), np.int32)
    lengths = np.empty(len(edges), np.int64)
    principals(graph, edges, moves, lengths)
    lines = lines_of(graph, edges, moves, lengths)
    return Analysis(
        action=chosen_action(lines, temperature, running.rule.seed),
        value=lines[0].value,
        lines=lines,
        nodes=running.done,
        depth=int(running.trail.place[DEEPEST]),
        note=running.note or ("" if running.done else "ended before the first simulation"),
    )


def ranked(graph: Graph) -> np.ndarray:
    """Return the root's edges: most visited first, then the better mean, the likelier, the lower action."""
    edges = np.arange(graph.first[0], graph.first[0] + graph.degree[0])
    visits = graph.visits[edges]
    means = graph.total[edges] / np.maximum(visits, 1)
    return edges[np.lexsort((graph.action[edges], -graph.prior[edges], -means, -visits))]


def lines_of(graph: Graph, edges: np.ndarray, moves: np.ndarray, lengths: np.ndarray) -> tuple[Line, ...]:
    """Describe moves of the root and the play that follows each most often."""
    visits = graph.visits[edges]
    values = graph.total[edges] / np.maximum(visits, 1)
    columns = (moves[:, 0], values, visits, graph.prior[edges], moves, lengths)
    rows = zip(*(column.tolist() for column in columns), strict=True)  # one number at a time takes ten times as long
    return tuple(Line(action, value, n, prior, tuple(play[:length])) for action, value, n, prior, play, length in rows)


def chosen_action(lines: tuple[Line, ...], temperature: float, seed: int) -> Action:
    """Choose the move to play: the first line's, or one drawn by visits."""
    if temperature == 0.0:
        return lines[0].action
    most = max(lines[0].visits, 1)
    weights = np.array([(line.visits / most) ** (1.0 / temperature) for line in lines])
    if weights.sum() == 0.0:
        return lines[0].action
    point = int(random_bits(seed, 0, 0)) / 2.0**64 * weights.sum()  # simulations draw from the streams 1, 2, ...
    return lines[min(int(np.searchsorted(np.cumsum(weights), point, side="right")), len(lines) - 1)].action
