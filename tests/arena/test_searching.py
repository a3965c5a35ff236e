"""The adapter between searches and players: limits, clocks, seeds and stops."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest

from arena.scripted import turn_at
from rookery import load
from rookery.arena.players import make_player
from rookery.arena.searching import GreedyPlayer, SearchPlayer, seconds_for, winning_moves
from rookery.search.analysis import Analysis, Limits, Line, Watch

CALLS: list[dict] = []


def search(position, limits, watch=None, **settings):
    """Take the last legal move for the best, and note how it was called."""
    CALLS.append({"limits": limits, "watch": watch, "settings": settings, "ply": position.text().count("#") // 2})
    legal = [int(action) for action in position.legal()]
    lines = tuple(Line(action, action / 1000, moves=(action,)) for action in reversed(legal))
    found = Analysis(lines[0].action, lines[0].value, lines, nodes=len(legal))
    if watch and watch.report:
        watch.report(found)
    return found


@pytest.fixture
def module(monkeypatch):
    """A module that holds the search above."""
    made = ModuleType("a_search_for_tests")
    made.search = search
    monkeypatch.setitem(sys.modules, made.__name__, made)
    CALLS.clear()
    return made.__name__


@pytest.mark.parametrize(
    ("own", "given", "expected"),
    [
        (Limits(), {}, Limits(depth=4)),
        (Limits(depth=2), {}, Limits(depth=2)),
        (Limits(), {"seconds": 3.0}, Limits(seconds=3.0)),
        (Limits(seconds=1.0), {"seconds": 3.0}, Limits(seconds=1.0)),
        (Limits(seconds=5.0), {"seconds": 3.0}, Limits(seconds=3.0)),
        (Limits(nodes=7), {"seconds": 3.0}, Limits(nodes=7, seconds=3.0)),
        (Limits(depth=2), {"clock": (50.0, 1.0), "increment": 0.4}, Limits(depth=2, seconds=49.95 / 30 + 0.3)),
    ],
)
def test_limits_are_the_least_of_what_player_and_turn_say(own, given, expected, module):
    player = SearchPlayer(module, own, usual=Limits(depth=4))
    choice = player.choose(turn_at(load("domineering:rows=4,cols=4").start(), **given))
    found = CALLS[0]["limits"]
    assert (found.depth, found.nodes) == (expected.depth, expected.nodes)
    assert found.seconds == (None if expected.seconds is None else pytest.approx(expected.seconds))
    assert CALLS[0]["watch"].seconds == found.seconds
    assert choice.action == choice.analysis.action


def test_settings_seed_stop_and_report_reach_the_search(module):
    player = SearchPlayer(module, Limits(depth=1), Limits(), {"c": 3}, takes=("seed", "lines", "ply"))
    player.lines_wanted = 1000
    found = []
    player.report = found.append
    stop = np.zeros(1, np.int32)
    choice = player.choose(turn_at(load("domineering:rows=4,cols=4").start(), seed=77, stop=stop))
    assert CALLS[0]["settings"] == {"c": 3, "seed": 77, "lines": 12, "ply": 0}
    assert isinstance(CALLS[0]["watch"], Watch)
    assert CALLS[0]["watch"].stop is stop
    assert found == [choice.analysis]


def test_a_search_is_imported_when_it_is_first_asked():
    player = SearchPlayer("no_such_module", Limits(depth=1), Limits())
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        player.choose(turn_at(load("domineering:rows=4,cols=4").start()))


@pytest.mark.parametrize(("usual", "least"), [(Limits(nodes=400), Limits(nodes=1)), (Limits(depth=4), Limits(depth=1))])
def test_a_search_is_compiled_before_its_first_game_and_only_then(usual, least, module):
    game = load("domineering:rows=4,cols=4")
    player = SearchPlayer(module, Limits(seconds=9.0), usual, {"c": 3})
    player.new_game(game.start(), 0)
    player.new_game(game.start(), 1)
    assert [call["limits"] for call in CALLS] == [least]
    assert CALLS[0]["settings"] == {"c": 3}
    assert CALLS[0]["ply"] == 1  # the first position of some games is answered without a search


@pytest.mark.parametrize(("text", "looked_at"), [("./. h", []), ("./. v", [0])])
def test_a_game_that_ends_at_once_is_no_obstacle(text, looked_at, module):
    SearchPlayer(module, Limits(), Limits()).new_game(load("domineering:rows=2,cols=1").position(text), 0)
    assert [call["ply"] for call in CALLS] == looked_at


@pytest.mark.parametrize("increment", [0.0, 0.1, 5.0])
def test_a_minute_lasts_for_a_hundred_moves_that_end_a_little_late(increment):
    position, left = load("domineering:rows=4,cols=4").start(), 60.0
    for _ in range(100):
        spent = seconds_for(turn_at(position, clock=(left, 0.0), increment=increment), None)
        assert 0 < spent <= 0.4 * left
        left -= spent + 0.02
        assert left > 0
        left += increment


def test_a_clock_that_has_run_out_still_gets_an_answer():
    assert seconds_for(turn_at(load("domineering:rows=4,cols=4").start(), clock=(-3.0, 1.0)), None) == 0.001


def test_the_clock_is_that_of_the_seat_to_move():
    position = load("domineering:rows=4,cols=4").start()
    position.play(int(position.legal()[0]))
    assert seconds_for(turn_at(position, clock=(1.0, 60.05)), None) == pytest.approx(2.0)


# ---- greedy --------------------------------------------------------------------------------------


def test_greedy_wins_at_once_and_asks_nobody(module):
    game = load("gomoku:size=7")
    position = game.position("......./......./......./.oooo../.xxxx../o....../o.....x b - -")
    player = GreedyPlayer(module, Limits(depth=1), Limits())
    assert [position.move_text(action) for action in winning_moves(position)] == ["A3", "F3"]
    chosen = [player.choose(turn_at(position, seed=seed)).action for seed in range(40)]
    assert {position.move_text(action) for action in chosen} == {"A3", "F3"}
    assert chosen == [player.choose(turn_at(position, seed=seed)).action for seed in range(40)]
    assert CALLS == []


def test_a_move_that_ends_the_game_in_a_draw_is_no_win():
    position = load("chess").position("4k3/8/8/8/8/8/4p3/4K3 w - - 0 1")
    after = position.copy()
    after.play("e1e2")
    assert after.over
    assert winning_moves(position) == []


def test_greedy_plays_what_the_search_finds_where_nothing_wins(module):
    position = load("domineering:rows=4,cols=4").start()
    player = GreedyPlayer(module, Limits(depth=1), Limits(), {"random_ties": True}, ("seed",))
    assert winning_moves(position) == []
    assert player.choose(turn_at(position, seed=8)).action == position.legal()[-1]
    assert CALLS[0]["limits"] == Limits(depth=1)
    assert CALLS[0]["settings"] == {"random_ties": True, "seed": 8}


def test_greedy_is_made_by_its_name():
    player = make_player("greedy", load("pylos"))
    assert isinstance(player, GreedyPlayer)
    assert player.limits == Limits(depth=1)
