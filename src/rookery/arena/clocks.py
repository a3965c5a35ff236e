"""Time controls: so many seconds for a game, and some more for each move.

The runner measures the time of a player's own call and nothing else. A clock may be overdrawn by `MARGIN`, since a busy
machine may wake a player late; what is overdrawn is forgiven, but not given back.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rookery.errors import BadInput

MARGIN = 0.1
FORM = re.compile(r"([0-9]+(?:\.[0-9]+)?)(?:\+([0-9]+(?:\.[0-9]+)?))?")


@dataclass(frozen=True)
class TimeControl:
    """Seconds on each clock at the start, and seconds that each move adds."""

    base: float
    increment: float = 0.0

    def __str__(self) -> str:
        return f"{self.base:g}+{self.increment:g}"

    def after_move(self, left: float, spent: float) -> float | None:
        """Return what a clock shows after a move; None if it has fallen."""
        if spent > left + MARGIN:
            return None
        return max(left - spent, 0.0) + self.increment


def parse_time_control(text: str) -> TimeControl:
    """Read `10+0.1`: ten seconds for the game and a tenth for each move; `10` alone adds nothing."""
    match = FORM.fullmatch(text.strip())
    if not match or not 0 < float(match[1]) <= 1e6 or float(match[2] or 0) > 1e6:
        raise BadInput(
            f"time control {text!r} should read SECONDS+INCREMENT, as in 10+0.1, with more than 0 and at most "
            "1,000,000 seconds"
        )
    return TimeControl(float(match[1]), float(match[2] or 0))
