"""Finding games: the package's own, those of installed packages, and files.

An installed package offers a game by an entry point in the group `rookery.games` that names the module of the
game (or its class). A file is given by its path and needs no installing.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
import threading
import traceback
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from rookery.errors import BadInput, BrokenGame
from rookery.games import rules
from rookery.games.game import REGISTERED, Game, check_facts
from rookery.games.options import given_path, read_option
from rookery.games.rng import random_below

OWN = ("chess", "domineering", "gomoku", "pylos", "texas42")
GROUP = "rookery.games"
LOADING = threading.RLock()  # a file is run by one thread, and seen by others when it has run


def load(name: str | os.PathLike[str], **options: Any) -> Game:
    """Return a game by name or path, with its options.

    load("domineering", rows=8, cols=8)
    load("domineering:rows=8,cols=8")
    load("path/to/my_game.py")
    """
    if not isinstance(name, str | os.PathLike):
        raise BadInput(f"a game is given by its name or path, not by {name!r}")
    name, texts = split_spec(os.fspath(name))
    game = find(name)
    known = game.option_names()
    for option in [*texts, *options]:
        if option not in known:
            allowed = f"its options are {', '.join(known)}" if known else "it has none"
            raise BadInput(f"{game.name} has no option {option!r}; {allowed}")
        if option in texts and option in options:
            raise BadInput(
                f"option {option!r} of {game.name} is given twice, as {texts[option]!r} and {options[option]!r}"
            )
    given = {option: read_option(game, option, text) for option, text in texts.items()} | options
    return made(game, given, trusted=name in OWN)


def made(game: type[Game], options: dict[str, Any], trusted: bool) -> Game:
    """Make a game with its options; one from outside is checked, so that it breaks here and not inside a search."""
    try:
        loaded = game(**options)
        if not trusted:
            check_once(loaded)
    except BadInput:
        raise
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1].name
        raise BrokenGame(f"{game.name}: {where} fails: {type(error).__name__}: {error}") from error
    return loaded


CHECKED: set[tuple[np.dtype[Any], str]] = set()  # (state, spec) of games found to be in order


def check_once(game: Game) -> None:
    """Look at the facts of a game and play one random game, asking every rule."""
    check_facts(game)
    if (game.state, game.spec) in CHECKED:
        return
    position, plies = game.start(), 0
    position.observe()
    while not position.over:
        if plies == game.longest:
            raise BrokenGame(f"{game.name}: a game goes on after 'longest' ({game.longest}) actions")
        legal = position.legal()
        if len(legal) == 0:
            raise BrokenGame(
                f"{game.name}: legal lists nothing in {position.text()!r}, though over says the game goes on"
            )
        position.play(int(legal[random_below(len(legal), 0, 0, plies)]))
        plies += 1
    for seat in range(game.seats):
        position.payoff(seat)
    game.position(position.text()).key  # noqa: B018  (compiles the hash)
    CHECKED.add((game.state, game.spec))


def split_spec(spec: str) -> tuple[str, dict[str, str]]:
    """Split `name:option=value,...` into the name and the options' texts. A path may itself hold ":" and "="."""
    if spec.endswith(".py"):
        return spec, {}
    head, mark, tail = spec.rpartition(".py:")
    name, colon, tail = (head + ".py", ":", tail) if mark else spec.partition(":")
    options: dict[str, str] = {}
    for item in tail.split(",") if colon else ():
        option, equals, value = (part.strip() for part in item.partition("="))
        if not equals or not option or not value:
            raise BadInput(f"{item!r} in {spec!r} should read option=value")
        if option in options:
            raise BadInput(f"option {option!r} stands twice in {spec!r}")
        options[option] = value
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
            return from_entry_point(point)
    raise BadInput(f"there is no game {name!r}; there are {', '.join(names())}, or give a path that ends in .py")


def from_entry_point(point: EntryPoint) -> type[Game]:
    """Return the game an installed package offers."""
    try:
        found = point.load()
    except Exception as error:
        raise BrokenGame(
            f"{point.name}: the entry point {point.value!r} fails: {type(error).__name__}: {error}"
        ) from error
    if isinstance(found, ModuleType):
        return from_module(found)
    if found not in REGISTERED.values():
        raise BrokenGame(f"{point.name}: the entry point {point.value!r} names {found!r}, which is no registered game")
    return found  # type: ignore[no-any-return]


def from_module(module: ModuleType) -> type[Game]:
    """Return the game a module registered."""
    if module.__name__ not in REGISTERED:
        raise BrokenGame(f"{module.__name__}: no game is registered in {module.__file__}; use @register")
    return REGISTERED[module.__name__]


def from_path(path: Path) -> type[Game]:
    """Load a game from a file, anew if the file has changed since."""
    path = given_path(path).resolve()
    try:
        source = path.read_bytes()
    except OSError as error:
        raise BadInput(f"the game file {path} cannot be read: {error.strerror}") from None
    name = module_name(path)
    digest = hashlib.sha256(source).hexdigest()
    with LOADING:
        known = sys.modules.get(name)
        if known is None or getattr(known, "__source_digest__", "") != digest:
            known = execute(name, path, source, digest)
        game = from_module(known)
        game.path = str(path)
        return game


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
        if isinstance(error, BadInput | KeyboardInterrupt):
            raise
        raise BrokenGame(f"{path.stem}: the file {path} fails: {type(error).__name__}: {error}") from error
    return module
