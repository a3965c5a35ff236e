"""Finding games: the package's own, those of installed packages, and files.

An installed package offers a game by an entry point in the group `rookery.games` that names the module of the
game (or its class). A file is given by its path and needs no installing.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from rookery.errors import BadInput, BrokenGame
from rookery.games import rules
from rookery.games.game import REGISTERED, Game, read_option

OWN = ("chess", "domineering", "gomoku", "pylos", "texas42")
GROUP = "rookery.games"


def load(name: str, **options: Any) -> Game:
    """Return a game by name or path, with its options.

    load("domineering", rows=8, cols=8)
    load("domineering:rows=8,cols=8")
    load("path/to/my_game.py")
    """
    name, texts = split_spec(name)
    game = find(name)
    given = {option: read_option(game, option, text) for option, text in texts.items()} | options
    known = game.option_names()
    for option in given:
        if option not in known:
            allowed = f"its options are {', '.join(known)}" if known else "it has none"
            raise BadInput(f"{game.name} has no option {option!r}; {allowed}")
    loaded = game(**given)
    if name not in OWN:
        check(loaded)
    return loaded


def check(game: Game) -> None:
    """Ask every rule of a game once, so that one that does not compile is named here and not inside a search."""
    position = game.start()
    position.observe()
    position.payoff(0)
    position.key  # noqa: B018
    for action in position.legal()[:1]:
        position.play(int(action))


def split_spec(spec: str) -> tuple[str, dict[str, str]]:
    """Split `name:option=value,...` into the name and the options' texts."""
    name, colon, tail = spec.rpartition(":")
    if not colon or "=" not in tail:  # a bare name, or a path with a drive letter
        if colon and name in names():
            raise BadInput(f"options of {name} are written {name}:option=value,..., not {spec!r}")
        return spec, {}
    options: dict[str, str] = {}
    for item in tail.split(","):
        option, equals, value = item.partition("=")
        if not equals or not option or not value:
            raise BadInput(f"{item!r} in {spec!r} should read option=value")
        if option.strip() in options:
            raise BadInput(f"option {option.strip()!r} stands twice in {spec!r}")
        options[option.strip()] = value.strip()
    return name, options


def names() -> list[str]:
    """List the games that have a name: the package's own, then those of installed packages."""
    return [*OWN, *sorted(point.name for point in entry_points(group=GROUP) if point.name not in OWN)]


def find(name: str) -> type[Game]:
    """Return the class of a game by name or path."""
    if name.endswith(".py"):
        return from_path(Path(name))
    if name in OWN:
        return from_module(importlib.import_module(f"rookery.games.{name}"))
    for point in entry_points(group=GROUP):
        if point.name == name:
            found = point.load()
            return from_module(found) if isinstance(found, ModuleType) else found
    raise BadInput(f"there is no game {name!r}; there are {', '.join(names())}, or give a path that ends in .py")


def from_module(module: ModuleType) -> type[Game]:
    """Return the game a module registered."""
    if module.__name__ not in REGISTERED:
        raise BrokenGame(f"{module.__name__}: no game is registered in {module.__file__}; use @register")
    return REGISTERED[module.__name__]


def from_path(path: Path) -> type[Game]:
    """Load a game from a file, anew if the file has changed since."""
    path = path.expanduser().resolve()
    try:
        source = path.read_bytes()
    except OSError as error:
        raise BadInput(f"the game file {path} cannot be read: {error.strerror}") from None
    name = module_name(path)
    digest = hashlib.sha256(source).hexdigest()
    known = sys.modules.get(name)
    if known is not None and getattr(known, "__source_digest__", "") == digest:
        return from_module(known)
    return from_module(execute(name, path, source, digest))


def module_name(path: Path) -> str:
    """Name the module of a file: the same in every process, so that compiled code finds its globals again."""
    return f"rookery_files.{hashlib.sha256(str(path).encode()).hexdigest()[:8]}.{path.stem}"


def execute(name: str, path: Path, source: bytes, digest: str) -> ModuleType:
    """Run a game file as the module `name`."""
    module = ModuleType(name)
    module.__file__ = str(path)
    module.__dict__["__source_digest__"] = digest
    before, game_before = sys.modules.get(name), REGISTERED.pop(name, None)
    sys.modules[name] = module
    try:
        exec(compile(source, str(path), "exec"), module.__dict__)
    except BaseException as error:
        del sys.modules[name]
        rules.release(name)
        if before is not None and game_before is not None:
            sys.modules[name], REGISTERED[name] = before, game_before
        if isinstance(error, BadInput | KeyboardInterrupt | SystemExit):
            raise
        raise BrokenGame(f"{path.stem}: the file {path} fails: {type(error).__name__}: {error}") from error
    return module
