"""What a run begins with: the weights of another one, in a file of its own folder.

A tower's weights do not depend on the size of the board, so a network of 9 x 9 goes on as one of 15 x 15. A weight file
of Lc0's, .pb.gz or .pb, goes on as a network of kind `lc0` of the same sizes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rookery.arena.networks import network_file
from rookery.errors import BadInput
from rookery.games.chess_lc0 import KINDS
from rookery.games.library import load
from rookery.nets.configs import AttentionBodyConfig, NetworkConfig, TowerConfig, read_config
from rookery.nets.files import About, Loaded, load_network, pth_bytes
from rookery.nets.lc0.trained import network_from
from rookery.nets.network import Network
from rookery.nets.residual import build

WEIGHT_FILES = (".pb.gz", ".pb")


def first_network(config: NetworkConfig, seed: int, start: Path | None) -> Network:
    """Build the network a run begins with: random weights, or those of a file."""
    network = build(config, seed)
    if start:
        network.load_state_dict(load_network(start).network.state_dict())
    return network


def start_bytes(text: str, values: dict[str, Any], observation: str) -> bytes:
    """Read the network that a text names, for a copy of it; refuse one that does not fit a configuration's values."""
    loaded = started_by(network_file(text))
    if why := misfit(loaded, read_config(values), observation):
        raise BadInput(f"start: {text!r} does not fit these settings: {why}")
    return pth_bytes(loaded.network, loaded.about)


def started_by(path: Path) -> Loaded:
    """Read a network of ours, or a weight file of Lc0's that can be taught on."""
    if not path.name.endswith(WEIGHT_FILES):
        return load_network(path)
    network = network_from(path)
    game = load("chess")
    about = About(game=game.spec, rules_version=game.version, observation=KINDS[0], notes=f"from {path.name}")
    return Loaded(network, network.config, about)


def misfit(loaded: Loaded, config: NetworkConfig, observation: str) -> str:
    """Say why a network cannot go on with a configuration; nothing if it can. Boards of towers may differ in size."""
    known = loaded.about.observation
    if known and known != observation and not (known in KINDS and observation in KINDS):
        return f"it reads observations {known!r}, not {observation!r}"
    mine, wanted = loaded.config.model_dump(), config.model_dump()
    free = {"rows", "cols"} if isinstance(config, TowerConfig) else set()
    for each in (loaded.config, config):
        free |= each.unused if isinstance(each, AttentionBodyConfig) else set()
    for key in sorted((mine.keys() | wanted.keys()) - free, key=lambda key: (key != "kind", key)):
        if mine.get(key) != wanted.get(key):
            return f"its {key} is {mine.get(key)}, not {wanted.get(key)}"
    return ""
