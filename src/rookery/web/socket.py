"""What a socket may say: only for the page it was opened for, only by the visitor who was given that page, and not
without end.

NiceGUI believes every message: each names the page it is for, and anybody's socket may name anybody's page. Here the
handlers of its server are put behind a gate. What passes is of the right form; what is not is dropped, and told of in
one line of the log and no more than a few times a minute.
"""

from __future__ import annotations

import inspect
import logging
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

from nicegui import Client

log = logging.getLogger("rookery.web")
RATE, BURST = 60.0, 300.0
"""messages a socket may send, a second and at once; a held key or a dragged slider sends some thirty a second"""
LONGEST_ARGUMENT = 400_000
"""signs of one argument of an event: a text that is pasted has at most a quarter of it"""
MOST_ARGUMENTS = 8
GATED = ("event", "javascript_response", "ack")
"""messages that name a page"""

Handler = Callable[..., Any]


class Budget:
    """How many messages somebody may still send; it fills up again with time."""

    def __init__(self, now: float):
        self.left, self.since = BURST, now

    def spend(self, now: float) -> bool:
        """Take one, and tell whether there was one."""
        self.left = min(BURST, self.left + RATE * (now - self.since))
        self.since = now
        if self.left < 1:
            return False
        self.left -= 1
        return True


class Gate:
    """Stands before the handlers of a server of sockets."""

    def __init__(self, server: Any):
        self.server = server
        self.budgets: dict[str, Budget] = {}
        handlers: dict[str, Handler] = server.handlers["/"]
        self.inner = dict(handlers)
        handlers["connect"], handlers["handshake"] = self.connect, self.handshake
        handlers["disconnect"], handlers["log"] = self.disconnect, self.log
        for name in GATED:
            handlers[name] = self.gated(name)

    # -- who comes and goes --

    async def connect(self, sid: str, environ: dict[str, Any], more: Any = None) -> Any:
        """Let a visitor open a socket for a page that they were given; an unknown page is refused behind the gate."""
        query = parse_qs(environ.get("QUERY_STRING", ""))
        id = query.get("client_id", [""])[0]
        if id in Client.instances and not self.is_own(environ, id):
            return False
        self.budgets[sid] = Budget(time.monotonic())
        return await self.call("connect", sid, environ, more)

    async def handshake(self, sid: str, message: Any) -> Any:
        """Let a socket name its page, if it did not do so at once."""
        environ = self.server.get_environ(sid)
        named = message.get("client_id") if isinstance(message, dict) else None
        return await self.call("handshake", sid, message) if environ and self.is_own(environ, named) else False

    def is_own(self, environ: dict[str, Any], id: Any) -> bool:
        """Tell whether a page was made for the visitor whose cookie a socket came with."""
        client = Client.instances.get(id) if isinstance(id, str) else None
        if client is None:
            return False
        said = environ.get("asgi.scope", {}).get("session", {}).get("id")
        return said is not None and said == client.request.session.get("id")

    async def disconnect(self, sid: str, *more: Any) -> Any:
        """Forget a socket."""
        self.budgets.pop(sid, None)
        return await self.call("disconnect", sid)

    # -- what they say --

    def gated(self, name: str) -> Handler:
        """Return a handler that passes on what may pass."""

        async def handle(sid: str, message: Any = None, *more: Any) -> Any:
            if not self.may_say(sid, message) or (name == "event" and not is_event(message)):
                return None
            return await self.call(name, sid, message)

        return handle

    def may_say(self, sid: str, message: Any) -> bool:
        """Tell whether a message names the page of its socket, and is not one of far too many."""
        budget = self.budgets.get(sid)
        if budget is None or not budget.spend(time.monotonic()):
            return False
        return isinstance(message, dict) and message.get("client_id") in self.server.rooms(sid)

    def log(self, sid: str, message: Any = None, *more: Any) -> None:
        """Hear what a browser wants to be written down: nothing that a stranger sends is."""

    async def call(self, name: str, *told: Any) -> Any:
        """Call the handler behind the gate; what it cannot understand is told of in one line."""
        try:
            result = self.inner[name](*told)
            return await result if inspect.isawaitable(result) else result
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            log.warning("a message of a browser was not understood (%s): %s", name, type(error).__name__)
            return False


def is_event(message: dict[str, Any]) -> bool:
    """Tell whether an event has the form that a page gives it."""
    told = message.get("args", [])
    if not isinstance(message.get("id"), int) or not isinstance(message.get("listener_id"), str):
        return False
    if not isinstance(told, list) or len(told) > MOST_ARGUMENTS:
        return False
    return all(one is None or (isinstance(one, str) and len(one) <= LONGEST_ARGUMENT) for one in told)


class Seldom(logging.Filter):
    """Lets only so many lines a minute into the log, so that nobody fills a disk with them."""

    def __init__(self, most: int = 30):
        super().__init__()
        self.most, self.since, self.count = most, time.monotonic(), 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether a line is written."""
        if time.monotonic() - self.since > 60:
            self.since, self.count = time.monotonic(), 0
        self.count += 1
        return self.count <= self.most
