"""What the Texas 42 study makes and trains: settings of runs, and presets of the whole."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields, replace
from typing import Any

from rookery.games.options import one_of, whole_number
from rookery.nets.bf16 import computes_bf16
from rookery.nets.configs import HANDS, TRANSCRIPTS, HandsConfig, TranscriptConfig
from rookery.studies.settings import differing, number, plain_name
from rookery.studies.texas42_files import Size, WorldCounts

MOST = 1 << 31
PRECISIONS = ("auto", "fp32", "bf16")
MOST_PACE = 1e3


def completed(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of a run with the settings that it does not tell of if it was made before there was a choice."""
    network = facts.get("network")
    if isinstance(network, dict) and network.get("kind") == "hands":
        facts = facts | {"network": {"reads": "all"} | network}
    return {"muon": 0.0} | facts


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
    muon: float = 0.0
    """learning rate of the matrices in layers, which then go by Muon, over that of all else; 0: all go by AdamW"""
    precision: str = "fp32"
    """numbers of products; auto: bf16 where the device has instructions for it, found out when the run begins"""
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
        plain_name("name", self.name)
        for name in ("steps", "batch", "every", "valid_rows"):
            whole_number(name, getattr(self, name), 1, MOST)
        for name in ("warmup", "rows"):
            whole_number(name, getattr(self, name), 0, MOST)
        whole_number("seed", self.seed, 0, (1 << 62) - 1)
        for name in ("learning_rate", "weight_decay", "gradient_norm", "advantage"):
            number(name, getattr(self, name), 0, 1e6)
        number("muon", self.muon, 0, MOST_PACE)
        one_of("precision", self.precision, PRECISIONS)

    @property
    def stage(self) -> int:
        """Which stage is trained."""
        return 1 if isinstance(self.network, HandsConfig) else 2

    @property
    def kind(self) -> str:
        """The kind of data it learns from."""
        return "positions" if self.stage == 1 else "decisions"

    @property
    def reads(self) -> str:
        """The observation that its network reads."""
        return self.network.reads if isinstance(self.network, HandsConfig) else "known"

    def rate(self, step: int) -> float:
        """Return the learning rate of a step."""
        rising = min(1.0, (step + 1) / self.warmup) if self.warmup else 1.0
        return self.learning_rate * rising * (1 + math.cos(math.pi * step / self.steps)) / 2

    def settled(self, there: dict[str, Any] | None, device: str) -> TrainSettings:
        """Return the settings with a precision: that of the run as it is `there`, or what suits the device."""
        if self.precision != "auto":
            return self
        fast = device == "cuda" or (device == "cpu" and computes_bf16())
        return replace(self, precision=there["precision"] if there else "bf16" if fast else "fp32")

    def unlike(self, there: dict[str, Any]) -> list[str]:
        """List in which settings a run that is there is another."""
        wanted = json.loads(json.dumps(self.as_dict()))
        if self.precision == "auto":
            del wanted["precision"]
        there = completed(there)
        return differing(wanted, {key: there.get(key) for key in wanted})

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
    allowed = ("q", "policy", "both") if stage == 1 else ("q", "logits")
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

    @property
    def size(self) -> Size:
        """How much the set shall hold."""
        return Size("deals", self.deals, self.per_shard)

    @property
    def settings(self) -> dict[str, Any]:
        """What it is made by."""
        return {"source": self.source, "part": self.part, "per_deal": self.per_deal, "per_shard": self.per_shard}


@dataclass(frozen=True)
class Hands:
    """A set of decisions to make."""

    name: str
    oracle: str
    """`exact`, or the run whose network it is"""
    part: str
    games: int
    worlds: WorldCounts
    """of each decision, or by trick: solving is the sooner done the later it is, so late labels may be finer"""
    explore: float
    per_shard: int
    second: str = ""
    """the run whose mean logits are kept, too"""

    @property
    def size(self) -> Size:
        """How much the set shall hold."""
        return Size("games", self.games, self.per_shard)

    @property
    def settings(self) -> dict[str, Any]:
        """What it is made by, besides networks, and whether exact search is asked."""
        exact = {"oracle": "exact"} if self.oracle == "exact" else {}
        return exact | {
            "part": self.part, "explore": self.explore, "per_shard": self.per_shard, "worlds": self.worlds,
        }  # fmt: skip


@dataclass(frozen=True)
class Preset:
    """A size of the whole study."""

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
    both = ("decisions-network", "decisions-valid")
    second = TrainSettings("stage2-quick", TINY_TRANSCRIPT, 400, data=both, **QUICK)  # type: ignore[arg-type]
    logits = replace(
        second, name="stage2-logits-quick", network=TINY_TRANSCRIPT.model_copy(update={"answers": "logits"})
    )
    exact = replace(second, name="stage2-exact-quick", data=("decisions-exact", "decisions-valid"))
    duels = ("heuristic/random", "stage2-quick/random", "exact:10/heuristic")
    return Preset(positions, (taught, policy), decisions, (second, logits, exact), (48, 30), duels, 20)


def home() -> Preset:
    """Make the preset for two cores and some hours: small networks, hands labelled by a few exact worlds each.

    Exact search is so fast that the teacher needs no network. Labels of few worlds are rough, but right on average,
    and there are many hands: what a network learns is the mean. Processors with instructions for bf16 learn in it.
    """
    positions = (
        Positions("positions-random", "random", "train", 50_000, 8, 5_000),
        Positions("positions-played", "played", "train", 10_000, 1, 1_000),
        Positions("positions-valid", "played", "valid", 500, 1, 500),
        Positions("positions-uniform", "uniform", "valid", 20, 2_000, 5),
    )
    shared: dict[str, Any] = {"warmup": 200, "every": 500, "precision": "auto", "learning_rate": 2e-3, "muon": 5.0}
    first = tuple(
        TrainSettings(name, sized(1, "73k", answers), 12_000, **shared)
        for name, answers in (("stage1-73k", "q"), ("stage1-policy-73k", "policy"))
    )
    valid, hands, claim = "decisions-valid", "decisions-exact", "decisions-claim"
    decisions = (
        Hands(valid, "exact", "valid", 200, 100, 0.0, 50),
        Hands(hands, "exact", "train", 200_000, (4, 8, 16, 24, 32), 0.05, 500),
        Hands(claim, first[0].name, "train", 2_000, 30, 0.05, 500, first[1].name),
    )

    def taught(
        name: str, steps: int, data: str, answers: str = "q", size: str = "64x2", **others: Any
    ) -> TrainSettings:
        settings: dict[str, Any] = {"data": (data, valid)} | shared | others
        return TrainSettings(f"stage2-{name}", sized(2, size, answers), steps, **settings)

    best = taught("96x3", 24_000, hands, size="96x3", rows=200_000, learning_rate=4e-3, muon=2.0, every=1000)
    curve = (
        taught("64x2-100k", 3_000, hands, rows=100_000), taught("64x2-10k", 1_000, hands, rows=10_000),
        taught("64x2-1k", 500, hands, rows=1_000, every=250),
    )  # fmt: skip
    logits = (taught("claim-q-64x2", 1_000, claim), taught("claim-logits-64x2", 1_000, claim, "logits"))
    changes: dict[str, dict[str, Any]] = {
        "advantage-0": {"advantage": 0.0}, "rate-5e-4": {"learning_rate": 5e-4}, "decay-0.1": {"weight_decay": 0.1},
        "muon-0": {"muon": 0.0}, "seed-1": {"seed": 1},
    }  # fmt: skip
    sweep = tuple(taught(f"sweep-{name}", 1_000, hands, rows=10_000, **change) for name, change in changes.items())
    player = best.name
    duels = (
        *PLAIN_DUELS, "exact:10:make/exact:10", f"{player}/random", f"{player}/heuristic", f"exact:10/{player}",
        f"exact:100/{player}", f"{player}:make/{player}",
    )  # fmt: skip
    return Preset(positions, first, decisions, (best, *curve, *logits, *sweep), (1200, 1000), duels, 1000)


CARD: dict[str, Any] = {"batch": 2048, "precision": "bf16", "muon": 5.0, "valid_rows": 400_000}
RATE, RATES = 2e-3, {"256x6": 6e-4, "817k": 1e-3, "3.3M": 3e-4}
"""learning rates on a card: the usual one, and those of sizes that learn nothing by it, or less"""


def first_stage(size: str, answers: str, steps: int, every: int = 2000) -> TrainSettings:
    """Return a run of Stage 1 on a card, which learns from all positions."""
    name, network = f"stage1-{'policy-' * (answers == 'policy')}{size}", sized(1, size, answers)
    return TrainSettings(name, network, steps, learning_rate=RATES.get(size, RATE), every=every, **CARD)


def second_stage(
    size: str, name: str, steps: int, data: str, answers: str = "q", every: int = 2000, **others: Any
) -> TrainSettings:
    """Return a run of Stage 2 on a card, which learns from one set of hands."""
    network = sized(2, size, answers)
    changed = {"learning_rate": RATES.get(size, RATE), "every": every} | CARD | others
    return TrainSettings(f"stage2-{name}", network, steps, data=(data, "decisions-valid"), **changed)


def full() -> Preset:
    """Make the preset for a card: networks of all sizes on six million positions, a hundred thousand hands.

    The teacher is told what the rules make of open hands, and is as large as labelling so many hands allows. The
    original's sizes, which are told nothing, are there to be compared. The claim about logits is tested with the
    smallest that is told, in both modes.
    """
    positions = (
        Positions("positions-random", "random", "train", 120_000, 8, 10_000),
        Positions("positions-early", "early", "train", 60_000, 16, 5_000),
        Positions("positions-middle", "middle", "train", 600_000, 8, 20_000),
        Positions("positions-played", "played", "train", 60_000, 1, 3_000),
        Positions("positions-valid", "played", "valid", 5_000, 1, 2_500),
        Positions("positions-uniform", "uniform", "valid", 400, 1_000, 10),
    )
    first = tuple(
        first_stage(size, answers, steps, every)
        for size, answers, steps, every in (
            ("open-128x4", "both", 54_000, 10_000), ("open-64x2", "q", 10_000, 2_000),
            ("open-64x2", "policy", 10_000, 2_000),
            ("73k", "q", 6_000, 2_000), ("817k", "q", 6_000, 2_000), ("3.3M", "q", 6_000, 2_000),
        )
    )  # fmt: skip
    best, small, other = (run.name for run in first[:3])
    decisions = (
        Hands("decisions-valid", "exact", "valid", 1_000, 100, 0.0, 250),
        Hands("decisions-exact", "exact", "train", 5_000, 100, 0.05, 250),
        Hands("decisions-claim", small, "train", 10_000, 100, 0.05, 5_000, other),
        Hands("decisions-100", best, "train", 100_000, 100, 0.05, 10_000),
        Hands("decisions-1000", best, "train", 10_000, 1000, 0.05, 1_000),
    )  # a card rests between two files, so they are large
    hands, claim = "decisions-100", "decisions-claim"
    second = tuple(second_stage(size, size, 6_000, hands) for size in ("128x4", "256x6", "64x2"))
    curve = (
        second_stage("128x4", "128x4-1k", 1_000, hands, every=500, rows=1_000, warmup=200),
        second_stage("128x4", "128x4-10k", 3_000, hands, rows=10_000),
    )
    labels = (
        second_stage("128x4", "exact-128x4", 3_000, "decisions-exact"),
        second_stage("128x4", "128x4-5k", 3_000, hands, rows=5_000),  # as many hands, to be compared with it
        second_stage("128x4", "1000-128x4", 3_000, "decisions-1000"),
        second_stage("64x2", "claim-q-64x2", 3_000, claim),
        second_stage("64x2", "claim-logits-64x2", 3_000, claim, "logits"),
    )
    changes: dict[str, dict[str, Any]] = {
        "rate-5e-4": {"learning_rate": 5e-4}, "rate-4e-3": {"learning_rate": 4e-3}, "advantage-0": {"advantage": 0.0},
        "decay-0.1": {"weight_decay": 0.1}, "muon-0": {"muon": 0.0}, "seed-1": {"seed": 1},
    }  # fmt: skip
    sweep = tuple(  # against `claim-q`, which learns from the same hands
        second_stage("64x2", f"sweep-{name}", 3_000, claim, **change) for name, change in changes.items()
    )
    duels = (*PLAIN_DUELS, "exact:100/exact:10", "exact:100:make/exact:100", *network_duels(best, second[1].name))
    stages = (*second, *curve, *labels, *sweep)
    return Preset(positions, first, decisions, stages, (1200, 1000), duels, 1000)


PLAIN_DUELS = ("heuristic/random", "exact:10/random", "exact:10/heuristic")
"""matches that need no network"""


def network_duels(judge: str, player: str) -> tuple[str, ...]:
    """Return the matches of a Stage 1, as the oracle of E[Q], and of a Stage 2."""
    return (
        f"{player}/random", f"{player}/heuristic", f"{judge}:10/heuristic", f"{judge}:100/heuristic",
        f"{judge}:100/{judge}:10", f"{judge}:100/{player}", f"exact:10/{judge}:10", f"exact:10/{player}",
        f"{judge}:100:make/{judge}:100", f"{player}:make/{player}",
    )  # fmt: skip


PRESETS = {"quick": quick, "home": home, "full": full}


def preset_of(name: str) -> Preset:
    """Return a preset by name."""
    return PRESETS[one_of("--preset", name, tuple(PRESETS))]()
