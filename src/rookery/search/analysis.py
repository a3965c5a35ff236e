"""What a search may spend and what it has found: the same form for every search.

Players, the command line and the pages show an `Analysis` without knowing which search made it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from rookery.drawing import table
from rookery.errors import BadInput
from rookery.games.options import whole_number
from rookery.games.position import Action
from rookery.search.threads import new_stop

MOST_NODES = 1 << 62
NUMBERS = int | float | np.integer | np.floating
"""what counts as a number; a bool is among them, and must be refused apart"""


@dataclass(frozen=True)
class Line:
    """One move of the position that was searched, and what the search thinks of it."""

    action: Action
    value: float
    """of the move, from the mover's side, in [-1, 1]"""
    visits: int = 0
    """simulations or nodes spent on it"""
    prior: float | None = None
    """share the evaluator gave it before the search"""
    moves: tuple[Action, ...] = ()
    """the best play found, beginning with the move itself"""


@dataclass(frozen=True)
class Analysis:
    """The outcome of a search."""

    action: Action
    """the move to play"""
    value: float
    """of the position, from the mover's side, in [-1, 1]"""
    lines: tuple[Line, ...]
    """the moves looked at, best first; the first one need not be `action` where a move is drawn by temperature"""
    nodes: int
    """positions looked at, or simulations"""
    depth: int = 0
    """plies looked ahead"""
    proven: bool = False
    """whether the value is exact"""
    note: str = ""
    """why the search ended early, and the like"""

    def _repr_html_(self) -> str:
        """Show the moves in a notebook, by number: an analysis does not know its game."""
        rows = [
            (line.action, f"{line.value:+.3f}", line.visits, "" if line.prior is None else f"{line.prior:.1%}")
            for line in self.lines
        ]
        facts = f"action {self.action}, value {self.value:+.3f}{', proven' if self.proven else ''}, {self.nodes} nodes"
        return table(("action", "value", "visits", "prior"), rows, f"{facts}. {self.note}".removesuffix(". "))


@dataclass(frozen=True)
class Limits:
    """What ends a search, whichever comes first; what is None does not."""

    depth: int | None = None
    """plies to look ahead"""
    nodes: int | None = None
    """positions or simulations"""
    seconds: float | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot end a search; numbers of NumPy become plain ones."""
        for name in ("depth", "nodes"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, whole_number(f"{name} of a search", value, 1, MOST_NODES))
        if (value := self.seconds) is not None:
            if isinstance(value, bool) or not isinstance(value, NUMBERS) or not value > 0:
                raise BadInput(f"seconds of a search must be a number above 0, not {value!r}")
            object.__setattr__(self, "seconds", float(value))


@dataclass(frozen=True)
class Watch:
    """A running search's view of its end: compiled code is called in slices, and asks here between two of them."""

    seconds: float | None = None
    stop: np.ndarray = field(default_factory=new_stop)
    """[1] once 1, compiled code returns soon"""
    begun: float = field(default_factory=time.perf_counter)
    report: Callable[[Analysis], None] | None = None
    """called with what is known so far, now and then, by searches that can say it"""

    @property
    def spent(self) -> float:
        """Seconds since the search began."""
        return time.perf_counter() - self.begun

    @property
    def ended(self) -> bool:
        """Whether the time is up or somebody has said stop."""
        return bool(self.stop[0]) or (self.seconds is not None and self.spent >= self.seconds)


def out_of_time(limits: Limits, watch: Watch) -> bool:
    """Tell whether a search is to end; a watch that a caller gives may not know the seconds of the limits."""
    return watch.ended or (limits.seconds is not None and watch.spent >= limits.seconds)
