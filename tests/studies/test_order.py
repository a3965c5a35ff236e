"""Which positions a step learns from."""

from __future__ import annotations

import pytest
import torch

from rookery import BadInput
from rookery.studies.order import Order


def test_a_pass_has_every_position_once():
    order = Order(1000, 64, seed=5)
    assert order.steps == 15
    first = torch.cat([order.at(step)[0] for step in range(15)])
    second = torch.cat([order.at(step)[0] for step in range(15, 30)])
    assert len(first.unique()) == len(second.unique()) == 960
    assert (first != second).any()
    symmetries = torch.cat([order.at(step)[1] for step in range(300)])
    assert (torch.bincount(symmetries, minlength=4) / len(symmetries) - 0.25).abs().max() < 0.02


def test_a_step_is_the_same_however_it_is_reached():
    walked, entered = Order(1000, 64, seed=5), Order(1000, 64, seed=5)
    for step in range(40):
        last = walked.at(step)
    assert all((a == b).all() for a, b in zip(last, entered.at(39), strict=True))
    assert (Order(1000, 64, seed=6).at(0)[0] != Order(1000, 64, seed=5).at(0)[0]).any()


@pytest.mark.parametrize("size", [0, 1001])
def test_batches_that_cannot_be_filled_are_refused(size):
    with pytest.raises(BadInput, match="size of a batch must be a whole number in 1"):
        Order(1000, size, seed=0)
