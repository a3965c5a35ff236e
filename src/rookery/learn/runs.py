"""A run is a folder, and everything needed to go on lies in it.

    config.yaml              its settings, every key
    manifest.json            versions, checkpoints with ratings, the best one
    loss_history.jsonl       one line per training call
    metrics.jsonl            every figure that was logged
    games.jsonl              some games of self-play, move by move
    training_progress.json   how far it is
    start.pth                the weights it began with, if it was given any
    checkpoint_01000.pth     a network after so many games
    state/                   a snapshot of all that training holds in memory

Who trains a run holds its lock. Every file is written whole, so the folder can be read at any moment, also while
it is trained, and a killed process leaves nothing half done.
"""

from __future__ import annotations

import errno
import os
import shutil
import time
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rookery.arena import networks
from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.library import load
from rookery.games.options import given_path
from rookery.learn import manifest as manifests
from rookery.learn.files import LineLog, part_of, remove_quietly, save_whole, sweep, sync_folder, told, write_json
from rookery.learn.files import write_whole as write_file
from rookery.learn.locks import Lock, is_locked
from rookery.learn.manifest import checkpoint_name, timestamp
from rookery.learn.settings import RunSettings, network_values, read_settings, settings_yaml
from rookery.learn.snapshots import Snapshot, load_snapshot, save_snapshot

CONFIG, LOSSES, METRICS, GAMES, PROGRESS, STATE, LOCK = (
    "config.yaml", "loss_history.jsonl", "metrics.jsonl", "games.jsonl", "training_progress.json", "state", "lock",
)  # fmt: skip
START = "start.pth"
STATUSES = ("starting", "training", "complete")


class Run:
    """An open run. Anybody may read it; to write, take its lock: `with Run.open(folder).training() as run`."""

    def __init__(self, folder: Path, settings: RunSettings, game: Game):
        self.folder, self.settings, self.game = folder, settings, game
        self.losses, self.metrics = LineLog(folder / LOSSES), LineLog(folder / METRICS)
        self.games = LineLog(folder / GAMES)
        self.logs = (self.losses, self.metrics, self.games)
        self.lock = Lock(folder / LOCK)
        self.pace = Pace()

    def _repr_html_(self) -> str:
        """Show how far the run is, and its losses, in a notebook."""
        from rookery.learn.shown import run_html

        return run_html(self.folder)

    # -- making and opening --

    @classmethod
    def create(cls, folder: str | os.PathLike[str], settings: RunSettings, threads: int = 0) -> Run:
        """Make the folder of a new run; `threads` is how many the run is going to use, for the manifest."""
        path, game = Path(os.path.abspath(given_path(folder))), load(settings.game)
        if game.path:
            settings = settings.model_copy(update={"game": game.spec})  # the run may be opened from elsewhere
        begin = first_weights(settings, game)
        taken = f"{path} is not empty; `rookery resume` goes on with a run, a new one needs a new folder"
        if os.path.lexists(path) and not (path.is_dir() and not any(path.iterdir())):
            raise BadInput(taken)
        part = part_of(path.with_name(f"{path.name}-{uuid.uuid4().hex[:8]}"))  # others may make one of the same name
        with told(path, outermost=True):  # the files are in a folder of another name until all are there
            try:
                os.makedirs(path.parent, exist_ok=True)
                os.mkdir(part)
                write_file(part / CONFIG, settings_yaml(settings).encode())
                write_json(part / manifests.FILE, manifests.new_manifest(game, threads or settings.threads))
                if begin:
                    write_file(part / START, begin)
                os.rename(part, path)  # a run is there whole or not at all
            except BaseException as error:
                remove_quietly(part)
                if (
                    os.path.lexists(path)
                    and isinstance(error, OSError)
                    and error.errno in (errno.ENOTEMPTY, errno.EEXIST)
                ):
                    raise BadInput(taken) from None  # somebody else was faster
                raise
            sync_folder(path.parent)
        return cls(path, settings, game)

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Run:
        """Open a run; refuse what is none, and one of another format or of other rules."""
        path = given_path(folder)
        manifest = manifests.read_manifest(path)
        settings = read_settings(path / CONFIG)
        game = load(settings.game)
        manifests.check_rules(manifest, game, path)
        return cls(path, settings, game)

    def training(self) -> Run:
        """Take the lock, for a `with` statement, and clear away what a killed process left."""
        self.lock.take()
        sweep(self.folder, spare=(manifests.FILE,))  # the manifest may be written by another process right now
        sweep(self.folder / STATE)
        try:
            for log in self.logs:
                log.mend()
        except BaseException:
            self.lock.give_back()
            raise
        return self

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *trouble: object) -> None:
        self.lock.give_back()

    def needs_lock(self) -> None:
        """Refuse to write without the lock: a mistake of the program, not of the person."""
        if not self.lock.held:
            raise RuntimeError(f"{self.folder} is written without its lock; use training()")

    @property
    def manifest(self) -> dict[str, Any]:
        """The manifest as it is now."""
        return manifests.read_manifest(self.folder)

    # -- figures --

    def append_loss(self, step: int, value_loss: float, policy_loss: float, **more: float) -> None:
        """Add the mean losses of a training call after `step` games, to six decimals."""
        self.needs_lock()
        losses = {"value_loss": value_loss, "policy_loss": policy_loss} | more
        self.losses.append({"step": step} | {name: rounded(value, 6) for name, value in losses.items()})

    def append_game(self, values: dict[str, Any]) -> None:
        """Add a game of self-play."""
        self.needs_lock()
        self.games.append(values)

    def write_progress(
        self,
        status: str,
        current_game: int,
        value_loss: float | None = None,
        policy_loss: float | None = None,
        elapsed_seconds: float = 0.0,
    ) -> None:
        """Say how far the run is. Speed is measured from one call to the next, the time left since the first."""
        self.needs_lock()
        if status not in STATUSES:
            raise ValueError(f"status must be one of {', '.join(STATUSES)}, not {status!r}")
        total = self.settings.selfplay.games
        speed, left = self.pace.after(current_game, total)
        progress = {
            "status": status,
            "current_game": current_game,
            "total_games": total,
            "percent": round(100 * current_game / total, 1),
            "value_loss": rounded(value_loss, 6),
            "policy_loss": rounded(policy_loss, 6),
            "elapsed_seconds": round(elapsed_seconds, 1),
            "eta_seconds": 0.0 if status == "complete" else rounded(left, 1),
            "games_per_second": round(speed, 3),
            "timestamp": timestamp(),
        }
        write_json(self.folder / PROGRESS, progress, sync=status == "complete")

    # -- checkpoints --

    def checkpoint_path(self, step: int) -> Path:
        """Return where the checkpoint of a step lies."""
        return self.folder / checkpoint_name(step)

    def save_checkpoint(self, step: int, save: Callable[[Path], Any]) -> Path:
        """Let `save` write a network to the path it is given, enter it, and apply the retention rule.

        A step that is saved again replaces the earlier one, with its rating.
        """
        self.needs_lock()
        path = self.checkpoint_path(step)
        save_whole(path, partial(saved, save))
        entry = {"file": path.name, "step": step, "label": manifests.UNRATED, "timestamp": timestamp()}
        with manifests.changed(self.folder) as manifest:
            manifests.enter(manifest, entry)
        self.prune()
        return path

    def prune(self, keep: Any = None) -> list[str]:
        """Remove the checkpoints that the retention rule does not keep; their ratings stay. Return their files."""
        rule = keep or self.settings.checkpoints.keep
        with manifests.changed(self.folder) as manifest:
            gone = manifests.superfluous(manifest, rule)
            for entry in gone:
                manifest["checkpoints"].remove(entry)
                manifest["pruned"].append(entry)
        for entry in gone:  # a kill before this leaves a file too many, never an entry without a file
            remove_quietly(self.folder / entry["file"])
        return [entry["file"] for entry in gone]

    def rate(self, step: int, elo: float, label: str, **more: Any) -> None:
        """Enter the rating of a checkpoint; needs no lock."""
        with manifests.changed(self.folder) as manifest:
            manifests.entry_of(manifest, step, self.folder).update({"label": label, "elo": elo} | more)

    def note_gate(self, step: int, **facts: Any) -> None:
        """Enter how a challenge after `step` games went."""
        self.needs_lock()
        with manifests.changed(self.folder) as manifest:
            noted = [entry for entry in manifest.get("gate", []) if entry["step"] < step]
            manifest["gate"] = [*noted, {"step": step} | facts]

    def set_best(self, step: int) -> None:
        """Say which checkpoint is the best; it is never pruned."""
        with manifests.changed(self.folder) as manifest:
            manifest["best"] = manifests.entry_of(manifest, step, self.folder)["file"]

    @property
    def checkpoints(self) -> list[dict[str, Any]]:
        """The entries of the checkpoints that are there, in the order of steps."""
        return list(self.manifest["checkpoints"])

    @property
    def best(self) -> Path | None:
        """The best checkpoint: the one so called, else the newest; None if there is none."""
        manifest = self.manifest
        names = [entry["file"] for entry in manifest["checkpoints"]]
        chosen = manifest.get("best") if manifest.get("best") in names else (names or [None])[-1]
        return self.folder / chosen if chosen else None

    # -- going on --

    def save_state(self, snapshot: Snapshot) -> Path:
        """Save all that training holds in memory, as one; the lines logged so far are brought to the disk first.

        Save the checkpoint of the same step before: `go_back_to` forgets one that came after the snapshot, but
        nobody would make one up that a kill has prevented.
        """
        self.needs_lock()
        for log in self.logs:
            log.sync()
        return save_snapshot(self.folder / STATE, snapshot)

    def load_state(self) -> Snapshot | None:
        """Load the newest snapshot; None if there is none."""
        return load_snapshot(self.folder / STATE)

    def go_back_to(self, step: int) -> None:
        """Forget losses, figures, games and checkpoints after `step` games: what came after a snapshot comes again."""
        self.needs_lock()
        for log in self.logs:
            log.keep_until("step", step)
        with manifests.changed(self.folder) as manifest:
            for name in ("checkpoints", "pruned"):
                manifest[name] = [entry for entry in manifest[name] if entry["step"] <= step]
            if "gate" in manifest:
                manifest["gate"] = [entry for entry in manifest["gate"] if entry["step"] <= step]
            pruned = {entry["file"] for entry in manifest["pruned"]}
            if manifest["best"] not in [entry["file"] for entry in manifest["checkpoints"]]:
                manifest["best"] = None
        for path in self.folder.glob("checkpoint_*.pth"):
            named = manifests.CHECKPOINT.fullmatch(path.name)
            if named and (int(named[1]) > step or path.name in pruned):
                remove_quietly(path)


def first_weights(settings: RunSettings, game: Game) -> bytes | None:
    """Read the weights a run is to begin with, and refuse those that do not fit; None if it is given none."""
    if not settings.start:
        return None
    from rookery.learn.starts import start_bytes  # PyTorch is slow to load, and most runs need none here

    return start_bytes(settings.start, network_values(settings.network, game), settings.network.observation)


def saved(save: Callable[[Path], Any], path: Path) -> None:
    """Let somebody save a network; a disk that failed is told as such, also where it was told as wrong input."""
    try:
        save(path)
    except BadInput as error:
        cause = error.__cause__ or error.__context__
        if isinstance(cause, OSError):
            raise cause from None
        raise


class Pace:
    """How fast a run is, measured in this process alone: games before it began do not count."""

    def __init__(self) -> None:
        self.first: tuple[float, int] | None = None
        self.previous: tuple[float, int] | None = None

    def after(self, game: int, total: int) -> tuple[float, float | None]:
        """Return games a second since the previous call, and seconds left at the mean speed; None at the first."""
        now = time.monotonic()
        self.first, self.previous = self.first or (now, game), self.previous or (now, game)
        speed = (game - self.previous[1]) / max(now - self.previous[0], 1e-9) if now > self.previous[0] else 0.0
        played, spent = game - self.first[1], now - self.first[0]
        self.previous = now, game
        return max(speed, 0.0), (total - game) * spent / played if played > 0 else None


def rounded(value: float | None, digits: int) -> float | None:
    """Round a figure; one that is no number is null, since JSON has no other."""
    return None if value is None or value != value or abs(value) == float("inf") else round(float(value), digits)


# ---- folders -------------------------------------------------------------------------------------


def is_run(folder: Path) -> bool:
    """Tell whether a folder is a run."""
    return (folder / manifests.FILE).is_file() and (folder / CONFIG).is_file()


def being_trained(folder: Path) -> bool:
    """Tell whether somebody holds the lock of a run."""
    return is_locked(folder / LOCK)


def free_folder(name: str, parent: Path = Path("runs")) -> Path:
    """Return a folder for a new run: the name, with a number behind it if that is taken."""
    stem, number = Path(name).name.removesuffix(".yaml"), 1
    while (path := parent / (stem if number == 1 else f"{stem}-{number}")).exists():
        number += 1
    return path


def run_folder(text: str, parent: Path = Path("runs")) -> Path:
    """Return the folder of a run given by its path, or by its name under `runs`; refuse what is none."""
    for path in (given_path(text), parent / text):
        if is_run(path):
            return path
    for path in (given_path(text), parent / text):
        if (path / networks.CURRICULUM).is_file():
            stages = ", ".join(map(str, find_runs([path / networks.STAGES]))) or "none so far"
            raise BadInput(f"{path} is a curriculum; those of its stages that are runs: {stages}")
    names = ", ".join(path.name for path in find_runs([parent])) or "none"
    raise BadInput(f"{text!r} is no run; give its folder, or the name of one under {parent}: {names}")


def remove_run(folder: str | os.PathLike[str]) -> None:
    """Delete a run; refuse what is none, and one that is being trained."""
    path = Path(os.path.abspath(given_path(folder)))
    if path.is_symlink():
        raise BadInput(f"{path} is a link; name the run's folder itself")
    if not is_run(path):
        raise BadInput(f"{path} is no run: it has no {manifests.FILE} and {CONFIG}, and is left alone")
    lock = Lock(path / LOCK)
    lock.take()
    try:
        with told(path):
            doomed = part_of(path)
            remove_quietly(doomed)
            os.rename(path, doomed)  # at once, so that half a run is never taken for one
            shutil.rmtree(doomed)
    finally:
        lock.give_back()


def find_runs(parents: Sequence[Path]) -> list[Path]:
    """List the runs that folders hold, themselves included, in the order of their names."""
    found: set[Path] = set()
    for parent in parents:
        if is_run(parent):
            found.add(parent)
        elif parent.is_dir():
            found |= {path for path in parent.iterdir() if not path.name.startswith(".") and is_run(path)}
    return sorted(found)
