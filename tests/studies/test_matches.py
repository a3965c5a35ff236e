"""Matches of studies: stopped and gone on with, kept in files, played anew where somebody is another."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rookery.arena import crowd
from rookery.errors import BadInput
from rookery.games.library import load
from rookery.studies.matches import Found, Meeting, Table, known_of, read_match
from studies.gomoku_made_up import pairs, saved


def test_games_of_a_match_are_handed_to_the_fit_by_who_began():
    found = Found({"games": 4}, {0: (1.0, 0.5), 1: (0.0, 1.0)})
    assert found.results("us", "them") == [
        ("us", "them", 1.0, 1), ("us", "them", 0.0, 1), ("them", "us", 0.5, 1), ("them", "us", 0.0, 1),
    ]  # fmt: skip
    assert found.complete
    assert found.facts()["score"] == 0.625


def test_a_damaged_match_is_told(tmp_path):
    (tmp_path / "matches").mkdir()
    (tmp_path / "matches" / "m.json").write_text("{}")
    with pytest.raises(BadInput, match=r"m\.json is damaged"):
        read_match(tmp_path, "m")
    assert read_match(tmp_path, "other") is None


def test_a_match_comes_back_from_its_file(tmp_path):
    found = Found({"first": "x", "games": 20}, pairs(0.6), 3.5)
    Table(tmp_path, "cpu", lambda: False).keep("m", found)
    assert read_match(tmp_path, "m") == found


def test_a_match_in_other_numbers_is_another_match_and_is_played_in_them(tmp_path):
    first = saved(tmp_path / "first.pth")
    meeting = Meeting("m", "gomoku:size=5", first, "random", 2, 2)
    rough = replace(meeting, precision="bf16")
    assert "precision" not in meeting.identity()
    assert rough.identity() == meeting.identity() | {"precision": "bf16"}
    table, game = Table(tmp_path, "cpu", lambda: False), load(meeting.game)
    found = [table.network(first, game, each, "first").evaluator.precision for each in (meeting, rough)]
    assert found == ["32", "bf16"]


@pytest.mark.slow
@pytest.mark.parametrize("rival", ["random", "network"])
def test_a_match_that_was_stopped_goes_on_and_ends_as_if_it_had_not(tmp_path, rival):
    first = saved(tmp_path / "first.pth")
    second = rival if rival == "random" else saved(tmp_path / "second.pth", seed=1)
    meeting = Meeting("m", "gomoku:size=5", first, second, 40, 4)
    assert Table(tmp_path / "whole", "cpu", lambda: False).play(meeting)
    answers = iter([False] * 16 + [True] * 1000)  # time is up some games into the match
    assert not Table(tmp_path / "parts", "cpu", lambda: next(answers)).play(meeting)
    between = read_match(tmp_path / "parts", "m")
    assert 0 < len(between.pairs) < 20
    assert Table(tmp_path / "parts", "cpu", lambda: False).play(meeting)
    assert read_match(tmp_path / "parts", "m").pairs == read_match(tmp_path / "whole", "m").pairs


@pytest.mark.slow
def test_a_match_is_played_anew_for_another_network(tmp_path):
    network = saved(tmp_path / "first.pth")
    meeting = Meeting("m", "gomoku:size=5", network, "random", 4, 4)
    table = Table(tmp_path, "cpu", lambda: False)
    table.play(meeting)
    before = read_match(tmp_path, "m").identity
    saved(network, seed=2)
    table.play(meeting)
    assert read_match(tmp_path, "m").identity["first"] != before["first"]


@pytest.mark.slow
def test_a_match_with_fours_is_another_match_and_wins_are_not_missed(tmp_path):
    network = saved(tmp_path / "first.pth", size=7)
    plain = Meeting("m", "gomoku:size=7", network, "random", 40, 4)
    table = Table(tmp_path, "cpu", lambda: False)
    scores = []
    for meeting in (plain, replace(plain, fours=True)):
        assert not known_of(tmp_path, meeting).pairs
        assert table.play(meeting)
        scores.append(known_of(tmp_path, meeting).score.score)
    assert scores[1] > scores[0]


@pytest.mark.slow
def test_games_do_not_depend_on_the_parts_they_are_searched_in(tmp_path, monkeypatch):
    meeting = Meeting("m", "gomoku:size=5", saved(tmp_path / "first.pth"), "random", 20, 4)
    Table(tmp_path / "whole", "cpu", lambda: False).play(meeting)
    monkeypatch.setattr(crowd, "LEAST_OF_PART", 3)
    monkeypatch.setattr(crowd.Crowd, "parts", 4)
    table = Table(tmp_path / "parts", "cpu", lambda: False)
    table.play(meeting)
    assert read_match(tmp_path / "parts", "m").pairs == read_match(tmp_path / "whole", "m").pairs
