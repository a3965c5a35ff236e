"""Probes and matches of the Domineering study on a card."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rookery.nets.configs import TransformerConfig
from rookery.nets.residual import build
from rookery.probes.ridge import fit_ridge
from rookery.studies.domineering_batches import GameTable, Positions
from rookery.studies.domineering_probes import (
    freeze,
    kept_lines,
    layer_inputs,
    probe_layers,
    probe_set,
    shuffled_control,
)
from rookery.studies.domineering_strength import Mover, openings, play
from studies.domineering_samples import some_records

pytestmark = pytest.mark.gpu

TINY = TransformerConfig(rows=16, cols=16, width=32, heads=2, head_width=16, layers=2, mlp=64, policy_hidden=16)


def test_a_card_finds_the_same_probes():
    random = torch.Generator().manual_seed(1)
    inputs, targets = torch.randn(2000, 24, generator=random), torch.randn(2000, 4, generator=random)
    targets[:, 0] += inputs[:, 0]
    groups = np.arange(2000) // 20
    here, there = (fit_ridge(inputs.to(device), targets.to(device), groups) for device in ("cpu", "cuda"))
    torch.testing.assert_close(here.r2, there.r2.cpu())
    torch.testing.assert_close(here.probe.weights, there.probe.weights.cpu())
    torch.testing.assert_close(here.probe.read(inputs), there.probe.read(inputs.cuda()).cpu())


def test_networks_on_a_card_are_probed_as_on_a_processor():
    lines = {}
    for device in ("cpu", "cuda"):
        probed = probe_set(Positions(GameTable(some_records(30, seed=6), device), "all"), 600)
        network = build(TINY, seed=1).to(device)
        small = list(layer_inputs(network, probed))
        lines[device] = probe_layers(network, probed, freeze(network, probed), small, ("cls", "mean", "all"))
        assert shuffled_control(network, probed, 1, shuffles=3)["highest"] < 0.05
        for line in kept_lines(network, small, probed):
            assert line["old"] == pytest.approx(line["at_start"], abs=1e-3) == line["fresh"]
    for here, there in zip(lines["cpu"], lines["cuda"], strict=True):
        assert here["r2"] == pytest.approx(there["r2"], abs=0.05)  # bfloat16 on the card
        if there["read"] == "cls":
            assert there["frozen_r2"] == pytest.approx(there["r2"], abs=1e-3)
            assert there["cka_small"] == pytest.approx(1, abs=1e-3)


def test_matches_are_played_on_a_card():
    first, second = (Mover(build(TINY, seed).cuda(), 2) for seed in (1, 2))
    won = play(first, second, openings(8, seed=1).cuda())
    assert won.shape == (8, 2)
    again = play(first, first, openings(8, seed=1).cuda())
    assert (again.sum(1) == 1).all()
