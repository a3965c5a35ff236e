"""What a page has searched for itself, beside the opponent's moves: an analysis, a hint, the costs of a hand.

No browser is needed here. Nothing is begun that would tell the visitor of hidden tiles.
"""

from __future__ import annotations

from collections.abc import Hashable

from rookery.web.reckoning import Reckoning, can_be_reckoned
from rookery.web.session import GameSession
from rookery.web.site import Site
from rookery.web.thinking import Thought


class Looking:
    """The searches of one page; each is read while the page is there, and ends with it."""

    def __init__(self, site: Site, visitor: str):
        self.site, self.visitor = site, visitor
        self.analysis: Thought | None = None
        self.hint: Thought | None = None
        self.reckoning: Reckoning | None = None
        self.about: Hashable = None
        """what is analysed"""

    def analyse(self, session: GameSession, ply: int, analyst: str, about: Hashable) -> Thought | None:
        """Return the analysis of a position, begun now if it is another one or was cut short; None if there is none."""
        thought = self.analysis
        if thought is None or self.about != about or (thought.ended.is_set() and thought.stop[0]):
            self.stop_analysis()
            self.about = about
            self.analysis = self.begin_analysis(session, ply, analyst)
        return self.analysis

    def begin_analysis(self, session: GameSession, ply: int, analyst: str) -> Thought | None:
        """Begin an analysis by all levels of a player, the weakest first."""
        position = session.positions[ply]
        hidden = session.game.information == "hidden" and not session.over
        if position.over or (hidden and position.mover not in session.plan.people):
            return None
        chosen = next((one for one in self.site.opponents(session.game) if one.name == analyst), None)
        explains = session.game.information == "hidden"
        return self.site.host.think(session, chosen.texts, self.visitor, ply, advice=explains) if chosen else None

    def stop_analysis(self) -> None:
        """End the analysis."""
        if self.analysis is not None:
            self.analysis.cancel()
        self.analysis = None

    def ask_hint(self, session: GameSession) -> bool:
        """Ask the game's first player what it would do; only on the visitor's turn."""
        if not session.persons_turn or self.hint is not None:
            return False
        first = self.site.opponents(session.game)[0]
        self.hint = self.site.host.think(session, (first.text(first.usual),), self.visitor, urgent=True)
        return True

    def take_hint(self) -> Thought | None:
        """Return a hint once it is there."""
        thought = self.hint
        if thought is not None:
            thought.read()
            if thought.ended.is_set():
                self.hint = None
                return thought
        return None

    def drop_hint(self) -> None:
        """Forget a hint that was asked for."""
        if self.hint is not None:
            self.hint.cancel()
        self.hint = None

    def reckon(self, session: GameSession) -> None:
        """Begin to reckon what each play of a finished hand has cost."""
        if self.reckoning is None and can_be_reckoned(session):
            self.reckoning = Reckoning(session.position.copy(), session.plan.seed)
            self.reckoning.owner = self.visitor
            self.site.host.desk.submit(self.reckoning)

    def leave(self) -> None:
        """End everything."""
        self.stop_analysis()
        self.drop_hint()
        if self.reckoning is not None:
            self.reckoning.cancel()
        self.reckoning = None
