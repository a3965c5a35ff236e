"""Runs side by side that differ in a few settings: in their seeds, or in all combinations of some values.

Each has a folder named by what is particular about it, so the same request finds the runs of an earlier one and goes
on with them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from rookery.errors import BadInput
from rookery.games.library import load
from rookery.games.options import given_path, whole_number
from rookery.learn.loop import new_run
from rookery.learn.runs import Run, is_run
from rookery.learn.settings import RunSettings, read_settings
from rookery.learn.summaries import read_progress

MOST_RUNS = 1000
UNFIT = re.compile(r"[^\w.+=-]+", re.ASCII)  # for a file's name


@dataclass(frozen=True)
class Variant:
    """One run of several."""

    folder: Path
    settings: RunSettings


def base_folder(config: str, settings: RunSettings, folder: Path | None) -> Path:
    """Return what the folders of runs begin with: as asked for, as the settings say, or by the settings' name."""
    named = Path(settings.folder) if settings.folder else Path("runs") / Path(config).name.removesuffix(".yaml")
    return Path(os.path.abspath(given_path(folder or named)))


def with_seeds(config: str, changes: Sequence[str], count: int, base: Path) -> list[Variant]:
    """Return runs that differ in nothing but their seeds, from the settings' own on."""
    first = read_settings(config, changes).seed
    return [
        Variant(base.with_name(f"{base.name}-seed{seed}"), read_settings(config, [*changes, f"seed={seed}"]))
        for seed in range(first, first + whole_number("seeds", count, 1, MOST_RUNS))
    ]


def combinations_of(config: str, changes: Sequence[str], texts: Sequence[str], base: Path) -> list[Variant]:
    """Return a run for each combination of values, each text being `section.key=value,value,...`."""
    choices = [values_of(text) for text in texts]
    keys = [key for key, _ in choices]
    for key in keys:
        if keys.count(key) > 1:
            raise BadInput(f"{key} stands twice; give all its values at once, as in {key}=a,b,c")
    total = 1
    for _, values in choices:
        total *= len(values)
    if total > MOST_RUNS:
        raise BadInput(f"{' '.join(texts)} makes {total} runs; the most are {MOST_RUNS}")
    found: dict[Path, Variant] = {}
    for combination in product(*(values for _, values in choices)):
        chosen = [f"{key}={value}" for key, value in zip(keys, combination, strict=True)]
        folder = base.with_name(UNFIT.sub("_", "-".join([base.name, *chosen])))
        if folder in found:
            raise BadInput(f"two of the runs would both be kept in {folder}; values must differ in letters and digits")
        found[folder] = Variant(folder, read_settings(config, [*changes, *chosen]))
    return list(found.values())


def values_of(text: str) -> tuple[str, list[str]]:
    """Read `section.key=value,value,...`; a comma inside brackets or quotes belongs to a value."""
    key, equals, listed = text.partition("=")
    values = [value.strip() for value in split_at_commas(listed)]
    if not equals or not key.strip() or not all(values):
        raise BadInput(f"{text!r} should read section.key=value,value,..., such as training.batch=256,512")
    for value in values:
        if values.count(value) > 1:
            raise BadInput(f"{text!r} names the value {value} twice")
    return key.strip(), values


def split_at_commas(text: str) -> list[str]:
    """Split a text at the commas that are in no brackets and no quotes."""
    parts, depth, quote = [""], 0, ""
    for sign in text:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        depth += (sign in "[{") - (sign in "]}") if not quote else 0
        if sign == "," and not quote and depth <= 0:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


def opened_variant(variant: Variant) -> Run:
    """Make the run of a variant, or open the one that is there; refuse one with other settings."""
    folder, wanted = variant.folder, variant.settings
    if not is_run(folder):
        return new_run(folder, wanted)
    run, game = Run.open(folder), load(wanted.game)
    if run.settings != (wanted.model_copy(update={"game": game.spec}) if game.path else wanted):
        raise BadInput(f"{folder} is a run with other settings; name another folder with --folder, or remove it")
    return run


def is_complete(run: Run) -> bool:
    """Tell whether all games of a run are played."""
    return (read_progress(run.folder) or {}).get("status") == "complete"
