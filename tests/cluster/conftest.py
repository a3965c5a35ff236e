"""A cluster of real nodes on this machine, each with processes of its own."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOM = 80 << 20  # bytes of a node's object store; Ray takes no less


def on_nodes(test: Any) -> Any:
    """Mark a test that needs real nodes; Ray's own warnings are not ours to mend."""
    marks = pytest.mark.slow, pytest.mark.faults, pytest.mark.filterwarnings("ignore"), pytest.mark.xdist_group("ray")
    for mark in marks:
        test = mark(test)
    return test


def raylet(node: Any) -> int:
    """Return the process by which a node belongs to its cluster."""
    return int(node.all_processes["raylet"][0].process.pid)


def kill_node(nodes: Any, node: Any) -> None:
    """Kill a node by force; all its workers go with it."""
    os.kill(raylet(node), signal.SIGKILL)
    nodes.worker_nodes.discard(node)


def a_worker(nodes: Any) -> int:
    """Return the process of a worker that is at work."""
    raylets = {raylet(node) for node in (nodes.head_node, *nodes.worker_nodes)}
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has just ended
            parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            if parent in raylets and b"ray::Hand.do" in (place / "cmdline").read_bytes():
                return int(place.name)
    raise AssertionError("nobody works")


@pytest.fixture(scope="session")
def nodes() -> Iterator[Any]:
    """Start a cluster of two nodes with a processor each; more can be added to it."""
    os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
    places = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]  # workers know what the tests bring
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, places))
    os.environ |= {"RAY_health_check_period_ms": "1000", "RAY_health_check_failure_threshold": "3"}
    from rookery.cluster.nodes import imported_ray

    imported_ray()
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 1, "object_store_memory": ROOM, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        cluster.add_node(num_cpus=1, object_store_memory=ROOM)
        yield cluster
    finally:
        cluster.shutdown()
        del os.environ["RAY_AUTH_TOKEN"]
