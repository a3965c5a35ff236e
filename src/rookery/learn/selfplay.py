"""Self-play: many games side by side, finished ones begun anew in place.

    play = SelfPlay(game, settings, seed=1, replay=replay)
    done = play.round(evaluator)      # one move in every game; finished games are in the replay now

A round searches one move of every game. It is one that teaches or, with playout-cap randomisation, a cheap one that
only moves the games on: that is drawn for a round, not for a game, because games side by side wait for each other.
Everything that happens follows from the seed and the numbers of games and rounds, so that a run can be taken up again
where it was left.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba import int32, njit

from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.rng import random_below
from rookery.learn.book import ENDINGS, PLAYING, Book, Rows, copy_game, new_game, note_move, note_reply, room
from rookery.learn.kept import Kept, kept_game, kept_places
from rookery.learn.opponent import TEAMS, Opponent
from rookery.learn.packing import packed, unpacked
from rookery.learn.replay import Replay
from rookery.learn.sections import SelfplaySettings
from rookery.search.analysis import Watch
from rookery.search.borrowed import borrowed
from rookery.search.evaluator import Evaluator
from rookery.search.gomoku_fours import SeesFours
from rookery.search.tree_arrays import PLAIN, Arrays, tree_of
from rookery.search.tree_kernels import begin_all
from rookery.search.trees import Trees

FULL_ROUNDS = 1 << 62  # the stream of random numbers that tell which rounds teach
MOST_ATTEMPTS = 10_000  # games begun in one place until one outlasts its random plies


@njit(cache=True, nogil=True)
def note_all(a: Arrays, book: Book, taught: int) -> None:
    """Choose, note and play the move of every game."""
    a, book = borrowed(a), borrowed(book)
    for b in range(book.games.shape[0]):
        note_move(tree_of(a, b), book, b, taught, 0, 1)


@njit(cache=True, nogil=True)
def reply_all(a: Arrays, book: Book, actions: Any, taught: int, moves: Any) -> None:
    """Note and play the opponent's move in every game where it has made one, that is, where actions[b] >= 0."""
    a, book = borrowed(a), borrowed(book)
    for b in range(book.games.shape[0]):
        if actions[b] >= 0:
            note_reply(tree_of(a, b), book, b, int(actions[b]), taught, moves, 0, 1)


@njit(cache=True, nogil=True)
def copy_all(a: Arrays, book: Book, rows: Rows, first: Any, oldest: int, moves: Any) -> None:
    """Write every finished game into the rows, game b from row first[b] on."""
    a, book, rows = borrowed(a), borrowed(book), borrowed(rows)
    for b in range(book.games.shape[0]):
        if book.games[b].ending != PLAYING:
            copy_game(tree_of(a, b), book, b, rows, first[b], oldest, moves, 0, 1)


@njit(cache=True, nogil=True)
def renew_all(a: Arrays, book: Book, numbers: Any, moves: Any) -> None:
    """Begin a new game, numbers[b], in every place b where that is not negative."""
    a, book = borrowed(a), borrowed(book)
    for b in range(book.games.shape[0]):
        if numbers[b] >= 0:
            new_game(tree_of(a, b), book, b, numbers[b], moves)


@njit(cache=True, nogil=True)
def without_noise(a: Arrays) -> None:
    """Let the searches just begun draw no noise and force no move."""
    for b in range(a.trees.shape[0]):
        a.trees[b].fresh = int32(PLAIN)


@dataclass
class Finished:
    """Games that ended in a round, or in several."""

    games: int = 0
    plies: int = 0
    wins: int = 0
    """for seat 0"""
    losses: int = 0
    learner: float = 0.0
    """results added up for the network, where it plays against an opponent"""
    endings: dict[str, int] = field(default_factory=lambda: dict.fromkeys(ENDINGS[1:], 0))
    """games by what ended them"""
    kept: list[Kept] = field(default_factory=list)
    """those that a person may look at"""

    def add(self, games: np.ndarray) -> None:
        """Count finished games, records of a book."""
        self.games += len(games)
        self.plies += int(games["plies"].sum())
        self.wins += int((games["result"] > 0).sum())
        self.losses += int((games["result"] < 0).sum())
        self.learner += float(np.where(games["number"] % TEAMS == 0, games["result"], -games["result"]).sum())
        for ending, name in enumerate(ENDINGS[1:], start=1):
            self.endings[name] += int((games["ending"] == ending).sum())

    def merge(self, other: Finished) -> None:
        """Count the games of another round."""
        self.games, self.plies = self.games + other.games, self.plies + other.plies
        self.wins, self.losses = self.wins + other.wins, self.losses + other.losses
        self.learner += other.learner
        for name, count in other.endings.items():
            self.endings[name] += count
        self.kept += other.kept


def refuse_endless(game: Game, settings: SelfplaySettings, attempts: int) -> None:
    """Refuse random plies that end every game, once so many were tried."""
    if attempts > MOST_ATTEMPTS:
        raise BadInput(
            f"selfplay.random_plies: {settings.random_plies} random plies end games of {game.label} before the first "
            f"search, {MOST_ATTEMPTS} times in a row; give fewer"
        )


def round_teaches(settings: SelfplaySettings, seed: int, number: int) -> bool:
    """Tell whether a round is one that teaches."""
    share = settings.full_share
    return share >= 1 or random_below(1 << 30, seed, FULL_ROUNDS, number) < share * (1 << 30)


class SelfPlay:
    """Games of one network against itself or a fixed opponent, on a CPU."""

    keep_every = 0
    """one finished game in so many is told move by move; 0: none"""

    def __init__(self, game: Game, settings: SelfplaySettings, seed: int, replay: Replay):
        self.game, self.settings, self.seed, self.replay = game, settings, seed, replay
        self.trees = Trees(game, settings.tree(seed), trees=settings.at_once)
        self.book = room(game, settings, replay.kind, seed, settings.at_once)
        self.rows = Rows(*(tensor.numpy() for tensor in replay.rows))
        self.opponent = Opponent(settings.opponent, game, seed) if settings.opponent else None
        self.seeing: SeesFours | None = None
        """whoever sees wins by fours beside the network, once there is one"""
        self.start()

    def start(self, first: int = 0) -> None:
        """Begin all games, the first with a number; from the numbers of games all that is drawn follows."""
        self.begun, self.rounds = first, 0
        """games begun and rounds made"""
        self.begin(np.ones(self.settings.at_once, bool))

    def begin(self, places: np.ndarray) -> None:
        """Begin new games in some places, [B] bool, numbered in order."""
        numbers = np.where(places, self.begun + np.cumsum(places) - 1, -1)
        self.begun += int(places.sum())
        renew_all(self.trees.arrays, self.book, numbers, self.trees.moves)
        self.reply()

    def reply(self) -> None:
        """Let the opponent, if there is one, move until the network is to move in every game that goes on."""
        while self.opponent:
            actions = self.opponent.replies(self.trees.arrays.roots, self.book.games)
            if (actions < 0).all():
                return
            taught = int(self.settings.opponent_taught)
            reply_all(self.trees.arrays, self.book, actions, taught, self.trees.moves)

    def round(self, evaluator: Evaluator, watch: Watch | None = None) -> Finished:
        """Make one move in every game, put finished games into the replay and begin new ones in their place."""
        if evaluator.kind != self.replay.kind:
            raise BadInput(f"the network sees {evaluator.kind!r}, the replay holds {self.replay.kind!r}")
        if self.settings.fours:
            self.seeing = self.seeing or SeesFours(evaluator, self.game)
            self.seeing.evaluator = evaluator
            evaluator = self.seeing
        teaches = round_teaches(self.settings, self.seed, self.rounds)
        simulations = self.settings.simulations if teaches else self.settings.cheap_simulations
        begin_all(self.trees.arrays, np.full(self.trees.count, simulations, np.int32), True)
        if not teaches and not self.settings.gumbel:
            without_noise(self.trees.arrays)
        self.trees.run(evaluator, watch=watch)
        note_all(self.trees.arrays, self.book, int(teaches))
        self.reply()
        self.rounds += 1
        return self.harvest()

    def harvest(self) -> Finished:
        """Put finished games into the replay and begin new ones in their place."""
        done, attempts = Finished(), 0
        ended = self.book.games["ending"] != PLAYING
        while ended.any():  # again, if random plies alone end a game
            refuse_endless(self.game, self.settings, attempts := attempts + 1)
            games = self.book.games
            done.add(games[ended])
            kept = kept_places(games, ended, self.keep_every)
            done.kept += [kept_game(games[place], self.book.plies[place]) for place in kept]
            lengths = np.where(ended, self.book.games["plies"], 0)
            first = self.replay.written + np.cumsum(lengths) - lengths
            self.replay.written += int(lengths.sum())
            oldest = self.replay.written - self.replay.capacity
            copy_all(self.trees.arrays, self.book, self.rows, first, oldest, self.trees.moves)
            self.begin(ended)
            ended = self.book.games["ending"] != PLAYING
        return done

    # -- going on --

    def state(self) -> dict[str, np.ndarray]:
        """Return the games in play, between two rounds."""
        longest = int(self.book.games["plies"].max())
        book = self.book._replace(plies=self.book.plies[:, :longest], weights=self.book.weights[:, :longest])
        found = pages(self.trees.arrays.roots, self.trees.arrays.trees, book)
        return found | {"counters": np.array([self.begun, self.rounds])}

    def load(self, state: dict[str, np.ndarray]) -> None:
        """Take the games in play back."""
        self.begun, self.rounds = (int(number) for number in state["counters"])
        restore(state, self.trees.arrays.roots, self.trees.arrays.trees, self.book)


def written(book: Book) -> tuple[np.ndarray, np.ndarray]:
    """Tell which plies and which weights of a book are in use: [B, P] and [B, P, K] bool, for as many plies as any."""
    plies = np.arange(book.plies.shape[1]) < book.games["plies"][:, None]
    counts = np.where(plies, book.plies["count"], 0)
    return plies, np.arange(book.weights.shape[2]) < counts[:, :, None]


def pages(roots: np.ndarray, trees: np.ndarray, book: Book) -> dict[str, np.ndarray]:
    """Pack what is needed of games in play; trees are not kept from move to move, so all of it is in the book."""
    plies, weights = written(book)
    parts = {"roots": roots, "trees": trees, "games": book.games, "plies": book.plies[plies]}
    return {name: packed(part) for name, part in parts.items()} | {
        "weights": packed(book.weights[weights]),
        "count": np.array(len(roots)),
    }


def restore(state: dict[str, np.ndarray], roots: np.ndarray, trees: np.ndarray, book: Book) -> None:
    """Put games in play back into their arrays."""
    if int(state["count"]) != len(roots):
        raise BadInput(f"{state['count']} games were in play, not {len(roots)}: selfplay.at_once cannot change")
    for name, target in {"roots": roots, "trees": trees, "games": book.games}.items():
        target[...] = unpacked(state[name], target.shape, target.dtype)
    longest = int(book.games["plies"].max())
    used = book._replace(plies=book.plies[:, :longest], weights=book.weights[:, :longest])
    plies = np.arange(longest) < book.games["plies"][:, None]
    used.plies[plies] = unpacked(state["plies"], (-1,), book.plies.dtype)
    used.weights[written(used)[1]] = unpacked(state["weights"], (-1,), book.weights.dtype)
