"""A game record to store, made without loading any game."""

from __future__ import annotations

from rookery.arena.records import GameRecord


def record(number=0, match="m", **changes):
    """A made-up game, as a ledger stores it."""
    values = {
        "game": "pylos", "version": 1, "start": "start text", "actions": (3, 1, 4), "moves": ("1a1", "x y", "%"),
        "opening": 1, "players": ("random", "other [player]"), "first_team": 0, "score": 0.5, "payoff": 0.0,
        "reason": "third occurrence", "seconds": (0.1, 1 / 3), "seed": -7, "match": match, "number": number,
        "pair": number // 2, "time_control": "10+0.1", "date": "2030-01-02T03:04:05+00:00",
    }  # fmt: skip
    return GameRecord(**(values | changes))
