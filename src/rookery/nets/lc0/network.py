"""Lc0's networks in PyTorch.

    network = load_network("network.pb.gz")             # `stored.py`; in evaluation mode on the CPU, single precision
    found = network.heads(planes)                       # planes [N, 112, 8, 8]: policy, value, moves left

A network has all heads of its file; `policy_head` and `value_head` name those that answer. Activations have names
(`hooks.py`).
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from rookery.errors import BadInput
from rookery.nets.lc0.bodies import AttentionBody, TowerBody, attention_names, tower_names
from rookery.nets.lc0.config import Lc0Config
from rookery.nets.lc0.heads import KINDS, SquaresHead, policy_names, squares_names
from rookery.nets.lc0.layers import numbers
from rookery.nets.lc0.wire import Message
from rookery.nets.transformer import SILENT, Tap

ALIASES = {"optimistic": "optimistic_st"}
"""names of heads as the engine has them, where files have others"""


class Answers(NamedTuple):
    """What a network says of N positions, for the player to move."""

    policy: Tensor
    """[N, 1858] logits of all moves, legal or not"""
    chances: Tensor
    """[N, 3] to win, to draw, to lose; with a single value q as (1 + q) / 2, 0, (1 - q) / 2"""
    value: Tensor
    """[N] in [-1, 1]"""
    moves_left: Tensor
    """[N] plies to the end of the game; 0 without such a head"""


class Lc0Network(nn.Module):
    """A network of Lc0's with all its heads."""

    skeleton: Message | None = None
    """what its file held beside the numbers: licence, header, layers that play no part"""

    def __init__(self, config: Lc0Config):
        super().__init__()
        self.config = config
        self.body = AttentionBody(config) if config.attention else TowerBody(config)
        self.policy_heads = nn.ModuleDict(
            {name: KINDS[head.kind](config, head) for name, head in config.policies.items()}
        )
        self.value_heads = nn.ModuleDict(
            {name: SquaresHead(config, head, "val", "value") for name, head in config.values.items()}
        )
        self.moves_left_head = (
            SquaresHead(config, config.moves_left, "mov", "moves_left") if config.moves_left else None
        )
        self.shared = shared_embedding(config)
        self.policy_head, self.value_head = next(iter(config.policies)), next(iter(config.values))

    def choose_heads(self, policy: str | None = None, value: str | None = None) -> None:
        """Let other heads answer; None leaves the present ones."""
        self.policy_head = chosen_head("policy", policy, self.policy_head, list(self.policy_heads))
        self.value_head = chosen_head("value", value, self.value_head, list(self.value_heads))

    def _repr_html_(self) -> str:
        """Show the layers in a notebook."""
        from rookery.nets.shown import layers_html

        return layers_html(self)

    def heads(self, planes: Tensor, tap: Tap = SILENT) -> Answers:
        """Judge N positions by their planes, [N, 112, 8, 8] or flat."""
        x = tap("body", self.body(planes.reshape(len(planes), 112, 8, 8), tap))
        policy = tap("policy.logits", self.policy_heads[self.policy_head](x, self.shared_pair(), tap))
        raw = self.value_heads[self.value_head](x, tap)
        chances, value = judged(raw.float())
        if self.moves_left_head is None:
            return Answers(policy, chances, value, torch.zeros_like(value))
        return Answers(policy, chances, value, self.moves_left_head(x, tap).float().relu().squeeze(1))

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Judge N positions as every network does: logits [N, 1858] and values [N]."""
        found = self.heads(planes)
        return found.policy, found.value

    def shared_pair(self) -> tuple[Tensor, Tensor] | None:
        """Return the embedding that policy heads without their own use."""
        return None if self.shared is None else (self.shared["ip_pol_w"], self.shared["ip_pol_b"])

    def activation_names(self) -> list[str]:
        """List the activations that the chosen heads make, in the order in which they come about."""
        config = self.config
        body = attention_names(config.body) if config.attention else tower_names(config.body)
        left = squares_names("moves_left") if config.moves_left else []
        policy = policy_names(config.policies[self.policy_head])
        return [*body, "body", *policy, "policy.logits", *squares_names("value"), *left]

    @property
    def weights(self) -> int:
        """Number of trainable parameters."""
        return sum(parameter.numel() for parameter in self.parameters())


def shared_embedding(config: Lc0Config) -> nn.ParameterDict | None:
    """Make the embedding that policy heads without their own use, if there are such."""
    if config.shared_embedding is None:
        return None
    width = next(head.width for head in config.policies.values() if not head.own_embedding)
    return nn.ParameterDict({"ip_pol_w": numbers(width, config.body.channels), "ip_pol_b": numbers(width)})


def judged(raw: Tensor) -> tuple[Tensor, Tensor]:
    """Return chances [N, 3] and values [N] from the outputs of a value head."""
    if raw.shape[1] == 3:
        chances = raw.softmax(1)
        return chances, chances[:, 0] - chances[:, 2]
    value = raw[:, 0].tanh()
    return torch.stack(((1 + value) / 2, torch.zeros_like(value), (1 - value) / 2), 1), value


def chosen_head(what: str, given: str | None, present: str, names: list[str]) -> str:
    """Return a head that a file has by the name a person gives."""
    if given is None:
        return present
    found = ALIASES.get(given, given)
    if found not in names:
        raise BadInput(f"there is no {what} head {given!r} in this network; it has {', '.join(names)}")
    return found
