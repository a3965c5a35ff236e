"""What the Gomoku study does: its milestones, its arms and how much of everything, as tables.

The main run is a curriculum (`learn.curriculum`) whose stages give the networks of the milestones. An arm is a way to
use a fixed time: legs, each a stage of the same curriculum for a share of that time. To add an arm is to add a line to
`ARMS`; one that needs a setting which this version does not have says so and is left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from rookery.errors import BadInput
from rookery.games.options import one_of
from rookery.learn.curriculum_settings import CurriculumSettings, packaged
from rookery.learn.network_sections import TowerSettings
from rookery.learn.sections import GateSettings, Section, SelfplaySettings, TrainingSettings

MAIN = "main"
HALF = 0.5  # the lower end of every milestone's interval must be above
SETTINGS: dict[str, type[Section]] = {
    "network": TowerSettings,
    "selfplay": SelfplaySettings,
    "training": TrainingSettings,
    "gate": GateSettings,
}


@dataclass(frozen=True)
class Milestone:
    """A match that the network of a stage is to win by so much."""

    name: str
    stage: str
    """whose network plays, on the stage's board"""
    opponent: str
    share: float
    """of the points, draws counted half"""
    simulations: int = 800
    goal: bool = False
    """a goal is met by this share or more; a milestone needs more than it, with the interval above one half"""
    fours: bool = False
    """whether the search looks for wins by fours, too"""


MILESTONES = (
    Milestone("m1", "1a", "random", 0.95),
    Milestone("m2", "1b", "baseline:depth=2", 0.70),
    Milestone("m3", "2", "baseline:depth=6", 0.55),
    Milestone("m4", "3", "baseline:depth=2", 0.70),
    Milestone("m5", "4", "baseline:depth=6", 0.55),
    Milestone("goal-small", "2", "baseline:depth=6", 0.95, simulations=400, goal=True),
    Milestone("goal-large", "4", "baseline:depth=6", 0.95, simulations=400, goal=True),
    Milestone("goal-advanced", "4", "advanced:time=0.5", 0.85, simulations=800, goal=True),
    Milestone("fours-small", "2", "baseline:depth=6", 0.95, simulations=400, goal=True, fours=True),
    Milestone("fours-large", "4", "baseline:depth=6", 0.95, simulations=400, goal=True, fours=True),
    Milestone("fours-advanced", "4", "advanced:time=0.5", 0.85, simulations=800, goal=True, fours=True),
)


@dataclass(frozen=True)
class Arm:
    """A way to use a fixed time."""

    name: str
    legs: tuple[tuple[str, float], ...]
    """stages of the curriculum, each with its share of the time; what is over when a stage ends goes to the next"""
    changes: tuple[str, ...] = ()
    """of settings, as `--set` takes them"""
    gated: bool = False
    """whether a network must win a match before it plays"""
    extra: bool = False
    """whether it is trained only if `--runs` names it"""
    needs: str = ""
    """the setting without which it cannot be run, like selfplay.opponent"""

    @property
    def available(self) -> bool:
        """Whether this version has the setting it needs."""
        section, _, key = self.needs.partition(".")
        return not self.needs or key in SETTINGS[section].model_fields


LAST = "4"
"""the stage of self-play on the large board"""
WHOLE = ((LAST, 1.0),)
TAUGHT = (("3", 0.25), (LAST, 0.75))
"""imitation on the large board before self-play: where ten minutes of self-play alone come to nothing, arms that differ
in self-play can be told apart only behind it"""
FIXED = ("stages.4.selfplay.opponent=baseline:depth=6",)
WINDOW, DISCARD = ("stages.4.gate.discard=false",), ("stages.4.gate.discard=true",)
CAPPED = ("stages.4.selfplay.full_share=0.25", "stages.4.selfplay.cheap_simulations=20")
FORCED = ("stages.4.selfplay.forced=2", "stages.4.selfplay.prune=true")
SQUEEZE, POOLING = ("network.squeeze=16",), ("network.pooling=16",)

ARMS = (
    Arm("curriculum", (("1a", 0.03), ("1b", 0.07), ("2", 0.30), ("3", 0.10), (LAST, 0.50))),
    Arm("scratch", WHOLE),
    Arm("fixed", WHOLE, FIXED, needs="selfplay.opponent"),
    Arm("window", WHOLE, WINDOW, gated=True),
    Arm("discard", WHOLE, DISCARD, gated=True),
    Arm("taught", TAUGHT, extra=True),
    Arm("taught-fixed", TAUGHT, FIXED, extra=True, needs="selfplay.opponent"),
    Arm("taught-window", TAUGHT, WINDOW, gated=True, extra=True),
    Arm("taught-discard", TAUGHT, DISCARD, gated=True, extra=True),
    Arm("taught-capped", TAUGHT, CAPPED, extra=True),
    Arm("taught-forced", TAUGHT, FORCED, extra=True, needs="selfplay.forced"),
    Arm("taught-squeeze", TAUGHT, SQUEEZE, extra=True, needs="network.squeeze"),
    Arm("taught-pooling", TAUGHT, POOLING, extra=True, needs="network.pooling"),
    Arm("capped", WHOLE, CAPPED, extra=True),
    Arm("forced", WHOLE, FORCED, extra=True, needs="selfplay.forced"),
    Arm("squeeze", WHOLE, SQUEEZE, extra=True, needs="network.squeeze"),
    Arm("pooling", WHOLE, POOLING, extra=True, needs="network.pooling"),
)


@dataclass(frozen=True)
class Comparison:
    """Two arms that are judged against each other, and the claim that is tested."""

    first: str
    second: str
    claim: str


COMPARISONS = (
    Comparison(
        "curriculum", "scratch",
        "imitation and the small board first reach more in the same time than self-play from scratch",
    ),
    Comparison("scratch", "fixed", "self-play reaches more than training against a fixed opponent only"),
    Comparison("discard", "window", "discarding old data on promotion reaches more than a window of 200,000 positions"),
    Comparison(
        "taught", "taught-fixed",
        "after imitation, self-play reaches more than training against a fixed opponent only",
    ),
    Comparison(
        "taught-discard", "taught-window",
        "after imitation, discarding old data on promotion reaches more than keeping it",
    ),
    *(
        Comparison(f"{start}{name}", base, f"{how}{what}")
        for start, base, how in (("", "scratch", ""), ("taught-", "taught", "after imitation, "))
        for name, what in (
            ("capped", "searching most moves cheaply (playout cap randomisation) reaches more"),
            ("forced", "forced playouts with pruned targets reach more"),
            ("squeeze", "squeeze-excitation reaches more"),
            ("pooling", "pooling over the board reaches more"),
        )
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Preset:
    """How much of everything."""

    curriculum: str
    """packaged settings of the main run"""
    main_changes: tuple[str, ...]
    arm_changes: tuple[str, ...]
    """of all arms, before their own"""
    gate_changes: tuple[str, ...]
    """of arms with a gate"""
    milestones: tuple[Milestone, ...] = MILESTONES
    milestone_games: int = 200
    arms: tuple[Arm, ...] = ARMS
    seeds: int = 3
    arm_seconds: float = 600.0
    marks: tuple[float, ...] = (0.25, 0.5, 0.75, 1.0)
    """shares of the time at which networks are kept and judged"""
    references: tuple[str, ...] = ("baseline:depth=2", "baseline:depth=6", "random")
    """players met at every mark"""
    compare_games: int = 100
    compare_simulations: int = 200

    def settings(self, arm: Arm | None, seed: int, device: str) -> CurriculumSettings:
        """Return the settings of an arm, or of the main run."""
        return packaged(self.curriculum, (*self.changes_of(arm), f"seed={seed}", f"device={device}"))

    def changes_of(self, arm: Arm | None) -> tuple[str, ...]:
        """Return what an arm, or the main run, changes in the packaged settings."""
        if arm is None:
            return self.main_changes
        return (*self.arm_changes, *(self.gate_changes if arm.gated else ()), *arm.changes)

    @property
    def game(self) -> str:
        """The game on which arms are judged: that of the last stage."""
        return next(stage.game for stage in packaged(self.curriculum).stages if stage.name == LAST)


def on_card(stage: str) -> tuple[str, ...]:
    """Return what a stage of self-play does in larger portions where a card plays."""
    return tuple(
        f"stages.{stage}.{change}"
        for change in (
            "selfplay.at_once=2048", "training.batch=2048", "training.steps_per_game=0.1", "training.precision=bf16",
            "training.muon=5",
            # games begin as matches do, with stones in the middle, and with fewer down to an empty board
            "selfplay.random_plies=4", "selfplay.random_fewer=true", "selfplay.random_middle=7",
        )
    )  # fmt: skip


def taught_on_card(stage: str) -> tuple[str, ...]:
    """Return how a stage of imitation computes where a card learns."""
    return f"stages.{stage}.training.precision=bf16", f"stages.{stage}.training.muon=5"


def without_end(stage: str) -> tuple[str, ...]:
    """Return what lets a stage of self-play go on until its time is up, with no gate, and the learning rate as high."""
    return tuple(
        f"stages.{stage}.{change}"
        for change in ("selfplay.games=2_000_000_000", "checkpoints.every=2_000_000_000", "gate.kind=none")
    )


def without_conditions(stage: str) -> tuple[str, ...]:
    """Return what lets a stage use all its passes or games, whatever it has come to: milestones judge it afterwards.

    So its learning rate comes to its end, and no match is played again and again that is not won yet.
    """
    return f"stages.{stage}.until.beats=[]", f"stages.{stage}.until.plateau.of=none"


def watched_briefly(stage: str) -> tuple[str, ...]:
    """Return what keeps matches of a stage of self-play short beside its games, and lets every new network play.

    Processors search in matches while the card waits, and a player that thinks by time plays few games at once; and
    behind a gate a handful of networks would play all games. Each network meets the one three before it: it wins too
    much against the first one to tell by how much.
    """
    changes = (
        'until.watched=[random, "advanced:depth=6"]', "until.watched_games=100", "until.simulations=100",
        "until.plateau.over=3", "gate.kind=none",
    )  # fmt: skip
    return tuple(f"stages.{stage}.{change}" for change in changes)


def searched_well(stage: str) -> tuple[str, ...]:
    """Return what a stage of self-play of the main run does to become strong in little time.

    Wins by fours are looked for at every leaf, half as many simulations make twice as many games, and more of these are
    remembered.
    """
    changes = ("selfplay.simulations=100", "selfplay.fours=true", "training.replay=500_000", "training.fresh=20_000")
    return tuple(f"stages.{stage}.{change}" for change in changes)


def taught_steadily(stage: str) -> tuple[str, ...]:
    """Return what makes targets and weights of a stage of self-play steadier than one outcome and the newest step.

    Outcomes are mixed with what searches found, proofs among it, and a mean over some hundred steps plays.
    """
    changes = ("training.root_value_share=0.25", "training.average=ema", "training.average_decay=0.998")
    return tuple(f"stages.{stage}.{change}" for change in changes)


def side_by_side(stage: str) -> tuple[str, ...]:
    """Return what a run of an arm does in smaller portions, since all arms share a card.

    With as many games at once as in the main run, few would be over when its time is, and hardly any would be played by
    a network that has learned from others.
    """
    return f"stages.{stage}.selfplay.at_once=256", f"stages.{stage}.selfplay.simulations=100"


def few_passes(stage: str, passes: int) -> str:
    """Return what lets a stage of imitation end sooner: by Muon it has learned what there is after fewer passes."""
    return f"stages.{stage}.training.passes={passes}"


CARD = (*on_card("2"), *on_card("4"), *taught_on_card("1a"), *taught_on_card("1b"), *taught_on_card("3"))

FULL = Preset(
    "gomoku_curriculum",
    main_changes=(
        *CARD, *(change for stage in ("1a", "1b", "2", "3", "4") for change in without_conditions(stage)),
        *watched_briefly("2"), *watched_briefly("4"), *searched_well("2"), *searched_well("4"),
        *taught_steadily("2"), *taught_steadily("4"),
        few_passes("1a", 10), few_passes("1b", 10), few_passes("3", 4),
        "stages.2.selfplay.games=30_000", "stages.2.checkpoints.every=7_500",
        "stages.3.training.learning_rate=5e-4", "stages.3.training.least_learning_rate=5e-5",
        "stages.4.selfplay.games=100_000", "stages.4.checkpoints.every=20_000",
        "stages.4.training.learning_rate=5e-4", "stages.4.training.warmup_steps=200",
    ),
    arm_changes=(*CARD, *side_by_side("2"), *side_by_side("4"), *without_end("2"), *without_end("4")),
    gate_changes=(
        "stages.4.gate.kind=share", "stages.4.gate.share=0.55", "stages.4.gate.games=100",
        "stages.4.gate.simulations=64", "stages.4.checkpoints.every=400",
    ),
)  # fmt: skip

QUICK = Preset(
    "gomoku_study_quick",
    main_changes=(),
    arm_changes=(*without_end("2"), *without_end("4")),
    milestones=(
        Milestone("m1", "1a", "random", 0.95, simulations=50),
        Milestone("m2", "1b", "baseline:depth=1", 0.70, simulations=50),
        Milestone("m3", "2", "baseline:depth=2", 0.55, simulations=50),
        Milestone("m4", "3", "baseline:depth=1", 0.70, simulations=50),
        Milestone("m5", "4", "baseline:depth=2", 0.55, simulations=50),
        Milestone("goal-small", "2", "baseline:depth=2", 0.95, simulations=50, goal=True),
        Milestone("goal-large", "4", "baseline:depth=2", 0.95, simulations=50, goal=True),
        Milestone("goal-advanced", "4", "advanced:time=0.01", 0.85, simulations=50, goal=True),
    ),
    milestone_games=12,
    gate_changes=("stages.4.gate.kind=share", "stages.4.gate.share=0.55", "stages.4.checkpoints.every=40"),
    seeds=2,
    arm_seconds=16.0,
    marks=(0.5, 1.0),
    references=("baseline:depth=2", "random"),
    compare_games=8,
    compare_simulations=32,
)  # fmt: skip

HOME = Preset(
    "gomoku_home",
    main_changes=(),
    arm_changes=(
        *without_end("2"), *without_end("4"),
        # as many lessons as there is time for, each with its learning rate brought to its end
        "stages.1a.training.passes=1", "stages.1b.lessons.positions=20_000", "stages.1b.training.passes=3",
        "stages.3.lessons.positions=30_000", "stages.3.training.passes=2",
    ),
    gate_changes=(
        "stages.4.gate.kind=share", "stages.4.gate.share=0.55", "stages.4.gate.games=40",
        "stages.4.gate.simulations=50", "stages.4.checkpoints.every=200",
    ),
    arms=tuple(replace(arm, extra=arm.extra or arm.name not in ("curriculum", "scratch")) for arm in ARMS),
    arm_seconds=600.0,
    marks=(0.5, 1.0),
    references=("baseline:depth=2", "random"),
    compare_games=40,
    compare_simulations=100,
)  # fmt: skip

PRESETS = {"full": FULL, "home": HOME, "quick": QUICK}


# ---- choosing ------------------------------------------------------------------------------------


def preset_of(name: str, seconds: float | None = None, seeds: int | None = None, changes: Sequence[str] = ()) -> Preset:
    """Return a preset, with another time or number of seeds for its arms, and settings changed in all runs."""
    found = PRESETS[one_of("--preset", name, tuple(PRESETS))]
    if seconds is not None:
        if not 0 < seconds <= 1e6:
            raise BadInput(f"--arm-seconds must be above 0 and at most 1000000, not {seconds:g}")
        found = replace(found, arm_seconds=float(seconds))
    if seeds is not None:
        if not 1 <= seeds <= 100:
            raise BadInput(f"--seeds must lie in 1..100, not {seeds}")
        found = replace(found, seeds=seeds)
    own = tuple(changes)
    return replace(found, main_changes=(*found.main_changes, *own), arm_changes=(*found.arm_changes, *own))


def run_name(arm: str, seed: int) -> str:
    """Name a run of an arm."""
    return f"{arm}-s{seed}"


def run_names(preset: Preset) -> dict[str, tuple[Arm, int]]:
    """List the runs of all arms that can be run, seed by seed, so that arms are complete side by side."""
    arms = [arm for arm in preset.arms if arm.available]
    return {run_name(arm.name, seed): (arm, seed) for seed in range(1, preset.seeds + 1) for arm in arms}


def chosen(names: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """Choose names by patterns, like scratch, scratch-s1 or 'curriculum-*'; all of them without patterns."""
    for pattern in patterns:
        if not any(fits(name, pattern) for name in names):
            raise BadInput(f"--runs {pattern!r} is none of {', '.join(names)}")
    return [name for name in names if not patterns or any(fits(name, pattern) for pattern in patterns)]


def patterns_of(preset: Preset, stage: str, patterns: Sequence[str]) -> list[str] | None:
    """Return the patterns that mean something to a stage; None if there are some, but none of them does.

    Refuse one that means nothing to any stage.
    """
    runs, milestones = [MAIN, *run_names(preset)], [milestone.name for milestone in preset.milestones]
    chosen([*runs, *milestones], patterns)
    names = milestones if stage == "milestones" else runs
    found = [pattern for pattern in patterns if any(fits(name, pattern) for name in names)]
    return found if found or not patterns else None


def fits(name: str, pattern: str) -> bool:
    """Tell whether a name is meant: it fits the pattern, or is a seed of the arm that is named."""
    return fnmatchcase(name, pattern) or fnmatchcase(re.sub(r"-s\d+$", "", name), pattern)
