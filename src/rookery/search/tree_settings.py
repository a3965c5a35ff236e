"""How a tree search is to be made: settings for people, and the record that kernels read."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.options import one_of, whole_number
from rookery.search.analysis import NUMBERS
from rookery.search.records import words_of

URGENCIES = ("parent", "reduced", "lc0", "infinite")
PARENT, REDUCED, LC0, INFINITE = range(4)
MOST_SEATS = 4
MOST_LEAVES = 1024
MOST_SIMULATIONS = 1 << 30

OPTIONS = np.dtype(
    [
        ("seed", np.int64), ("leaves", np.int32), ("actions", np.int32), ("most_legal", np.int32),
        ("urgency", np.int32), ("weights", np.int32), ("in_lanes", np.int32), ("prove", np.int32),
        ("early", np.int32), ("nodes", np.int32), ("edges", np.int32), ("depth", np.int32), ("gumbel", np.int32),
        ("prune", np.int32), ("temperature_plies", np.int32), ("state_words", np.int32),
        ("teams", np.int32, (MOST_SEATS,)),
        ("c", np.float32), ("c_factor", np.float32), ("c_base", np.float32), ("reduction_squared", np.float32),
        ("discount", np.float32), ("sharpness", np.float32), ("noise", np.float32), ("alpha", np.float32),
        ("temperature", np.float32), ("gumbel_scale", np.float32), ("value_visits", np.float32),
        ("value_scale", np.float32), ("forced", np.float32),
    ],
    align=True,
)  # fmt: skip


def whole(default: int, least: int, most: int, meaning: str) -> Any:
    """Declare a setting that is a whole number in a range."""
    return field(default=default, metadata={"kind": int, "least": least, "most": most, "meaning": meaning})


def number(default: float, least: float, most: float, meaning: str) -> Any:
    """Declare a setting that is any number in a range."""
    return field(default=default, metadata={"kind": float, "least": least, "most": most, "meaning": meaning})


def word(default: str, words: tuple[str, ...], meaning: str) -> Any:
    """Declare a setting that is one of some words."""
    return field(default=default, metadata={"kind": str, "words": words, "meaning": meaning})


def switch(meaning: str) -> Any:
    """Declare a setting that is on or off; off unless given."""
    return field(default=False, metadata={"kind": bool, "meaning": meaning})


def checked(name: str, value: Any, kind: type, least: float = 0, most: float = 0, words: tuple[str, ...] = ()) -> None:
    """Refuse a value that its setting does not allow, by the setting's name."""
    if kind is int:
        whole_number(name, value, int(least), int(most))
    elif kind is str:
        one_of(name, value, words)
    elif kind is bool and not isinstance(value, bool | np.bool_):
        raise BadInput(f"{name} must be True or False, not {value!r}")
    elif kind is float and (isinstance(value, bool) or not isinstance(value, NUMBERS) or not least <= value <= most):
        raise BadInput(f"{name} must be a number in {least}..{most}, not {value!r}")


@dataclass(frozen=True)
class TreeSettings:
    """One tree search. The defaults are those of a match: no noise, the most visited move.

    Each field holds what it may be and means; players are offered their options from here.
    """

    simulations: int = whole(400, 1, MOST_SIMULATIONS, "leaves looked at per move, after the root itself")
    leaves: int = whole(1, 1, MOST_LEAVES, "leaves of one tree that are judged together; 1: the exact serial search")
    c: float = number(1.5, 0, 10**6, "weight of the priors against the means")
    c_factor: float = number(0, 0, 10**6, "growth of c with a node's visits N, by c_factor * ln((N + c_base) / c_base)")
    c_base: float = number(38739, 1, 10**9, "visits N about which c begins to grow, if c_factor says so")
    urgency: str = word("parent", URGENCIES, "what a move not yet visited is taken to be worth")
    """the parent's mean (parent); that less reduction * sqrt(prior mass of the visited moves), but no less than the
    worst visited move has (reduced); the same without that floor and with moves in order of prior (lc0); more than any
    visited one (infinite)"""
    reduction: float = number(0.2, 0, 2, "how far below the parent's mean urgency reduced and lc0 go")
    policy: str = word("logits", ("logits", "weights"), "what an evaluator gives: logits of a softmax, weights >= 0")
    policy_temperature: float = number(1, 0.001, 1000, "logits are divided by it")
    discount: float = number(1, 0.01, 1, "factor of a value for each turn, that is, when the team to move changes")
    prove: bool = switch("carry proven wins and losses up the tree")
    noise: float = number(0, 0, 1, "share of Dirichlet noise in the root's priors")
    alpha: float = number(0.3, 0.001, 1000, "parameter of the Dirichlet distribution")
    temperature: float = number(0, 0, 100, "moves are drawn by visits ^ (1 / temperature); 0: the most visited")
    temperature_plies: int = whole(1 << 30, 0, 1 << 30, "plies of a game from which on the most visited move is played")
    gumbel: int = whole(0, 0, 1 << 15, "moves considered at the root by sequential halving; 0: no Gumbel search")
    gumbel_scale: float = number(1, 0, 100, "scale of Gumbel noise; 0 for the strongest play")
    value_visits: float = number(
        50, 0, 10**6, "in Gumbel search a Q in [0, 1] weighs value_scale * (this + most visits)"
    )
    value_scale: float = number(1, 0, 1000, "in Gumbel search a Q in [0, 1] weighs this * (value_visits + most visits)")
    forced: float = number(
        0,
        0,
        1000,
        "a root move visited at all is visited sqrt(this * prior * visits of all root moves) times; 0: not so",
    )
    prune: bool = switch("teach and draw moves by their visits without forced ones")
    early_stop: bool = switch("end when nothing can change the chosen move any more")
    seed: int = whole(0, -(2**63), 2**63 - 1, "same seed, same search, on every device")

    def __post_init__(self) -> None:
        """Refuse what cannot be searched with, by name."""
        for setting in fields(self):
            allowed = {key: value for key, value in setting.metadata.items() if key != "meaning"}
            checked(setting.name, getattr(self, setting.name), **allowed)
        if self.gumbel and self.noise:
            raise BadInput("gumbel and noise exclude each other: Gumbel search draws its own noise")
        if self.gumbel and self.forced:
            raise BadInput("gumbel and forced exclude each other: Gumbel search shares out its own visits")
        if self.prune and not self.forced:
            raise BadInput("prune needs forced above 0: there is nothing else to take back")

    def record(self, game: Game, nodes: int, edges: int, depth: int) -> np.ndarray:
        """Write what kernels read, shape [1]: the settings and the room of a tree.

        `in_lanes` is off; where it is set, legal moves are listed by asking about every action, the lanes side by side.
        """
        if game.seats > MOST_SEATS or not set(game.teams) <= {0, 1}:
            raise BadInput(
                f"trees are searched for two teams of at most {MOST_SEATS} seats; {game.name} has {game.teams}"
            )
        made = np.zeros(1, OPTIONS)
        options: Any = made[0]
        for name in (
            "seed", "leaves", "prove", "gumbel", "temperature_plies", "c", "c_factor", "c_base", "discount", "noise",
            "alpha", "temperature", "gumbel_scale", "value_visits", "value_scale", "forced", "prune",
        ):  # fmt: skip
            options[name] = getattr(self, name)
        options["actions"], options["most_legal"] = game.actions, max(1, game.most_legal)
        options["state_words"] = words_of(game.live_bytes(), game.state.itemsize)
        options["urgency"], options["weights"] = URGENCIES.index(self.urgency), self.policy == "weights"
        options["nodes"], options["edges"], options["depth"] = nodes, edges, depth
        options["early"] = self.early_stop
        options["reduction_squared"], options["sharpness"] = self.reduction**2, 1 / self.policy_temperature
        options["teams"][: game.seats] = game.teams
        return made
