"""Squeeze-excitation and global pooling in a tower, against the same written out with plain PyTorch."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from nets.samples import worn
from rookery.cli.grow import large_values
from rookery.errors import BadInput
from rookery.nets.configs import TOWERS, TowerConfig, read_config
from rookery.nets.export import export_network
from rookery.nets.files import About, load_network, save_network
from rookery.nets.folded import fold
from rookery.nets.growth import grow, larger_config
from rookery.nets.residual import build
from rookery.nets.tower import resized

SIZES = {"planes": 3, "rows": 5, "cols": 6, "width": 8, "blocks": 3, "policy_hidden": 4, "value_hidden": 4}
OPTIONS = [{"squeeze": 3}, {"pooling": 5}, {"squeeze": 2, "pooling": 8, "extra_actions": 2}]
WAYS = pytest.mark.parametrize("options", OPTIONS, ids=lambda options: " ".join(options))


def tower(options, seed=1):
    return worn(build(TowerConfig(**SIZES | options), seed), seed)


def observations(network, rows=6):
    return torch.randn(rows, network.config.inputs, generator=torch.Generator().manual_seed(2))


def normed(weights, name, x):
    """Apply a BatchNorm in evaluation."""
    of = {part: weights[f"{name}.{part}"] for part in ("running_mean", "running_var", "weight", "bias")}
    return functional.batch_norm(x, of["running_mean"], of["running_var"], of["weight"], of["bias"])


def dense(weights, name, x):
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def slow_block(weights, x, n, options):
    """One block of one position [planes, rows, cols], as the definition reads."""
    name = f"blocks.{n}"
    inner = normed(weights, f"{name}.bn1", functional.conv2d(x[None], weights[f"{name}.conv1.weight"], padding=1))[0]
    if options.get("pooling") and n % 2 == 1:
        read = inner[: options["pooling"]].clamp(min=0)
        told = dense(
            weights,
            f"{name}.pool_fc",
            torch.tensor([plane.mean() for plane in read] + [plane.max() for plane in read]),
        )
        inner = torch.stack([plane + more for plane, more in zip(inner, told, strict=True)])
    inner = inner.clamp(min=0)
    outer = normed(weights, f"{name}.bn2", functional.conv2d(inner[None], weights[f"{name}.conv2.weight"], padding=1))[
        0
    ]
    if options.get("squeeze"):
        units = dense(weights, f"{name}.squeeze.read", torch.tensor([plane.mean() for plane in outer])).clamp(min=0)
        scale = 1 / (1 + (-dense(weights, f"{name}.squeeze.scale", units)).exp())
        shift = dense(weights, f"{name}.squeeze.shift", units)
        outer = torch.stack([plane * a + b for plane, a, b in zip(outer, scale, shift, strict=True)])
    return (x + outer).clamp(min=0)


def slow_value(network, position, options):
    """Judge one position, block by block."""
    weights, config = network.state_dict(), network.config
    x = position.view(config.planes, config.rows, config.cols)
    x = normed(weights, "input_bn", functional.conv2d(x[None], weights["input_conv.weight"], padding=1))[0].clamp(min=0)
    for n in range(config.blocks):
        x = slow_block(weights, x, n, options)
    pooled = torch.cat([x.mean((1, 2)), x.amax((1, 2))])
    return dense(weights, "value_fc2", dense(weights, "value_fc1", pooled).clamp(min=0)).tanh().item()


@WAYS
def test_blocks_answer_as_the_definition_reads(options):
    network = tower(options)
    x = observations(network)
    with torch.no_grad():
        values = network(x)[1]
        expected = [slow_value(network, row, options) for row in x]
    assert values.tolist() == pytest.approx(expected, abs=1e-5)
    assert values.std() > 1e-3


@WAYS
def test_a_folded_tower_answers_as_the_tower(options):
    network = tower(options)
    x = observations(network, 33)
    with torch.no_grad():
        logits, values = network(x)
    judge = fold(network)
    torch.testing.assert_close(judge(x)[0], logits, atol=2e-5, rtol=1e-5)
    torch.testing.assert_close(judge(x)[1], values, atol=2e-5, rtol=1e-5)
    other = tower(options, 2)
    judge.update(other)
    with torch.no_grad():
        torch.testing.assert_close(judge(x)[0], other(x)[0], atol=2e-5, rtol=1e-5)


@WAYS
def test_weights_learned_on_one_board_fit_another(options):
    network = tower(options)
    large = resized(network, 15, 15)
    assert all(torch.equal(tensor, large.state_dict()[name]) for name, tensor in network.state_dict().items())
    logits, values = large(torch.randn(2, large.config.inputs))
    assert logits.shape == (2, 225 + options.get("extra_actions", 0))
    assert values.isfinite().all()


@WAYS
def test_far_cells_learn_of_a_stone_only_by_these_options(options):
    """A cell on the other side of a board beyond the convolutions' reach gets another logit."""
    far = {"rows": 20, "cols": 20, "blocks": 2}
    for given, differs in ((options, True), ({}, False)):
        network = tower({**far, **{key: value for key, value in given.items() if key != "extra_actions"}})
        empty = torch.zeros(1, network.config.inputs)
        stone = empty.clone()
        stone[0, 0] = 1
        with torch.no_grad():
            assert bool((network(stone)[0][0, 399] != network(empty)[0][0, 399]).item()) == differs


@WAYS
def test_a_file_holds_them(options, tmp_path):
    network = tower(options)
    save_network(tmp_path / "tower.pth", network, About())
    loaded = load_network(tmp_path / "tower.pth")
    assert loaded.config == network.config
    x = observations(network)
    with torch.no_grad():
        assert torch.equal(loaded.network.eval()(x)[0], network(x)[0])


@WAYS
def test_onnx_answers_as_the_tower(options, tmp_path):
    onnx = pytest.importorskip("onnx")
    reference = pytest.importorskip("onnx.reference")
    network = tower(options)
    export_network(tmp_path / "tower.onnx", network, About())
    x = observations(network, 3)
    found = reference.ReferenceEvaluator(onnx.load(tmp_path / "tower.onnx")).run(None, {"observations": x.numpy()})
    with torch.no_grad():
        for mine, expected in zip(found, network(x), strict=True):
            torch.testing.assert_close(torch.from_numpy(mine), expected, atol=1e-4, rtol=1e-4)


@WAYS
def test_a_grown_tower_begins_with_what_the_small_one_knows(options):
    small = tower(options)
    more = {name: options[name] + 1 for name in ("squeeze", "pooling") if name in options}
    config = larger_config(small.config, {"width": 11, "blocks": 5, **more})
    grown = grow(small, config, seed=3, identity=True)
    x = observations(small).double()
    with torch.no_grad():
        for mine, expected in zip(grown.double()(x), small.double()(x), strict=True):
            torch.testing.assert_close(mine, expected, atol=1e-9, rtol=1e-9)


def test_blocks_that_learned_without_a_part_are_not_given_one():
    for name in ("squeeze", "pooling"):
        with pytest.raises(BadInput, match=f"{name} must stay 0, not 2"):
            grow(tower({}), TowerConfig(**SIZES | {name: 2}))


def test_towers_without_options_have_the_weights_they_always_had():
    plain = build(TowerConfig(**SIZES), 7).state_dict()
    assert not [name for name in plain if "squeeze" in name or "pool" in name]
    with_options = build(TowerConfig(**SIZES | OPTIONS[2]), 7).state_dict()
    assert plain.keys() < with_options.keys()


def test_configurations_written_before_there_were_options_still_read():
    assert read_config({"kind": "tower", **SIZES}) == TowerConfig(**SIZES, squeeze=0, pooling=0)


@pytest.mark.parametrize("wrong", [{"pooling": 9}, {"pooling": 1, "blocks": 1}])
def test_pooling_of_what_is_not_there_is_refused(wrong):
    with pytest.raises(BadInput, match="pooling needs two blocks and as many planes"):
        read_config({"kind": "tower", **SIZES, **wrong})


def test_presets_are_named_by_blocks_and_width():
    assert {name: f"{blocks}x{width}" for name, (blocks, width) in TOWERS.items()} == {name: name for name in TOWERS}


def test_a_tower_grows_into_a_preset_by_its_name():
    config = larger_config(tower({}).config, large_values("6x64", []))
    assert (config.blocks, config.width, config.rows, config.policy_hidden) == (6, 64, 5, 4)
