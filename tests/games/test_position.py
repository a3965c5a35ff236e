"""Positions in the hands of a person: wrong arguments are named, hidden things stay hidden, pickles come back."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from rookery import BadInput, load
from support import CONNECT_FOUR, run_python


@pytest.mark.parametrize("move", [3.7, np.float32(2.5), True, None, [1], b"1a1", 400, -1])
def test_what_is_no_action_is_refused(move):
    with pytest.raises(BadInput, match=r"an action of pylos must be a whole number in 0..302, not "):
        load("pylos").start().play(move)


def test_numbers_of_numpy_are_actions():
    position = load("pylos").start()
    position.play(np.int32(3))
    assert position.text().startswith("...w/")


@pytest.mark.parametrize("seat", [2, -1, 0.5, "0", None, True])
def test_what_is_no_seat_is_refused(seat):
    position = load("pylos").start()
    for ask in (position.payoff, position.seen_by):
        with pytest.raises(BadInput, match=r"a seat of pylos must be a whole number in 0..1, not "):
            ask(seat)


@pytest.mark.parametrize("seed", [2**63, 1.5, "x", None])
def test_what_is_no_seed_is_refused(seed):
    with pytest.raises(BadInput, match="seed must be a whole number in "):
        load("pylos").start(seed)


def test_a_position_is_read_from_text_alone():
    with pytest.raises(BadInput, match="is read from text, not from None"):
        load("pylos").position(None)


def test_an_unknown_observation_is_refused():
    with pytest.raises(BadInput, match="pylos has no observation 'planes'; it has basic, rich"):
        load("pylos").start().observe("planes")


def test_a_move_that_cannot_be_read_is_told_with_the_position():
    position = load("pylos").start()
    with pytest.raises(BadInput, match=r"'foo' is no cell of the pyramid.* \(in '\.\.\.\."):
        position.play("foo")


def test_a_seat_is_shown_nothing_of_the_other_hands():
    position = load("texas42").start(5)
    seen = position.seen_by(2)
    assert seen.states.tobytes() != position.states.tobytes()
    assert seen.text().count("?") == 3


@pytest.mark.parametrize("spec", ["pylos:removal=greedy", CONNECT_FOUR])
def test_a_pickled_position_comes_back_in_another_process(spec, tmp_path):
    position = load(spec).start()
    position.play(3)
    path = tmp_path / "position"
    path.write_bytes(pickle.dumps(position))
    code = "import pickle, sys; p = pickle.load(open(sys.argv[1], 'rb')); print(p.text(), p.key, p.game.spec)"
    assert run_python(code, str(path)).strip() == f"{position.text()} {position.key} {position.game.spec}"
