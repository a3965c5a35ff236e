"""Self-play and a served page for a long time: memory, open files and threads stay as they are.

Two minutes unless told otherwise; an hour, with its plot kept:

    ROOKERY_SOAK_SECONDS=3600 ROOKERY_SOAK_FOLDER=soak nice pytest -s tests/faults/test_soak.py
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import numpy as np
import pytest
import socketio

from browsing import Server, eventually
from faults.soaking import Watched, plot, trend_of, write_table
from guests import Guest, board_of, elements_of
from support import ROOT

SECONDS = float(os.environ.get("ROOKERY_SOAK_SECONDS", "120"))
VISITORS = 6
MOVES = {"gomoku": 4, "pylos": 10, "domineering": 8, "chess": 8, "texas42": 4}
"""moves of a visitor in a game before another one is begun: few enough that the game is seldom over"""
PAUSE = 0.3  # seconds a visitor thinks about a move
SEED = 11
MOST_GROWTH = 0.05
"""share of its memory by which a process may have grown since the warm-up"""
LEAST_GROWTH = 24.0
"""MiB that count as nothing: what the allocator keeps or gives back from one moment to the next"""
RUN = (
    "selfplay.games=100000000", "threads=1", "network.width=16", "network.blocks=1", "selfplay.at_once=16",
    "selfplay.simulations=8", "training.replay=4096", "training.batch=64", "checkpoints.least_seconds=5",
    "checkpoints.every=50",
)  # fmt: skip
"""a run that saves often and whose ring is full before the warm-up ends"""


def train(folder: Path) -> subprocess.Popen[bytes]:
    """Begin a run that never ends."""
    changes = [part for change in RUN for part in ("--set", change)]
    command = ["train", "pylos_quick", *changes, "--folder", str(folder / "run")]
    with (folder / "training.log").open("wb") as log:
        return subprocess.Popen([sys.executable, "-m", "rookery", *command], cwd=ROOT, stdout=log, stderr=log)


def get_ready(server: Server) -> None:
    """Wait until all games are compiled; until then their pages have no board."""
    for name in MOVES:
        there = f"{server.address}/play/{name}"
        eventually(lambda there=there: board_of(elements_of(httpx.get(there, timeout=60).text)), seconds=600)


async def one_game(guest: Guest, name: str, draw: random.Random, patience: float = 30) -> None:
    """Begin a game as the dialog does, play some moves of it, and go."""
    await guest.enter(f"/play/{name}")
    await guest.press("New game")
    await guest.press("Start")
    await guest.until(lambda: guest.next_page)
    await guest.leave()
    await guest.enter(guest.next_page)
    for _ in range(MOVES[name]):
        await guest.until(lambda: guest.state["active"], patience)
        await guest.move(draw.randrange(1000))
        await asyncio.sleep(PAUSE)
    await guest.leave()


async def visit(guest: Guest, until: float) -> None:
    """Play one game after another; one that is over, or too slow, is left."""
    draw = random.Random(SEED + guest.number)
    while time.monotonic() < until:
        with contextlib.suppress(TimeoutError, httpx.HTTPError, socketio.exceptions.SocketIOError):
            await one_game(guest, draw.choice(sorted(MOVES)), draw)
        await guest.leave()


async def first_round(address: str) -> None:
    """Play every game once, so that what opponents need is compiled or loaded before anything is measured."""
    guest, draw = Guest(VISITORS, address), random.Random(SEED)
    for name in MOVES:
        with contextlib.suppress(TimeoutError):  # a game that is over
            await one_game(guest, name, draw, patience=120)
        await guest.leave()


async def watch(watched: list[Watched], until: float) -> None:
    """Look at processes again and again."""
    while time.monotonic() < until:
        for one in watched:
            one.look()
        await asyncio.sleep(max(0.5, SECONDS / 1440))


async def soak(server: Server, watched: list[Watched]) -> list[Guest]:
    """Let visitors play while everything is watched; return them."""
    until = time.monotonic() + SECONDS
    guests = [Guest(number, server.address) for number in range(VISITORS)]
    await asyncio.gather(*(visit(guest, until) for guest in guests), watch(watched, until))
    return guests


def games_of(run: Path) -> int:
    """Return how many games a run has played."""
    return int(json.loads((run / "training_progress.json").read_text())["current_game"])


@pytest.mark.slow
@pytest.mark.faults
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # visitors left by their server
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
def test_memory_open_files_and_threads_do_not_grow(tmp_path):
    folder = Path(os.environ.get("ROOKERY_SOAK_FOLDER", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    server, training = Server(tmp_path, "--searches", "1", "--runs", str(tmp_path / "none")), train(tmp_path)
    try:
        server.start()
        get_ready(server)
        asyncio.run(first_round(server.address))
        watched = [Watched("self-play and training", training.pid), Watched("page", server.process.pid)]
        guests = asyncio.run(soak(server, watched))
        assert training.poll() is None, (tmp_path / "training.log").read_text()
    finally:
        server.stop()
        training.send_signal(signal.SIGINT)
        training.wait(120)
    write_table(folder / "soak.csv", watched)
    plot(folder / "soak.png", watched)
    moves, visits = sum(guest.moves for guest in guests), sum(guest.visits for guest in guests)
    played = games_of(tmp_path / "run")
    print(f"\n{SECONDS:.0f} s, seed {SEED}: {played} games of self-play, {moves} moves of visitors on {visits} pages")
    print("\n".join(one.verdict() for one in watched))
    assert played > 0
    assert moves > 0
    for one in watched:
        hours, memory = one.after_warm_up("mebibytes")
        grown = one.trend().mean * (hours[-1] - hours[0])
        assert grown < max(LEAST_GROWTH, MOST_GROWTH * memory.mean()), one.verdict()
        assert one.growth("files") <= VISITORS, one.verdict()
        assert one.growth("threads") <= VISITORS, one.verdict()


def test_a_trend_is_found_with_an_interval_that_holds_it():
    hours, draw = np.linspace(0, 1, 700), np.random.default_rng(1)
    for slope in (0.0, 30.0):
        found = trend_of(hours, 200 + slope * hours + draw.normal(0, 2, 700))
        assert found.low < slope < found.high
        assert found.high - found.low < 5
