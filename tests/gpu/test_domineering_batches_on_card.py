"""Batches of the Domineering study, built on a card."""

from __future__ import annotations

from dataclasses import fields

import pytest
import torch

from rookery.studies.domineering_batches import Batch, GameTable, Positions
from rookery.studies.order import Order
from studies.domineering_samples import some_records

pytestmark = pytest.mark.gpu

SIZE = 64


def assert_same(here: Batch, there: Batch) -> None:
    for field in fields(Batch):
        assert (getattr(here, field.name) == getattr(there, field.name).cpu()).all(), field.name


def test_a_card_builds_the_same_batches():
    here, there = (
        Positions(GameTable(some_records(30, seed=6), device), side_token=True) for device in ("cpu", "cuda")
    )
    for step in range(3):
        on_cpu = Order(len(here), SIZE, seed=1).at(step)
        on_card = Order(len(here), SIZE, seed=1, device="cuda").at(step)
        assert_same(here.batch(*on_cpu), there.batch(*on_card))


def test_building_fits_in_a_graph():
    here, there = (Positions(GameTable(some_records(30, seed=6), device)) for device in ("cpu", "cuda"))
    order = Order(len(here), SIZE, seed=1)
    numbers, symmetries = (column.cuda() for column in order.at(0))
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        there.batch(numbers, symmetries)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        built = there.batch(numbers, symmetries)
    for step in range(3):
        for column, wanted in zip((numbers, symmetries), order.at(step), strict=True):
            column.copy_(wanted)
        graph.replay()
        assert_same(here.batch(*order.at(step)), built)
