"""Games of a network against itself, to be looked at while it is trained.

The player is the newest checkpoint of a run, with as many simulations as the run's own games have, and after as many
random moves. The desk thinks for it as for any opponent, and stops when nobody looks.
"""

from __future__ import annotations

import random
from pathlib import Path

from rookery.arena.networks import newest_checkpoint
from rookery.errors import BadInput
from rookery.games.library import load
from rookery.games.pictures.scene import Picture
from rookery.learn.book import middle_of
from rookery.learn.runs import CONFIG
from rookery.learn.settings import read_settings
from rookery.web.games import OFFERS
from rookery.web.host import Host
from rookery.web.opponents import is_plain
from rookery.web.session import MOST_SEED, GameSession, Plan
from rookery.web.store import Kept, Store
from rookery.web.thinking import Desk


class Watching:
    """The games that are looked at; none is kept when the server ends."""

    def __init__(self, desk: Desk):
        self.host = Host(Store(None), desk)

    def prepare(self, folder: Path, seed: int) -> GameSession:
        """Set up a game of a run's newest checkpoint; may compile, so never in the thread of the pages."""
        if not is_plain(folder):
            raise BadInput(f"the folder {str(folder)!r} has a sign in its name that no player's text can hold")
        checkpoint, settings = newest_checkpoint(folder), read_settings(folder / CONFIG)
        text = f"net:{checkpoint},sims={settings.selfplay.simulations}"
        session = GameSession(Plan(load(settings.game).spec, frozenset(), text, seed % MOST_SEED))
        chance, middle = random.Random(seed), middle_of(load(settings.game), settings.selfplay.random_middle)
        while session.ply < settings.selfplay.random_plies and not session.over:
            session.make(int(chance.choice([a for a in session.position.legal() if not middle or a in middle])))
        picture_of(session)  # what has to be compiled for it is compiled here
        return session

    def begin(self, visitor: str, session: GameSession) -> Kept:
        """Let a game be played."""
        return self.host.store.add(visitor, session)

    def end(self, kept: Kept | None) -> None:
        """Forget a game that nobody looks at any more."""
        if kept is not None and kept.id in self.host.store.games:
            self.host.drop_thought(kept)
            self.host.store.forget(kept.id)

    def close(self) -> None:
        """Free what belongs to the games."""
        self.host.store.close()


def checkpoint_of(session: GameSession) -> str:
    """Return the name of the checkpoint that plays a game."""
    return Path(session.plan.opponent.removeprefix("net:").partition(",")[0]).name


def picture_of(session: GameSession) -> Picture | None:
    """Draw the position of a game; None if nobody has drawn a board for it."""
    offer = OFFERS.get(session.game.name)
    return offer.draw(session.scene()) if offer else None
