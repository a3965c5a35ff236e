"""Where figures go."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from learn.support_runs import filled_run, small_settings
from rookery.errors import BadInput
from rookery.learn.files import LineLog
from rookery.learn.runs import Run
from rookery.learn.summaries import MOST_POINTS, loss_curve, rating_curve, summarise
from rookery.learn.tracking import Tracker


def test_figures_are_always_in_the_folder(tmp_path):
    run = Run.create(tmp_path / "run", small_settings())
    with run.training(), Tracker(run) as tracker:
        tracker.log(8, {"loss/value": 0.5, "selfplay/draws": 0.125})
        tracker.log(16, {"loss/value": float("nan")})
    lines = [json.loads(line) for line in (run.folder / "metrics.jsonl").read_text().splitlines()]
    assert (lines[0]["step"], lines[0]["loss/value"], lines[0]["selfplay/draws"]) == (8, 0.5, 0.125)
    assert lines[1]["loss/value"] is None
    with pytest.raises(RuntimeError, match="without its lock"):
        tracker.log(24, {})


@pytest.mark.parametrize(("key", "module"), [("tensorboard", "torch.utils.tensorboard"), ("wandb", "wandb")])
def test_a_missing_package_is_told_with_its_extra(tmp_path, monkeypatch, key, module):
    monkeypatch.setitem(sys.modules, module, None)
    run = Run.create(tmp_path / "run", small_settings(**{f"tracking__{key}": True}))
    with run.training(), pytest.raises(BadInput, match=rf"tracking.{key} needs .*pip install 'rookery\[tracking\]'"):
        Tracker(run)


def test_tensorboard_gets_the_same_figures(tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    run = Run.create(tmp_path / "run", small_settings(tracking__tensorboard=True))
    with run.training(), Tracker(run) as tracker:
        for step in (8, 16):
            tracker.log(step, {"loss/value": 1.0 / step})
    events = EventAccumulator(str(run.folder / "tensorboard"))
    events.Reload()
    assert [(event.step, event.value) for event in events.Scalars("loss/value")] == [(8, 0.125), (16, 0.0625)]
    with run.training(), Tracker(run, step=8) as tracker:  # killed, and gone back to a snapshot
        tracker.log(12, {"loss/value": 0.5})
    events.Reload()
    assert [(event.step, event.value) for event in events.Scalars("loss/value")] == [(8, 0.125), (12, 0.5)]


class FakeSession:
    """Stands for a session of Weights & Biases; fails when it is told to."""

    def __init__(self, **keywords: Any):
        self.keywords, self.logged, self.finished, self.broken = keywords, [], False, False

    def log(self, figures: dict[str, float], step: int) -> None:
        if self.broken:
            raise ConnectionError("no network")
        self.logged.append((step, figures))

    def finish(self) -> None:
        self.finished = True


def test_weights_and_biases_is_offline_unless_told_otherwise_and_may_fail(tmp_path, monkeypatch):
    sessions: list[FakeSession] = []

    def init(**keywords: Any) -> FakeSession:
        sessions.append(FakeSession(**keywords))
        return sessions[-1]

    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=init))
    monkeypatch.delenv("WANDB_MODE", raising=False)
    run = Run.create(tmp_path / "run", small_settings(tracking__wandb=True, seed=5))
    with run.training():
        with Tracker(run) as tracker:
            tracker.log(8, {"a": 1.0})
        assert sessions[0].keywords["mode"] == "offline"
        assert sessions[0].keywords["config"]["seed"] == 5
        assert sessions[0].logged == [(8, {"a": 1.0})]
        assert sessions[0].finished
        monkeypatch.setenv("WANDB_MODE", "online")
        with Tracker(run) as tracker:
            sessions[1].broken = True
            with pytest.warns(
                UserWarning, match="Weights & Biases is told nothing any more: ConnectionError: no network"
            ):
                tracker.log(16, {"a": 2.0})
            tracker.log(24, {"a": 3.0})
    assert sessions[1].keywords["mode"] == "online"
    assert sessions[0].keywords["id"] == sessions[1].keywords["id"]
    assert [line["step"] for line in run.metrics.read()] == [8, 16, 24]


# ---- summaries -----------------------------------------------------------------------------------


def test_a_summary_tells_what_a_run_is_doing(tmp_path):
    run = Run.create(tmp_path / "run", small_settings())
    assert summarise(run.folder).status == "not begun"
    with run.training():
        run.write_progress("starting", 0)
        assert summarise(run.folder).status == "starting"
        run.write_progress("training", 1)
        assert summarise(run.folder).status == "training"
    assert summarise(run.folder).status == "interrupted"
    with run.training():
        run.write_progress("complete", 100)
    assert summarise(run.folder).status == "complete"


def test_a_long_curve_is_thinned_and_keeps_its_mean_and_end(tmp_path):
    run = Run.create(tmp_path / "run", small_settings())
    with run.training():
        for step in range(1, 2501):
            run.append_loss(step, step % 2, 1.0)
    games, losses = loss_curve(run.folder, "value_loss")
    assert len(games) <= MOST_POINTS
    assert games[-1] == 2500
    assert sum(losses) / len(losses) == pytest.approx(0.5, abs=0.01)
    assert loss_curve(run.folder, "no such loss") == ([], [])


def test_ratings_of_pruned_checkpoints_are_on_the_curve(tmp_path):
    run = filled_run(tmp_path / "run", games=30)
    with run.training():
        for step in (40, 60, 70, 80):
            run.save_checkpoint(step, lambda path: path.write_text("x"))
    for step in (80, 20, 10):
        run.rate(step, 1000 + step, "Novice")
    assert 20 not in [entry["step"] for entry in run.checkpoints]
    assert rating_curve(run.folder) == ([10, 20, 80], [1010, 1020, 1080])


def test_the_tail_of_a_log_is_its_last_whole_lines(tmp_path):
    run = Run.create(tmp_path / "run", small_settings())
    assert run.metrics.tail(3) == []
    for step in range(3000):
        run.metrics.append({"step": step, "text": "x" * 20})
    with open(run.metrics.path, "ab") as file:
        file.write(b'{"step": 99')
    for count in (1, 3, 100):
        assert run.metrics.tail(count) == run.metrics.read()[-count:]


def test_a_run_goes_on_without_a_sink_that_cannot_be_opened(tmp_path, monkeypatch):
    def init(**keywords: Any) -> None:
        raise ConnectionError("no network")

    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=init))
    run = Run.create(tmp_path / "run", small_settings(tracking__wandb=True))
    with run.training():
        with pytest.warns(UserWarning, match="Weights & Biases is told nothing: ConnectionError: no network"):
            tracker = Tracker(run)
        with tracker:
            tracker.log(8, {"a": 1.0})
    assert [line["step"] for line in run.metrics.read()] == [8]


def test_lines_that_are_long_are_whole_in_the_tail_of_a_log(tmp_path):
    log = LineLog(tmp_path / "log.jsonl")
    for step in range(4):
        log.append({"step": step, "text": "x" * (30_000 if step % 2 else 10)})
    for count in (1, 2, 3, 4, 5):
        assert log.tail(count) == log.read()[-count:]
