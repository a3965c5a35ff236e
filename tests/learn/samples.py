"""Rows of a replay that no search has made."""

from __future__ import annotations

from itertools import count

import numpy as np
import torch

from rookery.games.game import Game
from rookery.games.position import Position
from rookery.learn.replay import Replay
from support import random_walk


def filled_replay(
    game: Game, kind: str, capacity: int, rows: int, symmetries: bool = False, taught: float = 1.0
) -> tuple[Replay, list[list[int]]]:
    """Return a replay of random games and, for each row, the moves that lead to its position."""
    replay, rng, lines = Replay(game, kind, capacity, symmetries=symmetries), np.random.default_rng(7), []
    for seed in count():
        moves: list[int] = []
        for position, action in random_walk(game, seed, deal=0):
            if len(lines) == rows:
                return replay, lines
            if action is not None:
                write_row(replay, position, action, rng, taught)
                lines.append(list(moves))
                moves.append(action)
    raise AssertionError


def write_row(replay: Replay, position: Position, action: int, rng: np.random.Generator, taught: float) -> None:
    """Write a position with made-up findings into the next row."""
    kept, row, legal = replay.rows, replay.written % replay.capacity, position.legal()
    kept.observations[row] = torch.from_numpy(position.observe(replay.kind).ravel())
    kept.actions[row], kept.weights[row] = 0, 0
    kept.actions[row, : len(legal)] = torch.from_numpy(legal.astype(np.int16))
    weights = rng.integers(0, 5, len(legal)).astype(np.float32)
    weights[rng.integers(len(legal))] += 1
    kept.weights[row, : len(legal)] = torch.from_numpy(weights)
    kept.counts[row], kept.played[row], kept.taught[row] = len(legal), action, rng.random() < taught
    kept.outcomes[row], kept.values[row] = float(rng.choice([-1, 0, 1])), float(rng.uniform(-1, 1))
    replay.written += 1
