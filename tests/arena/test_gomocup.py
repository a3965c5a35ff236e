"""Gomocup engines: what they are sent, how their answers are read, and the Swap2 opening."""

from __future__ import annotations

import numpy as np
import pytest

from arena.scripted import command, heard, play_out, turn_at
from rookery import load
from rookery.arena.player import PlayerFailed
from rookery.arena.players import make_player

SWAP2 = "gomoku:size=9,rule=standard,opening=swap2"


def good(game, *arguments, options=""):
    return make_player(f"gomocup:{command('gomocup_good', *arguments)},time=0.05{options}", game)


def without_infos(words):
    return [word for word in words if not word.startswith("INFO")]


def test_a_game_is_told_move_by_move_and_the_next_begins_anew(tmp_path):
    game, log = load("gomoku:size=7"), tmp_path / "log"
    players = [good(game, log), make_player("random", game)]
    for seed in (1, 2):
        position, _ = play_out(game.start(), players, seed=seed)
        assert position.over
    players[0].close()
    words = without_infos(heard(log))
    assert words[:3] == ["ABOUT", "START 7", "BEGIN"]
    assert words.count("START 7") == 2
    assert words.count("ABOUT") == 1
    assert {word.split()[0] for word in words} == {"ABOUT", "START", "BEGIN", "TURN", "END"}
    assert words[-1] == "END"


def test_a_board_that_does_not_follow_from_the_last_is_told_whole(tmp_path):
    game, log = load("gomoku:size=7"), tmp_path / "log"
    player = good(game, log)
    for first in ("D4", "C3"):  # each time one stone of the other colour is new, but the second time others are gone
        position = game.start()
        position.play(first)
        player.choose(turn_at(position, (game.start().action(first),), game.start()))
    player.close()
    assert without_infos(heard(log)) == ["ABOUT", "START 7", "TURN 3,3", "START 7", "BOARD", "2,2,2", "DONE", "END"]


def test_rules_time_and_memory_are_told_once_and_what_is_left_with_each_move(tmp_path):
    game, log = load("gomoku:size=7,rule=renju"), tmp_path / "log"
    player = good(game, log, options=",memory=3,info.surprise=1")
    start = game.start()
    player.new_game(start, 0)
    position = start.copy()
    moves: list[int] = []
    for left in (10.0, 9.5):
        action = player.choose(turn_at(position, tuple(moves), start, clock=(left, 7.0), seconds=0.01)).action
        for move in (action, int(position.legal()[-1])):
            position.play(move)
            moves.append(move)
    player.close()
    infos = [word.removeprefix("INFO ") for word in heard(log) if word.startswith("INFO")]
    assert infos == [
        "timeout_turn 50", "timeout_match 10000", "time_left 10000",
        "max_memory 3145728", "game_type 1", "rule 4", "surprise 1",
        "time_left 9500",
    ]  # fmt: skip


@pytest.mark.parametrize(("rule", "number"), [("freestyle", 0), ("standard", 1), ("renju", 4), ("caro", 8)])
def test_each_rule_has_its_number(rule, number, tmp_path):
    game, log = load(f"gomoku:size=7,rule={rule}"), tmp_path / "log"
    player = good(game, log)
    player.choose(turn_at(game.start()))
    player.close()
    assert f"INFO rule {number}" in heard(log)
    assert "INFO time_left 2147483647" in heard(log)
    assert "INFO timeout_match 0" in heard(log)


def test_a_game_that_does_not_follow_from_what_the_engine_knows_is_told_whole(tmp_path):
    game, log = load("gomoku:size=7"), tmp_path / "log"
    player = good(game, log)
    start = game.start()
    player.new_game(start, 1)
    position, moves = start.copy(), []
    for move in ("D4", "C3", "E5", "F6", "A1"):
        moves.append(position.action(move))
        position.play(move)
    player.choose(turn_at(position, tuple(moves), start))
    other = game.position("......./......./......./...x.../......./......./....... w - D4")
    player.choose(turn_at(other))
    player.close()
    assert without_infos(heard(log)) == [
        "ABOUT", "START 7",
        "BOARD", "3,3,2", "2,2,1", "4,4,2", "5,5,1", "0,0,2", "DONE",
        "START 7", "BOARD", "3,3,2", "DONE",
        "END",
    ]  # fmt: skip


def test_messages_suggestions_and_unknown_infos_are_no_answers():
    game = load("gomoku:size=7")
    player = good(game, "--chatty", "--suggest", options=",info.surprise=1")
    position, _ = play_out(game.start(), [player, make_player("random", game)])
    player.close()
    assert position.over
    assert player.title == "Good Stone"


def test_an_engine_of_swap2_lays_three_stones_and_takes_the_colour_it_wants(tmp_path):
    game, log = load(SWAP2), tmp_path / "log"
    first = good(game, log, "--swap2", "4,4 5,5 3,4", "--swap2", "SWAP")
    second = good(game, "--swap2", "0,8 8,0")
    position, moves = play_out(game.start(), [first, second], plies=9)
    start, texts = game.start(), []
    for move in moves:
        texts.append(start.move_text(move))
        start.play(move)
    first.close()
    second.close()
    assert texts[:7] == ["E5", "F6", "D5", "more", "A9", "I1", "black"]
    assert position.state["black_seat"] == 0
    words = without_infos(heard(log))
    assert words[:4] == ["ABOUT", "START 9", "SWAP2BOARD", "DONE"]
    assert words[4:11] == ["SWAP2BOARD", "4,4", "5,5", "3,4", "0,8", "8,0", "DONE"]
    assert words[11] == "BOARD"
    assert words[-2] == "DONE"


@pytest.mark.parametrize(
    ("answer", "texts"),
    [("SWAP", ["black"]), ("7,7", ["white", "H8"]), ("7,7 8,8", ["more", "H8", "I9"])],
)
def test_each_answer_to_three_stones_is_a_choice_with_its_stones(answer, texts):
    game = load(SWAP2)
    position, moves = game.start(), []
    for move in ("E5", "F6", "D5"):
        moves.append(position.action(move))
        position.play(move)
    player = good(game, "--swap2", answer)
    start = game.start()
    player.new_game(start, 1)
    for text in texts:
        action = player.choose(turn_at(position, tuple(moves), start)).action
        assert position.move_text(action) == text
        position.play(action)
        moves.append(action)
    player.close()


@pytest.mark.parametrize("answer", ["4,4", "4,4 5,5 4,4", "4,4 5,5 99,1", "SWAP", "UNKNOWN what is that", "4 4 4"])
def test_a_wrong_answer_in_the_opening_gives_the_game_up(answer):
    game = load(SWAP2)
    player = good(game, "--swap2", answer)
    with pytest.raises(PlayerFailed, match=f"Good Stone: it answered '{answer}'"):
        player.choose(turn_at(game.start()))
    assert player.child is None


def test_a_game_cannot_begin_between_the_stones_of_an_opening():
    game = load(SWAP2)
    position = game.start()
    position.play("E5")
    player = good(game)
    with pytest.raises(PlayerFailed, match="the protocol has no word for an opening of which some stones lie already"):
        player.choose(turn_at(position))
    player.close()


def test_an_engine_that_is_to_stop_is_ended_since_the_protocol_has_no_word_for_it(tmp_path):
    game = load("gomoku:size=7")
    text = f"gomocup:{command('bad', 'gomocup', 0, 'hang', tmp_path / 'pids')},time=60"
    player = make_player(text, game)
    with pytest.raises(PlayerFailed, match="it was to stop at once"):
        player.choose(turn_at(game.start(), stop=np.ones(1, np.int32)))
    assert player.child is None
