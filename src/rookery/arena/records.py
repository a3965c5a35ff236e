"""A finished game as it is kept: everything that is needed to play it again and to rate the players.

A game has two teams, 0 and 1; in a game of two seats these are the seats. `start` and `moves` give the whole game: the
first `opening` moves were not chosen by the players.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rookery.errors import BadInput

if TYPE_CHECKING:
    from rookery.games.game import Game
    from rookery.games.position import Position

LONGEST_REASON = 300  # characters; an engine that dies may print a book
SCORES = (0.0, 0.5, 1.0)


@dataclass(frozen=True)
class GameRecord:
    """One finished game."""

    game: str
    """what `load` reads to make the game again"""
    version: int
    """of the rules"""
    start: str
    """text of the first position"""
    actions: tuple[int, ...]
    """from the first position to the last, those of the opening too"""
    moves: tuple[str, ...]
    """the same as text"""
    opening: int
    """how many of the moves are the opening"""
    players: tuple[str, str]
    """texts of the players that held team 0 and team 1"""
    first_team: int
    """the team that begins in the game's own first position"""
    score: float
    """of team 0: 1 won, 0.5 drawn, 0 lost"""
    payoff: float
    """of team 0 by the rules, in [-1, 1]; 1 or -1 where a player failed"""
    reason: str
    """why the game ended"""
    seconds: tuple[float, float]
    """thinking time of team 0 and team 1"""
    seed: int
    """of the match"""
    match: str = ""
    """the same for all games of a match, and for no others"""
    number: int = 0
    """in its match, from 0"""
    pair: int = 0
    """games with the same number have the same opening, with the seats swapped"""
    time_control: str = ""
    """such as 10+0.1; empty if there was none"""
    date: str = ""
    """when it ended: ISO, UTC, whole seconds"""

    def __post_init__(self) -> None:
        if self.score not in SCORES:
            raise BadInput(f"the score of a game must be 0, 0.5 or 1, not {self.score!r}")
        if len(self.moves) != len(self.actions):
            raise BadInput(f"a game has {len(self.actions)} actions but {len(self.moves)} moves")
        if not 0 <= self.opening <= len(self.moves):
            raise BadInput(f"opening must lie in 0..{len(self.moves)} (the moves of the game), not {self.opening}")

    @property
    def first_score(self) -> float:
        """Score of the team that begins."""
        return self.score if self.first_team == 0 else 1.0 - self.score

    def score_of(self, team: int) -> float:
        """Return the score of a team."""
        return self.score if team == 0 else 1.0 - self.score

    def seated(self, match: str, date: str) -> GameRecord:
        """Return the record with the match it belongs to and its date."""
        return replace(self, match=match, date=date)


def one_line(text: str) -> str:
    """Bring a message to one line of bearable length."""
    words = " ".join(text.split())
    return words if len(words) <= LONGEST_REASON else words[: LONGEST_REASON - 3] + "..."


def check_rules(game: Game, record: GameRecord) -> None:
    """Refuse a record of another game, of other options or of another version of the rules."""
    if (record.game, record.version) != (game.spec, game.version):
        raise BadInput(
            f"a game of {record.game}, rules version {record.version}, cannot be replayed as {game.spec}, "
            f"rules version {game.version}"
        )


def final_position(game: Game, record: GameRecord) -> Position:
    """Replay a game and return its last position."""
    check_rules(game, record)
    position = game.position(record.start)
    for action in record.actions:
        position.play(action)
    return position
