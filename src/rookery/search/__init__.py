"""Looking ahead. NumPy and Numba only."""

import rookery.games  # noqa: F401  (sets the compile cache before the first kernel here is defined)
