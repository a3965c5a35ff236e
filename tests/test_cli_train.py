"""The commands that train, as a person types them."""

from __future__ import annotations

import json
import signal
import sys

import pytest
import torch

from learn.tiny_curriculum import tiny_file as stages_file
from learn.tiny_runs import after, same_weights, tiny_file, tiny_settings, trained, weights
from nets.samples import on_one_thread
from rookery.cli import main
from rookery.cli.train import stopped_by_signals
from rookery.learn import loop
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
    "a device that is not there": (["--set", "device=mps"], "device 'mps' is not there; auto takes the best one"),
    "a package that is not there": (["--set", "tracking.wandb=true"], "tracking.wandb needs a package that is not"),
    "workers of nobody": (["--workers", "2"], "--workers 2: without --ray there are none"),
    "no cluster": (["--ray", "local"], "work on several machines needs Ray: pip install 'rookery[cluster]'"),
    "uneven shares": (["--devices", "3"], "--devices 3: a batch of 16 (training.batch) cannot be shared out evenly"),
}


def run_here(monkeypatch, *arguments):
    """Run the command line in this process, which has everything loaded; return its exit status."""
    monkeypatch.setattr(sys, "argv", ["rookery", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


@pytest.mark.parametrize("case", REFUSED)
def test_settings_that_cannot_be_run_are_refused_before_anything_is_made(tmp_path, case, monkeypatch, capsys):
    arguments, complaint = REFUSED[case]
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: False)
    for name in ("wandb", "ray"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    config = [] if arguments[0].endswith(".yaml") else [str(tiny_file(tmp_path))]
    assert run_here(monkeypatch, "train", *config, *arguments, "--folder", str(tmp_path / "run")) == 2
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_run_is_trained_resumed_and_said_to_be_complete(tmp_path, monkeypatch, capsys):
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

    assert run_here(monkeypatch, "resume", str(folder)) == 0
    told = capsys.readouterr()
    assert told.out == ""
    assert "is complete: all 12 games are played" in " ".join(told.err.split())

    assert run_here(monkeypatch, "train", str(config), "--folder", str(folder)) == 2
    assert f"{folder} is not empty; `rookery resume` goes on with a run" in capsys.readouterr().err
    assert weights(folder, 12)


@pytest.mark.slow
def test_processes_that_learn_together_train_a_run_to_its_end(tmp_path):
    train = ["train", str(tiny_file(tmp_path)), "--set", "selfplay.games=12", "--folder", str(tmp_path / "run")]
    done = run_rookery(*train, "--devices", "2")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(tmp_path / "run" / "checkpoint_00012.pth")
    assert all(torch.isfinite(each).all() for each in weights(tmp_path / "run", 12).values())


def test_on_a_card_a_run_that_goes_on_says_that_bits_may_differ(tmp_path, monkeypatch, capsys):
    for place in ("processor", "card"):
        Run.create(tmp_path / place, tiny_settings(tmp_path, "selfplay.games=12"))
        whole, training = trained(tmp_path / place, after(25))
        assert not whole
        assert training.games > 0
    assert run_here(monkeypatch, "resume", str(tmp_path / "processor")) == 0
    assert "bits" not in capsys.readouterr().err
    judging = loop.NetworkEvaluator
    monkeypatch.setattr(loop, "chosen_device", lambda name: torch.device("mps"))
    monkeypatch.setattr(loop, "NetworkEvaluator", lambda *given, device, **how: judging(*given, device="cpu", **how))
    assert run_here(monkeypatch, "resume", str(tmp_path / "card")) == 0
    assert "on a card sums may differ in their last bits" in capsys.readouterr().err


def test_what_is_no_run_cannot_be_resumed(tmp_path, monkeypatch, capsys):
    assert run_here(monkeypatch, "resume", str(tmp_path)) == 2
    assert "is no run; give its folder, or the name of one under runs" in capsys.readouterr().err


def test_a_run_that_somebody_trains_is_not_trained_twice(tmp_path, monkeypatch, capsys):
    run = Run.create(tmp_path / "run", tiny_settings(tmp_path))
    with run.training():
        assert run_here(monkeypatch, "resume", str(run.folder)) == 2
    assert str(run.folder) in capsys.readouterr().err


def test_the_first_signal_is_a_wish_and_the_second_ends_at_once():
    before = signal.getsignal(signal.SIGINT)
    with stopped_by_signals() as stopped:
        assert not stopped()
        signal.raise_signal(signal.SIGTERM)
        assert stopped()
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


# ---- stages --------------------------------------------------------------------------------------


def test_settings_with_stages_begin_a_curriculum_which_ends_with_an_account_if_it_is_not_done(
    tmp_path, monkeypatch, capsys
):
    folder, config = tmp_path / "all", stages_file(tmp_path)
    impossible = "stages.1a.until.beats=[{player: 'baseline:depth=2', share: 0.9}]"
    begin = ["train", str(config), "--set", "stages.1a.training.passes=2", "--set", impossible]
    with on_one_thread():
        assert run_here(monkeypatch, *begin, "--folder", str(folder)) == 1
        told = capsys.readouterr()
        assert f"the stages are kept in {folder}" in told.err
        assert "warning: stage 2: selfplay.simulations is 4; below 50" in told.err
        assert "stage 1a after 2 passes" in told.err
        assert "more than 90 % are needed" in told.err
        assert f"`rookery resume {folder}` goes on" in told.err
        assert f"`rookery resume {folder} --from 1a` begins it anew" in told.err
        assert run_here(monkeypatch, "watch", str(folder)) == 1  # what there is to tell is told, and who goes on
        said = capsys.readouterr().err
        assert "more than 90 % are needed" in said
        assert f"nobody trains {folder}; `rookery resume {folder}` goes on" in said
        assert run_here(monkeypatch, "watch", str(folder), "--json") == 1
        assert json.loads(capsys.readouterr().out)["status"] == "missed"
        text = (folder / "curriculum.yaml").read_text()
        (folder / "curriculum.yaml").write_text(text.replace("share: 0.9,", "share: 0.0,"))
        assert run_here(monkeypatch, "resume", str(folder)) in (0, None)
        assert "stage 1a after 2 passes" in capsys.readouterr().err
        assert run_here(monkeypatch, "resume", str(folder), "--from", "2") in (0, None)
        assert (folder / "set_aside" / "1" / "2").is_dir()
        assert run_here(monkeypatch, "resume", str(folder / "stages" / "2"), "--from", "2") == 2
    told = capsys.readouterr()
    assert run_here(monkeypatch, "watch", str(folder), "--json") in (0, None)
    stages = json.loads(capsys.readouterr().out)["stages"]
    assert [stage["status"] for stage in stages] == ["met"] * 3
    assert f"{folder} is complete: all 3 stages are done" in told.err
    assert f"what stage 3 had written is in {folder / 'set_aside' / '1' / '3'}" in told.err
    assert told.out.strip() == str(folder / "stages" / "3" / "network.pth")


def test_stages_are_not_trained_with_several_seeds_at_once(tmp_path, monkeypatch, capsys):
    config = stages_file(tmp_path)
    assert run_here(monkeypatch, "train", str(config), "--seeds", "2", "--folder", str(tmp_path / "all")) == 2
    assert "--seeds is for runs" in capsys.readouterr().err
    assert not (tmp_path / "all").exists()
