"""Compiled code never outlives its source, and comes back whole in a fresh process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numba
import pytest

from rookery import load
from rookery.games import cache as cache_module
from rookery.search.playout import random_games
from support import CONNECT_FOUR, NAMES, ROOT, run_python

KEY_AFTER_A_MOVE = """
import rookery
position = rookery.load("domineering", rows=4, cols=4).start()
position.play(0)
print(position.key, position.observe("tokens").sum())
"""


@pytest.fixture(name="copied")
def fixture_copied(tmp_path: Path) -> Path:
    """A copy of the package that can be edited."""
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "src"


def run_copy(copied: Path, cache: Path) -> list[float]:
    code = f"import sys; sys.path.insert(0, {str(copied)!r})\n{KEY_AFTER_A_MOVE}"
    return [float(word) for word in run_python(code, cache=cache).split()]


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_an_edit_of_a_rule_and_of_what_it_calls_in_another_file_takes_effect(copied, tmp_path):
    cache = tmp_path / "cache"
    key, tokens = run_copy(copied, cache)
    edit(copied / "rookery/games/domineering.py", "return 2.0 if kind == TOKENS", "return 9.0 if kind == TOKENS")
    assert run_copy(copied, cache) == [key, tokens + 7]
    edit(copied / "rookery/games/rng.py", "0xBF58476D1CE4E5B9", "0xBF58476D1CE4E5BB")
    assert run_copy(copied, cache)[0] != key
    assert len(list(cache.iterdir())) == 3


GAME_LENGTHS = """
import sys
from rookery import load
from rookery.search.playout import random_games
print(random_games(load(sys.argv[1]), 100).plies.tolist())
"""


def test_an_edited_game_file_is_compiled_anew_in_the_next_process(tmp_path):
    path = tmp_path / "my_game.py"
    shutil.copy(CONNECT_FOUR, path)
    cache = tmp_path / "cache"
    before = json.loads(run_python(GAME_LENGTHS, str(path), cache=cache))
    edit(path, "2 * step", "1 * step")  # three in a line are enough
    after = json.loads(run_python(GAME_LENGTHS, str(path), cache=cache))
    assert sum(after) < sum(before)
    edit(path, "1 * step", "2 * step")
    assert json.loads(run_python(GAME_LENGTHS, str(path), cache=cache)) == before


def test_an_edited_game_file_is_compiled_anew_in_the_same_process(tmp_path):
    path = tmp_path / "my_game.py"
    path.write_text(Path(CONNECT_FOUR).read_text().replace("connect_four_mover", "edited_mover"))
    four = load(str(path))
    assert type(load(str(path))) is type(four)
    before = random_games(four, 100).plies.sum()
    edit(path, "2 * step", "1 * step")
    three = load(str(path))
    assert random_games(three, 100).plies.sum() < before
    assert random_games(four, 100).plies.sum() == before  # games in hand keep their rules


RUN_EVERYTHING = """
import json, sys
from numba.core.dispatcher import Dispatcher
from rookery import load
from rookery.games.position import fill_observation
from rookery.games.rules import rules_of
from rookery.search.playout import random_games
from rookery.search.prepare import USES, prepare

game = load(sys.argv[1])
for use in USES:
    prepare(game, use)
if game.name == "domineering":
    from rookery.games.domineering import sector_targets
    sector_targets(game.start())
if game.name == "gomoku":
    from rookery.games.gomoku import forbidden_points
    forbidden_points(load("gomoku:rule=renju,size=9").start())
kernels = {
    f"{name}.{attribute}": value
    for name, module in list(sys.modules.items()) if name.startswith(("rookery", "rookery_files"))
    for attribute, value in vars(module).items() if isinstance(value, Dispatcher)
}
called = [*rules_of(game.state.names).functions.values(), fill_observation]
called += [kernel for name, kernel in kernels.items() if name.startswith("rookery.search")]
inlined = [kernel for kernel in called if kernel.targetoptions.get("inline") == "always"]
never = [str(kernel) for kernel in called if not kernel.signatures and kernel not in inlined]
misses = sum(sum(kernel.stats.cache_misses.values()) for kernel in kernels.values())
done = random_games(game, 50, seed=5)
print(json.dumps({"never": never, "misses": misses, "keys": [int(key) for key in done.keys]}))
"""


@pytest.mark.parametrize(
    "spec",
    [CONNECT_FOUR, *(pytest.param(name, marks=pytest.mark.slow) for name in NAMES if name != "connect_four")],
)
def test_every_kernel_comes_from_the_cache_in_a_second_process(spec, tmp_path):
    first = json.loads(run_python(RUN_EVERYTHING, spec, cache=tmp_path))
    second = json.loads(run_python(RUN_EVERYTHING, spec, cache=tmp_path))
    assert first["never"] == []
    assert first["misses"] > 10
    assert second["misses"] == 0
    assert first["keys"] == second["keys"]


def test_a_cache_folder_that_cannot_be_written_is_told_and_does_no_harm(tmp_path):
    begin = time.time()
    blocked = tmp_path / "file"
    blocked.write_text("a file, not a folder")
    code = "import warnings; warnings.simplefilter('always')\n" + KEY_AFTER_A_MOVE
    done = subprocess.run(
        ["env", f"ROOKERY_CACHE={blocked}", sys.executable, "-c", code],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert f"the cache folder {blocked}" in done.stderr
    assert "set ROOKERY_CACHE" in done.stderr
    assert not [path for path in Path(tempfile.gettempdir()).glob("rookery-*") if path.stat().st_mtime > begin]


def test_the_home_of_nobody_is_a_folder_like_others(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROOKERY_CACHE", "~nobody-of-this-name/cache")
    assert cache_module.parent() == tmp_path / "~nobody-of-this-name" / "cache"


def test_every_kernel_source_and_version_is_in_the_fingerprint(copied, monkeypatch):
    monkeypatch.setattr(cache_module, "PACKAGE", copied / "rookery")
    seen = {cache_module.fingerprint()}
    for path in cache_module.kernel_sources():
        path.write_text(path.read_text() + "# edited\n")
        seen.add(cache_module.fingerprint())
    monkeypatch.setattr(numba, "__version__", "0")
    seen.add(cache_module.fingerprint())
    monkeypatch.setattr(sys, "version_info", (3, 99, 0))
    seen.add(cache_module.fingerprint())
    assert len(seen) == 3 + len(cache_module.kernel_sources())
    rooms = {path.relative_to(copied / "rookery").parts[0] for path in cache_module.kernel_sources()}
    assert rooms == {"games", "search", "learn"}


def test_every_function_compiled_into_other_files_is_in_a_kernel_source():
    known = set(cache_module.kernel_sources())
    inner = {path for path in cache_module.PACKAGE.rglob("*.py") if "\n@inner\n" in path.read_text()}
    assert inner <= known
    assert inner - {path for path in known if path.parent.name in ("games", "search")}


RACE = """
import sys, time
from numba.core.caching import IndexDataCacheFile
save_index = IndexDataCacheFile._save_index

def slowly(self, overloads):
    time.sleep(0.4)  # hold the door open in which two processes could take one name
    save_index(self, overloads)
    time.sleep(0.4)

IndexDataCacheFile._save_index = slowly
from rookery import load
print(load(sys.argv[1]).start().observe().sum())
"""


@pytest.mark.slow
def test_two_processes_that_compile_at_once_do_not_mix_their_kernels(tmp_path):
    environment = dict(os.environ) | {"ROOKERY_CACHE": str(tmp_path)}
    specs = {"domineering": 2.0, "pylos": 2.0, "gomoku": 0.0}
    running = [
        subprocess.Popen([sys.executable, "-c", RACE, spec], env=environment, stdout=subprocess.PIPE, text=True)
        for spec in specs
    ]
    assert [float(process.communicate()[0]) for process in running] == list(specs.values())
    code = RACE.replace("time.sleep(0.4)", "pass")
    assert [float(run_python(code, spec, cache=tmp_path)) for spec in specs] == list(specs.values())
