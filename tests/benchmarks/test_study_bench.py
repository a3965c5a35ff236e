"""The bench of training in the Domineering study measures what it says."""

from __future__ import annotations

import json

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from typer.testing import CliRunner

from rookery import BadInput
from rookery.benchmarks.domineering import step_products
from rookery.cli import app
from rookery.nets.configs import TransformerConfig
from rookery.nets.hooks import run_with_cache
from rookery.nets.residual import build
from rookery.nets.surgery import random_tokens


def test_products_of_a_step_are_counted_as_pytorch_counts_them():
    config = TransformerConfig(rows=16, cols=16, heads=8, layers=3, mlp=256)
    network, tokens = build(config), random_tokens(config, 2)
    with FlopCounterMode(display=False) as counter:
        found, _ = run_with_cache(network, tokens, ["layers.*.attn.pattern"])  # attention by products that are counted
        sum(answer.sum() for answer in found).backward()
    assert step_products(config, 2) == pytest.approx(counter.get_total_flops(), rel=0.02)


@pytest.mark.slow
def test_steps_batches_and_the_network_alone_are_measured():
    options = ["--networks", "small", "--batch", "4", "--rounds", "2", "--json"]
    answer = CliRunner().invoke(app, ["bench", "study", *options])
    assert answer.exit_code == 0, answer.output
    found = json.loads(answer.stdout)
    (row,) = found["study"]
    assert (row["network"], row["variant"], row["note"]) == ("small", "fp32", "")
    assert 0 < row["low"] <= row["speed"] <= row["high"]
    assert row["alone"] > 0
    assert [len(speeds) for speeds in found["positions"].values()] == [2, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--networks", "huge"], "--networks 'huge': there are small, large"),
        (["--variants", "fast"], "--variants 'fast': there are eager, "),
        *([] if torch.cuda.is_available() else [(["--device", "cuda"], "PyTorch finds no card")]),
    ],
)
def test_what_is_not_there_is_refused(options, message):
    answer = CliRunner().invoke(app, ["bench", "study", *options])
    assert isinstance(answer.exception, BadInput)
    assert message in str(answer.exception)
