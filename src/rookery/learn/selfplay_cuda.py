"""Self-play on a card: the same games as `rookery.learn.selfplay`, and nothing leaves the card but how they ended.

A round, network included, is one CUDA graph: the kernels of the trees are launched on the stream that PyTorch captures.
It ends with the finished games in the replay and copies of two things in memory that the host can read: the record of
every game, and the counters. New games are begun by a second, small graph, after the host has looked.

Against a fixed opponent the graph ends with the network's moves. The positions go to the host, whose threads find the
opponent's answers, and what follows is launched piece by piece.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rookery.games.game import Game
from rookery.learn.book import GAME, PLAYING, PLY, Book, Rows, copy_game, new_game, note_move, note_reply, room
from rookery.learn.kept import kept_game, kept_places
from rookery.learn.opponent import Opponent
from rookery.learn.replay import Replay
from rookery.learn.sections import SelfplaySettings
from rookery.learn.selfplay import Finished, pages, refuse_endless, restore, round_teaches
from rookery.nets.captured import captured, new_stream
from rookery.nets.folded import Folded
from rookery.search.cuda import cuda
from rookery.search.gomoku_fours_cuda import FoursOnCard
from rookery.search.tree_arrays import NUMBER, PLAIN, SLOT, tree_of
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
    """Begin a search in every tree, from nothing, with or without noise and forced moves."""
    b = cuda.grid(1)
    if b < a.trees.shape[0]:
        t = tree_of(a, b)
        clear(t)
        begin(t, budget)
        if not noisy:
            t.tree.fresh = PLAIN


@cuda.jit(cache=True)
def note_games(a: Any, book: Any, taught: Any, lengths: Any) -> None:
    """Choose, note and play the move of every game; lengths[b] tells the plies of a finished one, else 0."""
    b = cuda.blockIdx.x * WARPS + cuda.threadIdx.y
    if b < a.trees.shape[0]:
        note_move(tree_of(a, b), book, b, taught, cuda.threadIdx.x, LANES)
        if cuda.threadIdx.x == 0:
            lengths[b] = book.games[b].plies if book.games[b].ending != PLAYING else 0


@cuda.jit(cache=True)
def reply_games(a: Any, book: Any, actions: Any, taught: Any, moves: Any, lengths: Any) -> None:
    """Note and play the opponent's move in every game where actions[b] >= 0; lengths as in `note_games`."""
    b = cuda.blockIdx.x * WARPS + cuda.threadIdx.y
    if b < a.trees.shape[0] and actions[b] >= 0:
        note_reply(tree_of(a, b), book, b, int(actions[b]), taught, moves[b], cuda.threadIdx.x, LANES)
        if cuda.threadIdx.x == 0:
            lengths[b] = book.games[b].plies if book.games[b].ending != PLAYING else 0


@cuda.jit(cache=True)
def copy_games(a: Any, book: Any, rows: Any, first: Any, lengths: Any, counters: Any, moves: Any) -> None:
    """Write every finished game into the rows, game b from row first[b] on; counters[0] rows are written then."""
    b = cuda.blockIdx.x * WARPS + cuda.threadIdx.y
    if b < a.trees.shape[0] and lengths[b] > 0:
        oldest = counters[0] - rows.counts.shape[0]
        copy_game(tree_of(a, b), book, b, rows, first[b], oldest, moves[b], cuda.threadIdx.x, LANES)


@cuda.jit(cache=True)
def renew_games(a: Any, book: Any, numbers: Any, lengths: Any, moves: Any) -> None:
    """Begin a new game, numbers[b], in every place b where that is not negative."""
    b = cuda.grid(1)
    if b < a.trees.shape[0] and numbers[b] >= 0:
        new_game(tree_of(a, b), book, b, numbers[b], moves[b])
        lengths[b] = book.games[b].plies if book.games[b].ending != PLAYING else 0


def on_card(array: np.ndarray) -> Tensor:
    """Copy an array of records to the card, as bytes [..., size of a record]."""
    return torch.from_numpy(array.view(np.uint8).reshape(*array.shape, array.itemsize)).cuda()


def records(tensor: Tensor, kind: np.dtype[Any]) -> Any:
    """Return bytes on the card, [..., size of a record], as Numba's array of records."""
    return cuda.as_cuda_array(tensor.view(-1)).view(kind).reshape(tensor.shape[:-1])


class SelfPlayOnCard:
    """Games of one network against itself or a fixed opponent, on a card."""

    keep_every = 0
    """one finished game in so many is told move by move; 0: none"""

    def __init__(
        self, game: Game, settings: SelfplaySettings, seed: int, replay: Replay, judge: Judge, capture: bool = True
    ):
        """Begin games; `capture` makes each round one CUDA graph, for which `judge` must always do the same work."""
        self.game, self.settings, self.seed, self.replay = game, settings, seed, replay
        self.judge, self.capture = judge, capture
        count = settings.at_once
        self.trees = TreesOnCard(game, settings.tree(seed), count)
        self.trees.copy("roots", "trees")
        self.host = room(game, settings, replay.kind, seed, count)
        self.weights = torch.zeros(self.host.weights.shape, device="cuda")
        self.games, self.pages = on_card(self.host.games), on_card(self.host.plies)
        self.book = Book(
            rules=cuda.to_device(self.host.rules),
            games=records(self.games, GAME),
            plies=records(self.pages, PLY),
            weights=cuda.as_cuda_array(self.weights),
            scratch=cuda.device_array(count, game.state),
            openers=cuda.to_device(self.host.openers),
        )
        self.rows = Rows(*(cuda.as_cuda_array(tensor) for tensor in replay.rows))
        leaves = count * settings.leaves
        inputs = int(np.prod(game.observations[replay.kind]))
        self.observations = torch.zeros(leaves, inputs, device="cuda")
        self.logits, self.values = torch.zeros(leaves, game.actions, device="cuda"), torch.zeros(leaves, device="cuda")
        self.lengths = torch.zeros(count, dtype=torch.int64, device="cuda")
        self.numbers = torch.zeros(count, dtype=torch.int64, device="cuda")
        """of the game to begin in each place, or -1"""
        self.counters = torch.zeros(2, dtype=torch.int64, device="cuda")
        """rows written and games begun"""
        self.told_counters = torch.zeros(2, dtype=torch.int64, pin_memory=True)
        self.told_games = torch.zeros(self.games.shape, dtype=torch.uint8, pin_memory=True)
        self.seen, self.plies = cuda.as_cuda_array(self.observations), cuda.as_cuda_array(self.lengths)
        self.slots, self.order = on_card(self.trees.host.arrays.slots), torch.arange(count, device="cuda")
        self.trees.order = cuda.as_cuda_array(self.order)
        self.trees.arrays = self.trees.arrays._replace(
            slots=records(self.slots, SLOT),
            logits=cuda.as_cuda_array(self.logits).view(NUMBER),
            values=cuda.as_cuda_array(self.values).view(NUMBER),
        )
        self.fours = FoursOnCard(game, leaves) if settings.fours else None
        self.beside = new_stream()
        """the stream on which wins by fours are looked for"""
        self.kind = list(game.observations).index(replay.kind)
        self.graphs: dict[bool, Any] = {}
        self.renewal: Any = None
        self.opponent = Opponent(settings.opponent, game, seed) if settings.opponent else None
        self.start()

    def start(self, first: int = 0) -> None:
        """Begin all games, the first with a number; from the numbers of games all that is drawn follows."""
        count = self.settings.at_once
        self.numbers.copy_(torch.arange(first, first + count))
        self.renew()
        self.reply()
        self.begun, self.rounds = first + count, 0

    def stream(self) -> Any:
        """Return the stream PyTorch works on, as Numba sees it."""
        return cuda.external_stream(torch.cuda.current_stream().cuda_stream)

    def renew(self) -> None:
        """Launch the beginning of the numbered games."""
        self.lengths.zero_()
        launch, numbers = (*self.trees.threads, self.stream()), cuda.as_cuda_array(self.numbers)
        renew_games[launch](self.trees.arrays, self.book, numbers, self.plies, self.trees.moves)

    def reply(self) -> None:
        """Let the opponent, if there is one, move until the network is to move in every game that goes on."""
        while self.opponent:
            stream = self.stream()
            roots = self.trees.arrays.roots.copy_to_host(stream=stream)
            games = self.book.games.copy_to_host(stream=stream)
            torch.cuda.current_stream().synchronize()
            actions = self.opponent.replies(roots, games)
            if (actions < 0).all():
                return
            chosen, taught = torch.from_numpy(actions).cuda(), np.int32(self.settings.opponent_taught)
            reply_games[(*self.trees.warps, stream)](
                self.trees.arrays, self.book, cuda.as_cuda_array(chosen), taught, self.trees.moves, self.plies
            )

    def play_and_collect(self, teaches: bool) -> None:
        """Launch a round, up to the beginning of new games; against an opponent, up to its answers."""
        self.search_and_move(teaches)
        if not self.opponent:
            self.collect()

    def collect(self) -> None:
        """Launch what puts finished games into the replay, numbers their successors and lets the host know."""
        self.counters.copy_(self.told_counters, non_blocking=True)
        ended, ends = self.lengths > 0, torch.cumsum(self.lengths, 0)
        first = self.counters[0] + ends - self.lengths
        new = torch.cumsum(ended, 0)
        self.numbers.copy_(torch.where(ended, self.counters[1] - 1 + new, -1))
        self.counters += torch.stack((ends[-1], new[-1]))
        copy_games[(*self.trees.warps, self.stream())](
            self.trees.arrays, self.book, self.rows, cuda.as_cuda_array(first), self.plies,
            cuda.as_cuda_array(self.counters), self.trees.moves,
        )  # fmt: skip
        self.told_counters.copy_(self.counters, non_blocking=True)
        self.told_games.copy_(self.games, non_blocking=True)

    def search_and_move(self, teaches: bool) -> None:
        """Launch everything a round does up to the moves."""
        settings, trees, stream = self.settings, self.trees, self.stream()
        simulations = settings.simulations if teaches else settings.cheap_simulations
        noisy = teaches or settings.gumbel > 0
        depths = self.slots.view(torch.int32)[:: settings.leaves, 0]  # of the searches before: one ply changes little
        self.order.copy_(torch.argsort(depths, descending=True))
        begin_games[(*trees.threads, stream)](trees.arrays, np.int32(simulations), noisy)
        for _ in range(1 + simulations):  # as many if every batch brings a single leaf
            trees.step(self.kind, self.seen, stream)
            self.judge_leaves()
        trees.step(self.kind, self.seen, stream)
        note_games[(*trees.warps, stream)](trees.arrays, self.book, np.int32(teaches), self.plies)

    def judge_leaves(self) -> None:
        """Launch the judge and, beside it, the search for wins by fours, which knows better where it finds one."""
        if self.fours is None:
            self.judge(self.observations, self.logits, self.values)
            return
        present = torch.cuda.current_stream()
        self.beside.wait_stream(present)
        with torch.cuda.stream(self.beside):
            self.trees.asked(self.fours.asked, self.stream())
            self.fours.find(self.seen, self.stream())
        self.judge(self.observations, self.logits, self.values)
        present.wait_stream(self.beside)
        self.fours.apply(cuda.as_cuda_array(self.logits), cuda.as_cuda_array(self.values), self.stream())

    def round(self) -> Finished:
        """Make one move in every game, put finished games into the replay and begin new ones in their place."""
        teaches = round_teaches(self.settings, self.seed, self.rounds)
        if self.capture and teaches not in self.graphs:
            self.compile()
            self.graphs[teaches] = captured(partial(self.play_and_collect, teaches), warming=0)
            self.renewal = self.renewal or captured(self.renew, warming=0)
        self.tell_counters()
        if self.capture:
            self.graphs[teaches].replay()
        else:
            self.play_and_collect(teaches)
        if self.opponent:
            self.reply()
            self.collect()
        self.rounds += 1
        return self.harvest()

    def compile(self) -> None:
        """Compile everything a round launches, by searches that are forgotten and games that do not count."""
        side, kept = new_stream(), self.trees.arrays.trees.copy_to_host(stream=self.stream())
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            begin_games[(*self.trees.threads, self.stream())](self.trees.arrays, np.int32(1), False)
            for _ in range(2):
                self.trees.step(self.kind, self.seen, self.stream())
                self.judge_leaves()
            book, self.book = self.book, self.book._replace(games=cuda.to_device(np.ones(self.settings.at_once, GAME)))
            note_games[(*self.trees.warps, self.stream())](self.trees.arrays, self.book, np.int32(0), self.plies)
            self.book = book
            self.lengths.zero_()
            self.collect()  # no game has ended
            self.renew()  # nor is one to begin
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        self.trees.arrays.trees.copy_to_device(kept)  # searches are numbered, and noise follows from the number

    def tell_counters(self) -> None:
        """Let the card know the host's counters, which lie where its next graph reads them."""
        self.told_counters[0], self.told_counters[1] = self.replay.written, self.begun

    def harvest(self) -> Finished:
        """Wait for the round, count its finished games and begin new ones in their place."""
        done, attempts, games = Finished(), 0, self.told_games.numpy().view(GAME)[:, 0]
        while True:  # again, if random plies alone end a game
            torch.cuda.current_stream().synchronize()
            self.replay.written, self.begun = self.told_counters.tolist()
            ended = games["ending"] != PLAYING
            if not ended.any():
                return done
            refuse_endless(self.game, self.settings, attempts := attempts + 1)
            self.tell(games, ended, done)
            if self.capture:
                self.renewal.replay()
            else:
                self.renew()
            self.reply()
            if self.settings.random_plies == 0 and not self.opponent:
                return done
            self.collect()

    def tell(self, games: np.ndarray, ended: np.ndarray, done: Finished) -> None:
        """Count finished games, and fetch the moves of those that are kept."""
        done.add(games[ended])
        places = kept_places(games, ended, self.keep_every)
        if len(places) > 0:
            pages = self.pages[torch.as_tensor(places, device="cuda")].cpu().numpy().view(PLY)[..., 0]
            done.kept += [kept_game(games[place], plies) for place, plies in zip(places, pages, strict=True)]

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
