"""Phase 2 of the Domineering study: games by a network that looks one move ahead and learns from its own games.

A tower is taught who won the games of phase 1. Then, in rounds: the present network plays so many games against
itself; a challenger, which begins as a copy of it, is taught the games since the last change of networks and as many
older ones, once; both meet from random openings with colours swapped; the challenger takes over if it wins more of the
decisive pairs and the sign test gives p < 0.05. The games of challenges are no part of the data: two of them share each
opening, which is too short for them to be kept in one part of the data, and those of networks that failed are among
them.

Round r ends with a network, phase2_networks/round_rrr.safetensors, that plays round r, and round_rrr.json, which says
how it came about. Each is there whole or not at all, and is a function of what was there before: whoever is killed goes
on with what is missing.
"""

from __future__ import annotations

import copy
import json
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rookery.arena.evaluator import steady
from rookery.errors import BadInput
from rookery.games.options import whole_number
from rookery.nets.files import load_network, save_network
from rookery.nets.network import Network
from rookery.search.domineering_boards import LONGEST_OPENING, random_openings
from rookery.studies.archives import digest
from rookery.studies.domineering_batches import OPENING
from rookery.studies.domineering_files import GameRecords, joined, read_games
from rookery.studies.domineering_games import PhaseFolder, Progress, Recipe, read_plan, refuse_others
from rookery.studies.domineering_judge import BoardJudge, LookAhead
from rookery.studies.domineering_play import (
    COMPARISONS,
    GAMES_2,
    LESSONS,
    WEIGHTS,
    Pairs,
    compare,
    derived_seed,
    play_games,
)  # fmt: skip
from rookery.studies.domineering_teaching import Lesson, about_tower, measured, new_tower, teach
from rookery.writing import write_whole

CERTAIN = 0.05
"""a challenger takes over if chance alone would do as much in fewer cases than this"""
FIRST_NETWORK, LAST_NETWORK, ROUNDS = "value_phase1.safetensors", "value_phase2.safetensors", "phase2_rounds.json"


@dataclass(frozen=True)
class BootstrapSettings:
    """How phase 2 is played and taught."""

    width: int = 64
    blocks: int = 2
    """of the tower"""
    round: int = 2500
    """games between two challenges"""
    openings: int = 200
    """that a challenge is played from, each twice"""
    challenge_plies: int = 10
    """random plies of these; games have 16"""
    passes: int = 4
    """over phase 1"""
    rate: float = 1e-3
    """of learning, from phase 1"""
    later_rate: float = 3e-4
    """of challengers"""
    old: float = 1.0
    """older games that are taught again for each new one"""
    batch: int = 2048

    def __post_init__(self) -> None:
        whole_number("width", self.width, 1, 1024)
        whole_number("blocks", self.blocks, 0, 64)
        whole_number("round (games)", self.round, 1, 1_000_000)
        whole_number("openings (of a challenge)", self.openings, 1, 1_000_000)
        whole_number("challenge_plies", self.challenge_plies, 0, LONGEST_OPENING)
        whole_number("passes (over phase 1)", self.passes, 1, 1000)
        whole_number("batch", self.batch, 1, 1 << 20)
        if not 0 <= self.old <= 1000:
            raise BadInput(f"old (games for each new one) must lie in 0..1000, not {self.old!r}")


TINY = BootstrapSettings(width=16, blocks=0, round=100, openings=10, passes=2, batch=256)
"""for a look at the whole study on a CPU"""


def takes_over(pairs: Pairs) -> bool:
    """Tell whether a challenger has won so clearly that chance will hardly have done it."""
    return pairs.both > pairs.neither and pairs.chance < CERTAIN


class Bootstrap:
    """Phase 2 in a folder of data."""

    def __init__(self, folder: Path, seed: int, settings: BootstrapSettings, device: torch.device):
        self.folder, self.settings, self.device = folder, settings, device
        self.seed = whole_number("seed", seed, 0, (1 << 63) - 1)
        self.place, self.networks = PhaseFolder(folder, 2), folder / "phase2_networks"
        self.first_file = PhaseFolder(folder, 1).file
        self.progress = Progress()
        self.judges: dict[int, BoardJudge] = {}

    def recipe(self) -> Recipe:
        """Return the recipe of the games."""
        if not self.first_file.is_file():
            raise BadInput(f"{self.first_file}: phase 2 learns from the games of phase 1, which are not there")
        settings = asdict(self.settings) | {
            "player": "look-ahead", "opening": OPENING, "device": self.device.type,
            "phase1": digest(self.first_file.read_bytes()),
        }  # fmt: skip
        return Recipe(
            2, self.seed, settings, self.make, part=self.settings.round, whole_parts=True, finish=self.finish,
            progress=self.progress,
        )  # fmt: skip

    # -- games --

    def make(self, first: int, count: int) -> GameRecords:
        """Play games of the round to which they belong."""
        number = first // self.settings.round
        player = LookAhead(self.judge(number))
        openings = random_openings(count, OPENING, derived_seed(self.seed, GAMES_2), first)
        tell = partial(self.tell, f"round {number}")
        seats = np.zeros((count, 2), np.int64)
        with steady(self.device):
            return play_games(openings, (player,), seats, derived_seed(self.seed, GAMES_2), first, tell)

    def games_before(self, number: int) -> GameRecords:
        """Return the games of all rounds before one, from the parts or from the finished file."""
        count = number * self.settings.round
        if self.place.file.is_file():
            found = read_games(self.place.file)
            if len(found) >= count or not self.place.plan.exists():
                return found[:count]
        return joined([read_games(self.place.part(part)) for part in range(number)])

    # -- networks --

    def judge(self, number: int) -> BoardJudge:
        """Return the network of a round, ready for judging."""
        if number not in self.judges:
            self.judges = {number: BoardJudge(self.network(number), self.device)}
        return self.judges[number]

    def network(self, number: int) -> Network:
        """Return the network that plays a round, made if it is not there."""
        path = self.network_file(number)
        self.refuse_other_networks()
        if not path.is_file():
            with steady(self.device):
                self.make_first() if number == 0 else self.make_next(number)
        return load_network(path).network

    def refuse_other_networks(self) -> None:
        """Note which settings the networks belong to; refuse those of others."""
        plan, recipe = self.networks / "plan.json", self.recipe()
        if plan.exists():
            refuse_others(plan, read_plan(plan), recipe)
        else:
            self.networks.mkdir(parents=True, exist_ok=True)
            write_whole(plan, (json.dumps(recipe.about, indent=1) + "\n").encode())

    def network_file(self, number: int) -> Path:
        """Return where the network of a round lies."""
        return self.networks / f"round_{number:03d}.safetensors"

    def facts(self, number: int) -> dict[str, Any]:
        """Return what is known of the network of a round."""
        path = self.network_file(number).with_suffix(".json")
        try:
            facts = json.loads(path.read_bytes())
        except (OSError, ValueError) as error:
            raise BadInput(f"{path} does not say how a network came about: {error}; remove {self.networks}") from None
        return facts if isinstance(facts, dict) else {}

    def make_first(self) -> None:
        """Teach a new tower the games of phase 1."""
        settings, records = self.settings, read_games(self.first_file)
        network: Network = new_tower(settings.width, settings.blocks, derived_seed(self.seed, WEIGHTS))
        lesson = Lesson(settings.passes, settings.rate, settings.batch)
        teach(
            network, records, lesson, derived_seed(self.seed, LESSONS), self.device, partial(self.tell, "first lesson")
        )
        mark = asdict(measured(network, records, self.device))
        self.keep(0, network, {"taken": True, "made_by": 0, "games": len(records), "valid": mark}, len(records))

    def make_next(self, number: int) -> None:
        """Teach a challenger what the rounds before a number have brought, and let it challenge."""
        present = self.network(number - 1)
        since = self.facts(number - 1)["made_by"]
        records, new = self.lesson_games(number, since)
        challenger = copy.deepcopy(present)
        seed = derived_seed(self.seed, LESSONS, number)
        lesson = Lesson(1, self.settings.later_rate, self.settings.batch)
        teach(challenger, records, lesson, seed, self.device, partial(self.tell, f"lesson {number}"))
        pairs = self.challenge(challenger, present, number)
        taken = takes_over(pairs)
        facts = {
            "taken": taken, "made_by": number if taken else since, "games": len(records), **pairs.facts(),
            "valid_before": asdict(measured(present, new, self.device)),
            "valid_after": asdict(measured(challenger, new, self.device)),
        }  # fmt: skip
        self.keep(number, challenger if taken else present, facts, len(records))

    def lesson_games(self, number: int, since: int) -> tuple[GameRecords, GameRecords]:
        """Return the games that a challenger is taught, and of them those since the last change of networks."""
        size, made = self.settings.round, self.games_before(number)
        new, old = made[since * size :], joined([read_games(self.first_file), made[: since * size]])
        count = min(len(old), round(self.settings.old * len(new)))
        drawn = np.random.default_rng(derived_seed(self.seed, LESSONS, number)).choice(len(old), count, replace=False)
        return joined([new, old[np.sort(drawn)]]), new

    def challenge(self, challenger: Network, present: Network, number: int) -> Pairs:
        """Let a challenger meet the present network."""
        one, other = (LookAhead(BoardJudge(network, self.device)) for network in (challenger, present))
        seed = derived_seed(self.seed, COMPARISONS, number)
        tell = partial(self.tell, f"challenge {number}")
        return compare(one, other, self.settings.openings, self.settings.challenge_plies, seed, tell)[0]

    def keep(self, number: int, network: Network, facts: dict[str, Any], games: int) -> None:
        """Write a network and, before it, how it came about: a round is done when its network is there."""
        path = self.network_file(number)
        write_whole(path.with_suffix(".json"), (json.dumps({"round": number, **facts}, indent=1) + "\n").encode())
        notes = f"value for a look-ahead of one move; phase 2, round {number} of the Domineering study"
        save_network(path, network, about_tower(games, notes))

    def finish(self) -> None:
        """Let the games of the last round be learned, too, and put the networks and all rounds beside the data."""
        about = json.loads(self.place.file.with_suffix(".json").read_bytes())
        last = -(-about["games"] // self.settings.round)
        if self.is_finished(last):
            return
        self.network(last)
        rounds = [self.facts(number) for number in range(last + 1)]
        for name, number in ((FIRST_NETWORK, 0), (LAST_NETWORK, last)):
            write_whole(self.folder / name, self.network_file(number).read_bytes())
        write_whole(self.folder / ROUNDS, (json.dumps(rounds, indent=1) + "\n").encode())

    def is_finished(self, last: int) -> bool:
        """Tell whether all that `finish` makes is there; it writes the list of rounds last."""
        try:
            rounds = json.loads((self.folder / ROUNDS).read_bytes())
        except (OSError, ValueError):
            return False
        return len(rounds) == last + 1 and (self.folder / LAST_NETWORK).is_file()

    def tell(self, what: str, share: float, note: str) -> None:
        """Tell how far the work is; only games move the bar."""
        self.progress.tell(share if what.startswith("round") else 0.0, f"{what}, {note}")


def bootstrap_recipe(folder: Path, seed: int, settings: BootstrapSettings, device: torch.device) -> Recipe:
    """Return phase 2: games by a network that looks one move ahead and learns from its own games."""
    return Bootstrap(folder, seed, settings, device).recipe()
