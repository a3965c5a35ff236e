"""Verdicts, and findings as programs read them."""

from __future__ import annotations

import json
import math

from checks.verdicts import in_order
from rookery.checks import Finding, Report, Verdict
from rookery.checks.finding import about, if_above, if_below, if_opposed, if_outside, worst, worst_first

FINE = Finding("draws", Verdict.OK, 0.1, "10.0 %", "at most 60.0 %", "games")
BAD = Finding("masks", Verdict.WRONG, 3.0, "3 of 9", "none", "rows")
ODD = Finding("cut-off", Verdict.WARNING, math.nan, "?", "at most 20.0 %", "games")


def test_a_number_is_judged_by_two_bounds():
    assert [if_above(x, 1, 2) for x in (1, 1.5, 3)] == [Verdict.OK, Verdict.WARNING, Verdict.WRONG]
    assert [if_below(x, 1, 0) for x in (1, 0.5, -1)] == [Verdict.OK, Verdict.WARNING, Verdict.WRONG]
    assert [if_outside(x, (0, 1), (-1, 2)) for x in (0.5, 1.5, 3, -0.5, -2)] == [
        Verdict.OK, Verdict.WARNING, Verdict.WRONG, Verdict.WARNING, Verdict.WRONG,
    ]  # fmt: skip


def test_what_is_no_number_is_wrong():
    assert if_above(math.nan, 1) is if_below(math.nan, 1) is if_outside(math.nan, (0, 1), (0, 1)) is Verdict.WRONG


def test_a_correlation_is_wrong_only_beyond_chance():
    assert if_opposed(-0.3, 1000, 0.2, -0.2) is Verdict.WRONG
    assert if_opposed(-0.3, 16, 0.2, -0.2) is Verdict.WARNING
    assert if_opposed(0.5, 16, 0.2, -0.2) is Verdict.OK


def test_the_worst_comes_first_and_decides():
    report = Report("things", worst_first([FINE, ODD, BAD]))
    assert [found.verdict for found in report.findings] == [Verdict.WRONG, Verdict.WARNING, Verdict.OK]
    assert report.verdict is Verdict.WRONG
    assert worst([]) is Verdict.OK


def test_warnings_fail_only_if_one_is_strict():
    assert Report("", [FINE]).passes(strict=True)
    assert Report("", [FINE, ODD]).passes()
    assert not Report("", [FINE, ODD]).passes(strict=True)
    assert not Report("", [BAD]).passes()


def test_findings_are_told_in_json_with_hint_and_link():
    told = json.loads(json.dumps(Report("things", about("part", [BAD, ODD])).as_dict(), allow_nan=False))
    first, second = told["findings"]
    assert first["target"] == "part"
    assert first["hint"]
    assert first["link"] == "docs/when-it-does-not-learn.md#losses-or-weights-are-no-numbers"
    assert second["number"] is None
    in_order(FINE, "draws")
