"""Moves tried beside a game, and games that go into the ledger."""

from __future__ import annotations

import asyncio
import json

import pytest

from rookery.arena.exports import exported
from rookery.arena.ledger import Ledger
from rookery.arena.records import final_position
from rookery.arena.running import ending
from rookery.errors import BadInput
from rookery.games.library import load
from rookery.web import side_lines
from rookery.web.board import Board
from rookery.web.graph import MoveList
from rookery.web.keeping import keep, record_of
from rookery.web.loading import games_in
from rookery.web.session import GameSession, Plan
from rookery.web.side_lines import LinesBeside, SideLine, SideLines, cut
from rookery.web.valuation import Judged, Valuation
from visiting import eventually, only, seen, visiting

SPEC = "gomoku:size=9"
COLUMN = [0, 40, 9, 41, 18, 50, 27, 51, 36]  # Black has five in a column


def game_of(actions=(40, 41, 31, 49), **plan):
    return GameSession(Plan(SPEC, frozenset([0]), "random", 3, **plan), actions)


def test_another_move_begins_a_line_and_the_game_stays_as_it_was():
    lines = SideLines(game_of())
    assert lines.play(0, 2) == 3
    assert lines.session.actions == [40, 41, 0]
    assert lines.play(1, 3) == 4
    assert lines.current.title == "3. A1 and 1 more"
    assert lines.game.actions == [40, 41, 31, 49]
    assert lines.leave() == 2
    assert lines.session is lines.game
    assert len(lines.lines) == 1


def test_a_move_that_was_made_there_leads_on_in_the_game_or_line():
    lines = SideLines(game_of())
    assert (lines.play(31, 2), lines.current) == (3, None)
    lines.play(0, 2)
    tried = lines.current
    assert (lines.play(31, 2), lines.current) == (3, None)
    assert (lines.play(0, 2), lines.current) == (3, tried)
    assert len(lines.lines) == 1


def test_a_line_may_leave_a_line():
    lines = SideLines(game_of())
    for ply, action in ((1, 0), (2, 1), (3, 2)):
        lines.play(action, ply)
    assert lines.play(80, 2) == 3
    assert [(line.begin, line.session.actions) for line in lines.lines] == [(1, [40, 0, 1, 2]), (1, [40, 0, 80])]
    assert lines.play(7, 0) == 1  # before the line has left the game
    assert lines.current.begin == 0
    assert lines.drop() == 0
    assert len(lines.lines) == 2


@pytest.mark.parametrize(
    "wrong", [(None, 1), (0, None), ("0", 1), (True, 1), (0, -1), (0, 9), (40, 1), (999, 1), (-1, 1)]
)
def test_wrong_moves_change_nothing(wrong):
    lines = SideLines(game_of())
    assert lines.play(*wrong) is None
    assert (lines.lines, lines.current) == ([], None)


def test_nothing_is_tried_after_the_end_but_after_giving_up():
    won = SideLines(GameSession(Plan(SPEC, frozenset(), ""), COLUMN))
    assert won.play(80, 9) is None
    given_up = game_of()
    given_up.resign()
    lines = SideLines(given_up)
    assert lines.play(0, 4) == 5
    assert (lines.session.over, given_up.over) == (False, True)


def test_lines_that_no_longer_fit_the_game_are_dropped_and_the_oldest_make_room(monkeypatch):
    monkeypatch.setattr(side_lines, "MOST_LINES", 2)
    monkeypatch.setattr(side_lines, "MOST_GAMES", 2)
    beside = LinesBeside()
    lines = SideLines(game_of(), beside.of("me", "a"))
    for action in (0, 1, 2):
        lines.leave()
        lines.play(action, 3)
    assert [line.session.actions[3] for line in beside.of("me", "a")] == [1, 2]
    assert beside.of("you", "a") == []
    assert SideLines(game_of((40, 41, 30)), beside.of("me", "a")).lines == []
    beside.of("they", "b")
    assert set(beside.known) == {("me", "a"), ("they", "b")}


def test_values_of_common_moves_are_taken_over():
    game = game_of()
    line = SideLine(2, cut(game, 2))
    line.session.accept(0)
    known = Valuation("x", game, {ply: Judged(ply / 10) for ply in range(5)})
    taken = Valuation("x", line.session)
    taken.learn(known)
    assert taken.judged == {ply: Judged(ply / 10) for ply in range(3)}
    other = Valuation("y", line.session)
    other.learn(known)
    assert other.judged == {}


# ---- the ledger ----------------------------------------------------------------------------------


def test_a_kept_game_is_an_entry_like_any_other(tmp_path):
    session = GameSession(Plan(SPEC, frozenset([0]), "random", 3), COLUMN)
    path = tmp_path / "ledger.db"
    number = keep(path, record_of(session, "p1"))
    assert keep(path, record_of(session, "p1")) == number
    game = load(SPEC)
    with Ledger(path) as ledger:
        (record,) = ledger.games()
        assert ledger.numbered(number) == record
        assert ledger.results(SPEC, game.version) == [("human", "random", 1.0, 1)]
    final = final_position(game, record)
    assert (final.over, record.reason, record.payoff) == (True, ending(final), 1.0)
    (found,) = games_in(exported(game, [record], "text"))
    assert found.session.actions == COLUMN


def test_moves_of_chess_are_kept_as_the_ledger_writes_them(tmp_path):
    session = GameSession(Plan("chess", frozenset([1]), "greedy"))
    for text in ("f2f3", "e7e5", "g2g4", "d8h4"):
        session.make(session.position.action(text))
    record = record_of(session, "p2")
    assert record.moves == ("f2f3", "e7e5", "g2g4", "d8h4")
    assert (record.players, record.score) == (("greedy", "human"), 0.0)


def test_a_game_that_was_given_up_is_lost_for_who_gave_it_up():
    session = game_of()
    session.resign()
    record = record_of(session, "p3")
    assert (record.score, record.payoff, record.reason) == (0.0, -1.0, "Black resigned.")


@pytest.mark.parametrize("people", [frozenset(), frozenset([0, 1])])
def test_a_game_of_a_player_with_itself_is_not_kept(people):
    with pytest.raises(BadInput, match="two different players"):
        record_of(GameSession(Plan(SPEC, people, "random"), COLUMN), "p4")


def test_a_game_that_is_not_over_is_not_kept():
    with pytest.raises(BadInput, match="when it is over"):
        record_of(game_of(), "p5")


# ---- the page ------------------------------------------------------------------------------------


def test_a_visitor_leaves_the_game_tries_moves_and_comes_back(tmp_path):
    async def visit():
        async with visiting("/replay", ["gomoku"], ledger=tmp_path / "ledger.db") as (user, site):
            number = keep(site.ledger, record_of(GameSession(Plan(SPEC, frozenset([0]), "random"), COLUMN), "a"))
            await user.open(f"/replay?game=l{number}")
            await seen(user, "Move 9 of 9: A5")
            board = user.find(kind=Board)
            board.trigger("play", {"action": 80, "ply": 9})  # the game is over there
            user.find(marker="first-position").trigger("click")
            await seen(user, "Move 0 of 9: the start")
            for sent in (None, {}, {"action": "4", "ply": 0}, {"action": 4, "ply": 3}, {"action": 400, "ply": 0}):
                board.trigger("play", sent)
            await asyncio.sleep(0.2)
            await seen(user, "Move 0 of 9: the start")
            board.trigger("play", {"action": 4, "ply": 0})
            await seen(user, "Side line, move 1 of 1: E1")
            moves = only(user, kind=MoveList)
            assert json.loads(moves._props["content"]) == ["E1"]
            user.find(marker="the-game").trigger("click")
            await seen(user, "Move 0 of 9: the start")
            assert len(json.loads(moves._props["content"])) == 9
            assert [line.title for lines in site.beside.known.values() for line in lines] == ["1. E1"]

    asyncio.run(visit())


def players_in(path):
    """Return who played the games of a ledger."""
    with Ledger(path) as ledger:
        return [record.players for record in ledger.games()]


@pytest.mark.slow
def test_an_own_game_goes_into_the_ledger_by_a_button_only(tmp_path):
    async def visit():
        async with visiting("/", ["gomoku"], ledger=tmp_path / "ledger.db") as (user, site):
            kept = next(iter(site.store.games.values()))
            kept.session = GameSession(Plan(SPEC, frozenset([0]), "random"), COLUMN)
            site.store.change(kept)
            await user.open(f"/replay?game=p{kept.id}")
            await seen(user, "Move 9 of 9: A5")
            assert not site.ledger.exists()
            user.find(marker="keep").trigger("click")
            await eventually(lambda: players_in(site.ledger) == [("human", "random")])

    asyncio.run(visit())
