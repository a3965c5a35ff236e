"""A run of a study in its folder: one process at a time, steps as far as time allows, a state now and then.

    settings.json        what is trained, from what; number of parameters
    progress.jsonl       a line every so many steps: means since the line before, and on what validates
    network.safetensors  the network at the end; written last, so a run that has it is complete

How a state is kept, and what else there is, a study says. Whoever is killed goes on from the last state.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import torch

from rookery.arena.evaluator import steady
from rookery.learn.files import LineLog, sweep
from rookery.learn.locks import Lock
from rookery.learn.spread import Say
from rookery.studies.steps import BlockTrainer

CHUNK = {"cpu": 1, "cuda": 64}
"""steps after which the clock is looked at"""


class Planned(Protocol):
    """What a folder has to know of its run."""

    @property
    def name(self) -> str: ...
    @property
    def steps(self) -> int: ...
    @property
    def every(self) -> int: ...


class RunFolder(ABC):
    """A run in its folder."""

    def __init__(self, study: Path, settings: Planned):
        self.settings = settings
        self.folder = study / "runs" / settings.name
        self.lock = Lock(self.folder / ".lock")
        self.facts_file, self.network_file = self.folder / "settings.json", self.folder / "network.safetensors"
        self.progress = LineLog(self.folder / "progress.jsonl")
        self.seconds = 0.0
        """of training"""

    @property
    def complete(self) -> bool:
        """Whether nothing is left to do."""
        return self.network_file.exists()

    @abstractmethod
    def clear_up(self) -> None:
        """Remove the state of a complete run: who is killed behind the network leaves it."""

    def alone(self, device: torch.device, work: Callable[[], bool]) -> bool:
        """Do the work of a run that is not complete, no other process at the same time; tell whether it is then."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.lock.take()
        try:
            if self.complete:
                self.clear_up()
                return True
            sweep(self.folder)
            with steady(device):
                return work()
        finally:
            self.lock.give_back()

    def make_all_steps(
        self, trainer: BlockTrainer, take_note: Callable[[], None], save: Callable[[], None], save_seconds: float,
        say: Say, until: float,
    ) -> bool:  # fmt: skip
        """Make the steps that are left, as far as the clock (`time.monotonic`) allows; tell whether all are made.

        take_note  called whenever a line of figures is due
        save       called after every `save_seconds`, and when time is up
        """
        steps, every, chunk = self.settings.steps, self.settings.every, CHUNK[trainer.device.type]
        say(trainer.step, steps, "preparing")
        trainer.prepare()
        saved = time.monotonic()
        while trainer.step < steps:
            self.make_steps(trainer, min(chunk, every - trainer.step % every, steps - trainer.step))
            if trainer.step % every == 0 or trainer.step == steps:
                take_note()
            stopped = time.monotonic() >= until and trainer.step < steps
            if stopped or time.monotonic() - saved >= save_seconds:
                save()
                saved = time.monotonic()
            say(trainer.step, steps, f"{trainer.step / max(self.seconds, 1e-9):,.1f} steps/s {trainer.note}".strip())
            if stopped:
                return False
        return True

    def make_steps(self, trainer: BlockTrainer, count: int) -> None:
        """Make some steps and wait for them."""
        began = time.perf_counter()
        trainer.train(count)
        if trainer.device.type == "cuda":
            torch.cuda.synchronize()
        self.seconds += time.perf_counter() - began
