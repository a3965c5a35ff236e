"""What a player is asked, and what it answers.

A player is handed a position as its seat sees it: hidden tiles are absent. Only players named `oracle:...` see all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rookery.errors import BadInput
from rookery.games.position import Action, Position, Seat
from rookery.games.rng import random_bits
from rookery.search.analysis import Analysis
from rookery.search.threads import new_stop


@dataclass(frozen=True)
class Turn:
    """One decision: everything a player may use for it."""

    position: Position
    """as the seat to move sees it"""
    start: Position
    """the position the game began with, as the seat sees it"""
    moves: tuple[Action, ...]
    """actions from `start` to `position`; of a game with hidden tiles, where the number of an action would tell which
    tiles lie beside it, `start` is `position` itself and there are none: the position holds the public record"""
    seed: int
    """same seed, same choice"""
    seconds: float | None = None
    """the time for this move, for players that use what they are given; None: the clock or their own setting decides"""
    clock: tuple[float, ...] | None = None
    """seconds left on each seat's clock"""
    increment: float = 0.0
    """seconds a move adds to a clock"""
    stop: np.ndarray = field(default_factory=new_stop)
    """[1] once 1, the player is to answer at once"""


@dataclass(frozen=True)
class Choice:
    """The move a player makes, and what it thought, if it says so."""

    action: Action
    analysis: Analysis | None = None


class PlayerFailed(Exception):
    """A player cannot go on with a game: an engine that hangs, dies or answers nonsense. The message is the reason."""


class Player:
    """Whoever chooses moves. `name` is the text that makes the same player again."""

    name: str
    sees_all: bool = False
    """whether it is handed the whole position, hidden tiles too; only players named `oracle:...`"""
    at_terminal: bool = False
    """whether a person plays, who has one terminal and so plays one game at a time"""

    def choose(self, turn: Turn) -> Choice:
        """Choose a legal move; raise PlayerFailed if that cannot be done."""
        raise NotImplementedError

    def choose_many(self, turns: Sequence[Turn]) -> list[Choice]:
        """Choose for several games at once; players that gain from it do so together."""
        return [self.choose(turn) for turn in turns]

    def prepare(self, start: Position) -> None:
        """Do what takes long and is needed once, such as compiling: before a game, for in it a clock may run."""

    def new_game(self, start: Position, seat: Seat) -> None:
        """Hear that a game begins in which the player holds a seat; external engines prepare for it."""

    def close(self) -> None:
        """Free what the player holds: processes, networks."""


# ---- what players are handed ---------------------------------------------------------------------


def shown_to(player: Player, position: Position, seat: Seat) -> Position:
    """Return a copy of a position as a player at a seat may see it."""
    return position.copy() if player.sees_all else position.seen_by(seat)


def turn_of(player: Player, start: Position, position: Position, moves: Sequence[Action], **more: Any) -> Turn:
    """Make the turn a player is handed: what is hidden from the seat to move is taken out, except for an oracle.

    Moves of hidden hands would tell something of the rest of these hands, so they are taken out too.
    """
    if position.game.information == "hidden":
        check_known(player, position)
    seen = shown_to(player, position, position.mover)
    if position.game.information == "hidden" and not player.sees_all:
        return Turn(seen, seen.copy(), (), **more)
    return Turn(seen, start.copy(), tuple(moves), **more)


def check_known(player: Player, position: Position) -> None:
    """Refuse a position that does not hold what a player is to see: the mover's own hand, for an oracle all hands."""
    hidden = position.game.hidden_seats(position.state)
    for seat in hidden if player.sees_all else [position.mover]:
        if seat in hidden:
            needs = "all hands; one without oracle: the mover's alone" if player.sees_all else "it to choose"
            name = position.game.seat_name(seat)
            raise BadInput(f"the hand of {name} is hidden in {position.text()!r}; {player.name} needs {needs}")


def turn_seed(seed: int, game: int, ply: int) -> int:
    """Return the seed of a decision: one of its own, and unrelated to that of a deal."""
    return int(random_bits(seed, game, ply)) >> 1
