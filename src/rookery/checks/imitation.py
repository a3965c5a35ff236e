"""Checks of imitation and of curricula: a supervisor's games, the network that learned from them, and the stages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rookery.checks import curves, games, targets
from rookery.checks.finding import Finding, Sample, Verdict, about, unless
from rookery.checks.fit import Lesson, check_fit
from rookery.checks.networks import check_network
from rookery.checks.selfplay import check_run
from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.learn.curriculum import PROGRESS, STAGES
from rookery.learn.imitation import SHARDS, Imitation, ImitationSettings
from rookery.learn.lessons import SHARD, Lessons, is_held_out, load_lessons
from rookery.learn.runs import CONFIG, is_run
from rookery.learn.stage_run import MET, MISSED

MOST_REPLAYED = 256
"""games that are played again, to look at their positions"""


class Replayed(NamedTuple):
    """Games that were played again: their positions, and what the supervisor said there."""

    lesson: Lesson
    games: np.ndarray
    """[N] number of the game of each position"""
    results: list[float]
    """of each game for who moved first in it"""
    illegal: int
    """moves that the rules do not allow, at which a game was left"""


# ---- recognising ---------------------------------------------------------------------------------


def is_imitation(folder: Path) -> bool:
    """Tell whether a folder is a stage of imitation."""
    return (folder / CONFIG).is_file() and (folder / SHARDS).is_dir()


def is_lessons(folder: Path) -> bool:
    """Tell whether a folder holds the shards of a stage of imitation."""
    return folder.is_dir() and any(folder.glob("shard_*.npz")) and is_imitation(folder.parent)


# ---- stages --------------------------------------------------------------------------------------


def check_curriculum(folder: Path, sample: Sample) -> list[Finding]:
    """Check all stages of a curriculum that were begun."""
    found: list[Finding] = []
    for stage in sorted((folder / STAGES).iterdir()) if (folder / STAGES).is_dir() else []:
        if is_run(stage):
            found += about(stage.name, check_run(stage, sample))
        elif is_imitation(stage):
            found += about(stage.name, check_imitation(stage, sample))
    if not found:
        raise BadInput(f"{folder} is a curriculum of which no stage was begun: there is nothing to check")
    return found + stages_done(folder)


def stages_done(folder: Path) -> list[Finding]:
    """Check that every stage that has ended has reached what it was to reach."""
    try:
        stages = json.loads((folder / PROGRESS).read_bytes())["stages"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    found = []
    for stage in stages:
        if stage.get("status") in (MET, MISSED):
            holds = stage["status"] == MET
            verdict = unless(holds, Verdict.WARNING)
            told = Finding(
                "stage-done", verdict, float(holds), str(stage.get("account")), "its conditions met", PROGRESS
            )
            found += about(str(stage.get("stage")), [told])
    return found


def check_imitation(folder: Path, sample: Sample) -> list[Finding]:
    """Check a stage of imitation: its games, its figures and its network."""
    stage = Imitation(folder)
    found, replayed = check_lessons(folder / SHARDS, stage.game, stage.settings, sample)
    lines, training = stage.figures.read(), stage.settings.training
    names = ("taught_value_loss", "taught_policy_loss", "value_loss", "policy_loss")
    found += curves.loss_numbers(lines, names)
    for name in names:
        found += curves.loss_course(name, curves.column(lines, name))
    if lines:
        last = lines[-1]
        for of in ("policy", "value"):
            train, valid = last.get(f"taught_{of}_loss"), last.get(f"{of}_loss")
            found += curves.validation_gap(train, valid, f"{of} loss of the last pass")
    found += curves.learning_rate(
        training.learning_rate, training.least_learning_rate, bool(stage.settings.start)
    )  # fmt: skip
    if stage.network.is_file():
        checked = check_network(stage.network, sample, learns_rules=not training.mask_policy)
        found += about(stage.network.name, checked)
        if replayed is not None and len(checked) > 1:
            lesson = some_rows(held_out(replayed, stage.settings), sample)
            found += about(stage.network.name, check_fit(stage.network, lesson, sample, "positions held out"))
    return found


def held_out(replayed: Replayed, settings: ImitationSettings) -> Lesson:
    """Return the positions of games that were not learned from; all of them if there are none."""
    apart = is_held_out(replayed.games, settings.lessons.held_out)
    return Lesson(*(column[apart] for column in replayed.lesson)) if apart.any() else replayed.lesson


def some_rows(lesson: Lesson, sample: Sample) -> Lesson:
    """Draw some positions."""
    rows = np.random.default_rng(sample.seed).permutation(len(lesson.values))[: sample.positions]
    return Lesson(*(column[np.sort(rows)] for column in lesson))


# ---- lessons -------------------------------------------------------------------------------------


def check_lessons_folder(folder: Path, sample: Sample) -> list[Finding]:
    """Check the shards of a stage of imitation alone."""
    stage = Imitation(folder.parent)
    return check_lessons(folder, stage.game, stage.settings, sample)[0]


def check_lessons(
    folder: Path, game: Game, settings: ImitationSettings, sample: Sample
) -> tuple[list[Finding], Replayed | None]:
    """Check a supervisor's games; return also those that were played again."""
    sample.say(f"games of {folder}")
    looked = f"shards in {folder.name}"
    try:
        shards = [load_lessons(path) for path in sorted(folder.glob("shard_*.npz"))]
    except BadInput as error:
        return [Finding("rows-sound", Verdict.WRONG, 1.0, str(error), "all can be read", looked)], None
    if not shards:
        return [targets.no_rows(looked)], None
    moves = [[int(a) for a in row if a >= 0] for shard in shards for row in shard.moves]
    numbers = np.array([SHARD * s + g for s, shard in enumerate(shards) for g in range(len(shard.moves))])
    values = np.concatenate([shard.values[shard.chosen >= 0] for shard in shards])
    worths = np.concatenate([shard.worths[shard.considered >= 0] for shard in shards])
    told = f"{len(values):,} opinions of {settings.lessons.supervisor}"
    found = [targets.target_range(np.concatenate((values, worths)), told), *targets.saturation(values, told)]
    found += differing(game, moves, numbers, settings)
    replayed = replay(game, settings, shards, moves, sample)
    bad = f"{replayed.illegal} of {len(replayed.results) + replayed.illegal} games hold an illegal move"
    found.append(Finding("rows-sound", unless(not replayed.illegal), float(replayed.illegal), bad, "none", looked))
    return found + replayed_checks(replayed, values), replayed


def differing(
    game: Game, moves: list[list[int]], numbers: np.ndarray, settings: ImitationSettings
) -> list[Finding]:  # fmt: skip
    """Check that games differ, and that none of those held out begins as one that is taught."""
    openings = games.openings_of(game, moves, settings.lessons.opening)
    looked = f"{len(moves)} games"
    keys = np.array([hash(opening) for opening in openings])
    apart = is_held_out(numbers, settings.lessons.held_out)
    return [
        *games.opening_variety(openings, looked),
        *games.distinct_games([tuple(each) for each in moves], looked),
        *games.split_leak(keys[~apart], keys[apart], f"how {int(apart.sum())} games begin that are held out"),
    ]


def replay(
    game: Game, settings: ImitationSettings, shards: list[Lessons], moves: list[list[int]], sample: Sample
) -> Replayed:  # fmt: skip
    """Play some games again and note every position of which the supervisor was asked."""
    longest = max(shard.moves.shape[1] for shard in shards)
    chosen = np.concatenate([pad(shard.chosen, longest) for shard in shards])
    values = np.concatenate([pad(shard.values, longest) for shard in shards])
    kind, rng = settings.network.observation, np.random.default_rng(sample.seed)
    picked = np.sort(rng.permutation(len(moves))[: max(1, min(MOST_REPLAYED, sample.positions))])
    rows: list[tuple[Any, ...]] = []
    results, illegal = [], 0
    for number in picked.tolist():
        position = game.start()
        first = position.mover
        for ply, action in enumerate(moves[number]):
            wanted = int(chosen[number, ply])
            legal = position.legal()
            if action not in legal or (wanted >= 0 and wanted not in legal):
                illegal += 1
                break
            if wanted >= 0:
                rows.append((position.observe(kind).reshape(-1), legal, wanted, values[number, ply], number))
            position.play(action)
        else:
            results.append(position.payoff(first))
    return Replayed(lesson_of(game, kind, rows), np.array([row[4] for row in rows], int), results, illegal)


def pad(array: np.ndarray, length: int) -> np.ndarray:
    """Give every game the same room."""
    return np.pad(array, ((0, 0), (0, length - array.shape[1])), constant_values=-1)


def lesson_of(game: Game, kind: str, rows: list[tuple[Any, ...]]) -> Lesson:
    """Put positions together; the policy that is taught is the supervisor's move."""
    count = len(rows)
    legal, policy = np.zeros((count, game.actions), bool), np.zeros((count, game.actions), np.float32)
    for n, (_, moves, wanted, _, _) in enumerate(rows):
        legal[n, moves], policy[n, wanted] = True, 1.0
    inputs = int(np.prod(game.observations[kind]))
    seen = np.stack([row[0] for row in rows]) if rows else np.zeros((0, inputs), np.float32)
    return Lesson(seen, policy, legal, np.array([row[3] for row in rows], np.float32))


def replayed_checks(replayed: Replayed, values: np.ndarray) -> list[Finding]:
    """Check the positions and ends of games that were played again."""
    results = np.array(replayed.results)
    looked = f"{len(results)} games that were played again"
    found = []
    if len(results) >= games.FEWEST_GAMES:
        found += [games.draws(float((results == 0).mean()), looked)]
        found += games.first_mover(float((results > 0).sum()), float((results < 0).sum()), looked)
    if len(replayed.lesson.values):
        seen = f"{len(replayed.lesson.values)} positions of {looked}"
        found.append(targets.masks(replayed.lesson.legal.sum(1), seen))
        found += targets.duplicates(targets.hashed_rows(replayed.lesson.observations), seen)
        found += targets.label_scale(values, (0.05, 1.0), "", f"{len(values):,} opinions")
    return found
