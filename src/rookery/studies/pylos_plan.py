"""The runs of the Pylos study: who is trained, with which settings.

The ladder is trained with all games and one seed: V3, V4 and V5 as the original set them, and `best`. The ablations are
trained with a fifth of the games and several seeds: V4 and V5 as they are, for comparison, each with the other's
observation, V5 with one change each against dithering, and `best` with another search.

Steps of V3, V4 and V5 are larger and fewer than the original's, with as many samples a game: a card likes them better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from rookery.errors import BadInput
from rookery.games.options import whole_number
from rookery.learn.settings import RunSettings, read_settings

FULL_GAMES = 500_000
SEEDS = 3
SHARE = 5
"""the games of an ablation are so many times fewer than those of the ladder"""
SMALL_STUDY = 50_000
"""games of the ladder below which less is kept and measured"""
CHECKPOINTS, FEW_CHECKPOINTS = 16, 4
"""of a run, and of one in small, where rating them would take longer than training"""
AT_ONCE = 16_384
LEAST_GAMES = 100

LADDER = ("v3", "v4", "v5", "best")
LARGER_STEPS = {
    "v3": ("training.batch=1024", "training.steps_per_game=0.15625", "training.replay=32768"),
    "v4": ("training.batch=1024", "training.steps_per_game=0.125"),
    "v5": ("training.batch=1024", "training.steps_per_game=0.125"),
}
BEST_WARMUP, BEST_FRESH, BEST_BATCH, BEST_STEPS = 500, 65_536, 4096, 0.08  # as its settings say


@dataclass(frozen=True)
class Ablation:
    """A change of a run of the ladder."""

    name: str
    base: str
    changes: tuple[str, ...]
    meaning: str


ABLATIONS = (
    Ablation("v4", "v4", (), "V4 as it is"),
    Ablation("v5", "v5", (), "V5 as it is"),
    Ablation("v5-basic", "v5", ("network.observation=basic",), "V5 with V4's observation"),
    Ablation("v4-rich", "v4", ("network.observation=rich",), "V4 with V5's observation"),
    Ablation("v5-discount", "v5", ("selfplay.discount=0.985",), "values are discounted for each turn"),
    Ablation("v5-choice", "v5", ("game=pylos",), "the player chooses what to take back"),
    Ablation("v5-repeat", "v5", ("selfplay.repetition_limit=2",), "the first repetition is a draw"),
    Ablation("v5-root", "v5", ("training.root_value_share=0.5",), "half of the value target is what the search found"),
    Ablation("best", "best", (), "best as it is: PUCT"),
    Ablation("best-gumbel", "best", ("selfplay.gumbel=16", "selfplay.noise=0.0"), "best with Gumbel search"),
)
CURES = ("v5-discount", "v5-choice", "v5-repeat", "v5-root")


@dataclass(frozen=True)
class Planned:
    """One run of the study."""

    name: str
    """of its folder"""
    base: str
    """packaged settings it begins with, without `pylos_`"""
    changes: tuple[str, ...]
    ablation: str = ""
    """the ablation it is a seed of; empty on the ladder"""

    def settings(self) -> RunSettings:
        """Read the settings of the run."""
        return read_settings(f"pylos_{self.base}", self.changes)


def sizes(base: str, games: int, at_once: int, checkpoints: int) -> tuple[str, ...]:
    """Return the changes that a number of games needs."""
    every = max(1, games // checkpoints)
    kept = f"checkpoints={{every: {every}, least_seconds: 0, keep: {{last: 5, every: {every}}}}}"
    if base != "best":
        return (*LARGER_STEPS[base], f"selfplay.games={games}", f"selfplay.at_once={at_once}", kept)
    warmup, fresh = min(BEST_WARMUP, int(games * BEST_STEPS) // 10), min(BEST_FRESH, 5 * games)
    return (
        f"selfplay.games={games}", f"selfplay.at_once={at_once}", kept,
        f"training.warmup_steps={warmup}", f"training.fresh={fresh if fresh >= BEST_BATCH else 0}",
    )  # fmt: skip


def full_plan(games: int = FULL_GAMES, seeds: int = SEEDS, changes: Sequence[str] = ()) -> list[Planned]:
    """List all runs; `changes` are made in every one, after its own."""
    whole_number("games", games, LEAST_GAMES, 1 << 31)
    whole_number("seeds", seeds, 1, 100)
    at_once = min(AT_ONCE, max(16, games // 30))
    saved = CHECKPOINTS if games >= SMALL_STUDY else FEW_CHECKPOINTS
    runs = [Planned(name, name, (*sizes(name, games, at_once, saved), *changes)) for name in LADDER]
    for ablation in ABLATIONS:
        for seed in range(1, seeds + 1):
            told = (*sizes(ablation.base, games // SHARE, at_once, saved), *ablation.changes, f"seed={seed}", *changes)
            runs.append(Planned(f"{ablation.name}-s{seed}", ablation.base, told, ablation.name))
    return runs


def chosen_plan(plan: Sequence[Planned], texts: Sequence[str]) -> list[Planned]:
    """Choose runs by name, by the name of an ablation, or by a pattern such as `v5-*`; all if nothing is named."""
    if not texts:
        return list(plan)
    for text in texts:
        if not any(is_meant(run, text) for run in plan):
            raise BadInput(f"the study has no run {text!r}; it has {', '.join(run.name for run in plan)}")
    return [run for run in plan if any(is_meant(run, text) for text in texts)]


def is_meant(run: Planned, text: str) -> bool:
    """Tell whether a text means a run: `v5` is the run of the ladder, `v5-s1` one of its ablation."""
    named = run.name == text or (run.ablation == text and text not in LADDER)
    return named or fnmatchcase(run.name, text)
