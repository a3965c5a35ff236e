"""Compiled functions that only compiled functions call.

Numba gives every function two doors, one for Python and one for C, which unpack all its arguments. For functions that
nobody calls from outside they are a quarter of the time it takes to compile a search. They are also written into their
callers, which a compiler left alone does not do with the larger ones, and do not look whether a divisor is 0: together
that makes a tree search a quarter faster.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def inner(function: Function) -> Function:
    """Compile a function for compiled callers alone; Python cannot call it."""
    return njit(
        cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True, error_model="numpy"
    )(function)
