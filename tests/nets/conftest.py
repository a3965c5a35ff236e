"""Networks of tests are small: several threads would only wait for each other."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from nets.samples import on_one_thread


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with on_one_thread():
        yield
