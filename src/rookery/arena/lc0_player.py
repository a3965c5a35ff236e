"""Players that search as Lc0 does, with one of its networks.

A choice depends on its turn alone: each begins with an empty tree, and the network computes on one thread of a CPU. On
a card it computes in bf16.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import Any

from rookery.arena.evaluator import chosen_device, steady
from rookery.arena.player import Turn
from rookery.arena.searching import Search, SearchPlayer, imported_search
from rookery.lc0.evaluator import Evaluator, load
from rookery.search.analysis import Analysis, Limits

USUAL = Limits(nodes=400)


class Lc0Player(SearchPlayer):
    """A player that plays what Lc0's search finds."""

    def __init__(self, evaluator: Evaluator, limits: Limits, settings: Mapping[str, Any] | None = None):
        super().__init__("rookery.lc0.search", limits, USUAL, settings)
        self.evaluator = evaluator

    @cached_property
    def search(self) -> Search:
        """The search, asking the network."""
        return partial(imported_search(self.module), evaluator=self.evaluator)

    def analyse(self, turn: Turn) -> Analysis:
        """Search a turn."""
        with steady(self.evaluator.device):
            return super().analyse(turn)


def load_player(path: str, limits: Limits, settings: Mapping[str, Any]) -> Lc0Player:
    """Make a player of a weight file."""
    device = chosen_device("auto").type
    evaluator = load(path, device, "bf16" if device == "cuda" else "f32", remembered=0)
    return Lc0Player(evaluator, limits, settings)
