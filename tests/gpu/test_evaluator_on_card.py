"""Networks judged on a card."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nets.samples import V3, V4, V5, worn
from rookery.arena.evaluator import NetworkEvaluator
from rookery.nets.configs import TowerConfig, TransformerConfig
from rookery.nets.folded import fold
from rookery.nets.residual import build

pytestmark = pytest.mark.gpu
TOWER = TowerConfig(planes=17, rows=15, cols=15, extra_actions=3)
TOLD = TowerConfig(planes=3, rows=15, cols=15, squeeze=16, pooling=16)
SMALL_BOARD = TowerConfig(planes=3, rows=9, cols=9)
CONFIGS = [V3, V4, V5, TOWER, SMALL_BOARD, TOLD, TransformerConfig(rows=8, cols=8, side_token=True)]


def observations(inputs: int, rows: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(-1, 2, (rows, inputs)).astype(np.float32)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: f"{config.kind} {config.inputs}")
@pytest.mark.parametrize(("precision", "most"), [("32", 0.01), ("bf16", 0.08)])
def test_a_card_gives_the_answers_of_the_cpu(config, precision, most):
    network = worn(build(config))
    here = NetworkEvaluator(network, "rich", device="cpu")
    there = NetworkEvaluator(network, "rich", device="cuda", precision=precision)
    for count in (1, 64, 100, 5000):
        rows = observations(config.inputs, count)
        (logits, values), (card_logits, card_values) = here(rows), there(rows)
        assert np.abs(card_values - values).max() < most
        assert np.abs(card_logits - logits).max() < most * np.abs(logits).max()


@pytest.mark.parametrize("config", [TOWER, SMALL_BOARD], ids=["15x15", "9x9"])
@pytest.mark.parametrize("rows", [64, 300, 2048])
def test_fused_kernels_give_the_answers_of_plain_ones(config, rows):
    folded = fold(worn(build(config)), "cuda", torch.bfloat16)
    if not folded.fused:
        pytest.skip("the library of this card has no faster kernels for blocks")
    seen = torch.from_numpy(observations(config.inputs, rows)).cuda()
    logits, values = folded(seen)
    folded.fused = False
    plain_logits, plain_values = folded(seen)
    assert (logits - plain_logits).abs().max() < 0.08 * plain_logits.abs().max()
    assert (values - plain_values).abs().max() < 0.08


def test_a_captured_pass_reads_what_stands_in_its_input_and_follows_new_weights():
    first, second = worn(build(V5, 1), 1), worn(build(V5, 2), 2)
    evaluator = NetworkEvaluator(first, "rich", device="cuda")
    captured = evaluator.captured(256)
    for network in (first, second):
        evaluator.update(network)
        rows = torch.from_numpy(observations(92, 256)).cuda()
        captured.static_input.copy_(rows)
        captured.replay()
        logits, values = evaluator.folded(rows)
        torch.testing.assert_close(captured.static_logits, logits, atol=0.02, rtol=0.02)
        torch.testing.assert_close(captured.static_values, values, atol=0.02, rtol=0.02)
    assert not torch.equal(logits, evaluator.folded(rows * 0)[0])


def test_a_folded_network_can_be_captured_in_a_graph_of_the_callers():
    evaluator = NetworkEvaluator(worn(build(V4)), "basic", device="cuda")
    rows = torch.zeros(128, 32, device="cuda")
    evaluator.captured(128)  # the libraries are warm now
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        logits, values = evaluator.folded(rows)
        chosen = logits.argmax(1)
    rows.copy_(torch.from_numpy(observations(32, 128)))
    graph.replay()
    expected = evaluator.folded(rows)
    torch.testing.assert_close(logits, expected[0], atol=0.02, rtol=0.02)
    torch.testing.assert_close(values, expected[1], atol=0.02, rtol=0.02)
    assert torch.equal(chosen, logits.argmax(1))


def test_the_same_input_gets_the_same_answers():
    network = worn(build(V5))
    rows = observations(92, 1000)
    evaluator = NetworkEvaluator(network, "rich", device="cuda")
    first, second = evaluator(rows), evaluator(rows)
    assert np.array_equal(first[0], second[0])
    assert np.array_equal(first[1], second[1])
