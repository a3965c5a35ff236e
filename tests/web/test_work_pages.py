"""The pages of training and arena without a browser: NiceGUI's simulated visitor, wrong values too."""

from __future__ import annotations

import asyncio

from nicegui import ui

from learn.support_runs import small_settings
from rookery.learn.runs import Run
from rookery.web.frame import PAGES
from visiting import eventually, only, seen, visiting


def test_the_navigation_names_both_pages():
    assert {PAGES["Arena"], PAGES["Training"]} == {"/arena", "/training"}


def test_runs_are_cards_and_wrong_settings_start_nothing(tmp_path):
    for seed, name in enumerate(("one", "two")):
        run = Run.create(tmp_path / name, small_settings(seed=seed))
        with run.training():
            run.append_loss(3, 0.5, 1.5)
            run.write_progress("training", 3)

    async def visit():
        async with visiting("/training", runs=tmp_path) as (user, site):
            await seen(user, "3 of 100 games")
            await seen(user, "interrupted")
            command = only(user, marker="command")
            for wrong in ("start=/etc/passwd", "nonsense", "training.batch=-1", "seed=$(reboot)"):
                only(user, marker="changes").value = wrong
                user.find(marker="start").trigger("click")
                await eventually(lambda: "rookery train" not in command.text)
            only(user, marker="changes").value = ""
            assert site.trainings.trainer.started == {}
            only(user, marker="games").value = 400
            await eventually(lambda: "--set selfplay.games=400" in command.text)
            for box in user.find(kind=ui.checkbox).elements:
                box.value = True
            await seen(user, "seed")

    asyncio.run(visit())


def test_an_empty_folder_says_what_to_do(tmp_path):
    async def visit():
        async with visiting("/training", runs=tmp_path) as (user, _):
            await seen(user, "Start one above, or by `rookery train`")

    asyncio.run(visit())


def test_a_match_is_started_by_a_button_and_wrong_orders_by_none(tmp_path):
    async def visit():
        async with visiting("/arena", ledger=tmp_path / "ledger.db") as (user, site):
            page_games = next(field for field in user.find(kind=ui.number).elements if field.value == 10)
            for wrong in (3, None, 2.5, 10**9):
                page_games.value = wrong
                user.find(marker="start-match").trigger("click")
                await eventually(lambda: only(user, marker="match-trouble").text)
                assert site.contests.of == {}
            user.find(marker="start-robin").trigger("click")
            await eventually(lambda: "number of players" in only(user, marker="robin-trouble").text)
            user.find(marker="step").trigger("click")  # of a contest that is not there
            page_games.value = 2
            for field in user.find(kind=ui.select).elements:
                if field.props.get("aria-label") == "First player":
                    field.value = "Baseline: fixed depth, 2 plies"
            user.find(marker="start-match").trigger("click")
            await eventually(lambda: site.contests.of)
            (contest,) = site.contests.of.values()
            await eventually(lambda: contest.over)
            assert contest.trouble == ""
            await seen(user, "2 of 2 games finished, done")

    asyncio.run(visit())
