"""What every network is: a module that carries its configuration."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor, nn

from rookery.nets.configs import NetworkConfig

Answers = tuple[Tensor, Tensor]
"""policy logits [N, A] and values [N]"""


MATRICES = (2, 4)
"""dimensions of a matrix and of a kernel"""


class Taught(NamedTuple):
    """What a network says of N positions while it learns."""

    logits: Tensor
    """[N, A]"""
    values: Tensor
    """[N]"""
    chances: Tensor | None
    """[N, 3] logits of the chances to win, draw and lose, of a network whose value follows from these"""


class Network(nn.Module):
    """A network with a policy and a value, both from the mover's side."""

    config: NetworkConfig

    def forward(self, observations: Tensor) -> Answers:
        """Judge N positions.

        observations  [N, O] float, flat
        returns       logits [N, A] over all actions, legal or not, and values [N] in [-1, 1]
        """
        raise NotImplementedError

    def taught(self, observations: Tensor) -> Taught:
        """Judge N positions as losses want them."""
        logits, values = self(observations)
        return Taught(logits, values, None)

    def matrices(self) -> list[Tensor]:
        """List the matrices between hidden units, and kernels: those inside blocks and layers.

        Tables are not among them, nor what a transformer over squares keeps apart by heads.
        """
        lists = [module for module in self.modules() if isinstance(module, nn.ModuleList)]
        blocks = [block for found in lists for block in found if not isinstance(block, nn.Embedding)]
        found = {id(each): each for block in blocks for each in block.parameters() if each.ndim in MATRICES}
        return list(found.values())

    @property
    def weights(self) -> int:
        """Number of trainable parameters."""
        return sum(parameter.numel() for parameter in self.parameters())

    def _repr_html_(self) -> str:
        """Show the layers in a notebook."""
        from rookery.nets.shown import layers_html

        return layers_html(self, f"{type(self).__name__} of {self.config.kind}")
