"""UCI engines: what they are sent, and how their answers are read."""

from __future__ import annotations

import math
import threading
import time

import chess
import numpy as np
import pytest

from arena.scripted import command, heard, play_out, turn_at
from rookery import BadInput, load
from rookery.arena.engine import EngineSettings
from rookery.arena.player import PlayerFailed
from rookery.arena.players import make_player
from rookery.arena.uci import go_command, position_command, value_in

CASTLING = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1"


def good(game, *arguments, options=""):
    return make_player(f"uci:{command('uci_good', *arguments)},time=0.05{options}", game)


def test_a_game_is_played_to_a_legal_end_and_its_words_are_those_of_the_protocol(tmp_path):
    game, log = load("chess"), tmp_path / "log"
    players = [good(game, log), make_player("random", game)]
    for seed in (1, 2):
        _, moves = play_out(game.start(), players, plies=40, seed=seed)
        assert len(moves) == 40
    players[0].close()
    words = heard(log)
    assert words[:4] == ["uci", "isready", "ucinewgame", "isready"]
    assert words[4:7] == ["position startpos", "isready", "go movetime 50"]
    assert words.count("uci") == 1
    assert words.count("ucinewgame") == 2
    assert words[-1] == "quit"
    assert [word for word in words if word.startswith("position")][-1].split()[3:] == [
        move.uci() for move in replayed(game, moves[:38])
    ]


def replayed(game, actions):
    """Play actions on a board of python-chess."""
    position, board = game.start(), chess.Board()
    for action in actions:
        board.push_uci(position.move_text(action))
        position.play(action)
    return board.move_stack


@pytest.mark.parametrize(("option", "wanted"), [(",option.MultiPV=3", 5), ("", 3)])
def test_lines_scores_and_moves_are_read(option, wanted):
    game = load("chess")
    player = good(game, options=option)
    player.lines_wanted = wanted
    found = []
    player.report = found.append
    choice = player.choose(turn_at(game.start()))
    player.close()
    analysis, start = choice.analysis, game.start()
    assert start.move_text(choice.action) == "a2a3"
    assert [start.move_text(line.action) for line in analysis.lines] == ["a2a3", "a2a4", "b1a3"]
    assert [len(line.moves) for line in analysis.lines] == [2, 2, 2]
    chances = [2 / (1 + math.exp(-0.00368208 * score)) - 1 for score in (100, 0, -100)]
    assert [line.value for line in analysis.lines] == pytest.approx(chances)
    assert (analysis.value, analysis.nodes, analysis.depth) == (analysis.lines[0].value, 1234, 7)
    assert [len(report.lines) for report in found] == [1, 1, 2, 3]
    assert not analysis.proven


@pytest.mark.parametrize(
    ("info", "value"),
    [
        ("info depth 3 score mate 4 pv e2e4", 1.0),
        ("info depth 3 score mate -4 pv e2e4", -1.0),
        ("info depth 3 score mate 0", -1.0),
        ("info depth 3 score cp 0 wdl 500 300 200 nodes 9", 0.3),
        ("info depth 3 score cp 0", 0.0),
        ("info depth 3 score cp -100000", -1.0),
        ("info depth 3 nodes 7", None),
        ("info score cp", None),
        ("info score cp x", None),
    ],
)
def test_a_value_is_from_the_movers_side(info, value):
    assert value_in(info) == (pytest.approx(value) if value is not None else None)


@pytest.mark.parametrize(
    ("settings", "given", "words", "seconds"),
    [
        ({"time": 0.25}, {}, "go movetime 250", 0.25),
        ({}, {}, "go movetime 500", 0.5),
        ({}, {"seconds": 2.0}, "go movetime 2000", 2.0),
        ({"time": 0.25}, {"seconds": 2.0}, "go movetime 250", 0.25),
        ({}, {"seconds": 2.0, "clock": (10.0, 9.0)}, "go wtime 10000 btime 9000 winc 0 binc 0", 10.0),
        ({"depth": 9}, {}, "go depth 9", 60.0),
        ({"depth": 9, "nodes": 1000, "time": 1.5}, {}, "go depth 9 nodes 1000 movetime 1500", 1.5),
        ({}, {"clock": (10.0, 9.0), "increment": 0.1}, "go wtime 10000 btime 9000 winc 100 binc 100", 10.0),
        ({"nodes": 5}, {"clock": (10.0, 9.0)}, "go nodes 5 wtime 10000 btime 9000 winc 0 binc 0", 10.0),
        ({"time": 5.0}, {"clock": (1.0, 9.0)}, "go movetime 800", 0.8),
        ({}, {"clock": (-0.5, 9.0)}, "go wtime 1 btime 9000 winc 0 binc 0", 0.0),
    ],
)
def test_limits_and_clocks_are_told(settings, given, words, seconds):
    told = go_command(turn_at(load("chess").start(), **given), EngineSettings(**settings))
    assert told == (words, seconds)


def test_the_clock_of_black_bounds_his_moves():
    black = load("chess").position("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1")
    turn = turn_at(black, clock=(10.0, 2.0))
    assert go_command(turn, EngineSettings(time=5.0)) == ("go movetime 1600", pytest.approx(1.6))
    assert go_command(turn, EngineSettings()) == ("go wtime 10000 btime 2000 winc 0 binc 0", 2.0)


def test_the_whole_game_is_told_from_any_first_position():
    game = load("chess")
    start = game.position(f"{CASTLING} moves a2a3 a7a6")
    position = start.copy()
    moves = []
    for move in ("e1g1", "e8c8"):
        moves.append(position.action(move))
        position.play(move)
    told = position_command(turn_at(position, tuple(moves), start))
    assert told == f"position fen {CASTLING} moves a2a3 a7a6 e1g1 e8c8"


@pytest.mark.parametrize(("spec", "castling"), [("chess", "e1g1"), ("chess:chess960=518", "e1h1")])
def test_castling_is_written_and_read_as_the_game_asks(spec, castling, tmp_path):
    game, log = load(spec), tmp_path / "log"
    players = [good(game, log, options=f",option.Prefer={castling} e8c8 e8a8 a2a3")] * 2
    position, _ = play_out(game.position(CASTLING), players, plies=3)
    players[0].close()
    assert game.fen(position.state).split()[0] == "2kr3r/pppppppp/8/8/8/P7/1PPPPPPP/R4RK1"
    assert ("setoption name UCI_Chess960 value true" in heard(log)) == (spec != "chess")


def test_options_are_set_by_the_engines_own_names_and_checked(tmp_path):
    game, log = load("chess"), tmp_path / "log"
    player = good(game, log, options=",option.multipv=2,option.style=Very Risky")
    player.new_game(game.start(), 0)
    player.close()
    assert heard(log)[1:3] == ["setoption name MultiPV value 2", "setoption name Style value Very Risky"]


@pytest.mark.parametrize(
    ("option", "complaint"),
    [
        ("Multipvv=2", "has no option 'Multipvv'; did you mean MultiPV\\? its options are UCI_Chess960, MultiPV"),
        ("MultiPV=0", "option MultiPV of Good Fish 1.0 .* must be a whole number in 1..500, not 0"),
        ("MultiPV=many", "must be a whole number in 1..500, not 'many'"),
        ("Slow=yes", "option Slow of Good Fish 1.0 .* must be one of true, false, not 'yes'"),
        ("Style=Risky", "must be one of Solid, Very Risky, not 'Risky'"),
        ("Clear Hash=1", "is a button"),
    ],
)
def test_an_option_the_engine_does_not_have_is_the_persons_mistake(option, complaint):
    game = load("chess")
    with pytest.raises(BadInput, match=complaint):
        good(game, options=f",option.{option}")


def test_a_search_is_stopped_when_told():
    game = load("chess")
    player = make_player(f"uci:{command('uci_good')},depth=99,option.Slow=true", game)
    player.new_game(game.start(), 0)
    stop = np.zeros(1, np.int32)
    timer = threading.Timer(0.3, lambda: stop.fill(1))
    timer.start()
    begun = time.monotonic()
    choice = player.choose(turn_at(game.start(), stop=stop))
    assert 0.25 < time.monotonic() - begun < 20
    timer.join()
    assert game.start().move_text(choice.action) == "a2a3"
    player.close()


def test_an_engine_that_does_not_stop_by_itself_is_not_waited_for():
    game = load("chess")
    player = make_player(f"uci:{command('uci_good')},time=0.05,grace=0.2,option.Slow=true", game)
    with pytest.raises(PlayerFailed, match=r"no answer within 0\.25 s; expected 'bestmove' to 'go movetime 50'"):
        player.choose(turn_at(game.start()))
    assert player.child is None
