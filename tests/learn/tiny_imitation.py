"""A stage of imitation so small that it takes a second or two."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from rookery.learn.imitation import Imitation, ImitationSettings, make_imitation

TOWER = {
    "kind": "tower", "observation": "planes", "width": 4, "blocks": 1, "value_hidden": 4, "policy_hidden": 4,
}  # fmt: skip


def settings(**changes: Any) -> ImitationSettings:
    """Return the settings of a tiny stage; a section that is given replaces single keys of it."""
    values: dict[str, Any] = {
        "game": "gomoku:size=7", "seed": 5, "device": "cpu", "threads": 1, "network": TOWER,
        "lessons": {"positions": 1500, "threads": 1},
        "training": {"batch": 64, "passes": 3, "learning_rate": 0.01, "average": "ema", "average_decay": 0.9},
    }  # fmt: skip
    for key, value in changes.items():
        values[key] = values[key] | value if isinstance(value, dict) else value
    return ImitationSettings.model_validate(values)


def learned(folder: Path, stop: Callable[[], bool] = lambda: False) -> bool:
    """Go on with a stage, until it is complete or told to stop."""
    before = torch.get_num_threads()
    try:
        with Imitation(folder) as imitation:
            return imitation.learn(stop)
    finally:
        torch.set_num_threads(before)


def made(folder: Path, **changes: Any) -> Path:
    """Make a tiny stage and return its folder."""
    make_imitation(folder, settings(**changes))
    return folder
