"""What is to be done in the Texas 42 study, piece by piece in the right order.

    positions   positions to learn from, with exact Q, by CPU threads
    stage1      runs of Stage 1, on a card
    exact       all that needs neither network nor card, and is small: positions that validate, hands labelled by exact
                search, the trial, plain matches
    labels      hands labelled by a Stage 1, on a card, and choices by logits against those by Q
    stage2      runs of Stage 2, on a card
    judge       choices of all networks that are there, in the trial, on a card
    matches     those in which networks play, on a card
    report      written anew whenever it is asked for

A piece that is done is not done again, and what only done pieces needed is not made at all: on a new machine that was
given the networks of Stage 1, no positions are made. Pieces of `exact` can be made anywhere and taken along. Several
processes may work in one folder, each on pieces of its own; who needs data that another one is making waits for them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from rookery.errors import BadInput
from rookery.games.options import one_of
from rookery.studies.archives import digest
from rookery.studies.settings import differing
from rookery.studies.texas42_evaluate import complete_runs, settings_of_runs
from rookery.studies.texas42_files import DataSet, world_counts
from rookery.studies.texas42_measured import read_measured
from rookery.studies.texas42_plan import Hands, Positions, Preset, TrainSettings
from rookery.studies.texas42_trial import TRIAL, read_trial

STAGES = ("positions", "stage1", "exact", "labels", "stage2", "judge", "matches", "report")
PLAIN = ("random", "heuristic", "exact")
"""players that need no network"""
CHOICES = "choices"
CLAIM = "claim"
REPORT = "report"


@dataclass(frozen=True)
class Piece:
    """One thing to do."""

    stage: str
    name: str
    needs: tuple[str, ...]
    """names of pieces that must be done before"""
    amount: str
    """how much it is, for people"""
    what: Positions | Hands | TrainSettings | None = None
    """what is to be made, where the name does not tell"""


def pieces_of(plan: Preset) -> list[Piece]:
    """List everything in the order in which it is done."""
    positions = tuple(each.name for each in plan.positions)
    found = [
        Piece("positions" if each.part == "train" else "exact", each.name, (), f"{each.deals:,} deals", each)
        for each in plan.positions
    ]
    found += [run_piece("stage1", run, positions) for run in plan.stage1]
    exact = [each for each in plan.decisions if each.oracle == "exact"]
    found += [hands_piece("exact", each) for each in exact]
    valid = tuple(each.name for each in exact if each.part != "train")
    count, worlds = plan.trial
    found.append(Piece("exact", TRIAL, valid, f"{count:,} decisions, 2 x {worlds:,} worlds"))
    matches = [match_piece(duel, plan) for duel in plan.duels]
    found += [piece for piece in matches if piece.stage == "exact"]
    labelled = [each for each in plan.decisions if each.oracle != "exact"]
    found += [hands_piece("labels", each) for each in labelled]
    compared = tuple(each.name for each in labelled if each.second)
    found += [Piece("labels", CLAIM, compared, ", ".join(compared))] if compared else []
    found += [run_piece("stage2", run, tuple(each.name for each in plan.decisions)) for run in plan.stage2]
    found.append(Piece("judge", CHOICES, (TRIAL,), "all networks that are there"))
    found += [piece for piece in matches if piece.stage == "matches"]
    return [*found, Piece("report", REPORT, (), "")]


def run_piece(stage: str, run: TrainSettings, data: tuple[str, ...]) -> Piece:
    """Return the piece of a run."""
    return Piece(stage, run.name, run.data or data, f"{run.steps:,} steps of {run.batch:,}", run)


def hands_piece(stage: str, hands: Hands) -> Piece:
    """Return the piece of a set of hands."""
    networks = tuple(name for name in (hands.oracle, hands.second) if name not in ("", "exact"))
    worlds = " ".join(f"{each:,}" for each in world_counts(hands.worlds))
    return Piece(stage, hands.name, networks, f"{hands.games:,} games, {worlds} worlds", hands)


def match_piece(duel: str, plan: Preset) -> Piece:
    """Return the piece of a match."""
    players = [player.partition(":")[0] for player in duel.split("/")]
    networks = tuple(dict.fromkeys(name for name in players if name not in PLAIN))
    return Piece("matches" if networks else "exact", duel, networks, f"{plan.deals:,} deals, twice")


# ---- what is done --------------------------------------------------------------------------------


def is_done(study: Path, plan: Preset, piece: Piece) -> bool:
    """Tell whether nothing is left to do of a piece."""
    if isinstance(piece.what, TrainSettings):
        refuse_another(study, piece.what)
        return piece.name in complete_runs(study)
    if isinstance(piece.what, Positions | Hands):
        return data_are_done(DataSet(study / "data" / piece.name), piece.what)
    if piece.name == TRIAL:
        return trial_is_done(study, *plan.trial)
    found = read_measured(study)
    if piece.name == CHOICES:
        trial = found.get("trial", {})  # without `apart` it is of an older program, and soon judged again
        by_this = trial.get("mark") == trial_mark(study)
        return by_this and "apart" in trial and network_marks(study).items() <= trial["networks"].items()
    if piece.name == CLAIM:
        return set(piece.needs) <= set(found.get("claim", ()))
    return match_of(found, piece.name, plan.deals, network_marks(study)) is not None


def data_are_done(data: DataSet, wanted: Positions | Hands) -> bool:
    """Tell whether all of a set is there, undamaged; refuse a set of the same name that is made otherwise."""
    if not data.plan.exists():
        return False
    there, settings = data.planned()["settings"], json.loads(json.dumps(wanted.settings))
    others = differing(settings, {name: there.get(name) for name in settings})
    if isinstance(wanted, Hands) and wanted.oracle != "exact" and data.is_exact:
        others.append(f"oracle 'exact', not {wanted.oracle!r}")
    if others:
        raise BadInput(
            f"{data.plan}: these data are made with {'; '.join(others)}; take another --folder, or remove them"
        )
    return all(data.has(number, wanted.size) for number in range(wanted.size.shards))


def refuse_another(study: Path, wanted: TrainSettings) -> None:
    """Refuse a folder in which a run has the name of one that is wanted, and other settings."""
    there = settings_of_runs(study).get(wanted.name)
    others = wanted.unlike(there) if there else []
    if others:
        place = study / "runs" / wanted.name
        others_told = "; ".join(others)
        raise BadInput(f"{place} is another run, with {others_told}; take another --name or --folder, or remove it")


def trial_is_done(study: Path, count: int, worlds: int) -> bool:
    """Tell whether the trial is made to its end, with so many decisions and worlds."""
    there = read_trial(study / TRIAL)
    if there is None:
        return False
    drawn, found, settings = there
    return settings[:2] == (count, worlds) and len(drawn["plays"]) == len(found["better"])


def trial_mark(study: Path) -> str:
    """Return the checksum of the trial; nothing if there is none."""
    place = study / TRIAL
    return digest(place.read_bytes())[:16] if place.exists() else ""


def network_marks(study: Path) -> dict[str, str]:
    """Return the checksums of all networks of a study, by the names of their runs."""
    return {name: digest(path.read_bytes())[:16] for name, path in complete_runs(study).items()}


def match_of(
    found: dict[str, Any], duel: str, deals: int, marks: dict[str, str], seed: int = 0
) -> dict[str, Any] | None:  # fmt: skip
    """Return what a match has brought, if it was played over so many deals, and the networks are not others now."""
    for each in found.get("duels", ()):
        played = (f"{each['first']}/{each['second']}", each["deals"], each.get("seed", 0)) == (duel, deals, seed)
        if played and all(marks.get(name, mark) == mark for name, mark in each.get("networks", {}).items()):
            return dict(each)
    return None


def chosen_names(pieces: list[Piece], stages: tuple[str, ...], patterns: tuple[str, ...]) -> set[str]:
    """Return the names of pieces that are of some stages and fit some patterns, such as `stage1-*`.

    Without both it is all but data, which are made as far as something needs them.
    """
    for stage in stages:
        one_of("--only", stage, STAGES)
    within = [piece for piece in pieces if piece.stage in stages or not stages]
    for pattern in patterns:
        if not any(fnmatchcase(piece.name, pattern) for piece in within):
            raise BadInput(f"--pieces {pattern!r}: there is none such; there are {', '.join(p.name for p in within)}")
    if patterns:
        return {piece.name for piece in within if any(fnmatchcase(piece.name, pattern) for pattern in patterns)}
    return {piece.name for piece in within if stages or not isinstance(piece.what, Positions | Hands)}


def to_do(study: Path, plan: Preset, stages: tuple[str, ...] = (), patterns: tuple[str, ...] = ()) -> list[Piece]:
    """List the chosen pieces that are not done, and before each what it needs."""
    every = {piece.name: piece for piece in pieces_of(plan)}
    chosen = chosen_names(list(every.values()), stages, patterns)
    done = {name: is_done(study, plan, piece) for name, piece in every.items() if name != REPORT}
    wanted: dict[str, None] = {}

    def want(piece: Piece) -> None:
        if not done.get(piece.name) and piece.name not in wanted:
            for name in piece.needs:
                want(every[name])
            wanted[piece.name] = None

    for piece in every.values():
        if piece.name in chosen:
            want(piece)
    return [every[name] for name in wanted]
