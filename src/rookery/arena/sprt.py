"""A sequential test: play until it is clear which of two Elo differences fits better, and no longer.

H0 says the difference is `elo0`, H1 says it is `elo1`. After each pair of games the log-likelihood ratio of the two is
looked at; how it is formed when the chances of the five pair scores are unknown is derived in docs/arena.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from rookery.arena.pairs import Counts, log_likelihood, most_likely
from rookery.arena.score import expected_score
from rookery.errors import BadInput

MOST_ELO = 2000.0
EASE = 0.5  # pairs of each score, added while the chances are guessed: after three draws draws are not yet certain


@dataclass(frozen=True)
class Sprt:
    """The two hypotheses and how often the test may be wrong."""

    elo0: float
    elo1: float
    alpha: float = 0.05
    """chance of accepting H1 where H0 holds"""
    beta: float = 0.05
    """chance of accepting H0 where H1 holds"""

    def __post_init__(self) -> None:
        if not -MOST_ELO <= self.elo0 < self.elo1 <= MOST_ELO:
            raise BadInput(
                f"the bounds of an SPRT must be two Elo differences, the lower one first, within {-MOST_ELO:g}.."
                f"{MOST_ELO:g}, not {self.elo0:g} and {self.elo1:g}"
            )
        for name in ("alpha", "beta"):
            if not 0.0 < getattr(self, name) < 0.5:
                raise BadInput(f"{name} of an SPRT must lie between 0 and 0.5, not {getattr(self, name)!r}")

    @property
    def lower(self) -> float:
        """Where H0 is accepted."""
        return math.log(self.beta / (1.0 - self.alpha))

    @property
    def upper(self) -> float:
        """Where H1 is accepted."""
        return math.log((1.0 - self.beta) / self.alpha)

    def ratio(self, counts: Counts) -> float:
        """Return the log-likelihood ratio of H1 to H0, given how often each of the five pair scores came."""
        eased = [count + EASE for count in counts]
        likely0, likely1 = (most_likely(eased, expected_score(elo)) for elo in (self.elo0, self.elo1))
        return log_likelihood(counts, likely1) - log_likelihood(counts, likely0)

    def verdict(self, counts: Counts) -> str:
        """Return "H0" or "H1" once one is accepted, else nothing."""
        ratio = self.ratio(counts)
        return "H1" if ratio >= self.upper else "H0" if ratio <= self.lower else ""
