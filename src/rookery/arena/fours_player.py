"""Players of Gomoku that search with a network and look for wins by continuous fours.

At the root such a win is played at once. With `leaves` it is looked for at every leaf, too: the search knows then which
moves let the other side win by fours, and carries such proofs up the tree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

from rookery.arena.network_player import NetworkPlayer
from rookery.arena.player import Choice, Turn
from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.gomoku_board import has_walls
from rookery.games.position import Position
from rookery.nets.files import Loaded
from rookery.search.analysis import Analysis, Limits, Line, Watch
from rookery.search.gomoku_fours import SeesFours, refuse_other_games
from rookery.search.gomoku_vcf import search_fours

ROOT_NODES = 20_000
"""attacks to try before a search, a few milliseconds"""


def won_by_fours(turn: Turn) -> Analysis | None:
    """Return the win by fours of a turn's mover, if there is one within the nodes."""
    found = search_fours(turn.position, ROOT_NODES, Watch(stop=turn.stop))
    if found.line is None:
        return None
    line = Line(found.line[0], 1.0, found.nodes, None, found.line)
    return Analysis(found.line[0], 1.0, (line,), found.nodes, len(found.line), proven=True, note="wins by fours")


class FoursPlayer(NetworkPlayer):
    """A player that plays a win by fours, or what a tree search with a network finds."""

    def __init__(
        self, loaded: Loaded, game: Game, where: str, limits: Limits, usual: Limits,
        settings: Mapping[str, Any] | None = None, device: str = "auto", cache: int = 0, precision: str = "auto",
    ):  # fmt: skip
        """Make a player of a network that looks for fours at the `root`, or there and at the `leaves`."""
        refuse_other_games(game)
        at_leaves = where == "leaves"
        if at_leaves and not dict(settings or {}).get("prove", True):
            raise BadInput("prove=false does not go with vcf=leaves: a win by fours that is found is a proof")
        known = dict(settings or {}) | ({"prove": True} if at_leaves else {})
        super().__init__(loaded, limits, usual, known, device, cache, precision)
        if at_leaves:
            self.judge = SeesFours(self.judge, game)

    def prepare(self, start: Position) -> None:
        """Compile the search for fours and that of the tree."""
        if not self.prepared and not start.over:
            search_fours(start, 1)
        super().prepare(start)

    def analyse(self, turn: Turn) -> Analysis:
        """Look for fours, then search; where points are out of the game, leaves do not show it, and are left alone."""
        player = self.blind_at_leaves() if has_walls(turn.position.state) else self
        return won_by_fours(turn) or NetworkPlayer.analyse(player, turn)

    def blind_at_leaves(self) -> FoursPlayer:
        """Return the same player, who asks the network alone."""
        found = copy(self)
        found.judge = self.evaluator
        found.__dict__.pop("search", None)  # it asks who judged before
        return found

    def choose_many(self, turns: Sequence[Turn]) -> list[Choice]:
        """Look for fours in every game, and search the others together."""
        known = [won_by_fours(turn) for turn in turns]
        others = [turn for turn, found in zip(turns, known, strict=True) if found is None]
        searched = iter(super().choose_many(others) if others else ())
        return [Choice(found.action, found) if found else next(searched) for found in known]
