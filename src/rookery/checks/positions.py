"""Positions at which a network is asked: most games are random, some are begun by the network's own policy.

Games are played side by side, so that the network is asked about several at once. Of each game some positions are kept,
among them those just before its end, of which it is known what they are worth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rookery.games.game import Game
from rookery.games.position import Position

Judge = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""observations [N, O] to logits [N, A] and values [N], the latter from the mover's side"""

MOST_PLIES = 400
"""of a game that is played for this; a longer one has no outcome"""
PER_GAME = 8
NEARLY_OVER = 3
"""plies before the end"""
OWN_GAMES, OWN_PLIES = 8, 24
"""one game in so many is begun by the policy, with so many plies: a large network takes its time"""


@dataclass(frozen=True)
class Positions:
    """Some positions."""

    game: Game
    kind: str
    """of their observations"""
    states: list[Position]
    observations: np.ndarray
    """[N, O]"""
    legal: np.ndarray
    """[N, A] bool"""
    outcomes: np.ndarray
    """[N] of the game for the mover; nan where it was not played to its end"""
    left: np.ndarray
    """[N] plies to the end"""

    def __len__(self) -> int:
        return len(self.states)


@dataclass(frozen=True)
class Seen:
    """A position of a game that was played."""

    position: Position
    number: int
    """of the game"""
    ply: int


def observed(positions: list[Position], kind: str) -> np.ndarray:
    """Return the observations of positions [N, O]."""
    return np.stack([position.observe(kind).reshape(-1) for position in positions])


def legal_masks(positions: list[Position], actions: int) -> np.ndarray:
    """Return which actions are legal [N, A]."""
    found = np.zeros((len(positions), actions), bool)
    for row, position in zip(found, positions, strict=True):
        row[position.legal()] = True
    return found


def shares_of(logits: np.ndarray, legal: np.ndarray) -> np.ndarray:
    """Return the policy over legal moves [N, A]; logits that are no numbers count as the lowest."""
    kept = np.where(legal & np.isfinite(logits), logits.astype(np.float64), -np.inf)
    top = kept.max(1, keepdims=True)
    weights = np.where(legal, np.exp(kept - np.where(np.isfinite(top), top, 0.0)), 0.0)
    sums = weights.sum(1, keepdims=True)
    even = legal / np.maximum(legal.sum(1, keepdims=True), 1)
    shares: np.ndarray = np.where(sums > 0, weights / np.maximum(sums, 1e-300), even)
    return shares


def sampled_positions(game: Game, kind: str, count: int, seed: int, judge: Judge | None = None) -> Positions:
    """Play games and return about `count` of their positions; without a judge all games are played at random."""
    rng = np.random.default_rng(seed)
    games = max(2, count // PER_GAME)
    playing = [game.start(seed * games + number) for number in range(games)]
    seen: list[Seen] = []
    for ply in range(min(MOST_PLIES, game.longest)):
        active = [number for number, position in enumerate(playing) if not position.over]
        if not active:
            break
        seen += [Seen(playing[number].copy(), number, ply) for number in active]
        asked = judge if ply < OWN_PLIES else None
        for number, action in zip(active, chosen(game, kind, playing, active, rng, asked), strict=True):
            playing[number].play(action)
    return gathered(game, kind, picked(seen, playing, count, rng), playing, seen)


def chosen(
    game: Game, kind: str, playing: list[Position], active: list[int], rng: np.random.Generator, judge: Judge | None
) -> list[int]:
    """Choose a move in each active game: by the policy in one of several, else at random."""
    moves = {number: int(rng.choice(playing[number].legal())) for number in active}
    asked = [number for number in active if number % OWN_GAMES == 1] if judge else []
    if judge and asked:
        positions = [playing[number] for number in asked]
        shares = shares_of(judge(observed(positions, kind))[0], legal_masks(positions, game.actions))
        for number, row in zip(asked, shares, strict=True):
            moves[number] = int(rng.choice(len(row), p=row / row.sum()))
    return [moves[number] for number in active]


def lengths_of(seen: list[Seen], games: int) -> np.ndarray:
    """Return how many plies each game has."""
    lengths = np.zeros(games, int)
    for each in seen:
        lengths[each.number] = max(lengths[each.number], each.ply + 1)
    return lengths


def picked(seen: list[Seen], playing: list[Position], count: int, rng: np.random.Generator) -> list[Seen]:
    """Pick positions: a quarter from the ends of games, the others from anywhere."""
    lengths = lengths_of(seen, len(playing))
    ends = [i for i, each in enumerate(seen) if lengths[each.number] - each.ply <= NEARLY_OVER]
    late = rng.permutation(ends)[: max(1, count // 4)]
    others = np.setdiff1d(np.arange(len(seen)), late)
    chosen_ones = np.concatenate((late, rng.permutation(others)[: max(1, count - len(late))]))
    return [seen[int(i)] for i in np.sort(chosen_ones)]


def gathered(game: Game, kind: str, some: list[Seen], playing: list[Position], seen: list[Seen]) -> Positions:
    """Put positions together with how their games ended."""
    lengths = lengths_of(seen, len(playing))
    states = [each.position for each in some]
    outcomes = [
        playing[each.number].payoff(each.position.mover) if playing[each.number].over else np.nan for each in some
    ]
    left = [int(lengths[each.number]) - each.ply for each in some]
    masks = legal_masks(states, game.actions)
    return Positions(game, kind, states, observed(states, kind), masks, np.array(outcomes), np.array(left))
