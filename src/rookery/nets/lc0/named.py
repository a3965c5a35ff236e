"""A network of Lc0's kind by what names it: a weight file, a file of a network that was taught here, or zoo:NAME."""

from __future__ import annotations

from pathlib import Path

from rookery.errors import BadInput
from rookery.nets import files
from rookery.nets.lc0.files import check_beginning
from rookery.nets.lc0.network import Lc0Network
from rookery.nets.lc0.stored import load_network
from rookery.nets.lc0.trained import as_lc0
from rookery.nets.zoo import ZOO_SIGN, zoo_file


def named_network(name: str | Path) -> Lc0Network:
    """Read a network; one that was taught here as its weight file would hold it."""
    place = file_of(name)
    if place.suffix not in files.SUFFIXES:
        return load_network(place)
    network = files.load_network(place).network
    try:
        return as_lc0(network)
    except BadInput as error:
        raise BadInput(f"{str(name)!r}: {error}") from None


def check_named(name: str | Path) -> None:
    """Refuse what names no network, without reading more than the beginning of a weight file."""
    place = file_of(name)
    if place.suffix not in files.SUFFIXES:
        check_beginning(place)
    elif not place.is_file():
        raise BadInput(f"{str(name)!r} is not there, or no file")


def file_of(name: str | Path) -> Path:
    """Return the file that a name stands for."""
    text = str(name)
    return zoo_file(text.removeprefix(ZOO_SIGN)) if text.startswith(ZOO_SIGN) else Path(name)
