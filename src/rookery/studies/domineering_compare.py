"""Networks of the Domineering study beside one another, from their checkpoints: `FOLDER/compare.json`.

    similarity   linear CKA of the board's token, layer by layer: conditions of one seed, seeds of one condition
    reads        the sectors read from the board's token and from the mean of all tokens behind every layer, and from
                 all squares behind the embedded ones
    controls     the sectors read from a network that has learned nothing, from the board itself, and shuffled
    strength     matches between conditions of one seed, after as many steps of training

What cannot be done for want of networks or games is named under `missing`. Matches that were played before, by the same
networks under the same rules, are not played again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from torch import Tensor

from rookery.arena.evaluator import chosen_device, steady
from rookery.errors import BadInput
from rookery.games.options import whole_number
from rookery.learn.files import write_json
from rookery.nets.configs import TransformerConfig
from rookery.nets.files import load_network
from rookery.nets.transformer import Transformer
from rookery.probes.similarity import cka, debiased_cka
from rookery.studies.domineering_batches import GameTable, Positions, load_records
from rookery.studies.domineering_probes import (
    POSITIONS,
    SHUFFLES,
    ProbeSet,
    collected,
    layer_facts,
    number,
    probe_set,
    random_control,
    raw_control,
    scores_of,
    shuffled_control,
)
from rookery.studies.domineering_records import COMPARISON, LARGE, SMALL, Records, RunRecord, pairs_of, read_values
from rookery.studies.domineering_strength import Mover, match_facts, openings, play

FILE = "compare.json"

Say = Callable[[int, int, str], None]


@dataclass(frozen=True)
class CompareSettings:
    """How much is asked and played."""

    positions: int = POSITIONS
    """on which probes are judged"""
    similar: int = 5000
    """of them, on which layers are compared"""
    openings: int = 256
    """of a match, each played twice"""
    candidates: int = 1
    """moves that a player looks at before it chooses by value; 1: the policy alone"""
    shuffles: int = SHUFFLES
    seed: int = 0
    """of the positions and the openings"""

    def __post_init__(self) -> None:
        for name, least, most in (
            ("positions", 100, 1 << 24), ("similar", 4, 1 << 20), ("openings", 2, 1 << 16), ("candidates", 1, 64),
            ("shuffles", 1, 1000), ("seed", 0, 1 << 62),
        ):  # fmt: skip
            whole_number(name, getattr(self, name), least, most)


def fingerprint(network: Transformer) -> str:
    """Return a checksum of the weights, whatever file they are in."""
    found = hashlib.sha256()
    for name, weights in sorted(network.state_dict().items()):
        found.update(name.encode() + weights.cpu().numpy().tobytes())
    return found.hexdigest()[:16]


class Comparison:
    """What compares the networks of a folder, step by step."""

    def __init__(self, folder: Path, settings: CompareSettings, device: str = "auto"):
        self.records, self.settings, self.device = Records(folder), settings, chosen_device(device)
        if not self.records.runs:
            raise BadInput(f"{folder} holds no runs of the Domineering study; they should be in {folder / 'runs'}")
        self.missing: list[str] = []
        self.networks: dict[str, Transformer] = {}
        self.prints: dict[str, str] = {}
        self.shown: dict[str, list[Tensor]] = {}
        for run in self.records.runs.values():
            self.open(run)
        before = read_values(folder / FILE)
        self.before = before.get("strength", []) if before.get("format") == COMPARISON else []
        self.probed = self.sample()

    def open(self, run: RunRecord) -> None:
        """Load the network of a run."""
        if run.network is None:
            self.missing.append(f"{run.name} has left no network.")
            return
        try:
            network = load_network(run.network).network
        except BadInput as error:
            self.missing.append(f"The network of {run.name} cannot be read: {error}")
            return
        if not isinstance(network, Transformer):
            self.missing.append(f"The network of {run.name} is no transformer.")
            return
        self.networks[run.name] = network.to(self.device).eval()
        self.prints[run.name] = fingerprint(network)

    def sample(self) -> ProbeSet | None:
        """Draw the positions of validation; None if there are no games, or too few."""
        files = self.games()
        if not files:
            self.missing.append("There are no games in data/, so layers were neither compared nor probed.")
            return None
        try:
            return probe_set(Positions(GameTable(load_records(files)), "valid"), self.settings.positions)
        except BadInput as error:
            self.missing.append(f"Layers were neither compared nor probed: {error}")
            return None

    def games(self) -> list[Path]:
        """List the files of games that the runs were trained from; where they do not say, all that are there."""
        there = sorted((self.records.folder / "data").glob("phase*_games.npz"))
        named = {name for run in self.records.runs.values() for name in run.settings.get("data") or ()}
        return [path for path in there if path.name in named] or there

    def large(self) -> dict[str, RunRecord]:
        """Return the large networks that are there."""
        return {name: run for name, run in self.records.runs.items() if run.protocol and name in self.networks}

    # ---- layers ----

    def similar_pairs(self) -> Iterator[tuple[str, RunRecord, RunRecord]]:
        """Yield pairs of large networks that differ in their condition or their seed, not in both."""
        for first, second in combinations(self.large().values(), 2):
            same = (first.seed == second.seed, first.condition == second.condition)
            if first.protocol == second.protocol and any(same):
                yield "conditions" if same[0] else "seeds", first, second

    def similarity(self, say: Say) -> list[dict[str, Any]]:
        """Compare layers by CKA, of networks that were probed before."""
        if self.probed is None:
            return []
        pairs = list(self.similar_pairs())
        found = []
        for done, (kind, first, second) in enumerate(pairs):
            say(done, len(pairs), "similarity of layers")
            both = list(zip(self.shown[first.name], self.shown[second.name], strict=False))
            found.append({
                "kind": kind, "protocol": first.protocol, "first": first.name, "second": second.name,
                "positions": len(both[0][0]), "cka": [number(cka(*pair)) for pair in both],
                "debiased": [number(debiased_cka(*pair)) for pair in both],
            })  # fmt: skip
        return found

    def reads(self, say: Say) -> list[dict[str, Any]]:
        """Probe every network by other reads than the usual one."""
        if self.probed is None:
            return []
        found, embedded = [], self.records.embedded_layer
        for done, (name, network) in enumerate(self.networks.items()):
            say(done, len(self.networks), f"probes of {name}")
            layers = range(network.config.layers)
            places = [(layer, read) for read in ("cls", "mean") for layer in layers]
            places += [(embedded, "all")] if embedded in layers else []
            inputs = collected(network, self.probed, places)
            lines = [
                layer_facts(*place, scores_of(each, self.probed)) for place, each in zip(places, inputs, strict=True)
            ]
            stride = -(-len(self.probed) // self.settings.similar)  # some positions of every game
            self.shown[name] = [each[::stride].clone() for each in inputs[: len(layers)]]
            run = self.records.runs[name]
            found.append({"run": name, "step": run.last_step, "positions": len(self.probed), "layers": lines})
        return found

    def controls(self, say: Say) -> dict[str, Any]:
        """Probe what can show nothing of what was learned."""
        if self.probed is None:
            return {}
        found: dict[str, Any] = {"positions": len(self.probed), "raw": raw_control(self.probed, self.device)}
        config = self.config()
        seeds = self.records.seeds if config is not None else []
        found["random"] = []
        for done, seed in enumerate(seeds):
            say(done, len(seeds), "probes of random networks")
            assert config is not None
            found["random"].append({"seed": seed, "layers": random_control(config, self.probed, seed, self.device)})
        found["shuffled"] = []
        there = [run for run in self.large().values() if run.condition in LARGE]
        first = next((seed for seed in seeds if any(run.seed == seed for run in there)), None)
        main = [run for run in there if run.seed == first]
        for done, run in enumerate(main):
            say(done, len(main), "probes of shuffled sectors")
            network = self.networks[run.name]
            layer = min(self.records.embedded_layer, network.config.layers - 1)
            shuffled = shuffled_control(network, self.probed, layer, self.settings.shuffles, self.settings.seed)
            found["shuffled"].append({"run": run.name} | shuffled)
        return found

    def config(self) -> TransformerConfig | None:
        """Return the shape of the large networks."""
        return next((self.networks[name].config for name in self.large()), None)

    # ---- strength ----

    def matches(self) -> Iterator[tuple[RunRecord, RunRecord]]:
        """Yield who meets whom: conditions of one seed and protocol after as many steps; then the small networks."""
        for protocol in self.records.protocols:
            there = self.records.conditions(protocol)
            for first, second in pairs_of(there):
                yield from self.meetings(self.records.of(first, protocol), self.records.of(second, protocol))
        yield from self.meetings(*(self.records.of(name) for name in SMALL))

    def meetings(
        self, first: dict[int, RunRecord], second: dict[int, RunRecord]
    ) -> Iterator[tuple[RunRecord, RunRecord]]:
        """Yield the matches of two conditions, seed by seed."""
        for seed in first:
            if seed in second and {first[seed].name, second[seed].name} <= set(self.networks):
                if first[seed].last_step == second[seed].last_step:
                    yield first[seed], second[seed]
                else:
                    steps = f"{first[seed].last_step:,} and {second[seed].last_step:,} steps"
                    self.missing.append(f"{first[seed].name} and {second[seed].name} have not met: they have {steps}.")

    def strength(self, say: Say) -> Iterator[dict[str, Any]]:
        """Play the matches that have not been played, and yield all."""
        pairs = list(self.matches())
        starts = openings(self.settings.openings, self.settings.seed).to(self.device)
        for done, (first, second) in enumerate(pairs):
            rules = {
                "protocol": first.protocol, "seed": first.seed, "first": first.name, "second": second.name,
                "step": first.last_step, "openings": self.settings.openings, "candidates": self.settings.candidates,
                "openings_seed": self.settings.seed, "networks": [self.prints[run.name] for run in (first, second)],
            }  # fmt: skip
            say(done, len(pairs), f"{first.name} against {second.name}")
            known = [match for match in self.before if rules.items() <= match.items()]
            if known:
                yield known[0]
                continue
            one, other = (Mover(self.networks[run.name], self.settings.candidates) for run in (first, second))
            yield rules | match_facts(play(one, other, starts))


def compare(folder: Path, settings: CompareSettings, device: str, say: Say) -> Path:
    """Compare the networks of a study; return the file with the results, written after every match."""
    with steady(chosen_device(device)):
        return compared(Comparison(folder, settings, device), folder / FILE, say)


def compared(found: Comparison, path: Path, say: Say) -> Path:
    """Compare, and write what is found."""
    content: dict[str, Any] = {"format": COMPARISON, "version": 1, "settings": asdict(found.settings)}
    content["embedded_layer"] = found.records.embedded_layer
    content["reads"] = found.reads(say)
    content["similarity"] = found.similarity(say)
    content["controls"] = found.controls(say)
    content["strength"] = []
    for match in found.strength(say):
        content["strength"].append(match)
        kept = [match for match in found.before if match not in content["strength"]]
        # older matches first: of two of the same networks' names a reader takes the last
        write_json(path, content | {"strength": kept + content["strength"], "missing": found.missing})
    write_json(path, content | {"missing": found.missing})
    return path
