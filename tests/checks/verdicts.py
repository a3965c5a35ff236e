"""What the tests of checks ask of findings. Every check is asked for by name, once in order and once not."""

from __future__ import annotations

from collections.abc import Iterable

from rookery.checks import Finding, Verdict

BAD = (Verdict.WARNING, Verdict.WRONG)


def named(findings: Iterable[Finding] | Finding, name: str) -> list[Finding]:
    """Return the findings of a check; there must be some."""
    listed = [findings] if isinstance(findings, Finding) else list(findings)
    found = [each for each in listed if each.name == name]
    assert found, f"{name} is not among {sorted({each.name for each in listed})}"
    return found


def in_order(findings: Iterable[Finding] | Finding, *names: str) -> None:
    """Claim that checks found nothing to complain of."""
    for name in names:
        for each in named(findings, name):
            assert each.verdict is Verdict.OK, each
            assert not each.hint


def complains(findings: Iterable[Finding] | Finding, name: str, *verdicts: Verdict) -> None:
    """Claim that a check complains, with one of some verdicts if any are given."""
    worst = [each for each in named(findings, name) if each.verdict in (verdicts or BAD)]
    assert worst, named(findings, name)
    assert all(each.hint and each.link and each.measured and each.expected and each.looked_at for each in worst)


def silent(findings: Iterable[Finding], name: str) -> None:
    """Claim that a check has nothing to say, since it does not apply."""
    assert name not in {each.name for each in findings}
