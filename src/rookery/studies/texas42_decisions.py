"""Hands played by E[Q], with labels for Stage 2 of Texas 42.

All hands of a batch are played side by side, one play after another. For each decision N worlds are drawn that agree
with what the mover knows; an oracle says Q in each; the mean over worlds is the label, and the largest mean is played,
but for a share of tiles that are any legal ones. A second network in policy mode may give its mean logits over the
same worlds. Where only one tile is legal, nothing is asked: that saves two worlds in five.

The oracle is exact, or a Stage 1 on any device. With a network, worlds are drawn by CPU threads while the card judges
those of another batch; only tiles go there, and only means come back.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from rookery.arena.networks import network_file
from rookery.arena.texas42_networks import HandsOracle, fetched, sent
from rookery.errors import BadInput
from rookery.games.options import one_of, whole_number
from rookery.games.rng import random_bits
from rookery.games.texas42_auction import ALL_POINTS, LEAST_POINTS
from rookery.games.texas42_tiles import DECLARATIONS, HAND, SEATS, TILES
from rookery.learn.spread import Say, Spreader, in_turn
from rookery.search.expected import CHOICES, HALF_STEP, Exact, bids_of, expected_many
from rookery.search.texas42_batch import called, dealt, legal_slots, longest_suits, play_each
from rookery.search.worlds import MOST_WORLDS, sample_worlds
from rookery.studies.texas42_files import (
    CERTAIN,
    PARTS,
    POINT,
    Rows,
    Size,
    WorldCounts,
    fill,
    joined,
    seeds_of,
    world_counts,
    worlds_by_trick,
)

MOST_GAMES = 1 << 30
ROWS_AT_ONCE = 1 << 20
"""worlds that a batch draws for one decision"""
MOST_LOGIT = 60_000.0
"""beyond it half precision knows no numbers"""


class Labels(NamedTuple):
    """What is said of decisions, each [G, 7], anything where not legal."""

    mean: np.ndarray
    """of Q over worlds, points from the mover's side"""
    spread: np.ndarray
    make: np.ndarray
    """probability that the declaring team makes its bid"""
    logits: np.ndarray
    """mean logits of a second network; zeros without one"""


class Labeller(Protocol):
    """Whoever labels decisions."""

    oracles: Sequence[HandsOracle]
    """the networks that are asked"""

    def begin(self, states: np.ndarray, worlds: int, seeds: np.ndarray) -> Callable[[], Labels]:
        """Begin with some decisions [G]; what comes back waits for them."""


@dataclass(frozen=True)
class DecisionSettings:
    """What a set of decisions depends on, besides the number of games."""

    worlds: WorldCounts = 100
    oracle: str = "exact"
    """`exact`, or the checksum of a network"""
    second: str = ""
    """the checksum of a network in policy mode whose mean logits are kept, too"""
    part: str = "train"
    seed: int = 0
    choice: str = "mean"
    explore: float = 0.05
    """share of tiles that are any legal ones"""
    longest: float = 0.5
    """share of hands in which the declarer calls its longest suit; in the others any declaration"""
    per_shard: int = 4096
    """games of a shard"""

    def __post_init__(self) -> None:
        check_worlds("worlds", self.worlds)
        whole_number("seed", self.seed, 0, (1 << 62) - 1)
        whole_number("per_shard", self.per_shard, 1, 1 << 20)
        one_of("part", self.part, (*PARTS, "all"))
        one_of("choice", self.choice, CHOICES)


def check_worlds(name: str, worlds: WorldCounts) -> None:
    """Refuse numbers of worlds that cannot be, or are for more tricks than there are."""
    given = world_counts(worlds)
    if not 1 <= len(given) <= HAND:
        raise BadInput(f"{name}: {len(given)} numbers are given; a hand has {HAND} tricks")
    for each in given:
        whole_number(name, each, 1, MOST_WORLDS)


def read_worlds(text: str) -> WorldCounts:
    """Read numbers of worlds as --worlds gives them: one for all tricks, or several by trick."""
    words = [word.strip() for word in text.split(",")]
    wrong = [word for word in words if not re.fullmatch("[0-9]{1,18}", word)]
    if wrong:
        raise BadInput(
            f"--worlds {text!r}: {wrong[0]!r} is not a number of worlds; allowed are 100, or 4,8,16 by trick"
        )
    worlds = int(words[0]) if len(words) == 1 else tuple(map(int, words))
    check_worlds("--worlds", worlds)
    return worlds


# ---- who labels ----------------------------------------------------------------------------------


class ExactLabeller:
    """Labels by exact Q."""

    oracles: Sequence[HandsOracle] = ()

    def __init__(self, threads: int = 1):
        self.oracle, self.threads = Exact(threads), threads

    def begin(self, states: np.ndarray, worlds: int, seeds: np.ndarray) -> Callable[[], Labels]:
        """Do all the work at once."""
        found = expected_many(states, worlds, seeds, self.oracle, threads=self.threads)
        mean, spread, make = (np.nan_to_num(each) for each in (found.mean, found.spread, found.make))
        return lambda: Labels(mean, spread, make, np.zeros_like(mean))


class NetworkLabeller:
    """Labels by a Stage 1 on its device, and by a second one in policy mode, if there is one."""

    def __init__(self, oracle: HandsOracle, second: HandsOracle | None = None, threads: int = 1):
        self.oracle, self.second, self.threads = oracle, second, threads
        self.oracles: Sequence[HandsOracle] = [oracle, second] if second else [oracle]
        if not oracle.network.config.in_points or (second and second.network.config.in_points):
            raise BadInput("labels need a network that answers with q, and a second one that answers with policy")

    @torch.inference_mode()
    def begin(self, states: np.ndarray, worlds: int, seeds: np.ndarray) -> Callable[[], Labels]:
        """Draw worlds and send them to the device; all hands are at the same ply."""
        drawn = sample_worlds(states, worlds, seeds, self.threads)
        oracles = {oracle.reads: oracle for oracle in (self.second, self.oracle) if oracle}
        told = {reads: oracle.told(drawn, states, self.threads) for reads, oracle in oracles.items()}
        bounds, sides = (sent(column, self.oracle.device) for column in needed_of(states))
        found = self.reduced(told, bounds[:, None, None], sides[:, None, None], int(states["plays"][0]), worlds)
        wait = fetched(found.double())  # before others ask: on a card their work would come first
        return lambda: Labels(*wait())

    def reduced(
        self, told: dict[str, Callable[[int, int], Tensor]], bounds: Tensor, sides: Tensor, plays: int, worlds: int
    ) -> Tensor:  # fmt: skip
        """Judge the worlds of some decisions; return mean, spread, make and logits [4, G, 7] on the device.

        told  what makes the tokens of worlds, by the observation that a network reads
        """
        found, rows, count = [], self.oracle.rows, len(bounds) * worlds
        for first in range(0, count, rows):
            last = first + rows if self.oracle.compiled else min(first + rows, count)  # kernels of one size
            tokens = {reads: made(first, last) for reads, made in told.items()}
            said = self.oracle.points(tokens[self.oracle.reads], plays).clamp(-ALL_POINTS, ALL_POINTS)
            logits = self.second.points(tokens[self.second.reads], plays) if self.second else torch.zeros_like(said)
            found.append(torch.stack((said, logits)))
        q, logits = torch.cat(found, 1)[:, :count].float().view(2, len(bounds), worlds, HAND)
        made = sides * q >= bounds - HALF_STEP
        return torch.stack((q.mean(1), q.std(1, correction=0), made.to(q.dtype).mean(1), logits.mean(1)))


def labeller_of(files: list[str], device: str, threads: int, compiled: bool = False) -> Labeller:
    """Make whoever labels: the files of the oracle, or `exact`, and of the second network, or nothing."""
    oracle, second = files
    if oracle == "exact":
        if second:
            raise BadInput("--second needs a network as --oracle, too: both look at the same worlds")
        return ExactLabeller(threads)
    other = HandsOracle.of(second, device, "policy", compiled) if second else None
    return NetworkLabeller(HandsOracle.of(oracle, device, compiled=compiled), other, threads)


class Packed:
    """A labeller as it travels: with the networks themselves, not with the names of their files."""

    def __init__(self, files: list[str], compiled: bool = False):
        self.words = [text if text in ("", "exact") else network_file(text).name for text in files]
        self.contents = [b"" if text in ("", "exact") else network_file(text).read_bytes() for text in files]
        self.compiled = compiled

    def __call__(self) -> Labeller:
        """Make the labeller here, on a card if there is one."""
        with tempfile.TemporaryDirectory(prefix="rookery-") as folder:
            files = list(self.words)
            for number, content in enumerate(self.contents):
                if content:
                    path = Path(folder) / f"{number}-{self.words[number]}"
                    path.write_bytes(content)
                    files[number] = str(path)
            return labeller_of(files, "auto", 1, self.compiled)


def needed_of(states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how many points the declarers still need to win more than the others, and 1 where they move, else -1."""
    taken = states["points"].astype(np.int64)
    lead = np.where(states["declarer"] & 1 == 0, 1, -1) * (taken[:, 0] - taken[:, 1])
    sides = np.where((states["declarer"] ^ states["texas42_mover"]) & 1 == 0, 1, -1)
    return (2 * bids_of(states) - ALL_POINTS - lead).astype(np.float32), sides.astype(np.float32)


# ---- playing -------------------------------------------------------------------------------------


class Batch:
    """Hands that are played side by side."""

    def __init__(self, settings: DecisionSettings, numbers: np.ndarray):
        self.settings, self.seeds = settings, seeds_of(settings.part, numbers)
        self.rng = np.random.default_rng(int(random_bits(settings.seed, 42, int(self.seeds[0]))) >> 1)
        self.states = dealt(self.seeds)
        count, rng = len(numbers), self.rng
        leaders = rng.integers(SEATS, size=count)
        longest = rng.random(count) < settings.longest
        names = np.where(longest, longest_suits(self.states, leaders), rng.integers(len(DECLARATIONS), size=count))
        bids = np.where(rng.random(count) < 0.5, LEAST_POINTS, rng.integers(LEAST_POINTS, ALL_POINTS + 1, size=count))
        called(self.states, names, leaders, bids.astype(np.int8))
        self.first = self.states.copy()
        self.labels: list[Labels] = []
        self.free = np.arange(count)
        """hands whose next decision has a choice"""
        self.waiting: Callable[[], Labels] = lambda: self.labels[-1]

    def ask(self, labeller: Labeller) -> None:
        """Let the next decision be labelled in all hands where there is a choice."""
        seeds = self.rng.integers(1 << 62, size=len(self.states))
        self.free = np.flatnonzero(legal_slots(self.states).sum(1) > 1)
        if len(self.free):
            worlds = int(worlds_by_trick(self.settings.worlds)[len(self.labels) >> 2])
            self.waiting = labeller.begin(self.states[self.free], worlds, seeds[self.free])
        else:
            self.waiting = lambda: Labels(*np.zeros((4, 0, HAND)))

    def go_on(self) -> None:
        """Keep the labels of a decision and play."""
        legal = legal_slots(self.states)
        found = Labels(*(np.zeros(legal.shape) for _ in Labels._fields))
        for part, said in zip(found, self.waiting(), strict=True):
            part[self.free] = np.where(legal[self.free], said, 0.0)
        self.labels.append(found)
        _, sides = needed_of(self.states)
        success = np.where(sides[:, None] > 0, found.make, 1.0 - found.make)
        first, second = (found.mean, success) if self.settings.choice == "mean" else (success, found.mean)
        first = np.where(legal, first, -np.inf)
        best = first >= first.max(1, keepdims=True) - 1e-9
        wild = self.rng.random(len(legal)) < self.settings.explore
        any_tile = np.argmax(legal * (1.0 + self.rng.random(legal.shape)), 1)
        play_each(self.states, np.where(wild, any_tile, np.argmax(np.where(best, second, -np.inf), 1)))

    def rows(self) -> Rows:
        """Return the hands and labels as a file keeps them."""
        mean, spread, make, logits = (np.stack(part, 1) for part in zip(*self.labels, strict=True))
        return {
            "seed": self.seeds, "hands": self.first["hands"].copy(), "declaration": self.first["declaration"].copy(),
            "leader": self.first["declarer"].copy(), "bid": self.first["wanted"].copy(),
            "history": self.states["history"].copy(),
            "mean": np.rint(mean * POINT).astype(np.int16), "spread": np.rint(spread * POINT).astype(np.uint16),
            "make": np.rint(make * CERTAIN).astype(np.uint16),
            "logits": logits.clip(-MOST_LOGIT, MOST_LOGIT).astype(np.float16),
        }  # fmt: skip


def make_shard(
    settings: DecisionSettings, numbers: np.ndarray, labeller: Labeller,
    say: Callable[[float], None] = lambda share: None,
) -> Rows:  # fmt: skip
    """Play some games of a part, given by their numbers; two batches take turns, so that a device is never idle."""
    size = max(1, ROWS_AT_ONCE // int(worlds_by_trick(settings.worlds).max()) // 2)
    size = min(size, -(-len(numbers) // 2))
    batches = [Batch(settings, numbers[first : first + size]) for first in range(0, len(numbers), size)]
    for first in range(0, len(batches), 2):
        pair = batches[first : first + 2]
        for batch in pair:
            batch.ask(labeller)
        for ply in range(TILES):
            for batch in pair:
                batch.go_on()
                if ply + 1 < TILES:
                    batch.ask(labeller)
            say((first + len(pair) * (ply + 1) / TILES) / len(batches))
    return joined([batch.rows() for batch in batches])


class DecisionMaker:
    """Makes shards by their numbers; `say` is told how many games there are."""

    def __init__(
        self, settings: DecisionSettings, games: int, labeller: Callable[[], Labeller],
        say: Say = lambda done, total, note: None,
    ):  # fmt: skip
        self.settings, self.games, self.labeller, self.say = settings, games, labeller(), say

    def __call__(self, number: int) -> Rows:
        """Make the rows of a shard."""
        first = number * self.settings.per_shard
        numbers = np.arange(first, min(self.games, first + self.settings.per_shard))

        def tell(share: float) -> None:
            self.say(first + int(share * len(numbers)), self.games, "")

        return make_shard(self.settings, numbers, self.labeller, tell)


@dataclass(frozen=True)
class Elsewhere:
    """Others who make decisions."""

    spread: Spreader
    labeller: Callable[[], Labeller]
    """makes whoever labels, where it is called"""


def make_decisions(
    folder: Path, games: int, settings: DecisionSettings, labeller: Labeller,
    say: Say = lambda done, total, note: None, ended: Callable[[], bool] = lambda: False,
    elsewhere: Elsewhere | None = None,
) -> bool:  # fmt: skip
    """Make the shards of so many games that are not there; tell whether all are there.

    `ended` is asked after each. They are made here, or `elsewhere`.
    """
    size = Size("games", whole_number("games", games, 1, MOST_GAMES), settings.per_shard)
    here = Elsewhere(in_turn, lambda: labeller)
    maker = partial(DecisionMaker, settings, games, (elsewhere or here).labeller)
    made = partial((elsewhere or here).spread, maker if elsewhere else partial(maker, say))

    def tell(done: int) -> None:
        say(min(done * settings.per_shard, games), games, "")

    return fill(folder, "decisions", asdict(settings), size, made, tell, ended)
