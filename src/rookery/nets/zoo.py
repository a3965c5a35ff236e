"""The networks that come with the package: NAME.safetensors, and beside it NAME.md, its card."""

from __future__ import annotations

import re
from pathlib import Path

from rookery.errors import BadInput

ZOO = Path(__file__).parent.parent / "zoo"
ZOO_SIGN = "zoo:"


def zoo_names() -> list[str]:
    """List the networks that come with the package."""
    return sorted(path.stem for path in ZOO.glob("*.safetensors"))


def zoo_file(name: str) -> Path:
    """Return the file of a network that comes with the package."""
    if name not in zoo_names():
        raise BadInput(f"the zoo has no network {name!r}; it has {', '.join(zoo_names()) or 'none'}")
    return ZOO / f"{name}.safetensors"


def zoo_card(name: str) -> str:
    """Return what is written about a network that comes with the package: NAME.md beside its file."""
    card = zoo_file(name).with_suffix(".md")
    try:
        return card.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"the card of {name!r}, {card}, cannot be read: {error}") from None


def zoo_strength(name: str) -> str:
    """Return how strong a network of the package is, in the words of its card; nothing if it does not say."""
    found = re.search(r"^Strength: (.+)$", zoo_card(name), re.MULTILINE)
    return found[1] if found else ""
