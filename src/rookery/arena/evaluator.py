"""Any network as an evaluator: what a tree search asks, NumPy in and NumPy out.

    loaded = load_network("checkpoint_01000.pth")
    evaluator = NetworkEvaluator(loaded.network, loaded.about.observation)
    trees.run(evaluator)

On a CPU a pass is made of the rows as they come, in single precision unless bfloat16 is asked for, which processors
that multiply in it do about twice as fast. On a card it is a CUDA graph of a fixed size, in bfloat16; fewer rows are
padded, more are split. `update` takes over new weights without making anything anew.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

from rookery.arena.memory import Memory
from rookery.errors import BadInput
from rookery.games.options import one_of, whole_number
from rookery.nets.captured import Captured
from rookery.nets.folded import fold
from rookery.nets.network import Network

DEVICES = ("auto", "cpu", "cuda", "mps")
PRECISIONS = {"32": torch.float32, "bf16": torch.bfloat16}
USUAL = {"cpu": "32", "cuda": "bf16", "mps": "32"}
MOST_ROWS = {"cpu": 1024, "cuda": 16384, "mps": 4096}
"""rows of one pass unless a batch is given; more are split"""
LEAST_ROWS = 64
"""of a pass on a card"""

Answers = tuple[np.ndarray, np.ndarray]


def chosen_device(name: str) -> torch.device:
    """Return a device by name; auto takes CUDA, Apple's, or the CPU, whichever is there first."""
    kind, _, number = name.partition(":")
    one_of("device", kind, DEVICES)
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if kind == "auto":
        return torch.device(next(device for device, is_there in there.items() if is_there))
    if not there[kind]:
        raise BadInput(f"device {name!r} is not there; auto takes the best one that is")
    if number and (kind != "cuda" or not number.isdecimal() or int(number) >= torch.cuda.device_count()):
        raise BadInput(f"there is no device {name!r}")
    return torch.device(name)


@contextmanager
def on_threads(count: int | None) -> Iterator[None]:
    """Let PyTorch use so many threads for work begun by this one; None leaves it as it is."""
    before = torch.get_num_threads()
    if count is None or count == before:
        yield
        return
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def steady(device: torch.device) -> Iterator[None]:
    """Let a CPU compute on one thread: the same sums on every machine, and no thread that waits for a busy core."""
    with on_threads(1 if device.type == "cpu" else None):
        yield


class NetworkEvaluator:
    """A network that judges positions for a search."""

    def __init__(
        self, network: Network, kind: str, device: str = "auto", precision: str = "auto", batch: int | None = None,
        threads: int | None = None, cache: int = 0,
    ):  # fmt: skip
        """Make an evaluator; later changes of the network do not reach it unless by `update`.

        kind     the kind of observation the network reads
        precision  the numbers it computes with: 32, bf16, or auto: bf16 on a CUDA card, else 32
        batch    every pass is made of exactly so many rows, so that no answer depends on what else is asked;
                 None: as many as are asked, on a card the next power of two
        threads  of a CPU for a pass; None: as PyTorch is set
        cache    answers to keep, for positions that are asked again
        """
        self.kind = kind
        self.device = chosen_device(device)
        self.precision = USUAL[self.device.type] if precision == "auto" else precision
        one_of("precision", self.precision, tuple(PRECISIONS))
        self.batch = None if batch is None else whole_number("batch", batch, 1, 1 << 20)
        self.threads = None if threads is None else whole_number("threads", threads, 1, 1024)
        self.folded = fold(network, self.device, PRECISIONS[self.precision])
        self.inputs, self.actions = network.config.inputs, network.config.actions
        self.memory = Memory(self.actions, cache) if whole_number("cache", cache, 0, 1 << 30) else None
        self.graphs: dict[int, Captured] = {}
        self.lock = threading.Lock()

    def update(self, network: Network) -> None:
        """Take over the weights of a network of the same configuration; answers kept so far are forgotten."""
        with self.lock:
            self.folded.update(network)
            if self.memory:
                self.memory.clear()

    def __call__(self, observations: np.ndarray) -> Answers:
        """Judge N positions: observations [N, O] to logits [N, A] and values [N], float32."""
        if np.ndim(observations) != 2 or np.shape(observations)[1] != self.inputs:
            raise BadInput(f"the network reads [N, {self.inputs}] numbers, not an array of {np.shape(observations)}")
        rows = np.require(observations, np.float32, ["C", "W"])
        with self.lock:
            return self.memory.answers(rows, self.judge) if self.memory else self.judge(rows)

    def judge(self, rows: np.ndarray) -> Answers:
        """Judge positions in as many passes as they need."""
        logits, values = np.empty((len(rows), self.actions), np.float32), np.empty(len(rows), np.float32)
        kind = self.device.type
        most = self.batch or min(MOST_ROWS[kind], self.folded.most_rows.get(kind, MOST_ROWS[kind]))
        with torch.inference_mode(), on_threads(self.threads):
            for first in range(0, len(rows), most):
                part = slice(first, first + most)
                logits[part], values[part] = self.one_pass(rows[part])
        return logits, values

    def one_pass(self, rows: np.ndarray) -> Answers:
        """Judge what fits into one pass."""
        if self.device.type == "cuda":
            return self.card_pass(rows)
        count, wanted = len(rows), self.batch or self.folded.steady_rows
        if count < wanted:
            rows = np.concatenate((rows, np.zeros((wanted - count, self.inputs), np.float32)))
        logits, values = self.folded(torch.from_numpy(rows).to(self.device))
        return logits.cpu().numpy()[:count], values.cpu().numpy()[:count]

    # -- on a card --

    def card_pass(self, rows: np.ndarray) -> Answers:
        """Judge by a graph of the next size."""
        captured = self.captured(self.batch or max(LEAST_ROWS, 1 << (len(rows) - 1).bit_length()))
        captured.static_input[: len(rows)].copy_(torch.from_numpy(rows))
        captured.replay()
        logits, values = captured.static_logits[: len(rows)], captured.static_values[: len(rows)]
        return logits.cpu().numpy(), values.cpu().numpy()

    def captured(self, rows: int) -> Captured:
        """Return the graph that judges so many rows on the card, capturing it if that is not done."""
        if self.device.type != "cuda":
            raise BadInput(f"graphs are captured on CUDA cards; this evaluator works on {self.device.type}")
        if rows not in self.graphs:
            with torch.inference_mode(False), torch.no_grad():
                self.graphs[rows] = Captured(self.folded, rows, self.device)
        return self.graphs[rows]
