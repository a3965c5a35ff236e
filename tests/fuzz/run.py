"""Fuzz all targets, or those that are named: `python -m fuzz.run [NAME ...]`; `make fuzz` does all for ten minutes.

FUZZ_SECONDS sets the seconds for each target, FUZZ_SEED the seed, FUZZ_JOBS how many targets are tried at a time. A
find is copied to tests/fuzz/finds, from where the tests replay it ever after, and told with what it raised.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.child import explore_named
from fuzz.target import FINDS
from fuzz.targets import TARGETS

IN_ALL = 600.0  # seconds for all targets, unless FUZZ_SECONDS says something else
LOADING = 400.0  # seconds until a target has compiled and loaded what it needs, and for an input that hangs
SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["fuzz.targets"])  # which takes seconds, for all targets once


@dataclass
class Outcome:
    """What came of a target."""

    name: str
    inputs: int = 0
    read: int = 0
    """inputs that gave a value"""
    guided: bool = False
    seconds: float = 0.0
    finds: dict[Path, str] = field(default_factory=dict)
    """inputs that broke the contract, and what they raised"""

    @property
    def line(self) -> str:
        """The outcome in one line."""
        how = "coverage" if self.guided else "mutations"
        return (
            f"{self.name:22} {self.inputs:>10,} {self.read:>10,}  {how:9} {self.seconds:>5.0f} s {len(self.finds):>5}"
        )


def fuzzed(name: str, seconds: float, seed: int, keep: Path = FINDS) -> Outcome:
    """Fuzz one target in a process of its own; finds go into a folder of its name under `keep`."""
    outcome, began = Outcome(name), time.monotonic()
    with tempfile.TemporaryDirectory() as told:
        folder = Path(told)
        process = SERVER.Process(target=explore_named, args=(name, seconds, folder, seed), daemon=True)
        process.start()
        process.join(seconds + LOADING)
        process.kill()
        process.join()
        found = {path: path.with_suffix(".txt").read_text() for path in folder.glob("*.bin")}
        if process.exitcode:
            output = (folder / "output").read_text(errors="replace") if (folder / "output").exists() else ""
            found[died(folder)] = f"the process ended with {process.exitcode}\n{output[-3000:]}"
        for path, raised in found.items():
            outcome.finds[kept(path, keep / name)] = raised
        if (folder / "figures.json").exists():
            figures = json.loads((folder / "figures.json").read_text())
            outcome.inputs, outcome.read, outcome.guided = figures["inputs"], figures["read"], figures["guided"]
    outcome.seconds = time.monotonic() - began
    return outcome


def died(folder: Path) -> Path:
    """Return the input on which a process died, as a file."""
    path, current = folder / "died.bin", folder / "current"
    content = current.read_bytes() if current.exists() else bytes(8)
    path.write_bytes(content[8 : 8 + int.from_bytes(content[:8], "little")])
    return path


def kept(path: Path, folder: Path) -> Path:
    """Copy a find to where it is kept."""
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / path.name
    number = 1
    while path.name == "died.bin" and place.exists():
        place, number = folder / f"died-{number}.bin", number + 1
    shutil.copyfile(path, place)
    return place


def main() -> int:
    """Fuzz, print a line a target and all finds; the status is 1 if there are any."""
    names = sys.argv[1:] or [target.name for target in TARGETS]
    unknown = [name for name in names if name not in {target.name for target in TARGETS}]
    if unknown:
        print(f"there is no target {unknown[0]!r}; there are {', '.join(target.name for target in TARGETS)}")
        return 2
    seconds = float(os.environ.get("FUZZ_SECONDS") or IN_ALL / len(names))
    seed, jobs = int(os.environ.get("FUZZ_SEED") or 0), int(os.environ.get("FUZZ_JOBS") or os.cpu_count() or 1)
    print(f"{'target':22} {'inputs':>10} {'read':>10}  {'guided by':9} {'time':>7} {'finds':>5}")
    outcomes = []
    with ThreadPoolExecutor(jobs) as pool:
        for outcome in pool.map(lambda name: fuzzed(name, seconds, seed), names):
            print(outcome.line, flush=True)
            outcomes.append(outcome)
    for outcome in outcomes:
        for path, raised in outcome.finds.items():
            print(f"\n==== {outcome.name}: {path}\n{raised}")
    return int(any(outcome.finds for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
