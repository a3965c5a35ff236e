"""The rules. NumPy and Numba only.

Importing this package points Numba's cache at a folder named by the hash of all kernel sources, before
the first kernel is defined. `rookery.search` imports it for the same reason.
"""

from rookery.games import cache

cache.use()
