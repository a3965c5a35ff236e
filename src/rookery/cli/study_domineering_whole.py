"""The Domineering study as a whole: its games, networks, comparisons and report, by one command."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rookery.cli.study import told
from rookery.cli.study_domineering import PHASES, TINY_GAMES, compare_data, data
from rookery.cli.study_domineering_report import compare, report
from rookery.cli.study_domineering_train import train_runs
from rookery.games.options import one_of

PLAYERS = "players.json"


@dataclass(frozen=True)
class Whole:
    """How much a preset does besides training."""

    games: dict[int, int]
    """of each phase"""
    tiny: bool = False
    """whether the players of phases 2 and 3 are tiny"""
    duels: int = 200
    """openings between the players of the phases"""
    simulations: int = 100
    """of the third one in these"""
    positions: int = 20_000
    """on which networks are compared"""
    openings: int = 256
    """of matches between networks"""


WHOLE = {
    "full": Whole(PHASES),
    "final": Whole(PHASES),
    "quick": Whole({1: 1000} | TINY_GAMES, True, duels=6, simulations=16, positions=1000, openings=8),
}


def whole_study(preset: str, folder: Path, device: str, threads: int | None) -> None:
    """Do everything that is not done yet."""
    sizes, games = WHOLE[one_of("--preset", preset, tuple(WHOLE))], folder / "data"
    for phase, count in sizes.games.items():
        told(f"games of phase {phase}:")
        data(games, count, phase, threads=threads, device=device, tiny=sizes.tiny and phase > 1)
    if not (games / PLAYERS).is_file():
        told("the players of the phases against each other:")
        compare_data(games, openings=sizes.duels, threads=threads, device=device, simulations=sizes.simulations)
    told("networks:")
    train_runs(folder, preset, device=device)
    told("networks beside one another:")
    compare(folder, sizes.positions, sizes.openings, device=device)
    told("report:")
    report(folder)
