"""The same work in other packages, where they are installed (`pip install 'rookery[peers]'`)."""

from __future__ import annotations

import time
from collections.abc import Callable

OPENSPIEL_NAMES = {  # our spec -> the same game there
    "chess": "chess",
    "connect_four": "connect_four",
    "gomoku": "gomoku",
    "gomoku:size=9": "gomoku(size=9)",
}


def openspiel_rollouts(spec: str) -> Callable[[int], float] | None:
    """Return a function that plays that many random games in OpenSpiel and tells the seconds; None without it.

    A search of one simulation with N rollouts at its leaf: all of the play runs in OpenSpiel's C++, and the Python call
    around it costs nothing against it.
    """
    if spec not in OPENSPIEL_NAMES:
        return None
    try:
        import pyspiel
    except ImportError:
        return None
    peer = pyspiel.load_game(OPENSPIEL_NAMES[spec])

    def play(games: int) -> float:
        evaluator = pyspiel.RandomRolloutEvaluator(games, 1)
        bot = pyspiel.MCTSBot(peer, evaluator, 2.0, 1, 1000, False, 1, False)
        begin = time.perf_counter()
        bot.mcts_search(peer.new_initial_state())
        return time.perf_counter() - begin

    return play


def openspiel_simulations(name: str, simulations: int) -> Callable[[], tuple[int, float]] | None:
    """Return a measurement of OpenSpiel's tree search with one playout at each leaf, in C++; None without it."""
    try:
        import pyspiel
    except ImportError:
        return None
    peer = pyspiel.load_game(name)

    def measure() -> tuple[int, float]:
        evaluator = pyspiel.RandomRolloutEvaluator(1, 1)
        bot = pyspiel.MCTSBot(peer, evaluator, 2.0, simulations, 1000, False, 1, False)
        begin = time.perf_counter()
        bot.mcts_search(peer.new_initial_state())
        return simulations, time.perf_counter() - begin

    return measure
