"""The commands that train, as a person types them."""

from __future__ import annotations

import re

import pytest

from learn.tiny_runs import same_weights, tiny_file, tiny_settings, trained, weights
from rookery.learn.runs import Run
from support import run_rookery

pytestmark = pytest.mark.xdist_group("learning")

REFUSED = {
    "no such file": (
        ["nowhere.yaml"],
        "'nowhere.yaml' cannot be read: No such file or directory; give a file, or one of",
    ),
    "unknown key": (["--set", "training.speed=3"], "training.speed: there is no such key"),
    "impossible value": (["--set", "selfplay.games=0"], "selfplay.games: must"),
    "no value": (["--set", "training.batch"], "--set 'training.batch' should read section.key=value"),
    "unknown game": (["--set", "game=ludo"], "game:"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_settings_that_cannot_be_run_are_refused_before_anything_is_made(tmp_path, case):
    arguments, complaint = REFUSED[case]
    config = [] if arguments[0].endswith(".yaml") else [str(tiny_file(tmp_path))]
    done = run_rookery("train", *config, *arguments, "--folder", str(tmp_path / "run"))
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_run_is_trained_resumed_and_said_to_be_complete(tmp_path):
    folder, config = tmp_path / "run", tiny_file(tmp_path)
    done = run_rookery("train", str(config), "--set", "selfplay.games=12", "--set", "seed=5", "--folder", str(folder))
    assert done.returncode == 0, done.stderr
    assert f"the run is kept in {folder}" in done.stderr
    assert done.stdout.strip() == str(folder / "checkpoint_00012.pth")
    run = Run.open(folder)
    assert (run.settings.selfplay.games, run.settings.seed) == (12, 5)
    Run.create(tmp_path / "other", tiny_settings(tmp_path, "selfplay.games=12", "seed=5"))
    trained(tmp_path / "other")
    assert same_weights(weights(folder, 12), weights(tmp_path / "other", 12))

    again = run_rookery("resume", str(folder))
    assert (again.returncode, again.stdout) == (0, "")
    assert "is complete: all 12 games are played" in re.sub(r"\s+", " ", again.stderr)

    refused = run_rookery("train", str(config), "--folder", str(folder))
    assert refused.returncode == 2
    assert f"{folder} is not empty; `rookery resume` goes on with a run" in refused.stderr
    assert weights(folder, 12)


def test_what_is_no_run_cannot_be_resumed(tmp_path):
    done = run_rookery("resume", str(tmp_path))
    assert done.returncode == 2
    assert "is no run; give its folder, or the name of one under runs" in done.stderr


def test_a_run_that_somebody_trains_is_not_trained_twice(tmp_path):
    run = Run.create(tmp_path / "run", tiny_settings(tmp_path))
    with run.training():
        done = run_rookery("resume", str(run.folder))
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert str(run.folder) in done.stderr
