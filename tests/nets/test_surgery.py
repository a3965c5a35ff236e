"""A small transformer embedded in a large one."""

from __future__ import annotations

import copy

import pytest
import torch

from nets.samples import SMALL as RESIDUAL
from nets.slow_transformer import slow_heads, slow_stream
from nets.test_transformer import worn
from rookery.errors import BadInput
from rookery.nets.configs import LARGE, LARGE_FINAL, SMALL, SMALL_FINAL, TransformerConfig
from rookery.nets.hooks import run_with_cache
from rookery.nets.residual import build
from rookery.nets.surgery import Differences, embed, random_tokens, verify_embedding

LITTLE = TransformerConfig(rows=3, cols=4, width=8, heads=2, head_width=4, layers=2, mlp=6, sectors=2, policy_hidden=5)
BIG = LITTLE.model_copy(update={"heads": 5, "layers": 4, "mlp": 11})
TOKENS = random_tokens(LITTLE, 16)


def pair(small=LITTLE, large=BIG, **options):
    one, other = worn(small, 1), worn(large, 2)
    return one, other, embed(one, other, **options)


def same(first, second):
    one, other = first.state_dict(), second.state_dict()
    return all(torch.equal(one[name], other[name]) for name in one)


# ---- at the cut ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("small", "large"), [(LITTLE, BIG), (SMALL, LARGE), (SMALL_FINAL, LARGE_FINAL)], ids=["little", "seed", "final"]
)
def test_the_large_network_begins_with_the_small_one(small, large):
    one, _, grown = pair(small, large)
    found = verify_embedding(one, grown, random_tokens(small, 8))
    assert max(found.stream, found.value, found.policy, found.sectors) < 1e-11


@pytest.mark.parametrize(("small", "large"), [(LITTLE, BIG), (SMALL, LARGE)], ids=["little", "seed"])
def test_activations_at_the_cut_are_the_small_networks_in_single_precision(small, large):
    one, _, grown = pair(small, large)
    tokens, last = random_tokens(small, 8), small.layers - 1
    with torch.no_grad():
        _, mine = run_with_cache(one, tokens)
        _, theirs = run_with_cache(grown, tokens)
        cut, whole = grown.heads(tokens, small.layers), one.heads(tokens)
    for layer in range(small.layers):
        for name in ("queries", "keys", "values", "mixed"):
            place = f"layers.{layer}.attn.{name}"
            torch.testing.assert_close(theirs[place][:, : small.heads], mine[place], atol=1e-6, rtol=1e-5)
        place = f"layers.{layer}.mlp.hidden"
        torch.testing.assert_close(theirs[place][..., : small.mlp], mine[place], atol=1e-6, rtol=1e-5)
        place = f"layers.{layer}.out"
        torch.testing.assert_close(theirs[place], mine[place], atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(theirs["embedded"], mine["embedded"], atol=0, rtol=0)
    for ours, expected in zip(cut, whole, strict=True):
        torch.testing.assert_close(ours, expected, atol=1e-5, rtol=1e-5)
    assert not torch.allclose(theirs["layers.3.out"], mine[f"layers.{last}.out"], atol=1e-3)


def test_the_definition_agrees_at_the_cut():
    one, _, grown = pair()
    one, grown = one.double(), grown.double()
    with torch.no_grad():
        for row in TOKENS[:4]:
            torch.testing.assert_close(slow_stream(grown, row, 2), slow_stream(one, row), atol=1e-12, rtol=1e-10)
        for mine, expected in zip(slow_heads(grown, TOKENS, 2), slow_heads(one, TOKENS), strict=True):
            torch.testing.assert_close(mine, expected, atol=1e-12, rtol=1e-10)


# ---- weights -------------------------------------------------------------------------------------


def test_fresh_parts_write_exactly_nothing_and_keep_what_they_read():
    _, large, grown = pair()
    for layer in range(2):
        mine, before = grown.layers[layer], large.layers[layer]
        assert mine.attn.W_O[2:].count_nonzero() == 0
        assert mine.mlp.W_out.weight[:, 6:].count_nonzero() == 0
        for name in ("W_Q", "W_K", "W_V"):
            assert torch.equal(getattr(mine.attn, name)[2:], getattr(before.attn, name)[2:])
            assert getattr(mine.attn, name)[2:].count_nonzero() > 0
        assert torch.equal(mine.mlp.W_in.weight[6:], before.mlp.W_in.weight[6:])
        assert torch.equal(mine.mlp.W_in.bias[6:], before.mlp.W_in.bias[6:])


def test_embedded_parts_are_copies_biases_included():
    one, _, grown = pair()
    for mine, source in zip(grown.layers, one.layers, strict=False):
        for name in ("W_Q", "W_K", "W_V", "W_O"):
            assert torch.equal(getattr(mine.attn, name)[:2], getattr(source.attn, name))
        assert torch.equal(mine.mlp.W_in.weight[:6], source.mlp.W_in.weight)
        assert torch.equal(mine.mlp.W_in.bias[:6], source.mlp.W_in.bias)
        assert torch.equal(mine.mlp.W_out.weight[:, :6], source.mlp.W_out.weight)
        assert torch.equal(mine.mlp.W_out.bias, source.mlp.W_out.bias)
        assert same(source.ln1, mine.ln1)
        assert same(source.ln2, mine.ln2)
    for name in ("state_embed", "pos_embed", "final_ln", "value_head", "sector_head", "policy_head"):
        assert same(getattr(one, name), getattr(grown, name))


def test_the_layers_above_and_both_networks_stay_as_they_were():
    one, large, grown = pair()
    for layer in (2, 3):
        assert same(large.layers[layer], grown.layers[layer])
    assert same(one, worn(LITTLE, 1))
    assert same(large, worn(BIG, 2))
    with torch.no_grad():
        grown.pos_embed.weight.zero_()
    assert same(one, worn(LITTLE, 1))


def test_fresh_parts_wake_with_the_first_steps():
    """Only what they write has a gradient at first; after one step everything has."""
    _, _, grown = pair()
    optimizer = torch.optim.SGD(grown.parameters(), lr=0.1)
    woken = []
    for _ in range(2):
        found = grown.heads(TOKENS)
        optimizer.zero_grad()
        (found.policy**2).sum().backward()
        attn, mlp = grown.layers[0].attn, grown.layers[0].mlp
        assert attn.W_O.grad[2:].count_nonzero() > 0
        assert mlp.W_out.weight.grad[:, 6:].count_nonzero() > 0
        woken.append(bool(attn.W_Q.grad[2:].count_nonzero()) and bool(mlp.W_in.weight.grad[6:].count_nonzero()))
        optimizer.step()
    assert woken == [False, True]


# ---- controls ------------------------------------------------------------------------------------


def test_heads_that_are_not_copied_stay_fresh():
    one, large, grown = pair(heads=False)
    for name in ("final_ln", "value_head", "sector_head", "policy_head"):
        assert same(getattr(large, name), getattr(grown, name))
        assert not same(getattr(one, name), getattr(grown, name))
    found = verify_embedding(one, grown, TOKENS, heads=False)
    assert found.stream < 1e-11
    assert (found.value, found.policy, found.sectors) == (None, None, None)
    with pytest.raises(BadInput, match="no copies"):
        verify_embedding(one, grown, TOKENS)


def test_with_layers_above_that_add_nothing_the_large_network_answers_as_the_small_one():
    one, large, grown = pair(identity=True)
    verify_embedding(one, grown, TOKENS)
    for layer in grown.layers[2:]:
        assert layer.attn.W_O.count_nonzero() == 0
        assert layer.mlp.W_out.weight.count_nonzero() == layer.mlp.W_out.bias.count_nonzero() == 0
        assert layer.attn.W_Q.count_nonzero() > 0
    with torch.no_grad():
        for mine, expected in zip(grown.double().heads(TOKENS), one.double().heads(TOKENS), strict=True):
            torch.testing.assert_close(mine, expected, atol=1e-12, rtol=1e-10)
        assert not torch.allclose(large.double().heads(TOKENS).policy, one.heads(TOKENS).policy)


def test_without_it_the_answers_are_others():
    one, _, grown = pair()
    with torch.no_grad():
        assert not torch.allclose(grown.heads(TOKENS).policy, one.heads(TOKENS).policy, atol=1e-3)


def test_a_small_network_that_has_learned_nothing_can_be_embedded_too():
    trained, random = worn(LITTLE, 1), build(LITTLE, 7)
    grown = embed(random, build(BIG, 2))
    verify_embedding(random, grown, TOKENS)
    with pytest.raises(BadInput, match="not embedded"):
        verify_embedding(trained, grown, TOKENS)


def test_a_network_can_be_embedded_in_one_of_its_own_size():
    one, other = worn(LITTLE, 1), worn(LITTLE, 2)
    grown = embed(one, other)
    assert same(one, grown)
    assert verify_embedding(one, grown, TOKENS) == Differences(0, 0, 0, 0)


def test_a_grown_network_can_grow_again():
    one, _, grown = pair()
    larger = embed(grown, build(BIG.model_copy(update={"heads": 6, "layers": 5, "mlp": 20})))
    verify_embedding(grown, larger, TOKENS)
    verify_embedding(one, grown, TOKENS)


# ---- what is refused -----------------------------------------------------------------------------


def spoilt(change):
    one, _, grown = pair()
    with torch.no_grad():
        change(grown)
    return one, grown


SPOILT = {
    "a hidden bias": lambda n: n.layers[1].mlp.W_in.bias[5:6].add_(1e-3),
    "an outer bias": lambda n: n.layers[0].mlp.W_out.bias[0].add_(1e-3),
    "a fresh head": lambda n: n.layers[1].attn.W_O[4, 0, 0].fill_(1e-30),
    "a fresh unit": lambda n: n.layers[0].mlp.W_out.weight[0, 6:].fill_(1e-30),
    "a norm": lambda n: n.layers[0].ln2.weight.mul_(1.01),
    "a place": lambda n: n.pos_embed.weight[3, 3].add_(1e-3),
    "a head of the network": lambda n: n.sector_head.bias.add_(1e-3),
}


@pytest.mark.parametrize("change", SPOILT.values(), ids=SPOILT)
def test_verification_sees_every_wrong_weight(change):
    with pytest.raises(BadInput, match="not embedded"):
        verify_embedding(*spoilt(change), TOKENS)


def test_verification_sees_a_network_that_computes_something_else():
    one, _, grown = pair()
    other = copy.deepcopy(grown)
    other.layers[1].ln1.eps = 0.1  # no weight tells
    with pytest.raises(BadInput, match="differs from the small one by"):
        verify_embedding(one, other, TOKENS)


def test_answers_that_are_no_numbers_are_not_verified():
    one, _, grown = pair()
    for network in (one, grown):
        network.value_head.bias.data.fill_(torch.inf)  # the same in both, and their difference is no number
    with pytest.raises(BadInput, match="differs from the small one by nan"):
        verify_embedding(one, grown, TOKENS)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"width": 16}, "width must be the same.*8 in the small network and 16"), ({"head_width": 8}, "head_width"),
        ({"rows": 4}, "rows"), ({"side_token": True}, "side_token"), ({"sectors": 3}, "sectors"),
        ({"policy_hidden": 6}, "policy_hidden"), ({"heads": 1}, "as many heads.*has 2, the large one 1"),
        ({"layers": 1}, "as many layers"), ({"mlp": 5}, "as many mlp"), ({"states": 4}, "states"),
    ],
)  # fmt: skip
def test_networks_that_do_not_fit_are_refused_by_the_size_that_does_not(change, message):
    with pytest.raises(BadInput, match=message):
        embed(build(LITTLE), build(BIG.model_copy(update=change)))


def test_heads_that_are_not_copied_may_have_other_sizes():
    large = BIG.model_copy(update={"sectors": 3, "policy_hidden": 9})
    assert embed(build(LITTLE), build(large), heads=False).config == large


def test_other_networks_are_refused():
    with pytest.raises(BadInput, match="the small network is a residual"):
        embed(build(RESIDUAL), build(BIG))
    with pytest.raises(BadInput, match="the large network is a residual"):
        embed(build(LITTLE), build(RESIDUAL))


@pytest.mark.parametrize("config", [LITTLE, LITTLE.model_copy(update={"side_token": True, "states": 4})])
def test_random_positions_show_every_state_and_are_the_same_for_the_same_seed(config):
    tokens = random_tokens(config, 50, 3)
    assert tokens.shape == (50, config.inputs)
    assert set(tokens[:, :-1].unique().tolist()) == set(range(config.states - 1))
    assert set(tokens[:, -1].tolist()) == set(range(config.states - 1, config.all_states))
    assert torch.equal(tokens, random_tokens(config, 50, 3))
    assert not torch.equal(tokens, random_tokens(config, 50, 4))
