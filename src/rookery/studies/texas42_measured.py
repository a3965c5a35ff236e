"""What was measured in the Texas 42 study, in evaluate.json, and how it came about, in notes.json.

trial   who chooses how well (`texas42_evaluate`), with the checksums of the networks that were judged, `mark`, that of
        trial.npz, and all `choices`: a network need not be there to be compared with one that is judged later; its
        `pairs` tell what choosers by logits lose against their peers by Q, decision by decision, and `apart` what runs
        of Stage 2 lose against others from which they differ in one thing (`texas42_apart`)
claim   choices by mean logits against those by mean Q, by the name of the set
duels   matches, each with the checksums of the networks that played
data    sets of hands that were made, by name: how many games, their settings, and their checks (`texas42_checks`); the
        sets themselves may be elsewhere

Notes tell of each piece by which commands it was done, when, on which machines, from which seed, in how many seconds.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rookery.errors import BadInput
from rookery.studies.stages import NOTES, alone, read_notes
from rookery.studies.texas42_files import write_json

MEASURED = "evaluate.json"


def read_measured(study: Path) -> dict[str, Any]:
    """Read what was measured; empty if nothing was."""
    try:
        found = json.loads((study / MEASURED).read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise BadInput(f"{study / MEASURED} is damaged: {error}; remove it to measure anew") from None
    if not isinstance(found, dict):
        raise BadInput(f"{study / MEASURED} holds no measurements; remove it to measure anew")
    return found


def keep(study: Path, found: dict[str, Any]) -> None:
    """Put what was measured beside what was measured before."""
    change(study, lambda before: before | found)


def keep_part(study: Path, key: str, parts: dict[str, Any]) -> None:
    """Add parts, by name, to what was measured under a key."""
    change(study, lambda before: before | {key: before.get(key, {}) | parts})


def keep_match(study: Path, match: dict[str, Any]) -> None:
    """Put a match in the place of an earlier one of the same players on the same deals, or behind all others."""

    def with_match(before: dict[str, Any]) -> dict[str, Any]:
        matches = before.get("duels", [])
        place = next((i for i, each in enumerate(matches) if same_match(each, match)), len(matches))
        return before | {"duels": [*matches[:place], match, *matches[place + 1 :]]}

    change(study, with_match)


def same_match(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Tell whether two matches are of the same players on the same deals."""
    return all(one.get(key) == other.get(key) for key in ("first", "second", "deals", "seed"))


def keep_note(study: Path, piece: str, facts: dict[str, Any]) -> None:
    """Note how some of a piece was done; seconds of the same command on the same machine are added up.

    facts  command, date, machine, seed and seconds
    """
    with alone(study):
        notes = read_notes(study)
        same = [each for each in notes.get(piece, []) if alike(each, facts)]
        others = [each for each in notes.get(piece, []) if not alike(each, facts)]
        total = facts["seconds"] + sum(each["seconds"] for each in same)
        times = 1 + sum(each.get("times", 1) for each in same)
        note = facts | {"seconds": round(total, 1), "times": times}
        write_json(study / NOTES, notes | {piece: [*others, note]})


def alike(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Tell whether two notes are of the same work, done in parts."""
    return all(one.get(key) == other.get(key) for key in ("command", "machine", "seed"))


def change(study: Path, changed: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """Write what was measured anew, and return it."""
    with alone(study):
        found = changed(read_measured(study))
        write_json(study / MEASURED, found)
    return found
