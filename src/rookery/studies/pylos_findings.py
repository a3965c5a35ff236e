"""All that is known in the folder of a Pylos study, and the answers that follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from rookery.learn.runs import Run
from rookery.studies import pylos_answers as answers
from rookery.studies.curves import DECISIVE, DRAWS, PLIES, POLICY, SECONDS, VALUE, Curve, read_curves, seconds_at
from rookery.studies.intervals import Estimate
from rookery.studies.pylos import Study
from rookery.studies.pylos_plan import CURES, LADDER
from rookery.studies.verdicts import Answer

KEYS = (VALUE, POLICY, DECISIVE, DRAWS, PLIES, SECONDS)


class Findings:
    """All that is known in the folder of a study."""

    def __init__(self, study: Study):
        self.study = study
        self.ratings, self.exact, self.empty, self.floor, self.probes = (
            study.result(stage) for stage in ("rate", "judge", "empty", "floor", "probe")
        )

    @cached_property
    def runs(self) -> dict[str, Run]:
        """The runs that have a network."""
        return self.study.there()

    @cached_property
    def curves(self) -> dict[str, dict[str, Curve]]:
        """Figures of each run."""
        return {name: read_curves(run.folder, KEYS) for name, run in self.runs.items()}

    @property
    def ladder(self) -> dict[str, dict[str, Curve]]:
        """Figures of the runs of the ladder."""
        return {name: self.curves[name] for name in LADDER if name in self.curves}

    @cached_property
    def seeds(self) -> dict[str, list[str]]:
        """Names of the runs of each ablation."""
        found: dict[str, list[str]] = {}
        for planned in self.study.plan:
            if planned.ablation and planned.name in self.runs:
                found.setdefault(planned.ablation, []).append(planned.name)
        return found

    def at_end(self, name: str, key: str) -> Estimate | None:
        """Return a figure at the end of a run."""
        return self.curves[name][key].at_end() if name in self.curves else None

    def groups(self, key: str) -> dict[str, list[float]]:
        """Return a figure at the end of each seed of each ablation."""
        found = {}
        for ablation, names in self.seeds.items():
            ends = [self.curves[name][key].at_end() for name in names]
            found[ablation] = [end.mean for end in ends if end is not None]
        return {name: values for name, values in found.items() if values}

    def contest(self, name: str) -> dict[str, Any]:
        """Return a contest; empty if nothing was rated."""
        contests: dict[str, Any] = (self.ratings or {}).get("contests", {})
        found: dict[str, Any] = contests.get(name, {})
        return found

    def last_elo(self, run: str, contest: str = "greedy") -> Mapping[str, Any] | None:
        """Return the rating of a run's last network."""
        rows = [row for row in self.contest(contest).get("checkpoints", []) if row["run"] == run]
        return max(rows, key=lambda row: row["step"]) if rows else None

    def elo_groups(self) -> dict[str, list[float]]:
        """Return the rating of each seed of each ablation."""
        found = {name: [self.last_elo(run) for run in runs] for name, runs in self.seeds.items()}
        values = {name: [float(row["elo"]) for row in rows if row] for name, rows in found.items()}
        return {name: elos for name, elos in values.items() if elos}

    def fair_elos(self) -> dict[str, list[float]]:
        """Return the ratings of those ablations that were taught the game they were rated on."""
        game = self.contest("greedy").get("game")
        taught = {name: self.runs[runs[0]].game.spec for name, runs in self.seeds.items()}
        return {name: elos for name, elos in self.elo_groups().items() if taught[name] == game}

    def rating_rows(self, run: str) -> list[dict[str, Any]]:
        """Return the ratings of a run's checkpoints, with the seconds it took to get there."""
        rows = [row for row in self.contest("greedy").get("checkpoints", []) if row["run"] == run]
        timed = self.curves.get(run, {}).get(SECONDS, Curve(()))
        return [row | {"seconds": seconds_at(timed, row["step"])} for row in sorted(rows, key=lambda row: row["step"])]


# ---- answers -------------------------------------------------------------------------------------


def all_answers(found: Findings) -> list[Answer]:
    """Answer the questions one by one."""
    ladder = found.ladder
    first = {name: curves[VALUE].first() for name, curves in ladder.items() if name != "best"}
    given = [
        answers.target_answer(
            found.at_end("v5", VALUE), found.at_end("v5", DECISIVE), found.at_end("v5", DRAWS), games_of(ladder, "v5")
        ),
        answers.cause_answer(found.groups(VALUE), found.elo_groups()),
        answers.start_answer(first, ladder["v5"][PLIES].first() if "v5" in ladder else None, found.at_end("v5", PLIES)),
    ]
    for name in ("v5", "v4"):
        curve = ladder[name][VALUE] if name in ladder else Curve(())
        given.append(
            answers.reached_answer(
                name, curve.near(answers.BY[name]), curve.falls_to(answers.REACHED), games_of(ladder, name)
            )
        )
    given += [answers.plateau_answer(name, found.at_end(name, VALUE)) for name in ("v3", "v4")]
    given += [
        answers.floor_answer((found.floor or {}).get("networks", {})),
        answers.order_answer(found.contest("greedy").get("head_to_head", [])),
        answers.cure_answer(found.groups(DRAWS), found.fair_elos(), CURES),
        answers.empty_answer((found.empty or {}).get("networks", {})),
    ]
    return [*given, answers.blocks_answer((found.probes or {}).get("predictions", []))]


def games_of(ladder: Mapping[str, Mapping[str, Curve]], name: str) -> int:
    """Return the games of a run; 0 if it is not there."""
    return ladder[name][VALUE].last if name in ladder else 0
