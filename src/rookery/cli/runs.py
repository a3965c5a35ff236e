"""Commands on runs: what there is, how they compare, how far one is, and clearing up."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option
from typer.core import TyperGroup

from rookery.cli.shared import JsonOption, app, print_json
from rookery.errors import BadInput

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from rookery.learn.runs import Run
    from rookery.learn.summaries import Look, Summary

RunArgument = Annotated[str, Argument(metavar="RUN", help="folder of a run, or its name under ./runs")]
YesOption = Annotated[bool, Option("--yes", "-y", help="do not ask")]


class ListedByDefault(TyperGroup):
    """Lists runs unless another command is named: `rookery runs`, `rookery runs FOLDER`, `rookery runs compare A B`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the command in that was left out."""
        named = bool(args) and (args[0] in self.commands or args[0] == "--help")
        return super().parse_args(ctx, args if named else ["list", *args])


runs = typer.Typer(
    cls=ListedByDefault,
    help="List runs, compare them, see games, clear up. Without a command: list.",
    no_args_is_help=False,
)
app.add_typer(runs, name="runs")


@runs.command("list")
def list_runs(
    folders: Annotated[list[Path] | None, Argument(metavar="FOLDER", help="where to look; ./runs if not given")] = None,
    as_json: JsonOption = False,
) -> None:
    """List runs and curricula: how far, how good and how old they are. Of a curriculum it is the stage under way.

    rookery runs

    rookery runs list experiments/ --json
    """
    from rookery.learn.curriculum_looks import find_curricula, summarise_curriculum
    from rookery.learn.runs import find_runs
    from rookery.learn.summaries import summarise, summary_facts
    from rookery.terminal import err, out

    for folder in folders or ():
        if not folder.is_dir():
            raise BadInput(f"{folder} is no folder")
    places = folders or [Path("runs")]
    found = [summarise(path) for path in find_runs(places)] + [
        summarise_curriculum(path) for path in find_curricula(places)
    ]
    found.sort(key=lambda summary: summary.folder)
    if as_json:
        print_json([summary_facts(summary) for summary in found])
    elif found:
        out.print(summary_table(found))
    else:
        where = ", ".join(map(str, folders or [Path("runs")]))
        err.print(f"there are no runs in {where}; `rookery train` makes one", markup=False)


@runs.command()
def compare(
    chosen: Annotated[list[str], Argument(metavar="RUN...", help="folders of runs, or names under ./runs")],
    figure: Annotated[Path, Option(metavar="FILE", help="where the curves are drawn, as PNG")] = Path("comparison.png"),
    as_json: JsonOption = False,
) -> None:
    """Compare runs: a table, the settings in which they differ, and a figure of their curves.

    rookery runs compare pylos_v4 pylos_v5 --figure ladder.png
    """
    from rich.table import Table

    from rookery.learn.runs import run_folder
    from rookery.learn.summaries import differing_settings, draw_curves, summarise, summary_facts
    from rookery.terminal import out

    folders = [run_folder(text) for text in chosen]
    found, differences = [summarise(folder) for folder in folders], differing_settings(folders)
    draw_curves(folders, figure)
    if as_json:
        runs_facts = [summary_facts(summary) for summary in found]
        print_json({"runs": runs_facts, "differing settings": differences, "figure": str(figure)})
        return
    out.print(summary_table(found))
    if differences:
        table = Table("setting", box=None, pad_edge=False)
        for summary in found:
            table.add_column(summary.name, overflow="fold")
        for key, row in differences.items():
            table.add_row(key, *row)
        out.print()
        out.print(table)
    out.print(f"\ncurves: {figure}", markup=False, soft_wrap=True)


@runs.command("games")
def show_games(
    run: RunArgument,
    number: Annotated[int | None, Argument(metavar="NUMBER", help="show this game; else list the games kept")] = None,
    last: Annotated[int, Option(min=1, help="list so many, the newest last")] = 20,
    as_json: JsonOption = False,
) -> None:
    """Show games of self-play that a run has kept: one in `tracking.game_every`.

    Values are what the search found for the side that moved.

    rookery runs games pylos_quick

    rookery runs games pylos_quick 1200
    """
    from rookery.learn.runs import Run, run_folder
    from rookery.terminal import out

    opened = Run.open(run_folder(run))
    lines = opened.games.read()
    if not lines:
        every = opened.settings.tracking.game_every
        raise BadInput(f"{opened.folder} has kept no games so far; one in tracking.game_every, {every}, is kept")
    if number is not None:
        found = [line for line in lines if line["number"] == number]
        if not found:
            raise BadInput(f"{opened.folder} has not kept game {number}; `rookery runs games {run}` lists those it has")
        lines = found
    if as_json:
        print_json(lines if number is None else lines[0])
    elif number is None:
        out.print(games_table(lines[-last:]))
    else:
        print_game(opened, lines[0])


def games_table(lines: list[dict[str, Any]]) -> Table:
    """Lay out games of self-play."""
    from rich.table import Table

    table = Table("game", "finished", "plies", "result", "ended by", box=None, pad_edge=False)
    for column in table.columns[:3]:
        column.justify = "right"
    for line in lines:
        sizes = f"{line['number']:,}", f"{line['step']:,}", str(len(line["actions"]))
        table.add_row(*sizes, f"{line['result']:+g}", line["ending"])
    return table


def print_game(run: Run, line: dict[str, Any]) -> None:
    """Print the moves of a game and its last position."""
    from rich.table import Table

    from rookery.learn.kept import moves_of
    from rookery.terminal import out

    moves, last = moves_of(run.game, run.settings.seed, line["number"], line["actions"])
    table = Table("ply", "side", "move", "value", box=None, pad_edge=False)
    for ply, ((side, move), value) in enumerate(zip(moves, line["values"], strict=True), start=1):
        table.add_row(str(ply), side, move, f"{value:+.2f}")
    out.print(table)
    out.print()
    out.print(last.draw(), markup=False, highlight=False)
    ended = f"{line['result']:+g} for {run.game.seat_name(0)}, ended by {line['ending'].removeprefix('by ')}"
    out.print(f"game {line['number']:,}: {ended}", markup=False, highlight=False)


@runs.command()
def prune(
    run: RunArgument,
    last: Annotated[int | None, Option(min=1, help="newest checkpoints to keep; as the run's settings say")] = None,
    every: Annotated[int | None, Option(min=0, help="keep the first of every so many games; 0: none")] = None,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Remove the checkpoints of a run that its retention rule does not keep; ratings stay.

    The first, the newest and the best are always kept.

    rookery runs prune pylos_v5

    rookery runs prune runs/pylos_v5 --last 1 --every 100000 --yes
    """
    from rookery.learn.manifest import superfluous
    from rookery.learn.runs import Run, run_folder
    from rookery.learn.sections import KeepSettings
    from rookery.terminal import err

    opened = Run.open(run_folder(run))
    rule = opened.settings.checkpoints.keep
    rule = KeepSettings(last=rule.last if last is None else last, every=rule.every if every is None else every)
    gone = [entry["file"] for entry in superfluous(opened.manifest, rule)]
    sizes = [path.stat().st_size for name in gone if (path := opened.folder / name).exists()]
    told = f"{len(gone)} of {len(opened.checkpoints)} checkpoints of {opened.folder}, {sum(sizes) / 1e6:.1f} MB"
    if gone and not yes:
        typer.confirm(f"Remove {told}?", abort=True, err=True)
    removed = opened.prune(rule)
    if as_json:
        print_json({"run": str(opened.folder), "removed": removed, "megabytes": round(sum(sizes) / 1e6, 3)})
    else:
        err.print(f"removed {told}", markup=False, soft_wrap=True)


@runs.command()
def rm(
    chosen: Annotated[list[str], Argument(metavar="RUN...", help="folders of runs, or names under ./runs")],
    yes: YesOption = False,
) -> None:
    """Delete runs, with all that is in their folders. Refuses what is no run, and one that is being trained.

    rookery runs rm pylos_quick

    rookery runs rm runs/old runs/older --yes
    """
    from rookery.learn.runs import being_trained, remove_run, run_folder
    from rookery.learn.summaries import summarise
    from rookery.terminal import err

    folders = list(dict.fromkeys(run_folder(text) for text in chosen))
    for folder in folders:
        if being_trained(folder):
            raise BadInput(f"{folder} is being trained; end that first")
    for folder in folders:
        about = summarise(folder)
        told = (
            f"{folder}: {about.game}, {about.games:,} games, {about.checkpoints} checkpoints, {about.megabytes:.1f} MB"
        )
        if not yes and not typer.confirm(f"Delete {told}?", err=True):
            continue
        remove_run(folder)
        err.print(f"deleted {told}", markup=False, soft_wrap=True)


@app.command()
def watch(
    run: RunArgument,
    every: Annotated[float, Option(min=0.05, help="seconds between looks")] = 1.0,
    as_json: Annotated[bool, Option("--json", help="print a line of JSON for each change")] = False,
) -> None:
    """Show how far a run is, live, until it is complete or nobody trains it any more.

    In a terminal the figures change in place; elsewhere there is a line for each change. Of a curriculum its stages are
    told, and the one under way is watched if it is a run.

    rookery watch pylos_v5

    rookery watch runs/pylos_v5 --every 10 --json >> progress.jsonl
    """
    import json

    from rich.live import Live

    from rookery.learn.curriculum_looks import curriculum_folder
    from rookery.learn.runs import run_folder
    from rookery.learn.summaries import looks
    from rookery.terminal import err, out

    curriculum, look = curriculum_folder(run), None
    folder = watched_stage(curriculum) if curriculum else run_folder(run)
    if folder is None:
        assert curriculum is not None
        tell_stages(curriculum, as_json)
        return
    if as_json or not out.is_terminal:
        for look in looks(folder, every):
            line = json.dumps(look.progress | {"status": look.status}) if as_json else progress_line(look)
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
    else:
        with Live(console=out, auto_refresh=False) as live:
            for look in looks(folder, every):
                live.update(progress_picture(folder, look), refresh=True)
    if look is not None and look.status != "complete":
        whole = curriculum or folder
        err.print(f"nobody trains {folder}; `rookery resume {whole}` goes on", markup=False, soft_wrap=True)
        raise typer.Exit(1)


def watched_stage(curriculum: Path) -> Path | None:
    """Tell the stages of a curriculum; return the one under way if it is a run, which can be watched.

    None if nobody works on one that is none, or all are done: then that is all there is to tell.
    """
    from rookery.learn.curriculum_looks import stage_under_way, stages_of, summarise_curriculum
    from rookery.learn.runs import is_run
    from rookery.terminal import err

    for stage in stages_of(curriculum):
        told = stage.get("account") or f"stage {stage['stage']}: {stage.get('status')}"
        err.print(told, markup=False, soft_wrap=True)
    at = stage_under_way(curriculum)
    if at is None:
        raise BadInput(f"{curriculum} has not begun; `rookery resume {curriculum}` begins it")
    if is_run(at):
        return at
    if summarise_curriculum(curriculum).status != "training":
        return None
    raise BadInput(
        f"{at} is no run that could be watched: a stage of imitation writes a line of figures.jsonl "
        "for each pass, and every stage one of judged.jsonl for each generation"
    )


def tell_stages(curriculum: Path, as_json: bool) -> None:
    """Tell how a curriculum stands that nobody works on; its stages were told before, but for programs."""
    import json

    from rookery.learn.curriculum_looks import stages_of, summarise_curriculum
    from rookery.terminal import err

    status = summarise_curriculum(curriculum).status
    if as_json:
        sys.stdout.write(json.dumps({"status": status, "stages": stages_of(curriculum)}) + "\n")
    if status != "complete":
        err.print(f"nobody trains {curriculum}; `rookery resume {curriculum}` goes on", markup=False, soft_wrap=True)
        raise typer.Exit(1)


# ---- how they look -------------------------------------------------------------------------------


def summary_table(found: list[Summary]) -> Table:
    """Lay out runs in a table."""
    from rich.table import Table

    from rookery.learn.summaries import duration

    table = Table(box=None, pad_edge=False)
    table.add_column("run", overflow="fold")  # runs of a sweep differ in the last signs of their names
    for name in ("status", "game"):
        table.add_column(name)
    for name in ("games", "value loss", "policy loss", "Elo", "saved", "MB", "age"):
        table.add_column(name, justify="right")
    for run in found:
        games = f"{run.games:,}" + (f" of {run.planned:,}" if run.planned else "")
        losses = (number(run.value_loss, 4), number(run.policy_loss, 4), number(run.elo, 0))
        sizes = (str(run.checkpoints), f"{run.megabytes:,.1f}", duration(run.age_seconds))
        table.add_row(run.name, run.status, run.note or run.game, games, *losses, *sizes)
    return table


def number(value: Any, digits: int) -> str:
    """Write a figure, or a dash where there is none."""
    return f"{value:,.{digits}f}" if isinstance(value, int | float) else "-"


def progress_line(look: Look) -> str:
    """Write how far a run is on one line."""
    from rookery.learn.summaries import duration

    told = look.progress
    return (
        f"{look.status:11s} {number(told.get('current_game'), 0):>9s} of {number(told.get('total_games'), 0)} games "
        f"{number(told.get('percent'), 1):>5s} %  value loss {number(told.get('value_loss'), 4)}  "
        f"policy loss {number(told.get('policy_loss'), 4)}  {number(told.get('games_per_second'), 2)} games/s  "
        f"left {duration(told.get('eta_seconds'))}"
    )


def progress_picture(folder: Path, look: Look) -> RenderableType:
    """Draw how far a run is: a bar, the figures of the progress file, the newest checkpoint and figures."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    from rookery.learn.summaries import duration

    told, rows = look.progress, Table(box=None, show_header=False, pad_edge=False)
    for name in ("value_loss", "policy_loss", "games_per_second"):
        rows.add_row(name.replace("_", " "), number(told.get(name), 4))
    rows.add_row("elapsed", duration(told.get("elapsed_seconds")))
    rows.add_row("left", duration(told.get("eta_seconds")))
    if look.checkpoint:
        elo = f", Elo {number(look.checkpoint.get('elo'), 0)}" if "elo" in look.checkpoint else ""
        rows.add_row("checkpoint", f"{look.checkpoint['file']}, {look.checkpoint.get('label', '')}{elo}")
    for name, value in look.figures.items():
        rows.add_row(Text(name, style="dim"), number(value, 4))
    games = f"{number(told.get('current_game'), 0)} of {number(told.get('total_games'), 0)} games"
    head = Text(f"{folder}  {look.status}  {games}  {number(told.get('percent'), 1)} %")
    bar = ProgressBar(total=max(1, told.get("total_games") or 1), completed=told.get("current_game") or 0, width=60)
    return Group(head, bar, rows)
