"""What a search has found, as a page shows it: rows of a table, the share of the value bar."""

from __future__ import annotations

from dataclasses import dataclass

from rookery.arena.findings import shares
from rookery.errors import BadInput
from rookery.games.position import Position, Seat
from rookery.search.analysis import Analysis
from rookery.web.session import move_text

ROWS_SHOWN = 6
LINE_SHOWN = 8  # moves of the best line


@dataclass(frozen=True)
class Row:
    """One move in the table."""

    move: str
    share: float
    visits: int
    value: float


def rows_of(position: Position, analysis: Analysis) -> list[Row]:
    """List the moves a search thinks best."""
    share = shares(analysis)
    return [
        Row(move_text(position, line.action), share[line.action], line.visits, line.value)
        for line in analysis.lines[:ROWS_SHOWN]
    ]


def best_line(position: Position, analysis: Analysis) -> str:
    """Write the best play that was found."""
    position, texts = position.copy(), []
    line = analysis.lines[0] if analysis.lines else None
    for action in (line.moves or (line.action,))[:LINE_SHOWN] if line else ():
        try:
            text = move_text(position, action)
            position.play(action)
        except BadInput:  # what was seen of the position tells no more
            break
        texts.append(text)
    return " ".join(texts)


def bar_share(position: Position, analysis: Analysis, seat: Seat) -> float:
    """Return which part of the value bar belongs to a seat's team: 1 if it wins for sure."""
    teams = position.game.teams
    value = analysis.value if teams[position.mover] == teams[seat] else -analysis.value
    return (1 + max(-1.0, min(1.0, value))) / 2
