"""Players that search with a network.

In a match the games of one player are searched together, so that the network judges the leaves of all of them in one
pass. What a game becomes does not depend on that: every tree draws from the seed of its own turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from rookery.arena.evaluator import NetworkEvaluator
from rookery.arena.player import Choice, Turn
from rookery.arena.searching import Search, SearchPlayer, imported_search
from rookery.nets.files import Loaded
from rookery.search.analysis import Limits, Watch
from rookery.search.evaluator import Evaluator
from rookery.search.tree_arrays import EDGE
from rookery.search.tree_settings import TreeSettings

if TYPE_CHECKING:
    from rookery.search.trees import Trees

MOST_BYTES = 2_000_000_000  # of trees searched together


class NetworkPlayer(SearchPlayer):
    """A player that plays what a tree search with a network finds."""

    def __init__(
        self, loaded: Loaded, limits: Limits, usual: Limits, settings: Mapping[str, Any] | None = None,
        device: str = "auto", cache: int = 0, precision: str = "auto",
    ):  # fmt: skip
        """Make a player of a network; one thread judges, since matches are played on several."""
        super().__init__("rookery.search.trees", limits, usual, settings, ("stream", "ply"))
        kind = loaded.about.observation
        self.evaluator = NetworkEvaluator(loaded.network, kind, device, precision, threads=1, cache=cache)
        self.judge: Evaluator = self.evaluator
        """whom the search asks: the network, or someone who asks it"""

    @cached_property
    def search(self) -> Search:
        """The search, asking the network."""
        return partial(imported_search(self.module), evaluator=self.judge)

    def choose_many(self, turns: Sequence[Turn]) -> list[Choice]:
        """Search several games together; those with a time of their own one after another."""
        limits = [self.limits_for(turn) for turn in turns]
        if any(limit.seconds is not None for limit in limits):
            return [self.choose(turn) for turn in turns]
        simulations = limits[0].nodes or TreeSettings().simulations
        room = simulations * max(1, turns[0].position.game.most_legal) * EDGE.itemsize
        together = max(1, MOST_BYTES // room)
        groups = [turns[first : first + together] for first in range(0, len(turns), together)]
        return [choice for group in groups for choice in self.chosen(group, simulations)]

    def chosen(self, turns: Sequence[Turn], simulations: int) -> list[Choice]:
        """Search games together."""
        from rookery.search.trees import Trees

        settings = TreeSettings(simulations=simulations, **self.settings)
        trees = Trees(turns[0].position.game, settings, len(turns))
        positions, seeds = [turn.position for turn in turns], [turn.seed for turn in turns]
        trees.begin(positions, seeds, [len(turn.moves) for turn in turns])
        trees.run(self.judge, watch=Watch(stop=turns[0].stop))
        return self.told(trees)

    def told(self, trees: Trees) -> list[Choice]:
        """Tell the move of each game, and what the search thought."""
        found = [trees.analysis(number) for number in range(trees.count)]
        return [Choice(analysis.action, analysis) for analysis in found]
