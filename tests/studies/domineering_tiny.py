"""A Domineering study so small that tests can train it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from rookery.nets.configs import TransformerConfig
from rookery.nets.residual import build
from rookery.nets.transformer import Transformer
from rookery.studies.domineering_files import write_games
from rookery.studies.domineering_plan import RunSettings
from studies.domineering_samples import some_records

SMALL = TransformerConfig(rows=16, cols=16, width=16, heads=1, head_width=8, layers=1, mlp=16, policy_hidden=8)
LARGE = SMALL.model_copy(update={"heads": 2, "layers": 2, "mlp": 24})


def tiny(condition: str, **changes: Any) -> RunSettings:
    """Return the settings of a tiny run."""
    large = condition.startswith("large")
    first = RunSettings(
        condition, 42, LARGE if large else SMALL, steps=6, small=SMALL if large else None, batch=4, every=2,
        learning_rate=1e-2, valid_positions=24, probe_positions=24,
    )  # fmt: skip
    return replace(first, **changes)


def network_of(settings: RunSettings) -> Transformer:
    """Make the network of a run that embeds none."""
    network = build(settings.network, settings.seed)
    assert isinstance(network, Transformer)
    return network


def tiny_study(folder: Path, games: int = 40) -> Path:
    """Make the folder of a study with a few games."""
    (folder / "data").mkdir(parents=True)
    write_games(folder / "data" / "phase1_games.npz", some_records(games, seed=6))
    return folder


class NumberOfWeights:
    """In the place of probes: the sum of a network's weights, and of those it began with."""

    def __init__(self, first: Transformer, small: Transformer | None, positions: Any, settings: RunSettings):
        self.first, self.small = total(first), None if small is None else total(small)

    def layers(self, network: Transformer) -> list[dict[str, Any]]:
        return [{"layer": 0, "read": "cls", "r2": total(network), "first": self.first, "small": self.small}]


def total(network: Transformer) -> float:
    return sum(float(parameter.detach().double().sum()) for parameter in network.parameters())
