"""Our side of the Gomocup protocol: what is answered, what is refused, and when the process ends."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.scripted import random_network
from rookery import load
from rookery.arena.matches import MatchSettings, play_match
from rookery.arena.player import Turn
from rookery.arena.players import SIMS, make_player
from rookery.engines.gomocup import GomocupEngine, serve
from rookery.errors import BadInput
from rookery.games.gomoku import Gomoku
from rookery.nets.configs import TowerConfig

ENGINE = [sys.executable, "-m", "rookery", "engine", "gomocup"]


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


def test_a_player_that_does_not_know_the_rule_says_so():
    engine = started(player="baseline:depth=2")
    assert engine.ask("INFO rule 1")[0].startswith("ERROR player 'baseline:depth=2' does not fit")


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
    assert engine.ask("INFO max_memory 1000000")[0].startswith("MESSAGE 0 MB are too little")
    assert most_nodes(engine) == 64
    engine.ask("INFO max_memory 0")
    assert most_nodes(engine) is None
    engine.ask("INFO max_memory " + "9" * 18)
    assert most_nodes(engine) == SIMS.most  # no more than a player may have


def test_memory_that_is_told_before_the_game_counts():
    engine = Told(player="mcts")
    engine.ask("INFO max_memory 1000000", "START 9")
    assert most_nodes(engine) == 64


def test_simulations_that_a_player_names_stay():
    engine = started(player="mcts:sims=7")
    engine.ask("INFO max_memory 4000000000")
    assert most_nodes(engine) == 7


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
        (["START 4"], "ERROR option size of gomoku"),
        (["START 21"], "ERROR option size of gomoku"),
        (["RECTSTART 9,10"], "ERROR RECTSTART 9,10: only square boards"),
        (["START 9", "TURN 9,0"], "ERROR 9,0 is not on the board of 9 x 9"),
        (["START 9", "TURN here"], "ERROR 'here' should be a point X,Y"),
        (["START 9", "PLAY 1,1", "TURN 1,1"], "ERROR there is a stone on 1,1 already"),
        (["START 9", "PLAY 1,1", "BEGIN"], "ERROR BEGIN: there are stones"),
        (["START 9", "BOARD", "1,1,3", "DONE"], "ERROR '1,1,3' should be"),
        (["START 9", "BOARD", *(f"{x},0,2" for x in range(5)), "DONE"], "ERROR the game on this board is over"),
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


@settings(max_examples=150, deadline=None)
@given(st.lists(LINES, max_size=30))
def test_no_line_breaks_the_engine(lines):
    engine = started(7)
    for line in lines:
        for answer in engine.ask(line):
            assert "\n" not in answer
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


def test_what_was_asked_before_end_is_answered():
    answers, left = [], []
    serve(["ABOUT\r\n", "DANCE\r\n", "END\r\n", "ABOUT\r\n"], answers.append, lambda: left.append(True), "random", 0)
    assert [answer.split('"')[0] for answer in answers] == ["name=", "UNKNOWN DANCE"]
    assert left


@pytest.mark.slow
def test_the_process_tells_who_it_is_before_it_ends():
    done = subprocess.run(ENGINE, input="ABOUT\nEND\n", capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.startswith('name="rookery", version="')


def test_a_player_that_does_not_exist_is_refused_before_anybody_waits():
    from rookery.engines.gomocup import run

    with pytest.raises(BadInput, match="nobody"):
        run("nobody")


@pytest.mark.slow
def test_end_is_obeyed_at_once_in_the_middle_of_a_thought():
    command = [*ENGINE, "--player", "mcts"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("START 20\nINFO timeout_turn 600000\n")
        assert process.stdout.readline() == "OK\n"
        process.stdin.write("TURN 9,9\n")
        time.sleep(1.0)
        assert process.poll() is None
        began = time.monotonic()
        process.stdin.write("END\n")
        assert process.wait(timeout=20) == 0
        assert time.monotonic() - began < 5
        assert process.stdout.read() == ""


@pytest.mark.slow
def test_a_hundred_games_against_itself_have_no_mishap():
    game = load("gomoku")
    text = f"gomocup:{sys.executable} -m rookery engine gomocup --player advanced,time=0.05,start=120"
    match = play_match(game, lambda: make_player(text, game), lambda: make_player(text, game), MatchSettings(games=100))
    assert match.reasons == {"end by the rules": 100}
