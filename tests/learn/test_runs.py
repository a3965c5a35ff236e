"""The folder of a run: what is in it, who may write it, what is kept."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time

import pytest

from learn.support_runs import filled_run, number_of, save_text, small_settings, snapshot_of
from rookery.errors import BadInput
from rookery.learn import manifest as manifests
from rookery.learn.files import NotWritten
from rookery.learn.runs import Pace, Run, being_trained, find_runs, free_folder, is_run, remove_run
from rookery.learn.sections import KeepSettings
from rookery.learn.settings import network_values


def test_a_new_run_holds_its_settings_and_versions(tmp_path):
    run = Run.create(tmp_path / "deep" / "run", small_settings(), threads=2)
    assert sorted(os.listdir(run.folder)) == ["config.yaml", "manifest.json"]
    manifest = json.loads((run.folder / "manifest.json").read_text())
    assert (manifest["format"], manifest["game"], manifest["rules"], manifest["threads"]) == (1, "pylos", 1, 2)
    opened = Run.open(run.folder)
    assert opened.settings == small_settings()
    assert opened.checkpoints == []
    assert opened.best is None
    assert opened.load_state() is None


def test_a_folder_in_use_is_no_place_for_a_new_run(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match="is not empty"):
        Run.create(tmp_path, small_settings())
    with pytest.raises(BadInput, match="is not empty"):
        Run.create(tmp_path / "file", small_settings())
    assert is_run(Run.create(tmp_path / "empty", small_settings()).folder)
    assert sorted(os.listdir(tmp_path)) == ["empty", "file"]


def test_of_two_that_make_the_same_folder_one_is_refused(tmp_path, monkeypatch):
    from rookery.learn import runs

    real = runs.write_json

    def slow(path, values):
        monkeypatch.setattr(runs, "write_json", real)
        Run.create(tmp_path / "run", small_settings(seed=2))  # another one is faster
        real(path, values)

    monkeypatch.setattr(runs, "write_json", slow)
    with pytest.raises(BadInput, match="is not empty"):
        Run.create(tmp_path / "run", small_settings(seed=1))
    assert Run.open(tmp_path / "run").settings.seed == 2
    assert os.listdir(tmp_path) == ["run"]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"format": 2}, "has the format 2; this version of Rookery goes on with 1"),
        ({"rules": 9}, "was played by pylos, rules version 9; here it would go on with pylos, rules version 1"),
        ({"game": "pylos:rules=children"}, "was played by pylos:rules=children, rules version 1"),
        ({"checkpoints": [{"file": "../../etc/passwd", "step": 1}]}, "is damaged: checkpoints must list"),
        ({"checkpoints": [3]}, "is damaged: checkpoints must list"),
        ({"pruned": [{"file": "checkpoint_00001.pth", "step": "1"}]}, "is damaged: pruned must list"),
    ],
)
def test_a_run_of_another_kind_is_refused(tmp_path, change, complaint):
    run = Run.create(tmp_path / "run", small_settings())
    (run.folder / "manifest.json").write_text(json.dumps(run.manifest | change))
    with pytest.raises(BadInput, match="run") as caught:
        Run.open(run.folder)
    assert complaint in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "\x00", '{"checkpoints": []}'])
def test_a_damaged_manifest_is_refused_by_name(tmp_path, text):
    run = Run.create(tmp_path / "run", small_settings())
    (run.folder / "manifest.json").write_text(text)
    with pytest.raises(BadInput, match=r"manifest.json"):
        Run.open(run.folder)


def test_what_is_no_run_is_refused(tmp_path):
    with pytest.raises(BadInput, match=r"is no run: there is no manifest.json in it"):
        Run.open(tmp_path)
    with pytest.raises(BadInput, match="is no run"):
        Run.open(tmp_path / "none")


# ---- who may write -------------------------------------------------------------------------------

HOLD = """
import sys, time
from rookery.learn.runs import Run
with Run.open(sys.argv[1]).training():
    print("held", flush=True)
    time.sleep(100)
"""


def test_a_run_is_trained_by_one_process_until_that_ends(tmp_path):
    run = Run.create(tmp_path / "run", small_settings())
    assert not being_trained(run.folder)
    child = subprocess.Popen([sys.executable, "-c", HOLD, str(run.folder)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    assert being_trained(run.folder)
    with pytest.raises(BadInput, match=f"is being trained by process {child.pid} on "):
        run.training()
    with pytest.raises(BadInput, match="is being trained"):
        remove_run(run.folder)
    assert Run.open(run.folder).settings == run.settings  # reading is free
    child.kill()
    child.wait()
    child.stdout.close()
    with run.training():
        assert being_trained(run.folder)
        with pytest.raises(BadInput, match="is being trained"):
            Run.open(run.folder).training()
    assert not being_trained(run.folder)


def test_nothing_is_written_without_the_lock(tmp_path):
    run = Run.create(tmp_path / "run", small_settings())
    for write in (
        lambda: run.append_loss(1, 1.0, 1.0),
        lambda: run.write_progress("training", 1),
        lambda: run.save_checkpoint(1, save_text("x")),
        lambda: run.save_state(snapshot_of(1)),
        lambda: run.go_back_to(0),
    ):
        with pytest.raises(RuntimeError, match="without its lock"):
            write()
    assert sorted(os.listdir(run.folder)) == ["config.yaml", "manifest.json"]


RATE = """
import sys
from rookery.learn.runs import Run
run = Run.open(sys.argv[1])
for step in range(10, 10 * int(sys.argv[2]) + 1, 10):
    run.rate(step, step, "Novice")
"""


def test_training_and_rating_change_the_manifest_at_once_and_nothing_is_lost(tmp_path):
    count = 20
    run = Run.create(tmp_path / "run", small_settings(checkpoints__keep={"last": 1000}))
    with run.training():
        for step in range(10, 10 * count + 1, 10):
            run.save_checkpoint(step, save_text("x"))
        child = subprocess.Popen([sys.executable, "-c", RATE, str(run.folder), str(count)])
        more = 0
        while child.poll() is None or more == 0:
            more += 1
            run.save_checkpoint(10 * (count + more), save_text("x"))
    assert child.returncode == 0
    assert [entry["step"] for entry in run.checkpoints] == [10 * (i + 1) for i in range(count + more)]
    assert [entry["elo"] for entry in run.checkpoints[:count]] == [10 * (i + 1) for i in range(count)]


# ---- figures -------------------------------------------------------------------------------------


def test_losses_have_six_decimals_and_one_line_each(tmp_path):
    run = Run.create(tmp_path / "run", small_settings())
    with run.training():
        run.append_loss(8, 0.123456789, 2.0, learning_rate=1e-3)
        run.append_loss(16, float("nan"), 1.0)
    lines = (run.folder / "loss_history.jsonl").read_text().splitlines()
    assert lines[0] == '{"step": 8, "value_loss": 0.123457, "policy_loss": 2.0, "learning_rate": 0.001}'
    assert json.loads(lines[1])["value_loss"] is None


FIELDS = [
    "status", "current_game", "total_games", "percent", "value_loss", "policy_loss", "elapsed_seconds", "eta_seconds",
    "games_per_second", "timestamp",
]  # fmt: skip


def test_the_progress_file_has_the_fields_of_the_original(tmp_path, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    run = Run.create(tmp_path / "run", small_settings())
    with run.training():
        run.write_progress("starting", 40)  # resumed: forty games were played before
        first = json.loads((run.folder / "training_progress.json").read_text())
        clock[0] += 2.0
        run.write_progress("training", 45, 0.1234567, 1.5, elapsed_seconds=77.77)
        second = json.loads((run.folder / "training_progress.json").read_text())
        clock[0] += 1.0
        run.write_progress("complete", 100, 0.1, 1.0, 90.0)
        last = json.loads((run.folder / "training_progress.json").read_text())
        with pytest.raises(ValueError, match="status must be one of starting, training, complete, not 'idle'"):
            run.write_progress("idle", 1)
    assert list(first) == list(second) == list(last) == FIELDS
    assert (first["games_per_second"], first["eta_seconds"], first["value_loss"]) == (0.0, None, None)
    assert (second["games_per_second"], second["eta_seconds"], second["percent"]) == (2.5, 22.0, 45.0)
    assert (second["value_loss"], second["policy_loss"], second["elapsed_seconds"]) == (0.123457, 1.5, 77.8)
    assert (last["status"], last["games_per_second"], last["eta_seconds"]) == ("complete", 55.0, 0.0)
    assert time.strptime(last["timestamp"], "%Y-%m-%dT%H:%M:%SZ")


def test_games_played_before_do_not_count_as_speed():
    pace = Pace()
    assert pace.after(400_000, 500_000) == (0.0, None)


# ---- checkpoints ---------------------------------------------------------------------------------


def test_a_checkpoint_is_entered_as_the_original_does(tmp_path):
    run = Run.create(tmp_path / "run", small_settings())
    with run.training():
        assert run.save_checkpoint(1000, save_text("network")).read_text() == "network"
    assert os.path.exists(run.folder / "checkpoint_01000.pth")
    entry = run.checkpoints[0]
    assert list(entry) == ["file", "step", "label", "timestamp"]
    assert (entry["file"], entry["step"], entry["label"]) == ("checkpoint_01000.pth", 1000, "Evaluating...")
    run.rate(1000, 1234, "Novice", error=15)
    assert {"elo": 1234, "label": "Novice", "error": 15}.items() <= run.checkpoints[0].items()
    with pytest.raises(BadInput, match="has no checkpoint at step 7; there are 1000"):
        run.rate(7, 1, "x")


def test_a_network_is_saved_and_a_full_disk_is_told_as_such(tmp_path, monkeypatch):
    from rookery.nets.configs import read_config
    from rookery.nets.files import About, load_network, save_network
    from rookery.nets.residual import build

    run = Run.create(tmp_path / "run", small_settings())
    network = build(read_config(network_values(run.settings.network, run.game)))
    about = About(game=run.game.spec, rules_version=run.game.version, observation="rich", step=10)
    with run.training():
        path = run.save_checkpoint(10, lambda path: save_network(path, network, about))
        assert load_network(path).about.step == 10
        real = os.fsync
        monkeypatch.setattr(os, "fsync", lambda handle: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left")))
        with pytest.raises(NotWritten, match=r"checkpoint_00020.pth cannot be written: No space left"):
            run.save_checkpoint(20, lambda path: save_network(path, network, about))
        monkeypatch.setattr(os, "fsync", real)
        with pytest.raises(BadInput, match="no disk is to blame"):
            run.save_checkpoint(20, lambda path: (_ for _ in ()).throw(BadInput("no disk is to blame")))
    assert [entry["step"] for entry in run.checkpoints] == [10]
    assert [path.name for path in run.folder.glob("*.pth")] == ["checkpoint_00010.pth"]


def test_a_step_saved_again_replaces_the_earlier_one(tmp_path):
    run = Run.create(tmp_path / "run", small_settings())
    with run.training():
        for text in ("one", "two"):
            run.save_checkpoint(10, save_text(text))
            run.rate(10, 5, "Novice") if text == "one" else None
    assert [entry.get("elo") for entry in run.checkpoints] == [None]
    assert run.checkpoint_path(10).read_text() == "two"


def kept_slowly(steps: list[int], last: int, every: int, best: int | None) -> list[int]:
    """The rule, read as it is written."""
    kept = []
    for step in steps:
        first_of_span = every > 0 and step == min(other for other in steps if other // every == step // every)
        if step == steps[0] or step in steps[-last:] or step == best or first_of_span:
            kept.append(step)
    return kept


@pytest.mark.parametrize("seed", range(50))
def test_the_retention_rule_keeps_what_it_says(seed):
    import random

    draw = random.Random(seed)
    steps = sorted(draw.sample(range(1, 400), draw.randint(1, 60)))
    last, every, best = draw.randint(1, 6), draw.choice([0, 1, 50, 100]), draw.choice([None, *steps])
    manifest = {"checkpoints": [{"file": f"f{step}", "step": step} for step in steps], "best": best and f"f{best}"}
    gone = [entry["step"] for entry in manifests.superfluous(manifest, KeepSettings(last=last, every=every))]
    assert sorted({*steps} - {*gone}) == kept_slowly(steps, last, every, best)


def test_pruned_checkpoints_leave_their_ratings(tmp_path):
    run = Run.create(tmp_path / "run", small_settings())
    with run.training():
        for step in range(10, 121, 10):
            run.save_checkpoint(step, save_text("x"))
            run.rate(step, 1000 + step, "Novice")
            if step == 30:
                run.set_best(30)
    steps = [10, 30, 50, 100, 110, 120]  # first, best, first of each fifty, last two
    assert [entry["step"] for entry in run.checkpoints] == steps
    assert sorted(path.name for path in run.folder.glob("*.pth")) == [f"checkpoint_{step:05d}.pth" for step in steps]
    assert [(entry["step"], entry["elo"]) for entry in run.manifest["pruned"]][:2] == [(20, 1020), (40, 1040)]
    assert run.best == run.checkpoint_path(30)
    run.rate(20, 7, "Beginner")
    assert run.manifest["pruned"][0]["elo"] == 7


def test_the_newest_checkpoint_is_best_until_one_is_called_so(tmp_path):
    run = filled_run(tmp_path / "run")
    assert run.best == run.checkpoint_path(30)
    run.set_best(10)
    assert run.best == run.checkpoint_path(10)


# ---- going on ------------------------------------------------------------------------------------


def test_going_back_forgets_what_came_after(tmp_path):
    run = filled_run(tmp_path / "run", games=30)
    run.set_best(30)
    (run.folder / "checkpoint_00777.pth").write_text("saved, but killed before it was entered")
    (run.folder / "checkpoint_mine.pth").write_text("somebody else's")
    (run.folder / ".part-checkpoint_00040.pth").write_text("half")
    with open(run.folder / "metrics.jsonl", "w") as file:
        file.write('{"step": 1}\n{"st')
    with run.training():
        assert not (run.folder / ".part-checkpoint_00040.pth").exists()
        run.go_back_to(20)
    assert [line["step"] for line in run.losses.read()] == list(range(1, 21))
    assert [entry["step"] for entry in run.checkpoints] == [10, 20]
    assert sorted(path.name for path in run.folder.glob("*0.pth")) == ["checkpoint_00010.pth", "checkpoint_00020.pth"]
    assert (run.folder / "checkpoint_mine.pth").exists()
    assert run.manifest["best"] is None
    assert (run.folder / "metrics.jsonl").read_text() == '{"step": 1}\n'
    found = run.load_state()
    assert found is not None
    assert number_of(found) == 30


def test_a_game_from_a_file_is_found_from_anywhere(tmp_path, monkeypatch):
    from support import CONNECT_FOUR, ROOT

    kind = "{kind: perceptron, observation: planes}"
    monkeypatch.chdir(ROOT)
    from rookery.learn.settings import read_settings

    (tmp_path / "s.yaml").write_text(f"game: {os.path.relpath(CONNECT_FOUR)}\nnetwork: {kind}\n")
    run = Run.create(tmp_path / "run", read_settings(tmp_path / "s.yaml"))
    monkeypatch.chdir(tmp_path)
    assert Run.open(run.folder).game.name == "connect_four"


# ---- folders -------------------------------------------------------------------------------------


def test_runs_are_found_below_a_folder_and_names_are_free(tmp_path):
    assert free_folder("configs/pylos_v5.yaml", tmp_path) == tmp_path / "pylos_v5"
    first = filled_run(tmp_path / "pylos_v5").folder
    assert free_folder("pylos_v5", tmp_path) == tmp_path / "pylos_v5-2"
    (tmp_path / "other").mkdir()
    assert find_runs([tmp_path]) == [first]
    assert find_runs([first, tmp_path, tmp_path / "none"]) == [first]


def test_only_a_run_is_removed(tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("x")
    run = filled_run(tmp_path / "run").folder
    os.symlink(run, tmp_path / "link")
    for folder in (tmp_path, tmp_path / "precious", tmp_path / "none"):
        with pytest.raises(BadInput, match="is no run"):
            remove_run(folder)
    with pytest.raises(BadInput, match="is a link"):
        remove_run(tmp_path / "link")
    remove_run(run)
    assert sorted(os.listdir(tmp_path)) == ["link", "precious"]
