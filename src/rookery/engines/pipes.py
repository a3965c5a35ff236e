"""Standard input and output of an engine, which a manager holds the other ends of."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator


def heard(longest: int) -> Iterator[str]:
    """Yield the lines that come in, as text whatever bytes they are; a line is cut after so many bytes."""
    if sys.stdin is None:  # closed by whoever started us
        return
    while line := sys.stdin.buffer.readline(longest):
        yield line.decode(errors="replace")


def tell(text: str) -> None:
    """Answer on standard output; where nobody listens any more, there is nothing left to do."""
    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except (OSError, AttributeError):  # the manager is gone, or has never given us an output
        leave()


def leave() -> None:
    """End the process at once, whatever is being thought; players' own processes end with their pipes."""
    os._exit(0)
