"""Losses against the same sums in plain NumPy, one position after another."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rookery.learn.losses import chance_target, losses, policy_loss, value_target
from rookery.learn.replay import Batch


def batch_of(positions: int, seed: int = 3) -> Batch:
    """Return a batch whose targets have zeros among legal actions, and outcomes of all kinds."""
    rng = np.random.default_rng(seed)
    legal = rng.random((positions, 9)) < 0.5
    legal[:, 4] = True
    policy = legal * rng.integers(0, 4, (positions, 9)) + np.eye(9)[4]
    policy = policy / policy.sum(1, keepdims=True)
    outcomes, values = rng.choice([-1, -0.97, 0, 0, 1], positions), rng.uniform(-1, 1, positions)
    floats = (torch.tensor(array, dtype=torch.float32) for array in (policy, outcomes, values))
    policy_tensor, outcome_tensor, value_tensor = floats
    return Batch(torch.zeros(positions, 2), policy_tensor, torch.tensor(legal), outcome_tensor, value_tensor)


def slow_losses(logits, values, batch, root_share, mask):
    """Return value loss, policy loss, value loss of decisive positions and share of drawn ones."""
    errors, divergences, decisive = [], [], []
    for i in range(len(values)):
        outcome = float(batch.outcomes[i])
        target = (1 - root_share) * outcome + root_share * float(batch.values[i])
        errors.append((float(values[i]) - target) ** 2)
        if outcome != 0:
            decisive.append(errors[-1])
        actions = [a for a in range(logits.shape[1]) if batch.legal[i, a] or not mask]
        total = sum(np.exp(float(logits[i, a])) for a in actions)
        divergence = 0.0
        for a in actions:
            share = float(batch.policy[i, a])
            if share > 0:
                divergence += share * (np.log(share) - np.log(np.exp(float(logits[i, a])) / total))
        divergences.append(divergence)
    drawn = 1 - len(decisive) / len(values)
    return np.mean(errors), np.mean(divergences), np.mean(decisive) if decisive else 0.0, drawn


@pytest.mark.parametrize("mask", [False, True])
@pytest.mark.parametrize("root_share", [0.0, 0.25, 1.0])
def test_losses_are_their_definition(mask, root_share):
    batch, rng = batch_of(50), np.random.default_rng(1)
    logits, values = torch.tensor(rng.normal(0, 2, (50, 9)), dtype=torch.float32), torch.tensor(rng.uniform(-1, 1, 50))
    found = losses(logits, values, batch, root_share, mask)
    np.testing.assert_allclose([float(x) for x in found], slow_losses(logits, values, batch, root_share, mask), 1e-5)


def test_the_mask_leaves_illegal_actions_alone():
    batch = batch_of(20)
    for mask in (False, True):
        logits = torch.randn(20, 9, generator=torch.Generator().manual_seed(1)).requires_grad_()
        policy_loss(logits, batch, mask).backward()
        illegal = logits.grad[~batch.legal]
        assert bool((illegal == 0).all()) is mask
        assert (logits.grad[batch.legal] != 0).any()


def test_nothing_is_left_to_learn_where_the_targets_are_met():
    batch = batch_of(20)
    logits = torch.log(batch.policy.clamp_min(1e-20))
    found = losses(logits, value_target(batch, 0.5), batch, 0.5, False)
    assert float(found.value) == 0
    assert abs(float(found.policy)) < 1e-6


def test_a_batch_of_draws_has_no_decisive_loss():
    batch = batch_of(10)._replace(outcomes=torch.zeros(10))
    found = losses(torch.zeros(10, 9), torch.ones(10), batch, 0.0, False)
    assert (float(found.decisive), float(found.drawn), float(found.value)) == (0, 1, 1)


def test_only_value_and_policy_teach():
    logits, values = torch.zeros(10, 9, requires_grad=True), torch.zeros(10, requires_grad=True)
    found = losses(logits, values, batch_of(10), 0.0, True)
    assert found.value.requires_grad
    assert found.policy.requires_grad
    assert not found.decisive.requires_grad
    assert not found.drawn.requires_grad


# ---- chances to win, draw and lose ---------------------------------------------------------------


def slow_chances(outcome, value, root_share):
    """Return the chances that are taught: of the outcome, and of two halves of a game won with the same chance."""
    certain = {1.0: (1, 0, 0), 0.0: (0, 1, 0), -1.0: (0, 0, 1), -0.97: (0, 0.03, 0.97)}  # the last is discounted
    known = certain[outcome]
    half = (1 + value) / 2
    found = {2: 0.0, 1: 0.0, 0: 0.0}
    for first, chance in ((1, half), (0, 1 - half)):
        for second, other in ((1, half), (0, 1 - half)):
            found[first + second] += chance * other
    return [(1 - root_share) * a + root_share * b for a, b in zip(known, found.values(), strict=True)]


@pytest.mark.parametrize("root_share", [0.0, 0.25, 1.0])
def test_chances_are_taught_by_their_definition(root_share):
    batch, rng = batch_of(50), np.random.default_rng(1)
    logits, said = rng.normal(0, 2, (50, 9)), rng.normal(0, 2, (50, 3))
    tensors = [torch.tensor(array, dtype=torch.float32) for array in (logits, np.zeros(50), said)]
    found = losses(tensors[0], tensors[1], batch, root_share, True, tensors[2])
    divergences = []
    for i in range(50):
        target = slow_chances(round(float(batch.outcomes[i]), 6), float(batch.values[i]), root_share)
        shares = np.exp(said[i]) / np.exp(said[i]).sum()
        divergences.append(sum(t * (np.log(t) - np.log(p)) for t, p in zip(target, shares, strict=True) if t > 1e-12))
    assert float(found.value) == pytest.approx(np.mean(divergences), rel=1e-5)
    won = batch.outcomes.numpy() != 0
    assert float(found.decisive) == pytest.approx(np.mean(np.array(divergences)[won]), rel=1e-5)
    assert float(found.policy) == float(losses(tensors[0], tensors[1], batch, root_share, True).policy)


def test_chances_that_are_taught_have_the_value_that_is_taught():
    batch = batch_of(50)
    for share in (0.0, 0.3, 1.0):
        target = chance_target(batch, share)
        torch.testing.assert_close(target[:, 0] - target[:, 2], value_target(batch, share))
        torch.testing.assert_close(target.sum(1), torch.ones(50))


def test_nothing_is_left_to_learn_where_the_chances_are_met():
    batch = batch_of(20)
    met = chance_target(batch, 0.5).clamp_min(1e-20).log()
    assert abs(float(losses(torch.zeros(20, 9), torch.zeros(20), batch, 0.5, False, met).value)) < 1e-6
