"""What judges a leaf: any function from observations to logits and values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numba import njit

from rookery.errors import BadInput

MOST_VALUE = 1.001  # with what rounding may add
SURE = 1.0005
"""value by which an evaluator says that the mover wins for certain, and -SURE that it loses; a tree search that proves
takes it for a proof, and all count it as 1"""
SURE_FROM = 1.0004  # far above what rounding may add


@runtime_checkable
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
    given, judged = answers
    if np.shape(given) != logits.shape or np.shape(judged) != values.shape:
        raise BadInput(
            f"the evaluator answers with arrays of shape {(np.shape(given), np.shape(judged))}; asked for were logits "
            f"{logits.shape} and values {values.shape}"
        )
    given, judged = np.asarray(given, np.float32), np.asarray(judged, np.float32)
    if copy_sound(given, judged, logits, values, weights):
        return
    rows = asked()
    if rows.any() and not copy_sound(given[rows], judged[rows], logits[rows], values[rows], weights):
        allowed = "weights >= 0" if weights else "logits below infinity"
        raise BadInput(f"the evaluator must answer with {allowed} and values in [-1, 1], and with numbers only")


@njit(cache=True, nogil=True)
def copy_sound(given: Any, judged: Any, logits: Any, values: Any, weights: bool) -> bool:
    """Copy answers and tell whether they can be searched with: a logit may be -inf, nothing may be not a number."""
    sound, least = True, np.float32(0) if weights else np.float32(-np.inf)
    for row in range(len(judged)):
        values[row] = judged[row]
        sound &= abs(judged[row]) <= MOST_VALUE
        for action in range(given.shape[1]):
            logits[row, action] = given[row, action]
            sound &= least <= given[row, action] < np.inf
    return sound
