"""Parts that reports share: tables, who has done what by which command, and what a person has written beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

REMARKS = "remarks.md"


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """Lay out a table."""
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(str(cell).replace("|", "/") for cell in line) + " |" for line in lines] + [""]


def done_by(stage: str, facts: Mapping[str, Any] | None) -> str:
    """Say by which command a stage was done, when and on which machine; None: nobody knows."""
    if not facts:
        return f"- {stage}: not done by this command in this folder"
    machine = ", ".join(f"{key} {value}" for key, value in facts["machine"].items())
    return f"- {stage}: `{facts['command']}`, {facts['date']}; {machine}"


def done_how(notes: Mapping[str, Sequence[Mapping[str, Any]]], stages: Sequence[str]) -> Iterator[str]:
    """Say how all stages came about."""
    yield "## How it was done"
    yield ""
    for stage in stages:
        yield from (done_by(stage, facts) for facts in notes.get(stage, [None]))
    yield ""


def remarks(folder: Path) -> Iterator[str]:
    """Add what a person has written beside the report."""
    path = folder / REMARKS
    if path.is_file():
        yield "## Remarks"
        yield ""
        yield path.read_text(encoding="utf-8").strip()
        yield ""


def heading(title: str, lacking: Sequence[str]) -> Iterator[str]:
    """Begin a report, and name what is missing in it."""
    yield f"# {title}"
    yield ""
    if lacking:
        yield "**This study is not complete.** What is missing:"
        yield ""
        yield from (f"- {line}" for line in lacking)
        yield ""
