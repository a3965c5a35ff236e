"""How Lc0's search is to be made: its settings with the values Lc0 plays with, and the record that kernels read.

Training uses others: cpuct 1.2, cpuct_factor 0, policy_temperature 1, fpu_value 0, no two-fold draws, no proofs.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from rookery.search.tree_settings import checked, number, whole, word

FPU = ("reduction", "absolute")
MOST_BATCH = 1024

OPTIONS = np.dtype(
    [
        ("cpuct", np.float64), ("cpuct_base", np.float64), ("cpuct_factor", np.float64), ("fpu_value", np.float64),
        ("absolute", np.int32), ("sharpness", np.float64), ("two_fold", np.int32), ("sticky", np.int32),
        ("transpositions", np.int32), ("moves_left", np.int32), ("m_most", np.float64), ("m_threshold", np.float64),
        ("m_slope", np.float64), ("m_constant", np.float64), ("m_scaled", np.float64), ("m_quadratic", np.float64),
        ("collisions", np.int32), ("form", np.int32), ("fill", np.int32),
    ],
    align=True,
)  # fmt: skip


def on(meaning: str) -> Any:
    """Declare a setting that is on unless it is switched off."""
    return word("on", ("on", "off"), meaning)


@dataclass(frozen=True)
class Lc0Settings:
    """One search. Each field holds what it may be and means; options of players and of the engine come from here."""

    batch: int = whole(7, 1, MOST_BATCH, "leaves judged together; 1: the exact serial search")
    cpuct: float = number(1.745, 0, 1000, "weight of the priors against the means")
    cpuct_base: float = number(38739, 1, 10**9, "visits about which cpuct begins to grow")
    cpuct_factor: float = number(3.894, 0, 1000, "growth of cpuct with a node's visits")
    fpu: str = word("reduction", FPU, "whether fpu_value is taken off the parent's mean, or is the value itself")
    fpu_value: float = number(0.33, -100, 100, "first-play urgency: what a move not yet visited is taken to be worth")
    policy_temperature: float = number(1.359, 0.01, 100, "logits of the policy are divided by it")
    two_fold: str = on("whether a position that comes again within the search counts as a draw")
    sticky: str = on("whether proven results are carried up the tree")
    transpositions: str = word(
        "off", ("on", "off"), "whether a position takes over what was found of it on another way"
    )
    m_max_effect: float = number(0.0345, 0, 100, "moves left: the most they change a score")
    m_threshold: float = number(0.8, 0, 1, "moves left: how far a value must be from 0 for them to count")
    m_slope: float = number(0.0027, 0, 1, "moves left: what a ply changes")
    m_constant: float = number(0, -100, 100, "moves left: constant part of their weight")
    m_scaled: float = number(1.6521, -100, 100, "moves left: part of their weight that grows with the value")
    m_quadratic: float = number(-0.6521, -100, 100, "moves left: part of their weight that grows with its square")
    collisions: int = whole(80_000, 1, 10**8, "visits to leaves under way, at most, before a batch is judged")

    def __post_init__(self) -> None:
        """Refuse what cannot be searched with, by name."""
        for setting in fields(self):
            allowed = {key: value for key, value in setting.metadata.items() if key != "meaning"}
            checked(setting.name, getattr(self, setting.name), **allowed)

    def record(self, moves_left: bool, form: int, fill: int) -> np.ndarray:
        """Write what kernels read, shape [1]; `moves_left` says whether the network tells them."""
        made = np.zeros(1, OPTIONS)
        options: Any = made[0]
        for name in ("cpuct", "cpuct_base", "cpuct_factor", "fpu_value", "collisions"):
            options[name] = getattr(self, name)
        for name in ("threshold", "slope", "constant", "scaled", "quadratic"):
            options[f"m_{name}"] = getattr(self, f"m_{name}")
        options["m_most"], options["absolute"] = self.m_max_effect, self.fpu == "absolute"
        options["sharpness"] = 1 / self.policy_temperature
        options["two_fold"], options["sticky"] = self.two_fold == "on", self.sticky == "on"
        options["transpositions"] = self.transpositions == "on"
        options["moves_left"] = moves_left and self.m_max_effect > 0
        options["form"], options["fill"] = form, fill
        return made
