"""Fits of decaying gaps: known curves come back, and the right family is preferred."""

from __future__ import annotations

import numpy as np
import pytest

from rookery.studies.decay import Decay, decay_of, fit

STEPS = np.arange(1000, 62000, 1000)


def exponential(asymptote=0.04, height=0.15, tau=9000.0, steps=STEPS):
    return asymptote + height * np.exp(-(steps - steps[0]) / tau)


def double(steps=STEPS):
    t = steps - steps[0]
    return 0.03 + 0.12 * np.exp(-t / 1500) + 0.1 * np.exp(-t / 15000)


def power(steps=STEPS, asymptote=0.01):
    return asymptote + 0.18 * (1 + (steps - steps[0]) / 1000) ** -0.6


def noisy(curve, seed, scale=0.003, seeds=4):
    rng = np.random.default_rng(seed)
    return {number: curve + scale * rng.normal(size=len(curve)) for number in range(seeds)}


# ---- known curves --------------------------------------------------------------------------------


@pytest.mark.parametrize("tau", [900.0, 4000.0, 30000.0])
@pytest.mark.parametrize("asymptote", [-0.02, 0.0, 0.05])
def test_an_exponential_comes_back(tau, asymptote):
    found = fit("exponential", STEPS, exponential(asymptote, 0.15, tau)[:, None])[0]
    assert found.asymptote == pytest.approx(asymptote, abs=2e-5)
    assert found.heights[0] == pytest.approx(0.15, abs=1e-4)
    assert found.shape[0] == pytest.approx(tau, rel=1e-3)
    assert not found.at_edge
    np.testing.assert_allclose(found.at(STEPS), exponential(asymptote, 0.15, tau), atol=1e-5)


def test_a_double_exponential_comes_back():
    found = fit("double", STEPS, double()[:, None])[0]
    assert found.asymptote == pytest.approx(0.03, abs=2e-3)
    assert found.shape == pytest.approx((1500, 15000), rel=0.05)
    np.testing.assert_allclose(found.at(STEPS), double(), atol=2e-4)


def test_a_power_law_comes_back():
    found = fit("power", STEPS, power()[:, None])[0]
    assert found.asymptote == pytest.approx(0.01, abs=1e-4)
    assert found.shape[0] == pytest.approx(0.6, rel=1e-3)


def test_several_curves_are_fitted_as_if_each_were_alone():
    curves = np.stack([exponential(), power(), double()], 1)
    together = fit("exponential", STEPS, curves)
    assert together == [fit("exponential", STEPS, curves[:, [column]])[0] for column in range(3)]


def test_a_fit_is_the_least_of_a_fine_grid():
    curve = noisy(exponential(), 3, 0.01)[0]
    found = fit("exponential", STEPS, curve[:, None])[0]
    for tau in np.geomspace(500, 60000, 300):
        columns = np.stack([np.ones(len(STEPS)), np.exp(-(STEPS - 1000) / tau)], 1)
        rest = curve - columns @ np.linalg.lstsq(columns, curve, rcond=None)[0]
        assert found.errors <= (rest**2).sum() * (1 + 1e-6)


def test_a_straight_line_has_no_asymptote_to_believe():
    assert fit("exponential", STEPS, np.linspace(0.2, 0.1, len(STEPS))[:, None])[0].at_edge


# ---- families ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("curve", "family"),
    [(exponential(), "exponential"), (double(), "double"), (power(), "power"), (np.full(61, 0.05), "constant")],
)
def test_bic_prefers_the_family_that_the_data_came_from(curve, family):
    right = 0
    for seed in range(5):
        found = decay_of(STEPS, noisy(curve, seed, 0.001, seeds=1))
        assert isinstance(found, Decay)
        right += found.best() == family
    assert right >= 4


def test_neighbouring_residuals_that_are_alike_count_for_less():
    rng = np.random.default_rng(2)
    rest = np.zeros(61)
    for step in range(1, 61):
        rest[step] = 0.8 * rest[step - 1] + 0.003 * rng.normal()
    alike, free = decay_of(STEPS, {1: exponential() + rest}), decay_of(STEPS, noisy(exponential(), 1, seeds=1))
    assert alike is not None
    assert free is not None
    assert alike.correlation > 0.3 > free.correlation
    assert alike.samples < 35 < free.samples


# ---- seeds and horizons --------------------------------------------------------------------------


def test_the_interval_of_an_asymptote_comes_from_whole_seeds():
    gaps = {seed: exponential(asymptote) for seed, asymptote in enumerate((0.02, 0.04, 0.05, 0.07))}
    found = decay_of(STEPS, gaps)
    assert found is not None
    assert found.fits["exponential"].asymptote == pytest.approx(0.045, abs=1e-4)
    assert list(found.by_seed.values()) == pytest.approx([0.02, 0.04, 0.05, 0.07], abs=1e-4)
    low, high = found.intervals["exponential"]
    assert 0.02 < low < 0.045 < high < 0.07


def test_seeds_that_disagree_leave_an_asymptote_open_though_all_are_above_0():
    found = decay_of(STEPS, {seed: exponential() + gap for seed, gap in enumerate((0.01, 0.01, 0.02, 0.30))})
    heights = [value - found.by_seed[0] for value in found.by_seed.values()]
    assert heights == pytest.approx([0, 0, 0.01, 0.29], abs=1e-4)
    shift = found.by_seed[0] - 0.01
    alone = found.alone["exponential"]
    assert alone.mean == pytest.approx(shift + 0.085, abs=1e-4)
    assert found.intervals["exponential"][0] > shift + 0.01 - 1e-4  # by drawing seeds: none is below the lowest
    assert alone.low < shift - 0.1


def test_short_horizons_of_a_slow_decay_overstate_what_is_left():
    found = decay_of(STEPS, {1: double(), 2: double()})
    assert found is not None
    asymptotes = [line["asymptote"] for line in found.horizons]
    assert [line["share"] for line in found.horizons] == [0.2, 0.4, 0.6, 0.8, 1.0]
    assert asymptotes[0] > asymptotes[2] > asymptotes[4] > 0.03


def test_one_seed_has_a_fit_and_no_interval():
    found = decay_of(STEPS, {42: exponential()})
    assert found is not None
    assert set(found.intervals.values()) == {None}


def test_too_few_points_are_not_fitted():
    assert decay_of(STEPS[:7], {1: exponential()[:7]}) is None
    assert decay_of(STEPS, {}) is None
    short = decay_of(STEPS[:12], {1: exponential()[:12]})
    assert short is not None
    assert short.horizons[0]["asymptote"] is None
    assert short.horizons[-1]["asymptote"] is not None


def test_two_decays_need_points_enough():
    few, enough = (decay_of(STEPS[:count], {1: exponential()[:count]}) for count in (14, 15))
    assert few is not None
    assert enough is not None
    assert set(few.fits) == {"constant", "exponential", "power"} == set(few.intervals)
    assert set(enough.fits) == {*few.fits, "double"}


def test_a_fifth_of_thirty_points_is_seen():
    found = decay_of(STEPS[:30], {1: exponential(tau=1500.0)[:30]})
    assert found is not None
    assert (found.horizons[0]["points"], found.horizons[0]["at_edge"]) == (6, False)
    assert found.horizons[0]["asymptote"] == pytest.approx(0.04, abs=0.001)


def test_equal_curves_can_be_fitted():
    found = decay_of(STEPS, {1: np.zeros(61), 2: np.zeros(61)})
    assert found is not None
    assert found.best() == "constant"
    assert found.fits["exponential"].asymptote == pytest.approx(0)
