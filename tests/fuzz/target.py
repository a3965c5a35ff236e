"""What is fuzzed, and the contract: a reader gives a value or a BadInput, soon, and in little memory.

A target is a function of bytes. It returns True where they were read as a value and False where they were refused;
whatever it raises is a find. Where there is a writer, the function also writes the value and reads it again: what
comes back must be the same.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rookery.errors import BadInput

FINDS = Path(__file__).parent / "finds"
PATIENCE = 20.0
"""seconds for one input; none of the size that is tried needs a tenth of a second on an idle machine"""
MEMORY = 2 << 30
"""bytes that all inputs of a target together may take beyond what it has when it begins"""
LONGEST = 4096
"""bytes of an input, unless its seeds are longer"""


class TookTooLong(BaseException):
    """An input was not done in time; no reader may take this for a fault of the input."""


@dataclass(frozen=True)
class Target:
    """A reader with examples of what it reads."""

    name: str
    read: Callable[[bytes], bool]
    """whether some bytes were read; False: they were refused"""
    seeds: Callable[[], list[bytes]]
    """examples, some of which are read"""
    words: tuple[str, ...] = ()
    """what texts of this kind are made of"""
    modules: tuple[str, ...] = ()
    """those whose branches guide the search"""


def accepts(read: Callable[..., object], *given: object) -> bool:
    """Tell whether a reader takes something; what it refuses it must refuse in words."""
    try:
        read(*given)
    except BadInput as error:
        if not str(error).strip():
            raise AssertionError("a BadInput without a word") from error
        return False
    return True


def reader(read: Callable[[str], object]) -> Callable[[bytes], bool]:
    """Make a target's function of one that reads text and raises BadInput."""
    return lambda data: accepts(read, data.decode("utf-8", "replace"))


def same(found: object, expected: object) -> None:
    """Refuse a value that changed on its way through text."""
    assert found == expected, f"read again, {expected!r} became {found!r}"


@contextmanager
def in_time(seconds: float) -> Iterator[None]:
    """Interrupt what takes longer."""

    def too_long(*_: object) -> None:
        raise TookTooLong(f"not done after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def attempt(target: Target, data: bytes, seconds: float = PATIENCE) -> bool:
    """Try an input; return whether it was read."""
    with in_time(seconds):
        return target.read(data)


def kept_finds(name: str) -> list[Path]:
    """List the inputs that once broke a target."""
    return sorted((FINDS / name).glob("*.bin"))
