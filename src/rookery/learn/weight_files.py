"""What was learned here as a weight file of Lc0's.

    export_weights("runs/tiny", "tiny.pb.gz", "linear16")

A text names a network as everywhere: a file, a run, a curriculum, zoo:NAME.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rookery.arena.networks import network_file
from rookery.errors import BadInput
from rookery.learn.starts import WEIGHT_FILES
from rookery.nets.files import load_network
from rookery.nets.lc0.named import named_network
from rookery.nets.lc0.network import Lc0Network
from rookery.nets.lc0.numbers import ENCODINGS
from rookery.nets.lc0.trained import save_weights


def export_weights(text: str, path: str | Path, encoding: str = "linear16") -> dict[str, Any]:
    """Write the network that a text names as a weight file; return what it is and where it came from."""
    if not Path(path).name.endswith(WEIGHT_FILES):
        raise BadInput(f"{str(path)!r}: a weight file ends in {' or '.join(WEIGHT_FILES)}")
    if encoding not in ENCODINGS:
        raise BadInput(f"encoding {encoding!r} should be one of {', '.join(ENCODINGS)}")
    source = network_file(text)
    loaded = load_network(source)
    try:
        save_weights(path, loaded.network, ENCODINGS[encoding], loaded.about.step)
    except BadInput as error:
        raise BadInput(f"{str(source)!r}: {error}") from None
    return {
        "file": str(path), "source": str(source), "encoding": encoding, "parameters": loaded.network.weights,
        "games": loaded.about.step,
    }  # fmt: skip


def any_lc0_network(text: str) -> Lc0Network:
    """Read a network of Lc0's kind: a weight file, or one that was learned here, as a weight file would hold it."""
    if text.endswith(WEIGHT_FILES):
        return named_network(text)
    return named_network(network_file(text))
