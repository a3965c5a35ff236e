"""Matches, ratings and exports as a person types them; where a process of its own tells no more, in this one."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest

from arena.scripted import command, ends_soon
from rookery.arena.exports import parse_games
from rookery.arena.ledger import Ledger
from rookery.cli import main
from support import ROOT, run_rookery

pytestmark = pytest.mark.xdist_group("command line")

SMALL = "domineering:rows=4,cols=4"


class Done:
    """What a command has left, run in this process."""

    def __init__(self, monkeypatch, capsys, *arguments):
        monkeypatch.setattr(sys, "argv", ["rookery", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        self.returncode = left.value.code or 0
        self.stdout, self.stderr = capsys.readouterr()


@pytest.fixture
def rookery(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "200")
    return lambda *arguments: Done(monkeypatch, capsys, *arguments)


@pytest.fixture
def match(rookery):
    return lambda ledger, *rest: rookery("match", "random", "random", "--game", SMALL, "--ledger", ledger, *rest)


@pytest.mark.parametrize("command", ["match", "ratings", "export"])
def test_the_commands_explain_themselves(command):
    done = run_rookery(command, "--help")
    assert done.returncode == 0
    assert f"rookery {command} " in done.stdout.split("Usage")[1].split("\n", 1)[1]  # an example


def test_a_match_is_played_stored_rated_and_exported(tmp_path, rookery, match):
    ledger = tmp_path / "ledger.sqlite"
    start = ["match", "random", "random", "--game", SMALL, "--ledger", str(ledger)]
    done = run_rookery(*start, "--games", "20", "--seed", "3", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["games"] == found["wins"] + found["draws"] + found["losses"] == 20
    assert found["elo_low"] < found["elo"] < found["elo_high"]
    assert found["reasons"] == {"end by the rules": 20}
    table = match(ledger, "--games", "20", "--seed", "3").stdout
    assert f"{100 * found['score']:.1f}%" in table
    assert "Elo difference" in table
    assert "likelihood of superiority" in table
    rated = json.loads(rookery("ratings", SMALL, "--ledger", str(ledger), "--json").stdout)
    assert (rated["games"], rated["ratings"][0]["player"], rated["ratings"][0]["elo"]) == (40, "random", 0.0)
    assert "random" in rookery("ratings", SMALL, "--ledger", str(ledger)).stdout
    output = tmp_path / "games.txt"
    assert rookery("export", SMALL, "--ledger", str(ledger), "--output", str(output)).returncode == 0
    games = sorted(parse_games(output.read_text()), key=lambda game: game.number)
    assert len(games) == 40
    assert [game.actions for game in games[::2]] == [game.actions for game in games[1::2]]  # same seed, same games
    assert rookery("export", SMALL, "--ledger", str(ledger)).stdout == output.read_text()


def test_a_match_need_not_be_stored(tmp_path, match):
    assert match(tmp_path / "l", "--games", "2", "--no-store").returncode == 0
    assert not (tmp_path / "l").exists()


def test_a_test_that_is_decided_says_so(tmp_path, match):
    found = match(tmp_path / "l", "--games", "2000", "--sprt", "-200", "200", "--json")
    sprt = json.loads(found.stdout)["sprt"]
    assert sprt["accepted"] in ("H0", "H1")
    assert json.loads(found.stdout)["games"] < 2000
    assert "SPRT" in match(tmp_path / "l", "--games", "2", "--sprt", "0", "10").stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["match", "random", "nobody", "--game", SMALL], "nobody"),
        (["match", "random", "random", "--game", "hex"], "there is no game 'hex'"),
        (["match", "random", "random", "--game", SMALL, "--games", "3"], "even number"),
        (["match", "random", "random", "--game", SMALL, "--tc", "fast"], "time control 'fast'"),
        (["match", "random", "random", "--game", SMALL, "--sprt", "5", "5"], "the bounds of an SPRT"),
        (["match", "random", "random", "--game", SMALL, "--opening", "nothing"], "nor a file"),
        (["match", "random", "random", "--game", SMALL, "--ledger", "/proc/l"], "the ledger /proc/l cannot be opened"),
        (["match", "random", "random", "--game", SMALL, "--threads", "0"], "threads must be"),
        (["match", "random", "random", "--game", SMALL, "--tc", ""], "time control '' should read SECONDS+INCREMENT"),
        (["match", "random", "random", "--game", SMALL, "--opening", ""], "the openings '' are neither random:N"),
        (["ratings", "pylos", "--ledger", "/no/ledger"], "there is no ledger /no/ledger"),
        (["export", "pylos", "--ledger", "/no/ledger"], "there is no ledger /no/ledger"),
        (["export", "pylos", "--format", "xml"], "xml"),
    ],
)
def test_wrong_input_ends_with_status_2_and_says_why(arguments, complaint, tmp_path, rookery):
    arguments = arguments if "--ledger" in arguments else [*arguments, "--ledger", str(tmp_path / "l")]
    done = rookery(*arguments)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_wrong_requests_to_a_ledger_are_answered(tmp_path, rookery, match):
    ledger = tmp_path / "l"
    match(ledger, "--games", "2")
    for arguments, complaint in [
        (["ratings", "pylos"], f"has no games of pylos, rules version 1; it has 2 of {SMALL}"),
        (["ratings", SMALL, "--pin", "strong=5"], "pinned player 'strong' has no games here"),
        (["ratings", SMALL, "--pin", "random"], "should read player=elo"),
        (["export", SMALL, "--format", "pgn"], "PGN is written for games of chess"),
        (["export", SMALL, "--output", str(tmp_path)], "is a folder"),
        (["export", SMALL, "--output", "/no/games.txt"], "/no/games.txt cannot be written: No such file"),
        (["export", SMALL, "--output", f"{ledger}/games.txt"], f"{ledger}/games.txt cannot be written: Not a dir"),
        (["export", SMALL, "--format", "json", "--output", str(tmp_path)], "only games of gomoku"),
    ]:
        done = rookery(*arguments, "--ledger", str(ledger))
        assert done.returncode == 2
        assert complaint in done.stderr


def test_a_full_device_is_told(tmp_path, rookery, match):
    match(tmp_path / "l", "--games", "2")
    done = rookery("export", SMALL, "--ledger", str(tmp_path / "l"), "--output", "/dev/full")
    assert done.returncode == 1
    assert "No space left" in done.stderr


@pytest.mark.slow
@pytest.mark.faults
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGHUP])
def test_a_match_that_is_told_to_end_takes_its_engine_along(tmp_path, end):
    pids = tmp_path / "pids"
    engine = f"uci:{command('bad', 'uci', 0, 'hang', pids)},time=300"
    told = ["match", engine, "random", "--game", "chess", "--games", "2", "--threads", "1", "--no-store"]
    process = subprocess.Popen(
        [sys.executable, "-m", "rookery", *told], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    limit = time.monotonic() + 120
    while not (pids.exists() and pids.read_text().endswith("\n")) and time.monotonic() < limit:
        time.sleep(0.1)
    time.sleep(1)  # until it is asked for a move
    process.send_signal(end)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert all(ends_soon(int(pid)) for pid in pids.read_text().split())


@pytest.mark.slow
@pytest.mark.faults
def test_an_interrupt_stores_what_is_finished(tmp_path, match):
    ledger = tmp_path / "l"
    match(ledger, "--games", "2")  # compiled
    told = ["match", "random", "random", "--game", SMALL, "--games", "1000000", "--ledger", str(ledger)]
    process = subprocess.Popen(
        [sys.executable, "-m", "rookery", *told], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    limit = time.monotonic() + 120
    while stored(ledger) < 20 and time.monotonic() < limit:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    told, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in errors
    counted = int(told.split(": ")[1].split(" games")[0])
    assert 20 - 2 * 2 <= counted + 2 <= stored(ledger)
    with Ledger(ledger) as opened:
        numbers = [game.number for game in opened.games()][2:]
    assert set(range(counted)) <= set(numbers)


def stored(ledger):
    with Ledger(ledger) as opened:
        return sum(opened.count().values())
