"""What every network is: a module that carries its configuration."""

from __future__ import annotations

from torch import Tensor, nn

from rookery.nets.configs import NetworkConfig

Answers = tuple[Tensor, Tensor]
"""policy logits [N, A] and values [N]"""


class Network(nn.Module):
    """A network with a policy and a value, both from the mover's side."""

    config: NetworkConfig

    def forward(self, observations: Tensor) -> Answers:
        """Judge N positions.

        observations  [N, O] float, flat
        returns       logits [N, A] over all actions, legal or not, and values [N] in [-1, 1]
        """
        raise NotImplementedError

    @property
    def weights(self) -> int:
        """Number of trainable parameters."""
        return sum(parameter.numel() for parameter in self.parameters())
