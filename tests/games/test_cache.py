"""Compiled code never outlives its source, and comes back whole in a fresh process."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rookery import load
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
from rookery.search.playout import random_games
from rookery.search.prepare import USES, prepare

game = load(sys.argv[1])
for use in USES:
    prepare(game, use)
if game.name == "domineering":
    from rookery.games.domineering import sector_targets
    sector_targets(game.start())
kernels = {
    f"{name}.{attribute}": value
    for name, module in list(sys.modules.items()) if name.startswith(("rookery", "rookery_files"))
    for attribute, value in vars(module).items() if isinstance(value, Dispatcher)
}
never = [name for name, kernel in kernels.items() if not kernel.signatures]
misses = sum(sum(kernel.stats.cache_misses.values()) for kernel in kernels.values())
done = random_games(game, 50, seed=5)
print(json.dumps({"never": never, "misses": misses, "keys": [int(key) for key in done.keys]}))
"""


@pytest.mark.parametrize("spec", [CONNECT_FOUR if name == "connect_four" else name for name in NAMES])
def test_every_kernel_comes_from_the_cache_in_a_second_process(spec, tmp_path):
    first = json.loads(run_python(RUN_EVERYTHING, spec, cache=tmp_path))
    second = json.loads(run_python(RUN_EVERYTHING, spec, cache=tmp_path))
    assert set(first["never"]) <= ({"rookery.games.rules.list_legal"} if spec != CONNECT_FOUR else set())
    assert first["misses"] > 10
    assert second["misses"] == 0
    assert first["keys"] == second["keys"]


def test_a_cache_folder_that_cannot_be_written_is_told_and_does_no_harm(tmp_path):
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
