from typing import Any

config: Any
