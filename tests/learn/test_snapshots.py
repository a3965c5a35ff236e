"""Snapshots, whole files and logs of lines."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

from learn.support_runs import number_of, snapshot_of
from rookery.errors import BadInput
from rookery.learn.files import LineLog, NotWritten, save_whole, sweep, write_whole
from rookery.learn.snapshots import Snapshot, load_snapshot, numbered, save_snapshot


def test_a_snapshot_comes_back_as_it_was(tmp_path):
    import torch

    arrays = {
        "whole": np.arange(12).reshape(3, 4),
        "with/odd names.": np.array(2.5, np.float32),
        "empty": np.zeros((0, 7), np.uint8),
        "transposed": np.arange(6.0).reshape(2, 3).T,
        "large": np.arange(1 << 20, dtype=np.uint64),
    }
    state = {"weights": torch.arange(5), "step": 3, "nested": [{"a": torch.ones(2, dtype=torch.bfloat16)}]}
    save_snapshot(tmp_path, Snapshot(arrays, {"a": [1, None, 2.5], "b": "text"}, state))
    found = load_snapshot(tmp_path)
    assert found is not None
    assert list(found.arrays) == list(arrays)
    for name, array in arrays.items():
        assert found.arrays[name].dtype == array.dtype
        assert np.array_equal(found.arrays[name], array)
    assert found.values == {"a": [1, None, 2.5], "b": "text"}
    assert torch.equal(found.torch_state["nested"][0]["a"], torch.ones(2, dtype=torch.bfloat16))


def test_only_the_newest_snapshot_stays(tmp_path):
    for number in range(1, 4):
        save_snapshot(tmp_path, snapshot_of(number))
        found = load_snapshot(tmp_path)
        assert found is not None
        assert number_of(found) == number
    assert [number for number, _ in numbered(tmp_path)] == [3]
    assert len(os.listdir(tmp_path)) == 1


def test_nothing_is_no_snapshot(tmp_path):
    assert load_snapshot(tmp_path) is None
    assert load_snapshot(tmp_path / "none") is None


def test_python_objects_are_no_arrays(tmp_path):
    save_snapshot(tmp_path, snapshot_of(1))
    with pytest.raises(TypeError, match="array 'x' of a snapshot holds Python objects"):
        save_snapshot(tmp_path, Snapshot({"x": np.array([{}], object)}))
    found = load_snapshot(tmp_path)
    assert found is not None
    assert number_of(found) == 1


@pytest.mark.parametrize("file", ["values.json", "array_0000.npy", "array_0001.npy", "torch.pth"])
@pytest.mark.parametrize("damage", ["cut", "changed", "gone"])
def test_a_damaged_snapshot_is_refused_by_name(tmp_path, file, damage):
    path = save_snapshot(tmp_path, snapshot_of(1)) / file
    data = bytearray(path.read_bytes())
    if damage == "gone":
        path.unlink()
    elif damage == "cut":
        path.write_bytes(data[: len(data) // 2])
    else:
        data[len(data) // 2] ^= 0xFF
        path.write_bytes(data)
    with pytest.raises(BadInput, match="damaged") as caught:
        load_snapshot(tmp_path)
    assert str(tmp_path) in str(caught.value)


def test_a_state_that_would_run_code_is_refused(tmp_path):
    import pickle
    import zlib

    class Bomb:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "exploded"),)

    path = save_snapshot(tmp_path / "state", snapshot_of(1))
    data = pickle.dumps(Bomb(), protocol=2)
    (path / "torch.pth").write_bytes(data)
    listed = json.loads((path / "values.json").read_bytes())
    listed["files"]["torch.pth"] = {"size": len(data), "checksum": zlib.crc32(data)}
    (path / "values.json").write_text(json.dumps(listed))
    with pytest.raises(BadInput, match=r"torch.pth is no state that can be loaded safely") as refused:
        load_snapshot(tmp_path / "state")
    assert "weights_only" not in str(refused.value)  # nobody is told how to run it all the same
    assert not (tmp_path / "exploded").exists()


# ---- files ---------------------------------------------------------------------------------------


def test_a_file_is_replaced_whole_and_keeps_nothing_beside_it(tmp_path):
    write_whole(tmp_path / "a", b"one")
    write_whole(tmp_path / "a", b"two", sync=False)
    assert (tmp_path / "a").read_bytes() == b"two"
    assert os.listdir(tmp_path) == ["a"]


def test_a_writer_that_gives_up_leaves_the_old_file(tmp_path):
    write_whole(tmp_path / "a", b"one")

    def fail(part):
        part.write_bytes(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        save_whole(tmp_path / "a", fail)
    assert (tmp_path / "a").read_bytes() == b"one"
    assert os.listdir(tmp_path) == ["a"]


def test_an_error_names_the_file_and_says_why(tmp_path):
    with pytest.raises(NotWritten) as caught:
        write_whole(tmp_path / "no folder" / "a", b"one")
    assert str(caught.value).startswith(f"{tmp_path / 'no folder' / 'a'} cannot be written: No such file or directory")


def test_sweeping_removes_parts_and_nothing_else(tmp_path):
    for name in (".part-a", ".part-manifest.json", "part-b", ".c", "..part-a.pth.0123.part"):
        (tmp_path / name).write_text("x")
    (tmp_path / ".part-folder").mkdir()
    (tmp_path / ".part-folder" / "x").write_text("x")
    sweep(tmp_path, spare=("manifest.json",))
    assert sorted(os.listdir(tmp_path)) == [".c", ".part-manifest.json", "part-b"]


@pytest.mark.parametrize("rest", [b'{"step": 4, "a', b"{", b'{"step": 4}', b"\x00\x00\x00\n", b"[1]\n", b"\xff\n"])
def test_a_half_written_line_is_no_line(tmp_path, rest):
    log = LineLog(tmp_path / "log")
    assert log.read() == []
    for step in range(4):
        log.append({"step": step, "a": 0.5})
    with open(log.path, "ab") as file:
        file.write(rest)
    assert [line["step"] for line in log.read()] == [0, 1, 2, 3]
    log.keep_until("step", 10)
    assert log.path.read_bytes().count(b"\n") == 4
    log.keep_until("step", 1)
    assert [line["step"] for line in log.read()] == [0, 1]
    with open(log.path, "ab") as file:
        file.write(rest)
    log.mend()
    log.append({"step": 2})
    assert [line["step"] for line in log.read()] == [0, 1, 2]
