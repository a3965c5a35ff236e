"""The trial of the Texas 42 study: decisions by which all players are judged, with exact Q in two sets of worlds.

Decisions are those of hands that nobody has learned from. Solving their worlds takes far longer than anything that is
done with them, and no network is needed for it, so a trial is made once, kept in FOLDER/trial.npz, and taken along; one
that is not complete goes on. The file has the hands, not the records made of them:

    hands, declaration, leader, bid, history    [D, ...] as in the shards of decisions
    plays                                       [D] how many tiles are played before the decision
    chosen_by, scored_by                        [K, 7] float32, mean of Q over the first and the second set of worlds,
                                                mover's side; K decisions are done so far
    better                                      [K, 7] bool, whether a slot is as good as the best of the second set
    settings                                    [3] how many decisions were asked for, worlds of a set, seed
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rookery.errors import BadInput
from rookery.games.rng import random_bits
from rookery.learn.spread import Say
from rookery.search.expected import Exact
from rookery.search.texas42_batch import legal_slots
from rookery.search.texas42_replay import first_bad_hand, replayed
from rookery.search.worlds import sample_worlds
from rookery.studies.texas42_files import OF_HAND, Rows, data_sets, joined, part_of
from rookery.writing import write_whole

TRIAL = "trial.npz"
TRICKS = 7
TIES = 2.0
"""standard errors within which a choice counts as good as the best"""
AT_ONCE = 64
"""decisions whose worlds are solved at a time"""
FOUND = ("chosen_by", "scored_by", "better")

Settings = tuple[int, int, int]


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

    @property
    def deals(self) -> np.ndarray:
        """[D] the number of each decision's deal, from 0; those of one deal are alike"""
        return np.asarray(np.unique(self.states["hands"], axis=0, return_inverse=True)[1]).reshape(-1)


# ---- decisions -----------------------------------------------------------------------------------


def drawn_decisions(study: Path, names: tuple[str, ...], count: int, seed: int = 0) -> Rows:
    """Draw decisions with a choice from hands whose deals nobody learns from, evenly over tricks as far as they go."""
    found = []
    for data in data_sets(study, "decisions", names):
        if data.planned()["settings"].get("part") == "train":
            continue
        for rows in data.read():
            unseen = part_of(rows["seed"]) > 0
            if unseen.any():
                found.append(free_decisions({name: rows[name][unseen] for name in OF_HAND}))
    if not found:
        raise BadInput(f"no hands in {study / 'data'} are of deals that validate or test: make some with --part valid")
    drawn = joined(found)
    order = np.random.default_rng(int(random_bits(seed, 7, 0)) >> 1).permutation(len(drawn["plays"]))
    per_trick = -(-count // (TRICKS - 1))  # the last trick leaves no choice
    kept = [order[drawn["plays"][order] >> 2 == trick][:per_trick] for trick in range(TRICKS)]
    return {name: array[np.concatenate(kept)] for name, array in drawn.items()}


def free_decisions(hands: Rows) -> Rows:
    """Return the decisions of hands in which the mover has a choice: each with its hand, and the plays before it."""
    states = replayed(*(hands[name] for name in OF_HAND))
    free = legal_slots(states.reshape(-1)).sum(1).reshape(states.shape) > 1
    number, plays = np.nonzero(free)
    return {name: hands[name][number] for name in OF_HAND} | {"plays": plays}


def states_at(drawn: Rows) -> np.ndarray:
    """Return the positions of drawn decisions, [D]."""
    states = replayed(*(drawn[name] for name in OF_HAND))
    return np.asarray(states[np.arange(len(states)), drawn["plays"]])


# ---- worlds --------------------------------------------------------------------------------------


def make_trial(
    drawn: Rows, worlds: int, seed: int = 0, threads: int = 1, say: Say = lambda done, total, note: None,
    file: Path | None = None, ended: Callable[[], bool] = lambda: False, asked: int = 0,
) -> Trial | None:  # fmt: skip
    """Find exact Q of decisions in two sets of worlds; None if `ended`, which is asked now and then, said so.

    With a file everything is kept there, with how many decisions were asked for, and what is there already is not
    done again.
    """
    states, seeds = states_at(drawn), trial_seeds(len(drawn["plays"]), seed)
    oracle, legal = Exact(threads), legal_slots(states)
    settings = (asked, worlds, seed)
    found = kept_so_far(file, drawn, settings)
    while len(found["better"]) < len(states):
        first = len(found["better"])
        say(first, len(states), "")
        if first and ended():
            return None
        some = slice(first, first + AT_ONCE)
        sets = [
            oracle(sample_worlds(states[some], worlds, seeds[some, which], threads)).reshape(-1, worlds, 7)
            for which in range(2)
        ]
        part = (*(q.mean(1).astype(np.float32) for q in sets), as_good(sets[1], legal[some]))
        found = {name: np.concatenate([found[name], new]) for name, new in zip(FOUND, part, strict=True)}
        if file is not None:
            write_trial(file, drawn, found, settings)
    say(len(states), len(states), "")
    return Trial(states, legal, seeds, found["chosen_by"], found["scored_by"], found["better"], worlds)


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


# ---- the file ------------------------------------------------------------------------------------


def write_trial(file: Path, drawn: Rows, found: Rows, settings: Settings) -> None:
    """Write a trial as far as it is done."""
    content = io.BytesIO()
    np.savez_compressed(content, allow_pickle=False, settings=np.array(settings), **drawn, **found)
    write_whole(file, content.getvalue())


def read_trial(file: Path) -> tuple[Rows, Rows, Settings] | None:
    """Read the decisions of a trial, what is found of them so far, and its settings; None if there is no file."""
    try:
        with np.load(io.BytesIO(file.read_bytes()), allow_pickle=False) as content:
            drawn = {name: content[name] for name in (*OF_HAND, "plays")}
            found = {name: content[name] for name in FOUND}
            asked, worlds, seed = content["settings"].tolist()
        bad = first_bad_hand(*(drawn[name] for name in OF_HAND))
        if bad >= 0 or any(array.shape != (len(found["better"]), 7) for array in found.values()):
            raise ValueError(f"hand {bad} is not one that the rules allow" if bad >= 0 else "its arrays do not fit")
    except FileNotFoundError:
        return None
    except Exception as error:  # damaged archives raise errors of a dozen kinds
        raise BadInput(f"{file} is no trial: {str(error) or type(error).__name__}; remove it to make it anew") from None
    return drawn, found, (asked, worlds, seed)


def refuse_another_trial(file: Path, settings: Settings, drawn: Rows | None = None) -> None:
    """Refuse a file in which there is a trial with other settings, or, where decisions are given, of others."""
    there = read_trial(file)
    if there is None:
        return
    if there[2] != settings:
        shown = ("{:,} decisions in 2 x {:,} worlds, seed {}".format(*each) for each in (there[2], settings))
        raise BadInput("{} is another trial: it was asked for {}, not {}; remove it to make that".format(file, *shown))
    if drawn is not None and any(not np.array_equal(there[0][name], drawn[name]) for name in drawn):
        raise BadInput(f"{file} is of decisions from other sets of hands; name those by --data, or remove it")


def kept_so_far(file: Path | None, drawn: Rows, settings: Settings) -> Rows:
    """Return what a file has of a trial; nothing if it is not there."""
    there = read_trial(file) if file is not None else None
    if there is None or there[2] != settings or any(not np.array_equal(there[0][name], drawn[name]) for name in drawn):
        empty = np.zeros((0, 7), np.float32)
        return {"chosen_by": empty, "scored_by": empty, "better": empty.astype(np.bool_)}
    return there[1]
