"""What a search has found, as a page shows it: rows of a table, the best line, the value for a seat."""

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


def value_for(position: Position, analysis: Analysis, seat: Seat) -> float:
    """Return the value of a position from the side of a seat's team."""
    teams = position.game.teams
    return analysis.value if teams[position.mover] == teams[seat] else -analysis.value
