"""Lessons of the Gomoku study, made before anything is trained: a card does not wait for processors.

    lessons/baseline-depth-6-1f0c.../   games of a supervisor on one board from one seed
      about.json                        what they are of, and how many positions are there
      shard_00000.npz, ...              as a stage of imitation keeps them

What is in a folder follows from its name, so games that were made on another machine are those that would be made here.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rookery.games.library import load
from rookery.learn.files import write_json, write_whole
from rookery.learn.imitation import ImitationSettings, lesson_seed
from rookery.learn.lessons import gather_lessons
from rookery.learn.locks import patient_lock
from rookery.learn.spread import Over, Say, Spreader

FOLDER, ABOUT, LOCK = "lessons", "about.json", ".lock"
FREE = {"positions", "held_out", "threads"}  # settings that change no game


@dataclass(frozen=True)
class Ahead:
    """The lessons of one stage."""

    study: Path
    settings: ImitationSettings

    def facts(self) -> dict[str, Any]:
        """Return all that the games follow from."""
        game = load(self.settings.game)
        how = self.settings.lessons.model_dump(mode="json", exclude=FREE)
        return {"game": game.spec, "rules_version": game.version, "seed": lesson_seed(self.settings)} | how

    @property
    def folder(self) -> Path:
        """Where they lie."""
        mark = hashlib.sha256(json.dumps(self.facts(), sort_keys=True).encode()).hexdigest()[:12]
        return self.study / FOLDER / f"{re.sub(r'[^a-z0-9]+', '-', self.settings.lessons.supervisor)}-{mark}"

    @property
    def positions(self) -> int:
        """How many positions were there when somebody counted them."""
        try:
            return int(json.loads((self.folder / ABOUT).read_bytes())["positions"])
        except (OSError, ValueError, KeyError, TypeError):
            return 0  # they are counted again

    @property
    def complete(self) -> bool:
        """Whether there are as many as the stage wants."""
        return self.positions >= self.settings.lessons.positions

    def make(self, over: Over, say: Say, spread: Spreader | None = None) -> bool:
        """Make what is missing, here or by `spread` elsewhere; tell whether all is there.

        Another process that makes the same is waited for.
        """
        if self.complete:
            return True
        wanted = self.settings.lessons.positions
        self.folder.mkdir(parents=True, exist_ok=True)
        waiting = partial(say, self.positions, wanted, "another process makes them; waiting")
        with patient_lock(self.folder / LOCK, over, waiting) as mine:
            return mine and (self.complete or self.gather(over, say, spread))

    def gather(self, over: Over, say: Say, spread: Spreader | None) -> bool:
        """Make what is missing; tell whether all is there."""
        wanted = self.settings.lessons.positions
        found = gather_lessons(
            self.folder, load(self.settings.game), self.settings.lessons, lesson_seed(self.settings), over,
            lambda positions: say(positions, wanted, ""), spread,
        )  # fmt: skip
        if found is None:
            return False
        write_json(self.folder / ABOUT, self.facts() | {"positions": sum(some.positions for some in found)})
        return True

    def hand_to(self, shards: Path) -> None:
        """Put the games where the stage looks for them; those that are there stay."""
        for path in sorted(self.folder.glob("shard_*.npz")):
            if not (shards / path.name).exists():
                shards.mkdir(exist_ok=True)
                write_whole(shards / path.name, path.read_bytes(), sync=False)


def bring_from(study: Path) -> Callable[[Path, ImitationSettings], None]:
    """Return what brings lessons of a study to a stage."""
    return lambda shards, settings: Ahead(study, settings).hand_to(shards)
