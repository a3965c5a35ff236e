"""The commands of the Texas 42 study."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from rookery.cli.study import INTERRUPTED, listed, studies, told
from rookery.cli.study_domineering_train import chosen_device
from rookery.errors import BadInput

if TYPE_CHECKING:
    from rookery.studies.texas42_decisions import Labeller
    from rookery.studies.texas42_plan import TrainSettings

FolderOption = Annotated[Path, Option(metavar="FOLDER", help="where all of the study is kept")]
ThreadsOption = Annotated[int | None, Option(help="CPU threads; all cores unless given")]
DeviceOption = Annotated[str, Option(help="auto, cpu or cuda: where networks are")]
SecondsOption = Annotated[float | None, Option(min=0, help="stop after so long; the same command goes on")]
PartOption = Annotated[str, Option(help="whose deals: train, valid, test or all")]
NameOption = Annotated[str | None, Option(help="name of the set or run; made of the rest unless given")]
PLACE = Path("studies/texas42")

texas42 = typer.Typer()
studies.add_typer(texas42, name="texas42")


@texas42.callback(invoke_without_command=True)
def all_of_it(
    context: typer.Context,
    preset: Annotated[str | None, Option(help="do all of it: full for a card, quick for two cores in minutes")] = None,
    folder: FolderOption = PLACE,
    device: DeviceOption = "auto",
    threads: ThreadsOption = None,
    seconds: SecondsOption = None,
) -> None:
    """From an exact solver to a player that sees only its own hand, in Texas 42.

    With --preset everything is done that is not done yet: positions, Stage 1, hands with E[Q] labels, Stage 2,
    judgements by exact values, matches, the report. Interrupted or killed, the same command goes on. The parts are
    commands of their own.

    rookery study texas42 --preset quick --folder studies/quick42
    """
    if context.invoked_subcommand is not None:
        if preset is not None:
            raise BadInput(f"--preset {preset}: before {context.invoked_subcommand} it means nothing")
        return
    if preset is None:
        typer.echo(context.get_help())
        raise typer.Exit
    from rookery.studies.texas42_evaluate import complete_runs
    from rookery.studies.texas42_plan import preset_of

    plan, place, until = preset_of(preset), chosen_device(device), deadline(seconds)
    settings: dict[str, Any]
    trained = complete_runs(folder).keys() >= {run.name for run in (*plan.stage1, *plan.stage2)}
    for positions in plan.positions:
        settings = {"source": positions.source, "per_deal": positions.per_deal, "per_shard": positions.per_shard}
        fill_positions(folder, positions.name, positions.deals, positions.part, 0, threads, until, **settings)
    train_all(folder, plan.stage1, place, threads, until)
    for hands in plan.decisions:
        settings = {"explore": hands.explore, "per_shard": hands.per_shard, "worlds": hands.worlds}
        files = [
            name if name in ("", "exact") else network_of_run(folder, name) for name in (hands.oracle, hands.second)
        ]
        fill_decisions(folder, hands.name, hands.games, hands.part, 0, files, place, threads, until, **settings)
    train_all(folder, plan.stage2, place, threads, until)
    if measured_already(folder):
        told(f"{folder / 'evaluate.json'} is there, found from the same networks")
    else:
        if not trained and time.monotonic() >= until:  # a call that has nothing else to do goes on with this
            stopped("evaluate")
        measure(folder, *plan.trial, (), place, all_threads(threads), 0)
        play_duels(folder, list(plan.duels), plan.deals, place, all_threads(threads), 0)
    report(folder)


@texas42.command()
def data(
    folder: FolderOption = PLACE,
    games: Annotated[int, Option(help="games to play, or deals to take positions from")] = 1000,
    kind: Annotated[str, Option(help="decisions (E[Q] games, Stage 2) or positions (exact Q, Stage 1)")] = "decisions",
    worlds: Annotated[int, Option(help="worlds of each decision")] = 100,
    oracle: Annotated[
        str, Option(metavar="exact|NETWORK", help="who says Q in a world: exact search, or Stage 1")
    ] = "exact",
    second: Annotated[
        str, Option(metavar="NETWORK", help="a Stage 1 in policy mode whose mean logits are kept, too")
    ] = "",
    source: Annotated[str, Option(help="of positions: random, played or uniform")] = "played",
    compiled: Annotated[
        bool, Option("--compile", help="let PyTorch's compiler write kernels for the networks")
    ] = False,
    per_deal: Annotated[int, Option(help="positions of a deal, where they are drawn")] = 8,
    per_shard: Annotated[int, Option(help="games or deals of a file")] = 1024,
    explore: Annotated[float, Option(min=0, max=1, help="share of tiles that are any legal ones")] = 0.05,
    part: PartOption = "train",
    seed: Annotated[int, Option(help="same seed, same data")] = 0,
    name: NameOption = None,
    device: DeviceOption = "auto",
    threads: ThreadsOption = None,
    seconds: SecondsOption = None,
) -> None:
    """Make data: games played by E[Q] with their labels, or positions with exact Q.

    Files lie in FOLDER/data/NAME. Interrupted, killed or stopped, the same command goes on with the files that are
    missing; asked for more games, it adds to them.

    rookery study texas42 data --games 1000 --worlds 100

    rookery study texas42 data --games 100000 --oracle runs/stage1/network.safetensors --device cuda

    rookery study texas42 data --kind positions --source random --games 5000
    """
    from rookery.games.options import one_of

    until = deadline(seconds)
    if one_of("--kind", kind, ("decisions", "positions")) == "positions":
        named = name or f"positions-{source}-{part}"
        settings = {"source": source, "per_deal": per_deal, "per_shard": per_shard}
        settings |= {} if source != "played" else {"explore": explore}
        fill_positions(folder, named, games, part, seed, threads, until, **settings)
        return
    named = name or f"decisions-{'exact' if oracle == 'exact' else 'network'}-{worlds}-{part}"
    settings = {"explore": explore, "per_shard": per_shard, "worlds": worlds}
    files = [oracle, second]
    place = chosen_device(device)
    fill_decisions(folder, named, games, part, seed, files, place, threads, until, compiled, **settings)


@texas42.command("train-stage1")
def train_stage1(
    folder: FolderOption = PLACE,
    size: Annotated[str, Option(help="73k, 817k or 3.3M")] = "817k",
    answers: Annotated[str, Option(help="q (points) or policy (softmax of Q / 3)")] = "q",
    steps: Annotated[int, Option(help="gradient steps")] = 20_000,
    batch: Annotated[int, Option(help="positions of a step")] = 512,
    learning_rate: Annotated[float, Option(help="the highest")] = 3e-4,
    advantage: Annotated[float, Option(help="weight of differences between slots; 0: as in the original")] = 4.0,
    data: Annotated[str | None, Option(metavar="NAME,...", help="sets of positions; all that are there")] = None,
    rows: Annotated[int, Option(help="positions to learn from, of each set; 0: all")] = 0,
    seed: Annotated[int, Option(help="same seed, same network on a CPU")] = 0,
    name: NameOption = None,
    precision: Annotated[str | None, Option(help="fp32 or bf16; on a card bf16 unless given")] = None,
    device: DeviceOption = "auto",
    threads: ThreadsOption = None,
    seconds: SecondsOption = None,
) -> None:
    """Train the network that sees all four hands, on positions with exact Q.

    rookery study texas42 train-stage1 --size 73k --steps 2000
    """
    train_one(
        folder, 1, name or f"stage1-{answers}-{size}-s{seed}", size, answers, data, device, threads, seconds, precision,
        steps=steps, batch=batch, learning_rate=learning_rate, rows=rows, seed=seed,
        advantage=advantage,
    )  # fmt: skip


@texas42.command("train-stage2")
def train_stage2(
    folder: FolderOption = PLACE,
    size: Annotated[str, Option(help="64x2, 128x4 or 256x6: width and layers")] = "128x4",
    answers: Annotated[str, Option(help="q, or logits: taught the mean logits of a Stage 1 in policy mode")] = "q",
    steps: Annotated[int, Option(help="gradient steps")] = 20_000,
    batch: Annotated[int, Option(help="decisions of a step")] = 512,
    learning_rate: Annotated[float, Option(help="the highest")] = 3e-4,
    advantage: Annotated[float, Option(help="weight of differences between slots; 0: as in the original")] = 4.0,
    data: Annotated[str | None, Option(metavar="NAME,...", help="sets of decisions; all that are there")] = None,
    rows: Annotated[int, Option(help="games to learn from, of each set; 0: all")] = 0,
    seed: Annotated[int, Option(help="same seed, same network on a CPU")] = 0,
    name: NameOption = None,
    precision: Annotated[str | None, Option(help="fp32 or bf16; on a card bf16 unless given")] = None,
    device: DeviceOption = "auto",
    threads: ThreadsOption = None,
    seconds: SecondsOption = None,
) -> None:
    """Train the network that sees one hand and the record of play, on E[Q] labels.

    rookery study texas42 train-stage2 --size 64x2 --steps 2000
    """
    train_one(
        folder, 2, name or f"stage2-{answers}-{size}-s{seed}", size, answers, data, device, threads, seconds, precision,
        steps=steps, batch=batch, learning_rate=learning_rate, rows=rows, seed=seed,
        advantage=advantage,
    )  # fmt: skip


@texas42.command()
def evaluate(
    folder: FolderOption = PLACE,
    decisions: Annotated[
        int, Option(help="decisions to judge choices on, of deals that nobody has learned from")
    ] = 600,
    worlds: Annotated[int, Option(help="worlds of each of the two sets")] = 1000,
    data: Annotated[str | None, Option(metavar="NAME,...", help="sets of hands to take decisions from; all")] = None,
    duels: Annotated[
        str | None,
        Option(metavar="A/B,...", help="matches: random, heuristic, exact:N[:make] or a run of Stage 2[:make]"),
    ] = None,
    deals: Annotated[int, Option(help="deals of each match, each played twice")] = 1000,
    seed: Annotated[int, Option(help="same seed, same decisions and deals")] = 0,
    device: DeviceOption = "auto",
    threads: ThreadsOption = None,
) -> None:
    """Judge all networks by exact values, and let players meet on mirrored deals; results go to evaluate.json.

    rookery study texas42 evaluate --decisions 60 --worlds 50 --duels heuristic/random --deals 20
    """
    measure(folder, decisions, worlds, tuple(listed(data)), chosen_device(device), all_threads(threads), seed)
    if duels:
        play_duels(folder, listed(duels), deals, chosen_device(device), all_threads(threads), seed)


@texas42.command()
def report(folder: FolderOption = PLACE) -> None:
    """Write report.md and report.html from what lies in the folder.

    rookery study texas42 report --folder studies/quick42
    """
    from rookery.studies.texas42_report import write_report
    from rookery.terminal import out

    out.print(f"{write_report(folder)}", markup=False, soft_wrap=True)


# ---- what the commands do ------------------------------------------------------------------------


def deadline(seconds: float | None) -> float:
    """Return when to stop, on the clock of `time.monotonic`."""
    return time.monotonic() + seconds if seconds is not None else float("inf")


def all_threads(threads: int | None) -> int:
    """Return how many threads to use."""
    from rookery.benchmarks.machine import cores

    return threads or cores()


@contextmanager
def bar_for(what: str) -> Iterator[Callable[[int, int, str], None]]:
    """Show a progress bar while something is made; an interrupt ends the command."""
    from rookery.terminal import err, progress_bar

    try:
        with progress_bar() as bar:
            task = bar.add_task(what, total=None, note="")

            def say(done: int, total: int, note: str) -> None:
                bar.update(task, completed=done, total=total, note=note)

            yield say
    except KeyboardInterrupt:
        err.print(f"interrupted in {what}; the same command goes on", markup=False)
        raise typer.Exit(INTERRUPTED) from None


def stopped(what: str) -> None:
    """Say that time is up, and end the command."""
    told(f"stopped in {what}; the same command goes on")
    raise typer.Exit


def fill_positions(
    folder: Path, name: str, deals: int, part: str, seed: int, threads: int | None, until: float, **settings: Any
) -> None:
    """Make a set of positions, as far as it is not there."""
    from rookery.studies.texas42_positions import PositionSettings, make_positions

    wanted = PositionSettings(part=part, seed=seed, **settings)
    with bar_for(name) as say:
        place = folder / "data" / name
        done = make_positions(place, deals, wanted, all_threads(threads), say, lambda: time.monotonic() >= until)
    if not done:
        stopped(name)
    told(f"{name}: {deals:,} deals in {place}")


def fill_decisions(
    folder: Path, name: str, games: int, part: str, seed: int, files: list[str], device: str, threads: int | None,
    until: float, compiled: bool = False, **settings: Any,
) -> None:  # fmt: skip
    """Make a set of decisions, as far as it is not there; `files` are the oracle and the second network, if any."""
    from rookery.studies.texas42_decisions import DecisionSettings, make_decisions
    from rookery.studies.texas42_files import digest

    marks = [text if text in ("", "exact") else digest(file_of(text).read_bytes())[:16] for text in files]
    wanted = DecisionSettings(part=part, seed=seed, oracle=marks[0], second=marks[1], **settings)
    with bar_for(name) as say:
        labeller = labeller_of(files, device, all_threads(threads), compiled)
        place = folder / "data" / name
        done = make_decisions(place, games, wanted, labeller, say, lambda: time.monotonic() >= until)
    if not done:
        stopped(name)
    told(f"{name}: {games:,} games in {place}")


def file_of(text: str) -> Path:
    """Return the file of a network that a text names; refuse one that is not there."""
    from rookery.arena.networks import network_file

    path = network_file(text)
    if not path.is_file():
        raise BadInput(f"the network {text!r} is not there; an oracle is `exact` or a file of a Stage 1")
    return path


def labeller_of(files: list[str], device: str, threads: int, compiled: bool = False) -> Labeller:
    """Make whoever labels decisions."""
    from rookery.arena.texas42_networks import HandsOracle
    from rookery.studies.texas42_decisions import ExactLabeller, NetworkLabeller

    oracle, second = files
    if oracle == "exact":
        if second:
            raise BadInput("--second needs a network as --oracle, too: both look at the same worlds")
        return ExactLabeller(threads)
    other = HandsOracle.of(second, device, "policy", compiled) if second else None
    return NetworkLabeller(HandsOracle.of(oracle, device, compiled=compiled), other, threads)


def network_of_run(folder: Path, name: str) -> str:
    """Return the file of a run's network."""
    return str(folder / "runs" / name / "network.safetensors")


def train_one(
    folder: Path, stage: int, name: str, size: str, answers: str, data: str | None, device: str, threads: int | None,
    seconds: float | None, precision: str | None, **settings: Any,
) -> None:  # fmt: skip
    """Train the run that a command describes."""
    from rookery.studies.texas42_plan import TrainSettings, sized

    place = chosen_device(device)
    usual = "bf16" if place == "cuda" else "fp32"
    sets = tuple(listed(data))
    run = TrainSettings(name, sized(stage, size, answers), precision=precision or usual, data=sets, **settings)
    train_all(folder, (run,), place, threads, deadline(seconds))


def train_all(
    folder: Path, runs: tuple[TrainSettings, ...], device: str, threads: int | None, until: float
) -> None:  # fmt: skip
    """Train runs, those that are complete left alone."""
    from rookery.studies.texas42_runs import Run
    from rookery.studies.texas42_tables import load_tables

    for settings in runs:
        run = Run(folder, settings)
        if not run.complete:
            with bar_for(settings.name) as say:
                say(0, settings.steps, "reading data")
                tables = load_tables(
                    folder,
                    settings.kind,
                    settings.data,
                    device,
                    settings.rows,
                    settings.valid_rows,
                    all_threads(threads),
                )
                done = run.train(tables, None, say, until)
            if not done:
                stopped(settings.name)
        told(summary(run))


def measure(
    folder: Path, decisions: int, worlds: int, data: tuple[str, ...], device: str, threads: int, seed: int
) -> None:
    """Judge choices by exact values, and compare mean logits with mean Q."""
    from rookery.studies.texas42_evaluate import drawn_decisions, evaluate_trial, logits_against_q, make_trial
    from rookery.studies.texas42_files import data_sets

    states = drawn_decisions(folder, data, decisions, seed)
    with bar_for("worlds") as say:
        trial = make_trial(states, worlds, seed, threads, say)
    with bar_for("networks") as say:
        players = evaluate_trial(folder, trial, device=device, threads=threads, say=say)
    compared = {each.folder.name: logits_against_q(next(each.read())) for each in data_sets(folder, "decisions")}
    claim = {name: facts for name, facts in compared.items() if facts}
    found = {"decisions": len(states), "worlds": worlds, "networks": network_marks(folder), "players": players}
    keep(folder, {"trial": found, "claim": claim})


def network_marks(folder: Path) -> dict[str, str]:
    """Return the checksums of all networks of a study, by the names of their runs."""
    from rookery.studies.texas42_evaluate import complete_runs
    from rookery.studies.texas42_files import digest

    return {name: digest(path.read_bytes())[:16] for name, path in complete_runs(folder).items()}


def measured_already(folder: Path) -> bool:
    """Tell whether everything was measured with the networks that are there."""
    from rookery.studies.texas42_report import read_measured

    found = read_measured(folder)
    return "duels" in found and found.get("trial", {}).get("networks") == network_marks(folder)


def play_duels(folder: Path, duels: list[str], deals: int, device: str, threads: int, seed: int) -> None:
    """Let players meet."""
    from rookery.studies.texas42_duels import play_duel, player_of

    found = []
    for duel in duels:
        names = duel.split("/")
        if len(names) != 2:
            raise BadInput(f"--duels {duel!r}: a match is written A/B, like heuristic/random")
        first, second = (player_of(name, folder, device, threads) for name in names)
        with bar_for(duel):
            facts = play_duel(first, second, deals, seed).facts()
        told(f"{duel}: {facts['points_a_hand']['mean']:+.2f} points a hand over {deals:,} deals")
        found.append({"first": names[0], "second": names[1], **facts})
    keep(folder, {"duels": found})


def keep(folder: Path, found: dict[str, Any]) -> None:
    """Put what was measured beside what was measured before."""
    from rookery.studies.texas42_files import write_json
    from rookery.studies.texas42_report import MEASURED, read_measured

    write_json(folder / MEASURED, read_measured(folder) | found)
    told(f"{folder / MEASURED}")


def summary(run: Any) -> str:
    """Say in a line how a complete run ended."""
    lines = run.progress.tail(1)
    if not lines:
        return f"{run.settings.name} is complete"
    last = lines[-1]
    speed = last["step"] / max(last["seconds"], 1e-9)
    found = "; ".join(
        f"{name}: gap {figures['unforced']['gap']:.3f} of unforced, {figures['all']['gap']:.3f} of all"
        for name, figures in last["valid"].items()
    )
    return f"{run.settings.name} is complete: {last['step']:,} steps, {speed:,.1f} steps/s; {found}"
