"""A tower that judges positions of the Domineering study by the hundred thousand, on any device.

Boards come as bits and become planes on the device, the same as the observation `planes` of the game: covered squares,
squares the mover can still cover, those the other can, and whether Vertical moves. A pass has a fixed number of rows,
on a card as a CUDA graph: so what is computed for a row does not change with the number of rows asked about.

Convolutions are computed in half precision on a card; what is read from their means and greatest numbers, the value, in
single precision everywhere, since a look-ahead compares values that differ little.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from rookery.arena.evaluator import chosen_device
from rookery.errors import BadInput
from rookery.nets.captured import captured
from rookery.nets.folded import FoldedTower
from rookery.nets.network import Network
from rookery.nets.tower import Tower
from rookery.studies.domineering_batches import MOVES, SIDE, SQUARES, possible_moves, squares_of_moves

ROWS = {"cpu": 256, "cuda": 16384}
"""rows of a pass"""
PRECISIONS = {"cpu": torch.float32, "cuda": torch.float16}
PLANES, WORDS = 4, 4
LOST = -1e4
"""score of a position whose mover cannot move; others lie far above"""


def study_device(name: str) -> torch.device:
    """Return a device by name, cpu or cuda; auto takes a card if there is one."""
    found = chosen_device(name)
    if found.type in ROWS:
        return found
    if name != "auto":
        raise BadInput(f"device {name!r}: the games of Domineering are made on {' or '.join(ROWS)}")
    return torch.device("cpu")


def planes_of(covered: Tensor, vertical: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return the planes [N, 4, 16, 16] of boards [N, 256] bool, on which Vertical moves or not [N] bool.

    The numbers of one square lie together in memory, as convolutions on a card want them.
    """
    free = ~covered.view(-1, SIDE, SIDE)
    down, right = free[:, :-1] & free[:, 1:], free[:, :, :-1] & free[:, :, 1:]
    upright = functional.pad(down, (0, 0, 0, 1)) | functional.pad(down, (0, 0, 1, 0))
    lying = functional.pad(right, (0, 1)) | functional.pad(right, (1, 0))
    side = vertical[:, None, None]
    mine, other = torch.where(side, upright, lying), torch.where(side, lying, upright)
    stacked = torch.stack((~free, mine, other, side.expand_as(free)), -1)
    return stacked.to(dtype).permute(0, 3, 1, 2)


def unpacked(words: Tensor) -> Tensor:
    """Return boards [N, 256] bool from words [N, 4] int64, whose bits are the squares row by row."""
    bits = torch.arange(64, device=words.device)
    return (words[:, :, None] >> bits & 1).bool().flatten(1)


def words_of(states: np.ndarray) -> np.ndarray:
    """Return the covered squares [N, 4] of positions, by rows, as int64."""
    return np.ascontiguousarray(states["covered"][:, 0]).view(np.int64)


class BoardJudge:
    """A tower made ready for judging on a device; later changes of the network do not reach it."""

    def __init__(self, network: Network, device: torch.device | str = "cpu", rows: int | None = None):
        if not isinstance(network, Tower) or network.config.actions != MOVES or network.config.planes != PLANES:
            raise BadInput(f"the look-ahead of Domineering asks a tower of {PLANES} planes and {MOVES} actions")
        self.device = torch.device(device)
        self.dtype = PRECISIONS[self.device.type]
        self.rows = rows or ROWS[self.device.type]
        self.folded = FoldedTower(network, self.device, self.dtype)
        layers = (network.value_fc1, network.value_fc2)
        self.head = [
            tensor.detach().to(self.device, torch.float32, copy=True)
            for layer in layers
            for tensor in layer.parameters()
        ]
        self.squares = torch.from_numpy(squares_of_moves()).to(self.device)
        self.boards = torch.zeros((self.rows, SQUARES), dtype=torch.bool, device=self.device)
        self.moves = torch.zeros(self.rows, dtype=torch.int64, device=self.device)
        self.vertical = torch.zeros(self.rows, dtype=torch.bool, device=self.device)
        self.words = torch.zeros((self.rows, WORDS), dtype=torch.int64, device=self.device)
        self.graphs: dict[str, torch.cuda.CUDAGraph] = {}
        self.pages: list[tuple[Tensor, ...]] = []

    # -- passes of a fixed number of rows --

    def one_pass(self, name: str) -> None:
        """Judge what stands in the inputs, `successors` or `leaves`; on a card the work is captured once."""
        work = self.judge_successors if name == "successors" else self.judge_leaves
        with torch.no_grad():
            if self.device.type != "cuda":
                work()
                return
            if name not in self.graphs:
                self.graphs[name] = captured(work)
            self.graphs[name].replay()

    def judge_successors(self) -> None:
        """Judge the boards after the moves, from the side of those who then are to move: `scores`."""
        boards = self.boards.scatter(1, self.squares[self.moves], True)
        planes = planes_of(boards, self.vertical, self.dtype)
        lost = ~planes[:, 1].flatten(1).any(1)
        self.scores = self.score(self.folded.trunk(planes)).masked_fill(lost, LOST)

    def judge_leaves(self) -> None:
        """Judge boards given as words: `logits` and `values`."""
        x = self.folded.trunk(planes_of(unpacked(self.words), self.vertical, self.dtype))
        self.logits, self.values = self.folded.cells(x).float(), self.score(x).tanh()

    def score(self, x: Tensor) -> Tensor:
        """Return the value before its tanh [N], which tells apart what tanh would round to 1."""
        weight, bias, last, shift = self.head
        pooled = torch.cat((x.mean((2, 3), dtype=torch.float32), x.amax((2, 3)).float()), 1)
        hidden = torch.addmm(bias, pooled, weight.t()).relu_()
        return (hidden * last).sum(1) + shift  # not a product with one column, which is summed by the number of rows

    # -- as many rows as are asked --

    def successors(self, covered: Tensor, games: Tensor, moves: Tensor) -> Tensor:
        """Return the scores [M] of boards after moves [M], made on the boards `covered` [N, 256] of `games` [M]."""
        found = torch.empty(len(moves), device=self.device)
        for begin in range(0, len(moves), self.rows):
            some = slice(begin, begin + self.rows)
            count = len(moves[some])
            self.boards[:count] = covered[games[some]]
            self.moves[:count] = moves[some]
            self.vertical[:count] = moves[some] >= MOVES // 2
            self.one_pass("successors")
            found[some] = self.scores[:count]
        return found

    def leaves(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return logits [N, 480] and values [N] of positions, from the mover's side, as tree searches ask."""
        logits, values = np.empty((len(states), MOVES), np.float32), np.empty(len(states), np.float32)
        words = torch.from_numpy(words_of(states))
        vertical = torch.from_numpy(states["domineering_mover"] == 0)
        for begin in range(0, len(states), self.rows):
            some = slice(begin, begin + self.rows)
            count = len(words[some])
            self.words[:count].copy_(words[some])
            self.vertical[:count].copy_(vertical[some])
            self.one_pass("leaves")
            logits[some], values[some] = self.logits[:count].cpu().numpy(), self.values[:count].cpu().numpy()
        return logits, values

    def leaves_by_turns(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what `leaves` does; on a card in memory that is used again by the call after the next.

        Copying into memory of its own would take as long as judging.
        """
        if self.device.type != "cuda" or len(states) > self.rows:
            return self.leaves(states)
        if not self.pages:
            shapes = ((self.rows, MOVES), (self.rows,))
            self.pages = [tuple(torch.empty(shape, pin_memory=True) for shape in shapes) for _ in range(2)]
        self.pages.reverse()
        logits, values = self.pages[0]
        count = len(states)
        self.words[:count].copy_(torch.from_numpy(words_of(states)))
        self.vertical[:count].copy_(torch.from_numpy(states["domineering_mover"] == 0))
        self.one_pass("leaves")
        logits[:count].copy_(self.logits[:count], non_blocking=True)
        values[:count].copy_(self.values[:count], non_blocking=True)
        torch.cuda.current_stream(self.device).synchronize()
        return logits[:count].numpy(), values[:count].numpy()


class LookAhead:
    """A player that tries every move and plays the one after which the network likes the other's position least.

    A move after which the other cannot move wins, and is taken. Of equal moves the first one is played.
    """

    def __init__(self, judge: BoardJudge):
        self.judge = judge

    def choose(self, states: np.ndarray, seeds: np.ndarray, ply: int) -> tuple[np.ndarray, np.ndarray]:
        """Judge all positions after all moves."""
        judge = self.judge
        covered = unpacked(torch.from_numpy(words_of(states)).to(judge.device))
        upright = torch.from_numpy(states["domineering_mover"] == 0).to(judge.device)
        legal = possible_moves(~covered.view(-1, SIDE, SIDE))
        legal[:, : MOVES // 2] &= upright[:, None]
        legal[:, MOVES // 2 :] &= ~upright[:, None]
        games, moves = legal.nonzero(as_tuple=True)
        scores = torch.full(legal.shape, torch.inf, device=judge.device)
        scores[games, moves] = judge.successors(covered, games, moves)
        return scores.argmin(1).cpu().numpy(), np.zeros(len(states), np.bool_)
