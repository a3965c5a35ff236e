"""The command that looks at the installation."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from rookery.cli.shared import JsonOption, app, print_json


@app.command()
def doctor(
    compile_kernels: Annotated[
        bool, Option("--compile", help="compile everything now, and say how long it took")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Say what this installation has, what is missing and how to get it.

    rookery doctor --compile
    """
    from rich.table import Table

    from rookery import doctor as examination
    from rookery.terminal import err, out

    times: dict[str, float] = {}
    if compile_kernels:
        with err.status("compiling every game for this machine"):
            total = examination.compile_all(lambda game, use, taken: times.update({f"{game}, {use}": taken}))
    findings = examination.examine()
    if as_json:
        found = {finding.topic: {"found": finding.found, "remedy": finding.remedy} for finding in findings}
        print_json(found | ({"compile seconds": times} if compile_kernels else {}))
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    for finding in findings:
        remedy = f"[yellow]{finding.remedy}[/yellow]".replace("rookery[", "rookery\\[") if finding.remedy else ""
        table.add_row(finding.topic, finding.found, remedy)
    out.print(table)
    for name, taken in times.items():
        out.print(f"compiled {name}: {taken:.2f} s")
    if compile_kernels:
        out.print(f"compiled everything in {total:.1f} s")
