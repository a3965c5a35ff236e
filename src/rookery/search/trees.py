"""Batched tree search: PUCT and Gumbel search in B games side by side.

    trees = Trees(load("gomoku"), TreeSettings(simulations=400), trees=64)
    trees.begin(positions)
    trees.run()                    # random playouts judge the leaves; or trees.run(evaluator)
    actions = trees.choose()
    trees.play(actions)            # with keep=True the subtrees of the moves are kept
    trees.again()                  # and the next search begins

`search` does the same for one position and answers with an `Analysis`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.options import whole_number
from rookery.games.position import Action, Position
from rookery.search.analysis import Analysis, Limits, Line, Watch
from rookery.search.evaluator import Evaluator, take_answers
from rookery.search.threads import MOST_THREADS, on_threads
from rookery.search.tree_arrays import (
    DECIDED,
    EDGE,
    FULL,
    MOST_RECORDS,
    NODE,
    OVER,
    SEARCHING,
    STATUSES,
    STUCK,
    room,
)
from rookery.search.tree_kernels import (
    begin_all,
    choose_all,
    first_over,
    forget_leaves,
    improve,
    play_tree,
    search_alone,
    step,
    weights_for_target,
)
from rookery.search.tree_root import principal_line
from rookery.search.tree_settings import MOST_SIMULATIONS, TreeSettings

SLICE = 0.005  # seconds of compiled work between two looks at the clock
MEGABYTES = 512  # of memory for a tree of a search limited by time
EDGES_A_NODE = 8  # in a pool of so many megabytes


class Trees:
    """Searches of several positions of one game, side by side."""

    def __init__(
        self, game: Game, settings: TreeSettings | None = None, trees: int = 1, nodes: int | None = None,
        edges: int | None = None, keep: bool = False,
    ):  # fmt: skip
        """Make room for so many trees.

        nodes, edges  room of one tree; by default enough for the search, or for two where subtrees are kept
        keep          go on with the subtree of a move that is played; Gumbel search starts from nothing all the same
        """
        self.game, self.settings = game, settings or TreeSettings()
        self.count, self.keep = whole_number("trees", trees, 1, 1 << 24), keep and not self.settings.gumbel
        worst, spare = max(1, game.most_legal), self.settings.leaves + 1
        if nodes is None:
            nodes = self.settings.simulations * (2 if self.keep else 1) + spare + 1
        whole_number("nodes", nodes, 1, MOST_RECORDS)
        self.arrays = room(game, self.settings, trees, nodes, (nodes + spare) * worst if edges is None else edges)
        self.moves = np.empty(worst, np.int32)

    def begin(
        self, positions: Sequence[Position], streams: Sequence[int] | None = None, plies: int | Sequence[int] = 0
    ) -> None:
        """Put new positions at the roots, forgetting all trees, and begin a search of each.

        `streams` number the games, so that each draws its own noise; 0, 1, ... if not given. `plies` is the number of
        plies already played, for the temperature, the same in all games or one for each.
        """
        self.put(positions, streams, plies)
        self.again(forget_all=True)

    def put(
        self, positions: Sequence[Position], streams: Sequence[int] | None = None, plies: int | Sequence[int] = 0
    ) -> None:
        """Put new positions at the roots."""
        if len(positions) != self.count:
            raise BadInput(f"there are {self.count} trees, but {len(positions)} positions to search")
        for position in positions:
            if position.game is not self.game and position.game.spec != self.game.spec:
                raise BadInput(f"these are trees of {self.game.spec}; a position of {position.game.spec} does not fit")
        together = bytearray().join(position.states.tobytes() for position in positions)
        roots = np.frombuffer(together, self.game.state)
        ended = first_over(roots)
        if ended >= 0:
            raise BadInput(f"the game is over in {positions[ended].text()!r}; there is nothing to search")
        of_streams = self.one_each("streams", range(self.count) if streams is None else streams)
        of_plies = self.one_each("plies", plies)
        self.arrays.roots[:] = roots  # nothing is put anywhere before all of it was found to be right
        trees = self.arrays.trees
        trees["stream"], trees["ply"], trees["search"] = of_streams, of_plies, 0

    def one_each(self, name: str, given: int | Sequence[int]) -> np.ndarray:
        """Return a number for each tree, [B], where one is given for all or for each."""
        numbers = np.asarray(given)
        if numbers.shape not in ((), (self.count,)) or numbers.dtype.kind not in "iu":
            raise BadInput(f"{name} must be whole numbers, one for each of {self.count} trees, not {given!r}")
        return np.broadcast_to(numbers, self.count)

    def again(self, forget_all: bool = False) -> None:
        """Begin another search from the present roots, keeping what is known."""
        begin_all(self.arrays, np.full(self.count, self.settings.simulations, np.int32), forget_all)

    def run(self, evaluator: Evaluator | int = 1, threads: int = 1, watch: Watch | None = None) -> None:
        """Search until every tree is done or the watch ends it.

        The leaves are judged by an evaluator, or by a number of random playouts; 0 judges every position as even.
        Threads share out trees searched by playouts; an evaluator is asked by a single one, for all trees at once.
        """
        watch, threads = watch or Watch(), whole_number("threads", threads, 1, MOST_THREADS)
        if isinstance(evaluator, Evaluator):
            self.run_asking(evaluator, watch)
        else:
            self.run_alone(whole_number("playouts", evaluator, 0, 1 << 20), threads, watch)
        self.refuse_stuck()

    def run_alone(self, playouts: int, threads: int, watch: Watch) -> None:
        """Search by playouts, trees shared out among threads."""
        share = -(-self.count // (4 * threads)) if threads > 1 else self.count
        self.arrays.logits["x"] = 1  # not what an evaluator said before

        def part(first: int) -> None:
            last = min(first + share, self.count)
            scratch, moves = self.game.empty_states()[0], np.empty_like(self.moves)
            most, begun = 1, False
            while not (begun and watch.ended) and (self.arrays.trees["status"][first:last] == SEARCHING).any():
                before, begun = watch.spent, True  # at least the root is looked at, however short the time
                search_alone(self.arrays, first, last, most, playouts, self.game.longest, scratch, moves, watch.stop)
                most = paced(most, watch.spent - before)

        on_threads(part, range(0, self.count, share), threads, watch.stop)

    def run_asking(self, evaluator: Evaluator, watch: Watch) -> None:
        """Search with an evaluator that judges all leaves under way together."""
        kinds = list(self.game.observations)
        if evaluator.kind not in kinds:
            raise BadInput(f"{self.game.name} has no observation {evaluator.kind!r}; it has {', '.join(kinds)}")
        shape = self.game.observations[evaluator.kind]
        observations = np.zeros((len(self.arrays.values), int(np.prod(shape))), np.float32)
        kind, logits, values = kinds.index(evaluator.kind), self.arrays.logits["x"], self.arrays.values["x"]
        weights, begun = self.settings.policy == "weights", False
        try:
            while step(self.arrays, 0, self.count, kind, observations, self.moves) and not (begun and watch.ended):
                take_answers(evaluator(observations), logits, values, weights, self.asked)
                begun = True
        finally:
            forget_leaves(self.arrays)  # those whose answers were never asked for, or never came

    def asked(self) -> np.ndarray:
        """Tell which rows hold a leaf that an evaluator is to judge, [B * L] bool."""
        under_way = np.arange(self.settings.leaves) < self.arrays.trees["gathered"][:, None]
        asked: np.ndarray = under_way.ravel() & (self.arrays.slots["over"] == 0)
        return asked

    def refuse_stuck(self) -> None:
        """Raise an error if a search came to a position in which nobody can move."""
        stuck = np.flatnonzero(self.arrays.trees["status"] == STUCK)
        if stuck.size:
            raise BadInput(
                f"the search of {self.root(int(stuck[0])).text()!r} came to a position that is not the end and has no "
                "legal move; a position must show everything, hidden hands too"
            )

    def choose(self) -> list[Action]:
        """Return the move of each tree, -1 if its game is over: by temperature, Gumbel search, or the most visits."""
        edges = np.empty(self.count, np.int64)
        choose_all(self.arrays, edges)
        over = self.arrays.trees["status"] == OVER
        return [-1 if over[b] else self.chosen_action(b, int(e)) for b, e in enumerate(edges)]

    def chosen_action(self, b: int, e: int) -> Action:
        """Return the action of the edge chosen in a tree; refuse -1, which stands for none."""
        if e < 0:
            over = self.arrays.trees[b]["status"] == OVER
            reason = "is that of a finished game" if over else "has not been searched"
            raise BadInput(f"tree {b} {reason}, so no move can be chosen")
        return int(self.arrays.edges[b, e]["action"])

    def play(self, actions: Sequence[Action]) -> None:
        """Play a move in each tree, none where it is -1; `again` then begins the next search."""
        if len(actions) != self.count:
            raise BadInput(f"there are {self.count} trees, but {len(actions)} moves to play")
        moved = [(b, action) for b, action in enumerate(actions) if action != -1]
        for b, action in moved:
            position = self.root(b)
            position.check_legal(position.checked_action(action), action)
        for b, action in moved:
            play_tree(self.arrays, b, action, self.keep)

    def root(self, b: int) -> Position:
        """Return a copy of the position at a tree's root."""
        return Position(self.game, self.arrays.roots[b : b + 1].copy())

    # -- what was found --

    def policy(self, b: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the actions of a root and what to teach for them: visit shares, or Gumbel's improved policy."""
        first, count = self.edges_of(b, 0)
        actions = self.arrays.edges[b, first : first + count]["action"].astype(np.int32)
        if self.settings.gumbel:
            improved = np.empty(count, np.float64)
            improve(self.arrays, b, improved)
            return actions, improved
        weights = self.taught_weights(b)
        return actions, weights / weights.sum()

    def taught_weights(self, b: int) -> np.ndarray:
        """Return the weights of a root's moves in what is taught: visits, less forced ones if these are pruned.

        Priors where there are none: before the first simulation, or where all that was visited loses.
        """
        weights = np.empty(self.edges_of(b, 0)[1], np.float64)
        weights_for_target(self.arrays, b, weights)
        return weights

    def edges_of(self, b: int, n: int) -> tuple[int, int]:
        """Return first edge and number of edges of a node."""
        node = self.arrays.nodes[b, n]
        return int(node["first"]), int(node["count"])

    def principal(self, b: int, e: int) -> tuple[Action, ...]:
        """Return the line that begins with an edge: proven wins first, then the most visited moves."""
        moves = np.empty(max(1, self.game.longest), np.int64)
        count = principal_line(self.arrays.nodes[b], self.arrays.edges[b], e, moves)
        return tuple(moves[:count].tolist())

    def line(self, b: int, e: int) -> Line:
        """Describe one move of a root."""
        edge = self.arrays.edges[b, e]
        value = edge["proof"] or (edge["mean"] if edge["visits"] else self.arrays.nodes[b, 0]["value"])
        visits, prior = int(edge["visits"]), float(edge["prior"])
        return Line(int(edge["action"]), float(value), visits, prior, self.principal(b, e))

    def analysis(self, b: int) -> Analysis:
        """Describe what the search of a tree has found so far."""
        first, count = self.edges_of(b, 0)
        lines = [self.line(b, first + i) for i in range(count)]
        proofs = self.arrays.edges[b, first : first + count]["proof"]
        order = sorted(
            range(count), key=lambda i: (-int(proofs[i]), -lines[i].visits, -lines[i].value, lines[i].action)
        )
        root, tree = self.arrays.nodes[b, 0], self.arrays.trees[b]
        proof, status = int(root["proof"]), int(tree["status"])
        chosen = np.empty(self.count, np.int64)
        choose_all(self.arrays, chosen)
        return Analysis(
            action=self.chosen_action(b, int(chosen[b])),
            value=float(proof) if proof else float(root["mean"]),
            lines=tuple(lines[i] for i in order),
            nodes=int(tree["made"]),
            depth=len(lines[order[0]].moves),
            proven=proof != 0,
            note=STATUSES[status] if status in (DECIDED, FULL) else "",
        )


def paced(rounds: int, seconds: float) -> int:
    """Return how many rounds to make next, so that a slice of compiled work stays short."""
    if seconds > SLICE:
        return max(1, int(rounds * SLICE / seconds))
    return rounds * 2 if seconds < SLICE / 2 else rounds


def one_tree(game: Game, limits: Limits, megabytes: int, settings: dict[str, Any]) -> Trees:
    """Make room for the search of one position: for all simulations, or so many megabytes where time limits it."""
    if limits.nodes is not None or limits.seconds is not None:
        settings = settings | {"simulations": limits.nodes or MOST_SIMULATIONS}
    made, most = TreeSettings(**settings), max(1, game.most_legal)
    if limits.seconds is None:
        return Trees(game, made)
    if made.gumbel and limits.nodes is None:
        raise BadInput("Gumbel search shares out a known number of simulations: its limit must name nodes")
    room = whole_number("megabytes", megabytes, 1, 1 << 24) * 1_000_000
    edges = min(room * EDGES_A_NODE // (EDGE.itemsize * EDGES_A_NODE + NODE.itemsize), MOST_RECORDS)
    spare = made.leaves + 2
    nodes = min(edges // EDGES_A_NODE, made.simulations) + spare
    return Trees(game, made, nodes=nodes, edges=min(max(edges, 2 * spare * most), (nodes + spare) * most))


def search(
    position: Position, limits: Limits, watch: Watch | None = None, *, evaluator: Evaluator | int = 1, ply: int = 0,
    stream: int = 0, megabytes: int = MEGABYTES, **settings: Any,
) -> Analysis:  # fmt: skip
    """Search one position by tree search; `settings` are those of `TreeSettings`, simulations are `limits.nodes`.

    Where nothing limits it, it makes as many as `TreeSettings` says. With a limit of time the tree may take so many
    megabytes, and the search ends when they are full.
    """
    if limits.depth is not None:
        raise BadInput(f"a tree search is limited by nodes or seconds, not by depth (here {limits.depth})")
    if "simulations" in settings:
        raise BadInput("the simulations of a search are its limit of nodes")
    watch = watch or Watch(limits.seconds)
    trees = one_tree(position.game, limits, megabytes, settings)
    trees.begin([position], [stream], ply)
    if watch.seconds is None and limits.seconds is not None:
        watch = dataclasses.replace(watch, seconds=limits.seconds)
    trees.run(evaluator, watch=watch)
    return trees.analysis(0)


__all__ = ["TreeSettings", "Trees", "search"]
