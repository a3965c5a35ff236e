"""Runs of the Domineering and the Texas 42 study, made up well and badly."""

from __future__ import annotations

import json

import pytest

from checks.verdicts import complains, in_order, silent
from rookery.checks import Sample, Verdict, study_runs
from rookery.errors import BadInput


def domineering_run(folder, good: bool):
    """Write the files of a run."""
    folder.mkdir()
    differences = {"value": 1e-7 if good else 0.3, "policy": 2e-7}
    embedding = {"small": "small-aux-s1", "verified": True, "differences": differences}
    (folder / "settings.json").write_text(json.dumps({"learning_rate": 3e-4, "embedding": embedding}))
    for step in range(6):
        loss = 3.0 / (1 + step) if good else 1.0 + step
        figures = {"loss": loss, "value": loss, "policy": loss, "sectors": loss}
        accuracy = {"value_accuracy": 0.8 if good else 0.5}
        valid = figures | accuracy | ({} if good else {"loss": 3 * loss})
        line = {"step": step, "train": figures if step else None, "valid": valid}
        with (folder / "progress.jsonl").open("a") as file:
            file.write(json.dumps(line) + "\n")
    layers = [{"layer": 0, "r2": 0.01}, {"layer": 1, "r2": 0.4 if good else -3.0}]
    (folder / "probes.jsonl").write_text(json.dumps({"step": 5, "layers": layers}) + "\n")
    return folder


def test_a_run_that_learns_is_in_order(tmp_path):
    found = study_runs.check_study_run(domineering_run(tmp_path / "run", True), Sample())
    in_order(found, "loss-numbers", "loss-falls", "loss-rises", "validation-gap", "accuracy", "embedding", "probes")
    in_order(found, "learning-rate")


def test_a_run_that_does_not_learn_is_found(tmp_path):
    found = study_runs.check_study_run(domineering_run(tmp_path / "run", False), Sample())
    complains(found, "loss-falls", Verdict.WRONG)
    complains(found, "validation-gap", Verdict.WRONG)
    complains(found, "accuracy", Verdict.WRONG)
    complains(found, "embedding", Verdict.WRONG)
    complains(found, "probes", Verdict.WARNING)


def test_an_embedding_that_was_not_verified_is_wrong():
    complains(study_runs.embedding({"embedding": {"small": "x", "verified": False}}), "embedding", Verdict.WRONG)
    assert study_runs.embedding({"embedding": None}) == []


def texas42_lines(good: bool):
    unforced = [{"gap": 3 / (1 + n) if good else 3 + n, "agreement": 0.7 if good else 0.3} for n in range(5)]
    return [
        {"step": n, "train": {"loss": 1 / (1 + n)}, "valid": {"late": {"unforced": each}}}
        for n, each in enumerate(unforced)
    ]


def test_choices_are_compared_with_guesses():
    good = study_runs.texas42_figures(texas42_lines(True))
    in_order(good, "accuracy", "loss-falls")
    bad = study_runs.texas42_figures(texas42_lines(False))
    complains(bad, "accuracy", Verdict.WRONG)
    complains(bad, "loss-falls", Verdict.WRONG)


def test_a_run_that_has_only_begun_has_its_settings_checked(tmp_path):
    (tmp_path / "settings.json").write_text(json.dumps({"learning_rate": 5.0, "stage": 1}))
    assert study_runs.is_study_run(tmp_path)
    found = study_runs.check_study_run(tmp_path, Sample())
    complains(found, "learning-rate", Verdict.WRONG)
    silent(found, "loss-falls")


def test_settings_of_something_else_are_refused(tmp_path):
    for text in ("{", "[]", '{"name": 3}'):
        (tmp_path / "settings.json").write_text(text)
        with pytest.raises(BadInput, match=r"settings\.json"):
            study_runs.check_study_run(tmp_path, Sample())
