"""What is recognised, and the command."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from checks.small_networks import kept, small_network
from rookery.arena.ledger import Ledger
from rookery.arena.players import make_player
from rookery.checks import Verdict, look
from rookery.checks.look import parts_of_study, recognised
from rookery.cli import app
from rookery.errors import BadInput
from rookery.games.library import load
from rookery.learn.runs import run_folder
from rookery.learn.settings import read_settings


@pytest.fixture
def study(tmp_path):
    """A folder like that of a study, of which only names are looked at."""
    for file in ("data/phase1_games.npz", "data/set/plan.json", "data/set/00000.npz", "runs/one/settings.json",
                 "runs/two/manifest.json", "runs/two/config.yaml", "main/curriculum.yaml", "arms/x/run.json",
                 "arms/x/curve.jsonl", "stage/config.yaml", "stage/shards/shard_00000.npz"):  # fmt: skip
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("place", "what"),
    [("data/phase1_games.npz", "Domineering games phase1_games.npz"), ("data", "Domineering games data"),
     ("data/set", "Texas 42 data set"), ("data/set/00000.npz", "Texas 42 data set"), ("runs/one", "run one"),
     ("runs/two", "run two"), ("main", "curriculum main"), ("arms/x", "run x"), ("stage", "imitation stage"),
     ("stage/shards", "lessons shards"), ("stage/shards/shard_00000.npz", "lessons shards")],
)  # fmt: skip
def test_folders_and_files_are_recognised(study, place, what):
    assert recognised(str(study / place))[0] == what


def test_a_study_is_all_its_parts(study):
    assert recognised(str(study))[0] == f"study {study.name}"
    assert [name for name, _ in parts_of_study(study)] == ["data", "data", "main", "one", "two", "x"]


def test_a_part_that_cannot_be_read_does_not_hide_the_others(tmp_path):
    for name in ("one", "two"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "settings.json").write_text("{" if name == "one" else '{"learning_rate": 9}')
    report = look(str(tmp_path))
    assert {(found.target, found.name, str(found.verdict)) for found in report.findings} == {
        ("one", "rows-sound", "wrong"), ("two", "learning-rate", "wrong"),
    }  # fmt: skip


def test_networks_are_recognised_by_file_and_by_their_names_in_the_zoo(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert recognised("zoo:pylos")[0] == recognised("pylos")[0] == "network pylos.safetensors"
    (tmp_path / "one.pb.gz").write_bytes(b"")
    assert recognised("one.pb.gz")[0] == "network one.pb.gz"


@pytest.mark.parametrize("made", ["nothing", "empty", "text.txt", "other.npz"])
def test_what_is_none_of_these_is_refused(tmp_path, made):
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.txt").write_text("x")
    np.savez(tmp_path / "other.npz", something=np.zeros(3))
    with pytest.raises(BadInput, match="a network"):
        recognised(str(tmp_path / made))


def test_numbers_out_of_range_are_refused(tmp_path):
    with pytest.raises(BadInput, match="--positions"):
        look("zoo:pylos", positions=1)


@pytest.fixture(scope="module")
def networks(tmp_path_factory):
    """A network that is checked by its weights alone, sound, and with one that has grown, and with one that is none."""
    folder = tmp_path_factory.mktemp("networks")
    found = {}
    for name, weight in (("sound", 0.1), ("grown", 500.0), ("none", float("nan"))):
        network = small_network(residual=False)
        next(iter(network.parameters())).data[0, 0] = weight
        found[name] = str(kept(folder / f"{name}.pth", network, game="", observation=""))
    return found


def test_the_exit_status_tells_whether_something_is_wrong(networks):
    runner = CliRunner()
    statuses = {name: runner.invoke(app, ["check", path]).exit_code for name, path in networks.items()}
    assert statuses == {"sound": 0, "grown": 0, "none": 1}
    assert runner.invoke(app, ["check", networks["grown"], "--strict"]).exit_code == 1
    assert runner.invoke(app, ["check", networks["sound"], "--strict"]).exit_code == 0


def test_the_command_prints_the_worst_first_with_a_hint(networks):
    printed = CliRunner().invoke(app, ["check", networks["grown"], "--all"], env={"COLUMNS": "200"}).stdout
    lines = printed.splitlines()
    assert lines[1].split()[:2] == ["warning", "weights-size"]
    assert "lower the learning rate" in printed
    assert "docs/when-it-does-not-learn.md#losses-or-weights-are-no-numbers" in printed
    assert "1 warnings, 2 in order" in printed


def test_the_command_prints_json(networks):
    told = json.loads(CliRunner().invoke(app, ["check", networks["none"], "--json"]).stdout)
    assert told["verdict"] == "wrong"
    assert [(found["name"], found["verdict"]) for found in told["findings"]] == [("weights-numbers", "wrong")]


def test_a_bar_is_shown_in_a_terminal_when_it_takes_long(monkeypatch):
    import io

    from rich.console import Console

    from rookery import terminal
    from rookery.cli import check

    screen = io.StringIO()
    monkeypatch.setattr(terminal, "err", Console(file=screen, force_terminal=True, width=100))
    monkeypatch.setattr(check, "PATIENCE", -1.0)
    with check.telling() as say:
        say("weights of one.pth")
        say("games of pylos")
    assert "games of pylos" in screen.getvalue()


def test_programs_call_it_and_are_told_what_is_looked_at(networks):
    notes: list[str] = []
    report = look(networks["sound"], say=notes.append)
    assert report.verdict is Verdict.OK
    assert notes == ["weights of sound.pth"]
    assert np.isfinite([found.number for found in report.findings]).all()


def test_the_home_of_nobody_is_told_as_a_file_that_is_not_there():
    nobody = "~nobody-lives-here/a"
    with pytest.raises(BadInput, match=f"'{nobody}' is not there"):
        look(nobody)
    with pytest.raises(BadInput, match=rf"'{nobody}\.pth' is not there"):
        make_player(f"net:{nobody}.pth", load("pylos"))
    with pytest.raises(BadInput, match=f"there is no ledger {nobody}"):
        Ledger(nobody, create=False)
    with pytest.raises(BadInput, match=f"'{nobody}' is no run"):
        run_folder(nobody)
    with pytest.raises(BadInput, match=f"'{nobody}' cannot be read"):
        read_settings(nobody)
    with pytest.raises(BadInput, match="cannot be read"):
        load(f"{nobody}.py")
