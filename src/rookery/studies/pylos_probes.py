"""What each block of a Pylos network sees: linear probes for the concepts of the rules, layer by layer.

All networks are probed on the same positions: each plays as many games against itself, with the noise and temperature
of self-play, and positions are drawn from all of them, none twice. A probe is taught and asked in different games. Its
score is the mean AUC of a concept's truths. Beside it stands the score on the same layer of an untrained network of the
same shape: random layers, too, make some things easier to read.

The seed says which blocks would see what. A concept counts as seen from the first layer whose score has made nine
tenths of the way from the observation's to the best layer's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rookery.errors import BadInput
from rookery.games.library import load
from rookery.games.options import whole_number
from rookery.games.position import Position
from rookery.games.pylos import Pylos
from rookery.learn.continued import Continued, Ended, beginning
from rookery.learn.spread import Say
from rookery.nets.network import Network
from rookery.nets.residual import build
from rookery.probes.layers import activations
from rookery.probes.linear import Scores, cross_validated, folds_of
from rookery.studies.pylos_concepts import Concept, concepts
from rookery.studies.pylos_networks import Student, changed, student

GAME = "pylos:removal=greedy"
"""in which V3 to V5 were taught; a network taught official take-backs plays it, too"""
WAY = 0.9  # of the way to the best score at which a concept counts as seen
PLAIN = 0.02  # a best score nearer than this to another one is no better
LEAST = 0.75  # what has a best score below is not seen clearly
ERRORS = 2.776  # standard errors in half of a 95 % interval, by Student's distribution for five folds
UNTOLD = ("too few positions to tell", "open")


@dataclass(frozen=True)
class Prediction:
    """What the seed's table says of two blocks."""

    first: int
    last: int
    concept: str
    said: str


PREDICTIONS = (
    Prediction(1, 2, "neighbours", "piece positions, adjacency"),
    Prediction(3, 4, "partial square", "partial squares"),
    Prediction(3, 4, "support", "support chains"),
    Prediction(5, 6, "own near-square", "near-complete formations"),
    Prediction(5, 6, "other near-square", "near-complete formations"),
    Prediction(5, 6, "take-back in one", "near-complete formations"),
    Prediction(5, 6, "freedom", "piece mobility"),
    Prediction(7, 8, "take-back in two", "multi-step removal opportunities"),
    Prediction(9, 10, "block", "strategic position evaluation: blocking"),
    Prediction(9, 10, "winner", "strategic position evaluation"),
)
"""the concept is ours, the words are the seed's"""
BEYOND = ("take-back in two", "block", "winner")
"""concepts for which, the seed says, V4's six blocks are too few"""


@dataclass(frozen=True)
class ProbeSettings:
    """How networks are probed."""

    positions: int = 8000
    """at most, of all games together"""
    games: int = 480
    """of self-play, shared among the networks"""
    simulations: int = 16
    """of a move in them"""
    at_once: int = 128
    """games side by side"""
    folds: int = 5
    """of the cross-validation; intervals in words are made for five"""
    seed: int = 1
    device: str = "auto"
    """of the network that plays"""
    threads: int = 0
    """of a CPU for the network; 0: as many as are fastest"""

    def __post_init__(self) -> None:
        """Refuse what cannot be measured with."""
        for name in ("positions", "games", "simulations", "at_once"):
            whole_number(f"{name} of probes", getattr(self, name), 1, 1 << 24)
        whole_number("threads of probes", self.threads, 0, 1024)
        whole_number("folds of probes", self.folds, 2, 1000)


# ---- positions -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Positions:
    """N positions, no two alike."""

    game: Pylos
    states: np.ndarray
    """[N]"""
    groups: np.ndarray
    """[N] numbers of the games they come from"""
    outcomes: np.ndarray
    """[N] of these games, for the mover"""

    def observations(self, kind: str) -> np.ndarray:
        """Return what a network sees of them, [N, O]."""
        rows = [Position(self.game, self.states[n : n + 1]).observe(kind) for n in range(len(self.states))]
        return np.stack(rows)


def greedy_pylos() -> Pylos:
    """Return the game in which positions are made."""
    game = load(GAME)
    assert isinstance(game, Pylos)
    return game


def played_games(students: dict[str, Student], settings: ProbeSettings, say: Say) -> list[Ended]:
    """Let every network play its share of the games."""
    game, games = greedy_pylos(), []
    share = -(-settings.games // len(students))
    for number, (name, taught) in enumerate(students.items()):
        evaluator = taught.evaluator(settings.device, settings.threads, settings.at_once)
        selfplay = changed(taught.selfplay, settings.at_once, settings.simulations)
        continued = Continued(game, selfplay, taught.kind, settings.seed + number)

        def told(ended: int, before: int = number * share, name: str = name) -> None:
            say(before + ended, share * len(students), f"games of {name} for the probes")

        games += continued.play([beginning(game, [])] * share, evaluator, told)
    return games


def gathered(games: Sequence[Ended], count: int, seed: int) -> Positions:
    """Draw at most so many positions from games; one that occurs in several is taken from the first."""
    game, seen = greedy_pylos(), set()
    rows: list[tuple[np.ndarray, int, float]] = []
    for number, ended in enumerate(games):
        position = game.start()
        for action, outcome in zip(ended.actions, ended.outcomes, strict=True):
            if position.key not in seen:
                seen.add(position.key)
                rows.append((position.states.copy(), number, float(np.sign(outcome))))
            position.play(action)
    chosen = np.sort(np.random.default_rng(seed).permutation(len(rows))[:count])
    states, groups, outcomes = zip(*(rows[place] for place in chosen), strict=True)
    return Positions(game, np.concatenate(states), np.array(groups), np.array(outcomes))


# ---- scores --------------------------------------------------------------------------------------


def layer_scores(inputs: np.ndarray, known: Sequence[Concept], fold: np.ndarray) -> list[tuple[float, float]]:
    """Return the score of each concept read from one layer, [N, D], and its standard error."""
    everywhere = [concept for concept in known if concept.asked.all()]
    found = {concept.name: scored_alone(inputs, concept, fold) for concept in known if not concept.asked.all()}
    if everywhere:
        together = cross_validated(inputs, np.concatenate([concept.labels for concept in everywhere], axis=1), fold)
        found |= overall_each(together, everywhere)
    return [found[concept.name] for concept in known]


def scored_alone(inputs: np.ndarray, concept: Concept, fold: np.ndarray) -> tuple[float, float]:
    """Score a concept that is asked of some positions only."""
    asked = concept.asked
    if not asked.any():
        return math.nan, math.nan
    return cross_validated(inputs[asked], concept.labels[asked], fold[asked]).overall(slice(None))


def overall_each(together: Scores, known: Sequence[Concept]) -> dict[str, tuple[float, float]]:
    """Take the scores of several concepts apart, whose truths were judged together."""
    found, first = {}, 0
    for concept in known:
        last = first + concept.labels.shape[1]
        found[concept.name], first = together.overall(slice(first, last)), last
    return found


def table_of(network: Network, seen: np.ndarray, known: Sequence[Concept], fold: np.ndarray) -> dict[str, Any]:
    """Score all concepts in all layers of a network."""
    layers = activations(network, seen)
    pairs = [layer_scores(inputs, known, fold) for inputs in layers.values()]
    tables = [[[rounded(pair[which]) for pair in row] for row in pairs] for which in (0, 1)]
    return {"layers": list(layers), "concepts": [c.name for c in known], "scores": tables[0], "errors": tables[1]}


def rounded(figure: float) -> float | None:
    """Round a figure for a file; None if there is none."""
    return None if math.isnan(figure) else round(figure, 4)


# ---- the seed's table ----------------------------------------------------------------------------


def first_seen(scores: Sequence[float]) -> int:
    """Return the first layer whose score has made most of the way from the first layer's to the best."""
    wanted = scores[0] + WAY * (max(scores) - scores[0])
    return next(layer for layer, score in enumerate(scores) if score >= wanted)


@dataclass(frozen=True)
class Reading:
    """How well a concept is read from the layers of a network, [L] each."""

    layers: list[str]
    scores: list[float]
    errors: list[float]
    untrained: list[float]

    @property
    def best(self) -> int:
        """The layer with the best score."""
        return int(np.argmax(self.scores))

    def score_text(self, layer: int) -> str:
        """Write a score with its 95 % interval."""
        return f"{self.scores[layer]:.3f} ± {ERRORS * self.errors[layer]:.3f}"


def reading(found: dict[str, Any], concept: str) -> Reading | None:
    """Take what is known of one concept from the table of a network; None if it could not be judged."""
    place = found["concepts"].index(concept)
    columns = [[row[place] for row in found[table]] for table in ("scores", "errors", "untrained")]
    return None if any(None in column for column in columns) else Reading(found["layers"], *columns)


def judged(prediction: Prediction, read: Reading | None) -> tuple[str, str]:
    """Say in words where a concept is seen, and whether the seed was right: yes, no or open."""
    if read is None:
        return UNTOLD
    best, most = read.scores[read.best], read.score_text(read.best)
    if best < LEAST:
        return f"nowhere clearly: AUC at most {most} ({read.layers[read.best]})", "no"
    if best - read.scores[0] < PLAIN:
        return f"in the observation already: AUC {read.score_text(0)} there, at most {most}", "no"
    seen = first_seen(read.scores)
    where = f"from {read.layers[seen]} on: AUC {read.score_text(seen)} there, {read.scores[0]:.3f} in the observation"
    if best - max(read.untrained) < PLAIN:
        return f"{where}; but an untrained network shows it as well ({max(read.untrained):.3f})", "open"
    said = [f"block {number}" for number in range(prediction.first, prediction.last + 1)]
    return f"{where}, at most {most}", "yes" if read.layers[seen] in said else "no"


def deeper(shallow: Reading | None, deep: Reading | None) -> tuple[str, str]:
    """Judge the seed's word that V4 is too shallow for a concept: does V5's best layer show it better?"""
    if shallow is None or deep is None:
        return UNTOLD
    gain = deep.scores[deep.best] - shallow.scores[shallow.best]
    doubt = ERRORS * math.hypot(shallow.errors[shallow.best], deep.errors[deep.best])
    verdict = "no" if gain < PLAIN else "yes" if gain > doubt else "open"
    return f"AUC at most {shallow.score_text(shallow.best)} in V4, {deep.score_text(deep.best)} in V5", verdict


def predictions_of(networks: dict[str, Any]) -> list[dict[str, Any]]:
    """Hold the seed's table against the scores of every network that has the blocks it speaks of."""
    lines = []
    for name, found in networks.items():
        for prediction in PREDICTIONS:
            if f"block {prediction.last}" in found["layers"]:
                told = judged(prediction, reading(found, prediction.concept))
                blocks = f"{prediction.first}-{prediction.last}"
                lines.append(line_of(name, blocks, prediction.concept, prediction.said, told))
    if {"v4", "v5"} <= networks.keys():
        for concept in BEYOND:
            told = deeper(reading(networks["v4"], concept), reading(networks["v5"], concept))
            lines.append(line_of("v4 against v5", "7-10", concept, "too deep for V4's 6 blocks", told))
    return lines


def line_of(network: str, blocks: str, concept: str, said: str, told: tuple[str, str]) -> dict[str, Any]:
    """Lay out one prediction and what became of it."""
    facts = {"network": network, "blocks": blocks, "concept": concept, "said": said}
    return facts | {"measured": told[0], "verdict": told[1]}


# ---- measuring -----------------------------------------------------------------------------------


def measure(networks: dict[str, Path], settings: ProbeSettings, say: Say) -> dict[str, Any]:
    """Probe networks, by name and place of a file or run; the content of probes.json."""
    if not networks:
        raise BadInput("there are no networks to probe")
    students = {name: student(place) for name, place in networks.items()}
    drawn = gathered(played_games(students, settings, say), settings.positions, settings.seed)
    known = concepts(drawn.game, drawn.states, drawn.outcomes)
    fold, found = folds_of(drawn.groups, settings.folds, settings.seed), {}
    for number, (name, taught) in enumerate(students.items()):
        say(number, len(students), f"probes of {name}")
        seen, shape = drawn.observations(taught.kind), taught.loaded.config
        plain = table_of(build(shape, settings.seed).eval(), seen, known, fold)
        facts = {"untrained": plain["scores"], "positions": len(seen), "step": taught.loaded.about.step}
        found[name] = table_of(taught.loaded.network, seen, known, fold) | facts
    say(len(students), len(students), "probes")
    return {
        "networks": found,
        "predictions": predictions_of(found),
        "concepts": {concept.name: concept.facts() for concept in known},
        "settings": asdict(settings) | {"game": GAME, "games_drawn_from": len(np.unique(drawn.groups))},
    }
