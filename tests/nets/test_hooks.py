"""Activations by name."""

from __future__ import annotations

import pytest
import torch

from nets.slow_transformer import gelu, layer_norm, slow_stream
from nets.test_transformer import precise
from rookery.errors import BadInput
from rookery.nets.configs import TransformerConfig
from rookery.nets.hooks import IN_LAYER, activation_names, patched, run_with_cache
from rookery.nets.surgery import random_tokens

CONFIG = TransformerConfig(rows=3, cols=4, width=8, heads=3, head_width=4, layers=2, mlp=10, sectors=2, policy_hidden=5)
N, T = 5, CONFIG.inputs
TOKENS = random_tokens(CONFIG, N)
SHAPES = {
    "embedded": (N, T, 8), "final": (N, T, 8), "attn.in": (N, T, 8), "attn.queries": (N, 3, T, 4),
    "attn.keys": (N, 3, T, 4), "attn.values": (N, 3, T, 4), "attn.pattern": (N, 3, T, T), "attn.mixed": (N, 3, T, 4),
    "attn.out": (N, T, 8), "middle": (N, T, 8), "mlp.in": (N, T, 8), "mlp.hidden": (N, T, 10), "mlp.out": (N, T, 8),
    "out": (N, T, 8),
}  # fmt: skip


@pytest.fixture(scope="module")
def network():
    return precise(CONFIG).requires_grad_(False)


@pytest.fixture(scope="module")
def cache(network):
    return run_with_cache(network, TOKENS, activation_names(CONFIG))[1]


def close(mine, expected):
    torch.testing.assert_close(mine, expected, atol=1e-12, rtol=1e-10)


def test_every_activation_has_a_regular_name_and_is_kept(cache):
    assert list(cache) == activation_names(CONFIG)
    assert len(cache) == 2 + CONFIG.layers * len(IN_LAYER)
    for name, tensor in cache.items():
        assert tensor.shape == SHAPES[name.split(".", 2)[-1] if name.startswith("layers.") else name], name


def test_keeping_activations_changes_no_answer(network):
    plain = network.heads(TOKENS)
    for names in (None, ["layers.*.attn.pattern"], "layers.*.out", ()):
        for mine, expected in zip(run_with_cache(network, TOKENS, names)[0], plain, strict=True):
            close(mine, expected)


def test_activations_are_those_of_the_definition(network, cache):
    for number, layer in enumerate(network.layers):
        before = torch.stack([slow_stream(network, row, number) for row in TOKENS])
        behind = torch.stack([slow_stream(network, row, number + 1) for row in TOKENS])
        place, attn = f"layers.{number}", layer.attn
        close(cache["embedded" if number == 0 else f"layers.{number - 1}.out"], before)
        close(cache[f"{place}.out"], behind)
        read = layer_norm(before, layer.ln1)
        close(cache[f"{place}.attn.in"], read)
        written = torch.zeros_like(before)
        for head in range(CONFIG.heads):
            queries, keys, values = read @ attn.W_Q[head].T, read @ attn.W_K[head].T, read @ attn.W_V[head].T
            pattern = (queries @ keys.mT / 2).softmax(-1)  # 2: the root of the head's width
            for name, expected in [("queries", queries), ("keys", keys), ("values", values), ("pattern", pattern),
                                   ("mixed", pattern @ values)]:  # fmt: skip
                close(cache[f"{place}.attn.{name}"][:, head], expected)
            written += cache[f"{place}.attn.mixed"][:, head] @ attn.W_O[head]
        close(cache[f"{place}.attn.out"], written)
        close(cache[f"{place}.middle"], before + written)
        close(cache[f"{place}.mlp.in"], layer_norm(before + written, layer.ln2))
        hidden = gelu(cache[f"{place}.mlp.in"] @ layer.mlp.W_in.weight.T + layer.mlp.W_in.bias)
        close(cache[f"{place}.mlp.hidden"], hidden)
        close(cache[f"{place}.mlp.out"], behind - before - written)
    close(cache["final"], layer_norm(behind, network.final_ln))


def test_patterns_are_chances_and_kept_only_if_asked_for(network, cache):
    close(cache["layers.1.attn.pattern"].sum(-1), torch.ones(N, 3, T, dtype=torch.float64))
    found = run_with_cache(network, TOKENS)[1]
    assert set(cache) - set(found) == {"layers.0.attn.pattern", "layers.1.attn.pattern"}


def test_names_choose_what_is_kept_and_a_function_what_of_it(network, cache):
    _, found = run_with_cache(network, TOKENS, ["layers.*.out", "final"], keep=lambda x: x[:, -1])
    assert list(found) == ["layers.0.out", "layers.1.out", "final"]
    for name, tensor in found.items():
        close(tensor, cache[name][:, -1])
    _, found = run_with_cache(network, TOKENS, ["layers.1.*.out", "layers.0.attn.[qk]*"])
    assert list(found) == ["layers.0.attn.queries", "layers.0.attn.keys", "layers.1.attn.out", "layers.1.mlp.out"]


@pytest.mark.parametrize("name", activation_names(CONFIG))
def test_an_activation_of_other_positions_makes_the_answers_theirs_only_where_all_flows_through_it(
    network, cache, name
):
    """Swap in the activations of the positions rolled by one: a whole stream carries everything, a part does not."""
    plain = network.heads(TOKENS)
    found = patched(network, TOKENS, {name: cache[name].roll(1, 0)})
    whole = name in ("embedded", "final") or name.endswith("middle") or name.split(".", 2)[-1] == "out"
    assert not torch.equal(found.policy, plain.policy)
    for mine, theirs in zip(found, plain, strict=True):
        if whole:
            close(mine, theirs.roll(1, 0))
    if not whole:
        assert not torch.allclose(found.policy, plain.policy.roll(1, 0))


@pytest.mark.parametrize("name", activation_names(CONFIG))
def test_an_activation_put_in_its_own_place_changes_nothing(network, cache, name):
    for patch in (cache[name], lambda x: x.clone()):
        for mine, expected in zip(patched(network, TOKENS, {name: patch}), network.heads(TOKENS), strict=True):
            close(mine, expected)


def test_a_head_is_switched_off_by_a_function(network):
    def without_first(mixed):
        return torch.cat((torch.zeros_like(mixed[:, :1]), mixed[:, 1:]), 1)

    found = patched(network, TOKENS, {"layers.1.attn.mixed": without_first})
    changed = precise(CONFIG)
    with torch.no_grad():
        changed.layers[1].attn.W_O[0].zero_()
        for mine, expected in zip(found, changed.heads(TOKENS), strict=True):
            close(mine, expected)


def test_what_is_kept_is_what_went_on(network, cache):
    _, found = run_with_cache(
        network, TOKENS, ["layers.0.out", "layers.1.attn.in"], patches={"layers.0.out": torch.relu}
    )
    close(found["layers.0.out"], cache["layers.0.out"].relu())
    close(found["layers.1.attn.in"], layer_norm(cache["layers.0.out"].relu(), network.layers[1].ln1))


def test_a_pass_can_be_cut_behind_a_layer(network, cache):
    found, kept = run_with_cache(network, TOKENS, ["layers.?.out"], depth=1)
    assert list(kept) == ["layers.0.out"]
    close(found.policy, network.heads(TOKENS, 1).policy)


def test_gradients_reach_activations():
    network = precise(CONFIG)
    found, cache = run_with_cache(network, TOKENS, ["layers.0.out"])
    (gradient,) = torch.autograd.grad(found.vertical_win_logit.sum(), [cache["layers.0.out"]])
    assert gradient.shape == (N, T, 8)
    assert gradient.abs().sum() > 0


@pytest.mark.parametrize("name", ["layers.2.out", "layer.0.out", "", "layers.0.attn", "layers.*"])
def test_names_that_there_are_not_are_refused(network, name):
    with pytest.raises(BadInput, match=r"no activation.*layers\.0\.\.1\.attn\.queries"):
        run_with_cache(network, TOKENS, [name])
    with pytest.raises(BadInput, match="no activation"):
        patched(network, TOKENS, {name: torch.relu})


def test_a_patch_of_another_shape_is_refused(network, cache):
    with pytest.raises(BadInput, match=r"layers\.0\.out.*\[4, 13, 8\].*\[5, 13, 8\]"):
        patched(network, TOKENS, {"layers.0.out": cache["layers.0.out"][:4]})
