from typing import Any

constexpr: Any
float32: Any
int64: Any

def __getattr__(name: str) -> Any: ...
