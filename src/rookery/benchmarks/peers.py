"""The same work in other packages, where they are installed (`pip install 'rookery[peers]'`)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

OPENSPIEL_NAMES = {  # our spec -> the same game there
    "chess": "chess",
    "connect_four": "connect_four",
    "gomoku": "gomoku",
    "gomoku:size=9": "gomoku(size=9)",
}


@contextmanager
def one_core() -> Iterator[None]:
    """Keep this thread, and those that are begun meanwhile, on a single core, where the system lets us."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


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


def mctx_simulations(
    first: np.ndarray, second: np.ndarray, trees: int, simulations: int, gumbel: bool
) -> Callable[[], tuple[int, float]] | None:
    """Return a measurement of mctx's tree search of pgx's connect four on one core; None without jax, mctx and pgx.

    first, second   weights of the perceptron that judges: [84, hidden] and [hidden, 8]
    """
    try:
        with one_core():  # the threads of jax stay where they are begun
            import jax
            import mctx
            import pgx
    except ImportError:
        return None
    jnp, cpu = jax.numpy, jax.devices("cpu")[0]
    game, rows = pgx.make("connect_four"), jnp.arange(trees)
    policy, ways = (
        (mctx.gumbel_muzero_policy, {"max_num_considered_actions": 7})
        if gumbel
        else (mctx.muzero_policy, {"dirichlet_fraction": 0.0})
    )

    def judged(states: Any) -> tuple[Any, Any]:
        out = jnp.maximum(states.observation.reshape(trees, -1).astype(jnp.float32) @ first, 0) @ second
        return jnp.where(states.legal_action_mask, out[:, :-1], -1e9), jnp.tanh(out[:, -1])

    def played(_: Any, key: Any, action: Any, states: Any) -> tuple[Any, Any]:
        mover = states.current_player
        states = jax.vmap(game.step)(states, action)
        logits, values = judged(states)
        found = mctx.RecurrentFnOutput(
            reward=states.rewards[rows, mover], discount=jnp.where(states.terminated, 0.0, -1.0), prior_logits=logits,
            value=jnp.where(states.terminated, 0.0, values),
        )  # fmt: skip
        return found, states

    def search(key: Any) -> Any:
        states = jax.vmap(game.init)(jax.random.split(key, trees))
        logits, values = judged(states)
        root = mctx.RootFnOutput(prior_logits=logits, value=values, embedding=states)
        found = policy((), key, root, played, simulations, invalid_actions=~states.legal_action_mask, **ways)
        return found.search_tree.node_visits[:, 0]

    with one_core(), jax.default_device(cpu):
        compiled, key = jax.jit(search), jax.random.PRNGKey(0)
        if int(compiled(key).sum()) != trees * (simulations + 1):  # the root's own visit included
            raise RuntimeError(f"mctx made {compiled(key)} visits, not {simulations + 1} in each tree")

    def measure() -> tuple[int, float]:
        with one_core(), jax.default_device(cpu):
            begin = time.perf_counter()
            compiled(key).block_until_ready()
            return trees * simulations, time.perf_counter() - begin

    return measure
