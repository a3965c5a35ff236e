"""The command line as a person types it: real processes."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
import tomllib

import pytest

from rookery.doctor import NEEDED, has_card
from support import CONNECT_FOUR, ROOT, run_python, run_rookery

pytestmark = pytest.mark.xdist_group("command line")


COMMANDS = (
    "", "show", "play", "perft", "games", "doctor", "players", "analyse", "match", "ratings", "export", "bench",
    "bench rules", "bench search", "bench texas42", "solve", "solve domineering", "solve pylos", "solve texas42",
    "runs", "runs list", "runs compare", "runs prune", "runs rm", "watch", "train", "resume", "check",
)  # fmt: skip


@pytest.mark.parametrize("command", [line.split() for line in COMMANDS])
def test_every_command_explains_itself(command):
    done = run_rookery(*command, "--help")
    assert done.returncode == 0
    assert "Usage" in done.stdout
    if command and command not in (["bench"], ["solve"], ["runs"]):
        assert f"rookery {' '.join(command)}" in done.stdout.split("Usage")[1].split("\n", 1)[1]  # an example


def test_help_imports_nothing_heavy():
    code = """
import sys
HEAVY = ("numba", "numpy", "torch", "nicegui", "pydantic", "yaml", "matplotlib")
sys.argv = ["rookery", "--help"]
from rookery.cli import main
try:
    main()
except SystemExit:
    print("LOADED", *sorted(m for m in sys.modules if m in HEAVY))
"""
    assert run_python(code).rstrip().endswith("LOADED")


def test_the_version_is_told():
    import rookery

    assert run_rookery("--version").stdout == f"rookery {rookery.__version__}\n"


def test_games_are_listed():
    done = run_rookery("games")
    assert "domineering" in done.stdout
    assert "pylos" in done.stdout
    listed = {game["name"]: game for game in json.loads(run_rookery("games", "--json").stdout)}
    assert listed["pylos"]["options"]["rules"] == "mature"


def test_a_position_is_shown_and_can_be_read_back():
    done = run_rookery("show", "domineering:rows=3,cols=3", "--json")
    shown = json.loads(done.stdout)
    assert shown["legal"] == ["a1-a2", "b1-b2", "c1-c2", "a2-a3", "b2-b3", "c2-c3"]
    again = run_rookery("show", "domineering:rows=3,cols=3", "###/#.#/#.# v")
    assert "Vertical to move" in again.stdout
    assert "legal (1): b2-b3" in again.stdout
    over = json.loads(run_rookery("show", "domineering:rows=3,cols=3", "###/#.#/#.# h", "--json").stdout)
    assert (over["over"], over["payoffs"]) == (True, [1.0, -1.0])


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["show", "hex"], "there is no game 'hex'"),
        (["show", "pylos", "nonsense"], "position 'nonsense' of pylos should have seven parts"),
        (["show", "domineering:rows=99"], "option rows of domineering must be a whole number in 1..16, not 99"),
        (["play", "pylos", "--seat", "red"], "--seat 'red': pylos has the seats 0, 1, white, black, or none"),
        (["perft", "pylos", "--depth", "2", "--position", "x"], "position 'x' of pylos"),
        (["perft", "nothing.py", "--depth", "2"], "the game file"),
        (["perft", "pylos", "--depth", "0"], "depth"),
        (["bench", "rules", "hex"], "there is no game 'hex'"),
        (["bench", "rules", "--device", "tpu"], "tpu"),
        (["show", "pylos", "--seed", str(2**63)], "seed must be a whole number in"),
        (["perft", "pylos", "--depth", "100000000000"], "depth must be a whole number in 1..600, not 100000000000"),
    ],
)
def test_wrong_input_ends_with_status_2_and_says_why(arguments, complaint):
    done = run_rookery(*arguments)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["analyse", "texas42", "--bid", "50"], "'--bid': it must be a whole number in 1..42, not '50'"),
        (["analyse", "texas42", "--bid", "x"], "'--bid': it must be a whole number in 1..42, not 'x'"),
        (["analyse", "pylos", "--seconds", "0"], "'--seconds': it must be a number of at least 0.001, not '0'"),
        (["play", "pylos", "--seed", "1.5"], "'--seed': it must be a whole number, not '1.5'"),
        (["study", "texas42", "data", "--explore", "3"], "'--explore': it must be a number in 0..1, not '3'"),
    ],
)
def test_a_number_out_of_range_is_named_with_the_range(arguments, complaint):
    done = run_rookery(*arguments)
    assert done.returncode == 2
    assert complaint in " ".join(done.stderr.replace("│", " ").split())


def test_perft_counts():
    done = json.loads(run_rookery("perft", "domineering:rows=4,cols=4", "--depth", "2", "--json").stdout)
    assert done["leaves"] == sum(done["moves"].values()) == 108  # 12 x 12, less 3 for an edge and 4 for a middle column
    text = run_rookery("perft", CONNECT_FOUR, "--depth", "4", "--divide").stdout
    assert "2,401 leaves at depth 4" in text
    assert text.count("343") == 7


def test_a_game_is_played_with_undo_and_mistakes():
    moves = "help\nmoves\na1-a2\nundo\nboard\nfoo\na1-b1\ntext\na1-a2\nquit\n"
    done = run_rookery("play", "domineering:rows=6,cols=6", "--seed", "3", given=moves)
    assert done.returncode == 0
    assert "You are Vertical" in done.stdout
    assert done.stdout.count("random plays") == 2
    assert "left at #" in done.stdout
    assert "'foo' is no square of the board" in done.stderr
    assert "move 'a1-b1' is not legal" in done.stderr


def test_a_game_is_played_to_its_end():
    done = run_rookery("play", "domineering:rows=2,cols=3", "--seed", "3", given="a1-a2\nb1-b2\n")
    assert done.stdout.rstrip().endswith("won")


def test_a_game_is_played_from_a_position():
    text = "###/#.#/#.# v"
    done = run_rookery("play", "domineering:rows=3,cols=3", "--position", text, given="b2-b3\n")
    assert done.stdout.rstrip().endswith("Vertical won")


def test_a_closed_input_leaves_the_game():
    command = f"{sys.executable} -m rookery play pylos <&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0
    assert "left at" in done.stdout


def test_an_output_that_cannot_be_written_is_told():
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m rookery games --json > /dev/full"],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode != 0
    assert "No space left" in done.stderr


def test_an_interrupt_ends_a_long_perft():
    command = [sys.executable, "-m", "rookery", "perft", "pylos", "--depth", "14"]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    time.sleep(6)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Traceback" not in errors


def test_compiling_is_announced_and_loading_is_not_called_compiling(tmp_path):
    first = run_rookery("show", "pylos", cache=tmp_path)
    assert "compiling pylos (rules) for this machine" in first.stderr
    second = run_rookery("show", "pylos", cache=tmp_path)
    assert "compiling" not in second.stderr


def test_compiling_ahead_names_every_game_and_use(tmp_path):
    done = json.loads(run_rookery("doctor", "--compile", "--json").stdout)
    named = {tuple(name.split(", ")) for name in done["compile seconds"]}
    games = {game["name"] for game in json.loads(run_rookery("games", "--json").stdout)} | {"connect_four"}
    assert named == {(game, use) for game in games for use in ("rules", "lanes", "random play", "tree search", "perft")}


@pytest.mark.skipif(has_card(), reason="there is a card")
def test_a_missing_card_is_told():
    done = run_rookery("bench", "rules", "pylos", "--device", "cuda")
    assert done.returncode == 2
    assert "device cuda" in done.stderr


def test_the_end_of_input_leaves_the_game():
    done = run_rookery("play", "pylos", given="1a1\n")
    assert done.returncode == 0
    assert "left at w" in done.stdout


def test_random_play_is_watched_to_the_end_the_same_for_one_seed():
    first, second = (run_rookery("play", CONNECT_FOUR, "--seat", "none", "--seed", "5").stdout for _ in range(2))
    assert first == second
    assert first.rstrip().endswith(("won", "a draw"))
    assert run_rookery("play", CONNECT_FOUR, "--seat", "none", "--seed", "6").stdout != first


def test_the_bench_prints_a_table_and_json():
    quick = ["--rounds", "1", "--seconds", "0.02"]
    table = run_rookery("bench", "rules", "domineering:rows=4,cols=4", *quick).stdout
    assert "domineering:rows=4,cols=4" in table
    found = json.loads(run_rookery("bench", "rules", CONNECT_FOUR, *quick, "--json").stdout)
    assert found["rules"][0]["one_core"] > 0
    assert found["machine"]["cores"] >= 1


def test_the_doctor_reports_what_there_is_and_what_is_missing():
    found = json.loads(run_rookery("doctor", "--json").stdout)
    assert found["numba"]["found"]
    assert "threads" in found["threads"]["found"]
    assert found["cache"]["found"]
    if found["open_spiel"]["found"] == "not installed":
        assert "pip install" in found["open_spiel"]["remedy"]
    assert "processor" in run_rookery("doctor").stdout


def test_the_doctor_knows_every_package_that_is_needed():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {re.match(r"[\w-]+", text)[0] for text in project["dependencies"]} <= set(NEEDED)
