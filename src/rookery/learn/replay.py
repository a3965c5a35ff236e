"""Replay: the newest positions of finished games, in tensors on the device that trains.

Rows form a ring; row r of all ever written lies at r modulo the capacity. A row holds an observation, the legal actions
with what the search thought of each, the value it found, and the outcome for the mover. Symmetries are applied when a
batch is made, so that one row stands for up to eight positions. Lc0's planes of chess hold small whole numbers only, so
a byte is enough for each of their 7168.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from rookery.games.chess_lc0 import KINDS as PLANES
from rookery.games.game import Game
from rookery.learn.book import Rows
from rookery.learn.packing import packed, unpacked


class Batch(NamedTuple):
    """What a step learns from: N positions."""

    observations: Tensor  # [N, O]
    policy: Tensor  # [N, A], rows sum to 1
    legal: Tensor  # [N, A] bool
    outcomes: Tensor  # [N], for the mover
    values: Tensor  # [N], found by the search, for the mover


def empty_rows(game: Game, kind: str, count: int) -> Rows:
    """Make room for so many rows, in NumPy's arrays."""
    inputs, most = int(np.prod(game.observations[kind])), max(1, game.most_legal)
    small = game.name == "chess" and kind in PLANES
    shapes: dict[str, tuple[tuple[int, ...], type]] = {
        "observations": ((inputs,), np.uint8 if small else np.float32),
        "actions": ((most,), np.int16),
        "weights": ((most,), np.float32),
        "counts": ((), np.int16),
        "taught": ((), np.uint8),
        "played": ((), np.int16),
        "outcomes": ((), np.float32),
        "values": ((), np.float32),
        "plies": ((), np.int32),
        "games": ((), np.int64),
    }
    return Rows(*(np.zeros((count, *shapes[name][0]), shapes[name][1]) for name in Rows._fields))


class Replay:
    """A ring of rows."""

    def __init__(
        self, game: Game, kind: str, capacity: int, device: torch.device | str = "cpu", symmetries: bool = False
    ):
        self.game, self.kind, self.capacity, self.device = game, kind, capacity, torch.device(device)
        self.written = 0
        """rows ever written"""
        like = [torch.from_numpy(column) for column in empty_rows(game, kind, 0)]
        self.rows = Rows(*(torch.zeros(capacity, *some.shape[1:], dtype=some.dtype, device=device) for some in like))
        inputs = self.rows.observations.shape[1]
        tables = game.symmetries() if symmetries else None
        self.turns = 1 if tables is None else len(tables)
        self.turned_actions = self.table(None if tables is None else tables.actions, game.actions)
        self.turned_inputs = self.table(None if tables is None else tables.observations[kind], inputs)

    def table(self, permutations: np.ndarray | None, length: int) -> Tensor:
        """Put permutations on the device, the identity alone if there are none."""
        found = np.arange(length)[None] if permutations is None else permutations
        return torch.from_numpy(np.ascontiguousarray(found, np.int64)).to(self.device)

    @property
    def filled(self) -> int:
        """Rows that hold a position."""
        return min(self.written, self.capacity)

    def state(self) -> dict[str, np.ndarray]:
        """Return all rows, packed, without what stands behind the last legal move of each."""
        kept = {name: tensor[: self.filled].cpu().numpy() for name, tensor in self.rows._asdict().items()}
        used = np.arange(kept["actions"].shape[1]) < kept["counts"][:, None]
        for name in ("actions", "weights"):
            kept[name] = kept[name][used]
        return {name: packed(array) for name, array in kept.items()} | {"written": np.array(self.written)}

    def load(self, state: dict[str, np.ndarray]) -> None:
        """Take rows back."""
        rows = self.unpacked_rows(state)
        self.written = int(state["written"])
        for tensor, array in zip(self.rows, rows, strict=True):
            tensor[: self.filled].copy_(torch.from_numpy(array))

    def unpacked_rows(self, state: dict[str, np.ndarray]) -> Rows:
        """Return the rows of a packed state, which may be that of another replay of the same kind of positions."""
        counts = unpacked(state["counts"], (-1,), np.dtype(np.int16))
        like = empty_rows(self.game, self.kind, len(counts))._asdict()
        used = np.arange(like["actions"].shape[1]) < counts[:, None]
        for name, array in like.items():
            if name in ("actions", "weights"):
                array[used] = unpacked(state[name], (-1,), array.dtype)
            else:
                like[name] = unpacked(state[name], array.shape, array.dtype)
        return Rows(**like)

    def add(self, rows: Rows) -> None:
        """Write rows of NumPy behind those that are there, over the oldest where there is no more room."""
        count = len(rows.counts)
        places = torch.arange(self.written, self.written + count)[-self.capacity :] % self.capacity
        for tensor, array in zip(self.rows, rows, strict=True):
            tensor[places.to(self.device)] = torch.from_numpy(array[-self.capacity :]).to(self.device)
        self.written += count

    def clear(self) -> None:
        """Forget all rows."""
        self.written = 0

    def taught_rows(self) -> Tensor:
        """Return the rows that are taught, in order; all of them where every move is."""
        return torch.nonzero(self.rows.taught[: self.filled]).flatten()

    def batch(self, rows: Tensor, turns: Tensor) -> Batch:
        """Make a batch of rows [N], each in one of the game's symmetries [N]."""
        kept = self.rows
        count = kept.counts[rows].long()
        weights = kept.weights[rows]
        actions = torch.gather(self.turned_actions[turns], 1, kept.actions[rows].long())
        legal = torch.arange(actions.shape[1], device=self.device) < count[:, None]
        policy = torch.zeros(len(rows), self.game.actions, device=self.device)
        policy.scatter_add_(1, actions, weights / weights.sum(1, keepdim=True).clamp_min(1e-30))
        mask = torch.zeros_like(policy).scatter_add_(1, actions, legal.float()) > 0
        observations = kept.observations[rows].float()
        if self.turns > 1:
            observations = torch.gather(observations, 1, self.turned_inputs[turns])
        return Batch(observations, policy, mask, kept.outcomes[rows], kept.values[rows])


def draw(seed: int, step: int, rows: int, batch: int, turns: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw the rows of a step, none twice, and a symmetry for each: a function of seed and step alone."""
    generator = np.random.Generator(np.random.Philox(key=[np.uint64(seed & (2**64 - 1)), np.uint64(step)]))
    chosen = generator.choice(rows, batch, replace=False, shuffle=False)
    return chosen, generator.integers(0, turns, batch) if turns > 1 else np.zeros(batch, np.int64)
