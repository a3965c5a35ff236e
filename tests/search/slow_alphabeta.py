"""Minimax as the definition has it: every line, no pruning, in plain Python over positions."""

from __future__ import annotations

import numpy as np

from rookery.games.position import Position
from rookery.search.evaluations import UNIT, WIN, evaluate, forcing


def slow_score(position: Position, depth: int, quiet_plies: int = 0, ply: int = 0) -> int:
    """Return the score of a position for the team of its mover, looking `depth` plies ahead."""
    if depth > 0:
        return max(slow_move_score(position, int(action), depth, quiet_plies, ply) for action in position.legal())
    scores = [int(evaluate(position.state))]
    if depth > -quiet_plies:
        moves = np.empty(position.game.most_legal, np.int32)
        forced = moves[: forcing(position.state, moves)]
        scores += [slow_move_score(position, int(action), depth, quiet_plies, ply) for action in forced]
    return max(scores)


def slow_move_score(position: Position, action: int, depth: int, quiet_plies: int = 0, ply: int = 0) -> int:
    """Return the score of a move for the team that makes it; values change sign when the team does."""
    child = position.copy()
    child.play(action)
    if child.over:
        payoff = child.payoff(position.mover)
        if abs(payoff) == 1:
            return int(payoff) * (WIN - ply - 1)
        return round(payoff * UNIT)
    score = slow_score(child, depth - 1, quiet_plies, ply + 1)
    teams = position.game.teams
    return score if teams[child.mover] == teams[position.mover] else -score
