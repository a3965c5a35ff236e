"""What a check has found: a measured number, what is expected of it, and a verdict.

A check has a name, and every name stands in `catalogue` with a hint and a section of docs/when-it-does-not-learn.md. A
finding is one measurement of one thing; where a check does not apply there is none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from rookery.checks.catalogue import CATALOGUE, PAGE


class Verdict(StrEnum):
    """How a measurement compares with what is expected, from the best to the worst."""

    OK = "ok"
    WARNING = "warning"
    """it may well hinder learning, or be meant so"""
    WRONG = "wrong"
    """nothing good comes of it"""


ORDER = (Verdict.WRONG, Verdict.WARNING, Verdict.OK)


@dataclass(frozen=True)
class Finding:
    """One measurement."""

    name: str
    """of the check"""
    verdict: Verdict
    number: float
    """what was measured; not a number where that is the trouble"""
    measured: str
    """the same in words"""
    expected: str
    looked_at: str
    """what was measured, and how much of it"""
    target: str = ""
    """the part of what was checked that it is about; empty: all of it"""

    @property
    def hint(self) -> str:
        """What to do; nothing where all is well."""
        return "" if self.verdict is Verdict.OK else CATALOGUE[self.name].hint

    @property
    def link(self) -> str:
        """The section of the page that explains it."""
        return f"{PAGE}#{CATALOGUE[self.name].section}"

    def as_dict(self) -> dict[str, Any]:
        """Return the finding for JSON, which knows no number that is none."""
        number = self.number if math.isfinite(self.number) else None
        return {
            "name": self.name, "target": self.target, "verdict": str(self.verdict), "number": number,
            "measured": self.measured, "expected": self.expected, "looked_at": self.looked_at, "hint": self.hint,
            "link": self.link,
        }  # fmt: skip


@dataclass(frozen=True)
class Sample:
    """How much is looked at, and who is told how far it is."""

    positions: int = 256
    """positions at which a network is asked, and rows of data that are looked at one by one, at most"""
    seed: int = 0
    say: Callable[[str], None] = field(default=lambda note: None)
    """told what is being looked at"""


# ---- verdicts ------------------------------------------------------------------------------------


def if_above(number: float, warning: float, wrong: float = math.inf) -> Verdict:
    """Judge a number that should not be above a bound; what is no number is wrong."""
    if math.isnan(number) or number > wrong:
        return Verdict.WRONG
    return Verdict.WARNING if number > warning else Verdict.OK


def if_below(number: float, warning: float, wrong: float = -math.inf) -> Verdict:
    """Judge a number that should not be below a bound; what is no number is wrong."""
    return if_above(-number, -warning, -wrong)


def if_outside(number: float, warning: tuple[float, float], wrong: tuple[float, float]) -> Verdict:
    """Judge a number that should lie between two bounds; what is no number is wrong."""
    return worst((if_below(number, warning[0], wrong[0]), if_above(number, warning[1], wrong[1])))


def if_opposed(correlation: float, count: int, warning: float, wrong: float) -> Verdict:
    """Judge a correlation of so many pairs that should be above 0; it is wrong only where chance cannot explain it."""
    surely = correlation + 2 / math.sqrt(max(count, 1)) < 0
    return if_below(correlation, warning, wrong if surely else -math.inf)


def unless(holds: bool, otherwise: Verdict = Verdict.WRONG) -> Verdict:
    """Judge what must hold."""
    return Verdict.OK if holds else otherwise


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the worst verdict; ok if there is none."""
    return min(verdicts, key=ORDER.index, default=Verdict.OK)


# ---- several findings ----------------------------------------------------------------------------


def about(target: str, findings: Iterable[Finding]) -> list[Finding]:
    """Say which part of the whole findings are about."""
    return [replace(found, target="/".join(part for part in (target, found.target) if part)) for found in findings]


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Sort findings, the worst first and else as they came."""
    return sorted(findings, key=lambda found: ORDER.index(found.verdict))


def percent(share: float) -> str:
    """Write a share for people."""
    return f"{100 * share:.1f} %"
