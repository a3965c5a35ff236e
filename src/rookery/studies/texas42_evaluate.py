"""How good the networks of the Texas 42 study are, by exact values.

Of the decisions of a trial (`texas42_trial`) exact Q is known in two independent sets of worlds. Whoever is judged
chooses by what a player can know; a reference chooses by the mean over the first set. Both are scored on the second
set, so that nobody is judged by the worlds it chose by:

    regret      the reference's mean on the second set less the judged one's, in points; its own may be negative
    agreement   whether the choice is the best on the second set, or not worse by more than two standard errors of the
                difference over its worlds; the reference's own share is the ceiling

Only decisions with a choice are counted. Numbers come with intervals over deals, since decisions of a deal are alike,
and for each trick.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rookery.arena.texas42_networks import HandsOracle, TranscriptJudge
from rookery.learn.spread import Say
from rookery.nets.files import load_network
from rookery.nets.texas42 import Hands, Transcript
from rookery.search.expected import Exact
from rookery.search.texas42_batch import legal_slots
from rookery.search.texas42_replay import replayed
from rookery.search.worlds import sample_worlds
from rookery.studies.texas42_apart import runs_apart
from rookery.studies.texas42_estimates import grouped, grouped_share, share_of
from rookery.studies.texas42_files import OF_HAND, POINT, Rows
from rookery.studies.texas42_plan import completed
from rookery.studies.texas42_trial import TRICKS, Trial

ALIKE = (
    "stage", "steps", "batch", "data", "rows", "seed", "learning_rate", "warmup", "weight_decay", "gradient_norm",
    "advantage", "muon", "precision",
)  # fmt: skip
"""settings in which peers agree"""

Answers = np.ndarray
"""[D, 7], larger is better; anything where not legal"""


# ---- judging -------------------------------------------------------------------------------------


def choices_of(answers: Answers, legal: np.ndarray) -> np.ndarray:
    """Return the legal slot with the largest answer, [D]."""
    return np.asarray(np.where(legal, answers, -np.inf).argmax(1))


def judged(trial: Trial, choices: np.ndarray) -> dict[str, Any]:
    """Compare choices [D] with the reference's, all and by trick."""
    reference = choices_of(trial.chosen_by, trial.legal)
    rows = np.arange(len(choices))
    regret = trial.scored_by[rows, reference] - trial.scored_by[rows, choices]
    columns = regret, trial.better[rows, choices], trial.better[rows, reference], trial.deals
    return {
        **compared(*columns),
        "by_trick": [
            compared(*(column[some] for column in columns)) if some.any() else None
            for some in (trial.trick == trick for trick in range(TRICKS))
        ],
    }


def compared(regret: np.ndarray, agrees: np.ndarray, ceiling: np.ndarray, deals: np.ndarray) -> dict[str, Any]:
    """Return means with their intervals; `share` is the agreement as a share of the ceiling, decision by decision."""
    return {
        "decisions": len(regret),
        "deals": len(np.unique(deals)),
        "regret": grouped(regret, deals).facts(),
        "agreement": grouped_share(agrees, deals).facts(),
        "ceiling": float(ceiling.mean()),
        "reached": grouped_share(ceiling, deals).facts(),
        "of_ceiling": float(agrees.mean() / max(ceiling.mean(), 1e-9)),
        "share": share_of(agrees, ceiling, deals).facts(),
    }


def random_choices(trial: Trial) -> np.ndarray:
    """Choose any legal slot."""
    rng = np.random.default_rng(1)
    return choices_of(rng.random(trial.legal.shape), trial.legal)


def sampled_choices(trial: Trial, worlds: int, oracle: Any, threads: int = 1) -> np.ndarray:
    """Choose by the mean over a few worlds of the first set, by some oracle; so many threads draw them."""
    drawn = sample_worlds(trial.states, worlds, trial.seeds[:, 0], threads)
    return choices_of(np.asarray(oracle(drawn)).reshape(-1, worlds, 7).mean(1), trial.legal)


def network_choices(trial: Trial, path: Path, device: str = "auto", threads: int = 1) -> np.ndarray:
    """Choose by a network: a Stage 1 in all worlds of the first set, or a Stage 2."""
    network = load_network(path).network
    if isinstance(network, Transcript):
        return choices_of(TranscriptJudge(network, device)(trial.states).mean.numpy(), trial.legal)
    assert isinstance(network, Hands)
    return sampled_choices(trial, trial.worlds, HandsOracle(network, device, threads=threads), threads)


def complete_runs(study: Path) -> dict[str, Path]:
    """Return the networks of runs that are complete, by the names of the runs."""
    return {path.parent.name: path for path in sorted((study / "runs").glob("*/network.safetensors"))}


def settings_of_runs(study: Path) -> dict[str, dict[str, Any]]:
    """Return the settings of all runs that have been begun, by name."""
    return {
        path.parent.name: completed(json.loads(path.read_bytes()))
        for path in sorted((study / "runs").glob("*/settings.json"))
    }


def network_players(study: Path, worlds: int) -> dict[str, str]:
    """Return who plays by the networks that are there: the run by the player's name."""
    networks = complete_runs(study)
    return {
        player_name(run, facts, worlds): run for run, facts in settings_of_runs(study).items() if run in networks
    }  # fmt: skip


def player_name(run: str, facts: Mapping[str, Any], worlds: int) -> str:
    """Name who plays by the network of a run."""
    return run if facts["stage"] == 2 else stage1_name(run, facts["network"]["answers"], worlds)


def all_choices(
    study: Path, trial: Trial, few: tuple[int, ...] = (1, 10, 100), device: str = "auto", threads: int = 1,
    say: Say = lambda done, total, note: None, known: Mapping[str, np.ndarray] | None = None,
) -> dict[str, np.ndarray]:  # fmt: skip
    """Let everybody choose there is: chance, E[Q] of few worlds, Stage 1 as an oracle in both modes, Stage 2.

    Whoever's choices are known is not asked again, and need not be there.
    """
    exact, networks = Exact(threads), complete_runs(study)
    makers: dict[str, Callable[[], np.ndarray]] = {
        "random": partial(random_choices, trial),
        exact_name(trial.worlds): partial(choices_of, trial.chosen_by, trial.legal),
    }
    makers |= {
        exact_name(worlds): partial(sampled_choices, trial, worlds, exact, threads)
        for worlds in few
        if worlds < trial.worlds
    }
    for name, run in network_players(study, trial.worlds).items():
        makers[name] = partial(network_choices, trial, networks[run], device, threads)
    found, before = {}, known or {}
    for number, (name, make) in enumerate(makers.items()):
        say(number, len(makers), name)
        found[name] = before[name] if name in before else make()
    return found | {name: before[name] for name in before if name not in found}


def exact_name(worlds: int) -> str:
    """Name the player by exact E[Q]."""
    return f"exact E[Q], {worlds} worlds"


def stage1_name(run: str, answers: str, worlds: int) -> str:
    """Name the player by a Stage 1 in many worlds."""
    return f"{'E[logits]' if answers == 'policy' else 'E[Q]'} of {run}, {worlds} worlds"


def evaluate_trial(trial: Trial, choices: dict[str, np.ndarray]) -> dict[str, Any]:
    """Judge everybody who has chosen."""
    return {name: judged(trial, chosen) for name, chosen in choices.items()}


def peers(study: Path, worlds: int) -> list[tuple[str, str]]:
    """Pair who answers with logits, or was taught them, with who does the same with Q, all else alike."""
    known: dict[str, tuple[str, Any]] = {}
    for name, facts in settings_of_runs(study).items():
        network = dict(facts["network"])
        answers = network.pop("answers")
        same = {key: facts.get(key) for key in ALIKE}
        known[player_name(name, facts, worlds)] = answers, (network, same)
    return [
        (logits, plain)
        for logits, (answers, like) in known.items() if answers in ("policy", "logits")
        for plain, (other, also) in known.items() if other == "q" and also == like
    ]  # fmt: skip


def paired(trial: Trial, first: np.ndarray, second: np.ndarray) -> dict[str, Any]:
    """Compare two choosers decision by decision.

    behind       points that the first loses against the second
    agrees_more  how much more often its choice is as good as the best
    same         how often they choose alike
    """
    rows = np.arange(len(first))
    behind = trial.scored_by[rows, second] - trial.scored_by[rows, first]
    agrees = trial.better[rows, first] * 1.0 - trial.better[rows, second]
    return {
        "decisions": len(first), "deals": len(np.unique(trial.deals)),
        "behind": grouped(behind, trial.deals).facts(), "agrees_more": grouped(agrees, trial.deals).facts(),
        "same": grouped_share(first == second, trial.deals).facts(),
    }  # fmt: skip


def apart(study: Path, trial: Trial, choices: Mapping[str, np.ndarray]) -> list[dict[str, Any]]:
    """Compare runs of Stage 2 that differ in one thing, of those that have chosen."""
    judged = {name: facts for name, facts in settings_of_runs(study).items() if name in choices}
    return [
        pair._asdict() | {"values": list(pair.values), **paired(trial, choices[pair.first], choices[pair.second])}
        for pair in runs_apart(judged)
    ]


def is_stage2(study: Path, name: str) -> bool:
    """Tell whether a run is one of Stage 2."""
    return load_network(study / "runs" / name / "network.safetensors").config.kind == "transcript"


# ---- the seed's claim ----------------------------------------------------------------------------


def logits_against_q(rows: Rows) -> dict[str, Any] | None:
    """Compare choices by mean logits with those by mean Q, over the same worlds of the same decisions.

    regret  what the choice by logits loses by the mean of Q, by which that by Q loses nothing; None without logits
    """
    states = replayed(*(rows[name] for name in OF_HAND)).reshape(-1)
    legal = legal_slots(states)
    mean, logits = (rows[name].reshape(-1, 7).astype(np.float64) for name in ("mean", "logits"))
    if not np.abs(logits).max() > 0:
        return None
    free = legal.sum(1) > 1
    mean, logits, legal, trick = mean[free] / POINT, logits[free], legal[free], (states["plays"][free] >> 2)
    deals = np.repeat(rows["seed"], len(free) // len(rows["seed"]))[free]
    first, second, every = choices_of(mean, legal), choices_of(logits, legal), np.arange(free.sum())
    regret = mean[every, first] - mean[every, second]
    same = (first == second) | (regret < 1e-9)
    return {
        "decisions": int(free.sum()),
        "deals": len(np.unique(deals)),
        "same_choice": grouped_share(same, deals).facts(),
        "regret": grouped(regret, deals).facts(),
        "by_trick": [
            {"same_choice": float(same[trick == t].mean()), "regret": float(regret[trick == t].mean())}
            if (trick == t).any() else None for t in range(TRICKS)
        ],
        "largest_logit": float(np.abs(logits[legal]).max()),
    }  # fmt: skip
