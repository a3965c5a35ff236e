"""Compiling ahead: run every kernel once on a game, so that it lies in the cache."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rookery.games.game import Game
from rookery.search.analysis import Watch
from rookery.search.lanes import lanes_legal
from rookery.search.perft import perft
from rookery.search.playout import random_games
from rookery.search.tree_settings import TreeSettings
from rookery.search.trees import Trees


def rules(game: Game) -> None:
    """Compile what a `Position` calls."""
    position = game.start()
    position.observe()
    position.text()
    position.draw()
    position.seen_by(position.mover)
    for seat in range(game.seats):
        position.payoff(seat)
    for action in position.legal()[:1]:
        position.play(position.move_text(action))
    game.position(position.text()).key  # noqa: B018  (compiles the hash)


def lanes(game: Game) -> None:
    """Compile the legal list made in lanes, here on a single one."""
    position = game.start()
    if not position.over:
        lanes_legal(position.state, game.actions, np.empty(game.most_legal, np.int32), 0, 1)


def card(game: Game) -> None:
    """Compile random play for the card."""
    from rookery.search import playout_cuda

    playout_cuda.random_games(game, 32)


class Even:
    """An evaluator that thinks all moves and positions alike."""

    def __init__(self, game: Game):
        self.kind, self.actions = next(iter(game.observations)), game.actions

    def __call__(self, observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Judge positions."""
        return np.zeros((len(observations), self.actions), np.float32), np.zeros(len(observations), np.float32)


def trees(game: Game) -> None:
    """Compile tree search, by playouts and with an evaluator."""
    position = game.start()
    if not position.over:
        searched = Trees(game, TreeSettings(simulations=2, gumbel=1))
        searched.begin([position])
        searched.run()
        searched.again(forget_all=True)  # a search that is done asks nothing
        searched.run_asking(Even(game), Watch())
        searched.policy(0)
        searched.taught_weights(0)
        searched.principal(0, 0)
        searched.play(searched.choose())


USES: dict[str, Callable[[Game], object]] = {
    "rules": rules,
    "lanes": lanes,
    "random play": lambda game: random_games(game, 1),
    "tree search": trees,
    "perft": lambda game: perft(game.start(), min(2, max(1, game.longest))),
}
CARD_USES: dict[str, Callable[[Game], object]] = {"random play on the card": card}


def prepare(game: Game, use: str) -> None:
    """Compile the kernels of one use of a game, or take them from the cache."""
    (CARD_USES | USES)[use](game)
