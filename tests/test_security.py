"""What SECURITY.md claims, where no other test checks it; and that the tests it names are there."""

from __future__ import annotations

import ast
import io
import json
import re
import tracemalloc
import zipfile

import numpy as np
import pytest

from arena.scripted import command, turn_at
from rookery.arena.players import make_player
from rookery.errors import BadInput
from rookery.games.library import load
from rookery.learn.settings import read_settings
from rookery.learn.yaml_text import read_yaml
from rookery.studies.archives import digest
from rookery.studies.domineering_files import read_games
from rookery.studies.texas42_files import FORMAT, MOST_UNPACKED, SCHEMAS, VERSION, read_shard
from support import ROOT

PAGE = (ROOT / "SECURITY.md").read_text()


def test_every_test_that_is_named_is_there():
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)
    assert len(named) > 15
    for path, name in named:
        tree = ast.parse((ROOT / path).read_text())
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, (path, name)


def archived(arrays, claimed=None):
    """Return an archive of arrays, packed; `claimed` are bytes that stand in the place of the first array."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            content = io.BytesIO()
            np.lib.format.write_array(content, array, allow_pickle=True)
            archive.writestr(f"{name}.npy", claimed or content.getvalue())
            claimed = None
    return buffer.getvalue()


def shard(folder, content):
    """Write a shard with what lies beside it."""
    path = folder / "00000.npz"
    path.write_bytes(content)
    facts = {"format": FORMAT, "version": VERSION, "kind": "positions", "rows": 1, "sha256": digest(content)}
    path.with_suffix(".json").write_text(json.dumps(facts))
    return path


class Trap:
    """What makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_arrays_of_objects_are_refused(tmp_path):
    trap = np.array([Trap(tmp_path / "ran")], dtype=object)
    games = tmp_path / "games.npz"
    games.write_bytes(archived({"moves": trap, "lengths": trap, "winners": trap}))
    with pytest.raises(BadInput, match="Python objects"):
        read_games(games)
    with pytest.raises(BadInput, match="Python objects"):
        read_shard(shard(tmp_path, archived(dict.fromkeys(SCHEMAS["positions"], trap))))
    assert not (tmp_path / "ran").exists()


def test_a_shard_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("rookery.studies.texas42_files.MOST_UNPACKED", 1 << 20)
    assert MOST_UNPACKED == 1 << 30
    zeros = np.zeros(8 << 20, np.int64)
    content = archived(dict.fromkeys(SCHEMAS["positions"], zeros[:1]), archived_array(zeros))
    del zeros
    path = shard(tmp_path, content)
    assert len(content) < 200_000
    tracemalloc.start()
    with pytest.raises(BadInput, match="array seed would have"):
        read_shard(path)
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()


def archived_array(array):
    """Return an array as a file of NumPy's."""
    content = io.BytesIO()
    np.lib.format.write_array(content, array, allow_pickle=False)
    return content.getvalue()


@pytest.mark.parametrize(
    "text", ["!!python/object/apply:os.mkdir [ran]", "a: !!python/name:os.mkdir", "!!python/object/new:open [ran, w]"]
)
def test_yaml_runs_no_python(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match=r"tag:yaml\.org,2002:python"):
        read_yaml(text, "settings")
    assert not (tmp_path / "ran").exists()


@pytest.fixture
def planted(tmp_path):
    """Write a program that calls itself a game; return its path and the trace it leaves."""
    trace, path = tmp_path / "ran", tmp_path / "planted.py"
    path.write_text(f"open({str(trace)!r}, 'w').close()\n")
    return path, trace


def test_a_game_file_is_a_program(planted):
    path, trace = planted
    with pytest.raises(BadInput, match="no game is registered"):
        load(path)
    assert trace.exists()


def test_settings_run_the_game_file_they_name(planted, tmp_path):
    path, trace = planted
    settings = tmp_path / "settings.yaml"
    settings.write_text(f"game: {path}\nnetwork: {{kind: residual, observation: basic}}\n")
    with pytest.raises(BadInput, match="no game is registered"):
        read_settings(settings)
    assert trace.exists()


@pytest.mark.xdist_group("chess")
def test_an_engine_is_a_program(tmp_path):
    trace, game = tmp_path / "ran", load("chess")
    player = make_player(f"uci:{command('uci_good', trace)},time=0.05", game)
    try:
        assert not trace.exists()  # a text alone starts nothing
        player.choose(turn_at(game.start()))
        assert trace.exists()
    finally:
        player.close()
