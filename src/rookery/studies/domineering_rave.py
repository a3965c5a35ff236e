"""Phase 3 of the Domineering study: games by Monte Carlo search with RAVE and a network.

The network of phase 2 judges positions. It is taught once more before, on the games of phase 2, and this time also
which moves were played there: so it knows which moves a look-ahead of one move would find without trying them all, and
these are the priors of the search. The graphs of thousands of games are walked side by side (`search/dag_batch.py`).

A game begins with 16 random plies. For some plies more its moves are drawn by the visits of the search, then the most
visited move is played. A drawn move that is not the most visited one counts as explored.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch

from rookery.arena.evaluator import steady
from rookery.errors import BadInput
from rookery.games.library import load
from rookery.games.options import whole_number
from rookery.nets.files import load_network, save_network
from rookery.nets.network import Network
from rookery.search.analysis import Limits
from rookery.search.dag import rule_of
from rookery.search.dag_batch import RaveBatch
from rookery.search.domineering_boards import random_openings
from rookery.search.domineering_guided import LONGEST
from rookery.studies.archives import digest
from rookery.studies.domineering_batches import OPENING
from rookery.studies.domineering_bootstrap import LAST_NETWORK
from rookery.studies.domineering_files import GameRecords, joined, read_games
from rookery.studies.domineering_games import PhaseFolder, Progress, Recipe
from rookery.studies.domineering_judge import BoardJudge
from rookery.studies.domineering_play import GAMES_3, LESSONS, derived_seed, play_games
from rookery.studies.domineering_teaching import Lesson, about_tower, teach
from rookery.writing import write_whole

MULTIPLE = 256
"""rows of a pass on a card are a multiple of this"""
NETWORK, NETWORK_PLAN = "net_phase3.safetensors", "net_phase3.json"


@dataclass(frozen=True)
class RaveSettings:
    """How phase 3 is searched and taught."""

    simulations: int = 100
    c: float = 1.0
    """weight of the priors"""
    k: float = 5.0
    """simulations at which a node trusts both kinds of means alike; far fewer than with playouts"""
    temperature: float = 1.0
    """moves are drawn by visits ** (1 / temperature)"""
    drawn: int = 16
    """plies after the opening in which they are drawn"""
    passes: int = 2
    """over the games of phase 2"""
    rate: float = 5e-4
    """of learning"""
    policy: float = 1.0
    """weight of the loss of moves"""
    batch: int = 2048
    at_once: int = 5000
    """games played side by side"""

    def __post_init__(self) -> None:
        whole_number("simulations", self.simulations, 1, 1 << 20)
        whole_number("drawn (plies)", self.drawn, 0, LONGEST)
        whole_number("passes (over phase 2)", self.passes, 1, 1000)
        whole_number("batch", self.batch, 1, 1 << 20)
        whole_number("at_once (games)", self.at_once, 1, 1_000_000)
        if not 0.0 < self.temperature <= 100.0:
            raise BadInput(f"temperature must lie above 0, up to 100, not {self.temperature!r}")


TINY = RaveSettings(simulations=16, passes=2, batch=256, at_once=40)
"""for a look at the whole study on a CPU"""


class RavePlayer:
    """A player that searches many positions at once."""

    def __init__(self, judge: BoardJudge, settings: RaveSettings, threads: int = 1, draws: bool = False):
        """Make a player; with `draws` it draws its moves in the first plies behind the opening."""
        game = load("domineering")
        rule = rule_of(game, Limits(nodes=settings.simulations), c=settings.c, k=settings.k, own_value=True)
        rule = rule._replace(expand_after=1 << 62, sharpness=0.0)  # a judge gives values and priors
        self.batch = RaveBatch(game, rule, settings.simulations, judge.leaves_by_turns, threads)
        self.settings, self.draws = settings, draws

    def choose(self, states: np.ndarray, seeds: np.ndarray, ply: int) -> tuple[np.ndarray, np.ndarray]:
        """Search each position."""
        drawing = self.draws and ply < OPENING + self.settings.drawn
        found = self.batch.search(states, seeds, self.settings.temperature if drawing else 0.0)
        return found.actions, found.actions != found.best


class RaveMaker:
    """Plays games of phase 3 with a network that is taught."""

    def __init__(self, network: Network, seed: int, settings: RaveSettings, device: torch.device, threads: int = 1):
        judge = BoardJudge(network, device, rows_for(device, settings.at_once))
        self.player = RavePlayer(judge, settings, threads, draws=True)
        self.seed, self.device = seed, device

    def __call__(self, part: tuple[int, int]) -> GameRecords:
        """Play games of a part: the number of the first, and how many."""
        with steady(self.device):
            return self.played(*part)

    def played(
        self, first: int, count: int, tell: Callable[[float, str], None] = lambda share, note: None
    ) -> GameRecords:
        """Play games."""
        seed = derived_seed(self.seed, GAMES_3)
        openings = random_openings(count, OPENING, seed, first)
        return play_games(openings, (self.player,), np.zeros((count, 2), np.int64), seed, first, tell)


class RaveGames:
    """Phase 3 in a folder of data."""

    def __init__(self, folder: Path, seed: int, settings: RaveSettings, device: torch.device, threads: int = 1):
        self.folder, self.settings, self.device, self.threads = folder, settings, device, threads
        self.seed = whole_number("seed", seed, 0, (1 << 63) - 1)
        self.value_file, self.games_file = folder / LAST_NETWORK, PhaseFolder(folder, 2).file
        self.progress = Progress()
        self.maker: RaveMaker | None = None

    def recipe(self) -> Recipe:
        """Return the recipe of the games."""
        for path in (self.value_file, self.games_file):
            if not path.is_file():
                raise BadInput(f"{path}: phase 3 needs the games and the network of phase 2, which are not there")
        settings = asdict(self.settings) | {"player": "rave", "opening": OPENING} | self.sources()
        return Recipe(
            3, self.seed, settings, self.make, part=self.settings.at_once, progress=self.progress,
            elsewhere=self.elsewhere,
        )  # fmt: skip

    def sources(self) -> dict[str, str]:
        """Name what the network comes from, by checksums, and where it is computed."""
        files = {"value": self.value_file, "phase2": self.games_file}
        return {name: digest(path.read_bytes()) for name, path in files.items()} | {"device": self.device.type}

    def make(self, first: int, count: int) -> GameRecords:
        """Play games."""
        with steady(self.device):
            return self.played(first, count)

    def played(self, first: int, count: int) -> GameRecords:
        """Play games, on as many threads of PyTorch as are set."""
        self.maker = self.maker or RaveMaker(self.network(), self.seed, self.settings, self.device, self.threads)
        return self.maker.played(first, count, self.progress.tell)

    def elsewhere(self) -> Callable[[], RaveMaker]:
        """Return what others play such games by; the network is taught here, with the same sums as in process."""
        with steady(self.device):
            return partial(RaveMaker, self.network(), self.seed, self.settings, self.device)

    def network(self) -> Network:
        """Return the network with a policy, taught if it is not there."""
        path, plan = self.folder / NETWORK, self.folder / NETWORK_PLAN
        wanted = self.sources() | {name: getattr(self.settings, name) for name in ("passes", "rate", "policy", "batch")}
        wanted |= {"seed": self.seed}
        if path.is_file() and plan.is_file() and json.loads(plan.read_bytes()) == wanted:
            return load_network(path).network
        plan.unlink(missing_ok=True)  # it is written last: a network without it is made again
        records = joined([read_games(self.games_file)])
        network = load_network(self.value_file).network
        how = self.settings
        lesson = Lesson(how.passes, how.rate, how.batch, how.policy)
        tell = partial(self.tell, "lesson")
        network = teach(network, records, lesson, derived_seed(self.seed, LESSONS, -1), self.device, tell)
        notes = "value, and the moves of a look-ahead of one move; phase 3 of the Domineering study"
        save_network(path, network, about_tower(len(records), notes))
        write_whole(plan, (json.dumps(wanted, indent=1) + "\n").encode())
        return load_network(path).network

    def tell(self, what: str, share: float, note: str) -> None:
        """Tell what is done before the games."""
        self.progress.tell(0.0, f"{what}, {note}")


def rows_for(device: torch.device, positions: int) -> int:
    """Return the rows of a pass over the leaves of half of the positions; few passes, and little of them empty."""
    half = -(-positions // 2)
    return min(64, half) if device.type == "cpu" else -(-half // MULTIPLE) * MULTIPLE


def rave_recipe(folder: Path, seed: int, settings: RaveSettings, device: torch.device, threads: int) -> Recipe:
    """Return phase 3: games by Monte Carlo search with RAVE and a network."""
    return RaveGames(folder, seed, settings, device, threads).recipe()
