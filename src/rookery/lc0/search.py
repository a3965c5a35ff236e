"""Lc0's search of one chess position with one of its networks.

    searcher = Searcher(lc0.load("network.pb.gz"))
    searcher.begin(position)                  # goes on with what is known, if the position follows from the last one
    searcher.run(Limits(nodes=800))
    found = searcher.found()                  # also while another thread runs

`search` does the same for one position and answers with an `Analysis`. `batch=1` is strictly sequential: each leaf is
judged before the next one is chosen. On a card a batch is gathered while the one before is judged, as Lc0 does with two
threads; who is asked when does not depend on time. With larger batches, too, the same position gets the same search,
every time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np

from rookery.errors import BadInput
from rookery.games.chess import NO_PROGRESS
from rookery.games.chess_lc0_input import moves_of
from rookery.games.chess_moves import ACTION_MASK, MOVES_KEPT
from rookery.games.options import whole_number
from rookery.games.position import Action, Position
from rookery.games.rules import play
from rookery.lc0.evaluator import Evaluator
from rookery.lc0.found import Found, found_in
from rookery.lc0.passes import Answered, UnderWay
from rookery.search.analysis import Analysis, Limits, Watch, out_of_time
from rookery.search.lc0_arrays import (
    BYTES_A_NODE,
    EDGES_A_NODE,
    ENDED,
    MEMORY,
    MOST_VISITS,
    PROVEN,
    Arrays,
    another_batch,
    keep_subtree,
    room,
)
from rookery.search.lc0_settings import Lc0Settings
from rookery.search.lc0_twins import find_speakers
from rookery.search.lc0_walk import begin_tree, gather, release, take_in

MEGABYTES = 1024
"""of a tree, unless said otherwise"""
REMEMBERED = 200_000
"""evaluations; each takes 280 bytes"""
LEAST_NODES = 16
MOST_NODES = MOST_VISITS // EDGES_A_NODE  # edges are numbered with 32 bits
REPORT_EVERY = 0.2  # seconds
AT_ONCE = 0.01  # seconds
KEPT_MOVES = 100  # plies over which a tree is kept at most
SPARE = 1 << 12  # nodes that are not worth keeping a smaller tree for


class Searcher:
    """A tree and the network that judges its leaves."""

    def __init__(
        self, evaluator: Evaluator, settings: Lc0Settings | None = None, megabytes: float = MEGABYTES,
        nodes: int | None = None, remembered: int = REMEMBERED, ahead: bool | None = None,
    ):  # fmt: skip
        """Make room for a tree.

        megabytes   memory of the tree; a search that has used it up ends
        nodes       most nodes of the tree, instead
        remembered  evaluations that are kept for positions met again; 0: none
        ahead       whether a batch is gathered while the one before is judged; None: on a card, if it is not serial
        """
        self.evaluator, self.settings = evaluator, settings or Lc0Settings()
        if nodes is None:
            nodes = min(int(megabytes * (1 << 20)) // BYTES_A_NODE, MOST_NODES)
        self.room = whole_number("nodes of a tree", max(LEAST_NODES, nodes), LEAST_NODES, MOST_NODES)
        has_lengths = evaluator.network.config.moves_left is not None
        options = self.settings.record(has_lengths, evaluator.format, evaluator.fill)
        game = evaluator.game
        try:
            self.arrays = room(game, options, self.settings.batch, self.room, remembered)
        except MemoryError:
            raise BadInput(
                f"there is no memory for a tree of {self.room} nodes and {remembered} evaluations, "
                f"{(self.room * BYTES_A_NODE + remembered * MEMORY.itemsize) >> 20} MB together"
            ) from None
        self.ahead = evaluator.device.type == "cuda" and self.settings.batch > 1 if ahead is None else ahead
        self.batches = [self.arrays, another_batch(self.arrays)] if self.ahead else [self.arrays]
        """the tree with the batch that is gathered next, and with the one that may be under way"""
        self.under_way: Answered | UnderWay | None = None
        """what the network says of the last batch"""
        self.position = game.start()
        self.known = False
        """whether the arrays hold a tree of the position"""
        self.top = 0
        """where the position stands in the tree: the root, unless it is about to be moved there"""
        self.earlier: Found | None = None
        """what is known of the position from earlier searches, until its node is the root"""
        self.lock = threading.Lock()
        """held while the tree changes, but not while the network judges: others can look at any time"""

    @property
    def memory_bytes(self) -> int:
        """The most memory that tree and evaluations may take."""
        return int(self.room * BYTES_A_NODE + self.arrays.memory.shape[0] * MEMORY.itemsize)

    def clear(self) -> None:
        """Forget the tree and all evaluations."""
        with self.lock:
            self.known, self.top, self.earlier = False, 0, None
            self.arrays.memory["count"] = 0
            self.arrays.memory["key"] = 0

    # -- beginning --

    def begin(self, position: Position, only: Collection[Action] = ()) -> None:
        """Put a position at the root, with the part of the last tree that belongs to it.

        `only` names the moves that are to be searched; all, if there are none.
        """
        self.turn_to(position, only)
        self.move_root()

    def turn_to(self, position: Position, only: Collection[Action] = ()) -> None:
        """Begin a position without waiting for its root: `run` moves it, which takes a while where a tree is large.

        Until then `found` tells what earlier searches have found.
        """
        position = searchable(position)
        legal = set(legal_actions(position))
        wrong = [action for action in only if action not in legal]
        if wrong:
            raise BadInput(f"{position.move_text(wrong[0])} cannot be searched: it is not legal in {position.text()!r}")
        with self.lock:
            top = self.node_of(position) if self.known else None
            self.position, self.top, self.known = position, top or 0, True
            self.arrays.root[:] = position.states
            if top is None:
                begin_tree(self.arrays)
            tree: Any = self.arrays.tree[0]
            for name in ("made", "depths", "deepest", "known"):
                tree[name] = 0
            tree["restricted"] = bool(only)
            self.arrays.allowed[:] = 0
            self.arrays.allowed[list(only)] = 1
            self.earlier = found_in(self.arrays, self.top)

    def move_root(self) -> None:
        """Make the position's node the root, and forget all that does not follow from it."""
        with self.lock:
            if self.earlier is None:
                return
            if self.top > 0 or self.arrays.tree[0]["full"]:
                keep_subtree(self.arrays, self.top)
            if self.settings.transpositions == "on":
                find_speakers(self.arrays)
            self.top, self.earlier = 0, None

    def known_of(self, position: Position) -> Found | None:
        """Return what is known of a position that follows from the one searched; None if nothing is, or not at once."""
        if not self.lock.acquire(timeout=AT_ONCE):  # held for long only where a large tree is cut
            return None
        try:
            top = self.node_of(searchable(position)) if self.known else None
            restricted = bool(self.arrays.tree[0]["restricted"])
            return None if top is None or restricted else found_in(self.arrays, top)
        finally:
            self.lock.release()

    def node_of(self, position: Position) -> int | None:
        """Return the node of a position that follows from the last one by moves in the tree; None if there is none."""
        old, new = self.position.copy(), position.state
        begun, plies = int(old.state["plies"]), int(new["plies"])
        if not 0 <= plies - begun <= KEPT_MOVES or position.game.spec != old.game.spec:
            return None
        n = self.top
        for ply in range(begun, plies):
            action = int(new["moves"][ply % MOVES_KEPT]) & ACTION_MASK
            child = self.child_of(n, action)
            if child is None:
                return None
            play(old.state, action)
            n = child
        node = self.arrays.nodes[n]
        settled = node["kind"] == ENDED or node["visits"] == 0
        same = bool((old.states == position.states).all())  # field by field: records have holes
        return n if same and not settled else None

    def child_of(self, n: int, action: Action) -> int | None:
        """Return the node behind a move; None if it was not visited."""
        node = self.arrays.nodes[n]
        edges = self.arrays.edges[int(node["first"]) : int(node["first"]) + int(node["count"])]
        for child in edges["child"][edges["action"] == action]:
            return int(child) if child >= 0 else None
        return None

    # -- searching --

    @property
    def visits(self) -> int:
        """How often the root has been visited, in earlier searches too."""
        return int(self.arrays.nodes[self.top]["visits"])

    def run(self, limits: Limits, watch: Watch | None = None, pruning: float = 0.0) -> str:
        """Search until a limit is reached or the watch ends it; return why it ended.

        Nodes are visits of the root, those of earlier searches included. At least the root is judged. `pruning` above 0
        ends a search when no move can catch up with the best one in `pruning` times fewer visits than remain.
        """
        watch = watch or Watch(seconds=limits.seconds)
        target = min(limits.nodes or MOST_VISITS, MOST_VISITS)
        self.move_root()
        reported, begun, before = time.perf_counter(), watch.spent, self.visits
        if self.arrays.nodes[0]["count"] == 0:
            return "the game is over"
        try:
            while True:
                why = self.ended(limits, target, watch)
                if not why and pruning > 0 and self.visits > before:
                    why = self.decided(target, watch, begun, before, pruning)
                if why:
                    return why
                self.step(target)
                if watch.report and time.perf_counter() - reported > REPORT_EVERY:
                    watch.report(self.found().analysis())
                    reported = time.perf_counter()
        finally:
            with self.lock:
                self.under_way = None
                for t in self.batches:
                    release(t)

    def step(self, target: int = MOST_VISITS) -> None:
        """Gather a batch of leaves, let the network judge them, and back them up."""
        if self.ahead:
            self.step_ahead(target)
            return
        t = self.arrays
        with self.lock:
            waiting = gather(t, self.most, target)
        if waiting:
            answers = self.evaluator.run(t.masks[:waiting], t.values[:waiting])
            self.take(t, answers)
        else:
            with self.lock:
                release(t)

    def step_ahead(self, target: int) -> None:
        """Gather a batch of leaves while the network judges the last one, hand it over, and back up the last one."""
        new, last = self.batches
        with self.lock:
            waiting = gather(new, self.most, target - int(last.batch[0]["gathered"]))
        begun = self.evaluator.begin(new.masks[:waiting], new.values[:waiting]) if waiting else None
        answers = self.under_way.wait() if self.under_way else None
        if answers is not None:
            self.take(last, answers)
        if not waiting:
            with self.lock:
                release(new)
        self.under_way = begun
        self.batches.reverse()

    def take(self, t: Arrays, answers: np.ndarray) -> None:
        """Back up what the network says of a batch; what is no number is refused, and the tree stays as it was."""
        with self.lock:
            sound = take_in(t, answers)
        if not sound:
            raise self.evaluator.no_numbers()

    @property
    def most(self) -> int:
        """Leaves of a batch."""
        return min(self.settings.batch, self.evaluator.batch)

    def ended(self, limits: Limits, target: int, watch: Watch) -> str:
        """Say why a search has ended; nothing while it goes on."""
        if self.visits == 0:
            return ""
        if self.visits >= target:
            return "all nodes searched"
        if self.arrays.tree[0]["full"]:
            return "the tree has used up its memory"
        if limits.depth is not None and (self.depth >= limits.depth or self.settled):
            return "deep enough"
        return "stopped" if out_of_time(limits, watch) else ""

    @property
    def depth(self) -> int:
        """The mean depth of the leaves of this search."""
        tree = self.arrays.tree[0]
        return round(int(tree["depths"]) / max(1, int(tree["made"])))

    def decided(self, target: int, watch: Watch, begun: float, before: int, pruning: float) -> str:
        """Say that no move can catch up any more in what remains; nothing if one can, or if nothing limits the search.

        Where time is the limit, the search goes on as fast as until now.
        """
        remaining = float(target - self.visits) if target < MOST_VISITS else float("inf")
        if watch.seconds is not None:
            rate = (self.visits - before) / max(1e-3, watch.spent - begun)
            remaining = min(remaining, rate * max(0.0, watch.seconds - watch.spent))
        if remaining == float("inf"):
            return ""
        visits = self.root_visits()
        behind = visits[0] - visits[1] if len(visits) > 1 else float("inf")
        return "no move can catch up" if behind > remaining / pruning else ""

    @property
    def settled(self) -> bool:
        """Whether nothing is left to find: a move is proven to win, or what each one leads to is known."""
        children = self.root_children()
        nodes = self.arrays.nodes[children[children >= 0]]
        known = nodes[(nodes["kind"] == ENDED) | (nodes["kind"] == PROVEN)]
        return bool((known["upper"] < 0).any() or len(known) == len(children))

    def root_children(self) -> np.ndarray:
        """List the nodes of the root's moves that are searched; -1 for those not yet visited."""
        root, tree = self.arrays.nodes[0], self.arrays.tree[0]
        edges = self.arrays.edges[int(root["first"]) : int(root["first"]) + int(root["count"])]
        if tree["restricted"]:
            edges = edges[self.arrays.allowed[edges["action"]] > 0]
        children: np.ndarray = edges["child"]
        return children

    def root_visits(self) -> list[int]:
        """List the visits of the root's moves that are searched, the most first."""
        children = self.root_children()
        visits = np.where(children >= 0, self.arrays.nodes[np.maximum(children, 0)]["visits"], 0)
        return sorted(visits.tolist(), reverse=True)

    def found(self) -> Found:
        """Return what is known so far."""
        earlier = self.earlier
        if earlier is not None:
            return earlier
        with self.lock:
            return found_in(self.arrays)


# ---- positions -----------------------------------------------------------------------------------


def legal_actions(position: Position) -> list[Action]:
    """List the moves of a position, also of a drawn one, where a game may go on that nobody has claimed."""
    actions, _, counts = moves_of(position.states, np.zeros(1, np.int32), position.game.most_legal)
    return [int(action) for action in actions[0, : counts[0]]]


def searchable(position: Position) -> Position:
    """Return a position to search from: beyond a hundred plies without progress a state keeps no history."""
    if int(position.state["since"]) < NO_PROGRESS:
        return position.copy()
    game: Any = position.game
    fresh: Position = game.position(game.fen(position.state))
    return fresh


def search(
    position: Position, limits: Limits, watch: Watch | None = None, evaluator: Evaluator | None = None, **settings: Any
) -> Analysis:
    """Search a position with a network, from nothing."""
    if evaluator is None:
        raise BadInput("Lc0's search needs a network: evaluator=lc0.load(...)")
    if limits == Limits():
        raise BadInput("a search needs a limit: depth, nodes or seconds")
    room = None if limits.nodes is None else min(limits.nodes + SPARE, MOST_NODES)
    searcher = Searcher(evaluator, Lc0Settings(**settings), nodes=room)
    searcher.begin(position)
    why = searcher.run(limits, watch or Watch(seconds=limits.seconds))
    return replace(searcher.found().analysis(), note="" if why == "all nodes searched" else why)
