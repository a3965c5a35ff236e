"""Commands on players as a person types them: real processes."""

from __future__ import annotations

import json
import time

import pytest

from arena.scripted import command
from rookery import load, terminal
from rookery.arena.players import KINDS
from rookery.cli.pictures import board_picture, lines_table
from rookery.cli.players import analyse
from rookery.search.analysis import Analysis, Line
from support import run_rookery

pytestmark = pytest.mark.xdist_group("command line")

FISH = f"uci:{command('uci_good')},time=0.05"
STONE = f"gomocup:{command('gomocup_good')},time=0.05"


def test_players_are_listed():
    listed = {kind["kind"]: kind for kind in json.loads(run_rookery("players", "--json").stdout)}
    assert list(listed) == list(KINDS)
    assert listed["uci"]["options"]["grace"]["default"] == 5
    shown = run_rookery("players").stdout
    assert all(kind.example in shown for kind in KINDS.values())


def test_an_engine_analyses_a_position_for_programs():
    done = run_rookery(
        "analyse", "chess", "startpos moves e2e4", "--player", f"{FISH},option.MultiPV=3", "--lines", "2", "--json"
    )
    found = json.loads(done.stdout)
    assert found["move"] == found["lines"][0]["move"] == "a7a5"
    assert [line["moves"][0] for line in found["lines"]] == ["a7a5", "a7a6"]
    assert (found["depth"], found["nodes"], found["player"]) == (7, 1234, f"{FISH},option.MultiPV=3")
    assert found["lines"][0]["value"] > found["lines"][1]["value"]


def test_an_engine_is_asked_for_as_many_lines_as_are_to_be_shown():
    done = run_rookery("analyse", "chess", "--player", FISH, "--lines", "3", "--json")
    assert [line["move"] for line in json.loads(done.stdout)["lines"]] == ["a2a3", "a2a4", "b1a3"]


def test_an_engine_analyses_a_position_for_people():
    done = run_rookery("analyse", "chess", "--player", FISH)
    assert done.returncode == 0, done.stderr
    assert "8 r n b q k b n r" in done.stdout
    assert "a2a3 *" in done.stdout
    assert "+0.182" in done.stdout
    assert f"{FISH} plays a2a3: value +0.182, depth 7, 1,234 nodes" in done.stdout


def test_a_player_that_says_nothing_still_moves():
    done = run_rookery("analyse", "texas42", "--player", "random", "--seed", "3")
    assert "random plays" in done.stdout
    assert "says nothing about it" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["analyse", "pylos", "--player", "mtcs"], "there is no kind 'mtcs'; did you mean mcts?"),
        (["analyse", "pylos", "--player", "baseline"], "player 'baseline' does not fit pylos: baseline plays gomoku"),
        (["analyse", "pylos"], "--player"),
        (["analyse", "domineering:rows=1,cols=1", "--player", "random"], "the game is over in '. v'"),
        (["play", "chess", "--against", "uci:no-such-engine"], "the command 'no-such-engine' is not there"),
        (["play", "pylos", "--second", "random"], "--second 'random' is for watching"),
        (["play", "texas42", "--against", "mcts"], "named oracle:mcts"),
    ],
)
def test_wrong_input_ends_with_status_2_and_says_why(arguments, complaint):
    done = run_rookery(*arguments)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_person_plays_against_an_engine():
    done = run_rookery("play", "chess", "--against", FISH, given="e2e4\nundo\nd2d4\nquit\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(f"{FISH} plays a7a5") == 2
    assert "left at" in done.stdout


def test_two_players_are_watched():
    done = run_rookery("play", "gomoku:size=7", "--seat", "none", "--against", STONE, "--second", "random")
    assert done.returncode == 0, done.stderr
    assert "  1  Black A1" in done.stdout
    assert done.stdout.rstrip().endswith(("won", "a draw"))


def test_an_engine_that_fails_ends_the_game_with_status_1_and_the_reason(tmp_path):
    bad = f"gomocup:{command('bad', 'gomocup', 1, 'die', tmp_path / 'pids')}"
    done = run_rookery("play", "gomoku:size=7", "--seat", "none", "--against", bad, "--second", "random")
    assert done.returncode == 1
    assert "Bad Stone" in done.stderr
    assert "it has ended with exit status 3" in done.stderr
    assert "Traceback" not in done.stderr


# ---- pictures ------------------------------------------------------------------------------------


def test_the_board_is_coloured_where_the_moves_go():
    position = load("gomoku:size=7").start()
    centre, corner = position.action("D4"), position.action("A1")
    lines = (Line(centre, 0.5, visits=90), Line(corner, 0.1, visits=10))
    picture = board_picture(position, Analysis(centre, 0.5, lines, nodes=100))
    rows = picture.plain.split("\n")
    spots = {(row, col): sum(len(line) + 1 for line in rows[:row]) + col for row, col in ((3, 9), (6, 3))}
    styles = {span.start: str(span.style) for span in picture.spans}
    assert picture.plain == position.draw()
    assert styles == {spots[3, 9]: "black on rgb(255,150,0)", spots[6, 3]: styles[spots[6, 3]]}
    assert styles[spots[6, 3]].startswith("white on rgb(")


def test_a_game_without_a_grid_has_a_bar_for_each_move():
    position = load("texas42").start(3)
    lines = tuple(Line(slot, 0.1, visits=10 * (slot + 1)) for slot in (2, 1, 0))
    table = lines_table(position, Analysis(2, 0.1, lines, nodes=60), lines=5)
    bars = [str(cell) for cell in table.columns[-1].cells]
    assert [len(bar) for bar in bars] == [12, 8, 4]
    grid = load("gomoku:size=7").start()
    assert len(lines_table(grid, Analysis(2, 0.1, lines, nodes=60), lines=5).columns) == 5


def test_getting_ready_is_no_part_of_the_time_that_a_player_looked(monkeypatch, capsys):
    monkeypatch.setattr(terminal, "begin_game", lambda *_: time.sleep(2))
    analyse("domineering:rows=4,cols=4", "random", as_json=True)
    assert json.loads(capsys.readouterr().out)["seconds"] < 2
