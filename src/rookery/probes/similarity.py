"""How alike two layers are: linear CKA (centred kernel alignment).

Two layers are alike if the same pairs of positions are near in both, whichever way either is turned: 1 if one is the
other, turned around and scaled, 0 if nothing in one goes with anything in the other.

With fewer samples than a layer has numbers, unrelated layers look alike, since there is room enough for everything.
`debiased_cka` takes that away: of unrelated layers it is 0 on average, and may be below.
"""

from __future__ import annotations

import torch
from torch import Tensor

from rookery.errors import BadInput
from rookery.probes.ridge import exact


def centred(x: Tensor) -> Tensor:
    """Return numbers [N, D] in double precision, counted from their mean."""
    x = exact(x)
    return x - x.mean(0)


def check_samples(x: Tensor, y: Tensor, least: int) -> None:
    """Refuse layers that were not asked about the same samples, or about too few."""
    if len(x) != len(y):
        raise BadInput(f"layers are compared on the same samples; the first has {len(x)}, the second {len(y)}")
    if len(x) < least:
        raise BadInput(f"layers are compared on {least} samples or more, not on {len(x)}")


def ratio(together: Tensor, first: Tensor, second: Tensor) -> float:
    """Return a product as a share of what it could be; not a number where a layer never changes."""
    if not (first > 0 and second > 0):
        return float("nan")
    return float(together / (first * second).sqrt())


def cka(x: Tensor, y: Tensor) -> float:
    """Compare layers [N, D] and [N, E] on the same N samples: 0 to 1."""
    check_samples(x, y, 2)
    x, y = centred(x), centred(y)
    together, first, second = ((a.T @ b).square().sum() for a, b in ((x, y), (x, x), (y, y)))
    return ratio(together, first, second)


def debiased_cka(x: Tensor, y: Tensor) -> float:
    """Compare layers by unbiased estimates of what they share; of unrelated layers it is 0 on average."""
    check_samples(x, y, 4)
    x, y = centred(x), centred(y)
    return ratio(shared(x, y), shared(x, x), shared(y, y))


def shared(x: Tensor, y: Tensor) -> Tensor:
    """Estimate without bias what two layers share (HSIC), up to a factor that depends on N alone.

    In words of the kernels K = x x' and L = y y' with their diagonals set to 0:
    tr(K L) + sum(K) sum(L) / ((N - 1) (N - 2)) - 2 / (N - 2) sum(K L). None of them is ever made.
    """
    count = len(x)
    own_x, own_y = (x**2).sum(1), (y**2).sum(1)
    rows_x, rows_y = x @ x.sum(0) - own_x, y @ y.sum(0) - own_y
    together = (x.T @ y).square().sum() - torch.dot(own_x, own_y)
    means = rows_x.sum() * rows_y.sum() / ((count - 1) * (count - 2))
    return together + means - 2 / (count - 2) * torch.dot(rows_x, rows_y)
