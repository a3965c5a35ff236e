"""Settings of runs: numbers that can be, the file that says what a run is, and in what two of them differ."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from rookery.errors import BadInput


def number(what: str, value: Any, least: float, most: float) -> None:
    """Refuse what is no number in a range."""
    fits = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if not fits or not least <= value <= most:
        raise BadInput(f"{what} must be a number in {least:g}..{most:g}, not {value!r}")


def plain_name(what: str, name: str) -> str:
    """Return the name of a folder; refuse one that leads elsewhere, or cannot be one."""
    if not name or any(sign in name for sign in "/\\:") or name.startswith("."):
        raise BadInput(f"{what} must be the plain name of a folder, not {name!r}")
    return name


def yes_or_no(what: str, value: Any) -> None:
    """Refuse what is neither true nor false."""
    if not isinstance(value, bool):
        raise BadInput(f"{what} must be true or false, not {value!r}")


def read_json(path: Path, version: int) -> dict[str, Any] | None:
    """Read a file of settings in a version of its format; None if there is none."""
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise BadInput(f"{path} is damaged: {error}; remove {path.parent} to train the run anew") from None
    if not isinstance(content, dict) or content.get("format") != version:
        raise BadInput(f"{path} is of no run that this program knows")
    return content


def differing(wanted: dict[str, Any], there: dict[str, Any]) -> list[str]:
    """List the keys whose values differ."""
    keys = [key for key in wanted | there if wanted.get(key) != there.get(key)]
    return [f"{key} {there.get(key)!r}, not {wanted.get(key)!r}" for key in keys]
