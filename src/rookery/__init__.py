"""Rookery: a laboratory in which neural networks learn to play.

    >>> import rookery
    >>> position = rookery.load("pylos").start()
    >>> position.play("1b2")
    >>> print(position.draw())

Everything is imported where it is first used: `import rookery` itself costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rookery.arena.looks import look
    from rookery.arena.players import make_player
    from rookery.errors import BadInput, BrokenGame
    from rookery.games.game import Game, Symmetries, register
    from rookery.games.library import load
    from rookery.games.position import Position

__version__ = "0.1.0"
__all__ = [
    "BadInput",
    "BrokenGame",
    "Game",
    "Position",
    "Symmetries",
    "__version__",
    "load",
    "look",
    "make_player",
    "register",
]

HOMES = {
    "BadInput": "rookery.errors",
    "BrokenGame": "rookery.errors",
    "Game": "rookery.games.game",
    "Position": "rookery.games.position",
    "Symmetries": "rookery.games.game",
    "register": "rookery.games.game",
    "load": "rookery.games.library",
    "look": "rookery.arena.looks",
    "make_player": "rookery.arena.players",
}


def __getattr__(name: str) -> Any:
    """Fetch a public name from the module it lives in."""
    if name not in HOMES:
        raise AttributeError(f"module 'rookery' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(HOMES[name]), name)
