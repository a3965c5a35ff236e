"""Scripted engines as commands, small networks in files, and what tests on players share."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

import numpy as np

from rookery.arena.player import Player, Turn, turn_of
from rookery.arena.texts import quoted_word
from rookery.games.position import Position

ENGINES = Path(__file__).parent / "engines"


def command(script: str, *arguments: object) -> str:
    """Write the command of a scripted engine for a player's text."""
    return " ".join(quoted_word(word) for word in [sys.executable, str(ENGINES / f"{script}.py"), *map(str, arguments)])


@cache
def networks() -> Path:
    """Make a folder for networks that is gone with the process."""
    folder = tempfile.mkdtemp(prefix="rookery-networks-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def random_network(spec: str, kind: str, seed: int = 0, config: object = None) -> str:
    """Write a small random network of a game into a file; return its path."""
    from rookery.games.library import load
    from rookery.nets.configs import ResidualConfig
    from rookery.nets.files import About, save_network
    from rookery.nets.residual import build

    game = load(spec)
    shape = {"inputs": int(np.prod(game.observations[kind])), "actions": game.actions}
    config = config or ResidualConfig(width=16, blocks=2, value_hidden=8, policy_hidden=16, **shape)
    path = networks() / f"{game.name}-{kind}-{seed}-{config.kind}-{config.actions}.pth"
    if not path.exists():
        about = About(game=game.spec, rules_version=game.version, observation=kind, step=1000)
        save_network(path, build(config, seed), about)
    return str(path)


def random_lc0_network(kind: str = "squeezed tower, convolution policy", seed: int = 0) -> str:
    """Write a small random network of Lc0's into a file; return its path."""
    from lc0_files import random_net
    from rookery.nets.lc0.files import file_bytes

    path = networks() / f"lc0-{kind.replace(', ', '-').replace(' ', '-')}-{seed}.pb.gz"
    if not path.exists():
        path.write_bytes(file_bytes(random_net(kind, seed)))
    return str(path)


def turn_at(position: Position, moves: tuple[int, ...] = (), start: Position | None = None, **more: object) -> Turn:
    """Make a turn for a player that is no oracle."""
    return turn_of(Player(), start or position, position, moves, **({"seed": 1} | more))


def play_out(start: Position, players: list[Player], plies: int = 1000, seed: int = 1) -> tuple[Position, list[int]]:
    """Let players of two seats play; return the last position and the moves."""
    position, moves = start.copy(), []
    for seat, player in enumerate(players):
        player.new_game(start, seat)
    while not position.over and len(moves) < plies:
        choice = players[position.mover].choose(turn_at(position, tuple(moves), start, seed=1000 * seed + len(moves)))
        position.play(choice.action)
        moves.append(choice.action)
    return position, moves


def heard(log: Path) -> list[str]:
    """Read what an engine was sent."""
    return [line.partition(" ")[2].rstrip("\r") for line in log.read_text().split("\n") if line]


def is_there(pid: int) -> bool:
    """Tell whether a process is there, be it as a zombie that nobody has waited for."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def is_running(pid: int) -> bool:
    """Tell whether a process is running; an orphan may stay a zombie until the system waits for it."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return is_there(pid) and not Path("/proc/self/stat").exists()
    return state not in "ZX"


def ends_soon(pid: int, patience: float = 5.0) -> bool:
    """Wait a little for a process to end, and tell whether it has."""
    until = time.monotonic() + patience
    while is_running(pid) and time.monotonic() < until:
        time.sleep(0.02)
    return not is_running(pid)
