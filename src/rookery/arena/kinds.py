"""What a kind of players is: how its texts look, what makes its players, and which games they play."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rookery.arena.player import Player
from rookery.arena.texts import Form, Given
from rookery.errors import BadInput
from rookery.games.game import Game


@dataclass(frozen=True)
class Kind:
    """A kind of players."""

    form: Form
    example: str
    summary: str
    make: Callable[[Given, Game], Player]
    game: str = ""
    """the game it plays; any, if it names none"""
    options_of_game: dict[str, str] = field(default_factory=dict)
    """with which options it plays it; the others may be what they like"""
    settle: Callable[[Given], Given] = lambda given: given
    """says what a text means at this moment: which file of a folder"""
    looks: bool = False
    """whether it looks at the whole position, and so needs an oracle where something is hidden"""

    @property
    def plays(self) -> str:
        """The game it plays, with the options it needs."""
        options = ",".join(f"{name}={value}" for name, value in self.options_of_game.items())
        return f"{self.game}:{options}" if options else self.game

    def knows(self, game: Game) -> bool:
        """Tell whether it can play a game."""
        if self.game and type(game).__module__ != f"rookery.games.{self.game}":
            return False
        return all(game.options[name] == value for name, value in self.options_of_game.items())

    def facts(self) -> dict[str, Any]:
        """Return what people want to know, for tables and JSON."""
        options = {
            option.name: {"meaning": option.meaning, "allowed": option.allowed, "default": option.default}
            for option in self.form.options
        }
        named = {"kind": self.form.name, "example": self.example, "summary": self.summary, "game": self.plays}
        return named | {"argument": self.form.argument, "prefix": self.form.prefix, "options": options}


def check_fit(kind: Kind, given: Given, game: Game, whole: bool) -> None:
    """Refuse a player that cannot play a game."""
    why = ""
    if not kind.knows(game):
        why = f"{kind.form.name} plays {kind.plays} only"
    elif kind.looks and game.information == "hidden" and not whole:
        why = f"it would have to look at what is hidden; a player that may do so is named oracle:{given.text}"
    elif kind.form.argument == "PLAYER" and game.information == "perfect":
        why = f"nothing is hidden in it; write {given.argument}"
    if why:
        text = f"oracle:{given.argument}" if given.argument else given.text
        raise BadInput(f"player {text!r} does not fit {game.label}: {why}")
