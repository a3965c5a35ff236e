"""How fast networks of Lc0's are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from rookery.cli.lc0 import AnyDevice, DeviceOption, NetArgument, Precision, PrecisionOption, compile_encoder, lc0
from rookery.cli.shared import JsonOption, print_json

if TYPE_CHECKING:
    from rookery.benchmarks.lc0 import Row
    from rookery.benchmarks.lc0_search import SearchCost

BATCHES, CARD_BATCHES = [1, 8, 32, 128], [1, 16, 64, 256, 512, 1024]


@lc0.command()
def bench(
    net: NetArgument,
    batch: Annotated[list[int] | None, Option(min=1, help="sizes of batches; several may be given")] = None,
    device: DeviceOption = AnyDevice.cpu,
    precision: PrecisionOption = Precision.f32,
    compiled: Annotated[
        bool, Option("--compile", help="on a card, let torch.compile join the steps of the graphs")
    ] = False,
    threads: Annotated[int, Option(min=1, help="of the CPU, for the network")] = 1,
    seconds: Annotated[float, Option(min=0.01, help="length of one measurement")] = 1.0,
    rounds: Annotated[int, Option(min=1, help="rounds; medians are reported")] = 5,
    seed: Annotated[int, Option(help="same seed, same positions")] = 1,
    search: Annotated[
        int | None, Option(min=2, metavar="NODES", help="measure a search of so many nodes beside its network, instead")
    ] = None,
    minibatch: Annotated[int, Option(min=1, max=1024, help="leaves of the search judged together")] = 256,
    as_json: JsonOption = False,
) -> None:
    """Measure how fast a network judges positions, and how fast these are encoded; or what a search costs beside it.

    On a card also as CUDA graphs, and beside what a large product of matrices reaches in the same numbers.

    rookery lc0 bench network.pb.gz --batch 1 --batch 64

    rookery lc0 bench network.pb.gz --device cuda --precision bf16 --compile

    rookery lc0 bench network.pb.gz --device cuda --precision f16 --search 50000
    """
    import torch

    from rookery.benchmarks import lc0 as measured
    from rookery.benchmarks.lc0_search import bench_search
    from rookery.benchmarks.machine import describe as describe_machine
    from rookery.lc0.evaluator import load
    from rookery.terminal import err

    torch.set_num_threads(threads)
    compile_encoder()
    sizes = [minibatch] if search else batch or (CARD_BATCHES if device is AnyDevice.cuda else BATCHES)
    network = load(net, device.value, precision.value, batch=max(sizes), remembered=0, compiled=compiled)
    how: dict[str, Any] = {"machine": describe_machine(), "device": device.value, "precision": precision.value}
    if search:
        tell_search(bench_search(network, minibatch, search), how, as_json)
        return
    rows = measured.bench(network, sizes, seconds, rounds, seed)
    if as_json:
        print_json(how | {"rows": [told(row) for row in rows]})
        return
    print_rows(rows, "second of a core" if device is AnyDevice.cpu else "second")
    err.print(f"medians of {rounds} rounds, seed {seed}, {threads} thread, on {how['machine']['cpu']}", style="dim")


def told(row: Row) -> dict[str, Any]:
    """Return a measurement for programs."""
    found = {"what": row.what, "batch": row.batch, "seconds": row.seconds, "rate": row.rate}
    return found | ({"operations": row.operations, "work": row.work} if row.operations else {})


def print_rows(rows: list[Row], unit: str) -> None:
    """Print measurements for people."""
    from rookery.benchmarks.lc0 import CEILING
    from rookery.terminal import out

    most = next((row.work for row in rows if row.what == CEILING), 0.0)
    for row in rows:
        if row.what == CEILING:
            out.print(f"{row.what:17s} {row.work / 1e12:,.1f} TFLOP a second", markup=False, soft_wrap=True)
            continue
        slowest, fastest = 1 / max(row.seconds), 1 / min(row.seconds)
        share = f", {row.work / 1e12:,.1f} TFLOP a second, {row.work / most:.1%} of the ceiling" if most else ""
        out.print(
            f"{row.what:17s} batch {row.batch:4d}  {row.rate:12,.1f} positions a {unit} "
            f"({slowest:,.1f} to {fastest:,.1f}), {1e6 / row.rate:,.1f} us each{share if row.operations else ''}",
            markup=False, soft_wrap=True,
        )  # fmt: skip


def tell_search(cost: SearchCost, how: dict[str, Any], as_json: bool) -> None:
    """Tell what a search costs."""
    from dataclasses import asdict

    from rookery.terminal import out

    if as_json:
        print_json(how | asdict(cost) | {"overhead": cost.overhead})
        return
    asked = max(1, cost.asked)
    lines = (
        f"{cost.nodes} nodes in {cost.seconds:.3f} s, {cost.nodes / cost.seconds:,.0f} a second",
        f"{cost.asked} positions in {cost.batches} batches, {asked / max(1, cost.batches):.1f} each",
        f"network alone {cost.network_seconds:.3f} s, {1e6 * cost.network_seconds / asked:.2f} us a position",
        f"tree alone    {cost.tree_seconds:.3f} s, {1e6 * cost.tree_seconds / cost.nodes:.2f} us a node",
        f"overhead      {cost.overhead:.1%} of the network's time",
    )
    for line in lines:
        out.print(line, markup=False, soft_wrap=True)
