"""A game as a file tells it, played again by the rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rookery.errors import BadInput
from rookery.games.library import split_spec
from rookery.web.games import OFFERS
from rookery.web.session import GameSession, Plan

MOST_GAMES = 50
"""games read from one file"""
LONGEST_GAME = 2000  # plies


@dataclass(frozen=True)
class Found:
    """A game of a file."""

    session: GameSession
    players: tuple[str, str]
    """of team 0 and team 1"""
    score: float | None = None
    """of team 0, as the file says; None if it does not"""
    date: str = ""
    opening: int = 0
    """moves that no player chose"""
    reason: str = ""
    """why it ended"""


def session_for(spec: str, start: str, actions: Sequence[int]) -> GameSession:
    """Play a game again; BadInput if it is not of a kind that is offered, or breaks the rules."""
    check_offered(spec, len(actions))
    return GameSession(Plan(spec, frozenset(), "", 0, start), actions)


def words_played(spec: str, start: str, words: Sequence[str]) -> GameSession:
    """Play moves that are given as text."""
    check_offered(spec, len(words))
    session = session_for(spec, start, [])
    for word in words:
        session.make(session.position.action(word))
    return session


def check_offered(spec: str, plies: int) -> None:
    """Refuse a game of another kind: what `load` reads may be a file with a program in it. Refuse an endless one."""
    name, _ = split_spec(spec)  # "gomoku:/../x.py" is a file, which would be run
    if name not in OFFERS:
        raise BadInput(f"a game of {name!r} cannot be shown; there are {', '.join(OFFERS)}")
    if plies > LONGEST_GAME:
        raise BadInput(f"a game of {plies:,} moves is too long; {LONGEST_GAME:,} are shown at most")
