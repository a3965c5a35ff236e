"""Self-play as its definition reads: the games of a replay played again, position by position."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from rookery.games.game import Game
from rookery.games.position import Position
from rookery.games.rng import random_below, random_bits
from rookery.learn.replay import Replay
from rookery.learn.sections import SelfplaySettings
from rookery.learn.selfplay import Finished, SelfPlay
from rookery.search.tree_kernels import improve, weights_for_target
from rookery.search.trees import Trees
from search.slow_trees import Hashed

SEED = 5


@dataclass
class Recorded:
    """What self-play made: rows by name, in the order they were written, and when each game began."""

    game: Game
    settings: SelfplaySettings
    play: SelfPlay
    judge: Any
    rows: dict[str, np.ndarray]
    began: dict[int, int]
    """round before which a game began"""
    finished: Finished = field(default_factory=Finished)
    replayed: dict[int, list[Position]] = field(default_factory=dict)

    def games(self) -> dict[int, np.ndarray]:
        """Return the rows of each finished game."""
        return {int(number): np.flatnonzero(self.rows["games"] == number) for number in np.unique(self.rows["games"])}


def recorded(game: Game, settings: SelfplaySettings, rounds: int, judge: Any = None, capacity: int = 1 << 13):
    """Play some rounds into a replay that holds everything."""
    judge = judge or Hashed(game, policy="logits")
    play = SelfPlay(game, settings, SEED, Replay(game, judge.kind, capacity))
    began, finished = dict.fromkeys(range(play.begun), 0), Finished()
    for number in range(rounds):
        known = play.begun
        finished.merge(play.round(judge))
        began |= dict.fromkeys(range(known, play.begun), number + 1)
    assert play.replay.written <= capacity
    rows = {name: array[: play.replay.filled].numpy().copy() for name, array in play.replay.rows._asdict().items()}
    return Recorded(game, settings, play, judge, rows, began, finished)


def first_position(game: Game, number: int) -> Position:
    """Return the position with which a game of the run begins."""
    return game.start(int(random_bits(SEED, number, (1 << 20) - 1) >> np.uint64(1)))


def random_plies_of(settings: SelfplaySettings, number: int) -> int:
    """Return with how many random plies a game of the run begins."""
    if not settings.random_fewer:
        return settings.random_plies
    return int(random_below(settings.random_plies + 1, SEED, number, (1 << 20) - 2))


def positions_of(found: Recorded, number: int) -> list[Position]:
    """Play the moves of a game again; return each position, the last one too."""
    if number not in found.replayed:
        positions = [first_position(found.game, number)]
        for action in found.rows["played"][found.rows["games"] == number]:
            positions.append(positions[-1].copy())
            positions[-1].play(int(action))
        found.replayed[number] = positions
    return found.replayed[number]


def same_position(one: Position, other: Position) -> bool:
    """Tell whether two positions of Pylos are the same, side to move included; their text ends in the ply number."""
    return one.text().rsplit(" ", 1)[0] == other.text().rsplit(" ", 1)[0]


def ending_of(positions: list[Position], settings: SelfplaySettings) -> str:
    """Tell how a game that came to the last of these positions ends there; nothing if it goes on."""
    last, plies = positions[-1], len(positions) - 1
    if last.over:
        return "by the rules"
    if plies <= settings.random_plies:
        return ""  # nothing is called off before somebody has thought
    if settings.ply_limit and plies >= settings.ply_limit:
        return "ply limit"
    seen = sum(same_position(position, last) for position in positions[1:])
    if settings.repetition_limit and seen >= settings.repetition_limit:
        return "repetition"
    return ""


def outcomes_of(positions: list[Position], settings: SelfplaySettings) -> list[float]:
    """Return what each ply's mover got: the result for its team, less for each turn that was still to come."""
    game, last, ending = positions[0].game, positions[-1], ending_of(positions, settings)
    called_off = {"ply limit": settings.ply_limit_value, "repetition": settings.repetition_value}
    found = []
    for i, position in enumerate(positions[:-1]):
        if ending == "by the rules":
            result = last.payoff(position.mover)
        else:
            result = called_off[ending] * (1 if game.teams[position.mover] == game.teams[last.mover] else -1)
        teams = [game.teams[later.mover] for later in positions[i:-1]]
        turns = sum(a != b for a, b in pairwise(teams))
        found.append(result * settings.discount**turns)
    return found


def teaches(settings: SelfplaySettings, number: int) -> bool:
    """Tell whether a round of the run teaches."""
    return random_below(1 << 30, SEED, 1 << 62, number) < settings.full_share * (1 << 30)


@dataclass
class Searched:
    """What an independent search found of one ply."""

    action: int
    value: float
    weights: dict[int, float]


def searched_again(found: Recorded, number: int, taught: bool) -> dict[int, Searched]:
    """Search the plies of a game again that were searched in full, or those searched cheaply; by number of the ply."""
    settings, rows = found.settings, found.games()[number]
    plies = [i for i, row in enumerate(rows) if found.rows["counts"][row] and bool(found.rows["taught"][row]) == taught]
    if not plies:
        return {}
    tree = settings.tree(SEED)
    if not taught:
        tree = replace(tree, simulations=settings.cheap_simulations, noise=0.0, forced=0.0, prune=False)
    trees, positions = Trees(found.game, tree, trees=len(plies)), positions_of(found, number)
    trees.put([positions[i] for i in plies], [number] * len(plies), plies)
    drawn = random_plies_of(settings, number)
    trees.arrays.trees["search"] = [i - drawn for i in plies]  # `again` begins the next one
    trees.again(forget_all=True)
    trees.run(found.judge)
    actions = trees.choose()
    return {i: Searched(actions[b], float(trees.arrays.nodes[b, 0]["mean"]), weights_of(trees, b))
            for b, i in enumerate(plies)}  # fmt: skip


def weights_of(trees: Trees, b: int) -> dict[int, float]:
    """Return what a search thought of each action: visits, or the improved policy."""
    first, count = trees.edges_of(b, 0)
    edges = trees.arrays.edges[b, first : first + count]
    weights = edges["visits"].astype(np.float32)
    if trees.settings.gumbel:
        improve(trees.arrays, b, weights)
    if trees.settings.prune:
        weights_for_target(trees.arrays, b, weights)
    return dict(zip(edges["action"].tolist(), weights.tolist(), strict=True))
