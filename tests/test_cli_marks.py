"""Bids and whole games of Texas 42 as a person types them: real processes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from rookery import load
from rookery.arena.texas42_playouts import bid_json, bid_lines, chances_for
from rookery.games.texas42_tiles import NAMES
from rookery.search.texas42_bidding import Chances, hand_position
from support import run_rookery

pytestmark = pytest.mark.xdist_group("command line")
HAND = "6-6,6-5,6-4,6-2,5-5,1-0,0-0"
SIXES, NELLO_LOW, SEVENS_FREE = (NAMES.index(name) for name in ("sixes", "nello-low", "sevens-free"))


@pytest.mark.slow
def test_the_chances_of_a_hand_are_printed_for_programs():
    done = run_rookery(
        "bid", "texas42", HAND, "--worlds", "10", "--declaration", "sixes", "--declaration", "nello", "--json"
    )
    told = json.loads(done.stdout)
    assert (told["hand"], told["deals"], told["play"]) == (HAND, 10, "exact")
    assert [row["declaration"] for row in told["rows"]] == ["sixes", "nello"]
    for row in told["rows"]:
        assert list(row["make"]) == [str(bid) for bid in range(30, 43)]
        told_of = {bid: numbers for bid, numbers in row["make"].items() if numbers is not None}
        assert list(told_of) == (["42"] if row["declaration"] == "nello" else list(row["make"]))
        for share, low, high in told_of.values():
            assert 0 <= low <= share <= high <= 1
            assert share * 10 == pytest.approx(round(share * 10))
    assert told["best"]["30"] == "sixes"


def test_the_chances_of_a_hand_are_printed_for_people_as_players_play_it():
    done = run_rookery("bid", "texas42", HAND, "--worlds", "4", "--declaration", "sixes", "--play", "heuristic")
    assert "4 deals, played by heuristic; how often each bid is made" in done.stdout
    assert "sixes" in done.stdout
    assert "95 % interval" in done.stdout


def test_house_contracts_of_the_game_are_played_out_too():
    game = "texas42:auction=redeal,nello=low,sevens=free"
    done = run_rookery("bid", game, HAND, "--worlds", "2", "--play", "heuristic", "--json")
    names = [row["declaration"] for row in json.loads(done.stdout)["rows"]]
    assert (len(names), names[-2:]) == (11, ["nello-low", "sevens-free"])
    asked = ("--declaration", "nello", "--declaration", "ones", "--worlds", "2")
    shown = run_rookery("bid", "texas42", "0-0,1-0,2-0,2-1,3-0,3-1,1-1", *asked).stdout.splitlines()
    assert [line.split()[1] for line in shown if line.startswith(("30 ", "42 and"))] == ["ones", "and"]
    assert next(line for line in shown if line.startswith("nello ")).split()[2:14] == ["-"] * 12


def test_a_contract_that_needs_two_marks_is_told_for_two():
    game = load("texas42:auction=redeal,nello=low,nello_marks=2,sevens=free")
    points = np.array([[30] * 10, [42] * 6 + [0] * 4, [42] * 3 + [0] * 7])
    chances = Chances((SIXES, NELLO_LOW, SEVENS_FREE), points)
    told = bid_json("", game.start(1).state, chances, 0, None)
    assert [row["least_bid"] for row in told["rows"]] == ["30", "2m", "1m"]
    assert (told["best"]["30"], told["best"]["31"], told["best"]["42"]) == ("sixes", "sixes", "sevens-free")
    assert told["best"]["2m"] == "nello-low"
    assert [row["make"]["41"] is None for row in told["rows"]] == [False, True, True]
    shown = bid_lines("", game.start(1).state, chances, None)
    assert next(line for line in shown if line.startswith("nello-low")).endswith("60  after 2m")
    assert shown[-1].split()[:3] == ["2m", "nello-low", "60%"]


def test_how_far_the_deals_are_is_reported():
    position = hand_position(HAND)
    for player in (None, "heuristic"):
        done = []
        chances_for(position, 4, 0, [SIXES, 5], player, 1, done.append)
        assert sum(done) == pytest.approx(8)


def test_whole_games_are_played_and_told(tmp_path):
    path = tmp_path / "hands.jsonl"
    done = run_rookery("marks", "heuristic", "random", "--games", "4", "--threads", "1", "--json", "--hands", str(path))
    told = json.loads(done.stdout)
    assert told["players"] == ["heuristic", "random", "heuristic", "random"]
    assert (told["games"], told["marks"]) == (4, 7)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(lines) == told["hands"]
    shown = run_rookery("marks", "heuristic", "random", "--games", "4", "--threads", "1").stdout
    assert "4 games in pairs of the same deals" in shown


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("bid", "pylos", HAND), "hands of texas42 are bid on, not those of pylos"),
        (("bid", "texas42", "6-6"), "the hand of seat 0 has 1 tiles"),
        (("bid", "texas42", HAND, "--declaration", "eights"), "'eights' is no declaration"),
        (("bid", "texas42", HAND, "--declaration", "doubles-suit"), "not one a bidder may name"),
        (("bid", "texas42", HAND, "--play", "nobody"), "there is no kind 'nobody'"),
        (("bid", "texas42", HAND, "--seed", "99999999999999999999"), "seed must be a whole number in -92"),
        (("bid", "texas42:declaration=sixes", HAND), "texas42:declaration=sixes has no auction"),
        (("marks", "random", "random", "--hands", "no/such/file"), "--hands no/such/file: a file in a folder that is"),
        (("marks", "random", "random", "--games", "3"), "games must be an even number"),
        (("marks", "random", "random", "--game", "texas42"), "auction=redeal"),
    ],
)
def test_bad_input_is_told_in_one_line(arguments, complaint):
    done = run_rookery(*arguments)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
