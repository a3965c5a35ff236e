"""`rookery solve` as a person types it: real processes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from rookery import load
from support import ROOT, run_rookery

pytestmark = pytest.mark.xdist_group("domineering")
LATE = "wbwb/bwbw/wbwb/bwbw wbw/bwb/wbw wb/w. . b - 28"


@pytest.mark.slow
def test_a_board_is_solved_for_both_starters():
    done = run_rookery("solve", "domineering", "--rows", "4", "--cols", "5", "--table-mb", "1")
    assert done.returncode == 0, done.stderr
    assert "4 x 5: class V" in done.stdout
    assert "Horizontal to move:  Vertical   wins" in done.stdout
    facts = json.loads(run_rookery("solve", "domineering", "--rows", "5", "--cols", "4", "--json").stdout)
    assert facts["class"] == "H"
    assert facts["vertical starts"]["winner"] == "horizontal"
    assert facts["vertical starts"]["nodes"] > 0


def test_a_table_holds_every_board_up_to_a_size():
    lines = run_rookery("solve", "domineering", "--table", "3").stdout.splitlines()
    assert [line.split() for line in lines[1:4]] == [list("1PHH"), list("2VNN"), list("3VNN")]
    facts = json.loads(run_rookery("solve", "domineering", "--table", "2", "--json").stdout)
    assert [board["class"] for board in facts] == ["P", "H", "V", "N"]


def test_a_position_of_domineering_gets_its_winner_and_a_winning_move():
    facts = json.loads(run_rookery("solve", "domineering", "--position", ".#/.#/.. v", "--json").stdout)
    assert (facts["winner"], facts["winning move"]) == ("vertical", "a2-a3")
    assert "Horizontal is to move and loses" in run_rookery("solve", "domineering", "--position", "#./#. h").stdout


@pytest.mark.slow
def test_a_position_of_pylos_gets_the_value_of_every_move():
    facts = json.loads(run_rookery("solve", "pylos", "--position", LATE, "--json").stdout)
    assert facts["value"] in (-1, 0, 1)
    assert facts["value"] == max(move["value"] for move in facts["moves"].values())
    assert facts["moves"][facts["best"]]["value"] == facts["value"]
    assert "Black to move" in run_rookery("solve", "pylos", "--position", LATE).stdout


def test_a_sample_of_pylos_is_written(tmp_path):
    path = tmp_path / "late.npz"
    done = run_rookery(
        "solve", "pylos", "--sample", "3", "--seed", "1", "--spheres-left", "2", "--output", str(path), "--json"
    )
    assert json.loads(done.stdout)["solved"] == 3
    with np.load(path, allow_pickle=False) as read:
        assert len(read["value"]) == 3
        assert json.loads(str(read["settings"]))["seed"] == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["domineering"], "give either --rows and --cols, or --position, or --table"),
        (["domineering", "--rows", "3"], "a board needs both --rows and --cols"),
        (["domineering", "--rows", "17", "--cols", "2"], "option rows of domineering must be a whole number in 1..16"),
        (["domineering", "--table", "17"], "the size of a table must be a whole number in 1..16, not 17"),
        (["domineering", "--position", " "], "position ' ' of domineering is empty"),
        (["domineering", "--position", "../... v"], "should be 2 rows of 2 squares"),
        (["pylos"], "give either --position or --sample"),
        (["pylos", "--sample", "3"], "a sample needs --output"),
        (["pylos", "--position", LATE, "--output", "x.npz"], "and a position has none"),
        (["pylos", "--sample", "3", "--output", "/no/x.npz"], "the folder of '/no/x.npz' does not exist"),
        (["pylos", "--position", "rubbish"], "position 'rubbish' of pylos should have seven parts"),
        (["pylos", "--sample", "0", "--output", "x.npz"], "the size of a sample must be a whole number"),
        (["pylos", "--position", LATE, "--rules", "odd"], "option rules of pylos must be one of"),
    ],
)
def test_bad_input_is_told_in_one_line(arguments, complaint):
    done = run_rookery("solve", *arguments)
    assert done.returncode == 2, done.stderr
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    if not {"--table", "0"} & set(arguments):  # at which the solver itself looks
        assert "loading the solver" not in done.stderr


def test_an_interrupt_ends_a_long_search_at_once():
    command = [sys.executable, "-m", "rookery", "solve", "domineering", "--rows", "12", "--cols", "12"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    time.sleep(8)
    process.send_signal(signal.SIGINT)
    _, complaints = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in complaints


HAND_42 = (
    "sixes 0 2-2,3-0,4-0,5-1,5-3,6-0,6-6/3-3,4-1,4-2,4-4,5-0,5-4,6-3/1-0,1-1,2-1,4-3,5-2,6-4,6-5/"
    "0-0,2-0,3-1,3-2,5-5,6-1,6-2 2-2,4-2,2-1,2-0,3-0,3-3,4-3,3-1,4-1,1-0,0-0,4-0,4-4,1-1,3-2,5-1"
)
"""published hand 22 after 16 plays, West to lead"""


@pytest.mark.slow
def test_a_position_of_texas_42_gets_the_value_of_every_tile():
    facts = json.loads(run_rookery("solve", "texas42", HAND_42, "--json").stdout)
    assert (facts["to_move"], facts["value"], facts["points"]) == (1, -4, [1, 13])
    assert facts["moves"] == {"5-0": -4, "5-4": 6, "6-3": -4}
    assert facts["q"] == [None, None, None, None, -4, 6, -4]
    assert facts["best"] == ["5-0", "6-3"]
    shown = run_rookery("solve", "texas42", HAND_42).stdout
    assert "West to move; to come, team 0 minus team 1: -4" in shown
    assert "points so far 1 to 13; in the end 13 to 29" in shown


def test_a_position_of_texas_42_with_hidden_hands_is_refused():
    done = run_rookery("solve", "texas42", "sixes 0 ?/?/?/? -")
    assert done.returncode == 2
    assert "has hidden hands, of seats 0 and 1 and 2 and 3; the solver of texas42 needs all four" in done.stderr
    assert "`rookery analyse texas42` values plays by what the seat to move knows" in done.stderr


def test_nello_is_refused_with_the_command_that_looks_at_it():
    done = run_rookery("solve", "texas42", load("texas42:declaration=nello").start(1).text())
    assert done.returncode == 2
    assert "is nello, which is made or set and has no points to solve for; `rookery analyse texas42`" in done.stderr
