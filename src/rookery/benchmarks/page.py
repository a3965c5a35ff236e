"""All benchmarks as one page: a section each, with its command, what it was measured on, and what peers did beside it.

The page is written anew after every section, so a run that is broken off leaves what it has measured, and single
sections can be measured again without the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from rich.table import Table
from rich.text import Text

from rookery.benchmarks.machine import cpu_name, describe
from rookery.errors import BadInput
from rookery.search.threads import cores
from rookery.writing import write_whole

HEADING = re.compile(r"^## (.+)$", re.M)
PEERS = {"OpenSpiel": "open_spiel", "mctx": "mctx", "pgx": "pgx", "jax": "jax"}
ROUNDS, QUICK_ROUNDS = 5, 1
SECONDS, QUICK_SECONDS = 0.4, 0.05  # of one measurement of the rules
DEALS, QUICK_DEALS = 300, 12
QUICK_LESSONS = 50  # positions
QUICK_BATCHES = 2  # sizes of batches of a network, the smallest ones
SEED = 1
INTRODUCTION = """# Benchmarks

Written by `rookery bench all`. Speeds are those of one machine and of one hour: compare within a table, and trust
ratios before speeds. What stands in other pages was measured by itself, with a command of its own.
"""


@dataclass(frozen=True)
class Effort:
    """How long everything is measured."""

    quick: bool = False
    network: Path | None = None
    """a weight file of Lc0's, for the section that compares with it"""

    @property
    def rounds(self) -> int:
        """Rounds of which medians are told."""
        return QUICK_ROUNDS if self.quick else ROUNDS


@dataclass(frozen=True)
class Section:
    """One part of the page."""

    title: str
    measure: Callable[[Effort], Iterable[Table]]


# ---- what is measured ----------------------------------------------------------------------------


def rules_tables(effort: Effort) -> Iterable[Table]:
    """Measure random play."""
    from rookery.benchmarks.rules import all_games, bench_game
    from rookery.benchmarks.tables import rules_table
    from rookery.games.library import load

    seconds = QUICK_SECONDS if effort.quick else SECONDS
    yield rules_table(bench_game(load(spec), "cpu", effort.rounds, seconds, SEED, done) for spec in all_games())


def search_tables(effort: Effort) -> Iterable[Table]:
    """Measure searches."""
    from rookery.benchmarks.search import all_measures, bench_search
    from rookery.benchmarks.tables import search_table

    yield search_table(bench_search(all_measures(), effort.rounds, done))


def networks_tables(effort: Effort) -> Iterable[Table]:
    """Measure networks."""
    from rookery.benchmarks.networks import BATCHES, CONFIGS, bench_networks
    from rookery.benchmarks.tables import networks_table

    batches = BATCHES[:QUICK_BATCHES] if effort.quick else BATCHES
    yield networks_table(bench_networks(CONFIGS, batches, effort.rounds, done))


def learning_tables(effort: Effort) -> Iterable[Table]:
    """Measure self-play, gradient steps and lessons."""
    from rookery.benchmarks.learning import ORIGINAL, bench_selfplay, bench_training
    from rookery.benchmarks.lessons import bench_lessons
    from rookery.benchmarks.tables import lessons_table, selfplay_table, training_table

    yield selfplay_table(bench_selfplay("cpu", effort.rounds, done), ORIGINAL)
    yield training_table(bench_training("cpu", effort.rounds, done))
    yield lessons_table(bench_lessons(effort.rounds, done, least=QUICK_LESSONS if effort.quick else 0))


def texas42_tables(effort: Effort) -> Iterable[Table]:
    """Measure exact values, worlds and decisions of Texas 42."""
    from rookery.benchmarks.tables import texas42_table
    from rookery.benchmarks.texas42 import bench_solver
    from rookery.benchmarks.texas42_play import bench_play

    deals = QUICK_DEALS if effort.quick else DEALS
    yield texas42_table([*bench_solver(deals), *bench_play(deals)])


def engine_tables(effort: Effort) -> Iterable[Table]:
    """Measure Lc0's search, ours and Lc0's own, with a network of the reader's."""
    from rookery.benchmarks.lc0_engine import NODES, QUICK_NODES, lc0_tables

    if effort.network is None:
        raise BadInput("the section lc0 needs a weight file of Lc0's: --network FILE")
    yield from lc0_tables(effort.network, QUICK_NODES if effort.quick else NODES)


def done() -> None:
    """Hear that a round is over."""


SECTIONS = {
    "rules": Section("Rules: random play and perft", rules_tables),
    "search": Section("Searches", search_tables),
    "networks": Section("Networks", networks_tables),
    "learning": Section("Self-play and training", learning_tables),
    "texas42": Section("Texas 42", texas42_tables),
    "lc0": Section("Lc0's search", engine_tables),
}


def chosen_sections(only: str | None, network: Path | None) -> list[str]:
    """Read which sections are wanted; if none is named, all that can be measured."""
    if only is None:
        return [name for name in SECTIONS if name != "lc0" or network is not None]
    names = [name.strip() for name in only.split(",")]
    for name in names:
        if name not in SECTIONS:
            raise BadInput(f"--only {name!r} is no section of the benchmarks; there are {', '.join(SECTIONS)}")
    return names


# ---- the page ------------------------------------------------------------------------------------


def section_text(name: str, effort: Effort, remark: str) -> str:
    """Measure a section and write it, with the command that measures it again."""
    section = SECTIONS[name]
    tables = [markdown(table) for table in section.measure(effort)]
    network = f" --network {effort.network}" if name == "lc0" else ""
    command = f"rookery bench all --only {name}{' --quick' if effort.quick else ''}{network}"
    machine = describe()
    versions = f"Python {machine['python']}, Numba {machine['numba']}, NumPy {machine['numpy']}"
    facts = [f"{cpu_name()}, {cores()} cores", versions, datetime.now(UTC).strftime("%d %B %Y"), remark]
    told = "; ".join(fact for fact in facts if fact)
    rounds = f"{effort.rounds} rounds" if effort.rounds > 1 else "one round, so there is no spread to tell"
    return "\n\n".join([f"## {section.title}", f"    {command}", f"{rounds}; {told}.", *tables]) + "\n"


def markdown(table: Table) -> str:
    """Write a table of the terminal in Markdown, under its title."""
    columns = [[plain(cell) for cell in column.cells] for column in table.columns]
    heads = [plain(column.header) for column in table.columns]
    sides = ["---:" if column.justify == "right" else "---" for column in table.columns]
    rows = [heads, sides, *(list(row) for row in zip(*columns, strict=True))]
    written = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"{plain(table.title or '').capitalize()}:\n\n{written}"


def plain(cell: object) -> str:
    """Write a cell without the terminal's marks; a bar would end it."""
    text = cell.plain if isinstance(cell, Text) else str(cell)
    return text.replace("|", "/")


def peers_text() -> str:
    """Say which packages could be measured beside ours."""
    from rookery.benchmarks.lc0_engine import found_engine

    told = []
    for name, package in PEERS.items():
        try:
            told.append(f"{name} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            told.append(f"{name}: not installed")
    told.append(f"Lc0: {found_engine() or 'not installed'}")
    return "Peers: " + ", ".join(told) + ". Where one is installed, tables have its speed and the ratio.\n"


def read_sections(path: Path) -> dict[str, str]:
    """Read the sections of a page that was written before, by title; none if there is no page."""
    if not path.exists():
        return {}
    text = path.read_text(encoding="utf-8", errors="replace")
    if not text.startswith(INTRODUCTION.splitlines()[0]):
        raise BadInput(f"{path} is no page of benchmarks; it is left as it is. Choose another file with --out")
    parts = HEADING.split(text)[1:]
    return {title: f"## {title}{body.rstrip()}\n" for title, body in zip(parts[::2], parts[1::2], strict=True)}


def write_page(path: Path, sections: dict[str, str]) -> None:
    """Write the page, its sections in their usual order."""
    titles = [section.title for section in SECTIONS.values()]
    known = [sections[title] for title in titles if title in sections]
    others = [text for title, text in sections.items() if title not in titles]
    write_whole(path, "\n".join([INTRODUCTION, peers_text(), *known, *others]).encode())


def write_benchmarks(
    path: Path, names: Iterable[str], effort: Effort, resume: bool, remark: str, say: Callable[[str], None]
) -> None:
    """Measure sections and keep the page up to date; with `resume`, those that it has are left as they are."""
    sections = read_sections(path)
    for name in names:
        section = SECTIONS[name]
        if resume and section.title in sections:
            continue
        say(section.title)
        sections[section.title] = section_text(name, effort, remark)
        write_page(path, sections)
