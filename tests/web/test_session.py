"""A game of a visitor, whatever the browser sends."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rookery.errors import BadInput
from rookery.games.library import load
from rookery.web import session as module
from rookery.web.session import LONGEST_LOOK, NOBODY, GameSession, Plan, session_of

SPECS = ["gomoku:size=9", "domineering:rows=4,cols=4", "pylos", "chess", "texas42:auction=forced"]
NONSENSE: list[Any] = [None, "", "40", -1, 10**9, 1.0, True, False, [], {}, {"action": 3}, float("nan")]


def begun(spec: str, *people: int, **more: Any) -> GameSession:
    return GameSession(Plan(spec, frozenset(people), "random", 3, **more))


def check_legal(session: GameSession) -> None:
    """Play the game again from its first position, by the rules alone."""
    position = session.positions[0].copy()
    assert len(session.positions) == len(session.actions) + 1 == len(session.texts) + 1
    for number, action in enumerate(session.actions):
        assert position.text() == session.positions[number].text()
        position.play(action)  # refuses what is illegal
    assert position.text() == session.position.text()


@pytest.mark.parametrize("spec", SPECS)
def test_random_and_repeated_requests_leave_a_legal_game(spec):
    rng = np.random.default_rng(7)
    session = begun(spec, 0)
    for _ in range(150):
        before = len(session.actions)
        action: Any = NONSENSE[rng.integers(len(NONSENSE))]
        if rng.random() < 0.5:
            action = int(rng.integers(session.game.actions))
        elif rng.random() < 0.5 and not session.over:
            action = int(rng.choice(session.position.legal()))
        ply: Any = session.ply if rng.random() < 0.7 else NONSENSE[rng.integers(len(NONSENSE))]
        kind = rng.integers(12)
        if kind < 6:
            made = session.play(action, ply)
            assert made == (len(session.actions) == before + 1)
            if made:
                assert session.positions[-2].mover == 0
                assert not session.play(action, ply)  # the same event again
        elif kind < 10:
            session.answer(action, session.ply)
        elif kind == 10:
            session.undo()
        else:
            session.resign()
    check_legal(session)


def test_a_visitor_cannot_move_for_the_opponent():
    session = begun("gomoku:size=9", 1)
    assert not session.persons_turn
    assert not session.play(40, 0)
    assert session.answer(40, 0)
    assert not session.answer(41, 1)
    assert session.play(41, 1)


def test_an_answer_to_an_older_position_is_refused():
    session = begun("gomoku:size=9", 0)
    session.play(40, 0)
    session.undo()
    session.play(41, 0)
    assert not session.answer(30, 0)
    assert session.answer(30, 1)


def test_undo_returns_to_the_visitors_last_decision():
    session = begun("gomoku:size=9", 0)
    assert not session.undo()
    session.play(40, 0)
    session.answer(41, 1)
    session.play(42, 2)
    assert session.undo()
    assert session.actions == [40, 41]
    assert session.undo()
    assert session.actions == []
    check_legal(session)


def test_outside_practice_nothing_is_taken_back_once_others_have_moved():
    session = begun("gomoku:size=9", 0, practice=False)
    session.play(40, 0)
    assert session.undo()  # nobody has answered yet
    session.play(40, 0)
    session.answer(41, 1)
    assert not session.undo()


def test_a_resigned_game_goes_on_only_after_undo():
    session = begun("gomoku:size=9", 0)
    session.play(40, 0)
    session.answer(41, 1)
    assert session.resign()
    assert not session.resign()
    assert not session.play(42, 2)
    assert session.status() == "Black resigned."
    assert session.undo()
    assert session.play(42, 2)


def test_a_hand_of_texas_42_shows_no_hidden_tiles_until_it_is_over():
    session = begun("texas42", 0)
    while not session.over:
        scene = session.scene()
        assert [tiles[0] == 28 for tiles in scene.position.state["tiles"]] == [False, True, True, True]
        assert scene.position.text() == session.position.seen_by(0).text()
        session.make(int(session.position.legal()[0]))
    assert session.scene().position.text() == session.position.text()


@pytest.mark.parametrize("spec", SPECS)
def test_a_saved_game_is_the_same_game(spec):
    session = begun(spec, 0, 1)
    for _ in range(6):
        session.make(int(session.position.legal()[-1]))
    session.resign()
    again = session_of(json.loads(json.dumps(session.to_json())))
    assert again.position.text() == session.position.text()
    assert again.texts == session.texts
    assert again.status() == session.status()
    assert again.plan == session.plan


@pytest.mark.parametrize("content", [None, {}, [], "text", {"format": 1}, {"format": 99}, {"format": 1, "game": "no"}])
def test_what_is_no_saved_game_is_refused(content):
    with pytest.raises(BadInput):
        session_of(content)


def test_a_saved_game_with_an_illegal_move_is_refused():
    content = begun("gomoku:size=9", 0).to_json() | {"actions": [40, 40]}
    with pytest.raises(BadInput, match="40"):
        session_of(content)


def test_a_seat_that_does_not_exist_is_refused():
    with pytest.raises(BadInput, match=r"seats 0\.\.1, not 2"):
        begun("gomoku:size=9", 2)


def test_moves_of_chess_are_written_in_san():
    session = begun("chess", 0, 1)
    for move in ("e2e4", "e7e5", "g1f3"):
        session.make(session.position.action(move))
    assert session.texts == ["e4", "e5", "Nf3"]


def test_the_result_is_told_from_the_visitors_side():
    game = load("gomoku:size=9")
    won = [game.start().action(move) for move in ["A1", "B9", "A2", "C9", "A3", "D9", "A4", "E9", "A5"]]
    assert GameSession(Plan(game.spec, frozenset([0]), "random"), won).status() == "Black won. You won."
    assert GameSession(Plan(game.spec, frozenset([1]), "random"), won).status() == "Black won. You lost."
    assert GameSession(Plan(game.spec, frozenset([0, 1]), "random"), won).status() == "Black won."


def test_the_clock_stands_while_nobody_looks_and_is_kept(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    session = begun("gomoku:size=9", 0)
    for _ in range(3):
        now[0] += 0.5
        session.count_time()
    now[0] += 3600
    session.play(40, 0)
    assert session.seconds == [1.5 + LONGEST_LOOK, 0.0]
    now[0] += 1
    session.count_time()
    assert session_of(session.to_json()).seconds == [1.5 + LONGEST_LOOK, 1.0]


def test_who_is_to_move_is_known_after_every_move_and_undo():
    rng = np.random.default_rng(3)
    for spec in SPECS:
        session = begun(spec, 0)
        for _ in range(40):
            if session.over or rng.random() < 0.2:
                session.undo()
            else:
                session.make(int(rng.choice(session.position.legal())))
            wanted = [NOBODY if position.over else position.mover for position in session.positions]
            assert list(session.movers) == wanted
