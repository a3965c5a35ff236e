"""The joint fit: against a slow optimiser, in simulations, and at its edges."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from rookery.arena.ratings import Z95, fit, parse_pin
from rookery.errors import BadInput

TRUTH = {"random": 0.0, "a": 150.0, "b": 300.0, "c": 320.0, "d": 700.0}


def chances(ahead, nu):
    """Win, draw and loss of who begins, straight from the model."""
    d = ahead * math.log(10) / 400 * (1 + nu / 2)
    weights = [math.exp(d / 2), nu, math.exp(-d / 2)]
    return [weight / sum(weights) for weight in weights]


def simulated(truth, advantage, nu, games, rng):
    """Results of a tournament in which everybody begins `games` times against everybody."""
    results = []
    for first, second in itertools.permutations(truth, 2):
        counts = rng.multinomial(games, chances(truth[first] - truth[second] + advantage, nu))
        results += [(first, second, score, int(n)) for score, n in zip((1.0, 0.5, 0.0), counts, strict=True) if n]
    return results


def slow_log_posterior(results, ratings, advantage, tau):
    """Likelihood times prior, game by game."""
    nu = math.exp(tau)
    total = -((advantage / 2000) ** 2) / 2 - (tau / 5) ** 2 / 2
    total -= sum((elo / 2000) ** 2 / 2 for player, elo in ratings.items() if player != "random")
    for first, second, score, number in results:
        win, draw, loss = chances(ratings[first] - ratings[second] + advantage, nu)
        total += number * math.log({1.0: win, 0.5: draw, 0.0: loss}[score])
    return total


def slow_fit(results, players):
    """Try a step up and down in every parameter, halve the steps when none helps: slow, and obviously right."""
    x = dict.fromkeys(players, 0.0) | {"advantage": 0.0, "tau": 0.0}
    steps = dict.fromkeys(x, 64.0) | {"tau": 1.0}

    def value(x):
        return slow_log_posterior(results, {player: x[player] for player in players}, x["advantage"], x["tau"])

    best = value(x)
    while max(steps.values()) > 1e-3:
        before = best
        for name, sign in itertools.product(x, (1, -1)):
            if name == "random":
                continue
            tried = x | {name: x[name] + sign * steps[name]}
            if value(tried) > best:
                x, best = tried, value(tried)
        if best == before:
            steps = {name: step / 2 for name, step in steps.items()}
    return x


@pytest.mark.parametrize("seed", range(3))
def test_the_fit_finds_what_a_slow_search_finds(seed):
    rng = np.random.default_rng(seed)
    truth = {"random": 0.0, "a": 250.0, "b": -200.0}
    results = simulated(truth, 40.0, 1.2, 12, rng)
    slow, fast = slow_fit(results, list(truth)), fit(results)
    assert fast["a"].elo == pytest.approx(slow["a"], abs=1.0)
    assert fast["b"].elo == pytest.approx(slow["b"], abs=1.0)
    assert fast.advantage == pytest.approx(slow["advantage"], abs=1.0)
    assert fast.draws == pytest.approx(math.exp(slow["tau"]) / (2 + math.exp(slow["tau"])), abs=0.003)


def test_errors_are_those_of_the_curvature():
    """Second differences of the slow likelihood, at its top, inverted: close to the information with many games."""
    truth = {"random": 0.0, "a": 250.0, "b": -200.0}
    results = simulated(truth, 40.0, 1.2, 2000, np.random.default_rng(1))
    fitted = fit(results)
    share = fitted.draws
    names = ["a", "b", "advantage", "tau"]
    top = {
        "a": fitted["a"].elo,
        "b": fitted["b"].elo,
        "advantage": fitted.advantage,
        "tau": math.log(2 * share / (1 - share)),
    }
    steps = {"a": 5.0, "b": 5.0, "advantage": 5.0, "tau": 0.05}

    def value(moved):
        x = {name: top[name] + moved.get(name, 0.0) for name in names}
        return slow_log_posterior(results, {"random": 0.0, "a": x["a"], "b": x["b"]}, x["advantage"], x["tau"])

    curvature = np.zeros((4, 4))
    for (i, one), (j, other) in itertools.product(enumerate(names), repeat=2):
        corners = 0.0
        for s, t in itertools.product((1, -1), repeat=2):
            moved = {one: s * steps[one]}
            moved[other] = moved.get(other, 0.0) + t * steps[other]
            corners += s * t * value(moved)
        curvature[i, j] = -corners / (4 * steps[one] * steps[other])
    errors = np.sqrt(np.diag(np.linalg.inv(curvature)))
    assert [fitted["a"].error, fitted["b"].error, fitted.advantage_error] == pytest.approx(errors[:3], rel=0.03)
    assert fitted.draws_error == pytest.approx(errors[3] * share * (1 - share), rel=0.03)


def held(sets, games, seed):
    """Share of intervals that hold the truth: of all ratings, and of the advantage."""
    rng, inside, sure = np.random.default_rng(seed), [], []
    for _ in range(sets):
        fitted = fit(simulated(TRUTH, 35.0, 0.8, games, rng))
        for player, elo in TRUTH.items():
            if player != "random":
                low, high = fitted[player].interval
                inside.append(low <= elo <= high)
        sure.append(abs(fitted.advantage - 35.0) <= Z95 * fitted.advantage_error)
    return np.mean(inside), np.mean(sure)


def test_intervals_hold_the_true_ratings_in_a_few_sets():
    ratings, advantage = held(60, 20, 5)
    assert 0.88 <= ratings <= 0.99
    assert advantage >= 0.85


@pytest.mark.slow
@pytest.mark.parametrize("games", [10, 40])
def test_intervals_hold_the_true_ratings_in_93_to_97_percent_of_1000_sets(games):
    ratings, advantage = held(1000, games, 6)
    assert 0.93 <= ratings <= 0.97
    assert 0.93 <= advantage <= 0.97


def test_near_equality_a_difference_means_what_elo_says():
    for nu in (0.0, 0.5, 4.0):
        win, draw, _ = chances(10.0, nu)
        assert win + draw / 2 == pytest.approx(1 / (1 + 10 ** (-10 / 400)), abs=2e-4)


def test_a_large_tournament_gives_back_what_it_was_made_from():
    fitted = fit(simulated(TRUTH, 35.0, 0.8, 20_000, np.random.default_rng(3)))
    for player, elo in TRUTH.items():
        assert fitted[player].elo == pytest.approx(elo, abs=8)
    assert fitted.advantage == pytest.approx(35, abs=3)
    assert fitted.draws == pytest.approx(0.8 / 2.8, abs=0.01)
    assert [rating.player for rating in fitted.ratings] == ["d", "c", "b", "a", "random"]


def test_without_draws_there_is_no_draw_parameter():
    fitted = fit(
        [("random", "a", 1.0, 25), ("random", "a", 0.0, 75), ("a", "random", 1.0, 75), ("a", "random", 0.0, 25)]
    )
    assert fitted.draws == fitted.draws_error == 0
    assert fitted["a"].elo == pytest.approx(400 * math.log10(3), abs=1)
    assert fitted.advantage == pytest.approx(0, abs=1)


def test_random_is_pinned_at_zero_and_one_pin_of_another_shifts_the_scale():
    results = [("random", "a", 0.0, 60), ("a", "random", 0.0, 40), ("a", "b", 1.0, 50), ("b", "a", 1.0, 50)]
    usual = fit(results)
    assert (usual["random"].elo, usual["random"].error, usual["random"].note) == (0.0, 0.0, "pinned")
    assert usual["a"].elo > 0
    shifted = fit(results, {"random": 1000.0})
    assert shifted["a"].elo - 1000 == pytest.approx(usual["a"].elo, abs=1e-6)
    other = fit(results, {"b": 500.0})
    assert other.pins == {"b": 500.0}
    for player in ("random", "a"):
        assert other[player].elo - 500 == pytest.approx(usual[player].elo - usual["b"].elo, abs=0.5)  # priors move too
    two = fit(results, {"random": 0.0, "b": 500.0})
    assert (two["random"].elo, two["b"].elo) == (0.0, 500.0)
    assert 0 < two["a"].elo < 500


def test_a_player_with_only_wins_gets_a_finite_rating_and_is_told():
    results = [("random", "a", 0.0, 10), ("a", "random", 1.0, 10)]
    rating = fit(results)["a"]
    assert 300 < rating.elo < 2000
    assert rating.error > 200
    assert rating.note.startswith("won every game")
    assert fit([("random", "a", 1.0, 10), ("a", "random", 0.0, 10)])["a"].elo == pytest.approx(-rating.elo)


@pytest.mark.parametrize("number", [1, 50, 100_000_000])
@pytest.mark.parametrize("score", [0.0, 0.5, 1.0])
def test_results_that_are_all_alike_give_finite_ratings(score, number):
    fitted = fit([("random", "a", score, number), ("a", "random", 1 - score, number), ("a", "b", score, number)])
    for rating in fitted.ratings:
        assert math.isfinite(rating.elo)
        assert math.isfinite(rating.error)
    assert math.isfinite(fitted.advantage + fitted.advantage_error + fitted.draws + fitted.draws_error)


def test_pins_that_contradict_the_games_are_kept():
    results = [("p0", "random", 0.0, 3), ("p0", "random", 1.0, 100_000), ("p3", "p0", 0.5, 50), ("p1", "p0", 1.0, 1)]
    fitted = fit(results, {"p3": -849.0, "p1": 4000.0, "random": 0.0})
    assert (fitted["p3"].elo, fitted["p1"].elo, fitted["random"].elo) == (-849.0, 4000.0, 0.0)
    assert math.isfinite(fitted["p0"].elo)


def test_a_player_that_meets_nobody_else_tells_only_of_beginning_and_draws():
    fitted = fit([("random", "random", 1.0, 60), ("random", "random", 0.0, 30), ("random", "random", 0.5, 10)])
    assert fitted.advantage > 0
    assert fitted["random"].games == 200
    assert fitted["random"].score == 0.5


def test_groups_that_have_not_met_are_told_apart():
    apart = fit(
        [("random", "a", 0.0, 9), ("random", "a", 1.0, 5), ("x", "y", 1.0, 6), ("y", "x", 1.0, 3), ("y", "z", 0.0, 2)]
    )
    groups = {rating.player: rating.group for rating in apart.ratings}
    assert groups["random"] == groups["a"] != groups["x"]
    assert groups["x"] == groups["y"] == groups["z"]
    assert apart.free_groups == [groups["x"]]
    assert apart["y"].note == "its group is measured from it"  # it has the most games
    tied = fit([("random", "a", 0.0, 9), ("a", "x", 1.0, 5), ("x", "y", 1.0, 6)])
    assert tied.free_groups == []
    assert {rating.group for rating in tied.ratings} == {0}


def test_a_pin_holds_under_every_time_control():
    results = [("random @ 1+0", "a @ 1+0", 0.0, 5), ("random", "a", 1.0, 5), ("a", "a @ 1+0", 0.5, 5)]
    fitted = fit(results, {"a": 300.0, "a @ 1+0": 400.0})
    assert fitted.pins == {"a": 300.0, "a @ 1+0": 400.0}
    assert fit(results).pins == {"random": 0.0, "random @ 1+0": 0.0}


@pytest.mark.parametrize(
    ("pins", "complaint"), [({"nobody": 1.0}, "pinned player 'nobody' has no games here"), ({"a": math.inf}, "finite")]
)
def test_impossible_pins_are_refused(pins, complaint):
    with pytest.raises(BadInput, match=complaint):
        fit([("random", "a", 1.0, 1)], pins)


def test_nothing_to_rate_is_told():
    with pytest.raises(BadInput, match="no games to rate"):
        fit([])


def test_pins_are_read_from_text():
    assert parse_pin("mcts:sims=400=1200.5") == ("mcts:sims=400", 1200.5)
    for wrong in ("random", "=5", "random=strong", ""):
        with pytest.raises(BadInput, match="should read player=elo"):
            parse_pin(wrong)
