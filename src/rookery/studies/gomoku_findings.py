"""All that is known in the folder of a Gomoku study, as its report needs it; what is missing is named."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rookery.arena.ratings import REFERENCE, Rating, Ratings, Result, fit
from rookery.arena.score import Score
from rookery.learn.curriculum import Curriculum, is_curriculum_folder
from rookery.learn.curriculum_settings import packaged
from rookery.studies.gomoku import Study
from rookery.studies.gomoku_arms import mark_seconds, read_curve, run_facts
from rookery.studies.gomoku_plan import COMPARISONS, MAIN, Comparison, Milestone, run_name, run_names
from rookery.studies.matches import Found
from rookery.studies.stages import Lines, read_generations

NOT_TOLD = {"seed", "device", "threads", "folder", "start"}  # settings that stand elsewhere, or do not matter


def flat(values: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all settings by their paths, stages by their names: stages.2.selfplay.games."""
    if isinstance(values, dict):
        for key, value in values.items():
            yield from flat(value, f"{path}.{key}" if path else key)
    elif path == "stages":
        for stage in values:
            yield from flat(stage, f"{path}.{stage['name']}")
    else:
        yield path, values


@dataclass(frozen=True)
class ArmMatch:
    """A match of a run at a mark that is played to its end."""

    arm: str
    seed: int
    seconds: int
    other: str
    found: Found

    @property
    def name(self) -> str:
        """The run's network at this mark, as a player."""
        return player_name(run_name(self.arm, self.seed), self.seconds)


def player_name(run: str, seconds: int) -> str:
    """Name the network of a run at a mark."""
    return f"{run} after {seconds} s"


class Findings:
    """What lies in the folder of a study."""

    def __init__(self, study: Study):
        self.study, self.preset = study, study.preset
        self.marks = mark_seconds(self.preset)
        self.runs = {
            name: (arm, seed)
            for name, (arm, seed) in run_names(self.preset).items()
            if study.is_of_time(name) and (not arm.extra or run_facts(study.folder, name))
        }
        """those of the plan, and extra ones that are there, but none of another time"""
        self.arms = list(dict.fromkeys(arm.name for arm, _ in self.runs.values()))

    # -- milestones and the main run --

    @cached_property
    def milestones(self) -> list[tuple[Milestone, dict[str, Any] | None]]:
        """Each milestone with the facts of its match; None if there is none."""
        kept = [(milestone, self.study.kept_milestone(milestone)) for milestone in self.preset.milestones]
        return [
            (milestone, match.facts() | {"complete": match.complete, "seconds": match.seconds} if match else None)
            for milestone, match in kept
        ]

    @property
    def main_changes(self) -> list[str]:
        """What the main run changed in the packaged settings: as it was run, or as it is planned."""
        folder = self.study.folder / MAIN
        if not is_curriculum_folder(folder):
            return list(self.preset.main_changes)
        before, after = (
            dict(flat(settings.model_dump(mode="json", exclude=NOT_TOLD)))
            for settings in (packaged(self.preset.curriculum), Curriculum(folder).settings)
        )
        return [f"{key}={value}" for key, value in after.items() if before.get(key) != value]

    @property
    def arm_changes(self) -> list[str]:
        """What the runs of arms that are there changed in the packaged settings, all of them alike."""
        plans = [facts["plan"] for name in self.runs if "plan" in (facts := run_facts(self.study.folder, name))]
        first: list[str] = plans[0]["changes"] if plans else []
        return [change for change in first if all(change in plan["changes"] for plan in plans)]

    @cached_property
    def generations(self) -> dict[str, Lines]:
        """The lines of each stage of the main run that has any, a line for each generation."""
        names = [stage.name for stage in self.study.main_settings().stages]
        return read_generations(self.study.folder / MAIN, names)

    # -- arms --

    @cached_property
    def curves(self) -> dict[str, dict[int, Lines]]:
        """The lines of each arm's runs, by seed."""
        found: dict[str, dict[int, Lines]] = {}
        for name, (arm, seed) in self.runs.items():
            lines = read_curve(self.study.folder, name)
            if lines:
                found.setdefault(arm.name, {})[seed] = lines
        return found

    @cached_property
    def references(self) -> list[ArmMatch]:
        """The matches of arms against players."""
        return [
            ArmMatch(arm.name, seed, seconds, player, found)
            for name, (arm, seed) in self.runs.items()
            for seconds in self.marks
            for player in self.preset.references
            if (found := self.study.kept_arm_match(name, seconds, player)) is not None and found.complete
        ]

    @cached_property
    def duels(self) -> list[ArmMatch]:
        """The matches of arms with each other."""
        return [
            ArmMatch(pair.first, seed, seconds, run_name(pair.second, seed), found)
            for pair in COMPARISONS
            for seed in range(1, self.preset.seeds + 1)
            for seconds in self.marks
            if (found := self.study.kept_arm_match(run_name(pair.first, seed), seconds, run_name(pair.second, seed)))
            is not None
            and found.complete
        ]

    def scores(self, arm: str, player: str, seconds: int) -> dict[int, Score]:
        """Return the match of each seed of an arm against a player at a mark."""
        return {
            match.seed: match.found.score
            for match in self.references
            if (match.arm, match.other, match.seconds) == (arm, player, seconds)
        }

    def duel_scores(self, pair: Comparison, seconds: int) -> dict[int, Score]:
        """Return the match of each seed of the first of two arms against the second at a mark."""
        return {
            match.seed: match.found.score
            for match in self.duels
            if match.arm == pair.first and match.seconds == seconds and match.other == run_name(pair.second, match.seed)
        }

    @cached_property
    def ratings(self) -> Ratings | None:
        """One fit over all matches of arms; None if there are none, or nobody has met the random player."""
        results: list[Result] = []
        for match in self.references:
            results += match.found.results(match.name, match.other)
        for match in self.duels:
            results += match.found.results(match.name, player_name(match.other, match.seconds))
        return fit(results, {REFERENCE: 0.0}) if any(REFERENCE in result[:2] for result in results) else None

    def rated(self, arm: str) -> list[tuple[int, dict[int, Rating]]]:
        """Return the rating of each seed of an arm at each mark that is rated."""
        known = {rating.player: rating for rating in self.ratings.ratings} if self.ratings else {}
        found = []
        for seconds in self.marks:
            names = {seed: player_name(run_name(arm, seed), seconds) for seed in range(1, self.preset.seeds + 1)}
            rated = {seed: known[name] for seed, name in names.items() if name in known}
            found += [(seconds, rated)] if rated else []
        return found

    def elos(self, arm: str) -> list[tuple[int, dict[int, float]]]:
        """Return the Elo of each seed of an arm at each mark that is rated."""
        return [(seconds, {seed: each.elo for seed, each in seeds.items()}) for seconds, seeds in self.rated(arm)]

    def elo_errors(self, arm: str) -> list[dict[int, float]]:
        """Return the standard errors of these."""
        return [{seed: each.error for seed, each in seeds.items()} for _, seeds in self.rated(arm)]

    # -- what is missing --

    def lacking(self) -> list[str]:
        """Name everything that is not there."""
        found = [
            f"arm {arm.name}: not available in this version, which has no setting {arm.needs}"
            for arm in self.preset.arms
            if not arm.available and not arm.extra
        ]
        found += self.lacking_stages()
        unplayed = [milestone.name for milestone, facts in self.milestones if not facts or not facts["complete"]]
        if unplayed:
            found.append(f"milestones without a whole match: {', '.join(unplayed)}")
        return found + self.lacking_arms()

    def lacking_stages(self) -> list[str]:
        """Name the stages of the main run that are not done, and what their milestones are judged by."""
        found = []
        for name in self.study.main_left():
            lines = self.generations.get(name)
            what = (
                f"is not done: judged by its network after {lines[-1]['step']:,}" if lines else "has no generation yet"
            )
            found.append(f"main run: stage {name} {what}")
        return found

    def lacking_arms(self) -> list[str]:
        """Name the runs and matches of arms that are not there."""
        found = [
            f"arm run {name}: begun for {run_facts(self.study.folder, name)['plan']['seconds']:g} s, which another "
            "report tells of (--arm-seconds)"
            for name in run_names(self.preset)
            if not self.study.is_of_time(name)
        ]
        for name in self.runs:
            newest = run_facts(self.study.folder, name).get("newest") or {}
            spent = newest.get("seconds", 0.0)
            if spent < 0.999 * self.preset.arm_seconds:
                found.append(f"arm run {name}: {spent:.0f} of {self.preset.arm_seconds:.0f} s are trained")
        wanted = len(self.runs) * len(self.marks) * len(self.preset.references)
        if len(self.references) < wanted:
            found.append(f"matches of arms against players: {len(self.references)} of {wanted} are there")
        seeds = range(1, self.preset.seeds + 1)
        names = [(run_name(pair.first, seed), run_name(pair.second, seed)) for pair in COMPARISONS for seed in seeds]
        wanted = len(self.marks) * sum(first in self.runs and second in self.runs for first, second in names)
        if len(self.duels) < wanted:
            found.append(f"matches of arms with each other: {len(self.duels)} of {wanted} are there")
        return found
