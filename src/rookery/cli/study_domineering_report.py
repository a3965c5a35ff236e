"""The commands of the Domineering study that compare its networks and report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from rookery.cli.shared import JsonOption, print_json
from rookery.cli.study import bar_until_interrupt
from rookery.cli.study_domineering import domineering

STUDY = Path("studies/domineering")
FolderOption = Annotated[Path, Option(metavar="FOLDER", help="where all of the study is kept")]


@domineering.command()
def compare(
    folder: FolderOption = STUDY,
    positions: Annotated[int, Option(help="positions of validation on which probes are judged")] = 20_000,
    openings: Annotated[int, Option(help="random openings of a match, each played with both seats")] = 256,
    candidates: Annotated[
        int, Option(help="moves a player looks at before it chooses by value; 1: its policy alone")
    ] = 1,
    seed: Annotated[int, Option(help="same seed, same openings")] = 0,
    device: Annotated[str, Option(help="auto, cpu, cuda or mps")] = "auto",
) -> None:
    """Compare the networks of a study: layers by CKA, controls of the probes, matches at equal steps.

    It reads FOLDER/runs/*/network.safetensors and the games in FOLDER/data, and writes FOLDER/compare.json, which the
    report shows. Stopped anywhere, the same command goes on: what was probed or played before is not done again.

    rookery study domineering compare

    rookery study domineering compare --openings 32 --positions 2000 --folder studies/quick
    """
    from rookery.studies.domineering_compare import CompareSettings
    from rookery.studies.domineering_compare import compare as compare_networks
    from rookery.terminal import out

    settings = CompareSettings(positions=positions, openings=openings, candidates=candidates, seed=seed)
    with bar_until_interrupt("compare") as say:
        found = compare_networks(folder, settings, device, say)
    out.print(f"{found}", markup=False, soft_wrap=True)


@domineering.command()
def report(folder: FolderOption = STUDY, as_json: JsonOption = False) -> None:
    """Write the report of a study: report.md, report.html and figures, from what lies in its folder.

    What is missing is named, and the rest is shown. FOLDER/remarks.md, if it is there, becomes part of the report.
    With --json all findings are printed as well, for programs.

    rookery study domineering report

    rookery study domineering report --folder studies/quick --json
    """
    from rookery.studies.domineering_report import report_facts, write_report
    from rookery.terminal import out, waiting

    with waiting(lambda: "writing the report"):
        place = write_report(folder)
    if as_json:
        print_json(report_facts(folder))
    else:
        out.print(f"{place}", markup=False, soft_wrap=True)
