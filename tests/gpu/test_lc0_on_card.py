"""Lc0's networks on a card: graphs answer as the network does step by step, and searches with them are sound."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lc0_files import random_net
from rookery import lc0
from rookery.benchmarks.lc0 import bench
from rookery.benchmarks.lc0_search import bench_search
from rookery.games.chess_lc0_input import pairs_of
from rookery.lc0.positions import chess_game, position_of
from rookery.lc0.search import Searcher
from rookery.nets.lc0.files import file_bytes
from rookery.search.analysis import Limits
from rookery.search.lc0_settings import Lc0Settings

pytestmark = pytest.mark.gpu

KINDS = ["squeezed tower, convolution policy", "attention, dense, several heads"]


def loaded(tmp_path, kind=KINDS[0], seed=0, **how):
    path = tmp_path / f"{seed}.pb.gz"
    path.write_bytes(file_bytes(random_net(kind, seed)))
    return lc0.load(path, **{"device": "cuda", "batch": 64, "remembered": 0} | how)


def pairs(evaluator, count, seed=1):
    """Return masks and values of positions of a random game."""
    rng, position, states = np.random.default_rng(seed), chess_game().start(), []
    while len(states) < count:
        states.append(position.states.copy())
        position.play(int(rng.choice(position.legal())))
        position = chess_game().start() if position.over else position
    masks, values, _ = pairs_of(np.concatenate(states), evaluator.format, evaluator.fill)
    return masks, values


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("precision", ["f32", "bf16"])
def test_graphs_answer_as_the_network_does_step_by_step(tmp_path, kind, precision):
    evaluator = loaded(tmp_path, kind, precision=precision)
    masks, values = pairs(evaluator, 50)
    near = 1e-4 if precision == "f32" else 0.1
    for rows in (1, 7, 33, 50, 3):
        with torch.inference_mode():
            expected = evaluator.columns(evaluator.input(masks[:rows], values[:rows])).cpu().numpy()
        np.testing.assert_allclose(evaluator.run(masks[:rows], values[:rows]), expected, atol=near, rtol=near)


def test_a_compiled_network_answers_as_the_network_does(tmp_path):
    plain, compiled = loaded(tmp_path, KINDS[1]), loaded(tmp_path, KINDS[1], compiled=True)
    masks, values = pairs(plain, 8)
    np.testing.assert_allclose(compiled.run(masks, values), plain.run(masks, values), atol=1e-3, rtol=1e-3)


def test_answers_of_passes_under_way_do_not_mix(tmp_path):
    evaluator = loaded(tmp_path)
    masks, values = pairs(evaluator, 40)
    parts = [slice(first, first + 8) for first in range(0, 40, 8)]
    expected = [evaluator.run(masks[part], values[part]) for part in parts]
    before, found = None, []
    for part in parts:
        after = evaluator.begin(masks[part], values[part])
        if before is not None:
            found.append(before.wait().copy())
        before = after
    found.append(before.wait().copy())
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_passes_of_all_sizes_can_be_captured_before_they_are_needed(tmp_path):
    evaluator = loaded(tmp_path, batch=50)
    evaluator.card.prepare()
    assert sorted(evaluator.card.graphs) == [8, 16, 32, 64]


def test_other_heads_answer_after_they_are_chosen(tmp_path):
    evaluator = loaded(tmp_path, KINDS[1])
    masks, values = pairs(evaluator, 4)
    before = evaluator.run(masks, values)
    evaluator.choose_heads("soft")
    assert not np.allclose(evaluator.run(masks, values), before)


@pytest.mark.parametrize("precision", ["f32", "f16"])
def test_a_search_on_a_card_has_its_nodes_and_leaves_nothing_under_way(tmp_path, precision):
    evaluator = loaded(tmp_path, precision=precision)
    for nodes in (1, 2, 500, 3000):
        searcher = Searcher(evaluator, Lc0Settings(batch=64), nodes=5000)
        assert searcher.ahead
        searcher.begin(position_of("startpos", chess_game()))
        assert searcher.run(Limits(nodes=nodes)) == "all nodes searched"
        assert searcher.visits == nodes
        assert not searcher.arrays.nodes["flight"].any()


def test_a_serial_search_on_a_card_is_that_of_a_processor(tmp_path):
    found = []
    for device in ("cpu", "cuda"):
        searcher = Searcher(loaded(tmp_path, device=device), Lc0Settings(batch=1), nodes=500)
        assert not searcher.ahead
        searcher.begin(position_of("startpos", chess_game()))
        searcher.run(Limits(nodes=50))
        found.append(searcher.root_visits())
    assert found[0][:3] == pytest.approx(found[1][:3], abs=3)


def test_speed_is_measured_beside_the_ceiling(tmp_path):
    evaluator = loaded(tmp_path, precision="bf16")
    rows = bench(evaluator, [8], 0.05, 1, 1)
    assert [row.what for row in rows] == ["planes and moves", "matrix ceiling", "network", "as a graph"]
    assert rows[1].work > 1e12
    assert bench_search(evaluator, 64, 1000).asked <= 1000
