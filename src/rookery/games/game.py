"""`Game` and `Position`: what a person holds.

A game is a subclass of `Game` that declares its facts and its text forms; its rules are the functions given to
`implements`. A position is one state record with a game around it, so that moves can be given as text and
mistakes are answered with an error instead of nonsense.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from types import UnionType
from typing import Any, ClassVar, TypeVar, get_args, get_type_hints

import numpy as np
from numba import njit

from rookery.errors import BadInput, BrokenGame
from rookery.games import rules
from rookery.games.rules import State

Action = int
Seat = int


@dataclass(frozen=True)
class Symmetries:
    """The symmetries of a game as permutation tables; number 0 is the identity.

    actions       [S, A]  action `a` of a position becomes `actions[s, a]` in the transformed position
    observations  [S, O]  for each kind: number `i` of the transformed observation is number
                          `observations[kind][s, i]` of the original one
    """

    names: tuple[str, ...]
    actions: np.ndarray
    observations: dict[str, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.names)


@njit(cache=True, nogil=True)
def fill_observation(state: State, kind: int, out: np.ndarray) -> None:
    """Write a whole observation into the flat array `out`."""
    for i in range(out.shape[0]):
        out[i] = rules.observe(state, kind, i)


class Game:
    """A game with its options set. Subclasses declare the facts below and the text forms."""

    name: ClassVar[str]
    version: ClassVar[int]
    """number of the rules version: raised when the same moves can lead to another result"""
    state: ClassVar[np.dtype[Any]]
    """dtype of a state; written as the plain dtype, completed when the game is registered"""
    summary: ClassVar[str]
    """the game in one line"""

    seats: int = 2
    teams: tuple[int, ...] = (0, 1)
    """team of each seat"""
    information: str = "perfect"
    """'perfect', or 'hidden' if a seat does not see everything"""
    actions: int
    most_legal: int
    """upper bound of the number of legal actions in any position"""
    longest: int
    """upper bound of the number of actions in a game"""
    observations: dict[str, tuple[int, ...]]
    """shape of each kind of observation; the order numbers the kinds"""

    # -- what a subclass writes --

    def set_options(self, state: State) -> None:
        """Write the options into a zeroed state. `start` must leave these fields alone."""

    def text(self, state: State) -> str:
        """Write a position on one line."""
        raise NotImplementedError

    def parse(self, text: str, state: State) -> None:
        """Read what `text` wrote into a state that holds the options; raise BadInput for anything else."""
        raise NotImplementedError

    def draw(self, state: State) -> str:
        """Draw a position for a terminal; by default, the rows of its text one below the other."""
        return self.text(state).replace("/", "\n")

    def move_text(self, state: State, action: Action) -> str:
        """Write an action of a position."""
        return str(action)

    def parse_move(self, state: State, text: str) -> Action:
        """Read what `move_text` wrote; raise BadInput for anything else. The move need not be legal."""
        texts = {self.move_text(state, action): action for action in range(self.actions)}
        if text not in texts:
            raise BadInput(f"{text!r} is no move of {self.name}; moves are written like {', '.join(list(texts)[:8])}")
        return texts[text]

    def seat_name(self, seat: Seat) -> str:
        """Name a seat for people."""
        return f"seat {seat}"

    def hide(self, state: State, seat: Seat) -> None:
        """Take out of a state what a seat does not see; nothing if all is open."""

    def symmetries(self) -> Symmetries:
        """Return the permutation tables; only the identity unless a game says more."""
        observations = {kind: np.arange(np.prod(shape))[None] for kind, shape in self.observations.items()}
        return Symmetries(("identity",), np.arange(self.actions)[None], observations)

    # -- what a person calls --

    @classmethod
    def option_names(cls) -> dict[str, Any]:
        """Return the options with their defaults."""
        parameters = inspect.signature(cls).parameters.values()
        return {parameter.name: parameter.default for parameter in parameters}

    @property
    def options(self) -> dict[str, Any]:
        """The options of this game."""
        return {name: getattr(self, name) for name in self.option_names()}

    @property
    def spec(self) -> str:
        """Name and options in the form `load` reads; options left at their defaults are not named."""
        defaults = self.option_names()
        given = ",".join(f"{name}={value}" for name, value in self.options.items() if value != defaults[name])
        return f"{self.name}:{given}" if given else self.name

    def empty_states(self, count: int = 1) -> np.ndarray:
        """Make states that hold the options and nothing else."""
        states = np.zeros(1, self.state)
        self.set_options(states[0])
        return np.repeat(states, count)

    def start(self, seed: int = 0) -> Position:
        """Return the first position; `seed` deals where dealing is done."""
        states = self.empty_states()
        rules.start(states[0], seed)
        return Position(self, states)

    def position(self, text: str) -> Position:
        """Read a position from its text."""
        states = self.empty_states()
        self.parse(text, states[0])
        return Position(self, states)

    def __repr__(self) -> str:
        return f"<game {self.spec}>"


class Position:
    """One position. `play` changes it in place; `copy` first to keep the old one."""

    __slots__ = ("game", "states")

    def __init__(self, game: Game, states: np.ndarray):
        self.game = game
        self.states = states  # one record, shape [1]

    @property
    def state(self) -> State:
        """The record itself, for compiled code."""
        return self.states[0]

    @property
    def mover(self) -> Seat:
        """The seat to move."""
        return int(rules.mover(self.state))

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return bool(rules.over(self.state))

    @property
    def key(self) -> int:
        """64-bit hash of the position."""
        return int(rules.key(self.state)) & (2**64 - 1)

    def legal(self) -> np.ndarray:
        """Return the legal actions in increasing order; none if the game is over."""
        if self.over:
            return np.empty(0, np.int32)
        out = np.empty(self.game.most_legal, np.int32)
        return out[: rules.legal(self.state, out)]

    def moves(self) -> list[str]:
        """Return the legal moves as text."""
        return [self.move_text(action) for action in self.legal()]

    def payoff(self, seat: Seat) -> float:
        """Return the result for a seat, in [-1, 1]; 0 while the game goes on."""
        self.check_seat(seat)
        return float(rules.payoff(self.state, seat))

    def play(self, move: Action | str) -> None:
        """Make a move, given as an action or as text."""
        action = self.action(move) if isinstance(move, str) else int(move)
        self.check_legal(action, move)
        rules.play(self.state, action)

    def action(self, text: str) -> Action:
        """Read a move of this position."""
        return self.game.parse_move(self.state, text.strip())

    def move_text(self, action: Action) -> str:
        """Write a move of this position."""
        if not 0 <= action < self.game.actions:
            raise BadInput(f"{action} is no action of {self.game.name}; they are 0..{self.game.actions - 1}")
        return self.game.move_text(self.state, int(action))

    def observe(self, kind: str | None = None) -> np.ndarray:
        """Return an observation from the mover's side; without a kind, the game's first one."""
        kinds = list(self.game.observations)
        kind = kinds[0] if kind is None else kind
        if kind not in kinds:
            raise BadInput(f"{self.game.name} has no observation {kind!r}; it has {', '.join(kinds)}")
        shape = self.game.observations[kind]
        out = np.empty(int(np.prod(shape)), np.float32)
        fill_observation(self.state, kinds.index(kind), out)
        return out.reshape(shape)

    def text(self) -> str:
        """Write the position on one line; `Game.position` reads it."""
        return self.game.text(self.state)

    def draw(self) -> str:
        """Draw the position for a terminal."""
        return self.game.draw(self.state)

    def seen_by(self, seat: Seat) -> Position:
        """Return a copy without what the seat does not see."""
        self.check_seat(seat)
        seen = self.copy()
        self.game.hide(seen.state, seat)
        return seen

    def copy(self) -> Position:
        """Return an independent position."""
        return Position(self.game, self.states.copy())

    def check_seat(self, seat: Seat) -> None:
        """Refuse a seat the game does not have."""
        if not 0 <= seat < self.game.seats:
            raise BadInput(f"{self.game.name} has the seats 0..{self.game.seats - 1}, not {seat}")

    def check_legal(self, action: Action, move: Action | str) -> None:
        """Refuse an action that is not legal here, naming what was given and what is allowed."""
        if 0 <= action < self.game.actions and not self.over and rules.is_legal(self.state, action):
            return
        if self.over:
            raise BadInput(f"move {move!r}: the game is over in {self.text()!r}")
        moves = self.moves()
        shown = ", ".join(moves[:12]) + (f" and {len(moves) - 12} more" if len(moves) > 12 else "")
        raise BadInput(f"move {move!r} is not legal in {self.text()!r} ({self.game.name}); legal: {shown}")

    def __repr__(self) -> str:
        return f"<{self.game.spec} {self.text()}>"


# ---- registering ---------------------------------------------------------------------------------

GameClass = TypeVar("GameClass", bound=type[Game])
FACTS = ("name", "version", "state", "summary")

REGISTERED: dict[str, type[Game]] = {}  # module name -> the game it defines


def register(game: GameClass) -> GameClass:
    """Check a game's class and make it known; used as a decorator."""
    label = getattr(game, "name", game.__name__)
    for fact in FACTS:
        if not hasattr(game, fact):
            raise BrokenGame(f"{label}: the class {game.__name__} does not declare {fact!r}")
    for method in ("text", "parse"):
        if getattr(game, method) is getattr(Game, method):
            raise BrokenGame(f"{label}: the class {game.__name__} does not define the method {method!r}")
    game.state = rules.complete_rules(label, game.state).dtype
    REGISTERED[game.__module__] = game
    return game


def read_option(game: type[Game], name: str, text: str) -> Any:
    """Turn an option's text into the type its constructor declares."""
    hint: Any = get_type_hints(game.__init__).get(name, str)
    kinds: tuple[Callable[[str], Any], ...] = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    if kinds == (int,):
        try:
            return int(text)
        except ValueError:
            raise BadInput(f"option {name} of {game.name} must be a whole number, not {text!r}") from None
    return text
