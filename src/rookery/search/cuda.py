"""The card: the one place where numba-cuda is imported.

Modules with CUDA kernels take `cuda` from here and are themselves imported only when a card is asked for.
"""

from __future__ import annotations

import numpy as np

from rookery.errors import BadInput
from rookery.games import cache

for _name, _stand_in in (("row_stack", np.vstack), ("in1d", np.isin)):
    if not hasattr(np, _name):  # numba-cuda up to 0.30.4 asks NumPy for names that NumPy 2.5 no longer has
        setattr(np, _name, _stand_in)

try:
    from numba import cuda
    from numba.cuda.core import config
    from numba.cuda.core.caching import IndexDataCacheFile
except ImportError as _error:
    raise BadInput(
        f"device cuda needs numba-cuda, which cannot be imported ({_error}): pip install 'rookery[cuda]'"
    ) from None

config.CACHE_DIR = str(cache.folder())
cache.guard(IndexDataCacheFile)
config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # a few games on a card are slow, but right


def why_not() -> str | None:
    """Say why no card can be used, or None if one can."""
    if cuda.is_available():
        return None
    return "no CUDA card or driver was found on this machine"


def require_card() -> None:
    """Raise an error that says what is missing if no card can be used."""
    reason = why_not()
    if reason:
        raise BadInput(f"device cuda cannot be used: {reason}; use --device cpu")


__all__ = ["cuda", "require_card", "why_not"]
