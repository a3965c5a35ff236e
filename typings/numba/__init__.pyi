"""What Rookery uses of Numba, typed the same for every version: decorated functions keep their types, words are Any."""

from collections.abc import Callable
from typing import Any, TypeVar

from numba import types as types

_Function = TypeVar("_Function", bound=Callable[..., Any])

__version__: str
config: Any

def njit(
    *,
    cache: bool,
    nogil: bool,
    inline: str = ...,
    no_cpython_wrapper: bool = ...,
    no_cfunc_wrapper: bool = ...,
    forceinline: bool = ...,
    error_model: str = ...,
) -> Callable[[_Function], _Function]: ...
def int16(x: Any) -> Any: ...
def int8(x: Any) -> Any: ...
def int32(x: Any) -> Any: ...
def float32(x: Any) -> Any: ...
def int64(x: Any) -> Any: ...
def uint32(x: Any) -> Any: ...
def uint64(x: Any) -> Any: ...
