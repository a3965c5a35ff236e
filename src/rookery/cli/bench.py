"""Commands that measure speed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from rookery.cli.shared import Device, JsonOption, app, print_json

bench = typer.Typer(help="Measure speed. Only ratios within one run mean much.", no_args_is_help=True)
app.add_typer(bench, name="bench")


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


@bench.command("search")
def bench_searches(
    device: Annotated[Device, Option(help="cuda measures tree search on the card beside the CPU")] = Device.cpu,
    rounds: Annotated[int, Option(min=1, help="rounds; medians are reported")] = 5,
    as_json: JsonOption = False,
) -> None:
    """Measure searches on one core: simulations, nodes and moves a second.

    rookery bench search

    rookery bench search --device cuda --rounds 11 --json
    """
    from rookery.benchmarks.machine import describe as describe_machine
    from rookery.benchmarks.search import all_measures, bench_search
    from rookery.benchmarks.tables import search_table
    from rookery.terminal import err, out, progress_bar, waiting

    if device is Device.cuda:
        from rookery.benchmarks.search_cuda import card_measures
    with waiting(lambda: "compiling the searches for this machine; next time they come from the cache"):
        measures = [*(card_measures() if device is Device.cuda else ()), *all_measures()]
    with progress_bar() as progress:
        task = progress.add_task("searches", total=rounds, note="")
        rows = bench_search(measures, rounds, lambda: progress.advance(task))
    machine = describe_machine()
    if as_json:
        print_json(
            {"machine": machine, "device": device.value, "rounds": rounds, "search": [row.as_dict() for row in rows]}
        )
        return
    out.print(search_table(rows))
    err.print(f"medians of {rounds} rounds on {machine['cpu']}, {machine['cores']} cores", style="dim")


@bench.command("networks")
def bench_the_networks(
    rounds: Annotated[int, Option(min=1, help="rounds; medians are reported")] = 5,
    as_json: JsonOption = False,
) -> None:
    """Measure how many positions a second networks judge on one core, beside their plain modules.

    rookery bench networks

    rookery bench networks --rounds 11 --json
    """
    from rookery.benchmarks.machine import describe as describe_machine
    from rookery.benchmarks.networks import BATCHES, CONFIGS, bench_networks
    from rookery.benchmarks.tables import networks_table
    from rookery.terminal import err, out, progress_bar

    with progress_bar() as progress:
        task = progress.add_task("networks", total=rounds, note="")
        rows = bench_networks(CONFIGS, BATCHES, rounds, lambda: progress.advance(task))
    machine = describe_machine()
    if as_json:
        print_json({"machine": machine, "rounds": rounds, "networks": [row.as_dict() for row in rows]})
        return
    out.print(networks_table(rows))
    err.print(f"medians of {rounds} rounds on {machine['cpu']}, {machine['cores']} cores", style="dim")


@bench.command("selfplay")
def bench_self_play(
    game: Annotated[str, Option(help="pylos: V5, 64 simulations; gomoku: a 6x64 tower on 15 x 15, 200")] = "pylos",
    device: Annotated[Device, Option(help="one core, or a card")] = Device.cpu,
    fours: Annotated[bool, Option("--fours", help="look for wins by fours at the leaves (gomoku)")] = False,
    rounds: Annotated[int, Option(min=1, help="rounds; medians are reported")] = 5,
    as_json: JsonOption = False,
) -> None:
    """Measure self-play of a network that has learnt nothing, beside the network alone.

    rookery bench selfplay

    rookery bench selfplay --game gomoku --fours --device cuda --json
    """
    from rookery.benchmarks.learning import ORIGINAL, bench_selfplay, subject
    from rookery.benchmarks.machine import describe as describe_machine
    from rookery.benchmarks.tables import selfplay_table
    from rookery.terminal import err, out, progress_bar

    if device is Device.cuda:
        from rookery.search.cuda import require_card

        require_card()
    at_once = subject(game, device.value, fours).at_once
    with progress_bar() as progress:
        task = progress.add_task("self-play", total=rounds + 1, note="spreading the games")
        rows = bench_selfplay(device.value, rounds, lambda: progress.update(task, advance=1, note=""), game, fours)
    machine = describe_machine()
    if as_json:
        measured = [row.as_dict() for row in rows]
        about = {"machine": machine, "device": device.value, "at_once": at_once, "fours": fours}
        print_json(about | {"selfplay": measured})
        return
    out.print(selfplay_table(rows, ORIGINAL if device is Device.cpu and game == "pylos" else None, game))
    whose = f"{game}, with fours" if fours else game
    err.print(f"{rounds} rounds of {whose}, {at_once} games at once, {device.value}, on {machine['cpu']}", style="dim")


@bench.command("train")
def bench_train(
    device: Annotated[Device, Option(help="one core, or a card")] = Device.cpu,
    rounds: Annotated[int, Option(min=1, help="rounds; medians are reported")] = 5,
    as_json: JsonOption = False,
) -> None:
    """Measure gradient steps of Pylos V5, from drawing positions to new weights.

    rookery bench train

    rookery bench train --device cuda --json
    """
    from rookery.benchmarks.learning import bench_training
    from rookery.benchmarks.machine import describe as describe_machine
    from rookery.benchmarks.tables import training_table
    from rookery.terminal import err, out, progress_bar

    if device is Device.cuda:
        from rookery.search.cuda import require_card

        require_card()
    with progress_bar() as progress:
        task = progress.add_task("training", total=rounds, note="")
        rows = bench_training(device.value, rounds, lambda: progress.advance(task))
    machine = describe_machine()
    if as_json:
        print_json({"machine": machine, "device": device.value, "train": [row.as_dict() for row in rows]})
        return
    out.print(training_table(rows))
    err.print(f"medians of {rounds} rounds, {device.value}, on {machine['cpu']}", style="dim")


@bench.command("lessons")
def bench_the_lessons(
    rounds: Annotated[int, Option(min=1, help="rounds; medians are reported")] = 5,
    as_json: JsonOption = False,
) -> None:
    """Measure how fast the lessons of Gomoku's curriculum are made: positions with what a supervisor says, two threads.

    rookery bench lessons

    rookery bench lessons --rounds 3 --json
    """
    from rookery.benchmarks.lessons import BOARDS, SUPERVISORS, THREADS, bench_lessons
    from rookery.benchmarks.machine import describe as describe_machine
    from rookery.benchmarks.tables import lessons_table
    from rookery.terminal import err, out, progress_bar

    with progress_bar() as progress:
        task = progress.add_task("lessons", total=len(BOARDS) * len(SUPERVISORS), note="")
        rows = bench_lessons(rounds, lambda: progress.advance(task))
    machine = describe_machine()
    if as_json:
        measured = [row.as_dict() for row in rows]
        print_json({"machine": machine, "threads": THREADS, "rounds": rounds, "lessons": measured})
        return
    out.print(lessons_table(rows))
    err.print(f"medians of {rounds} rounds on {machine['cpu']}, {machine['cores']} cores", style="dim")


@bench.command("study")
def bench_the_study(
    device: Annotated[Device, Option(help="one core, or a card")] = Device.cpu,
    networks: Annotated[str | None, Option(metavar="NAME,...", help="small, large; both unless given")] = None,
    variants: Annotated[
        str | None, Option(metavar="NAME,...", help="eager, compiled, cudnn, own, own-all, ...")
    ] = None,
    batch: Annotated[int, Option(min=1, help="positions of a step")] = 256,
    rounds: Annotated[int, Option(min=1, help="rounds; medians are reported")] = 5,
    as_json: JsonOption = False,
) -> None:
    """Measure training in the Domineering study: batches alone, the network alone, whole steps, in several ways.

    rookery bench study --device cuda

    rookery bench study --device cuda --networks large --variants own,own-all,flash --json
    """
    from rookery.benchmarks import domineering
    from rookery.benchmarks.machine import describe as describe_machine
    from rookery.benchmarks.tables import study_table
    from rookery.cli.shared import chosen_device
    from rookery.cli.study import card, listed
    from rookery.terminal import err, out, progress_bar

    chosen_device(device.value)
    names = domineering.chosen("--networks", listed(networks), list(domineering.NETWORKS), list(domineering.NETWORKS))
    ways = domineering.chosen(
        "--variants", listed(variants), list(domineering.VARIANTS), domineering.USUAL[device.value]
    )
    with progress_bar() as progress:
        task = progress.add_task("training", total=len(names) * len(ways), note="")

        def tick(note: str) -> None:
            progress.advance(task)
            progress.print(note, markup=False, highlight=False)

        positions = domineering.some_positions(device.value)
        built = {size: domineering.bench_batches(positions, size, rounds) for size in (batch, 8 * batch)}
        rows = domineering.bench_study(positions, names, ways, batch, rounds, domineering.STEPS[device.value], tick)
    machine = describe_machine() | card()
    if as_json:
        facts = {"device": device.value, "batch": batch, "rounds": rounds, "machine": machine}
        print_json(facts | {"positions": built, "study": [row.as_dict() for row in rows]})
        return
    out.print(study_table(rows, batch), soft_wrap=True)
    for size, speeds in built.items():
        out.print(f"batches of {size:,} alone: {sorted(speeds)[len(speeds) // 2]:,.0f} positions/s", markup=False)
    err.print(f"medians of {rounds} rounds, {device.value}, on {machine.get('card', machine['cpu'])}", style="dim")


@bench.command("texas42")
def bench_texas42(
    deals: Annotated[int, Option(min=1, help="deals, one position of each for every row")] = 300,
    seed: Annotated[int, Option(min=0, help="the first deal; the others follow")] = 0,
    networks: Annotated[
        str | None, Option(metavar="cpu|cuda", help="measure networks on it instead: hands labelled, steps of learning")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure Texas 42: exact values, worlds and hands by expected Q on one core, and one decision on two.

    Times and rates are those of the processor, but for the decision, which a person waits for, and for networks, which
    label so many hands at a time as there are deals.

    rookery bench texas42

    rookery bench texas42 --deals 1000 --seed 5000 --json

    rookery bench texas42 --networks cuda --deals 2048
    """
    from rookery.benchmarks.machine import describe as describe_machine
    from rookery.benchmarks.tables import texas42_table
    from rookery.benchmarks.texas42 import bench_solver
    from rookery.benchmarks.texas42_play import bench_play
    from rookery.cli.study import card
    from rookery.search.threads import cores
    from rookery.terminal import err, out, progress_bar

    with progress_bar() as progress:
        task = progress.add_task("texas42", total=None, note="")

        def tick(name: str) -> None:
            progress.update(task, advance=1, note=name)

        if networks is not None:
            from rookery.benchmarks.texas42_card import bench_card
            from rookery.cli.shared import chosen_device

            rows = []
            for row in bench_card(chosen_device(networks), deals, cores(), tick=tick):
                rows.append(row)
                err.print(f"{row.name}: {row.mean:,.1f} {row.unit}", style="dim", markup=False)
        else:
            rows = [*bench_solver(deals, seed, tick), *bench_play(deals, seed, tick)]
    machine = describe_machine() | (card() if networks == "cuda" else {})
    if as_json:
        settings = {"deals": deals, "seed": seed}
        print_json({"machine": machine, "settings": settings, "texas42": [row.as_dict() for row in rows]})
        return
    out.print(texas42_table(rows))
    where = machine.get("card", machine["cpu"])
    err.print(f"{deals} deals from number {seed} on {where}, {machine['cores']} cores", style="dim")


@bench.command("all")
def bench_everything(
    out: Annotated[Path, Option(metavar="FILE", help="the page that is written")] = Path("docs/benchmarks.md"),
    only: Annotated[
        str | None, Option(metavar="NAME,...", help="rules, search, networks, learning, texas42, lc0; all unless given")
    ] = None,
    quick: Annotated[bool, Option("--quick", help="one short round of everything, to see that it works")] = False,
    resume: Annotated[bool, Option("--resume", help="leave sections that the page already has")] = False,
    network: Annotated[
        Path | None, Option(metavar="FILE", help="a weight file of Lc0's: measure its search beside Lc0's own")
    ] = None,
    remark: Annotated[str, Option(help="what else is to be said of the machine, such as what ran beside")] = "",
) -> None:
    """Measure everything and write it as one page, section by section; peers that are installed stand beside.

    Every section is written as soon as it is measured: what is broken off goes on with --resume.

    rookery bench all --quick

    rookery bench all --only rules,search --out benchmarks.md
    """
    from rookery.benchmarks.page import Effort, chosen_sections, write_benchmarks
    from rookery.terminal import err

    names = chosen_sections(only, network)
    write_benchmarks(out, names, Effort(quick, network), resume, remark, lambda title: err.print(f"measuring: {title}"))
    err.print(f"written to {out}", markup=False, style="dim")
