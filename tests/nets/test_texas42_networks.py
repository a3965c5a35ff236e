"""Stage 1 and Stage 2 of Texas 42: sizes, what they read, what they answer."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from rookery.errors import BadInput
from rookery.games.library import load
from rookery.nets.configs import HANDS, TRANSCRIPTS, HandsConfig, TokensConfig, TranscriptConfig, read_config
from rookery.nets.files import About, load_network, save_network
from rookery.nets.residual import build
from rookery.nets.texas42 import (
    HANDS_VALUES,
    HANDS_WIDE,
    Layer,
    OpenHands,
    PlainHands,
    Transcript,
    known_hand,
    left_tiles,
    own_slots,
    slot_tiles,
)
from support import random_walk

SMALL = HandsConfig(width=24, heads=2, layers=2, mlp=32)
OPEN = SMALL.model_copy(update={"reads": "open"})
TINY = TranscriptConfig(width=16, heads=2, layers=2, mlp=32)


def observed(kind: str, spec: str = "texas42:bid=30", seeds: range = range(4)) -> torch.Tensor:
    """Return the observations of every position of some random hands."""
    game = load(spec)
    seen = [p.observe(kind) for seed in seeds for p, action in random_walk(game, seed) if action is not None]
    return torch.from_numpy(np.stack(seen)).to(torch.int8)


def slow_count(width: int, layers: int, mlp: int) -> int:
    """Count the parameters of Stage 1 as described: embeddings side by side, a linear layer, an encoder."""
    sizes = [width // (6 if feature in HANDS_WIDE else 12) for feature in range(12)]
    embeddings = sum(count * size for count, size in zip(HANDS_VALUES, sizes, strict=True))
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(width, 4, mlp, batch_first=True), layers, enable_nested_tensor=False
    )
    heads = 2 * (width + 1)
    return embeddings + sum(sizes) * width + width + heads + sum(p.numel() for p in encoder.parameters())


def encoder_layer(ours: Layer, config: TokensConfig) -> nn.TransformerEncoderLayer:
    """Return PyTorch's layer with the same weights."""
    layer = nn.TransformerEncoderLayer(
        config.width, config.heads, config.mlp, dropout=0.0, batch_first=True, norm_first=config.norm_first
    )
    layer.self_attn.in_proj_weight, layer.self_attn.in_proj_bias = ours.attend_in.weight, ours.attend_in.bias
    layer.self_attn.out_proj.weight, layer.self_attn.out_proj.bias = ours.attend_out.weight, ours.attend_out.bias
    layer.linear1, layer.linear2 = ours.mlp_in, ours.mlp_out
    layer.norm1, layer.norm2 = ours.norm1, ours.norm2
    return layer


def sums_of_rows(network: OpenHands | Transcript, tokens: torch.Tensor) -> torch.Tensor:
    """Return what the tokens of trick, tiles and seats begin as: a row for each value of each feature, added up."""
    parts = []
    for rows, some in (
        (network.trick, tokens[:, :1]),
        (network.tiles, tokens[:, 1:29]),
        (network.seats, tokens[:, 29:]),
    ):
        stream = torch.zeros(*some.shape[:2], network.config.width)
        for number in range(len(rows.table)):
            feature, value = int(rows.features[number]), int(rows.values[number])
            stream += (some[..., feature] == value)[..., None] * rows.table[number]
        parts.append(stream)
    return torch.cat(parts, 1)


@pytest.mark.parametrize(("name", "count"), [("73k", 73_073), ("817k", 816_904), ("3.3M", 3_256_865)])
def test_stage_1_has_as_many_parameters_as_described(name, count):
    config = HANDS[name]
    assert build(config).weights == count == slow_count(config.width, config.layers, config.mlp)


def test_stage_1_computes_what_an_encoder_of_pytorch_does():
    network = build(SMALL, 3)
    assert isinstance(network, PlainHands)
    tokens = observed("all")
    parts = []
    for feature, table in enumerate(network.tables):
        parts.append(table(tokens[..., feature].long()))
    x = network.joined(torch.cat(parts, 2))
    there = torch.cat((torch.ones(len(tokens), 1, dtype=torch.bool), tokens[:, 1:, 9] > 0), 1)
    for ours in network.layers:
        x = encoder_layer(ours, SMALL)(x, src_key_padding_mask=~there)
    found = network.judge(tokens)
    for row, one in enumerate(tokens):
        mine = [place for place in range(1, 29) if one[place, 6] == 1]
        assert torch.allclose(found.slots[row], network.slot_head(x[row, mine]).squeeze(1), atol=1e-5)
    assert torch.allclose(found.value, network.value_head(x[:, 0]).squeeze(1), atol=1e-5)


@pytest.mark.parametrize("trick", range(4))
def test_leaving_out_tokens_that_stand_for_nothing_is_masking_them(trick):
    network, tokens = build(SMALL, 1), observed("all")
    assert isinstance(network, PlainHands)
    some = tokens[(tokens[:, 29:, 9] > 0).sum(1) == trick]
    masked, cut = network.judge(some), network.judge(some, 4 + trick)
    assert len(some) > 20
    assert torch.allclose(masked.slots, cut.slots, atol=1e-5)
    assert torch.allclose(masked.value, cut.value, atol=1e-5)


def test_the_order_of_the_own_tiles_orders_the_answers_of_stage_1_and_changes_nothing_else():
    network, tokens = build(SMALL, 2), observed("all")
    assert isinstance(network, PlainHands)
    order = torch.tensor([3, 0, 6, 1, 2, 5, 4])
    shuffled = tokens.clone()
    hands = shuffled[:, 1:29].view(-1, 4, 7, 12)
    shuffled[:, 1:29] = hands[:, :, order].view(-1, 28, 12)
    first, second = network.judge(tokens), network.judge(shuffled)
    assert torch.allclose(first.slots[:, order], second.slots, atol=1e-5)
    assert torch.allclose(first.value, second.value, atol=1e-5)


BOTH = OPEN.model_copy(update={"answers": "both"})


def test_a_policy_beside_q_is_read_from_the_same_tokens():
    network, seen = build(BOTH, 2), observed("open")
    assert isinstance(network, OpenHands)
    assert network.choice_head is not None
    plain, found = network.judge(seen), network(seen.flatten(1).float())
    assert torch.equal(found[0], plain.choice)
    assert not torch.allclose(plain.choice, plain.slots)
    assert torch.equal(network.points(seen), plain.slots * 42)
    with torch.no_grad():
        network.choice_head.weight.copy_(network.slot_head.weight)
        network.choice_head.bias.copy_(network.slot_head.bias)
    assert torch.equal(network.judge(seen).choice, plain.slots)


@pytest.mark.parametrize(
    "config", [SMALL, SMALL.model_copy(update={"norm_first": True}), OPEN, BOTH, TINY, HANDS["73k"]]
)
def test_networks_of_texas42_come_back_from_files_as_they_were(config, tmp_path):
    network = build(config, 5).eval()
    save_network(tmp_path / "a.safetensors", network, About(game="texas42", observation="all"))
    loaded = load_network(tmp_path / "a.safetensors")
    assert loaded.config == config
    seen = observed(config.reads if isinstance(config, HandsConfig) else "known").flatten(1).float()
    for one, other in zip(network(seen), loaded.network(seen), strict=True):
        assert torch.equal(one, other)


def test_a_stage_1_that_is_told_more_computes_what_an_encoder_of_pytorch_does():
    network, seen = build(OPEN, 3), observed("open")
    assert isinstance(network, OpenHands)
    x, gone = sums_of_rows(network, seen), torch.zeros(len(seen), 33, dtype=torch.bool)
    gone[:, 1:29] = seen[:, 1:29, 6] < 2
    for ours in network.layers:
        x = encoder_layer(ours, OPEN)(x, src_key_padding_mask=gone)
    found = network.judge(seen)
    slots = [
        position.state["tiles"][position.mover].tolist()
        for seed in range(4)
        for position, action in random_walk(load("texas42:bid=30"), seed)
        if action is not None
    ]
    assert len(slots) == len(seen)
    for row, hand in enumerate(slots):
        held = [slot for slot, tile in enumerate(hand) if not gone[row, 1 + tile]]
        wanted = network.slot_head(x[row, [1 + hand[slot] for slot in held]]).squeeze(1)
        assert torch.allclose(found.slots[row, held], wanted, atol=1e-5)
    assert torch.allclose(found.value, network.value_head(x[:, 0]).squeeze(1), atol=1e-5)


def test_leaving_out_tiles_that_are_gone_is_masking_them():
    network, seen = build(OPEN, 1), observed("open")
    assert isinstance(network, OpenHands)
    held = (seen[:, 1:29, 6] > 1).gather(1, own_slots(seen))
    masked, cut = network.masked(seen), network.judge(seen)
    assert torch.allclose(masked.slots[held], cut.slots[held], atol=1e-5)
    assert torch.allclose(masked.value, cut.value, atol=1e-5)
    assert len(network.judge(seen[:0]).value) == 0


@pytest.mark.parametrize("plays", [0, 5, 14, 23, 27])
def test_tiles_that_are_gone_are_left_out_where_all_positions_have_as_many_plays(plays):
    network, seen = build(OPEN, 1), observed("open")
    assert isinstance(network, OpenHands)
    some = seen[left_tiles(seen).sum(1) == 28 - plays // 4 * 4]
    held = (some[:, 1:29, 6] > 1).gather(1, own_slots(some))
    masked, cut = network.masked(some), network.judge(some, plays)
    assert len(some) > 10
    assert torch.allclose(masked.slots[held], cut.slots[held], atol=1e-5)
    assert torch.allclose(masked.value, cut.value, atol=1e-5)


def test_what_is_told_of_a_tile_that_is_gone_changes_nothing():
    network, seen = build(OPEN, 1), observed("open")
    held = (seen[:, 1:29, 6] > 1).gather(1, own_slots(seen))
    other = seen.clone()
    gone = other[:, 1:29, 6] == 0
    other[:, 1:29, 7:][gone] = 1
    assert not torch.equal(other, seen)
    for one, two in zip(network.judge(seen), network.judge(other), strict=True):
        assert torch.allclose(one[held] if one.ndim == 2 else one, two[held] if two.ndim == 2 else two, atol=1e-6)


@pytest.mark.parametrize("config", [SMALL, OPEN])
def test_stage_1_knows_who_leads(config):
    network = build(config)
    for position, action in random_walk(load("texas42"), 7):
        if action is not None:
            leads = network.leads(torch.from_numpy(position.observe(config.reads))[None])
            assert bool(leads) == (int(position.state["plays"]) % 4 == 0)


def test_heads_must_divide_the_width():
    with pytest.raises(BadInput, match="multiple of 5"):
        read_config({"kind": "hands", "width": 64, "heads": 5})


# ---- stage 2 -------------------------------------------------------------------------------------


def test_slots_of_stage_2_are_those_of_the_known_hand():
    for position, action in random_walk(load("texas42"), 7):
        if action is None:
            break
        tokens = torch.from_numpy(position.seen_by(position.mover).observe("known"))[None]
        assert slot_tiles(known_hand(tokens[:, 1:29]))[0].tolist() == position.state["tiles"][position.mover].tolist()


@pytest.mark.parametrize("norm_first", [False, True])
def test_stage_2_computes_what_an_encoder_of_pytorch_does(norm_first):
    network, tokens = build(TINY.model_copy(update={"norm_first": norm_first}), 3), observed("known")
    assert isinstance(network, Transcript)
    x = sums_of_rows(network, tokens)
    for ours in network.layers:
        x = encoder_layer(ours, network.config)(x)
    found = network.expect(tokens)
    for row, tiles in enumerate(slot_tiles(known_hand(tokens[:, 1:29]))):
        mine = network.norm(x[row, 1 + tiles])
        assert torch.allclose(found.mean[row], network.mean_head(mine).squeeze(1), atol=1e-5)
        spread = nn.functional.softplus(network.spread_head(mine).squeeze(1))
        assert torch.allclose(found.spread[row], spread, atol=1e-5)
        assert torch.allclose(found.make_logit[row], network.make_head(mine).squeeze(1), atol=1e-5)


@pytest.mark.parametrize("config", [HandsConfig(width=24, heads=2, layers=0), TINY.model_copy(update={"layers": 0})])
def test_a_network_without_layers_answers_too(config):
    network = build(config, 1)
    found = network.judge(observed("all")) if config.kind == "hands" else network.expect(observed("known"))
    assert found[0].shape[1] == 7
    assert torch.isfinite(found[0]).all()


@pytest.mark.parametrize("feature", [0, 1, 3, 5, 7])
def test_stage_2_reads_bid_declarer_points_and_voids(feature):
    network, tokens = build(TINY, 4), observed("known", seeds=range(1))[5:6]
    assert isinstance(network, Transcript)
    changed = tokens.clone()
    changed[0, 30, feature] += 1
    assert not torch.allclose(network.expect(tokens).mean, network.expect(changed).mean)


def test_the_sizes_of_stage_2_go_from_64x2_to_256x6():
    weights = {name: build(config).weights for name, config in TRANSCRIPTS.items()}
    assert list(weights) == ["64x2", "96x3", "128x4", "256x6"]
    assert all(weights[name] == weights_as_described(TRANSCRIPTS[name]) for name in weights)


def weights_as_described(config: TranscriptConfig) -> int:
    """Count a row for each value of each feature of the trick, the seats and the tiles, layers, and three answers."""
    layer = nn.TransformerEncoderLayer(config.width, config.heads, config.mlp, batch_first=True)
    rows = (10 + 9 + 4 + 7 + 4 + 8 + 8) + (43 + 8 + 4 + 2 + 4 + 43 + 8 + 8 * 2)
    rows += (7 + 7 + 2 + 3 + 8 + 10) + (7 + 4 + 28 + 2) + (8 + 2 + 3 * 2 + 8 + 8)
    norm = 2 * config.width
    return (
        rows * config.width + config.layers * sum(p.numel() for p in layer.parameters()) + norm + 3 * (config.width + 1)
    )


def test_networks_of_texas42_are_not_asked_by_searches_and_neither_grow_nor_become_onnx(tmp_path):
    from rookery.arena.networks import network_for
    from rookery.nets.export import onnx_bytes
    from rookery.nets.growth import grow

    game = load("texas42")
    for config, kind, player in ((SMALL, "all", "eq:oracle"), (TINY, "known", "stage2")):
        network, path = build(config), tmp_path / f"{kind}.safetensors"
        about = About(game="texas42", rules_version=1, observation=kind)
        save_network(path, network, about)
        with pytest.raises(BadInput, match=player):
            network_for(str(path), game)
        with pytest.raises(BadInput, match="does not grow"):
            grow(network, config)
        with pytest.raises(BadInput, match="ONNX"):
            onnx_bytes(network, about)
