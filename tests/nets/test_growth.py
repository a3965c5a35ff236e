"""Networks of every kind grown into larger ones."""

from __future__ import annotations

import pytest
import torch

from nets.samples import KINDS, worn
from rookery.errors import BadInput
from rookery.nets import growth
from rookery.nets.configs import TowerConfig
from rookery.nets.growth import grow, larger_config
from rookery.nets.residual import build
from rookery.nets.surgery import random_tokens
from rookery.nets.tower import resized

PERCEPTRON, RESIDUAL, TOWER, TRANSFORMER = KINDS
LARGER = [
    (PERCEPTRON, {"hidden": (8, 9, 20)}), (RESIDUAL, {"width": 13, "blocks": 4, "value_hidden": 5}),
    (RESIDUAL, {"policy_hidden": 9}), (TOWER, {"width": 11, "blocks": 3, "value_hidden": 9, "policy_hidden": 4}),
    (TRANSFORMER, {"heads": 4, "layers": 3, "mlp": 9}),
]  # fmt: skip
CASES = pytest.mark.parametrize(("config", "values"), LARGER, ids=lambda each: getattr(each, "kind", None))


def seen(config, rows=7):
    if config.kind == "transformer":
        return random_tokens(config, rows).double()
    return torch.randn(rows, config.inputs, dtype=torch.float64, generator=torch.Generator().manual_seed(3))


def answers(network, x):
    with torch.no_grad():
        return network.double().eval()(x)


@CASES
def test_with_nothing_added_above_a_grown_network_answers_as_the_small_one(config, values):
    small = worn(build(config, 1))
    grown = grow(small, larger_config(config, values), seed=5, identity=True)
    assert grown.weights > small.weights
    assert not grown.training
    x = seen(config)
    for mine, expected in zip(answers(grown, x), answers(small, x), strict=True):
        torch.testing.assert_close(mine, expected, atol=1e-9, rtol=1e-9)


@CASES
def test_fresh_weights_follow_from_the_seed(config, values):
    small = worn(build(config, 1))
    one, same, other = (grow(small, larger_config(config, values), seed).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert any(not torch.equal(one[name], other[name]) for name in one)


@CASES
def test_growing_leaves_the_small_network_as_it_was(config, values):
    small = worn(build(config, 1))
    grow(small, larger_config(config, values))
    again = worn(build(config, 1)).state_dict()
    assert all(torch.equal(tensor, again[name]) for name, tensor in small.state_dict().items())


@CASES
def test_heads_that_are_not_copied_give_other_answers(config, values):
    small = worn(build(config, 1))
    grown = grow(small, larger_config(config, values), heads=False, identity=True)
    x = seen(config)
    assert not torch.allclose(answers(grown, x)[0], answers(small, x)[0])


@CASES
def test_a_grown_network_learns_with_all_of_its_weights(config, values):
    grown = grow(worn(build(config, 1)), larger_config(config, values), identity=True).train()
    x, optimizer = seen(config, 32).float(), torch.optim.SGD(grown.parameters(), lr=0.1)
    for _ in range(4):  # fresh parts that write nothing wake one after another
        logits, values_ = grown(x)
        optimizer.zero_grad()
        ((logits - 1) ** 2).mean().add(((values_ - 0.5) ** 2).mean()).backward()
        optimizer.step()
    asleep = [name for name, p in grown.named_parameters() if p.grad is not None and not p.grad.count_nonzero()]
    assert asleep == []


def test_a_tower_grows_onto_a_larger_board():
    small = worn(build(TOWER, 1))
    grown = grow(small, larger_config(TOWER, {"rows": 6, "cols": 7, "width": 12}), seed=2)
    assert (grown.config.rows, grown.config.cols) == (6, 7)
    here, x = resized(small, 6, 7), seen(grown.config)
    for mine, expected in zip(answers(grown, x), answers(here, x), strict=True):
        torch.testing.assert_close(mine, expected, atol=1e-9, rtol=1e-9)


@pytest.mark.parametrize(
    ("config", "values", "message"),
    [
        (PERCEPTRON, {"hidden": (8, 6)}, "wider, not deeper"), (PERCEPTRON, {"hidden": (8, 6, 3)}, "no room"),
        (RESIDUAL, {"width": 7}, r"no room.*width=7"), (RESIDUAL, {"blocks": 1}, r"no room.*blocks\.1"),
        (RESIDUAL, {"actions": 8}, "actions must stay 7, not 8"), (TOWER, {"planes": 3}, "planes must stay 2"),
        (TOWER, {"extra_actions": 0}, "extra_actions must stay 2"),
        (TRANSFORMER, {"width": 16}, "width must be the same"),
    ],
)  # fmt: skip
def test_what_is_not_larger_or_answers_something_else_is_refused(config, values, message):
    with pytest.raises(BadInput, match=message):
        grow(build(config), larger_config(config, values))


def test_another_kind_or_an_unknown_size_is_refused_by_its_source():
    with pytest.raises(BadInput, match=r"mine\.yaml: a residual grows into a residual, not into a tower"):
        larger_config(RESIDUAL, {"kind": "tower"}, "mine.yaml")
    with pytest.raises(BadInput, match=r"mine\.yaml\.residual\.heads"):
        larger_config(RESIDUAL, {"heads": 3}, "mine.yaml")
    with pytest.raises(BadInput, match="not into a tower"):
        grow(build(RESIDUAL), TowerConfig(planes=2, rows=3, cols=3))


def test_a_network_that_was_embedded_wrongly_is_not_let_through(monkeypatch):
    right = growth.inset

    def wrong(small, large, heads):
        right(small, large, heads)
        with torch.no_grad():
            large.state_dict()["blocks.0.fc1.weight"][:8, -1] = 1  # old numbers read a fresh one

    monkeypatch.setattr(growth, "inset", wrong)
    with pytest.raises(BadInput, match="differs from the small one"):
        grow(worn(build(RESIDUAL)), larger_config(RESIDUAL, {"width": 12}))
