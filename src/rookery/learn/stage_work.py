"""The two kinds of work in a stage, imitation and self-play, seen alike: generation after generation."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from rookery.errors import BadInput
from rookery.games.library import load
from rookery.learn.imitation import SHARDS, Imitation, ImitationSettings, make_imitation
from rookery.learn.loop import PlayersMaker, Training, new_run, self_play
from rookery.learn.runs import CONFIG, Run, rounded
from rookery.learn.settings import RunSettings
from rookery.learn.spread import Spreader
from rookery.learn.summaries import flattened

Say = Callable[[str, int, int, str], None]
"""told what is being counted, how much of it is done, of how much, and figures in a few words"""
Stop = Callable[[], bool]


@dataclass(frozen=True)
class Generation:
    """What a stage has come to."""

    number: int
    """passes made, or games played"""
    network: Path
    figures: dict[str, Any] = field(default_factory=dict)


class Work(Protocol):
    """A stage at work, whatever its kind."""

    def next(self, judged: int, stop: Stop, say: Say) -> Generation | None:
        """Return the first generation after number `judged`; None if told to stop before there was one."""

    def network_of(self, number: int) -> Path:
        """Return where the network of a generation lies."""

    @property
    def exhausted(self) -> bool:
        """Whether there is nothing left to do."""

    @property
    def newest(self) -> int:
        """The number of the newest generation, judged or not."""

    def close(self) -> None:
        """Let others have the folder."""


# ---- the two kinds of work -----------------------------------------------------------------------


def none_ahead(shards: Path, settings: ImitationSettings) -> None:
    """Bring no lessons: they are made when they are needed."""


@dataclass(frozen=True)
class Help:
    """Who plays games and makes lessons: this process, unless others help it."""

    players: PlayersMaker = self_play
    spread: Spreader | None = None
    bring: Callable[[Path, ImitationSettings], None] = none_ahead
    """puts lessons that were made ahead where a stage looks for them"""


ALONE = Help()


class ImitationWork:
    """Passes over what a supervisor does."""

    def __init__(self, folder: Path, settings: ImitationSettings, help_with: Help = ALONE):
        self.spread = help_with.spread
        if not (folder / CONFIG).exists():
            make_imitation(folder, settings)
        self.imitation = Imitation(folder)
        same_settings(folder, self.imitation.settings, settings)
        self.imitation.__enter__()
        help_with.bring(folder / SHARDS, settings)

    def next(self, judged: int, stop: Stop, say: Say) -> Generation | None:
        """Make a pass."""
        work, wanted = self.imitation, self.imitation.settings.lessons.positions

        def note(found: int) -> None:
            say("positions", found, wanted, "")

        if work.trainer is None and not work.prepare(stop, note, self.spread):
            return None
        if work.passes <= judged:
            last = (work.figures.read() or [{}])[-1]
            figures = f"policy loss {last['policy_loss']:.3f}, agreed {last['agreed']:.3f}" if last else ""
            if not work.one_pass(stop, lambda steps: say("steps", steps, work.planned, figures)):
                return None
        line = work.figures.read()[-1]
        return Generation(line["pass"], work.network, line)

    def network_of(self, number: int) -> Path:
        """Return the newest network; earlier ones are not kept."""
        return self.imitation.network

    @property
    def exhausted(self) -> bool:
        """Whether all passes are made."""
        return self.imitation.passes >= self.imitation.settings.training.passes

    @property
    def newest(self) -> int:
        """The passes made."""
        return self.imitation.passes

    def close(self) -> None:
        """Let others have the folder."""
        self.imitation.lock.give_back()


class SelfplayWork:
    """A run, from checkpoint to checkpoint."""

    def __init__(self, folder: Path, settings: RunSettings, help_with: Help = ALONE):
        run = Run.open(folder) if (folder / CONFIG).exists() else new_run(folder, settings)
        same_settings(folder, run.settings, settings)
        self.run = run.training()
        try:
            self.training = Training(run, players=help_with.players)
        except BaseException:
            self.close()
            raise

    def next(self, judged: int, stop: Stop, say: Say) -> Generation | None:
        """Train until there is a new checkpoint."""
        training, games = self.training, self.run.settings.selfplay.games

        def note(figures: dict[str, Any]) -> None:
            losses = [
                f"{name} loss {figures[f'loss/{name}']:.3f}"
                for name in ("policy", "value")
                if "loss/" + name in figures
            ]
            say("games", figures["games"], games, ", ".join(losses))

        training.say = note
        if training.checkpointed <= judged:
            training.train(lambda: stop() or training.checkpointed > judged)
        if training.checkpointed <= judged:
            return None
        return Generation(training.checkpointed, self.network_of(training.checkpointed), self.losses(judged))

    def losses(self, judged: int) -> dict[str, Any]:
        """Return the mean losses of the training calls since a generation; None where there was none."""
        lines = [line for line in self.run.losses.read() if line["step"] > judged]
        means = {}
        for name in ("policy_loss", "value_loss"):
            known = [line[name] for line in lines if line[name] is not None]
            means[name] = rounded(sum(known) / len(known), 9) if known else None
        return means

    def network_of(self, number: int) -> Path:
        """Return the checkpoint after so many games."""
        return self.run.checkpoint_path(number)

    @property
    def exhausted(self) -> bool:
        """Whether all games are played."""
        return self.training.games >= self.run.settings.selfplay.games

    @property
    def newest(self) -> int:
        """The games at the last checkpoint."""
        return self.training.checkpointed

    def close(self) -> None:
        """Let others have the folder."""
        self.run.lock.give_back()


def same_settings(folder: Path, found: Any, wanted: Any, besides: Collection[str] = ()) -> None:
    """Refuse to go on with a stage whose settings were changed, besides some keys.

    The folder its weights came from may have moved.
    """
    free = {"start", "threads", *besides}
    ours, theirs = (each.model_dump(exclude=free) | {"game": load(each.game).spec} for each in (found, wanted))
    before, now = flattened(ours), flattened(theirs)
    keys = [key for key in {**before, **now} if before.get(key) != now.get(key)]
    if keys:
        changed = ", ".join(f"{key} was {before.get(key, 'not there')}, is {now.get(key, 'not there')}" for key in keys)
        raise BadInput(
            f"{folder} was begun with other settings ({changed}), which cannot change while it goes on; change them "
            f"back, or `rookery resume {folder.parent.parent} --from {folder.name}` begins the stage anew"
        )
