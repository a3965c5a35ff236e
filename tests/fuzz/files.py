"""Readers of files that are no text: data of the studies, networks, the ledger, lessons."""

from __future__ import annotations

import io
import json
import warnings
import zipfile
from collections.abc import Callable
from functools import cache

import numpy as np
import torch

from fuzz.boards import folder, in_file
from fuzz.target import Target, accepts, same
from fuzz.texts import JSON_WORDS, sample_record
from lc0_files import KINDS, random_net
from nets.samples import KINDS as NETWORKS
from rookery.arena.ledger import Ledger
from rookery.games.library import load
from rookery.games.texas42 import record
from rookery.learn.lessons import load_lessons
from rookery.learn.snapshots import Snapshot, load_snapshot, save_snapshot
from rookery.nets.files import About, load_network, pth_bytes, safetensors_bytes
from rookery.nets.lc0.files import file_bytes
from rookery.nets.lc0.files import read_bytes as read_weights
from rookery.nets.lc0.stored import network_of
from rookery.nets.residual import build
from rookery.studies.archives import digest
from rookery.studies.domineering_files import GameRecords, archive_of, read_games, write_games
from rookery.studies.texas42_files import FORMAT, SCHEMAS, VERSION, read_shard
from rookery.studies.texas42_files import archive_of as shard_of
from support import random_walk

MOST_UNPACKED = 64 << 20
"""bytes of a weight file, unpacked; the usual limit is more than a target may take"""


def refused(read: Callable[[bytes], object]) -> Callable[[bytes], bool]:
    """Make a target's function of one that reads bytes and raises BadInput."""

    def read_bytes(data: bytes) -> bool:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return accepts(read, data)

    return read_bytes


# ---- data of the studies -------------------------------------------------------------------------


def read_domineering(data: bytes) -> None:
    """Read games, write them and read them again."""
    records = read_games(in_file("games.npz", data))
    path = folder() / "again.npz"
    write_games(path, records, {})
    same(archive_of(read_games(path)), archive_of(records))


def domineering_seeds() -> list[bytes]:
    """Write a random game, and none."""
    game, rng = load("domineering"), np.random.default_rng(0)
    position, moves = game.start(), np.full((1, 128), -1, np.int16)
    ply = 0
    while not position.over:
        moves[0, ply] = rng.choice(position.legal())
        position.play(int(moves[0, ply]))
        ply += 1
    lengths = np.array([ply], np.int16)
    one = GameRecords(moves, lengths, lengths % 2 == 1, np.zeros(moves.shape, np.bool_))
    return [archive_of(one), archive_of(one[:0])]


def read_texas42(data: bytes) -> None:
    """Read a shard whose checksum fits; its first byte chooses the kind."""
    kinds = tuple(SCHEMAS)
    kind, content = kinds[data[0] % 2 if data else 0], data[1:]
    path = in_file("00000.npz", content)
    facts = {"format": FORMAT, "version": VERSION, "kind": kind, "rows": 1, "sha256": digest(content)}
    path.with_suffix(".json").write_text(json.dumps(facts))
    found, rows = read_shard(path)
    same(found, kind)
    again = shard_of(kind, rows)
    path.write_bytes(again)
    path.with_suffix(".json").write_text(json.dumps(facts | {"sha256": digest(again)}))
    same(shard_of(kind, read_shard(path)[1]), again)


def texas42_seeds() -> list[bytes]:
    """Write one first position, and one hand played at random."""
    *_, (last, _) = random_walk(load("texas42"), 0)
    common = {"seed": [1], "hands": last.state["hands"][None], "declaration": [int(last.state["declaration"])]}
    plays = record(last)
    made: dict[str, dict[str, np.ndarray]] = {}
    for kind, schema in SCHEMAS.items():
        made[kind] = {name: np.zeros((1, *shape), dtype) for name, (dtype, shape) in schema.items()} | {
            name: np.array(values, schema[name][0]) for name, values in common.items()
        }
        made[kind]["leader"][:] = plays[0][0]
    made["positions"]["trick"][:] = 28
    made["decisions"]["bid"][:] = 30
    made["decisions"]["history"][:] = [tile for _, tile in plays]
    return [bytes([number]) + shard_of(kind, rows) for number, (kind, rows) in enumerate(made.items())]


def read_facts_beside(data: bytes) -> None:
    """Read a shard beside which strange things are told."""
    path = in_file("00001.npz", texas42_seeds()[0][1:])
    path.with_suffix(".json").write_bytes(data)
    read_shard(path)


def read_games_beside(data: bytes) -> None:
    """Read games beside which strange things are told."""
    path = in_file("phase1_games.npz", domineering_seeds()[1])
    path.with_suffix(".json").write_bytes(data)
    read_games(path)


def facts_seeds() -> list[bytes]:
    """Return what is told of shards."""
    facts = {
        "format": FORMAT,
        "version": VERSION,
        "kind": "positions",
        "rows": 1,
        "sha256": digest(texas42_seeds()[0][1:]),
    }
    return [json.dumps(facts).encode()]


def sidecar_seeds() -> list[bytes]:
    """Return what is told of games."""
    path = folder() / "phase1_games.npz"
    write_games(path, read_games(in_file("none.npz", domineering_seeds()[1])), {"phase": 1})
    return [path.with_suffix(".json").read_bytes()]


# ---- networks ------------------------------------------------------------------------------------


def read_lc0(data: bytes) -> None:
    """Read a weight file and make its network; write the file and read it again."""
    file = read_weights(data, most_bytes=MOST_UNPACKED)
    written = file_bytes(file.net, packed=False)
    same(file_bytes(read_weights(written, most_bytes=2 * MOST_UNPACKED).net, packed=False), written)
    network_of(file)


@cache
def lc0_seeds() -> list[bytes]:
    """Write the smallest networks of several kinds, one of them packed."""
    tiny = {"filters": 2, "blocks": 1, "width": 4, "layers": 1, "heads": 1, "model": 4, "hidden": 4, "dense": 1}
    names = ("squeezed tower, convolution policy", "attention, map", "squeezed tower with batch norm")
    assert set(names) <= set(KINDS)
    nets = [random_net(name, sizes=tiny) for name in names]
    return [file_bytes(net, packed=False) for net in nets] + [file_bytes(nets[0])]


def network_reader(suffix: str) -> Callable[[bytes], bool]:
    """Read a network from a file of an ending, write it and read it again."""
    write = safetensors_bytes if suffix == ".safetensors" else pth_bytes

    def read(data: bytes) -> None:
        loaded = load_network(in_file(f"network{suffix}", data))
        again = load_network(in_file(f"again{suffix}", write(loaded.network, loaded.about)))
        same((again.config, again.about), (loaded.config, loaded.about))
        for name, tensor in loaded.network.state_dict().items():
            assert torch.equal(again.network.state_dict()[name], tensor), name

    return refused(read)


@cache
def network_seeds(suffix: str) -> list[bytes]:
    """Write a small network of each kind."""
    write = safetensors_bytes if suffix == ".safetensors" else pth_bytes
    return [write(build(config, 0), About(game="pylos", observation="rich", step=3)) for config in NETWORKS]


# ---- the ledger, lessons, snapshots --------------------------------------------------------------


def read_ledger(data: bytes) -> None:
    """Open a ledger and read all there is."""
    for left in folder().glob("games.db*"):
        left.unlink()
    with Ledger(in_file("games.db", data), create=False) as ledger:
        list(ledger.games())
        ledger.listed("gomoku", "rand", 1.0)
        ledger.numbered(1)
        for game, version in ledger.count():
            ledger.results(game, version)
            ledger.matches(game, version)


def ledger_seeds() -> list[bytes]:
    """Write a ledger of two games."""
    path = folder() / "seed.db"
    with Ledger(path) as ledger:
        ledger.store([sample_record(number=0), sample_record(number=1, score=0.5)])
    return [path.read_bytes()]


def read_lesson_file(data: bytes) -> None:
    """Read lessons of a supervisor."""
    load_lessons(in_file("lessons.npz", data))


def lesson_seeds() -> list[bytes]:
    """Write an archive with arrays of the right names."""
    from rookery.learn.lessons import Lessons

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in Lessons._fields:
            content = io.BytesIO()
            np.lib.format.write_array(content, np.zeros((2, 3), np.int32), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), content.getvalue())
    return [buffer.getvalue()]


def read_snapshot(data: bytes) -> None:
    """Read the newest snapshot of a run, in which one of the files is not what it was."""
    place = folder() / "snapshots"
    if not list(place.glob("snapshot_*")):
        save_snapshot(place, Snapshot({"a": np.arange(3)}, {"b": 1}, {"c": torch.zeros(2)}))
    found = next(place.glob("snapshot_*"))
    (found / "values.json").write_bytes(data)
    load_snapshot(place)


def snapshot_seeds() -> list[bytes]:
    """Return the list of a snapshot's files."""
    place = folder() / "snapshots"
    save_snapshot(place, Snapshot({"a": np.arange(3)}, {"b": 1}, {"c": torch.zeros(2)}))
    return [next(place.glob("snapshot_*")).joinpath("values.json").read_bytes()]


ZIP = (
    "PK\x03\x04",
    "PK\x01\x02",
    "PK\x05\x06",
    ".npy",
    "\x93NUMPY",
    "'descr': '<i2'",
    "'|O'",
    "(1, 128)",
    "'shape': (-1,)",
)
TARGETS = (
    Target(
        "domineering-games",
        refused(read_domineering),
        domineering_seeds,
        ZIP,
        ("rookery.studies.domineering_files", "rookery.studies.archives", "numpy.lib._format_impl", "zipfile"),
    ),
    Target(
        "texas42-shard",
        refused(read_texas42),
        texas42_seeds,
        ZIP,
        ("rookery.studies.texas42_files", "rookery.studies.archives", "numpy.lib._format_impl", "zipfile"),
    ),
    Target("texas42-facts", refused(read_facts_beside), facts_seeds, JSON_WORDS, ("rookery.studies.texas42_files",)),
    Target(
        "domineering-facts",
        refused(read_games_beside),
        sidecar_seeds,
        JSON_WORDS,
        ("rookery.studies.domineering_files",),
    ),
    Target(
        "lc0-weights",
        refused(read_lc0),
        lc0_seeds,
        ("\x0d\x1d\x00\x00\x00", "\x1f\x8b\x08"),
        (
            "rookery.nets.lc0.wire",
            "rookery.nets.lc0.files",
            "rookery.nets.lc0.numbers",
            "rookery.nets.lc0.config",
            "rookery.nets.lc0.stored",
        ),
    ),
    Target(
        "checkpoint-pth",
        network_reader(".pth"),
        lambda: network_seeds(".pth"),
        ("cos\nsystem\n", "PK\x03\x04", "\x80\x02", "data.pkl"),
        ("rookery.nets.files", "rookery.nets.configs", "rookery.nets.foreign", "torch._weights_only_unpickler"),
    ),
    Target(
        "checkpoint-safetensors",
        network_reader(".safetensors"),
        lambda: network_seeds(".safetensors"),
        (*JSON_WORDS, "dtype", "shape", "data_offsets", "F32", "F16", "__metadata__", "rookery"),
        ("rookery.nets.files", "rookery.nets.configs", "rookery.nets.foreign"),
    ),
    Target("ledger", refused(read_ledger), ledger_seeds, JSON_WORDS),
    Target("lessons", refused(read_lesson_file), lesson_seeds, ZIP, ("numpy.lib._format_impl", "zipfile")),
    Target(
        "snapshot",
        refused(read_snapshot),
        snapshot_seeds,
        (*JSON_WORDS, "arrays", "files", "values", "../", "size", "checksum"),
        ("rookery.learn.snapshots",),
    ),
)
"""readers of files"""
