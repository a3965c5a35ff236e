"""Many games of the Domineering study at once, by players who choose for many positions at a time.

All games are at the same ply, so a player is asked once a ply about all positions in which it is to move. Game number n
gives its moves seeds of its own, which no other game shares.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from rookery.games.rng import random_bits
from rookery.search.domineering_boards import after_openings, guided_moves, play_all, random_openings, turn_seeds
from rookery.search.domineering_guided import LONGEST, Guidance
from rookery.studies.domineering_files import GameRecords, records_of
from rookery.studies.intervals import Estimate, pairs_estimate

DERIVED = 1 << 62
"""the first of the streams of random numbers that are seeds; games have those below"""
GAMES_2, GAMES_3, COMPARISONS, LESSONS, DUELS, WEIGHTS = range(6)
"""what seeds are derived for: see `derived_seed`"""

Tell = Callable[[float, str], None]
"""told which share of the work is done, and a note"""


def nothing_told(share: float, note: str) -> None:
    """Tell nobody."""


class Chooser(Protocol):
    """Who chooses moves in many positions at once."""

    def choose(self, states: np.ndarray, seeds: np.ndarray, ply: int) -> tuple[np.ndarray, np.ndarray]:
        """Return a move for each position [N], and whether it was drawn against the chooser's own better judgement."""
        ...


class AlphaBeta:
    """The player of phase 1 without its random moves: alpha-beta of 1 to 3 plies."""

    def __init__(self, threads: int = 1):
        self.threads = threads

    def choose(self, states: np.ndarray, seeds: np.ndarray, ply: int) -> tuple[np.ndarray, np.ndarray]:
        """Search each position."""
        moves = guided_moves(states, seeds, Guidance(), self.threads)
        return moves, np.zeros(len(moves), np.bool_)


def derived_seed(seed: int, purpose: int, number: int = 0) -> int:
    """Return a seed that belongs to one purpose, such as the comparison of one round."""
    return int(random_bits(seed, DERIVED + purpose, number)) >> 1


def play_games(
    openings: np.ndarray,
    players: Sequence[Chooser],
    seats: np.ndarray,
    seed: int,
    first: int = 0,
    tell: Tell = nothing_told,
) -> GameRecords:
    """Play games from openings [G, plies] to their ends.

    players  who plays; seats [G, 2] says who of them is Vertical and who Horizontal
    first    number of the first game, for the seeds of its moves
    """
    states, opening = after_openings(openings), openings.shape[1]
    moves = np.full((len(openings), LONGEST), -1, np.int16)
    explored = np.zeros(moves.shape, np.bool_)
    moves[:, :opening], explored[:, :opening] = openings, True
    lengths, active = np.full(len(openings), opening, np.int16), np.arange(len(openings))
    for ply in range(opening, LONGEST):
        if len(active) == 0:
            break
        tell((ply - opening) / (LONGEST - opening), f"ply {ply}, {len(active)} games")
        moves[active, ply], explored[active, ply] = chosen_moves(
            states[active], players, seats[active, ply % 2], turn_seeds(seed, first + active, ply), ply
        )
        now, ended = states[active], np.empty(len(active), np.bool_)
        play_all(now, moves[active, ply], ended)
        states[active], lengths[active] = now, ply + 1
        active = active[~ended]
    return records_of(moves, lengths, explored)


def chosen_moves(
    states: np.ndarray, players: Sequence[Chooser], turns: np.ndarray, seeds: np.ndarray, ply: int
) -> tuple[np.ndarray, np.ndarray]:
    """Ask each player about the positions in which it is to move, as `turns` [N] says."""
    moves, strayed = np.empty(len(states), np.int64), np.empty(len(states), np.bool_)
    for number, player in enumerate(players):
        mine = np.flatnonzero(turns == number)
        if len(mine):
            moves[mine], strayed[mine] = player.choose(states[mine], seeds[mine], ply)
    return moves, strayed


# ---- who is better -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pairs:
    """What came of openings played twice, with colours swapped."""

    both: int
    """openings of which the first player won both games"""
    split: int
    """one each"""
    neither: int

    @property
    def openings(self) -> int:
        """How many there were."""
        return self.both + self.split + self.neither

    @property
    def score(self) -> Estimate:
        """Points of the first player a game, by the pairs, which are independent as their games are not."""
        return pairs_estimate(self.both, self.split, self.neither)

    @property
    def chance(self) -> float:
        """How likely a split of the decisive pairs as uneven as this or more is between equals: the sign test."""
        return sign_test(self.both, self.neither)

    def facts(self) -> dict[str, Any]:
        """Return all for JSON."""
        return {
            "openings": self.openings, "both": self.both, "split": self.split, "neither": self.neither,
            "score": self.score.facts(), "p": self.chance,
        }  # fmt: skip


def sign_test(wins: int, losses: int) -> float:
    """Return the chance that as many of so many fair coins fall as unevenly, or more so, to either side."""
    count, more = wins + losses, max(wins, losses)
    tail = sum(math.comb(count, i) for i in range(more, count + 1))
    return min(1.0, float(2 * tail / 2**count))


def compare(
    one: Chooser, other: Chooser, openings: int, plies: int, seed: int, tell: Tell = nothing_told
) -> tuple[Pairs, GameRecords]:
    """Let two players meet from random openings, each with both colours; games 2 n and 2 n + 1 are a pair."""
    begun = np.repeat(random_openings(openings, plies, seed), 2, 0)
    seats = np.tile(np.array([[0, 1], [1, 0]]), (openings, 1))
    records = play_games(begun, (one, other), seats, derived_seed(seed, DUELS), tell=tell)
    won = records.winners == (seats[:, 0] == 0)
    points = won.reshape(-1, 2).sum(1)
    return Pairs(int((points == 2).sum()), int((points == 1).sum()), int((points == 0).sum())), records
