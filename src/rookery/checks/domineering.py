"""Checks of the games of the Domineering study."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rookery.checks import games, targets
from rookery.checks.finding import Finding, Sample, Verdict, about, if_above, percent
from rookery.errors import BadInput
from rookery.search.domineering_replay import opening_keys
from rookery.studies.domineering_files import GameRecords, joined, read_games

EXPLORED = 0.4
"""share of moves behind the opening that are drawn at random"""
SECTORS = (0.3, 4.0)
"""standard deviation of what is taught of sectors"""
PLIES = (16, 20, 24, 32, 48)
"""after which boards of games that train and of the others are compared"""


def is_games_file(path: Path) -> bool:
    """Tell whether a path is a file of games of this study, or may be a damaged one."""
    if path.suffix != ".npz" or not path.is_file():
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return "moves.npy" in archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError):
        return True


def check_games_files(paths: Sequence[Path], sample: Sample) -> list[Finding]:
    """Check files of games, each by itself, and whether what judges is among what is learned from."""
    found: list[Finding] = []
    read = []
    for path in paths:
        sample.say(f"games of {path.name}")
        try:
            records = read_games(path)
        except BadInput as error:
            problem = Finding("rows-sound", Verdict.WRONG, 1.0, str(error), "all games can be", path.name)
            found += about(path.name if len(paths) > 1 else "", [problem])
            continue
        read.append(records)
        found += about(path.name if len(paths) > 1 else "", check_games(records, sample))
    if read:
        sample.say("what validates, among what trains")
        found += check_parts(joined(read))
    return found


def check_games(records: GameRecords, sample: Sample) -> list[Finding]:
    """Check games that can be."""
    from rookery.studies.domineering_batches import OPENING

    count = len(records)
    looked = f"{count:,} games"
    if not count:
        return [targets.no_rows(looked)]
    sound = Finding("rows-sound", Verdict.OK, 0.0, "0 that cannot be", "none", looked)
    behind = records.moves[:, OPENING:] >= 0
    explored = float(records.explored[:, OPENING:][behind].mean()) if behind.any() else 0.0
    found = [sound, *games.opening_variety(opening_keys(records.moves, OPENING).tolist(), looked)]
    found += games.distinct_games([row.tobytes() for row in records.moves], looked)
    found += games.first_mover(float(records.winners.sum()), float((~records.winners).sum()), looked)
    told, expected = percent(explored), f"at most {percent(EXPLORED)}"
    found.append(Finding("explored", if_above(explored, EXPLORED, 0.9), explored, told, expected, f"moves of {looked}"))
    return found + check_batches(records, sample)


def check_batches(records: GameRecords, sample: Sample) -> list[Finding]:
    """Check positions as networks see them: masks, the move that is taught, and sectors."""
    import torch

    from rookery.studies.domineering_batches import GameTable, Positions

    rng = np.random.default_rng(sample.seed)
    some = records[np.sort(rng.permutation(len(records))[: max(8, sample.positions // 8)])]
    positions = Positions(GameTable(some), "all")
    if not len(positions):
        return []
    numbers = torch.from_numpy(rng.permutation(len(positions))[: sample.positions])
    batch = positions.batch(numbers, torch.zeros_like(numbers))
    looked = f"{len(numbers)} positions"
    allowed = batch.legal.gather(1, batch.policy[:, None]).squeeze(1).numpy()
    counts = np.where(allowed, batch.legal.sum(1).numpy(), 0)  # a move that is no move of the mask is none
    sectors = batch.sectors.numpy()
    return [
        targets.masks(counts, looked),
        targets.target_range(sectors, f"sectors of {looked}", 16.0),
        *targets.label_scale(sectors, SECTORS, "moves", f"sectors of {looked}"),
    ]


def check_parts(records: GameRecords) -> list[Finding]:
    """Check that boards of games that validate or test are not those of games that train, some plies on."""
    from rookery.studies.domineering_batches import parts_of

    if not len(records):
        return []
    parts = parts_of(records.moves)
    found = [each for plies in PLIES for each in leak_after(records, parts, plies)]
    return [max(found, key=lambda each: each.number)] if found else []


def leak_after(records: GameRecords, parts: np.ndarray, plies: int) -> list[Finding]:
    """Compare boards after so many plies."""
    keys = opening_keys(records.moves, plies)
    looked = f"boards after {plies} plies of {int((parts > 0).sum())} games that validate or test"
    return games.split_leak(keys[parts == 0], keys[parts > 0], looked)
