"""Lc0 itself, where it is installed: nodes a second on the same network as ours, through UCI."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.table import Table

ENGINE = "lc0"
NODES, QUICK_NODES = 2000, 100


def found_engine() -> str:
    """Return the command that starts Lc0; empty if it is not installed."""
    return shutil.which(ENGINE) or ""


def engine_speed(command: Sequence[str], nodes: int) -> float:
    """Let a UCI engine search the first position and return its nodes a second; its start is not timed."""
    with subprocess.Popen(
        list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as engine:
        try:
            ask(engine, "uci", "uciok")
            ask(engine, "isready", "readyok")
            ask(engine, "position startpos\ngo nodes 10", "bestmove")  # the network is loaded by the first search
            begin = time.perf_counter()
            ask(engine, f"ucinewgame\nposition startpos\ngo nodes {nodes}", "bestmove")
            return nodes / (time.perf_counter() - begin)
        finally:
            engine.kill()


def ask(engine: subprocess.Popen[str], line: str, answer: str) -> None:
    """Send a line and read until an answer begins so."""
    assert engine.stdin is not None
    assert engine.stdout is not None
    engine.stdin.write(line + "\n")
    engine.stdin.flush()
    for said in engine.stdout:
        if said.startswith(answer):
            return
    raise RuntimeError(f"{shlex.join(map(str, engine.args if isinstance(engine.args, list) else []))} gave no {answer}")


def own_speed(network: Path, nodes: int) -> float:
    """Return the nodes a second of our search with the same network, from the same position."""
    from rookery import lc0
    from rookery.games.library import load
    from rookery.lc0.search import Searcher
    from rookery.search.analysis import Limits

    judge = lc0.load(network)
    for wanted in (10, nodes):  # the first one compiles
        judge.clear()
        searcher = Searcher(judge)
        searcher.begin(load("chess").start())
        begin = time.perf_counter()
        searcher.run(Limits(nodes=wanted))
        spent = time.perf_counter() - begin
    return nodes / spent


def lc0_tables(network: Path, nodes: int) -> Iterator[Table]:
    """Measure both, one after the other."""
    table = Table(title=f"{nodes} nodes from the first position, {network.name}")
    for name in ("engine", "nodes a second", "ratio to Lc0"):
        table.add_column(name, justify="left" if name == "engine" else "right")
    own, engine = own_speed(network, nodes), found_engine()
    peer = engine_speed([engine, f"--weights={network}"], nodes) if engine else None
    table.add_row("Rookery", f"{own:,.0f}", f"{own / peer:.2f}x" if peer else "Lc0 is not installed")
    if peer:
        table.add_row("Lc0", f"{peer:,.0f}", "1.00x")
    yield table
