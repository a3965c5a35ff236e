"""Contests of the page without a browser: live games, pause and step, leases, scores and tables."""

from __future__ import annotations

import math
import threading
import time

import pytest

from rookery.arena.ledger import Ledger
from rookery.arena.matches import MatchSettings, play_match
from rookery.arena.player import Choice, Player
from rookery.arena.players import make_player
from rookery.arena.ratings import fit
from rookery.arena.score import Score
from rookery.errors import BadInput
from rookery.games.library import load
from rookery.web import contests
from rookery.web.charts import ratings_options
from rookery.web.contests import Contest, Contests, Order
from rookery.web.games import OFFERS
from rookery.web.opponents import opponents_for
from rookery.web.standings import choices_of, crosstable, ledger_ratings, live_picture, live_text, score_text

SPEC = "gomoku:size=9"
PATIENCE = 60.0


class First(Player):
    """Plays the first or the last legal move, and remembers what it was shown."""

    def __init__(self, name, place=0):
        self.name, self.place, self.turns = name, place, []

    def choose(self, turn):
        self.turns.append(turn)
        return Choice(int(turn.position.legal()[self.place]))


def make_quick(text, game):
    return make_player("random", game)


def make(text, game):
    return First(text, -1 if text == "last" else 0)


@pytest.fixture
def begun(monkeypatch):
    """Return what begins a contest of quick players, and end it afterwards."""
    made = []
    monkeypatch.setattr(contests, "BREATH", 0.0)  # no page waits here

    def begin(texts=("first", "last"), games=2, paused=False, spec=SPEC, maker=make, **more):
        contest = Contest(
            Order(spec, texts, games, 7, **more.pop("order", {})), threading.Semaphore(2), make=maker, **more
        )
        contest.paused = paused
        contest.thread.start()
        made.append(contest)
        return contest

    yield begin
    for contest in made:
        contest.end()
        contest.thread.join(PATIENCE)


def until(contest, condition):
    """Look at a contest until something is so."""
    end = time.monotonic() + PATIENCE
    while not condition():
        contest.read()
        assert time.monotonic() < end, contest.trouble
        time.sleep(0.005)


def test_a_contest_of_two_is_the_match_that_the_arena_plays(begun):
    contest = begun(("greedy", "random"), games=4, maker=make_player)
    until(contest, lambda: contest.over)
    assert contest.trouble == ""
    assert (contest.finished, contest.planned) == (4, 4)
    game = load(SPEC)
    makers = [lambda text=text: make_player(text, game) for text in ("greedy", "random")]
    assert contest.scores[0, 1].pairs == play_match(game, *makers, MatchSettings(games=4, seed=7)).score.pairs


def lives(contest):
    """Return what is on the boards, once there is something."""
    until(contest, lambda: all(table.live for table in contest.tables))
    return [table.live for table in contest.tables]


def test_a_pause_holds_and_a_step_plays_exactly_one_move(begun):
    contest = begun(paused=True)
    lives(contest)
    before = contest.version
    for number in (1, 2, 3):
        contest.step()
        until(contest, lambda number=number: contest.version == before + number)
        time.sleep(0.15)
        contest.read()
        assert contest.version == before + number
    (live,) = lives(contest)
    assert len(live.actions) >= 3  # and the opening
    picture = live_picture(live)
    assert sum(man.symbol in ("gomoku-x", "gomoku-o") for man in picture.men) == len(live.actions)
    contest.set_paused(False)
    until(contest, lambda: contest.over)
    assert contest.finished == 2


def test_games_side_by_side_are_those_of_one_board(begun):
    one, four = (begun(("greedy", "random"), 6, maker=make_player, order={"boards": boards}) for boards in (1, 4))
    for contest in (one, four):
        until(contest, lambda contest=contest: one.read() and contest.over)
        assert contest.trouble == ""
    assert len(four.tables) == 4
    assert four.scores[0, 1].pairs == one.scores[0, 1].pairs


def test_steps_go_round_the_boards_and_a_pause_stops_all(begun):
    contest = begun(games=20, paused=True, order={"boards": 4})
    lives(contest)
    for _ in range(8):
        before = contest.version
        contest.step()
        until(contest, lambda before=before: contest.version == before + 1)
        time.sleep(0.05)  # the table must want to move again
    played = [len(live.actions) for live in lives(contest)]
    assert max(played) - min(played) <= 1
    contest.set_paused(False)
    until(contest, lambda: contest.finished >= 1)
    contest.set_paused(True)
    time.sleep(0.1)
    before = contest.version
    time.sleep(0.2)
    contest.read()
    assert contest.version == before


def test_a_board_names_who_holds_which_side(begun):
    contest = begun(paused=True, order={"names": ("Anna", "Berta")})
    (start,) = lives(contest)
    assert live_text(start, contest.order.labels) == ("Black: Anna", "White: Berta", "move 0")
    contest.set_paused(False)
    until(contest, lambda: contest.over)
    (live,) = lives(contest)
    black, white, state = live_text(live, contest.order.labels)
    assert (black, white) == ("Black: Berta", "White: Anna")  # the second game of the pair
    assert state.endswith(f" won after {len(live.actions)} moves")


@pytest.mark.slow
@pytest.mark.parametrize("spec", [spec for offer in OFFERS.values() for spec in offer.variants.values()])
def test_the_live_board_of_every_game_is_drawn(begun, spec):
    contest = begun(("one", "another"), paused=True, spec=spec, maker=make_quick)
    assert live_picture(lives(contest)[0])
    for _ in range(5):
        before = contest.version
        contest.step()
        until(contest, lambda before=before: contest.version > before)
        assert live_picture(lives(contest)[0]).men
    contest.end()
    contest.thread.join(PATIENCE)
    assert contest.trouble == ""


def test_nothing_is_played_while_nobody_looks(begun, monkeypatch):
    monkeypatch.setattr(contests, "LEASE", 0.2)
    contest = begun(games=1000)
    until(contest, lambda: contest.version > 3)
    end, before = time.monotonic() + PATIENCE, -1
    while contest.version != before:  # a move that was being thought about may still be made
        assert time.monotonic() < end
        before = contest.version
        time.sleep(0.5)
    time.sleep(0.3)
    assert contest.version == before
    assert not contest.over
    until(contest, lambda: contest.version > before)
    monkeypatch.setattr(contests, "ABANDONED", 0.3)
    contest.thread.join(PATIENCE)
    assert contest.over


def test_the_pace_is_kept_and_limited(begun):
    contest = begun(paused=True)
    lives(contest)
    contest.set_pace(1e9)
    assert contest.pace == contests.LONGEST_PACE
    contest.set_pace(0.2)
    contest.set_paused(False)
    began, before = time.monotonic(), contest.version
    until(contest, lambda: contest.version >= before + 4)
    assert time.monotonic() - began >= 0.6


def test_an_end_is_soon_and_what_is_finished_counts(begun):
    contest = begun(games=1000)
    until(contest, lambda: contest.finished >= 2)
    contest.end()
    contest.thread.join(PATIENCE)
    assert contest.over
    assert contest.trouble == ""
    assert 2 <= contest.finished < 1000
    assert contest.scores[0, 1].pairs


def test_a_player_that_cannot_be_made_is_told(begun):
    contest = begun(("nonsense", "random"), maker=make_player)
    contest.thread.join(PATIENCE)
    assert "nonsense" in contest.trouble


def test_players_inside_a_contest_see_only_what_their_seat_may_see(begun):
    players = []

    def remember(text, game):
        players.append(make(text, game))
        return players[-1]

    contest = begun(spec="texas42", maker=remember)
    until(contest, lambda: contest.over)
    assert contest.trouble == ""
    turns = [turn for player in players for turn in player.turns]
    assert len(turns) == 2 * 28
    for turn in turns:
        assert turn.position.text() == turn.position.seen_by(turn.position.mover).text()
        assert turn.moves == ()


def test_a_round_robin_is_a_table_whose_halves_agree(begun):
    contest = begun(("first", "last", "third"))
    until(contest, lambda: contest.over)
    assert contest.planned == contest.finished == 6
    rows = crosstable(contest)
    for one in range(3):
        assert rows[one][one] == ("–", None)
        for other in range(one):
            assert rows[one][other][1] + rows[other][one][1] == 1
    assert sum(float(row[-1][0].split(" / ")[0]) for row in rows) == 6


def test_scores_are_told_with_their_intervals():
    assert score_text(None) == "No pair of games is finished yet."
    assert "two pairs" in score_text(Score(((1.0, 0.0),)))
    told = score_text(Score(((1.0, 0.5), (1.0, 0.0), (0.5, 0.5), (1.0, 0.0))))
    assert told.startswith("4.5 of 8 points (56 %), 95 % interval ")
    assert "Elo +44 (" in told
    assert score_text(Score(((1.0, 1.0), (1.0, 1.0)))).endswith("+∞).")


@pytest.mark.parametrize(
    ("texts", "games"),
    [(("random",), 2), (("random", "random"), 2), (("a", "b"), 3), (("a", "b"), 0), (("a", "b"), 10**7),
     (("a", "b"), 2.5), (("a", "b"), "2"), (("a", "b"), None), (tuple("abcdefghi"), 2)],
)  # fmt: skip
def test_wrong_orders_are_refused(texts, games):
    with pytest.raises(BadInput):
        Order(SPEC, texts, games, 1)


@pytest.mark.parametrize("wrong", [{"boards": 0}, {"boards": 10}, {"boards": None}, {"opening": "/etc/passwd"}])
def test_wrong_boards_and_openings_are_refused(wrong):
    with pytest.raises(BadInput):
        Order(SPEC, ("a", "b"), 2, 1, **wrong)


def test_openings_are_those_that_were_chosen(begun):
    contest = begun(paused=True, order={"opening": "random:6"})
    lives(contest)
    before = contest.version
    contest.step()
    until(contest, lambda: contest.version > before)
    assert len(lives(contest)[0].actions) == 6 + 1


def test_a_visitor_has_one_contest_of_a_kind_and_all_together_have_a_limit(monkeypatch):
    monkeypatch.setattr(contests, "MOST_CONTESTS", 1)
    all_of_them, order = Contests(1), Order(SPEC, ("random", "greedy"), 1000, 1)
    try:
        first = all_of_them.start("anna", "match", order)
        second = all_of_them.start("anna", "match", order)
        assert (first.ended, second.ended) == (True, False)
        assert all_of_them.find("anna", "match") is second
        with pytest.raises(BadInput, match="contests are being played"):
            all_of_them.start("bert", "match", order)
        assert all_of_them.find("bert", "match") is None
    finally:
        all_of_them.close()
    assert second.over
    first.thread.join(PATIENCE)


def test_kept_games_are_in_the_ledger_and_rated(begun, tmp_path):
    path, game = tmp_path / "ledger.sqlite", load(SPEC)
    assert ledger_ratings(game, path) is None
    contest = begun(order={"keep": True}, ledger=path)
    until(contest, lambda: contest.over)
    with Ledger(path) as ledger:
        assert sum(ledger.count().values()) == 2
    rated = ledger_ratings(game, path)
    assert {rating.player for rating in rated.ratings} == {"first", "last"}


def test_a_plot_of_ratings_has_a_dot_and_a_bar_for_each_that_is_not_fixed():
    fitted = fit([("a", "random", 1.0, 7), ("a", "random", 0.0, 3), ("random", "a", 1.0, 2), ("random", "a", 0.0, 8)])
    options = ratings_options(fitted.ratings, [rating.player for rating in fitted.ratings])
    *bars, dots = options["series"]
    assert options["yAxis"]["data"] == ["random", "a"]
    assert len(dots["data"]) == 2
    low, high = (point[0] for point in bars[0]["data"])
    assert len(bars) == 1
    assert math.isclose((low + high) / 2, fitted["a"].elo)


def test_every_choice_is_a_player_of_the_list():
    game = load(SPEC)
    choices = choices_of(opponents_for(game, with_networks=False))
    assert choices["Random moves"] == "random"
    assert choices["Alpha-beta, 2 plies"] == "alphabeta:depth=2"
    assert len(choices) == sum(len(each.levels) for each in opponents_for(game, with_networks=False))
