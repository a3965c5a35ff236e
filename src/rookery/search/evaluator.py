"""What judges a leaf: any function from observations to logits and values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from rookery.errors import BadInput

MOST_VALUE = 1.001  # with what rounding may add


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


def take_answers(
    answers: tuple[np.ndarray, np.ndarray],
    logits: np.ndarray,
    values: np.ndarray,
    weights: bool,
    asked: Callable[[], np.ndarray],
) -> None:
    """Copy an evaluator's answers into arrays; refuse what cannot be searched with.

    weights  whether the logits are weights >= 0
    asked    tells which rows hold a position, [N] bool; the others may be answered with anything
    """
    shapes = tuple(np.shape(answer) for answer in answers)
    if shapes != (logits.shape, values.shape):
        raise BadInput(
            f"the evaluator answers with arrays of shape {shapes}; asked for were logits {logits.shape} and values "
            f"{values.shape}"
        )
    logits[:], values[:] = answers
    if sound(logits, values, weights):
        return
    rows = asked()
    if rows.any() and not sound(logits[rows], values[rows], weights):
        allowed = "weights >= 0" if weights else "logits below infinity"
        raise BadInput(f"the evaluator must answer with {allowed} and values in [-1, 1], and with numbers only")


def sound(logits: np.ndarray, values: np.ndarray, weights: bool) -> bool:
    """Tell whether answers can be searched with: a logit may be -inf, but nothing may be not a number."""
    least = 0 if weights else -np.inf
    return bool(logits.min() >= least and logits.max() < np.inf and np.abs(values).max() <= MOST_VALUE)
