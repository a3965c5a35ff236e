"""Late positions of random games of Pylos with their exact values, to judge value heads.

Number g of a seed is a random position of random game g, among those with few enough spheres in reserve. Positions
that are not solved within the limit are passed over and counted: a sample with many of them leans towards easy
positions.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rookery.errors import BadInput
from rookery.games.options import whole_number
from rookery.games.position import Position
from rookery.games.pylos import Pylos
from rookery.games.rng import random_below
from rookery.search.solve.pylos import solve, spheres_left
from rookery.search.solve.retrograde import MOST_POSITIONS, Solution
from rookery.search.threads import new_stop, on_threads
from rookery.writing import write_whole

ILLEGAL, UNKNOWN = 2, 3  # entries of `move_values` beside 1, 0 and -1
CHOICE = 1 << 20  # number of the random draw that picks the position, beyond those of a game's moves
BATCH = 64  # games taken at a time
TRIES = 1024  # games after which a sample without a single position is given up


@dataclass(frozen=True)
class Sample:
    """Positions with their exact values."""

    solved: list[tuple[Position, Solution]]
    unsolved: int
    """positions passed over, since their graph was too large"""
    settings: dict[str, Any]


def late_position(game: Pylos, seed: int, number: int, most_left: int) -> Position | None:
    """Return a random late position of a random game, or None if it ends before there is one."""
    position, late, ply = game.start(), [], 0
    while not position.over:
        if spheres_left(position) <= most_left:
            late.append(position.copy())
        legal = position.legal()
        position.play(int(legal[random_below(len(legal), seed, number, ply)]))
        ply += 1
    return late[random_below(len(late), seed, number, CHOICE)] if late else None


def sample(
    game: Pylos,
    count: int,
    seed: int = 0,
    most_left: int = 6,
    most_positions: int = MOST_POSITIONS,
    threads: int = 1,
    report: Callable[[int], None] = lambda solved: None,
) -> Sample:
    """Solve `count` late positions with at most `most_left` spheres in both reserves together.

    The same seed gives the same sample on any number of threads. `report` is called with the number solved so far.
    """
    count = whole_number("the size of a sample", count, 1, 10**9)
    most_left = whole_number("spheres left", most_left, 1, 30)
    solved: list[tuple[Position, Solution]] = []
    stop, unsolved, number = new_stop(), 0, 0

    def attempt(number: int) -> tuple[Position, Solution | None] | None:
        position = late_position(game, seed, number, most_left)
        if position is None or stop[0]:
            return None
        try:
            return position, solve(position, most_positions, stop)
        except BadInput:
            return position, None

    while len(solved) < count:
        for found in on_threads(attempt, range(number, number + min(BATCH, count)), threads, stop):
            if found is not None and len(solved) < count:
                position, solution = found
                if solution is None:
                    unsolved += 1
                else:
                    solved.append((position, solution))
        number += min(BATCH, count)
        report(len(solved))
        if not solved and number >= TRIES:
            raise BadInput(
                f"of {number:,} games none has a position with at most {most_left} spheres left that is solved within "
                f"{most_positions:,} positions (most_positions); allow more"
            )
    settings = {"game": game.spec, "rules version": game.version, "count": count, "seed": seed}
    return Sample(solved, unsolved, settings | {"spheres left": most_left, "most positions": most_positions})


def arrays_of(drawn: Sample) -> dict[str, np.ndarray]:
    """Lay a sample out as arrays.

    text         [N]       the position, read by `Game.position`
    value        [N]       1, 0 or -1, from the mover's side
    plies        [N]       within how many the winner can end the game; -1 for draws
    complete     [N]       whether all positions in reach were explored, so that `plies` is exact
    left         [N]       spheres in both reserves
    positions    [N]       of the graph
    move_values  [N, 303]  1, 0 or -1 for legal moves, from the mover's side; 2 illegal, 3 not known
    settings     []        JSON
    """
    pairs = drawn.solved
    moves = np.full((len(pairs), pairs[0][0].game.actions), ILLEGAL, np.int8)
    for row, (_, solution) in zip(moves, pairs, strict=True):
        for move in solution.moves:
            row[move.action] = UNKNOWN if move.value is None else move.value
    return {
        "text": np.array([position.text() for position, _ in pairs]),
        "value": np.array([solution.value for _, solution in pairs], np.int8),
        "plies": np.array([-1 if solution.plies is None else solution.plies for _, solution in pairs], np.int32),
        "complete": np.array([solution.complete for _, solution in pairs]),
        "left": np.array([spheres_left(position) for position, _ in pairs], np.int8),
        "positions": np.array([solution.positions for _, solution in pairs], np.int64),
        "move_values": moves,
        "settings": np.array(json.dumps(drawn.settings | {"unsolved": drawn.unsolved})),
    }


def check_path(path: Path) -> None:
    """Refuse a file that could not be written, before anything is computed."""
    if path.suffix != ".npz":
        raise BadInput(f"the file of a sample must end in .npz, not {str(path)!r}")
    if not path.parent.is_dir():
        raise BadInput(f"the folder of {str(path)!r} does not exist")


def write(drawn: Sample, path: Path) -> None:
    """Write a sample whole or not at all; `np.load` reads it."""
    check_path(path)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays_of(drawn))  # type: ignore[arg-type]
    write_whole(path, buffer.getvalue())
