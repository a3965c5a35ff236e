"""How much better one player is: score, Elo difference and its interval, from pairs of games.

The two games of a pair begin alike with the seats swapped, so they are not independent; pairs are. A pair gives one of
five scores, 0, 1/4, 1/2, 3/4 or 1 a game, and everything here follows from how often each came: docs/arena.md
derives it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rookery.errors import BadInput

PAIR_SCORES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
PRIOR = 0.5  # pairs of each outcome, added before anything is seen: Jeffreys' prior
DRAWS = 100_000  # samples of the posterior
SAMPLING_SEED = 42  # the same counts give the same interval
TAILS = (0.025, 0.5, 0.975)
ELO_PER_NAT = 400.0 / math.log(10.0)


def expected_score(elo: float) -> float:
    """Return the score a game that an Elo difference predicts."""
    return 1.0 / (1.0 + math.exp(-elo / ELO_PER_NAT))


def elo_of_score(score: float) -> float:
    """Return the Elo difference that predicts a score strictly between 0 and 1."""
    if not 0.0 < score < 1.0:
        raise BadInput(f"only a score strictly between 0 and 1 has an Elo difference, not {score!r}")
    return 400.0 * math.log10(score / (1.0 - score))


def count_pairs(pairs: Sequence[tuple[float, float]]) -> np.ndarray:
    """Count how often each pair score came; [5]."""
    counts = np.zeros(len(PAIR_SCORES))
    for first, second in pairs:
        counts[round(2 * (first + second))] += 1
    return counts


@dataclass(frozen=True)
class Score:
    """The result of a match, seen from one player."""

    pairs: tuple[tuple[float, float], ...]
    """scores of the two games of each pair: 1, 0.5 or 0"""

    @property
    def games(self) -> list[float]:
        """Scores of the single games."""
        return [score for pair in self.pairs for score in pair]

    @property
    def wins(self) -> int:
        """Games won."""
        return self.games.count(1.0)

    @property
    def draws(self) -> int:
        """Games drawn."""
        return self.games.count(0.5)

    @property
    def losses(self) -> int:
        """Games lost."""
        return self.games.count(0.0)

    @property
    def score(self) -> float:
        """Points a game; 1/2 before anything is played."""
        return sum(self.games) / len(self.games) if self.pairs else 0.5

    @cached_property
    def counts(self) -> np.ndarray:
        """How often each of the five pair scores came; [5]."""
        return count_pairs(self.pairs)

    @cached_property
    def posterior(self) -> np.ndarray:
        """Samples of the true score, given the pairs and Jeffreys' prior; [DRAWS]."""
        rng = np.random.default_rng(SAMPLING_SEED)
        samples = rng.dirichlet(self.counts + PRIOR, DRAWS) @ PAIR_SCORES
        return np.asarray(np.clip(samples, 1e-12, 1.0 - 1e-12))

    @cached_property
    def elo_interval(self) -> tuple[float, float, float]:
        """Lower end, median and upper end of the Elo difference, with 95 % between the ends."""
        low, middle, high = (elo_of_score(float(score)) for score in np.quantile(self.posterior, TAILS))
        return low, middle, high

    @property
    def superiority(self) -> float:
        """Probability that the player is the better one."""
        return float(np.mean(self.posterior > 0.5))

    def as_dict(self) -> dict[str, object]:
        """Return the numbers for JSON."""
        low, elo, high = self.elo_interval
        return {
            "games": len(self.games), "pairs": len(self.pairs), "pair_counts": [int(count) for count in self.counts],
            "wins": self.wins, "draws": self.draws, "losses": self.losses, "score": self.score,
            "elo": elo, "elo_low": low, "elo_high": high, "likelihood_of_superiority": self.superiority,
        }  # fmt: skip
