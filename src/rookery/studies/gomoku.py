"""The Gomoku study: a curriculum from imitation to self-play, its milestones, and what its parts are worth.

    lessons/             games to be imitated, made ahead (`gomoku_lessons`)
    main/                the curriculum (`learn.curriculum`)
    networks/1a.pth      the network of each stage of it; another one put here is judged in its place
    arms/NAME-sSEED/     runs of a fixed time (`gomoku_arms`)
    matches/             every match, pair by pair (`studies.matches`)
    notes.json           by which command, when and where each stage was done
    report.md            with its figures, and the same as one page, report.html

Every stage is resumable: what is done is not done again. Where time is up, a stage stops and the same call goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rookery.errors import BadInput
from rookery.games.library import load
from rookery.learn.curriculum import OUTCOME, STAGES, Curriculum, is_curriculum_folder
from rookery.learn.curriculum_settings import CurriculumSettings, settings_of
from rookery.learn.imitation import ImitationSettings
from rookery.learn.stage_work import Help
from rookery.studies.gomoku_arms import FOLDER as ARMS
from rookery.studies.gomoku_arms import ArmRun, is_of_time, mark_file, mark_seconds
from rookery.studies.gomoku_lessons import Ahead, bring_from
from rookery.studies.gomoku_plan import COMPARISONS, MAIN, Comparison, Milestone, Preset, chosen, run_name, run_names
from rookery.studies.matches import Found, Meeting, kept_of, known_of
from rookery.studies.stages import hand_out, slug

STAGE_NAMES = ("lessons", "train", "milestones", "compare", "report")
NETWORKS = "networks"


@dataclass(frozen=True)
class Study:
    """A study in its folder."""

    folder: Path
    preset: Preset
    device: str = "cpu"

    # -- lessons --

    def lessons(self, patterns: Sequence[str] = ()) -> dict[str, Ahead]:
        """Return the lessons that runs, some of them by patterns, still want, by their names; the same ones once."""
        wanted = [(MAIN, self.main_settings(), self.main_left())] if self.wants_main(patterns) else []
        wanted += [
            (run.name, self.preset.settings(run.arm, run.seed, self.device), run.stages_left())
            for run in self.arm_runs(patterns)
        ]
        found: dict[Path, tuple[str, Ahead]] = {}
        for name, curriculum, left in wanted:
            for stage, settings in imitation_stages(curriculum):
                if stage in left:
                    ahead = Ahead(self.folder, settings)
                    found.setdefault(ahead.folder, (f"{name}, stage {stage}", ahead))
        return dict(found.values())

    def main_left(self) -> list[str]:
        """List the stages of the main run that are not done."""
        names = [stage.name for stage in self.main_settings().stages]
        return [name for name in names if not (self.folder / MAIN / STAGES / name / OUTCOME).exists()]

    # -- the main run --

    def main_settings(self) -> CurriculumSettings:
        """Return the settings of the main run."""
        return self.preset.settings(None, 1, self.device)

    def train_main(self, over: Callable[[], bool], say: Callable[[str, str, int, int, str], None]) -> tuple[str, str]:
        """Go on with the main run; return how it ended and the account of that."""
        folder = self.folder / MAIN
        if not is_curriculum_folder(folder):
            folder.mkdir(parents=True, exist_ok=True)
            Curriculum.create(folder, self.main_settings())
        with Curriculum(folder) as curriculum:
            outcome = curriculum.work(over, say, help_with=Help(bring=bring_from(self.folder)))
        self.hand_out()
        return outcome.verdict, outcome.account

    def main_differs(self) -> bool:
        """Tell whether the main run was begun with other settings, or somebody has changed them since; they count."""
        folder = self.folder / MAIN
        return is_curriculum_folder(folder) and Curriculum(folder).settings != self.main_settings()

    def hand_out(self) -> None:
        """Put the networks of the main run's stages where they are judged: of one not done yet, its newest."""
        stages = [stage.name for stage in self.main_settings().stages]
        hand_out(self.folder / MAIN, {name: self.network(name) for name in stages})

    def hand_out_finished(self) -> None:
        """Do so for stages that are done while the main run goes on; a network that is there already stays."""
        stages, left = [stage.name for stage in self.main_settings().stages], self.main_left()
        ready = [name for name in stages if name not in left and not self.network(name).exists()]
        hand_out(self.folder / MAIN, {name: self.network(name) for name in ready})

    def network(self, stage: str) -> Path:
        """Return where the network of a stage is judged."""
        return self.folder / NETWORKS / f"{stage}.pth"

    # -- arms --

    def arm_runs(self, patterns: Sequence[str] = ()) -> list[ArmRun]:
        """Return the runs of arms, some of them by patterns; extra ones only so."""
        runs = run_names(self.preset)
        names = [name for name in chosen([MAIN, *runs], patterns) if name != MAIN]
        names = [name for name in names if patterns or not runs[name][0].extra]
        return [ArmRun(self.folder, name, self.preset, *runs[name], self.device) for name in names]

    def wants_main(self, patterns: Sequence[str]) -> bool:
        """Tell whether patterns name the main run."""
        return MAIN in chosen([MAIN, *run_names(self.preset)], patterns)

    # -- matches --

    def milestones(self, patterns: Sequence[str] = ()) -> list[Milestone]:
        """Return milestones, some of them by patterns."""
        by_name = {milestone.name: milestone for milestone in self.preset.milestones}
        return [by_name[name] for name in chosen(list(by_name), patterns)]

    def milestone_match(self, milestone: Milestone) -> Meeting | None:
        """Return the match of a milestone; None as long as its network is not there."""
        meeting = self.milestone_meeting(milestone)
        if not meeting.first.exists():
            return None
        self.check_network(meeting.first, meeting.game)
        return meeting

    def milestone_meeting(self, milestone: Milestone) -> Meeting:
        """Return the match of a milestone, whether its network is there or not."""
        game = next(stage.game for stage in self.main_settings().stages if stage.name == milestone.stage)
        return Meeting(
            f"milestone-{milestone.name}", game, self.network(milestone.stage), milestone.opponent,
            self.preset.milestone_games, milestone.simulations, fours=milestone.fours,
            precision=self.main_settings().precision,
        )  # fmt: skip

    def check_network(self, network: Path, game: str) -> None:
        """Refuse a network that is for another board, before anything is played."""
        from rookery.arena.networks import misfit
        from rookery.nets.files import load_network

        if why := misfit(load_network(network), load(game)):
            raise BadInput(f"the network {str(network)!r} cannot play {game}: {why}")

    def compare_matches(self, patterns: Sequence[str] = ()) -> list[Meeting]:
        """Return the matches of arms whose networks are there, in the order in which they tell most.

        Arms meet each other, then players one by one; in each case the networks of the last mark come first. Runs of
        another time than the plan's are left out, and refused if patterns name them.
        """
        runs, marks = run_names(self.preset), mark_seconds(self.preset)[::-1]
        names = [name for name in chosen([MAIN, *runs], patterns) if name != MAIN]
        others = [name for name in names if not self.is_of_time(name)]
        if patterns and others:
            raise BadInput(
                f"{', '.join(others)} in {self.folder} were begun for another time than {self.preset.arm_seconds:g} s; "
                "give their --arm-seconds"
            )
        names = [name for name in names if name not in others]
        found: list[Meeting] = []
        for seconds in marks:
            found += [match for each in COMPARISONS for match in self.arm_matches(each, names, seconds)]
        for player in self.preset.references:
            for name, seconds in ((name, seconds) for seconds in marks for name in names):
                found += self.arm_match(name, seconds, player)
        return found

    def arm_matches(self, comparison: Comparison, names: Sequence[str], seconds: int) -> Iterator[Meeting]:
        """Yield the matches of two arms at a mark, seed by seed, of which the first run is one of some names."""
        runs = run_names(self.preset)
        for seed in range(1, self.preset.seeds + 1):
            first, second = run_name(comparison.first, seed), run_name(comparison.second, seed)
            if first in names and second in runs and self.is_of_time(second) and self.marked(second, seconds).exists():
                yield from self.arm_match(first, seconds, second)

    def arm_match(self, run: str, seconds: int, other: str) -> Iterator[Meeting]:
        """Yield a match of a run's network at a mark against a player or another run, if there is the network."""
        if self.marked(run, seconds).exists():
            yield self.arm_meeting(run, seconds, other)

    def arm_meeting(self, run: str, seconds: int, other: str) -> Meeting:
        """Return a match of a run's network at a mark against a player or another run, wherever they are."""
        return Meeting(
            reference_name(run, seconds, other), self.preset.game, self.marked(run, seconds),
            self.marked(other, seconds) if other in run_names(self.preset) else other,
            self.preset.compare_games, self.preset.compare_simulations, precision=self.main_settings().precision,
        )  # fmt: skip

    def is_of_time(self, run: str) -> bool:
        """Tell whether a run has the time of the plan, if it is begun."""
        return is_of_time(self.folder, run, self.preset.arm_seconds)

    def marked(self, run: str, seconds: int) -> Path:
        """Return where the network of a run at a mark is."""
        return mark_file(self.folder / ARMS / run, seconds)

    def found(self, meeting: Meeting) -> Found:
        """Return what is known of a match that could be played now."""
        return known_of(self.folder, meeting)

    def kept_milestone(self, milestone: Milestone) -> Found | None:
        """Return the match of a milestone, also where its network is not."""
        return kept_of(self.folder, self.milestone_meeting(milestone))

    def kept_arm_match(self, run: str, seconds: int, other: str) -> Found | None:
        """Return the match of a run at a mark against a player or another run, also where their networks are not."""
        return kept_of(self.folder, self.arm_meeting(run, seconds, other))


def imitation_stages(curriculum: CurriculumSettings) -> Iterator[tuple[str, ImitationSettings]]:
    """Yield the stages of imitation by their names."""
    for number, stage in enumerate(curriculum.stages):
        settings = settings_of(curriculum, number, "")
        if isinstance(settings, ImitationSettings):
            yield stage.name, settings


def reference_name(run: str, seconds: int, player: str) -> str:
    """Name the match of a run against a player or another run."""
    return f"arm_{run}_{seconds:05d}_{slug(player)}"
