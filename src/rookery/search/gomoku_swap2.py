"""What the Gomoku players do in the opening of swap2: a simple rule, the same for all of them.

Stones are laid on the free points first in a list around the centre. Of the colours, Black is taken if its groups score
more than White's, else White, who moves next. Two more stones are never asked for.
"""

from __future__ import annotations

import math

from rookery.games.gomoku import TAKE_BLACK, TAKE_WHITE, Gomoku
from rookery.games.gomoku_board import PLACE, point_is_empty
from rookery.games.position import Position
from rookery.search.analysis import Analysis, Line
from rookery.search.gomoku_groups import SCALE, black_score

AROUND = ((0, 0), (1, 1), (2, -1), (-2, 1), (-1, -2), (2, 2))  # rows and columns from the centre, no two in one row


def opening_choice(position: Position) -> Analysis:
    """Lay a stone or take a colour."""
    game, state = position.game, position.state
    assert isinstance(game, Gomoku)
    if state["phase"] == PLACE:
        middle = (game.size - 1) // 2
        points = [(middle + row) * game.size + middle + col for row, col in AROUND]
        action, value = next(point for point in points if point_is_empty(state, point)), 0.0
    else:
        score = int(black_score(state))
        action, value = game.points + (TAKE_BLACK if score > 0 else TAKE_WHITE), math.tanh(abs(score) / SCALE)
    return Analysis(action, value, (Line(action, value, moves=(action,)),), 0, 0, False, "by the rule for openings")
