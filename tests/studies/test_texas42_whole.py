"""The commands of the Texas 42 study, from positions to a player."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from rookery.arena.players import make_player
from rookery.cli import app
from rookery.cli.study import told
from rookery.cli.study_texas42_work import Whole
from rookery.errors import BadInput
from rookery.games.library import load
from rookery.learn.locks import Lock
from rookery.studies import texas42_plan
from rookery.studies.texas42_files import DataSet, write_shard
from rookery.studies.texas42_pieces import is_done, pieces_of
from rookery.studies.texas42_plan import quick
from studies.texas42_samples import late_rows


def asked(*words: object) -> str:
    """Give a command of the study; return what it says."""
    result = CliRunner().invoke(app, ["study", "texas42", *map(str, words)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def tiny() -> texas42_plan.Preset:
    """Return the quick preset with next to nothing in it."""
    plan = quick()
    short = {"steps": 4, "every": 2, "batch": 8, "valid_rows": 30}
    return replace(
        plan,
        positions=tuple(replace(each, deals=2, per_deal=4, per_shard=2) for each in plan.positions),
        stage1=tuple(replace(run, **short) for run in plan.stage1),
        decisions=tuple(replace(each, games=2, worlds=2, per_shard=1) for each in plan.decisions),
        stage2=tuple(replace(run, **short) for run in plan.stage2),
        trial=(6, 2),
        duels=("heuristic/random", "stage2-quick/random"),
        deals=2,
    )


@pytest.mark.slow
def test_a_preset_makes_everything_once_and_goes_on_where_time_was_up(tmp_path, monkeypatch):
    monkeypatch.setitem(texas42_plan.PRESETS, "quick", tiny)
    words = ("--preset", "quick", "--folder", tmp_path, "--device", "cpu", "--threads", 1)
    for _ in range(40):
        if "stopped" not in asked(*words, "--seconds", 0):
            break
    names = ["stage1-policy-quick", "stage1-quick", "stage2-exact-quick", "stage2-logits-quick", "stage2-quick"]
    assert sorted(path.parent.name for path in tmp_path.glob("runs/*/network.safetensors")) == names
    text = (tmp_path / "report.md").read_text()
    assert "## Matches on mirrored deals" in text
    assert "no pair is judged" not in text  # whether logits work like Q is asked in all three ways
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/*/*.[ns]*") if path.name != "plan.json"}
    before |= {path: path.stat().st_mtime_ns for path in (tmp_path / "evaluate.json", tmp_path / "trial.npz")}
    assert asked(*words).split() == [str(tmp_path / "report.md")]
    assert "to do" not in asked(*words, "--plan").replace(asked(*words, "--plan").splitlines()[-1], "")
    assert all(path.stat().st_mtime_ns == time for path, time in before.items())
    game = load("texas42:bid=30")
    for text in (
        "stage2:{}/runs/stage2-quick/network.safetensors",
        "eq:worlds=2,oracle={}/runs/stage1-quick/network.safetensors",
    ):
        assert make_player(text.format(tmp_path), game)


def test_players_are_told_by_their_texts_and_not_by_pictures(capsys):
    told("exact:100:make/exact:100: +1.00 points a hand")
    assert capsys.readouterr().err == "exact:100:make/exact:100: +1.00 points a hand\n"


def test_a_set_that_another_process_makes_is_waited_for(tmp_path, capsys):
    plan = tiny()
    piece = next(piece for piece in pieces_of(plan) if piece.name == "positions-valid")
    data = DataSet(tmp_path / "data" / piece.name)
    data.folder.mkdir(parents=True)
    lock = Lock(tmp_path / "data" / f".{piece.name}.lock")
    lock.take()
    with pytest.raises(typer.Exit):
        Whole(tmp_path, plan, "cpu", 1, time.monotonic()).do(piece)
    assert "stopped in positions-valid" in capsys.readouterr().err

    def make():
        data.begin("positions", 1, piece.what.settings)
        write_shard(data.shard(0), "positions", late_rows(np.arange(3)), {"deals": piece.what.deals})
        lock.give_back()

    other = threading.Timer(1.0, make)
    other.start()
    capsys.readouterr()
    Whole(tmp_path, plan, "cpu", 1, math.inf).do(piece)
    other.join()
    assert is_done(tmp_path, plan, piece)
    assert "waiting" in capsys.readouterr().err
    assert data.total("rows") == 3  # none is its own


@pytest.mark.slow
def test_data_of_a_network_are_made_by_the_command(tmp_path):
    asked("data", "--kind", "positions", "--source", "random", "--games", 3, "--per-deal", 6, "--folder", tmp_path)
    train = ("--steps", 2, "--batch", 8, "--folder", tmp_path, "--device", "cpu")
    asked("train-stage1", "--size", "73k", "--name", "one", *train)
    network = tmp_path / "runs" / "one" / "network.safetensors"
    words = ("data", "--games", 3, "--worlds", 4, "--oracle", network, "--per-shard", 2, "--folder", tmp_path)
    asked(*words, "--device", "cpu")
    data = DataSet(tmp_path / "data" / "decisions-network-4-train")
    assert [len(rows["seed"]) for rows in data.read()] == [2, 1]
    asked("train-stage2", "--size", "64x2", "--name", "two", *train)
    assert (tmp_path / "runs" / "two" / "network.safetensors").exists()
    with pytest.raises(BadInput, match="one is another run, with steps 2, not 3; take another --name or --folder"):
        asked("train-stage1", "--size", "73k", "--name", "one", *train, "--steps", 3)
    with pytest.raises(BadInput, match="has no logits to learn from"):
        asked("train-stage2", "--size", "64x2", "--name", "three", "--answers", "logits", *train)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("data", "--kind", "games"), "--kind"),
        (("data", "--oracle", "nothing.safetensors"), "is not there"),
        (("data", "--second", "some.safetensors"), "is not there"),
        (("train-stage1", "--size", "9k"), "73k, 817k, 3.3M"),
        (("train-stage1", "--data", "none"), "there are no data 'none'"),
        (("train-stage2",), "there are no decisions"),
        (("--preset", "huge"), "quick, home, full"),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_reason(tmp_path, words, complaint):
    with pytest.raises(BadInput, match=complaint):
        asked(*words, "--folder", tmp_path)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--folder", "mine", "--threads", 7, "report"), "--folder: before report it means nothing"),
        (("--preset", "quick", "report"), "--preset: before report it means nothing"),
        (("--only", "exact"), "--only: without --preset it means nothing"),
        (("--plan",), "--plan: without --preset it means nothing"),
        (("data", "--games", 2, "--worlds", 2, "--compile"), "--compile: for exact search it means nothing"),
        (("data", "--kind", "positions", "--device", "cuda"), "--device cuda: for positions"),
        (("data", "--ray", "local", "--threads", 2), "--threads 2: for a cluster it means nothing"),
        (("evaluate", "--deals", 5), "--deals 5: for judging without --duels it means nothing"),
        (("evaluate", "--duels", "exact:2000000/random"), r"worlds must .*1000000.*not 2000000"),
    ],
)
def test_options_that_would_be_ignored_and_players_that_cannot_be_are_refused_before_anything_is_done(
    words, complaint, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match=complaint):
        asked(*words)
    assert list(tmp_path.iterdir()) == []
