"""Values of a game and what its moves have cost."""

from __future__ import annotations

import time

import pytest

from rookery.web.session import GameSession, Plan
from rookery.web.thinking import Desk
from rookery.web.valuation import Judged, Valuation, grade_of

SPEC = "domineering:rows=6,cols=6"


def session_of(words):
    session = GameSession(Plan(SPEC, frozenset(), ""))
    for word in words:
        session.make(session.position.action(word))
    return session


def to_its_end():
    session = session_of([])
    while not session.position.over:
        session.make(int(session.position.legal()[0]))
    return session


def finish(valuation, desk, seconds=60.0):
    end = time.monotonic() + seconds
    while valuation.missing and not valuation.failure:
        assert time.monotonic() < end
        valuation.advance(desk)
        time.sleep(0.01)


def test_every_position_of_a_game_is_valued_and_the_last_by_the_rules():
    session, desk = to_its_end(), Desk(1)
    valuation = Valuation("alphabeta:depth=2", session)
    assert valuation.values()[-1] == session.position.payoff(0)
    assert valuation.missing == list(range(session.ply))
    finish(valuation, desk)
    desk.close()
    assert all(value is not None and -1 <= value <= 1 for value in valuation.values())
    assert valuation.judged[session.ply - 1].value == pytest.approx(session.position.payoff(0), abs=0.05)


def test_a_loss_is_what_the_mover_expected_less_and_its_own_choice_loses_nothing():
    session = session_of(["a1-a2", "c3-d3", "b1-b2"])
    valuation = Valuation("none", session)
    other = session.actions[0]
    for ply, value in enumerate((0.5, -0.2, 0.3, 0.05)):
        valuation.judged[ply] = Judged(value, -1)
    assert valuation.losses() == {0: pytest.approx(0.7), 1: pytest.approx(0.5), 2: pytest.approx(0.25)}
    assert valuation.grades() == {0: "blunder", 1: "mistake", 2: "inaccuracy"}
    assert valuation.grades(first=1) == {1: "mistake", 2: "inaccuracy"}
    valuation.judged[0] = Judged(0.5, other)
    assert valuation.losses()[0] == 0.0
    valuation.judged[0] = Judged(-0.9, -1)
    assert valuation.losses()[0] == 0.0
    del valuation.judged[1]
    assert set(valuation.losses()) == {2}


@pytest.mark.parametrize(
    ("loss", "grade"),
    [(0.0, ""), (0.19, ""), (0.2, "inaccuracy"), (0.4, "mistake"), (0.6, "blunder"), (2.0, "blunder")],
)
def test_losses_have_names(loss, grade):
    assert grade_of(loss) == grade


def test_a_player_that_fails_or_tells_no_values_ends_the_work_in_words():
    desk = Desk(1)
    for text in ("random", "alphabeta:depth=0"):
        valuation = Valuation(text, session_of(["a1-a2"]))
        finish(valuation, desk)
        assert valuation.failure
    desk.close()


def test_a_paused_valuation_goes_on_where_it_was():
    session, desk = to_its_end(), Desk(1)
    valuation = Valuation("alphabeta:depth=2", session)
    valuation.advance(desk)
    valuation.pause()
    finish(valuation, desk)
    desk.close()
    assert not valuation.missing
    assert not valuation.failure
