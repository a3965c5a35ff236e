"""The network's own attention is attention; on a card it has kernels (`tests/gpu`), here plain products."""

from __future__ import annotations

import pytest
import torch

from nets.mixing import mixed_and_gradient, plainly_mixed
from rookery.nets.attention import attend, fits
from rookery.nets.configs import LARGE, SMALL, TransformerConfig
from rookery.nets.residual import build
from rookery.nets.surgery import random_tokens

CLOSE = {torch.float64: 1e-12, torch.float32: 5e-5}


@pytest.mark.parametrize("dtype", list(CLOSE))
@pytest.mark.parametrize("tokens", [2, 17, 257])
def test_it_mixes_as_attention_does_and_has_its_gradient(tokens, dtype):
    both = [mixed_and_gradient(mix, tokens, dtype) for mix in (attend, plainly_mixed)]
    for mine, wanted in zip(*both, strict=True):
        assert mine.dtype == wanted.dtype
        assert torch.allclose(mine, wanted, rtol=CLOSE[dtype], atol=CLOSE[dtype])


def test_gradients_are_those_of_small_changes():
    random = torch.Generator().manual_seed(1)
    parted = torch.randn(1, 4, 3, 2, 3, generator=random, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(attend, parted)


def test_what_comes_out_lies_as_the_next_product_wants_it():
    assert attend(torch.randn(2, 9, 3, 4, 8)).is_contiguous()


def test_kernels_fit_the_networks_of_the_study_and_not_every_other():
    for config in (SMALL, LARGE):
        assert fits(config.inputs, config.head_width)
    assert not fits(258, 16)
    assert not fits(257, 24)


def test_a_network_answers_the_same_with_either():
    config = TransformerConfig(rows=4, cols=4, width=16, heads=2, head_width=8, mlp=8)
    network, tokens = build(config, 3), random_tokens(config, 5)
    with torch.no_grad():
        plain = network.heads(tokens)
        for layer in network.layers:
            layer.attn.own_kernel = True
        for mine, wanted in zip(network.heads(tokens), plain, strict=True):
            assert torch.allclose(mine, wanted, atol=1e-5)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the compiler's own
def test_it_is_one_graph_for_a_compiler():
    compiled = torch.compile(attend, backend="aot_eager", fullgraph=True)
    mine, wanted = (mixed_and_gradient(mix, 9, torch.float32) for mix in (compiled, attend))
    assert all(torch.allclose(one, other, atol=1e-6) for one, other in zip(mine, wanted, strict=True))
