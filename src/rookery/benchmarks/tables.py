"""Measurements as tables for a terminal."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.table import Table

from rookery.benchmarks import search, texas42
from rookery.benchmarks.rules import Row

if TYPE_CHECKING:
    from rookery.benchmarks import domineering, learning, lessons, networks  # which import PyTorch


def millions(speed: float | None) -> str:
    """Write a speed in millions a second."""
    return "" if speed is None else f"{speed / 1e6:,.1f}M"


def times(ratio: float | None) -> str:
    """Write a ratio."""
    return "" if ratio is None else f"{ratio:,.1f}x"


def rules_table(rows: Iterable[Row]) -> Table:
    """Lay out the speeds of random play; columns that nothing fills are left out."""
    rows = list(rows)
    columns = {
        "game": [row.game for row in rows],
        "plies/game": [f"{row.mean_plies:.1f}" for row in rows],
        "one core": [millions(row.one_core) for row in rows],
        "OpenSpiel": [millions(row.openspiel) for row in rows],
        "ratio": [times(row.against_openspiel) for row in rows],
        f"{rows[0].cores} cores": [millions(row.all_cores) for row in rows],
        "perft": [millions(row.perft) for row in rows],
        "card": [millions(row.card) for row in rows],
        "card/cores": [times(row.card_against_cores) for row in rows],
    }
    shown = {name: cells for name, cells in columns.items() if any(cells)}
    table = Table(
        title="random play in plies a second, perft on one core in leaves a second",
        box=None,
        pad_edge=False,
        title_justify="left",
    )
    for name in shown:
        table.add_column(name, justify="left" if name == "game" else "right")
    for cells in zip(*shown.values(), strict=True):
        table.add_row(*cells)
    return table


def search_table(rows: Iterable[search.Row]) -> Table:
    """Lay out the speeds of searches."""
    table = Table(title="searches on one core, units a second", box=None, pad_edge=False, title_justify="left")
    for name in ("search", "median", "lowest", "highest", "unit", "peer", "ratio"):
        table.add_column(name, justify="left" if name in ("search", "unit") else "right")
    for row in rows:
        speeds = (f"{speed:,.0f}" if speed >= 10 else f"{speed:.3f}" for speed in (row.speed, row.low, row.high))
        peer = "" if row.peer is None else f"{row.peer_name} {row.peer:,.0f}"
        table.add_row(row.name, *speeds, row.unit, peer, times(row.as_dict()["against_peer"]))
    return table


def networks_table(rows: Iterable[networks.Row]) -> Table:
    """Lay out the speeds of networks."""
    table = Table(title="positions a second on one core", box=None, pad_edge=False, title_justify="left")
    for name in ("network", "batch", "median", "lowest", "highest", "plain module", "ratio", "in bf16", "bf16 ratio"):
        table.add_column(name, justify="left" if name == "network" else "right")
    for row in rows:
        speeds = (f"{speed:,.0f}" for speed in (row.speed, row.low, row.high, row.plain))
        rough = (f"{row.bf16:,.0f}", f"{row.bf16 / row.speed:.2f}x")
        table.add_row(row.network, str(row.batch), *speeds, f"{row.speed / row.plain:.2f}x", *rough)
    return table


def spread(values: Iterable[float], digits: int = 2) -> str:
    """Write a median with the lowest and the highest."""
    found = sorted(values)
    return f"{statistics.median(found):,.{digits}f} ({found[0]:,.{digits}f} - {found[-1]:,.{digits}f})"


def selfplay_table(rows: list[learning.SelfplayRow], original: float | None, game: str = "pylos") -> Table:
    """Lay out the speed of self-play; `original` is that of the original on one core, where it can be compared."""
    whose = {"pylos": "Pylos V5, 64 simulations", "gomoku": "a 6x64 tower, Gomoku 15 x 15, 200 simulations"}[game]
    table = Table(title=f"self-play of {whose}", box=None, pad_edge=False, title_justify="left")
    for name in ("what", "median (lowest - highest)"):
        table.add_column(name, justify="left")
    ended = [row for row in rows if row.games > 0]  # in a short round on a processor none may end
    table.add_row("games/s", spread(row.games for row in ended) if ended else "none ended")
    if original and ended:
        table.add_row("against the original", spread(row.games / original for row in ended) + "x")
    table.add_row("simulations/s", spread((row.simulations for row in rows), 0))
    if ended:
        table.add_row("plies a game", spread((row.plies for row in ended), 1))
    table.add_row("a step against the network alone", spread(row.step for row in rows) + "x")
    return table


def training_table(rows: list[learning.TrainRow]) -> Table:
    """Lay out the speed of training."""
    table = Table(title="gradient steps of Pylos V5", box=None, pad_edge=False, title_justify="left")
    for name in ("batch", "steps/s", "lowest", "highest", "positions/s"):
        table.add_column(name, justify="right")
    for row in rows:
        speeds = (f"{speed:,.1f}" for speed in (row.speed, row.low, row.high))
        table.add_row(str(row.batch), *speeds, f"{row.speed * row.batch:,.0f}")
    return table


def lessons_table(rows: list[lessons.LessonRow]) -> Table:
    """Lay out the speed at which lessons are made."""
    title = "lessons of Gomoku: positions with what a supervisor says, two threads"
    table = Table(title=title, box=None, pad_edge=False, title_justify="left")
    for name in ("game", "supervisor", "positions/s", "lowest", "highest", "floor"):
        table.add_column(name, justify="left" if name in ("game", "supervisor") else "right")
    for row in rows:
        table.add_row(
            row.game, row.supervisor, *(f"{speed:,.0f}" for speed in (row.speed, row.low, row.high, row.floor))
        )
    return table


def study_table(rows: list[domineering.Row], batch: int) -> Table:
    """Lay out the speed of training in the Domineering study."""
    title = f"steps a second of the Domineering study, {batch} positions each"
    table = Table(title=title, box=None, pad_edge=False, title_justify="left")
    for name in ("network", "variant", "steps/s", "lowest", "highest", "alone", "TFLOP/s", "GB", "prepared in", "note"):
        table.add_column(name, justify="left" if name in ("network", "variant", "note") else "right")
    for row in rows:
        speeds = (f"{speed:,.1f}" for speed in (row.speed, row.low, row.high, row.alone, row.teraflops, row.memory))
        table.add_row(row.network, row.variant, *speeds, f"{row.prepared:,.0f} s", row.note)
    return table


def short(number: float) -> str:
    """Write a number with three digits, large ones in thousands or millions."""
    for unit, sign in ((1e6, "M"), (1e3, "k")):
        if number >= unit:
            return f"{number / unit:.3g}{sign}"
    return f"{number:.3g}"


def texas42_table(rows: Iterable[texas42.Row]) -> Table:
    """Lay out what was measured of Texas 42."""
    table = Table(
        title="Texas 42 on one core, where nothing else is said", box=None, pad_edge=False, title_justify="left"
    )
    table.add_column("what", min_width=18)  # else numbers would squeeze it
    table.add_column("unit", no_wrap=True)
    for name in ("samples", "mean", "median", "95 %", "highest", "floor"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        figures = (row.mean, row.median, row.late, row.highest)
        floor = "" if row.floor is None else short(row.floor)
        table.add_row(row.name, row.unit, f"{row.samples:,}", *(short(number) for number in figures), floor)
    return table
