"""Configurations of networks."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from rookery.errors import BadInput
from rookery.nets.configs import PerceptronConfig, ResidualConfig, TowerConfig, read_config
from support import run_python


@pytest.mark.parametrize(
    "config",
    [
        PerceptronConfig(inputs=32, actions=303, hidden=(5, 6, 7)),
        ResidualConfig(inputs=92, actions=303, blocks=10),
        TowerConfig(planes=17, rows=9, cols=9, extra_actions=3),
    ],
    ids=lambda config: config.kind,
)
@pytest.mark.parametrize("mode", ["python", "json"])
def test_a_configuration_is_read_from_what_it_writes(config, mode):
    assert read_config(config.model_dump(mode=mode)) == config


def test_a_tower_counts_its_inputs_and_actions():
    config = TowerConfig(planes=17, rows=3, cols=5, policy_planes=2, extra_actions=3)
    assert (config.inputs, config.actions) == (255, 33)


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ({"kind": "residual", "inputs": 32, "actions": 303, "depth": 3}, "weights.residual.depth"),
        ({"kind": "residual", "inputs": 0, "actions": 303}, "weights.residual.inputs"),
        ({"kind": "residual", "inputs": "32", "actions": 303}, "weights.residual.inputs"),
        ({"kind": "perceptron", "inputs": 32, "actions": 303, "hidden": []}, "weights.perceptron.hidden"),
        ({"kind": "tower", "planes": 3, "rows": 9}, "weights.tower.cols"),
        ({"kind": "transformer"}, "transformer"),
        ({}, "weights"),
        (["residual"], "weights"),
        (None, "weights"),
    ],
)
def test_what_makes_no_network_is_refused_by_its_key(values, place):
    with pytest.raises(BadInput, match=place):
        read_config(values, "weights")


def test_a_configuration_cannot_be_changed():
    config = ResidualConfig(inputs=32, actions=303)
    with pytest.raises(ValidationError):
        config.width = 3


def test_configurations_are_read_without_importing_torch():
    assert run_python("import sys, rookery.nets.configs; print('torch' in sys.modules)").strip() == "False"
