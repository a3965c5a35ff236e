"""What is counted beside Lc0's networks."""

from __future__ import annotations

import pytest

from lc0_files import random_net
from rookery.benchmarks.lc0 import Row, operations
from rookery.nets.lc0.files import file_bytes
from rookery.nets.lc0.stored import load_network

SIZES = {"width": 16, "layers": 2, "heads": 2, "model": 16, "hidden": 24}


def made(tmp_path, kind, sizes=None):
    path = tmp_path / "net.pb.gz"
    path.write_bytes(file_bytes(random_net(kind, sizes=sizes)))
    return load_network(path)


def test_operations_of_an_attention_body_are_those_of_its_matrices(tmp_path):
    network = made(tmp_path, "attention, map", SIZES)
    config = network.config
    policy, value, left = config.policies[network.policy_head], config.values[network.value_head], config.moves_left
    squares, width = 64, SIZES["width"]
    layer = squares * (4 * width * width + 2 * width * SIZES["hidden"]) + 2 * squares * squares * width
    body = squares * (112 + 64) * width + SIZES["layers"] * layer
    heads = squares * (width * policy.width + 2 * policy.width * policy.model) + squares * squares * policy.model
    heads += 8 * policy.model * 4  # what promotions add
    for head in (value, left):
        heads += squares * width * head.channels + squares * head.channels * head.hidden + head.hidden * head.outputs
    assert operations(network) == 2 * (body + heads)


def test_operations_of_a_tower_are_counted_too(tmp_path):
    small, large = (
        operations(made(tmp_path, "plain tower, dense policy", {"filters": 8, "blocks": blocks})) for blocks in (2, 4)
    )
    assert large - small == 2 * 2 * 2 * 64 * 9 * 8 * 8


def test_work_follows_from_rate_and_operations():
    row = Row("network", 4, [0.5, 0.25, 0.25], 100.0)
    assert row.rate == 4
    assert row.work == pytest.approx(400)
