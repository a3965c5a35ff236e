"""Attention over a few tokens is attention; on a card it has kernels (`tests/gpu`), here plain products."""

from __future__ import annotations

import pytest
import torch

from nets.mixing import masks, mixed_and_gradient, plainly_mixed
from rookery.nets import short_attention
from rookery.nets.configs import HandsConfig, TranscriptConfig
from rookery.nets.residual import build
from rookery.nets.short_attention import attend, mix_few

CLOSE = {torch.float64: 1e-12, torch.float32: 5e-5}


@pytest.mark.parametrize("dtype", list(CLOSE))
@pytest.mark.parametrize("kind", ["none", "keys", "pairs"])
@pytest.mark.parametrize("tokens", [2, 17, 33, 47])
def test_it_mixes_as_attention_does_and_has_its_gradient(tokens, kind, dtype):
    mask = masks(tokens)[kind]
    mine = mixed_and_gradient(lambda parted: mix_few(parted, mask), tokens, dtype)
    wanted = mixed_and_gradient(lambda parted: plainly_mixed(parted, mask), tokens, dtype)
    for one, other in zip(mine, wanted, strict=True):
        assert one.dtype == other.dtype
        assert torch.allclose(one, other, rtol=CLOSE[dtype], atol=CLOSE[dtype])


def test_gradients_are_those_of_small_changes():
    random = torch.Generator().manual_seed(1)
    parted = torch.randn(3, 4, 3, 2, 3, generator=random, dtype=torch.float64, requires_grad=True)
    for mask in masks(4).values():
        assert torch.autograd.gradcheck(lambda parted, mask=mask: mix_few(parted, mask), parted)


def test_what_is_not_seen_changes_nothing():
    parted, mask = torch.randn(3, 9, 3, 2, 8), masks(9)["keys"]
    other = torch.where(mask[:, 0, 0, :, None, None, None], parted, 7.0)
    other[:, :, 0] = parted[:, :, 0]  # queries of tokens that nobody sees still ask
    assert torch.equal(mix_few(parted, mask), mix_few(other, mask))


def test_what_comes_out_lies_as_the_next_product_wants_it():
    assert mix_few(torch.randn(2, 9, 3, 4, 8), None).is_contiguous()


def test_off_a_card_pytorchs_own_attention_is_taken(monkeypatch):
    def fail(*_):
        raise AssertionError("the kernels' operation was asked")

    monkeypatch.setattr(short_attention, "mix_few", fail)
    parted, mask = torch.randn(3, 9, 3, 4, 16), masks(9)["pairs"]
    assert torch.equal(attend(parted, mask), plainly_mixed(parted, mask))
    assert not short_attention.fits(parted.bfloat16())


@pytest.mark.parametrize("kind", ["none", "keys"])
def test_in_bf16_a_processor_mixes_by_plain_products(monkeypatch, kind):
    def fail(*_):
        raise AssertionError("PyTorch's own attention was asked, which takes many times as long on the way back")

    mask = masks(33)[kind]
    wanted = mixed_and_gradient(lambda parted: plainly_mixed(parted, mask), 33, torch.float64)
    monkeypatch.setattr(short_attention.functional, "scaled_dot_product_attention", fail)
    mine = mixed_and_gradient(lambda parted: attend(parted, mask), 33, torch.bfloat16)
    for one, other in zip(mine, wanted, strict=True):
        assert one.dtype == torch.bfloat16
        off = (one.double() - other).norm() / other.norm()
        assert 0 < off < 0.02  # bf16 has 8 bits: half of 2 ** -7 for each number that goes in


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the compiler's own
@pytest.mark.parametrize("config", [HandsConfig, TranscriptConfig])
def test_a_network_with_it_is_one_graph_for_a_compiler(monkeypatch, config):
    network = build(config(width=48, layers=2, heads=2, mlp=32), 1)
    tokens = torch.randint(0, 3, (5, *((32, 12) if config is HandsConfig else (33, 17))))

    def gradients(say) -> list[torch.Tensor]:
        found = torch.autograd.grad(say(tokens).sum(), list(network.parameters()), allow_unused=True)
        return [each for each in found if each is not None]

    usual = gradients(network.points)
    monkeypatch.setattr(short_attention, "fits", lambda parted: True)
    compiled = torch.compile(network.points, backend="aot_eager", fullgraph=True, dynamic=False)
    for mine, wanted in zip(gradients(compiled), usual, strict=True):
        assert torch.allclose(mine, wanted, rtol=1e-4, atol=1e-4)
