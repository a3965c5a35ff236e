from typing import Any

class Integer: ...

int64: Any
