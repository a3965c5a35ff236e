"""Standard input and output of an engine, which a manager holds the other ends of."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import suppress


def heard(longest: int) -> Iterator[str]:
    """Yield the lines that come in, as text whatever bytes they are; all behind so many bytes of a line is dropped."""
    if sys.stdin is None:  # closed by whoever started us
        return
    read = sys.stdin.buffer.readline
    while line := read(longest):
        rest = line
        while len(rest) == longest and not rest.endswith(b"\n"):
            rest = read(longest)
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


def tell_of_failure() -> None:
    """Write the traceback of an error to standard error, if there is one."""
    with suppress(OSError):
        if sys.stderr is not None:
            traceback.print_exc()
