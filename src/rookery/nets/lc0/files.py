"""Lc0's weight files, .pb and .pb.gz: reading, headers of all ages, writing.

    file = read_file("network.pb.gz")
    file.header                              # what the network is, in the terms of the newest files
    file.numbers("encoder.0.mha.q_w")        # by the names of the fields, one number after another
    write_file("copy.pb.gz", file.net)

Whatever is wrong with a file is a BadInput that says what it is and what can be done.
"""

from __future__ import annotations

import gzip
import io
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from rookery.errors import BadInput
from rookery.nets.lc0.numbers import count_of, decoded, encoded
from rookery.nets.lc0.schema import (
    DEFAULT_MISH,
    DEFAULT_RELU,
    FIRST_BYTES,
    LAYER,
    MAGIC,
    NET,
    Activation,
    Body,
    Embedding,
    Encoding,
    Input,
    MovesLeft,
    Policy,
    Value,
)
from rookery.nets.lc0.wire import Message, Source, message_parts, read_message
from rookery.writing import write_whole

MOST_BYTES = 2 << 30
"""unpacked; the largest published networks have less than a fifth of it"""
MOST_PACKED = 32
"""times a file may grow when it is unpacked; weights hardly shrink, so that one of a few megabytes that would take
gigabytes is no network"""
ALWAYS_ALLOWED = 256 << 20
"""bytes, however small the file is: networks that nobody has taught may be full of zeros"""
GZIP = b"\x1f\x8b"
BATCH_NORM_EPS = 1e-5
OTHER_FILES = {
    b"PK\x03\x04": "a zip archive or a PyTorch checkpoint",
    b"\x08": "an ONNX model; a network inside a weight file is meant, not the model alone",
    b"<": "a web page",
    b"\xfd7zXZ": "packed with xz; unpack it first",
    b"BZh": "packed with bzip2; unpack it first",
    b"\x28\xb5\x2f\xfd": "packed with zstd; unpack it first",
}


@dataclass(frozen=True)
class Header:
    """What a network is, as the newest files would say it."""

    input: Input
    body: Body
    policy: Policy
    value: Value
    moves_left: bool
    activation: Activation
    """the usual one of the network"""
    smolgen_activation: Activation
    ffn_activation: Activation
    embedding: Embedding


class WeightFile:
    """A weight file that has been read."""

    def __init__(self, net: Message, name: str):
        self.net, self.name = net, name
        self.header = header_of(net, name)
        self.layers = {path: found for path, found in self.weights.inner() if found.schema is LAYER}

    @property
    def weights(self) -> Message:
        """The message that holds all layers."""
        return self.net.need("weights")

    def count(self, path: str) -> int:
        """Count the numbers of a layer by its path; none if it is absent."""
        with_place = self.layers.get(path)
        try:
            return count_of(with_place)
        except BadInput as error:
            raise BadInput(f"{self.name}: {path} {error}") from None

    def numbers(self, path: str, release: bool = False) -> np.ndarray:
        """Return the numbers of a layer, flat; with `release`, let go of the bytes they were read from."""
        layer = self.layers.get(path)
        if layer is None:
            return np.empty(0, np.float32)
        try:
            found = decoded(layer)
        except BadInput as error:
            raise BadInput(f"{self.name}: {path} {error}") from None
        if release:
            layer.values.pop("params", None)  # an empty layer has none
        return found

    def has(self, path: str) -> bool:
        """Tell whether a layer is there and not empty."""
        return self.count(path) > 0

    def convolution(self, path: str, channels: int, release: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Return weights [channels, rest] and biases [channels] of a convolution, a batch norm folded into both."""
        weights, biases, means, variances, gammas, betas = (
            self.numbers(f"{path}.{name}", release)
            for name in ("weights", "biases", "bn_means", "bn_stddivs", "bn_gammas", "bn_betas")
        )
        if any(part.size not in (0, channels) for part in (biases, means, variances, gammas, betas)):
            raise BadInput(
                f"{self.name}: biases or batch norm of {path} do not have the length of its {channels} outputs"
            )
        weights = weights.reshape(channels, -1)
        biases = biases if biases.size else np.zeros(channels, np.float32)
        if not means.size:
            return weights, biases
        if not variances.size or (variances < 0).any():
            raise BadInput(f"{self.name}: {path}.bn_stddivs should hold a variance, at least 0, for each channel")
        with np.errstate(over="ignore", invalid="ignore"):
            joined = folded(weights, biases, means, variances, gammas, betas)
        if not all(np.isfinite(part).all() for part in joined):
            raise BadInput(
                f"{self.name}: the batch norm of {path} makes its weights larger than single precision holds"
            )
        return joined


def folded(
    weights: np.ndarray, biases: np.ndarray, means: np.ndarray, variances: np.ndarray, gammas: np.ndarray,
    betas: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Fold a batch norm into a convolution, in double precision; empty gammas are 1 and empty betas 0."""
    scale = (gammas if gammas.size else 1.0) / np.sqrt(variances.astype(np.float64) + BATCH_NORM_EPS)
    shifts = (betas if betas.size else 0.0) - scale * (means.astype(np.float64) - biases)
    return (weights * scale[:, None]).astype(np.float32), shifts.astype(np.float32)


# ---- headers -------------------------------------------------------------------------------------


def header_of(net: Message, name: str) -> Header:
    """Return what a file says of its network, headers of older files in the terms of the newest."""
    found = net.get("format")
    found = None if found is None else found.get("network_format")
    fields = {} if found is None else dict(found.values)
    normalise(fields, net.need("weights"))
    usual = {DEFAULT_RELU: Activation.RELU, DEFAULT_MISH: Activation.MISH}
    default = fields.get("default_activation", DEFAULT_RELU)
    if default not in usual:
        raise BadInput(f"{name}: its default activation has number {default}; known are 0 (relu) and 1 (mish)")
    return Header(
        chosen(Input, fields, "input", name),
        chosen(Body, fields, "network", name),
        chosen(Policy, fields, "policy", name),
        chosen(Value, fields, "value", name),
        bool(chosen(MovesLeft, fields, "moves_left", name)),
        usual[default],
        chosen(Activation, fields, "smolgen_activation", name) or usual[default],
        chosen(Activation, fields, "ffn_activation", name) or usual[default],
        chosen(Embedding, fields, "input_embedding", name),
    )


def normalise(fields: dict[str, Any], weights: Message) -> None:
    """Write the fields of an older header as the newest files would."""
    if not fields:
        fields.update(input=Input.CLASSICAL, network=Body.CLASSICAL)
    if fields.get("network") in (Body.CLASSICAL, Body.SE):
        fields.update(value=Value.CLASSICAL, policy=Policy.CLASSICAL)
        fields["network"] = Body.CLASSICAL_HEADS if fields["network"] == Body.CLASSICAL else Body.SE_HEADS
    if fields.get("network") == Body.SE_HEADS and weights.get("encoder"):
        fields["network"] = Body.ATTENTION
        if weights.get("smolgen_w") is not None:
            fields.update(ffn_activation=Activation.RELU_2, smolgen_activation=Activation.SWISH)
    if fields.get("network") == Body.ATTENTION_LEGACY_MULTIHEAD:
        fields["network"] = Body.ATTENTION_MULTIHEAD
    if fields.get("network") == Body.ATTENTION:
        if weights.get("policy_heads") is not None and weights.get("value_heads") is not None:
            fields.update(network=Body.ATTENTION_MULTIHEAD, input_embedding=Embedding.PE_DENSE)
        fields.setdefault("input_embedding", Embedding.PE_MAP)


def chosen(kind: Any, fields: dict[str, Any], field: str, name: str) -> Any:
    """Return a header field as one of its known values."""
    given = fields.get(field, 0)
    if given not in list(kind):
        known = ", ".join(f"{value.value} {value.name}" for value in kind)
        raise BadInput(f"{name}: {field} in its header is {given}, which is not known; known are {known}")
    return kind(given)


# ---- reading -------------------------------------------------------------------------------------


def read_file(path: str | Path, most_bytes: int = MOST_BYTES) -> WeightFile:
    """Read a weight file, packed or not; `most_bytes` limits what it may hold when unpacked."""
    name = str(path)
    try:
        with opened(path) as file:
            return read_stream(file, name, most_bytes)
    except OSError as error:
        raise BadInput(f"{name!r} cannot be read: {error.strerror or error}") from None


def opened(path: str | Path) -> BinaryIO:
    """Open a file to be read; not a pipe, which may never be written into and cannot be read twice."""
    if Path(path).is_fifo():
        raise BadInput(f"{str(path)!r} is a pipe; write it into a file first")
    return Path(path).open("rb")


def check_beginning(path: str | Path) -> None:
    """Refuse a file that does not begin as a weight file does, without reading the rest of it."""
    try:
        with opened(path) as file:
            packed = file.read(2) == GZIP
            file.seek(0)
            first = (gzip.GzipFile(fileobj=file) if packed else file).read(len(FIRST_BYTES))
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput(f"{str(path)!r} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if first != FIRST_BYTES:
        raise BadInput(f"{path} is no Lc0 weight file: {guess(first)}")


def read_bytes(content: bytes, name: str = "weights", most_bytes: int = MOST_BYTES) -> WeightFile:
    """Read a weight file that is in memory."""
    return read_stream(io.BytesIO(content), name, most_bytes)


def read_stream(file: BinaryIO, name: str, most_bytes: int) -> WeightFile:
    """Read a weight file from its beginning; packed or not is told by its first bytes."""
    packed = file.read(2) == GZIP
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    remedy, plausible = "a larger limit has to be asked for (most_bytes)", max(MOST_PACKED * size, ALWAYS_ALLOWED)
    if packed and plausible < most_bytes:
        most_bytes, remedy = plausible, f"no network of {size:,} packed bytes does"
    try:
        stream: Any = gzip.GzipFile(fileobj=file) if packed else file
        first = stream.read(len(FIRST_BYTES))
        if first != FIRST_BYTES:
            raise BadInput(f"is no Lc0 weight file: {guess(first)}")
        source = Source(stream, most_bytes, remedy)
        source.ahead = first
        net = read_message(source, NET)
    except BadInput as error:
        raise BadInput(f"{name} {error}") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BadInput(f"{name} is damaged or cut off: its gzip stream is broken ({error}); fetch it again") from None
    check_contents(net, name)
    return WeightFile(net, name)


def check_contents(net: Message, name: str) -> None:
    """Refuse what is no network of layers."""
    if net.get("magic") != MAGIC:
        raise BadInput(f"{name} has the magic number {net.get('magic'):#x}; weight files have {MAGIC:#x}")
    if net.get("weights") is None and net.get("onnx_model") is not None:
        raise BadInput(
            f"{name} holds an ONNX model (NETWORK_ONNX), which is not read here; give the weights it was made from, "
            "or run the model with onnxruntime"
        )
    if net.get("weights") is None:
        raise BadInput(f"{name} is cut off: it has a header but no weights")


def guess(first: bytes) -> str:
    """Say what a file probably is by its first bytes."""
    if not first:
        return "it is empty"
    if first[:2] in (b"1\n", b"2\n", b"1\r", b"2\r"):
        return "it is in the old text format (version 1 or 2), which Lc0 no longer reads; convert it with Lc0's tools"
    for magic, what in OTHER_FILES.items():
        if first.startswith(magic):
            return f"it looks like {what}"
    if FIRST_BYTES.startswith(first):
        return "it is cut off"
    return f"it should begin with {FIRST_BYTES.hex(' ')}, packed by gzip or not, not with {first.hex(' ')}"


# ---- writing -------------------------------------------------------------------------------------


def file_bytes(net: Message, packed: bool = True) -> bytes:
    """Write a network; the same network always gives the same bytes."""
    content = b"".join(message_parts(net))
    return gzip.compress(content, compresslevel=6, mtime=0) if packed else content


def write_file(path: str | Path, net: Message) -> None:
    """Write a network to a file that ends in .pb or .pb.gz; it is there whole or not at all."""
    if not str(path).endswith((".pb", ".pb.gz")):
        raise BadInput(f"{str(path)!r}: a weight file ends in .pb.gz, or in .pb where it is not packed")
    write_whole(path, file_bytes(net, packed=str(path).endswith(".gz")))


def convert(file: WeightFile, encoding: Encoding) -> Message:
    """Return the network with all its layers in another encoding.

    Engines before 0.33 read 16-bit steps only, so other encodings are marked as needing it.
    """
    for path, layer in file.layers.items():
        numbers = file.numbers(path)
        try:
            layer.values = encoded(numbers, encoding, layer.get("dims", ())).values
        except BadInput as error:
            raise BadInput(f"{file.name}: {path}: {error}") from None
    mark_encoding(file.net, encoding)
    return file.net


def mark_encoding(net: Message, encoding: Encoding) -> None:
    """Say in a header what is needed to read layers of an encoding."""
    net.need("format").values["weights_encoding"] = int(Encoding.LINEAR16)
    version = net.need("min_version")
    current = tuple(version.get(part, 0) for part in ("major", "minor", "patch"))
    if encoding != Encoding.LINEAR16 and current < (0, 33, 0):
        version.values.update(major=0, minor=33, patch=0)
