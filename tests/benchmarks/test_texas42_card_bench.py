"""The benchmark of the networks of Texas 42, in small on a processor."""

from __future__ import annotations

import pytest

from rookery.benchmarks import texas42_card
from rookery.nets.configs import HandsConfig, TranscriptConfig


@pytest.mark.slow
def test_rows_tell_hands_and_steps_a_second(monkeypatch):
    hands = HandsConfig(width=24, heads=2, layers=1, mlp=32)
    transcript = TranscriptConfig(width=24, heads=2, layers=1, mlp=32)
    monkeypatch.setattr(texas42_card, "HANDS", {"3.3M": hands})
    monkeypatch.setattr(texas42_card, "LABELLED", ("3.3M",))
    monkeypatch.setattr(texas42_card, "WORLDS", 3)
    monkeypatch.setattr(texas42_card, "LEARNING", (("3.3M", 1), ("64x2", 2)))
    usual = texas42_card.planned
    monkeypatch.setattr(
        texas42_card, "planned",
        lambda size, stage, device: texas42_card.replace(
            usual(size, stage, device), network=hands if stage == 1 else transcript, batch=8
        ),
    )  # fmt: skip
    told = []
    rows = list(texas42_card.bench_card("cpu", 2, 1, 1, told.append))
    named = {
        "positions judged by 3.3M alone": ("positions/s", None), "hands by E[Q] of 3.3M, 3 worlds": ("hands/s", 200),
        "steps of Stage 1, 3.3M": ("steps/s", None), "steps of Stage 2, 64x2": ("steps/s", None),
    }  # fmt: skip
    assert [row.name for row in rows] == told
    assert {row.name: (row.unit, row.floor) for row in rows} == named
    assert all(row.mean > 0 and row.samples == 1 for row in rows)
