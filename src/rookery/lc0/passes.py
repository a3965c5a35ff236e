"""Passes of a network on a card that the host does not wait for.

    card = CardPasses(judge, rows=256, device=torch.device("cuda"))
    one = card.begin(masks, values)          # [N, 112] each; comes back at once
    other = card.begin(more, others)         # may be asked for before the first is done
    one.wait()                               # [N, 1858 + 5]

A pass is a CUDA graph of a power of two of rows; fewer are padded with whatever stood there. Positions go to the card
and answers come back through memory of the host that does not move, of which there is enough for two passes: answers
stand there until the pass after the next one is begun.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from rookery.games.chess_lc0_input import PLANES
from rookery.nets.captured import captured

COLUMNS = 1858 + 5
"""logits, chances to win, draw and lose, the value, the moves left"""
LEAST_ROWS = 8
AHEAD = 2
"""passes that may be under way"""

Judge = Callable[[Tensor, Tensor], Tensor]
"""reads masks [N, 112], int64, and values [N, 112] and returns answers [N, 1863], all on the card"""


@dataclass(frozen=True)
class Answered:
    """Answers that are there already."""

    answers: np.ndarray

    def wait(self) -> np.ndarray:
        """Return the answers."""
        return self.answers


class Desk:
    """Memory of the host for one pass under way."""

    def __init__(self, rows: int):
        self.masks = torch.zeros(rows, PLANES, dtype=torch.int64, pin_memory=True)
        self.values = torch.zeros(rows, PLANES, pin_memory=True)
        self.answers = torch.zeros(rows, COLUMNS, pin_memory=True)
        new_event: Callable[[], torch.cuda.Event] = torch.cuda.Event
        self.done = new_event()


@dataclass(frozen=True)
class UnderWay:
    """Answers that a card may still be computing."""

    desk: Desk
    rows: int

    def wait(self) -> np.ndarray:
        """Return the answers when they are there."""
        self.desk.done.synchronize()
        found: np.ndarray = self.desk.answers[: self.rows].numpy()
        return found


class Graph:
    """A pass over a fixed number of rows."""

    def __init__(self, judge: Judge, rows: int, device: torch.device):
        self.judge = judge
        self.masks = torch.zeros(rows, PLANES, dtype=torch.int64, device=device)
        self.values = torch.zeros(rows, PLANES, device=device)
        with torch.inference_mode(False), torch.no_grad(), torch.cuda.device(self.masks.device):
            self.graph = captured(self.work)

    def work(self) -> None:
        """Judge, into memory that is the graph's own."""
        self.answers = self.judge(self.masks, self.values)


class CardPasses:
    """Passes of one network."""

    def __init__(self, judge: Judge, rows: int, device: torch.device):
        """Make room for passes of up to so many rows."""
        self.judge, self.device = judge, device
        self.most = rows_of_graph(rows)
        self.desks = [Desk(self.most) for _ in range(AHEAD)]
        self.graphs: dict[int, Graph] = {}

    def graph(self, rows: int) -> Graph:
        """Return the graph for so many rows, capturing it if that is not done."""
        size = rows_of_graph(rows)
        if size not in self.graphs:
            self.graphs[size] = Graph(self.judge, size, self.device)
        return self.graphs[size]

    def prepare(self) -> None:
        """Capture the graphs of all sizes, so that no pass has to wait for that."""
        size = LEAST_ROWS
        while size <= self.most:
            self.graph(size)
            size *= 2

    @torch.no_grad()
    def begin(self, masks: np.ndarray, values: np.ndarray) -> UnderWay:
        """Let the card judge N positions, and do not wait for it."""
        rows, graph = len(masks), self.graph(len(masks))
        desk = self.desks.pop(0)
        self.desks.append(desk)
        desk.done.synchronize()  # of the pass before the last one
        desk.masks[:rows].copy_(torch.from_numpy(masks.view(np.int64)))
        desk.values[:rows].copy_(torch.from_numpy(values))
        graph.masks[:rows].copy_(desk.masks[:rows], non_blocking=True)
        graph.values[:rows].copy_(desk.values[:rows], non_blocking=True)
        graph.graph.replay()
        desk.answers[:rows].copy_(graph.answers[:rows], non_blocking=True)
        desk.done.record()
        return UnderWay(desk, rows)


def rows_of_graph(rows: int) -> int:
    """Return the rows of the graph that judges so many."""
    return max(LEAST_ROWS, 1 << (rows - 1).bit_length())
