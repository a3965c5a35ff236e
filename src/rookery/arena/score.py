"""How much better one player is: score, Elo difference and its interval, from pairs of games.

The interval holds every score that a likelihood-ratio test over pairs would not refuse at 5 %. It needs no prior, is
lopsided where it should be, and stays sensible with few games: after nothing but wins it has a lower end and no upper
one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rookery.arena.pairs import count_pairs, deviance, farthest
from rookery.errors import BadInput

Z95 = 1.959964  # 95 % of a normal distribution lie within so many standard deviations
ELO_PER_NAT = 400.0 / math.log(10.0)
HALF_PAIR = 0.5  # lost or won beside a clean score, so that an Elo difference can be named at all


def expected_score(elo: float) -> float:
    """Return the score a game that an Elo difference predicts."""
    return 1.0 / (1.0 + math.exp(-elo / ELO_PER_NAT))


def elo_of_score(score: float) -> float:
    """Return the Elo difference that predicts a score; infinite for 0 and 1."""
    if not 0.0 <= score <= 1.0:
        raise BadInput(f"a score must lie in 0..1, not {score!r}")
    if score in (0.0, 1.0):
        return math.inf if score else -math.inf
    return ELO_PER_NAT * math.log(score / (1.0 - score))


def student95(pairs: int) -> float:
    """Return within how many estimated standard deviations 95 % lie, if they are estimated from so many pairs.

    A series in 1 / (pairs - 1); within 2 % of Student's distribution from 5 pairs on. One pair tells no deviation.
    """
    if pairs < 2:
        return math.inf
    z, freedom = Z95, pairs - 1
    terms = (z, (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384)
    return float(sum(term / freedom**power for power, term in enumerate(terms)))


@dataclass(frozen=True)
class Score:
    """The result of a match, seen from one player."""

    pairs: tuple[tuple[float, float], ...]
    """scores of the two games of each pair: 1, 0.5 or 0"""

    @cached_property
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
    def counts(self) -> list[int]:
        """How often each of the five pair scores came."""
        return count_pairs(self.pairs)

    @property
    def elo(self) -> float:
        """The Elo difference that predicts the score; a clean score counts as if half a pair went the other way."""
        number = len(self.pairs)
        if self.pairs and self.score in (0.0, 1.0):
            return elo_of_score((self.score * number + (1.0 - self.score) * HALF_PAIR) / (number + HALF_PAIR))
        return elo_of_score(self.score)

    @cached_property
    def interval(self) -> tuple[float, float]:
        """Ends of the 95 % interval of the score; 0 and 1 before there are two pairs."""
        if len(self.pairs) < 2:
            return 0.0, 1.0
        limit = student95(len(self.pairs)) ** 2
        return farthest(self.counts, limit, 0.0), farthest(self.counts, limit, 1.0)

    @property
    def elo_interval(self) -> tuple[float, float]:
        """Ends of the 95 % interval of the Elo difference; infinite after a clean score on its side."""
        low, high = self.interval
        return elo_of_score(low), elo_of_score(high)

    @property
    def superiority(self) -> float:
        """Likelihood of superiority: how sure it is that the player is the better one, by the same test."""
        if not self.pairs:
            return 0.5
        root = math.sqrt(deviance(self.counts, 0.5)) * Z95 / student95(len(self.pairs))
        return 0.5 * (1.0 + math.erf(math.copysign(root, self.score - 0.5) / math.sqrt(2.0)))

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers for JSON; an end that is infinite is None."""
        low, high = (end if math.isfinite(end) else None for end in self.elo_interval)
        return {
            "games": len(self.games), "pairs": len(self.pairs), "pair_counts": self.counts,
            "wins": self.wins, "draws": self.draws, "losses": self.losses, "score": self.score,
            "elo": self.elo, "elo_low": low, "elo_high": high, "likelihood_of_superiority": self.superiority,
        }  # fmt: skip
