"""Self-play against the same games played again, position by position."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from learn.slow_selfplay import (
    SEED,
    ending_of,
    first_position,
    outcomes_of,
    positions_of,
    random_plies_of,
    recorded,
    searched_again,
    teaches,
)
from rookery import load
from rookery.errors import BadInput
from rookery.games.rng import random_below
from rookery.learn.replay import Replay
from rookery.learn.sections import SelfplaySettings
from rookery.learn.selfplay import SelfPlay
from rookery.learn.settings import check_settings
from search.slow_trees import Hashed
from support import CONNECT_FOUR

pytestmark = pytest.mark.xdist_group("learning")

WAYS = {
    "greedy": ("pylos:removal=greedy", 90, {
        "urgency": "infinite", "temperature_plies": 4, "ply_limit": 48, "repetition_limit": 2, "discount": 0.97,
        "repetition_value": 0.5, "ply_limit_value": -0.25,
    }),
    "choice": ("pylos", 70, {"discount": 0.97, "random_plies": 3, "ply_limit": 45, "ply_limit_value": -0.25}),
    "gumbel": (CONNECT_FOUR, 45, {"gumbel": 4, "noise": 0.0, "ply_limit": 20, "ply_limit_value": 0.5}),
    "lc0": (CONNECT_FOUR, 45, {"urgency": "lc0"}),
    "forced": (CONNECT_FOUR, 45, {"forced": 3.0, "prune": True, "c": 0.5, "simulations": 16, "full_share": 0.6,
                                  "cheap_simulations": 6}),
    "middle": ("gomoku:size=9", 110, {"random_plies": 4, "random_fewer": True, "random_middle": 3}),
    "four seats": ("texas42", 80, {"full_share": 0.5, "cheap_simulations": 3, "leaves": 2, "discount": 0.9}),
}  # fmt: skip
"""game, rounds and settings"""


@cache
def games(way):
    """Return the games that were played in one of the ways."""
    spec, rounds, values = WAYS[way]
    settings = SelfplaySettings(**{"at_once": 12, "simulations": 8, **values})
    return recorded(load(spec), settings, rounds)


# ---- against the rule book -----------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_rows_hold_the_positions_of_whole_games(way):
    found = games(way)
    rows = found.rows
    assert len(found.games()) > 12
    for number, indices in found.games().items():
        positions = positions_of(found, number)
        assert rows["plies"][indices].tolist() == list(range(len(indices)))
        assert (np.diff(indices) == 1).all()
        for row, position in zip(indices, positions, strict=False):
            legal, count = position.legal(), rows["counts"][row]
            assert (rows["observations"][row] == position.observe(found.judge.kind).ravel()).all()
            assert rows["played"][row] in legal
            if rows["plies"][row] < random_plies_of(found.settings, number):
                assert count == 0
            else:
                assert rows["actions"][row, :count].tolist() == legal.tolist()
            assert (rows["actions"][row, count:] == 0).all()
            assert (rows["weights"][row, count:] == 0).all()


@pytest.mark.parametrize("way", WAYS)
def test_a_game_ends_when_the_rules_or_a_limit_say_so_and_not_before(way):
    found = games(way)
    endings = dict.fromkeys(found.finished.endings, 0)
    for number in found.games():
        positions = positions_of(found, number)
        endings[ending_of(positions, found.settings)] += 1
        for length in range(2, len(positions)):
            assert not ending_of(positions[:length], found.settings)
    assert found.finished.endings == endings
    expected = {"greedy": {"by the rules", "ply limit", "repetition"}, "choice": {"by the rules", "ply limit"},
                "gumbel": {"by the rules", "ply limit"}}  # fmt: skip
    assert {name for name, count in endings.items() if count} == expected.get(way, {"by the rules"})


@pytest.mark.parametrize("way", WAYS)
def test_outcomes_are_those_of_the_mover_discounted_by_turns(way):
    found = games(way)
    for number, indices in found.games().items():
        expected = outcomes_of(positions_of(found, number), found.settings)
        np.testing.assert_allclose(found.rows["outcomes"][indices], expected, rtol=1e-5)


def test_a_win_on_the_last_allowed_ply_is_a_win():
    found = games("gumbel")
    last = [rows[-1] for rows in found.games().values() if len(rows) == found.settings.ply_limit]
    won = [row for row in last if found.rows["outcomes"][row] == 1]
    assert won
    assert len(won) < len(last)
    for row in won:
        assert positions_of(found, int(found.rows["games"][row]))[-1].over


def test_a_take_back_is_no_turn_of_its_own():
    found = games("choice")
    again = 0
    for number, indices in found.games().items():
        positions, outcomes = positions_of(found, number), found.rows["outcomes"][indices]
        for i in range(len(indices) - 1):
            same = positions[i].mover == positions[i + 1].mover
            again += same
            assert outcomes[i] == pytest.approx(outcomes[i + 1] * (1 if same else -0.97), rel=1e-5)
    assert again > 20


def test_partners_share_their_outcome():
    found = games("four seats")
    for number, indices in found.games().items():
        movers = [position.mover for position in positions_of(found, number)[:-1]]
        signs = {(mover % 2, np.sign(found.rows["outcomes"][row])) for mover, row in zip(movers, indices, strict=True)}
        assert len(signs) == 2
        assert set(movers) == {0, 1, 2, 3}


@pytest.mark.parametrize("way", WAYS)
def test_what_a_search_thought_is_what_another_search_of_the_position_thinks(way):
    found, looked = games(way), 0
    for number in list(found.games())[:6]:
        rows = found.games()[number]
        for taught in (True, False):
            for i, expected in searched_again(found, number, taught).items():
                row, count = rows[i], found.rows["counts"][rows[i]]
                actions, weights = found.rows["actions"][row, :count], found.rows["weights"][row, :count]
                assert dict(zip(actions.tolist(), weights.tolist(), strict=True)) == expected.weights
                assert found.rows["values"][row] == expected.value
                assert found.rows["played"][row] == expected.action
                looked += 1
    assert looked == sum((found.rows["counts"][found.games()[number]] > 0).sum() for number in list(found.games())[:6])


def test_random_plies_are_drawn_evenly_and_not_taught():
    found = games("choice")
    for number, indices in found.games().items():
        position = first_position(found.game, number)
        for k, row in enumerate(indices):
            assert found.rows["taught"][row] == (k >= 3)
            if k < 3:
                legal = position.legal()
                assert found.rows["played"][row] == legal[random_below(len(legal), SEED, number, (1 << 20) + k)]
                position.play(int(found.rows["played"][row]))


def test_random_plies_may_be_fewer_and_in_the_middle():
    found = games("middle")
    numbers = []
    for number, indices in found.games().items():
        position, drawn = first_position(found.game, number), random_plies_of(found.settings, number)
        numbers.append(drawn)
        for k, row in enumerate(indices):
            assert found.rows["taught"][row] == (k >= drawn)
            if k < drawn:
                free = [9 * r + c for r in range(3, 6) for c in range(3, 6) if 9 * r + c in position.legal()]
                assert found.rows["played"][row] == free[random_below(len(free), SEED, number, (1 << 20) + k)]
                position.play(int(found.rows["played"][row]))
    assert set(numbers) == {0, 1, 2, 3, 4}


@pytest.mark.parametrize(
    ("game", "values", "problem"),
    [
        ("pylos", {"random_middle": 3}, r"selfplay\.random_middle: must be 0 in pylos.*, not 3"),
        ("gomoku:size=9,opening=swap2", {"random_middle": 5}, r"selfplay\.random_middle: must be 0 in gomoku.*, not 5"),
        ("gomoku:size=9", {"random_middle": 11}, r"selfplay\.random_middle: must be at most 9 in gomoku.*, not 11"),
        ("gomoku:size=9", {"random_middle": 3, "random_plies": 5}, r"random_plies: must lie in 1\.\.4, .*, not 5"),
        ("gomoku:size=9", {"random_fewer": True, "random_plies": 0}, "random_fewer: must be false where random_plies"),
    ],
)
def test_random_plies_that_cannot_be_are_refused(game, values, problem):
    network = (
        {"kind": "tower", "observation": "planes"}
        if game != "pylos"
        else {"kind": "perceptron", "observation": "basic", "hidden": [8]}
    )
    run = {"game": game, "network": network}
    with pytest.raises(BadInput, match=problem):
        check_settings(run | {"selfplay": {"random_plies": 2} | values}, "here")


def test_cheap_rounds_are_not_taught():
    found = games("four seats")
    for number, indices in found.games().items():
        rounds = [found.began[number] + i for i in range(len(indices))]
        assert found.rows["taught"][indices].tolist() == [teaches(found.settings, round) for round in rounds]
    assert 0.3 < found.rows["taught"].mean() < 0.7


@pytest.mark.parametrize("way", WAYS)
def test_the_figures_of_finished_games_are_those_of_the_rows(way):
    found = games(way)
    results = []
    for number, rows in found.games().items():
        positions = positions_of(found, number)
        team, last = found.game.teams[positions[-2].mover], np.sign(found.rows["outcomes"][rows[-1]])
        results.append(last if team == found.game.teams[0] else -last)
    assert found.finished.games == len(results)
    assert found.finished.plies == len(found.rows["games"])
    assert found.finished.wins == results.count(1)
    assert found.finished.losses == results.count(-1)


def test_games_are_numbered_in_the_order_they_begin_and_none_is_lost():
    found = games("lc0")
    under_way = set(found.play.book.games["number"].tolist())
    assert under_way | set(found.games()) == set(range(found.play.begun))
    assert not under_way & set(found.games())


# ---- the ring, seeds, and going on ---------------------------------------------------------------


@pytest.mark.parametrize(("way", "capacity"), [("choice", 500), ("choice", 37), ("four seats", 50)])
def test_a_full_ring_holds_the_newest_rows(way, capacity):
    found = games(way)
    spec, rounds, _ = WAYS[way]
    play = SelfPlay(load(spec), found.settings, SEED, Replay(found.game, found.judge.kind, capacity))
    for _ in range(rounds):
        play.round(found.judge)
    total = len(found.rows["games"])
    assert play.replay.written == total > capacity
    newest = np.arange(total - capacity, total)
    for name, array in play.replay.rows._asdict().items():
        assert (array.numpy()[newest % capacity] == found.rows[name][newest]).all(), name


def test_another_seed_plays_other_games():
    found = games("lc0")
    play = SelfPlay(found.game, found.settings, SEED + 1, Replay(found.game, found.judge.kind, 1 << 13))
    for _ in range(45):
        play.round(found.judge)
    count = min(200, play.replay.filled)
    assert (play.replay.rows.played[:count].numpy() != found.rows["played"][:count]).any()


@pytest.mark.parametrize("way", ["greedy", "choice", "gumbel", "four seats"])
def test_games_taken_up_between_any_two_rounds_go_on_as_if_nothing_had_happened(way):
    found = games(way)
    _, rounds, _ = WAYS[way]
    capacity = 250  # the ring is full after some rounds

    def fresh():
        return SelfPlay(found.game, found.settings, SEED, Replay(found.game, found.judge.kind, capacity))

    straight, stopped, other = fresh(), fresh(), fresh()
    for number in range(rounds):
        assert straight.round(found.judge) == stopped.round(found.judge)
        other = fresh() if number % 8 == 0 else other  # what it holds from before does not matter
        other.load(stopped.state())
        other.replay.load(stopped.replay.state())
        stopped, other = other, stopped
    assert straight.replay.written == stopped.replay.written > capacity
    assert (straight.begun, straight.rounds) == (stopped.begun, stopped.rounds)
    for name, array in straight.replay.rows._asdict().items():
        assert (array == getattr(stopped.replay.rows, name)).all(), name


# ---- corners -------------------------------------------------------------------------------------


def test_games_that_random_plies_end_are_begun_anew():
    game = load(CONNECT_FOUR)
    found = recorded(game, SelfplaySettings(at_once=12, simulations=2, random_plies=25), 30)
    short = [number for number, rows in found.games().items() if not found.rows["counts"][rows].any()]
    assert len(short) > 12
    assert len(found.games()) > len(short)
    for number, indices in found.games().items():
        positions = positions_of(found, number)
        assert ending_of(positions, found.settings) == "by the rules"
        np.testing.assert_allclose(found.rows["outcomes"][indices], outcomes_of(positions, found.settings))
        assert found.rows["taught"][indices].tolist() == [k >= 25 for k in range(len(indices))]


def test_random_plies_that_end_every_game_are_refused(monkeypatch):
    monkeypatch.setattr("rookery.learn.selfplay.MOST_ATTEMPTS", 3)
    settings = SelfplaySettings(at_once=12, simulations=2, random_plies=41)
    with pytest.raises(BadInput, match=r"selfplay\.random_plies: 41 random plies end games of .* give fewer"):
        recorded(load(CONNECT_FOUR), settings, 30)


def test_what_cannot_be_played_is_refused():
    game = load("pylos")
    play = SelfPlay(game, SelfplaySettings(at_once=2, simulations=2), 1, Replay(game, "rich", 8))
    with pytest.raises(BadInput, match="the network sees 'basic', the replay holds 'rich'"):
        play.round(Hashed(game, "basic", policy="logits"))
    state = play.state()
    more = SelfPlay(game, SelfplaySettings(at_once=3, simulations=2), 1, Replay(game, "rich", 8))
    with pytest.raises(BadInput, match="2 games were in play, not 3"):
        more.load(state)
