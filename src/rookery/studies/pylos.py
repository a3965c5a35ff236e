"""The Pylos study: does a deeper network with a richer observation judge positions better, and what cures dithering?

The study is a folder. `runs/NAME` are its runs, and each later stage writes one JSON file, which also says what it was
found from (`inputs`): a stage whose inputs are still the same is not done again.

train   the runs of the plan
rate    strength of all of them on one scale           ratings.json
judge   value and policy against exact values           exact.json
empty   the value of the empty board                    empty.json
floor   the least value loss that is possible           floor.json
probe   what each block of a network sees               probes.json
report  all of it in words, tables and figures          report.md

Later stages read run folders and need nothing but settings, manifest, figures and checkpoints: runs that were trained
elsewhere can be put into `runs`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from rookery.errors import BadInput
from rookery.games.options import whole_number
from rookery.learn.files import write_json
from rookery.learn.runs import Run, is_run
from rookery.learn.spread import Say
from rookery.learn.summaries import flattened
from rookery.learn.sweeps import Variant, is_complete, opened_variant
from rookery.studies.pylos_plan import LADDER, SMALL_STUDY, Planned
from rookery.studies.pylos_ratings import checkpoints_there

STAGES = ("train", "rate", "judge", "empty", "floor", "probe", "report")
FILES = {
    "rate": "ratings.json", "judge": "exact.json", "empty": "empty.json", "floor": "floor.json", "probe": "probes.json",
}  # fmt: skip
NOTES = "stages.json"
FORMAT = 1


class Lacking(BadInput):
    """A stage cannot be done, since something it needs is not there."""


@dataclass(frozen=True)
class Sizes:
    """How much each stage looks at."""

    rating_games: int = 40
    """of a checkpoint against each opponent"""
    positions: int = 200
    """with exact values, for each number of spheres left and each game"""
    threads: int = 1
    """for what runs on a processor"""
    floor: dict[str, int] = field(default_factory=dict)
    """changes of the floor's own settings"""
    probe: dict[str, int] = field(default_factory=dict)
    """changes of the probes' own settings"""

    @classmethod
    def for_games(
        cls, games: int, rating_games: int | None, positions: int | None, threads: int, replays: int | None = None
    ) -> Sizes:
        """Return the sizes of a study, those that are given or the usual ones; one in small looks at less."""
        small = games < SMALL_STUDY
        rating_games = rating_games if rating_games is not None else 8 if small else cls.rating_games
        positions = positions if positions is not None else 40 if small else cls.positions
        floor = {"positions": 64, "replays": 8, "games": 64, "at_once": 64} if small else {}
        floor |= {} if replays is None else {"replays": whole_number("replays", replays, 2, 1 << 16)}
        probe = {"positions": 2000, "games": 120} if small else {}
        return cls(rating_games, positions, threads, floor, probe)

    def __post_init__(self) -> None:
        if whole_number("rating-games", self.rating_games, 2, 1_000_000) % 2:
            raise BadInput(f"rating-games must be even, since games are played in pairs, not {self.rating_games}")
        whole_number("positions", self.positions, 1, 1_000_000)


class Study:
    """The folder of a study, and the runs that are looked at."""

    def __init__(self, folder: Path, plan: Sequence[Planned], sizes: Sizes | None = None):
        self.folder, self.plan, self.sizes = folder, list(plan), sizes or Sizes()

    # -- runs --

    def run_folder(self, planned: Planned) -> Path:
        """Return where a run lies."""
        return self.folder / "runs" / planned.name

    def opened(self, planned: Planned) -> tuple[Run, list[str]]:
        """Make or open a run; return it with the settings in which a complete one differs from the plan.

        A run that is complete is taken as it is: it may have been trained elsewhere.
        """
        folder, wanted = self.run_folder(planned), planned.settings()
        if is_run(folder):
            run = Run.open(folder)
            if is_complete(run):
                return run, differences(run, wanted.model_dump(mode="json"))
        return opened_variant(Variant(folder, wanted)), []

    def there(self) -> dict[str, Run]:
        """Return the runs of the plan that have a network, by name."""
        folders = {planned.name: self.run_folder(planned) for planned in self.plan}
        runs = {name: Run.open(folder) for name, folder in folders.items() if is_run(folder)}
        return {name: run for name, run in runs.items() if checkpoints_there(run)}

    def of_ladder(self) -> dict[str, Run]:
        """Return the runs of the ladder that have a network."""
        return {name: run for name, run in self.there().items() if name in LADDER}

    def of_ablations(self) -> dict[str, Run]:
        """Return the runs of the ablations that have a network."""
        return {name: run for name, run in self.there().items() if name not in LADDER}

    def networks(self, *names: str) -> dict[str, Path]:
        """Return the last networks of runs of the ladder, of those that are there; refuse to go on with none."""
        wanted = names or LADDER
        found = {name: newest(run) for name, run in self.of_ladder().items() if name in wanted}
        if not found:
            raise Lacking(
                f"{self.folder / 'runs'} has no network of {', '.join(wanted)} yet; the stage train makes them"
            )
        return found

    # -- results --

    def result(self, stage: str) -> dict[str, Any] | None:
        """Read what a stage has found; None if it is not there."""
        path = self.folder / FILES[stage]
        try:
            content = json.loads(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise BadInput(f"{path} cannot be read: {error}; remove it, and its stage is done again") from None
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise BadInput(f"{path} is no result of this version of the study; remove it, and its stage is done again")
        return content

    def is_done(self, stage: str, inputs: dict[str, Any]) -> bool:
        """Tell whether a stage was done with the same inputs."""
        found = self.result(stage)
        return found is not None and found.get("inputs") == json.loads(json.dumps(inputs))

    def keep(self, stage: str, inputs: dict[str, Any], content: dict[str, Any]) -> Path:
        """Write what a stage has found."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / FILES[stage]
        write_json(path, {"format": FORMAT, "inputs": inputs} | content)
        return path

    def note(self, stage: str, facts: dict[str, Any]) -> None:
        """Remember by which command and on which machine a stage was done."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_json(self.folder / NOTES, self.notes() | {stage: facts})

    def notes(self) -> dict[str, Any]:
        """Return what is remembered of the stages."""
        try:
            found = json.loads((self.folder / NOTES).read_bytes())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}


def newest(run: Run) -> Path:
    """Return the last checkpoint of a run that is there."""
    return run.folder / str(checkpoints_there(run)[-1]["file"])


def fingerprint(path: Path) -> str:
    """Name a file by its name and content."""
    return f"{path.name}#{hashlib.sha256(path.read_bytes()).hexdigest()[:12]}"


def fingerprints(networks: dict[str, Path]) -> dict[str, str]:
    """Name networks by their content."""
    return {name: fingerprint(path) for name, path in networks.items()}


def differences(run: Run, wanted: dict[str, Any]) -> list[str]:
    """Say in which settings that matter a run differs from what is wanted."""
    here, there = flattened(run.settings.model_dump(mode="json")), flattened(wanted)
    beside = ("folder", "device", "threads", "checkpoints.", "tracking.")
    keys = [key for key in here | there if here.get(key) != there.get(key) and not key.startswith(beside)]
    return [f"{key}={here.get(key, '-')} (planned {there.get(key, '-')})" for key in keys]


# ---- stages that return what is kept -------------------------------------------------------------


def rate_inputs(study: Study) -> dict[str, Any]:
    """Return what ratings depend on."""
    study.networks()  # refuses to rate nothing
    steps = {
        name: [fingerprint(run.folder / entry["file"]) for entry in checkpoints_there(run)]
        for name, run in study.of_ladder().items()
    }
    steps |= {name: [fingerprint(newest(run))] for name, run in study.of_ablations().items()}
    return {"networks": steps, "games": study.sizes.rating_games}


def judge_inputs(study: Study) -> dict[str, Any]:
    """Return what judging by exact values depends on."""
    from rookery.studies import pylos_exact as exact

    method = [exact.MOST_LEFT, exact.MOST_POSITIONS, exact.SIMULATIONS, exact.SEED]
    return {"networks": fingerprints(study.networks()), "positions": study.sizes.positions, "method": method}


def judge(study: Study, say: Say) -> dict[str, Any]:
    """Judge the last networks of the ladder by exact values."""
    from rookery.studies.pylos_exact import judged

    return judged(study.networks(), study.folder, study.sizes.positions, study.sizes.threads, say)


def empty_inputs(study: Study) -> dict[str, Any]:
    """Return what the value of the empty board depends on."""
    return {"networks": fingerprints(study.networks("best"))}


def empty(study: Study, say: Say) -> dict[str, Any]:
    """Search the empty board with the best network."""
    from rookery.studies.pylos_empty import searched

    runs = study.of_ladder()
    return searched({name: (path, runs[name].settings) for name, path in study.networks("best").items()}, say)


def floor_inputs(study: Study) -> dict[str, Any]:
    """Return what the floor depends on."""
    return {"networks": fingerprints(study.networks("v5", "best")), "sizes": study.sizes.floor}


def floor(study: Study, say: Say) -> dict[str, Any]:
    """Estimate the least value loss from outcomes of the same positions."""
    part = stage_module("floor", "pylos_floor")
    found: dict[str, Any] = part.measure(study.networks("v5", "best"), part.FloorSettings(**study.sizes.floor), say)
    return found


def probe_inputs(study: Study) -> dict[str, Any]:
    """Return what the probes depend on."""
    return {"networks": fingerprints(study.networks("v4", "v5", "best")), "sizes": study.sizes.probe}


def probe(study: Study, say: Say) -> dict[str, Any]:
    """Probe every block for what the rules say of a position."""
    part = stage_module("probe", "pylos_probes")
    found: dict[str, Any] = part.measure(
        study.networks("v4", "v5", "best"), part.ProbeSettings(**study.sizes.probe), say
    )
    return found


def stage_module(stage: str, name: str) -> Any:
    """Import what does a stage; it may need packages that are not there."""
    try:
        return import_module(f"rookery.studies.{name}")
    except ImportError as error:
        raise Lacking(f"the stage {stage} cannot be done here: {error}") from None


INPUTS: dict[str, Callable[[Study], dict[str, Any]]] = {
    "rate": rate_inputs, "judge": judge_inputs, "empty": empty_inputs, "floor": floor_inputs, "probe": probe_inputs,
}  # fmt: skip
MEASURES: dict[str, Callable[[Study, Say], dict[str, Any]]] = {
    "judge": judge, "empty": empty, "floor": floor, "probe": probe,
}  # fmt: skip


def chosen_stages(text: str | None) -> list[str]:
    """Read the stages that a person asks for, in the order in which they are done."""
    wanted = [word.strip() for word in text.split(",") if word.strip()] if text else list(STAGES)
    for word in wanted:
        if word not in STAGES:
            raise BadInput(f"there is no stage {word!r}; the stages are {', '.join(STAGES)}")
    return [stage for stage in STAGES if stage in wanted]
