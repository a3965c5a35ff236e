"""Answers of an evaluator kept for positions that are asked again.

Keyed by a hash of the observation's bytes, 128 bits wide: what a network sees, not what a position is. When all room is
taken, the oldest answer makes way.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

import numpy as np

Answers = tuple[np.ndarray, np.ndarray]
HASH_BYTES = 16


def hash_of(row: np.ndarray) -> bytes:
    """Return the hash of an observation."""
    return blake2b(row.data, digest_size=HASH_BYTES).digest()


class Memory:
    """The last answers, up to a number of them."""

    def __init__(self, actions: int, room: int):
        self.logits, self.values = np.empty((room, actions), np.float32), np.empty(room, np.float32)
        self.room = room
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self.slots: dict[bytes, int] = {}
        self.keys: list[bytes] = []
        self.oldest = 0
        self.asked = self.found = 0
        """how many rows were asked for, and how many of them were known"""

    def answers(self, rows: np.ndarray, judge: Callable[[np.ndarray], Answers]) -> Answers:
        """Answer for rows [N, O], asking `judge` once for each that is new."""
        keys = [hash_of(row) for row in rows]
        new = {key: n for n, key in reversed(list(enumerate(keys))) if key not in self.slots}  # key -> its first row
        logits, values = np.empty((len(rows), self.logits.shape[1]), np.float32), np.empty(len(rows), np.float32)
        known = [n for n, key in enumerate(keys) if key not in new]
        slots = [self.slots[keys[n]] for n in known]
        logits[known], values[known] = self.logits[slots], self.values[slots]
        if new:
            order = sorted(new.values())
            judged_logits, judged_values = judge(rows[order])
            places = {keys[n]: place for place, n in enumerate(order)}
            fresh = [n for n, key in enumerate(keys) if key in new]
            taken = [places[keys[n]] for n in fresh]
            logits[fresh], values[fresh] = judged_logits[taken], judged_values[taken]
            for key, place in places.items():
                self.keep(key, judged_logits[place], float(judged_values[place]))
        self.asked, self.found = self.asked + len(rows), self.found + len(rows) - len(new)
        return logits, values

    def keep(self, key: bytes, logits: np.ndarray, value: float) -> None:
        """Keep one answer, in place of the oldest if there is no room left."""
        if len(self.keys) < self.room:
            slot = len(self.keys)
            self.keys.append(key)
        else:
            slot = self.oldest
            self.oldest = (self.oldest + 1) % self.room
            del self.slots[self.keys[slot]]
            self.keys[slot] = key
        self.slots[key] = slot
        self.logits[slot], self.values[slot] = logits, value
