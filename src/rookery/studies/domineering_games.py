"""The games of the Domineering study: made in parts, put together in the end.

Phase n ends with phaseN_games.npz and phaseN_games.json in the folder of the data. While it is under way its games lie
in parts, in phaseN_parts/; a part is there whole or not at all. Game number g of a phase is a pure function of the
settings and g, so whoever is killed goes on with the parts that are missing, and the files come out the same.

A phase is a `Recipe`: its settings, and what makes some of its games.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from rookery.errors import BadInput
from rookery.games.library import load
from rookery.games.options import whole_number
from rookery.learn.locks import Lock
from rookery.learn.spread import Say, Spreader, in_turn
from rookery.search.domineering_guided import Guidance, guided_games
from rookery.studies.domineering_files import (
    GameRecords,
    joined,
    read_about,
    read_games,
    records_of,
    sidecar_of,
    write_games,
)  # fmt: skip
from rookery.writing import write_whole

PART = 1000
"""games of a part"""
MOST_GAMES = 10_000_000


PartMaker = Callable[[tuple[int, int]], GameRecords]
"""(first, count) -> games"""


@dataclass
class Progress:
    """Whom a maker of games tells how far it is: which share of the games it makes now is there, and a note."""

    tell: Callable[[float, str], None] = lambda share, note: None


@dataclass(frozen=True)
class Recipe:
    """What the games of a phase are made by."""

    phase: int
    seed: int
    settings: dict[str, Any]
    """all that the games depend on besides; JSON"""
    make: Callable[[int, int], GameRecords]
    """(first, count) -> games first to first + count - 1"""
    part: int = 0
    """games of a part, where `make` is called for parts of its own; 0: PART"""
    whole_parts: bool = False
    """whether the last part must be as large as the others"""
    prepare: Callable[[], None] = lambda: None
    """gets ready, which may take long"""
    finish: Callable[[], None] = lambda: None
    """does what is to be done when all games are there; it may be called again then"""
    progress: Progress = field(default_factory=Progress)
    elsewhere: Callable[[], Callable[[], PartMaker]] | None = None
    """returns what can be sent to others, for them to make such games there; None: each part needs the one before"""

    @property
    def about(self) -> dict[str, Any]:
        """What the file beside the games says of them."""
        game = load("domineering")
        return {
            "phase": self.phase, "game": game.spec, "rules_version": game.version, "seed": self.seed,
            "settings": self.settings,
        }  # fmt: skip


def alphabeta_recipe(seed: int = 0, threads: int = 1, guidance: Guidance | None = None) -> Recipe:
    """Return phase 1: games by a search of a few plies; see `search/domineering_guided.py`."""
    guided = guidance or Guidance()
    whole_number("seed", seed, 0, (1 << 63) - 1)

    def make(first: int, count: int) -> GameRecords:
        return AlphabetaMaker(seed, guided, threads)((first, count))

    def prepare() -> None:
        make(0, 1)

    settings = {"player": "alphabeta", **asdict(guided)}
    return Recipe(1, seed, settings, make, prepare=prepare, elsewhere=lambda: partial(AlphabetaMaker, seed, guided))


class AlphabetaMaker:
    """Makes games of phase 1."""

    def __init__(self, seed: int, guidance: Guidance, threads: int = 1):
        self.seed, self.guidance, self.threads = seed, guidance, threads

    def __call__(self, part: tuple[int, int]) -> GameRecords:
        """Make games of a part: the number of the first, and how many."""
        first, count = part
        found = guided_games(count, self.seed, first, self.guidance, self.threads)
        return records_of(found.moves, found.lengths, found.explored)


class PhaseFolder:
    """Where the games of a phase lie, and the parts while they are made."""

    def __init__(self, folder: Path, phase: int):
        self.folder = folder
        self.file = folder / f"phase{phase}_games.npz"
        self.parts = folder / f"phase{phase}_parts"
        self.plan = self.parts / "plan.json"
        self.lock = Lock(folder / f".phase{phase}_games.lock", "filled with games")

    def part(self, number: int) -> Path:
        """Return the file of a part."""
        return self.parts / f"{number:05d}.npz"

    def sweep(self) -> None:
        """Remove what killed writers have left."""
        for half_written in [*self.folder.glob(f".{self.file.stem}.*.part"), *self.parts.glob(".*.part")]:
            half_written.unlink(missing_ok=True)


def make_games(
    folder: Path, games: int, recipe: Recipe, say: Say = lambda done, total, note: None, spread: Spreader | None = None
) -> Path:
    """Make so many games of a phase, as far as they are not there, and return their file.

    They are made here, or by `spread` elsewhere. A file of fewer games of the same recipe is continued; one of another
    recipe, or of more games, is refused.
    """
    whole_number("games", games, 1, MOST_GAMES)
    if recipe.whole_parts and games % recipe.part:
        raise BadInput(
            f"games of phase {recipe.phase} come in rounds of {recipe.part}: ask for whole rounds, not {games}"
        )
    place = PhaseFolder(folder, recipe.phase)
    folder.mkdir(parents=True, exist_ok=True)
    place.lock.take()
    try:
        place.sweep()
        made = made_before(place, games, recipe)
        if made is None or len(made) < games:
            fill_parts(place, games, recipe, made, say, spread)
            put_together(place, games, recipe)
        recipe.progress.tell = lambda share, note: say(games, games, note)
        recipe.finish()
        shutil.rmtree(place.parts, ignore_errors=True)
    finally:
        place.lock.give_back()
    say(games, games, "")
    return place.file


def made_before(place: PhaseFolder, games: int, recipe: Recipe) -> GameRecords | None:
    """Return the games that a finished file has; None if there is none, or if it is being replaced."""
    about = read_about(place.file)
    if about is None and place.file.exists() and not place.plan.exists():
        raise BadInput(
            f"{place.file} is there, but nothing tells how it was made; move it away, or take another folder"
        )
    if about is None or not place.file.exists():
        return None
    refuse_others(sidecar_of(place.file), about, recipe)
    if about["games"] > games:
        raise BadInput(f"{place.file} has {about['games']} games already; ask for as many or more, not for {games}")
    try:
        return read_games(place.file)
    except BadInput:
        if place.plan.exists():  # killed between writing the new file and the one beside it; the parts have all games
            return None
        raise


def read_plan(path: Path) -> dict[str, Any]:
    """Read what the parts of an unfinished phase are made by."""
    try:
        plan = json.loads(path.read_bytes())
    except ValueError as error:
        raise BadInput(f"{path} is damaged: {error}; remove {path.parent} to begin anew") from None
    return plan if isinstance(plan, dict) else {}


def refuse_others(path: Path, about: dict[str, Any], recipe: Recipe) -> None:
    """Refuse to go on with games that were made by another recipe."""
    wanted = flat(recipe.about)
    found = {key: flat(about).get(key) for key in wanted}
    others = [f"{key} {found[key]!r}, not {wanted[key]!r}" for key in wanted if found[key] != wanted[key]]
    if others:
        raise BadInput(f"{path}: these games are made with {'; '.join(others)}; take another folder")


def flat(about: dict[str, Any]) -> dict[str, Any]:
    """Return settings beside the other facts."""
    settings = about.get("settings")
    rest = {key: value for key, value in about.items() if key != "settings"}
    return rest | (settings if isinstance(settings, dict) else {})


def fill_parts(
    place: PhaseFolder, games: int, recipe: Recipe, made: GameRecords | None, say: Say, spread: Spreader | None
) -> None:
    """Make the parts that are not there."""
    if place.plan.exists():
        refuse_others(place.plan, read_plan(place.plan), recipe)
    else:
        shutil.rmtree(place.parts, ignore_errors=True)  # parts without a plan are left from a finished phase
        place.parts.mkdir()
        write_whole(place.plan, (json.dumps(recipe.about, indent=1) + "\n").encode())
    size = recipe.part or PART

    def missing() -> Iterator[tuple[int, int]]:
        for first in range(0, games, size):
            say(first, games, "")
            count = min(size, games - first)
            recipe.progress.tell = partial(say_within, say, games, first, count)
            path = place.part(first // size)
            if path.exists() and len(read_games(path)) >= count:
                continue
            if made is not None and first + count <= len(made):
                write_games(path, made[first : first + count])
            else:
                yield first, count

    spreader, maker = (spread, made_elsewhere(recipe)) if spread else (in_turn, lambda: lambda part: recipe.make(*part))
    for (first, _), found in spreader(maker, missing()):
        write_games(place.part(first // size), found)


def made_elsewhere(recipe: Recipe) -> Callable[[], PartMaker]:
    """Return what others make games by; refuse a recipe whose parts follow from each other."""
    if recipe.elsewhere is None:
        raise BadInput(
            f"games of phase {recipe.phase} cannot be made elsewhere: a round needs what the last one taught"
        )
    return recipe.elsewhere()


def say_within(say: Say, games: int, first: int, count: int, share: float, note: str) -> None:
    """Say how many games there are while a part of them is made."""
    say(first + int(share * count), games, note)


def put_together(place: PhaseFolder, games: int, recipe: Recipe) -> None:
    """Write the file of all games, and the one beside it."""
    paths = [place.part(number) for number in range(-(-games // (recipe.part or PART)))]
    write_games(place.file, joined([read_games(path) for path in paths])[:games], recipe.about)
