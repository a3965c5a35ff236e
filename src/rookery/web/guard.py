"""Who may talk to the server: a guard before everything, for HTTP and for the socket alike.

1. `Host` must be a name we serve. Otherwise a foreign site could have its own name point to this machine.
2. `Origin`, which browsers send with every socket and every form, must be our own.
3. Where the server is open to other machines, a cookie must prove that its browser was given the token: the address
   `/enter?token=...` sets it. Whoever names a wrong token too often has to wait.
4. A body is announced with its length, and is not longer than any file the pages take.

Every answer carries a content security policy by which the browser itself refuses any request to another machine.
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOCAL = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::")
COOKIE = "rookery_token"
ENTRANCE = "/enter"
MOST_BODY = 2_000_000
"""bytes of a request; files that visitors bring have half of that"""
MOST_GUESSES, GUESS_PAUSE = 10, 60.0
"""wrong tokens from one address within so many seconds"""
MOST_ADDRESSES = 1000
"""addresses whose wrong tokens are counted"""
ONCE = ("host", "origin", "cookie", "content-length")
"""headers that no browser sends twice; who does means to be understood in two ways"""
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; "
    "object-src 'none'; frame-ancestors 'none'; base-uri 'self'; form-action 'self'"
)
"""Templates are compiled in the browser, hence unsafe-eval."""
REFUSALS = {
    400: "This request is ambiguous.",
    401: "This server asks for a token: open /enter?token=...",
    403: "This address is not served.",
    411: "The length of what is sent must be told.",
    413: "This is too much.",
}
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
}


class Guard:
    """The guard as a layer of ASGI around an app."""

    def __init__(self, app: App, hosts: tuple[str, ...] = LOCAL, token: str = ""):
        """Guard an app.

        hosts  names by which it may be called; an empty tuple allows every name, for servers open to all addresses
        token  without it nobody gets in; empty: everybody who can reach the server does
        """
        self.app, self.hosts, self.token = app, hosts, token
        self.guesses: OrderedDict[str, list[float]] = OrderedDict()
        """when wrong tokens came, by address"""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        pairs = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]]
        names = [name for name, _ in pairs]
        status = 400 if any(names.count(name) > 1 for name in ONCE) else self.verdict(dict(pairs))
        if status == 401 and scope["type"] == "http" and scope["path"] == ENTRANCE:
            await self.enter(scope, send)
        elif status != 200:
            await refuse(scope, receive, send, status)
        elif scope["path"] == ENTRANCE:
            await answer(send, 303, "", {"location": "/"})
        else:
            await self.app(scope, receive, guarded(send))

    def verdict(self, headers: MutableMapping[str, str]) -> int:
        """Return 200 for a request that may pass.

        403 for a wrong name or origin, 401 for a missing token, 411 and 413 for a body of unknown or too great length.
        """
        host = headers.get("host", "")
        if self.hosts and host_name(host) not in self.hosts:
            return 403
        origin = headers.get("origin")
        if origin is not None and not same_place(origin, host):
            return 403
        if self.token and not self.proven(headers.get("cookie", "")):
            return 401
        if "transfer-encoding" in headers:
            return 411
        length = headers.get("content-length", "0")
        return 200 if length.isdecimal() and len(length) < 12 and int(length) <= MOST_BODY else 413

    def proven(self, cookies: str) -> bool:
        """Tell whether the cookies hold what the entrance gave."""
        try:
            found = SimpleCookie(cookies).get(COOKIE)
        except CookieError:
            return False
        return found is not None and hmac.compare_digest(found.value.encode(), self.proof().encode())

    def proof(self) -> str:
        """Return what the cookie holds: nothing from which the token could be read."""
        return hashlib.sha256(b"rookery " + self.token.encode()).hexdigest()

    async def enter(self, scope: Scope, send: Send) -> None:
        """Take the token from the address and give a cookie for it; the token leaves the address bar."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        address = (scope.get("client") or ("",))[0]
        if self.guesses_too_often(address):
            await answer(send, 429, "Too many wrong tokens. Wait a minute.")
            return
        if not hmac.compare_digest(given.encode(), self.token.encode()):
            self.guesses.setdefault(address, []).append(time.monotonic())
            await answer(send, 401, "This is not the token.")
            return
        cookie = f"{COOKIE}={self.proof()}; HttpOnly; SameSite=Strict; Path=/"
        await answer(send, 303, "", {"location": "/", "set-cookie": cookie})

    def guesses_too_often(self, address: str) -> bool:
        """Tell whether an address has named too many wrong tokens of late, and forget older ones."""
        late = time.monotonic() - GUESS_PAUSE
        self.guesses[address] = [when for when in self.guesses.get(address, []) if when > late]
        self.guesses.move_to_end(address)
        while len(self.guesses) > MOST_ADDRESSES:
            self.guesses.popitem(last=False)
        return len(self.guesses[address]) >= MOST_GUESSES


def host_name(host: str) -> str:
    """Return the name in a Host header, without port; nothing if it is malformed."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def same_place(origin: str, host: str) -> bool:
    """Tell whether an Origin header names the host that was called."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(host) and parts.netloc.lower() == host.lower()


def guarded(send: Send) -> Send:
    """Return a `send` that adds our headers to every answer."""

    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            message["headers"] = [*message.get("headers", []), *own]
        await send(message)

    return with_headers


async def refuse(scope: Scope, receive: Receive, send: Send, status: int) -> None:
    """Turn a request or a socket away."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
        return
    await answer(send, status, REFUSALS[status])


async def answer(send: Send, status: int, text: str, headers: MutableMapping[str, str] | None = None) -> None:
    """Send a short answer."""
    every = {"content-type": "text/plain; charset=utf-8", "cache-control": "no-store", **HEADERS, **(headers or {})}
    pairs = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in every.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": text.encode()})
