"""Helpers of several test files."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rookery.games.game import Game
from rookery.games.position import Position

ROOT = Path(__file__).parent.parent
CONNECT_FOUR = str(ROOT / "examples" / "connect_four.py")

HOUSE_42 = "texas42:auction=redeal,nello=any,splash=both,plunge=4,sevens=nearest"
"""Texas 42 with all house contracts"""

SPECS = [
    "domineering",
    "domineering:rows=4,cols=4",
    "domineering:rows=3,cols=7",
    "domineering:rows=6,cols=1",
    "gomoku",
    "gomoku:size=5",
    "gomoku:size=9,rule=standard",
    "gomoku:size=11,rule=renju",
    "gomoku:size=7,rule=renju,opening=swap2",
    "gomoku:size=8,rule=caro",
    "gomoku:size=20,opening=swap2",
    "pylos",
    "pylos:removal=greedy",
    "pylos:rules=standard",
    "pylos:rules=children",
    "pylos:ply_cap=60,repetition_cap=2",
    "pylos:removal=greedy,repetition_cap=3",
    "texas42",
    "texas42:declaration=doubles-suit,first=2",
    "texas42:bid=30",
    "texas42:auction=redeal",
    "texas42:auction=forced,first=3,mark_limit=2",
    "texas42:declaration=nello-low,first=1",
    HOUSE_42,
    "chess",
    "chess:chess960=0",
    "chess:chess960=959",
    CONNECT_FOUR,
]
"""every game of the package and the example, with options that change its rules"""


def name_of(spec: str) -> str:
    """Return the name of a game from its spec or path."""
    return Path(spec).stem if spec.endswith(".py") else spec.partition(":")[0]


NAMES = sorted({name_of(spec) for spec in SPECS})


def game_of(item: pytest.Item) -> str | None:
    """Tell which game a test is about: by its parameter `spec`, else by its file, test_<game>.py or longer."""
    parameters = getattr(item, "callspec", None)
    if parameters and "spec" in parameters.params:
        return name_of(parameters.params["spec"])
    return next((name for name in NAMES if f"{item.path.stem}_".startswith(f"test_{name}_")), None)


def random_walk(game: Game, seed: int, deal: int | None = None) -> Iterator[tuple[Position, int | None]]:
    """Yield each position of a random game with the action played next; None at the end.

    The deal is that of `seed` too, unless another one is given.
    """
    rng = np.random.default_rng(seed)
    position = game.start(seed if deal is None else deal)
    while not position.over:
        action = int(rng.choice(position.legal()))
        yield position, action
        position.play(action)
    yield position, None


def run_python(code: str, *arguments: str, cache: Path | None = None, timeout: float = 300) -> str:
    """Run code in a fresh process and return what it prints."""
    environment = dict(os.environ)
    if cache:
        environment["ROOKERY_CACHE"] = str(cache)
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=environment, timeout=timeout
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_rookery(*arguments: str, given: str = "", cache: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own."""
    environment = dict(os.environ) | {"COLUMNS": "200", "NO_COLOR": "1"}
    if cache:
        environment["ROOKERY_CACHE"] = str(cache)
    return subprocess.run(
        [sys.executable, "-m", "rookery", *arguments],
        capture_output=True, text=True, input=given, env=environment, timeout=300, cwd=ROOT,
    )  # fmt: skip
