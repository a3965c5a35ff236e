"""What is wrong with settings, in words: the key's path, what it must be, and what it is."""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Iterable
from typing import Any, Literal, get_args, get_origin

from annotated_types import Ge, Le, MaxLen
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

LONGEST_VALUE = 60  # signs of a value shown in an error
SHORT = reprlib.Repr()  # a value that contains itself many times over must not be written out
SHORT.maxstring = SHORT.maxother = SHORT.maxlong = LONGEST_VALUE


def in_one_message(name: str, lines: list[str]) -> str:
    """Tell one problem on one line, and several below each other."""
    return f"{name}: {lines[0]}" if len(lines) == 1 else "\n  ".join([f"{name} has {len(lines)} problems:", *lines])


def problem_lines(error: ValidationError, model: type[BaseModel], origins: dict[str, str]) -> list[str]:
    """Return a line for each problem; `origins` says of a key, by its path, where it came from."""
    lines = []
    for found in error.errors(include_url=False):
        if found["type"] == "too_short" and len(found["input"]) >= found["ctx"]["min_length"]:
            continue  # of what stands there some is wrong, which is told
        path, field, keys = place_of(model, found["loc"])
        for where, what in problems_of(found, path, field, keys):
            origin = next((f" ({text})" for key, text in origins.items() if is_below(where, key)), "")
            lines.append(f"{where}: {what}{origin}" if where else f"{what}{origin}")
    return lines


def is_below(path: str, key: str) -> bool:
    """Tell whether a path is that of a key or of a part of it."""
    return path.startswith(key) and path[len(key) : len(key) + 1] in ("", ".", "[")


def problems_of(found: Any, path: str, field: FieldInfo | None, keys: list[str]) -> Iterable[tuple[str, str]]:
    """Yield the path and the words of each problem that one error of the model stands for."""
    kind, value = found["type"], found["input"]
    if kind == "value_error":  # several lines, each with a key below this path
        for line in str(found["ctx"]["error"]).split("\n"):
            key, _, what = line.partition(": ")
            yield ".".join(part for part in (path, key) if part), what
    elif kind == "extra_forbidden":
        yield path, f"there is no such key; {meant(path.rpartition('.')[2], keys)}"
    elif kind == "invalid_key":  # a number or a truth value in the place of a key; in the path it looks like an index
        section = path.rpartition("[")[0]
        yield f"{section}.{value}" if section else str(value), "there is no such key; a key is a word"
    elif kind == "missing":
        yield path, f"is missing; it must be {allowed(field)}" if field else "is missing"
    elif kind.startswith("union_tag"):
        tags = " or ".join(choices(field)) if field else ""
        given = value.get("kind") if isinstance(value, dict) else None
        yield (
            f"{path}.kind",
            f"is missing; it must be {tags}" if given is None else f"must be {tags}, not {shown(given)}",
        )
    else:
        least = f", {found['ctx']['min_length']} at least" if kind == "too_short" else ""
        yield path, f"must be {allowed(field) if field else found['msg']}{least}, not {shown(value)}"


def meant(key: str, keys: list[str]) -> str:
    """Say which keys there are, and which one a person may have meant."""
    close = difflib.get_close_matches(key, keys, 1)
    return f"did you mean {close[0]}?" if close else f"keys here are {', '.join(keys)}"


def shown(value: Any) -> str:
    """Write a value for an error, not longer than a line."""
    text = SHORT.repr(value)
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 3] + "..."


# ---- what a key may be ---------------------------------------------------------------------------


def place_of(model: type[BaseModel], location: tuple[int | str, ...]) -> tuple[str, FieldInfo | None, list[str]]:
    """Return the path of a place as a person writes it, its field if it is known, and the keys beside it."""
    path, field, keys = "", None, list(model.model_fields)
    here: list[type[BaseModel]] = [model]
    for part in location:
        tagged = [kind for kind in here if len(here) > 1 and part in choices_of(kind)]
        if tagged:  # the kind of a section chooses among its models; people do not write it in a path
            here, keys = tagged, list(tagged[0].model_fields)
            continue
        if isinstance(part, int):
            path += f"[{part}]"
            continue
        path = f"{path}.{part}" if path else str(part)
        keys = list(here[0].model_fields) if here else []
        field = here[0].model_fields.get(part) if here else None
        here = models_of(field) if field else []
    return path, field, keys


def models_of(field: FieldInfo) -> list[type[BaseModel]]:
    """Return the models a field may hold, itself or in a list; none if it holds plain values."""
    if get_origin(field.annotation) is tuple:
        field = FieldInfo.from_annotation(get_args(field.annotation)[0])
    kinds = get_args(field.annotation) if field.discriminator else (field.annotation,)
    return [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)]


def choices_of(model: type[BaseModel]) -> tuple[str, ...]:
    """Return the words that choose a model among several."""
    kind = model.model_fields.get("kind")
    return get_args(kind.annotation) if kind else ()


def choices(field: FieldInfo) -> list[str]:
    """Return the kinds of a section that comes in several."""
    return [word for model in models_of(field) for word in choices_of(model)]


def allowed(field: FieldInfo) -> str:
    """Say what a key may be."""
    models, kind = models_of(field), field.annotation
    if models:
        section = "a list of sections" if get_origin(kind) is tuple else "a section"
        return f"{section} with the keys {', '.join(models[0].model_fields)}"
    if get_origin(kind) is Literal:
        return " or ".join(str(word) for word in get_args(kind))
    if get_origin(kind) is tuple:
        each = allowed(FieldInfo.from_annotation(get_args(kind)[0]))
        return f"a list of {each.replace('a whole number', 'whole numbers')}"
    if kind is bool:
        return "true or false"
    if kind is str:
        longest = next((bound.max_length for bound in field.metadata if isinstance(bound, MaxLen)), None)
        return "a text" if longest is None else f"a text of at most {longest} signs without control characters"
    least = next((bound.ge for bound in field.metadata if isinstance(bound, Ge)), None)
    most = next((bound.le for bound in field.metadata if isinstance(bound, Le)), None)
    return f"{'a whole number' if kind is int else 'a number'} in {number(least)}..{number(most)}"


def number(value: Any) -> str:
    """Write a bound."""
    return str(value) if isinstance(value, int) else f"{value:g}"
