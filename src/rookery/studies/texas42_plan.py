"""What the Texas 42 study makes and trains: settings of runs, and presets of the whole."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any

from rookery.errors import BadInput
from rookery.games.options import one_of, whole_number
from rookery.nets.configs import HANDS, TRANSCRIPTS, HandsConfig, TranscriptConfig
from rookery.studies.domineering_plan import number

MOST = 1 << 31
PRECISIONS = ("fp32", "bf16")


@dataclass(frozen=True)
class TrainSettings:
    """One run: everything that its weights depend on, besides the data."""

    name: str
    network: HandsConfig | TranscriptConfig
    steps: int
    batch: int = 512
    learning_rate: float = 3e-4
    """the highest; a cosine brings it to 0 at the last step"""
    warmup: int = 500
    """steps in which it rises"""
    weight_decay: float = 0.01
    gradient_norm: float = 1.0
    """longer gradients are cut to this; 0: none is"""
    advantage: float = 4.0
    """weight of the error of differences between the slots of a position, by which choices are made; 0: the loss of
    the original, which learns how high all slots are first"""
    precision: str = "fp32"
    seed: int = 0
    every: int = 1000
    """steps between two lines of figures"""
    data: tuple[str, ...] = ()
    """sets of data; all of the stage's kind if none is named"""
    rows: int = 0
    """rows of files to learn from, positions or hands, the first of each set; 0: all"""
    valid_rows: int = 20_000
    """positions or decisions of each set on which the figures of validation are found, at most"""

    def __post_init__(self) -> None:
        if not self.name or any(sign in self.name for sign in "/\\:") or self.name.startswith("."):
            raise BadInput(f"name must be the plain name of a folder, not {self.name!r}")
        for name in ("steps", "batch", "every", "valid_rows"):
            whole_number(name, getattr(self, name), 1, MOST)
        for name in ("warmup", "rows"):
            whole_number(name, getattr(self, name), 0, MOST)
        whole_number("seed", self.seed, 0, (1 << 62) - 1)
        for name in ("learning_rate", "weight_decay", "gradient_norm", "advantage"):
            number(name, getattr(self, name), 0, 1e6)
        one_of("precision", self.precision, PRECISIONS)

    @property
    def stage(self) -> int:
        """Which stage is trained."""
        return 1 if isinstance(self.network, HandsConfig) else 2

    @property
    def kind(self) -> str:
        """The kind of data it learns from."""
        return "positions" if self.stage == 1 else "decisions"

    def rate(self, step: int) -> float:
        """Return the learning rate of a step."""
        rising = min(1.0, (step + 1) / self.warmup) if self.warmup else 1.0
        return self.learning_rate * rising * (1 + math.cos(math.pi * step / self.steps)) / 2

    def as_dict(self) -> dict[str, Any]:
        """Return the settings for JSON."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return values | {"network": self.network.model_dump(mode="json"), "data": list(self.data)}


def sized(stage: int, size: str, answers: str = "") -> HandsConfig | TranscriptConfig:
    """Return the network of a stage by the name of its size; `answers` as in its configuration."""
    known: dict[str, Any] = HANDS if stage == 1 else TRANSCRIPTS
    config = known[one_of("--size", size, tuple(known))]
    if not answers:
        return config  # type: ignore[no-any-return]
    allowed = ("q", "policy") if stage == 1 else ("q", "logits")
    return config.model_copy(update={"answers": one_of("--answers", answers, allowed)})  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Positions:
    """A set of positions to make."""

    name: str
    source: str
    part: str
    deals: int
    per_deal: int
    per_shard: int


@dataclass(frozen=True)
class Hands:
    """A set of decisions to make."""

    name: str
    oracle: str
    """`exact`, or the run whose network it is"""
    part: str
    games: int
    worlds: int
    explore: float
    per_shard: int
    second: str = ""
    """the run whose mean logits are kept, too"""


@dataclass(frozen=True)
class Preset:
    """A size of the whole study."""

    meaning: str
    positions: tuple[Positions, ...]
    stage1: tuple[TrainSettings, ...]
    decisions: tuple[Hands, ...]
    stage2: tuple[TrainSettings, ...]
    trial: tuple[int, int]
    """decisions on which choices are judged, and worlds of each set"""
    duels: tuple[str, ...]
    deals: int
    """of each match"""


TINY_HANDS = HandsConfig(width=48, heads=4, layers=2, mlp=96)
TINY_TRANSCRIPT = TranscriptConfig(width=48, heads=4, layers=2, mlp=96)
QUICK = {"batch": 128, "learning_rate": 1e-3, "warmup": 50, "every": 200, "valid_rows": 2000}


def quick() -> Preset:
    """Make the preset for two cores and minutes."""
    positions = (
        Positions("positions-random", "random", "train", 300, 8, 150),
        Positions("positions-played", "played", "train", 120, 1, 60),
        Positions("positions-valid", "played", "valid", 40, 1, 40),
    )
    taught = TrainSettings("stage1-quick", TINY_HANDS, 600, **QUICK)  # type: ignore[arg-type]
    policy = replace(taught, name="stage1-policy-quick", network=TINY_HANDS.model_copy(update={"answers": "policy"}))
    decisions = (
        Hands("decisions-exact", "exact", "train", 24, 10, 0.05, 12),
        Hands("decisions-network", "stage1-quick", "train", 120, 10, 0.05, 60, "stage1-policy-quick"),
        Hands("decisions-valid", "exact", "valid", 12, 20, 0.0, 12),
    )
    second = TrainSettings("stage2-quick", TINY_TRANSCRIPT, 400, **QUICK)  # type: ignore[arg-type]
    logits = replace(
        second, name="stage2-logits-quick", network=TINY_TRANSCRIPT.model_copy(update={"answers": "logits"}),
        data=("decisions-network", "decisions-valid"),
    )  # fmt: skip
    duels = ("heuristic/random", "stage2-quick/random", "exact:10/heuristic")
    return Preset("tiny, for two cores", positions, (taught, policy), decisions, (second, logits), (48, 30), duels, 20)


def full() -> Preset:
    """Make the preset for a card: networks of all sizes on ten million positions, a hundred thousand hands."""
    positions = (
        Positions("positions-random", "random", "train", 500_000, 8, 20_000),
        Positions("positions-played", "played", "train", 350_000, 1, 10_000),
        Positions("positions-valid", "played", "valid", 2_500, 1, 2_500),
        Positions("positions-uniform", "uniform", "valid", 50, 10_000, 1),
    )
    card: dict[str, Any] = {"batch": 2048, "precision": "bf16", "every": 2000, "warmup": 1000}
    first = tuple(
        TrainSettings(f"stage1-{size}", config, steps, learning_rate=rate, **card)
        for size, steps, rate in (("73k", 30_000, 1e-3), ("817k", 60_000, 6e-4), ("3.3M", 100_000, 4e-4))
        for config in (HANDS[size],)
    )
    policy = replace(
        first[1], name="stage1-policy-817k", network=HANDS["817k"].model_copy(update={"answers": "policy"})
    )
    best = first[-1].name
    decisions = (
        Hands("decisions-100", best, "train", 100_000, 100, 0.05, 10_000, policy.name),
        Hands("decisions-1000", best, "train", 10_000, 1000, 0.05, 5_000, policy.name),
        Hands("decisions-exact", "exact", "train", 5_000, 100, 0.05, 2_500),
        Hands("decisions-valid", "exact", "valid", 1_000, 100, 0.0, 1_000),
    )
    second = tuple(
        TrainSettings(f"stage2-{size}", TRANSCRIPTS[size], 30_000, learning_rate=rate, **card)
        for size, rate in (("64x2", 1e-3), ("128x4", 6e-4), ("256x6", 4e-4))
    )
    curves = tuple(
        replace(second[1], name=f"stage2-128x4-{games // 1000}k", rows=games, steps=steps,
                data=("decisions-100", "decisions-valid"))
        for games, steps in ((1_000, 4_000), (10_000, 15_000), (100_000, 30_000))
    )  # fmt: skip
    logits = replace(
        second[1], name="stage2-logits-128x4", data=("decisions-100", "decisions-valid"),
        network=TRANSCRIPTS["128x4"].model_copy(update={"answers": "logits"}),
    )  # fmt: skip
    best2 = second[-1].name
    duels = (
        "heuristic/random", "exact:10/random", "exact:10/heuristic", "exact:100/heuristic", f"{best2}/random",
        f"{best2}/heuristic", f"exact:10/{best2}", f"exact:100/{best2}", "exact:100/exact:10",
        "exact:100:make/exact:100", f"{best2}:make/{best2}",
    )  # fmt: skip
    stages = (*first, policy), (*second, *curves, logits)
    return Preset("as planned, for a card", positions, stages[0], decisions, stages[1], (1200, 1000), duels, 1000)


PRESETS = {"quick": quick, "full": full}


def preset_of(name: str) -> Preset:
    """Return a preset by name."""
    return PRESETS[one_of("--preset", name, tuple(PRESETS))]()
