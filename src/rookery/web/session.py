"""A game of a visitor: what was played, who holds which seat, and what may be done now.

No browser is needed here. Whatever is asked, in whatever order and however often, a session stays in a legal state:
each request names the number of moves its sender has seen, and is refused if there are more or fewer by now.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rookery.errors import BadInput
from rookery.games.chess import Chess
from rookery.games.library import OWN, load, split_spec
from rookery.games.pictures.scene import Scene
from rookery.games.position import Action, Position, Seat
from rookery.games.rules import is_legal

FORMAT = 1
MOST_SEED = 2**31 - 1
NOBODY = -1
"""to move when the game is over by the rules"""
LONGEST_LOOK = 2.0
"""seconds; a clock that nobody has looked at for longer has stood still since"""


@dataclass(frozen=True)
class Plan:
    """How a game is set up."""

    spec: str
    """what `load` reads"""
    people: frozenset[Seat]
    """seats held by the visitor"""
    opponent: str
    """text of the player who holds the other seats"""
    seed: int = 0
    """deals, and same seed, same opponent"""
    start: str = ""
    """text of the first position; the usual one if empty"""
    practice: bool = True
    """whether moves may be taken back although others, or hidden tiles, were seen since"""


class GameSession:
    """One game between a visitor and a player, or between visitors at one screen."""

    def __init__(self, plan: Plan, actions: Iterable[Action] = (), resigned: Seat | None = None):
        """Begin a game, or go on with one; BadInput if it cannot have been played."""
        self.plan, self.game = plan, load(plan.spec)
        for seat in plan.people:
            if not 0 <= seat < self.game.seats:
                raise BadInput(f"{self.game.name} has seats 0..{self.game.seats - 1}, not {seat!r}")
        start = self.game.position(plan.start) if plan.start else self.game.start(plan.seed)
        self.positions = [start]
        self.movers: tuple[Seat, ...] = (mover_of(start),)
        """who is to move in each position: asked once, for pages ask again and again"""
        self.actions: list[Action] = []
        self.texts: list[str] = []
        self.seconds = [0.0] * self.game.seats
        self.changed = time.monotonic()
        self.resigned: Seat | None = None
        for action in actions:
            self.make(action)
        self.resigned = resigned if resigned is None else start.checked_seat(resigned)

    # -- what is the case --

    @property
    def position(self) -> Position:
        """The present position, with everything that is hidden in it."""
        return self.positions[-1]

    @property
    def ply(self) -> int:
        """How many moves were made."""
        return len(self.actions)

    @property
    def over(self) -> bool:
        """Whether the game has ended, by the rules or because somebody gave up."""
        return self.resigned is not None or self.mover == NOBODY

    @property
    def mover(self) -> Seat:
        """Who is to move; `NOBODY` when the game is over by the rules."""
        return self.movers[-1]

    @property
    def persons_turn(self) -> bool:
        """Whether the visitor is to move."""
        return not self.over and self.mover in self.plan.people

    @property
    def viewer(self) -> Seat:
        """The seat from which the visitor sees the game: the one to move, if several are the visitor's."""
        if self.mover in self.plan.people:
            return self.mover
        return min(self.plan.people, default=0)

    def scene(self, ply: int | None = None, viewer: Seat | None = None) -> Scene:
        """Return what the visitor sees now, or saw after some moves; a finished game hides nothing."""
        ply = self.ply if ply is None else max(0, min(ply, self.ply))
        seat = self.viewer if viewer is None else viewer
        actions = tuple(self.actions[:ply])
        if self.over or self.game.information == "perfect":
            return Scene(self.positions[ply].copy(), self.positions[0].copy(), actions, seat)
        return Scene(self.positions[ply].seen_by(seat), self.positions[0].seen_by(seat), actions, seat)

    def may_undo(self) -> bool:
        """Tell whether the visitor's last decision, or giving up, can be taken back."""
        if self.resigned is not None:
            return self.plan.practice
        return bool(self.own_plies()) and (self.plan.practice or self.only_own_since())

    def own_plies(self) -> list[int]:
        """List the plies at which the visitor moved."""
        return [ply for ply, mover in enumerate(self.movers[:-1]) if mover in self.plan.people]

    def only_own_since(self) -> bool:
        """Tell whether nobody else has moved since the visitor's last decision."""
        return self.own_plies()[-1:] == [self.ply - 1]

    # -- what is done --

    def make(self, action: Action) -> None:
        """Make a legal move of whoever is to move; BadInput leaves everything as it was."""
        after = self.position.copy()
        text = move_text(self.position, action)
        after.play(action)
        self.count_time()
        self.positions.append(after)
        self.movers = (*self.movers, mover_of(after))
        self.actions.append(int(action))
        self.texts.append(text)

    def count_time(self) -> None:
        """Charge the time since the last look to whoever is to move; a game that nobody looks at costs no time."""
        now = time.monotonic()
        if not self.over:
            self.seconds[self.mover] += min(now - self.changed, LONGEST_LOOK)
        self.changed = now

    def play(self, action: Any, ply: Any) -> bool:
        """Make a move of the visitor; return False and do nothing if it is not their turn, stale or illegal."""
        if not self.persons_turn or not plain_number(ply) or ply != self.ply:
            return False
        return self.accept(action)

    def answer(self, action: Any, ply: int) -> bool:
        """Make a move of the opponent, which was asked when there were `ply` moves; else as `play`."""
        if self.over or self.persons_turn or ply != self.ply:
            return False
        return self.accept(action)

    def accept(self, action: Any) -> bool:
        """Make a move if it is a legal one."""
        if not plain_number(action):
            return False
        try:
            self.make(action)
        except BadInput:
            return False
        return True

    def undo(self) -> bool:
        """Go back to the visitor's last decision, or take back a resignation."""
        if self.resigned is not None:
            if not self.plan.practice:  # a game that was given up has shown what was hidden
                return False
            self.resigned = None
            self.changed = time.monotonic()
            return True
        if not self.may_undo():
            return False
        ply = self.own_plies()[-1]
        del self.positions[ply + 1 :], self.actions[ply:], self.texts[ply:]
        self.movers = self.movers[: ply + 1]
        self.changed = time.monotonic()
        return True

    def resign(self) -> bool:
        """Give the game up for the visitor."""
        if self.over or not self.plan.people:
            return False
        self.count_time()
        self.resigned = self.viewer
        return True

    # -- in words --

    def result(self) -> str:
        """Say how the game ended; nothing while it goes on."""
        if self.resigned is not None:
            return f"{self.game.seat_name(self.resigned)} resigned."
        if self.mover != NOBODY:
            return ""
        winners = [seat for seat in range(self.game.seats) if self.position.payoff(seat) > 0]
        if not winners:
            return "A draw."
        names = " and ".join(self.game.seat_name(seat) for seat in winners)
        own = self.plan.people.intersection(winners)
        lost = self.plan.people and not own
        alone = len(self.plan.people) == 1
        return f"{names} won." + (" You won." if own and alone else " You lost." if lost and alone else "")

    def score(self) -> float | None:
        """Return the score of team 0: 1 won, 0.5 drawn, 0 lost; None while the game goes on."""
        if self.resigned is not None:
            return float(self.game.teams[self.resigned] != 0)
        if self.mover != NOBODY:
            return None
        payoff = self.position.payoff(self.game.teams.index(0))
        return 0.5 if payoff == 0 else float(payoff > 0)

    def status(self) -> str:
        """Say in a few words what is to be done."""
        if self.over:
            return self.result()
        name = self.game.seat_name(self.mover)
        if not self.persons_turn:
            return f"{name} is thinking."
        asked = demand(self.position)
        return f"{asked} ({name})" if asked else f"Your move ({name})"

    # -- kept and shared --

    def to_json(self) -> dict[str, Any]:
        """Return the game for a file."""
        plan = self.plan
        return {
            "format": FORMAT, "game": plan.spec, "version": self.game.version, "people": sorted(plan.people),
            "opponent": plan.opponent, "seed": plan.seed, "start": plan.start, "practice": plan.practice,
            "actions": self.actions, "moves": self.texts, "resigned": self.resigned,
            "seconds": [round(seconds, 1) for seconds in self.seconds],
        }  # fmt: skip


def session_of(content: Any) -> GameSession:
    """Make the session of what `to_json` returned; BadInput for anything else."""
    try:
        if content["format"] != FORMAT:
            raise BadInput(f"a saved game of format {content['format']!r} cannot be read; this is format {FORMAT}")
        if split_spec(content["game"])[0] not in OWN:  # a file of that name would be run
            raise BadInput(f"a saved game of {content['game']!r} cannot be read; games are {', '.join(OWN)}")
        plan = Plan(
            content["game"], frozenset(content["people"]), content["opponent"], content["seed"], content["start"],
            content["practice"],
        )  # fmt: skip
        session, version = GameSession(plan, content["actions"], content["resigned"]), content["version"]
        session.seconds = times_of(content.get("seconds"), session.game.seats)
    except (KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"this is no saved game: {type(error).__name__}: {error}") from None
    if version != session.game.version:
        raise BadInput(f"the game was played by version {version!r} of the rules of {session.game.name}")
    return session


def times_of(said: Any, seats: int) -> list[float]:
    """Return the seconds that a saved game says its seats have used; none if it does not say so for all."""
    if not isinstance(said, list) or len(said) != seats:
        return [0.0] * seats
    fit = all(isinstance(one, int | float) and math.isfinite(one) and one >= 0 for one in said)
    return [float(one) for one in said] if fit else [0.0] * seats


def mover_of(position: Position) -> Seat:
    """Return who is to move, or `NOBODY`."""
    return NOBODY if position.over else position.mover


def move_text(position: Position, action: Action) -> str:
    """Write a move as people read it: of chess in SAN, where it is legal."""
    game = position.game
    text = position.move_text(action)
    if isinstance(game, Chess) and not position.over and is_legal(position.state, action):
        return game.san(position.state, action)
    return text


def plain_number(value: Any) -> bool:
    """Tell whether a value from a browser is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def demand(position: Position) -> str:
    """Say what a position asks for where that is more than a move."""
    state, fields = position.state, position.game.state.names or ()
    phase = int(state["phase"]) if "phase" in fields else 0
    asked: dict[str, Sequence[str]] = {
        "pylos": ("", "Take back one or two of your spheres", "Take back another, or stop"),
        "texas42": ("", "Your bid", "Name trumps"),
        "gomoku": ("", "Put the first stones", "Choose"),
    }
    known = asked.get(position.game.name, ())
    return known[phase] if phase < len(known) else ""
