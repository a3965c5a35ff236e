"""The command line. Commands parse, call the library and print; they hold no logic.

Everything heavy is imported inside the commands, so that `rookery --help` answers at once.
"""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from rookery.errors import BadInput

if TYPE_CHECKING:
    from rookery.games.game import Game
    from rookery.games.position import Position

app = typer.Typer(
    help="Rookery: a laboratory in which neural networks learn to play.",
    epilog="A game is given by its name, by name:option=value,... or by the path of a game file that ends in .py.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
bench = typer.Typer(help="Measure speed. Only ratios within one run mean much.", no_args_is_help=True)
app.add_typer(bench, name="bench")


class Device(StrEnum):
    """Where kernels run."""

    cpu = "cpu"
    cuda = "cuda"


GameArgument = Annotated[str, Argument(metavar="GAME", help="name, name:option=value,... or path/to/game.py")]
PositionOption = Annotated[str | None, Option(metavar="TEXT", help="start from this position, as `show` prints it")]
JsonOption = Annotated[bool, Option("--json", help="print JSON for programs")]


def opened(spec: str, text: str | None, seed: int = 0, uses: tuple[str, ...] = ("rules",)) -> tuple[Game, Position]:
    """Load a game and its first or a given position."""
    from rookery.terminal import prepared

    game = prepared(spec, *uses)
    return game, game.start(seed) if text is None else game.position(text)


def print_json(value: Any) -> None:
    """Print a value as JSON on standard output."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


@app.command()
def games(as_json: JsonOption = False) -> None:
    """List the games.

    rookery games --json
    """
    from rookery.games.library import load, names
    from rookery.terminal import err, facts_of, games_text, out

    loaded = []
    for name in names():
        try:
            loaded.append(load(name))
        except BadInput as error:  # a game of another package; the others are listed all the same
            err.print(f"{error}", style="red", markup=False)
    if as_json:
        print_json([facts_of(game) for game in loaded])
    else:
        out.print(games_text(loaded), markup=False, soft_wrap=True)


@app.command()
def show(
    game: GameArgument,
    position: Annotated[
        str | None, Argument(metavar="[POSITION]", help="a position's text; else the first one")
    ] = None,
    seed: Annotated[int, Option(help="deals, in games with a deal")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Show a position: the board, its text, who moves and what is legal.

    rookery show pylos

    rookery show domineering:rows=4,cols=4 '..../.##./..../.... h'
    """
    from rookery.terminal import describe, out

    loaded, shown = opened(game, position, seed)
    moves = shown.moves()
    if as_json:
        seats = range(loaded.seats)
        payoffs = [shown.payoff(seat) for seat in seats] if shown.over else None
        facts = {"game": loaded.spec, "text": shown.text(), "key": f"{shown.key:016x}", "over": shown.over}
        print_json(facts | {"mover": shown.mover, "payoffs": payoffs, "legal": moves})
        return
    out.print(describe(shown), markup=False)
    out.print(f"text: {shown.text()}", markup=False, soft_wrap=True)
    out.print(f"legal ({len(moves)}): {' '.join(moves)}", markup=False, soft_wrap=True)


@app.command()
def play(
    game: GameArgument,
    seat: Annotated[str, Option(help="your seat, by number or name; none to watch")] = "0",
    seed: Annotated[int, Option(help="same seed, same opponent")] = 0,
    position: PositionOption = None,
    delay: Annotated[float, Option(help="seconds a position is shown when watching in a terminal")] = 0.1,
) -> None:
    """Play in the terminal against random moves.

    rookery play pylos

    rookery play domineering:rows=8,cols=8 --seat horizontal --seed 7

    rookery play examples/connect_four.py --seat none
    """
    from rookery.terminal import Session, parse_seat, watch

    loaded, begin = opened(game, position, seed)
    chosen = parse_seat(loaded, seat)
    if chosen is None:
        watch(begin, seed, delay)
    else:
        Session(begin, chosen, seed, input).run()


@app.command()
def perft(
    game: GameArgument,
    depth: Annotated[int, Option(min=1, help="number of actions")],
    position: PositionOption = None,
    threads: Annotated[int | None, Option(min=1, help="CPU threads; all cores if not given")] = None,
    divide: Annotated[bool, Option(help="also print the count behind each move")] = False,
    as_json: JsonOption = False,
) -> None:
    """Count the sequences of DEPTH actions, to check rules.

    rookery perft pylos --depth 6

    rookery perft domineering:rows=4,cols=4 --depth 5 --position '..../..../..../.... h' --json
    """
    import time

    from rookery.benchmarks.machine import cores
    from rookery.search.perft import perft as count
    from rookery.terminal import out, progress_bar

    loaded, begin = opened(game, position, uses=("rules", "perft"))
    start, counted = time.perf_counter(), [0]

    def report(leaves: int, moves: int) -> None:
        counted[0] += leaves
        rate = counted[0] / max(time.perf_counter() - start, 1e-9)
        progress.update(task, advance=moves, note=f"{counted[0]:,} leaves, {rate:,.0f} a second")

    with progress_bar() as progress:
        task = progress.add_task(f"perft {depth}", total=len(begin.legal()), note="")
        counts = count(begin, depth, threads or cores(), report)
    seconds, leaves = time.perf_counter() - start, sum(counts.values())
    if as_json:
        facts = {"game": loaded.spec, "position": begin.text(), "depth": depth, "leaves": leaves}
        print_json(facts | {"seconds": round(seconds, 3), "moves": counts})
        return
    if divide:
        for move, number in counts.items():
            out.print(f"{move:12s} {number:>15,}", markup=False)
    out.print(f"{leaves:,} leaves at depth {depth} in {seconds:.2f} s ({leaves / max(seconds, 1e-9):,.0f} a second)")


@bench.command("rules")
def bench_rules(
    games: Annotated[
        list[str] | None, Argument(metavar="[GAME]...", help="games to measure; all if none is given")
    ] = None,
    device: Annotated[Device, Option(help="cuda measures the card beside the CPU")] = Device.cpu,
    rounds: Annotated[int, Option(min=1, help="rounds; medians are reported")] = 5,
    seconds: Annotated[float, Option(min=0.01, help="length of one measurement")] = 0.4,
    seed: Annotated[int, Option(help="same seed, same games")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Measure random play and perft, with legal lists made and results checked.

    rookery bench rules

    rookery bench rules domineering:rows=8,cols=8 --device cuda --json
    """
    from rookery.benchmarks.machine import describe as describe_machine
    from rookery.benchmarks.rules import all_games, bench_game
    from rookery.benchmarks.tables import rules_table
    from rookery.terminal import err, out, prepared, progress_bar

    if device is Device.cuda:
        from rookery.search.cuda import require_card

        require_card()
    loaded, rows = [prepared(spec, "random play", "perft") for spec in games or all_games()], []
    with progress_bar() as progress:
        task = progress.add_task("random play", total=len(loaded) * rounds, note="")
        for game in loaded:
            progress.update(task, note=game.name)
            rows.append(bench_game(game, device.value, rounds, seconds, seed, lambda: progress.advance(task)))
    machine = describe_machine()
    if as_json:
        settings = {"device": device.value, "rounds": rounds, "seconds": seconds, "seed": seed}
        print_json({"machine": machine, "settings": settings, "rules": [row.as_dict() for row in rows]})
        return
    out.print(rules_table(rows))
    err.print(f"medians of {rounds} rounds, seed {seed}, on {machine['cpu']}, {machine['cores']} cores", style="dim")


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


def main() -> None:
    """Run the command line; what the person can mend is told in one line, with exit status 2."""
    try:
        app(standalone_mode=True)
    except BadInput as error:
        typer.secho(f"rookery: {error}", err=True, fg=typer.colors.RED)
        sys.exit(2)
    except OSError as error:
        typer.secho(f"rookery: {error}", err=True, fg=typer.colors.RED)
        sys.exit(1)
