"""Whatever once broke a reader is tried again, and the fuzzer itself is tried on readers that are broken on purpose."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys

import pytest

from fuzz.boards import GAMES
from fuzz.mutate import mutated
from fuzz.run import died, fuzzed
from fuzz.target import FINDS, Target, TookTooLong, attempt, kept_finds
from fuzz.targets import TARGETS
from support import ROOT

NAMES = [target.name for target in TARGETS]
BY_NAME = {target.name: target for target in TARGETS}
GROUPS = {"gomocup": "gomoku", "uci": "chess", "engine-answers": "chess", "chess-lines": "chess", "move": "chess"}
"""targets that need the rules of one game more than others, so that nothing is compiled twice"""


def with_marks(name):
    """Let a target's test run where its game is compiled; the whole page takes seconds to build."""
    group = GROUPS.get(name) or next((game for game in GAMES if game in name), "chess")
    slow = [pytest.mark.slow] if name in ("web-event", "web-route") else []
    return pytest.param(name, marks=[pytest.mark.xdist_group(group), *slow])


WITH_FINDS = [with_marks(name) for name in NAMES if kept_finds(name)]


@pytest.mark.parametrize("name", WITH_FINDS)
def test_what_once_broke_a_reader_is_read_or_refused(name):
    for path in kept_finds(name):
        attempt(BY_NAME[name], path.read_bytes())


def test_every_kept_find_belongs_to_a_target():
    assert {path.name for path in FINDS.iterdir()} <= set(NAMES)
    assert len(set(NAMES)) == len(NAMES)


def test_the_page_tells_of_every_target():
    page = (ROOT / "docs" / "fuzzing.md").read_text()
    assert not [name for name in NAMES if f"| `{name}` |" not in page]


def test_a_reader_that_hangs_is_interrupted():
    def forever(data):
        while True:
            pass

    with pytest.raises(TookTooLong):
        attempt(Target("forever", forever, list), b"", seconds=0.05)


def test_the_same_seed_makes_the_same_inputs():
    def some(seed):
        rng = random.Random(seed)
        return [mutated(rng, [b"abc", b"defgh"], [b"word"], 50) for _ in range(200)]

    assert some(1) == some(1) != some(2)
    assert len(set(some(1))) > 150
    assert max(map(len, some(1))) <= 50


# ---- slow ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_each_target_reads_some_of_its_examples_and_breaks_on_none(name):
    read = [attempt(BY_NAME[name], seed, seconds=300) for seed in BY_NAME[name].seeds()]
    assert any(read)


BROKEN = """
import os, sys
from pathlib import Path
from fuzz.child import explore
from fuzz.target import Target

def read(data):
    if data[:1] == sys.argv[1].encode():
        if sys.argv[1] == "!":
            raise KeyError("exclamation")
        if sys.argv[1] == "M":
            bytearray(8 << 30)
        os.abort()
    return data == b"seed"

explore(Target("broken", read, lambda: [b"seed"], (sys.argv[1],)), 2, Path(sys.argv[2]), 1)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("sign", "raised"), [("!", "KeyError"), ("M", "MemoryError"), ("D", None)])
def test_errors_too_much_memory_and_sudden_deaths_are_found(tmp_path, sign, raised):
    done = subprocess.run([sys.executable, "-c", BROKEN, sign, str(tmp_path)], timeout=120)
    if raised is None:
        assert done.returncode != 0
        assert died(tmp_path).read_bytes().startswith(b"D")
        return
    (find,) = tmp_path.glob("*.bin")
    assert done.returncode == 0
    assert find.read_bytes().startswith(sign.encode())
    assert raised in find.with_suffix(".txt").read_text()
    assert json.loads((tmp_path / "figures.json").read_text())["inputs"] > 100


# ---- some fuzzing --------------------------------------------------------------------------------


@pytest.mark.fuzz
@pytest.mark.parametrize("name", NAMES)
def test_no_input_breaks_a_reader(name, tmp_path):
    outcome = fuzzed(name, float(os.environ.get("FUZZ_SECONDS") or 3), random.randrange(2**31), tmp_path)
    assert outcome.inputs > 0
    assert not outcome.finds, "\n".join(f"{path}\n{raised}" for path, raised in outcome.finds.items())
