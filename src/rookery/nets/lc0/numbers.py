"""The numbers of a layer: the four ways in which files hold them.

linear16   two bytes u: min + (max - min) u / 65535; what engines before 0.33 read, and what a layer is without a word
float16, bfloat16, float32   little-endian
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from rookery.errors import BadInput
from rookery.nets.lc0.schema import LAYER, Encoding
from rookery.nets.lc0.wire import Message

ENCODINGS = {
    "linear16": Encoding.LINEAR16,
    "f16": Encoding.FLOAT16,
    "bf16": Encoding.BFLOAT16,
    "f32": Encoding.FLOAT32,
}
"""what a person writes"""
STEPS = 65535


def encoding_of(layer: Message) -> Encoding:
    """Tell how a layer holds its numbers; refuse a way that is not known."""
    given = layer.get("encoding", Encoding.LINEAR16)
    if given not in ENCODINGS.values():
        known = ", ".join(f"{kind.value} {kind.name}" for kind in ENCODINGS.values())
        raise BadInput(f"has encoding {given}; known are {known}")
    return Encoding(given)


def count_of(layer: Message | None) -> int:
    """Count the numbers of a layer; none if it is absent."""
    if layer is None:
        return 0
    size = 4 if encoding_of(layer) == Encoding.FLOAT32 else 2
    count, rest = divmod(len(layer.get("params", b"")), size)
    if rest:
        raise BadInput(f"has {len(layer.get('params', b''))} bytes, which is no whole number of values")
    return count


def decoded(layer: Message) -> np.ndarray:
    """Return the numbers of a layer as a flat array of single precision."""
    encoding, params = encoding_of(layer), layer.get("params", b"")
    count_of(layer)
    if encoding == Encoding.LINEAR16:
        found: np.ndarray = linear_steps(layer)[np.frombuffer(params, "<u2")]
    elif encoding == Encoding.FLOAT16:
        found = np.frombuffer(params, "<f2").astype(np.float32)
    elif encoding == Encoding.BFLOAT16:
        found = (np.frombuffer(params, "<u2").astype(np.uint32) << 16).view(np.float32)
    else:
        found = np.frombuffer(params, "<f4").astype(np.float32)
    check_finite(found)
    return found


def check_finite(values: np.ndarray) -> None:
    """Refuse numbers that are not finite.

    The sum of finite numbers of single precision is finite in double precision, and costs no second array.
    """
    with np.errstate(invalid="ignore"):
        total = values.sum(dtype=np.float64)
    if not np.isfinite(total):
        raise BadInput("holds numbers that are not finite")


def linear_steps(layer: Message) -> np.ndarray:
    """Return the 65536 values that a layer of 16-bit steps can hold, in single precision as the engine has them."""
    low, high = np.float32(layer.get("min_val", 0.0)), np.float32(layer.get("max_val", 0.0))
    if not (np.isfinite(low) and np.isfinite(high)):
        raise BadInput(f"has the limits {low} and {high}, which are not finite")
    part = np.arange(STEPS + 1, dtype=np.float32) / np.float32(STEPS)
    with np.errstate(over="ignore", invalid="ignore"):
        steps: np.ndarray = low * (np.float32(1) - part) + high * part
    return steps


def encoded(values: np.ndarray, encoding: Encoding, dims: Sequence[int] = ()) -> Message:
    """Make a layer of some numbers."""
    flat = np.ascontiguousarray(values, np.float32).reshape(-1)
    if not np.isfinite(flat).all():
        raise BadInput("numbers that are not finite cannot be written into a weight file")
    fields: dict[str, Any] = {"encoding": int(encoding), "dims": [int(size) for size in dims]}
    if encoding == Encoding.LINEAR16:
        del fields["encoding"]  # as the engine's own files have it: older ones know no such field
        fields |= linear_fields(flat)
    elif encoding == Encoding.FLOAT16:
        if flat.size and np.abs(flat).max() > np.finfo(np.float16).max:
            raise BadInput(f"half precision ends at 65504; there is a weight of {np.abs(flat).max():g}")
        fields["params"] = flat.astype("<f2").tobytes()
    elif encoding == Encoding.BFLOAT16:
        fields["params"] = torch.from_numpy(flat).to(torch.bfloat16).view(torch.int16).numpy().astype("<i2").tobytes()
    else:
        fields["params"] = flat.astype("<f4").tobytes()
    if not dims:
        del fields["dims"]
    return Message(LAYER, fields)


def linear_fields(flat: np.ndarray) -> dict[str, Any]:
    """Round numbers to 65536 even steps between the least and the largest."""
    low, high = (float(flat.min()), float(flat.max())) if flat.size else (0.0, 0.0)
    scale = STEPS / (high - low) if high > low else 0.0
    steps = np.rint((flat.astype(np.float64) - low) * scale).astype("<u2")
    return {"min_val": low, "max_val": high, "params": steps.tobytes()}
