"""How a tree search is to be made: settings for people, and the record that kernels read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.options import one_of, whole_number

URGENCIES = ("parent", "reduced", "lc0", "infinite")
PARENT, REDUCED, LC0, INFINITE = range(4)
NUMBERS = int | float | np.integer | np.floating
MOST_SEATS = 4
MOST_LEAVES = 1024
MOST_SIMULATIONS = 1 << 30

OPTIONS = np.dtype(
    [
        ("seed", np.int64), ("leaves", np.int32), ("actions", np.int32), ("most_legal", np.int32),
        ("urgency", np.int32), ("weights", np.int32), ("in_lanes", np.int32), ("prove", np.int32),
        ("early", np.int32), ("nodes", np.int32), ("edges", np.int32), ("depth", np.int32), ("gumbel", np.int32),
        ("temperature_plies", np.int32), ("teams", np.int32, (MOST_SEATS,)),
        ("c", np.float32), ("c_factor", np.float32), ("c_base", np.float32), ("reduction_squared", np.float32),
        ("discount", np.float32), ("sharpness", np.float32), ("noise", np.float32), ("alpha", np.float32),
        ("temperature", np.float32), ("gumbel_scale", np.float32), ("value_visits", np.float32),
        ("value_scale", np.float32),
    ],
    align=True,
)  # fmt: skip


@dataclass(frozen=True)
class TreeSettings:
    """One tree search. The defaults are those of a match: no noise, the most visited move."""

    simulations: int = 400
    """leaves looked at per move, after the root itself"""
    leaves: int = 1
    """leaves gathered from one tree before the evaluator is asked; 1 gives the exact serial search"""
    c: float = 1.5
    """weight of the priors against the means"""
    c_factor: float = 0.0
    """growth of c with the visits N of a node: c + c_factor * ln((N + c_base) / c_base)"""
    c_base: float = 38739.0
    urgency: str = "parent"
    """what an unvisited move is taken to be worth: the parent's mean (parent); that less reduction * sqrt(prior mass of
    the visited moves), but no less than the worst visited move has (reduced); the same without that floor and with
    moves in order of prior (lc0); more than any visited one (infinite)"""
    reduction: float = 0.2
    policy: str = "logits"
    """what the evaluator gives: logits, of which the softmax over legal moves is taken, or weights >= 0"""
    policy_temperature: float = 1.0
    """logits are divided by it"""
    discount: float = 1.0
    """factor of a value for each turn, that is, when the team to move changes"""
    prove: bool = False
    """carry proven wins and losses up the tree"""
    noise: float = 0.0
    """share of Dirichlet noise in the root's priors"""
    alpha: float = 0.3
    """the Dirichlet distribution's parameter"""
    temperature: float = 0.0
    """moves are drawn in proportion to visits ^ (1 / temperature); 0: the most visited"""
    temperature_plies: int = 1 << 30
    """plies of a game from which on the most visited move is played"""
    gumbel: int = 0
    """moves considered at the root by sequential halving; 0: no Gumbel search"""
    gumbel_scale: float = 1.0
    """of the noise; 0 for the strongest play"""
    value_visits: float = 50.0
    value_scale: float = 1.0
    """a Q in [0, 1] weighs (value_visits + most visits) * value_scale against a logit"""
    early_stop: bool = False
    """end when nothing can change the chosen move any more"""
    seed: int = 0
    """same seed, same search, on every device"""

    def __post_init__(self) -> None:
        """Refuse what cannot be searched with, by name."""
        whole_number("simulations", self.simulations, 1, MOST_SIMULATIONS)
        whole_number("leaves", self.leaves, 1, MOST_LEAVES)
        whole_number("gumbel", self.gumbel, 0, 1 << 15)
        whole_number("temperature_plies", self.temperature_plies, 0, 1 << 30)
        whole_number("seed", self.seed, -(2**63), 2**63 - 1)
        one_of("urgency", self.urgency, URGENCIES)
        one_of("policy", self.policy, ("logits", "weights"))
        ranges = {
            "c": (0, 1e6), "c_factor": (0, 1e6), "c_base": (1, 1e9), "reduction": (0, 2),
            "policy_temperature": (1e-3, 1e3), "discount": (0.01, 1), "noise": (0, 1), "alpha": (1e-3, 1e3),
            "temperature": (0, 100), "gumbel_scale": (0, 100), "value_visits": (0, 1e6), "value_scale": (0, 1e3),
        }  # fmt: skip
        for name, (low, high) in ranges.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, NUMBERS) or not low <= value <= high:
                raise BadInput(f"{name} must be a number in {low}..{high}, not {value!r}")
        for name in ("prove", "early_stop"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise BadInput(f"{name} must be True or False, not {getattr(self, name)!r}")
        if self.gumbel and self.noise:
            raise BadInput("gumbel and noise exclude each other: Gumbel search draws its own noise")

    def record(self, game: Game, nodes: int, edges: int, depth: int, in_lanes: bool) -> np.ndarray:
        """Write what kernels read, shape [1]: the settings and the room of a tree.

        `in_lanes`: legal moves are listed by asking about every action, the lanes side by side.
        """
        if game.seats > MOST_SEATS or not set(game.teams) <= {0, 1}:
            raise BadInput(
                f"trees are searched for two teams of at most {MOST_SEATS} seats; {game.name} has {game.teams}"
            )
        made = np.zeros(1, OPTIONS)
        options: Any = made[0]
        for name in (
            "seed", "leaves", "prove", "gumbel", "temperature_plies", "c", "c_factor", "c_base", "discount", "noise",
            "alpha", "temperature", "gumbel_scale", "value_visits", "value_scale",
        ):  # fmt: skip
            options[name] = getattr(self, name)
        options["actions"], options["most_legal"] = game.actions, max(1, game.most_legal)
        options["urgency"], options["weights"] = URGENCIES.index(self.urgency), self.policy == "weights"
        options["nodes"], options["edges"], options["depth"] = nodes, edges, depth
        options["in_lanes"], options["early"] = in_lanes, self.early_stop
        options["reduction_squared"], options["sharpness"] = self.reduction**2, 1 / self.policy_temperature
        options["teams"][: game.seats] = game.teams
        return made
