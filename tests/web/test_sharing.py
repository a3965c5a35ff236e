"""Games as text."""

from __future__ import annotations

import pytest

from rookery.errors import BadInput
from rookery.games.library import load
from rookery.web.games import OFFERS
from rookery.web.session import GameSession, Plan
from rookery.web.sharing import position_text, read_shared, shared_text


def played(spec, moves, people=(0, 1), seed=0):
    session = GameSession(Plan(spec, frozenset(people), "random", seed))
    for move in moves:
        session.make(session.position.action(move) if isinstance(move, str) else move)
    return session


def read(text, spec):
    game = load(spec)
    return read_shared(text, game, OFFERS[game.name].variants.values())


@pytest.mark.parametrize("spec", ["gomoku:size=9", "domineering:rows=8,cols=8", "chess", "pylos"])
def test_a_shared_game_is_read_again(spec):
    session = played(spec, [])
    for _ in range(9):
        session.make(int(session.position.legal()[len(session.position.legal()) // 2]))
    game, start, actions = read(shared_text(session), spec)
    assert game.spec == spec
    assert actions == session.actions
    assert GameSession(Plan(game.spec, frozenset(), "random", 0, start), actions).texts == session.texts


def test_a_shared_hand_shows_only_what_the_visitor_sees_until_it_is_over():
    session = played("texas42", [], people=(0,), seed=4)
    hidden = [tile for hand in load("texas42").start(4).text().split()[2].split("/")[1:] for tile in hand.split(",")]
    assert not any(tile in shared_text(session) for tile in hidden)
    while not session.over:
        session.make(int(session.position.legal()[0]))
    text = shared_text(session)
    game, _, actions = read(text, "texas42")
    assert all(tile in text for tile in hidden)
    assert (game.spec, actions) == ("texas42", session.actions)


def test_pgn_of_other_programs_is_read():
    text = """[Event "F/S Return Match"]
[White "Fischer, Robert J."]

1. e4 e5 2. Nf3 {a knight (or so)} Nc6 3. Bb5! (3. Bc4 Bc5 (3... Nf6)) 3... a6 $1 ; the Morphy defence
4. Ba4 1/2-1/2
"""
    _, start, actions = read(text, "chess")
    assert start == ""
    assert played("chess", actions).texts == ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4"]


def test_a_fen_and_a_position_are_read():
    fen = "8/P6k/8/8/8/8/8/K7 w - - 0 1"
    assert read(fen, "chess")[1] == fen
    assert read("..../.##./..../.... h", "domineering:rows=4,cols=4")[1] == "..../.##./..../.... h"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("game: /tmp/evil.py\nmoves:", "not offered"),
        ("game: gomoku:size=20\nmoves:", "not offered"),
        ("game: gomoku:size=9\nmoves: A1 A1", "A1"),
        ("nonsense", "nonsense"),
        ("x" * 200_000, "characters"),
    ],
)
def test_texts_that_are_wrong_are_refused_by_name(text, told):
    with pytest.raises(BadInput, match=told):
        read(text, "gomoku:size=9")


def test_a_pgn_with_a_wrong_move_names_it():
    with pytest.raises(BadInput, match="Qh5"):
        read("1. e4 Qh5 *", "chess")


def test_results_of_chess_are_written():
    mate = played("chess", ["f2f3", "e7e5", "g2g4", "d8h4"])
    assert shared_text(mate).rstrip().endswith("2. g4 Qh4# 0-1")
    mate.undo()
    mate.resign()
    assert shared_text(mate).rstrip().endswith("1-0")  # Black, to move, gave up


@pytest.mark.parametrize("spec", ["texas42", "texas42:auction=forced"])
def test_a_hand_that_is_not_over_goes_on_with_another_deal_of_what_is_hidden(spec):
    session = played(spec, [], people=(0,), seed=4)
    for _ in range(9):
        session.make(int(session.position.legal()[0]))
    game, start, actions = read(shared_text(session), spec)
    again = GameSession(Plan(game.spec, frozenset([0]), "random", 0, start), actions)
    assert "?" not in again.position.text()
    assert again.position.seen_by(0).text() == session.position.seen_by(0).text()
    while not again.over:  # everybody has something to play, to the end
        again.make(int(again.position.legal()[0]))


def test_a_hand_of_which_two_are_known_is_refused():
    text = load("texas42").start(4).text().split()
    text[2] = "/".join([*text[2].split("/")[:2], "?", "?"])
    with pytest.raises(BadInput):
        read(" ".join(text), "texas42")


def test_the_position_alone_is_a_fen_for_chess_and_hides_what_is_hidden():
    session = played("chess", ["e2e4"])
    assert position_text(session).startswith("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq")
    assert position_text(played("texas42", [], people=(0,), seed=4)).count("?") == 3


def test_moves_without_tags_may_begin_later_than_with_the_first():
    assert len(read("1. e4 e5 2. Nf3", "chess")[2]) == 3
    with pytest.raises(BadInput, match="Qh5"):
        read("20. Qh5", "chess")
