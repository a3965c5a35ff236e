"""A stage of imitation in chess, with a network of Lc0's kind, so small that it takes some seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lc0_taught import SIZES
from rookery.learn.imitation import ImitationSettings, make_imitation

NETWORK = {"kind": "lc0", "observation": "classical", **SIZES}
STAGE: dict[str, Any] = {
    "game": "chess", "seed": 5, "device": "cpu", "threads": 1, "network": NETWORK,
    "lessons": {"supervisor": "alphabeta:depth=1", "positions": 1200, "threads": 1, "explore": 30},
    "training": {"batch": 64, "passes": 3, "learning_rate": 0.01, "root_value_share": 0.5, "symmetries": False},
}  # fmt: skip


def made(folder: Path, device: str = "cpu") -> Path:
    """Make the stage and return its folder."""
    make_imitation(folder, ImitationSettings.model_validate(STAGE | {"device": device}))
    return folder
