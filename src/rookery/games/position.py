"""`Position`: one state with its game around it, so that mistakes are answered with an error instead of nonsense."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from rookery.errors import BadInput, BrokenGame
from rookery.games import rules
from rookery.games.options import whole_number
from rookery.games.rules import State

if TYPE_CHECKING:
    from rookery.games.game import Game

Action = int
Seat = int
Cell = tuple[int, int, int]
"""board (0 where there is one; a level of Pylos), row and column, each from 0, as moves name them"""
SHOWN = 12  # moves named in an error


@njit(cache=True, nogil=True)
def fill_observation(state: State, kind: int, out: np.ndarray) -> None:
    """Write a whole observation into the flat array `out`."""
    for i in range(out.shape[0]):
        out[i] = rules.observe(state, kind, i)


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
        out = np.empty(self.game.actions, np.int32)  # room for all, so that a wrong bound is found and not overrun
        count = int(rules.legal(self.state, out))
        if count > self.game.most_legal:
            raise BrokenGame(
                f"{self.game.name}: legal lists {count} actions in {self.text()!r}, more than most_legal "
                f"({self.game.most_legal})"
            )
        return out[:count]

    def moves(self) -> list[str]:
        """Return the legal moves as text."""
        return [self.move_text(action) for action in self.legal()]

    def payoff(self, seat: Seat) -> float:
        """Return the result for a seat, in [-1, 1]; 0 while the game goes on."""
        return float(rules.payoff(self.state, self.checked_seat(seat)))

    def play(self, move: Action | str) -> None:
        """Make a move, given as an action or as text."""
        action = self.action(move) if isinstance(move, str) else self.checked_action(move)
        self.check_legal(action, move)
        rules.play(self.state, action)

    def action(self, text: str) -> Action:
        """Read a move of this position."""
        try:
            return self.game.parse_move(self.state, text.strip())
        except BadInput as error:
            raise BadInput(f"{error} (in {self.text()!r})") from None

    def move_text(self, action: Action) -> str:
        """Write a move of this position."""
        return self.game.move_text(self.state, self.checked_action(action))

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
        seen = self.copy()
        self.game.hide(seen.state, self.checked_seat(seat))
        return seen

    def copy(self) -> Position:
        """Return an independent position."""
        return Position(self.game, self.states.copy())

    def checked_seat(self, seat: Any) -> Seat:
        """Refuse a seat the game does not have."""
        return whole_number(f"a seat of {self.game.name}", seat, 0, self.game.seats - 1)

    def checked_action(self, action: Any) -> Action:
        """Refuse an action the game does not have."""
        return whole_number(f"an action of {self.game.name}", action, 0, self.game.actions - 1)

    def check_legal(self, action: Action, move: Action | str) -> None:
        """Refuse an action that is not legal here, naming what was given and what is allowed."""
        if self.over:
            raise BadInput(f"move {move!r}: the game is over in {self.text()!r}")
        if not rules.is_legal(self.state, action):
            moves = self.moves()
            more = f" and {len(moves) - SHOWN} more" if len(moves) > SHOWN else ""
            shown = ", ".join(moves[:SHOWN]) + more
            raise BadInput(f"move {move!r} is not legal in {self.text()!r} ({self.game.name}); legal: {shown}")

    def __reduce__(self) -> tuple[Any, ...]:
        return restored, (self.game.spec, self.states.tobytes())

    def __repr__(self) -> str:
        return f"<{self.game.spec} {self.text()}>"

    def _repr_svg_(self) -> str:
        """Show the position in a notebook, a hand that is hidden from its mover as hidden."""
        from rookery.games.pictures import svg_of

        return svg_of(self)


def restored(spec: str, data: bytes) -> Position:
    """Make a position again in another process."""
    from rookery.games.library import load

    game = load(spec)
    if len(data) != game.state.itemsize:
        raise BadInput(
            f"a stored position of {spec} has {len(data)} bytes; with these rules it has {game.state.itemsize}"
        )
    return Position(game, np.frombuffer(data, game.state).copy())
