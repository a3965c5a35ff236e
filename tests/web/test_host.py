"""Games, their opponents and their files."""

from __future__ import annotations

import json
import os
import time

import numpy as np
import pytest

from rookery.arena.players import RandomPlayer
from rookery.web import thinking
from rookery.web.host import Host
from rookery.web.looking import Looking
from rookery.web.session import GameSession, Plan
from rookery.web.site import Site
from rookery.web.store import MOST_OF_VISITOR, Store
from rookery.web.thinking import Desk

PATIENCE = 20.0


@pytest.fixture
def host(tmp_path):
    made = Host(Store(tmp_path), Desk(2))
    yield made
    made.desk.close()
    made.store.close()


def begin(host, spec="gomoku:size=9", people=(0,), opponent="random", visitor="anna"):
    return host.store.add(visitor, GameSession(Plan(spec, frozenset(people), opponent, 1)))


def advance_until(host, kept, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        host.advance(kept)
        assert time.monotonic() < end
        time.sleep(0.002)


def eventually(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.002)


def test_a_whole_game_is_played_against_an_opponent(host):
    kept, rng = begin(host, "domineering:rows=4,cols=4"), np.random.default_rng(2)
    while not kept.session.over:
        action = int(rng.choice(kept.session.position.legal()))
        assert host.play(kept, action, kept.session.ply)
        advance_until(host, kept, lambda: kept.session.over or kept.session.persons_turn)
    assert "won" in kept.session.status()


def test_an_opponent_that_cannot_play_is_told_of_and_can_be_replaced(host):
    kept = begin(host, opponent="gomocup:/nowhere/at/all")
    host.play(kept, 40, 0)
    advance_until(host, kept, lambda: kept.trouble)
    assert "/nowhere/at/all" in kept.trouble
    assert kept.session.ply == 1
    assert host.seat_opponent(kept, "random")
    advance_until(host, kept, lambda: kept.session.ply == 2)
    assert not kept.trouble


def test_an_opponent_that_was_refused_for_want_of_room_is_asked_again(host, monkeypatch):
    kept = begin(host)
    host.play(kept, 40, 0)
    with monkeypatch.context() as patched:
        patched.setattr(thinking, "MOST_WAITING", 0)
        for _ in range(3):
            host.advance(kept)
        assert kept.session.ply == 1
        assert not kept.trouble
    advance_until(host, kept, lambda: kept.session.ply == 2)


def test_an_opponent_that_failed_is_asked_again_if_wanted(host):
    kept = begin(host, opponent="gomocup:/nowhere/at/all")
    host.play(kept, 40, 0)
    advance_until(host, kept, lambda: kept.trouble)
    assert host.retry(kept)
    assert not kept.trouble
    advance_until(host, kept, lambda: kept.trouble)


def test_undo_while_the_opponent_thinks_takes_the_move_back_for_good(host):
    kept = begin(host)
    host.play(kept, 40, 0)
    host.advance(kept)
    thought = kept.thought
    assert host.undo(kept)
    assert thought.ended.wait(PATIENCE)
    for _ in range(5):
        host.advance(kept)
    assert kept.session.actions == []


def test_a_restarted_server_still_has_the_game(host, tmp_path):
    kept = begin(host)
    host.play(kept, 40, 0)
    advance_until(host, kept, lambda: kept.session.ply == 2)
    host.store.close()
    again = Store(tmp_path).find("anna", kept.id)
    assert again.session.actions == kept.session.actions


def test_a_game_that_cannot_be_written_is_told_and_written_as_soon_as_it_can_be(host, tmp_path, monkeypatch):
    monkeypatch.setattr("rookery.web.store.TRY_AGAIN", 0.0)
    kept, store = begin(host), host.store
    tmp_path.rename(tmp_path.with_name("away"))
    host.play(kept, 40, 0)
    eventually(lambda: store.trouble)
    assert store.trouble.startswith(f"{tmp_path / kept.id}.json cannot be written: No such file or directory. Games go")
    tmp_path.with_name("away").rename(tmp_path)
    store.try_again()
    eventually(lambda: not store.trouble)
    assert json.loads((tmp_path / f"{kept.id}.json").read_text())["session"]["actions"] == [40]


def test_the_newest_game_is_the_newest_although_the_clock_was_put_back(host, tmp_path, monkeypatch):
    older, newer = begin(host), begin(host)
    host.store.change(older)
    monkeypatch.setattr(time, "time", lambda: 1e9)
    host.store.change(newer)
    host.store.close()
    os.utime(tmp_path / f"{newer.id}.json", (1e9, 1e9))
    for store in (host.store, Store(tmp_path)):
        assert store.newest("anna") == ("gomoku", newer.id)


def test_half_a_file_of_a_killed_server_is_cleared_away_unless_another_server_may_write_it(host, tmp_path):
    half = tmp_path / ".game.json.123.part"
    half.write_bytes(b"{")
    Store(tmp_path).close()
    assert half.exists()
    host.store.close()
    Store(tmp_path).close()
    assert not half.exists()


def test_games_belong_to_their_visitors(host, tmp_path):
    kept = begin(host)
    host.store.change(kept)
    assert host.store.find("anna", kept.id) is kept
    assert host.store.find("bert", kept.id) is None
    assert host.store.newest("bert") is None
    host.store.close()
    assert Store(tmp_path).find("bert", kept.id) is None


@pytest.mark.parametrize("id", ["../secret", "/etc/passwd", "", "..", "a/b", "\x00", None, 3, ["x"], {"id": 1}])
def test_names_from_a_browser_are_looked_up_and_never_joined(host, tmp_path, id):
    (tmp_path.parent / "secret.json").write_text(json.dumps({"visitor": "anna", "session": {}}))
    assert host.store.find("anna", id) is None


def test_broken_files_are_left_alone_and_harm_nobody(tmp_path):
    store = Store(tmp_path)
    kept = store.add("anna", GameSession(Plan("gomoku:size=9", frozenset([0]), "random")))
    store.change(kept)
    store.close()
    for name, text in {"a": "", "b": "{", "c": "[]", "d": '{"visitor": "anna", "session": 5}'}.items():
        (tmp_path / f"{name}.json").write_text(text)
    again = Store(tmp_path)
    assert again.find("anna", "d") is None
    assert again.newest("anna") == ("gomoku", kept.id)
    assert {path.name for path in tmp_path.glob("?.json")} == {"a.json", "b.json", "c.json", "d.json"}
    again.close()


def test_a_visitor_keeps_only_so_many_games(tmp_path):
    store = Store(tmp_path)
    first = store.add("anna", GameSession(Plan("gomoku:size=9", frozenset([0]), "random")))
    store.change(first)
    other = store.add("bert", GameSession(Plan("gomoku:size=9", frozenset([0]), "random")))
    for _ in range(MOST_OF_VISITOR):
        store.add("anna", GameSession(Plan("gomoku:size=9", frozenset([0]), "random")))
    assert store.find("anna", first.id) is None
    assert store.find("bert", other.id) is other
    store.close()
    assert list(tmp_path.glob("*.json")) == []


class Quick(RandomPlayer):
    """Stands for any player, and needs nothing compiled."""

    name = "quick"


def test_a_page_has_nothing_analysed_that_would_tell_of_hidden_tiles():
    host = Host(Store(None), Desk(1, lambda text, game: Quick()))
    looking = Looking(Site(host), "a")
    analyst = "Averages over possible deals"
    kept = begin(host, "texas42", people=(1,))
    session = kept.session
    assert session.position.mover == 0
    assert looking.analyse(session, 0, analyst, "first") is None
    assert not looking.ask_hint(session)
    session.make(int(session.position.legal()[0]))
    assert session.persons_turn
    thought = looking.begin_analysis(session, 1, analyst)
    assert thought is not None
    assert thought.ended.wait(PATIENCE)
    assert thought.seen.text() == session.position.seen_by(1).text()
    looking.leave()
    host.desk.close()
    host.store.close()


def test_a_given_up_game_is_taken_back_only_in_practice():
    for practice in (True, False):
        session = GameSession(Plan("texas42", frozenset([0]), "random", practice=practice))
        session.resign()
        assert session.may_undo() == practice
        assert session.undo() == practice
        assert session.over != practice


@pytest.mark.slow
def test_the_costs_of_a_finished_hand_are_reckoned_at_the_desk(host):
    kept = begin(host, "texas42", people=(0, 1, 2, 3))
    looking = Looking(Site(host), "a")
    looking.reckon(kept.session)
    assert looking.reckoning is None  # the hand is not over
    while not kept.session.over:
        kept.session.make(int(kept.session.position.legal()[0]))
    looking.reckon(kept.session)
    work = looking.reckoning
    end = time.monotonic() + 10 * PATIENCE
    while not work.ended.is_set():
        work.read()
        assert time.monotonic() < end
        time.sleep(0.02)
    assert work.failure == ""
    assert work.done == 28
    assert len(work.lines) == 1 + 28 + 4  # a heading, the plays, the seats
