"""Checks of networks: their weights, and what they answer at positions.

A file is first read without being made a network, so that numbers that are none are found and not only refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rookery.arena.networks import OTHER_PLAYERS
from rookery.checks import answers
from rookery.checks.finding import Finding, Sample, Verdict, if_above, if_outside, percent, unless
from rookery.checks.positions import Judge, Positions, sampled_positions, shares_of
from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.library import load

if TYPE_CHECKING:
    from torch import Tensor

    from rookery.nets.files import Loaded

LARGE_WEIGHT, HUGE_WEIGHT = 100.0, 1e4
OFF, FAR_OFF = 4.0, 20.0
"""how far inputs of a batch norm lie from the means it keeps, in its own standard deviations"""
POINTS_SPREAD = (2.0, 30.0)
"""standard deviation of points that a network of Texas 42 tells"""
HITS = 0.4
"""share of leaves that a search asks about again"""
SEARCHED = 48
"""leaves of that search"""
LC0_ENDINGS = (".pb", ".pb.gz")


# ---- weights -------------------------------------------------------------------------------------


def raw_weights(path: Path) -> Mapping[str, Any]:
    """Read the weights of a file of ours by name, whatever numbers they are."""
    from rookery.nets.files import read_pth, read_safetensors

    content = read_safetensors(path) if path.suffix == ".safetensors" else read_pth(path)
    weights = content.get("model_state_dict", content)
    return weights if isinstance(weights, Mapping) else {}


def weights_numbers(weights: Mapping[str, Any]) -> Finding:
    """Check that all weights are numbers."""
    import torch

    tensors = {name: each for name, each in weights.items() if isinstance(each, torch.Tensor)}
    bad = {name: int((~torch.isfinite(each)).sum()) for name, each in tensors.items() if each.is_floating_point()}
    where = [name for name, count in bad.items() if count]
    total, number = sum(each.numel() for each in tensors.values()), sum(bad.values())
    told = f"{number} are none, in {', '.join(where[:3])}" if where else "0 are none"
    return Finding("weights-numbers", unless(not where), float(number), told, "none", f"{total:,} weights")


def weights_size(weights: Mapping[str, Tensor]) -> Finding:
    """Check that no weight has grown out of bounds; what a norm keeps of its inputs does not count."""
    sizes = {
        name: float(each.abs().max()) for name, each in weights.items()
        if each.is_floating_point() and each.numel() and "running_" not in name
    }  # fmt: skip
    name = max(sizes, key=lambda each: sizes[each])
    verdict = if_above(sizes[name], LARGE_WEIGHT, HUGE_WEIGHT)
    told = f"the largest is {sizes[name]:.4g}, in {name}"
    return Finding("weights-size", verdict, sizes[name], told, f"at most {LARGE_WEIGHT:g}", f"{len(sizes)} tensors")


def layers_alive(weights: Mapping[str, Tensor]) -> list[Finding]:
    """Check that no layer is nothing but one number."""
    layers = {
        name: each for name, each in weights.items() if each.is_floating_point() and each.ndim >= 2 and each.numel() > 1
    }
    if not layers:
        return []
    dead = [name for name, each in layers.items() if float(each.max() - each.min()) == 0]
    told = f"{len(dead)} hold a single number" + (f": {', '.join(dead[:3])}" if dead else "")
    verdict = unless(not dead, Verdict.WARNING if len(dead) < len(layers) / 2 else Verdict.WRONG)
    return [Finding("layers-alive", verdict, float(len(dead)), told, "none", f"{len(layers)} layers")]


# ---- batch norm ----------------------------------------------------------------------------------


@contextmanager
def norm_inputs(network: Any) -> Iterator[dict[str, tuple[np.ndarray, np.ndarray]]]:
    """Note by the names of batch norms how far what goes in lies from what they keep: means and deviations."""
    from torch import nn

    found: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    hooks = []

    def noting(name: str) -> Any:
        def note(module: Any, inputs: Any) -> None:
            rows = inputs[0].detach().float()
            flat = rows.transpose(0, 1).reshape(rows.shape[1], -1)
            kept = (module.running_var + module.eps).sqrt()
            away = (flat.mean(1) - module.running_mean) / kept
            found[name] = away.abs().numpy(), (flat.std(1) / kept).numpy()

        return note

    for name, module in network.named_modules():
        if isinstance(module, nn.BatchNorm1d | nn.BatchNorm2d) and module.running_mean is not None:
            hooks.append(module.register_forward_pre_hook(noting(name)))
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()


def norm_statistics(network: Any, asked: Positions) -> list[Finding]:
    """Check that batch norms were shown positions, and such as these."""
    import torch
    from torch import nn

    norms = {name: each for name, each in network.named_modules() if isinstance(each, nn.BatchNorm1d | nn.BatchNorm2d)}
    if not norms:
        return []
    with norm_inputs(network) as found, torch.inference_mode():
        network(torch.from_numpy(asked.observations.astype(np.float32)))
    middle = {name: float(np.median(np.maximum(away, np.maximum(ratio, 1 / np.maximum(ratio, 1e-6)) - 1)))
              for name, (away, ratio) in found.items()}  # fmt: skip
    if not middle:
        return []
    name = max(middle, key=lambda each: middle[each])
    told = f"{middle[name]:.2f} deviations off in {name}"
    verdict = if_above(middle[name], OFF, FAR_OFF)
    looked = f"{len(middle)} batch norms, {len(asked)} positions"
    return [Finding("norm-statistics", verdict, middle[name], told, f"at most {OFF:g}", looked)]


# ---- one network ---------------------------------------------------------------------------------


def check_network(path: Path, sample: Sample, learns_rules: bool = False) -> list[Finding]:
    """Check the network of a file; `learns_rules` where it was taught which moves are legal."""
    if path.name.endswith(LC0_ENDINGS):
        return check_lc0(path, sample)
    if not path.is_file():
        raise BadInput(f"{path} is not there; a network is a file that ends in .pth, .pt, .safetensors or .pb.gz")
    sample.say(f"weights of {path.name}")
    try:
        numbers = weights_numbers(raw_weights(path))
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
    if numbers.verdict is not Verdict.OK:
        return [numbers]
    from rookery.nets.files import load_network

    loaded = load_network(path)
    weights = dict(loaded.network.state_dict())
    found = [numbers, weights_size(weights), *layers_alive(weights)]
    game = game_of(loaded)
    if game is None:
        return found
    return found + check_answers(loaded, game, sample, learns_rules)


def game_of(loaded: Loaded) -> Game | None:
    """Return the game a network was taught; None if nobody knows, or it is another one today."""
    about, config = loaded.about, loaded.config
    if not about.game or not about.observation:
        return None
    try:
        game = load(about.game)
    except BadInput:
        return None  # of a file that is not there
    fits = about.rules_version in (0, game.version) and config.actions == game.actions
    if not fits or about.observation not in game.observations:
        return None
    return game if config.inputs == int(np.prod(game.observations[about.observation])) else None


def check_answers(loaded: Loaded, game: Game, sample: Sample, learns_rules: bool = False) -> list[Finding]:
    """Check what a network answers."""
    from rookery.arena.evaluator import NetworkEvaluator

    kind, plain = loaded.about.observation, loaded.config.kind not in OTHER_PLAYERS
    judge: Judge = NetworkEvaluator(loaded.network, kind, device="cpu") if plain else judged_plainly(loaded.network)
    sample.say(f"games of {game.label}")
    asked = sampled_positions(game, kind, sample.positions, sample.seed, judge)
    sample.say(f"answers at {len(asked)} positions")
    logits, values = judge(asked.observations)
    found = judged_answers(logits, values, asked, f"{len(asked)} positions of {game.label}")
    if not (np.isfinite(logits).all() and np.isfinite(values).all()):
        return found
    found += [answers.dead_outputs(logits, f"{len(asked)} positions"), *norm_statistics(loaded.network, asked)]
    found += answers.symmetry(judge, asked, logits, values, sample.seed)
    if not plain:
        return found + points_scale(loaded.network, asked)
    found += answers.value_sign(values, asked)
    if learns_rules:
        found.append(answers.policy_legal(logits, asked.legal, f"{len(asked)} positions"))
    return found + cache_hits(loaded, game, sample)


def judged_plainly(network: Any) -> Judge:
    """Ask a network itself, of a kind that no tree search asks."""
    import torch

    def judge(observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with torch.inference_mode():
            logits, values = network(torch.from_numpy(observations.astype(np.float32)))
        return logits.float().numpy(), values.float().numpy()

    return judge


def judged_answers(logits: np.ndarray, values: np.ndarray, asked: Positions, looked: str) -> list[Finding]:
    """Check values and policies; of those that are no numbers nothing else is said."""
    found = [answers.policy_numbers(logits, looked), answers.value_range(values, looked)]
    if np.isfinite(values).all():
        found += [answers.value_variety(values, looked), answers.value_saturation(values, looked)]
    if np.isfinite(logits).all():
        found += answers.policy_entropy(shares_of(logits, asked.legal), asked.legal, looked)
    return found


def points_scale(network: Any, asked: Positions) -> list[Finding]:
    """Check that points of Texas 42 are points: within ± 42, and not all alike."""
    import torch

    if not network.config.in_points:
        return []
    shape = asked.game.observations[asked.kind]
    tokens = torch.from_numpy(asked.observations.astype(np.int64)).view(len(asked), *shape)
    with torch.inference_mode():
        points = network.points(tokens).float().numpy()[asked.legal[:, :7]]
    beyond, spread = float((np.abs(points) > 44).mean()), float(points.std())
    verdict = if_outside(spread, POINTS_SPREAD, (0.1, 60.0))
    verdict = verdict if beyond <= 0.01 else Verdict.WRONG
    told = f"they spread by {spread:.1f} points, {percent(beyond)} beyond ± 44"
    expected = f"{POINTS_SPREAD[0]:g} to {POINTS_SPREAD[1]:g} points, hardly any beyond"
    return [Finding("points-scale", verdict, spread, told, expected, f"{len(points)} legal slots")]


def cache_hits(loaded: Loaded, game: Game, sample: Sample) -> list[Finding]:
    """Measure how often a search asks about what it has asked before."""
    from rookery.arena.evaluator import NetworkEvaluator
    from rookery.search.tree_settings import TreeSettings
    from rookery.search.trees import Trees

    if game.information != "perfect":
        return []
    sample.say(f"a search of {game.label}")
    evaluator = NetworkEvaluator(loaded.network, loaded.about.observation, device="cpu", cache=4 * SEARCHED)
    trees = Trees(game, TreeSettings(simulations=SEARCHED))
    trees.begin([game.start(sample.seed)])
    trees.run(evaluator)
    memory = evaluator.memory
    if memory is None or not memory.asked:
        return []
    share = memory.found / memory.asked
    told = f"{percent(share)} of {memory.asked} leaves were known"
    verdict = if_above(share, HITS)
    return [Finding("cache-hits", verdict, share, told, f"at most {percent(HITS)}", "a search of the first position")]


# ---- Lc0 -----------------------------------------------------------------------------------------


def check_lc0(path: Path, sample: Sample) -> list[Finding]:
    """Check a network of Lc0's."""
    from rookery.lc0 import load as load_lc0

    sample.say(f"weights of {path.name}")
    network = load_lc0(path)
    weights = dict(network.network.state_dict())
    numbers = weights_numbers(weights)
    if numbers.verdict is not Verdict.OK:
        return [numbers]
    found = [numbers, weights_size(weights), *layers_alive(weights)]
    game = network.game
    kind = next(iter(game.observations))
    sample.say("games of chess")
    asked = sampled_positions(game, kind, min(sample.positions, 256), sample.seed)
    sample.say(f"answers at {len(asked)} positions")
    judged = network.judge(np.concatenate([each.states for each in asked.states]), unsound=True)
    logits = np.full(asked.legal.shape, -1e9, np.float32)
    for row, actions, told, count in zip(logits, judged.actions, judged.logits, judged.counts, strict=True):
        row[actions[:count]] = told[:count]
    return found + judged_answers(logits, judged.q, asked, f"{len(asked)} positions of chess")
