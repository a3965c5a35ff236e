"""What the tests of faults share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from faults.killing import Nursery


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    """Begins processes in no time."""
    made = Nursery()
    yield made
    made.close()
