"""Lc0's weight files: what is read is written back equal, and what is broken is refused."""

from __future__ import annotations

import gzip
import os
import tracemalloc

import numpy as np
import pytest

from lc0_files import KINDS, random_net
from nets.lc0.slow_lc0 import decoded as slow_decoded
from rookery import BadInput
from rookery.nets.lc0 import wire
from rookery.nets.lc0.config import config_of
from rookery.nets.lc0.files import check_beginning, convert, file_bytes, read_bytes, read_file, write_file
from rookery.nets.lc0.numbers import ENCODINGS, decoded, encoded
from rookery.nets.lc0.schema import NET, Activation, Body, Embedding, Encoding, Policy, Value
from rookery.nets.lc0.stored import fresh_network, message_of, network_of
from rookery.nets.lc0.wire import Message, message_parts

TINY = {"filters": 1, "blocks": 1}


def raw_bytes(kind: str = "squeezed tower, convolution policy", **changes) -> bytes:
    return file_bytes(random_net(kind, **changes), packed=False)


def small_file() -> bytes:
    """A network of one filter without policy matrix: some thousand bytes."""
    net = random_net("squeezed tower, convolution policy", encoding=Encoding.LINEAR16, sizes=TINY)
    return file_bytes(net, packed=False)


# ---- round trips ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("encoding", list(ENCODINGS.values()))
def test_what_is_read_is_written_back_equal(kind, encoding):
    content = raw_bytes(kind, encoding=encoding)
    first = read_bytes(content)
    assert file_bytes(first.net, packed=False) == content
    again = read_bytes(file_bytes(first.net))
    assert again.net == first.net
    assert again.header == first.header


def test_files_are_read_packed_or_not_whatever_their_names(tmp_path):
    net = random_net("attention, map")
    write_file(tmp_path / "a.pb.gz", net)
    write_file(tmp_path / "b.pb", net)
    assert (tmp_path / "a.pb.gz").read_bytes()[:2] == b"\x1f\x8b"
    assert (tmp_path / "b.pb").read_bytes()[:5] == bytes.fromhex("0dc0010000")
    (tmp_path / "a.pb.gz").rename(tmp_path / "c.pb")
    assert read_file(tmp_path / "c.pb").net == read_file(tmp_path / "b.pb").net == net
    with pytest.raises(BadInput, match=r"ends in .pb.gz"):
        write_file(tmp_path / "d.weights", net)


def test_fields_that_no_table_knows_are_kept():
    extra = b"".join([wire.varint_bytes(99 << 3 | 2), b"\x03abc", wire.varint_bytes(77 << 3), b"\x05"])
    content = raw_bytes("attention, map") + extra
    file = read_bytes(content)
    assert b"".join(file.net.unknown) == extra
    assert file_bytes(file.net, packed=False) == content


def test_lists_of_numbers_may_be_packed():
    layer = Message(NET.named("weights").schema.named("ip_emb_b").schema, {"params": b"\0\0", "dims": [3, 200]})
    plain = b"".join(message_parts(layer))
    packed = plain.replace(b"\x28\x03\x28\xc8\x01", b"\x2a\x03\x03\xc8\x01")
    assert packed != plain
    for content in (plain, packed):
        source = wire.Source(__import__("io").BytesIO(content), 1000)
        assert wire.read_message(source, layer.schema) == layer


def test_a_float_and_a_text_of_any_bytes_come_back():
    net = random_net("attention, map")
    net.values["license"] = b"\xff\xfe odd".decode("utf-8", "surrogateescape")
    net.need("training_params").values["learning_rate"] = float(np.float32(0.1))
    assert read_bytes(file_bytes(net)).net == net


# ---- encodings -----------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", list(ENCODINGS.values()))
def test_numbers_are_decoded_as_described(encoding):
    values = np.random.default_rng(4).standard_normal(500).astype(np.float32) * 3 - 1
    layer = encoded(values, encoding)
    assert (decoded(layer) == slow_decoded(layer).astype(np.float32)).all()
    room = {Encoding.LINEAR16: 2e-4, Encoding.FLOAT16: 5e-3, Encoding.BFLOAT16: 4e-2, Encoding.FLOAT32: 0}[encoding]
    assert np.abs(decoded(layer) - values).max() <= room
    assert (decoded(encoded(decoded(layer), encoding)) == decoded(layer)).all()


def test_every_step_of_sixteen_bits_comes_back():
    layer = encoded(np.array([-0.37, 1.21], np.float32), Encoding.LINEAR16)
    layer.values["params"] = np.arange(65536, dtype="<u2").tobytes()
    assert encoded(decoded(layer), Encoding.LINEAR16).get("params") == layer.get("params")


def test_layers_without_spread_or_numbers_can_be_written():
    for values in (np.zeros(0), np.full(7, 0.25), np.array([1.5])):
        for encoding in ENCODINGS.values():
            assert (decoded(encoded(values, encoding)) == values).all()


def test_numbers_that_no_network_has_are_refused():
    for bad in (np.inf, np.nan):
        with pytest.raises(BadInput, match=r"not finite"):
            encoded(np.array([1, bad]), Encoding.FLOAT32)
        layer = encoded(np.array([1.0, 2.0]), Encoding.FLOAT32)
        layer.values["params"] = np.array([1, bad], "<f4").tobytes()
        with pytest.raises(BadInput, match=r"not finite"):
            decoded(layer)
        layer = encoded(np.array([1.0, 2.0]), Encoding.LINEAR16)
        layer.values["max_val"] = bad
        with pytest.raises(BadInput, match=r"not finite"):
            decoded(layer)
    with pytest.raises(BadInput, match=r"65504"):
        encoded(np.array([1e5]), Encoding.FLOAT16)


@pytest.mark.parametrize("name", ENCODINGS)
def test_converted_files_hold_the_same_numbers_but_for_rounding(name):
    file = read_bytes(raw_bytes("attention, dense, several heads"))
    before = {path: file.numbers(path) for path in file.layers}
    file.net.need("min_version").values.update(major=0, minor=31, patch=2)
    again = read_bytes(file_bytes(convert(file, ENCODINGS[name])))
    for path, values in before.items():
        assert np.abs(again.numbers(path) - values).max() <= np.abs(values).max() * 2**-8, path
    version = again.net.get("min_version").values
    assert (version["major"], version["minor"]) == ((0, 31) if name == "linear16" else (0, 33))


# ---- headers -------------------------------------------------------------------------------------


def header_with(kind: str, **changes):
    net = random_net(kind)
    fields = net.get("format").get("network_format")
    for name, value in changes.items():
        if value is None:
            fields.values.pop(name, None)
        else:
            fields.values[name] = value
    return read_bytes(file_bytes(net)).header


def test_old_headers_are_told_in_new_terms():
    found = read_bytes(raw_bytes("tower without header")).header
    assert (found.input, found.body, found.policy, found.value) == (1, Body.CLASSICAL_HEADS, 1, 1)
    assert header_with("tower of an old header").body == Body.CLASSICAL_HEADS
    found = header_with("squeezed tower of an old header", policy=2, value=2)
    assert (found.body, found.policy, found.value) == (Body.SE_HEADS, Policy.CLASSICAL, Value.CLASSICAL)
    found = header_with("attention, old header with smolgen")
    assert (found.body, found.embedding) == (Body.ATTENTION, Embedding.PE_MAP)
    assert (found.ffn_activation, found.smolgen_activation) == (Activation.RELU_2, Activation.SWISH)
    found = header_with("attention, map", network=4)
    assert (found.body, found.ffn_activation) == (Body.ATTENTION, Activation.RELU)
    assert header_with("attention, dense, shared embedding").body == Body.ATTENTION_MULTIHEAD
    found = header_with("attention, heads found under an older header")
    assert (found.body, found.embedding) == (Body.ATTENTION_MULTIHEAD, Embedding.PE_DENSE)
    assert header_with("attention, dense, several heads", input_embedding=None).embedding == Embedding.NONE


def test_default_and_named_activations_are_numbered_differently():
    found = header_with("attention, map", default_activation=1, ffn_activation=0, smolgen_activation=2)
    assert (found.activation, found.ffn_activation, found.smolgen_activation) == (
        Activation.MISH, Activation.MISH, Activation.RELU,
    )  # fmt: skip


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        ("attention, map", {"network": 5}, "ONNX network .NETWORK_ONNX.*onnxruntime"),
        ("attention, map", {"value": 3}, "PARAM is not supported"),
        ("attention, map", {"input": 6}, "input in its header is 6, which is not known; known are 0 UNKNOWN, 1 CLASS"),
        ("attention, map", {"moves_left": 2}, "moves_left in its header is 2.*known are 0 NONE, 1 V1"),
        ("attention, map", {"input": 0}, "input format in its header is unknown"),
        ("attention, map", {"network": 0}, "network format in its header is unknown"),
        ("attention, map", {"ffn_activation": 9}, "SOFTMAX"),
        ("attention, map", {"default_activation": 2}, "default activation has number 2"),
        ("attention, map", {"input_embedding": 0}, "INPUT_EMBEDDING_NONE"),
        ("attention, map", {"input_embedding": 2}, "ip_emb_preproc_b is missing"),
        ("attention, map", {"policy": 1}, "policy.weights is missing"),
        ("attention, map", {"network": 3}, "input.weights is missing"),
        ("plain tower, dense policy", {"network": 6}, "ip_emb_b is missing|residual blocks before"),
        ("plain tower, dense policy", {"moves_left": 1}, "ip1_mov_b is missing"),
        ("plain tower, dense policy", {"value": 2}, "ip2_val_w has 12 numbers; .* should have 3 x 12"),
    ],
)  # fmt: skip
def test_what_is_unsupported_or_does_not_fit_is_named(kind, changes, message):
    net = random_net(kind)
    net.get("format").get("network_format").values.update(changes)
    with pytest.raises(BadInput, match=message):
        network_of(read_bytes(file_bytes(net), "some.pb.gz"))


def test_a_layer_of_another_size_is_named_with_what_it_should_have():
    net = random_net("attention, map")
    layer = net.get("weights").get("encoder")[1].get("mha").get("k_w")
    layer.values["params"] = layer.values["params"][:-4]
    with pytest.raises(BadInput, match=r"bad.pb: encoder.1.mha.k_w has 255 numbers; .* should have 16 x 16"):
        network_of(read_bytes(file_bytes(net), "bad.pb"))
    layer.values["params"] = layer.values["params"][:-1]
    with pytest.raises(BadInput, match=r"bad.pb: encoder.1.mha.k_w has 1019 bytes"):
        network_of(read_bytes(file_bytes(net), "bad.pb"))
    layer.values["encoding"] = 7
    with pytest.raises(BadInput, match=r"encoder.1.mha.k_w has encoding 7; known are 1 LINEAR16"):
        network_of(read_bytes(file_bytes(net), "bad.pb"))


def test_a_batch_norm_of_another_length_or_a_negative_variance_is_refused():
    net = random_net("tower of an old header", seed=1)
    block = net.get("weights").get("residual")[0].get("conv1")
    block.values["bn_means"] = encoded(np.ones(4), Encoding.FLOAT32)
    with pytest.raises(BadInput, match=r"batch norm of residual.0.conv1 do not have the length of its 8 outputs"):
        network_of(read_bytes(file_bytes(net)))
    block.values["bn_means"] = encoded(np.ones(8), Encoding.FLOAT32)
    block.values["bn_stddivs"] = encoded(np.full(8, -1.0), Encoding.FLOAT32)
    with pytest.raises(BadInput, match=r"residual.0.conv1.bn_stddivs should hold a variance"):
        network_of(read_bytes(file_bytes(net)))


@pytest.mark.parametrize("left", ["nothing", "a layer without numbers"])
def test_missing_biases_are_zeros(left):
    net = random_net("plain tower, dense policy")
    convolution = net.get("weights").get("input")
    del convolution.values["biases"]
    if left != "nothing":
        convolution.need("biases").values["min_val"] = 0.0
    network = network_of(read_bytes(file_bytes(net)))
    assert not network.get_parameter("body.input.biases").any()


def test_relative_position_encodings_and_missing_head_counts_are_refused():
    net = random_net("attention, map")
    net.get("weights").get("encoder")[0].get("mha").values["rpe_q"] = encoded(np.ones(3), Encoding.FLOAT32)
    with pytest.raises(BadInput, match=r"encoder.0.mha.rpe_q: relative position encodings"):
        config_of(read_bytes(file_bytes(net)))
    net = random_net("attention, map")
    del net.get("weights").values["headcount"]
    with pytest.raises(BadInput, match=r"number of their heads is not given"):
        config_of(read_bytes(file_bytes(net)))
    net.get("weights").values["headcount"] = 5
    with pytest.raises(BadInput, match=r"16 channels, which 5 heads cannot share"):
        config_of(read_bytes(file_bytes(net)))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is empty"),
        (b"2\n0.5 0.25", "old text format"),
        (b"PK\x03\x04....", "PyTorch checkpoint"),
        (b"\x08\x07\x12\x07pytorch", "ONNX model"),
        (b"<!DOCTYPE html>", "web page"),
        (b"\x0d\xc0\x01", "cut off"),
        (b"\x0d\xc1\x01\x00\x00", "should begin with 0d c0 01 00 00.*not with 0d c1 01 00 00"),
        (b"\x0d\xc0\x01\x00\x00", "a header but no weights"),
        (b"\x0d\xc0\x01\x00\x00\x5a\x02\x0a\x00", "ONNX model .NETWORK_ONNX.*onnxruntime"),
        (b"\x0d\xc0\x01\x00\x00\x0d\xc1\x01\x00\x00\x52\x00", "magic number 0x1c1"),
    ],
)
def test_other_files_are_told_apart(content, message):
    for packed in (content, gzip.compress(content)):
        with pytest.raises(BadInput, match=message):
            read_bytes(packed, "some file")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_into_which_nobody_writes_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe.pb.gz")
    for read in (read_file, check_beginning):
        with pytest.raises(BadInput, match=r"pipe.pb.gz' is a pipe; write it into a file first"):
            read(tmp_path / "pipe.pb.gz")


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(BadInput, match=r"none.pb.gz' cannot be read: No such file"):
        read_file(tmp_path / "none.pb.gz")
    with pytest.raises(BadInput, match=r"cannot be read: Is a directory"):
        read_file(tmp_path)


# ---- broken files --------------------------------------------------------------------------------


def refused_or_a_network(content: bytes) -> bool:
    """Tell whether a file is refused in the one way in which files are; else it must be a whole network."""
    try:
        network_of(read_bytes(content))
    except BadInput:
        return True
    return False


@pytest.mark.faults
def test_a_file_cut_off_anywhere_is_refused():
    content = small_file()
    assert not refused_or_a_network(content)
    lengths = [n for n in range(len(content)) if n < 200 or n > len(content) - 200 or n % 53 == 0]
    assert [n for n in lengths if not refused_or_a_network(content[:n])] == []
    packed = gzip.compress(content[:3000], mtime=0)
    for n in range(len(packed)):
        with pytest.raises(BadInput):
            read_bytes(packed[:n])


@pytest.mark.faults
@pytest.mark.slow
def test_a_file_cut_off_at_every_length_is_refused():
    content = small_file()
    packed = gzip.compress(content, mtime=0)
    assert [n for n in range(len(content)) if not refused_or_a_network(content[:n])] == []
    assert [n for n in range(len(packed)) if not refused_or_a_network(packed[:n])] == []


@pytest.mark.faults
def test_flipped_bits_of_a_packed_file_are_noticed_and_of_an_unpacked_one_never_do_harm():
    content, rng = small_file(), np.random.default_rng(8)
    packed = gzip.compress(content, mtime=0)
    whole = read_bytes(packed).net
    for place in [*range(60), *rng.integers(60, len(packed), 60)]:
        flipped = bytearray(packed)
        flipped[place] ^= 1 << int(rng.integers(8))
        try:
            assert read_bytes(bytes(flipped)).net == whole  # time stamp and system in gzip's header guard nothing
        except BadInput:
            pass
        else:
            assert place < 10
    for place in [*range(80), *rng.integers(80, len(content), 120)]:
        flipped = bytearray(content)
        flipped[place] ^= 1 << int(rng.integers(8))
        refused_or_a_network(bytes(flipped))


@pytest.mark.faults
def test_random_bytes_are_refused():
    rng = np.random.default_rng(9)
    for size in (1, 5, 100, 5000):
        for _ in range(40):
            noise = rng.bytes(size)
            for content in (noise, bytes.fromhex("0dc0010000") + noise, b"\x1f\x8b" + noise, gzip.compress(noise)):
                assert refused_or_a_network(content)


@pytest.mark.faults
def test_a_file_that_unpacks_to_more_than_allowed_is_refused_without_taking_the_memory():
    start = bytes.fromhex("0dc0010000")
    bomb = gzip.compress(start + b"\x12" + wire.varint_bytes(100 << 20) + bytes(100 << 20), 1)
    assert len(bomb) < 2 << 20
    lie = start + b"\x12" + wire.varint_bytes(1 << 60)
    many = gzip.compress(start + b"\x52" + wire.varint_bytes(9_000_000) + b"\xda\x01\x00" * 3_000_000, 1)
    tracemalloc.start()
    with pytest.raises(BadInput, match=r"more than 8,388,608 bytes"):
        read_bytes(bomb, most_bytes=8 << 20)
    with pytest.raises(BadInput, match=r"more than 2,147,483,648 bytes"):
        read_bytes(lie)
    with pytest.raises(BadInput, match=r"cut off"):
        read_bytes(start + b"\x12" + wire.varint_bytes(1 << 30))
    with pytest.raises(BadInput, match=r"more than 268,435,456 bytes .* no network of [\d,]+ packed bytes"):
        read_bytes(gzip.compress(start + b"\x12" + wire.varint_bytes(300 << 20) + bytes(1 << 20)))
    assert tracemalloc.get_traced_memory()[1] < 16 << 20
    tracemalloc.stop()
    with pytest.raises(BadInput, match=r"more than 100,000 fields"):
        read_bytes(many)


# ---- fresh networks ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_fresh_network_can_be_written_and_read(kind):
    config = config_of(read_bytes(raw_bytes(kind)))
    network = fresh_network(config, seed=1)
    content = file_bytes(message_of(network))
    again = network_of(read_bytes(content))
    assert again.config == config
    for name, parameter in network.named_parameters():
        assert (parameter - again.get_parameter(name)).abs().max() <= parameter.abs().max() * 2e-5 + 1e-9, name
    assert file_bytes(message_of(fresh_network(config, seed=1))) == content
