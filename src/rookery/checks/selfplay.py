"""Checks of runs of self-play: settings, losses, games, gate, ratings, the replay, and the newest network."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rookery.checks import curves, games, targets
from rookery.checks.finding import Finding, Sample, Verdict, about, if_above, if_below, percent, unless
from rookery.checks.fit import Lesson, check_fit
from rookery.checks.networks import check_network
from rookery.checks.positions import sampled_positions
from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.learn.manifest import rated_checkpoints
from rookery.learn.replay import Replay
from rookery.learn.runs import STATE, Run, being_trained
from rookery.learn.sections import GateSettings, SelfplaySettings
from rookery.learn.settings import RunSettings
from rookery.learn.snapshots import Snapshot, load_snapshot

ATTEMPTS = 3
FEW_SIMULATIONS, TOO_FEW = 50, 10
FEW_WITH_GUMBEL = 16
REUSED, WORN_OUT = 16.0, 64.0
"""how often a position is learned from"""
FEW_GAMES_KEPT = 100
"""games whose positions the replay holds"""
STALE, LONG_RUN = 0.8, 1000
"""share of all positions of a run that its replay holds, and games from which on that matters"""
LUCK = 0.05
"""chance that an equal network passes a gate"""
CHALLENGES = 5
"""after which a gate should have done both"""
BEATEN = 0.95
"""score against a fixed opponent from which nothing is left to learn"""
HARDER = 1.3
"""how far the value loss of self-play may rise: early games are drawn, and a draw is easy to tell"""
NEWEST = 0.25
"""share of the reports, or of the games kept, that tell how a run plays now"""


def check_run(folder: Path, sample: Sample) -> list[Finding]:
    """Check a run of self-play."""
    run = Run.open(folder)
    sample.say(f"settings and logs of {folder.name}")
    lines, kept = run.losses.read(), run.games.read()
    metrics = [line for line in run.metrics.read() if curves.is_number(line.get("step"))]
    recent = newest_reports(metrics)
    found = [*settings_checks(run.settings, run.game, recent, sample)]
    found += learning_began(run.settings, metrics, len(lines))
    found += curves.loss_numbers(lines, ("value_loss", "policy_loss"))
    for name, stuck in (("value_loss", HARDER), ("policy_loss", curves.STUCK)):
        found += curves.loss_course(name, curves.column(lines, name), steady=False, stuck=stuck)
    found += how_games_end(recent, bool(run.settings.selfplay.opponent))
    found += how_games_differ(run.game, run.settings.selfplay, kept)
    found += gate_checks(run.settings.gate, run.manifest.get("gate", []))
    found += curves.rating_course(rated_checkpoints(folder))
    return found + replay_and_network(run, sample)


# ---- settings ------------------------------------------------------------------------------------


def settings_checks(
    settings: RunSettings, game: Game, recent: Mapping[str, float], sample: Sample
) -> list[Finding]:  # fmt: skip
    """Check what can be told from the settings and the length of games."""
    kind = settings.network.observation
    choices = float(np.median(sampled_positions(game, kind, 64, sample.seed).legal.sum(1)))
    training = settings.training
    found = [simulations(settings.selfplay, choices), exploration(settings.selfplay)]
    found += urgency(settings.selfplay, game)
    found += curves.learning_rate(training.learning_rate, training.least_learning_rate, bool(settings.start))
    if plies := recent.get("selfplay/plies", 0.0):
        found += replay_checks(settings, plies)
    return found


def simulations(play: SelfplaySettings, choices: float) -> Finding:
    """Check that the search looks at enough leaves to know better than the network."""
    least = FEW_WITH_GUMBEL if play.gumbel else max(FEW_SIMULATIONS, math.ceil(choices))
    verdict = if_below(play.simulations, least, min(TOO_FEW, least))
    told = f"{play.simulations} a move, {choices:.0f} legal moves"
    expected = f"at least {least}" + (" with Gumbel search" if play.gumbel else f" ({FEW_SIMULATIONS}, or all moves)")
    return Finding("simulations", verdict, float(play.simulations), told, expected, "the settings, random positions")


def exploration(play: SelfplaySettings) -> Finding:
    """Check that games are made different by something: noise at the root, drawn moves, random plies."""
    noise = play.noise > 0 or play.gumbel > 0
    drawn = (play.temperature > 0 and play.temperature_plies > 0) or play.random_plies > 0
    told = (
        f"noise {play.noise:g}, Gumbel {play.gumbel}, {play.temperature_plies} plies at temperature "
        f"{play.temperature:g}, {play.random_plies} random"
    )
    verdict = Verdict.OK if noise and drawn else Verdict.WARNING if noise or drawn else Verdict.WRONG
    expected = "noise or Gumbel search at the root, and some plies that are drawn"
    return Finding("exploration", verdict, float(noise) + float(drawn), told, expected, "the settings")


def urgency(play: SelfplaySettings, game: Game) -> list[Finding]:
    """Check that a search in Gomoku goes on looking for a block when all that it has seen loses."""
    if game.name != "gomoku":
        return []
    reduced = play.reduction if play.urgency in ("reduced", "lc0") else 0.0
    told, expected = f"{play.urgency}, less {reduced:g}", "no reduction: `urgency: parent`"
    return [Finding("urgency", if_above(reduced, 0.05), reduced, told, expected, "the settings")]


def replay_checks(settings: RunSettings, plies: float) -> list[Finding]:
    """Check how often a position is learned from, and how old the oldest ones are."""
    training, play = settings.training, settings.selfplay
    taught = max(plies - play.random_plies, 1.0) * play.full_share
    reuse = training.batch * training.steps_per_game / taught
    kept, all_of_them = training.replay / max(plies, 1.0), play.games
    told = f"{kept:,.0f} games of {plies:.0f} plies, of {all_of_them:,}"
    verdict = if_below(kept, min(FEW_GAMES_KEPT, all_of_them / 10))
    if all_of_them >= LONG_RUN and kept > STALE * all_of_them:
        verdict = Verdict.WARNING
    expected = f"{FEW_GAMES_KEPT} games or more, and not those of the whole run"
    return [
        Finding(
            "replay-reuse", if_above(reuse, REUSED, WORN_OUT), reuse, f"{reuse:.1f} times each",
            f"at most {REUSED:g} times", f"the settings, games of {plies:.0f} plies",
        ),
        Finding("replay-window", verdict, kept, told, expected, "the settings, games of late"),
    ]  # fmt: skip


def learning_began(settings: RunSettings, metrics: Sequence[Mapping[str, Any]], calls: int) -> list[Finding]:
    """Check that steps are made once enough positions are there."""
    played = max((int(line.get("step", 0)) for line in metrics), default=0)
    plies = newest_reports(metrics).get("selfplay/plies", 0.0)
    needed = max(settings.training.fresh, settings.training.batch)
    if played * plies * settings.selfplay.full_share < 2 * needed:
        return []
    told = f"{calls} training calls after {played:,} games"
    return [Finding("learning-began", unless(calls > 0), float(calls), told, "some", "the log of losses")]


# ---- games ---------------------------------------------------------------------------------------


def newest_reports(metrics: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the means of what the newest reports tell of games, weighted by how many each tells of."""
    lines = [line for line in metrics if curves.is_number(line.get("selfplay/plies"))]
    steps = np.diff([0.0, *(float(line["step"]) for line in lines)])
    first = min(len(lines) - 1, int(len(lines) * (1 - NEWEST))) if lines else 0
    names = {name for line in lines[first:] for name in line if name.startswith("selfplay/")}
    weights = np.maximum(steps[first:], 1e-9)
    return {
        name: float(np.average([numeric(line.get(name)) for line in lines[first:]], weights=weights)) for name in names
    }


def numeric(value: Any) -> float:
    """Return a figure; 0 where it is none."""
    return float(value) if curves.is_number(value) else 0.0


def how_games_end(recent: Mapping[str, float], opposed: bool) -> list[Finding]:
    """Check draws, games that were called off, and who wins."""
    if not recent:
        return []
    looked = f"self-play, the newest {percent(NEWEST)} of the reports"
    called_off = recent.get("selfplay/ply limit", 0.0) + recent.get("selfplay/repetition", 0.0)
    found = [games.draws(recent.get("selfplay/draws", 0.0), looked), games.cut_off(called_off, looked)]
    if "selfplay/against_opponent" in recent:
        score = recent["selfplay/against_opponent"]
        expected = f"at most {percent(BEATEN)}"
        found.append(Finding("fixed-opponent", if_above(score, BEATEN), score, percent(score), expected, looked))
    if not opposed:
        wins, losses = recent.get("selfplay/first_wins", 0.0), recent.get("selfplay/second_wins", 0.0)
        found += games.first_mover(wins, losses, looked)
    return found


def how_games_differ(game: Game, play: SelfplaySettings, kept: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """Check that games which were kept move by move begin differently, and are not the same."""
    whole = [each for each in kept if is_game(each, game)]
    newest = whole[-max(games.FEWEST_GAMES, math.ceil(len(whole) * NEWEST)) :]
    actions = [list(each["actions"]) for each in newest]
    looked = f"{len(actions)} of {len(kept)} games that were kept"
    openings = games.openings_of(game, actions, play.random_plies)
    return [*games.opening_variety(openings, looked), *games.distinct_games([tuple(each) for each in actions], looked)]


def is_game(line: Mapping[str, Any], game: Game) -> bool:
    """Tell whether a line holds a game."""
    actions = line.get("actions")
    return isinstance(actions, list) and all(type(each) is int and 0 <= each < game.actions for each in actions)


# ---- gate ----------------------------------------------------------------------------------------


def luck_of(share: float, count: int) -> float:
    """Return the chance that an equal player reaches a share of the points in so many games without draws."""
    needed = math.ceil(share * count - 1e-9)
    if count > 1000:
        return 0.5 * math.erfc((needed - 0.5 - count / 2) / math.sqrt(count / 2))
    return float(sum(math.comb(count, wins) for wins in range(needed, count + 1)) / 2**count)


def gate_checks(gate: GateSettings, noted: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """Check that a gate lets some networks pass and not all, and seldom one that is no better."""
    found = []
    if gate.kind == "share":
        luck = luck_of(gate.share, gate.games)
        told = f"an equal network passes in {percent(luck)} of the matches"
        looked = f"{percent(gate.share)} of {gate.games} games"
        found.append(Finding("gate-luck", if_above(luck, LUCK), luck, told, f"at most {percent(LUCK)}", looked))
    if gate.kind != "none" and len(noted) >= CHALLENGES:
        taken = sum(bool(each.get("taken")) for each in noted)
        share = taken / len(noted)
        told, expected = f"{taken} of {len(noted)} were taken", "some, but not all"
        verdict = unless(0 < taken < len(noted), Verdict.WARNING)
        found.append(Finding("gate-takes", verdict, share, told, expected, "challenges"))
    return found


# ---- replay and network --------------------------------------------------------------------------


def newest_snapshot(run: Run) -> Snapshot | None:
    """Load the newest snapshot; while a run is trained one may be replaced by the next as it is read."""
    for _ in range(ATTEMPTS):
        try:
            return load_snapshot(run.folder / STATE)
        except BadInput:
            if not being_trained(run.folder):
                raise
    return load_snapshot(run.folder / STATE)


def saved_replay(run: Run) -> Replay | None:
    """Return the replay of the newest snapshot; None if there is none."""
    snapshot = newest_snapshot(run)
    parts = {name.removeprefix("replay/"): array for name, array in (snapshot.arrays if snapshot else {}).items()
             if name.startswith("replay/")}  # fmt: skip
    if "written" not in parts:
        return None
    filled = min(int(parts["written"]), run.settings.training.replay)
    if not filled:
        return None
    replay = Replay(run.game, run.settings.network.observation, filled)
    try:
        replay.load(parts)
    except (KeyError, TypeError, ValueError, RuntimeError, zlib.error) as error:
        raise BadInput(f"the replay in {run.folder / STATE} does not belong to the run's settings: {error}") from None
    return replay


def replay_and_network(run: Run, sample: Sample) -> list[Finding]:
    """Check what lies in the replay, the newest network, and both against each other."""
    sample.say(f"replay of {run.folder.name}")
    replay = saved_replay(run)
    found = about("replay", replay_targets(replay)) if replay is not None else []
    if not run.checkpoints:
        return found
    newest = run.folder / run.checkpoints[-1]["file"]
    checked = check_network(newest, sample, learns_rules=not run.settings.training.mask_policy)
    found += about(newest.name, checked)
    if replay is not None and len(checked) > 1:
        lesson = taught_rows(replay, run.settings.training.root_value_share, sample)
        found += about(newest.name, check_fit(newest, lesson, sample, "rows of the replay"))
    return found


def taught_rows(replay: Replay, root_share: float, sample: Sample) -> Lesson:
    """Draw some rows of a replay that are taught."""
    import torch

    from rookery.learn.losses import value_target

    taught = replay.taught_rows().numpy()
    chosen = torch.from_numpy(np.sort(np.random.default_rng(sample.seed).permutation(taught)[: sample.positions]))
    batch = replay.batch(chosen, torch.zeros_like(chosen))
    values = value_target(batch, root_share)
    return Lesson(batch.observations.numpy(), batch.policy.numpy(), batch.legal.numpy(), values.numpy())


def replay_targets(replay: Replay) -> list[Finding]:
    """Check the rows of a replay."""
    count = replay.filled
    rows = type(replay.rows)(*(column[:count].numpy() for column in replay.rows))
    taught = rows.taught > 0
    looked = f"{count:,} rows of the replay"
    found = [targets.masks(rows.counts[taught], looked), targets.target_range(rows.outcomes, f"outcomes of {looked}")]
    found.append(targets.target_range(rows.values, f"values of {looked}"))
    weights, counts = rows.weights[taught], rows.counts[taught]
    found += [targets.policy_targets(weights, counts, looked), *targets.target_entropy(weights, counts, looked)]
    found += targets.signs_agree(rows.values[taught], rows.outcomes[taught], f"values and outcomes of {looked}")
    return found + targets.duplicates(targets.hashed_rows(rows.observations), looked)
