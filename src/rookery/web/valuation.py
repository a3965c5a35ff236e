"""What each position of a game is worth, and which moves gave something away.

A player looks at one position after the other, at the desk where all searches are made, in stretches of about a second:
so other visitors' searches have their turn between two stretches, and the lease of each stretch ends it when the
page is gone.

A move's loss is what its side expected before it less what it expects after it. Values lie in [-1, 1], so a loss of 0.2
is a tenth of a win. A move that the player would have made itself has lost nothing.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from rookery.games.position import Action, Position
from rookery.web.session import GameSession
from rookery.web.thinking import Desk, Thought

STRETCH = 1.0
"""seconds of work before others have their turn"""
GRADES = (("blunder", 0.6), ("mistake", 0.4), ("inaccuracy", 0.2))
"""names of losses, and from which loss on"""


@dataclass(frozen=True)
class Judged:
    """What a player thinks of a position."""

    value: float
    """for team 0"""
    best: Action | None = None
    """what it would play; None when the game is over"""


class Stretch(Thought):
    """Some positions of a game, looked at one after the other until the time is up."""

    def __init__(self, text: str, session: GameSession, plies: list[int]):
        start = session.positions[0].copy()
        super().__init__((text,), start, (), start, session.plan.seed)
        self.todo = [(ply, tuple(session.actions[:ply]), session.positions[ply].copy()) for ply in plies]
        self.found: dict[int, Judged] = {}

    def turn_to(self, actions: tuple[Action, ...], position: Position) -> None:
        """Forget what was found in another position."""
        self.actions, self.position = actions, position
        self.latest = self.choice = None

    def work(self, desk: Desk) -> None:
        """Look at the positions."""
        end = time.monotonic() + STRETCH
        for ply, actions, position in self.todo:
            self.turn_to(actions, position)
            desk.ask(self, self.texts[0])
            if self.failure or self.stop[0]:  # what was cut short is not worth much
                return
            if self.choice is None or self.choice.analysis is None:
                self.failure = f"{self.texts[0]} tells no values"
                return
            team = position.game.teams[position.mover]
            self.found[ply] = Judged((1 if team == 0 else -1) * self.choice.analysis.value, self.choice.action)
            if time.monotonic() > end:
                return


@dataclass
class Valuation:
    """The values of a game by one player, as far as they are known."""

    text: str
    """of the player"""
    session: GameSession
    judged: dict[int, Judged] = field(default_factory=dict)
    """by ply"""
    stretch: Stretch | None = None
    failure: str = ""

    def __post_init__(self) -> None:
        if self.session.position.over:
            value = self.session.position.payoff(self.session.game.teams.index(0))
            self.judged[self.session.ply] = Judged(float(value))

    def learn(self, other: Valuation) -> None:
        """Take over what is known of the moves that another game, judged by the same player, has in common."""
        pairs = zip(self.session.actions, other.session.actions, strict=False)
        shared = next((ply for ply, (own, its) in enumerate(pairs) if own != its), None)
        last = min(self.session.ply, other.session.ply) if shared is None else shared
        if other.text == self.text:
            self.judged = {ply: judged for ply, judged in other.judged.items() if ply <= last} | self.judged

    @property
    def missing(self) -> list[int]:
        """Plies that nobody has looked at yet."""
        return [ply for ply in range(self.session.ply + 1) if ply not in self.judged]

    def advance(self, desk: Desk) -> bool:
        """Take what was found and have the work go on; return whether there is something new."""
        stretch, known = self.stretch, len(self.judged)
        if stretch is not None:
            stretch.read()
            self.judged.update(dict(stretch.found))
            if stretch.ended.is_set():
                self.judged.update(stretch.found)
                self.failure = "" if stretch.stop[0] else stretch.failure
                self.stretch = None
        if self.stretch is None and not self.failure and self.missing:
            self.stretch = Stretch(self.text, self.session, self.missing)
            desk.submit(self.stretch)
        return len(self.judged) > known

    def pause(self) -> None:
        """End the work; what is known is kept."""
        if self.stretch is not None:
            self.stretch.cancel()
            self.stretch = None

    def values(self) -> list[float | None]:
        """Return the value of each position for team 0; None where it is not known."""
        return [self.judged[ply].value if ply in self.judged else None for ply in range(self.session.ply + 1)]

    def losses(self, first: int = 0) -> dict[int, float]:
        """Return what each move has lost for its side, by the ply at which it was made, from `first` on."""
        found = {}
        for ply in range(first, self.session.ply):
            before, after = self.judged.get(ply), self.judged.get(ply + 1)
            if before is None or after is None:
                continue
            sign = 1 if self.session.game.teams[self.session.positions[ply].mover] == 0 else -1
            lost = sign * (before.value - after.value)
            found[ply] = 0.0 if before.best == self.session.actions[ply] else max(0.0, lost)
        return found

    def grades(self, first: int = 0) -> dict[int, str]:
        """Name the moves that gave much away, by the ply at which they were made."""
        graded = {ply: grade_of(loss) for ply, loss in self.losses(first).items()}
        return {ply: grade for ply, grade in graded.items() if grade}


def grade_of(loss: float) -> str:
    """Name a loss; nothing for a small one."""
    return next((name for name, least in GRADES if loss >= least), "")
