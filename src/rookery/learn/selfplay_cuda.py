"""Self-play on a card: the same games as `rookery.learn.selfplay`, and nothing leaves the card but their number.

A round, network included, is one CUDA graph: the kernels of the trees are launched on the stream that PyTorch captures.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rookery.games.game import Game
from rookery.learn.book import GAME, PLAYING, Book, Rows, copy_game, new_game, note_move, room
from rookery.learn.kept import kept_game, kept_places
from rookery.learn.replay import Replay
from rookery.learn.sections import SelfplaySettings
from rookery.learn.selfplay import Finished, pages, refuse_endless, refuse_order, restore, round_teaches
from rookery.nets.folded import Folded
from rookery.search.cuda import cuda
from rookery.search.tree_arrays import tree_of
from rookery.search.tree_keep import begin, clear
from rookery.search.trees_cuda import LANES, WARPS, TreesOnCard

Judge = Callable[[Tensor, Tensor, Tensor], None]
"""reads observations [B, O] and writes logits [B, A] and values [B], all float32 on the card"""


def judged_by(folded: Folded) -> Judge:
    """Let a network judge."""

    def judge(observations: Tensor, logits: Tensor, values: Tensor) -> None:
        answers = folded.answers(observations)
        logits.copy_(answers[0])  # and turned into single precision on the way
        values.copy_(answers[1])

    return judge


@cuda.jit(cache=True)
def begin_games(a: Any, budget: Any, noisy: Any) -> None:
    """Begin a search in every tree, from nothing, with or without noise."""
    b = cuda.grid(1)
    if b < a.trees.shape[0]:
        t = tree_of(a, b)
        clear(t)
        begin(t, budget)
        if not noisy:
            t.tree.fresh = 0


@cuda.jit(cache=True)
def note_games(a: Any, book: Any, taught: Any, lengths: Any) -> None:
    """Choose, note and play the move of every game; lengths[b] tells the plies of a finished one, else 0."""
    b = cuda.blockIdx.x * WARPS + cuda.threadIdx.y
    if b < a.trees.shape[0]:
        note_move(tree_of(a, b), book, b, taught, cuda.threadIdx.x, LANES)
        if cuda.threadIdx.x == 0:
            lengths[b] = book.games[b].plies if book.games[b].ending != PLAYING else 0


@cuda.jit(cache=True)
def copy_games(a: Any, book: Any, rows: Any, first: Any, oldest: Any, moves: Any) -> None:
    """Write every finished game into the rows, game b from row first[b] on."""
    b = cuda.blockIdx.x * WARPS + cuda.threadIdx.y
    if b < a.trees.shape[0] and book.games[b].ending != PLAYING:
        copy_game(tree_of(a, b), book, b, rows, first[b], oldest, moves[b], cuda.threadIdx.x, LANES)


@cuda.jit(cache=True)
def renew_games(a: Any, book: Any, numbers: Any, lengths: Any, moves: Any) -> None:
    """Begin a new game, numbers[b], in every place b where that is not negative."""
    b = cuda.grid(1)
    if b < a.trees.shape[0] and numbers[b] >= 0:
        new_game(tree_of(a, b), book, b, numbers[b], moves[b])
        lengths[b] = book.games[b].plies if book.games[b].ending != PLAYING else 0


class SelfPlayOnCard:
    """Games of one network against itself, on a card."""

    keep_every = 0
    """one finished game in so many is told move by move; 0: none"""

    def __init__(
        self, game: Game, settings: SelfplaySettings, seed: int, replay: Replay, judge: Judge, capture: bool = True
    ):
        """Begin games; `capture` makes each round one CUDA graph, for which `judge` must always do the same work."""
        refuse_order(settings)
        self.game, self.settings, self.seed, self.replay = game, settings, seed, replay
        self.judge, self.capture = judge, capture
        self.begun, self.rounds, count = 0, 0, settings.at_once
        self.trees = TreesOnCard(game, settings.tree(seed), count)
        self.trees.copy("roots", "trees")
        self.host = room(game, settings, replay.kind, seed, count)
        self.weights = torch.zeros(self.host.weights.shape, device="cuda")
        small = self.host._replace(weights=np.zeros(1))
        self.book = Book(*(cuda.device_array(array.shape, array.dtype) for array in small))
        self.book = self.book._replace(weights=cuda.as_cuda_array(self.weights))
        for name in ("rules", "games"):
            getattr(self.book, name).copy_to_device(getattr(self.host, name))
        self.rows = Rows(*(cuda.as_cuda_array(tensor) for tensor in replay.rows))
        leaves = count * settings.leaves
        inputs = int(np.prod(game.observations[replay.kind]))
        self.observations = torch.zeros(leaves, inputs, device="cuda")
        self.logits, self.values = torch.zeros(leaves, game.actions, device="cuda"), torch.zeros(leaves, device="cuda")
        self.lengths = torch.zeros(count, dtype=torch.int64, device="cuda")
        self.seen, self.plies = cuda.as_cuda_array(self.observations), cuda.as_cuda_array(self.lengths)
        arrays = self.trees.arrays
        self.trees.arrays = arrays._replace(
            logits=cuda.as_cuda_array(self.logits).view(arrays.logits.dtype),
            values=cuda.as_cuda_array(self.values).view(arrays.values.dtype),
        )
        self.kind = list(game.observations).index(replay.kind)
        self.graphs: dict[bool, Any] = {}
        self.begin(torch.ones(count, dtype=torch.bool, device="cuda"), count)

    def stream(self) -> Any:
        """Return the stream PyTorch works on, as Numba sees it."""
        return cuda.external_stream(torch.cuda.current_stream().cuda_stream)

    def begin(self, places: Tensor, count: int) -> None:
        """Begin `count` new games in some places, [B] bool, numbered in order."""
        numbers = torch.where(places, self.begun - 1 + torch.cumsum(places, 0), -1)
        self.begun += count
        launch = (*self.trees.threads, self.stream())
        renew_games[launch](self.trees.arrays, self.book, cuda.as_cuda_array(numbers), self.plies, self.trees.moves)

    def search_and_move(self, teaches: bool) -> None:
        """Launch everything a round does up to the moves."""
        settings, trees, stream = self.settings, self.trees, self.stream()
        simulations = settings.simulations if teaches else settings.cheap_simulations
        noisy = teaches or settings.gumbel > 0
        begin_games[(*trees.threads, stream)](trees.arrays, np.int32(simulations), noisy)
        for _ in range(1 + simulations):  # as many if every batch brings a single leaf
            trees.step(self.kind, self.seen, stream)
            self.judge(self.observations, self.logits, self.values)
        trees.step(self.kind, self.seen, stream)
        note_games[(*trees.warps, stream)](trees.arrays, self.book, np.int32(teaches), self.plies)

    def round(self) -> Finished:
        """Make one move in every game, put finished games into the replay and begin new ones in their place."""
        teaches = round_teaches(self.settings, self.seed, self.rounds)
        if not self.capture:
            self.search_and_move(teaches)
        else:
            if teaches not in self.graphs:
                self.graphs[teaches] = self.captured(teaches)
            self.graphs[teaches].replay()
        self.rounds += 1
        return self.harvest()

    def captured(self, teaches: bool) -> Any:
        """Capture a round. Everything is compiled before by searches that are forgotten."""
        new_stream: Callable[[], torch.cuda.Stream] = torch.cuda.Stream
        side, kept = new_stream(), self.trees.arrays.trees.copy_to_host(stream=self.stream())
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            begin_games[(*self.trees.threads, self.stream())](self.trees.arrays, np.int32(1), False)
            for _ in range(2):
                self.trees.step(self.kind, self.seen, self.stream())
                self.judge(self.observations, self.logits, self.values)
            nothing = self.book._replace(games=cuda.to_device(np.ones(self.settings.at_once, GAME)))
            note_games[(*self.trees.warps, self.stream())](self.trees.arrays, nothing, np.int32(0), self.plies)
            self.lengths.zero_()
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        self.trees.arrays.trees.copy_to_device(kept)  # searches are numbered, and noise follows from the number
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.search_and_move(teaches)
        return graph

    def harvest(self) -> Finished:
        """Put finished games into the replay and begin new ones in their place."""
        done, attempts = Finished(), 0
        while True:  # again, if random plies alone end a game
            ended = self.lengths > 0
            count, plies = (int(number) for number in torch.stack((ended.sum(), self.lengths.sum())).tolist())
            if count == 0:
                return done
            refuse_endless(self.game, self.settings, attempts := attempts + 1)
            self.tell(ended.cpu().numpy(), done)
            first = self.replay.written + torch.cumsum(self.lengths, 0) - self.lengths
            self.replay.written += plies
            oldest = np.int64(self.replay.written - self.replay.capacity)
            launch = (*self.trees.warps, self.stream())
            copy_games[launch](
                self.trees.arrays, self.book, self.rows, cuda.as_cuda_array(first), oldest, self.trees.moves
            )
            self.lengths.zero_()
            self.begin(ended, count)

    def tell(self, ended: np.ndarray, done: Finished) -> None:
        """Count finished games, and fetch the moves of those that are kept."""
        games = self.book.games.copy_to_host(stream=self.stream())
        done.add(games[ended])
        for place in kept_places(games, ended, self.keep_every):
            plies = self.book.plies[place].copy_to_host(stream=self.stream())
            done.kept.append(kept_game(games[place], plies))

    # -- going on --

    def state(self) -> dict[str, np.ndarray]:
        """Return the games in play, between two rounds."""
        torch.cuda.synchronize()
        roots, trees = self.trees.arrays.roots.copy_to_host(), self.trees.arrays.trees.copy_to_host()
        games = self.book.games.copy_to_host()
        longest = int(games["plies"].max())
        plies, weights = self.book.plies.copy_to_host()[:, :longest], self.weights[:, :longest].cpu().numpy()
        found = pages(roots, trees, self.host._replace(games=games, plies=plies, weights=weights))
        return found | {"counters": np.array([self.begun, self.rounds])}

    def load(self, state: dict[str, np.ndarray]) -> None:
        """Take the games in play back."""
        self.begun, self.rounds = (int(number) for number in state["counters"])
        roots, trees = self.trees.arrays.roots.copy_to_host(), self.trees.arrays.trees.copy_to_host()
        restore(state, roots, trees, self.host)
        for target, source in ((self.trees.arrays.roots, roots), (self.trees.arrays.trees, trees)):
            target.copy_to_device(source)
        for name in ("games", "plies"):
            getattr(self.book, name).copy_to_device(getattr(self.host, name))
        plies = int(self.host.games["plies"].max())
        self.weights[:, :plies].copy_(torch.from_numpy(self.host.weights[:, :plies]))
