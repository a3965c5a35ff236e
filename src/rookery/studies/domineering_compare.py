"""Networks of the Domineering study beside one another, from their checkpoints: `FOLDER/compare.json`.

    similarity   linear CKA of the board's token, layer by layer: conditions of one seed, seeds of one condition
    reads        the sectors read from the board's token and from the mean of all tokens behind every layer, and from
                 all squares behind the embedded ones; and whether the probes of step 0 still find them there
    controls     the sectors read from a network that has learned nothing, from the board itself, and shuffled
    strength     matches between conditions of one seed, after as many steps of training

What cannot be done for want of networks or games is named under `missing`. The file is written after every network and
every match. Networks that were probed before on the same positions are not probed again, and matches that were played
before, by the same networks under the same rules, are not played again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from torch import Tensor

from rookery.arena.evaluator import chosen_device, steady
from rookery.errors import BadInput
from rookery.games.options import whole_number
from rookery.learn.files import write_json
from rookery.learn.spread import Say
from rookery.nets.configs import TransformerConfig
from rookery.nets.files import load_network
from rookery.nets.transformer import Transformer
from rookery.probes.similarity import cka, debiased_cka
from rookery.studies.domineering_batches import GameTable, Positions, load_records
from rookery.studies.domineering_plan import settings_of
from rookery.studies.domineering_probes import (
    POSITIONS,
    SHUFFLES,
    ProbeSet,
    collected,
    kept_lines,
    layer_facts,
    number,
    probe_set,
    random_control,
    raw_control,
    scores_of,
    shuffled_control,
)
from rookery.studies.domineering_records import COMPARISON, LARGE, SMALL, Records, RunRecord, pairs_of, read_values
from rookery.studies.domineering_runs import beginning
from rookery.studies.domineering_strength import Mover, match_facts, openings, play

FILE = "compare.json"
UNFINISHED = "The comparison was stopped; `rookery study domineering compare` goes on with it."


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


def checksum(tensor: Tensor) -> str:
    """Return a checksum of numbers."""
    return hashlib.sha256(tensor.numpy().tobytes()).hexdigest()[:16]


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
        known = before if before.get("format") == COMPARISON else {}
        self.before = known.get("strength", [])
        self.probed = self.sample()
        """positions that all networks are asked about"""
        self.asked = "" if self.probed is None else checksum(self.probed.tokens.cpu())
        self.known = {entry["run"]: entry for entry in known.get("reads", []) if self.is_known(entry)}
        """what was read before from the networks that are there"""

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

    def is_known(self, entry: dict[str, Any]) -> bool:
        """Tell whether what was read from a network before would be read from it again."""
        run, now = self.records.runs.get(entry["run"]), (self.asked, self.records.embedded_layer)
        if run is None or entry.get("network") != self.prints.get(run.name, "none"):
            return False
        if (entry.get("asked"), entry.get("embedded_layer")) != now:
            return False
        return bool(entry.get("kept")) or not run.protocol or self.first_network(run) is None

    def reads(self, say: Say) -> Iterator[dict[str, Any]]:
        """Probe every network by other reads than the usual one."""
        if self.probed is None:
            return
        stride = -(-len(self.probed) // self.settings.similar)  # some positions of every game
        for done, (name, network) in enumerate(self.networks.items()):
            say(done, len(self.networks), f"probes of {name}")
            usual = [(layer, "cls") for layer in range(network.config.layers)]
            if name in self.known:
                self.shown[name] = collected(network, self.probed[::stride], usual)
                yield self.known[name]
                continue
            entry, inputs = self.read(name, network, self.probed)
            self.shown[name] = [each[::stride].clone() for each in inputs[: len(usual)]]
            yield entry

    def read(self, name: str, network: Transformer, probed: ProbeSet) -> tuple[dict[str, Any], list[Tensor]]:
        """Probe a network; return what is written of it, and the inputs of the probes, the board's tokens first."""
        embedded, run = self.records.embedded_layer, self.records.runs[name]
        layers = range(network.config.layers)
        places = [(layer, read) for read in ("cls", "mean") for layer in layers]
        places += [(embedded, "all")] if embedded in layers else []
        inputs = collected(network, probed, places)
        lines = [layer_facts(*place, scores_of(each, probed)) for place, each in zip(places, inputs, strict=True)]
        first = self.first_network(run) if run.protocol else None
        kept = [] if first is None else kept_lines(first, inputs[: min(embedded + 1, len(layers))], probed)
        entry = {
            "run": name, "step": run.last_step, "positions": len(probed), "layers": lines, "kept": kept,
            "network": self.prints[name], "asked": self.asked, "embedded_layer": embedded,
        }  # fmt: skip
        return entry, inputs

    def first_network(self, run: RunRecord) -> Transformer | None:
        """Make the network again that a run began with; None, and a line of what is missing, if that cannot be done."""
        try:
            first = beginning(self.records.folder, settings_of(run.settings))
            embedded = (run.settings.get("embedding") or {}).get("sha256")
            if first.embedding is not None and first.embedding.get("sha256") != embedded:
                raise BadInput(f"{first.embedding['small']} is another network now")
        except BadInput as error:
            self.missing.append(f"What {run.name} began with is not known, so nothing was read from it: {error}.")
            return None
        return first.network.to(self.device).eval()

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
    content: dict[str, Any] = {
        "format": COMPARISON, "version": 1, "settings": asdict(found.settings),
        "embedded_layer": found.records.embedded_layer, "reads": [], "similarity": [], "controls": {}, "strength": [],
    }  # fmt: skip

    def keep() -> None:
        done = {entry["run"] for entry in content["reads"]}
        reads = content["reads"] + [entry for name, entry in found.known.items() if name not in done]
        # older matches first: of two of the same networks' names a reader takes the last
        matches = [match for match in found.before if match not in content["strength"]] + content["strength"]
        told = {"reads": reads, "strength": matches, "missing": [*found.missing, UNFINISHED]}
        write_json(path, content | told)

    for entry in found.reads(say):
        content["reads"].append(entry)
        keep()
    content["similarity"] = found.similarity(say)
    content["controls"] = found.controls(say)
    keep()
    for match in found.strength(say):
        content["strength"].append(match)
        keep()
    write_json(path, content | {"missing": found.missing})
    return path
