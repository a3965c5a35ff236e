"""Checks that run with the data and the runs of the Texas 42 study: what could go wrong unseen.

Each check says what it looked at, whether it holds, and the numbers. Those of a set of hands look at its first file
when it is made, and are kept with what was measured: the set itself may stay elsewhere, and so do the networks that
labelled it, whose tokens are looked at where they are made.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rookery.arena.texas42_networks import HandsOracle
from rookery.games.position import Position
from rookery.games.texas42 import Texas42
from rookery.learn.files import LineLog
from rookery.search.texas42_batch import known_tokens, legal_slots
from rookery.search.texas42_replay import replayed
from rookery.search.worlds import sample_worlds
from rookery.studies.texas42_files import OF_HAND, PARTS, POINT, DataSet, Rows, data_sets, part_of
from rookery.studies.texas42_measured import read_measured

LARGEST_LOGIT = 100.0
LOOKED_AT, WORLDS = 500, 8
"""decisions, from all parts of hands, whose tokens and worlds are looked at, and worlds of each"""
SLACK = 0.03
"""beyond the share of tiles that are drawn at random"""


TOKENS = "tokens for Stage 1 are those of the game"
LOGITS = "logits are of a reasonable size"
NO_LOGITS = "none are kept"


class Check(NamedTuple):
    """What a check has found."""

    name: str
    holds: bool
    note: str


def checks_of_data(data: DataSet, oracles: Sequence[HandsOracle] = ()) -> list[Check]:
    """Check a set of decisions; `oracles` are the networks that labelled it, if they are at hand."""
    rows = next(data.read())
    settings = data.planned()["settings"]
    name = data.folder.name
    states = replayed(*(rows[each] for each in OF_HAND)).reshape(-1)
    legal = legal_slots(states)
    return [
        *one_part(name, rows, settings["part"]),
        *both_teams_take_the_largest(name, rows, states, legal, settings["explore"]),
        labels_in_range(name, rows, legal),
        logits_in_range(name, rows, legal),
        *tokens_and_worlds(name, states[:: -(-len(states) // LOOKED_AT)], oracles),
    ]


def one_part(name: str, rows: Rows, part: str) -> Iterator[Check]:
    """Check that all deals are of the part that was asked for, if it was one."""
    if part in PARTS:
        found = set(part_of(rows["seed"]).tolist())
        yield Check(f"{name}: deals are of one part", found == {list(PARTS).index(part)}, f"asked for {part}")


def both_teams_take_the_largest(
    name: str, rows: Rows, states: np.ndarray, legal: np.ndarray, explore: float
) -> Iterator[Check]:  # fmt: skip
    """Check that the tile played has the largest mean for either team, but for tiles drawn at random.

    Where nearly all are drawn at random, nothing could be found.
    """
    if explore + SLACK >= 1:
        return
    mean = np.where(legal, rows["mean"].reshape(-1, 7).astype(np.float64), -np.inf)
    tiles = states["tiles"][np.arange(len(states)), states["texas42_mover"]]
    slot = (tiles == rows["history"].reshape(-1)[:, None]).argmax(1)
    best = mean[np.arange(len(mean)), slot] >= mean.max(1) - 1
    shares = [float(best[states["texas42_mover"] & 1 == team].mean()) for team in range(2)]
    holds = min(shares) >= 1 - explore - SLACK
    yield Check(f"{name}: both teams take the largest mean", holds, f"teams 0 and 1: {shares[0]:.3f}, {shares[1]:.3f}")


def labels_in_range(name: str, rows: Rows, legal: np.ndarray) -> Check:
    """Check that means are points that can be won, and nothing stands where a slot is not legal."""
    mean = rows["mean"].reshape(-1, 7) / POINT
    holds = bool(np.abs(mean).max() <= 42 and not mean[~legal].any())
    return Check(f"{name}: labels are points from -42 to 42", holds, f"largest {np.abs(mean).max():.1f}")


def logits_in_range(name: str, rows: Rows, legal: np.ndarray) -> Check:
    """Check that logits are of a reasonable size, where there are any."""
    largest = float(np.abs(rows["logits"].reshape(-1, 7)[legal]).max())
    note = f"largest {largest:.1f}" if largest else NO_LOGITS
    return Check(f"{name}: {LOGITS}", largest <= LARGEST_LOGIT, note)


def tokens_and_worlds(name: str, states: np.ndarray, oracles: Sequence[HandsOracle] = ()) -> Iterator[Check]:
    """Check worlds that are drawn for some decisions, and what networks are shown of them."""
    drawn = sample_worlds(states, WORLDS, np.arange(len(states)))
    owner = np.repeat(np.arange(len(states)), WORLDS)
    shared = bool((np.bitwise_or.reduce(drawn["hands"], 1) == (1 << 28) - 1).all())
    own = drawn["hands"][np.arange(len(drawn)), drawn["texas42_mover"]]
    mine = states["hands"][np.arange(len(states)), states["texas42_mover"]][owner]
    seen, kept = known_tokens(states)[owner], bool((own == mine).all())
    note, looked_at = f"{len(drawn):,} worlds", f"of {len(states):,} decisions"
    yield Check(f"{name}: worlds share out all tiles and keep the own hand", shared and kept, note)
    for reads, oracle in {oracle.reads: oracle for oracle in oracles}.items():
        made, game = oracle.told(drawn, states, 1)(0, len(drawn)).cpu().numpy(), Texas42()
        wanted = np.stack([Position(game, drawn[i : i + 1]).observe(reads) for i in range(len(drawn))])
        found = f"{note}, {reads!r} on {oracle.device.type}"
        yield Check(f"{name}: {TOKENS}", bool((made == wanted).all()), found)
    unchanged = bool((known_tokens(drawn) == seen).all())
    yield Check(f"{name}: hidden hands change nothing that Stage 2 sees", unchanged, f"{note} {looked_at}")


def checks_of_run(folder: Path) -> list[Check]:
    """Check that a run has learned, and that validation followed."""
    lines = LineLog(folder / "progress.jsonl").read()
    if len(lines) < 2:
        return []
    first, last = lines[0], lines[-1]
    losses = [line["train"]["loss"] for line in (first, last)]
    found = [Check(f"{folder.name}: the loss falls", losses[1] < losses[0], f"{losses[0]:.4f} to {losses[1]:.4f}")]
    for name, figures in last["valid"].items():
        before, after = (each["unforced"] for each in (first["valid"][name], figures))
        error = 2 * math.hypot(before.get("gap_error", 0.0), after.get("gap_error", 0.0))
        note = f"{before['gap']:.3f} to {after['gap']:.3f} points; two standard errors, if unpaired: {error:.3f}"
        holds = after["gap"] <= before["gap"] + error
        found.append(Check(f"{folder.name}: the gap on {name} does not grow", holds, note))
    return found


def all_checks(study: Path) -> list[Check]:
    """Run every check there is something for; tell what was found of sets and networks that are elsewhere."""
    made = {data.folder.name: data for data in data_sets(study, "decisions") if data.numbers()}
    found = [check for data in made.values() for check in checks_of_data(data)]
    for name, facts in read_measured(study).get("data", {}).items():
        exact = facts.get("settings", {}).get("oracle") == "exact"
        kept = [Check(**check) for check in facts.get("checks", ())]
        found += [check for check in kept if not exact if check.name.endswith(TOKENS)]
        found += [check for check in kept if name not in made if not check.name.endswith(TOKENS)]
    for path in sorted((study / "runs").glob("*/settings.json")):
        found += checks_of_run(path.parent)
    return found
