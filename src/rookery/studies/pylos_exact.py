"""Networks judged by exact values: late positions of Pylos that the solver has solved.

For each game, with take-backs by choice (official) and greedy ones, and for each number of spheres left in both
reserves, some positions of random games are solved. Asked of each network, alone and after a search:

signs   where the exact value is a win or a loss: whether the value has its sign
error   mean distance of the value from the exact one, draws included; a network taught with a discount cannot say 1
moves   where some move would give the exact value away: whether the first move, of the policy over legal moves or of
        the search, keeps it; first moves whose value the solver does not know are left out

A search here carries no proofs, so what it finds is the network's judgement of more positions, and ends of games.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np

from rookery.arena.evaluator import NetworkEvaluator
from rookery.arena.networks import network_for
from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.library import load
from rookery.games.position import Position
from rookery.games.pylos import Pylos
from rookery.learn.spread import Say
from rookery.search.solve.pylos import solve, spheres_left
from rookery.search.solve.pylos_samples import UNKNOWN, Sample, arrays_of, late_position, write
from rookery.search.solve.retrograde import Solution
from rookery.search.threads import new_stop, on_threads
from rookery.search.tree_settings import TreeSettings
from rookery.search.trees import Trees
from rookery.studies.intervals import share_estimate

GAMES = {"greedy": "pylos:removal=greedy", "official": "pylos"}
MOST_LEFT = 7
"""spheres: beyond it too many positions are not solved"""
MOST_POSITIONS = 2_000_000
"""of a graph; a position that needs more is passed over"""
SIMULATIONS = 64
SEED = 1
TOGETHER = 256
"""positions searched side by side"""
BATCH = 64  # positions solved at a time
UNSOLVED = "unsolved by spheres left"

Tell = Callable[[int], None]
Arrays = dict[str, np.ndarray]
Solved = tuple[Position, Solution]


def told(say: Say, before: int, total: int, note: str, done: int) -> None:
    """Say how far a part of the work is."""
    say(before + done, total, note)


# ---- positions -----------------------------------------------------------------------------------


def positions_with(game: Pylos, left: int, seed: int) -> Iterator[Position]:
    """Yield random positions with exactly so many spheres left, at most one of each random game."""
    for number in count():
        position = late_position(game, seed, number, left)
        if position is not None and spheres_left(position) == left:
            yield position


def solved_with(game: Pylos, left: int, wanted: int, threads: int, tell: Tell) -> tuple[list[Solved], int]:
    """Solve so many positions with exactly so many spheres left; return them and how many were passed over.

    The same positions come out on any number of threads.
    """
    found: list[Solved] = []
    unsolved, stop, drawn = 0, new_stop(), positions_with(game, left, SEED + left)

    def attempt(position: Position) -> tuple[Position, Solution | None]:
        try:
            return position, solve(position, MOST_POSITIONS, stop)
        except BadInput:
            return position, None

    while len(found) < wanted:
        batch = list(islice(drawn, min(BATCH, wanted - len(found))))
        for position, solution in on_threads(attempt, batch, threads, stop):
            if solution is None:
                unsolved += 1
            else:
                found.append((position, solution))
        tell(len(found))
    return found, unsolved


def exact_positions(name: str, folder: Path, wanted: int, threads: int, say: Say) -> Arrays:
    """Return the positions of a game with their values, from the study's folder if they are there."""
    game, path = load(GAMES[name]), folder / f"exact-{name}.npz"
    settings = {
        "game": game.spec, "rules version": game.version, "count": wanted, "seed": SEED, "spheres left": MOST_LEFT,
        "most positions": MOST_POSITIONS,
    }  # fmt: skip
    stored = stored_arrays(path, settings)
    if stored is not None:
        return stored
    assert isinstance(game, Pylos)
    pairs: list[Solved] = []
    unsolved: list[int] = []
    for left in range(1, MOST_LEFT + 1):
        tell = partial(told, say, len(pairs), MOST_LEFT * wanted, f"{name} positions solved")
        found, passed = solved_with(game, left, wanted, threads, tell)
        pairs += found
        unsolved.append(passed)
    folder.mkdir(parents=True, exist_ok=True)
    sample = Sample(pairs, sum(unsolved), settings | {UNSOLVED: unsolved})
    write(sample, path)
    return arrays_of(sample)


def stored_arrays(path: Path, settings: dict[str, Any]) -> Arrays | None:
    """Read positions that were solved before; None if there are none, or others, or the file is damaged."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as stored:
            arrays = dict(stored)
        told = json.loads(str(arrays["settings"]))
        return arrays if {key: told.get(key) for key in settings} == settings else None
    except Exception:  # damaged archives raise errors of a dozen kinds
        return None


# ---- judging -------------------------------------------------------------------------------------


def first_moves(logits: np.ndarray, move_values: np.ndarray) -> np.ndarray:
    """Return the legal move that the policy likes best in each position; [N]."""
    legal = np.abs(move_values) <= 1
    legal |= move_values == UNKNOWN
    best: np.ndarray = np.where(legal, logits, -np.inf).argmax(axis=1)
    return best


def asked(evaluator: NetworkEvaluator, positions: list[Position], move_values: np.ndarray) -> tuple[Any, Any]:
    """Return values and first moves of a network alone; [N] each."""
    observations = np.stack([position.observe(evaluator.kind).reshape(-1) for position in positions])
    logits, values = evaluator(observations)
    return values, first_moves(logits, move_values)


def searched(evaluator: NetworkEvaluator, game: Game, positions: list[Position], tell: Tell) -> tuple[Any, Any]:
    """Return values and moves after a search; [N] each."""
    values, moves = np.empty(len(positions)), np.empty(len(positions), np.int64)
    for first in range(0, len(positions), TOGETHER):
        part = positions[first : first + TOGETHER]
        trees = Trees(game, TreeSettings(simulations=SIMULATIONS), len(part))
        trees.begin(part)
        trees.run(evaluator)
        for row in range(len(part)):
            analysis = trees.analysis(row)
            values[first + row], moves[first + row] = analysis.value, analysis.action
        tell(first + len(part))
    return values, moves


def scores(exact: Arrays, values: np.ndarray, moves: np.ndarray, prefix: str = "") -> dict[str, Any]:
    """Sum up how values and moves agree with the exact ones."""
    truth = exact["value"].astype(float)
    decisive = truth != 0
    right = (np.sign(values) == truth) & decisive
    kept = exact["move_values"][np.arange(len(moves)), moves]
    known = (kept != UNKNOWN) & (exact["move_values"] < exact["value"][:, None]).any(axis=1)
    return {
        f"{prefix}signs": share_estimate(int(right.sum()), int(decisive.sum())).facts(),
        f"{prefix}error": float(np.abs(values - truth).mean()),
        f"{prefix}moves": share_estimate(int((kept[known] == truth[known]).sum()), int(known.sum())).facts(),
    }


def summary(exact: Arrays, alone: tuple[Any, Any], after: tuple[Any, Any], chosen: np.ndarray, left: Any) -> Any:
    """Sum up some of the positions; `left` says which."""
    part = {name: array[chosen] for name, array in exact.items() if array.ndim}
    found = {"left": left, "positions": int(chosen.sum()), "draws": int((part["value"] == 0).sum())}
    found |= scores(part, alone[0][chosen], alone[1][chosen])
    return found | scores(part, after[0][chosen], after[1][chosen], "search_")


def judge_network(path: Path, name: str, exact: Arrays, tell: Tell) -> dict[str, Any]:
    """Judge one network by the positions of one game."""
    game = load(GAMES[name])
    loaded = network_for(str(path), game)
    evaluator = NetworkEvaluator(loaded.network, loaded.about.observation)
    positions = [game.position(str(text)) for text in exact["text"]]
    alone, after = asked(evaluator, positions, exact["move_values"]), searched(evaluator, game, positions, tell)
    lefts = range(1, MOST_LEFT + 1)
    rows = [summary(exact, alone, after, exact["left"] == left, left) for left in lefts]
    every = np.ones(len(positions), bool)
    return {"by_left": rows, "all": summary(exact, alone, after, every, "all")}


def judged(networks: dict[str, Path], folder: Path, wanted: int, threads: int, say: Say) -> dict[str, Any]:
    """Judge networks by exact values; return the content of exact.json."""
    found: dict[str, Any] = {name: {} for name in networks}
    samples = {}
    for game in GAMES:
        exact = exact_positions(game, folder, wanted, threads, say)
        facts = json.loads(str(exact["settings"]))
        samples[game] = {
            "game": facts["game"], "positions": len(exact["value"]), "draws": int((exact["value"] == 0).sum()),
            "unsolved": facts["unsolved"], "unsolved_by_left": facts[UNSOLVED],
            "seed": facts["seed"], "most_positions": facts["most positions"],
        }  # fmt: skip
        for name, path in networks.items():
            tell = partial(told, say, 0, len(exact["value"]), f"{name} judged, {game} game")
            found[name][game] = judge_network(path, game, exact, tell)
    return {"networks": found, "samples": samples, "simulations": SIMULATIONS}
