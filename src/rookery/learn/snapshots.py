"""Snapshots: everything needed to go on, saved as one.

A snapshot is a folder of numbered arrays, a file of PyTorch's and `values.json`, which lists them with size and
checksum. It is written under another name, brought to the disk and renamed; older ones are removed after that. So there
is always the old one or the new one, whole, at whatever moment the process is killed or the disk is full.
"""

from __future__ import annotations

import io
import json
import os
import re
import zlib
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rookery.errors import BadInput
from rookery.learn.files import Sink, fill, part_of, remove_quietly, sweep, sync_folder, told, write_bytes

NAME = re.compile(r"snapshot_([0-9]{8})")
VALUES, WEIGHTS = "values.json", "torch.pth"


@dataclass(frozen=True)
class Snapshot:
    """What was saved: arrays by name, values that JSON can hold, and what PyTorch made of its own state."""

    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    torch_state: Any = None


def numbered(folder: Path) -> list[tuple[int, Path]]:
    """List the snapshots of a folder by number, the newest last."""
    found = [(NAME.fullmatch(path.name), path) for path in folder.glob("snapshot_*")] if folder.is_dir() else []
    return sorted((int(match[1]), path) for match, path in found if match)


# ---- saving --------------------------------------------------------------------------------------


def save_snapshot(folder: Path, snapshot: Snapshot) -> Path:
    """Save a snapshot, then remove the ones before it."""
    with told(folder):
        os.makedirs(folder, exist_ok=True)
        sweep(folder)
        older = numbered(folder)
        path = folder / f"snapshot_{older[-1][0] + 1 if older else 1:08d}"
        part = part_of(path)
        try:
            os.mkdir(part)
            write_files(part, snapshot)
            sync_folder(part)
            os.rename(part, path)
        except BaseException:
            remove_quietly(part)
            raise
        sync_folder(folder)
    for _, old in older:
        drop(old)
    return path


def drop(path: Path) -> None:
    """Remove a snapshot, under a name first that makes it none: half of one must never be taken for one."""
    part = part_of(path)
    try:
        os.rename(path, part)
    except OSError:
        return  # it stays until the next time; the newer one counts
    remove_quietly(part)


def write_files(folder: Path, snapshot: Snapshot) -> None:
    """Write the files of a snapshot into a folder, the list of them last."""
    files: dict[str, dict[str, Any]] = {}
    arrays: dict[str, str] = {}
    for number, (name, array) in enumerate(snapshot.arrays.items()):
        file = f"array_{number:04d}.npy"
        if array.dtype.hasobject:
            raise TypeError(f"array {name!r} of a snapshot holds Python objects")
        files[file] = facts_of(fill(folder / file, partial(write_array, array)))
        arrays[name] = file
    if snapshot.torch_state is not None:
        files[WEIGHTS] = facts_of(fill(folder / WEIGHTS, partial(write_bytes, torch_bytes(snapshot.torch_state))))
    listed = {"arrays": arrays, "files": files, "values": snapshot.values}
    fill(folder / VALUES, partial(write_bytes, json.dumps(listed).encode()))


def write_array(array: np.ndarray, sink: Sink) -> None:
    """Write an array in NumPy's own format."""
    np.lib.format.write_array(sink, np.asanyarray(array), allow_pickle=False)


def facts_of(sink: Sink) -> dict[str, Any]:
    """Return what tells a whole file from a damaged one."""
    return {"size": sink.size, "checksum": sink.checksum}


def torch_bytes(state: Any) -> bytes:
    """Let PyTorch write its state into memory: it would tell a full disk in its own way, if at all."""
    import torch

    buffer = io.BytesIO()
    torch.save(state, buffer)
    return buffer.getvalue()


# ---- loading -------------------------------------------------------------------------------------


def load_snapshot(folder: Path) -> Snapshot | None:
    """Load the newest snapshot; None if there is none."""
    found = numbered(folder)
    return read_files(found[-1][1]) if found else None


def read_files(folder: Path) -> Snapshot:
    """Read the files of a snapshot, and refuse what is damaged."""
    try:
        listed = json.loads((folder / VALUES).read_bytes())
        arrays = {name: read_array(folder / file, listed["files"][file]) for name, file in listed["arrays"].items()}
        state = read_torch(folder / WEIGHTS, listed["files"][WEIGHTS]) if WEIGHTS in listed["files"] else None
        return Snapshot(arrays, listed["values"], state)
    except BadInput:
        raise
    except Exception as error:  # whatever a list of files that is no list makes the reader stumble over
        raise BadInput(f"the snapshot {folder} is damaged: {type(error).__name__}: {error}") from error


def checked_bytes(path: Path, facts: dict[str, Any]) -> bytes:
    """Read a file and compare it with what is known of it."""
    data = path.read_bytes()
    if len(data) != facts["size"] or zlib.crc32(data) != facts["checksum"]:
        raise BadInput(f"{path} is damaged: its size or checksum is not the one it was saved with")
    return data


def read_array(path: Path, facts: dict[str, Any]) -> np.ndarray:
    """Read an array; nothing in the file is run."""
    array: np.ndarray = np.lib.format.read_array(io.BytesIO(checked_bytes(path, facts)), allow_pickle=False)
    return array


def read_torch(path: Path, facts: dict[str, Any]) -> Any:
    """Read PyTorch's state; nothing in the file is run."""
    import torch

    from rookery.nets.files import reason_of

    data = checked_bytes(path, facts)
    try:
        return torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except Exception as error:  # whatever a foreign file makes the reader stumble over
        raise BadInput(f"{path} is no state that can be loaded safely ({reason_of(error)})") from None
