"""Imitation on a card: the same games, and losses like those on a processor."""

from __future__ import annotations

import pytest

from learn.tiny_imitation import learned, made
from learn.tiny_runs import after
from rookery.learn.imitation import Imitation

pytestmark = pytest.mark.gpu


def test_a_stage_on_a_card_learns_as_on_a_processor_also_when_it_is_stopped(tmp_path):
    folders = {device: made(tmp_path / device, device=device) for device in ("cpu", "cuda")}
    assert learned(folders["cpu"])
    stops = 0
    while not learned(folders["cuda"], after(3)):
        stops += 1
    assert stops > 0
    one, other = (Imitation(folder).figures.read() for folder in folders.values())
    assert [line["steps"] for line in one] == [line["steps"] for line in other]
    for name in ("policy_loss", "value_loss", "taught_policy_loss"):
        assert other[-1][name] == pytest.approx(one[-1][name], rel=0.2)
