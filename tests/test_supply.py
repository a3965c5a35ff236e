"""What Rookery is made of and what it asks for: pinned files, licences, and no network."""

from __future__ import annotations

import importlib.util
import os
import re
import socket
import subprocess
import sys
import time
import tomllib
import urllib.request
from importlib.machinery import SourceFileLoader

import pytest

from arena.scripted import random_lc0_network
from learn.tiny_runs import tiny_file
from support import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NOT_ALL_GPL = {"docutils"}
"""packages of several parts, of which one that is never imported (an editor's mode, in docutils) is under the GPL"""


def script(name):
    """Load a script of .ci as a module."""
    loader = SourceFileLoader(name, str(ROOT / ".ci" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode  # a script has no place for compiled code
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = before
    return module


LICENCES = script("licences")


# ---- pins ----------------------------------------------------------------------------------------


def pins_of(path):
    """Return the versions that a file pins, and the rest of each line."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    split = [re.fullmatch(r"([\w.-]+)==([\w.]+)(?:\+\w+)?\s*(.*)", line) for line in lines]
    return {LICENCES.plain(found[1]): (found[2], found[3]) for found in split}


def test_ci_installs_the_constrained_versions_each_by_its_hash():
    pinned, constrained = pins_of(ROOT / ".ci" / "requirements.txt"), pins_of(ROOT / "constraints.txt")
    for name, (version, rest) in pinned.items():
        assert re.fullmatch(r"(--hash=sha256:[0-9a-f]{64}\s*)+", rest), name
        assert constrained.get(name, ("missing",))[0] == version, f"{name}: run .ci/pin"


def test_ci_installs_all_that_is_needed():
    wanted = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"], "hatchling", "editables"]
    pinned = pins_of(ROOT / ".ci" / "requirements.txt")
    missing = {LICENCES.plain(re.match(r"[\w.-]+", text)[0]) for text in wanted} - set(pinned)
    assert not missing, "run .ci/pin"


def test_ci_takes_nothing_without_a_hash():
    told = (ROOT / ".ci" / "run").read_text()
    installs = [line for line in told.splitlines() if "pip install" in line]
    assert len(installs) == 2
    assert "--require-hashes -r .ci/requirements.txt" in installs[0]
    assert "--no-deps --no-build-isolation -e ." in installs[1]


# ---- licences ------------------------------------------------------------------------------------


def is_gpl(licence):
    """Tell whether a licence is the GPL or AGPL; the lesser one is another."""
    return bool(re.search(r"(?<!L)(?<!Lesser )\bA?GPL|(?<!Lesser )General Public License", licence))


def test_the_gpl_is_told_from_other_licences():
    for text in ("GPL-3.0-or-later", "AGPL-3.0", "GNU General Public License v3 or later (GPLv3+)", "GPLv2"):
        assert is_gpl(text), text
    for text in ("LGPL-2.1", "GNU Lesser General Public License v3 (LGPLv3)", "MIT", "Apache-2.0 AND MIT", "MPL-2.0"):
        assert not is_gpl(text), text


def test_every_package_that_is_needed_is_listed_and_none_at_run_time_is_under_the_gpl():
    page = (ROOT / "docs" / "licences.md").read_text()
    run_time = page.partition("## Needed at run time")[2].partition("\n## ")[0]
    needed = LICENCES.needed(PROJECT["dependencies"])
    assert len(needed) > 50
    for name, licence in needed.items():
        assert f"| {name} |" in run_time, f"{name}: run .ci/licences"
        assert not is_gpl(licence) or name in NOT_ALL_GPL, (name, licence)
    for name in LICENCES.needed(PROJECT["optional-dependencies"]["dev"]):
        assert f"| {name} |" in page, f"{name}: run .ci/licences"


def test_every_package_that_is_asked_for_is_listed_or_told_to_be_missing():
    page = (ROOT / "docs" / "licences.md").read_text()
    missing = re.findall(r"[\w-]+", " ".join(re.findall(r"^Not installed there, .*: (.*)\.$", page, re.M)))
    for title, requirements in LICENCES.requirements_of(PROJECT).items():
        for text in requirements:
            name = LICENCES.plain(re.match(r"[\w.-]+", text)[0])
            assert f"| {name} |" in page or name in missing, f"{title}, {name}: run .ci/licences"


def test_nothing_in_src_imports_python_chess():
    imports = re.compile(r"^\s*(?:import|from)\s+chess\b|import_module\(.chess\b", re.M)
    assert imports.search("    import chess\n")
    assert imports.search("from chess.engine import Limit")
    for path in (ROOT / "src").rglob("*.py"):
        assert not imports.search(path.read_text()), path


# ---- no network ----------------------------------------------------------------------------------

WATCH = """
import os, sys

def local(host):
    return host in (None, "", b"", "localhost", "::1", "::", "0.0.0.0") or str(host).startswith("127.")

def watch(event, arguments):
    if event in ("socket.connect", "socket.sendto"):
        address = arguments[1]
        far = isinstance(address, tuple) and not local(address[0])
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        far = not local(arguments[0])
    else:
        return
    if far:
        with open(os.environ["NETWORK_LOG"], "a") as log:
            log.write(f"{event} {arguments} by {sys.argv}\\n")
        raise OSError("no network")

sys.addaudithook(watch)
"""


@pytest.fixture
def watched(tmp_path, monkeypatch):
    """Let every Python that is started note, and be refused, any way to another machine; return the log."""
    folder = tmp_path / "watch"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(WATCH)
    log = tmp_path / "network.log"
    log.touch()
    path = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path))
    for name, value in {"NETWORK_LOG": log, "ROOKERY_LEDGER": tmp_path / "games.db", "ROOKERY_WEB": tmp_path}.items():
        monkeypatch.setenv(name, str(value))
    return log


def test_the_watch_sees_a_way_to_another_machine(watched):
    code = "import socket\ntry: socket.create_connection(('192.0.2.1', 80), timeout=1)\nexcept OSError as e: print(e)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "no network\n"
    assert "192.0.2.1" in watched.read_text()


QUICK_RATING = ["--games", "2", "--round-robin-games", "2", "--search-iters", "4", "--references", "none"]
COMMANDS = {
    "play": [["play", "pylos", "--seat", "none", "--against", "random"]],
    "match": [["match", "random", "mcts:sims=8", "--game", "pylos", "--games", "2"], ["ratings", "pylos"]],
    "train": [
        ["train", "tiny.yaml", "--set", "selfplay.games=12", "--folder", "run"], ["resume", "run"],
        ["elo", "run", *QUICK_RATING], ["check", "run"], ["runs", "."],
    ],
    "study": [
        ["study", "domineering", "data", "--games", "60", "--folder", "data", "--threads", "1"], ["check", "data"],
        ["study", "texas42", "data", "--kind", "positions", "--source", "random", "--games", "2", "--threads", "1",
         "--folder", "study"],
    ],
    "zoo": [["zoo"], ["check", "zoo:pylos", "--positions", "16"]],
    "lc0": [["lc0", "eval", "NETWORK", "startpos"]],
    "doctor": [["doctor"], ["games"]],
}  # fmt: skip
FOUND_SOMETHING = 1  # exit status of `check`, which in a run so small it may


@pytest.mark.slow
@pytest.mark.parametrize("kind", COMMANDS)
def test_commands_ask_no_other_machine(kind, watched, tmp_path):
    tiny_file(tmp_path)
    for words in COMMANDS[kind]:
        words = [random_lc0_network() if word == "NETWORK" else word for word in words]
        done = subprocess.run(
            [sys.executable, "-m", "rookery", *words], capture_output=True, text=True, timeout=600, cwd=tmp_path
        )
        fine = (0, FOUND_SOMETHING) if words[0] == "check" else (0,)
        assert done.returncode in fine, f"{words}: {done.stderr}"
        assert "Traceback" not in done.stderr
    assert watched.read_text() == ""


@pytest.mark.slow
def test_the_page_asks_no_other_machine(watched, tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "rookery", "serve", "--port", str(port), "--folder", str(tmp_path / "web")]
    own = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}  # NiceGUI looks for it
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=tmp_path, env=own)
    try:
        pages = [loaded(f"http://127.0.0.1:{port}{address}", server) for address in ("/", "/arena", "/training")]
    finally:
        server.terminate()
        server.communicate(timeout=60)
    for page in pages:
        foreign = re.findall(r"""(?:src|href)=["'](?:https?:)?//([^/"']+)""", page)
        assert not foreign
    assert watched.read_text() == ""


def loaded(address, server):
    """Load a page once the server answers."""
    end = time.monotonic() + 300
    while True:
        try:
            with urllib.request.urlopen(address, timeout=60) as answer:
                return answer.read().decode()
        except OSError:
            assert server.poll() is None, server.stdout.read().decode()
            assert time.monotonic() < end
            time.sleep(0.5)
