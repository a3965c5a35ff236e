"""A whole recorded game per game: every change of a rule, a number, a text or an observation shows up here.

After a change that is meant, write the records anew with `python tests/games/test_playthroughs.py` and read the
difference before committing it.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

from rookery import load
from rookery.games.game import Game
from rookery.games.rng import random_below
from support import CONNECT_FOUR, name_of

FOLDER = Path(__file__).parent / "playthroughs"
RECORDED = [
    "domineering:rows=6,cols=5",
    "domineering",
    "pylos",
    "pylos:removal=greedy",
    "pylos:rules=standard,ply_cap=90,repetition_cap=2",
    "chess",
    "chess:chess960=77",
    "gomoku:size=9",
    "gomoku:size=8,rule=renju",
    "gomoku:size=7,rule=caro,opening=swap2",
    "texas42",
    "texas42:auction=redeal",
    "texas42:declaration=nello-low",
    CONNECT_FOUR,
]


def file_of(spec: str) -> Path:
    options = spec.partition(":")[2].replace(",", "-").replace("=", "_") if not spec.endswith(".py") else ""
    return FOLDER / f"{name_of(spec)}{'-' if options else ''}{options}.txt"


def record(game: Game, seed: int) -> str:
    """Write down everything a game says along one random game."""
    position, lines, ply = game.start(seed), [f"{game.label}, rules version {game.version}, seed {seed}"], 0
    while True:
        observations = [
            f"{kind} sum {position.observe(kind).sum():.4f} "
            f"sha {hashlib.sha256(position.observe(kind).tobytes()).hexdigest()[:8]}"
            for kind in game.observations
        ]
        legal = position.legal()
        lines += [
            f"\n# ply {ply}",
            f"text {position.text()}",
            f"key {position.key:016x}  mover {position.mover}  over {position.over}",
            *observations,
            f"legal {' '.join(map(str, legal))}",
        ]
        if position.over:
            break
        action = int(legal[random_below(len(legal), seed, 0, ply)])
        lines.append(f"plays {action} = {position.move_text(action)}")
        position.play(action)
        ply += 1
    lines += ["payoffs " + " ".join(str(position.payoff(seat)) for seat in range(game.seats)), "", position.draw()]
    return "\n".join(line.rstrip() for line in lines) + "\n"


@pytest.mark.parametrize("spec", RECORDED)
def test_the_recorded_game_is_played_as_before(spec):
    assert record(load(spec), seed=7) == file_of(spec).read_text()


if __name__ == "__main__":
    for spec in RECORDED:
        file_of(spec).write_text(record(load(spec), seed=7))
        print(file_of(spec))
