"""Checks of the data of the Texas 42 study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rookery.checks import games, targets
from rookery.checks.finding import Finding, Sample, Verdict, about, if_above, if_below, percent, unless
from rookery.errors import BadInput
from rookery.studies.texas42_files import OF_HAND, OF_POSITION, PARTS, POINT, DataSet, Rows, part_of, read_facts

POINTS = 42.0
Q_SPREAD = (2.0, 35.0)
"""standard deviation of Q and of its means, in points"""
LOGITS, HUGE_LOGITS = 20.0, 100.0
FORCED, NEARLY_ALL_FORCED = 0.65, 0.95
"""share of positions with a single legal tile"""
SLACK = 0.03
"""beyond the share of tiles that are drawn at random"""
UNLABELLED = -128
FEWEST_CHOICES = 50
MOST_ROWS = 20_000
"""that are looked at in a set"""


def is_data_set(folder: Path) -> bool:
    """Tell whether a folder is a set of data of this study."""
    return (folder / "plan.json").is_file() and any(folder.glob("[0-9]*.npz"))


def check_data_sets(folders: Sequence[Path], sample: Sample) -> list[Finding]:
    """Check sets of data, each by itself, and whether they share deals that they must not."""
    found: list[Finding] = []
    deals: dict[str, list[np.ndarray]] = {"train": [], "apart": []}
    for folder in folders:
        sample.say(f"rows of {folder.name}")
        target = folder.name if len(folders) > 1 else ""
        try:
            rows, kind, part = read_rows(folder)
        except BadInput as error:
            problem = Finding("rows-sound", Verdict.WRONG, 1.0, str(error), "all rows can be", folder.name)
            found += about(target, [problem])
            continue
        found += about(target, check_rows(rows, kind, part, explored_share(folder), f"{len(rows['seed']):,} rows"))
        keys = targets.hashed_rows(rows["hands"])
        learned = part_of(rows["seed"]) == 0
        deals["train"].append(keys[learned])
        deals["apart"].append(keys[~learned])
    known, apart = (np.concatenate(each) if each else np.zeros(0, np.int64) for each in deals.values())
    return found + games.split_leak(known, apart, f"{len(np.unique(apart)):,} deals that validate or test")


def explored_share(folder: Path) -> float:
    """Return the share of tiles that were drawn at random."""
    return float(read_facts(DataSet(folder).plan).get("settings", {}).get("explore", 0.0))


def read_rows(folder: Path) -> tuple[Rows, str, str]:
    """Read the rows of a set, its kind, and the part its deals are of."""
    data = DataSet(folder)
    facts = read_facts(data.plan)
    shards = list(data.read(MOST_ROWS))
    if not shards:
        raise BadInput(f"{folder} has no rows")
    rows = {name: np.concatenate([shard[name] for shard in shards]) for name in shards[0]}
    return rows, str(facts.get("kind")), str(facts.get("settings", {}).get("part", "all"))


def check_rows(rows: Rows, kind: str, part: str, explore: float, looked: str) -> list[Finding]:
    """Check rows of a kind."""
    found = [Finding("rows-sound", Verdict.OK, 0.0, "0 that cannot be", "none", looked), *one_part(rows, part, looked)]
    return found + (check_positions(rows, looked) if kind == "positions" else check_decisions(rows, explore, looked))


def one_part(rows: Rows, part: str, looked: str) -> list[Finding]:
    """Check that all deals are of the part that the plan names."""
    if part not in PARTS:
        return []
    others = float((part_of(rows["seed"]) != list(PARTS).index(part)).mean())
    told = f"{percent(others)} of the deals are of another part than {part}"
    return [Finding("split-part", unless(others == 0), others, told, "none", looked)]


def check_positions(rows: Rows, looked: str) -> list[Finding]:
    """Check positions with exact Q."""
    legal = rows["q"] != UNLABELLED
    q = rows["q"][legal].astype(float)
    keys = targets.hashed_rows(np.concatenate([columns(rows, name) for name in OF_POSITION], 1))
    return [
        targets.masks(legal.sum(1), looked),
        targets.target_range(q, f"Q of {looked}", POINTS),
        *targets.label_scale(q, Q_SPREAD, "points", f"Q of {looked}"),
        *targets.duplicates(keys, looked),
        forced(legal, looked),
    ]


def columns(rows: Rows, name: str) -> np.ndarray:
    """Return an array as columns of whole numbers."""
    return rows[name].astype(np.int64).reshape(len(rows[name]), -1)


def forced(legal: np.ndarray, looked: str) -> Finding:
    """Check that not too many positions leave no choice."""
    share = float((legal.sum(1) == 1).mean())
    verdict = if_above(share, FORCED, NEARLY_ALL_FORCED)
    return Finding("forced-share", verdict, share, percent(share), f"at most {percent(FORCED)}", looked)


def check_decisions(rows: Rows, explore: float, looked: str) -> list[Finding]:
    """Check hands played by E[Q]."""
    from rookery.search.texas42_batch import legal_slots
    from rookery.search.texas42_replay import replayed

    states = replayed(*(rows[name] for name in OF_HAND)).reshape(-1)
    legal = legal_slots(states)
    several = legal.sum(1) > 1  # a decision with one legal tile is not labelled
    labelled = legal & several[:, None]
    mean = rows["mean"].reshape(-1, 7) / POINT
    logits = rows["logits"].reshape(-1, 7).astype(float)[labelled]
    keys = targets.hashed_rows(np.concatenate([columns(rows, name) for name in OF_HAND], 1))
    found = [
        targets.masks(legal.sum(1), looked),
        targets.target_range(mean[labelled], f"means of {looked}", POINTS),
        *targets.label_scale(mean[labelled], Q_SPREAD, "points", f"means of {looked}"),
        illegal_labels(mean, legal, looked),
        *targets.duplicates(keys, looked),
        forced(legal, looked),
        *both_teams(rows, states, mean, labelled, explore),
    ]
    return found + logit_size(logits, looked)


def illegal_labels(mean: np.ndarray, legal: np.ndarray, looked: str) -> Finding:
    """Check that nothing is taught of tiles that cannot be played."""
    bad = int((mean[~legal] != 0).sum())
    told = f"{bad} labels of tiles that are not legal"
    return Finding("illegal-labels", unless(bad == 0), float(bad), told, "none", looked)


def logit_size(logits: np.ndarray, looked: str) -> list[Finding]:
    """Check that logits are of a reasonable size; none where no network told any."""
    if not len(logits) or not logits.any():
        return []
    largest = float(np.abs(logits).max())
    verdict, told = if_above(largest, LOGITS, HUGE_LOGITS), f"the largest is {largest:.1f}"
    return [Finding("logit-size", verdict, largest, told, f"at most {LOGITS:g}", f"logits of {looked}")]


def both_teams(
    rows: Rows, states: np.ndarray, mean: np.ndarray, labelled: np.ndarray, explore: float
) -> list[Finding]:  # fmt: skip
    """Check that both teams play the tile with the largest mean, but for tiles that were drawn at random."""
    tiles = states["tiles"][np.arange(len(states)), states["texas42_mover"]]
    slot = (tiles == rows["history"].reshape(-1)[:, None]).argmax(1)
    kept = np.where(labelled, mean, -np.inf)
    asked = labelled.any(1)
    best = kept[np.arange(len(kept)), slot] >= kept.max(1) - 1 / POINT
    team = states["texas42_mover"] & 1
    shares = [float(best[asked & (team == each)].mean()) for each in range(2) if (asked & (team == each)).any()]
    if int(asked.sum()) < FEWEST_CHOICES or len(shares) < 2:
        return []
    least = 1 - explore - SLACK
    least -= 2 * float(np.sqrt(least * (1 - least) / (asked.sum() / 2)))  # what chance may take away
    told = f"teams 0 and 1: {percent(shares[0])}, {percent(shares[1])}"
    verdict = if_below(min(shares), least, least / 2)
    looked = f"{int(asked.sum())} choices among several tiles"
    return [Finding("both-teams", verdict, min(shares), told, f"at least {percent(least)}", looked)]
