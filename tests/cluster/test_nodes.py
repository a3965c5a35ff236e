"""Joining a cluster: what is refused, and with which words."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from cluster.conftest import ROOM, on_nodes
from rookery.cluster.nodes import Cluster, imported_ray, unreachable
from rookery.errors import BadInput
from support import ROOT


def test_without_ray_the_remedy_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    with pytest.raises(BadInput, match=r"pip install 'rookery\[cluster\]'"):
        imported_ray()


def test_a_cluster_without_tokens_is_refused(monkeypatch):
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    with pytest.raises(BadInput, match="RAY_AUTH_MODE is 'disabled'"):
        imported_ray()


@pytest.mark.parametrize("version", ["2.51.2", "1.13.0"])
def test_a_version_of_ray_that_knows_no_tokens_is_refused(monkeypatch, version):
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(__version__=version))
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    with pytest.raises(BadInput, match=f"Ray {version} knows no tokens"):
        imported_ray()


def test_there_is_a_worker_for_each_card_or_else_for_each_processor():
    assert Cluster(processors=8, cards=2).room(on_cards=True) == 2
    assert Cluster(processors=8, cards=2).room(on_cards=False) == 8
    assert Cluster(processors=8, cards=0).room(on_cards=True) == 8


def free_address() -> str:
    """Return an address of this machine at which nobody answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


def test_an_address_at_which_nobody_answers_is_known():
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert not unreachable(f"127.0.0.1:{server.getsockname()[1]}")
    assert "refused" in unreachable(free_address())
    assert "HOST:PORT" in unreachable("10.0.0.1")
    assert "HOST:PORT" in unreachable("")
    assert unreachable("127.0.0.1:99999999")
    assert unreachable(f"{'a' * 70}.:6379")  # no name of a machine
    assert not unreachable("auto")


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    ["train pylos_quick", "train gomoku_curriculum", "study chess --preset quick --only lessons --folder runs"],
)
def test_a_wrong_address_without_a_token_is_named_and_leaves_nothing_behind(tmp_path, command):
    address = free_address()
    own = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    done = subprocess.run(
        [sys.executable, "-m", "rookery", *command.split(), "--ray", address], cwd=tmp_path, timeout=300,
        env=own | {"HOME": str(tmp_path / "home")}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert f"--ray {address}: no cluster is joined there" in " ".join(done.stderr.split())
    assert "token" not in done.stderr
    assert not (tmp_path / "runs").exists()


@contextmanager
def open_cluster():
    """Start a node of a cluster that asks for no token; yield its address."""
    address = free_address()
    folder = tempfile.mkdtemp(prefix="ray", dir="/tmp")  # names of sockets must be short
    command = [
        "ray.scripts.scripts",
        "start",
        "--head",
        "--block",
        "--port",
        address.partition(":")[2],
        "--num-cpus",
        "1",
    ]
    more = ["--include-dashboard", "false", "--disable-usage-stats", "--temp-dir", folder, "--object-store-memory"]
    own = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    node = subprocess.Popen(
        [sys.executable, "-m", *command, *more, str(ROOM)], env=own | {"RAY_AUTH_MODE": "disabled"},
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert any("block forever" in line for line in node.stdout), "it did not start"
        yield address
    finally:
        node.terminate()
        node.communicate(timeout=60)
        shutil.rmtree(folder, ignore_errors=True)


@on_nodes
def test_a_cluster_that_asks_nobody_for_a_token_is_left_at_once():
    with open_cluster() as address:
        program = f"from rookery.cluster.nodes import joined\nwith joined({address!r}): print('in')"
        done = subprocess.run(
            [sys.executable, "-c", program], env=os.environ | {"RAY_AUTH_TOKEN": "7" * 64}, timeout=300,
            capture_output=True, text=True,
        )  # fmt: skip
    assert "in" not in done.stdout.split()
    assert f"the cluster at {address} asks nobody for a token" in done.stderr


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of Ray's own
def test_the_commands_of_ray_on_the_page_are_such_as_it_takes():
    from ray.scripts.scripts import cli

    typed = re.findall(r"^    (ray .*)$", (ROOT / "docs" / "cluster.md").read_text(), re.M)
    assert len(typed) >= 3
    for line in typed:
        name, *words = shlex.split(line, comments=True)[1:]
        cli.commands[name].make_context(name, words)
