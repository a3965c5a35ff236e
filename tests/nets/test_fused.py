"""Another way to compute something is taken only if it is there, right and faster."""

from __future__ import annotations

import pytest
import torch

from rookery.nets import fused
from rookery.nets.configs import TowerConfig
from rookery.nets.folded import fold
from rookery.nets.residual import build

ONES = torch.ones(4)


@pytest.fixture
def clock(monkeypatch):
    """A card's clock that is moved on by hand."""
    now = [0.0]
    monkeypatch.setattr(fused.torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(fused.time, "perf_counter", lambda: now[0])
    return now


def way(clock, seconds, answer=ONES):
    """Return a way that takes so long."""

    def work():
        clock[0] += seconds
        if isinstance(answer, Exception):
            raise answer
        return answer

    return work


@pytest.mark.parametrize(
    ("seconds", "answer", "taken"),
    [
        (1.0, ONES, True),
        (1.0, ONES * 1.01, True),
        (3.0, ONES, False),
        (1.0, ONES * 1.1, False),
        (1.0, ONES * torch.nan, False),
        (1.0, RuntimeError("no engine"), False),
    ],
)
def test_a_new_way_must_be_there_right_and_faster(clock, seconds, answer, taken):
    assert fused.is_better(way(clock, seconds, answer), way(clock, 2.0)) is taken


def test_an_error_that_is_not_the_librarys_is_told(clock):
    with pytest.raises(KeyError):
        fused.is_better(way(clock, 1.0, KeyError("weights")), way(clock, 2.0))


def test_a_processor_has_no_fused_kernels():
    network = build(TowerConfig(planes=3, rows=5, cols=5, width=4, blocks=1)).eval()
    assert not fold(network, "cpu", torch.bfloat16).fused


def test_noise_is_what_a_block_is_given_and_disturbs_nobodys_numbers():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    found = fused.noise(4, 3, 2, torch.zeros(1, dtype=torch.bfloat16))
    assert found.shape == (fused.TRIED_ROWS, 4, 3, 2)
    assert found.dtype == torch.bfloat16
    assert found.is_contiguous(memory_format=torch.channels_last)
    assert found.min() == 0 < found.max()
    assert torch.equal(torch.rand(3), expected)
