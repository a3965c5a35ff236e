"""Some games of self-play, kept move by move in games.jsonl of a run: a person sees how it learns to play."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rookery.games.game import Game
from rookery.games.position import Position
from rookery.games.rng import random_bits
from rookery.learn.book import ENDINGS, OPENING


@dataclass(frozen=True)
class Kept:
    """A finished game."""

    number: int
    """of the game in its run"""
    result: float
    """for seat 0"""
    ending: str
    actions: tuple[int, ...]
    values: tuple[float, ...]
    """found by the search, for the seat that moved; 0 for random plies"""

    def as_dict(self, step: int) -> dict[str, Any]:
        """Return the game as a line, `step` being the games that were finished when it was."""
        return {
            "step": step, "number": self.number, "result": round(self.result, 3), "ending": self.ending,
            "actions": list(self.actions), "values": [round(value, 3) for value in self.values],
        }  # fmt: skip


def kept_places(games: np.ndarray, ended: np.ndarray, every: int) -> list[int]:
    """List the places of finished games that are to be kept: one game in so many by its number, none if that is 0."""
    found: list[int] = np.flatnonzero(ended & (games["number"] % every == 0)).tolist() if every else []
    return found


def kept_game(game: np.void, plies: np.ndarray) -> Kept:
    """Return a game of a book."""
    played = plies[: int(game["plies"])]
    return Kept(
        int(game["number"]), float(game["result"]), ENDINGS[int(game["ending"])], tuple(played["action"].tolist()),
        tuple(played["value"].tolist()),
    )  # fmt: skip


def first_position(game: Game, seed: int, number: int) -> Position:
    """Return the position in which a game of a run began, before its random plies."""
    return game.start(int(random_bits(seed, number, OPENING - 1)) >> 1)


def moves_of(game: Game, seed: int, number: int, actions: Sequence[int]) -> tuple[list[tuple[str, str]], Position]:
    """Return who moved and how, for each move of a game, and its last position."""
    position, moves = first_position(game, seed, number), []
    for action in actions:
        moves.append((game.seat_name(position.mover), game.move_text(position.state, action)))
        position.play(action)
    return moves, position
