"""Probes of the Domineering study: how well the sectors can be read from each layer of a transformer.

    probed = probe_set(Positions(table, "valid"))              # the same 20,000 positions for all networks
    frozen = freeze(network, probed)                           # at step 0; frozen.save(path), load_frozen(path)
    layers = probe_layers(network, probed, frozen, small)      # every 1,000 steps

Layers are counted from 0, and read behind each of them. What is read:

    cls    the board's token, which the value and sector heads read at the end
    mean   the mean of all tokens
    all    every square: a sector is read from the board's token and the mean of the 16 squares of that sector, with
           weights of its own. So what lies in the squares themselves is found, near where it is needed, without the
           33,000 numbers that all tokens have together, for which 20,000 positions would be too few.

Folds are whole games. One strength of the probe, chosen by cross-validation, is shared by the sectors of a layer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rookery.errors import BadInput
from rookery.games.domineering import SECTOR
from rookery.games.options import one_of, whole_number
from rookery.learn.files import write_whole
from rookery.nets.configs import TransformerConfig
from rookery.nets.residual import build
from rookery.nets.transformer import Tap, Transformer
from rookery.probes.ridge import FOLDS, RidgeProbe, RidgeScores, fit_ridge, r2, read_by_fold
from rookery.probes.similarity import cka
from rookery.search.domineering_guided import LONGEST
from rookery.studies.domineering_batches import SECTORS, SIDE, SQUARES, Positions

READS = ("cls", "mean", "all")
POSITIONS = 20_000
SHUFFLES = 20
PARTS = ("mean", "scale", "weights", "bias")
AT_ONCE = {"cpu": 256, "cuda": 2048}
"""positions that go through a network together"""


@dataclass(frozen=True)
class ProbeSet:
    """Positions that networks are asked about, always the same."""

    tokens: Tensor
    """[N, 257] uint8"""
    targets: Tensor
    """[N, 16] float32: the sectors"""
    groups: np.ndarray
    """[N] the game of each position"""

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, some: slice) -> ProbeSet:
        """Return some of the positions."""
        return ProbeSet(self.tokens[some], self.targets[some], self.groups[some])

    @property
    def folds(self) -> int:
        """Folds for cross-validation; fewer where there are few games."""
        return min(FOLDS, len(np.unique(self.groups)))


def probe_set(positions: Positions, count: int = POSITIONS, seed: int = 0) -> ProbeSet:
    """Draw positions as they are, without symmetries, none twice; all of them if there are not so many."""
    whole_number("positions of a probe", count, 1, 1 << 31)
    order = torch.randperm(len(positions), generator=torch.Generator().manual_seed(seed))
    numbers = order[:count].sort().values.to(positions.table.device)
    tokens, targets = [], []
    for some in torch.split(numbers, 4096):
        batch = positions.batch(some, torch.zeros_like(some))
        tokens.append(batch.tokens.to(torch.uint8))
        targets.append(batch.sectors)
    groups = (positions.places[numbers] // LONGEST).cpu().numpy()
    if len(np.unique(groups)) < 3:
        raise BadInput(f"probes need positions of 3 games or more, not of {len(np.unique(groups))}")
    return ProbeSet(torch.cat(tokens), torch.cat(targets), groups)


# ---- what is read --------------------------------------------------------------------------------


def of_board(x: Tensor) -> Tensor:
    """Return the board's token: [N, width] from [N, T, width]."""
    return x[:, -1].float()


def of_mean(x: Tensor) -> Tensor:
    """Return the mean of all tokens."""
    return x.float().mean(1)


def of_sectors(x: Tensor) -> Tensor:
    """Return for each sector the board's token and the mean of the sector's squares: [N, 16, 2 width]."""
    side = SIDE // SECTOR
    squares = x[:, :SQUARES].float().view(len(x), side, SECTOR, side, SECTOR, x.shape[-1])
    board = of_board(x)[:, None].expand(-1, SECTORS, -1)
    return torch.cat((board, squares.mean((2, 4)).flatten(1, 2)), 2)


KEEPS: dict[str, Callable[[Tensor], Tensor]] = {"cls": of_board, "mean": of_mean, "all": of_sectors}


Place = tuple[int, str]
"""a layer and what is read behind it"""


class Reader(Tap):
    """A tap that keeps what is read behind some layers."""

    def __init__(self, places: Sequence[Place]):
        self.kept: dict[Place, list[Tensor]] = {place: [] for place in places}
        self.reads: dict[str, list[Place]] = {}
        for place in places:
            self.reads.setdefault(f"layers.{place[0]}.out", []).append(place)

    def __call__(self, name: str, x: Tensor) -> Tensor:
        """Keep what is asked for."""
        for place in self.reads.get(name, ()):
            self.kept[place].append(KEEPS[place[1]](x))
        return x


@torch.no_grad()
def collected(network: Transformer, probed: ProbeSet, places: Sequence[Place]) -> list[Tensor]:
    """Return what is read behind some layers, each [N, ...] float32 on the network's device, by one pass for all.

    On a card products are rounded to bfloat16, as in training; the stream itself is not.
    """
    for layer, read in places:
        one_of("read", read, READS)
        whole_number("layer", layer, 0, network.config.layers - 1)
    device, reader = network.state_embed.weight.device, Reader(places)
    depth = 1 + max(layer for layer, _ in places)
    with torch.autocast("cuda", torch.bfloat16) if device.type == "cuda" else nullcontext():
        for tokens in torch.split(probed.tokens, AT_ONCE.get(device.type, AT_ONCE["cpu"])):
            network.stream(tokens.to(device).long(), depth, reader)
    return [torch.cat(reader.kept[place]) for place in places]


def layer_inputs(network: Transformer, probed: ProbeSet, read: str = "cls") -> Iterator[Tensor]:
    """Yield what is read behind each layer; of all tokens by one pass a layer, since they are many numbers."""
    places = [(layer, read) for layer in range(network.config.layers)]
    for some in [[place] for place in places] if read == "all" else [places] if places else []:
        yield from collected(network, probed, some)


# ---- probes --------------------------------------------------------------------------------------


def scores_of(inputs: Tensor, probed: ProbeSet, targets: Tensor | None = None) -> list[RidgeScores]:
    """Score the probes of a layer: one for all sectors, or one for each where each has inputs of its own."""
    wanted = (probed.targets if targets is None else targets).to(inputs.device)
    if inputs.ndim == 2:
        return [fit_ridge(inputs, wanted, probed.groups, folds=probed.folds, shared=True)]
    every = range(inputs.shape[1])
    return [fit_ridge(inputs[:, i], wanted[:, i : i + 1], probed.groups, folds=probed.folds) for i in every]


def layer_facts(layer: int, read: str, scores: Sequence[RidgeScores]) -> dict[str, Any]:
    """Return the line of a layer; the penalty is the median where sectors have each their own."""
    sectors = torch.cat([each.r2 for each in scores])
    penalty = float(torch.cat([each.penalties for each in scores]).median())
    return {
        "layer": layer, "read": read, "r2": number(float(sectors[~sectors.isnan()].mean())),
        "sectors": [number(value) for value in sectors.tolist()], "penalty": number(penalty),
        "frozen_r2": None, "cka_small": None,
    }  # fmt: skip


def number(value: float) -> float | None:
    """Return a number for JSON, with six digits; what is no number is None."""
    return float(f"{value:.6g}") if math.isfinite(value) else None


@dataclass(frozen=True)
class Frozen:
    """The probes of a network as it was: for each layer one for each fold, which has not seen that fold."""

    layers: list[list[RidgeProbe]]
    """read from the board's token"""

    def save(self, path: Path) -> None:
        """Write the probes to a file, whole."""
        from safetensors.torch import save

        tensors = {
            f"{layer}.{fold}.{part}": getattr(probe, part).cpu().contiguous()
            for layer, probes in enumerate(self.layers) for fold, probe in enumerate(probes) for part in PARTS
        }  # fmt: skip
        write_whole(path, save(tensors))

    def r2(self, layer: int, inputs: Tensor, scores: RidgeScores, targets: Tensor) -> float:
        """Return the R2 of the probes of a layer on the same positions, as the layer shows them now."""
        answers = read_by_fold(self.on(layer, inputs), inputs, scores.fold)
        found = r2(answers, targets.to(answers.device))
        return float(found[~found.isnan()].mean())

    def on(self, layer: int, inputs: Tensor) -> list[RidgeProbe]:
        """Return the probes of a layer where inputs are."""
        device = "cpu" if inputs.device.type == "mps" else inputs.device
        return [RidgeProbe(*(getattr(probe, part).to(device) for part in PARTS)) for probe in self.layers[layer]]


def load_frozen(path: Path) -> Frozen:
    """Read probes from a file."""
    from safetensors.torch import load

    try:
        tensors = load(path.read_bytes())
        layers = 1 + max(int(name.split(".")[0]) for name in tensors)
        folds = 1 + max(int(name.split(".")[1]) for name in tensors)
        places = [[f"{layer}.{fold}" for fold in range(folds)] for layer in range(layers)]
        return Frozen([[RidgeProbe(*(tensors[f"{at}.{part}"] for part in PARTS)) for at in row] for row in places])
    except FileNotFoundError:
        raise BadInput(f"{path}: there is no such file of probes") from None
    except Exception as error:  # damaged files raise errors of several kinds
        raise BadInput(f"{path} is no file of probes, or cut off: {error}") from None


def freeze(network: Transformer, probed: ProbeSet) -> Frozen:
    """Fit probes to each layer of a network as it is, to ask them again later."""
    return Frozen([scores_of(inputs, probed)[0].held_out for inputs in layer_inputs(network, probed)])


def probe_layers(
    network: Transformer, probed: ProbeSet, frozen: Frozen | None = None,
    small: Transformer | Sequence[Tensor] | None = None, reads: Sequence[str] = ("cls",),
) -> list[dict[str, Any]]:  # fmt: skip
    """Probe every layer of a network; return one line a layer and read, as in probes.jsonl.

    frozen  probes of the network at step 0, asked again where the board's token is read
    small   the network that was embedded, or what it shows behind its layers (`list(layer_inputs(small, probed))`, to
            save a pass every time): compared by CKA, layer by layer, as far as it goes, where the board's token is read
    """
    beside, lines = embedded_layers(small, probed), []
    for (layer, read), inputs in read_places(network, probed, reads):
        scores = scores_of(inputs, probed)
        line = layer_facts(layer, read, scores)
        if frozen is not None and read == "cls" and layer < len(frozen.layers):
            line["frozen_r2"] = number(frozen.r2(layer, inputs, scores[0], probed.targets))
        if read == "cls" and layer < len(beside):
            line["cka_small"] = number(cka(inputs, beside[layer].to(inputs.device)))
        lines.append(line)
    return lines


def read_places(network: Transformer, probed: ProbeSet, reads: Sequence[str]) -> Iterator[tuple[Place, Tensor]]:
    """Yield what is read behind all layers, read by read: by one pass, but of all tokens by one a layer."""
    together = [(layer, read) for read in reads if read != "all" for layer in range(network.config.layers)]
    found = dict(zip(together, collected(network, probed, together), strict=True)) if together else {}
    for read in reads:
        inputs = layer_inputs(network, probed, read) if read == "all" else iter(())
        for layer in range(network.config.layers):
            yield (layer, read), found.pop((layer, read)) if read != "all" else next(inputs)


def embedded_layers(small: Transformer | Sequence[Tensor] | None, probed: ProbeSet) -> Sequence[Tensor]:
    """Return what the board's token of a small network is behind each layer."""
    if small is None:
        return []
    return list(layer_inputs(small, probed)) if isinstance(small, Transformer) else small


# ---- what stays ----------------------------------------------------------------------------------


def kept_lines(first: Transformer, shown: Sequence[Tensor], probed: ProbeSet) -> list[dict[str, Any]]:
    """Say how well the sectors are found in the first layers of a network by the probes of what it was at step 0.

    first   the network as it was
    shown   [N, width] for each of these layers: the board's token behind it now

    Answers are correlated with the sectors: unlike R2, that does not ask whether a layer's numbers have grown or moved,
    only whether the old sums still go up and down with the sectors. A line has the correlations at step 0, of the old
    probe now, and of a fresh one now.
    """
    lines, places = [], [(layer, "cls") for layer in range(len(shown))]
    for layer, (before, now) in enumerate(zip(collected(first, probed, places), shown, strict=True)):
        old, fresh = scores_of(before, probed)[0], scores_of(now, probed)[0]
        answers = {"at_start": (old, before), "old": (old, now), "fresh": (fresh, now)}
        lines.append({"layer": layer} | {
            name: number(correlation(read_by_fold(scores.held_out, inputs, scores.fold), probed.targets))
            for name, (scores, inputs) in answers.items()
        })  # fmt: skip
    return lines


def correlation(answers: Tensor, targets: Tensor) -> float:
    """Return how answers [N, T] go with targets [N, T], from -1 to 1: the mean over all that change."""
    columns = torch.stack((answers, targets.to(answers)), 1)  # [N, 2, T]
    away = columns - columns.mean(0)
    lengths = away.norm(dim=0).prod(0)
    found = (away[:, 0] * away[:, 1]).sum(0)[lengths > 0] / lengths[lengths > 0]
    return float(found.mean())


# ---- controls ------------------------------------------------------------------------------------


def random_control(config: TransformerConfig, probed: ProbeSet, seed: int, device: Any = "cpu") -> list[dict[str, Any]]:
    """Probe a network of the same shape that has learned nothing."""
    network = build(config, seed)
    assert isinstance(network, Transformer)
    return probe_layers(network.to(device), probed, reads=("cls", "mean"))


def raw_control(probed: ProbeSet, device: Any = "cpu") -> dict[str, Any]:
    """Read the sectors from the board itself: 256 squares, free or covered."""
    board = (probed.tokens[:, :SQUARES] == 1).float().to(device)
    return layer_facts(-1, "board", scores_of(board, probed))


def shuffled_control(
    network: Transformer, probed: ProbeSet, layer: int, shuffles: int = SHUFFLES, seed: int = 0
) -> dict[str, Any]:
    """Read sectors that belong to other positions, from the board's token behind one layer.

    Nothing can be read of them: what is found is what the probe finds in noise. `p` is the chance that the true R2 is
    among the highest by chance: (1 + shuffles that reach it) / (1 + shuffles).
    """
    inputs = collected(network, probed, [(layer, "cls")])[0]
    random = torch.Generator().manual_seed(seed)
    orders = [torch.randperm(len(probed), generator=random) for _ in range(shuffles)]
    targets = torch.cat([probed.targets[order.to(probed.targets.device)] for order in orders], 1)
    found = scores_of(inputs, probed, targets)[0].r2.view(shuffles, -1).nanmean(1).tolist()
    true = scores_of(inputs, probed)[0].mean_r2
    reached = sum(value >= true for value in found)
    return {
        "layer": layer, "r2": number(true), "shuffles": shuffles, "mean": number(sum(found) / shuffles),
        "highest": number(max(found)), "p": (1 + reached) / (1 + shuffles),
    }  # fmt: skip
