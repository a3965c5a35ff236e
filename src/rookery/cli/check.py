"""The command that looks for what hinders learning."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from rookery.cli.shared import JsonOption, app, print_json

if TYPE_CHECKING:
    from rich.table import Table

    from rookery.checks import Report

PATIENCE = 2.0  # seconds before a bar is shown
STYLES = {"ok": "green", "warning": "yellow", "wrong": "bold red"}


@app.command()
def check(
    what: Annotated[str, Argument(metavar="RUN|DATA|NET", help="a run's or study's folder, data, or a network")],
    positions: Annotated[int, Option(min=16, help="positions at which a network is asked, and rows looked at")] = 256,
    seed: Annotated[int, Option(min=0, help="same seed, same positions")] = 0,
    strict: Annotated[bool, Option("--strict", help="warnings end with exit status 1, too")] = False,
    everything: Annotated[bool, Option("--all", help="list what is in order, too")] = False,
    as_json: JsonOption = False,
) -> None:
    """Look for what hinders learning: in a run, in data, or in a network. Exit status 1: something is wrong.

    rookery check runs/pylos_quick

    rookery check zoo:pylos --all

    rookery check study/data/phase1_games.npz --json
    """
    from rookery.checks import look

    with telling() as say:
        report = look(what, positions, seed, say)
    if as_json:
        print_json(report.as_dict())
    else:
        show(report, everything)
    if not report.passes(strict):
        raise typer.Exit(1)


@contextmanager
def telling() -> Iterator[Callable[[str], None]]:
    """Yield what is told of each thing that is looked at; a bar of them is shown when it takes long."""
    from rookery.terminal import err, progress_bar

    bar, begun = progress_bar(), time.monotonic()
    task = bar.add_task("checking", total=None, note="")

    def say(note: str) -> None:
        bar.update(task, advance=1, note=note)
        if err.is_terminal and time.monotonic() - begun > PATIENCE and not bar.live.is_started:
            bar.start()

    try:
        yield say
    finally:
        if bar.live.is_started:
            bar.stop()


def show(report: Report, everything: bool) -> None:
    """Print a report, the worst first."""
    from rookery.checks import Verdict
    from rookery.terminal import out

    counts = {verdict: sum(found.verdict is verdict for found in report.findings) for verdict in Verdict}
    if everything or len(report.findings) > counts[Verdict.OK]:
        out.print(table_of(report, everything))
    hints = {found.name: f"{found.name}: {found.hint} ({found.link})" for found in report.findings if found.hint}
    for hint in hints.values():
        out.print(hint, style="dim", markup=False, soft_wrap=True)
    listed = "" if everything or not counts[Verdict.OK] else "; --all lists them"
    out.print(
        f"{report.what}: {counts[Verdict.WRONG]} wrong, {counts[Verdict.WARNING]} warnings, {counts[Verdict.OK]} in "
        f"order{listed}",
        markup=False, soft_wrap=True,
    )  # fmt: skip


def table_of(report: Report, everything: bool) -> Table:
    """Lay out findings; what is in order only if all is asked for."""
    from rich.table import Table
    from rich.text import Text

    from rookery.checks import Verdict

    table = Table("verdict", "check", "measured", "expected", "looked at", box=None, pad_edge=False)
    for found in report.findings:
        if found.verdict is Verdict.OK and not everything:
            continue
        looked = f"{found.target}: {found.looked_at}" if found.target else found.looked_at
        cells = [Text(found.verdict, STYLES[found.verdict]), *map(Text, (found.name, found.measured, found.expected))]
        table.add_row(*cells, Text(looked))
    return table
