"""The gate before the sockets: whose messages pass, and how many."""

from __future__ import annotations

import asyncio
import logging
from types import SimpleNamespace
from typing import Any

import pytest
from nicegui import Client

from rookery.web import socket as module
from rookery.web.socket import Budget, Gate, Seldom, is_event

EVENT = {"client_id": "page", "id": 4, "listener_id": "a", "args": ['{"action": 40, "ply": 0}']}


class Server:
    """A server of sockets that notes what its handlers are told."""

    def __init__(self):
        self.heard: list[tuple[str, Any]] = []
        names = ("connect", "handshake", "disconnect", "event", "javascript_response", "ack", "log")
        self.handlers = {"/": {name: self.noting(name) for name in names}}
        self.entered = {"own": ["own", "page"], "other": ["other", "elsewhere"]}

    def noting(self, name):
        def note(sid, *told):
            self.heard.append((name, sid))
            if told and told[0] == {"client_id": "page", "broken": 1}:
                raise KeyError("next_message_id")

        return note

    def rooms(self, sid):
        return self.entered[sid]

    def get_environ(self, sid):
        return environ("anna" if sid == "own" else "bert")

    def say(self, name, sid, *told):
        return asyncio.run(self.handlers["/"][name](sid, *told))


def environ(visitor, page="page"):
    return {"QUERY_STRING": f"client_id={page}", "asgi.scope": {"session": {"id": visitor}}}


@pytest.fixture
def server(monkeypatch):
    page = SimpleNamespace(request=SimpleNamespace(session={"id": "anna"}))
    monkeypatch.setattr(Client, "instances", {"page": page})
    made = Server()
    Gate(made)
    for sid in ("own", "other"):
        made.say("connect", sid, environ("anna"))
    made.heard.clear()
    return made


def test_a_message_passes_only_for_the_page_of_its_socket(server):
    for name in ("event", "javascript_response", "ack"):
        server.say(name, "own", EVENT)
        server.say(name, "other", EVENT)
        server.say(name, "own", EVENT | {"client_id": "elsewhere"})
    assert server.heard == [("event", "own"), ("javascript_response", "own"), ("ack", "own")]


def test_a_page_is_opened_only_by_the_visitor_it_was_made_for(server):
    assert server.say("connect", "own", environ("bert")) is False
    assert server.say("handshake", "other", {"client_id": "page"}) is False
    assert server.heard == []
    server.say("connect", "own", environ("anna"))
    server.say("handshake", "own", {"client_id": "page"})
    server.say(
        "connect", "own", environ("bert", "a page of an earlier server")
    )  # refused behind the gate, by its words
    assert [name for name, _ in server.heard] == ["connect", "handshake", "connect"]


@pytest.mark.parametrize("said", [None, 5, "x", [], {}, {"client_id": None}, {"client_id": "page", "id": "4"}])
def test_nonsense_is_dropped(server, said):
    for name in ("event", "handshake"):
        server.say(name, "own", said)
    assert not [name for name, _ in server.heard if name == "event"]


def test_what_is_not_understood_is_one_line_of_the_log(server, caplog):
    with caplog.at_level(logging.WARNING, "rookery.web"):
        assert server.say("ack", "own", {"client_id": "page", "broken": 1}) is False
    assert [record.getMessage() for record in caplog.records] == [
        "a message of a browser was not understood (ack): KeyError"
    ]


def test_nothing_that_a_browser_sends_is_written_into_the_log(server):
    server.handlers["/"]["log"]("own", {"client_id": "page", "level": "error", "message": "x" * 10**6})
    assert server.heard == []


@pytest.mark.parametrize(
    "wrong",
    [{"id": "4"}, {"id": None}, {"listener_id": 3}, {"args": "x"}, {"args": [{}]}, {"args": [None] * 9},
     {"args": ["x" * (module.LONGEST_ARGUMENT + 1)]}],
)  # fmt: skip
def test_events_of_a_wrong_form_are_known(wrong):
    assert is_event(EVENT)
    assert not is_event(EVENT | wrong)


def test_a_storm_of_messages_is_cut_off_and_a_pause_forgives():
    budget = Budget(100.0)
    passed = sum(budget.spend(100.0) for _ in range(1000))
    assert passed == module.BURST
    assert not budget.spend(100.0)
    assert sum(budget.spend(101.0) for _ in range(1000)) == module.RATE


def test_a_log_has_only_so_many_lines_a_minute(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    seldom, record = Seldom(3), logging.makeLogRecord({})
    assert [seldom.filter(record) for _ in range(5)] == [True, True, True, False, False]
    now[0] = 61.0
    assert seldom.filter(record)
