"""Runs of Stage 2 that are alike but for one thing, to be compared decision by decision.

    size      of the network; each size has its own learning rates
    hands     how many were learned from; the fewer, the fewer steps
    labels    the sets of hands
    the rest  a setting by its name, such as learning_rate or seed

What goes along with another thing, as steps do with hands, makes no difference of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any, NamedTuple

SIZE, HANDS, LABELS, ANSWERS = "size", "hands", "labels", "answers"
SETTINGS = (
    "steps", "batch", "learning_rate", "warmup", "weight_decay", "gradient_norm", "advantage", "muon", "precision",
    "seed",
)  # fmt: skip
GO_ALONG = {SIZE: ("learning_rate", "muon"), HANDS: ("steps", "warmup")}
SWEEP = "stage2-sweep-"
"""how runs begin that vary the settings of another"""

Facts = Mapping[str, Any]
"""settings of a run"""


class Apart(NamedTuple):
    """Two runs and the one thing in which they differ, with its values in both."""

    first: str
    second: str
    differs: str
    values: tuple[str, str]


def hands_of(facts: Facts) -> int:
    """Return how many hands a run has learned from; runs begun before that was kept tell what they were to take."""
    return int(facts.get("learned_rows", facts["rows"]))


def size_of(facts: Facts) -> str:
    """Return the size of a network, as people write it."""
    return f"{facts['network']['width']}x{facts['network']['layers']}"


def aspects(facts: Facts) -> dict[str, str]:
    """Return everything in which runs may differ, as text."""
    network = sorted(item for item in facts["network"].items() if item[0] != ANSWERS)
    found = {
        SIZE: str(network), ANSWERS: str(facts["network"][ANSWERS]), HANDS: f"{hands_of(facts):,}",
        LABELS: ", ".join(facts["data"]),
    }  # fmt: skip
    return found | {name: str(facts.get(name)) for name in SETTINGS}


def only_difference(one: Facts, other: Facts) -> str | None:
    """Return the one thing in which two runs differ; None if there are more, or none."""
    first, second = aspects(one), aspects(other)
    differing = [name for name in first if first[name] != second[name]]
    along = {name for each in differing for name in GO_ALONG.get(each, ())}
    left = [name for name in differing if name not in along]
    return left[0] if len(left) == 1 else None


def runs_apart(runs: Mapping[str, Facts]) -> list[Apart]:
    """Pair runs of Stage 2 that differ in one thing; what varies another comes first, and what has more of a thing.

    Who is taught logits is compared with peers by Q elsewhere, and two variations of the same not with one another.
    """
    found = []
    for one, other in combinations((name for name, facts in runs.items() if facts["stage"] == 2), 2):
        differs = only_difference(runs[one], runs[other])
        if differs in (None, ANSWERS) or (one.startswith(SWEEP) and other.startswith(SWEEP)):
            continue
        assert differs is not None
        first, second = sorted((one, other), key=lambda name: leads(name, runs[name]), reverse=True)
        found.append(Apart(first, second, differs, (value_of(runs[first], differs), value_of(runs[second], differs))))
    return found


def curves(runs: Mapping[str, Facts], players: Mapping[str, Any]) -> dict[str, list[tuple[int, str]]]:
    """Return runs of Stage 2 that differ in how much they learned from, by a label: (hands, run), the fewest first."""
    found: dict[str, dict[int, str]] = {}
    for name, facts in runs.items():
        if facts["stage"] == 2 and name in players and not name.startswith(SWEEP):
            label = f"{size_of(facts)}, {facts['network'][ANSWERS]}, {', '.join(facts['data'])}"
            found.setdefault(label, {})[hands_of(facts)] = name
    return {label: sorted(points.items()) for label, points in found.items() if len(points) > 1}


def leads(name: str, facts: Facts) -> tuple[bool, int, int, str]:
    """Order the runs of a pair, the first of them last."""
    return name.startswith(SWEEP), int(facts.get("parameters", 0)), hands_of(facts), name


def value_of(facts: Facts, differs: str) -> str:
    """Return the value of a thing, for people."""
    return size_of(facts) if differs == SIZE else aspects(facts)[differs]
