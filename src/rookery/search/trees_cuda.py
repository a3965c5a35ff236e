"""Tree search on a card, one warp to a tree: the same trees as `rookery.search.trees`.

The arrays lie on the card. Kernels are launched on a stream that the caller may share with a network, so that a whole
simulation, the network's part included, never leaves the card.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rookery.games.game import Game
from rookery.games.position import Position
from rookery.search import trees as on_cpu
from rookery.search import warps
from rookery.search.cuda import cuda, require_card
from rookery.search.records import at
from rookery.search.tree_arrays import SEARCHING, Arrays, tree_of
from rookery.search.tree_keep import begin, clear, play_on
from rookery.search.tree_root import choose
from rookery.search.tree_settings import TreeSettings
from rookery.search.tree_walk import back_up, gather, observe_leaves

WARPS = 4  # trees to a block
LANES = warps.WIDTH


@cuda.jit(cache=True)
def search_on_card(a: Any, rounds: Any, moves: Any) -> None:
    """Make simulations that judge every position as even, with the weights that lie in `a.logits`."""
    b = cuda.blockIdx.x * WARPS + cuda.threadIdx.y
    if b < a.trees.shape[0]:
        t, lane = tree_of(a, b), cuda.threadIdx.x
        for _ in range(rounds):
            if t.tree.status != SEARCHING:
                break
            gather(t, lane, LANES)
            back_up(t, moves[b], lane, LANES)


@cuda.jit(cache=True, max_registers=56)  # so that more warps wait for memory at a time
def step_on_card(a: Any, order: Any, kind: Any, observations: Any, moves: Any) -> None:
    """Take in the answers for the leaves under way, gather the next ones and write what the evaluator is to see."""
    place = cuda.blockIdx.x * WARPS + cuda.threadIdx.y
    if place < a.trees.shape[0]:
        b = order[place]
        t, lane = tree_of(a, b), cuda.threadIdx.x
        back_up(t, moves[b], lane, LANES)
        gather(t, lane, LANES)
        observe_leaves(t, kind, observations, b * t.options.leaves, lane, LANES)


@cuda.jit(cache=True)
def ask_on_card(a: Any, asked: Any) -> None:
    """Write 1 for every leaf under way that an evaluator is to judge, 0 for all other rows."""
    row = cuda.grid(1)
    if row < asked.shape[0]:
        leaves = a.options[0].leaves
        b = row // leaves
        under_way = row - b * leaves < a.trees[b].gathered
        asked[row] = 1 if under_way and a.slots[row].over == 0 else 0


@cuda.jit(cache=True)
def begin_on_card(a: Any, budget: Any, forget: Any) -> None:
    """Begin a search in every tree, from nothing or from what is known."""
    b = cuda.grid(1)
    if b < a.trees.shape[0]:
        t = tree_of(a, b)
        if forget:
            clear(t)
        begin(t, budget)


@cuda.jit(cache=True)
def choose_on_card(a: Any, actions: Any) -> None:
    """Write the chosen action of every tree; -1 where the root was not looked at."""
    b = cuda.grid(1)
    if b < a.trees.shape[0]:
        t = tree_of(a, b)
        actions[b] = at(t.edges, choose(t)).action if at(t.nodes, 0).count > 0 else -1


@cuda.jit(cache=True)
def play_on_card(a: Any, actions: Any, keep: Any) -> None:
    """Play a move in every tree whose game goes on."""
    b = cuda.blockIdx.x * WARPS + cuda.threadIdx.y
    if b < a.trees.shape[0] and actions[b] >= 0:
        play_on(tree_of(a, b), actions[b], keep, cuda.threadIdx.x, LANES)


class TreesOnCard:
    """Searches of several positions of one game, on a card. Calls return at once, unless they fetch something."""

    def __init__(self, game: Game, settings: TreeSettings, trees: int, keep: bool = False):
        require_card()
        self.host = on_cpu.Trees(game, settings, trees, keep=keep)
        self.host.arrays.options["in_lanes"] = not game.few_moves
        self.game, self.settings, self.count = game, settings, trees
        self.moves = cuda.device_array((trees, max(1, game.most_legal)), np.int32)
        self.actions = cuda.device_array(trees, np.int32)
        self.order = cuda.to_device(np.arange(trees))
        """in which trees take their steps: those with the longest ways first, or the card waits for them in the end"""
        self.warps = (-(-trees // WARPS),), (LANES, WARPS)
        self.threads = (-(-trees // LANES),), (LANES,)
        self.arrays = Arrays(*(cuda.device_array(array.shape, array.dtype) for array in self.host.arrays))
        self.copy("options", "leaves", "logits", "values")

    def copy(self, *names: str) -> None:
        """Copy some arrays to the card; nodes and edges are made there."""
        for name in names:
            getattr(self.arrays, name).copy_to_device(getattr(self.host.arrays, name))

    def begin(
        self, positions: Sequence[Position], streams: Sequence[int] | None = None, plies: int | Sequence[int] = 0
    ) -> None:
        """Put positions at the roots, forgetting all trees, and begin a search of each, as on a CPU."""
        self.host.put(positions, streams, plies)
        self.copy("roots", "trees")
        self.again(forget=True)

    def again(self, forget: bool = False, stream: Any = 0) -> None:
        """Begin another search from the present roots, keeping what is known unless told to forget it."""
        begin_on_card[(*self.threads, stream)](self.arrays, np.int32(self.settings.simulations), forget)

    def run_even(self, rounds: int, stream: Any = 0) -> None:
        """Search with every position judged as even, by the weights that lie in the arrays' logits."""
        search_on_card[(*self.warps, stream)](self.arrays, np.int32(rounds), self.moves)

    def step(self, kind: int, observations: Any, stream: Any = 0) -> None:
        """Take in the answers in the arrays' logits and values, gather leaves, write observations [B * L, O]."""
        step_on_card[(*self.warps, stream)](self.arrays, self.order, np.int32(kind), observations, self.moves)

    def asked(self, rows: Any, stream: Any = 0) -> None:
        """Write which rows of the observations an evaluator is to judge, [B * L]; the others may hold anything."""
        blocks = -(-rows.shape[0] // LANES)
        ask_on_card[blocks, LANES, stream](self.arrays, rows)

    def run(self, kind: str, evaluate: Callable[[Any, Any, Any], None], stream: Any = 0) -> None:
        """Search with an evaluator that reads observations on the card and writes logits and values there."""
        number = list(self.game.observations).index(kind)
        shape = self.count * self.settings.leaves, int(np.prod(self.game.observations[kind]))
        observations = cuda.device_array(shape, np.float32)
        rounds = 2 + self.settings.simulations  # the root, and as many more if every batch brings a single leaf
        for _ in range(rounds):
            self.step(number, observations, stream)
            evaluate(observations, self.arrays.logits, self.arrays.values)

    def choose(self, stream: Any = 0) -> Any:
        """Return the move of each tree, in an array on the card."""
        choose_on_card[(*self.threads, stream)](self.arrays, self.actions)
        return self.actions

    def play(self, actions: Any, stream: Any = 0) -> None:
        """Play a move in each tree, given in an array on the card; they must be legal."""
        play_on_card[(*self.warps, stream)](self.arrays, actions, self.host.keep)

    def fetch(self) -> on_cpu.Trees:
        """Copy the trees to the host, waiting for the card."""
        for target, source in zip(self.host.arrays, self.arrays, strict=True):
            source.copy_to_host(target)
        self.host.refuse_stuck()
        return self.host
