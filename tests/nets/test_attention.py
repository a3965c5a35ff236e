"""Attention in two parts is attention."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from nets.mixing import mixed_and_gradient
from rookery.nets.attention import attend
from rookery.nets.configs import TransformerConfig
from rookery.nets.residual import build
from rookery.nets.surgery import random_tokens

CLOSE = {torch.float64: 1e-12, torch.float32: 5e-5, torch.bfloat16: 5e-2}


@pytest.mark.parametrize("dtype", list(CLOSE))
@pytest.mark.parametrize("tokens", [2, 17, 257])
def test_two_parts_mix_as_one_and_have_its_gradients(tokens, dtype):
    both = [
        mixed_and_gradient(mix, tokens, dtype) for mix in (attend, functional.scaled_dot_product_attention)
    ]  # fmt: skip
    for mine, wanted in zip(*both, strict=True):
        assert mine.dtype == wanted.dtype
        assert torch.allclose(mine, wanted, rtol=CLOSE[dtype], atol=CLOSE[dtype])


def test_gradients_are_those_of_small_changes():
    random = torch.Generator().manual_seed(1)
    inputs = [torch.randn(1, 2, 4, 3, generator=random, dtype=torch.float64, requires_grad=True) for _ in range(3)]
    assert torch.autograd.gradcheck(attend, inputs)


def test_what_comes_out_lies_as_the_next_product_wants_it():
    random = torch.randn(2, 9, 3, 4, 8).permute(2, 0, 3, 1, 4).unbind(0)
    assert attend(*random).transpose(1, 2).is_contiguous()


def test_a_network_answers_the_same_with_either():
    config = TransformerConfig(rows=4, cols=4, width=16, heads=2, head_width=8, mlp=8)
    network, tokens = build(config, 3), random_tokens(config, 5)
    with torch.no_grad():
        plain = network.heads(tokens)
        for layer in network.layers:
            layer.attn.in_two_parts = "flash"
        for mine, wanted in zip(network.heads(tokens), plain, strict=True):
            assert torch.allclose(mine, wanted, atol=1e-5)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the compiler's own
def test_it_is_one_graph_for_a_compiler():
    compiled = torch.compile(attend, backend="aot_eager", fullgraph=True)
    mine, wanted = (mixed_and_gradient(mix, 9, torch.float32) for mix in (compiled, attend))
    assert all(torch.allclose(one, other, atol=1e-6) for one, other in zip(mine, wanted, strict=True))
