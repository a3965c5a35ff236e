"""One run of the Domineering study, in a folder of its own.

    settings.json        what is trained, from which games; number of parameters; how the embedding was verified
    progress.jsonl       a line at step 0 and every 1,000 steps: means since the line before, and on validation
    probes.jsonl         what can be read from each layer, at the same steps
    network.safetensors  the network at the end; written last, so a run that has it is complete
    best.safetensors     the one with the least validation loss, which is what large networks embed
    state.pt             for going on; gone when the run is complete

Whoever is killed goes on from the last state. Lines behind it are dropped and come again; on a processor they, and the
weights in the end, are the same to the last bit. Only one process trains a run; several may train several.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from rookery.errors import BadInput
from rookery.games.library import load
from rookery.learn.files import LineLog, write_json, write_whole
from rookery.learn.spread import Say
from rookery.nets.files import About, load_network, save_network, weights_of
from rookery.nets.residual import build
from rookery.nets.surgery import embed, random_tokens, verify_embedding
from rookery.nets.transformer import Transformer
from rookery.studies.archives import digest
from rookery.studies.domineering_batches import Batch, GameTable, Positions, load_records
from rookery.studies.domineering_plan import RunSettings
from rookery.studies.domineering_training import Speed, Trainer, validated
from rookery.studies.order import Order
from rookery.studies.runs import RunFolder
from rookery.studies.settings import differing, read_json

FORMAT = 1
PHASES = (1, 2, 3)
SAVE_SECONDS = 20.0
VALID_SEED, VALID_ROWS = 0, 1024
VERIFIED = 64
"""positions on which an embedding is verified"""


# ---- games ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StudyData:
    """The games that all runs learn from."""

    table: GameTable
    files: dict[str, str]
    """checksums of the files, by name"""


def data_files(study: Path, phases: Sequence[int] = ()) -> list[Path]:
    """Return the files of games of some phases; without any, those that are there."""
    places = {phase: study / "data" / f"phase{phase}_games.npz" for phase in PHASES}
    for phase in phases:
        if phase not in places:
            raise BadInput(f"phase {phase}: the phases there are: {', '.join(map(str, PHASES))}")
    found = [places[phase] for phase in phases] or [path for path in places.values() if path.exists()]
    if not found:
        raise BadInput(f"{study / 'data'} has no games; `rookery study domineering data` makes them")
    return found


def load_data(study: Path, phases: Sequence[int] = (), device: str = "cpu") -> StudyData:
    """Read games and put them on a device."""
    paths = data_files(study, phases)
    table = GameTable(load_records(paths), device)
    return StudyData(table, {path.name: digest(path.read_bytes()) for path in paths})


class Validation:
    """The same positions of validation for every network."""

    def __init__(self, positions: Positions, count: int):
        if not len(positions):
            raise BadInput("no game is in the part that validates; more games are needed")
        self.positions = positions
        order = Order(len(positions), min(count, len(positions)), VALID_SEED, positions.table.device)
        self.numbers, self.symmetries = order.at(0)

    def __iter__(self) -> Iterator[Batch]:
        for begin in range(0, len(self.numbers), VALID_ROWS):
            some = slice(begin, begin + VALID_ROWS)
            yield self.positions.batch(self.numbers[some], self.symmetries[some])


class Probing:
    """What is read from the layers of a run's network, beside what it was at step 0 and the small one embedded."""

    def __init__(self, first: Transformer, small: Transformer | None, positions: Positions, settings: RunSettings):
        self.probes, self.settings = import_module("rookery.studies.domineering_probes"), settings
        self.set = self.probes.probe_set(positions, settings.probe_positions)
        self.frozen = self.probes.freeze(first, self.set)
        self.small = None if small is None else list(self.probes.layer_inputs(small, self.set))

    def layers(self, network: Transformer) -> list[dict[str, Any]]:
        """Probe a network."""
        reads = self.settings.probe_reads
        found: list[dict[str, Any]] = self.probes.probe_layers(network, self.set, self.frozen, self.small, reads)
        return found


# ---- the first network ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Beginning:
    """What a run begins with."""

    network: Transformer
    small: Transformer | None = None
    """the network that is embedded in it"""
    embedding: dict[str, Any] | None = None
    """which one it is, and how far both differ at the cut"""


def beginning(study: Path, settings: RunSettings) -> Beginning:
    """Make the first network of a run; one in which a small one is embedded is verified, or refused."""
    network = transformer(build(settings.network, settings.seed))
    if not settings.embeds:
        return Beginning(network)
    plan, (small, facts) = settings.plan, embedded_network(study, settings)
    grown = embed(small, network, plan.heads, plan.identity)
    try:
        found = verify_embedding(small, grown, random_tokens(settings.network, VERIFIED, settings.seed), plan.heads)
    except BadInput as error:
        raise BadInput(f"{settings.name} is not trained: {error}") from None
    return Beginning(grown, small, facts | {"verified": True, "positions": VERIFIED, "differences": asdict(found)})


def embedded_network(study: Path, settings: RunSettings) -> tuple[Transformer, dict[str, Any]]:
    """Return the small network that is embedded, and which one it is."""
    assert settings.small is not None
    if settings.plan.random:  # the weights that the small networks of this seed begin with
        return transformer(build(settings.small, settings.seed)), {"small": "random", "seed": settings.seed}
    folder = study / "runs" / settings.small_name
    if not (folder / "network.safetensors").exists():
        state = "is not complete" if folder.exists() else "is not there"
        raise BadInput(f"{settings.name} embeds the network of {settings.small_name}, which {state}: train it first")
    path = folder / "best.safetensors"
    loaded = load_network(path)
    if loaded.config != settings.small:
        raise BadInput(f"{path} is not of the shape that {settings.name} embeds: {loaded.config!r}")
    return transformer(loaded.network), {"small": settings.small_name, "sha256": digest(path.read_bytes())}


def transformer(network: Any) -> Transformer:
    """Say that a network is a transformer."""
    assert isinstance(network, Transformer)
    return network


# ---- the run -------------------------------------------------------------------------------------


class Run(RunFolder):
    """A run in its folder."""

    settings: RunSettings

    def __init__(self, study: Path, settings: RunSettings):
        super().__init__(study, settings)
        self.study = study
        self.state_file, self.best_file = self.folder / "state.pt", self.folder / "best.safetensors"
        self.probes = LineLog(self.folder / "probes.jsonl")
        self.best: dict[str, Any] = {"loss": math.inf, "step": 0, "network": {}}

    def train(
        self, data: StudyData, speed: Speed | None = None, say: Say = lambda done, total, note: None,
        until: float = math.inf,
    ) -> bool:  # fmt: skip
        """Train until the run is complete or the clock (`time.monotonic`) says `until`; tell whether it is complete."""
        return self.alone(data.table.device, lambda: self.trained(data, speed, say, until))

    def trained(self, data: StudyData, speed: Speed | None, say: Say, until: float) -> bool:
        """Begin or go on; tell whether the run is complete."""
        first = beginning(self.study, self.settings)
        self.write_settings(first, data)
        training = Training(self, first, data, speed)
        try:
            return training.go_on(say, until)
        finally:
            training.trainer.close()

    # -- settings --

    def facts(self, first: Beginning, data: StudyData) -> dict[str, Any]:
        """Return all that is written about the run."""
        about = {"format": FORMAT, "name": self.settings.name, "meaning": self.settings.plan.meaning}
        made_of = {"parameters": first.network.weights, "data": data.files, "embedding": first.embedding}
        return about | self.settings.as_dict() | {"teaches_sectors": self.settings.teaches_sectors} | made_of

    def write_settings(self, first: Beginning, data: StudyData) -> None:
        """Write what the run is; refuse to go on with one that is another."""
        wanted, there = self.facts(first, data), read_json(self.facts_file, FORMAT)
        if there is None:
            write_json(self.facts_file, wanted)
            return
        others = differing(essence(json.loads(json.dumps(wanted))), essence(there))
        if others:
            raise BadInput(f"{self.folder} was begun with {'; '.join(others)}; take another folder, or remove it")

    def differences(self) -> list[str]:
        """Say in which settings a run that is there differs from what is wanted."""
        there = read_json(self.facts_file, FORMAT) or {}
        wanted = json.loads(json.dumps(self.settings.as_dict()))
        return differing(wanted, {key: there.get(key) for key in wanted})

    def about(self, step: int) -> About:
        """Return what the files of networks say."""
        game = load("domineering")
        observation = "tokens_mover" if self.settings.network.side_token else "tokens"
        return About(
            game=game.spec, rules_version=game.version, observation=observation, step=step, notes=self.settings.name
        )

    # -- going on --

    def save(self, trainer: Trainer) -> None:
        """Write what is needed to go on, and the best network."""
        content = {"format": FORMAT, "seconds": self.seconds, "best": self.best, **trainer.state()}
        whole = io.BytesIO()
        torch.save(content, whole)
        write_whole(self.state_file, whole.getvalue())
        self.write_best()

    def load(self, trainer: Trainer) -> None:
        """Go on from the last state, if there is one; lines of later steps are dropped."""
        last = -1
        if self.state_file.exists():
            state = read_state(self.state_file, trainer.device)
            trainer.load(state)
            self.seconds, self.best, last = state["seconds"], state["best"], trainer.step
        self.progress.keep_until("step", last)
        self.probes.keep_until("step", last)

    def write_best(self) -> None:
        """Write the network with the least validation loss so far."""
        if self.best["network"]:
            network = transformer(build(self.settings.network))
            network.load_state_dict(self.best["network"])
            save_network(self.best_file, network, self.about(self.best["step"]))

    def finish(self, network: Transformer) -> None:
        """Write the networks; from now on the run is complete."""
        self.write_best()
        save_network(self.network_file, network, self.about(self.settings.steps))
        self.clear_up()

    def clear_up(self) -> None:
        """Remove the state of a complete run: who is killed behind the last network leaves it."""
        self.state_file.unlink(missing_ok=True)


def essence(facts: dict[str, Any]) -> dict[str, Any]:
    """Return what the weights of a run depend on; how exactly an embedding fits, a machine rounds in its own way."""
    names = [field.name for field in fields(RunSettings)]
    embedding = facts.get("embedding") or {}
    small = {name: embedding.get(name) for name in ("small", "sha256")}
    return {name: facts.get(name) for name in (*names, "data")} | {"embedding": small}


def read_state(path: Path, device: torch.device) -> dict[str, Any]:
    """Read a state, without running anything in it."""
    try:
        state = torch.load(path, map_location=device, weights_only=True)
        if isinstance(state, dict) and state.get("format") == FORMAT:
            return state
        reason = "it is of another format"
    except Exception as error:  # whatever a broken file makes the reader stumble over
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    raise BadInput(f"{path} cannot be read: {reason}; remove it to train the run anew")


class Training:
    """A run while it is trained."""

    def __init__(self, run: Run, first: Beginning, data: StudyData, speed: Speed | None):
        self.run, self.settings, table = run, run.settings, data.table
        drop = self.settings.drop_explored
        train, valid, probed = (
            Positions(table, part, self.settings.first_ply, dropped, self.settings.network.side_token)
            for part, dropped in (("train", drop), ("valid", drop), ("valid", False))
        )
        if len(train) < self.settings.batch:
            raise BadInput(f"{len(train)} positions to train on are less than a batch of {self.settings.batch}")
        self.valid = Validation(valid, self.settings.valid_positions)
        small = None if first.small is None else first.small.to(table.device)
        self.probing = Probing(first.network.to(table.device), small, probed, self.settings)
        self.trainer = Trainer(first.network, self.settings, train, speed or Speed.best(table.device.type))

    def go_on(self, say: Say, until: float) -> bool:
        """Make the steps that are left, as far as time allows."""
        run, trainer = self.run, self.trainer
        run.load(trainer)
        if trainer.step == 0:
            self.take_note()
        done = run.make_all_steps(trainer, self.take_note, lambda: run.save(trainer), SAVE_SECONDS, say, until)
        if done:
            run.finish(trainer.network)
        return done

    def take_note(self) -> None:
        """Write the figures and probes of this step; remember the network if it is the best."""
        run, trainer = self.run, self.trainer
        found = {"train": trainer.read(), "valid": validated(trainer.network, self.valid, self.settings)}
        for part, figures in found.items():
            if figures is not None and not all(map(math.isfinite, figures.values())):
                raise BadInput(
                    f"{self.settings.name}: the {part} figures at step {trainer.step} are no numbers; a lower learning "
                    f"rate than {self.settings.learning_rate:g}, a gradient_norm, or another precision than "
                    f"{self.settings.precision} may help"
                )
        run.progress.append({"step": trainer.step, "seconds": round(run.seconds, 3), **found})
        run.probes.append({"step": trainer.step, "layers": self.probing.layers(trainer.network)})
        valid = found["valid"]
        if valid is not None and valid["loss"] < run.best["loss"]:
            weights: dict[str, Tensor] = weights_of(trainer.network)
            run.best = {"loss": valid["loss"], "step": trainer.step, "network": weights}
