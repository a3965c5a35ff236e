"""Searches beside the page: few at a time, and none for nobody."""

from __future__ import annotations

import threading
import time

import pytest

from rookery.arena.player import Choice, Player, PlayerFailed
from rookery.games.library import load
from rookery.web import thinking
from rookery.web.thinking import Desk, Thought

PATIENCE = 20.0  # seconds; far more than anything here takes


class Waiter(Player):
    """A player that thinks until it is told to stop, or let go."""

    busy, most = 0, 0
    go = threading.Event()
    lock = threading.Lock()

    def choose(self, turn):
        with Waiter.lock:
            Waiter.busy += 1
            Waiter.most = max(Waiter.most, Waiter.busy)
        while not turn.stop[0] and not Waiter.go.is_set():
            time.sleep(0.002)
        with Waiter.lock:
            Waiter.busy -= 1
        return Choice(int(turn.position.legal()[0]))


class Failing(Player):
    """A player that gives up."""

    def choose(self, turn):
        raise PlayerFailed("the engine is gone")


class Broken(Player):
    """A player with a mistake in it."""

    def choose(self, turn):
        raise ZeroDivisionError("oops")


class Absent(Player):
    """A player that cannot even begin."""

    open = 0

    def new_game(self, start, seat):
        Absent.open += 1
        raise PlayerFailed("the engine does not answer")

    def close(self):
        Absent.open -= 1


KINDS = {"waiter": Waiter, "failing": Failing, "broken": Broken, "absent": Absent}


def make(text, game):
    player = KINDS[text]()
    player.name = text
    return player


@pytest.fixture
def desk():
    Waiter.go.clear()
    Waiter.busy = Waiter.most = 0
    desk = Desk(2, make)
    yield desk
    Waiter.go.set()
    desk.close()
    for thread in desk.threads:  # what still runs would be counted in the next test
        thread.join(PATIENCE)


def thought(*texts, urgent=True, owner=""):
    start = load("gomoku:size=9").start()
    made = Thought(texts or ("waiter",), start, (), start.copy(), 0)
    made.urgent, made.owner = urgent, owner
    return made


def eventually(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_no_more_searches_run_at_once_than_there_are_places(desk):
    thoughts = [desk.submit(thought()) for _ in range(6)]
    eventually(lambda: Waiter.busy == 2)
    assert sorted(desk.place_of(one) for one in thoughts) == [0, 0, 1, 2, 3, 4]
    Waiter.go.set()
    for one in thoughts:
        assert one.ended.wait(PATIENCE)
    assert Waiter.most == 2


def test_a_search_that_nobody_reads_is_stopped(desk, monkeypatch):
    monkeypatch.setattr(thinking, "LEASE", 0.2)
    one = desk.submit(thought())
    assert one.ended.wait(PATIENCE)  # nobody let it go, so the lease has ended it
    assert one.stop[0]


def test_a_search_that_is_read_goes_on(desk, monkeypatch):
    monkeypatch.setattr(thinking, "LEASE", 1.0)
    one = desk.submit(thought())
    end = time.monotonic() + 1.3
    while time.monotonic() < end:
        one.read()
        time.sleep(0.02)
    assert not one.ended.is_set()
    assert not one.stop[0]


def test_a_waiting_search_that_nobody_wants_is_never_begun(desk):
    running = [desk.submit(thought()) for _ in range(2)]
    late = desk.submit(thought())
    late.cancel()
    Waiter.go.set()
    assert late.ended.wait(PATIENCE)
    assert not late.begun
    assert all(one.ended.wait(PATIENCE) for one in running)


def test_one_search_too_many_is_refused(desk, monkeypatch):
    monkeypatch.setattr(thinking, "MOST_WAITING", 3)
    for _ in range(2):
        desk.submit(thought())
    eventually(lambda: Waiter.busy == 2)
    waiting = [desk.submit(thought()) for _ in range(3)]
    refused = desk.submit(thought())
    assert refused.ended.is_set()
    assert "too many searches" in refused.failure
    assert not any(one.ended.is_set() for one in waiting)


def test_analyses_leave_a_place_for_games_that_stand_still(desk):
    analyses = [desk.submit(thought(urgent=False)) for _ in range(3)]
    eventually(lambda: Waiter.busy == 1)
    game = desk.submit(thought())
    eventually(lambda: game.begun)
    assert [one.begun for one in analyses] == [True, False, False]
    assert [desk.place_of(one) for one in analyses] == [0, 1, 2]


def test_a_game_that_stands_still_comes_before_analyses_that_wait_longer(desk):
    running = [desk.submit(thought()) for _ in range(2)]
    eventually(lambda: Waiter.busy == 2)
    analysis, game = desk.submit(thought(urgent=False)), desk.submit(thought())
    assert (desk.place_of(game), desk.place_of(analysis)) == (1, 2)
    running[0].cancel()
    eventually(lambda: game.begun)
    assert not analysis.begun


def test_an_analysis_gives_way_between_two_of_its_players():
    order, go = [], threading.Event()

    class Noting(Player):
        def choose(self, turn):
            go.wait(PATIENCE)
            order.append(self.name)
            return Choice(int(turn.position.legal()[0]))

    def noting(text, game):
        player = Noting()
        player.name = text
        return player

    desk = Desk(1, noting)
    deep = desk.submit(thought("weak", "strong", urgent=False))
    eventually(lambda: deep.begun)
    other = desk.submit(thought("other", urgent=False))
    go.set()
    assert deep.ended.wait(PATIENCE)
    assert other.ended.is_set()
    assert order == ["weak", "other", "strong"]
    desk.close()


def test_a_visitor_cannot_fill_the_queue_alone(desk, monkeypatch):
    monkeypatch.setattr(thinking, "MOST_OF_OWNER", 3)
    own = [desk.submit(thought(owner="greedy")) for _ in range(5)]
    assert [one.refused for one in own] == [False, False, False, True, True]
    assert not desk.submit(thought(owner="modest")).refused


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("failing", "the engine is gone"),
        ("broken", "ZeroDivisionError"),
        ("absent", "the engine does not answer"),
    ],
)
def test_a_player_that_fails_is_told_of_and_harms_nobody_else(desk, text, told):
    failed = desk.submit(thought(text))
    assert failed.ended.wait(PATIENCE)
    assert told in failed.failure
    Waiter.go.set()
    after = [desk.submit(thought()) for _ in range(4)]
    assert all(one.ended.wait(PATIENCE) and one.choice is not None for one in after)


def test_an_unknown_player_is_a_failure_in_words():
    desk = Desk(1)
    one = desk.submit(thought("nobody:depth=3"))
    assert one.ended.wait(PATIENCE)
    assert "nobody" in one.failure
    desk.close()


def test_players_in_turn_know_more_and_more():
    desk = Desk(1)
    start = load("gomoku:size=9").start()
    one = desk.submit(Thought(("random", "random"), start, (), start.copy(), 0))
    assert one.ended.wait(PATIENCE)
    assert one.by == "random"
    assert one.choice is not None
    desk.close()


def test_a_player_is_handed_what_its_seat_sees():
    seen = []

    class Looker(Player):
        name = "looker"

        def choose(self, turn):
            seen.append(turn.position.text())
            return Choice(int(turn.position.legal()[0]))

    desk = Desk(1, lambda text, game: Looker())
    start = load("texas42").start(5)
    one = desk.submit(Thought(("looker",), start, (), start.copy(), 0))
    assert one.ended.wait(PATIENCE)
    assert seen == [start.seen_by(start.mover).text()]
    desk.close()


def test_a_player_that_cannot_begin_is_closed(desk):
    Absent.open = 0
    assert desk.submit(thought("absent")).ended.wait(PATIENCE)
    assert Absent.open == 0
