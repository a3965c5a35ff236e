"""What all external engines share: the life of their process, and what is said when they fail.

An engine is a child process that is started when it is first needed and kept from game to game. When it hangs, dies,
floods its output or answers what cannot be understood, it is killed with all it has started, the game is given up with
`PlayerFailed`, and the next one begins with a fresh process.
"""

from __future__ import annotations

import shlex
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, TypeVar

import numpy as np

from rookery.arena.player import Choice, Player, PlayerFailed, Turn
from rookery.arena.process import Child, ProcessFailed
from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.position import Action, Position, Seat

Result = TypeVar("Result")

LONGEST_NAME = 80  # characters of an engine's name that are told
POLL = 0.05  # seconds between two looks at a turn's `stop`
USUAL = 0.5  # seconds a move, where nobody says anything else
UNTIMED = 60.0  # seconds a search may take that ends by depth or nodes alone


@dataclass(frozen=True)
class EngineSettings:
    """What a person sets of an engine."""

    time: float | None = None
    """seconds a move; None: depth or nodes decide, or the clock"""
    depth: int | None = None
    nodes: int | None = None
    memory: int = 0
    """MiB; 0: as much as the engine likes"""
    grace: float = 5.0
    """seconds an engine may be late before it counts as hung"""
    start: float = 30.0
    """seconds an engine may take to get ready"""
    extras: dict[str, str] = field(default_factory=dict)
    """what is handed on as it stands: options of the engine by name"""


def milliseconds(seconds: float) -> str:
    """Write a time; never 0, which engines take for no limit at all."""
    return str(max(1, round(1000 * seconds)))


def check_command(command: Sequence[str]) -> None:
    """Refuse a command that cannot be run here."""
    if not shutil.which(command[0]):
        raise BadInput(
            f"the command {command[0]!r} is not there: it should be a program on the PATH, or the path of a file that "
            "can be executed"
        )


class EnginePlayer(Player):
    """A player in a child process. Subclasses speak a protocol."""

    protocol = ""
    farewell = ""
    line_end = "\n"

    def __init__(self, game: Game, command: Sequence[str], settings: EngineSettings):
        check_command(command)
        self.game, self.command, self.settings = game, tuple(command), settings
        self.child: Child | None = None
        self.title = ""
        self.expected = ""
        self.trouble: PlayerFailed | None = None

    # -- what a protocol says --

    def greet(self) -> None:
        """Say hello to a fresh process: find out its name and set its options."""
        raise NotImplementedError

    def begin_game(self) -> None:
        """Tell the process that another game begins."""
        raise NotImplementedError

    def answer(self, turn: Turn) -> Choice:
        """Ask the process for a move."""
        raise NotImplementedError

    def hurry(self) -> float:
        """Make the process answer at once; return how many seconds it has left for that."""
        raise NotImplementedError

    # -- the life of the process --

    def new_game(self, start: Position, seat: Seat) -> None:
        """Start the process if there is none, and tell it. What goes wrong here is told with the first move."""
        try:
            self.trouble = None
            self.guarded(self.get_ready)
        except PlayerFailed as failure:
            self.trouble = failure

    def choose(self, turn: Turn) -> Choice:
        """Ask the engine."""
        trouble, self.trouble = self.trouble, None
        if trouble:
            raise trouble
        if self.child is None:
            self.guarded(self.get_ready)
        return self.guarded(lambda: self.answer(turn))

    def get_ready(self) -> None:
        """Bring the process to where it waits for a position."""
        self.open()
        self.begin_game()

    def open(self) -> None:
        """Start the process if there is none."""
        if self.child is None:
            self.expected = "a process"
            self.child = Child(self.command)
            self.greet()

    def guarded(self, talk: Callable[[], Result]) -> Result:
        """Talk with the process, and end it when the talk does not come to its end."""
        try:
            return talk()
        except ProcessFailed as failure:
            raise PlayerFailed(self.report_of(str(failure))) from None
        finally:
            if self.child is not None and not self.in_step:
                self.child.end()
                self.child = None

    @property
    def in_step(self) -> bool:
        """Whether nothing is owed by the process: an answer that comes late would be taken for a later one."""
        return self.expected == ""

    def report_of(self, reason: str) -> str:
        """Say what went wrong, with whom, and what it wrote last."""
        told = f"; {self.child.account()}" if self.child else ""
        name = self.title or f"{self.protocol} engine"
        return f"{name}: {reason}; expected {self.expected}; command {shlex.join(self.command)}{told}"

    @property
    def label(self) -> str:
        """The engine's name, if it has told one, and its command."""
        return f"{self.title or self.protocol} ({shlex.join(self.command)})"

    def close(self) -> None:
        """End the process."""
        if self.child is not None:
            self.child.end(self.farewell, self.line_end)
            self.child = None

    # -- talking --

    def send(self, line: str) -> None:
        """Send a line."""
        assert self.child is not None
        if not self.expected:
            self.expected = f"{line.split()[0]!r} to be read"
        self.child.send(line, self.settings.grace, self.line_end)

    def lines(self, expected: str, seconds: float, stop: np.ndarray | None = None) -> Iterator[str]:
        """Yield lines as they come, until somebody has found what is expected; fail when the time is up."""
        assert self.child is not None
        self.expected = expected
        until = time.monotonic() + seconds
        while True:
            line = self.child.line(min(until, time.monotonic() + POLL))
            if line is not None:
                yield line
            if stop is not None and stop[0]:
                until, stop = min(until, time.monotonic() + self.hurry()), None
            if time.monotonic() > until:
                raise ProcessFailed(f"no answer within {seconds:g} s")

    def heard(self) -> None:
        """Note that what was expected has come."""
        self.expected = ""

    def wrong(self, line: str, why: str = "") -> NoReturn:
        """Fail because of an answer."""
        raise ProcessFailed(f"it answered {line[:80]!r}{', ' if why else ''}{why}")

    def checked_move(self, position: Position, action: Action, line: str) -> Action:
        """Refuse a move that is not legal."""
        try:
            position.check_legal(action, position.move_text(action))
        except BadInput as error:
            self.wrong(line, str(error))
        return action
