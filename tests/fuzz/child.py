"""One target in a process of its own.

The input that is being tried stands in a file mapped into memory, so that one which kills the process, hangs in
compiled code or eats all memory is known, too. What the process has found it writes into the folder: a find is a pair
of files, the input and what it raised.
"""

from __future__ import annotations

import faulthandler
import hashlib
import importlib.util
import json
import mmap
import os
import random
import resource
import time
import traceback
import types
from contextlib import suppress
from pathlib import Path

from fuzz.mutate import mutated
from fuzz.target import LONGEST, MEMORY, PATIENCE, Target, attempt, kept_finds

FIRST_PATIENCE = 300.0
"""seconds for an example, with which rules may have to be compiled"""
MOST_FINDS = 20
"""after which a target has enough to mend"""


class Done(Exception):
    """The time is over, or there is enough to mend."""


class Trial:
    """A target that is being tried."""

    def __init__(self, target: Target, seconds: float, folder: Path):
        self.target, self.folder = target, folder
        self.corpus = [*target.seeds(), *(path.read_bytes() for path in kept_finds(target.name))]
        self.longest = max([LONGEST, *(2 * len(seed) for seed in self.corpus)])
        self.inputs = self.read = 0
        self.places: set[str] = set()
        size = self.longest + 8
        (folder / "current").write_bytes(bytes(size))
        with (folder / "current").open("r+b") as file:
            self.current = mmap.mmap(file.fileno(), size)
        for seed in self.corpus:
            self.one(seed, FIRST_PATIENCE)  # loads what is needed, before time and memory are counted
        self.inputs = self.read = 0
        self.seconds, self.end = seconds, 0.0

    def one(self, data: bytes, patience: float = PATIENCE) -> None:
        """Try an input, and keep it if it breaks the contract."""
        data = data[: self.longest]
        self.current[: 8 + len(data)] = len(data).to_bytes(8, "little") + data
        faulthandler.dump_traceback_later(3 * patience, exit=True)  # where no Python code is reached
        self.inputs += 1
        try:
            self.read += attempt(self.target, data, patience)
        except BaseException as error:
            self.keep(data, error)
            if isinstance(error, KeyboardInterrupt):
                raise
        finally:
            faulthandler.cancel_dump_traceback_later()

    def keep(self, data: bytes, error: BaseException) -> None:
        """Write a find down, one for each place in the source."""
        frames = traceback.extract_tb(error.__traceback__)
        place = f"{type(error).__name__} " + " < ".join(f"{frame.name}:{frame.lineno}" for frame in frames[:-6:-1])
        if place in self.places:
            return
        self.places.add(place)
        stem = self.folder / hashlib.sha256(data).hexdigest()[:16]
        stem.with_suffix(".bin").write_bytes(data)
        stem.with_suffix(".txt").write_text("".join(traceback.format_exception(error)), errors="replace")

    def next(self, data: bytes) -> None:
        """Try an input while there is time."""
        self.end = self.end or time.monotonic() + self.seconds  # counted from the first input
        if time.monotonic() > self.end or len(self.places) >= MOST_FINDS:
            raise Done
        self.one(data)

    def write_figures(self, guided: bool) -> None:
        """Write down how many inputs were tried."""
        figures = {"inputs": self.inputs, "read": self.read, "guided": guided}
        (self.folder / "figures.json").write_text(json.dumps(figures))


def limit_memory() -> None:
    """Let this process take only so much more than it has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


# ---- inputs --------------------------------------------------------------------------------------


def by_mutations(trial: Trial, seed: int) -> None:
    """Try changed examples until the time is over."""
    rng = random.Random(seed)
    words = [word.encode() for word in trial.target.words]
    while True:
        trial.next(mutated(rng, trial.corpus, words, trial.longest))


def by_coverage(trial: Trial, seed: int) -> None:
    """Let atheris choose inputs that reach new branches of the target's modules; every third is a mutation of ours."""
    import atheris

    for name in trial.target.modules:
        instrument(importlib.import_module(name), atheris)
    corpus, words = trial.folder / "corpus", trial.folder / "words"
    corpus.mkdir(exist_ok=True)
    for number, example in enumerate(trial.corpus):
        (corpus / f"{number:04d}").write_bytes(example)
    words.write_text("".join(f'"{escaped(word)}"\n' for word in trial.target.words if word))
    rng, own = random.Random(seed), [word.encode() for word in trial.target.words]

    def mutate(data: bytes, most: int, number: int) -> bytes:
        if rng.random() < 0.33:
            return mutated(rng, [data, *trial.corpus], own, most)
        return bytes(atheris.Mutate(data, most))

    def one(data: bytes) -> None:
        try:
            trial.next(data)
        except Done:
            trial.write_figures(guided=True)
            os._exit(0)  # libFuzzer would not hand control back

    options = ["-timeout=0", "-rss_limit_mb=0", "-verbosity=0", f"-max_len={trial.longest}", f"-seed={seed + 1}"]
    atheris.Setup(["fuzz", *options, f"-dict={words}", str(corpus)], one, custom_mutator=mutate)
    atheris.Fuzz()


def escaped(word: str) -> str:
    """Write a word as libFuzzer's dictionaries want it."""
    return "".join(f"\\x{byte:02x}" for byte in word.encode())


def instrument(module: types.ModuleType, atheris: types.ModuleType) -> None:
    """Let a module count its branches: methods of its classes, and functions where Numba compiles none of them."""
    compiles = hasattr(module, "njit") or hasattr(module, "implements")
    for thing in list(vars(module).values()):
        if getattr(thing, "__module__", None) != module.__name__:
            continue
        for function in vars(thing).values() if isinstance(thing, type) else [] if compiles else [thing]:
            if isinstance(function, types.FunctionType):
                with suppress(Exception):  # a few kinds of functions cannot be; they count nothing then
                    atheris.instrument_func(function)


def explore(target: Target, seconds: float, folder: Path, seed: int) -> None:
    """Try one target and end the process; its output goes into the folder, too."""
    output = os.open(folder / "output", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    trial = Trial(target, seconds, folder)
    limit_memory()
    if target.modules and importlib.util.find_spec("atheris") is not None:
        by_coverage(trial, seed)
    with suppress(Done):
        by_mutations(trial, seed)
    trial.write_figures(guided=False)
    os._exit(0)  # threads of the page or of an engine may still be there


def explore_named(name: str, seconds: float, folder: Path, seed: int) -> None:
    """Try the target of a name."""
    from fuzz.targets import TARGETS

    explore(next(target for target in TARGETS if target.name == name), seconds, folder, seed)
