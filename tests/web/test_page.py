"""The page without a browser: NiceGUI's simulated visitor, who finds elements and sends their events."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager

import pytest
from nicegui import Client, ui

from rookery.web.board import Board
from visiting import eventually, only, seen, visiting


@asynccontextmanager
async def playing(opponent="random"):
    """Open a page of a server that plays `opponent`, and yield the visitor, the game and the site."""
    async with visiting("/", ["gomoku"]) as (user, site):
        kept = next(iter(site.store.games.values()))
        site.host.seat_opponent(kept, opponent)
        yield user, kept, site


def shown(user):
    """Return what the board shows."""
    (board,) = user.find(kind=Board).elements
    return json.loads(board._props["first"])


def click(user, marker):
    user.find(marker=marker).trigger("click")


def test_the_first_page_is_a_board_ready_to_click():
    async def visit():
        async with playing() as (user, kept, _):
            await seen(user, "Your move (Black)")
            state = shown(user)
            assert state["active"]
            assert len(state["ways"]) == 81
            user.find(kind=Board).trigger("play", {"action": 40, "ply": 0})
            await eventually(lambda: kept.session.ply == 2)
            await seen(user, "Your move (Black)")
            assert [man[0] for man in shown(user)["men"]].count("gomoku-x") == 1

    asyncio.run(visit())


def test_wrong_and_repeated_events_change_nothing():
    async def visit():
        async with playing() as (user, kept, _):
            for sent in (None, [], "x", {}, {"action": 40}, {"action": "40", "ply": 0}, {"action": 400, "ply": 0},
                         {"action": 40, "ply": 7}, {"action": None, "ply": None}):  # fmt: skip
                user.find(kind=Board).trigger("play", sent)
            await asyncio.sleep(0.3)
            assert kept.session.ply == 0
            for _ in range(3):
                user.find(kind=Board).trigger("play", {"action": 40, "ply": 0})
            await eventually(lambda: kept.session.ply == 2)
            await asyncio.sleep(0.3)
            assert kept.session.ply == 2

    asyncio.run(visit())


@pytest.mark.slow
def test_undo_and_resign_are_buttons():
    async def visit():
        async with playing() as (user, kept, _):
            user.find(kind=Board).trigger("play", {"action": 40, "ply": 0})
            await eventually(lambda: kept.session.persons_turn and kept.session.ply == 2)
            await seen(user, "Your move (Black)")
            click(user, "undo")
            await eventually(lambda: kept.session.ply == 0)
            click(user, "resign")
            await seen(user, "Black resigned.")

    asyncio.run(visit())


@pytest.mark.slow
def test_two_pages_of_one_visitor_show_the_same_game():
    async def visit():
        async with playing() as (user, kept, site):
            site.host.play(kept, 40, 0)  # as another page would
            await eventually(lambda: kept.session.ply == 2)
            await eventually(lambda: shown(user)["ply"] == 2)

    asyncio.run(visit())


@pytest.mark.slow
def test_whether_the_pyramid_is_shown_in_space_is_remembered():
    async def visit():
        async with visiting("/play/pylos", ["pylos"]) as (user, _):
            assert "on" in only(user, marker="solid").classes
            click(user, "solid")
            await eventually(lambda: "on" not in only(user, marker="solid").classes)
            await user.open("/play/pylos")
            assert "on" not in only(user, marker="solid").classes
            user.find(kind=Board).trigger("flat")
            click(user, "solid")
            user.find(kind=Board).trigger("flat")
            await seen(user, "WebGL is missing")
            assert "on" not in only(user, marker="solid").classes

    asyncio.run(visit())


@pytest.mark.slow
def test_the_navigation_shows_only_pages_that_are_there():
    async def visit():
        async with playing() as (user, _, _):
            links = {
                element._props.get("href") for element in user.find(kind=ui.element).elements if element.tag == "a"
            }
            for target in sorted(link for link in links if link and link in ("/", "/play", "/play/gomoku")):
                await user.open(target)
                await seen(user, "Your move (Black)")
            assert links >= {"/", "/play", "/play/gomoku", "/play/chess"}

    asyncio.run(visit())


@pytest.mark.slow
@pytest.mark.parametrize("address", ["/play/nothing", "/play/gomoku:size=5"])
def test_an_unknown_game_is_answered_with_those_there_are(address):
    async def visit():
        async with playing() as (user, _, _):
            await user.open(address)
            await seen(user, "There is no such game here")

    asyncio.run(visit())


@pytest.mark.slow
def test_an_unknown_id_begins_or_continues_a_game_of_the_visitor():
    async def visit():
        async with playing() as (user, kept, site):
            await user.open("/play/gomoku?game=../../secret")
            await seen(user, "Your move (Black)")
            assert set(site.store.games) >= {kept.id}

    asyncio.run(visit())


def test_a_move_is_one_short_message_and_sends_no_board_again(monkeypatch):
    async def visit():
        async with playing() as (user, kept, _):
            told = []
            monkeypatch.setattr(Client, "run_javascript", lambda client, code, **_: told.append(code))
            (board,) = user.find(kind=Board).elements
            updated = []
            monkeypatch.setattr(type(board), "update", lambda element: updated.append(element))
            user.find(kind=Board).trigger("play", {"action": 40, "ply": 0})
            assert kept.session.ply == 1
            assert len(told) == 1
            assert board._props["fixed"][:100] not in told[0]
            assert len(told[0]) < 8000
            assert not updated
            assert shown(user)["ply"] == 1  # what a page begins with that is built again

    asyncio.run(visit())


@pytest.mark.slow
def test_an_opponent_that_fails_can_be_asked_again():
    async def visit():
        async with playing("gomocup:/nowhere/at/all") as (user, kept, site):
            user.find(kind=Board).trigger("play", {"action": 40, "ply": 0})
            await user.should_see("The opponent cannot go on")
            site.host.store.trouble = "No space left on device."
            await user.should_see("No space left on device.")
            click(user, "retry")
            await eventually(lambda: kept.trouble)

    asyncio.run(visit())


@pytest.mark.slow
def test_a_position_is_shared_and_a_wrong_text_is_answered_in_few_words():
    async def visit():
        async with playing() as (user, _, _):
            click(user, "share")
            (position,) = user.find(marker="shared-position").elements
            assert position.value
            click(user, "new")
            (text,) = user.find(kind=ui.textarea, marker="begin").elements
            text.value = "x" * 90_000
            click(user, "start")
            (complaint,) = user.find(marker="complaint").elements
            await eventually(lambda: complaint.text)
            assert len(complaint.text) < 400

    asyncio.run(visit())


def test_a_wrong_address_is_answered_in_words():
    async def visit():
        async with playing() as (user, _, _):
            answer = await user.http_client.get("/nothing/at/all")
            assert answer.status_code == 404
            assert "There is no such page here." in answer.text

    asyncio.run(visit())
