"""Runs so small that they are trained within a second, and what is compared of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from rookery.learn.loop import Training
from rookery.learn.runs import Run
from rookery.learn.settings import RunSettings, read_settings
from rookery.nets.files import load_network
from support import CONNECT_FOUR

TINY = f"""
game: {CONNECT_FOUR}
seed: 3
device: cpu
threads: 1
network: {{kind: residual, observation: planes, width: 8, blocks: 1, value_hidden: 4, policy_hidden: 4}}
selfplay:
  {{games: 40, at_once: 8, simulations: 4, random_plies: 1, cheap_simulations: 2, full_share: 0.75, ply_limit: 30}}
training:
  {{batch: 16, replay: 150, steps_per_game: 0.75, warmup_steps: 2, symmetries: true, average: ema, average_decay: 0.9,
    root_value_share: 0.25}}
checkpoints: {{every: 6, least_seconds: 0}}
tracking: {{game_every: 3}}
"""
"""everything that has a state is in it: an average, symmetries, cheap moves, a ring that goes round"""


def tiny_file(folder: Path) -> Path:
    """Write the settings of a tiny run into a folder and return the file."""
    path = folder / "tiny.yaml"
    path.write_text(TINY)
    return path


def tiny_settings(folder: Path, *changes: str) -> RunSettings:
    """Return the settings of a tiny run."""
    return read_settings(tiny_file(folder), changes)


def trained(folder: Path, stop: Callable[[], bool] = lambda: False) -> tuple[bool, Training]:
    """Train the run in a folder on, until it is complete or told to stop."""
    before = torch.get_num_threads()
    try:
        with Run.open(folder).training() as run:
            training = Training(run)
            return training.train(stop), training
    finally:
        torch.set_num_threads(before)


def after(rounds: int) -> Callable[[], bool]:
    """Return a wish to stop after so many rounds."""
    asked = iter(range(rounds))
    return lambda: next(asked, None) is None


def weights(folder: Path, step: int) -> dict[str, torch.Tensor]:
    """Return the weights of a checkpoint."""
    return dict(load_network(Run.open(folder).checkpoint_path(step)).network.state_dict())


def same_weights(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Tell whether weights agree bit for bit."""
    return one.keys() == other.keys() and all(torch.equal(value, other[name]) for name, value in one.items())


def losses(folder: Path) -> list[dict[str, Any]]:
    """Return the loss history of a run."""
    return Run.open(folder).losses.read()
