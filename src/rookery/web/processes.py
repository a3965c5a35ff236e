"""Training started from the page: real processes, each of which goes on when the page, or the server, is gone.

A page names settings from a list and changes some numbers in them; it never names a file. A process writes what it has
to say into `.page/NAME.log` beside the runs. Who trains a run holds its lock, so a run that others train can be stopped
from here, too, and none is ever trained twice.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from rookery.errors import BadInput
from rookery.learn.locks import holding_process
from rookery.learn.runs import LOCK, being_trained, free_folder, is_run
from rookery.learn.settings import packaged_names, read_settings
from rookery.learn.summaries import read_progress

MOST_TRAININGS = 2
"""processes of the page that train at the same time"""
LOGS = ".page"
CHANGE = re.compile(
    r"(seed|threads|device|(network|selfplay|training|checkpoints|gate)(\.[a-z_]+)+)=[\w.+-]{1,40}", re.ASCII
)
"""what a visitor may change: numbers and words, never a file, nor where figures are sent"""
LOG_BYTES = 4000
PATIENCE = 20.0  # seconds a process may take to stop when the server ends


@dataclass
class Started:
    """A process that was started here."""

    name: str
    command: tuple[str, ...]
    """what a person would type"""
    process: subprocess.Popen[bytes]
    log: Path
    outlives: bool
    """whether it goes on when the server ends"""
    ended: float = field(default=0.0)
    """when it was seen to have ended; 0 while it runs"""

    @property
    def code(self) -> int | None:
        """How the process ended, None while it runs; a negative number is the signal that ended it."""
        code = self.process.poll()
        if code is not None and not self.ended:
            self.ended = time.time()
        return code

    def last_words(self) -> str:
        """Return the end of what the process has written."""
        return log_end(self.log)


class Trainer:
    """Starts, stops and resumes runs in one folder."""

    def __init__(self, runs: Path, most: int = MOST_TRAININGS):
        self.runs, self.most = runs, most
        self.started: dict[str, Started] = {}
        self.lock = threading.Lock()

    # -- what is the case --

    @property
    def running(self) -> list[Started]:
        """The processes that were started here and have not ended."""
        return [started for started in list(self.started.values()) if started.code is None]

    def folder(self, name: str) -> Path:
        """Return the folder of a run, looked up among those there are."""
        for path in self.runs.iterdir() if self.runs.is_dir() else ():
            if path.name == name and not name.startswith(".") and is_run(path):
                return path
        raise BadInput(f"there is no run {name!r} here")

    def log(self, name: str) -> str:
        """Return the end of what the last process of a run has written, if it was started from a page."""
        known = {path.stem: path for path in (self.runs / LOGS).glob("*.log")}
        return log_end(known[name]) if name in known else ""

    # -- commands --

    def planned(self, config: str, games: int | None, seed: int | None, changes: Sequence[str]) -> tuple[str, ...]:
        """Return the command that starts a run, checked; BadInput says what is wrong with it."""
        if config not in packaged_names():
            raise BadInput(f"there are no settings {config!r}; there are {', '.join(packaged_names())}")
        numbers = (("selfplay.games", games), ("seed", seed))
        sets = [f"{key}={value:d}" for key, value in numbers if value is not None]
        for change in changes:
            if not CHANGE.fullmatch(change):
                raise BadInput(f"a change reads section.key=value, with a number or a word, not {change!r}")
            sets.append(change)
        read_settings(config, sets)
        folder = self.free(config)
        told = [part for change in sets for part in ("--set", change)]
        return ("rookery", "train", config, *told, "--folder", str(folder))

    def free(self, config: str) -> Path:
        """Return a folder for a new run that no process is about to make."""
        number, taken = 1, {started.name for started in self.running}
        while (path := free_folder(config if number == 1 else f"{config}-{number}", self.runs)).name in taken:
            number += 1
        return path

    def start(
        self, config: str, games: int | None, seed: int | None, changes: Sequence[str], outlives: bool = True
    ) -> Started:
        """Start a new run."""
        with self.lock:
            command = self.planned(config, games, seed, changes)
            return self.launch(Path(command[-1]).name, command, outlives)

    def resumed(self, name: str) -> tuple[str, ...]:
        """Return the command that goes on with a run."""
        return ("rookery", "resume", str(self.folder(name)))

    def resume(self, name: str, outlives: bool = True) -> Started:
        """Go on with a run; one that is trained or complete is refused."""
        with self.lock:
            folder, before = self.folder(name), self.started.get(name)
            if being_trained(folder) or (before is not None and before.code is None):
                raise BadInput(f"{name} is being trained already")
            if (read_progress(folder) or {}).get("status") == "complete":
                raise BadInput(f"{name} is complete")
            return self.launch(name, self.resumed(name), outlives)

    def launch(self, name: str, command: tuple[str, ...], outlives: bool) -> Started:
        """Start a process in a session of its own, so that an interrupt of the server does not reach it."""
        if len(self.running) >= self.most:
            raise BadInput(f"{self.most} runs are trained from here already; stop one first")
        log = self.runs / LOGS / f"{name}.log"
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open("ab") as output:
                output.write(f"$ {shlex.join(command)}\n".encode())
                output.flush()
                process = subprocess.Popen(
                    [sys.executable, "-m", *command], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                    start_new_session=True,
                )  # fmt: skip
        except OSError as error:
            raise BadInput(f"{name} cannot be started: {error.strerror or error}") from None
        self.started[name] = Started(name, command, process, log, outlives)
        return self.started[name]

    def stop(self, name: str) -> None:
        """Ask whoever trains a run to stop; it saves what it has first."""
        started = self.started.get(name)
        if started is not None and started.code is None:
            started.process.terminate()
            return
        path = self.folder(name) / LOCK
        process = holding_process(path)
        if process is None:
            raise BadInput(f"nobody on this machine trains {name}")
        try:
            os.kill(process, signal.SIGTERM)
        except OSError as error:
            raise BadInput(f"process {process} cannot be stopped: {error.strerror}") from None

    def close(self) -> None:
        """Stop what is not to outlive the server."""
        ending = [started for started in self.running if not started.outlives]
        for started in ending:
            started.process.terminate()
        for started in ending:
            with suppress(subprocess.TimeoutExpired):  # it has been told, and loses nothing
                started.process.wait(PATIENCE)


def log_end(path: Path) -> str:
    """Return the last lines of a file."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - LOG_BYTES))
            return file.read().decode("utf-8", "replace").strip()
    except OSError:
        return ""
