"""Lc0's networks against the slow reading of their description."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
import torch

from lc0_files import KINDS, random_net
from nets.lc0.slow_lc0 import Slow, move_list
from rookery import BadInput
from rookery.nets.lc0.files import WeightFile, file_bytes, read_bytes, write_file
from rookery.nets.lc0.hooks import patched, run_with_cache
from rookery.nets.lc0.maps import attention_map, convolution_map, numbers, places_of
from rookery.nets.lc0.onnx import onnx_bytes
from rookery.nets.lc0.schema import Activation, Encoding
from rookery.nets.lc0.stored import load_network, message_of, network_of, paths, save_network
from rookery.nets.transformer import Tap

HEADED = [
    (kind, policy, value)
    for kind in KINDS
    for policy, value in ([("vanilla", "winner")] + ([("optimistic_st", "q")] if KINDS[kind].get("apart") else []))
] + [("attention, dense, shared embedding", "soft", "winner")]


def boards(count: int, seed: int = 0) -> np.ndarray:
    """Planes like those of games: few men, a counter, constant planes."""
    rng = np.random.default_rng(seed)
    planes = (rng.random((count, 112, 8, 8)) < 0.1).astype(np.float32)
    planes[:, 109] = rng.integers(0, 60, (count, 1, 1))
    planes[:, 110], planes[:, 111] = 0, 1
    return planes


def network_for(kind: str, seed: int = 0, **changes):
    net = random_net(kind, seed, **changes)
    return network_of(read_bytes(file_bytes(net))), net


# ---- arithmetic ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "policy", "value"), HEADED)
def test_logits_chances_and_moves_left_are_those_of_the_description(kind, policy, value):
    network, net = network_for(kind)
    network.choose_heads(policy, value)
    slow, planes = Slow(net, policy, value), boards(2)
    with torch.no_grad():
        found = network.heads(torch.from_numpy(planes))
    for row in range(len(planes)):
        logits, chances, left = slow(planes[row])
        assert np.ptp(logits) > 0.5  # a network that says the same of all moves would show nothing
        np.testing.assert_allclose(found.policy[row].numpy(), logits, atol=1e-4)
        if len(chances) == 3:
            np.testing.assert_allclose(found.chances[row].numpy(), chances, atol=1e-5)
            assert abs(float(found.value[row]) - (chances[0] - chances[2])) < 1e-5
        else:
            assert abs(float(found.value[row]) - chances[0]) < 1e-5
            assert float(found.chances[row, 1]) == 0
        assert abs(float(found.moves_left[row]) - left) < 1e-4


@pytest.mark.parametrize("activation", [a for a in Activation if a not in (Activation.DEFAULT, Activation.SOFTMAX)])
def test_every_activation_can_stand_in_hidden_units_and_smolgen(activation):
    net = random_net("attention, dense, several heads", seed=3)
    fields = net.get("format").get("network_format").values
    fields["ffn_activation"] = fields["smolgen_activation"] = int(activation)
    network = network_of(WeightFile(read_bytes(file_bytes(net)).net, "net"))
    planes = boards(1, seed=5)
    with torch.no_grad():
        found = network.heads(torch.from_numpy(planes))
    logits, chances, _ = Slow(net)(planes[0])
    np.testing.assert_allclose(found.policy[0].numpy(), logits, atol=1e-4)
    np.testing.assert_allclose(found.chances[0].numpy(), chances, atol=1e-5)


def test_positions_of_a_batch_do_not_touch_each_other():
    network, _ = network_for("attention, dense, several heads")
    planes = torch.from_numpy(boards(5))
    with torch.no_grad():
        together, alone = network.heads(planes), network.heads(planes[3:4])
    torch.testing.assert_close(together.policy[3:4], alone.policy, atol=1e-5, rtol=0)
    torch.testing.assert_close(together.chances[3:4], alone.chances, atol=1e-6, rtol=0)


def test_heads_can_be_chosen_by_the_names_of_engine_and_file():
    network, _ = network_for("attention, dense, several heads")
    network.choose_heads("optimistic", "q")
    assert (network.policy_head, network.value_head) == ("optimistic_st", "q")
    with pytest.raises(BadInput, match=r"no policy head 'opponent'.*vanilla, optimistic_st, soft"):
        network.choose_heads("opponent")
    with pytest.raises(BadInput, match=r"no value head 'st'.*winner, q"):
        network.choose_heads(value="st")


# ---- maps ----------------------------------------------------------------------------------------


def digest(numbers) -> str:
    return hashlib.sha256("\n".join(map(str, numbers)).encode("ascii")).hexdigest()


def test_the_maps_have_the_sums_of_the_description():
    assert digest(attention_map()) == "c2d933f5810a484cb1f68e92e9db9d21a94c80adf4bcbd0cfe7da5609e2a03c6"
    assert digest(convolution_map()) == "6a59892071d2faeec920436e2f942af849070d5e13c7eb12042d2eaf1d9a9bb2"


def test_the_maps_number_moves_as_the_rules_do():
    from rookery.games.chess_lc0 import MOVES

    pieces = {None: 0, 0: 3, 1: 2, 2: 1}
    assert [(source, target, pieces[piece]) for source, target, piece in numbers()] == MOVES
    assert [
        (source, target, "" if piece is None else "qrb"[piece]) for source, target, piece in numbers()
    ] == move_list()


@pytest.mark.parametrize("mapped", [attention_map(), convolution_map()])
def test_every_move_has_one_place_in_a_map_and_comes_back_from_it(mapped):
    places = places_of(mapped)
    assert len(places) == 1858
    assert (mapped[places] == np.arange(1858)).all()
    assert (mapped >= 0).sum() == 1858


# ---- names ---------------------------------------------------------------------------------------


class Listener(Tap):
    """A tap that notes every name and asks for patterns."""

    def __init__(self):
        self.names = []

    def wants(self, name):
        return True

    def __call__(self, name, x):
        self.names.append(name)
        return x


@pytest.mark.parametrize("kind", KINDS)
def test_all_activations_are_listed_in_the_order_in_which_they_come_about(kind):
    network, _ = network_for(kind)
    listener = Listener()
    with torch.no_grad():
        network.heads(torch.from_numpy(boards(1)), listener)
    assert listener.names == network.activation_names()


def test_what_is_kept_goes_on_from_where_it_was_taken():
    network, _ = network_for("attention, dense, several heads")
    planes = torch.from_numpy(boards(3))
    with torch.no_grad():
        plain = network.heads(planes)
        found, cache = run_with_cache(network, planes, ["layers.*.out", "layers.*.attn.pattern", "policy.logits"])
        assert set(cache) == {f"layers.{n}.{name}" for n in (0, 1) for name in ("out", "attn.pattern")} | {
            "policy.logits"
        }
        torch.testing.assert_close(found.policy, plain.policy, atol=1e-5, rtol=0)
        torch.testing.assert_close(cache["layers.1.attn.pattern"].sum(-1), torch.ones(3, 2, 64))
        turned = patched(network, planes, {"layers.1.out": cache["layers.1.out"].roll(1, 0)})
        torch.testing.assert_close(turned.policy, plain.policy.roll(1, 0), atol=1e-5, rtol=0)
        tower, _ = network_for("squeezed tower, convolution policy")
        middle = run_with_cache(tower, planes, ["layers.0.out"])[1]["layers.0.out"]
        turned = patched(tower, planes, {"layers.0.out": lambda x: x.roll(1, 0)})
        torch.testing.assert_close(turned.value, tower.heads(planes).value.roll(1, 0), atol=1e-5, rtol=0)
        assert middle.shape == (3, 8, 8, 8)


def test_wrong_names_and_shapes_of_activations_are_told():
    network, _ = network_for("attention, map")
    planes = torch.from_numpy(boards(1))
    with pytest.raises(BadInput, match=r"no activation 'layers.7.out'; there are embedded, layers.0.attn.queries"):
        run_with_cache(network, planes, ["layers.7.out"])
    with pytest.raises(BadInput, match=r"to patch"):
        patched(network, planes, {"nothing": torch.zeros(1)})
    with pytest.raises(BadInput, match=r"the activation is \[1, 64, 16\]"):
        patched(network, planes, {"body": torch.zeros(1)})


# ---- back into files -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_network_written_and_read_again_answers_the_same(kind):
    network, net = network_for(kind)
    again = network_of(read_bytes(file_bytes(message_of(network, Encoding.FLOAT32))))
    assert again.config == network.config
    for name, parameter in network.named_parameters():
        assert torch.equal(parameter, again.get_parameter(name)), name
    assert again.skeleton.get("license") == "none"
    assert set(paths(network).values()) <= set(WeightFile(net, "net").layers) | {
        path for path in paths(network).values() if path.endswith(".biases")
    }


@pytest.mark.parametrize("kind", ["attention, dense, several heads", "squeezed tower with batch norm"])
def test_a_network_can_be_tuned_and_written_back(kind, tmp_path):
    write_file(tmp_path / "first.pb.gz", random_net(kind))
    network = load_network(tmp_path / "first.pb.gz")
    planes, wanted = torch.from_numpy(boards(4)), torch.tensor([3, 50, 700, 1857])
    steps = torch.optim.SGD(network.parameters(), lr=0.05)
    losses = []
    for _ in range(5):
        loss = torch.nn.functional.cross_entropy(network(planes)[0], wanted)
        steps.zero_grad()
        loss.backward()
        steps.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    save_network(tmp_path / "tuned.pb.gz", network)
    with torch.no_grad():
        tuned, again = network.heads(planes), load_network(tmp_path / "tuned.pb.gz").heads(planes)
        first = load_network(tmp_path / "first.pb.gz").heads(planes)
    assert (tuned.policy - again.policy).abs().max() < 1e-2 < (tuned.policy - first.policy).abs().max()


# ---- ONNX ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_an_onnx_file_answers_as_the_network_does(kind):
    runtime = pytest.importorskip("onnxruntime")
    network, _ = network_for(kind)
    if KINDS[kind].get("apart"):
        network.choose_heads("soft", "q")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = runtime.InferenceSession(onnx_bytes(network), options, providers=["CPUExecutionProvider"])
    planes = boards(3)
    answers = dict(
        zip([one.name for one in session.get_outputs()], session.run(None, {"/input/planes": planes}), strict=True)
    )
    with torch.no_grad():
        found = network.heads(torch.from_numpy(planes))
    np.testing.assert_allclose(answers["/output/policy"], found.policy, atol=1e-4)
    if "/output/wdl" in answers:
        np.testing.assert_allclose(answers["/output/wdl"], found.chances, atol=1e-5)
    else:
        np.testing.assert_allclose(answers["/output/value"][:, 0], found.value, atol=1e-5)
    assert ("/output/mlh" in answers) == (network.config.moves_left is not None)
    if network.config.moves_left is not None:
        np.testing.assert_allclose(answers["/output/mlh"][:, 0], found.moves_left, atol=1e-4)
