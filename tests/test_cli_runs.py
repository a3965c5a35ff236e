"""The commands on runs, as a person types them."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading

import pytest
from rich.console import Console

from learn.support_runs import filled_run
from rookery.cli.runs import summary_table
from rookery.learn.runs import Run
from rookery.learn.summaries import duration, summarise
from support import run_rookery

pytestmark = pytest.mark.xdist_group("command line")


@pytest.fixture
def folder(tmp_path):
    """Two runs, one of them rated, a damaged one, and something else."""
    filled_run(tmp_path / "first", games=60, elo=1234)
    filled_run(tmp_path / "second", games=30, training__batch=8)
    filled_run(tmp_path / "broken")
    (tmp_path / "broken" / "manifest.json").write_text("{")
    (tmp_path / "other").mkdir()
    return tmp_path


def test_runs_are_listed_with_what_they_have_done(folder):
    done = run_rookery("runs", str(folder))
    assert done.returncode == 0
    lines = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert {"first", "second", "broken"} <= set(lines)
    assert "60 of 100" in lines["first"]
    assert "1,234" in lines["first"]
    assert "interrupted" in lines["second"]
    assert "damaged" in lines["broken"]
    listed = {run["name"]: run for run in json.loads(run_rookery("runs", str(folder), "--json").stdout)}
    assert listed["second"]["games"] == 30
    assert listed["second"]["value_loss"] == pytest.approx(sum(round(1 / step, 6) for step in range(1, 31)) / 30)
    assert listed["first"]["checkpoints"] == 3
    assert "manifest.json" in listed["broken"]["note"]


def test_an_empty_folder_has_no_runs(tmp_path):
    done = run_rookery("runs", str(tmp_path))
    assert (done.returncode, done.stdout) == (0, "")
    assert "there are no runs in" in done.stderr
    assert run_rookery("runs", str(tmp_path / "none")).returncode == 2


def test_runs_are_compared_in_a_table_and_a_figure(folder):
    figure = folder / "figure.png"
    runs = [str(folder / "first"), str(folder / "second")]
    done = run_rookery("runs", "compare", *runs, "--figure", str(figure))
    assert done.returncode == 0, done.stderr
    assert "training.batch" in done.stdout
    assert figure.read_bytes().startswith(b"\x89PNG")
    found = json.loads(run_rookery("runs", "compare", *runs, "--figure", str(figure), "--json").stdout)
    assert found["differing settings"] == {"training.batch": ["4", "8"]}
    assert [run["name"] for run in found["runs"]] == ["first", "second"]


def test_runs_of_long_names_are_told_apart_in_a_narrow_terminal(tmp_path):
    names = [f"small-training.learning_rate=1e-3-network.blocks={blocks}" for blocks in (1, 2)]
    table = summary_table([summarise(filled_run(tmp_path / name).folder) for name in names])
    console = Console(width=80, file=io.StringIO())
    console.print(table)
    first = "".join(line.split(" ")[0] for line in console.file.getvalue().splitlines())  # names go on below
    assert all(name in first for name in names)


def test_pruning_asks_first_and_keeps_ratings(folder):
    run = Run.open(folder / "first")
    before = [entry["step"] for entry in run.checkpoints]
    arguments = ("runs", "prune", str(run.folder), "--last", "1", "--every", "0")
    refused = run_rookery(*arguments, given="n\n")
    assert refused.returncode == 1
    assert "Remove 1 of 3 checkpoints" in refused.stderr
    assert [entry["step"] for entry in run.checkpoints] == before
    assert run_rookery(*arguments, given="y\n").returncode == 0
    assert [entry["step"] for entry in run.checkpoints] == [10, 60]
    again = json.loads(run_rookery(*arguments, "--json").stdout)
    assert again["removed"] == []


def test_deleting_asks_first(folder):
    first, second = folder / "first", folder / "second"
    assert run_rookery("runs", "rm", str(first), given="n\n").returncode == 0
    assert first.exists()
    assert run_rookery("runs", "rm", str(first), str(second), str(first), "--yes").returncode == 0
    assert sorted(os.listdir(folder)) == ["broken", "other"]


def test_what_is_no_run_and_what_is_trained_is_not_deleted(folder):
    done = run_rookery("runs", "rm", str(folder / "other"), "--yes")
    assert done.returncode == 2
    assert "is no run" in done.stderr
    with Run.open(folder / "first").training():
        done = run_rookery("runs", "rm", str(folder / "second"), str(folder / "first"), "--yes")
    assert done.returncode == 2
    assert "is being trained" in done.stderr
    assert (folder / "second").exists()  # all or none


def watched(folder, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "rookery", "watch", str(folder), "--every", "0.05", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_a_run_is_watched_until_it_is_complete(folder, arguments):
    with Run.open(folder / "first").training() as run:
        child = watched(run.folder, *arguments)
        assert child.stdout is not None
        lines = [child.stdout.readline()]
        run.write_progress("training", 80, 0.25, 0.5, 20.0)
        lines.append(child.stdout.readline())
        run.write_progress("complete", 100, 0.2, 0.4, 30.0)
        rest, errors = child.communicate(timeout=60)
    lines += rest.splitlines()
    assert (child.returncode, errors) == (0, "")
    assert len(lines) == 3
    if arguments:
        assert [json.loads(line)["current_game"] for line in lines] == [60, 80, 100]
        assert json.loads(lines[-1])["status"] == "complete"
    else:
        assert "80 of 100 games  80.0 %  value loss 0.2500  policy loss 0.5000" in lines[1]
        assert lines[2].startswith("complete")


@pytest.mark.slow
def test_a_run_that_nobody_trains_is_not_watched_for_ever(folder):
    child = watched(folder / "second")
    output, errors = child.communicate(timeout=60)
    assert child.returncode == 1
    assert output.startswith("interrupted")
    assert "nobody trains" in errors


def test_a_run_is_watched_in_a_terminal(folder):
    import pty

    master, slave = pty.openpty()
    run = Run.open(folder / "first")
    with run.training():
        run.write_progress("complete", 100, 0.2, 0.4, 30.0)
        run.metrics.append({"step": 100, "seconds": 1.0, "selfplay/draws": 0.125})
    collected = bytearray()

    def collect() -> None:
        try:
            while piece := os.read(master, 4096):
                collected.extend(piece)
        except OSError:  # the other end is closed
            pass

    reader = threading.Thread(target=collect)
    reader.start()
    command = [sys.executable, "-m", "rookery", "watch", str(run.folder)]
    environment = dict(os.environ) | {"COLUMNS": "200", "TERM": "xterm"}
    done = subprocess.run(command, stdout=slave, stdin=slave, stderr=subprocess.PIPE, env=environment, timeout=60)
    os.close(slave)
    reader.join(timeout=20)
    os.close(master)
    assert done.returncode == 0
    shown = collected.decode()
    assert "100 of 100 games" in shown
    assert "0.2000" in shown
    assert "selfplay/draws" in shown
    assert "checkpoint_00060.pth" in shown


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (59.9, "59s"),
        (60, "1m 0s"),
        (3600, "1h 0s"),
        (90061, "1d 1h"),
        (None, "-"),
        (-5, "0s"),
        (float("nan"), "-"),
    ],
)
def test_time_spans_are_written_in_two_units(seconds, text):
    assert duration(seconds) == text
