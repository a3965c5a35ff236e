"""What this installation has, what is missing, and how to get it."""

from __future__ import annotations

import importlib
import multiprocessing
import platform
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rookery import __version__
from rookery.benchmarks.machine import cpu_name
from rookery.benchmarks.rules import all_games
from rookery.errors import BadInput
from rookery.games import cache
from rookery.games.library import load
from rookery.search.prepare import CARD_USES, USES, prepare
from rookery.search.threads import cores

NEEDED = (
    "numpy", "numba", "llvmlite", "torch", "safetensors", "pydantic", "PyYAML", "matplotlib", "nicegui", "typer",
    "rich",
)  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """One line of the report; `remedy` is set where something is missing."""

    topic: str
    found: str
    remedy: str | None = None


def packages() -> list[Finding]:
    """Report the versions of what Rookery is built on, and of what would add to it."""
    needed = [Finding(name, installed(name) or "missing") for name in NEEDED]
    tracking = dict.fromkeys(("tensorboard", "wandb"), "rookery[tracking]")
    peers = dict.fromkeys(("open_spiel", "mctx", "pgx"), "rookery[peers]")
    cluster = dict.fromkeys(("ray", "lightning-fabric"), "rookery[cluster]")
    optional = {"numba-cuda": "rookery[cuda]", "onnx": "rookery[export]"} | cluster | peers | tracking
    for name, extra in optional.items():
        found = installed(name)
        needed.append(Finding(name, found or "not installed", None if found else f"pip install '{extra}'"))
    return needed


def installed(name: str) -> str | None:
    """Return the version of a package, if there is one."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def threading_layer() -> str:
    """Say which threading layer Numba would use for parallel kernels, and with how many threads."""
    import numba

    for layer, module in (("tbb", "tbbpool"), ("omp", "omppool"), ("workqueue", "workqueue")):
        try:
            importlib.import_module(f"numba.np.ufunc.{module}")
        except ImportError:
            continue
        return f"{layer}, {numba.config.NUMBA_NUM_THREADS} threads"
    return "none found"


def has_card() -> bool:
    """Tell whether kernels can run on a card."""
    try:
        from rookery.search.cuda import why_not
    except BadInput:
        return False
    return why_not() is None


def card() -> Finding:
    """Report the CUDA card."""
    if not installed("numba-cuda"):
        return Finding("card", "not looked for: numba-cuda is not installed", "pip install 'rookery[cuda]'")
    try:
        from rookery.search.cuda import cuda, why_not
    except BadInput as error:
        return Finding("card", str(error))
    reason = why_not()
    if reason:
        return Finding("card", reason)
    device = cuda.get_current_device()
    name = device.name.decode() if isinstance(device.name, bytes) else device.name
    return Finding("card", f"{name}, compute capability {'.'.join(map(str, device.compute_capability))}")


def folder_size(path: Path) -> int:
    """Sum the sizes of the files under a folder."""
    total = 0
    for file in path.rglob("*"):
        with suppress(OSError):  # another process may compile, and rename what it has written
            total += file.stat().st_size if file.is_file() else 0
    return total


def compile_cache() -> Finding:
    """Report where compiled kernels lie, and whether old ones take room."""
    here = cache.folder()
    others = [path for path in here.parent.iterdir() if path.is_dir() and path != here]
    megabytes = folder_size(here) / 1e6
    old = sum(folder_size(path) for path in others) / 1e6 if here.parent == cache.parent() else 0.0
    found = f"{here}, {megabytes:.1f} MB"
    if old > 0:
        return Finding("cache", f"{found}; {old:.1f} MB of other versions beside it, which may be deleted")
    return Finding("cache", found)


def examine() -> list[Finding]:
    """Look at everything."""
    return [
        Finding("rookery", __version__),
        Finding("python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"),
        *packages(),
        Finding("processor", f"{cpu_name()}, {cores()} cores"),
        Finding("threads", threading_layer()),
        card(),
        compile_cache(),
    ]


def compile_all(report: Callable[[str, str, float], None]) -> float:
    """Compile every use of every game, games side by side in processes of their own.

    `report` gets game, use and seconds of each. Returns all seconds.
    """
    first, specs = time.perf_counter(), all_games()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(cores(), len(specs)), mp_context=context) as processes:
        for times in processes.map(compile_game, specs):
            for times_of_use in times:
                report(*times_of_use)
    return time.perf_counter() - first


def compile_game(spec: str) -> list[tuple[str, str, float]]:
    """Compile every use of a game; return its name, the use and the seconds of each."""
    begin, times = time.perf_counter(), []
    game = load(spec)  # compiles the rules of a game from a file
    for use in [*USES, *(CARD_USES if has_card() else ())]:
        prepare(game, use)
        times.append((game.name, use, time.perf_counter() - begin))
        begin = time.perf_counter()
    return times
