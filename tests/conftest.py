"""What all tests share: which games are tested, and which worker runs what."""

from __future__ import annotations

import signal

import pytest
from hypothesis import settings

from rookery.doctor import has_card
from support import game_of

settings.register_profile("rookery", deadline=None)  # the first call compiles
settings.load_profile("rookery")

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # begun in the background: programs under test would not hear it
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:  # begun with nohup
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Send the tests of one game to one worker, so that nothing is compiled twice; skip card tests without a card.

    A group that a file names itself is enough: with two groups a test would belong to a third.
    """
    for item in items:
        game = game_of(item)
        if game and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(game))
    if any(item.get_closest_marker("gpu") for item in items) and not has_card():
        for item in items:
            if item.get_closest_marker("gpu"):
                item.add_marker(pytest.mark.skip(reason="needs a CUDA card and numba-cuda"))
