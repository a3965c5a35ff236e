"""Players of Texas 42: what they choose, and that they are better than chance on mirrored deals."""

from __future__ import annotations

import numpy as np
import pytest

from arena.scripted import turn_at
from games.slow_texas42 import HAND_22
from rookery import BadInput, load, make_player
from rookery.arena.matches import MatchSettings, play_match
from rookery.arena.player import turn_of
from rookery.games import texas42
from rookery.search.expected import Exact, expected
from rookery.search.posterior import Habits
from search.test_worlds import played_to

GAME = load("texas42")
EXACT = Exact()


def chosen(text, position, seed=3):
    """The choice of a player, handed what it may see."""
    player = make_player(text, position.game)
    return player.choose(turn_of(player, position, position, (), seed=seed))


def tile_played(text, hand, plays, declaration="sixes", leader=0):
    """What a player plays with a hand of which only it knows, after some plays of hidden hands."""
    hands = [None, None, None, None]
    mover = (leader + len(plays)) % 4
    hands[mover] = hand.split()
    position = GAME.set_up(hands, declaration, leader, plays)
    return position.move_text(chosen(text, position).action)


# ---- expected values -----------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["mean", "make"])
def test_a_player_takes_what_is_best_on_average_by_its_rule(rule):
    for seed, plays in ((1, 9), (2, 14), (3, 18)):
        position, _ = played_to(seed, plays)
        wanted = expected(position, 20, 3, EXACT).choice(rule)
        found = chosen(f"eq:worlds=20,choice={rule}", position)
        assert found.action == wanted
        assert found.analysis.action == found.analysis.lines[0].action == wanted
        assert len(found.analysis.lines) == len(position.legal())
        assert all(-1 <= line.value <= 1 for line in found.analysis.lines)


def test_the_value_of_a_player_is_the_final_difference_or_the_chance_of_the_bid():
    position = GAME.set_up(texas42.deal(42), 6, 0, HAND_22.split()[:27])  # ends 13 to 29; West is to play
    assert (position.mover, texas42.points(position)) == (1, (12, 29))
    for text in ("eq", "oracle:exact"):
        assert chosen(text, position).analysis.value == pytest.approx((29 - 13) / 42)
    assert chosen("eq:choice=make", position).analysis.value == 1  # a bid of 30 was not made by team 0


def test_the_options_of_a_player_reach_it():
    player = make_player("eq:worlds=7,choice=make,last=5,tau=3,mix=0.2,threads=2", GAME)
    assert (player.worlds, player.rule, player.habits) == (7, "make", Habits(3.0, 0.2, 5))
    assert player.exact.solver.threads == 2
    assert player.name == "eq:worlds=7,choice=make,last=5,tau=3,mix=0.2,threads=2"
    plain = make_player("eq:worlds=100,oracle=exact", GAME)
    assert (plain.name, plain.worlds, plain.rule, plain.habits) == ("eq", 100, "mean", None)


def test_worlds_are_drawn_by_the_seed_of_the_turn():
    position, _ = played_to(5, 6)
    values = {seed: chosen("eq:worlds=5", position, seed).analysis.value for seed in range(4)}
    assert len(set(values.values())) > 1
    assert chosen("eq:worlds=5", position, 2).analysis.value == values[2]


def test_an_analysis_says_how_many_worlds_were_looked_at():
    assert chosen("eq:worlds=5", played_to(5, 6)[0]).analysis.note == "5 worlds"
    assert chosen("eq", played_to(5, 26)[0]).analysis.note.startswith("all ")
    assert ", effective " in chosen("eq:worlds=30,last=8,tau=1", played_to(5, 13)[0]).analysis.note


def test_a_player_that_is_told_to_stop_answers_at_once():
    position = GAME.start(1)
    player = make_player("eq:worlds=100000", GAME)
    turn = turn_at(position.seen_by(0))
    turn.stop[0] = 1
    assert player.choose(turn).action in position.legal()


# ---- hidden hands --------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["texas42", "texas42:auction=redeal"])
@pytest.mark.parametrize("text", ["random", "heuristic", "eq:worlds=2", "bidder:heuristic,by=heuristic"])
def test_who_is_to_choose_for_a_hidden_hand_is_told_so(text, spec):
    seen = load(spec).start(1).seen_by(2)
    with pytest.raises(BadInput, match=f"the hand of South is hidden in .*; {text}.* needs it to choose"):
        chosen(text, seen)


@pytest.mark.parametrize("text", ["oracle:exact", "oracle:mcts:sims=4"])
def test_who_sees_all_hands_is_told_which_is_hidden(text):
    with pytest.raises(BadInput, match=f"the hand of West is hidden in .*; {text} needs all hands; one without oracle"):
        chosen(text, GAME.start(1).seen_by(0))


# ---- all hands open ------------------------------------------------------------------------------


def test_an_oracle_plays_one_of_the_best_and_not_always_the_first():
    position = GAME.set_up(texas42.deal(0), 0, 0)  # leads worth 42 38 42 42 38 42 42
    actions = {chosen("oracle:exact", position, seed).action for seed in range(30)}
    assert actions == {0, 2, 3, 5, 6}


def test_two_oracles_reach_the_exact_value():
    for seed in range(3):
        position = GAME.set_up(texas42.deal(seed), seed, 0)
        value = int(EXACT(position.states)[0][position.legal()].max())
        while not position.over:
            position.play(chosen("oracle:exact", position, seed).action)
        taken = texas42.points(position)
        assert taken[0] - taken[1] == value


# ---- rules of thumb ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hand", "plays", "wanted"),
    [
        ("6-6 6-5 6-2 3-1 2-1 1-0 0-0", [], "6-6"),  # trumps are drawn
        ("5-5 5-4 4-0 3-1 2-1 1-0 3-0", [], "5-5"),  # the best of its suit, with count
        ("5-0 4-1 3-1 3-0 2-1 2-0 1-0", [], "1-0"),  # nothing wins: no count
        ("6-4 5-0 3-2 4-4 4-3 1-0 2-0", ["5-5", "5-1"], "5-0"),  # follow, the partner's double is best of its suit
        ("5-0 4-1 3-2 4-4 4-3 1-0 2-0", ["6-6", "6-1"], "5-0"),  # the partner cannot be beaten: count
        ("5-0 4-1 3-2 6-6 4-3 1-0 2-0", ["3-3", "3-0", "3-1"], "4-3"),  # the others win: no count
        ("5-0 4-1 6-2 4-4 4-2 1-0 2-0", ["3-3", "3-0", "3-1"], "6-2"),  # last, and the trick can be won
        ("5-0 4-1 2-2 4-4 4-3 1-0 2-0", ["6-6", "6-1", "6-2"], "1-0"),  # the others win: nothing worth anything
    ],
)
def test_a_plain_player_keeps_its_rules(hand, plays, wanted):
    assert tile_played("heuristic", hand, plays) == wanted


@pytest.mark.parametrize("text", ["heuristic", "eq:worlds=3", "oracle:exact"])
def test_players_bid_and_name_legally_and_play_on(text):
    game = load("texas42:auction=forced")
    player = make_player(text, game)
    for seed in range(3):
        position = game.start(seed)
        while not position.over:
            action = player.choose(turn_of(player, position, position, (), seed=seed)).action
            assert action in position.legal()
            position.play(action)
        assert position.state["high_bid"] > 1


def test_a_strong_hand_is_bid_and_its_trumps_are_named():
    game = load("texas42:auction=redeal")
    hands = [["6-6", "6-5", "6-4", "6-2", "5-5", "4-4", "1-0"], None, None, None]
    strong = game.set_up(hands, None)
    assert strong.move_text(chosen("heuristic", strong).action) == "30"
    named = game.set_up(hands, None, 0, (), ["30", "pass", "pass", "pass"])
    assert named.move_text(chosen("heuristic", named).action) == "sixes"
    weak = game.set_up([["5-1", "4-2", "3-0", "2-1", "6-3", "5-4", "1-0"], None, None, None], None)
    assert weak.move_text(chosen("heuristic", weak).action) == "pass"


# ---- matches -------------------------------------------------------------------------------------


def points_won(first, second, games, threads=1, seed=0):
    """Points a game of the first player, on deals that are played twice, and the games themselves."""
    settings = MatchSettings(games=games, threads=threads, seed=seed)
    match = play_match(GAME, lambda: make_player(first, GAME), lambda: make_player(second, GAME), settings)
    assert set(match.reasons) == {"end by the rules"}
    for number in range(0, games, 2):
        assert match.records[number].start == match.records[number + 1].start
    return [42 * record.payoff * (1 - 2 * (number % 2)) for number, record in sorted(match.records.items())], match


def test_the_plain_player_beats_chance():
    points, _ = points_won("heuristic", "random", 60)
    pairs = np.array(points).reshape(-1, 2).mean(axis=1)
    assert pairs.mean() > 3 * pairs.std(ddof=1) / np.sqrt(len(pairs))


@pytest.mark.slow
def test_expected_values_beat_the_plain_player():
    points, _ = points_won("eq:worlds=10", "heuristic", 80)
    pairs = np.array(points).reshape(-1, 2).mean(axis=1)
    assert pairs.mean() > 2 * pairs.std(ddof=1) / np.sqrt(len(pairs))


def test_a_match_does_not_depend_on_threads():
    _, one = points_won("eq:worlds=3", "heuristic", 4)
    _, two = points_won("eq:worlds=3", "heuristic", 4, threads=2)
    assert [one.records[i].actions for i in range(4)] == [two.records[i].actions for i in range(4)]
