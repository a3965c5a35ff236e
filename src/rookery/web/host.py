"""The host of all games: lets opponents move, and does what visitors ask. No browser is needed here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rookery.web.session import GameSession
from rookery.web.store import Kept, Store
from rookery.web.thinking import Desk, Thought


class Host:
    """Brings together the games and those who think about them. Used by one thread, that of the page."""

    def __init__(self, store: Store, desk: Desk):
        self.store, self.desk = store, desk

    def advance(self, kept: Kept) -> bool:
        """Ask the opponent for a move, or take the one it has found; return whether something has changed.

        Called again and again as long as a page shows the game; when nobody calls, the opponent's search ends.
        """
        session, thought = kept.session, kept.thought
        session.count_time()
        if session.over or session.persons_turn:
            self.drop_thought(kept)
            return False
        if thought is None:
            if not kept.trouble:
                kept.thought = self.think(session, (session.plan.opponent,), kept.visitor, urgent=True)
            return False
        thought.read()
        if not thought.ended.is_set():
            return False
        kept.thought = None
        return self.take(kept, thought)

    def take(self, kept: Kept, thought: Thought) -> bool:
        """Make the move that an opponent has found; a search that was cut short or refused is asked for again."""
        if len(thought.actions) != kept.session.ply or thought.stop[0] or thought.refused:
            return False
        if thought.failure or thought.choice is None:
            kept.trouble = thought.failure or "the opponent gave no answer"
        elif not kept.session.answer(thought.choice.action, len(thought.actions)):
            kept.trouble = f"{kept.session.plan.opponent} chose a move that is not legal"
        self.store.change(kept)
        return True

    def think(
        self, session: GameSession, texts: tuple[str, ...], owner: str, ply: int | None = None,
        urgent: bool = False, advice: bool = False,
    ) -> Thought:  # fmt: skip
        """Have players look at a position of a game, by what its mover can see, and explain themselves if wanted."""
        ply = session.ply if ply is None else ply
        start, position = session.positions[0].copy(), session.positions[ply].copy()
        thought = Thought(texts, start, tuple(session.actions[:ply]), position, session.plan.seed)
        thought.owner, thought.urgent, thought.wants_advice = owner, urgent, advice
        return self.desk.submit(thought)

    def drop_thought(self, kept: Kept) -> None:
        """End what the opponent thinks about."""
        if kept.thought is not None:
            kept.thought.cancel()
            kept.thought = None

    # -- what visitors ask --

    def play(self, kept: Kept, action: Any, ply: Any) -> bool:
        """Make a visitor's move."""
        return self.changed(kept, kept.session.play(action, ply))

    def undo(self, kept: Kept) -> bool:
        """Take the visitor's last move back."""
        return self.changed(kept, kept.session.undo())

    def resign(self, kept: Kept) -> bool:
        """Give up for the visitor."""
        return self.changed(kept, kept.session.resign())

    def retry(self, kept: Kept) -> bool:
        """Ask an opponent again that has failed."""
        return self.changed(kept, bool(kept.trouble))

    def seat_opponent(self, kept: Kept, text: str) -> bool:
        """Let another player go on with the game."""
        differs = text != kept.session.plan.opponent
        if differs:
            kept.session.plan = replace(kept.session.plan, opponent=text)
        return self.changed(kept, differs)

    def changed(self, kept: Kept, done: bool) -> bool:
        """Note a change, if there was one."""
        if done:
            self.drop_thought(kept)
            kept.trouble = ""
            self.store.change(kept)
        return done
