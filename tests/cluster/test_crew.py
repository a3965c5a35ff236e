"""Crews on real nodes: every task is done once, whoever is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import partial

import pytest

from cluster.conftest import ROOM, kill_node, on_nodes
from cluster.workers import Dies, Refuses, Squares
from rookery.cluster.crew import crew_of
from rookery.cluster.nodes import joined
from rookery.errors import BadInput


@on_nodes
def test_every_task_is_done_once_though_a_worker_is_killed(nodes):
    said: list[str] = []
    with joined(nodes.address) as cluster, crew_of(cluster, Squares, 2, say=said.append) as crew:
        found, killed = [], False
        for task, (square, process) in crew.done(iter(range(12))):
            found.append((task, square))
            if not killed:
                os.kill(process, signal.SIGKILL)
                killed = True
    assert sorted(found) == [(number, number * number) for number in range(12)]
    assert said == ["a worker was lost; what it was doing is done again"]


@on_nodes
def test_every_task_is_done_once_though_a_node_is_killed(nodes):
    node = nodes.add_node(num_cpus=2, object_store_memory=ROOM)
    nodes.wait_for_nodes()
    with joined(nodes.address) as cluster, crew_of(cluster, Squares, 4) as crew:
        assert cluster.processors == 4
        found, processes = [], set()
        for task, (square, process) in crew.done(iter(range(60))):
            found.append((task, square))
            processes.add(process)
            if len(processes) == 4 and node is not None:
                kill_node(nodes, node)
                node = None
    assert node is None
    assert sorted(found) == [(number, number * number) for number in range(60)]


@on_nodes
def test_what_a_person_can_mend_is_told_as_it_is(nodes):
    refused = pytest.raises(BadInput, match=r"^3 is not allowed$")
    with joined(nodes.address) as cluster, crew_of(cluster, Refuses, 2) as crew, refused:
        list(crew.done(iter(range(9))))


@on_nodes
def test_a_task_that_kills_a_worker_is_done_by_another_but_not_for_ever(nodes, tmp_path):
    with joined(nodes.address) as cluster, crew_of(cluster, partial(Dies, str(tmp_path), False), 2) as crew:
        assert sorted(crew.done(iter(range(5)))) == [(number, number) for number in range(5)]
    refused = pytest.raises(BadInput, match="5 workers were lost over the same task")
    with joined(nodes.address) as cluster, crew_of(cluster, partial(Dies, str(tmp_path), True), 2) as crew, refused:
        list(crew.done(iter(range(5))))


@on_nodes
def test_who_has_another_token_is_refused(nodes):
    program = f"from rookery.cluster.nodes import joined\nwith joined({nodes.address!r}): print('in')"
    environment = os.environ | {"RAY_AUTH_TOKEN": "0" * 64}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode != 0
    assert "in" not in done.stdout.split()
    assert "BadInput" in done.stderr, done.stderr
    assert "token" in done.stderr
