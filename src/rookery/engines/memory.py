"""How much memory a process has in use, and how large a tree may grow in what is left of it."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from rookery.arena.players import SIMS
from rookery.games.game import Game
from rookery.search.tree_arrays import EDGE, NODE

BESIDE_TREE = 64 << 20  # bytes that a search needs beside its tree; the tables of other searches are smaller
FEWEST_SIMULATIONS = 4096  # a smaller tree gives little memory back


def most_nodes(game: Game, spare: int | None) -> int | None:
    """Return how many simulations a tree may hold in some bytes; None if they are as many as it likes."""
    if spare is None:
        return None
    fitting = spare // (game.most_legal * EDGE.itemsize + NODE.itemsize)
    return max(FEWEST_SIMULATIONS, min(fitting, int(SIMS.most)))


def memory_used() -> int:
    """Return the bytes of memory that this process has in use; where only that is known, the most it ever had."""
    with suppress(OSError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
