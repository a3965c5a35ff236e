from collections.abc import Callable
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])

def jit(*, device: bool = ..., cache: bool = ..., max_registers: int = ...) -> Callable[[_Function], Any]: ...
def __getattr__(name: str) -> Any: ...
