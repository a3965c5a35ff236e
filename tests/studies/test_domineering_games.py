"""Making the games of the Domineering study: in parts, stopped anywhere, with the same files in the end."""

from __future__ import annotations

import json
import os
import sys

import numpy as np
import pytest

from rookery import BadInput
from rookery.cli import main
from rookery.learn.locks import Lock
from rookery.search.domineering_guided import Guidance, guided_games
from rookery.studies import domineering_games
from rookery.studies.domineering_files import read_games
from rookery.studies.domineering_games import Recipe, alphabeta_recipe, make_games
from support import run_rookery

pytestmark = pytest.mark.xdist_group("domineering")

NAMES = ["phase1_games.json", "phase1_games.npz"]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(domineering_games, "PART", 10)


def files(folder) -> dict[str, bytes]:
    """Return what lies in a folder, but for locks."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if not path.name.endswith(".lock")}


class Killed(BaseException):
    """Stands for a process that ends at once."""


def test_the_file_has_the_games_of_the_search(tmp_path):
    path = make_games(tmp_path, 25, alphabeta_recipe(seed=3, threads=2))
    found, games = read_games(path), guided_games(25, seed=3)
    assert (found.moves == games.moves).all()
    assert (found.explored == games.explored).all()
    assert list(files(tmp_path)) == NAMES
    about = json.loads((tmp_path / "phase1_games.json").read_text())
    assert (about["phase"], about["seed"], about["games"], about["game"]) == (1, 3, 25, "domineering")
    assert about["settings"] == {
        "player": "alphabeta", "opening": 16, "explore": 30, "depth_two": 35, "depth_one": 90,
    }  # fmt: skip


def test_files_are_the_same_with_any_number_of_threads(tmp_path):
    for threads in (1, 2, 3):
        make_games(tmp_path / str(threads), 25, alphabeta_recipe(seed=1, threads=threads))
    assert files(tmp_path / "1") == files(tmp_path / "2") == files(tmp_path / "3")


def test_killed_at_any_step_the_same_command_ends_with_the_same_files(tmp_path, monkeypatch):
    """Every file written, renamed or removed is a step; a run is killed before each of them in turn."""
    make_games(tmp_path / "whole", 25, alphabeta_recipe())
    steps = 0
    real = {name: getattr(os, name) for name in ("fsync", "replace", "unlink", "rmdir")}

    def dying(name, left):
        def step(*arguments, **keywords):
            left[0] -= 1
            if left[0] < 0:
                raise Killed
            return real[name](*arguments, **keywords)

        return step

    while True:
        left, folder = [steps], tmp_path / f"killed{steps}"
        with monkeypatch.context() as patched:
            for name in real:
                patched.setattr(os, name, dying(name, left))
            try:
                make_games(folder, 25, alphabeta_recipe())
            except Killed:
                pass
            else:
                break
        make_games(folder, 25, alphabeta_recipe())
        assert files(folder) == files(tmp_path / "whole")
        steps += 1
    assert steps > 15


@pytest.mark.faults
def test_killed_while_games_are_added_the_same_command_ends_with_the_same_files(tmp_path, monkeypatch):
    make_games(tmp_path / "whole", 35, alphabeta_recipe())
    real, steps = os.fsync, 0
    while True:
        left, folder = [steps], tmp_path / f"killed{steps}"
        make_games(folder, 15, alphabeta_recipe())

        def dying(descriptor, left=left):
            left[0] -= 1
            if left[0] < 0:
                raise Killed
            real(descriptor)

        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", dying)
            try:
                make_games(folder, 35, alphabeta_recipe())
            except Killed:
                pass
            else:
                break
        make_games(folder, 35, alphabeta_recipe())
        assert files(folder) == files(tmp_path / "whole")
        steps += 1
    assert steps > 8


def test_parts_that_are_there_are_not_made_again(tmp_path):
    made = []

    def recipe(broken_at: int) -> Recipe:
        plain = alphabeta_recipe()

        def make(first, count):
            if first == broken_at:
                raise Killed
            made.append(first)
            return plain.make(first, count)

        return Recipe(plain.phase, plain.seed, plain.settings, make)

    with pytest.raises(Killed):
        make_games(tmp_path, 40, recipe(20))
    make_games(tmp_path, 40, recipe(-1))
    make_games(tmp_path, 40, recipe(-1))
    make_games(tmp_path, 55, recipe(-1))
    assert made == [0, 10, 20, 30, 40, 50]


def test_games_that_are_done_are_left_alone(tmp_path):
    path = make_games(tmp_path, 12, alphabeta_recipe())
    before = path.stat()
    make_games(tmp_path, 12, alphabeta_recipe())
    assert path.stat().st_mtime_ns == before.st_mtime_ns


def test_other_settings_are_refused(tmp_path):
    make_games(tmp_path, 12, alphabeta_recipe())
    before = files(tmp_path)
    with pytest.raises(BadInput, match="made with seed 0, not 1; take another folder"):
        make_games(tmp_path, 12, alphabeta_recipe(seed=1))
    with pytest.raises(BadInput, match="made with explore 30, not 20; take another folder"):
        make_games(tmp_path, 12, alphabeta_recipe(guidance=Guidance(explore=20)))
    with pytest.raises(BadInput, match=r"has 12 games already; ask for as many or more, not for 11"):
        make_games(tmp_path, 11, alphabeta_recipe())
    assert files(tmp_path) == before


def killed_after_the_first_part(folder):
    """Make twenty games until the first part of them is there, and return the recipe that goes on."""
    plain = alphabeta_recipe()

    def make(first, count):
        if first:
            raise Killed
        return plain.make(first, count)

    with pytest.raises(Killed):
        make_games(folder, 20, Recipe(1, 0, plain.settings, make))
    return plain


def test_parts_of_other_settings_are_refused(tmp_path):
    plain = killed_after_the_first_part(tmp_path)
    with pytest.raises(BadInput, match=r"plan.json: these games are made with seed 0, not 5"):
        make_games(tmp_path, 20, alphabeta_recipe(seed=5))
    (tmp_path / "phase1_parts" / "plan.json").write_text("{")
    with pytest.raises(BadInput, match=r"plan.json is damaged"):
        make_games(tmp_path, 20, plain)


def test_a_damaged_part_is_refused_by_its_name(tmp_path):
    plain = killed_after_the_first_part(tmp_path)
    part = tmp_path / "phase1_parts" / "00000.npz"
    part.write_bytes(part.read_bytes()[:500])
    with pytest.raises(BadInput, match=r"00000.npz is no file of games, or cut off"):
        make_games(tmp_path, 20, plain)


def test_parts_left_from_a_finished_phase_are_not_taken_for_another(tmp_path):
    make_games(tmp_path, 20, alphabeta_recipe(seed=1))
    (tmp_path / "phase1_parts").mkdir()
    (tmp_path / "phase1_games.npz").rename(tmp_path / "phase1_parts" / "00000.npz")
    (tmp_path / "phase1_games.json").unlink()
    found = read_games(make_games(tmp_path, 20, alphabeta_recipe(seed=2)))
    assert (found.moves == guided_games(20, seed=2).moves).all()


def test_a_file_of_unknown_making_is_not_written_over(tmp_path):
    path = make_games(tmp_path, 20, alphabeta_recipe(seed=1))
    before = path.read_bytes()
    (tmp_path / "phase1_games.json").unlink()
    with pytest.raises(BadInput, match=r"phase1_games.npz is there, but nothing tells how it was made"):
        make_games(tmp_path, 20, alphabeta_recipe(seed=1))
    assert path.read_bytes() == before


def test_a_file_that_was_removed_is_made_again(tmp_path):
    path = make_games(tmp_path, 20, alphabeta_recipe(seed=1))
    before = files(tmp_path)
    path.unlink()
    make_games(tmp_path, 20, alphabeta_recipe(seed=1))
    assert files(tmp_path) == before


def test_two_at_once_are_refused(tmp_path):
    lock = Lock(tmp_path / ".phase1_games.lock")
    lock.take()
    with pytest.raises(BadInput, match="is being filled with games by process"):
        make_games(tmp_path, 5, alphabeta_recipe())
    lock.give_back()
    make_games(tmp_path, 5, alphabeta_recipe())


@pytest.mark.parametrize("games", [0, -3, 10_000_001])
def test_impossible_numbers_of_games_are_refused(tmp_path, games):
    with pytest.raises(BadInput, match="games must be a whole number in 1"):
        make_games(tmp_path / "none", games, alphabeta_recipe())
    assert not (tmp_path / "none").exists()


# ---- the command ---------------------------------------------------------------------------------


def data(monkeypatch, *arguments: str) -> int:
    """Run the command in this process; return its exit status."""
    monkeypatch.setattr(sys, "argv", ["rookery", "study", "domineering", "data", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


def test_the_command_makes_games_and_says_where_they_are(tmp_path, monkeypatch, capsys):
    assert data(monkeypatch, "--folder", str(tmp_path), "--games", "30", "--seed", "2", "--threads", "2") == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "phase1_games.npz")
    with np.load(tmp_path / "phase1_games.npz") as stored:
        assert (stored["moves"] == guided_games(30, seed=2).moves).all()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--phase", "4"], "--phase 4: the phases there are: 1, 2, 3"),
        (["--games", "0"], "games must be a whole number"),
        (["--seed", "-1"], "seed must be a whole number"),
        (["--threads", "0"], "--threads must be a whole number"),
    ],
)
def test_what_cannot_be_done_is_refused(tmp_path, monkeypatch, capsys, arguments, complaint):
    assert data(monkeypatch, "--folder", str(tmp_path / "none"), *arguments) == 2
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def test_help_shows_examples():
    shown = run_rookery("study", "domineering", "data", "--help").stdout
    assert "rookery study domineering data --games 2000" in shown
