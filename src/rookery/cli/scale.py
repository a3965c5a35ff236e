"""The command that plans past one machine."""

from __future__ import annotations

from typing import Annotated, Any

from typer import Option

from rookery.cli.bench import bench
from rookery.cli.shared import JsonOption, print_json
from rookery.cli.study import listed
from rookery.errors import BadInput

MOST_CARDS = 4096


@bench.command("scale")
def bench_scale(
    cards: Annotated[str, Option(metavar="N,...", help="numbers of cards to plan for")] = "2,8,64,256",
    draws: Annotated[float, Option(min=0.01, help="how often a position is drawn into a batch")] = 2.6,
    batch: Annotated[int, Option(min=256, max=4096, help="positions of a step on each card that learns")] = 4096,
    link: Annotated[float, Option(min=0.001, help="gigabytes a second in and out of a machine, each way")] = 12.5,
    seconds: Annotated[float, Option(min=1, help="simulated time")] = 60.0,
    games: Annotated[
        int, Option(min=0, help="measure here what positions take and cost, by so many games; 0: recorded figures")
    ] = 0,
    seed: Annotated[int, Option(min=0, help="same seed, same simulation")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Plan self-play on many cards, from what one card was measured to do, and simulate it.

    Speeds of a card are those recorded for V5 of Pylos on one NVIDIA H200. Cards are shared out between playing and
    learning as is best; what else is assumed stands in docs/past-one-machine.md.

    rookery bench scale

    rookery bench scale --cards 8,256 --link 1.25 --draws 1 --json
    """
    from dataclasses import replace

    from rookery.benchmarks.scale import V5, Recipe, measure_rows, planned
    from rookery.terminal import out, progress_bar

    numbers = [read_cards(word) for word in listed(cards)]
    measured = V5
    if games:
        with progress_bar() as progress:
            task = progress.add_task("self-play", total=games, note="games")
            rows = measure_rows(games, lambda: progress.advance(task))
        measured = replace(V5, sent=rows.sent, kept=rows.kept, packed=rows.packed, unpacked=rows.unpacked)
    recipe = Recipe(draws=draws, batch=batch)
    plans = [planned(measured, number, recipe, link * 1e9, seconds, seed) for number in numbers]
    if as_json:
        print_json([plan.as_dict() for plan in plans])
        return
    out.print(plans_table(plans))


def read_cards(word: str) -> int:
    """Read a number of cards."""
    if not word.isdecimal() or not 2 <= int(word) <= MOST_CARDS:
        raise BadInput(f"--cards {word!r}: give numbers from 2 to {MOST_CARDS}, like 8,256")
    return int(word)


def plans_table(plans: list[Any]) -> Any:
    """Lay out plans, one column each."""
    from rich.table import Table

    table = Table(title="self-play and learning on many cards", box=None, pad_edge=False, title_justify="left")
    table.add_column("")
    for plan in plans:
        table.add_column(f"{plan.cluster.cards} cards", justify="right")
    for name, cells in zip(plans[0].lines(), zip(*(plan.lines().values() for plan in plans), strict=True), strict=True):
        table.add_row(name, *cells)
    return table
