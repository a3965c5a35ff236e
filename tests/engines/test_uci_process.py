"""The UCI engine as a process, under python-chess and by its pipes."""

from __future__ import annotations

import random
import shlex
import shutil
import subprocess
import sys
import time
from collections import Counter

import chess
import chess.engine
import pytest

from arena.scripted import random_lc0_network

pytestmark = pytest.mark.slow

ENGINE = [sys.executable, "-m", "rookery", "engine", "uci"]
STOCKFISH = shutil.which("stockfish") or shutil.which("stockfish", path="/usr/games")
CLOCK, INCREMENT, NODES = 60.0, 0.1, 12
GAMES = 100


@pytest.fixture(scope="module")
def network():
    return random_lc0_network()


def opened(*arguments):
    engine = chess.engine.SimpleEngine.popen_uci([*ENGINE, *arguments], timeout=120)
    engine.timeout = 60
    return engine


@pytest.fixture(scope="module")
def engine(network):
    with opened("--network", network, "--option", "Threads=1") as made:
        made.ping()
        yield made


# ---- under python-chess --------------------------------------------------------------------------


def test_options_are_known_and_a_move_is_played(engine):
    assert {"WeightsFile", "Threads", "MultiPV", "Hash", "Move Overhead", "UCI_ShowWDL", "CPuct"} <= set(engine.options)
    engine.configure({"Hash": 64, "Move Overhead": 50, "UCI_ShowWDL": True})
    board = chess.Board()
    played = engine.play(board, chess.engine.Limit(nodes=50), info=chess.engine.INFO_ALL)
    assert played.move in board.legal_moves
    assert played.info["nodes"] >= 40
    assert sum(played.info["wdl"].relative) == 1000
    assert played.ponder is not None


def test_what_lichess_bot_sets_can_be_set(engine):
    usual = {"Move Overhead": 100, "Threads": 1, "Hash": 64, "SyzygyPath": "./syzygy/", "UCI_ShowWDL": True}
    engine.configure(usual)
    board = chess.Board()
    opponent = chess.engine.Opponent("somebody", "BOT", 2000, True)
    played = engine.play(board, chess.engine.Limit(nodes=10), ponder=True, opponent=opponent)
    assert played.move in board.legal_moves


def test_an_analysis_tells_several_lines_and_can_be_stopped(engine):
    board = chess.Board("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3")
    infos = engine.analyse(board, chess.engine.Limit(nodes=100), multipv=3)
    assert len(infos) == 3
    assert all(info["pv"][0] in board.legal_moves for info in infos)
    with engine.analysis(board) as analysis:
        for info in analysis:
            if info.get("nodes", 0) > 200:
                break
    assert analysis.wait().move in board.legal_moves


def test_only_the_root_moves_are_played_that_are_wanted(engine):
    board = chess.Board()
    wanted = [chess.Move.from_uci("h2h3"), chess.Move.from_uci("a2a3")]
    assert engine.play(board, chess.engine.Limit(nodes=20), root_moves=wanted).move in wanted


def test_a_clock_is_kept_and_pondering_goes_on_meanwhile(engine):
    board, left = chess.Board(), 5.0
    for _ in range(6):
        began = time.monotonic()
        limit = chess.engine.Limit(white_clock=left, black_clock=left, white_inc=0.05, black_inc=0.05)
        played = engine.play(board, limit, ponder=True)
        left -= time.monotonic() - began - 0.05
        board.push(played.move)
        if played.ponder is not None and played.ponder in board.legal_moves:
            board.push(played.ponder)
    assert left > 0
    engine.play(board, chess.engine.Limit(nodes=1))  # ends the last ponder


@pytest.mark.parametrize("number", [0, 519, 959])
def test_games_of_chess960_are_played(engine, number):
    board = chess.Board.from_chess960_pos(number)
    rng = random.Random(number)
    for _ in range(60):
        if board.is_game_over():
            break
        castling = [move for move in board.legal_moves if board.is_castling(move)]
        board.push(castling[0] if castling else engine.play(board, chess.engine.Limit(nodes=2)).move)
        if not board.is_game_over():
            board.push(rng.choice(list(board.legal_moves)))


def test_alphabeta_sits_behind_the_engine():
    with opened("--player", "alphabeta:depth=3") as made:
        board = chess.Board("6k1/5ppp/8/8/8/8/1r3PPP/3R2K1 w - - 0 1")
        assert made.play(board, chess.engine.Limit(time=2)).move.uci() == "d1d8"
        with made.analysis(chess.Board()) as analysis:
            time.sleep(0.2)
            analysis.stop()
            assert analysis.wait().move in chess.Board().legal_moves


# ---- by its pipes --------------------------------------------------------------------------------


def started(*arguments):
    return subprocess.Popen([*ENGINE, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)


def heard(process, beginning):
    """Read lines until one begins so."""
    for line in process.stdout:
        if line.startswith(beginning):
            return line
    raise AssertionError(f"the engine ended before {beginning!r}")


@pytest.mark.parametrize("arguments", ["network", "player"])
def test_stop_quit_and_the_end_of_the_input_are_obeyed_at_once(network, arguments):
    given = ("--network", network) if arguments == "network" else ("--player", "alphabeta:time=600")
    for ending in ("quit\n", ""):
        with started(*given) as process:
            process.stdin.write("uci\nisready\n")
            heard(process, "readyok")
            process.stdin.write("position startpos\ngo infinite\n")
            time.sleep(0.5)
            began = time.monotonic()
            process.stdin.write("stop\n")
            heard(process, "bestmove")
            assert time.monotonic() - began < 2
            process.stdin.write("go infinite\n")
            time.sleep(0.2)
            began = time.monotonic()
            process.stdin.write(ending)
            process.stdin.close()
            assert process.wait(timeout=20) == 0
            assert time.monotonic() - began < 5


SLOW = """
import sys, time
from rookery.engines import uci, uci_process
from rookery.lc0.evaluator import Evaluator
begin, run, searches = uci.UciEngine.go, Evaluator.run, []

def go(engine, rest):
    searches.append(rest)
    begin(engine, rest)

def slow(evaluator, masks, values):
    if searches:
        time.sleep(30)
    return run(evaluator, masks, values)

uci.UciEngine.commands["go"], Evaluator.run = go, slow
uci_process.run(sys.argv[1])
"""


def test_a_pass_of_half_a_minute_keeps_nobody_waiting(network):
    command = [sys.executable, "-c", SLOW, network]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        process.stdin.write("isready\n")
        heard(process, "readyok")
        began = time.monotonic()
        for moves in ("e2e4", "e2e4 e7e5", "d2d4"):
            process.stdin.write(f"position startpos moves {moves}\ngo infinite\n")
            time.sleep(0.2)
            process.stdin.write("isready\nstop\n")
            heard(process, "readyok")
            board = chess.Board()
            for move in moves.split():
                board.push_uci(move)
            assert chess.Move.from_uci(heard(process, "bestmove").split()[1]) in board.legal_moves
        process.stdin.write("position startpos\ngo movetime 100\n")
        heard(process, "bestmove")
        process.stdin.write("ucinewgame\nisready\nquit\n")
        heard(process, "readyok")
        assert process.wait(timeout=20) == 0
        assert time.monotonic() - began < 20


def test_bytes_that_are_no_text_do_not_end_the_process(network):
    rng = random.Random(0)
    junk = b"".join(rng.randbytes(rng.randrange(1, 200)) + b"\n" for _ in range(300))
    process = subprocess.Popen([*ENGINE, "--network", network], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    out, _ = process.communicate(junk + b"isready\nposition startpos\ngo nodes 5\nisready\n", timeout=120)
    assert process.returncode == 0
    assert out.count(b"readyok") >= 2
    assert b"bestmove" in out


def test_an_engine_that_nobody_listens_to_or_talks_to_ends(network):
    with started("--network", network) as process:
        process.stdin.write("isready\n")
        heard(process, "readyok")
        process.stdout.close()
        process.stdin.write("go infinite\n")
        assert process.wait(timeout=20) == 0
    command = f"exec {shlex.join([*ENGINE, '--network', network])} <&-"
    assert subprocess.run(["/bin/sh", "-c", command], timeout=60).returncode == 0


# ---- matches -------------------------------------------------------------------------------------


def opening(number):
    """Two random moves of each side; each opening is used twice."""
    rng, board = random.Random(number // 2), chess.Board()
    for _ in range(4):
        board.push(rng.choice(list(board.legal_moves)))
    return board


def play_game(board, players):
    """Play a game by clocks; players are those of White and Black. An illegal move is an error of python-chess."""
    clocks = [CLOCK, CLOCK]
    while not board.is_game_over(claim_draw=True):
        side = 0 if board.turn else 1
        limit = chess.engine.Limit(
            white_clock=clocks[0], black_clock=clocks[1], white_inc=INCREMENT, black_inc=INCREMENT, nodes=NODES
        )
        began = time.monotonic()
        move = players[side].play(board, limit, game=id(board)).move
        clocks[side] -= time.monotonic() - began
        assert clocks[side] > 0, f"time is lost in {board.fen()}"
        clocks[side] += INCREMENT
        assert move in board.legal_moves
        board.push(move)
    return board.result(claim_draw=True)


def play_match(first, second):
    """Play games with colours changed; return the results of the first player."""
    results = Counter()
    for number in range(GAMES):
        result = play_game(opening(number), [first, second] if number % 2 == 0 else [second, first])
        flipped = {"1-0": "0-1", "0-1": "1-0"}.get(result, result) if number % 2 else result
        results[flipped] += 1
    print(f"of {GAMES} games: won {results['1-0']}, drawn {results['1/2-1/2']}, lost {results['0-1']}")
    return results


@pytest.mark.skipif(STOCKFISH is None, reason="needs stockfish")
def test_a_hundred_games_against_stockfish_have_no_mishap(network):
    with opened("--network", network) as ours, chess.engine.SimpleEngine.popen_uci(STOCKFISH) as theirs:
        ours.timeout = theirs.timeout = 60
        theirs.configure({"Skill Level": 0, "Threads": 1})
        assert sum(play_match(ours, theirs).values()) == GAMES


def test_a_hundred_games_against_itself_have_no_mishap(network):
    with opened("--network", network) as first, opened("--network", network) as second:
        assert sum(play_match(first, second).values()) == GAMES
