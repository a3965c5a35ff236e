"""The games the page offers: their names, variants and pictures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rookery.games.game import Game
from rookery.games.library import load
from rookery.games.pictures import chess, domineering, gomoku, pylos, texas42
from rookery.games.pictures.scene import Picture, Scene
from rookery.games.position import Seat


@dataclass(frozen=True)
class Offer:
    """A game as the page offers it."""

    title: str
    variants: dict[str, str]
    """name of each variant for people, and what `load` reads; the first one is the usual one"""
    draw: Callable[[Scene], Picture]
    seat: Seat = 0
    """the seat a visitor holds at first"""

    @property
    def spec(self) -> str:
        """The usual variant."""
        return next(iter(self.variants.values()))


OFFERS = {
    "gomoku": Offer(
        "Gomoku",
        {
            "9 x 9": "gomoku:size=9",
            "15 x 15": "gomoku",
            "15 x 15, exactly five": "gomoku:rule=standard",
            "15 x 15, Renju": "gomoku:rule=renju",
            "15 x 15, Swap2": "gomoku:opening=swap2",
        },
        gomoku.picture,
    ),
    "domineering": Offer(
        "Domineering",
        {"8 x 8": "domineering:rows=8,cols=8", "6 x 6": "domineering:rows=6,cols=6", "16 x 16": "domineering"},
        domineering.picture,
    ),
    "chess": Offer("Chess", {"Usual": "chess", "Chess960, position 0": "chess:chess960=0"}, chess.picture),
    "pylos": Offer(
        "Pylos",
        {
            "Squares and lines": "pylos",
            "Squares only": "pylos:rules=standard",
            "Without taking back": "pylos:rules=children",
        },
        pylos.picture,
    ),
    "texas42": Offer(
        "Texas 42",
        {"With bidding": "texas42:auction=forced", "Play only": "texas42", "Play only, 30 points": "texas42:bid=30"},
        texas42.picture,
    ),
}


def offer_of(game: Game) -> Offer:
    """Return how a game is offered."""
    return OFFERS[game.name]


def sides_of(game: Game) -> tuple[str, str]:
    """Name the two teams by their seats."""
    teams = [[game.seat_name(seat) for seat in range(game.seats) if game.teams[seat] == team] for team in (0, 1)]
    return " and ".join(teams[0]), " and ".join(teams[1])


def ready(name: str) -> Game:
    """Load the usual variant of a game and ask it everything a page asks, so that all is compiled."""
    game = load(OFFERS[name].spec)
    position = game.start(0)
    position.seen_by(0)
    position.text()
    position.play(int(position.legal()[0]))
    position.payoff(0)
    return game
