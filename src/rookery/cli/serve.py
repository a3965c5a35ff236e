"""The command that opens the page."""

from __future__ import annotations

import os
import secrets
import socket
from pathlib import Path
from typing import Annotated

from typer import Option

from rookery.cli.shared import app
from rookery.errors import BadInput

LEAST_TOKEN = 8


def check_free(host: str, port: int) -> None:
    """Refuse an address on which nobody can listen, before anything is compiled for it."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(found[0], socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(found[4])
    except OSError as error:
        raise BadInput(f"--host {host} --port {port}: {error.strerror}; name another address or port") from None
    except UnicodeError:
        raise BadInput(f"--host {host}: this is no name of a machine; name an address such as 127.0.0.1") from None


def called(host: str) -> str:
    """Return the name by which a browser on this machine calls a server that listens on an address."""
    near = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"[{near}]" if ":" in near else near


@app.command()
def serve(
    port: Annotated[int, Option(min=1, max=65535, help="where to listen")] = 8080,
    host: Annotated[
        str, Option(metavar="ADDRESS", help="other than 127.0.0.1, other machines can connect")
    ] = "127.0.0.1",
    token: Annotated[
        str | None, Option(metavar="TEXT", help="what visitors must know; drawn if other machines can connect")
    ] = None,
    folder: Annotated[Path | None, Option(metavar="FOLDER", help="where games are kept; see docs/web.md")] = None,
    runs: Annotated[Path, Option(metavar="FOLDER", help="networks of these runs can be played against")] = Path("runs"),
    searches: Annotated[int, Option(min=0, help="searches at the same time; 0: as many as there are cores")] = 0,
    studies: Annotated[Path, Option(metavar="FOLDER", help="reports of studies in it can be read")] = Path("studies"),
) -> None:
    """Open the page: play in a browser, on this machine.

    rookery serve

    rookery serve --host 0.0.0.0 --port 9000
    """
    from rookery.web.guard import EVERYWHERE, LOCAL
    from rookery.web.site import kept_secret, make_site
    from rookery.web.store import default_folder

    if token is not None and len(token) < LEAST_TOKEN:
        raise BadInput(f"--token must have at least {LEAST_TOKEN} characters, not {len(token)}")
    if token is None and host not in LOCAL:
        token = secrets.token_urlsafe(18)
    check_free(host, port)
    place = folder or default_folder()
    os.environ["NICEGUI_STORAGE_PATH"] = str(place / "visitors")  # read when NiceGUI is imported
    try:
        import nicegui  # noqa: F401
    except ImportError:
        raise BadInput("the page needs NiceGUI, which is not installed: pip install nicegui") from None
    from rookery.terminal import err, out, waiting
    from rookery.web.app import FIRST_GAME, start

    site = make_site(place, runs, searches, studies)
    with waiting(lambda: "getting the first board ready; the first time its rules are compiled for this machine"):
        site.prepare(FIRST_GAME)
    hosts = () if host in EVERYWHERE else (*LOCAL, host.lower())
    out.print(
        f"http://{called(host)}:{port}/" + (f"enter?token={token}" if token else ""), markup=False, soft_wrap=True
    )
    err.print("press Ctrl+C to end", style="dim")
    start(site, host, port, hosts, token or "", kept_secret(place))
