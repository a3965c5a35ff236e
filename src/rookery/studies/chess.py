"""The chess study: a small network of Lc0's kind, taught by imitation and self-play, measured, and looked into.

    main/                    the curriculum (`learn.curriculum`)
    networks/imitation.pth   the network of each stage of it; another one put here is measured in its place
    files/NAME.pb.gz         the last of them as a weight file in each encoding, and files.json: how far each is off
    matches/                 every match, pair by pair (`studies.matches`)
    probes.json              what its layers show of concepts of chess
    notes.json               by which command, when and where each stage was done
    report.md                with its figures, and the same as one page, report.html

Every stage is resumable: what is done is not done again. Where time is up, a stage stops and the same call goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rookery.errors import BadInput
from rookery.learn.curriculum import Curriculum, is_curriculum_folder
from rookery.learn.curriculum_settings import ImitationStage, settings_of
from rookery.learn.imitation import ImitationSettings
from rookery.learn.spread import Over, Say
from rookery.learn.stage_work import ALONE, Help, ImitationWork
from rookery.studies.chess_plan import OPENING, Preset, player_text, search_of
from rookery.studies.matches import Found, Meeting, known_of, mark, read_match
from rookery.studies.stages import hand_out, slug

STAGE_NAMES = ("lessons", "train", "export", "matches", "probes", "report")
MAIN, NETWORKS = "main", "networks"


@dataclass(frozen=True)
class Study:
    """A study in its folder."""

    folder: Path
    preset: Preset
    device: str = "cpu"
    """where networks play and are probed; where they learn is a setting of the curriculum"""

    # -- training --

    def curriculum(self) -> Curriculum:
        """Return the curriculum, made if there is none yet."""
        folder = self.folder / MAIN
        if not is_curriculum_folder(folder):
            folder.mkdir(parents=True, exist_ok=True)
            Curriculum.create(folder, self.preset.settings())
        return Curriculum(folder)

    def differs(self) -> bool:
        """Tell whether the curriculum was begun with other settings, or somebody has changed them since; they count."""
        return self.curriculum().settings != self.preset.settings()

    def make_lessons(self, over: Over, say: Say, help_with: Help = ALONE) -> bool:
        """Make what the first stage imitates, and learn nothing; tell whether all of it is there."""
        with self.curriculum() as curriculum:
            first = curriculum.settings.stages[0]
            if not isinstance(first, ImitationStage) or curriculum.outcome_of(0):
                return True
            settings = settings_of(curriculum.settings, 0, curriculum.settings.start)
            assert isinstance(settings, ImitationSettings)
            curriculum.stage_folder(0).parent.mkdir(exist_ok=True)
            work = ImitationWork(curriculum.stage_folder(0), settings)
            try:
                wanted = first.lessons.positions
                made = work.imitation.gathered(over, lambda found: say(found, wanted, "positions"), help_with.spread)
                return made is not None
            finally:
                work.close()

    def train(
        self, over: Over, say: Callable[[str, str, int, int, str], None], help_with: Help = ALONE
    ) -> tuple[str, str]:
        """Go on with the curriculum; return how it ended and the account of that."""
        with self.curriculum() as curriculum:
            outcome = curriculum.work(over, say, help_with=help_with)
        self.hand_out()
        return outcome.verdict, outcome.account

    def stage_names(self) -> list[str]:
        """List the stages of the curriculum."""
        return [stage.name for stage in self.preset.settings().stages]

    def hand_out(self) -> None:
        """Put the networks of the stages where they are measured: of one that is not done yet, its newest."""
        hand_out(self.folder / MAIN, {name: self.network_of(name) for name in self.stage_names()})

    def network_of(self, stage: str) -> Path:
        """Return where the network of a stage is measured."""
        return self.folder / NETWORKS / f"{stage}.pth"

    def networks(self) -> list[Path]:
        """Return the networks that are there, the last one last."""
        return [path for path in map(self.network_of, self.stage_names()) if path.exists()]

    @property
    def network(self) -> Path:
        """The last network that there is."""
        if not self.networks():
            raise BadInput(f"{self.folder / NETWORKS} has no network yet; the stage train makes one")
        return self.networks()[-1]

    # -- matches --

    def matches(self) -> list[Meeting]:
        """Return the matches that can be played here, the shortest first."""
        found = []
        for simulations in self.preset.simulations:
            texts = [(rival, player_text(rival)) for rival in self.preset.rivals]
            found += [self.meeting(rival, text, simulations) for rival, text in texts if text]
        return found + self.duels()

    def meeting(self, rival: str, player: Path | str, simulations: int) -> Meeting:
        """Return a match of the last network."""
        name, search = match_name(rival, simulations), search_of(simulations)
        return Meeting(name, "chess", self.network, player, self.preset.games, simulations, OPENING, search)

    def duels(self) -> list[Meeting]:
        """Return the match of the last network with the one before self-play, if both are there."""
        there, simulations = self.networks(), self.preset.simulations[1]
        return [self.meeting(there[-2].stem, there[-2], simulations)] if len(there) > 1 else []

    def found(self, meeting: Meeting) -> Found:
        """Return what is known of a match that could be played now."""
        return known_of(self.folder, meeting)

    def kept(self, rival: str, simulations: int) -> Found | None:
        """Return a match, also where its players are not; None if it is of another network than is there by now."""
        found, there = read_match(self.folder, match_name(rival, simulations)), self.networks()
        if found is not None and there and mark(there[-1]) != found.identity["first"]:
            return None
        return found


def match_name(rival: str, simulations: int) -> str:
    """Name the match of the network with so many simulations against a rival."""
    return f"{simulations:04d}_{slug(rival)}"
