"""Pieces of work, in this process and in others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from learn import helpers_at_work
from learn.helpers_at_work import leaver, refuser, squarer
from rookery.errors import BadInput
from rookery.learn.spread import Processes, in_turn


def test_in_turn_everything_is_done_here():
    assert list(in_turn(squarer, [2, 3])) == [(2, (4, os.getpid())), (3, (9, os.getpid()))]


def test_processes_do_every_piece_once_and_elsewhere():
    found = dict(Processes(2)(squarer, range(7)))
    assert {task: square for task, (square, _) in found.items()} == {number: number**2 for number in range(7)}
    assert os.getpid() not in {process for _, process in found.values()}


@pytest.mark.parametrize(("count", "tasks"), [(1, range(3)), (4, [5]), (4, [])])
def test_a_process_is_not_started_for_what_one_does_in_turn(count, tasks):
    assert all(process == os.getpid() for _, (_, process) in Processes(count)(squarer, tasks))


def test_what_goes_wrong_is_told():
    with pytest.raises(ValueError, match="cannot be done"):
        list(Processes(2)(refuser, range(4)))


def test_a_process_that_ends_is_told():
    with pytest.raises(BadInput, match="a process that helped has ended"):
        list(Processes(2)(leaver, range(6)))


def test_who_has_enough_leaves_the_rest_undone():
    for task, (square, _) in Processes(2)(squarer, range(1000)):
        assert square == task**2
        break


def alive(process: int) -> bool:
    """Tell whether a process is there and has not ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at processes by /proc")
def test_helpers_end_with_a_process_that_is_killed(tmp_path):
    where = os.pathsep.join(path for path in sys.path if path)
    helped = subprocess.Popen(
        [sys.executable, helpers_at_work.__file__, str(tmp_path)], env=os.environ | {"PYTHONPATH": where}
    )
    while len(list(tmp_path.iterdir())) < 2:
        assert helped.poll() is None
        time.sleep(0.05)
    helped.send_signal(signal.SIGKILL)
    helped.wait()
    deadline = time.monotonic() + 30
    while any(alive(int(file.name)) for file in tmp_path.iterdir()):
        assert time.monotonic() < deadline, "they are still there"
        time.sleep(0.05)
