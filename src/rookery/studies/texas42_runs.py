"""One run of the Texas 42 study, in a folder of its own.

    settings.json        what is trained, from which data (checksums of shards); number of parameters
    progress.jsonl       a line every 1,000 steps: means since the line before, figures on each set that validates
    network.safetensors  the network at the end; written last, so a run that has it is complete
    state.json           for going on, with state-*.bin, its pieces of 15 MiB at most; gone when the run is complete

Whoever is killed goes on from the last state. Lines behind it are dropped and come again; on a processor they, and the
weights in the end, are the same to the last bit. Only one process trains a run; several may train several.
"""

from __future__ import annotations

import io
import json
import math
from pathlib import Path
from typing import Any

import torch

from rookery.errors import BadInput
from rookery.games.library import load
from rookery.games.texas42_auction import LEAST_POINTS
from rookery.learn.spread import Say
from rookery.nets.files import About, save_network
from rookery.nets.residual import build
from rookery.nets.texas42 import Hands, Transcript
from rookery.studies.archives import digest
from rookery.studies.runs import RunFolder
from rookery.studies.settings import differing, read_json
from rookery.studies.steps import Speed
from rookery.studies.texas42_files import write_json
from rookery.studies.texas42_plan import TrainSettings
from rookery.studies.texas42_tables import Tables
from rookery.studies.texas42_training import Stage, Trainer, measured
from rookery.writing import write_whole

FORMAT = 1
SAVE_SECONDS = 60.0
PIECE = 15 << 20
"""bytes of a piece of a state"""


# ---- a state in pieces ---------------------------------------------------------------------------


def write_state(folder: Path, state: dict[str, Any]) -> None:
    """Write a state: new pieces under new names first, then state.json, which names them; then the old ones go."""
    whole = io.BytesIO()
    torch.save(state, whole)
    content = whole.getvalue()
    mark = digest(content)[:12]
    pieces = [content[first : first + PIECE] for first in range(0, len(content), PIECE)]
    names = [f"state-{mark}-{number}.bin" for number in range(len(pieces))]
    for name, piece in zip(names, pieces, strict=True):
        write_whole(folder / name, piece)
    write_json(folder / "state.json", {"format": FORMAT, "pieces": names, "sha256": digest(content)})
    remove_pieces(folder, names)


def remove_pieces(folder: Path, kept: list[str]) -> None:
    """Remove pieces of states that are not kept."""
    for path in folder.glob("state-*.bin"):
        if path.name not in kept:
            path.unlink(missing_ok=True)


def read_state(folder: Path, device: torch.device) -> dict[str, Any] | None:
    """Read a state, without running anything in it; None if there is none."""
    place = folder / "state.json"
    try:
        facts = json.loads(place.read_bytes())
        content = b"".join((folder / Path(name).name).read_bytes() for name in facts["pieces"])
        if facts.get("format") != FORMAT or digest(content) != facts["sha256"]:
            raise ValueError("its pieces are not those it tells of")
        state = torch.load(io.BytesIO(content), map_location=device, weights_only=True)
    except FileNotFoundError as error:
        if not place.exists():
            return None
        reason = f"{error.filename} is not there"
    except Exception as error:  # whatever a broken file makes the readers stumble over
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    else:
        return state  # type: ignore[no-any-return]
    raise BadInput(f"{place} cannot be read: {reason}; remove it to train the run anew")


# ---- the run -------------------------------------------------------------------------------------


class Run(RunFolder):
    """A run in its folder."""

    settings: TrainSettings

    def train(
        self, tables: Tables, speed: Speed | None = None, say: Say = lambda done, total, note: None,
        until: float = math.inf,
    ) -> bool:  # fmt: skip
        """Train until the run is complete or the clock (`time.monotonic`) says `until`; tell whether it is complete."""
        return self.alone(tables.train.device, lambda: self.trained(tables, speed, say, until))

    def trained(self, tables: Tables, speed: Speed | None, say: Say, until: float) -> bool:
        """Begin or go on; tell whether the run is complete."""
        if len(tables.train) < self.settings.batch:
            raise BadInput(f"{len(tables.train)} rows to train on are less than a batch of {self.settings.batch}")
        there = read_json(self.facts_file, FORMAT)
        self.settings = self.settings.settled(there, tables.train.device.type)
        network = stage_of(build(self.settings.network, self.settings.seed))
        self.write_settings(network, tables, there)
        trainer = Trainer(network, self.settings, tables.train, speed)
        try:
            return self.go_on(trainer, tables, say, until)
        finally:
            trainer.close()

    def write_settings(self, network: Stage, tables: Tables, there: dict[str, Any] | None) -> None:
        """Write what the run is; refuse to go on with one that is `there` and another."""
        data = {"checksums": tables.checksums}
        if there is None:
            facts = {"format": FORMAT, "stage": self.settings.stage, "parameters": network.weights}
            learned = {"learned_rows": tables.rows, "train_rows": len(tables.train)}
            write_json(self.facts_file, facts | learned | self.settings.as_dict() | data)
            return
        others = self.settings.unlike(there) + differing(data, {"checksums": there.get("checksums")})
        if others:
            raise BadInput(f"{self.folder} was begun with {'; '.join(others)}; take another --name, or remove it")

    # -- going on --

    def go_on(self, trainer: Trainer, tables: Tables, say: Say, until: float) -> bool:
        """Make the steps that are left, as far as time allows."""
        self.load(trainer)
        note, save = (lambda: self.take_note(trainer, tables)), (lambda: self.save(trainer))
        done = self.make_all_steps(trainer, note, save, SAVE_SECONDS, say, until)
        if done:
            self.finish(trainer)
        return done

    def take_note(self, trainer: Trainer, tables: Tables) -> None:
        """Write the figures of this step."""
        train = trainer.read()
        if train is not None and not all(map(math.isfinite, train.values())):
            raise BadInput(
                f"{self.settings.name}: the figures at step {trainer.step} are no numbers; a lower learning rate than "
                f"{self.settings.learning_rate:g} or another precision than {self.settings.precision} may help"
            )
        precision = self.settings.precision
        valid = {name: measured(trainer.network, table, precision) for name, table in tables.valid.items()}
        seconds = round(self.seconds, 3)
        self.progress.append({"step": trainer.step, "seconds": seconds, "train": train, "valid": valid})

    def save(self, trainer: Trainer) -> None:
        """Write what is needed to go on."""
        write_state(self.folder, {"seconds": self.seconds, **trainer.state()})

    def load(self, trainer: Trainer) -> None:
        """Go on from the last state, if there is one; lines of later steps are dropped."""
        state = read_state(self.folder, trainer.device)
        if state is not None:
            trainer.load(state)
            self.seconds = state["seconds"]
        self.progress.keep_until("step", trainer.step if state is not None else -1)

    def finish(self, trainer: Trainer) -> None:
        """Write the network; from now on the run is complete."""
        game = load("texas42") if self.settings.stage == 1 else load("texas42", bid=LEAST_POINTS)
        about = About(
            game=game.spec, rules_version=game.version, step=self.settings.steps, notes=self.settings.name,
            observation=self.settings.reads,
        )  # fmt: skip
        save_network(self.network_file, trainer.network, about)
        self.clear_up()

    def clear_up(self) -> None:
        """Remove the state of a complete run: who is killed behind the network leaves it."""
        (self.folder / "state.json").unlink(missing_ok=True)
        remove_pieces(self.folder, [])


def stage_of(network: Any) -> Stage:
    """Say that a network is one of Texas 42."""
    assert isinstance(network, Hands | Transcript)
    return network
