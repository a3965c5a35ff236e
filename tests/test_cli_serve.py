"""`rookery serve` before it serves; the pages are tested in tests/web."""

from __future__ import annotations

import socket

import pytest

from rookery.cli.serve import called, check_free
from rookery.errors import BadInput
from support import run_rookery


def test_a_port_in_use_is_told_before_anything_is_compiled():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(BadInput, match=f"--port {port}: Address already in use"):
            check_free("127.0.0.1", port)
    check_free("127.0.0.1", port)


def test_an_address_that_does_not_exist_is_told():
    with pytest.raises(BadInput, match=r"--host 256\.1\.1\.1"):
        check_free("256.1.1.1", 8080)


def test_a_name_that_no_machine_can_have_is_told():
    with pytest.raises(BadInput, match=r"--host a\.\.b: this is no name of a machine"):
        check_free("a..b", 8080)


def test_a_token_that_is_too_short_is_refused():
    done = run_rookery("serve", "--token", "short")
    assert done.returncode == 2
    assert "--token must have at least 8 characters, not 5" in done.stderr


@pytest.mark.parametrize(
    ("host", "name"),
    [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::", "[::1]"), ("::1", "[::1]"), ("box", "box")],
)
def test_the_address_that_is_printed_is_one_that_is_listened_on(host, name):
    assert called(host) == name
