"""Matches on a cluster: workers play games of a list, each with a `Crew` of its own, as a match in process does.

A game follows from its number, the seed and the players, so the games are those of a match in process. Networks travel
with the players; engines and games from files must lie in the same place on every machine.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

from rookery.arena import crew as arena
from rookery.arena.crew import Maker, Plans
from rookery.arena.matches import MatchSettings
from rookery.arena.networks import network_file
from rookery.arena.player import Player
from rookery.arena.players import FORMS, KINDS, ORACLE, make_player
from rookery.arena.records import GameRecord
from rookery.arena.running import Plan
from rookery.arena.tables import gains_from_many
from rookery.arena.texts import read_text
from rookery.cluster.crew import Crew, Say
from rookery.cluster.nodes import Cluster
from rookery.errors import BadInput
from rookery.games.library import load
from rookery.nets.zoo import ZOO_SIGN

GAMES = 8  # of a task, where players have one game after another
TASKS = 4  # for each worker at least, so that all end at about the same time


def refiled(text: str, file: Callable[[str], str]) -> str:
    """Write a player's text again with other names for the files of its networks."""
    given = read_text(text, FORMS)
    kind = KINDS[given.form.name]
    if kind.form.argument == "PLAYER":
        return f"{kind.form.name}:{refiled(given.argument, file)}"
    if kind.form.argument == "INNER":
        return replace(given, command=(refiled(given.command[0], file),)).text
    given = kind.settle(given)
    if kind.form.argument == "FILE" and not given.command[0].startswith(ZOO_SIGN):
        given = replace(given, command=(file(given.command[0]),))
    oracle = str(given.options.get(ORACLE.name, ""))
    if oracle and oracle not in ORACLE.words and not oracle.startswith(ZOO_SIGN):
        given = replace(given, options={**given.options, ORACLE.name: file(oracle)})
    return given.text


class Travelling:
    """A player's text together with the networks it names."""

    def __init__(self, text: str, name: str):
        self.name, self.files = name, dict[str, bytes]()
        self.text = refiled(text, self.pack)

    def pack(self, name: str) -> str:
        """Take a file along."""
        self.files[name] = network_file(name).read_bytes()
        return name

    def make(self, spec: str) -> Player:
        """Make the player, wherever that is."""
        with tempfile.TemporaryDirectory(prefix="rookery-") as folder:
            player = make_player(refiled(self.text, partial(self.unpack, Path(folder))), load(spec))
        player.name = self.name  # without the place where its files lay for a moment
        return player

    def unpack(self, folder: Path, name: str) -> str:
        """Write a file to where it can be read."""
        place = folder / str(list(self.files).index(name))
        place.mkdir(exist_ok=True)
        (place / Path(name).name).write_bytes(self.files[name])
        return str(place / Path(name).name)


class Listed:
    """Games to be played, from a list."""

    def __init__(self, plans: list[Plan]):
        self.plans = iter(plans)

    def take(self) -> Plan | None:
        """Return the next game; None if there are no more. One thread takes at a time: a worker has one."""
        return next(self.plans, None)


class MatchWorker:
    """Plays games of a match; a task is a list of plans, its result the finished games."""

    def __init__(self, spec: str, sides: tuple[Travelling, Travelling], settings: MatchSettings):
        self.spec, self.sides = spec, sides
        self.settings = replace(settings, threads=1, sprt=None, known=frozenset())
        self.players: tuple[list[Player], list[Player]] = ([], [])

    def maker(self, side: int) -> Maker:
        """Return what hands out the players of a side, first those that were made for an earlier task."""
        known, made = iter(list(self.players[side])), self.players[side]

        def make() -> Player:
            player = next(known, None)
            if player is None:
                player = self.sides[side].make(self.spec)
                made.append(player)
            return player

        return make

    def __call__(self, plans: list[Plan]) -> list[GameRecord]:
        """Play games; the players stay for the next ones."""
        settings = replace(self.settings, games=len(plans) + len(plans) % 2)
        crew = arena.Crew((self.maker(0), self.maker(1)), Listed(plans), settings)
        crew.start()
        records = []
        while (record := crew.next_record()) is not None:
            records.append(record)
        crew.halt()
        if crew.trouble:
            raise crew.trouble
        return records


class MatchCrew:
    """Workers of a cluster that play a match, instead of the threads of a `Crew`."""

    def __init__(
        self, cluster: Cluster, texts: tuple[str, str], workers: int | None, say: Say,
        makers: tuple[Maker, Maker], plans: Plans, settings: MatchSettings,
    ):  # fmt: skip
        self.plans = plans
        names, many = [], []
        for maker in makers:
            with closing(maker()) as player:
                names.append(player.name)
                many.append(gains_from_many(player))
                if player.at_terminal:
                    raise BadInput(f"{player.name} sits at this terminal and cannot play on other machines")
        self.names = names[0], names[1]
        self.trouble: BaseException | None = None
        sides = Travelling(texts[0], names[0]), Travelling(texts[1], names[1])
        count = min(workers or cluster.room(any(many)), settings.games // 2)
        fair = settings.games // (TASKS * count)
        self.size = max(2, min(settings.at_once if any(many) else GAMES, fair) // 2 * 2)
        worker = partial(MatchWorker, plans.openings.game.spec, sides, settings)
        self.crew = Crew(cluster, worker, count, any(many), say)
        self.tasks = self.crew.done(self.next_plans())
        self.ended: list[GameRecord] = []

    def next_plans(self) -> Iterator[list[Plan]]:
        """Yield the games in order, some at a time."""
        while some := [plan for _ in range(self.size) if (plan := self.plans.take()) is not None]:
            yield some

    def start(self) -> None:
        """Begin to play; in truth that begins with the first game that is waited for."""

    def next_record(self) -> GameRecord | None:
        """Wait for the next game that ends; None if there will be no more, or something has gone wrong."""
        try:
            while not self.ended:
                _, records = next(self.tasks, (None, None))
                if records is None:
                    return None
                self.ended += records
        except Exception as error:
            self.trouble = error
            return None
        return self.ended.pop(0)

    def left_over(self) -> Iterator[GameRecord]:
        """Yield the games that have ended and were not taken in."""
        while self.ended:
            yield self.ended.pop(0)

    def halt(self) -> None:
        """Stop all workers, leaving their games unfinished."""
        self.crew.close()

    def close(self) -> None:
        """Stop all workers; their players go with them."""
        self.crew.close()
