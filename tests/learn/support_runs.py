"""What the tests of runs share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from rookery.learn.runs import Run
from rookery.learn.settings import RunSettings, check_settings
from rookery.learn.snapshots import Snapshot


def small_settings(**changes: Any) -> RunSettings:
    """Return settings of a run that nobody trains."""
    values: dict[str, Any] = {
        "game": "pylos",
        "network": {"kind": "residual", "observation": "rich", "width": 8, "blocks": 1},
        "selfplay": {"games": 100},
        "training": {"batch": 4, "replay": 64},
        "checkpoints": {"every": 10, "keep": {"last": 2, "every": 50}},
    }
    for path, value in changes.items():
        section, _, key = path.partition("__")
        values[section] = {**values.get(section, {}), key: value} if key else value
    return check_settings(values, "test settings")


def snapshot_of(number: int, size: int = 1000) -> Snapshot:
    """Return a snapshot in which every part tells its number."""
    import torch

    arrays = {"replay/values": np.full(size, number, np.int64), "b": np.full((3, 5), number, np.float32)}
    return Snapshot(arrays, {"step": number, "losses": [number] * 3}, {"weights": torch.full((50,), float(number))})


def number_of(snapshot: Snapshot) -> int:
    """Return the number of a snapshot, having looked at every part of it."""
    number = int(snapshot.values["step"])
    assert snapshot.values["losses"] == [number] * 3
    assert (snapshot.arrays["replay/values"] == number).all()
    assert (snapshot.arrays["b"] == number).all()
    assert (snapshot.torch_state["weights"] == number).all()
    return number


def save_text(text: str) -> Any:
    """Return something that saves a network which is only a text."""

    def save(path: Path) -> None:
        path.write_text(text)

    return save


def filled_run(folder: Path, games: int = 30, elo: float | None = None, **changes: Any) -> Run:
    """Make a run that has played some games; it is left without its lock."""
    run = Run.create(folder, small_settings(**changes))
    with run.training():
        for step in range(1, games + 1):
            run.append_loss(step, 1.0 / step, 2.0 / step)
            if step % 10 == 0:
                run.save_checkpoint(step, save_text(f"network {step}"))
        run.write_progress("training", games, 1.0 / games, 2.0 / games, 12.5)
        run.save_state(snapshot_of(games))
    if elo is not None:
        run.rate(run.checkpoints[-1]["step"], elo, "Novice")
    return run


SMALL_BOARD = "domineering:rows=4,cols=4"


def board_settings(**changes: Any) -> RunSettings:
    """Return settings of a run that is trained in a second or two."""
    values: dict[str, Any] = {
        "game": SMALL_BOARD,
        "device": "cpu",
        "threads": 1,
        "network": {"kind": "perceptron", "observation": "planes", "hidden": [16]},
        "selfplay": {"games": 40, "at_once": 4, "simulations": 8},
        "training": {"batch": 8, "replay": 256, "steps_per_game": 0.5},
        "checkpoints": {"every": 10, "least_seconds": 0.0, "keep": {"last": 10, "every": 0}},
    }
    for path, value in changes.items():
        section, _, key = path.partition("__")
        values[section] = {**values.get(section, {}), key: value} if key else value
    return check_settings(values, "test settings")


def run_of_networks(folder: Path, steps: list[int], seed: int = 0, **changes: Any) -> Run:
    """Make a run whose checkpoints are small networks with random weights; it is left without its lock."""
    from rookery.learn.settings import network_values
    from rookery.nets.configs import read_config
    from rookery.nets.files import About, save_network
    from rookery.nets.residual import build

    run = Run.create(folder, board_settings(**{"checkpoints__keep": {"last": 100, "every": 0}} | changes))
    settings, game = run.settings, run.game
    with run.training():
        for step in steps:
            network = build(read_config(network_values(settings.network, game)), seed + step)
            about = About(
                game=game.spec, rules_version=game.version, observation=settings.network.observation, step=step
            )
            run.save_checkpoint(step, lambda path, made=network, told=about: save_network(path, made, told))
    return run
