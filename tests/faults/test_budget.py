"""How often processes are killed in all."""

from __future__ import annotations

from faults.killing import KILLS


def test_the_whole_suite_kills_two_hundred_processes():
    assert sum(KILLS.values()) == 200
