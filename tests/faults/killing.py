"""Processes that are killed at random moments, begun again, and compared in the end with one that nobody killed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support import ROOT

KILLS = {
    "self-play and training": 40,
    "files of a run": 20,
    "lessons and imitation": 25,
    "a curriculum": 10,
    "training of the Domineering study": 10,
    "ratings": 20,
    "matches": 10,
    "games of the Domineering study": 20,
    "shards of the Texas 42 study": 25,
    "the page": 20,
}
"""how often each kind of work is killed by the whole suite"""
STARTING = 1 / 6
"""share of the processes that are killed while they start"""
START_SECONDS = 3.0
PATIENCE = 900.0  # seconds until a process must have gone forward; it may have to compile on a busy machine


def environment() -> dict[str, str]:
    """Return what processes are begun with: wide lines, and the tests to import from."""
    found = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])
    made = os.environ | {"COLUMNS": "400", "NO_COLOR": "1", "PYTHONPATH": found}
    made.pop("PYTEST_CURRENT_TEST", None)
    return made


class Child:
    """A process of its own, and what it says."""

    def __init__(self, *command: str, **more: Any):
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=ROOT, env=environment(), **more
        )
        self.pid = self.process.pid
        self.words: list[bytes] = []
        self.listener = threading.Thread(target=self.listen, daemon=True)  # a full pipe would stop the process
        self.listener.start()

    def listen(self) -> None:
        """Take in what the process says until it ends."""
        assert self.process.stdout is not None
        with self.process.stdout as said:
            self.words.extend(said)

    def status(self) -> int | None:
        """Return how it ended; None while it runs."""
        return self.process.poll()

    def said(self) -> str:
        """Return all that it has said, once it has ended."""
        self.listener.join()
        return b"".join(self.words).decode()

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        return self.status() is not None

    def kill(self) -> int:
        """Kill it, and return how it ended."""
        if not self.ended:
            os.kill(self.pid, signal.SIGKILL)
        return self.end()[0]

    def finish(self, seconds: float = PATIENCE) -> str:
        """Let it come to its end, which must be a good one, and return what it said."""
        status, said = self.end(seconds)
        assert status == 0, said
        return said

    def end(self, seconds: float = PATIENCE) -> tuple[int, str]:
        """Let it come to its end; return how it ended and what it said."""
        limit = time.monotonic() + seconds
        while (status := self.status()) is None:
            if time.monotonic() > limit:
                self.kill()
                raise AssertionError(f"it does not end: {self.said()}")
            time.sleep(0.005)
        return status, self.said()

    def until(self, condition: Callable[[], Any], seconds: float = PATIENCE) -> None:
        """Wait until something is so, or the process has ended."""
        limit = time.monotonic() + seconds
        while not self.ended and not condition():
            if time.monotonic() > limit:
                self.kill()
                raise AssertionError(f"it does not go forward: {self.said()}")
            time.sleep(0.005)


def rookery(*arguments: str, **more: Any) -> Child:
    """Begin a command."""
    return Child(sys.executable, "-m", "rookery", *arguments, **more)


def python(code: str, *arguments: str, **more: Any) -> Child:
    """Begin a piece of code."""
    return Child(sys.executable, "-c", code, *arguments, **more)


# ---- processes that begin at once ----------------------------------------------------------------

NURSERY = """
import json, os, sys, traceback
import numba, torch
import rookery.cli, rookery.learn.curriculum, rookery.learn.rating, rookery.studies.domineering_runs
import rookery.studies.texas42_decisions, rookery.terminal
for name in sys.argv[1:]:
    __import__(name)

def live(code, arguments, words):
    status = 1
    try:
        os.dup2(os.open(words, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 1)
        os.dup2(1, 2)
        sys.argv = ["rookery", *arguments]
        exec(compile(code, "<child>", "exec"), {"__name__": "__main__"})
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
for line in sys.stdin:
    asked = json.loads(line)
    if "code" in asked:
        child = os.fork()
        if child == 0:
            live(**asked)
        found = child
    else:
        done, ended = os.waitpid(asked["process"], os.WNOHANG)
        found = os.waitstatus_to_exitcode(ended) if done else None
    print(json.dumps(found), file=answers, flush=True)
"""
"""a process that has imported everything, and forks; it begins no threads, so its children are as good as new"""


class Born(Child):
    """A child of the nursery."""

    def __init__(self, nursery: Nursery, code: str, arguments: tuple[str, ...]):
        handle, words = tempfile.mkstemp()
        os.close(handle)
        self.nursery, self.file, self.known = nursery, Path(words), None
        self.pid = nursery.ask(code=code, arguments=arguments, words=words)

    def status(self) -> int | None:
        """Return how it ended; None while it runs."""
        if self.known is None:
            self.known = self.nursery.ask(process=self.pid)
        return self.known

    def heard(self) -> str:
        """Return what it has said so far."""
        return self.file.read_text()

    def said(self) -> str:
        """Return all that it has said, once it has ended."""
        if self.file.exists():
            self.last_words = self.heard()
            self.file.unlink()
        return self.last_words


class Nursery:
    """Begins processes in no time."""

    def __init__(self, *modules: str) -> None:
        """Have the usual modules imported, and some more."""
        command, pipe = [sys.executable, "-c", NURSERY, *modules], subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, cwd=ROOT, env=environment(), text=True)

    def ask(self, **what: Any) -> Any:
        """Ask for a child, or how one ended."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def rookery(self, *arguments: str) -> Born:
        """Begin a command."""
        return Born(self, "from rookery.cli import main; main()", arguments)

    def python(self, code: str, *arguments: str) -> Born:
        """Begin a piece of code."""
        return Born(self, code, arguments)

    def close(self) -> None:
        """End it."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


@dataclass(frozen=True)
class Starter:
    """How processes are begun: as a person does, or by a nursery."""

    rookery: Callable[..., Child]
    python: Callable[..., Child]


@dataclass(frozen=True)
class Work:
    """Something that a process does, and the next one goes on with."""

    name: str
    """one of KILLS"""
    begin: Callable[[Starter], Child]
    """begin it, or go on"""
    forward: Callable[[], Any]
    """what changes whenever it goes forward"""
    seconds: float
    """a process is killed within so long after it went forward"""
    check: Callable[[], None]
    """look at what a killed process has left"""
    finished: Callable[[], None]
    """compare what a finished one has left with that of one never killed, and clear it away"""


def kill_again_and_again(work: Work, seed: int) -> None:
    """Kill a work's processes as often as KILLS says, then let one finish.

    Those that are killed while they start begin as a person begins them, the others are forked. Work that is done
    before it was killed so often is begun anew.
    """
    plain, nursery = Starter(rookery, python), Nursery()
    forked = Starter(nursery.rookery, nursery.python)
    try:
        draw, killed, begun = random.Random(seed), 0, 0
        while killed < KILLS[work.name]:
            begun += 1
            assert begun < 3 * KILLS[work.name], "it is done before it can be killed; give it more to do"
            starts = draw.random() < STARTING
            seconds = draw.uniform(0, START_SECONDS if starts else work.seconds)
            before, child = work.forward(), work.begin(plain if starts else forked)
            if not starts:
                child.until(lambda before=before: work.forward() != before)
            time.sleep(seconds)
            status = child.kill()
            when = "after it began" if starts else "after it went forward"
            print(f"{work.name}, seed {seed}, kill {killed}: {seconds:.3f} s {when}, status {status}")
            if status == -signal.SIGKILL:
                killed += 1
                work.check()
            else:
                assert status == 0, child.said()
                work.finished()
        work.begin(forked).finish()
        work.finished()
    finally:
        nursery.close()
