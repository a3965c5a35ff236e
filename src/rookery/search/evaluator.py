"""What judges a leaf: any function from observations to logits and values."""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Evaluator(Protocol):
    """A network or anything that acts like one. Searches batch what they ask it."""

    kind: str
    """the kind of observation it reads, one of `Game.observations`"""

    def __call__(self, observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Judge N positions.

        observations  [N, O] float32, flat, each from its mover's side
        returns       logits [N, A] float32 over all actions, legal or not, and values [N] float32 in [-1, 1]
        """
        ...
