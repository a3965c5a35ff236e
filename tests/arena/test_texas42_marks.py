"""Whole games of Texas 42: marks, mirrored deals, who wins, and what is refused."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from rookery import BadInput, load
from rookery.arena.player import Choice, PlayerFailed, turn_of
from rookery.arena.players import make_player
from rookery.arena.texas42_marks import (
    MarksSettings,
    Table,
    hands_json,
    marks_json,
    marks_lines,
    play_marks,
    variants_of,
)
from support import HOUSE_42

GAME = load("texas42:auction=redeal")


def played(texts, spec=GAME.spec, **settings):
    return play_marks(load(spec), texts, MarksSettings(**({"games": 6, "seed": 3} | settings)))


def slow_game(spec, texts, number, seed, target):
    """One game as the rules say it: hands with the shaker moving on, marks added up; returns (sides' marks, texts)."""
    game = load(spec)
    players = [make_player(text, game) for text in texts]
    marks, told, ply = [0, 0], [], 0
    while max(marks) < target:
        hand = len(told)
        table = Table(variants_of(game), number, MarksSettings(games=2, seed=seed))
        table.game.hands = [None] * hand  # deals hand number `hand`
        table.deal()
        position = table.position
        assert position.mover == (game.first + hand) % 4
        while not position.over:
            player = players[(position.mover - number % 2) % 4]
            from rookery.arena.player import turn_seed

            turn = turn_of(player, position, position, (), seed=turn_seed(seed, number, ply))
            position.play(player.choose(turn).action)
            ply += 1
        told.append(position.text())
        for seat in (0, 1):
            won = round(7 * position.payoff(seat))
            marks[(seat + number) % 2] += max(won, 0)
    return tuple(marks), told


@pytest.mark.parametrize("spec", [GAME.spec, "texas42:auction=forced,first=2", HOUSE_42])
def test_games_are_hands_in_turn_until_a_side_has_its_marks(spec):
    texts = ("heuristic", "random", "random", "heuristic")
    match = played(texts, spec, games=4)
    for number, game in match.games.items():
        marks, told = slow_game(spec, texts, number, 3, 7)
        assert game.marks == marks
        assert [hand.text for hand in game.hands] == told
        assert max(game.marks) >= 7
        assert max(sum(hand.marks[team] for hand in game.hands[:-1]) for team in (0, 1)) < 7


def test_both_games_of_a_pair_have_the_same_deals_with_the_teams_swapped():
    match = played(("heuristic", "random"), games=8)
    for first, second in match.pairs:
        for one, two in zip(first.hands, second.hands, strict=False):
            assert one.text.split()[2:4] == two.text.split()[2:4]  # who begins, and all hands
        assert (first.side_of(0), second.side_of(0)) == (0, 1)
    deals = [game.hands[0].text.split()[3] for game, _ in match.pairs]
    assert len(set(deals)) == len(deals)


def test_the_same_player_on_both_sides_plays_both_games_of_a_pair_alike():
    match = played(("heuristic", "heuristic"), games=8)
    for first, second in match.pairs:
        assert [hand.text for hand in first.hands] == [hand.text for hand in second.hands]
        assert first.marks == second.marks[::-1]
    assert match.score.score == 0.5
    assert match.difference[0] == 0


def test_games_do_not_depend_on_threads_or_on_those_beside_them():
    texts = ("random", "heuristic", "random", "random")
    alone, together = played(texts, games=8, at_once=1), played(texts, games=8, at_once=5, threads=2)
    assert hands_json(alone) == hands_json(together)
    assert hands_json(alone) != hands_json(played(texts, games=8, seed=4))


def test_results_add_up_and_favour_the_better_side():
    match = played(("heuristic", "random"), games=20)
    told = marks_json(match)
    wins = sum(g.marks[0] > g.marks[1] for g in match.counted)
    assert (told["wins"], told["games"]) == (wins, 20)
    assert told["score"] == wins / 20 > 0.8
    differences = [sum(g.marks[0] - g.marks[1] for g in pair) / 2 for pair in match.pairs]
    assert told["marks_a_game"] == pytest.approx(np.mean(differences))
    assert told["marks_interval"][0] < told["marks_a_game"] < told["marks_interval"][1]
    hands = [json.loads(json.dumps(line)) for line in hands_json(match)]
    bid = [hand for hand in hands if hand["bid"]]
    assert sum(side["contracts"] for side in told["sides"]) == len(bid)
    assert sum(side["made"] for side in told["sides"]) == sum(hand["made"] for hand in bid)
    names = [hand["team0"] if hand["declarer"] % 2 == 0 else hand["team1"] for hand in bid]
    assert told["sides"][0]["contracts"] == names.count("heuristic")
    assert told["hands"] == len(hands)
    assert any("won by the first" in line for line in marks_lines(match))


def test_made_contracts_bring_marks_to_their_side_and_set_ones_to_the_other():
    match = played(("random", "heuristic"), games=6)
    for game in match.counted:
        for hand in game.hands:
            position = GAME.position(hand.text)
            declaring = hand.declarer % 2
            worth = int(hand.bid[:-1]) if hand.bid.endswith("m") else 1
            winner = declaring if hand.made else 1 - declaring
            assert hand.marks[winner] == worth
            assert hand.marks[1 - winner] == 0
            assert (position.payoff(hand.declarer) > 0) == hand.made


class Passer:
    """Passes if it may."""

    name, sees_all, at_terminal = "passer", False, False

    def choose_many(self, turns):
        return [Choice(int(turn.position.legal()[0])) for turn in turns]

    def prepare(self, start):
        pass

    def close(self):
        pass


def test_a_game_in_which_all_pass_for_ever_is_left_as_a_draw(monkeypatch):
    monkeypatch.setattr("rookery.arena.texas42_marks.make_player", lambda text, game: Passer())
    monkeypatch.setattr("rookery.arena.texas42_marks.MOST_HANDS", 20)
    match = played(("a", "b"), games=2)
    assert [len(game.hands) for game in match.counted] == [20, 20]
    assert (match.score.draws, match.score.score) == (2, 0.5)
    assert marks_json(match)["passed_out"] == 40
    assert all(not hand.bid and hand.marks == (0, 0) for game in match.counted for hand in game.hands)


def test_a_move_that_is_not_legal_is_told_with_its_player(monkeypatch):
    class Wrong(Passer):
        def choose_many(self, turns):
            return [Choice(30) for _ in turns]

    monkeypatch.setattr("rookery.arena.texas42_marks.make_player", lambda text, game: Wrong())
    with pytest.raises(PlayerFailed, match="passer makes the move 30, not legal in"):
        played(("a", "b"), games=2)


def test_an_interrupt_ends_the_games_and_what_is_finished_counts():
    def finished(match):
        if len(match.games) >= 4:
            raise KeyboardInterrupt

    match = play_marks(GAME, ("random", "random"), MarksSettings(games=40, at_once=2), finished)
    assert match.interrupted
    assert 2 <= len(match.pairs) < 20
    assert marks_json(match)["interrupted"]


def test_one_pair_has_no_interval_of_marks():
    told = marks_json(played(("heuristic", "random"), games=2))
    assert told["marks_interval"] is None
    assert math.isfinite(told["marks_a_game"])
    json.dumps(told)


@pytest.mark.parametrize(
    ("texts", "spec", "settings", "complaint"),
    [
        (("random",), GAME.spec, {}, "1 players are named; whole games need two, one a team, or four"),
        (("random",) * 3, GAME.spec, {}, "3 players are named"),
        (("random",) * 2, "texas42", {}, "whole games need texas42 with auction=redeal or auction=forced, not texas42"),
        (("random",) * 2, "pylos", {}, "not pylos"),
        (("random",) * 2, GAME.spec, {"games": 3}, "games must be an even number"),
        (("random",) * 2, GAME.spec, {"marks": 0}, "marks must be a whole number in 1..1000, not 0"),
        (("mcts",) * 2, GAME.spec, {}, "named oracle:mcts"),
    ],
)
def test_what_makes_no_whole_game_is_refused(texts, spec, settings, complaint):
    with pytest.raises(BadInput, match=complaint):
        played(texts, spec, **settings)
