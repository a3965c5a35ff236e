"""The runs of the Domineering study: who is trained, with which settings, in which order.

Five conditions: a small network with and without the side task (the sectors), and a large one that begins at random,
with the first small one embedded, or with the second. Three controls change how a small network is embedded. Each is
trained with several seeds; runs of one seed begin with the same random weights and see the same batches in the same
order, so that they differ by their condition alone.

A run is called CONDITION-sSEED. Large networks are taught the sectors too, or only probed for them (`auxiliary`); in
the second case the name says so: CONDITION-probe-sSEED.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from typing import Any

from rookery.errors import BadInput
from rookery.games.options import one_of, whole_number
from rookery.nets.configs import LARGE, LARGE_FINAL, SMALL, SMALL_FINAL, TransformerConfig
from rookery.search.domineering_guided import LONGEST
from rookery.studies.settings import number, yes_or_no

SEEDS = (42, 123, 456, 789)
PRECISIONS = ("fp32", "bf16", "fp16", "bf16-all", "fp16-all")
"""numbers a step computes with; `-all`: what flows from layer to layer is of half precision, too"""
READS = ("cls", "mean", "all")
MOST = 1 << 31


@dataclass(frozen=True)
class Condition:
    """What is compared."""

    name: str
    meaning: str
    large: bool = True
    sectors: bool = False
    """whether a small network is taught the sectors; whether a large one is, its protocol says"""
    embeds: str = ""
    """the condition of the small network that is embedded"""
    random: bool = False
    """whether a small network is embedded that has learned nothing"""
    heads: bool = True
    """whether the heads of the network are embedded, too"""
    identity: bool = False
    """whether the layers above begin by adding nothing"""
    control: bool = False


CONDITIONS = {
    condition.name: condition
    for condition in (
        Condition("small-aux", "small, taught the sectors", large=False, sectors=True),
        Condition("small-plain", "small, not taught the sectors", large=False),
        Condition("large", "large, from random weights"),
        Condition("large-aux", "large, small-aux embedded", embeds="small-aux"),
        Condition("large-plain", "large, small-plain embedded", embeds="small-plain"),
        Condition(
            "large-noheads", "as large-aux, but heads begin at random", embeds="small-aux", heads=False, control=True
        ),
        Condition(
            "large-identity", "as large-aux, but upper layers begin by adding nothing", embeds="small-aux",
            identity=True, control=True,
        ),
        Condition("large-random", "large, a random small network embedded", random=True, control=True),
    )
}  # fmt: skip
"""by name, in the order in which they are trained"""


@dataclass(frozen=True)
class RunSettings:
    """One run: everything that its weights depend on, besides the games."""

    condition: str
    seed: int
    network: TransformerConfig
    steps: int
    small: TransformerConfig | None = None
    """the network that is embedded, if one is"""
    auxiliary: bool = True
    """whether a large network is taught the sectors"""
    batch: int = 256
    every: int = 1000
    """steps between two lines of figures"""
    learning_rate: float = 3e-4
    """of the first step; a cosine brings it to 0 at the last"""
    weight_decay: float = 0.01
    gradient_norm: float = 0.0
    """longer gradients are cut to this; 0: none is"""
    policy_weight: float = 1.0
    sector_weight: float = 0.25
    sector_unit: float = 1.0
    """sectors are taught in this unit: moves divided by it"""
    precision: str = "fp32"
    drop_explored: bool = False
    """whether moves that were drawn at random are not taught"""
    first_ply: int = 16
    valid_positions: int = 16_384
    """on which the figures of validation are found; the same for all runs"""
    probe_positions: int = 20_000
    probe_reads: tuple[str, ...] = ("cls",)
    """what probes read of a layer: the board's token, the mean of all, all"""

    def __post_init__(self) -> None:
        one_of("condition", self.condition, tuple(CONDITIONS))
        for name in ("network", "small"):
            value = getattr(self, name)
            if not isinstance(value, TransformerConfig) and (name == "network" or value is not None):
                raise BadInput(f"{name} must be the configuration of a transformer, not {value!r}")
        if self.embeds and self.small is None:
            raise BadInput(f"small must be the configuration of the embedded network: {self.condition} embeds one")
        whole_number("seed", self.seed, 0, (1 << 63) - 1)
        for name in ("steps", "batch", "every", "valid_positions", "probe_positions"):
            whole_number(name, getattr(self, name), 1, MOST)
        whole_number("first_ply", self.first_ply, 0, LONGEST)
        for name in ("auxiliary", "drop_explored"):
            yes_or_no(name, getattr(self, name))
        for name in ("learning_rate", "weight_decay", "gradient_norm", "policy_weight", "sector_weight"):
            number(name, getattr(self, name), 0, 1e6)
        number("sector_unit", self.sector_unit, 1e-6, 1e6)
        one_of("precision", self.precision, PRECISIONS)
        if not isinstance(self.probe_reads, tuple) or not self.probe_reads:
            raise BadInput(f"probe_reads must be some of {', '.join(READS)}, not {self.probe_reads!r}")
        for read in self.probe_reads:
            one_of("probe_reads", read, READS)

    @property
    def plan(self) -> Condition:
        """What the condition says."""
        return CONDITIONS[self.condition]

    @property
    def embeds(self) -> bool:
        """Whether a small network is embedded before training."""
        return bool(self.plan.embeds) or self.plan.random

    @property
    def name(self) -> str:
        """The name of the run and of its folder."""
        protocol = "-probe" if self.plan.large and not self.auxiliary else ""
        return f"{self.condition}{protocol}-s{self.seed}"

    @property
    def small_name(self) -> str:
        """The run whose network is embedded; empty if none is."""
        return f"{self.plan.embeds}-s{self.seed}" if self.plan.embeds else ""

    @property
    def teaches_sectors(self) -> bool:
        """Whether the sector head is trained."""
        return (self.auxiliary if self.plan.large else self.plan.sectors) and self.sector_weight > 0

    def as_dict(self) -> dict[str, Any]:
        """Return the settings for JSON."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: value.model_dump(mode="json") if isinstance(value, TransformerConfig) else value
            for name, value in values.items()
        } | {"probe_reads": list(self.probe_reads)}


def settings_of(values: Mapping[str, Any]) -> RunSettings:
    """Return the settings of a run from its settings.json; refuse what does not hold all of them."""
    try:
        known = {field.name: values[field.name] for field in fields(RunSettings)}
        for name in ("network", "small"):
            known[name] = None if known[name] is None else TransformerConfig.model_validate(known[name])
        return RunSettings(**known | {"probe_reads": tuple(known["probe_reads"])})
    except KeyError as error:
        raise BadInput(f"its settings do not say {error.args[0]}") from None
    except (TypeError, ValueError) as error:
        raise BadInput(f"its settings cannot be read: {error}") from None


@dataclass(frozen=True)
class Preset:
    """A size of the study."""

    small: TransformerConfig
    large: TransformerConfig
    small_steps: int
    large_steps: int
    seeds: tuple[int, ...]
    changes: dict[str, Any]
    """settings of all runs that are not the usual ones"""


TINY = TransformerConfig(rows=16, cols=16, width=32, heads=2, head_width=8, layers=2, mlp=64, policy_hidden=32)
PRESETS = {
    "full": Preset(SMALL, LARGE, 10_000, 30_000, SEEDS, {}),
    "final": Preset(  # as the original ended: large networks are not taught the sectors
        SMALL_FINAL, LARGE_FINAL, 10_000, 30_000, SEEDS,
        {"auxiliary": False, "policy_weight": 0.2, "sector_weight": 0.8, "sector_unit": 10.0},
    ),
    "quick": Preset(
        TINY, TINY.model_copy(update={"heads": 4, "layers": 3, "mlp": 96}), 150, 200, SEEDS[:2],
        {"batch": 16, "every": 50, "learning_rate": 3e-3, "valid_positions": 256, "probe_positions": 600},
    ),
}  # fmt: skip


def runs_of(
    preset: str = "full",
    steps_small: int | None = None,
    steps_large: int | None = None,
    precision: str = "fp32",
    seeds: Sequence[int] | None = None,
    side_token: bool = False,
    **changes: Any,
) -> list[RunSettings]:
    """List all runs of a preset, controls and both protocols included: small ones first, then the large ones by seed.

    `main_runs` are those that a study trains unless told otherwise. Changes are settings that all runs share.
    """
    one_of("preset", preset, tuple(PRESETS))
    sizes = PRESETS[preset]
    told = {"side_token": side_token}
    sizes = replace(sizes, small=sizes.small.model_copy(update=told), large=sizes.large.model_copy(update=told))
    found = []
    for condition in CONDITIONS.values():
        config, steps = (sizes.large, steps_large) if condition.large else (sizes.small, steps_small)
        planned = sizes.large_steps if condition.large else sizes.small_steps
        small = sizes.small if condition.embeds or condition.random else None
        first = RunSettings(
            condition.name, 0, config, planned if steps is None else steps, small, precision=precision,
            **sizes.changes | changes,
        )  # fmt: skip
        protocols = (first.auxiliary, not first.auxiliary) if condition.large else (True,)
        for auxiliary in protocols:
            found += [
                replace(first, seed=seed, auxiliary=auxiliary) for seed in (sizes.seeds if seeds is None else seeds)
            ]
    return sorted(found, key=lambda run: run.plan.large)  # else in the order above


def main_runs(runs: Sequence[RunSettings], preset: str) -> list[RunSettings]:
    """Choose the five conditions in the protocol of the preset."""
    usual = PRESETS[preset].changes.get("auxiliary", True)
    return [run for run in runs if not run.plan.control and (run.auxiliary == usual or not run.plan.large)]


def chosen_runs(preset: str, runs: Sequence[RunSettings], patterns: Sequence[str]) -> list[RunSettings]:
    """Choose runs by name, condition or pattern such as `large-*-s42`; without any, the main ones.

    A condition without seed means the preset's protocol; patterns are looked for among all runs.
    """
    if not patterns:
        return main_runs(runs, preset)
    chosen = set()
    for pattern in patterns:
        meant = protocol_name(pattern, preset)
        fitting = {run.name for run in runs if run.name.rpartition("-s")[0] == meant or fnmatchcase(run.name, pattern)}
        if not fitting:
            raise BadInput(f"the study has no run {pattern!r}; it has {', '.join(run.name for run in runs)}")
        chosen |= fitting
    return [run for run in runs if run.name in chosen]


def protocol_name(condition: str, preset: str) -> str:
    """Return what runs of a condition are called in the protocol of a preset, without the seed."""
    probed = not PRESETS[preset].changes.get("auxiliary", True)
    large = condition in CONDITIONS and CONDITIONS[condition].large
    return f"{condition}-probe" if large and probed else condition
