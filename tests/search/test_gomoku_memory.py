"""Memory that is kept from one search to the next is as good as new, and only little of it is kept."""

from __future__ import annotations

import numpy as np
import pytest

from rookery.search import gomoku_memory
from rookery.search.gomoku_memory import KEPT_TABLE, Memory, memory_for, spare


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(gomoku_memory, "SPARE", {})


def read_before_written(memory):
    """The arrays that a search reads before it writes to them: board, positions without a win by fours, and tables."""
    return memory.boards, *memory.tools[3:]


@pytest.mark.parametrize(("size", "bits"), [(5, 8), (15, KEPT_TABLE)])
def test_kept_memory_is_handed_out_as_if_it_were_new(size, bits):
    memory = Memory(size, bits)
    for array in read_before_written(memory):
        array.view(np.uint8)[:] = 165
    spare(memory)
    again = memory_for(size, bits)
    assert again is memory
    for kept, new in zip(read_before_written(again), read_before_written(Memory(size, bits)), strict=True):
        assert kept.tobytes() == new.tobytes()


def test_memory_is_handed_out_once_and_for_its_own_size():
    memory = Memory(9, 8)
    spare(memory)
    assert memory_for(10, 8) is not memory
    assert memory_for(9, 9) is not memory
    assert memory_for(9, 8) is memory
    assert memory_for(9, 8) is not memory


def test_large_memory_is_not_kept():
    spare(Memory(9, KEPT_TABLE + 1))
    assert not gomoku_memory.SPARE
