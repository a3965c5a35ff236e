"""Values that a person gives: whole numbers, options of a game, and their texts."""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_type_hints

from rookery.errors import BadInput


def whole_number(what: str, value: Any, least: int, most: int) -> int:
    """Return a whole number in a range as an `int`; refuse anything else, a bool too. `what` names it in the error."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or not least <= number <= most:
        raise BadInput(f"{what} must be a whole number in {least}..{most}, not {value!r}")
    return number


def one_of(what: str, value: Any, allowed: Sequence[str]) -> str:
    """Return a word if it is among the allowed ones; refuse anything else."""
    if not isinstance(value, str) or value not in allowed:
        raise BadInput(f"{what} must be one of {', '.join(allowed)}, not {value!r}")
    return value


def given_path(text: str | os.PathLike[str]) -> Path:
    """Return a path that a person gives, with ~ for the home folder; ~NAME of nobody who is here stays as it is."""
    return Path(os.path.expanduser(text))


READERS: dict[type, tuple[str, str, Callable[[str], Any]]] = {  # type -> texts it accepts, its name, how it is read
    bool: (r"true|false|True|False", "true or false", lambda text: text.lower() == "true"),
    int: (r"[+-]?[0-9]{1,18}", "a whole number", int),
    float: (r"[+-]?[0-9]*\.?[0-9]+([eE][+-]?[0-9]{1,3})?", "a number", float),
}


def read_option(game: type[Any], name: str, text: str) -> Any:
    """Turn an option's text into one of the types its constructor declares."""
    hint: Any = get_type_hints(game.__init__).get(name, str)
    kinds = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    for kind, (pattern, _, read) in READERS.items():
        if kind in kinds and re.fullmatch(pattern, text):
            return read(text)
    if str in kinds:
        return text
    wanted = " or ".join(READERS[kind][1] for kind in kinds if kind in READERS)
    raise BadInput(f"option {name} of {game.name} must be {wanted}, not {text!r}")
