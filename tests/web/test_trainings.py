"""What the page knows of runs and does with them, without a browser."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from learn.support_runs import small_settings
from rookery.errors import BadInput
from rookery.learn.locks import Lock, holding_process
from rookery.learn.runs import LOCK, Run
from rookery.web.charts import training_options
from rookery.web.curves import MOST_POINTS, averaged
from rookery.web.processes import Trainer
from rookery.web.training_parts import figures_text
from rookery.web.trainings import Card, Trainings

HOLDER = """
import sys, time
from pathlib import Path
from rookery.learn.locks import Lock
Lock(Path(sys.argv[1])).take()
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def trainings(tmp_path):
    made = Trainings(Trainer(tmp_path / "runs"))
    yield made
    for started in made.trainer.running:
        started.process.kill()
    for started in made.trainer.started.values():
        started.process.wait()


def make_run(trainings, name, games=0, **changes):
    """Make a run with figures for each game."""
    run = Run.create(trainings.trainer.runs / name, small_settings(**changes))
    with run.training():
        for step in range(1, games + 1):
            run.append_loss(step, 1 / step, 2 / step)
        if games:
            run.write_progress("training", games, elapsed_seconds=1)
            run.save_checkpoint(games, lambda path: path.write_bytes(b"network"))
            run.rate(games, 812.5, "club", interval=[780.0, 845.0])
    return run


def only_card(trainings):
    trainings.looked = -1e9
    (card,) = trainings.look()
    return card


def holding(lock):
    """Start another process that holds a lock."""
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(lock)], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"held\n"
    process.stdout.close()
    return process


def test_a_card_tells_where_a_run_stands_and_how_good_it_is(trainings):
    make_run(trainings, "one", games=40)
    card = only_card(trainings)
    assert (card.status, card.games, card.planned) == ("interrupted", 40, 100)
    assert (card.can_resume, card.alive, card.speed) == (True, False, None)
    assert figures_text(card) == "40 of 100 games · Elo 812 (780 to 845)"


def test_a_run_whose_lock_is_held_is_being_trained_and_can_be_stopped(trainings):
    run = make_run(trainings, "one", games=40)
    process = holding(run.folder / LOCK)
    try:
        card = only_card(trainings)
        assert (card.status, card.alive) == ("training", True)
        assert holding_process(run.folder / LOCK) == process.pid
        with pytest.raises(BadInput, match="trained already"):
            trainings.trainer.resume("one")
        trainings.trainer.stop("one")
        assert process.wait(20) == -signal.SIGTERM
    finally:
        process.kill()
        process.wait()
    assert only_card(trainings).status == "interrupted"
    assert holding_process(run.folder / LOCK) is None
    with pytest.raises(BadInput, match="nobody on this machine trains one"):
        trainings.trainer.stop("one")


def test_the_lock_of_another_machine_names_no_process(tmp_path):
    lock = Lock(tmp_path / "lock")
    lock.take()
    assert holding_process(lock.path) == os.getpid()
    lock.path.write_text(json.dumps({"process": os.getpid(), "machine": "elsewhere.invalid"}))
    assert holding_process(lock.path) is None
    lock.path.write_text("nonsense")
    assert holding_process(lock.path) is None
    lock.give_back()


def test_a_damaged_run_says_so_and_hides_no_other(trainings):
    make_run(trainings, "good", games=3)
    (make_run(trainings, "bad").folder / "manifest.json").write_text("{")
    found = {card.name: card for card in trainings.look()}
    assert found["bad"].status == "damaged"
    assert "manifest.json" in found["bad"].note
    assert found["good"].status == "interrupted"


def test_means_and_bands_are_those_of_neighbouring_points():
    points = [(1.0, 4.0), (2.0, 2.0), (3.0, 9.0), (4.0, 5.0), (5.0, 7.0)]
    curve = averaged("a", points, 2)
    assert curve.steps == (2.0, 4.0, 5.0)
    assert curve.means == (3.0, 7.0, 7.0)
    assert (curve.lows, curve.highs) == ((2.0, 5.0, 7.0), (4.0, 9.0, 7.0))
    many = averaged("a", [(float(step), 0.0) for step in range(MOST_POINTS * 3)], 1)
    assert (len(many.steps), many.width) == (MOST_POINTS, 3)


def test_curves_follow_the_files(trainings):
    run = make_run(trainings, "one", games=4)
    assert trainings.curve("one", "Value loss", 1).means == (1.0, 0.5, 0.333333, 0.25)
    assert trainings.curve("one", "Draws", 1).steps == ()
    with run.training():
        run.append_loss(5, 0.2, 0.4)
    assert trainings.curve("one", "Value loss", 1).steps[-1] == 5.0
    rated = trainings.ratings("one")
    assert (rated.steps, rated.means, rated.lows, rated.highs) == ((4.0,), (812.5,), (780.0,), (845.0,))


def test_only_differing_settings_are_compared(trainings):
    make_run(trainings, "one", seed=1)
    make_run(trainings, "two", seed=2)
    found = trainings.compared(["one", "two"])
    assert {key: values for key, values in found.items() if len(set(values)) > 1} == {"seed": ["1", "2"]}
    assert found["training.batch"] == [str(small_settings().training.batch)] * 2


def test_a_run_whose_settings_are_no_text_hides_no_other(trainings):
    make_run(trainings, "good", games=3)
    (make_run(trainings, "bad", games=3).folder / "config.yaml").write_bytes(b"game: \xff")
    curves, _ = trainings.drawn(["bad", "good"], "Value loss", 1, "range")
    assert [curve.run for curve in curves] == ["good"]
    with pytest.raises(BadInput, match=r"config\.yaml is no text"):
        trainings.compared(["bad", "good"])


def test_a_plot_has_one_zoom_for_losses_and_ratings(trainings):
    make_run(trainings, "one", games=9)
    curves, ratings = [trainings.curve("one", "Value loss", 2)], [trainings.ratings("one")]
    options = training_options("Value loss", curves, ratings)
    assert [zoom["xAxisIndex"] for zoom in options["dataZoom"]] == [[0, 1], [0, 1]]
    lower, upper, line = options["series"][:3]
    assert [low[1] + gap[1] for low, gap in zip(lower["data"], upper["data"], strict=True)] == list(curves[0].highs)
    assert [point[1] for point in line["data"]] == list(curves[0].means)
    assert len(training_options("Value loss", curves, [averaged("one", [], 1)])["grid"]) == 1
    json.dumps(options, allow_nan=False)


@pytest.mark.parametrize(
    "changes",
    [["start=/etc/passwd"], ["folder=elsewhere"], ["game=x.py"], ["tracking.project=x"], ["selfplay.games=../x"],
     ["--folder"], ["training.batch=8 --folder x"], ["seed=1\n"]],
)  # fmt: skip
def test_a_visitor_changes_numbers_and_never_names_a_file(trainings, changes):
    with pytest.raises(BadInput):
        trainings.trainer.planned("pylos_quick", 10, 1, changes)


def test_settings_are_looked_up_and_checked_before_anything_starts(trainings, tmp_path):
    with pytest.raises(BadInput, match="there are no settings"):
        trainings.trainer.start(str(tmp_path / "own.yaml"), None, None, [])
    with pytest.raises(BadInput, match="batch"):
        trainings.trainer.start("pylos_quick", None, None, ["training.batch=-4"])
    with pytest.raises(BadInput, match="there is no run"):
        trainings.trainer.resume("../one")
    assert trainings.trainer.started == {}
    command = trainings.trainer.planned("pylos_quick", 400, 3, ["threads=1"])
    folder = str(trainings.trainer.runs / "pylos_quick")
    told = ["--set", "selfplay.games=400", "--set", "seed=3", "--set", "threads=1", "--folder", folder]
    assert command == ("rookery", "train", "pylos_quick", *told)


def test_a_command_that_fails_is_told_with_its_last_words(trainings):
    trainings.trainer.launch("gone", ("rookery", "resume", str(trainings.trainer.runs / "gone")), True)
    trainings.trainer.started["gone"].process.wait(60)
    card = only_card(trainings)
    assert card.status == "failed to begin"
    assert not card.can_resume
    assert "is no run" in trainings.trainer.log("gone")
    assert trainings.trainer.log("../gone") == ""


def test_no_more_runs_are_trained_from_here_than_the_limit(trainings):
    trainings.trainer.most = 0
    with pytest.raises(BadInput, match="0 runs are trained"):
        trainings.trainer.start("pylos_quick", 400, None, [])


@pytest.mark.slow
def test_a_killed_run_shows_so_and_is_resumed_to_its_end(trainings):
    trainer = trainings.trainer
    changes = ["selfplay.simulations=4", "selfplay.at_once=4", "checkpoints.every=4", "checkpoints.least_seconds=0"]
    changes += ["threads=1", "training.batch=16", "network.width=8", "training.warmup_steps=2"]
    started = trainer.start("pylos_quick", 16, 1, changes)
    wait_for(lambda: only_card(trainings).games >= 4)
    started.process.send_signal(signal.SIGKILL)
    started.process.wait()
    card = only_card(trainings)
    assert (card.status, card.can_resume) == ("killed", True)
    assert "Signal 9" in card.note
    trainer.resume("pylos_quick")
    with pytest.raises(BadInput, match="trained already"):
        trainer.resume("pylos_quick")
    wait_for(lambda: only_card(trainings).status == "complete")
    assert only_card(trainings).games == 16
    trainer.started["pylos_quick"].process.wait(60)
    with pytest.raises(BadInput, match="complete"):
        trainer.resume("pylos_quick")


def wait_for(condition):
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_run_that_has_not_begun_has_no_figures():
    assert figures_text(Card("a", "starting")) == "no games yet"
