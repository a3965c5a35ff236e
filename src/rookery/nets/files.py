"""Networks in files: ours, those of the original Pylos and Domineering projects, and safetensors.

    save_network("checkpoint_01000.pth", network, About(game="pylos", rules_version=1, observation="rich", step=1000))
    loaded = load_network("checkpoint_01000.pth")     # loaded.network, loaded.config, loaded.about

A `.pth` is a dictionary: `model_state_dict`, `step`, `network` (the configuration), `about`, `format`, and for a
residual network `model_config`, under which the original's tools look for its shape. A `.safetensors` holds the same
facts as JSON in its metadata. Files without a configuration, as the original wrote them, are recognised by the names
and shapes of their weights (`foreign.py`).

Files come from anywhere: reading one never runs code from it, and whatever is wrong with it is a BadInput.
"""

from __future__ import annotations

import io
import json
import re
import warnings
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from pydantic import Field, ValidationError
from torch import Tensor

from rookery.errors import BadInput
from rookery.nets.configs import Config, NetworkConfig, ResidualConfig, read_config
from rookery.nets.foreign import recognised, translated
from rookery.nets.network import Network
from rookery.nets.residual import build
from rookery.writing import write_whole

FORMAT = 1
"""of our files; raised when older programs could not read them"""
SUFFIXES = (".pth", ".pt", ".safetensors")
KINDS = (
    torch.float64, torch.float32, torch.float16, torch.bfloat16,
    torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool,
)  # fmt: skip
"""of numbers that are read; others may not even be compared"""


class About(Config):
    """What a network was taught. Empty where nobody knows."""

    game: str = ""
    """the spec of a game, like pylos:removal=greedy"""
    rules_version: int = Field(default=0, ge=0)
    """of that game; 0 if unknown"""
    observation: str = ""
    """the kind of observation it reads"""
    step: int = Field(default=0, ge=0)
    """games of self-play it was trained on"""
    notes: str = ""


@dataclass(frozen=True)
class Loaded:
    """A network from a file, in evaluation mode on the CPU."""

    network: Network
    config: NetworkConfig
    about: About

    def _repr_html_(self) -> str:
        """Show the network's layers in a notebook, and what it was taught."""
        from rookery.nets.shown import layers_html

        return layers_html(self.network, f"{self.about.game or 'network'}, step {self.about.step}")


# ---- writing -------------------------------------------------------------------------------------


def save_network(path: str | Path, network: Network, about: About, half: bool = False) -> None:
    """Write a network into a .pth or .safetensors, by the file's ending; the file is there whole or not at all.

    With `half` its numbers are rounded to half precision. A disk that is full or may not be written raises an OSError
    with the file's name.
    """
    if Path(path).suffix not in SUFFIXES:
        raise BadInput(f"{str(path)!r}: a network is written to a file that ends in {' or '.join(SUFFIXES)}")
    write = safetensors_bytes if Path(path).suffix == ".safetensors" else pth_bytes
    write_whole(path, write(network, about, half))


def weights_of(network: Network, half: bool = False) -> dict[str, Tensor]:
    """Copy the weights of a network to the CPU."""
    copied = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in network.state_dict().items()}
    return {name: halved(name, tensor) for name, tensor in copied.items()} if half else copied


def halved(name: str, tensor: Tensor) -> Tensor:
    """Round numbers to half precision; counters stay as they are."""
    if not tensor.is_floating_point():
        return tensor
    found = tensor.half()
    if not found.isfinite().all():
        raise BadInput(f"{name} has numbers beyond {torch.finfo(torch.half).max:g}, the largest in half precision")
    return found


def pth_bytes(network: Network, about: About, half: bool = False) -> bytes:
    """Write a network as a file of PyTorch."""
    facts = {"format": FORMAT, "network": network.config.model_dump(mode="json"), "about": about.model_dump()}
    content = {"model_state_dict": weights_of(network, half), "step": about.step} | facts
    if isinstance(network.config, ResidualConfig):
        content["model_config"] = original_config(network.config, about)
    whole = io.BytesIO()  # torch.save would not say why a disk refuses what it writes
    torch.save(content, whole)
    return whole.getvalue()


def original_config(config: ResidualConfig, about: About) -> dict[str, int | bool]:
    """Write the shape of a residual network under the original's names."""
    sizes = {"hidden": config.width, "num_blocks": config.blocks, "value_hidden": config.value_hidden}
    return sizes | {"policy_hidden": config.policy_hidden, "rich_obs": about.observation == "rich"}


def safetensors_bytes(network: Network, about: About, half: bool = False) -> bytes:
    """Write a network as safetensors."""
    from safetensors.torch import save

    facts = {"format": FORMAT, "network": network.config.model_dump(mode="json"), "about": about.model_dump()}
    content: bytes = save(weights_of(network, half), metadata={"format": "pt", "rookery": json.dumps(facts)})
    return with_sorted_header(content)


def with_sorted_header(content: bytes) -> bytes:
    """Bring the header of safetensors into one order, so that the same network gives the same bytes.

    A file begins with the length of its header, which is JSON, filled up to eight bytes; tensors follow in any case.
    """
    size = int.from_bytes(content[:8], "little")
    header = json.dumps(json.loads(content[8 : 8 + size]), sort_keys=True, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + content[8 + size :]


# ---- reading -------------------------------------------------------------------------------------


def load_network(path: str | Path) -> Loaded:
    """Read a network; raise BadInput that names the file if it is missing, broken, foreign or would run code."""
    place = Path(path)
    if not place.is_file():
        what = "is a folder" if place.is_dir() else "is not there"
        raise BadInput(f"{str(path)!r} {what}; a network is read from a file that ends in {' or '.join(SUFFIXES)}")
    try:
        content = read_safetensors(place) if place.suffix == ".safetensors" else read_pth(place)
        return interpreted(content, place.stat().st_size)
    except BadInput as error:
        raise BadInput(f"{str(path)!r}: {error}") from None
    except OSError as error:
        raise BadInput(f"{str(path)!r} cannot be read: {error.strerror or error}") from None


def read_pth(place: Path) -> dict[str, Any]:
    """Read a file of PyTorch, without running anything in it."""
    file = place.open("rb")
    try:
        with file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about old formats; what cannot be read raises
            refuse_packed(place)
            content = torch.load(file, map_location="cpu", weights_only=True)
    except BadInput:
        raise
    except Exception as error:  # whatever a broken file makes the reader stumble over
        raise BadInput(f"this is no file of weights, or a broken or unsafe one ({reason_of(error)})") from None
    if not isinstance(content, dict):
        raise BadInput(f"a file of weights holds a dictionary, not a {type(content).__name__}")
    return content


def refuse_packed(place: Path) -> None:
    """Refuse an archive whose parts are packed, as PyTorch never does: a thousandth of it may fill all memory."""
    if zipfile.is_zipfile(place):
        with zipfile.ZipFile(place) as archive:
            if any(part.compress_type != zipfile.ZIP_STORED for part in archive.infolist()):
                raise BadInput("its parts are packed; a file of weights holds them as they are")


def reason_of(error: Exception) -> str:
    """Say in short why PyTorch does not read a file; of a pickle, only what it asks for, not how to let it run."""
    text = str(error).strip()
    asked = re.search(r"GLOBAL ([\w.]+)", text)
    if asked:
        return f"it asks for {asked[1]}, which is no part of weights"
    if isinstance(error, RuntimeError) and text:
        return re.split(r"\. |\n", text)[0][:160]
    return "its content cannot be read"


def read_safetensors(place: Path) -> dict[str, Any]:
    """Read a file of safetensors into the form of ours."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(place, framework="pt", device="cpu") as file:
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118, it is no dictionary
            facts = json.loads((file.metadata() or {}).get("rookery", "{}"))
    except (SafetensorError, ValueError, RecursionError) as error:
        raise BadInput(f"this is no safetensors file, or a broken one ({error})") from None
    if not isinstance(facts, dict):
        raise BadInput(f"its metadata 'rookery' should hold an object, not {facts!r}")
    return facts | {"model_state_dict": weights}


def interpreted(content: dict[str, Any], size: int) -> Loaded:
    """Make a network of what a file of `size` bytes holds."""
    version = content.get("format", FORMAT)
    if not isinstance(version, int) or version != FORMAT:  # it may be a tensor, of which nothing is simply true
        raise BadInput(f"it is of format {version!r}; this program reads format {FORMAT}")
    weights = checked_weights(content.get("model_state_dict", content), size)
    if "network" in content:
        config, about = read_config(content["network"]), read_about(content.get("about", {}))
    else:
        weights = translated(weights)
        config, facts = recognised(weights, content)
        about = read_about(facts)
    return Loaded(filled(config, weights), config, about)


def read_about(values: Any) -> About:
    """Read what a network was taught."""
    try:
        return About.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(["about", *(str(part) for part in first["loc"])])
        raise BadInput(f"{place}: {first['msg']}, not {first['input']!r}") from None


def checked_weights(weights: Any, size: int) -> dict[str, Tensor]:
    """Refuse what are no weights by name, or cannot have come from a file of `size` bytes."""
    if not isinstance(weights, Mapping) or not weights:
        raise BadInput("it holds no weights by name")
    for name, tensor in weights.items():
        if not isinstance(name, str) or not isinstance(tensor, Tensor):
            raise BadInput(f"weights should be tensors by name; {name!r} is a {type(tensor).__name__}")
        if tensor.layout != torch.strided or tensor.dtype not in KINDS or tensor.device.type != "cpu":
            raise BadInput(f"the weights {name!r} are of a kind that networks do not have")
    if sum(tensor.numel() for tensor in weights.values()) > size:  # none takes less than a byte
        raise BadInput("it claims to hold more weights than fit into it")
    for name, tensor in weights.items():
        if not bool(torch.isfinite(tensor).all()):
            raise BadInput(f"some of the weights {name!r} are not numbers, or infinite")
    return dict(weights)


def filled(config: NetworkConfig, weights: dict[str, Tensor]) -> Network:
    """Make a network and give it weights of exactly its names and shapes; nothing is allocated before they fit."""
    for parts in ("blocks", "layers"):
        if getattr(config, parts, 0) > len(weights):
            raise BadInput(f"its configuration speaks of {getattr(config, parts)} {parts}, but it does not hold them")
    with torch.device("meta"):
        network = build(config)
    wanted = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    found = {name: tuple(tensor.shape) for name, tensor in weights.items()}
    for name in sorted(wanted.keys() | found.keys()):
        if wanted.get(name) != found.get(name):
            raise BadInput(
                f"the weights {name!r} should be {shape_text(wanted.get(name))}, but are {shape_text(found.get(name))}"
            )
    kinds = {name: tensor.dtype for name, tensor in network.state_dict().items()}
    own = {name: tensor.to(kinds[name], copy=True).contiguous() for name, tensor in weights.items()}
    network.load_state_dict(own, assign=True)
    return network.eval()


def shape_text(shape: tuple[int, ...] | None) -> str:
    """Write a shape for people."""
    if shape is None:
        return "absent"
    return " x ".join(str(length) for length in shape) if shape else "a single number"
