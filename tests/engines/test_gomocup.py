"""Our side of the Gomocup protocol: what is answered, what is refused, and when the process ends."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import threading
import time
import types
from contextlib import contextmanager
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.scripted import random_network
from engines.lateness import check_in_time
from rookery import load
from rookery.arena.gomocup import GomocupPlayer
from rookery.arena.matches import MatchSettings, play_match
from rookery.arena.player import Turn
from rookery.arena.players import SIMS, make_player
from rookery.engines.gomocup import GomocupEngine, run, serve
from rookery.engines.memory import FEWEST_SIMULATIONS, memory_used
from rookery.engines.pipes import heard
from rookery.errors import BadInput
from rookery.games.gomoku import Gomoku
from rookery.nets.configs import TowerConfig

ENGINE = [sys.executable, "-m", "rookery", "engine", "gomocup"]
NETWORK = "net:zoo:gomoku15,sims=800"


class Told(GomocupEngine):
    """An engine whose answers are kept."""

    def __init__(self, player="random", **more):
        self.answers: list[str] = []
        super().__init__(self.answers.append, player, **more)

    def ask(self, *lines):
        self.answers.clear()
        for line in lines:
            self.line(line)
        return list(self.answers)


def started(size=9, **more):
    engine = Told(**more)
    assert engine.ask(f"START {size}") == ["OK"]
    return engine


def stones(engine):
    return {(point % engine.board.size, point // engine.board.size): owner for point, owner in engine.board.stones}


def point_in(answer):
    col, row = answer.split(",")
    return int(col), int(row)


# ---- a game --------------------------------------------------------------------------------------


def test_a_game_goes_on_move_by_move():
    engine = started()
    first = point_in(engine.ask("BEGIN")[0])
    free = next((x, 0) for x in range(9) if (x, 0) != first)
    second = point_in(engine.ask(f"TURN {free[0]},{free[1]}")[0])
    assert stones(engine) == {first: 1, free: 2, second: 1}
    assert engine.board.plays_black is True


def test_the_board_is_seen_as_the_game_sees_it():
    engine = started(15, player="baseline:depth=2")
    moves = ["7,7", "8,8", "7,8", "7,9"]
    own = engine.ask("BOARD", *(f"{move},{2 - i % 2}" for i, move in enumerate(moves)), "DONE")
    game = load("gomoku")
    position = game.start()
    for move in moves:
        col, row = point_in(move)
        position.play(row * 15 + col)
    chosen = make_player("baseline:depth=2", game).choose(turn(position)).action
    assert own == [f"{chosen % 15},{chosen // 15}"]


def turn(position):
    return Turn(position, position.copy(), (), 0)


def test_it_plays_white_when_the_other_has_more_stones():
    engine = started()
    engine.ask("BOARD", "4,4,2", "DONE")
    assert engine.board.plays_black is False
    assert engine.ask("RESTART", "BOARD", "4,4,2", "3,3,1", "DONE")[0] == "OK"
    assert engine.board.plays_black is True


def test_it_takes_a_win_and_blocks_a_loss_on_boards_of_any_size():
    for size in (9, 20):
        engine = started(size, player="baseline:depth=2")
        four = [f"{x},3,1" for x in range(4)] + [f"{x},6,2" for x in (0, 2, 4, 6)]
        assert engine.ask("BOARD", *four, "DONE") == ["4,3"]
        three = [f"{x},3,2" for x in range(4)] + ["0,6,1", "2,6,1", "5,8,1"]
        assert engine.ask("BOARD", *three, "DONE") == ["4,3"]


def test_stones_can_be_taken_back():
    engine = started()
    move = engine.ask("TURN 0,0")[0]
    assert engine.ask(f"TAKEBACK {move}", "TAKEBACK 0,0") == ["OK", "OK"]
    assert stones(engine) == {}
    assert engine.ask("TAKEBACK 0,0")[0].startswith("ERROR there is no stone on 0,0")
    engine.ask("BEGIN")
    assert engine.board.plays_black is True


def test_a_stone_taken_back_from_the_middle_leaves_the_others():
    engine = started()
    engine.ask("PLAY 0,0", "PLAY 5,5")
    engine.ask("TAKEBACK 0,0")
    assert stones(engine) == {(5, 5): 1}
    assert engine.board.position(load("gomoku:size=9")).text().startswith("........./" * 3 + ".....x...")


def test_moves_behind_a_board_are_known_as_the_last_ones():
    engine = started()
    own = point_in(engine.ask("BOARD", "4,4,2", "3,3,1", "2,4,2", "DONE")[0])
    free = next((x, 0) for x in range(9) if (x, 0) != own)
    engine.ask(f"TURN {free[0]},{free[1]}")
    own_again = engine.board.stones.pop()  # back to where it was thought
    assert own_again[1] == 1
    last = engine.board.position(load("gomoku:size=9")).text().split()[3]
    assert last == ",".join("ABCDEFGHI"[col] + str(row + 1) for col, row in (own, free))


def test_of_a_board_no_last_move_is_known():
    engine = started()
    engine.ask("BOARD", "4,4,2", "3,3,1", "2,4,2", "DONE")
    engine.board.take(engine.board.stones[-1][0])
    assert engine.board.position(load("gomoku:size=9")).text().endswith(" w - -")


def test_the_manager_may_make_our_move():
    engine = started()
    assert engine.ask("PLAY 3,4") == ["3,4"]
    assert stones(engine) == {(3, 4): 1}


# ---- rules, time, memory -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mask", "rule"), [(0, "freestyle"), (1, "standard"), (4, "renju"), (8, "caro"), (3, "standard")]
)
def test_rules_are_told_by_a_mask(mask, rule):
    engine = started()
    assert engine.ask(f"INFO rule {mask}") == []
    assert engine.rule == rule
    assert len(engine.ask("BEGIN")) == 1


def test_an_unknown_rule_is_told_and_freestyle_played():
    engine = started()
    assert engine.ask("INFO rule 16") == ["MESSAGE rule 16 is not known; freestyle is played"]
    assert engine.rule == "freestyle"


def test_a_player_that_does_not_know_the_rule_says_so_and_makes_no_move():
    engine = started(player="baseline:depth=2")
    assert engine.ask("INFO rule 1")[0].startswith("MESSAGE player 'baseline:depth=2' does not fit")
    assert engine.ask("BEGIN")[0].startswith("ERROR player 'baseline:depth=2' does not fit")
    assert engine.ask("INFO rule 0") == []
    assert point_in(engine.ask("BEGIN")[0]) == (4, 4)


def test_time_is_the_least_of_the_turn_and_a_share_of_the_clock():
    engine = started()
    assert 25 < engine.seconds() < 30
    engine.ask("INFO timeout_turn 1000")
    assert 0.8 < engine.seconds() < 1
    engine.ask("INFO timeout_match 3000")
    assert engine.seconds() < 0.1
    engine.ask("INFO time_left 2147483647")
    assert 0.8 < engine.seconds() < 1
    engine.ask("INFO time_left 60000", "INFO timeout_turn 30000")
    assert 1.5 < engine.seconds() < 2
    engine.ask("INFO timeout_turn 0")
    assert engine.seconds() <= 0.01


@pytest.mark.parametrize("anew", ["START 9", "RECTSTART 9,9", "RESTART"])
def test_what_was_left_of_the_time_of_a_game_ends_with_it(anew):
    engine = started()
    engine.ask("INFO timeout_turn 1000", "INFO time_left 100")
    assert engine.seconds() < 0.01
    engine.ask(anew)
    assert 0.8 < engine.seconds() < 1
    engine.ask("INFO timeout_match 60000", "INFO time_left 100", anew)
    assert 0.8 < engine.seconds() < 1  # the whole of the match
    engine.ask("INFO timeout_match 3000", "INFO time_left 60000", anew)
    assert engine.seconds() < 0.1


def test_a_search_keeps_the_time_it_is_given():
    engine = started(15, player="mcts")
    engine.ask("INFO timeout_turn 300", "BEGIN")
    began = time.monotonic()
    engine.ask("TURN 0,0")
    assert time.monotonic() - began < 1.3  # a busy machine may be late


def most_nodes(engine):
    return next(iter(engine.players.values())).limits.nodes


def test_trees_stay_within_the_memory_that_is_allowed():
    engine = started(player="mcts")
    assert most_nodes(engine) is None
    engine.ask("INFO max_memory 4000000000")
    assert most_nodes(engine) > 100_000
    assert engine.ask("INFO max_memory 1000000")[0].startswith("MESSAGE max_memory of 0 MB is less than the ")
    assert most_nodes(engine) == FEWEST_SIMULATIONS  # fewer would save a few MB
    engine.ask("INFO max_memory 0")
    assert most_nodes(engine) is None
    engine.ask("INFO max_memory " + "9" * 18)
    assert most_nodes(engine) == SIMS.most  # no more than a player may have


def test_memory_that_is_told_before_the_game_counts():
    engine = Told(player="mcts")
    engine.ask("INFO max_memory 1000000", "START 9")
    assert most_nodes(engine) == FEWEST_SIMULATIONS


def test_memory_that_was_given_back_counts_as_free():
    before = memory_used()
    much = np.ones(200 << 20, np.uint8)
    assert memory_used() - before > 150 << 20
    del much
    assert memory_used() - before < 50 << 20


@pytest.mark.parametrize("player", ["advanced", "baseline:depth=2", "mcts"])
def test_a_limit_below_what_the_program_needs_is_told_whoever_plays(player):
    answers = Told(player=player).ask("INFO max_memory 50000000", "START 9")
    assert answers[0].startswith("MESSAGE max_memory of 47 MB is less than the ")
    assert answers[1:] == ["OK"]
    assert Told(player=player).ask("INFO max_memory 40000000000", "START 9") == ["OK"]


def test_simulations_that_a_player_names_stay():
    engine = started(player="mcts:sims=7")
    engine.ask("INFO max_memory 4000000000")
    assert most_nodes(engine) == 7


def test_simulations_that_a_player_names_are_fewer_where_memory_is_short_and_as_many_again_where_it_is_not():
    engine = started(player="mcts:sims=5000000")
    engine.ask("INFO max_memory 1000000")
    assert most_nodes(engine) == FEWEST_SIMULATIONS
    engine.ask("INFO max_memory 0")
    assert most_nodes(engine) == 5_000_000


@pytest.mark.parametrize("memory", [0, 4_000_000_000])
def test_no_player_is_made_again_in_the_time_of_a_move_because_of_its_memory(memory):
    engine = started(player="mcts")
    before = dict(engine.players)
    engine.ask(f"INFO max_memory {memory}", "INFO timeout_turn 100", "BEGIN")
    assert engine.players == before


def test_what_a_board_needs_is_compiled_before_time_counts(monkeypatch):
    read = []
    monkeypatch.setattr(Gomoku, "position", lambda game, text: read.append(text))
    started()
    assert read == ["........./" * 8 + "x........ w - A1"]


def test_the_time_of_a_move_counts_since_it_was_heard_but_not_before_the_last_answer():
    engine = started()
    engine.ask("INFO timeout_turn 1000")
    engine.line("INFO game_type 1", time.monotonic() - 0.5)
    assert engine.seconds() > 0.8  # START was answered later
    engine.said_at -= 10
    engine.line("INFO game_type 1", time.monotonic() - 0.5)
    assert 0.3 < engine.seconds() < 0.5


# ---- the opening ---------------------------------------------------------------------------------


def test_three_stones_open_a_game_of_swap2_and_the_other_may_take_white():
    engine = started(15, player="advanced:depth=1")
    laid = engine.ask("SWAP2BOARD", "DONE")[0].split()
    assert len(set(laid)) == 3
    engine.ask("TURN 0,0")
    owners = stones(engine)
    assert [owners[point_in(point)] for point in laid] == [1, 2, 1]
    assert engine.board.plays_black is True


def test_three_stones_are_answered_by_a_colour():
    engine = started(15, player="advanced:depth=1")
    answer = engine.ask("SWAP2BOARD", "7,7", "0,0", "7,8", "DONE")[0]
    assert answer == "SWAP"  # two black stones side by side
    assert stones(engine) == {(7, 7): 1, (0, 0): 2, (7, 8): 1}
    answer = engine.ask("START 15", "SWAP2BOARD", "0,0", "7,7", "14,14", "DONE")[1]
    assert stones(engine) == {(0, 0): 2, (7, 7): 1, (14, 14): 2, point_in(answer): 1}
    assert len(engine.ask("TURN 9,9")) == 1


def test_five_stones_are_answered_by_a_colour():
    engine = started(15, player="advanced:depth=1")
    answer = engine.ask("SWAP2BOARD", "0,0", "7,7", "14,14", "7,8", "0,14", "DONE")[0]
    assert answer != "SWAP"
    assert len(stones(engine)) == 6


def test_a_network_that_was_taught_no_opening_plays_one_and_goes_on():
    network = random_network("gomoku:size=9", "planes", config=TowerConfig(planes=3, rows=9, cols=9, width=4, blocks=1))
    engine = started(player=f"net:{network},sims=2")
    assert len(engine.ask("SWAP2BOARD", "DONE")[0].split()) == 3
    assert engine.ask("SWAP2BOARD", "4,4", "0,0", "4,5", "DONE") == ["SWAP"]
    assert point_in(engine.ask("SWAP2BOARD", "0,0", "4,4", "8,8", "DONE")[0]) not in {(0, 0), (4, 4), (8, 8)}


def test_an_opening_takes_no_more_time_than_a_move():
    engine = started(player="mcts")
    engine.ask("INFO timeout_turn 2000")
    began = time.monotonic()
    assert len(engine.ask("SWAP2BOARD", "DONE")[0].split()) == 3
    assert time.monotonic() - began < 3  # three thoughts took 5.6 s


@pytest.mark.parametrize("points", [["1,1"], ["1,1", "1,1", "2,2"], ["99,1", "1,1", "2,2"]])
def test_an_opening_of_wrong_stones_is_refused(points):
    assert started(player="advanced:depth=1").ask("SWAP2BOARD", *points, "DONE")[0].startswith("ERROR")


# ---- what is wrong -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (["BEGIN"], "ERROR no game is begun"),
        (["START"], "ERROR START"),
        (["START 4"], "ERROR START 4: the size must be a number in 5..20"),
        (["START 21"], "ERROR START 21: the size must be a number in 5..20"),
        (["START 99999999999999999999"], "ERROR START 99999999999999999999: the size must be a number in 5..20"),
        (["RECTSTART 9,10"], "ERROR RECTSTART 9,10: only square boards"),
        (["RECTSTART 20"], "ERROR RECTSTART 20: only square boards are played, as in RECTSTART 15,15"),
        (["START 9", "TURN 9,0"], "ERROR 9,0 is not on the board of 9 x 9"),
        (["START 9", "TURN 99999,3"], "ERROR the point is not on the board of 9 x 9: both are in 0..8"),
        (["START 9", "TURN here"], "ERROR 'here' should be a point X,Y, both in 0..8"),
        (["START 9", "PLAY 1,1", "TURN 1,1"], "ERROR there is a stone on 1,1 already"),
        (["START 9", "PLAY 1,1", "BEGIN"], "ERROR BEGIN: there are stones"),
        (["START 9", "BOARD", "1,1,4", "DONE"], "ERROR '1,1,4' should be"),
        (["START 9", "BOARD", "1,1,3", "1,1,2", "DONE"], "ERROR there is a stone on 1,1 already"),
        (["START 9", "BOARD", "1,1,3", "1,1,3", "DONE"], "ERROR there is a stone on 1,1 already"),
        (["START 9", "BOARD", "1,1,3", "DONE", "TURN 1,1"], "ERROR there is a stone on 1,1 already"),
        (["START 9", "BOARD", *(f"{x},0,2" for x in range(5)), "DONE"], "ERROR the game on this board is over"),
        (
            [
                "START 9",
                "BOARD",
                *(f"{x},0,1" for x in range(5)),
                *(f"{x},7,2" for x in (0, 1, 3, 4, 6)),
                "DONE",
            ],
            "ERROR the game on this board is over",
        ),
        (
            [
                "START 9",
                *(line for x in range(5) for line in (f"PLAY {x},0", f"PLAY {x},{2 + x % 2}")),
                "TURN 8,8",
            ],
            "ERROR the game on this board is over",
        ),
        (["DANCE"], "UNKNOWN DANCE"),
    ],
)
def test_what_cannot_be_done_is_answered_with_the_reason(lines, answer):
    assert Told().ask(*lines)[-1].startswith(answer)


def test_words_may_be_apart_by_any_blanks():
    engine = started()
    assert engine.ask("PLAY\t3,4") == ["3,4"]
    engine.ask("INFO\ttimeout_turn \t 1000")
    assert engine.infos["timeout_turn"] == 1000


def test_a_refused_board_leaves_the_one_before():
    engine = started()
    engine.ask("PLAY 1,1")
    assert engine.ask("BOARD", "2,2,1", "2,2,2", "DONE")[0].startswith("ERROR")
    assert stones(engine) == {(1, 1): 1}


def failing(*arguments):
    raise ArithmeticError("of a player")


@pytest.mark.parametrize("line", ["BEGIN", "TURN 1,1", "BOARD\n2,2,2\nDONE"])
def test_no_failure_of_a_player_ends_the_engine_or_changes_its_board(line, capsys):
    engine = started()
    next(iter(engine.players.values())).choose = failing
    assert engine.ask(*line.split("\n")) == ["ERROR ArithmeticError: of a player"]
    assert stones(engine) == {}
    assert engine.board.plays_black is None
    assert "Traceback" in capsys.readouterr().err


def test_a_start_that_is_refused_leaves_the_game_as_it_was():
    engine = started(player="baseline:depth=2")
    engine.ask("PLAY 1,1", "INFO time_left 5000")
    engine.player_text = "human"  # who is refused on a board of another size
    assert engine.ask("START 15")[0].startswith("ERROR")
    assert (engine.board.size, stones(engine), engine.infos) == (9, {(1, 1): 1}, {"time_left": 5000})


@pytest.mark.parametrize("command", ["START 15", "RESTART", "BEGIN", "TURN 0,0", "ABOUT", "BOARD"])
def test_a_command_in_the_midst_of_a_board_breaks_it_off(command):
    engine = started()
    answers = engine.ask("BOARD", "4,4,2", command)
    assert answers[0] == f"MESSAGE BOARD without DONE was broken off by {command.split()[0]}"
    assert len(answers) == (1 if command == "BOARD" else 2)
    assert (4, 4) not in stones(engine)


def test_facts_may_stand_in_the_midst_of_a_board():
    engine = started()
    assert len(engine.ask("BOARD", "4,4,2", "INFO timeout_turn 100", "DONE")) == 1
    assert stones(engine)[4, 4] == 2


# ---- stones out of the game ----------------------------------------------------------------------

WALLS = [f"{x},4,3" for x in range(4, 9)]  # a row that has won


@pytest.mark.parametrize("player", ["random", "baseline:depth=2", "baseline:depth=3", "advanced", "mcts:sims=200"])
def test_a_row_that_has_won_belongs_to_nobody_and_is_not_free(player):
    engine = started(player=player)
    engine.ask("INFO rule 2", "INFO timeout_turn 100")
    assert len(engine.ask("BOARD", *WALLS, "DONE")) == 1
    for _ in range(20):
        free = next((x, y) for y in range(9) for x in range(9) if (x, y) not in stones(engine) and y != 4)
        if engine.ask(f"TURN {free[0]},{free[1]}")[0].startswith("ERROR the game on this board is over"):
            break
    assert len(engine.board.walls) == 5
    assert not {(x, 4) for x in range(4, 9)} & set(stones(engine))


@pytest.mark.parametrize("player", ["baseline:depth=2", "advanced"])
def test_stones_out_of_the_game_end_a_row_as_the_edge_does(player):
    engine = started(player=player)
    own = [f"{x},4,1" for x in range(4)]
    threat = [f"{x},0,2" for x in range(1, 5)]
    assert engine.ask("BOARD", *own, *WALLS, *threat, "0,0,1", "8,8,2", "DONE") == ["5,0"]  # 4,4 would be a five


def test_a_board_without_a_free_point_is_drawn():
    engine = started(5)
    rows = [f"{x},{y},{3 if y == 2 else 1 + (x + y // 2) % 2}" for x in range(5) for y in range(5)]
    assert engine.ask("BOARD", *rows, "DONE") == ["ERROR the game on this board is over"]


# ---- facts ---------------------------------------------------------------------------------------


def test_facts_that_mean_nothing_pass_without_a_word():
    assert started().ask("INFO folder /tmp", "INFO evaluate 1,1", "INFO timeout_turn soon", "INFO", "") == []


def test_players_that_need_a_terminal_are_refused():
    assert Told(player="human").ask("START 9")[0].startswith("ERROR player 'human' needs a terminal")


WORDS = ["START", "RESTART", "RECTSTART", "BEGIN", "TURN", "PLAY", "TAKEBACK", "BOARD", "DONE", "SWAP2BOARD", "INFO",
         "INFO rule", "INFO timeout_turn", "ABOUT", ""]  # fmt: skip
POINTS = st.tuples(st.integers(-1, 10), st.integers(-1, 10)).map(lambda point: f"{point[0]},{point[1]}")
RESTS = st.one_of(
    POINTS, st.builds("{},{}".format, POINTS, st.integers(0, 4)), st.integers(-3, 9).map(str), st.text(max_size=8)
)
LINES = st.one_of(st.builds("{} {}".format, st.sampled_from(WORDS), RESTS), RESTS, st.sampled_from(WORDS))


FAILURE = re.compile(r"(ERROR|MESSAGE) \w+(Error|Exception): ")


@settings(max_examples=150, deadline=None)
@given(st.lists(LINES, max_size=30))
def test_no_line_breaks_the_engine(lines):
    engine = started(7)
    for line in lines:
        for answer in engine.ask(line):
            assert "\n" not in answer
            assert not FAILURE.match(answer)
    owners = [owner for _, owner in engine.board.stones]
    assert len({point for point, _ in engine.board.stones}) == len(owners)


# ---- the process ---------------------------------------------------------------------------------


def test_lines_that_were_asked_before_the_input_ended_are_answered():
    answers, left = [], []

    class Left(Exception):
        pass

    def leave():
        left.append(True)
        raise Left

    with pytest.raises(Left):
        serve(["START 9\r\n", "BEGIN\r\n"], answers.append, leave, "random", 0)
    assert answers[0] == "OK"
    assert len(answers) == 2
    assert left == [True]


def test_nothing_that_comes_behind_end_is_heard():
    answers, left = [], []

    def lines():
        yield "START 9"
        yield "END"
        yield "ABOUT"

    serve(lines(), answers.append, lambda: left.append(True), "random", 0)
    assert left
    assert not any(answer.startswith("name=") for answer in answers)


def test_end_is_obeyed_while_a_line_before_it_is_still_at_work(monkeypatch):
    left = threading.Event()
    monkeypatch.setattr(GomocupEngine, "line", lambda *line: left.wait(20))  # a thought that only leaving ends
    serve(["TURN 1,1", "END"], [].append, left.set, "random", 0)
    assert left.is_set()


def test_the_rest_of_a_line_that_is_too_long_is_dropped(monkeypatch):
    given = b"UNKNOWN " + b"x" * 5000 + b"\nABOUT\n" + b"y" * 1000 + b"\nSTART 9"
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(given)))
    assert [line[:8].strip() for line in heard(1000)] == ["UNKNOWN", "ABOUT", "yyyyyyyy", "START 9"]


@pytest.mark.slow
def test_the_process_answers_what_came_before_the_end_of_the_input():
    done = subprocess.run(ENGINE, input="ABOUT\n", capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.startswith('name="rookery", version="')


@pytest.mark.parametrize("seed", [2**63, -(2**63) - 1, 10**26])
def test_a_seed_beyond_64_bits_is_refused_before_anybody_waits(seed):
    with pytest.raises(BadInput, match="seed must be a whole number in"):
        run("random", seed)


def test_a_player_that_does_not_exist_is_refused_before_anybody_waits():
    with pytest.raises(BadInput, match="nobody"):
        run("nobody")


@contextmanager
def engine_process(*options):
    """Start an engine as a manager does; yield it, and how to tell it lines."""
    command = [*ENGINE, *options]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        assert process.stdin is not None
        try:
            yield process, lambda *lines: process.stdin.write("".join(f"{line}\r\n" for line in lines))
        finally:
            process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("milliseconds", [300, 600_000])  # a thought that would soon be over, and a long one
def test_end_is_obeyed_at_once_and_without_a_word_in_the_middle_of_a_thought(milliseconds):
    took = []
    for _ in range(3):  # a busy machine may be late once
        with engine_process("--player", "mcts") as (process, tell):
            tell("START 20", f"INFO timeout_turn {milliseconds}")
            assert process.stdout.readline() == "OK\n"
            tell("TURN 9,9")
            time.sleep(0.1)
            began = time.monotonic()
            tell("END")
            assert process.stdout.read() == ""
            assert process.wait(timeout=20) == 0
            took.append(time.monotonic() - began)
        if took[-1] < 0.1:
            return
    raise AssertionError(f"{took} s")


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [[], ["--player", f"{NETWORK},vcf=root"], ["--player", f"{NETWORK},vcf=leaves"]], ids=" ".join
)
def test_nothing_is_compiled_while_the_time_of_a_move_counts(tmp_path, monkeypatch, options):
    monkeypatch.setenv("ROOKERY_CACHE", str(tmp_path))  # nothing is compiled yet
    with engine_process(*options) as (process, tell):
        tell("INFO timeout_turn 100", "START 15")
        assert process.stdout.readline() == "OK\n"
        before = set(tmp_path.rglob("*"))
        for lines in (["BEGIN"], ["TURN 0,0"], ["BOARD", "7,7,2", "8,8,1", "7,8,2", "DONE"]):
            tell(*lines)
            point_in(process.stdout.readline())
        tell("SWAP2BOARD", "7,7", "8,8", "7,8", "DONE")
        assert process.stdout.readline() == "SWAP\n"
    assert len(before) > 100
    assert set(tmp_path.rglob("*")) == before


class Timed(GomocupPlayer):
    """An engine that notes how long it took for each move."""

    took: ClassVar[list[float]] = []

    def choose(self, turn):
        began = time.monotonic()
        choice = super().choose(turn)
        self.took.append(time.monotonic() - began)
        return choice


@pytest.mark.slow
def test_a_hundred_games_against_itself_have_no_mishap_and_no_move_is_late(monkeypatch):
    monkeypatch.setattr("rookery.arena.gomocup.GomocupPlayer", Timed)
    game, given, grace = load("gomoku"), 0.1, 1.0  # a process may have to wait for its turn on two busy cores
    command = f"{sys.executable} -m rookery engine gomocup --player advanced"
    text = f"gomocup:{command},time={given},grace={grace},start=120"
    match = play_match(game, lambda: make_player(text, game), lambda: make_player(text, game), MatchSettings(games=100))
    assert match.reasons == {"end by the rules": 100}
    assert len(Timed.took) > 1000
    check_in_time([seconds - given for seconds in Timed.took])
