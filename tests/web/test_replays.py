"""Games to look at again: lists, who may see what, and the page without a browser."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from rookery.arena.ledger import Ledger
from rookery.arena.records import GameRecord
from rookery.web import replays
from rookery.web.board import Board
from rookery.web.graph import Graph
from rookery.web.loading import games_in
from rookery.web.replay_list import address_of, wanted_of
from rookery.web.replays import SHOWN, Loaded, Wanted, ledger_record, own_entries, own_game, page_of
from rookery.web.session import GameSession, Plan
from rookery.web.store import Store
from visiting import eventually, seen, visiting

SPEC = "domineering:rows=8,cols=8"
TEXT = f"game: {SPEC}\nmoves: a1-a2 c3-d3 b1-b2\n"


def filled(path, games=3):
    """Make a ledger of given-up games."""
    with Ledger(path) as ledger:
        ledger.store([ledger_record_of(number) for number in range(games)])
    return path


def ledger_record_of(number):
    session = games_in(TEXT)[0].session
    players = ("alphabeta:depth=2", "random") if number % 2 == 0 else ("random", "alphabeta:depth=2")
    return GameRecord(
        SPEC, session.game.version, session.positions[0].text(), tuple(session.actions), tuple(session.texts), 1,
        players, 0, (1.0, 0.0, 0.5)[number % 3], 1.0, "given up", (0.0, 0.0), 1, "match", number,
    )  # fmt: skip


def replaying(tmp_path, address, games=3):
    """Open a page of a server whose ledger has some games."""
    return visiting(address, ledger=filled(tmp_path / "ledger.db", games))


def shown(user, kind):
    (element,) = user.find(kind=kind).elements
    return json.loads(element._props["first"])


@pytest.mark.parametrize(
    ("wanted", "keys"),
    [
        (Wanted(), ["l3", "l2", "l1"]),
        (Wanted(game="domineering"), ["l3", "l2", "l1"]),
        (Wanted(game="domineer"), []),
        (Wanted(game="chess"), []),
        (Wanted(player="ALPHA"), ["l3", "l2", "l1"]),
        (Wanted(player="%"), []),
        (Wanted(result="first"), ["l1"]),
        (Wanted(result="second"), ["l2"]),
        (Wanted(result="draw"), ["l3"]),
        (Wanted(result="open"), []),
    ],
)
def test_games_of_the_ledger_are_filtered(tmp_path, wanted, keys):
    entries, more = page_of([], filled(tmp_path / "ledger.db"), wanted)
    assert [entry.key for entry in entries] == keys
    assert not more


def test_the_list_goes_over_from_own_games_to_those_of_the_ledger_page_by_page(tmp_path):
    path, loaded = filled(tmp_path / "ledger.db", SHOWN + 5), Loaded()
    loaded.add("me", games_in(TEXT) * 3)
    own = own_entries(Store(None), loaded, "me", Wanted())
    first, more = page_of(own, path, Wanted())
    assert more
    second, more = page_of(own, path, Wanted(page=1))
    assert not more
    numbers = [entry.key for entry in [*first, *second]]
    assert numbers[3:] == [f"l{number}" for number in range(SHOWN + 5, 0, -1)]
    assert page_of(own, path, Wanted(page=2)) == ([], False)
    assert page_of([], tmp_path / "none.db", Wanted()) == ([], False)


def test_games_of_the_page_and_of_files_are_only_for_their_visitor(tmp_path):
    store, loaded = Store(tmp_path), Loaded()
    kept = store.add("me", games_in(TEXT)[0].session)
    store.change(kept)
    key = loaded.add("me", games_in(TEXT))
    assert {entry.key for entry in own_entries(store, loaded, "me", Wanted())} == {f"p{kept.id}", key}
    assert own_entries(store, loaded, "you", Wanted()) == []
    for one in (f"p{kept.id}", key):
        assert own_game(store, loaded, "me", one).session.ply == 3
        assert own_game(store, loaded, "you", one) is None
    store.close()
    again = Store(tmp_path)
    (entry,) = own_entries(again, Loaded(), "me", Wanted())
    assert (entry.key, entry.plies, entry.score) == (f"p{kept.id}", 3, None)


def test_a_game_that_goes_on_is_looked_at_as_it_was():
    store = Store(None)
    kept = store.add("me", games_in(TEXT)[0].session)
    replay = own_game(store, Loaded(), "me", f"p{kept.id}")
    kept.session.make(int(kept.session.position.legal()[0]))
    assert (replay.session.ply, kept.session.ply) == (3, 4)


def test_a_hand_that_is_not_over_shows_no_hidden_tiles():
    store = Store(None)
    session = GameSession(Plan("texas42", frozenset([0]), "random", 5))
    session.make(int(session.position.legal()[0]))
    kept = store.add("me", session)
    replay = own_game(store, Loaded(), "me", f"p{kept.id}")
    assert not replay.is_open
    for ply in (0, 1):
        scene = replay.scene(ply, 2)
        assert scene.position.text() == session.positions[ply].seen_by(0).text()
        assert scene.start.text() == session.positions[0].seen_by(0).text()


@pytest.mark.parametrize(
    "key", ["", "l", "l0", "l99", "l-1", "l1;", "l1 OR 1", "../l1", "p1", "f1", "l" + "9" * 40, "l１"]
)
def test_unknown_keys_find_nothing(tmp_path, key):
    assert ledger_record(filled(tmp_path / "ledger.db"), key) is None
    assert own_game(Store(None), Loaded(), "me", key) is None


def test_addresses_keep_the_filters_and_drop_what_is_not_known():
    wanted = wanted_of("chess", "a b&c", "draw", "3")
    assert address_of(wanted, "l5") == "/replay?of=chess&player=a+b%26c&result=draw&page=3&game=l5"
    assert wanted_of("nothing", "", "x", "-1") == wanted_of("", "", "", "9" * 30) == Wanted()
    assert address_of(Wanted()) == "/replay"


def test_a_visitor_steps_jumps_and_has_a_game_evaluated(tmp_path):
    async def visit():
        async with replaying(tmp_path, "/replay?game=l2") as (user, site):
            await seen(user, "Move 3 of 3: b1-b2")
            user.find(marker="one-move-back").trigger("click")
            await seen(user, "Move 2 of 3: c3-d3")
            user.find(marker="first-position").trigger("click")
            await seen(user, "Move 0 of 3: the start")
            for sent in (None, "2", {}, True, 99):
                user.find(kind=Graph).trigger("jump", sent)
            await seen(user, "Move 3 of 3: b1-b2")
            user.find(kind=Board).trigger("play", {"action": 5, "ply": 3})
            assert shown(user, Board)["ply"] == 3
            user.find(marker="evaluate").trigger("click")
            await eventually(lambda: None not in shown(user, Graph)["values"])
            await seen(user, "All 4 positions by")
            assert site.host.desk.running == []

    asyncio.run(visit())


def test_an_unknown_game_is_said_in_words(tmp_path):
    async def visit():
        async with replaying(tmp_path, "/replay?game=../../secret&of=x&page=z") as (user, _):
            await seen(user, "There is no such game here.")
            await seen(user, "alphabeta:depth=2 – random")

    asyncio.run(visit())


def test_without_games_the_page_says_where_they_come_from(tmp_path):
    async def visit():
        async with replaying(tmp_path, "/replay", games=0) as (user, _):
            await seen(user, "No games yet.")
            await seen(user, "Choose a game, or load a file.")

    asyncio.run(visit())


def test_games_that_cannot_be_drawn_are_left_out_and_the_list_goes_on_behind_them(tmp_path):
    path = tmp_path / "ledger.db"
    with Ledger(path) as ledger:
        drawn = [ledger_record_of(number) for number in range(SHOWN)]
        others = [replace(ledger_record_of(SHOWN + number), game="examples/connect_four.py") for number in range(5)]
        ledger.store([*drawn, *others])
    first, more = page_of([], path, Wanted())
    second, end = page_of([], path, Wanted(page=1))
    assert (len(first), more, len(second), end) == (SHOWN - 5, True, 5, False)


def test_the_newest_files_are_kept_and_older_ones_make_room(monkeypatch):
    monkeypatch.setattr(replays, "MOST_PLIES", 7)  # games here have three
    monkeypatch.setattr(replays, "MOST_VISITORS", 2)
    loaded = Loaded()
    keys = [loaded.add("me", games_in(TEXT)) for _ in range(3)]
    assert [loaded.find("me", key) is not None for key in keys] == [False, True, True]
    loaded.add("you", games_in(TEXT))
    loaded.add("they", games_in(TEXT))
    assert list(loaded.visitors) == ["you", "they"]
