"""The commands of the Texas 42 study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from rookery.cli.cluster import RayOption, WorkersOption, spread_over
from rookery.cli.shared import SecondsOption, chosen_device, deadline, given, refuse_before
from rookery.cli.study import listed, studies
from rookery.cli.study_texas42_work import (
    Whole,
    all_threads,
    check_duels,
    compare_labels,
    fill_decisions,
    fill_positions,
    judge_choices,
    make_or_keep_the_trial,
    play_match,
    show_plan,
    train_one,
    write_the_report,
)
from rookery.errors import BadInput

FolderOption = Annotated[Path, Option(metavar="FOLDER", help="where all of the study is kept")]
ThreadsOption = Annotated[int | None, Option(help="CPU threads; all cores unless given")]
DeviceOption = Annotated[str, Option(help="auto, cpu or cuda: where networks are")]
PartOption = Annotated[str, Option(help="whose deals: train, valid, test or all")]
NameOption = Annotated[str | None, Option(help="name of the set or run; made of the rest unless given")]
CompileOption = Annotated[bool, Option("--compile", help="let PyTorch's compiler write kernels for labelling")]
StepsOption = Annotated[int, Option(help="gradient steps")]
RateOption = Annotated[float, Option(help="the highest learning rate")]
AdvantageOption = Annotated[float, Option(help="weight of differences between slots; 0: as in the original")]
MuonOption = Annotated[
    float, Option(help="rate of the matrices in layers over that of the rest, by Muon; 0: all by AdamW")
]
SeedOption = Annotated[int, Option(help="same seed, same network on a CPU")]
PrecisionOption = Annotated[str | None, Option(help="fp32, bf16, or auto: what is fast; on a card bf16 unless given")]
PLACE = Path("studies/texas42")

texas42 = typer.Typer()
studies.add_typer(texas42, name="texas42")


@texas42.callback(invoke_without_command=True)
def all_of_it(
    context: typer.Context,
    preset: Annotated[
        str | None,
        Option(help="do all of it: full for a card, home for two cores, quick for minutes"),
    ] = None,
    folder: FolderOption = PLACE,
    device: DeviceOption = "auto",
    threads: ThreadsOption = None,
    seconds: SecondsOption = None,
    only: Annotated[
        str | None,
        Option(
            metavar="STAGE,...",
            help="some stages, and what they need: positions, stage1, exact, labels, stage2, judge, matches, report",
        ),
    ] = None,
    pieces: Annotated[
        str | None,
        Option(metavar="PATTERN,...", help="some pieces by name (see --plan), and what they need: 'stage2-*', ..."),
    ] = None,
    plan_only: Annotated[bool, Option("--plan", help="show all pieces and whether they are done; do nothing")] = False,
    compiled: CompileOption = False,
) -> None:
    """From an exact solver to a player that sees only its own hand, in Texas 42.

    With --preset everything is done that is not done yet: positions, Stage 1, hands with E[Q] labels, Stage 2,
    judgements by exact values, matches, the report. Interrupted or killed, the same command goes on. Several
    processes may do different pieces. The parts are commands of their own.

    rookery study texas42 --preset quick --folder studies/quick42

    rookery study texas42 --preset full --device cuda --only positions,stage1 --seconds 570

    rookery study texas42 --preset full --device cuda --pieces 'stage1-817k,stage1-73k' --seconds 570

    rookery study texas42 --preset full --plan
    """
    if context.invoked_subcommand is not None:
        refuse_before(context)
        return
    if preset is None:
        refuse_before(context)
        typer.echo(context.get_help())
        raise typer.Exit
    from rookery.studies.texas42_pieces import to_do
    from rookery.studies.texas42_plan import preset_of

    plan, stages, patterns = preset_of(preset), tuple(listed(only)), tuple(listed(pieces))
    whole = Whole(folder, plan, chosen_device(device), all_threads(threads), deadline(seconds), compiled)
    if plan_only:
        show_plan(folder, plan, stages, patterns)
        return
    for piece in to_do(folder, plan, stages, patterns):
        whole.do(piece)


def refuse_given(options: dict[str, Any], what: str) -> None:
    """Refuse options that mean nothing for what is made."""
    for name, value in options.items():
        if value is not None:
            raise BadInput(f"{name}{'' if value is True else f' {value}'}: for {what} it means nothing")


@texas42.command()
def data(
    context: typer.Context,
    folder: FolderOption = PLACE,
    games: Annotated[int, Option(help="games to play, or deals to take positions from")] = 1000,
    kind: Annotated[str, Option(help="decisions (E[Q] games, Stage 2) or positions (exact Q, Stage 1)")] = "decisions",
    worlds: Annotated[
        str | None,
        Option(
            metavar="N[,N...]",
            help="worlds of each decision, or 100; several numbers go by trick, the last goes on",
        ),
    ] = None,
    oracle: Annotated[
        str | None, Option(metavar="exact|NETWORK", help="who says Q in a world: exact search, or Stage 1; exact")
    ] = None,
    second: Annotated[
        str | None, Option(metavar="NETWORK", help="a Stage 1 in policy mode whose mean logits are kept, too")
    ] = None,
    source: Annotated[str | None, Option(help="of positions: random, played, early, middle or uniform; played")] = None,
    compiled: CompileOption = False,
    per_deal: Annotated[int | None, Option(help="positions of a deal, where they are drawn; 8")] = None,
    per_shard: Annotated[int, Option(help="games or deals of a file")] = 1024,
    explore: Annotated[
        float | None,
        Option(min=0, max=1, help="share of tiles that are any legal ones; 0.05 unless given, for positions 0.15"),
    ] = None,
    part: PartOption = "train",
    seed: Annotated[int, Option(help="same seed, same data")] = 0,
    name: NameOption = None,
    device: DeviceOption = "auto",
    threads: ThreadsOption = None,
    seconds: SecondsOption = None,
    ray: RayOption = None,
    workers: WorkersOption = None,
) -> None:
    """Make data: games played by E[Q] with their labels, or positions with exact Q.

    Files lie in FOLDER/data/NAME. Interrupted, killed or stopped, the same command goes on with the files that are
    missing; asked for more games, it adds files, and makes the last one anew if that was not full.

    rookery study texas42 data --games 1000 --worlds 100

    rookery study texas42 data --games 1000 --worlds 4,8,16,24,32

    rookery study texas42 data --games 100000 --oracle runs/stage1/network.safetensors --device cuda

    rookery study texas42 data --kind positions --source random --games 5000

    rookery study texas42 data --games 100000 --ray 10.0.0.1:6379
    """
    from rookery.games.options import one_of
    from rookery.studies.texas42_decisions import read_worlds
    from rookery.studies.texas42_files import world_counts

    until = deadline(seconds)
    if ray is not None:
        refuse_given({"--threads": threads}, "a cluster")
    if one_of("--kind", kind, ("decisions", "positions")) == "positions":
        source = "played" if source is None else source
        of_others = {"--worlds": worlds, "--oracle": oracle, "--second": second, "--compile": compiled or None}
        of_others["--device"] = device if given(context, "device") else None
        of_played = {} if source == "played" else {"--explore": explore}
        refuse_given({**of_others, **of_played}, f"positions of source {source}")
        named = name or f"positions-{source}-{part}"
        settings: dict[str, Any] = {"source": source, "per_deal": 8 if per_deal is None else per_deal}
        settings |= {"per_shard": per_shard} | ({} if explore is None else {"explore": explore})
        with spread_over(ray, workers) as spread:
            fill_positions(folder, named, games, part, seed, threads, until, spread, **settings)
        return
    refuse_given({"--source": source, "--per-deal": per_deal}, "decisions")
    counts, oracle = read_worlds("100" if worlds is None else worlds), "exact" if oracle is None else oracle
    if oracle == "exact" and not second:
        refuse_given({"--compile": compiled or None}, "exact search")
    shown = "-".join(map(str, world_counts(counts)))
    named = name or f"decisions-{'exact' if oracle == 'exact' else 'network'}-{shown}-{part}"
    settings = {"per_shard": per_shard, "worlds": counts} | ({} if explore is None else {"explore": explore})
    files = [oracle, second or ""]
    place = chosen_device(device)
    with spread_over(ray, workers, on_cards=oracle != "exact" and device != "cpu") as spread:
        fill_decisions(folder, named, games, part, seed, files, place, threads, until, compiled, spread, **settings)


@texas42.command("train-stage1")
def train_stage1(
    folder: FolderOption = PLACE,
    size: Annotated[str, Option(help="73k, 817k, 3.3M, open-64x2, open-96x3 or open-128x4")] = "817k",
    answers: Annotated[str, Option(help="q (points), policy (softmax of Q / 3) or both")] = "q",
    steps: StepsOption = 20_000,
    batch: Annotated[int, Option(help="positions of a step")] = 512,
    learning_rate: RateOption = 3e-4,
    advantage: AdvantageOption = 4.0,
    muon: MuonOption = 0.0,
    data: Annotated[str | None, Option(metavar="NAME,...", help="sets of positions; all that are there")] = None,
    rows: Annotated[int, Option(help="positions to learn from, of each set; 0: all")] = 0,
    valid_rows: Annotated[int, Option(help="positions of each set to be measured on, evenly from all")] = 20_000,
    seed: SeedOption = 0,
    name: NameOption = None,
    precision: PrecisionOption = None,
    device: DeviceOption = "auto",
    threads: ThreadsOption = None,
    seconds: SecondsOption = None,
) -> None:
    """Train the network that sees all four hands, on positions with exact Q.

    rookery study texas42 train-stage1 --size 73k --steps 2000
    """
    train_one(
        folder, 1, name or f"stage1-{answers}-{size}-s{seed}", size, answers, data, device, threads, seconds, precision,
        steps=steps, batch=batch, learning_rate=learning_rate, rows=rows, valid_rows=valid_rows, seed=seed,
        advantage=advantage, muon=muon,
    )  # fmt: skip


@texas42.command("train-stage2")
def train_stage2(
    folder: FolderOption = PLACE,
    size: Annotated[str, Option(help="64x2, 96x3, 128x4 or 256x6: width and layers")] = "128x4",
    answers: Annotated[str, Option(help="q, or logits: taught the mean logits of a Stage 1 in policy mode")] = "q",
    steps: StepsOption = 20_000,
    batch: Annotated[int, Option(help="decisions of a step")] = 512,
    learning_rate: RateOption = 3e-4,
    advantage: AdvantageOption = 4.0,
    muon: MuonOption = 0.0,
    data: Annotated[str | None, Option(metavar="NAME,...", help="sets of decisions; all that are there")] = None,
    rows: Annotated[int, Option(help="games to learn from, of each set; 0: all")] = 0,
    valid_rows: Annotated[int, Option(help="decisions of each set to be measured on, evenly from all")] = 20_000,
    seed: SeedOption = 0,
    name: NameOption = None,
    precision: PrecisionOption = None,
    device: DeviceOption = "auto",
    threads: ThreadsOption = None,
    seconds: SecondsOption = None,
) -> None:
    """Train the network that sees one hand and the record of play, on E[Q] labels.

    rookery study texas42 train-stage2 --size 64x2 --steps 2000

    rookery study texas42 train-stage2 --size 64x2 --steps 1000 --learning-rate 2e-3 --muon 5 --precision bf16
    """
    train_one(
        folder, 2, name or f"stage2-{answers}-{size}-s{seed}", size, answers, data, device, threads, seconds, precision,
        steps=steps, batch=batch, learning_rate=learning_rate, rows=rows, valid_rows=valid_rows, seed=seed,
        advantage=advantage, muon=muon,
    )  # fmt: skip


@texas42.command()
def evaluate(
    folder: FolderOption = PLACE,
    decisions: Annotated[
        int | None,
        Option(min=1, help="decisions to judge on, of deals nobody has learned from; those there are, or 600"),
    ] = None,
    worlds: Annotated[
        int | None, Option(min=1, help="worlds of each of the two sets; as many as there are, or 1000")
    ] = None,
    data: Annotated[str | None, Option(metavar="NAME,...", help="sets of hands to take decisions from; all")] = None,
    duels: Annotated[
        str | None,
        Option(
            metavar="A/B,...",
            help="matches: random, heuristic, exact:N[:make], a run of Stage 1:N[:make] or of Stage 2[:make]",
        ),
    ] = None,
    deals: Annotated[int | None, Option(min=1, help="deals of each match, each played twice; 1000")] = None,
    seed: Annotated[
        int | None, Option(min=0, help="same seed, same deals, and decisions where there are none yet; 0")
    ] = None,
    device: DeviceOption = "auto",
    threads: ThreadsOption = None,
) -> None:
    """Judge all networks by exact values, and let players meet on mirrored deals; results go to evaluate.json.

    The decisions are drawn and solved once, and kept in FOLDER/trial.npz.

    rookery study texas42 evaluate --decisions 60 --worlds 50 --duels heuristic/random --deals 20

    rookery study texas42 evaluate --duels stage1-both-open-64x2-s0:10/heuristic --deals 100
    """
    place, workers, wanted = chosen_device(device), all_threads(threads), listed(duels)
    if not wanted:
        refuse_given({"--deals": deals}, "judging without --duels")
    check_duels(folder, wanted)
    make_or_keep_the_trial(folder, decisions, worlds, tuple(listed(data)), workers, seed)
    judge_choices(folder, place, workers)
    compare_labels(folder)
    for duel in wanted:
        play_match(folder, duel, 1000 if deals is None else deals, place, workers, seed or 0)


@texas42.command()
def report(folder: FolderOption = PLACE) -> None:
    """Write report.md and report.html from what lies in the folder.

    rookery study texas42 report --folder studies/quick42
    """
    write_the_report(folder)
