"""One stage of a curriculum at work: generation after generation is judged, until the stage is done or cannot be.

judged.jsonl     a line for each generation: losses, matches, rating
judging.json     matches of the generation that is being judged, so that a stop or a kill loses one at most
spent.json       seconds that the stage had taken when it was stopped last
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rookery.arena.evaluator import chosen_device
from rookery.errors import BadInput
from rookery.games.library import load
from rookery.learn.curriculum_settings import ImitationStage, SelfplayStage, Stage
from rookery.learn.files import LineLog, write_json
from rookery.learn.imitation import ImitationSettings
from rookery.learn.judging import EARLIER, Judge, elo_after, in_words, plateau
from rookery.learn.judging import told as told_of
from rookery.learn.settings import RunSettings
from rookery.learn.stage_work import Generation, Help, ImitationWork, Say, SelfplayWork, Stop, Work

JUDGED, KEPT, SPENT = "judged.jsonl", "judging.json", "spent.json"
MET, MISSED, STOPPED = "met", "missed", "stopped"
Told = Callable[[int, int, str], None]
"""told how many matches are played, of how many, and against whom the next one is"""


class Stopped(Exception):
    """Somebody said to stop between two matches."""


class Kept:
    """Matches of a generation that is being judged, so that a stop or a kill loses one at most."""

    def __init__(self, path: Path, step: int):
        self.path, self.step = path, step
        self.matches: list[dict[str, Any]] = []
        try:
            found: dict[str, Any] = json.loads(path.read_bytes()) if path.exists() else {"step": None}
            if found["step"] == step:
                self.matches = [{key: each[key] for key in ("player", "how", "result")} for each in found["matches"]]
        except (ValueError, KeyError, TypeError) as error:
            raise BadInput(f"{path} is damaged ({error!r}); remove it, and its matches are played again") from None

    def result(self, player: str, how: dict[str, Any]) -> dict[str, Any] | None:
        """Return what came of a match against a player; None if it was not played, or otherwise."""
        found = (each for each in self.matches if (each["player"], each["how"]) == (player, how))
        return next((each["result"] for each in found), None)

    def add(self, player: str, how: dict[str, Any], result: dict[str, Any]) -> None:
        """Keep a match."""
        self.matches.append({"player": player, "how": how, "result": result})
        write_json(self.path, {"step": self.step, "matches": self.matches})


def read_judged(log: LineLog) -> list[dict[str, Any]]:
    """Read the generations of a stage, and refuse lines that are none."""
    history = log.read()
    for number, line in enumerate(history, start=1):
        numbers = {name: line.get(name) if isinstance(line, dict) else None for name in ("step", "seconds")}
        wrong = [name for name, value in numbers.items() if not isinstance(value, int | float)]
        if wrong or not isinstance(line.get("beats"), dict) or not isinstance(line.get("file"), str):
            raise BadInput(
                f"{log.path}, line {number} is no generation of a stage, with step, file, seconds and beats: "
                f"{json.dumps(line)[:200]}"
            )
    return history


class StageRun:
    """A stage in its folder, with its judge."""

    def __init__(
        self, folder: Path, stage: Stage, settings: ImitationSettings | RunSettings, seed: int, help_with: Help
    ):
        self.stage, self.until = stage, stage.until
        self.log, self.kept, self.spent = LineLog(folder / JUDGED), folder / KEPT, folder / SPENT
        self.log.mend()
        self.before, self.begun = self.seconds_before(), time.monotonic()
        """seconds that the stage took in earlier sittings, and when this one began"""
        self.judge = Judge(load(stage.game), stage.until, seed, chosen_device(settings.device).type, settings.precision)
        self.work: Work = (  # last of all: it takes a lock, which whoever runs the stage gives back
            ImitationWork(folder, settings, help_with)
            if isinstance(settings, ImitationSettings)
            else SelfplayWork(folder, settings, help_with)
        )

    def run(self, stop: Stop, say: Say) -> str:
        """Go on until the stage is done or cannot be any more; return MET, MISSED or STOPPED."""
        verdict = self.go_on(stop, say)
        if verdict == STOPPED:
            write_json(self.spent, {"seconds": self.seconds})
        else:
            self.spent.unlink(missing_ok=True)
        return verdict

    def go_on(self, stop: Stop, say: Say) -> str:
        """Judge one generation after another."""
        history = self.history()
        if history and self.asks_for_others(history[-1]):
            if history[-1]["step"] >= self.work.newest:
                self.log.keep_until("step", history.pop()["step"] - 1)  # it is judged again
        elif history and (verdict := self.verdict(history)):
            return verdict
        while True:
            found = self.work.next(history[-1]["step"] if history else 0, stop, say)
            if found is None:
                return STOPPED
            line = self.judged(found, history, stop, partial(say, f"judging generation {len(history) + 1}"))
            if line is None:
                return STOPPED
            self.log.append(line)
            self.log.sync()
            self.kept.unlink(missing_ok=True)
            history = self.history()
            if verdict := self.verdict(history):
                return verdict

    @property
    def seconds(self) -> float:
        """Seconds that the stage has taken; of a sitting that was killed, those up to its last generation."""
        return round(self.before + time.monotonic() - self.begun, 3)

    def seconds_before(self) -> float:
        """Return the seconds at the last stop, or at the last generation if that came later."""
        try:
            stopped = float(json.loads(self.spent.read_bytes())["seconds"]) if self.spent.exists() else 0.0
        except (ValueError, KeyError, TypeError) as error:
            raise BadInput(f"{self.spent} is damaged ({error!r}); remove it, and its seconds do not count") from None
        return max([stopped, *(float(line["seconds"]) for line in self.history()[-1:])])

    def history(self) -> list[dict[str, Any]]:
        """Read what was judged."""
        return read_judged(self.log)

    def asks_for_others(self, line: dict[str, Any]) -> bool:
        """Tell whether the last generation must meet players anew: conditions may have been changed.

        Before the end of its stage it may not have met them at all.
        """
        met = [line["beats"].get(each.player) for each in self.until.beats]
        return any(not self.as_asked(found) for found in met if found is not None or self.ends(line))

    def as_asked(self, found: dict[str, Any] | None) -> bool:
        """Tell whether a match was played as conditions ask now; older programs did not keep how."""
        return found is not None and all(found.get(name, value) == value for name, value in self.how().items())

    def how(self) -> dict[str, Any]:
        """Return how the network meets players that it is to beat."""
        return {"asked": self.until.games, "simulations": self.until.simulations, "urgency": self.until.urgency}

    def judged(self, found: Generation, history: list[dict[str, Any]], stop: Stop, say: Told) -> dict[str, Any] | None:
        """Let a generation play, and return all that is known of it; None if told to stop between two matches."""
        kept = Kept(self.kept, found.number)
        line: dict[str, Any] = {"step": found.number, "file": found.network.name} | found.figures
        try:
            if isinstance(self.stage, SelfplayStage):
                line |= self.rated(found, history, kept, stop, say)
            line["watched"] = self.met(found, self.until.watched, self.until.watched_games, kept, stop, say)
            line["plateau"] = plateau([*history, line], self.until.plateau)
            line["seconds"] = self.seconds
            wanted = [each.player for each in self.until.beats] if not line["plateau"] or self.ends(line) else []
            met = self.met(found, wanted, self.until.games, kept, stop, say)
        except Stopped:
            return None
        line["beats"] = {player: result | self.how() for player, result in met.items()}
        line["seconds"] = self.seconds
        return line

    def met(
        self, found: Generation, players: Sequence[str], games: int, kept: Kept, stop: Stop,
        say: Told,
    ) -> dict[str, Any]:  # fmt: skip
        """Let a generation meet players, and return what came of it."""
        results: dict[str, Any] = {}
        for number, player in enumerate(players):
            say(number, len(players), f"against {player}")
            results[player] = self.match(found, player, player, self.how() | {"asked": games}, kept, stop)
        return results

    def rated(
        self, found: Generation, history: list[dict[str, Any]], kept: Kept, stop: Stop, say: Told
    ) -> dict[str, Any]:
        """Let a generation meet the one some generations before it; the first one is rated 0."""
        if not history:
            return {"elo": 0.0, "elo_gain": 0.0}
        rival = history[max(0, len(history) - self.until.plateau.over)]
        say(0, 1, f"against generation {rival['step']}")
        how = self.how() | {"asked": self.until.watched_games, "step": rival["step"]}
        result = self.match(found, EARLIER, self.work.network_of(rival["step"]), how, kept, stop)
        return elo_after(rival, result) | {"against_earlier": {"step": rival["step"]} | result}

    def match(
        self, found: Generation, name: str, rival: Path | str, how: dict[str, Any], kept: Kept, stop: Stop
    ) -> dict[str, Any]:
        """Let a generation meet somebody, and return what came of it; a match that was played already is kept."""
        if (result := kept.result(name, how)) is None:
            if stop():
                raise Stopped
            result = told_of(self.judge.meet(found.network, rival, how["asked"], found.number))
            kept.add(name, how, result)
        return result

    def ends(self, line: dict[str, Any]) -> bool:
        """Tell whether this is the last generation, done or not; work may be through whose end is not judged yet."""
        through = self.work.exhausted and line["step"] >= self.work.newest
        return through or bool(self.until.seconds and line["seconds"] >= self.until.seconds)

    def missing(self, history: list[dict[str, Any]]) -> list[str]:
        """Say what is missing for the stage to be done after its newest generation."""
        line, rising = history[-1], plateau(history, self.until.plateau)
        found = [rising] if rising else []
        for wanted in self.until.beats:
            result = line["beats"].get(wanted.player)
            if result is None:
                found.append(f"{wanted.player} was not met")
            elif not (result["score"] > wanted.share and result["low"] >= wanted.least):
                needed = f"more than {100 * wanted.share:g} %"
                least = f", with the interval from {100 * wanted.least:g} % on," if wanted.least else ""
                found.append(f"{in_words(wanted.player, result)}; {needed}{least} are needed")
        return found

    def verdict(self, history: list[dict[str, Any]]) -> str:
        """Tell how the stage ends after its newest generation; nothing if it goes on.

        A stage without conditions is done when there is nothing left to do.
        """
        asked = self.until.beats or self.until.plateau.of != "none"
        if asked and not self.missing(history):
            return MET
        if self.ends(history[-1]):
            return MISSED if asked else MET
        return ""

    def account(self, verdict: str) -> str:
        """Say how the stage ended, for people."""
        history = self.history()
        line = history[-1]
        what = "passes" if isinstance(self.stage, ImitationStage) else "games"
        begin = f"stage {self.stage.name} after {line['step']} {what} and {line['seconds']:.0f} s"
        if verdict == MISSED:
            return f"{begin} is not done: {'; '.join(self.missing(history))}"
        results = [in_words(player, found) for player, found in line["beats"].items()]
        return "; ".join([f"{begin} is done", *results])
