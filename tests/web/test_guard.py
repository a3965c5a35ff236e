"""The guard, for requests and for sockets."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from rookery.web import guard as module
from rookery.web.guard import COOKIE, GUESS_PAUSE, MOST_BODY, MOST_GUESSES, Guard

HERE = {"host": "127.0.0.1:8080"}


async def everything(scope, receive, send):
    """An app that lets everybody in."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"welcome"})


def asked(guard, headers, kind="http", path="/", query=b""):
    """Ask a guarded app and return what it sent."""
    sent = []

    async def receive():
        return {"type": f"{kind}.connect"}

    async def send(message):
        sent.append(message)

    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": kind, "path": path, "query_string": query, "headers": pairs}
    asyncio.run(guard(scope, receive, send))
    return sent


def status(*arguments, **more):
    return asked(*arguments, **more)[0]["status"]


def sent_headers(messages):
    return {name.decode(): value.decode() for name, value in messages[0]["headers"]}


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8080", "localhost:8080", "LOCALHOST", "[::1]:8080"])
def test_own_names_pass(host):
    assert status(Guard(everything), {"host": host}) == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", "", "[", "localhost@evil"]
)
def test_foreign_names_are_refused_for_requests_and_sockets(host):
    guard = Guard(everything)
    assert status(guard, {"host": host}) == 403
    assert asked(guard, {"host": host}, "websocket") == [{"type": "websocket.close", "code": 1008}]


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://127.0.0.1:9999", "https://127.0.0.1.evil.example", "file://", "http://["],
)
def test_foreign_origins_are_refused_for_requests_and_sockets(origin):
    guard = Guard(everything)
    assert status(guard, HERE | {"origin": origin}) == 403
    assert asked(guard, HERE | {"origin": origin}, "websocket") == [{"type": "websocket.close", "code": 1008}]


def test_the_own_origin_passes_for_requests_and_sockets():
    guard = Guard(everything)
    assert status(guard, HERE | {"origin": "http://127.0.0.1:8080"}) == 200
    assert asked(guard, HERE | {"origin": "http://127.0.0.1:8080"}, "websocket") == [{"type": "websocket.accept"}]


def test_without_the_token_nobody_gets_in():
    guard = Guard(everything, (), "a long token")
    assert status(guard, HERE) == 401
    assert status(guard, HERE | {"cookie": f"{COOKIE}=wrong"}) == 401
    assert status(guard, HERE | {"cookie": f"{COOKIE}=a long token"}) == 401
    assert status(guard, HERE | {"cookie": "\x7f=;;;"}) == 401
    assert asked(guard, HERE, "websocket") == [{"type": "websocket.close", "code": 1008}]


def test_the_entrance_gives_a_cookie_for_the_token_and_it_opens_requests_and_sockets():
    guard = Guard(everything, (), "token+1")
    messages = asked(guard, HERE, path="/enter", query=b"token=token%2B1")
    assert messages[0]["status"] == 303
    cookie = sent_headers(messages)["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert "token+1" not in cookie
    given = {"cookie": cookie.partition(";")[0]}
    assert status(guard, HERE | given) == 200
    assert asked(guard, HERE | given, "websocket") == [{"type": "websocket.accept"}]
    assert status(Guard(everything, (), "another"), HERE | given) == 401


@pytest.mark.parametrize("query", [b"", b"token=", b"token=wrong", b"token=%ff", b"other=token"])
def test_the_entrance_refuses_wrong_tokens(query):
    messages = asked(Guard(everything, (), "token"), HERE, path="/enter", query=query)
    assert messages[0]["status"] == 401
    assert "set-cookie" not in sent_headers(messages)


def test_a_foreign_name_does_not_reach_the_entrance():
    assert status(Guard(everything, ("here",), "token"), HERE, path="/enter", query=b"token=token") == 403


def test_every_answer_forbids_the_browser_to_ask_other_machines():
    guard = Guard(everything)
    for headers in (HERE, {"host": "evil"}):
        policy = sent_headers(asked(guard, headers))["content-security-policy"]
        rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
        assert rules["default-src"] == rules["connect-src"] == "'self'"
        assert "http" not in policy
        assert "*" not in policy


def test_a_header_that_comes_twice_is_refused():
    sent = []

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "http.request"}

    pairs = [(b"host", b"127.0.0.1"), (b"Host", b"evil.example")]
    asyncio.run(Guard(everything)({"type": "http", "path": "/", "query_string": b"", "headers": pairs}, receive, send))
    assert sent[0]["status"] == 400


@pytest.mark.parametrize(
    ("header", "value", "expected"),
    [("content-length", "1000", 200), ("content-length", str(MOST_BODY + 1), 413), ("content-length", "-1", 413),
     ("content-length", "9" * 5000, 413), ("content-length", "\u00b2", 413), ("transfer-encoding", "chunked", 411)],
)  # fmt: skip
def test_a_body_is_of_known_and_bearable_length(header, value, expected):
    assert status(Guard(everything), HERE | {header: value}) == expected


def test_tokens_cannot_be_guessed_for_long(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    guard = Guard(everything, (), "right-token")
    for _ in range(MOST_GUESSES):
        assert status(guard, HERE, path="/enter", query=b"token=wrong") == 401
    assert status(guard, HERE, path="/enter", query=b"token=right-token") == 429
    now[0] += GUESS_PAUSE + 1
    assert status(guard, HERE, path="/enter", query=b"token=right-token") == 303
