"""Commands that look into networks."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from rookery.cli.lc0 import AnyDevice, DeviceOption, compile_encoder
from rookery.cli.shared import JsonOption, app, print_json

if TYPE_CHECKING:
    from rookery.probes.chess_concepts import Concept, Found
    from rookery.probes.lc0 import LayerScores, Score

probe = typer.Typer(help="What the layers of a network show.", no_args_is_help=True)
app.add_typer(probe, name="probe")


@probe.callback()
def probes() -> None:
    """What the layers of a network show."""


@probe.command()
def lc0(
    net: Annotated[
        str, typer.Argument(metavar="NET", help="a weight file of Lc0's, or a run or checkpoint of kind lc0")
    ],
    concept: Annotated[
        list[str] | None,
        Option(
            metavar="NAME", help="material, attacks, king-attacked, passed-pawn, attacked-man; several may be given"
        ),
    ] = None,
    positions: Annotated[int, Option(help="positions, from games made here")] = 2000,
    seed: Annotated[int, Option(help="same seed, same positions")] = 1,
    supervisor: Annotated[str, Option(metavar="PLAYER", help="who plays the games")] = "alphabeta:depth=1",
    device: DeviceOption = AnyDevice.cpu,
    as_json: JsonOption = False,
) -> None:
    """Say how well each layer of a network of Lc0's shows concepts of chess, all of them unless some are named.

    R2 for numbers, for what is true or not the share of right answers with both counted alike (0.5 is chance). Beside
    them the same layer of an untrained network, and the layer with shuffled targets. The first row are the planes.

    rookery probe lc0 network.pb.gz --concept passed-pawn --concept material

    rookery probe lc0 runs/chess_lc0 --positions 5000 --json
    """
    from rookery.lc0.evaluator import checked_device
    from rookery.learn.weight_files import any_lc0_network
    from rookery.probes.chess_concepts import CONCEPTS
    from rookery.probes.lc0 import ProbeSettings, make_positions, named_concepts, probed
    from rookery.terminal import err

    wanted = named_concepts(concept or [], CONCEPTS)
    settings = ProbeSettings(positions=positions, seed=seed, supervisor=supervisor, device=device.value)
    checked_device(device.value)
    network = any_lc0_network(net)
    compile_encoder()
    with err.status("games are played") as status:
        made = make_positions(settings, lambda count: status.update(f"games are played: {count} positions"))
    told = []
    for each in wanted:
        with err.status(f"probes of {each.name} are fitted"):
            rows, found = probed(network, each, made, settings)
        told.append(told_concept(each, found, rows))
        if not as_json:
            print_concept(each, found, rows)
    if as_json:
        print_json({"network": net, "settings": asdict(settings), "concepts": told})


def told_concept(concept: Concept, found: Found, rows: list[LayerScores]) -> dict[str, Any]:
    """Return what was found of a concept, for programs."""
    layers = [asdict(row) for row in rows]
    measure = "balanced accuracy" if concept.truth else "R2"
    return {
        "concept": concept.name, "measure": measure, "samples": len(found.targets),
        "mean": float(found.targets.mean()), "layers": layers,
    }  # fmt: skip


def print_concept(concept: Concept, found: Found, rows: list[LayerScores]) -> None:
    """Print what was found of a concept, for people."""
    from rookery.terminal import out

    measure = f"true of {found.targets.mean():.1%}" if concept.truth else f"mean {found.targets.mean():+.2f}"
    out.print(f"{concept.name}: {concept.says}", markup=False, soft_wrap=True)
    out.print(f"{len(found.targets)} samples, {measure}", markup=False)
    head = "accuracy" if concept.truth else "R2"
    out.print(f"{'layer':14s} {'width':>5s} {head:>17s} {'untrained':>17s} {'shuffled':>17s}", markup=False)
    for row in rows:
        cells = " ".join(f"{cell(score):>17s}" for score in (row.score, row.untrained, row.shuffled))
        out.print(f"{row.layer:14s} {row.width:5d} {cells}", markup=False)
    out.print()


def cell(score: Score | None) -> str:
    """Write a score with its standard error."""
    return "" if score is None else f"{score.value:.3f} +- {score.error:.3f}"
