from collections.abc import Iterator
from typing import Any

class Integer:
    def __call__(self, *arguments: Any) -> Any: ...

class BaseTuple:
    def __call__(self, *arguments: Any) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...

class Array:
    def __call__(self, *arguments: Any) -> Any: ...

int64: Any
Record: Any
intp: Any
void: Any
