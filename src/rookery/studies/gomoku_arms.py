"""One run of an arm of the Gomoku study: a fixed time, spent on stages of the curriculum one after another.

    arms/scratch-s1/
      run.json         its time, its legs, and what newest.pth is: leg, seconds, steps
      curve.jsonl      a line about every second of training: leg, seconds, steps, losses
      newest.pth       the network when it was stopped last
      marks/00300.pth  the network after 300 seconds, as one of the large board
      work/2-4/        the leg at work, with all that training holds in memory

Seconds are those of playing and learning. Not counted: lessons, which are made ahead (`gomoku_lessons`), the first move
of all games or the first look at the clock in each sitting, since kernels may be compiled in it, and the time that
saving takes at a mark or stop.

All but `work` is small. A run that goes on with it goes on where it was. Without it, as on another machine, it goes on
from `newest.pth` with an empty replay and a new optimiser.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rookery.errors import BadInput
from rookery.games.library import load
from rookery.learn.curriculum_settings import settings_of
from rookery.learn.files import LineLog, save_whole, sweep, write_json
from rookery.learn.imitation import Imitation, ImitationSettings
from rookery.learn.locks import Lock
from rookery.learn.settings import network_values
from rookery.learn.spread import Over, Say
from rookery.learn.stage_work import Help, ImitationWork, SelfplayWork
from rookery.learn.starts import first_network
from rookery.nets.configs import read_config
from rookery.nets.files import About, save_network
from rookery.nets.network import Network
from rookery.studies.gomoku_lessons import bring_from
from rookery.studies.gomoku_plan import Arm, Preset

FOLDER = "arms"
FACTS, CURVE, NEWEST, MARKS, WORK = "run.json", "curve.jsonl", "newest.pth", "marks", "work"
PLAN, KEPT = ("seconds", "legs", "seed", "changes"), ("leg", "seconds", "steps", "done")  # what the parts of FACTS say
NOTED, LINES = 1.0, 200  # seconds between two lines of the curve; a short run has them closer, so many at most


class Clock:
    """Counts seconds from one look at it to the next. The first span of a sitting is not counted."""

    def __init__(self, spent: float):
        self.spent = spent
        self.last: float | None = None
        self.warm = False

    def look(self) -> float:
        """Return the seconds spent so far."""
        now = time.monotonic()
        if self.last is not None:
            self.spent += now - self.last if self.warm else 0.0
            self.warm = True
        self.last = now
        return self.spent

    def pause(self) -> None:
        """Count nothing until it is looked at again."""
        self.last = None


@dataclass
class Leg:
    """A leg at work: a stage of the curriculum, seen the same whatever its kind."""

    work: ImitationWork | SelfplayWork

    @property
    def steps(self) -> int:
        """Games of self-play, or steps of imitation, so far; -1 if nothing is made ready yet."""
        if isinstance(self.work, SelfplayWork):
            return self.work.training.games
        trainer = self.work.imitation.trainer
        return trainer.steps if trainer else -1

    @property
    def network(self) -> Network | None:
        """The network that plays; None as long as there is none."""
        if isinstance(self.work, SelfplayWork):
            return self.work.training.player
        trainer = self.work.imitation.trainer
        return trainer.player if trainer else None

    def go_on(self, stop: Callable[[], bool], note: Callable[[dict[str, Any]], None]) -> bool:
        """Work until `stop` says so, or until there is nothing left to do; return whether there is."""
        if isinstance(self.work, SelfplayWork):
            self.work.training.say = lambda figures: note({
                "policy_loss": figures.get("loss/policy"), "value_loss": figures.get("loss/value"),
            })  # fmt: skip
            return not self.work.training.train(stop)
        imitation = self.work.imitation
        if imitation.trainer is None and not imitation.prepare(stop):
            return True
        while not self.work.exhausted:
            if not imitation.one_pass(stop, lambda steps: note(taught(imitation, steps))):
                return True
        return False


def taught(imitation: Imitation, steps: int) -> dict[str, Any]:
    """Return the mean losses over the steps of the pass under way."""
    made = (steps - 1) % imitation.per_pass + 1
    value, policy = (imitation.sums / made).tolist()
    return {"policy_loss": policy, "value_loss": value}


class ArmRun:
    """A run of an arm in its folder."""

    def __init__(self, study: Path, name: str, preset: Preset, arm: Arm, seed: int, device: str):
        self.folder, self.name, self.arm, self.seconds = study / FOLDER / name, name, arm, preset.arm_seconds
        self.study, self.preset, self.seed, self.device = study, preset, seed, device
        self.curve = LineLog(self.folder / CURVE)
        self.lock = Lock(self.folder / "lock")

    # -- what is there --

    @property
    def marks(self) -> list[int]:
        """The seconds at which networks are kept."""
        return mark_seconds(self.preset)

    def mark_file(self, seconds: int) -> Path:
        """Return where the network after so many seconds is."""
        return mark_file(self.folder, seconds)

    @property
    def complete(self) -> bool:
        """Whether the networks of all marks are there."""
        return all(self.mark_file(seconds).exists() for seconds in self.marks)

    def stages_left(self) -> list[str]:
        """List the stages of the legs that are not done."""
        newest = run_facts(self.study, self.name).get("newest")
        first = newest["leg"] + newest["done"] if newest else 0
        return [] if self.complete else [stage for stage, _ in self.arm.legs[first:]]

    def facts(self) -> dict[str, Any]:
        """Read what newest.pth is; begin the folder if there is none, and refuse one of another plan."""
        changes = list(self.preset.changes_of(self.arm))
        plan = {
            "seconds": self.seconds, "legs": [list(leg) for leg in self.arm.legs], "seed": self.seed,
            "curriculum": self.preset.curriculum, "changes": changes,
        }  # fmt: skip
        path = self.folder / FACTS
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            write_json(path, {"plan": plan, "newest": None, "begun_without_work": 0})
        found = run_facts(self.study, self.name)
        there = found["plan"]
        if there != plan:
            changed = [f"{key} {there.get(key)}, not {plan[key]}" for key in plan if there.get(key) != plan[key]]
            raise BadInput(f"{self.folder} was begun with {'; '.join(changed)}; name another --folder, or remove it")
        return found

    # -- training --

    def train(self, over: Over, say: Say = lambda done, total, note: None) -> bool:
        """Train until all time of the run is spent, or `over` says that it is time to stop; tell whether it is."""
        if self.complete:
            self.clear_up()
            return True
        self.facts()
        self.lock.take()
        try:
            sweep(self.folder)
            self.curve.mend()
            return self.legs(over, say)
        finally:
            self.lock.give_back()

    def legs(self, over: Over, say: Say) -> bool:
        """Go through the legs that are left."""
        newest = self.facts()["newest"]
        first, done = (newest["leg"], newest["done"]) if newest else (0, False)
        for number in range(first + done, len(self.arm.legs)):
            if over() or not self.one_leg(number, over, say):
                return False
        self.clear_up()
        return True

    def clear_up(self) -> None:
        """Remove the work of a complete run, which nobody needs: who is killed behind the last mark leaves it."""
        shutil.rmtree(self.folder / WORK, ignore_errors=True)

    def one_leg(self, number: int, over: Over, say: Say) -> bool:
        """Work on a leg until its time is spent; False if stopped before."""
        end = sum(share for _, share in self.arm.legs[: number + 1]) * self.seconds
        leg = self.opened(number)
        try:
            clock = Clock(self.resumed_at(number, leg))
            while clock.spent < end:
                left = self.stretch(leg, number, clock, min([end, *self.due(clock.spent)]), over, say)
                self.keep(leg, number, clock, done=not left or clock.spent >= end)
                if not left:
                    break
                if clock.spent < end and over():
                    return False
            if number == len(self.arm.legs) - 1:  # nothing is left to do: what there is, is the network of the rest
                for seconds in self.due(-1):
                    self.save(leg, self.mark_file(seconds), self.preset.game)
        finally:
            leg.work.close()
        return True

    def due(self, spent: float) -> list[int]:
        """List the marks that are not there yet, from the first on that is still to come."""
        return [seconds for seconds in self.marks if not self.mark_file(seconds).exists() and seconds > spent]

    def stretch(self, leg: Leg, number: int, clock: Clock, goal: float, over: Over, say: Say) -> bool:
        """Work until the clock reaches a goal, time is up, or nothing is left to do; return whether there is."""
        noted, shown = clock.spent, ""

        def note(figures: dict[str, Any]) -> None:
            nonlocal noted, shown
            line = {name: round(value, 6) for name, value in figures.items() if value is not None}
            if line and clock.spent - noted >= NOTED * min(1.0, self.seconds / LINES):
                self.curve.append({"leg": number, "seconds": round(clock.spent, 3), "steps": leg.steps} | line)
                noted = clock.spent
            shown = ", ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in line.items()) or shown

        def stop() -> bool:
            spent = clock.look()
            stage = self.arm.legs[number][0]
            say(int(spent), int(self.seconds), f"stage {stage}, {max(leg.steps, 0):,} steps {shown}".strip())
            return spent >= goal or over()

        left = leg.go_on(stop, note)
        clock.pause()
        for seconds in self.marks:
            if seconds <= clock.spent and not self.mark_file(seconds).exists():
                self.save(leg, self.mark_file(seconds), self.preset.game)
        return left

    # -- beginning and going on --

    def opened(self, number: int) -> Leg:
        """Open a leg where it was; without its work, begin it with the newest network."""
        place, newest = self.place(number), self.folder / NEWEST
        curriculum = self.preset.settings(self.arm, self.seed, self.device)
        stage = next(i for i, each in enumerate(curriculum.stages) if each.name == self.arm.legs[number][0])
        if not place.exists():
            os.makedirs(place.parent, exist_ok=True)
            facts = self.facts()
            if facts["newest"] and facts["newest"]["leg"] == number:
                write_json(self.folder / FACTS, facts | {"begun_without_work": facts["begun_without_work"] + 1})
        settings = settings_of(curriculum, stage, str(newest) if newest.exists() else "")
        if isinstance(settings, ImitationSettings):
            return Leg(ImitationWork(place, settings, Help(bring=bring_from(self.study))))
        return Leg(SelfplayWork(place, settings))

    def place(self, number: int) -> Path:
        """Return where a leg works."""
        return self.folder / WORK / f"{number}-{self.arm.legs[number][0]}"

    def resumed_at(self, number: int, leg: Leg) -> float:
        """Return the seconds that the state of a leg stands for, and forget what came after it.

        Of self-play that is the last line with no more games than the state has. A killed imitation loses the time
        since it was kept last, and so does a leg that begins without its work.
        """
        newest = self.facts()["newest"]
        spent = float(newest["seconds"]) if newest else 0.0
        if isinstance(leg.work, SelfplayWork) and leg.steps > 0:
            lines = [line for line in self.curve.read() if line["leg"] == number and line["steps"] <= leg.steps]
            spent = max([spent, *(line["seconds"] for line in lines)])
        self.curve.keep_until("seconds", spent)
        return spent

    def keep(self, leg: Leg, number: int, clock: Clock, done: bool) -> None:
        """Keep the newest network with what it is."""
        self.save(leg, self.folder / NEWEST, load(self.stage_game(number)).spec)
        self.curve.sync()
        newest = {"leg": number, "seconds": round(clock.spent, 3), "steps": max(leg.steps, 0), "done": done}
        write_json(self.folder / FACTS, self.facts() | {"newest": newest})

    def stage_game(self, number: int) -> str:
        """Return the game of a leg."""
        stages = self.preset.settings(self.arm, self.seed, self.device).stages
        return next(stage.game for stage in stages if stage.name == self.arm.legs[number][0])

    def save(self, leg: Leg, path: Path, spec: str) -> None:
        """Save the network of a leg as one of a game, whose board may be another: a tower's weights do not care."""
        game, settings = load(spec), self.preset.settings(self.arm, self.seed, self.device).network
        network = first_network(read_config(network_values(settings, game)), self.seed, None)
        if leg.network is not None:
            network.load_state_dict(leg.network.state_dict())
        elif (self.folder / NEWEST).exists():
            network = first_network(network.config, self.seed, self.folder / NEWEST)
        about = About(
            game=game.spec, rules_version=game.version, observation=settings.observation, step=max(leg.steps, 0),
            notes=f"arm {self.name} of the Gomoku study",
        )  # fmt: skip
        path.parent.mkdir(parents=True, exist_ok=True)
        save_whole(path, lambda part: save_network(part, network, about))


def mark_seconds(preset: Preset) -> list[int]:
    """Return the seconds at which networks of arms are kept."""
    return sorted({max(1, round(share * preset.arm_seconds)) for share in preset.marks})


def mark_file(folder: Path, seconds: int) -> Path:
    """Return where the network of a run after so many seconds is."""
    return folder / MARKS / f"{seconds:05d}.pth"


def read_curve(study: Path, name: str) -> list[dict[str, Any]]:
    """Return the lines of a run's curve."""
    return LineLog(study / FOLDER / name / CURVE).read()


def run_facts(study: Path, name: str) -> dict[str, Any]:
    """Return what is known of a run: its plan, and what its newest network is; nothing if it is not begun."""
    path = study / FOLDER / name / FACTS
    try:
        found: dict[str, Any] = json.loads(path.read_bytes())
        parts = {"plan": PLAN} | ({"newest": KEPT} if found["newest"] is not None else {})
        lacking = [f"{part}.{key}" for part, keys in parts.items() for key in keys if key not in found[part]]
        lacking += ["begun_without_work"] if "begun_without_work" not in found else []
        if lacking:
            raise KeyError(*lacking)
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"{path} is damaged ({error!r}); remove {path.parent} to train it anew") from None
    return found


def is_of_time(study: Path, name: str, seconds: float) -> bool:
    """Tell whether a run was begun for so many seconds, or not at all: marks of another time mean something else."""
    facts = run_facts(study, name)
    return not facts or bool(facts["plan"]["seconds"] == seconds)
