"""Standard input and output of an engine, which a manager holds the other ends of."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator


def heard(longest: int) -> Iterator[str]:
    """Yield the lines that come in, as text whatever bytes they are; a line is cut after so many bytes."""
    while line := sys.stdin.buffer.readline(longest):
        yield line.decode(errors="replace")


def tell(text: str) -> None:
    """Answer on standard output."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def leave() -> None:
    """End the process at once, whatever is being thought; players' own processes end with their pipes."""
    os._exit(0)
