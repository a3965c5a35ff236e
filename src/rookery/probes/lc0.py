"""What each layer of a network of Lc0's shows of a concept of chess, by ridge probes, with controls.

    positions = make_positions(ProbeSettings(positions=2000))
    for row in probed(network, CONCEPTS["passed-pawn"], positions, settings): ...

Positions come from games of alpha-beta with random moves among them, made here by a seed; a few are drawn of each game,
and a game is never both taught and asked. Of a layer, [N, 64, C], a concept of the board is read from the mean of its
squares, one of a square from that square. A number is judged by R2. What is true or not is judged by the share of right
answers, that among the true ones and that among the others counted alike: 0.5 is chance, however rare the truth is.

Beside every score stand two controls: the same layer of an untrained network of the same shape, and the same layer
with the targets shuffled. The first layer of all are the planes themselves, before the network.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor

from rookery.arena.evaluator import steady
from rookery.errors import BadInput
from rookery.games.chess_lc0_input import PLANES, fill_planes, pairs_of
from rookery.games.game import Game
from rookery.games.options import whole_number
from rookery.lc0.positions import chess_game
from rookery.learn.lessons import Lessons, make_lessons
from rookery.learn.sections import LessonSettings
from rookery.nets.lc0.bodies import AttentionBody
from rookery.nets.lc0.hooks import run_with_cache
from rookery.nets.lc0.network import Lc0Network
from rookery.nets.lc0.schema import Input
from rookery.nets.lc0.stored import fresh_network
from rookery.nets.lc0.trained import CLOCK, CLOCK_PART
from rookery.probes.chess_concepts import BOARD, Concept, Found
from rookery.probes.ridge import FOLDS, RidgeProbe, fit_ridge, r2, read_by_fold

INPUT = "planes"
"""what is called the layer before the network"""
FILL = 0
"""boards before the first known position, as in play"""
BATCH = 64
FEW = 200
"""positions at least, so that there are some of every kind in each fold"""


@dataclass(frozen=True)
class ProbeSettings:
    """How a network is probed."""

    positions: int = 2000
    per_game: int = 16
    """positions drawn of each game"""
    supervisor: str = "alphabeta:depth=1"
    """who plays the games"""
    explore: int = 20
    """percent of moves drawn at random"""
    seed: int = 1
    device: str = "cpu"

    def __post_init__(self) -> None:
        whole_number("positions", self.positions, FEW, 1_000_000)
        whole_number("per_game", self.per_game, 1, 1000)


@dataclass(frozen=True)
class Positions:
    """States of chess, and the games they come from."""

    states: np.ndarray
    """[N]"""
    games: np.ndarray
    """[N]"""


@dataclass(frozen=True)
class Score:
    """What was read from a layer."""

    value: float
    """R2 of a number, balanced accuracy of a truth"""
    error: float
    """its standard error, over the folds"""


@dataclass(frozen=True)
class LayerScores:
    """What a layer shows of a concept, and the controls."""

    layer: str
    width: int
    score: Score
    untrained: Score | None
    """of the same layer before anything was learned; None of the planes, which are before the network"""
    shuffled: Score
    """with targets that say nothing"""


# ---- positions -----------------------------------------------------------------------------------


def make_positions(settings: ProbeSettings, say: Callable[[int], None] = lambda positions: None) -> Positions:
    """Let games be played until there are enough positions; `say` is told how many there are."""
    game: Game = chess_game()
    how = LessonSettings(supervisor=settings.supervisor, explore=settings.explore)
    states: list[np.ndarray] = []
    games: list[int] = []
    number = 0
    while len(states) < settings.positions:
        lessons = make_lessons(game, how, settings.seed, number, 1)
        drawn = drawn_states(game, lessons, settings, number)
        states += drawn
        games += [number] * len(drawn)
        number += 1
        say(min(len(states), settings.positions))
    return Positions(np.concatenate(states[: settings.positions]), np.array(games[: settings.positions]))


def drawn_states(game: Game, lessons: Lessons, settings: ProbeSettings, number: int) -> list[np.ndarray]:
    """Draw positions of a game, those behind its opening and before its end."""
    asked = np.flatnonzero(lessons.chosen[0] >= 0)
    random = np.random.default_rng([settings.seed & (2**63 - 1), number])
    wanted = set(random.permutation(asked)[: settings.per_game].tolist())
    position, found = game.start(), []
    for ply, action in enumerate(lessons.moves[0][: asked[-1] + 1] if len(asked) else ()):
        if ply in wanted:
            found.append(position.states.copy())
        position.play(int(action))
    return found


def boards_of(masks: np.ndarray) -> np.ndarray:
    """Return the men of the present boards, [N, 12, 8, 8] bool, from the masks [N, 112] that a network reads."""
    bits = masks[:, :12, None] >> np.arange(64, dtype=np.uint64) & np.uint64(1)
    found: np.ndarray = bits.astype(bool).reshape(-1, 12, 8, 8)
    return found


# ---- layers --------------------------------------------------------------------------------------


def stream_names(network: Lc0Network) -> list[str]:
    """List the layers that are read: the embedding, and the stream behind each layer or block."""
    known = network.activation_names()
    return [name for name in known if name == "embedded" or re.fullmatch(r"layers\.[0-9]+\.out", name)]


def squares_first(x: Tensor) -> Tensor:
    """Return an activation as [N, 64, C], also one of a tower."""
    return x if x.dim() == 3 else x.flatten(2).transpose(1, 2)


def read_at(x: Tensor, rows: Tensor, squares: Tensor) -> Tensor:
    """Return what a layer [N, 64, C] or [N, C, 8, 8] shows at squares [K] of boards [K]: [K, C]."""
    x = squares_first(x)
    found = x[rows, squares.clamp_min(0)]
    return torch.where((squares == BOARD)[:, None], x.mean(1)[rows], found)


@torch.no_grad()
def untrained(network: Lc0Network, seed: int) -> Lc0Network:
    """Make a network of the same shape that has learned nothing.

    The plane that counts plies in whole numbers would drown all others, so its weights begin as small as training makes
    them.
    """
    found = fresh_network(network.config, seed)
    body = found.body
    weights = body.ip_emb_w if isinstance(body, AttentionBody) else body.input.weights
    if network.config.input < Input.CANONICAL_HECTOPLIES:
        weights[:, CLOCK] /= CLOCK_PART
    return found


@torch.inference_mode()
def activations(
    network: Lc0Network, masks: np.ndarray, values: np.ndarray, found: Found, device: str
) -> dict[str, Tensor]:
    """Return what each layer shows where a concept is asked, [K, C] on the CPU; the first are the planes."""
    network, names = network.to(device).eval(), stream_names(network)
    parts: dict[str, list[Tensor]] = {name: [] for name in (INPUT, *names)}
    planes = np.empty((BATCH, PLANES, 64), np.float32)
    for first in range(0, len(masks), BATCH):
        count = min(BATCH, len(masks) - first)
        fill_planes(masks[first : first + count], values[first : first + count], planes[:count])
        here = (found.rows >= first) & (found.rows < first + count)
        rows = torch.from_numpy(found.rows[here] - first).to(device)
        squares = torch.from_numpy(found.squares[here]).to(device)
        seen = torch.from_numpy(planes[:count].copy()).to(device).view(-1, PLANES, 8, 8)
        cache = run_with_cache(network, seen, names, partial(read_at, rows=rows, squares=squares))[1]
        parts[INPUT].append(read_at(seen, rows, squares).cpu())
        for name in names:
            parts[name].append(cache[name].float().cpu())
    read = {name: torch.cat(some) for name, some in parts.items()}
    for name, layer in read.items():
        if not layer.isfinite().all():
            raise BadInput(
                f"layer {name!r} of the network shows numbers that are not finite, of which nothing can be read: "
                "its weights are broken (`rookery check` looks inside)"
            )
    return read


# ---- scores --------------------------------------------------------------------------------------


def judged(answers: Tensor, targets: Tensor, truth: bool) -> float:
    """Judge answers [K] by targets [K]: R2, or the share of right answers with both truths counted alike."""
    if not truth:
        return float(r2(answers[:, None], targets[:, None])[0])
    yes = targets > 0.5
    if yes.all() or not yes.any():
        return float("nan")
    right = (answers > 0) == yes
    return float((right[yes].double().mean() + right[~yes].double().mean()) / 2)


def between(probe: RidgeProbe, inputs: Tensor, targets: Tensor) -> Tensor:
    """Return the number in the middle between a probe's mean answer where something is true and where it is not."""
    answers, yes = probe.read(inputs)[:, 0], targets > 0.5
    return (answers[yes].mean() + answers[~yes].mean()) / 2


def score_of(inputs: Tensor, targets: Tensor, groups: np.ndarray, truth: bool) -> Score:
    """Score a probe for targets [K] from inputs [K, C], by cross-validation over groups [K]."""
    fitted = fit_ridge(inputs, targets[:, None], groups)
    fold, answers = fitted.fold, read_by_fold(fitted.held_out, inputs, fitted.fold)[:, 0]
    if truth:
        taught = [fold != k for k in range(FOLDS)]
        middles = [between(fitted.held_out[k], inputs[taught[k]], targets[taught[k]]) for k in range(FOLDS)]
        answers = answers - torch.stack(middles)[fold]
    folds = [judged(answers[fold == k], targets[fold == k], truth) for k in range(FOLDS)]
    known = [value for value in folds if not np.isnan(value)]
    error = float(np.std(known, ddof=1) / np.sqrt(len(known))) if len(known) > 1 else float("nan")
    return Score(judged(answers, targets, truth), error)


def probed(
    network: Lc0Network, concept: Concept, positions: Positions, settings: ProbeSettings
) -> tuple[list[LayerScores], Found]:
    """Score what each layer of a network shows of a concept, and the controls; return what was asked, too."""
    random = np.random.default_rng(settings.seed & (2**63 - 1))
    masks, values, _ = pairs_of(positions.states, int(network.config.input), FILL)
    found = concept.find(boards_of(masks), random)
    check_targets(concept, found)
    targets, groups = torch.from_numpy(found.targets), positions.games[found.rows]
    shuffled = targets[torch.from_numpy(random.permutation(len(targets)))]
    fresh = untrained(network, settings.seed)
    with steady(torch.device(settings.device)):
        mine, theirs = (activations(each, masks, values, found, settings.device) for each in (network, fresh))
        rows = [layer_scores(layer, mine[layer], theirs, targets, shuffled, groups, concept.truth) for layer in mine]
    return rows, found


def layer_scores(
    layer: str, inputs: Tensor, untaught: dict[str, Tensor], targets: Tensor, shuffled: Tensor, groups: np.ndarray,
    truth: bool,
) -> LayerScores:  # fmt: skip
    """Score what a layer shows, and its controls."""
    other = None if layer == INPUT else score_of(untaught[layer], targets, groups, truth)
    mine, nothing = (score_of(inputs, each, groups, truth) for each in (targets, shuffled))
    return LayerScores(layer, inputs.shape[1], mine, other, nothing)


def check_targets(concept: Concept, found: Found) -> None:
    """Refuse positions in which there is nothing to be told apart."""
    if len(found.targets) < FOLDS or np.ptp(found.targets) == 0:
        raise BadInput(
            f"concept {concept.name}: all {len(found.targets)} samples are alike; give more positions or another seed"
        )


def named_concepts(names: Sequence[str], known: dict[str, Concept]) -> list[Concept]:
    """Return concepts by name, all of them if none is named."""
    for name in names:
        if name not in known:
            raise BadInput(f"there is no concept {name!r}; there are {', '.join(known)}")
    return [known[name] for name in names] or list(known.values())
