"""Engines that hang, die, flood or answer nonsense: the game is given up in time, and nothing is left of them."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from arena.scripted import command, ends_soon, is_there, play_out, turn_at
from rookery import BadInput, load
from rookery.arena.clocks import TimeControl
from rookery.arena.matches import MatchSettings, play_match
from rookery.arena.player import Player, PlayerFailed
from rookery.arena.players import make_player

pytestmark = pytest.mark.faults

GAMES = {"uci": "chess", "gomocup": "gomoku:size=9"}
TIMES = "time=0.1,grace=0.5,start=3"
LATEST = 20.0  # seconds; the limits add up to 4, the rest is for a busy machine

AT_A_MOVE = {
    "hang": "no answer within 0.6 s",
    "die": "it has ended with exit status 3",
    "crash": "it has ended with signal 11",
    "flood": "it floods: more than 65,536 bytes without the end of a line",
    "flood_lines": "it floods|no answer within 0.6 s",
    "flood_blanks": "it floods|no answer within 0.6 s",
    "flood_errors": "no answer within 0.6 s",
    "blank": "no answer within 0.6 s",
    "nonsense": "it answered 'bestmove like a horse'|it answered 'my move is a secret'",
    "no_move": r"it answered 'bestmove \(none\)'|it answered 'ERROR no move comes to mind'",
    "illegal": "it answered 'bestmove e1e8', move .* is not legal|it answered '0,0', move 'A1' is not legal",
    "outside": "it answered 'bestmove e2e9'|it answered '99,3', which is not on the board of 9 x 9",
    "close_output": "it has closed its input or output",
}
AT_THE_START = {name: AT_A_MOVE[name] for name in ("die", "crash", "flood", "close_output")} | {
    "hang": "no answer within 1 s",
    "flood_lines": "it floods|no answer within 1 s",
}


def players_of(protocol: str, when: object, how: str, pids: Path, times: str = TIMES) -> list[Player]:
    """Make a bad engine and an opponent that is none."""
    game = load(GAMES[protocol])
    bad = make_player(f"{protocol}:{command('bad', protocol, when, how, pids)},{times}", game)
    return [bad, make_player("random", game)]


def processes(pids: Path) -> list[tuple[int, int]]:
    """Return the numbers of the engines that were started, each with that of its child."""
    return [(int(line.split()[0]), int(line.split()[1])) for line in pids.read_text().splitlines()]


def all_gone(pids: Path) -> bool:
    """Tell whether no engine is left, not even as a zombie, nor the child of one."""
    return all(not is_there(engine) and ends_soon(child) for engine, child in processes(pids))


@pytest.mark.parametrize("protocol", GAMES)
@pytest.mark.parametrize("how", AT_A_MOVE)
def test_an_engine_that_goes_wrong_at_a_move_gives_the_game_up_and_is_gone(protocol, how, tmp_path):
    pids = tmp_path / "pids"
    players = players_of(protocol, 1, how, pids)
    start, begun = players[0].game.start(), time.monotonic()
    with pytest.raises(PlayerFailed, match=AT_A_MOVE[how]) as failure:
        play_out(start, players)
    assert time.monotonic() - begun < LATEST
    assert all_gone(pids)
    message = str(failure.value)
    assert message.startswith("Bad Fish: " if protocol == "uci" else "Bad Stone: ")
    assert "; expected 'bestmove' to 'go" in message or "; expected an answer to 'TURN" in message
    assert f"bad.py {protocol} 1 {how}" in message
    assert "; last lines: " in message
    assert how != "die" or "standard error: out of luck" in message
    assert len(message) < 5000


@pytest.mark.parametrize("protocol", GAMES)
@pytest.mark.parametrize(
    ("how", "time_control"), [("die", None), ("nonsense", TimeControl(60)), ("hang", TimeControl(60))]
)
def test_a_match_goes_on_after_each_game_that_an_engine_gives_up(protocol, how, time_control, tmp_path):
    game = load(GAMES[protocol])
    bad = f"{protocol}:{command('bad', protocol, 0, how, tmp_path / 'pids')},{TIMES}"
    settings = MatchSettings(games=4, threads=2, opening="random:0", time_control=time_control)
    match = play_match(game, lambda: make_player(bad, game), lambda: make_player("random", game), settings)
    assert (match.score.losses, len(match.records)) == (4, 4)
    for record in match.records.values():
        assert re.search(AT_A_MOVE[how], record.reason)
        assert record.reason.startswith(bad)
    assert len(processes(tmp_path / "pids")) == 4
    assert all_gone(tmp_path / "pids")


def test_an_illegal_move_is_told_as_the_engine_wrote_it(tmp_path):
    bad, _ = players_of("uci", 1, "stop_reading", tmp_path / "pids")
    position = load("chess").position("4k3/8/8/8/8/P7/P7/4K3 w - - 0 1")  # the target is an own man, as in castling
    with pytest.raises(PlayerFailed, match="it answered 'bestmove a2a3', move 'a2a3' is not legal"):
        bad.choose(turn_at(position))
    bad.close()


@pytest.mark.parametrize("protocol", GAMES)
@pytest.mark.parametrize("how", AT_THE_START)
def test_an_engine_that_goes_wrong_at_the_start_loses_with_its_first_move_only(protocol, how, tmp_path):
    pids = tmp_path / "pids"
    players = players_of(protocol, "start", how, pids, "time=0.1,grace=0.5,start=1")
    position = players[0].game.start()
    players[0].new_game(position, 0)
    assert all_gone(pids)
    with pytest.raises(PlayerFailed, match=AT_THE_START[how]):
        players[0].choose(turn_at(position))
    assert len(processes(pids)) == 1  # it is not tried again on the clock


@pytest.mark.parametrize("protocol", GAMES)
def test_the_next_game_begins_with_a_fresh_process(protocol, tmp_path):
    pids = tmp_path / "pids"
    players = players_of(protocol, 1, "die", pids)
    for games in (1, 2, 3):
        with pytest.raises(PlayerFailed, match="exit status 3"):
            play_out(players[0].game.start(), players)
        assert len(processes(pids)) == games
    assert all_gone(pids)


@pytest.mark.parametrize("protocol", GAMES)
@pytest.mark.parametrize("how", ["ignore_the_end", "stop_reading"])
def test_an_engine_that_ignores_its_end_is_killed_with_its_children(protocol, how, tmp_path):
    pids = tmp_path / "pids"
    players = players_of(protocol, 0, how, pids)
    play_out(players[0].game.start(), players, plies=1)
    [(engine, child)] = processes(pids)
    assert is_there(engine)
    assert is_there(child)
    begun = time.monotonic()
    players[0].close()
    assert time.monotonic() - begun < LATEST
    assert all_gone(pids)
    players[0].close()


def test_a_forgotten_engine_does_not_outlive_its_player(tmp_path):
    pids = tmp_path / "pids"
    players = players_of("uci", 7, "hang", pids)
    play_out(players[0].game.start(), players, plies=1)
    players.clear()
    assert all_gone(pids)


def test_an_engine_that_stops_reading_is_found_out_at_the_next_move(tmp_path):
    players = players_of("uci", 0, "stop_reading", tmp_path / "pids", "time=0.1,grace=0.5,start=1")
    with pytest.raises(PlayerFailed, match="no answer within 1 s; expected 'readyok' to 'isready'"):
        play_out(players[0].game.start(), players)
    assert all_gone(tmp_path / "pids")


def test_a_file_that_is_no_program_is_told(tmp_path):
    program = tmp_path / "engine"
    program.write_text("no program")
    program.chmod(0o755)
    player = make_player(f"uci:{program}", load("chess"))
    position = load("chess").start()
    player.new_game(position, 0)
    with pytest.raises(PlayerFailed, match="it cannot be started: Exec format error"):
        player.choose(turn_at(position))


def test_a_missing_engine_is_refused_when_the_player_is_made(tmp_path):
    plain = tmp_path / "plain"
    plain.write_text("")
    for missing in ("no-such-engine", str(tmp_path / "nothing"), str(plain)):
        with pytest.raises(BadInput, match=f"the command '{missing}' is not there"):
            make_player(f"uci:{missing} --fast,time=1", load("chess"))


class Interrupting:
    """Somebody who presses Ctrl-C as soon as a player looks whether it is to stop."""

    def __getitem__(self, number):
        raise KeyboardInterrupt


@pytest.mark.parametrize("protocol", GAMES)
def test_an_interrupt_ends_an_engine_that_owes_an_answer(protocol, tmp_path):
    pids = tmp_path / "pids"
    players = players_of(protocol, 0, "hang", pids, "time=60")
    position = players[0].game.start()
    players[0].new_game(position, 0)
    with pytest.raises(KeyboardInterrupt):
        players[0].choose(turn_at(position, stop=Interrupting()))
    assert all_gone(pids)


def test_several_engines_do_not_keep_each_other_alive(tmp_path):
    first = players_of("gomocup", 7, "hang", tmp_path / "first")
    second = players_of("gomocup", 7, "hang", tmp_path / "second")
    for players in (first, second):
        play_out(players[0].game.start(), players, plies=1)
    for players, pids in ((first, "first"), (second, "second")):
        players[0].close()
        assert all_gone(tmp_path / pids)
