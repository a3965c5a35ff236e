"""Games from files."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from rookery.arena.exports import exported
from rookery.arena.records import GameRecord
from rookery.errors import BadInput
from rookery.games.library import load
from rookery.web.found import MOST_GAMES
from rookery.web.loading import LONGEST_FILE, games_in
from rookery.web.session import GameSession, Plan, session_of
from rookery.web.sharing import shared_text
from rookery.web.store import Store

SPEC = "domineering:rows=8,cols=8"
PGN = """[Event "a"]
[White "Anna"]
[Black "Berta"]
[Result "0-1"]
[Date "2024.05.06"]

1. f3 e5 {a comment} 2. g4 (2. e4 Nf6) Qh4# 0-1

[Event "b"]
[White "Berta"]
[Black "Anna"]
[Result "1/2-1/2"]

1. e4 1/2-1/2
"""


def record_of(spec=SPEC, words=("a1-a2", "c3-d3"), score=1.0):
    """Return the record of a game that may have been given up."""
    game = load(spec)
    position = game.start(0)
    start, actions = position.text(), []
    for word in words:
        actions.append(position.action(word))
        position.play(actions[-1])
    return GameRecord(
        game.spec, game.version, start, tuple(actions), tuple(words), 1, ("one", "two"), 0, score, 1.0, "given up",
        (0.5, 0.25), 7, "match", 3, 1, "", "2024-05-06T07:08:09",
    )  # fmt: skip


def test_all_games_of_a_pgn_are_read_with_their_players():
    first, second = games_in(PGN)
    assert first.session.texts == ["f3", "e5", "g4", "Qh4#"]
    assert (first.players, first.score, first.date) == (("Anna", "Berta"), 0.0, "2024-05-06")
    assert (second.players, second.score, second.session.ply) == (("Berta", "Anna"), 0.5, 1)


def test_games_of_chess960_are_read():
    position = load("chess:chess960=0").start(0)
    text = f'[Event "x"]\n[Variant "Chess960"]\n[SetUp "1"]\n[FEN "{position.text()}"]\n\n1. e4 *\n'
    (found,) = games_in(text)
    assert found.session.plan.spec == "chess:chess960=0"
    assert found.score is None


@pytest.mark.parametrize("form", ["text", "json"])
def test_exported_games_are_read_again(form):
    record = record_of()
    found = games_in(exported(load(SPEC), [record, record], form))
    assert len(found) == 2
    for one in found:
        assert tuple(one.session.actions) == record.actions
        assert (one.players, one.score, one.opening, one.reason) == (record.players, 1.0, 1, "given up")


@pytest.mark.parametrize("spec", ["gomoku:size=9", "gomoku"])
def test_a_game_of_gomoku_in_the_originals_form_finds_its_board(spec):
    words = ("E5", "A1", "E6", "A2", "E7", "A3", "E8", "A4", "E9")
    (found,) = games_in(exported(load(spec), [record_of(spec, words)], "json"))
    assert found.session.texts == list(words)
    assert found.session.score() == found.score == 1.0
    assert found.players == ("one", "two")


def test_shared_games_are_read():
    session = GameSession(Plan(SPEC, frozenset(), ""), record_of().actions)
    (found,) = games_in(shared_text(session))
    assert found.session.actions == session.actions


def test_no_more_games_than_allowed_are_read():
    assert len(games_in("\n".join(PGN for _ in range(MOST_GAMES)))) == MOST_GAMES


@pytest.mark.parametrize(
    "text",
    [
        "", "   \n", "hello", "[]", "{}", "[1]", '{"black": 1}', '{"black": "a", "moves": [1]}', "[[[", "{" * 10_000,
        "1. e4 e5 2. Ke5", '[Event "x"]\n\n1. zz', "game: nothing\nmoves: a1", "game: tests/evil.py\nmoves: a1",
        json.dumps({"black": "a", "white": "b", "moves": ["Z99"]}),
        json.dumps(asdict(record_of()) | {"actions": [5, 5], "moves": ["x", "x"]}),
        json.dumps(asdict(record_of()) | {"game": "examples/connect_four.py"}),
        json.dumps(asdict(record_of()) | {"version": 99}),
        json.dumps(asdict(record_of()) | {"score": 7}),
        json.dumps(asdict(record_of()) | {"actions": None}),
        *(json.dumps(asdict(record_of()) | {name: value}) for name, value in (
            ("game", 5), ("start", 5), ("date", None), ("players", ["a"]), ("opening", "x"), ("actions", [10**30, 1]),
            ("reason", []),
        )),
        "version: 1\nplayers: a b\n", "1. e4 (1. d4", "1. e4 ) e5", "1. e4 { e5",
        "x" * (LONGEST_FILE + 1),
    ],
)  # fmt: skip
def test_what_is_no_game_is_refused_in_words(text):
    with pytest.raises(BadInput, match=r"[a-z]"):
        games_in(text)


@pytest.mark.parametrize("spec", ["gomoku:/../planted.py", "planted.py", "gomoku:x/../../planted.py:size=9"])
def test_no_file_is_run_whatever_a_game_is_called(spec, tmp_path, monkeypatch):
    (tmp_path / "planted.py").write_text("from pathlib import Path\nPath('run').touch()\n")
    monkeypatch.chdir(tmp_path)
    record = asdict(record_of()) | {"game": spec}
    texts = [json.dumps(record), exported(load(SPEC), [GameRecord(**record)], "text"), f"game: {spec}\nmoves: a1"]
    for text in texts:
        with pytest.raises(BadInput):
            games_in(text)
    saved = GameSession(Plan(SPEC, frozenset([0]), "random")).to_json() | {"game": spec}
    with pytest.raises(BadInput):
        session_of(saved)
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "one.json").write_text(json.dumps({"visitor": "me", "session": saved}))
    assert Store(tmp_path / "games").unread == {}
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("sign", ["{ ", "(", ")", "1", "\n", " ", '[a "', ";", "$", ".", "Q", '[Event "x"'])
def test_long_rows_of_one_sign_are_read_in_one_go(sign):
    row = sign * (LONGEST_FILE // 4 // len(sign))  # a pattern that looks again at each sign would take hours
    with pytest.raises(BadInput):
        games_in(f"1. e4 {row}\nx")
