"""How good the networks of the Texas 42 study are, by exact values.

Decisions are those of hands that nobody has learned from. For each, two independent sets of worlds are drawn, and exact
Q is found in every world. Whoever is judged chooses by what a player can know; a reference chooses by the mean over the
first set. Both are scored on the second set, so that nobody is judged by the worlds it chose by:

    regret      the reference's mean on the second set less the judged one's, in points; its own may be negative
    agreement   whether the choice is the best on the second set, or not worse by more than two standard errors of the
                difference over its worlds; the reference's own share is the ceiling

Only decisions with a choice are counted. Numbers come with intervals over decisions, and for each trick.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rookery.arena.texas42_networks import HandsOracle, TranscriptJudge, load_stage
from rookery.errors import BadInput
from rookery.games.rng import random_bits
from rookery.nets.texas42 import Hands, Transcript
from rookery.search.expected import Exact
from rookery.search.texas42_batch import legal_slots
from rookery.search.texas42_replay import replayed
from rookery.search.worlds import sample_worlds
from rookery.studies.intervals import mean_estimate
from rookery.studies.texas42_files import OF_HAND, POINT, Rows, count_of, data_sets, part_of

TRICKS = 7
TIES = 2.0
"""standard errors within which a choice counts as good as the best"""
AT_ONCE = 64
"""decisions whose worlds are solved at a time"""

Say = Callable[[int, int, str], None]
Answers = np.ndarray
"""[D, 7], larger is better; anything where not legal"""


@dataclass(frozen=True)
class Trial:
    """Decisions with a choice, and what exact search says of them in two sets of worlds."""

    states: np.ndarray
    """[D] records; hidden hands stand in them, and nobody who is judged may read them"""
    legal: np.ndarray
    """[D, 7]"""
    seeds: np.ndarray
    """[D, 2] of both sets of worlds"""
    chosen_by: np.ndarray
    """[D, 7] mean of Q over the first set, mover's side"""
    scored_by: np.ndarray
    """[D, 7] over the second"""
    better: np.ndarray
    """[D, 7] whether a slot is as good as the best of the second set, within two standard errors"""
    worlds: int

    @property
    def trick(self) -> np.ndarray:
        """[D] 0..6"""
        return np.asarray(self.states["plays"] >> 2)


# ---- decisions -----------------------------------------------------------------------------------


def drawn_decisions(study: Path, names: tuple[str, ...], count: int, seed: int = 0) -> np.ndarray:
    """Draw decisions with a choice from hands whose deals nobody learns from, evenly over tricks as far as they go."""
    found = []
    for data in data_sets(study, "decisions", names):
        for rows in data.read():
            unseen = part_of(rows["seed"]) > 0
            if unseen.any():
                found.append(free_decisions({name: array[unseen] for name, array in rows.items()}))
    if not found:
        raise BadInput(f"no hands in {study / 'data'} are of deals that validate or test: make some with --part valid")
    states = np.concatenate(found)
    rng = np.random.default_rng(int(random_bits(seed, 7, 0)) >> 1)
    states = states[rng.permutation(len(states))]
    per_trick = -(-count // (TRICKS - 1))  # the last trick leaves no choice
    kept = [np.flatnonzero(states["plays"] >> 2 == trick)[:per_trick] for trick in range(TRICKS)]
    return np.asarray(states[np.concatenate(kept)])


def free_decisions(rows: Rows) -> np.ndarray:
    """Return the positions of hands in which the mover has a choice."""
    assert count_of(rows)
    states = replayed(*(rows[name] for name in OF_HAND)).reshape(-1)
    return np.asarray(states[legal_slots(states).sum(1) > 1])


def make_trial(
    states: np.ndarray, worlds: int, seed: int = 0, threads: int = 1, say: Say = lambda done, total, note: None
) -> Trial:
    """Find exact Q of decisions in two sets of worlds."""
    oracle, seeds = Exact(threads), trial_seeds(len(states), seed)
    legal, parts = legal_slots(states), []
    for first in range(0, len(states), AT_ONCE):
        say(first, len(states), "")
        some = slice(first, first + AT_ONCE)
        sets = [
            oracle(sample_worlds(states[some], worlds, seeds[some, which], threads)).reshape(-1, worlds, 7)
            for which in range(2)
        ]
        means = [q.mean(1) for q in sets]
        parts.append((*means, as_good(sets[1], legal[some])))
    say(len(states), len(states), "")
    chosen_by, scored_by, better = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Trial(states, legal, seeds, chosen_by, scored_by, better, worlds)


def trial_seeds(count: int, seed: int) -> np.ndarray:
    """Return seeds of both sets of worlds of each decision."""
    rng = np.random.default_rng(int(random_bits(seed, 8, 0)) >> 1)
    return rng.integers(1 << 62, size=(count, 2))


def as_good(q: np.ndarray, legal: np.ndarray) -> np.ndarray:
    """Tell which slots [D, 7] are the best over worlds, q [D, W, 7], or not surely worse."""
    means = np.where(legal, q.mean(1), -np.inf)
    best = means.argmax(1)
    behind = np.take_along_axis(q, best[:, None, None], 2) - q
    error = behind.std(1) / np.sqrt(q.shape[1])
    return np.asarray(legal & (behind.mean(1) <= TIES * error + 1e-9))


# ---- judging -------------------------------------------------------------------------------------


def choices_of(answers: Answers, legal: np.ndarray) -> np.ndarray:
    """Return the legal slot with the largest answer, [D]."""
    return np.asarray(np.where(legal, answers, -np.inf).argmax(1))


def judged(trial: Trial, choices: np.ndarray) -> dict[str, Any]:
    """Compare choices [D] with the reference's, all and by trick."""
    reference = choices_of(trial.chosen_by, trial.legal)
    rows = np.arange(len(choices))
    regret = trial.scored_by[rows, reference] - trial.scored_by[rows, choices]
    agrees, ceiling = trial.better[rows, choices], trial.better[rows, reference]
    return {
        **compared(regret, agrees, ceiling),
        "by_trick": [
            compared(regret[some], agrees[some], ceiling[some]) if some.any() else None
            for some in (trial.trick == trick for trick in range(TRICKS))
        ],
    }


def compared(regret: np.ndarray, agrees: np.ndarray, ceiling: np.ndarray) -> dict[str, Any]:
    """Return means with their intervals."""
    return {
        "decisions": len(regret),
        "regret": mean_estimate(regret.tolist()).facts(),
        "agreement": mean_estimate(agrees.astype(float).tolist()).facts(),
        "ceiling": float(ceiling.mean()),
        "of_ceiling": float(agrees.mean() / max(ceiling.mean(), 1e-9)),
    }


def random_choices(trial: Trial, seed: int = 1) -> np.ndarray:
    """Choose any legal slot."""
    rng = np.random.default_rng(seed)
    return choices_of(rng.random(trial.legal.shape), trial.legal)


def sampled_choices(trial: Trial, worlds: int, oracle: Any) -> np.ndarray:
    """Choose by the mean over a few worlds of the first set, by some oracle."""
    drawn = sample_worlds(trial.states, worlds, trial.seeds[:, 0])
    return choices_of(np.asarray(oracle(drawn)).reshape(-1, worlds, 7).mean(1), trial.legal)


def stage2_choices(trial: Trial, path: Path, device: str = "auto") -> np.ndarray:
    """Choose by a Stage 2."""
    network = load_stage(str(path), Transcript).network
    assert isinstance(network, Transcript)
    return choices_of(TranscriptJudge(network, device)(trial.states).mean.numpy(), trial.legal)


def complete_runs(study: Path) -> dict[str, Path]:
    """Return the networks of runs that are complete, by the names of the runs."""
    return {path.parent.name: path for path in sorted((study / "runs").glob("*/network.safetensors"))}


def evaluate_trial(
    study: Path, trial: Trial, few: tuple[int, ...] = (1, 10, 100), device: str = "auto", threads: int = 1,
    say: Say = lambda done, total, note: None,
) -> dict[str, Any]:  # fmt: skip
    """Judge everybody there is: chance, E[Q] of few worlds, Stage 1 as an oracle in both modes, Stage 2."""
    found = {"random": judged(trial, random_choices(trial))}
    reference = choices_of(trial.chosen_by, trial.legal)
    found[f"exact E[Q], {trial.worlds} worlds"] = judged(trial, reference)
    exact = Exact(threads)
    for worlds in (worlds for worlds in few if worlds < trial.worlds):
        found[f"exact E[Q], {worlds} worlds"] = judged(trial, sampled_choices(trial, worlds, exact))
    networks = complete_runs(study)
    for number, (name, path) in enumerate(networks.items()):
        say(number, len(networks), name)
        if is_stage2(study, name):
            found[name] = judged(trial, stage2_choices(trial, path, device))
        else:
            network = load_stage(str(path), Hands).network
            assert isinstance(network, Hands)
            mode = "E[Q]" if network.config.answers == "q" else "E[logits]"
            asked = HandsOracle(network, device, threads=threads)
            found[f"{mode} of {name}, {trial.worlds} worlds"] = judged(
                trial, sampled_choices(trial, trial.worlds, asked)
            )
    return found


def is_stage2(study: Path, name: str) -> bool:
    """Tell whether a run is one of Stage 2."""
    from rookery.nets.files import load_network

    return load_network(study / "runs" / name / "network.safetensors").config.kind == "transcript"


# ---- the seed's claim ----------------------------------------------------------------------------


def logits_against_q(rows: Rows) -> dict[str, Any] | None:
    """Compare choices by mean logits with those by mean Q, over the same worlds of the same decisions.

    regret  what the choice by logits loses, by the mean of Q that the same network's peer says; None without logits
    """
    states = replayed(*(rows[name] for name in OF_HAND)).reshape(-1)
    legal = legal_slots(states)
    mean, logits = (rows[name].reshape(-1, 7).astype(np.float64) for name in ("mean", "logits"))
    if not np.abs(logits).max() > 0:
        return None
    free = legal.sum(1) > 1
    mean, logits, legal, trick = mean[free] / POINT, logits[free], legal[free], (states["plays"][free] >> 2)
    first, second, every = choices_of(mean, legal), choices_of(logits, legal), np.arange(free.sum())
    regret = mean[every, first] - mean[every, second]
    same = (first == second) | (regret < 1e-9)
    return {
        "decisions": int(free.sum()),
        "same_choice": mean_estimate(same.astype(float).tolist()).facts(),
        "regret": mean_estimate(regret.tolist()).facts(),
        "by_trick": [
            {"same_choice": float(same[trick == t].mean()), "regret": float(regret[trick == t].mean())}
            if (trick == t).any() else None for t in range(TRICKS)
        ],
        "largest_logit": float(np.abs(logits[legal]).max()),
    }  # fmt: skip
