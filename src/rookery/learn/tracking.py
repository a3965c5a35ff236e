"""Where the figures of a run go: always into `metrics.jsonl`, and to TensorBoard and Weights & Biases if asked.

    with Tracker(run) as tracker:
        tracker.log(step, {"loss/value": 0.31, "selfplay/draws": 0.1})

A figure's name is `group/name`. The other sinks are told the same; if one of them fails, the run goes on without it and
says so once, since figures are all in the folder.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from rookery.errors import BadInput
from rookery.learn.runs import Run, rounded
from rookery.learn.sections import TrackingSettings

TENSORBOARD, WANDB = "tensorboard", "wandb"
MODULES = {TENSORBOARD: "torch.utils.tensorboard", WANDB: "wandb"}
"""sinks by their key in the settings, and what they need"""


class Sink(Protocol):
    """Something that takes figures."""

    def log(self, step: int, figures: Mapping[str, float]) -> None:
        """Take the figures after `step` games."""

    def close(self) -> None:
        """Write what is still to be written."""


class Tracker:
    """All sinks of a run, which goes on after `step` games. The run's lock must be held."""

    def __init__(self, run: Run, step: int = 0):
        self.run = run
        self.sinks: dict[str, Sink] = {}
        tracking = run.settings.tracking
        check_sinks(tracking)
        if tracking.tensorboard:
            self.open("TensorBoard", lambda: TensorBoard(run.folder / TENSORBOARD, step))
        if tracking.wandb:
            self.open("Weights & Biases", lambda: WeightsAndBiases(run))

    def open(self, name: str, make: Callable[[], Sink]) -> None:
        """Open a sink, or go on without it."""
        try:
            self.sinks[name] = make()
        except Exception as error:  # of a foreign package, over a network or a disk
            warnings.warn(f"{name} is told nothing: {type(error).__name__}: {error}", stacklevel=3)

    def log(self, step: int, figures: Mapping[str, float]) -> None:
        """Log figures after `step` games; the folder first."""
        self.run.needs_lock()
        line = {name: rounded(value, 9) for name, value in figures.items()}
        self.run.metrics.append({"step": step, "seconds": round(time.time(), 3)} | line)
        for name in list(self.sinks):
            try:
                self.sinks[name].log(step, figures)
            except Exception as error:  # of a foreign package, over a network or a disk
                self.drop(name, error)

    def drop(self, name: str, error: Exception) -> None:
        """Go on without a sink."""
        del self.sinks[name]
        warnings.warn(f"{name} is told nothing any more: {type(error).__name__}: {error}", stacklevel=3)

    def close(self) -> None:
        """Close all sinks."""
        for name in list(self.sinks):
            try:
                self.sinks.pop(name).close()
            except Exception as error:
                warnings.warn(f"{name} did not close: {type(error).__name__}: {error}", stacklevel=2)

    def __enter__(self) -> Tracker:
        return self

    def __exit__(self, *trouble: object) -> None:
        self.close()


def needed(module: str, key: str) -> Any:
    """Import a package of the extra, or say how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise BadInput(
            f"tracking.{key} needs a package that is not installed ({error}): pip install 'rookery[tracking]', "
            f"or set tracking.{key} to false"
        ) from None


def check_sinks(tracking: TrackingSettings) -> None:
    """Refuse sinks whose packages are not there, before a run is made that could not be trained."""
    for key, module in MODULES.items():
        if getattr(tracking, key):
            needed(module, key)


class TensorBoard:
    """Event files that `tensorboard --logdir RUN/tensorboard` shows."""

    def __init__(self, folder: Path, step: int):
        writer = needed(MODULES[TENSORBOARD], TENSORBOARD).SummaryWriter
        self.writer = writer(str(folder), purge_step=step + 1 if step else None)  # what came after comes again

    def log(self, step: int, figures: Mapping[str, float]) -> None:
        """Add each figure to its curve."""
        for name, value in figures.items():
            self.writer.add_scalar(name, value, step)
        self.writer.flush()

    def close(self) -> None:
        """Close the event file."""
        self.writer.close()


class WeightsAndBiases:
    """A run of Weights & Biases in RUN/wandb, offline unless `WANDB_MODE` says otherwise.

    `wandb sync` sends it. A run that goes on has the same id there.
    """

    def __init__(self, run: Run):
        package, folder = needed(MODULES[WANDB], WANDB), run.folder
        made = f"{folder.resolve()} {run.manifest.get('created')}".encode()
        self.session = package.init(
            project=run.settings.tracking.project, name=folder.name, dir=str(folder), config=run.settings.model_dump(),
            mode=os.environ.get("WANDB_MODE", "offline"), id=hashlib.sha256(made).hexdigest()[:16], resume="allow",
        )  # fmt: skip

    def log(self, step: int, figures: Mapping[str, float]) -> None:
        """Send the figures on."""
        self.session.log(dict(figures), step=step)

    def close(self) -> None:
        """End the session."""
        self.session.finish()
