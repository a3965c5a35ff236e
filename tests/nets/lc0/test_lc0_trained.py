"""Networks of Lc0's kind that are taught here: what they answer, and the same as weight files."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

from lc0_files import random_net
from lc0_taught import KINDS, TINY, planes, tiny
from nets.lc0.slow_lc0 import Slow
from rookery import BadInput
from rookery.nets.configs import AttentionBodyConfig, PerceptronConfig, read_config
from rookery.nets.files import About, load_network, save_network
from rookery.nets.folded import fold
from rookery.nets.growth import grow
from rookery.nets.lc0.files import read_file, write_file
from rookery.nets.lc0.schema import Encoding
from rookery.nets.lc0.stored import load_network as load_weights
from rookery.nets.lc0.trained import network_from, save_weights
from rookery.nets.residual import build


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_of_single_precision_answers_bit_for_bit_as_the_network_it_was_made_of(tmp_path, kind):
    network, seen = tiny(kind), planes(7)
    save_weights(tmp_path / "net.pb.gz", network, Encoding.FLOAT32)
    with torch.no_grad():
        found = load_weights(tmp_path / "net.pb.gz").heads(seen)
        logits, values = network(seen)
    assert torch.equal(found.policy, logits)
    assert torch.equal(found.value, values)
    assert found.moves_left.abs().max() == 0


@pytest.mark.parametrize("encoding", [Encoding.LINEAR16, Encoding.FLOAT16, Encoding.BFLOAT16])
def test_a_file_in_another_encoding_answers_almost_as_the_network(tmp_path, encoding):
    network, seen = tiny(), planes(7)
    save_weights(tmp_path / "net.pb.gz", network, encoding)
    found = load_weights(tmp_path / "net.pb.gz").heads(seen)
    with torch.no_grad():
        logits, values = network(seen)
    worst = 0.2 if encoding == Encoding.BFLOAT16 else 0.02
    assert 0 < (found.policy - logits).abs().max() < worst
    assert (found.value - values).abs().max() < worst


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_engine_would_make_of_a_file_is_what_the_network_says(tmp_path, kind):
    network, seen = tiny(kind), planes(2)
    save_weights(tmp_path / "net.pb.gz", network, Encoding.FLOAT32)
    slow = Slow(read_file(tmp_path / "net.pb.gz").net)
    with torch.no_grad():
        said = network.taught(seen)
    for row in range(2):
        logits, chances, _ = slow(seen[row].view(112, 8, 8).numpy())
        np.testing.assert_allclose(said.logits[row].numpy(), logits, atol=1e-4)
        np.testing.assert_allclose(said.chances[row].softmax(0).numpy(), chances, atol=1e-5)
        assert float(said.values[row]) == pytest.approx(chances[0] - chances[2], abs=1e-5)


def test_a_file_tells_engines_what_they_ask_for(tmp_path):
    save_weights(tmp_path / "net.pb", tiny(), steps=123)
    assert (tmp_path / "net.pb").read_bytes()[:5] == bytes.fromhex("0dc0010000")
    net = read_file(tmp_path / "net.pb").net
    form = net.need("format")
    assert form.get("weights_encoding") == 1
    wanted = {"input": 1, "output": 2, "network": 6, "policy": 3, "value": 2, "moves_left": 0, "input_embedding": 1}
    assert {name: form.need("network_format").get(name) for name in wanted} == wanted
    assert net.need("weights").get("headcount") == 2
    assert net.need("training_params").get("training_steps") == 123
    assert net.need("min_version").get("minor") == 31
    save_weights(tmp_path / "half.pb", tiny(), Encoding.FLOAT16)
    assert read_file(tmp_path / "half.pb").net.need("min_version").get("minor") == 33


@pytest.mark.parametrize("kind", KINDS)
def test_a_network_comes_back_from_its_file_with_its_configuration_and_weights(tmp_path, kind):
    network = tiny(kind)
    save_weights(tmp_path / "net.pb.gz", network, Encoding.FLOAT32)
    found = network_from(tmp_path / "net.pb.gz")
    unused = network.config.unused
    assert found.config.model_dump(exclude=unused) == network.config.model_dump(exclude=unused)
    assert {name: tensor.tolist() for name, tensor in found.state_dict().items()} == {
        name: tensor.tolist() for name, tensor in network.state_dict().items()
    }


@pytest.mark.parametrize(
    "kind",
    ["attention, map", "attention, old header with smolgen", "attention, dense, several heads",
     "attention, dense, shared embedding", "attention, heads found under an older header"],
)  # fmt: skip
def test_networks_of_the_engine_are_taught_on_with_their_first_heads(tmp_path, kind):
    write_file(tmp_path / "net.pb.gz", random_net(kind))
    network, seen = network_from(tmp_path / "net.pb.gz"), planes(3)
    with torch.no_grad():
        wanted = load_weights(tmp_path / "net.pb.gz").heads(seen)
        logits, values = network(seen)
    assert torch.equal(wanted.policy, logits)
    assert torch.equal(wanted.value, values)


@pytest.mark.parametrize(
    ("kind", "form", "why"),
    [
        ("plain tower, dense policy", 1, "residual tower"),
        ("attention, map", 3, "format 3"),
        ("attention, scalar value, convolutionless", 1, "single number"),
        ("attention, policy encoders", 1, "layers of its own"),
    ],
)
def test_networks_that_cannot_be_taught_on_are_refused_with_the_reason(tmp_path, kind, form, why):
    write_file(tmp_path / "net.pb.gz", random_net(kind, input_format=form))
    with pytest.raises(BadInput, match=f"net.pb.gz cannot be taught on: .*{re.escape(why)}"):
        network_from(tmp_path / "net.pb.gz")


def test_a_network_of_another_kind_is_no_weight_file(tmp_path):
    other = build(PerceptronConfig(inputs=7168, actions=1858, hidden=(4,)))
    with pytest.raises(BadInput, match="kind 'perceptron' cannot be a weight file"):
        save_weights(tmp_path / "net.pb.gz", other)
    assert not (tmp_path / "net.pb.gz").exists()


# ---- as one of our networks ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_checkpoint_holds_the_network_whole(tmp_path, kind):
    network, seen = tiny(kind), planes(3)
    for name in ("net.pth", "net.safetensors"):
        save_network(tmp_path / name, network, About(game="chess", observation="classical"))
        loaded = load_network(tmp_path / name)
        assert loaded.config == network.config
        with torch.no_grad():
            assert all(torch.equal(a, b) for a, b in zip(loaded.network(seen), network(seen), strict=True))


def test_a_folded_network_answers_as_the_network_and_takes_new_weights():
    first, second, seen = tiny(seed=1), tiny(seed=2), planes(5)
    folded = fold(first, "cpu", torch.float32)
    kept = dict(folded.weights)
    with torch.no_grad():
        for network in (first, second):
            folded.update(network)
            for mine, theirs in zip(folded(seen), network(seen), strict=True):
                torch.testing.assert_close(mine, theirs, atol=1e-6, rtol=1e-6)
    assert all(folded.weights[name] is tensor for name, tensor in kept.items())  # a captured graph reads these


def test_a_folded_network_in_half_precision_is_near():
    network, seen = tiny(), planes(5)
    with torch.no_grad():
        mine, theirs = fold(network, "cpu", torch.bfloat16)(seen), network(seen)
    assert mine[0].dtype == mine[1].dtype == torch.float32
    assert (mine[0] - theirs[0]).abs().max() < 0.3
    assert (mine[1] - theirs[1]).abs().max() < 0.1


def test_the_same_seed_makes_the_same_network_and_another_another():
    first, again, other = (build(TINY, seed).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert any(not torch.equal(first[name], other[name]) for name in first)


def test_the_usual_sizes_are_small_enough_for_one_card():
    assert 1_000_000 < build(AttentionBodyConfig()).weights < 3_000_000


def test_bad_sizes_are_refused():
    with pytest.raises(BadInput, match="heads must divide 16, which 3 do not"):
        read_config(TINY.model_dump() | {"heads": 3})
    with pytest.raises(BadInput, match=r"network.lc0.layers"):
        read_config(TINY.model_dump() | {"layers": 0})


def test_such_a_network_does_not_grow():
    with pytest.raises(BadInput, match="'lc0' does not grow"):
        grow(tiny(), TINY.model_copy(update={"width": 32}))
