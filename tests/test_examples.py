"""The scripts in examples/: each is short, runs, and tells what it promises."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from support import ROOT

SCRIPTS = {
    "domineering_embedding": "embedded, new layers silent       1,913,618                       100%",
    "pylos_ladder": "95 % interval",
    "texas42_price": "all hands open",
    "gomoku_fours": "won by fours",
    "chess_lc0": "for the player to move",
}
"""each script, and something it must say"""


def test_there_is_one_script_a_study_and_each_is_short():
    found = {path.stem for path in (ROOT / "examples").glob("*.py")}
    assert found == {*SCRIPTS, "connect_four"}
    for name in SCRIPTS:
        assert len((ROOT / "examples" / f"{name}.py").read_text().splitlines()) <= 60


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_runs(name, tmp_path):
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / f"{name}.py")],
        cwd=tmp_path, capture_output=True, text=True, timeout=900, env=dict(os.environ) | {"COLUMNS": "120"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert SCRIPTS[name] in done.stdout


def test_the_settings_for_a_first_run_are_in_order(monkeypatch):
    from rookery.learn.settings import read_settings

    monkeypatch.chdir(ROOT)
    settings = read_settings("examples/connect_four.yaml")
    assert settings.selfplay.games == 3000
    assert settings.planned_steps > 1000
