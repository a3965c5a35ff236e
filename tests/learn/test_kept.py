"""Games of self-play that a run keeps, move by move."""

from __future__ import annotations

import json

import pytest

from learn.tiny_runs import tiny_settings, trained
from rookery.learn.kept import first_position, moves_of
from rookery.learn.runs import Run
from support import run_rookery


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A tiny run in which every game is kept."""
    folder = tmp_path_factory.mktemp("kept")
    settings = tiny_settings(folder, "tracking.game_every=1", "selfplay.full_share=1.0", "selfplay.cheap_simulations=0")
    Run.create(folder / "run", settings)
    trained(folder / "run")
    return Run.open(folder / "run")


def test_kept_games_are_games_of_the_rules_with_their_results(run):
    lines = run.games.read()
    ended = {"by the rules": 0, "ply limit": 0}
    for line in lines:
        position = first_position(run.game, run.settings.seed, line["number"])
        for action in line["actions"]:
            assert not position.over
            assert action in position.legal()
            position.play(action)
        ended[line["ending"]] += 1
        if line["ending"] == "by the rules":
            assert position.over
            assert line["result"] == position.payoff(0)
        else:
            assert len(line["actions"]) == run.settings.selfplay.ply_limit
        assert len(line["values"]) == len(line["actions"])
        assert line["values"][0] == 0  # a random ply
        assert all(-1 <= value <= 1 for value in line["values"])
        assert any(value != 0 for value in line["values"][1:])
    assert ended["by the rules"] > 20


def test_every_finished_game_is_kept_once_if_asked(run):
    lines = run.games.read()
    numbers = [line["number"] for line in lines]
    assert len(set(numbers)) == len(numbers) >= run.settings.selfplay.games
    assert [line["step"] for line in lines] == sorted(line["step"] for line in lines)


def test_one_game_in_so_many_is_kept_and_the_same_ones_whatever_else_is_kept(run, tmp_path):
    for every, expected in ((7, [line for line in run.games.read() if line["number"] % 7 == 0]), (0, [])):
        changes = f"tracking.game_every={every}", "selfplay.full_share=1.0", "selfplay.cheap_simulations=0"
        Run.create(tmp_path / f"run{every}", tiny_settings(tmp_path, *changes))
        trained(tmp_path / f"run{every}")
        assert Run.open(tmp_path / f"run{every}").games.read() == expected


def test_games_are_listed_and_shown(run):
    listed = run_rookery("runs", "games", str(run.folder), "--last", "3")
    assert listed.returncode == 0
    last = run.games.read()[-1]
    assert str(last["number"]) in listed.stdout.splitlines()[-1]
    assert len(listed.stdout.splitlines()) == 4
    shown = run_rookery("runs", "games", str(run.folder), str(last["number"]))
    moves, position = moves_of(run.game, run.settings.seed, last["number"], last["actions"])
    rows = [line.split() for line in shown.stdout.splitlines()[1 : 1 + len(moves)]]
    assert [row[-2] for row in rows] == [move for _, move in moves]
    assert position.draw().splitlines()[0].strip() in shown.stdout
    told = json.loads(run_rookery("runs", "games", str(run.folder), str(last["number"]), "--json").stdout)
    assert told == last


def test_games_that_are_not_there_are_refused(run, tmp_path):
    wrong = run_rookery("runs", "games", str(run.folder), "999999")
    assert wrong.returncode == 2
    assert "has not kept game 999999" in wrong.stderr
    Run.create(tmp_path / "new", tiny_settings(tmp_path))
    empty = run_rookery("runs", "games", str(tmp_path / "new"))
    assert empty.returncode == 2
    assert "has kept no games so far; one in tracking.game_every, 3, is kept" in empty.stderr.replace("\n", " ")
