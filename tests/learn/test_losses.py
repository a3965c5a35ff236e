"""Losses against the same sums in plain NumPy, one position after another."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rookery.learn.losses import losses, policy_loss, value_target
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
