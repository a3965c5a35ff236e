"""The ledger: many writers, killed writers, broken files."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from arena.stored import record
from rookery.arena import ledger as module
from rookery.arena.ledger import Ledger, default_path
from rookery.errors import BadInput
from support import ROOT

WRITER = """
import sys
from rookery.arena.ledger import Ledger
from arena.stored import record
path, name, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
with Ledger(path) as ledger:
    for i in range(number):
        ledger.store([record(i, name, moves=tuple(f"{i}-{k}" for k in range(300)), actions=tuple(range(300)))])
        print(i, flush=True)
"""


def test_a_stored_game_comes_back_the_same(tmp_path):
    games = [
        record(0),
        record(1, score=1.0, payoff=0.25, time_control=""),
        record(0, "other", actions=(), moves=(), opening=0),
    ]
    with Ledger(tmp_path / "new" / "ledger.sqlite") as ledger:
        ledger.store(games)
    with Ledger(tmp_path / "new" / "ledger.sqlite", create=False) as ledger:
        assert list(ledger.games()) == games
        assert list(ledger.games("pylos", 1)) == games
        assert list(ledger.games("pylos", 2)) == list(ledger.games("chess")) == []
        assert ledger.count() == {("pylos", 1): 3}


def test_what_is_stored_is_on_the_disk(tmp_path):
    with Ledger(tmp_path / "l") as ledger:
        assert ledger.connection.execute("PRAGMA synchronous").fetchone()[0] == 2  # FULL
        assert ledger.connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


def test_a_game_is_stored_once(tmp_path):
    with Ledger(tmp_path / "l") as ledger:
        ledger.store([record(0)])
        ledger.store([record(0, reason="another"), record(1)])
        assert [game.reason for game in ledger.games()] == ["third occurrence"] * 2


def test_games_of_one_call_are_stored_together_or_not_at_all(tmp_path):
    with Ledger(tmp_path / "l") as ledger:
        broken = record(1)
        object.__setattr__(broken, "score", 0.3)
        with pytest.raises(BadInput, match="cannot be written: CHECK constraint failed"):
            ledger.store([record(0), broken])
        assert list(ledger.games()) == []
        ledger.store([record(0)])
        assert len(list(ledger.games())) == 1


def test_results_are_summed_from_who_begins_and_by_time_control(tmp_path):
    def game(i, **changes):
        return record(i, **({"players": ("a", "b"), "time_control": ""} | changes))

    with Ledger(tmp_path / "l") as ledger:
        ledger.store(
            [game(0, score=1.0), game(1, score=1.0), game(2, score=0.0, first_team=1), game(3, time_control="1+0")]
        )
        ledger.store([game(4, version=2), game(5, game="chess")])
        results = sorted(ledger.results("pylos", 1))
    assert results == [("a", "b", 1.0, 2), ("a @ 1+0", "b @ 1+0", 0.5, 1), ("b", "a", 1.0, 1)]


# ---- many writers --------------------------------------------------------------------------------


def start_writers(path: Path, writers: int, games: int) -> list[subprocess.Popen[str]]:
    return [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), f"writer {i}", str(games)],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(ROOT / "tests")},
        )
        for i in range(writers)
    ]


def check_whole(path: Path, reported: dict[str, int]) -> Counter[str]:
    """Everything that was reported is there, in order and whole; nothing more than one game a writer came after."""
    with Ledger(path, create=False) as ledger:
        games = list(ledger.games())
        assert ledger.connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    for game in games:
        assert game.moves == tuple(f"{game.number}-{k}" for k in range(300))
        assert game.actions == tuple(range(300))
    stored = Counter(game.match for game in games)
    for name, number in reported.items():
        assert [game.number for game in games if game.match == name] == list(range(stored[name]))
        assert number <= stored[name] <= number + 1
    return stored


def test_processes_write_at_once_and_one_is_killed(tmp_path):
    kill_one_of(tmp_path / "l.sqlite", writers=3, games=25, after=5)


@pytest.mark.slow
@pytest.mark.faults
@pytest.mark.parametrize("after", [1, 7, 40])
def test_eight_processes_write_at_once_and_one_is_killed(tmp_path, after):
    kill_one_of(tmp_path / "l.sqlite", writers=8, games=120, after=after)


def kill_one_of(path: Path, writers: int, games: int, after: int) -> None:
    """Let processes write into a file none of them has made, and kill the first one in the middle."""
    processes = start_writers(path, writers, games)
    victim, told = processes[0], 0
    for _ in victim.stdout:
        told += 1
        if told == after:
            os.kill(victim.pid, signal.SIGKILL)  # what it had written to the pipe before is still read
    victim.stdout.close()
    reported = {f"writer {i}": len(process.communicate()[0].split()) for i, process in enumerate(processes) if i}
    assert victim.wait() == -signal.SIGKILL
    assert all(process.returncode == 0 for process in processes[1:])
    assert all(number == games for number in reported.values())
    assert after <= told < games
    check_whole(path, reported | {"writer 0": told})


# ---- broken files --------------------------------------------------------------------------------


def test_a_newer_schema_is_refused(tmp_path):
    path = tmp_path / "l"
    Ledger(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(BadInput, match="written by a newer Rookery: its schema is 99, this version knows up to 1"):
        Ledger(path)


def test_other_files_are_refused_and_left_alone(tmp_path):
    text, other, cut = tmp_path / "text", tmp_path / "other", tmp_path / "cut"
    text.write_text("no database at all\n" * 100)
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE things (thing TEXT)")
    connection.close()
    Ledger(cut).close()
    cut.write_bytes(cut.read_bytes()[:600])
    before = {path: path.read_bytes() for path in (text, other, cut)}
    for path, complaint in [(text, "is not an SQLite database"), (other, "another program"), (cut, "cannot be opened")]:
        with pytest.raises(BadInput, match=complaint) as caught:
            Ledger(path)
        assert str(path) in str(caught.value)
        assert path.read_bytes() == before[path]


@pytest.mark.parametrize("path", ["/proc/ledger.sqlite", "/proc/new/ledger.sqlite", "/dev/null/ledger.sqlite"])
def test_a_place_where_nothing_can_be_written_is_named(path):
    with pytest.raises(BadInput, match=f"the ledger {path} cannot be opened"):
        Ledger(path)


def test_a_folder_is_no_ledger(tmp_path):
    with pytest.raises(BadInput, match="cannot be opened"):
        Ledger(tmp_path)


def test_a_missing_ledger_is_not_made_for_reading(tmp_path):
    with pytest.raises(BadInput, match="there is no ledger"):
        Ledger(tmp_path / "l", create=False)
    assert not (tmp_path / "l").exists()


def test_a_full_disk_is_told_and_loses_nothing_that_was_stored(tmp_path):
    with Ledger(tmp_path / "l") as ledger:
        ledger.store([record(0)])
        pages = ledger.connection.execute("PRAGMA page_count").fetchone()[0]
        ledger.connection.execute(f"PRAGMA max_page_count = {pages + 1}")
        with pytest.raises(BadInput, match="the disk is full; the games of this call were not stored"):
            ledger.store([record(i, moves=("long",) * 3000, actions=(1,) * 3000) for i in range(1, 9)])
        ledger.connection.execute("PRAGMA max_page_count = 100000")
        assert list(ledger.games()) == [record(0)]
        ledger.store([record(1)])
        assert len(list(ledger.games())) == 2


def test_a_writer_that_waits_too_long_is_told_why(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BUSY_SECONDS", 0.05)
    with Ledger(tmp_path / "l") as one, Ledger(tmp_path / "l") as other:
        one.connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(BadInput, match="another process has held it"):
            other.store([record(0)])
        one.connection.execute("ROLLBACK")
        other.store([record(0)])


def test_readers_do_not_wait_for_a_writer(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BUSY_SECONDS", 0.05)
    with Ledger(tmp_path / "l") as one, Ledger(tmp_path / "l") as other:
        one.store([record(0)])
        one.connection.execute("BEGIN IMMEDIATE")
        assert len(list(other.games())) == 1
        one.connection.execute("ROLLBACK")


def test_the_path_comes_from_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("ROOKERY_LEDGER", str(tmp_path / "mine"))
    assert default_path() == tmp_path / "mine"
    monkeypatch.delenv("ROOKERY_LEDGER")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_path() == tmp_path / "rookery" / "ledger.sqlite"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", "/home/somebody")
    assert default_path() == Path("/home/somebody/.local/share/rookery/ledger.sqlite")


def test_the_score_of_who_begins_is_that_of_its_team():
    assert [record(first_team=team, score=1.0).first_score for team in (0, 1)] == [1.0, 0.0]
    assert [record(score=1.0).score_of(team) for team in (0, 1)] == [1.0, 0.0]


def test_a_record_that_cannot_be_is_refused():
    for changes, complaint in [
        ({"score": 0.7}, "score"), ({"moves": ("a",)}, "3 actions but 1 moves"), ({"opening": 4}, "opening"),
    ]:  # fmt: skip
        with pytest.raises(BadInput, match=complaint):
            record(**changes)


def test_a_ledger_that_appears_while_it_is_opened_is_no_other_programs(tmp_path, monkeypatch):
    path = tmp_path / "l.sqlite"
    sqlite3.connect(path).close()
    asked = []

    class Hurried(sqlite3.Cursor):
        """A cursor before whose second question another process makes the ledger."""

        def execute(self, query, *values):
            asked.append(query)
            if len(asked) == 2:
                Ledger(path).close()
            return super().execute(query, *values)

    class Connection(sqlite3.Connection):
        def cursor(self, factory=Hurried):
            return super().cursor(factory if len(asked) < 2 else sqlite3.Cursor)

    usual = sqlite3.connect
    kinds = iter([Connection])
    monkeypatch.setattr(
        sqlite3, "connect", lambda *given, **more: usual(*given, factory=next(kinds, sqlite3.Connection), **more)
    )
    with Ledger(path) as ledger:
        assert ledger.count() == {}
    assert len(asked) >= 2


def test_games_are_listed_newest_first_by_game_player_and_score(tmp_path):
    with Ledger(tmp_path / "ledger.db") as ledger:
        ledger.store([
            record(0, game="gomoku", players=("A%", "b"), score=1.0, payoff=1.0),
            record(1, game="gomoku:size=9", players=("c", "a%d"), score=0.5, payoff=0.0),
            record(2, game="gomoku2", players=("b", "c"), score=0.5, payoff=0.0),
        ])  # fmt: skip

        def numbers(**wanted):
            return [(number, found.number) for number, found in ledger.listed(**wanted)]

        assert numbers() == [(3, 2), (2, 1), (1, 0)]
        assert numbers(most=1, skip=1) == [(2, 1)]
        assert numbers(game="gomoku") == [(2, 1), (1, 0)]
        assert numbers(player="a%") == [(2, 1), (1, 0)]
        assert numbers(score=0.5, player="C") == [(3, 2), (2, 1)]
        assert ledger.numbered(2).players == ("c", "a%d")
        assert ledger.numbered(9) is None
