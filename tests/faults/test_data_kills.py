"""Data of the studies whose makers are killed: the same files in the end, and never half of one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from faults.killing import Child, Starter, Work, kill_again_and_again, python
from rookery.studies.domineering_files import read_games
from rookery.studies.texas42_files import DataSet, Size, read_shard

pytestmark = [pytest.mark.faults, pytest.mark.slow]

GAMES = """
import sys
from pathlib import Path
from rookery.studies import domineering_games
domineering_games.PART = 50
domineering_games.make_games(Path(sys.argv[1]), 2000, domineering_games.alphabeta_recipe(seed=3))
"""
SHARDS = """
import sys
from pathlib import Path
from rookery.studies.texas42_decisions import DecisionSettings, make_decisions
from studies.texas42_samples import Guessing
settings = DecisionSettings(worlds=1, per_shard=20, part="all")
make_decisions(Path(sys.argv[1]), 3000, settings, Guessing())
"""


def files(folder: Path) -> dict[str, bytes]:
    """Return what lies in a folder, but for locks."""
    return {path.name: path.read_bytes() for path in folder.glob("*") if not path.name.endswith("lock")}


def kill_makers(code: str, name: str, tmp_path: Path, counted: str, check, seed: int) -> None:
    """Kill those who make data, and compare what they make with data made in one go."""
    python(code, str(tmp_path / "whole")).finish()
    folder = tmp_path / "killed"

    def finished() -> None:
        assert files(folder) == files(tmp_path / "whole")
        shutil.rmtree(folder)

    def begin(how: Starter) -> Child:
        return how.python(code, str(folder))

    work = Work(name, begin, lambda: len(list(folder.glob(counted))), 0.3, lambda: check(folder), finished)
    kill_again_and_again(work, seed)


def check_games(folder: Path) -> None:
    """Read every file of games that is there."""
    for path in folder.glob("**/[!.]*.npz"):
        assert len(read_games(path))


def test_games_of_domineering_are_the_same_however_often_their_maker_is_killed(tmp_path):
    kill_makers(GAMES, "games of the Domineering study", tmp_path, "**/[0-9]*.npz", check_games, seed=5)


def check_shards(folder: Path) -> None:
    """Read every shard that is there; one without a file beside it is none."""
    data = DataSet(folder)
    for number in data.numbers():
        assert data.has(number, Size("games", 3000, 20))
        read_shard(data.shard(number))


def test_shards_of_texas_42_are_the_same_however_often_their_maker_is_killed(tmp_path):
    kill_makers(SHARDS, "shards of the Texas 42 study", tmp_path, "[0-9]*.json", check_shards, seed=6)
