"""Weight files of networks whose answers are no finite numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lc0_files import random_net
from rookery.nets.lc0.files import file_bytes
from rookery.nets.lc0.numbers import encoded
from rookery.nets.lc0.schema import Encoding

KIND, SIZES = "attention, map", {"ip_emb_b": 16, "ip2_pol_b": 20, "ip_val_b": 4, "ip_mov_b": 3}
"""a network, and the sizes of some of its layers"""
TOO_LARGE = 3e38  # files hold finite numbers, but what is computed from these is not


def stored_broken(folder: Path, layer: str, number: float = TOO_LARGE) -> Path:
    """Write a network of which one layer is filled with a number; return its file."""
    net = random_net(KIND)
    net.need("weights").values[layer] = encoded(np.full(SIZES[layer], number, np.float32), Encoding.FLOAT32)
    path = folder / "broken.pb.gz"
    path.write_bytes(file_bytes(net))
    return path
