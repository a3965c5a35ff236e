"""Players that look one move ahead with the value of a network.

Every legal move is tried and the network asked about the position behind it; an end of the game counts as what it pays.
The best for the mover is played, of equals the first. The positions of all games that wait are judged together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rookery.arena.evaluator import NetworkEvaluator
from rookery.arena.player import Choice, Turn
from rookery.arena.searching import Analyst
from rookery.games.position import Position
from rookery.nets.files import Loaded
from rookery.search.analysis import Analysis, Line


@dataclass(frozen=True)
class Tried:
    """The positions after all moves of a turn."""

    actions: list[int]
    after: list[Position]

    def asked(self) -> list[Position]:
        """Return those that the network is asked about."""
        return [position for position in self.after if not position.over]


class LookAheadPlayer(Analyst):
    """A player that plays the move after which a network likes the position most."""

    def __init__(self, loaded: Loaded, device: str = "auto"):
        """Make a player of a network; one thread judges, since matches are played on several."""
        self.evaluator = NetworkEvaluator(loaded.network, loaded.about.observation, device=device, threads=1)

    def choose(self, turn: Turn) -> Choice:
        """Try all moves."""
        return self.choose_many([turn])[0]

    def choose_many(self, turns: Sequence[Turn]) -> list[Choice]:
        """Try all moves of several games, and judge what comes of them together."""
        tried = [tried_moves(turn.position) for turn in turns]
        observations = [
            position.observe(self.evaluator.kind).reshape(-1) for each in tried for position in each.asked()
        ]
        values = iter(self.evaluator(np.stack(observations))[1].tolist() if observations else ())
        choices = []
        for turn, each in zip(turns, tried, strict=True):
            worth = [worth_of(turn.position, after, 0.0 if after.over else next(values)) for after in each.after]
            order = sorted(range(len(worth)), key=lambda i: -worth[i])
            lines = tuple(Line(each.actions[i], worth[i], 1, 0.0, (each.actions[i],)) for i in order)
            analysis = Analysis(lines[0].action, lines[0].value, lines, len(lines), 1)
            choices.append(Choice(analysis.action, analysis))
        return choices


def tried_moves(position: Position) -> Tried:
    """Play every legal move."""
    actions, after = [int(action) for action in position.legal()], []
    for action in actions:
        after.append(position.copy())
        after[-1].play(action)
    return Tried(actions, after)


def worth_of(before: Position, after: Position, value: float) -> float:
    """Return what a position is worth to the mover before it: its payoff, or the value to whose turn it is."""
    if after.over:
        return after.payoff(before.mover)
    teams = before.game.teams
    return value if teams[after.mover] == teams[before.mover] else -value
