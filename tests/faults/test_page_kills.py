"""A page whose server is killed: the visitors' games are there again, with every move that was shown."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import signal
import time
from pathlib import Path

import httpx
import pytest

from browsing import free_port
from faults.killing import KILLS, START_SECONDS, STARTING, Child, Nursery, rookery
from guests import Guest

pytestmark = [pytest.mark.faults, pytest.mark.slow]

SEED = 12
MOVES = 4
"""of a visitor: in Gomoku nobody can have won after four moves of each side"""
MOMENT = 2.0
"""seconds after which a move that was shown is on the disk, however busy the machine"""
VISIT = 2.0
"""seconds within which a server is killed after a visitor has made a move"""


class Player:
    """A visitor who plays one game, before and after kills."""

    def __init__(self, number: int, address: str):
        self.guest, self.draw = Guest(number, address), random.Random(f"{SEED} {number}")
        self.shown: list[tuple[float, int]] = []
        """moments and the number of moves the board showed"""
        self.sent: dict[int, int] = {}
        """actions of the visitor by ply; one that a kill has undone is made anew"""

    @property
    def done(self) -> bool:
        """Whether all moves were made."""
        return bool(self.shown) and self.shown[-1][1] >= 2 * MOVES - 1

    def note(self) -> None:
        """Note what the board shows."""
        self.shown.append((time.monotonic(), self.guest.state["ply"]))

    def surely(self, killed: float) -> int:
        """Return how many moves must be there: those shown a moment before the kill."""
        return max((ply for when, ply in self.shown if when < killed - MOMENT), default=0)

    async def come(self, killed: float) -> None:
        """Open the page; it must show what was shown a moment before the kill."""
        await self.guest.enter("/play/gomoku")
        assert self.guest.state["ply"] >= self.surely(killed)
        self.shown.clear()
        self.note()

    async def play(self) -> None:
        """Make moves until all are made."""
        guest = self.guest
        while not self.done:
            await guest.until(lambda: guest.state["active"])
            self.note()
            ply, ways = guest.state["ply"], guest.state["ways"]
            choice = self.draw.randrange(len(ways))
            self.sent[ply] = ways[choice][0]
            await guest.move(choice)
            self.note()


async def visits(address: str, players: list[Player], killed: float) -> None:
    """Let one visitor after another play."""
    while True:
        if not players or players[-1].done:
            players.append(Player(len(players), address))
        await players[-1].come(killed)
        await players[-1].play()
        await players[-1].guest.leave()


def moves_of(players: list[Player]) -> int:
    """Count the moves that visitors have made and seen."""
    return sum(player.guest.moves for player in players)


async def killed_within(seconds: float, server: Child, address: str, players: list[Player], killed: float) -> float:
    """Kill a server while visitors play; return when."""
    before, playing = moves_of(players), asyncio.create_task(visits(address, players, killed))
    while moves_of(players) == before and not playing.done():
        await asyncio.sleep(0.01)
    await asyncio.wait([playing], timeout=seconds)
    if playing.done():
        playing.result()  # tells what went wrong
    assert server.kill() == -signal.SIGKILL
    moment = time.monotonic()
    playing.cancel()
    with contextlib.suppress(asyncio.CancelledError, Exception):
        await playing
    with contextlib.suppress(Exception):
        await players[-1].guest.leave()
    return moment


def check_games(folder: Path, players: list[Player]) -> None:
    """Read every file of a game: it is whole, and its visitor's moves were sent by one of the players."""
    for path in (folder / "games").glob("[!.]*.json"):
        actions = json.loads(path.read_text())["session"]["actions"]
        own = {ply: action for ply, action in enumerate(actions) if ply % 2 == 0}
        assert any(own.items() <= player.sent.items() for player in players), path


def answers(address: str) -> bool:
    """Tell whether a server answers."""
    try:
        return httpx.get(address, timeout=5).status_code == 200
    except httpx.HTTPError:
        return False


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # visitors left by their server
def test_a_server_killed_again_and_again_has_all_games(tmp_path):
    port, draw, players, killed = free_port(), random.Random(SEED), list[Player](), 0.0
    address, nursery = f"http://127.0.0.1:{port}", Nursery("rookery.web.app")
    command = ["serve", "--port", str(port), "--folder", str(tmp_path), "--runs", str(tmp_path), "--searches", "1"]
    try:
        for kill in range(KILLS["the page"]):
            starts = draw.random() < STARTING
            seconds = draw.uniform(0, START_SECONDS if starts else VISIT)
            print(
                f"the page, seed {SEED}, kill {kill}: {seconds:.3f} s after it {'began' if starts else 'showed a move'}"
            )
            if starts:
                server = rookery(*command)
                time.sleep(seconds)
                assert server.kill() == -signal.SIGKILL
            else:
                server = nursery.rookery(*command)
                server.until(lambda: answers(address))
                killed = asyncio.run(killed_within(seconds, server, address, players, killed))
            check_games(tmp_path, players)
        server = nursery.rookery(*command)
        server.until(lambda: answers(address))
        assert not list((tmp_path / "games").glob(".*.part"))
        asyncio.run(look(players, killed))
        server.kill()
    finally:
        nursery.close()
    assert len(players) > 1


async def look(players: list[Player], killed: float) -> None:
    """Let all visitors look at their games once more."""
    for player in players:
        await player.come(killed)
        await player.guest.leave()
