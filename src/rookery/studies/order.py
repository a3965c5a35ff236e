"""Which positions are learned from, step by step: each once in every pass, at random.

order = Order(len(train), 256, seed=42)
batch = train.batch(*order.at(step))
"""

from __future__ import annotations

import torch
from torch import Tensor

from rookery.games.options import whole_number
from rookery.games.rng import random_bits

SYMMETRIES = 4
"""of a board: 0 identity, 1 left to right, 2 top to bottom, 3 both; who has no board leaves them aside"""


class Order:
    """Which positions a step learns from, and in which symmetries: each position once in every pass, at random.

    A pure function of (positions, size, seed, step), the same on every device. What is left of a pass, too few for a
    batch, is left out.
    """

    def __init__(self, positions: int, size: int, seed: int, device: str | torch.device = "cpu"):
        self.positions = whole_number("positions", positions, 1, (1 << 31) - 1)
        self.size = whole_number("size of a batch", size, 1, positions)
        self.seed, self.device = whole_number("seed", seed, 0, (1 << 63) - 1), device
        self.steps = positions // self.size
        """steps of a pass"""
        self.drawn = -1
        self.numbers = self.symmetries = torch.empty(0)

    def at(self, step: int, steps: int = 1) -> tuple[Tensor, Tensor]:
        """Return the numbers and symmetries [steps * size] of a step, counted from 0, and of those that follow."""
        found = [self.of_one(following) for following in range(step, step + steps)]
        numbers, symmetries = (torch.cat(column) for column in zip(*found, strict=True))
        return numbers.long(), symmetries.long()

    def of_one(self, step: int) -> tuple[Tensor, Tensor]:
        """Return the numbers and symmetries [size] of a step, as they are kept."""
        passed, within = divmod(step, self.steps)
        if passed != self.drawn:
            self.draw(passed)
        some = slice(within * self.size, (within + 1) * self.size)
        return self.numbers[some], self.symmetries[some]

    def draw(self, passed: int) -> None:
        """Draw the order of a pass."""
        generator = torch.Generator().manual_seed(int(random_bits(self.seed, 0, passed)) >> 1)
        numbers = torch.randperm(self.positions, generator=generator, dtype=torch.int32)
        symmetries = torch.randint(SYMMETRIES, (self.positions,), generator=generator, dtype=torch.uint8)
        self.numbers, self.symmetries, self.drawn = numbers.to(self.device), symmetries.to(self.device), passed
