"""Ridge probes beside scikit-learn and a loop that reads like the definition."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rookery.errors import BadInput
from rookery.probes.linear import folds_of
from rookery.probes.ridge import SEED, fit_ridge, r2, read_by_fold

PENALTIES = (1e-3, 1e-2, 1e-1, 1.0, 10.0)


def samples(seed, count=240, width=12, targets=3, groups=30, noise=1.0):
    """Draw inputs of very different sizes, targets that a weighted sum tells in part, and groups."""
    rng = np.random.default_rng(seed)
    group = rng.integers(groups, size=count)
    x = (rng.normal(size=(count, width)) + rng.normal(size=(groups, width))[group]) * 10 ** rng.uniform(-2, 2, width)
    y = x / x.std(0) @ rng.normal(size=(width, targets)) + noise * rng.normal(size=(count, targets)) + 5
    return torch.from_numpy(x), torch.from_numpy(y), group


def slow_fit(x, y, penalty):
    """Solve the normal equations of one target; return a function that reads."""
    mean, scale = x.mean(0), x.std(0)
    scaled = np.c_[np.ones(len(x)), (x - mean) / scale]
    matrix = scaled.T @ scaled / len(x) + penalty * np.diag([0.0] + [1.0] * x.shape[1])
    weights = np.linalg.solve(matrix, scaled.T @ y / len(x))
    return lambda asked: np.c_[np.ones(len(asked)), (asked - mean) / scale] @ weights


def slow_answers(x, y, fold, penalties):
    """Cross-validate one target: choose within what is taught, then read what is asked."""
    answers = np.zeros(len(y))
    for asked in range(fold.max() + 1):
        errors = []
        for penalty in penalties:
            error = 0.0
            for inner in set(fold) - {asked}:
                taught, judged = (fold != asked) & (fold != inner), fold == inner
                error += ((slow_fit(x[taught], y[taught], penalty)(x[judged]) - y[judged]) ** 2).sum()
            errors.append(error)
        best = penalties[int(np.argmin(errors))]
        answers[fold == asked] = slow_fit(x[fold != asked], y[fold != asked], best)(x[fold == asked])
    return answers


@pytest.mark.parametrize("seed", range(4))
def test_scores_are_those_of_a_loop_over_folds_penalties_and_targets(seed):
    x, y, group = samples(seed, noise=(0.1, 1.0, 5.0, 30.0)[seed])
    found = fit_ridge(x, y, group, PENALTIES, folds=4)
    fold = folds_of(group, 4, SEED)
    assert found.fold.tolist() == fold.tolist()
    for target in range(y.shape[1]):
        wanted = y[:, target].numpy()
        answers = slow_answers(x.numpy(), wanted, fold, PENALTIES)
        slow = 1 - ((answers - wanted) ** 2).sum() / ((wanted - wanted.mean()) ** 2).sum()
        assert found.r2[target].item() == pytest.approx(slow, abs=1e-9)


@pytest.mark.parametrize("penalty", [1e-4, 0.03, 2.0])
def test_a_probe_is_that_of_scikit_learn(penalty):
    linear_model, preprocessing = (
        pytest.importorskip("sklearn.linear_model"),
        pytest.importorskip("sklearn.preprocessing"),
    )
    x, y, group = samples(7)
    found = fit_ridge(x, y, group, [penalty])
    scaled = preprocessing.StandardScaler().fit_transform(x.numpy())
    theirs = linear_model.Ridge(alpha=penalty * len(x)).fit(scaled, y.numpy())
    np.testing.assert_allclose(found.probe.weights.numpy(), theirs.coef_.T, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(found.probe.read(x).numpy(), theirs.predict(scaled), rtol=1e-9)


def test_held_out_scores_are_those_of_scikit_learn():
    selection, pipeline = pytest.importorskip("sklearn.model_selection"), pytest.importorskip("sklearn.pipeline")
    from sklearn.linear_model import Ridge
    from sklearn.metrics import r2_score
    from sklearn.preprocessing import StandardScaler

    x, y, group = samples(8, count=200)
    found = fit_ridge(x, y, group, [0.1], folds=5)
    answers = np.zeros(y.shape)
    for taught, asked in selection.PredefinedSplit(found.fold.numpy()).split():
        model = pipeline.make_pipeline(StandardScaler(), Ridge(alpha=0.1 * len(taught)))
        answers[asked] = model.fit(x[taught].numpy(), y[taught].numpy()).predict(x[asked].numpy())
    np.testing.assert_allclose(found.r2.numpy(), r2_score(y.numpy(), answers, multioutput="raw_values"), rtol=1e-9)


def test_probes_that_have_not_seen_a_fold_give_the_scores():
    x, y, group = samples(3)
    found = fit_ridge(x.float(), y.float(), torch.from_numpy(group))
    answers = read_by_fold(found.held_out, x.float(), found.fold)
    torch.testing.assert_close(r2(answers, y.float()), found.r2)


def test_a_shared_penalty_is_the_one_with_the_least_errors_relative_to_the_spread():
    x, y, group = samples(5, noise=3.0)
    y[:, 0] *= 1000  # a large target must not choose for all
    found = fit_ridge(x, y, group, PENALTIES, shared=True)
    assert len(set(found.penalties.tolist())) == 1
    means = [fit_ridge(x, y, group, [penalty]).mean_r2 for penalty in PENALTIES]
    assert found.penalties[0].item() == pytest.approx(PENALTIES[int(np.argmax(means))])


def test_noise_is_held_down_and_clear_targets_are_not():
    x, _, group = samples(6, count=600, width=40)
    rng = np.random.default_rng(1)
    clear = x[:, 0] / x[:, 0].std() + 0.01 * torch.from_numpy(rng.normal(size=600))
    noise = torch.from_numpy(rng.normal(size=600))
    found = fit_ridge(x, torch.stack([clear, noise], 1), group)
    assert found.penalties[0] < 0.01 < 1 < found.penalties[1]
    assert found.r2[0] > 0.99
    assert -0.05 < found.r2[1] < 0.05


def test_inputs_that_never_change_say_nothing_and_hurt_nothing():
    x, y, group = samples(9)
    still = torch.cat([x, torch.full((len(x), 2), 1234.5, dtype=torch.float64)], 1)
    torch.testing.assert_close(fit_ridge(still, y, group).r2, fit_ridge(x, y, group).r2)
    nothing = fit_ridge(torch.ones(len(x), 3), y, group)
    assert (nothing.r2.abs() < 0.1).all()
    assert torch.isfinite(nothing.probe.read(torch.ones(2, 3))).all()


def test_there_is_no_score_for_a_target_that_never_changes():
    x, y, group = samples(2)
    y[:, 1] = 4.0
    found = fit_ridge(x, y, group, shared=True)
    assert found.r2.isnan().tolist() == [False, True, False]
    assert found.mean_r2 == pytest.approx(float(found.r2[[0, 2]].mean()))


def test_large_offsets_do_not_cost_precision():
    x, y, group = samples(4)
    near, far = fit_ridge(x, y, group).r2, fit_ridge(x / x.std(0) + 1e6, y + 1e6, group).r2
    torch.testing.assert_close(near, far, atol=1e-6, rtol=0)


def test_the_same_samples_give_the_same_scores_again():
    x, y, group = samples(11)
    first, second = fit_ridge(x.float(), y.float(), group), fit_ridge(x.float(), y.float(), group)
    assert torch.equal(first.r2, second.r2)
    assert torch.equal(first.probe.weights, second.probe.weights)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"folds": 2}, "folds must be 3 or more, not 2"),
        ({"penalties": [0.0, 1.0]}, "penalties must be numbers above 0"),
        ({"penalties": []}, "penalties must be numbers above 0"),
        ({"folds": 31}, "groups of samples cannot be split into 31 folds"),
    ],
)
def test_settings_that_cannot_be_are_refused(change, complaint):
    x, y, group = samples(1)
    with pytest.raises(BadInput, match=complaint):
        fit_ridge(x, y, group, **change)


def test_samples_of_different_numbers_are_refused():
    x, y, group = samples(1)
    with pytest.raises(BadInput, match="240 inputs, 239 targets and 240 groups"):
        fit_ridge(x, y[1:], group)
