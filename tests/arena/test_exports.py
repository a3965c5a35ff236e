"""Games as text, JSON and PGN, read back by others."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import chess.pgn
import pytest

from arena.fakes import Failing, Seeded, give_up, play_taken
from arena.stored import record
from rookery.arena.exports import export_folder, exported, game_text, gomoku_json, parse_games, write_whole
from rookery.arena.matches import MatchSettings, play_match
from rookery.arena.pgn import game_pgn
from rookery.arena.records import final_position
from rookery.errors import BadInput
from rookery.games.library import load


def games_of(spec, first=Seeded, second=Seeded, games=4, **settings):
    match = play_match(load(spec), first, second, MatchSettings(games=games, **settings))
    return match.game, [match.records[number] for number in sorted(match.records)]


# ---- text ----------------------------------------------------------------------------------------


def test_text_is_read_back_the_same():
    games = [
        record(0),
        record(1, actions=(), moves=(), opening=0),
        record(2, players=("a b\n%20", "c: d"), reason="50% = x"),
    ]
    assert list(parse_games("\n".join(map(game_text, games)))) == games


def test_played_games_are_read_back_and_replay():
    for spec in ("texas42", "gomoku:size=5"):
        game, games = games_of(spec)
        read = list(parse_games(exported(game, games, "text")))
        assert read == games
        assert all(final_position(game, one).over for one in read)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("score: 0.5", "score: half", "line 9 of the games: score cannot be 'half'"),
        ("score: 0.5", "score: 0.7", "score of a game must be"),
        ("score: 0.5", "scores: 0.5", "'scores' is not known"),
        ("score: 0.5\n", "", "does not say 'score'"),
        ("score: 0.5", "nonsense", "should read key: value"),
        ("players: random", "players: x random", "players should be two, not 3"),
        ("actions: 3", "actions: x", "actions cannot be"),
    ],
)
def test_broken_text_is_refused_by_line(old, new, complaint):
    text = game_text(record(0))
    assert old in text
    with pytest.raises(BadInput, match=complaint):
        list(parse_games(text.replace(old, new)))


# ---- PGN -----------------------------------------------------------------------------------------


def read_pgn(text):
    stream, found = io.StringIO(text), []
    while (game := chess.pgn.read_game(stream)) is not None:
        assert game.errors == []
        found.append(game)
    return found


@pytest.mark.parametrize("spec", ["chess", "chess:chess960=0"])
def test_python_chess_reads_the_games_and_reaches_the_same_positions(spec):
    game, games = games_of(spec, games=4, most_plies=90, seed=2)
    read = read_pgn(exported(game, games, "pgn"))
    assert len(read) == 4
    for one, stored in zip(read, games, strict=True):
        assert len(list(one.mainline_moves())) == len(stored.actions)
        board, final = one.end().board(), final_position(game, stored)
        assert board.board_fen() == game.fen(final.state).split()[0]
        assert (one.headers["White"], one.headers["Black"]) == stored.players
        assert one.headers["Result"] == {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}[stored.score]
        assert one.headers["Termination"] == "normal"


def test_positions_and_moves_before_the_start_are_in_the_pgn(tmp_path):
    black = "4k3/8/8/8/8/8/4P3/4K3 b - - 3 17"
    (tmp_path / "o").write_text(f"{black}\n{black} moves e8d8 e2e4\nstartpos moves e2e4\n")
    game, games = games_of("chess", games=6, opening=str(tmp_path / "o"), most_plies=6)
    read = read_pgn(exported(game, games, "pgn"))
    assert [one.headers.get("FEN") for one in read] == [black] * 4 + [None] * 2
    assert "17... " in exported(game, games[:1], "pgn")
    for one, stored in zip(read, games, strict=True):
        assert one.end().board().board_fen() == game.fen(final_position(game, stored).state).split()[0]


def test_failures_have_pgns_words_for_them():
    for how, word in ((give_up, "abandoned"), (play_taken, "rules infraction")):
        game, games = games_of("chess", first=lambda how=how: Failing(how), games=2)
        assert {one.headers["Termination"] for one in read_pgn(exported(game, games, "pgn"))} == {word}
    late = [replace(one, reason=f"{one.players[0]}: lost on time: 2.00 s for a move with 1.00 s left") for one in games]
    assert {one.headers["Termination"] for one in read_pgn(exported(game, late, "pgn"))} == {"time forfeit"}


def test_strange_names_survive_in_pgn():
    game, games = games_of("chess", games=2, most_plies=20)
    odd = 'uci:"C:\\engines\\x" {1}'
    object.__setattr__(games[0], "players", (odd, "b]"))
    object.__setattr__(games[0], "reason", "odd {reason}")
    one = read_pgn(game_pgn(game, games[0]))[0]
    white = one.headers["White"].replace('\\"', '"').replace("\\\\", "\\")  # python-chess leaves escapes as they are
    assert (white, one.headers["Black"]) == (odd, "b]")


def test_pgn_is_for_chess_only():
    game, games = games_of("gomoku:size=5")
    with pytest.raises(BadInput, match="PGN is written for games of chess, not of gomoku"):
        exported(game, games, "pgn")


# ---- JSON ----------------------------------------------------------------------------------------


def test_gomoku_is_saved_in_the_form_of_the_original():
    game, games = games_of("gomoku:size=7", games=10, seed=1)
    saved = json.loads(exported(game, games, "json"))
    results = set()
    for one, stored in zip(saved, games, strict=True):
        assert list(one) == ["date", "black", "white", "result", "moves"]
        position = game.start()
        for move in one["moves"]:
            position.play(move)
        assert position.over
        assert one["result"] == {1.0: "Black wins", 0.0: "Draw", -1.0: "White wins"}[position.payoff(0)]
        assert one["moves"][0][0] in "ABCDEFG"
        assert (one["black"], one["white"]) == stored.players
        results.add(one["result"])
    assert len(results) > 1


def test_colours_are_named_right_after_a_swap():
    game, games = games_of(
        "gomoku:size=6,opening=swap2", first=Seeded, second=lambda: Failing(give_up), games=30, seed=3
    )
    swapped = 0
    for stored in games:
        final = final_position(game, stored)
        black = int(final.state["black_seat"])
        swapped += black
        saved = gomoku_json(game, stored)
        assert saved["black"] == stored.players[black]
        winner = stored.players[0] if stored.score == 1 else stored.players[1]
        if stored.score != 0.5:
            assert saved[saved["result"].split()[0].lower()] == winner
    assert 0 < swapped < 30


def test_each_game_of_gomoku_gets_a_file_named_as_the_original_names_it(tmp_path):
    game, games = games_of("gomoku:size=5", games=4)
    for one in games:
        object.__setattr__(one, "date", "2030-01-02T03:04:05+00:00")
        object.__setattr__(one, "players", ("base (d=2)", "net [x]"))
    assert export_folder(game, games, tmp_path) == 4
    names = sorted(path.name for path in tmp_path.iterdir())
    first = "20300102_030405_based=2_vs_netx"
    assert names == sorted([f"{first}.json", *(f"{first}_{i}.json" for i in (2, 3, 4))])
    assert json.loads((tmp_path / f"{first}.json").read_text())["moves"] == list(games[0].moves)


def test_long_names_of_players_are_cut_in_file_names_and_not_in_files(tmp_path):
    game, games = games_of("gomoku:size=5", games=2)
    players = ("gomocup:" + "é" * 200, "gomocup:" + "x" * 200)
    for one in games:
        object.__setattr__(one, "players", players)
    assert export_folder(game, games, tmp_path) == 2
    for path in tmp_path.iterdir():
        assert f"_gomocup:{'é' * 36}_vs_gomocup:{'x' * 72}" in path.name
        assert {json.loads(path.read_text())[colour] for colour in ("black", "white")} == set(players)


def test_other_games_are_exported_as_all_that_is_known():
    game, games = games_of("texas42", games=2)
    saved = json.loads(exported(game, games, "json"))
    assert saved[0]["start"] == games[0].start
    assert tuple(saved[1]["actions"]) == games[1].actions


def test_games_of_other_rules_are_not_replayed():
    game, games = games_of("gomoku:size=5", games=2)
    object.__setattr__(games[0], "version", 99)
    with pytest.raises(BadInput, match="rules version 99, cannot be replayed"):
        exported(game, games, "json")


def test_unknown_formats_are_refused():
    with pytest.raises(BadInput, match="must be pgn, json or text"):
        exported(load("texas42"), [], "xml")


# ---- files ---------------------------------------------------------------------------------------


def test_a_file_is_written_whole_or_left_as_it_was(tmp_path):
    path = tmp_path / "games.txt"
    write_whole(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "new \udc80")
    assert path.read_text() == "old"
    write_whole(path, "new")
    assert path.read_text() == "new"
    assert [entry.name for entry in tmp_path.iterdir()] == ["games.txt"]


def test_a_device_is_written_as_it_is():
    with pytest.raises(OSError, match="No space left"):
        write_whole(Path("/dev/full"), "x")
