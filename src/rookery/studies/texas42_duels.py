"""Matches of Texas 42 on mirrored deals, many hands side by side.

Each deal is played twice: once with the first player in the seats of the declaring team, once with the second. What one
wins more than the other on the same cards is one sample; deals are independent, so intervals are plain.

A player here maps positions to slots: `random`, `heuristic`, `exact:N` (E[Q] over N worlds by exact search), the name
of a run of Stage 1 with `:N` (E[Q] by its network), or that of a run of Stage 2. With `:make` behind, it plays for the
bid.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rookery.arena.player import Player, turn_of
from rookery.arena.texas42_heuristic import HeuristicPlayer
from rookery.arena.texas42_networks import HandsOracle, TranscriptJudge, load_stage
from rookery.errors import BadInput
from rookery.games.library import load
from rookery.games.options import whole_number
from rookery.games.position import Position
from rookery.games.rng import random_bits
from rookery.games.texas42_tiles import SEATS, TILES
from rookery.nets.texas42 import Transcript
from rookery.search.expected import CHOICES, Exact, Oracle, expected_many
from rookery.search.texas42_batch import called, dealt, legal_slots, longest_suits, play_each
from rookery.search.worlds import MOST_AT_ONCE, MOST_WORLDS
from rookery.studies.intervals import mean_estimate, share_estimate
from rookery.studies.texas42_evaluate import choices_of, complete_runs, is_stage2
from rookery.studies.texas42_files import seeds_of

BID = 30
MOST_DEALS = 1 << 40
"""the first deal of a match lies below this number"""

Choose = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""positions [N] and a seed for each -> slots [N]"""


def player_of(text: str, study: Path, device: str = "auto", threads: int = 1) -> Choose:
    """Make a player of its text."""
    name, _, rest = text.partition(":")
    if name in ("random", "heuristic") and ":" in text:
        raise BadInput(f"player {text!r}: nothing comes behind {name}")
    if name == "random":
        return lambda states, seeds: choices_of(drawn(seeds), legal_slots(states))
    if name == "heuristic":
        return by_player(HeuristicPlayer())
    if name == "exact":
        return by_worlds(*worlds_and_rule(text, rest), Exact(threads), threads)
    runs = complete_runs(study)
    if name not in runs:
        raise BadInput(f"there is no player {text!r}; there are random, heuristic, exact:N, {', '.join(runs)}")
    if is_stage2(study, name):
        if rest not in ("", *CHOICES):
            raise BadInput(f"player {text!r}: behind a run of Stage 2 comes nothing, :mean or :make")
        return by_network(text, runs[name], rest or "mean", device)
    oracle = HandsOracle.of(str(runs[name]), device)
    return by_worlds(*worlds_and_rule(text, rest), oracle, threads)


def worlds_and_rule(text: str, rest: str) -> tuple[int, str]:
    """Read how many worlds a player looks at, and how it chooses."""
    worlds, _, rule = rest.partition(":")
    if not re.fullmatch("[0-9]{1,18}", worlds) or rule not in ("", *CHOICES):
        raise BadInput(f"player {text!r}: behind its name comes :N or :N:make, with a number of worlds")
    return whole_number(f"player {text!r}: worlds", int(worlds), 1, MOST_WORLDS), rule or "mean"


def drawn(seeds: np.ndarray) -> np.ndarray:
    """Return random numbers [N, 7] from seeds [N]."""
    return np.array([[int(random_bits(int(seed), 0, slot)) >> 11 for slot in range(7)] for seed in seeds], np.float64)


def by_player(player: Player) -> Choose:
    """Ask a player of the arena, position by position."""
    game = load("texas42", bid=BID)

    def choose(states: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        slots = []
        for number, seed in enumerate(seeds):
            position = Position(game, states[number : number + 1].copy())
            slots.append(player.choose(turn_of(player, position, position, (), seed=int(seed))).action)
        return np.array(slots)

    return choose


def by_worlds(worlds: int, rule: str, oracle: Oracle, threads: int) -> Choose:
    """Ask an oracle in so many worlds, where there is a choice."""

    def choose(states: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        legal = legal_slots(states)
        slots = legal.argmax(1)
        free = np.flatnonzero(legal.sum(1) > 1)
        most = MOST_AT_ONCE // worlds
        for some in (free[first : first + most] for first in range(0, len(free), most)):
            found = expected_many(states[some], worlds, seeds[some], oracle, threads=threads)
            slots[some] = [found[number].choice(rule) for number in range(len(found))]
        return np.asarray(slots)

    return choose


def by_network(text: str, path: Path, rule: str, device: str) -> Choose:
    """Ask a Stage 2."""
    network = load_stage(str(path), Transcript).network
    assert isinstance(network, Transcript)
    if rule == "make" and not network.config.in_points:
        raise BadInput(f"player {text!r}: its network was taught mean logits, and nothing about bids")
    judge = TranscriptJudge(network, device)

    def choose(states: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        found = judge(states)
        side = np.where((states["declarer"] ^ states["texas42_mover"]) & 1 == 0, 1.0, -1.0)[:, None]
        wanted = found.mean.numpy() if rule == "mean" else side * found.make_logit.numpy()
        return choices_of(wanted, legal_slots(states))

    return choose


@dataclass(frozen=True)
class Duel:
    """What a match has brought, one number for each deal."""

    points: np.ndarray
    """[D] the first player's points less the second's, of both hands of a deal together"""
    made: np.ndarray
    """[D, 2] whether the bid was made by the first player, and by the second on the same cards"""

    def facts(self) -> dict[str, Any]:
        """Return means with intervals; `wins` counts deals in which the first took more points than the second."""
        decided = self.points != 0
        return {
            "deals": len(self.points),
            "points_a_hand": mean_estimate((self.points / 2).tolist()).facts(),
            "wins": share_estimate(int((self.points > 0).sum()), int(decided.sum())).facts(),
            "made": [float(share) for share in self.made.mean(0)],
            "made_more": mean_estimate((self.made[:, 0] * 1.0 - self.made[:, 1]).tolist()).facts(),
        }


def play_duel(first: Choose, second: Choose, deals: int, seed: int = 0) -> Duel:
    """Play so many deals of the test part twice, others for each seed.

    The leader, any seat, calls its longest suit and has bid 30.
    """
    seeds = seeds_of("test", np.arange(deals) + seed * deals % MOST_DEALS)
    rng = np.random.default_rng(int(random_bits(seed, 9, deals)) >> 1)
    states = dealt(seeds)
    leaders = rng.integers(SEATS, size=deals)
    called(states, longest_suits(states, leaders), leaders, np.full(deals, BID, np.int8))
    states = np.concatenate([states, states])
    declares = np.arange(2 * deals) < deals  # the first player holds the declaring seats in these
    for _ in range(TILES):
        ours = ((states["declarer"] ^ states["texas42_mover"]) & 1 == 0) == declares
        slots, keys = np.zeros(len(states), np.int64), rng.integers(1 << 62, size=len(states))
        for choose, some in ((first, ours), (second, ~ours)):
            if some.any():
                slots[some] = choose(states[some], keys[some])
        play_each(states, slots)
    team = states["declarer"].astype(np.int64) & 1
    taken = states["points"].astype(np.int64)
    declared = np.take_along_axis(taken, team[:, None], 1)[:, 0]
    lead = np.where(declares, 1, -1) * (2 * declared - 42)
    made = (declared >= BID).reshape(2, deals).T
    return Duel(lead.reshape(2, deals).sum(0), made)
