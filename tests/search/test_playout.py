"""Random games: the same for any number of threads, and the same as played by hand."""

from __future__ import annotations

import time

import numpy as np
import pytest

from rookery import BadInput, load
from rookery.games.rng import random_below
from rookery.search.playout import RandomGames, play_games, random_games
from rookery.search.threads import new_stop
from support import SPECS


@pytest.mark.parametrize("spec", SPECS)
def test_games_are_those_played_move_by_move(spec):
    game = load(spec)
    done = random_games(game, 12, seed=9)
    for g in range(12):
        position, plies = game.start(g), 0
        while not position.over:
            legal = position.legal()
            position.play(int(legal[random_below(len(legal), 9, g, plies)]))
            plies += 1
        assert (int(done.keys[g]), int(done.plies[g])) == (position.key, plies)
        assert (done.payoffs[g] == np.float32([position.payoff(seat) for seat in range(game.seats)])).all()


@pytest.mark.parametrize("spec", SPECS)
def test_games_do_not_depend_on_threads_or_slices(spec):
    game = load(spec)
    one = random_games(game, 500, seed=3)
    for threads, slice_games in ((2, 64), (5, 7)):
        many = random_games(game, 500, 3, threads, slice_games)
        assert (one.keys == many.keys).all()
        assert (one.payoffs == many.payoffs).all()
        assert (one.plies == many.plies).all()


def test_other_threads_run_while_games_are_played():
    import threading

    game = load("domineering")
    random_games(game, 1)
    ticks, stop = [], threading.Event()

    def tick() -> None:
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    room = RandomGames.room_for(40_000, 2)
    state, moves = game.empty_states()[0], np.empty(game.most_legal, np.int32)
    begin = time.perf_counter()
    play_games(state, moves, 1, 0, 0, 1, new_stop(), room.keys, room.payoffs, room.plies)
    end = time.perf_counter()
    stop.set()
    thread.join()
    assert sum(begin < t < end for t in ticks) > 5  # one call of compiled code; the other thread went on


def test_a_set_stop_ends_the_games_after_the_first():
    game, room, stop = load("pylos"), RandomGames.room_for(100, 2), new_stop()
    stop[0] = 1
    state, moves = game.empty_states()[0], np.empty(game.most_legal, np.int32)
    play_games(state, moves, 1, 0, 0, 1, stop, room.keys, room.payoffs, room.plies)
    assert room.plies[0] > 0
    assert (room.plies[1:] == 0).all()


def test_wrong_numbers_are_refused():
    with pytest.raises(BadInput, match="games must be a whole number in 0"):
        random_games(load("pylos"), -1)
    with pytest.raises(BadInput, match="threads must be a whole number in 1"):
        random_games(load("pylos"), 1, threads=0)
