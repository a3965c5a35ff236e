"""What the chess study does and how much of it: its presets, and the players that its network meets."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rookery.errors import BadInput
from rookery.games.options import one_of, whole_number
from rookery.learn.curriculum_settings import CurriculumSettings, packaged

STOCKFISH = "stockfish"
ENGINE_FOLDER = "/usr/games"
"""where Debian has its engines; not everybody's PATH leads there"""
WEAKEST = "nodes=1000,option.Skill Level=0,option.Threads=1"
"""how Stockfish plays here; nodes do not depend on the machine"""
POLICY_ALONE = 1
"""simulations: a single one follows the likeliest move, whatever it is worth"""
OPENING = "random:4"
SEARCH = (("urgency", "lc0"), ("reduction", 0.33), ("c", 1.75))
"""settings of the network's search: those of its self-play"""
MANY, LEAVES = 100, 4
"""from so many simulations on, so many leaves of a tree are judged together"""


@dataclass(frozen=True)
class Preset:
    """How much of everything."""

    curriculum: str
    """packaged settings of the training"""
    simulations: tuple[int, ...] = (POLICY_ALONE, 100, 400)
    rivals: tuple[str, ...] = ("random", "alphabeta:depth=2", "alphabeta:depth=4", STOCKFISH)
    games: int = 200
    """of each match"""
    positions: int = 5000
    """by which layers are probed, and files compared with the network"""
    changes: tuple[str, ...] = ()

    def settings(self) -> CurriculumSettings:
        """Return the settings of the training."""
        return packaged(self.curriculum, self.changes)


FULL = Preset("chess_lc0")
QUICK = Preset(
    "chess_lc0_quick", simulations=(POLICY_ALONE, 8, 16), rivals=("random", "alphabeta:depth=1", STOCKFISH), games=12,
    positions=400,
)  # fmt: skip
PRESETS = {"full": FULL, "quick": QUICK}


def preset_of(name: str, games: int | None, changes: Sequence[str]) -> Preset:
    """Return a preset by its name, with what a person changes."""
    found = PRESETS[one_of("--preset", name, tuple(PRESETS))]
    if games is not None:
        if whole_number("--games", games, 2, 100_000) % 2:
            raise BadInput(f"--games must be even, since games are played in pairs, not {games}")
        found = replace(found, games=games)
    return replace(found, changes=(*found.changes, *changes))


def search_of(simulations: int) -> tuple[tuple[str, Any], ...]:
    """Return the settings of a search of so many simulations."""
    return (*SEARCH, ("leaves", LEAVES)) if simulations >= MANY else SEARCH


def player_text(rival: str) -> str | None:
    """Return the text of a player; None for an engine that is not installed."""
    if rival != STOCKFISH:
        return rival
    program = STOCKFISH if shutil.which(STOCKFISH) else shutil.which(STOCKFISH, path=ENGINE_FOLDER)
    return f"uci:{program},{WEAKEST}" if program else None
