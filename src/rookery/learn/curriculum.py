"""A curriculum: stages one after another, each handing its network to the next, in one folder.

    curriculum.yaml          its settings, every key
    progress.json            how far it is: each stage with its account
    stages/1a/               a stage of imitation, or a run
      judged.jsonl           a line for each generation: losses, matches, rating
      judging.json           matches of the generation that is being judged
      spent.json             seconds it had taken when it was stopped last
      outcome.json           once it is done: the network it hands on, and why it was done

    set_aside/1/1a/          a stage that was begun anew, as it was before

A stage without `outcome.json` is the one that goes on. When passes, games or time run out before a stage is done, the
curriculum ends there with an account of what is missing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from rookery.arena import networks
from rookery.arena.evaluator import chosen_device
from rookery.arena.networks import network_file
from rookery.arena.player import Player
from rookery.arena.players import make_player
from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.library import load
from rookery.games.options import given_path
from rookery.learn.curriculum_settings import (
    CurriculumSettings,
    ImitationStage,
    SelfplayStage,
    Stage,
    read_curriculum,
    settings_of,
    stage_seed,
    waits_in_vain,
)
from rookery.learn.files import is_part, sweep, told, write_json, write_whole
from rookery.learn.imitation import read_imitation
from rookery.learn.lessons import make_supervisor
from rookery.learn.locks import Lock
from rookery.learn.runs import CONFIG
from rookery.learn.settings import RunSettings, network_values, read_settings
from rookery.learn.stage_run import MET, STOPPED, StageRun
from rookery.learn.stage_work import (
    ALONE,
    Help,
    Say,
    Stop,
    same_settings,
)
from rookery.learn.starts import start_bytes
from rookery.learn.tracking import check_sinks
from rookery.learn.yaml_text import yaml_text

FILE, STAGES, PROGRESS = networks.CURRICULUM, networks.STAGES, networks.PROGRESS
OUTCOME, LOCK, ASIDE = "outcome.json", "lock", "set_aside"


def read_outcome(folder: Path) -> dict[str, Any] | None:
    """Return the network that a stage in its folder hands on, and its account; None if it is not done."""
    path = folder / OUTCOME
    if not path.exists():
        return None
    try:
        found = json.loads(path.read_bytes())
        return {key: str(found[key]) for key in ("network", "account")}
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path} is damaged ({error!r}): a stage that is done has a network and an account") from None


# ---- the whole -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """How far a curriculum came."""

    verdict: str
    """MET: all stages are done; MISSED: one could not be; STOPPED"""
    account: str = ""
    network: Path | None = None
    """the newest one that was handed on"""
    stage: str = ""
    """the one it ended with, unless all are done"""


class Curriculum:
    """A curriculum in its folder; `with` takes its lock."""

    def __init__(self, folder: str | os.PathLike[str]):
        self.folder = Path(folder)
        if not is_curriculum_folder(self.folder):
            raise BadInput(f"{self.folder} is no curriculum: there is no {FILE} in it")
        self.settings = read_curriculum(self.folder / FILE)
        self.lock = Lock(self.folder / LOCK)

    @classmethod
    def create(cls, folder: str | os.PathLike[str], settings: CurriculumSettings) -> Curriculum:
        """Make the folder of a new curriculum; what this machine lacks is told before anything is made."""
        check_machine(settings)
        if settings.start:  # the folder may be opened from elsewhere
            settings = settings.model_copy(update={"start": os.path.abspath(network_file(settings.start))})
        path = Path(os.path.abspath(given_path(folder)))
        with told(path):
            os.makedirs(path, exist_ok=True)
            if not all(map(is_part, path.iterdir())):
                raise BadInput(f"{path} is not empty; `rookery resume` goes on with what is there")
            sweep(path)  # a killed process may have left half of the settings
        write_whole(path / FILE, yaml_text(settings.model_dump(mode="json")).encode())
        return cls(path)

    def __enter__(self) -> Curriculum:
        self.lock.take()
        sweep(self.folder)
        return self

    def __exit__(self, *trouble: object) -> None:
        self.lock.give_back()

    def outcome_of(self, number: int) -> dict[str, Any] | None:
        """Return what a stage that is done has left; None if it is not done."""
        return read_outcome(self.stage_folder(number))

    def stage_folder(self, number: int) -> Path:
        """Return where a stage lies."""
        return self.folder / STAGES / self.settings.stages[number].name

    def work(
        self,
        stop: Stop = lambda: False,
        say: Callable[[str, str, int, int, str], None] = lambda *how: None,
        end: Callable[[str], None] = lambda account: None,
        help_with: Help = ALONE,
    ) -> Outcome:
        """Go on with the first stage that is not done, and then with those behind it.

        say  told the stage, what is being counted, how much is done, of how much, and figures in a few words
        end  told the account of each stage that is done
        help_with  who plays and makes lessons
        """
        self.check_stages()
        first = self.first_to_do()
        check_machine(self.settings, first, first == 0 and (self.stage_folder(0) / CONFIG).exists())
        network: Path | None = None
        for number, stage in enumerate(self.settings.stages):
            if self.outcome_of(number) is None:
                verdict, account = self.run_stage(number, network, stop, partial(say, stage.name), help_with)
                if verdict != MET:
                    return Outcome(verdict, account, network, stage.name)
                end(account)
            done = self.outcome_of(number)
            assert done is not None
            network = self.stage_folder(number) / done["network"]
        return Outcome(MET, f"all {len(self.settings.stages)} stages are done", network)

    def first_to_do(self) -> int:
        """Return the number of the first stage that is not done; how many there are if all are."""
        done = [self.outcome_of(number) is not None for number in range(len(self.settings.stages))]
        return [*done, False].index(False)

    def begin_anew(self, name: str) -> list[Path]:
        """Put a stage and those behind it aside, so that they begin anew; return where they are now. The lock is held.

        The last one is moved first: killed in between, what is left belongs together.
        """
        names = [stage.name for stage in self.settings.stages]
        if name not in names:
            raise BadInput(f"{self.folder} has no stage {name!r}; its stages are {', '.join(names)}")
        if self.first_to_do() < names.index(name):
            before = names[self.first_to_do()]
            raise BadInput(
                f"--from {name}: stage {before} is not done, so nothing can begin behind it; --from {before} can"
            )
        check_machine(self.settings, names.index(name))
        folders = [self.stage_folder(number) for number in range(names.index(name), len(names))]
        moved: list[Path] = []
        place = next(free for each in count(1) if not (free := self.folder / ASIDE / str(each)).exists())
        with told(place):
            for folder in reversed([folder for folder in folders if folder.exists()]):
                os.makedirs(place, exist_ok=True)
                os.rename(folder, place / folder.name)
                moved.insert(0, place / folder.name)
        return moved

    def check_stages(self) -> None:
        """Refuse what no longer belongs together: settings of a stage that is done, and stages behind one that is not.

        What all stages share, such as the device, may be another one for those to come. Folders that were carried here
        without their settings are taken as they are.
        """
        begun: list[str] = []
        for number in reversed(range(len(self.settings.stages))):
            folder = self.stage_folder(number)
            if self.outcome_of(number) is None and begun:
                raise BadInput(
                    f"{folder} is not done, but {', '.join(begun)} went on from what it was; "
                    f"`rookery resume {self.folder} --from {folder.name}` begins them anew, too"
                )
            if (folder / CONFIG).exists() or (folder / OUTCOME).exists():
                begun.insert(0, str(folder))
            if (folder / CONFIG).exists() and (folder / OUTCOME).exists():
                wanted = settings_of(self.settings, number, "")
                is_run = isinstance(wanted, RunSettings)
                found = read_settings(folder / CONFIG) if is_run else read_imitation(folder)
                same_settings(folder, found, wanted, besides=CurriculumSettings.model_fields)

    def run_stage(
        self, number: int, network: Path | None, stop: Stop, say: Say, help_with: Help = ALONE
    ) -> tuple[str, str]:
        """Go on with a stage; return how it ended and the account of that."""
        folder, start = self.stage_folder(number), str(network) if network else self.settings.start
        os.makedirs(folder.parent, exist_ok=True)
        self.write_progress(number, "at work", "")
        stage = StageRun(
            folder, self.settings.stages[number], settings_of(self.settings, number, start),
            stage_seed(self.settings, number), help_with,
        )  # fmt: skip
        try:
            verdict = stage.run(stop, say)
            if verdict == STOPPED:
                self.write_progress(number, STOPPED, "")
                return verdict, ""
            account = stage.account(verdict)
            if verdict == MET:
                file = stage.log.read()[-1]["file"]
                write_json(folder / OUTCOME, {"network": file, "account": account})
        finally:
            stage.work.close()
        self.write_progress(number, verdict, account)
        return verdict, account

    def write_progress(self, number: int, status: str, account: str) -> None:
        """Say how far the curriculum is."""
        stages: list[dict[str, Any]] = []
        for each, stage in enumerate(self.settings.stages):
            done = self.outcome_of(each)
            told_status = MET if done else status if each == number else "not begun"
            words = done["account"] if done else account if each == number else ""
            stages.append({"stage": stage.name, "status": told_status, "account": words})
        write_json(self.folder / PROGRESS, {"stages": stages})


def check_machine(settings: CurriculumSettings, first: int = 0, begun: bool = False) -> None:
    """Refuse what this machine lacks, players that do not play the game of their stage, and waiting in vain.

    first  the number of the first stage that is still to be worked on
    begun  whether that stage has its weights already
    """
    chosen_device(settings.device)
    refuse_waiting(settings)
    if settings.start and first == 0 and not begun:
        values = network_values(settings.network, load(settings.stages[0].game))
        start_bytes(settings.start, values, settings.network.observation)
    for number, stage in list(enumerate(settings.stages))[first:]:
        if isinstance(stage, SelfplayStage):
            check_sinks(stage.tracking)
        for key, text, make in players_of(stage):
            try:
                with closing(make(text, load(stage.game))) as player:
                    if player.at_terminal:
                        raise BadInput(f"player {text!r} is a person; nobody sits there when a curriculum is worked on")
            except BadInput as error:
                raise BadInput(f"stages[{number}].{key}: {error} (stage {stage.name})") from None


def refuse_waiting(settings: CurriculumSettings) -> None:
    """Refuse stages that could never be done."""
    if problems := waits_in_vain(settings):
        raise BadInput("; ".join(problems))


def players_of(stage: Stage) -> Iterator[tuple[str, str, Callable[[str, Game], Player]]]:
    """Yield the players that a stage names: the key, the text, and what makes a player of it."""
    if isinstance(stage, ImitationStage):
        yield "lessons.supervisor", stage.lessons.supervisor, make_supervisor
    elif stage.selfplay.opponent:
        yield "selfplay.opponent", stage.selfplay.opponent, make_player
    for number, wanted in enumerate(stage.until.beats):
        yield f"until.beats[{number}].player", wanted.player, make_player
    for number, text in enumerate(stage.until.watched):
        yield f"until.watched[{number}]", text, make_player


def is_curriculum_folder(folder: Path) -> bool:
    """Tell whether a folder is a curriculum."""
    return (folder / FILE).is_file()
