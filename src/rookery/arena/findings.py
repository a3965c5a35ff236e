"""What a search has found, for people and programs: shares of moves, warm cells of the board, lines as text."""

from __future__ import annotations

from typing import Any

from rookery.errors import BadInput
from rookery.games.position import Action, Cell, Position
from rookery.search.analysis import Analysis, Line


def shares(analysis: Analysis) -> dict[Action, float]:
    """Return the share of each move: of the visits, else of the priors, else all for the chosen move."""
    weights = {line.action: float(line.visits) for line in analysis.lines}
    if not any(weights.values()):
        weights = {line.action: line.prior or 0.0 for line in analysis.lines}
    if not any(weights.values()):
        weights = {**weights, analysis.action: 1.0}
    total = sum(weights.values())
    return {action: weight / total for action, weight in weights.items()}


def heat(position: Position, analysis: Analysis) -> dict[Cell, float]:
    """Return how warm each cell is: the shares of the moves that touch it, the warmest 1; nothing without a grid."""
    warmth: dict[Cell, float] = {}
    for action, share in shares(analysis).items():
        for cell in position.game.cells_of(position.state, action):
            warmth[cell] = warmth.get(cell, 0.0) + share
    most = max(warmth.values(), default=0.0)
    return {cell: value / most for cell, value in warmth.items()} if most > 0 else {}


def moves_of(position: Position, line: Line) -> list[str]:
    """Write the best play of a line, as far as it can be played in what is seen of a position."""
    position, texts = position.copy(), []
    for action in line.moves or (line.action,):
        try:
            text = position.move_text(action)
            position.play(action)
        except BadInput:
            break
        texts.append(text)
    return texts


def analysis_facts(position: Position, analysis: Analysis, lines: int) -> dict[str, Any]:
    """Return an analysis for JSON, with its best lines."""
    share = shares(analysis)
    facts = {name: getattr(analysis, name) for name in ("value", "nodes", "depth", "proven", "note")}
    facts["lines"] = [
        {
            "move": position.move_text(line.action),
            "value": line.value,
            "visits": line.visits,
            "share": share[line.action],
            "prior": line.prior,
            "moves": moves_of(position, line),
        }
        for line in analysis.lines[:lines]
    ]
    return facts
