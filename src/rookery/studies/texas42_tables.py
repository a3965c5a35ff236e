"""Data of the Texas 42 study as tensors on a device: tokens, labels, what is legal.

    tables = load_tables(study, "positions", ("positions-played",), "cuda")
    tables.train.batch(numbers)       a `Positions` or `Decisions` of the losses
    tables.valid["positions-valid"]   the rows of a set that validate, by the name of the set

Tokens are made once, by compiled loops; a card holds them all. Of which deal a row is, no network is told: it is kept
beside for the errors of figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from rookery.errors import BadInput
from rookery.games.texas42_tiles import TILES
from rookery.search.solve.texas42 import ILLEGAL
from rookery.search.texas42_batch import all_tokens, known_tokens, legal_slots, open_tokens
from rookery.search.texas42_replay import positions, replayed
from rookery.search.worlds import counted
from rookery.studies.texas42_files import (
    CERTAIN,
    OF_HAND,
    OF_POSITION,
    POINT,
    DataSet,
    Rows,
    WorldCounts,
    count_of,
    data_sets,
    joined,
    part_of,
    worlds_by_trick,
)
from rookery.studies.texas42_losses import Decisions, Positions

AT_ONCE = 1 << 16
"""rows whose records are made at a time"""

Columns = dict[str, np.ndarray]


class Table:
    """Rows of one stage on a device."""

    def __init__(self, columns: Columns, stage: int, device: str | torch.device = "cpu"):
        self.stage, self.device = stage, torch.device(device)
        self.columns = {
            name: torch.from_numpy(column).to(self.device) for name, column in columns.items() if name != "seed"
        }
        self.seeds = columns.get("seed", np.arange(len(self)))

    def __len__(self) -> int:
        return len(self.columns["tokens"])

    @cached_property
    def deals(self) -> tuple[int, Tensor]:
        """How many deals there are, and the number [N] of each row's deal among them."""
        found, numbers = np.unique(self.seeds, return_inverse=True)
        return len(found), torch.from_numpy(numbers).to(self.device)

    def batch(self, numbers: Tensor | slice) -> NamedTuple:
        """Return some rows as the losses want them."""
        some = {name: column[numbers] for name, column in self.columns.items()}
        if self.stage == 1:
            return Positions(some["tokens"], some["q"].float(), some["legal"], some["trick"])
        mean, spread = (some[name].float() / POINT for name in ("mean", "spread"))
        make = some["make"].float() / CERTAIN
        return Decisions(some["tokens"], mean, spread, make, some["logits"].float(), some["legal"], some["trick"])

    def in_order(self, size: int) -> Iterator[NamedTuple]:
        """Yield all rows in batches."""
        for first in range(0, len(self), size):
            yield self.batch(slice(first, first + size))


READ = {"all": all_tokens, "open": open_tokens}
"""what makes the observations that a Stage 1 reads"""


def position_columns(rows: Rows, threads: int = 1, reads: str = "all") -> Columns:
    """Make the columns of positions, as a Stage 1 reads them; Q turns to the mover's side."""
    states = positions(*(rows[name] for name in OF_POSITION))
    legal = rows["q"] != ILLEGAL
    side = np.where(states["texas42_mover"] & 1, -1, 1).astype(np.int8)[:, None]
    return {
        "tokens": READ[reads](states, threads), "q": np.where(legal, side * rows["q"], 0).astype(np.int8),
        "legal": legal, "trick": (states["plays"] >> 2).astype(np.int8), "seed": rows["seed"],
    }  # fmt: skip


def decision_columns(rows: Rows, threads: int = 1, worlds: WorldCounts = 0, exact: bool = True) -> Columns:
    """Make the columns of the decisions of hands that have a choice; the others have no labels.

    worlds  how many were drawn for each label, where that is known: they lie closer to their own mean than to that of
            all, so their spread is widened by the root of N / (N - 1), and its square is right on average
    exact   whether exact search labelled them, which takes each world once where there are no more than that: such
            spreads are right as they are
    """
    states = replayed(*(rows[name] for name in OF_HAND)).reshape(-1)
    legal = legal_slots(states)
    free = legal.sum(1) > 1
    states = states[free]
    labels = {name: rows[name].reshape(len(free), -1)[free] for name in ("mean", "logits")}
    # PyTorch has few operations on uint16; these take the room of int32 instead
    labels |= {name: rows[name].reshape(len(free), -1)[free].astype(np.int32) for name in ("spread", "make")}
    of_each = worlds_by_trick(worlds)[states["plays"] >> 2]
    if of_each.max(initial=0) > 1:
        drawn = of_each > 1
        if exact:
            drawn &= counted(states, states["texas42_mover"].astype(np.int64)) > of_each
        wider = np.sqrt(np.where(drawn, of_each / np.maximum(of_each - 1, 1), 1.0))
        labels["spread"] = np.rint(labels["spread"] * wider[:, None]).astype(np.int32)
    return {
        "tokens": known_tokens(states, threads), "legal": legal[free],
        "trick": (states["plays"] >> 2).astype(np.int8), "seed": np.repeat(rows["seed"], TILES)[free], **labels,
    }  # fmt: skip


@dataclass
class Tables:
    """What a run learns from and is measured on."""

    train: Table
    valid: dict[str, Table] = field(default_factory=dict)
    checksums: dict[str, str] = field(default_factory=dict)
    """of the files, by set and shard"""
    rows: int = 0
    """rows of files that are learned from: positions, or hands"""


def load_tables(
    study: Path, kind: str, names: tuple[str, ...] = (), device: str = "cpu", rows: int = 0,
    valid_rows: int = 20_000, threads: int = 1, reads: str = "all", logits: bool = False,
) -> Tables:  # fmt: skip
    """Read sets of data onto a device; deals that validate or test are not learned from, whichever set they are in.

    reads   the observation of a Stage 1
    logits  whether mean logits are to be learned: a set without any is refused

    A set that is still being made is refused: a run goes on with the very files it began with.
    """
    sets = data_sets(study, kind, names)
    if not sets:
        raise BadInput(f"there are no {kind} in {study / 'data'}; `rookery study texas42 data` makes them")
    stage = 1 if kind == "positions" else 2
    train: list[Columns] = []
    valid, checksums, all_taken = {}, dict[str, str](), 0
    for data in sets:
        if data.missing > 0:
            raise BadInput(
                f"{data.folder} is not complete: {data.missing} of {data.planned()['shards']} files are missing; "
                f"the command that began it goes on with them, or --data names other sets"
            )
        learned, checked, taken = columns_of(data, stage, rows, valid_rows, threads, reads)
        all_taken += taken
        if learned and logits and not data.has_logits:
            raise BadInput(
                f"{data.folder} has no logits to learn from: no second network labelled it; --data names other sets"
            )
        train += learned
        if checked:
            valid[data.folder.name] = Table(stacked(checked), stage, device)
        checksums |= data.checksums()
    if not train:
        raise BadInput(f"none of {', '.join(data.folder.name for data in sets)} has deals to train on")
    return Tables(Table(stacked(train), stage, device), valid, checksums, all_taken)


def columns_of(
    data: DataSet, stage: int, rows: int, valid_rows: int, threads: int, reads: str
) -> tuple[list[Columns], list[Columns], int]:  # fmt: skip
    """Return the columns of a set that train, those that validate, and of how many rows the former are.

    The first `rows` of files that train are taken, 0: all; fewer are refused. Of more than `valid_rows` that validate,
    as many are taken evenly, so that all deals have their share.
    """
    train: list[Columns] = []
    held: list[Rows] = []
    taken = 0
    maker = maker_of(data, stage, reads)
    for shard in data.read():
        part = part_of(shard["seed"])
        learned, valid = ({name: array[part == number] for name, array in shard.items()} for number in (0, 1))
        left = rows - taken if rows else count_of(learned)
        train += made(maker, {name: array[:left] for name, array in learned.items()}, stage, threads)
        taken += min(left, count_of(learned))
        held += [valid] if count_of(valid) else []
    if 0 < taken < rows:
        raise BadInput(
            f"rows must be at most {taken:,}, which {data.folder} has to learn from, or 0 for all, not {rows:,}"
        )
    if not held:
        return train, [], taken
    most = valid_rows if stage == 1 else -(-valid_rows // TILES)
    return train, made(maker, evenly(joined(held), most), stage, threads), taken


def evenly(rows: Rows, most: int) -> Rows:
    """Take so many rows at the most, at even distances."""
    count = count_of(rows)
    taken = np.arange(min(count, most)) * count // min(count, most)
    return {name: array[taken] for name, array in rows.items()}


def maker_of(data: DataSet, stage: int, reads: str) -> Callable[[Rows, int], Columns]:
    """Return what makes columns of the rows of a set, by so many threads."""
    if stage == 1:
        return partial(position_columns, reads=reads)
    return partial(decision_columns, worlds=data.planned()["settings"].get("worlds", 0), exact=data.is_exact)


def made(maker: Callable[[Rows, int], Columns], rows: Rows, stage: int, threads: int) -> list[Columns]:
    """Make columns of rows, some at a time."""
    size = AT_ONCE if stage == 1 else AT_ONCE // TILES
    return [
        maker({name: np.ascontiguousarray(array[first : first + size]) for name, array in rows.items()}, threads)
        for first in range(0, count_of(rows), size)
    ]


def stacked(parts: list[Columns]) -> Columns:
    """Put columns behind one another."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
