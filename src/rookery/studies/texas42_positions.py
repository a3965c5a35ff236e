"""Positions with exact Q for Stage 1 of Texas 42.

    random    legal tiles at random up to a play that is drawn evenly from all 28, a few from every deal
    played    hands in which each seat takes a best tile by exact Q, now and then any legal one; some positions get the
              hidden hands of another world that the mover thinks possible, as E[Q] will ask about them
    early     as random, but in the first two tricks, and those with a choice alone: they are the hardest to judge
    middle    as early, but from the third to the sixth trick: of these is nearly all that `uniform` draws
    uniform   drawn evenly from all positions that a deal can reach: a measure, dominated by the middle of the hand

Shard number k is a pure function of the settings and k: whoever is killed goes on with what is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np

from rookery.games.options import one_of, whole_number
from rookery.games.rng import random_bits
from rookery.games.texas42_tiles import DECLARATIONS, SEATS, TILES
from rookery.learn.spread import Say, Spreader, in_turn
from rookery.search.solve.texas42 import ILLEGAL, Solver
from rookery.search.texas42_batch import called, dealt, legal_slots, play_each, play_random_each
from rookery.search.texas42_reachable import kept_of_words, reachable
from rookery.search.texas42_replay import kept_of, positions
from rookery.search.worlds import sample_worlds
from rookery.studies.texas42_files import PARTS, Rows, Size, fill, joined, seeds_of

SOURCES = ("random", "played", "uniform", "middle", "early")
SPANS = {"early": (0, 8), "middle": (8, 24)}  # plays, the last not among them
MOST_DEALS = 1 << 30


@dataclass(frozen=True)
class PositionSettings:
    """What a set of positions depends on, besides the number of deals."""

    source: str = "played"
    part: str = "train"
    """whose deals are taken; see `texas42_files`"""
    seed: int = 0
    per_deal: int = 8
    """positions of a deal, where they are drawn"""
    per_shard: int = 4096
    """deals of a shard"""
    explore: float = 0.15
    """share of the tiles of played hands that are any legal ones"""
    resample: float = 0.5
    """share of played positions that get other hidden hands"""
    forced: float = 0.25
    """share of played positions with a single legal tile that are kept"""

    def __post_init__(self) -> None:
        one_of("source", self.source, SOURCES)
        one_of("part", self.part, (*PARTS, "all"))
        whole_number("seed", self.seed, 0, (1 << 62) - 1)
        whole_number("per_deal", self.per_deal, 1, 1 << 24)
        whole_number("per_shard", self.per_shard, 1, 1 << 20)


class PositionMaker:
    """Makes shards by their numbers."""

    def __init__(self, settings: PositionSettings, deals: int, threads: int = 1):
        self.settings, self.deals, self.threads = settings, deals, threads

    def __call__(self, number: int) -> Rows:
        """Make the rows of a shard."""
        first = number * self.settings.per_shard
        numbers = np.arange(first, min(self.deals, first + self.settings.per_shard))
        return make_shard(self.settings, numbers, self.threads)


def make_positions(
    folder: Path, deals: int, settings: PositionSettings, threads: int = 1,
    say: Say = lambda done, total, note: None, ended: Callable[[], bool] = lambda: False, spread: Spreader = in_turn,
) -> bool:  # fmt: skip
    """Make the shards of so many deals that are not there; tell whether all are there.

    `ended` is asked after each; `spread` has them made.
    """
    size = Size("deals", whole_number("deals", deals, 1, MOST_DEALS), settings.per_shard)
    made = partial(spread, partial(PositionMaker, settings, deals, threads))
    return fill(folder, "positions", asdict(settings), size, made, lambda done: say(done, size.shards, ""), ended)


def make_shard(settings: PositionSettings, numbers: np.ndarray, threads: int = 1) -> Rows:
    """Make the rows of some deals of a part, given by their numbers."""
    seeds = seeds_of(settings.part, numbers)
    rng = np.random.default_rng(int(random_bits(settings.seed, SOURCES.index(settings.source), int(seeds[0]))) >> 1)
    makers = {"random": random_rows, "played": played_rows, "uniform": uniform_rows}
    return makers.get(settings.source, span_rows)(settings, seeds, rng, Solver(threads), threads)


def opened(seeds: np.ndarray, rng: np.random.Generator, plain: bool = False) -> np.ndarray:
    """Deal hands, each with a declaration and a first leader: drawn, or plainly by the seed and seat 0."""
    states = dealt(seeds)
    names = seeds % len(DECLARATIONS) if plain else rng.integers(len(DECLARATIONS), size=len(seeds))
    leaders = np.zeros(len(seeds), np.int64) if plain else rng.integers(SEATS, size=len(seeds))
    called(states, names, leaders, np.zeros(len(seeds), np.int8))
    return states


def random_rows(
    settings: PositionSettings, seeds: np.ndarray, rng: np.random.Generator, solver: Solver, threads: int
) -> Rows:
    """Make positions of random play; those of a deal stand together, which the solver likes."""
    states = played_at_random(settings, seeds, rng, 0, TILES)
    return {"seed": np.repeat(seeds, settings.per_deal), **kept_of(states), "q": solver.q(states).q}


def span_rows(
    settings: PositionSettings, seeds: np.ndarray, rng: np.random.Generator, solver: Solver, threads: int
) -> Rows:
    """Make positions of random play from some tricks; those with a single legal tile are left out."""
    states = played_at_random(settings, seeds, rng, *SPANS[settings.source])
    free = legal_slots(states).sum(1) > 1
    return {"seed": np.repeat(seeds, settings.per_deal)[free], **kept_of(states[free]), "q": solver.q(states[free]).q}


def played_at_random(
    settings: PositionSettings, seeds: np.ndarray, rng: np.random.Generator, least: int, end: int
) -> np.ndarray:
    """Return positions of each deal after plays at random, of each a number drawn evenly from `least` to `end` - 1."""
    states = np.repeat(opened(seeds, rng), settings.per_deal)
    plays = rng.integers(least, end, size=len(states))
    play_random_each(states, settings.seed, rng.integers(1 << 62, size=len(states)), plays)
    return states


def played_rows(
    settings: PositionSettings, seeds: np.ndarray, rng: np.random.Generator, solver: Solver, threads: int
) -> Rows:
    """Make positions of played hands, all hands ply by ply together."""
    states, found = opened(seeds, rng), []
    for _ in range(TILES):
        legal = legal_slots(states)
        free = legal.sum(1) > 1
        asked = rng.random(len(states)) < settings.resample
        kept = free | (rng.random(len(states)) < settings.forced)
        solved = free | (kept & ~asked)  # a forced tile is played whatever it is worth
        q = np.where(legal, 0, ILLEGAL).astype(np.int8)
        q[solved] = solver.q(states[solved]).q
        found.append({"seed": seeds[kept & ~asked], **kept_of(states[kept & ~asked]), "q": q[kept & ~asked]})
        worlds = sample_worlds(states[kept & asked], 1, rng.integers(1 << 62, size=int((kept & asked).sum())), threads)
        found.append({"seed": seeds[kept & asked], **kept_of(worlds), "q": solver.q(worlds).q})
        play_each(states, chosen(states, q, rng, settings.explore))
    return joined(found)


def chosen(states: np.ndarray, q: np.ndarray, rng: np.random.Generator, explore: float) -> np.ndarray:
    """Return a best legal slot of each position, equals drawn; for a share of them any legal one."""
    legal = q != ILLEGAL
    signed = np.where(states["texas42_mover"][:, None] & 1, -1, 1) * q.astype(np.int64)
    wild = rng.random(len(states)) < explore
    worth = np.where(legal, np.where(wild[:, None], 0, signed), -1000)
    return np.asarray(np.argmax(worth + rng.random(worth.shape) * 0.5, 1))


def uniform_rows(
    settings: PositionSettings, seeds: np.ndarray, rng: np.random.Generator, solver: Solver, threads: int
) -> Rows:
    """Make positions that are drawn evenly from all that each deal can reach."""
    found = []
    for seed, state in zip(seeds, opened(seeds, rng, plain=True), strict=True):
        levels = [
            (len(words), words[some_of(len(words), settings.per_deal, rng)])
            for words in reachable(state["hands"], int(state["declaration"]), int(state["leaders"][0]))
        ]
        counts = [count for count, _ in levels]
        shares = rng.multivariate_hypergeometric(counts, min(settings.per_deal, sum(counts)), method="marginals")
        words = np.concatenate([rng.permutation(some)[:share] for share, (_, some) in zip(shares, levels, strict=True)])
        hands = np.repeat(state["hands"][None], len(words), 0)
        names = np.full(len(words), state["declaration"], np.int8)
        kept = {"hands": hands, "declaration": names, **kept_of_words(words)}
        made = positions(kept["hands"], kept["played"], kept["trick"], kept["declaration"], kept["leader"])
        found.append({"seed": np.full(len(words), seed), **kept, "q": solver.q(made).q})
    return joined(found)


def some_of(count: int, most: int, rng: np.random.Generator) -> np.ndarray:
    """Draw numbers below `count`, each at most once, all of them if there are no more than `most`."""
    return np.sort(rng.choice(count, min(count, most), replace=False, shuffle=False))
