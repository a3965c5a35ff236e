"""The settings of a curriculum: stages one after another, each with what it does and when it is done.

A stage of kind `imitation` learns from a supervisor, one of kind `selfplay` is a run behind its own settings. Both are
looked at after every generation: a pass over the positions, or a checkpoint.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator

from rookery.arena.score import Score
from rookery.errors import BadInput
from rookery.games.library import load
from rookery.games.rng import random_bits
from rookery.learn.complaints import in_one_message, problem_lines, shown
from rookery.learn.imitation import ImitationSettings
from rookery.learn.network_sections import NetworkSettings
from rookery.learn.sections import (
    CheckpointSettings,
    GateSettings,
    ImitationTraining,
    LessonSettings,
    PlayingPrecision,
    Section,
    SelfplaySettings,
    Text,
    TrackingSettings,
    TrainingSettings,
    as_word,
    refuse,
    span,
)
from rookery.learn.settings import RunSettings, network_values, override_values, settings_text
from rookery.learn.yaml_text import read_yaml
from rookery.search.tree_settings import MOST_SIMULATIONS

SEEDS = (1 << 62) + 3  # the stream of random numbers that are seeds of stages
FEW_SIMULATIONS = 50  # below, a search hardly knows more than its network


# ---- when a stage is done ------------------------------------------------------------------------


class BeatsSettings(Section):
    """A player that the network must beat."""

    player: Text
    """a player of the arena"""
    share: Annotated[float, span(0, 1)] = 0.55
    """share of the points that it must exceed, draws counted half"""
    least: Annotated[float, span(0, 1)] = 0.0
    """the lower end of its 95 % interval must not be below this"""


class PlateauSettings(Section):
    """A figure that does not get better any more."""

    of: Literal["none", "loss", "elo"] = "none"
    """loss: policy and value loss together; elo: strength against the network some generations before; none: nothing"""
    over: Annotated[int, span(1, 10_000)] = 10
    """generations looked back"""
    gain: Annotated[float, span(-1000, 1000)] = 0.0
    """it has stopped if it got better by no more than this in them"""


@lru_cache(maxsize=64)
def clean_low(games: int) -> float:
    """Return the lower end of the interval after nothing but wins: no match of so many games has a higher one."""
    return Score(((1.0, 1.0),) * (games // 2)).interval[0]


def beats_problems(until: UntilSettings) -> list[str]:
    """Say which players cannot be beaten as is asked."""
    found = []
    for number, wanted in enumerate(until.beats):
        if wanted.share >= 1:
            found.append(f"beats[{number}].share: must be below 1, since it must be exceeded, not {wanted.share:g}")
        if wanted.least and until.games % 2 == 0 and wanted.least > (most := clean_low(until.games)):
            found.append(
                f"beats[{number}].least: must be at most {math.floor(1000 * most) / 1000:g}, the lower end of the "
                f"interval after {until.games} wins in {until.games} games (until.games), not {wanted.least:g}"
            )
    return found


def plateau_problems(until: UntilSettings, generations: int, why: str) -> list[str]:
    """Say that a plateau cannot be told in so many generations, the most that there will be."""
    over = until.plateau.over
    if until.plateau.of == "none" or over < generations:
        return []
    allowed = f"must be below {generations}" if generations > 1 else "cannot be asked for"
    return [f"until.plateau.over: {allowed}, the generations that there are at most ({why}), not {over}"]


class UntilSettings(Section):
    """When a stage is done: all of this must hold after the same generation. What is not asked for always does."""

    beats: tuple[BeatsSettings, ...] = ()
    """players it must beat; they are met once the plateau is reached"""
    plateau: PlateauSettings = PlateauSettings()
    """what must have stopped getting better"""
    games: Annotated[int, span(2, 1_000_000)] = 200
    """games against each of them, in pairs from random openings with the seats swapped"""
    watched: tuple[Text, ...] = ()
    """players met after every generation, for the figures alone"""
    watched_games: Annotated[int, span(2, 1_000_000)] = 40
    """games against each of these, and of networks against those before them"""
    simulations: Annotated[int, span(1, MOST_SIMULATIONS)] = 800
    """simulations per move of the network in all these games, without wins by fours"""
    urgency: Literal["parent", "reduced", "lc0", "infinite"] = "parent"
    """what its search takes an unvisited move to be worth; where it must block, `parent` finds the block"""
    seconds: Annotated[float, span(0, 1e9)] = 0.0
    """time the stage may take before it must be done; 0: as long as its passes or games take"""

    @model_validator(mode="after")
    def fits(self) -> UntilSettings:
        """Refuse odd numbers of games, and what no match can show."""
        refuse(
            *beats_problems(self),
            self.games % 2 and f"games: must be even, since games are played in pairs, not {self.games}",
            self.watched_games % 2
            and f"watched_games: must be even, since games are played in pairs, not {self.watched_games}",
        )
        return self


# ---- stages --------------------------------------------------------------------------------------


def as_folder(value: str) -> str:
    """Take a name that a folder may have; refuse any other."""
    if not re.fullmatch(r"\w[\w.-]{0,63}", value):
        raise ValueError(
            f": must be at most 64 letters, digits or signs _ - . and begin with no sign but _, not {shown(value)}"
        )
    return value


Name = Annotated[str, BeforeValidator(as_word), Field(strict=True), AfterValidator(as_folder)]


class ImitationStage(Section):
    """A stage in which the network learns from a supervisor."""

    name: Name
    """name of the stage and of its folder"""
    kind: Literal["imitation"]
    """which kind of stage"""
    game: Text
    """the game, with the size of its board"""
    lessons: LessonSettings = LessonSettings()
    """what it imitates"""
    training: ImitationTraining = ImitationTraining()
    """how it learns"""
    until: UntilSettings = UntilSettings()
    """when it is done"""

    @model_validator(mode="after")
    def fits(self) -> ImitationStage:
        """Refuse what a pass does not leave behind."""
        passes = self.training.passes
        refuse(
            self.until.plateau.of == "elo" and "until.plateau.of: must be loss for imitation, not elo",
            *plateau_problems(self.until, passes, "training.passes"),
        )
        return self


class SelfplayStage(Section):
    """A stage in which the network learns from its own games."""

    name: Name
    """name of the stage and of its folder"""
    kind: Literal["selfplay"]
    """which kind of stage"""
    game: Text
    """the game, with the size of its board"""
    selfplay: SelfplaySettings = SelfplaySettings()
    """how games are played"""
    training: TrainingSettings = TrainingSettings()
    """how the network learns from them"""
    checkpoints: CheckpointSettings = CheckpointSettings()
    """when networks are saved; a generation is a checkpoint"""
    gate: GateSettings = GateSettings()
    """which network plays"""
    tracking: TrackingSettings = TrackingSettings()
    """where figures go besides the run's folder"""
    until: UntilSettings = UntilSettings()
    """when it is done"""

    @model_validator(mode="after")
    def fits(self) -> SelfplayStage:
        """Refuse to forget networks that are still to be met."""
        over, kept = self.until.plateau.over, self.checkpoints.keep.last
        refuse(
            kept <= over
            and f"checkpoints.keep.last: must be above {over} (until.plateau.over), not {kept}, since each checkpoint "
            "meets the one so many before",
        )
        return self


Stage = ImitationStage | SelfplayStage


class CurriculumSettings(Section):
    """Everything that makes a curriculum what it is."""

    seed: Annotated[int, span(-(2**63), 2**63 - 1)] = 1
    """same seed, same curriculum"""
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    """where the network runs, as in the settings of a run"""
    threads: Annotated[int, span(0, 1024)] = 0
    """processor threads of the network; 0: as many as are fastest"""
    precision: PlayingPrecision = "auto"
    """numbers in which networks play, as in the settings of a run"""
    folder: Text = ""
    """where the curriculum is kept; empty: under runs/, by the name of its settings"""
    start: Text = ""
    """weights the first stage begins with, as in the settings of a run"""
    network: NetworkSettings
    """the network, the same in all stages; a tower if their boards differ"""
    stages: Annotated[tuple[Annotated[Stage, Field(discriminator="kind")], ...], Field(min_length=1)]
    """the stages in their order; each begins with the network of the one before"""

    @model_validator(mode="after")
    def fits(self) -> CurriculumSettings:
        """Refuse stages that could not be run."""
        names = [stage.name for stage in self.stages]
        twice = sorted({name for name in names if names.count(name) > 1})
        found = [f"stages: the name {name} stands twice" for name in twice]
        for number in range(len(self.stages)):
            found += stage_problems(self, number)
        refuse(*(found or board_problems(self)))
        return self


def stage_seed(settings: CurriculumSettings, number: int) -> int:
    """Return the seed of a stage."""
    return int(random_bits(settings.seed, SEEDS, number)) >> 1


def settings_of(settings: CurriculumSettings, number: int, start: str) -> ImitationSettings | RunSettings:
    """Return the settings of a stage on its own, which begins with the weights of a file."""
    stage = settings.stages[number]
    shared: dict[str, Any] = {
        "game": stage.game, "seed": stage_seed(settings, number), "device": settings.device,
        "threads": settings.threads, "precision": settings.precision, "start": start, "network": settings.network,
    }  # fmt: skip
    if isinstance(stage, ImitationStage):
        return ImitationSettings(**shared, lessons=stage.lessons, training=stage.training)
    parts = ("selfplay", "training", "checkpoints", "gate", "tracking")
    return RunSettings(**shared, **{part: getattr(stage, part) for part in parts})


def stage_problems(settings: CurriculumSettings, number: int) -> list[str]:
    """Say why a stage could not be run; each line begins with the path of its key."""
    try:
        settings_of(settings, number, "")
    except ValidationError as error:
        model = ImitationSettings if settings.stages[number].kind == "imitation" else RunSettings
        lines = problem_lines(error, model, {})
        return [line if line.startswith("network.") else f"stages[{number}].{line}" for line in lines]
    return []


def board_problems(settings: CurriculumSettings) -> list[str]:
    """Say why a network could not go from stage to stage."""
    if settings.network.kind == "tower":
        return []
    shapes = [network_values(settings.network, load(stage.game)) for stage in settings.stages]
    if all(shape == shapes[0] for shape in shapes):
        return []
    return [f"network.kind: must be tower, since boards differ between stages, not {settings.network.kind}"]


def waits_in_vain(settings: CurriculumSettings) -> list[str]:
    """Say which stages of self-play wait for more checkpoints than there can be.

    Whoever runs such a stage by itself, for a time, does not ask when it is done; so these settings are none the worse.
    """
    found = []
    for number, stage in enumerate(settings.stages):
        if isinstance(stage, SelfplayStage):
            generations = math.ceil(stage.selfplay.games / stage.checkpoints.every)
            problems = plateau_problems(stage.until, generations, "selfplay.games / checkpoints.every")
            found += [f"stages[{number}].{problem} (stage {stage.name})" for problem in problems]
    return found


def cautions(settings: CurriculumSettings) -> list[str]:
    """Say what can be run but will hardly lead anywhere."""
    return [
        f"stage {stage.name}: selfplay.simulations is {stage.selfplay.simulations}; below {FEW_SIMULATIONS} a search "
        "hardly knows more than its network, which then learns little"
        for stage in settings.stages
        if isinstance(stage, SelfplayStage) and stage.selfplay.simulations < FEW_SIMULATIONS
    ]


# ---- reading -------------------------------------------------------------------------------------


def is_curriculum(source: str | os.PathLike[str]) -> bool:
    """Tell whether settings are those of a curriculum: they have stages."""
    values = read_yaml(*reversed(settings_text(os.fspath(source))))
    return isinstance(values, dict) and "stages" in values


def read_curriculum(source: str | os.PathLike[str], overrides: Sequence[str] = ()) -> CurriculumSettings:
    """Read a curriculum from a file or by the name of a packaged one; an override may be `stages.NAME.key=value`."""
    name, text = settings_text(os.fspath(source))
    values = read_yaml(text, name)
    if not isinstance(values, dict):
        raise BadInput(f"{name} should hold the keys {', '.join(CurriculumSettings.model_fields)}")
    given = {override_values(values, override): f"from --set {override}" for override in overrides}
    try:
        return CurriculumSettings.model_validate(values)
    except ValidationError as error:
        lines = problem_lines(error, CurriculumSettings, origins(values.get("stages"), given))
        raise BadInput(in_one_message(name, lines)) from None


def origins(stages: Any, given: dict[str, str]) -> dict[str, str]:
    """Say of keys where they came from, `given` by paths with names of stages: a --set, else a stage by its name."""
    parts = stages if isinstance(stages, list) else []
    names = [str(stage.get("name", "")) if isinstance(stage, dict) else "" for stage in parts]
    numbers = {name: f"stages[{number}]" for number, name in reversed(list(enumerate(names)))}
    found = {}
    for path, origin in given.items():
        first, _, rest = path.removeprefix("stages.").partition(".")
        known = path.startswith("stages.") and first in numbers
        found[f"{numbers[first]}.{rest}" if known else path] = origin
    return found | {f"stages[{number}]": f"stage {name}" for number, name in enumerate(names) if name}


@lru_cache(maxsize=64)
def packaged(name: str, changes: tuple[str, ...] = ()) -> CurriculumSettings:
    """Read a packaged curriculum with changes; the studies ask for the same ones again and again."""
    return read_curriculum(name, changes)
