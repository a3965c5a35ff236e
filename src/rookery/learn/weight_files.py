"""What was learned here as a weight file of Lc0's.

    export_weights("runs/tiny", "tiny.pb.gz", "linear16")

A text names a network as everywhere (a file, a run, zoo:NAME); of a curriculum it is the network of the last stage that
has one, of a stage of imitation its newest.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rookery.arena.networks import network_file
from rookery.errors import BadInput
from rookery.games.options import given_path
from rookery.learn.curriculum import FILE, STAGES, is_curriculum_folder
from rookery.learn.curriculum_settings import read_curriculum
from rookery.learn.imitation import NETWORK
from rookery.learn.starts import WEIGHT_FILES
from rookery.nets.files import load_network
from rookery.nets.lc0.named import named_network
from rookery.nets.lc0.network import Lc0Network
from rookery.nets.lc0.numbers import ENCODINGS
from rookery.nets.lc0.trained import save_weights
from rookery.nets.zoo import ZOO_SIGN


def export_weights(text: str, path: str | Path, encoding: str = "linear16") -> dict[str, Any]:
    """Write the network that a text names as a weight file; return what it is and where it came from."""
    if not Path(path).name.endswith(WEIGHT_FILES):
        raise BadInput(f"{str(path)!r}: a weight file ends in {' or '.join(WEIGHT_FILES)}")
    if encoding not in ENCODINGS:
        raise BadInput(f"encoding {encoding!r} should be one of {', '.join(ENCODINGS)}")
    source = learned_file(text)
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
    return named_network(learned_file(text))


def learned_file(text: str) -> Path:
    """Return the file of a network that a text names, also of a curriculum or of a stage of imitation."""
    folder = given_path(text)
    if text.startswith(ZOO_SIGN) or not folder.is_dir():
        return network_file(text)
    if is_curriculum_folder(folder):
        return last_of_stages(folder)
    if (folder / NETWORK).is_file():
        return folder / NETWORK
    return network_file(text)


def last_of_stages(folder: Path) -> Path:
    """Return the network of the last stage of a curriculum that has one."""
    begun = [folder / STAGES / stage.name for stage in read_curriculum(folder / FILE).stages]
    for stage in reversed([path for path in begun if path.is_dir()]):
        try:
            return learned_file(str(stage))
        except BadInput:
            continue  # it has no checkpoint yet
    raise BadInput(f"no stage of {str(folder)!r} has a network yet")
