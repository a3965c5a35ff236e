"""Judging everybody there is by the trial, and keeping it beside what others have judged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rookery.errors import BadInput
from rookery.learn.spread import Say
from rookery.studies.texas42_evaluate import all_choices, apart, evaluate_trial, network_players, paired, peers
from rookery.studies.texas42_measured import change, read_measured
from rookery.studies.texas42_pieces import network_marks, trial_mark
from rookery.studies.texas42_trial import TRIAL, Trial, make_trial, read_trial

Choices = dict[str, np.ndarray]


def judge(study: Path, device: str, threads: int, say: Say = lambda done, total, note: None) -> int:
    """Judge everybody there is; return how many are judged.

    Who was judged by the same trial before, here or by another process meanwhile, is kept: networks may be elsewhere.
    """
    trial, mark, marks = whole_trial(study, threads), trial_mark(study), network_marks(study)
    before = judged_by(read_measured(study), mark)
    others = {
        name for name, run in network_players(study, trial.worlds).items() if before["networks"].get(run) != marks[run]
    }
    known = {name: chosen for name, chosen in choices_in(before).items() if name not in others}
    choices = all_choices(study, trial, device=device, threads=threads, say=say, known=known)
    new = {name: choices[name] for name in choices if name not in known}
    found = change(
        study, lambda measured: measured | {"trial": joined(study, trial, judged_by(measured, mark), marks, new)}
    )
    return len(found["trial"]["players"])


def whole_trial(study: Path, threads: int) -> Trial:
    """Read the trial, and make what is missing of it."""
    there = read_trial(study / TRIAL)
    if there is None:
        raise BadInput(f"{study / TRIAL} is not there; `rookery study texas42 evaluate` makes it")
    drawn, _, (asked, worlds, seed) = there
    trial = make_trial(drawn, worlds, seed, threads, file=study / TRIAL, asked=asked)
    assert trial is not None
    return trial


def judged_by(measured: Mapping[str, Any], mark: str) -> dict[str, Any]:
    """Return what was judged by a trial, given by its checksum; nothing if it was another one."""
    nothing = {"mark": mark, "networks": {}, "choices": {}}
    there: dict[str, Any] = measured.get("trial", nothing)
    return there if there.get("mark") == mark else nothing


def choices_in(judged: Mapping[str, Any]) -> Choices:
    """Return the choices that are kept."""
    return {name: np.array(chosen) for name, chosen in judged["choices"].items()}


def joined(study: Path, trial: Trial, before: Mapping[str, Any], marks: dict[str, str], new: Choices) -> dict[str, Any]:
    """Put new choices beside those that are kept, and judge all of them."""
    choices = choices_in(before) | new
    pairs = [
        {"first": first, "second": second, **paired(trial, choices[first], choices[second])}
        for first, second in peers(study, trial.worlds) if first in choices and second in choices
    ]  # fmt: skip
    return {
        "decisions": len(trial.states), "worlds": trial.worlds, "mark": before["mark"],
        "networks": before["networks"] | marks, "players": evaluate_trial(trial, choices), "pairs": pairs,
        "apart": apart(study, trial, choices), "choices": {name: slots.tolist() for name, slots in choices.items()},
    }  # fmt: skip
