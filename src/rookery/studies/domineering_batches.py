"""Batches of the Domineering study, built on the device from lists of moves.

A table keeps for every game the ply at which each square is covered. That is the list of moves, scattered once. The
position at a ply is then a comparison: covered is what was covered before. Moves are free squares beside free
neighbours, by shifts of the board; sectors count them after the symmetry, since they do not turn with the board.
Nothing waits for the device, and shapes depend on the size of a batch alone, so that building fits in a CUDA graph.

    table = GameTable(records, "cuda")
    train = Positions(table, "train")
    order = Order(len(train), 256, seed=42)
    batch = train.batch(*order.at(step))
    sixteen = train.batch(*order.at(step, 16))  # of sixteen steps at once; sixteen[:256] is the first

A game belongs to one part of the data, by the key of its opening (`opening_keys`): eight in ten to train, one each to
valid and test. Games that begin alike, or as mirror images, are in the same part, whichever file they are in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from rookery.games.domineering import SECTOR, Domineering
from rookery.games.options import one_of, whole_number
from rookery.search.domineering_guided import LONGEST
from rookery.search.domineering_replay import opening_keys
from rookery.studies.domineering_files import GameRecords, joined, read_games
from rookery.studies.order import SYMMETRIES

SIDE = 16
SQUARES = SIDE * SIDE
MOVES = 2 * SIDE * (SIDE - 1)
SECTORS = (SIDE // SECTOR) ** 2
OPENING = 16
"""plies that are random in every phase: games are told apart by them, and positions begin behind them"""
PARTS = ("train", "valid", "test")
NEVER = 255
"""in place of a ply: the square stays free"""
SCATTERED = 8192  # games whose moves are scattered at a time
BOARD_TOKEN = 2


@dataclass(frozen=True)
class Batch:
    """N positions and what is taught about them."""

    tokens: Tensor
    """[N, 257] int64: 0 free, 1 covered, row by row; then 2 for the board, with a side token 3 if Horizontal moves"""
    legal: Tensor
    """[N, 480] bool: moves of the mover"""
    policy: Tensor
    """[N] int64: the move played"""
    value: Tensor
    """[N] float32: 1 if Vertical won, else 0"""
    sectors: Tensor
    """[N, 16] float32: Vertical's moves minus Horizontal's in each 4 x 4 sector"""
    explored: Tensor
    """[N] bool: whether the move played was drawn at random"""

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, some: slice) -> Batch:
        """Return some of the positions."""
        return Batch(*(getattr(self, field.name)[some] for field in fields(self)))


def load_records(paths: Sequence[str | Path]) -> GameRecords:
    """Read and check files of games and put them behind one another."""
    return joined([read_games(path) for path in paths])


def parts_of(moves: np.ndarray) -> np.ndarray:
    """Return the part of each game [G] as its place in PARTS."""
    tenth = opening_keys(moves, OPENING) % np.uint64(10)
    return np.where(tenth < 8, 0, tenth.astype(np.int64) - 7).astype(np.int8)


def squares_of_moves() -> np.ndarray:
    """Return the two squares [480, 2] of every move, numbered row by row."""
    vertical = np.arange(MOVES // 2)
    transposed = vertical % SIDE * SIDE + vertical // SIDE
    return np.concatenate([np.stack([vertical, vertical + SIDE], 1), np.stack([transposed, transposed + 1], 1)])


def sector_weights() -> np.ndarray:
    """Return how moves count in sectors [480, 16]: Vertical's 1, Horizontal's -1, each in that of its first square."""
    first = squares_of_moves()[:, 0]
    sector = first // SIDE // SECTOR * (SIDE // SECTOR) + first % SIDE // SECTOR
    weights = np.zeros((MOVES, SECTORS), np.float32)
    weights[np.arange(MOVES), sector] = np.where(np.arange(MOVES) < MOVES // 2, 1, -1)
    return weights


class GameTable:
    """Games on a device.

    covered_at  [G, 256] uint8: ply at which a square is covered, or NEVER
    moves       [G * 128] int16, -1 behind the end of a game
    explored    [G * 128] bool
    winners     [G] float32: 1 if Vertical won
    """

    def __init__(self, records: GameRecords, device: str | torch.device = "cpu"):
        self.records = records
        self.parts = parts_of(records.moves)
        self.device = torch.device(device)
        moves = torch.from_numpy(np.ascontiguousarray(records.moves)).to(self.device)
        self.covered_at = (
            torch.cat([scattered(some) for some in torch.split(moves, SCATTERED)]) if len(moves) else moves
        )
        self.moves = moves.flatten()
        self.explored = torch.from_numpy(np.ascontiguousarray(records.explored)).to(self.device).flatten()
        self.winners = torch.from_numpy(records.winners.astype(np.float32)).to(self.device)

    def __len__(self) -> int:
        return len(self.records)


def scattered(moves: Tensor) -> Tensor:
    """Return the ply [G, 256] uint8 at which each square is covered, from moves [G, 128]."""
    squares = torch.from_numpy(squares_of_moves()).to(moves.device)
    nowhere = torch.full((1, 2), SQUARES, device=moves.device)  # -1, behind the end, finds this last row
    places = torch.cat([squares, nowhere])[moves.long()].flatten(1)
    plies = torch.arange(moves.shape[1], dtype=torch.uint8, device=moves.device).repeat_interleave(2)
    table = torch.full((len(moves), SQUARES + 1), NEVER, dtype=torch.uint8, device=moves.device)
    return table.scatter_(1, places, plies.expand(len(moves), -1))[:, :SQUARES].contiguous()


class Positions:
    """The positions of one part of the games, from some ply on, each before a move that was played.

    `part` is one of PARTS or `all`. With `drop_explored` positions are left out in which the move was drawn at random.
    """

    def __init__(
        self,
        table: GameTable,
        part: str = "train",
        first_ply: int = OPENING,
        drop_explored: bool = False,
        side_token: bool = False,
    ):
        one_of("part", part, (*PARTS, "all"))
        whole_number("first_ply", first_ply, 0, LONGEST)
        self.table, self.side_token = table, side_token
        records, ply = table.records, np.arange(LONGEST)
        chosen = (ply >= first_ply) & (ply < records.lengths[:, None])
        if part != "all":
            chosen &= (table.parts == PARTS.index(part))[:, None]
        if drop_explored:
            chosen &= ~records.explored
        device, turns = table.device, Domineering().symmetries()
        self.places = torch.from_numpy(np.flatnonzero(chosen)).to(device)  # 128 * game + ply
        self.squares = torch.from_numpy(turns.observations["tokens"][:, :SQUARES].copy()).to(device)
        self.actions = torch.from_numpy(turns.actions).to(device)
        self.sides = torch.from_numpy(np.arange(MOVES) // (MOVES // 2) == np.arange(2)[:, None]).to(device)
        self.weights = torch.from_numpy(sector_weights()).to(device)

    def __len__(self) -> int:
        return len(self.places)

    def batch(self, numbers: Tensor, symmetries: Tensor) -> Batch:
        """Build the positions with the given numbers [N] in the given symmetries [N], int64 on the table's device."""
        table, place = self.table, self.places[numbers]
        game, ply = place // LONGEST, place % LONGEST
        side = ply % 2
        covered = table.covered_at[game[:, None], self.squares[symmetries]] < ply.to(torch.uint8)[:, None]
        possible = possible_moves(~covered.view(-1, SIDE, SIDE))
        return Batch(
            tokens_of(covered, BOARD_TOKEN + side if self.side_token else None),
            possible & self.sides[side],
            self.actions[symmetries, table.moves[place].long()],
            table.winners[game],
            (possible.float() @ self.weights).float(),  # whole numbers up to 16: exact in half precision, too
            table.explored[place],
        )

    def in_order(self, size: int) -> Iterator[Batch]:
        """Yield all positions as they are, in batches; the last may be smaller."""
        for begin in range(0, len(self), size):
            numbers = torch.arange(begin, min(begin + size, len(self)), device=self.table.device)
            yield self.batch(numbers, torch.zeros_like(numbers))


def possible_moves(free: Tensor) -> Tensor:
    """Return the moves [N, 480] of both players from the free squares [N, 16, 16]; Horizontal's go by columns."""
    vertical = free[:, :-1] & free[:, 1:]
    horizontal = free[:, :, :-1] & free[:, :, 1:]
    return torch.cat([vertical.flatten(1), horizontal.transpose(1, 2).flatten(1)], 1)


def tokens_of(covered: Tensor, board: Tensor | None) -> Tensor:
    """Return the tokens [N, 257] of boards [N, 256]; the board's own is given [N], if it is not always the same."""
    tokens = torch.empty((len(covered), SQUARES + 1), dtype=torch.int64, device=covered.device)
    tokens[:, :SQUARES] = covered
    if board is None:
        tokens[:, SQUARES].fill_(BOARD_TOKEN)
    else:
        tokens[:, SQUARES] = board
    return tokens


class DomineeringDataset(Dataset[dict[str, Tensor]]):
    """The same positions for a DataLoader, one by one: item 4 * i + s is position i in symmetry s.

    Without `augment` item i is position i as it was. Items are the fields of a `Batch`, without its first axis.
    """

    def __init__(
        self,
        paths: Sequence[str | Path],
        part: str = "train",
        augment: bool = True,
        drop_explored: bool = False,
        side_token: bool = False,
    ):
        table = GameTable(load_records(paths))
        self.all = Positions(table, part, drop_explored=drop_explored, side_token=side_token)
        self.copies = SYMMETRIES if augment else 1

    def __len__(self) -> int:
        return self.copies * len(self.all)

    def __getitem__(self, index: int) -> dict[str, Tensor]:
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> list[dict[str, Tensor]]:
        """Return several items, built together."""
        for index in indices:
            if not -len(self) <= index < len(self):
                raise IndexError(f"item {index} of {len(self)}")
        items = torch.tensor([index % len(self) for index in indices])
        batch = self.all.batch(items // self.copies, items % self.copies)
        columns = {field.name: getattr(batch, field.name) for field in fields(batch)}
        return [{name: column[i] for name, column in columns.items()} for i in range(len(indices))]
