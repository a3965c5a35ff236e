"""`Game`: what a person holds.

A game is a subclass of `Game` that declares its facts and its text forms; its rules are the functions given to
`implements`.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np

from rookery.errors import BadInput, BrokenGame
from rookery.games import rules
from rookery.games.options import whole_number
from rookery.games.position import Action, Cell, Position, Seat
from rookery.games.rules import State


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


class Game:
    """A game with its options set. Subclasses declare the facts below and the text forms."""

    name: ClassVar[str]
    version: ClassVar[int]
    """number of the rules version: raised when the same moves can lead to another result"""
    state: ClassVar[np.dtype[Any]]
    """dtype of a state; written as the plain dtype, completed when the game is registered"""
    summary: ClassVar[str]
    """the game in one line"""
    path: ClassVar[str] = ""
    """the file of a game that was loaded from one"""

    seats: int = 2
    teams: tuple[int, ...] = (0, 1)
    """team of each seat"""
    information: str = "perfect"
    """'perfect', or 'hidden' if a seat does not see everything"""
    vanishing: bool = False
    """whether an action that a seat to move finds illegal stays so for it to the end; random play is faster then"""
    few_moves: bool = False
    """whether a position has far fewer legal actions than there are: on a card they are then listed by `legal` instead
    of asking `is_legal` about each"""
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

    def cells_of(self, state: State, action: Action) -> tuple[Cell, ...]:
        """Return the cells on which an action puts or takes something; none in a game without a grid."""
        return ()

    def drawn_at(self, cell: Cell) -> tuple[int, int]:
        """Tell in which line and column of the drawing a cell of `cells_of` stands, both from 0."""
        raise NotImplementedError(f"{self.name} names cells but does not say where it draws them")

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

    def hidden_seats(self, state: State) -> list[Seat]:
        """Return the seats whose own things are taken out of a state; none if all is open."""
        return []

    def live_bytes(self) -> int:
        """Return how many bytes at the front of a state matter with these options: tree search copies no more."""
        return self.state.itemsize

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
    def label(self) -> str:
        """Name and options; options left at their defaults are not named."""
        return self.name + self.options_text()

    @property
    def spec(self) -> str:
        """What `load` reads to make this game again."""
        return (self.path or self.name) + self.options_text()

    def options_text(self) -> str:
        """Write the options that differ from their defaults."""
        defaults = self.option_names()
        given = [f"{name}={value}" for name, value in self.options.items() if value != defaults[name]]
        return ":" + ",".join(given) if given else ""

    def empty_states(self, count: int = 1) -> np.ndarray:
        """Make states that hold the options and nothing else."""
        states = np.zeros(1, self.state)
        self.set_options(states[0])
        return np.repeat(states, count)

    def start(self, seed: int = 0) -> Position:
        """Return the first position; `seed` deals where dealing is done."""
        states = self.empty_states()
        rules.start(states[0], whole_number("seed", seed, -(2**63), 2**63 - 1))
        return Position(self, states)

    def position(self, text: str) -> Position:
        """Read a position from its text."""
        if not isinstance(text, str):
            raise BadInput(f"a position of {self.name} is read from text, not from {text!r}")
        states = self.empty_states()
        self.parse(text, states[0])
        return Position(self, states)

    def __repr__(self) -> str:
        return f"<game {self.spec}>"


# ---- registering ---------------------------------------------------------------------------------

GameClass = TypeVar("GameClass", bound=type[Game])
DECLARED = {"name": str, "version": int, "summary": str, "state": np.dtype}

REGISTERED: dict[str, type[Game]] = {}  # module name -> the game it defines


def register(game: GameClass) -> GameClass:
    """Check a game's class and make it known; used as a decorator."""
    label = str(getattr(game, "name", game.__name__))
    for fact, kind in DECLARED.items():
        if not hasattr(game, fact):
            raise BrokenGame(f"{label}: the class {game.__name__} does not declare {fact!r}")
        if not isinstance(getattr(game, fact), kind):
            raise BrokenGame(f"{label}: {fact!r} must be of type {kind.__name__}, not {getattr(game, fact)!r}")
    for method in ("text", "parse"):
        if getattr(game, method) is getattr(Game, method):
            raise BrokenGame(f"{label}: the class {game.__name__} does not define the method {method!r}")
    other = REGISTERED.get(game.__module__)
    if other is not None and other.__qualname__ != game.__qualname__:
        raise BrokenGame(f"{label}: its file registers {other.__name__} already; a file holds one game")
    game.state = rules.complete_rules(label, game.state).dtype
    REGISTERED[game.__module__] = game
    return game


def check_facts(game: Game) -> None:
    """Refuse a game whose facts are missing or impossible, naming them."""
    for fact in ("seats", "actions", "most_legal", "longest"):
        value = getattr(game, fact, None)
        if not isinstance(value, int) or value < 0:
            raise BrokenGame(f"{game.name}: {fact!r} must be a whole number, not {value!r}")
    if game.most_legal > game.actions:
        raise BrokenGame(f"{game.name}: 'most_legal' ({game.most_legal}) exceeds 'actions' ({game.actions})")
    if len(game.teams) != game.seats:
        raise BrokenGame(f"{game.name}: 'teams' must name the team of each of {game.seats} seats, not {game.teams!r}")
    if game.information not in ("perfect", "hidden"):
        raise BrokenGame(f"{game.name}: 'information' must be 'perfect' or 'hidden', not {game.information!r}")
    kinds = getattr(game, "observations", None)
    if not isinstance(kinds, dict) or not kinds or not all(isinstance(shape, tuple) for shape in kinds.values()):
        raise BrokenGame(f"{game.name}: 'observations' must map kinds to shapes, not {kinds!r}")
    for option in game.option_names():
        if not hasattr(game, option):
            raise BrokenGame(f"{game.name}: its option {option!r} must be an attribute of the same name")
