"""The whole Domineering study by one command."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from rookery.cli import app, study_domineering_whole
from rookery.cli.study_domineering_whole import Whole
from rookery.errors import BadInput
from rookery.studies import domineering_bootstrap, domineering_plan, domineering_rave
from rookery.studies.domineering_bootstrap import BootstrapSettings
from rookery.studies.domineering_plan import Preset
from rookery.studies.domineering_rave import RaveSettings
from studies.domineering_tiny import LARGE, SMALL


def study(*arguments):
    return CliRunner().invoke(app, ["study", "domineering", *arguments])


def test_without_a_preset_it_shows_its_help():
    shown = study()
    assert shown.exit_code == 0
    assert "--preset quick" in shown.stdout


def test_an_unknown_preset_is_refused_with_those_that_there_are(tmp_path):
    refused = study("--preset", "tiny", "--folder", str(tmp_path))
    assert isinstance(refused.exception, BadInput)
    assert "'tiny'" in str(refused.exception)
    assert "quick" in str(refused.exception)


def test_a_preset_before_a_part_is_refused(tmp_path):
    refused = study("--preset", "quick", "report", "--folder", str(tmp_path))
    assert isinstance(refused.exception, BadInput)
    assert "before report" in str(refused.exception)


@pytest.fixture
def smaller(monkeypatch):
    """Make the quick preset smaller still."""
    sizes = Whole({1: 60, 2: 8, 3: 4}, True, duels=2, simulations=4, positions=100, openings=2)
    monkeypatch.setitem(study_domineering_whole.WHOLE, "quick", sizes)
    changes = {"batch": 4, "every": 3, "learning_rate": 1e-2, "valid_positions": 24, "probe_positions": 40}
    monkeypatch.setitem(domineering_plan.PRESETS, "quick", Preset(SMALL, LARGE, 4, 6, (42, 123), changes))
    bootstrap = BootstrapSettings(width=8, blocks=0, round=4, openings=2, passes=1, batch=32)
    monkeypatch.setattr(domineering_bootstrap, "TINY", bootstrap)
    monkeypatch.setattr(domineering_rave, "TINY", RaveSettings(simulations=4, passes=1, batch=32, at_once=4))


def numbers(folder):
    """Return everything in a folder of a study that a seed decides: not the seconds it took."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.suffix == ".npz" or path.suffix == ".safetensors":
            found[name] = path.read_bytes()
        elif path.name in ("progress.jsonl", "probes.jsonl"):
            found[name] = [json.loads(line) | {"seconds": 0} for line in path.read_text().splitlines()]
        elif path.name in ("players.json", "phase2_rounds.json", "compare.json"):
            found[name] = json.loads(path.read_text())
    return found


@pytest.mark.slow
def test_all_of_it_is_done_twice_with_the_same_numbers_and_not_done_again(tmp_path, smaller):
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        done = study("--preset", "quick", "--folder", str(folder), "--device", "cpu", "--threads", "1")
        assert done.exit_code == 0, done.output
    found = numbers(first)
    assert len([name for name in found if name.endswith("network.safetensors")]) == 10
    assert "data/phase3_games.npz" in found
    assert "data/players.json" in found
    assert "compare.json" in found
    assert found == numbers(second)
    report = (first / "report.md").read_text()
    assert "large-aux-s42" in report
    assert (first / "report.html").is_file()
    before = {path: path.stat().st_mtime_ns for path in first.rglob("*.safetensors")}
    assert study("--preset", "quick", "--folder", str(first), "--device", "cpu", "--threads", "1").exit_code == 0
    assert before == {path: path.stat().st_mtime_ns for path in first.rglob("*.safetensors")}
