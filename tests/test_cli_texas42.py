"""Texas 42 on the command line as a person types it: real processes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from games.slow_texas42 import HAND_22
from rookery import load
from rookery.games import texas42
from search.test_texas42_answers import KEYS, line_of
from search.test_worlds import played_to
from support import run_rookery

pytestmark = pytest.mark.xdist_group("texas42")

HAND = "2-2,3-0,4-0,5-1,5-3,6-0,6-6"
WHOLE = load("texas42").set_up(texas42.deal(42), 6, 0, HAND_22.split())


def test_the_plays_of_a_typed_hand_are_valued_for_people():
    plays = ",".join(HAND_22.split()[:16])
    done = run_rookery("analyse", "texas42", f"sixes 0 ?/3-3,4-1,4-2,4-4,5-0,5-4,6-3/?/? {plays}", "--holders")
    assert done.returncode == 0, done.stderr
    assert "West to play; South and North need 30 points and have 1" in done.stdout
    assert "possible worlds: " in done.stdout
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["play", "E[Q]", "spread", "P(make)"] in rows
    assert {row[0] for row in rows if row and row[-1] == "%" and "-" in row[0]} >= {"5-0", "5-4", "6-3"}
    assert ["tile", "South", "West", "North", "East"] in rows
    opened = run_rookery("analyse", "texas42", "--seed", "3", "--worlds", "5", "--bid", "35")
    assert "need 35 points" in opened.stdout
    assert "P(make)   exact" in opened.stdout


def test_the_plays_of_a_typed_hand_are_valued_for_programs():
    done = run_rookery("analyse", "texas42", f"sixes 0 {HAND}/?/?/? -", "--worlds", "20", "--json")
    found = json.loads(done.stdout)
    assert set(KEYS) < set(found)
    assert (found["bid"], found["sampled"], found["complete"], found["worlds"]) == (30, 20, False, 399_072_960)
    assert [play["tile"] for play in found["plays"]] == HAND.split(",")
    assert found["best"] == max(found["plays"], key=lambda play: play["mean"])["tile"]
    assert (
        run_rookery("analyse", "texas42", f"sixes 0 {HAND}/?/?/? -", "--worlds", "20", "--json").stdout == done.stdout
    )


def test_a_finished_hand_is_gone_through_play_by_play():
    done = run_rookery("analyse", "texas42", WHOLE.text(), "--worlds", "10")
    assert done.returncode == 0, done.stderr
    assert len([line for line in done.stdout.splitlines() if line.startswith(tuple("1234567"))]) == 7
    found = json.loads(run_rookery("analyse", "texas42", WHOLE.text(), "--worlds", "10", "--json").stdout)
    assert found["points"] == [13, 29]
    assert [play["tile"] for play in found["plays"]] == HAND_22.split()


def test_nello_is_valued_by_made_or_set():
    low = "0-0,1-0,2-0,2-1,3-0,3-1,1-1"
    done = run_rookery("analyse", "texas42", f"nello 0 {low}/?/?/? -", "--worlds", "4")
    assert "E[Q] and spread: 42 if the own team makes the contract or sets the other's, else -42" in done.stdout
    told = json.loads(run_rookery("analyse", "texas42", f"nello 0 {low}/?/?/? -", "--worlds", "4", "--json").stdout)
    assert told["bid"] is None


@pytest.mark.parametrize("name", ["nello", "sevens"])
def test_of_a_finished_hand_without_points_the_end_is_told(name, tmp_path):
    rng, position = np.random.default_rng(1), load(f"texas42:declaration={name}").start(1)
    while not position.over:
        position.play(int(rng.choice(position.legal())))
    end = f"{name} by South is {'made' if position.payoff(0) > 0 else 'set'}; plays cost no points in it"
    done = run_rookery("analyse", "texas42", position.text())
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, end)
    told = json.loads(run_rookery("analyse", "texas42", position.text(), "--json").stdout)
    assert (told["end"], told["plays"]) == (end, [])
    path = tmp_path / "hands.jsonl"
    path.write_text(line_of(position, declaration=name) + "\n")
    assert end in run_rookery("analyse", "texas42", "--positions", str(path)).stdout


def test_of_a_hand_in_which_all_passed_that_is_told():
    text = f"pass,pass,pass,pass - 0 {HAND}/?/?/? -"
    done = run_rookery("analyse", "texas42:auction=redeal", text)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "all have passed; nothing was played")


def test_a_complaint_of_the_analysis_names_file_and_line(tmp_path):
    path = tmp_path / "hands.jsonl"
    path.write_text(json.dumps({"hands": [None] * 4, "declaration": 1, "leader": 0}) + "\n")
    done = run_rookery("analyse", "texas42", "--positions", str(path))
    assert done.returncode == 2
    assert f"{path}, line 1: the hand of seat 0 is hidden" in done.stderr


def test_a_file_is_answered_line_by_line_and_wrong_lines_are_named(tmp_path):
    path = tmp_path / "hands.jsonl"
    lines = [line_of(played_to(seed, plays)[0]) for seed, plays in ((1, 12), (2, 20), (3, 28))]
    path.write_text("\n".join([lines[0], "nonsense", *lines[1:]]) + "\n")
    done = run_rookery("analyse", "texas42", "--positions", str(path), "--json")
    assert done.returncode == 2
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [list(answer) for answer in answers] == [KEYS, ["error"], KEYS, KEYS]
    assert answers[1]["error"].startswith(f"{path}, line 2: it is no JSON")
    assert f"{path}, line 2" in done.stderr
    path.write_text(lines[1])
    shown = run_rookery("analyse", "texas42", "--positions", str(path))
    assert (shown.returncode, shown.stderr.count("rookery:")) == (0, 0)
    assert "line 1: " in shown.stdout
    assert "possible worlds: " in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["analyse", "pylos"], "--player is missing; only texas42 is analysed without one, not 'pylos'"),
        (["analyse", "texas42", "--positions", "no-such-file"], "positions 'no-such-file' cannot be read"),
        (["analyse", "texas42", "x", "--positions", "y"], "give either a position or --positions y, not both"),
        (
            ["analyse", "texas42", "--player", "random", "--worlds", "5"],
            "--worlds is for an analysis of texas42 without",
        ),
        (["analyse", "texas42", "--lines", "3"], "--lines 3 is for an analysis by a player; --player is missing"),
        (["analyse", "texas42", "--seconds", "2"], "--seconds 2.0 is for an analysis by a player"),
        (["analyse", "texas42", "sixes 0 ?/?/?/? -"], "the hand of seat 0 is hidden"),
        (["analyse", "texas42:auction=redeal"], "no tile is played before a declaration is named"),
        (["analyse", "texas42", f"sixes 0 {HAND}/?/?/? 2-2,2-1,6-5,1-0,2-1"], "the tile was played before"),
        (["analyse", "texas42", f"sixes 1 {HAND}/?/?/? -", "--player", "random"], "the hand of West is hidden in"),
        (["play", "texas42", "--position", f"sixes 0 ?/{HAND}/?/? -"], "--seat 0: the hand of South is hidden in"),
        (["play", "texas42", "--position", f"sixes 0 ?/{HAND}/?/? -"], "; --seat 1 is known"),
        (["play", "texas42", "--position", "sixes 0 ?/?/?/? -", "--seat", "none"], "from one of them, not from 0"),
        (["analyse", "texas42", f"sixes 0 {HAND}/?/?/? -", "--worlds", "67108864"], "in 1..1000000, not 67108864"),
        (["analyse", "texas42", f"nello 0 {HAND}/?/?/? -", "--bid", "35"], "bid 35: nello is made or set by tricks"),
        (["analyse", "texas42", "--positions", ""], "--positions '' names no file"),
        (["analyse", "texas42:declaration=fives", f"sixes 0 {HAND}/?/?/? -"], "is declared as sixes, but texas42:decl"),
        (["analyse", "texas42:auction=redeal", f"- - 0 {HAND}/?/? -"], "the number of hands is 3; it must be 4"),
        (["analyse", "texas42", WHOLE.text(), "--bid", "30"], "--bid is for a hand that is still played"),
        (["analyse", "texas42", WHOLE.text(), "--holders"], "--holders is for a hand that is still played"),
        *(
            (["analyse", "texas42", "--positions", "x", "--json", *given], f"{given[0]} changes nothing in the exact")
            for given in (["--worlds", "5"], ["--bid", "30"], ["--seed", "0"], ["--holders"])
        ),
        (["play", "texas42", "--hint", "mtcs"], "did you mean mcts"),
        (["play", "domineering", "--partner", "random"], "nobody else plays for the team of Vertical"),
        (["play", "texas42", "--seat", "none", "--partner", "random"], "--partner 'random' is for playing"),
    ],
)
def test_wrong_input_ends_with_status_2_and_says_why(arguments, complaint):
    done = run_rookery(*arguments)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_person_plays_with_three_players_and_asks_for_hints():
    given = "hint\n" + "hint\nmoves\nundo\n" + "quit\n"
    done = run_rookery("play", "texas42", "--seed", "3", "--hint", "eq:worlds=5", "--against", "heuristic", given=given)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("possible worlds: 399,072,960") == 2
    assert "P(make)" in done.stdout
    first = done.stdout.split("South> ")[1].splitlines()[4].split()[0]
    given = f"{first}\nquit\n"
    done = run_rookery("play", "texas42", "--seed", "3", "--partner", "random", "--against", "heuristic", given=given)
    told = done.stdout.replace("South> ", "").splitlines()
    assert [line.split(" plays")[0] for line in told if " plays " in line][:3] == [
        "West (heuristic)",
        "North (random)",
        "East (heuristic)",
    ]


@pytest.mark.parametrize("spec", ["texas42", "texas42:auction=redeal"])
def test_what_a_person_has_left_can_be_taken_up_again(spec):
    common = ("--against", "heuristic", "--seed", "3")
    left = run_rookery("play", spec, *common, given="quit\n").stdout.splitlines()[-1].rpartition("left at ")[2]
    move = "pass" if "auction" in spec else "4-3"
    again = run_rookery("play", spec, *common, "--position", left, given=f"text\n{move}\nquit\n")
    assert again.returncode == 0, again.stderr
    assert "Hidden hands are dealt at random with seed 3, as the record allows." in again.stdout
    assert left in again.stdout
    assert "East (heuristic) plays " in again.stdout
    watched = run_rookery("play", spec, *common, "--position", left, "--seat", "none")
    assert watched.returncode == 0, watched.stderr
    assert " won" in watched.stdout or "a draw" in watched.stdout


def test_a_hint_of_a_player_that_says_nothing_is_its_move():
    done = run_rookery("play", "texas42", "--seed", "3", "--hint", "heuristic", "--against", "random", given="hint\n")
    assert "heuristic would play " in done.stdout
    done = run_rookery(
        "play", "texas42", "--seed", "3", "--hint", "oracle:exact", "--against", "random", given="hint\n"
    )
    assert "oracle:exact would play 4-4: value -0.619" in done.stdout  # the best lead loses by 26 with all hands open
    done = run_rookery("play", "texas42:auction=redeal", "--seed", "3", "--against", "random", given="hint\n")
    assert "would play pass, by a rule of thumb; `rookery bid texas42:auction=redeal 2-0,2-1," in done.stdout
    done = run_rookery("play", "domineering:rows=4,cols=4", given="hint\nquit\n")
    assert "nobody gives hints; begin with --hint PLAYER" in done.stderr


def test_players_meet_on_mirrored_deals():
    done = run_rookery("match", "heuristic", "random", "--game", "texas42:bid=30", "--games", "20", "--json")
    assert done.returncode == 0, done.stderr
