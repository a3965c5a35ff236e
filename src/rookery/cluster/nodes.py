"""Machines that work together: joining a cluster of Ray, or starting one here.

    with joined("10.0.0.1:6379") as cluster:
        crew = Crew(cluster, maker, 8)

Whoever can reach a cluster without a token can run programs on it, so tokens are always asked for: a cluster that is
started here makes one in ~/.ray/auth_token if there is none, and one elsewhere is joined with the token found there, or
in RAY_AUTH_TOKEN. One that also answers to a made-up token is left at once. Ray is imported here and in `crew` only,
and tells nobody that it is used.
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rookery.errors import BadInput

LOCAL, AUTO = "local", "auto"
MODE, TOKEN, USAGE = "RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_USAGE_STATS_ENABLED"
STRANGER_WAITS = 60.0  # seconds
KNOCK = 5.0  # seconds
FIRST_WITH_TOKENS = (2, 52)
"""version of Ray; those before it ask nobody for a token, whatever they are told"""


@dataclass(frozen=True)
class Cluster:
    """A cluster that was joined."""

    processors: int
    cards: int

    def room(self, on_cards: bool) -> int:
        """Return how many workers have room: one for each card, or one for each processor."""
        return max(1, self.cards if on_cards and self.cards else self.processors)


def imported_ray() -> Any:
    """Import Ray with its tokens switched on; say what to do where it is missing."""
    if os.environ.get(MODE, "token").lower() != "token":
        raise BadInput(f"{MODE} is {os.environ[MODE]!r}: without tokens anybody could run programs here; unset it")
    os.environ[MODE] = "token"
    os.environ.setdefault(USAGE, "0")
    try:
        import ray
    except ImportError:
        raise BadInput("work on several machines needs Ray: pip install 'rookery[cluster]'") from None
    if tuple(int(part) for part in ray.__version__.split(".")[:2]) < FIRST_WITH_TOKENS:
        raise BadInput(f"Ray {ray.__version__} knows no tokens: pip install --upgrade 'rookery[cluster]'")
    return ray


@contextmanager
def joined(address: str) -> Iterator[Cluster]:
    """Join the cluster at an address, HOST:PORT, or start one on this machine if the address is `local`."""
    ray = imported_ray()
    knock(address)
    own: dict[str, Any] = {"include_dashboard": False} if address == LOCAL else {}
    before = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **own)
    except ray.exceptions.AuthenticationError as error:
        raise BadInput(
            f"the cluster at {address} asks for its token: put what `ray get-auth-token` prints there into "
            f"~/.ray/auth_token or RAY_AUTH_TOKEN here ({first_line(error)})"
        ) from None
    except Exception as error:  # Ray has no kind of its own for a node that does not start
        raise BadInput(not_joined(address, first_line(error))) from None
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, before)  # what a request to end means is for the command to say
    keep_quiet()
    try:
        if address != LOCAL and lets_in_strangers(ray.get_runtime_context().gcs_address):
            raise BadInput(
                f"the cluster at {address} asks nobody for a token: anybody could run programs on it; start all its "
                f"nodes with {MODE}=token"
            )
        found = ray.cluster_resources()
        yield Cluster(int(found.get("CPU", 0)), int(found.get("GPU", 0)))
    finally:
        ray.shutdown()


def not_joined(address: str, why: str) -> str:
    """Say that there is no cluster at an address, and what would do."""
    return (
        f"--ray {address}: no cluster is joined there; give HOST:PORT of one that `ray start --head` has begun and "
        f"that this machine belongs to, or {LOCAL} ({why})"
    )


def knock(address: str) -> None:
    """Refuse an address at which nobody answers: Ray would wait for minutes, and ask for a token before."""
    if address != LOCAL and (why := unreachable(address)):
        raise BadInput(not_joined(address, why))


def unreachable(address: str) -> str:
    """Return why nobody answers at an address; nothing if somebody does, or if Ray is to find the address itself."""
    host, _, port = address.rpartition(":")
    if address == AUTO:
        return ""
    if not host or not port.isdecimal():
        return "that is no HOST:PORT"
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=KNOCK).close()
    except (OSError, OverflowError, UnicodeError) as error:
        return first_line(error)
    return ""


def lets_in_strangers(address: str) -> bool:
    """Tell whether a cluster answers to a token that was made up just now."""
    command = [sys.executable, "-m", "ray.scripts.scripts", "health-check", "--address", address]
    stranger = os.environ | {MODE: "token", TOKEN: secrets.token_hex(32)}
    with contextlib.suppress(subprocess.TimeoutExpired):  # no answer is no welcome
        return subprocess.run(command, env=stranger, capture_output=True, timeout=STRANGER_WAITS).returncode == 0
    return False


def keep_quiet() -> None:
    """Keep Ray from telling of lost workers on standard output, where results go; a crew tells of them itself."""
    with contextlib.suppress(ImportError):  # no promise of Ray's; should the switch go, its words come back
        from ray._private import worker

        worker._worker_logs_enabled = False


def first_line(error: BaseException) -> str:
    """Return the beginning of what an error says."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
