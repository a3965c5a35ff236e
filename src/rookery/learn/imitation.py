"""Imitation: a network learns what a supervisor does, before it plays itself.

    make_imitation("imitated", settings)
    with Imitation("imitated") as imitation:
        imitation.learn()              # imitated/network.pth

A stage of imitation is a folder:

    config.yaml       its settings, every key
    start.pth         the weights it began with, if it was given any
    shards/           the supervisor's games (`lessons`)
    figures.jsonl     a line for each pass over the positions
    network.pth       the network after the newest pass
    state/            a snapshot of what learning holds in memory

A replay is filled with the games once and for all, and the trainer of self-play learns from it. Games, steps and the
first weights follow from the seed: killed and resumed on a CPU with as many threads, the weights are the same.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import torch
from pydantic import ValidationError, model_validator

from rookery.arena import networks
from rookery.arena.evaluator import chosen_device
from rookery.errors import BadInput
from rookery.games.library import load
from rookery.games.rng import random_bits
from rookery.learn.book import Rows
from rookery.learn.complaints import in_one_message, problem_lines
from rookery.learn.files import LineLog, is_part, save_whole, sweep, told, write_whole
from rookery.learn.lessons import SHARD, Lessons, baseline_depth, count_held_out, gather_lessons, is_held_out, rows_of
from rookery.learn.locks import Lock
from rookery.learn.losses import losses
from rookery.learn.network_sections import NetworkSettings
from rookery.learn.replay import Replay
from rookery.learn.runs import CONFIG, LOCK, START, STATE, rounded
from rookery.learn.sections import (
    ImitationTraining,
    LessonSettings,
    PlayingPrecision,
    Section,
    Text,
    TrainingSettings,
    refuse,
    span,
)
from rookery.learn.settings import muon_problems, network_problems, network_values
from rookery.learn.snapshots import Snapshot, load_snapshot, save_snapshot
from rookery.learn.spread import Spreader
from rookery.learn.starts import first_network, start_bytes
from rookery.learn.threads import fastest_threads
from rookery.learn.trainer import Trainer, learning_rate
from rookery.learn.yaml_text import read_yaml, yaml_text
from rookery.nets.configs import read_config
from rookery.nets.files import About, save_network
from rookery.nets.network import Network
from rookery.search.threads import cores, new_stop, on_threads

SHARDS, FIGURES, NETWORK = "shards", "figures.jsonl", networks.IMITATED
LESSONS = (1 << 62) + 2  # the stream of random numbers that are seeds of lessons
TOGETHER = 20  # steps between two looks at the outside world
SNAPSHOT = 60.0  # seconds after which the state is saved inside a pass
JUDGED = 1024  # positions judged at once


class ImitationSettings(Section):
    """Everything that makes a stage of imitation what it is."""

    game: Text
    """the game, as in the settings of a run"""
    seed: Annotated[int, span(-(2**63), 2**63 - 1)] = 1
    """same seed, same weights"""
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    """where the network learns"""
    threads: Annotated[int, span(0, 1024)] = 0
    """processor threads of the network; 0: as many as are fastest, measured when the stage is made"""
    precision: PlayingPrecision = "auto"
    """numbers in which the network plays when it is judged, as in the settings of a run"""
    start: Text = ""
    """weights to begin with, as in the settings of a run"""
    network: NetworkSettings
    """the network"""
    lessons: LessonSettings = LessonSettings()
    """what it imitates"""
    training: ImitationTraining = ImitationTraining()
    """how it learns"""

    @model_validator(mode="after")
    def fits(self) -> ImitationSettings:
        """Refuse values that exclude each other, and what the game does not have."""
        refuse(*imitation_problems(self))
        return self


def imitation_problems(settings: ImitationSettings) -> list[str]:
    """Say what these settings ask for and cannot be had."""
    lessons, training = settings.lessons, settings.training
    found = []
    taught = int(lessons.positions * (1 - lessons.held_out))
    if training.batch > taught:
        found.append(f"training.batch: must be at most {taught}, the positions that are taught, not {training.batch}")
    try:
        game = load(settings.game)
    except BadInput as error:
        return [*found, f"game: {error}"]
    try:
        depth = baseline_depth(lessons.supervisor, game)
    except BadInput as error:
        return [*found, f"lessons: {error}"]
    if lessons.temperature and not depth:
        found.append(
            f"lessons.temperature: must be 0, since {lessons.supervisor} does not score every move of {game.label}"
        )
    if game.information != "perfect":
        found.append(f"game: nothing can be imitated in {game.label}, since something is hidden in it")
    symmetries = game.symmetries() if training.symmetries else None
    if symmetries and (len(symmetries) == 1 or settings.network.observation not in symmetries.observations):
        found.append(f"training.symmetries: must be false, since {game.label} has none")
    return [*found, *network_problems(settings.network, game), *muon_problems(settings.network, training.muon)]


def lesson_seed(settings: ImitationSettings) -> int:
    """Return the seed of the supervisor's games."""
    return int(random_bits(settings.seed, LESSONS, 0)) >> 1


def read_imitation(folder: Path) -> ImitationSettings:
    """Read the settings of a stage, or tell everything that is wrong with them."""
    path = folder / CONFIG
    try:
        return ImitationSettings.model_validate(read_yaml(path.read_text(encoding="utf-8"), str(path)))
    except OSError as error:
        raise BadInput(f"{folder} is no stage of imitation: {CONFIG}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is no text: byte {error.start} is not UTF-8") from None
    except ValidationError as error:
        raise BadInput(in_one_message(str(path), problem_lines(error, ImitationSettings, {}))) from None


def make_imitation(folder: str | os.PathLike[str], settings: ImitationSettings) -> None:
    """Make the folder of a stage, the settings last: without them it is none."""
    path, game = Path(folder), load(settings.game)
    values = network_values(settings.network, game)
    if not settings.threads and chosen_device(settings.device).type == "cpu":
        threads = fastest_threads(read_config(values), settings.training.batch)
        settings = settings.model_copy(update={"threads": threads})
    start = start_bytes(settings.start, values, settings.network.observation) if settings.start else None
    with told(path):
        os.makedirs(path, exist_ok=True)
        if not all(entry.name == START or is_part(entry) for entry in path.iterdir()):  # a killed process leaves these
            raise BadInput(f"{path} is not empty; a new stage of imitation needs a new folder")
        sweep(path)
    if start:
        write_whole(path / START, start)
    write_whole(path / CONFIG, yaml_text(settings.model_dump(mode="json")).encode())


class Imitation:
    """A stage in its folder; `with` takes its lock."""

    def __init__(self, folder: str | os.PathLike[str]):
        """Open a stage; nothing is made ready before `learn` is called."""
        self.folder = Path(folder)
        self.settings = read_imitation(self.folder)
        self.game = load(self.settings.game)
        self.figures = LineLog(self.folder / FIGURES)
        self.lock = Lock(self.folder / LOCK)
        self.trainer: Trainer | None = None

    def __enter__(self) -> Imitation:
        self.lock.take()
        sweep(self.folder)
        self.figures.mend()
        return self

    def __exit__(self, *trouble: object) -> None:
        self.lock.give_back()

    @property
    def network(self) -> Path:
        """The network after the newest pass."""
        return self.folder / NETWORK

    @property
    def passes(self) -> int:
        """Passes made."""
        return len(self.figures.read())

    # -- making ready --

    def gathered(
        self,
        stop: Callable[[], bool] = lambda: False,
        say: Callable[[int], None] = lambda positions: None,
        spread: Spreader | None = None,
    ) -> list[Lessons] | None:
        """Return the supervisor's games, making those that are missing; None if told to stop before all were there."""
        settings, seed = self.settings, lesson_seed(self.settings)
        return gather_lessons(self.folder / SHARDS, self.game, settings.lessons, seed, stop, say, spread)

    def prepare(
        self,
        stop: Callable[[], bool] = lambda: False,
        say: Callable[[int], None] = lambda positions: None,
        spread: Spreader | None = None,
    ) -> bool:
        """Gather the supervisor's games and take up learning where it was; False if told to stop before.

        `say` is told how many positions there are; `spread` makes the games, where it is not this process.
        """
        settings, lessons = self.settings, self.gathered(stop, say, spread)
        if lessons is None:
            return False
        device = "cuda" if chosen_device(settings.device).type == "cuda" else "cpu"  # as runs do
        if settings.threads:
            torch.set_num_threads(settings.threads)
        self.fill(lessons, device)
        self.per_pass = max(1, self.replay.filled // settings.training.batch)
        self.planned = self.per_pass * settings.training.passes
        start = self.folder / START if settings.start else None
        config = read_config(network_values(settings.network, self.game))
        shared = settings.training.model_dump(exclude={"passes"})
        how = TrainingSettings(**shared, replay=max(self.replay.capacity, settings.training.batch))
        network = first_network(config, settings.seed, start)
        self.trainer = Trainer(network, how, self.planned, settings.seed, self.replay)
        self.go_on(self.trainer)
        return True

    def fill(self, lessons: list[Lessons], device: str) -> None:
        """Put the positions of the games into a replay, those held out into another."""
        settings, kind = self.settings.lessons, self.settings.network.observation
        count, total = count_held_out(lessons, settings.held_out), sum(some.positions for some in lessons)
        if not count or total - count < self.settings.training.batch:
            raise BadInput(
                f"{self.folder}: of {total} positions {count} are held out; lessons.positions must be more for a batch "
                f"of {self.settings.training.batch}"
            )
        self.replay = Replay(self.game, kind, total - count, device, self.settings.training.symmetries)
        self.kept = Replay(self.game, kind, count, device)

        def rows(number: int) -> Rows:
            return rows_of(self.game, kind, lessons[number], number * SHARD, settings.temperature)

        for first in range(0, len(lessons), cores()):  # no more at once: rows are large
            some = range(first, min(first + cores(), len(lessons)))
            for found in on_threads(rows, some, len(some), new_stop()):
                apart = is_held_out(found.games, settings.held_out)
                self.replay.add(Rows(*(column[~apart] for column in found)))
                self.kept.add(Rows(*(column[apart] for column in found)))

    def go_on(self, trainer: Trainer) -> None:
        """Take up the state that was saved, and forget what came after it."""
        self.sums = np.zeros(2)
        """of the value and policy losses over the steps of this pass"""
        snapshot = load_snapshot(self.folder / STATE)
        if snapshot:
            trainer.load(snapshot.torch_state)
            self.sums = np.array(snapshot.values["sums"])
        self.figures.keep_until("pass", trainer.steps // self.per_pass)
        self.saved_at = time.monotonic()

    # -- learning --

    def learn(self, stop: Callable[[], bool] = lambda: False, say: Callable[[int], None] = lambda steps: None) -> bool:
        """Make all passes; False if `stop` said so before, with the state saved. `say` is told the steps made."""
        if self.trainer is None and not self.prepare(stop):
            return False
        while self.passes < self.settings.training.passes:
            if not self.one_pass(stop, say):
                return False
        return True

    def one_pass(
        self, stop: Callable[[], bool] = lambda: False, say: Callable[[int], None] = lambda steps: None
    ) -> bool:
        """Finish a pass, judge the network and save it; False if `stop` said so before, with the state saved."""
        trainer = self.trainer
        assert trainer is not None, "prepare() comes first"
        end = (trainer.steps // self.per_pass + 1) * self.per_pass
        while trainer.steps < end:
            if stop():
                self.save_state(trainer)
                return False
            count = min(TOGETHER, end - trainer.steps)
            found = trainer.train(trainer.steps, count)
            self.sums += count * torch.stack([found.value, found.policy]).cpu().double().numpy()
            say(trainer.steps)
            if (
                trainer.steps < end and time.monotonic() - self.saved_at >= SNAPSHOT
            ):  # at its end a pass is judged first
                self.save_state(trainer)
        self.end_pass(trainer)
        return True

    def end_pass(self, trainer: Trainer) -> None:
        """Save the network, what it has come to, and the state; killed in between, the pass is made again."""
        about = About(
            game=self.game.spec, rules_version=self.game.version, observation=self.kept.kind,
            notes=f"taught by {self.settings.lessons.supervisor}, seed {self.settings.seed}",
        )  # fmt: skip
        save_whole(self.network, lambda path: save_network(path, trainer.player, about))
        value, policy = self.sums / self.per_pass
        figures = judged(trainer.player, self.kept, self.settings.training) | {
            "taught_value_loss": value, "taught_policy_loss": policy,
            "learning_rate": learning_rate(trainer.settings, trainer.steps - 1, self.planned),
        }  # fmt: skip
        line = {name: rounded(number, 9) for name, number in figures.items()}
        self.figures.append({"pass": trainer.steps // self.per_pass, "steps": trainer.steps} | line)
        self.sums[:] = 0
        self.save_state(trainer)

    def save_state(self, trainer: Trainer) -> None:
        """Save what is needed to go on; the games are in their files."""
        self.figures.sync()
        save_snapshot(self.folder / STATE, Snapshot({}, {"sums": self.sums.tolist()}, trainer.state()))
        self.saved_at = time.monotonic()


@torch.no_grad()
def judged(network: Network, replay: Replay, training: ImitationTraining) -> dict[str, float]:
    """Return a network's losses on the rows of a replay, and the share of moves in which it agrees."""
    before = network.training
    network.eval()
    sums = torch.zeros(3, dtype=torch.float64)
    for first in range(0, replay.filled, JUDGED):
        part = torch.arange(first, min(first + JUDGED, replay.filled), device=replay.device)
        batch = replay.batch(part, torch.zeros_like(part))
        said = network.taught(batch.observations)
        share, mask = training.root_value_share, training.mask_policy
        found = losses(said.logits, said.values, batch, share, mask, said.chances)
        best = said.logits.masked_fill(~batch.legal, -torch.inf).argmax(1)
        agreed = (best == replay.rows.played[part]).float().mean()
        sums += len(part) * torch.stack([found.value, found.policy, agreed]).cpu().double()
    network.train(before)
    value, policy, agreed_share = (sums / replay.filled).tolist()
    return {"value_loss": value, "policy_loss": policy, "agreed": agreed_share}
