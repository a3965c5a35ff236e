"""Gomoku: what the groups of stones are worth, as the baseline player counts them."""

from __future__ import annotations

from rookery.games.gomoku import STATE
from rookery.games.gomoku_board import BLACK, PLAY
from rookery.games.rules import State
from rookery.search.evaluations import squashed, supplies
from rookery.search.gomoku_groups import black_score

HALF = 10_000  # a lead between an open three and a half-open four counts one half


@supplies("evaluate", STATE)
def evaluate(state: State) -> int:
    if state.phase != PLAY:
        return 0  # while the stones of an opening are laid, nobody has a colour
    score = black_score(state)
    return squashed(score if state.colour == BLACK else -score, HALF)
