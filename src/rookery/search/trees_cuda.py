"""Tree search on a card, one warp to a tree: the same trees as `rookery.search.trees`.

The arrays lie on the card. Kernels are launched on a stream that the caller may share with a network, so that a whole
simulation, the network's part included, never leaves the card.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.position import Position
from rookery.search import trees as on_cpu
from rookery.search import warps
from rookery.search.cuda import cuda, require_card
from rookery.search.tree_arrays import SEARCHING, Arrays, tree_of
from rookery.search.tree_keep import play_on
from rookery.search.tree_settings import TreeSettings
from rookery.search.tree_walk import back_up, gather, observe_leaves

WARPS = 4  # trees to a block
LANES = warps.WIDTH
FEW = 8  # legal moves are listed by one lane where there are this many times fewer of them than actions


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


@cuda.jit(cache=True)
def step_on_card(a: Any, kind: Any, observations: Any, moves: Any) -> None:
    """Take in the answers for the leaves under way, gather the next ones and write what the evaluator is to see."""
    b = cuda.blockIdx.x * WARPS + cuda.threadIdx.y
    if b < a.trees.shape[0]:
        t, lane = tree_of(a, b), cuda.threadIdx.x
        back_up(t, moves[b], lane, LANES)
        gather(t, lane, LANES)
        observe_leaves(t, kind, observations, b * t.options.leaves, lane, LANES)


@cuda.jit(cache=True)
def play_on_card(a: Any, actions: Any, keep: Any) -> None:
    """Play a move in every tree."""
    b = cuda.blockIdx.x * WARPS + cuda.threadIdx.y
    if b < a.trees.shape[0]:
        play_on(tree_of(a, b), actions[b], keep, cuda.threadIdx.x, LANES)


class TreesOnCard:
    """Searches of several positions of one game, on a card."""

    def __init__(self, game: Game, settings: TreeSettings, trees: int, keep: bool = False):
        require_card()
        few = game.most_legal * FEW < game.actions
        self.host = on_cpu.Trees(game, settings, trees, keep=keep)
        self.host.arrays.options["in_lanes"] = not few
        self.game, self.settings, self.count = game, settings, trees
        self.arrays: Arrays | None = None
        self.moves = cuda.device_array((trees, max(1, game.most_legal)), np.int32)
        self.grid = (-(-trees // WARPS),), (LANES, WARPS)

    def begin(self, positions: Sequence[Position]) -> None:
        """Put positions at the roots and copy everything to the card."""
        self.host.begin(positions)
        self.arrays = Arrays(*(cuda.to_device(array) for array in self.host.arrays))

    def on_card(self) -> Arrays:
        """Return the arrays on the card."""
        if self.arrays is None:
            raise BadInput("no search has begun; call begin first")
        return self.arrays

    def run_even(self, rounds: int, stream: Any = 0) -> None:
        """Search with every position judged as even. Returns at once; the card works on."""
        search_on_card[(*self.grid, stream)](self.on_card(), np.int32(rounds), self.moves)

    def step(self, kind: int, observations: Any, stream: Any = 0) -> None:
        """Take in answers, gather leaves, write observations [B * L, O]. Returns at once."""
        step_on_card[(*self.grid, stream)](self.on_card(), np.int32(kind), observations, self.moves)

    def run(self, kind: str, evaluate: Callable[[Any, Any, Any], None], simulations: int) -> None:
        """Search with an evaluator that reads observations on the card and writes logits and values there."""
        kinds = list(self.game.observations)
        size = int(np.prod(self.game.observations[kind]))
        arrays = self.on_card()
        observations = cuda.device_array((self.count * self.settings.leaves, size), np.float32)
        for _ in range(simulations + 1):
            self.step(kinds.index(kind), observations)
            evaluate(observations, arrays.logits, arrays.values)
        self.step(kinds.index(kind), observations)

    def fetch(self) -> on_cpu.Trees:
        """Copy the trees to the host, waiting for the card."""
        for target, source in zip(self.host.arrays, self.on_card(), strict=True):
            source.copy_to_host(target)
        return self.host
