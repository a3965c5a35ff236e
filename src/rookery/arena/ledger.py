"""The ledger: every game that was played, in one SQLite file that many processes may write at once.

A game is one row, so it is there whole or not at all. Writers take turns: each transaction begins with the lock and
waits up to 30 seconds for it. What `store` has returned for is on the disk (`synchronous=FULL`), also if the
process is killed in the next moment.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

from rookery.arena.ratings import Result
from rookery.arena.records import GameRecord
from rookery.errors import BadInput
from rookery.games.options import given_path

PATH_VARIABLE = "ROOKERY_LEDGER"
SCHEMA = 1
APPLICATION = 0x526F6F6B  # "Rook": tells our files from other programs' databases
BUSY_SECONDS = 30.0

TABLE = """
CREATE TABLE games (
    id            INTEGER PRIMARY KEY,
    match         TEXT    NOT NULL,
    number        INTEGER NOT NULL,
    pair          INTEGER NOT NULL,
    game          TEXT    NOT NULL,
    version       INTEGER NOT NULL,
    start         TEXT    NOT NULL,
    actions       TEXT    NOT NULL,
    moves         TEXT    NOT NULL,
    opening       INTEGER NOT NULL,
    team0         TEXT    NOT NULL,
    team1         TEXT    NOT NULL,
    first_team    INTEGER NOT NULL CHECK (first_team IN (0, 1)),
    score         REAL    NOT NULL CHECK (score IN (0, 0.5, 1)),
    payoff        REAL    NOT NULL,
    reason        TEXT    NOT NULL,
    seconds0      REAL    NOT NULL,
    seconds1      REAL    NOT NULL,
    seed          INTEGER NOT NULL,
    time_control  TEXT    NOT NULL,
    date          TEXT    NOT NULL,
    UNIQUE (match, number)
) STRICT
"""
INDEX = "CREATE INDEX games_by_game ON games (game, version)"
LISTS = ("actions", "moves")  # kept as JSON
NAME = "CASE WHEN time_control = '' THEN {0} ELSE {0} || ' @ ' || time_control END"
SUMMED = (
    NAME.format("CASE first_team WHEN 0 THEN team0 ELSE team1 END")
    + ", "
    + NAME.format("CASE first_team WHEN 0 THEN team1 ELSE team0 END")
    + ", CASE first_team WHEN 0 THEN score ELSE 1 - score END, count(*) FROM games WHERE game = ? AND version = ?"
)
PAIRS = {"players": ("team0", "team1"), "seconds": ("seconds0", "seconds1")}


def default_path() -> Path:
    """Return where the ledger is unless somebody says otherwise."""
    told = os.environ.get(PATH_VARIABLE)
    if told:
        return given_path(told)
    data = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return given_path(data) / "rookery" / "ledger.sqlite"


def row_of(record: GameRecord) -> dict[str, Any]:
    """Return the columns of a game."""
    row: dict[str, Any] = {}
    for field in fields(record):
        value = getattr(record, field.name)
        if field.name in PAIRS:
            row |= dict(zip(PAIRS[field.name], value, strict=True))
        else:
            row[field.name] = json.dumps(value) if field.name in LISTS else value
    return row


def record_of(row: dict[str, Any]) -> GameRecord:
    """Return the game of a row."""
    values: dict[str, Any] = {}
    for field in fields(GameRecord):
        if field.name in PAIRS:
            values[field.name] = tuple(row[column] for column in PAIRS[field.name])
        else:
            value = row[field.name]
            values[field.name] = tuple(json.loads(value)) if field.name in LISTS else value
    return GameRecord(**values)


class Ledger:
    """An open ledger. Use it in a `with` statement, in one thread."""

    def __init__(self, path: str | os.PathLike[str] | None = None, create: bool = True):
        self.path = default_path() if path is None else given_path(path)
        if not create and not self.path.exists():
            raise BadInput(f"there is no ledger {self.path}; `rookery match` makes one, or name another with --ledger")
        with self.complaints("opened"):
            if create:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            self.connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
            self.connection.row_factory = sqlite3.Row
        try:
            with self.complaints("opened"):
                self.prepare()
        except BaseException:
            self.connection.close()
            raise

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *trouble: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    # -- opening --

    def prepare(self) -> None:
        """Check whose file it is; make the table in a new one."""
        self.connection.execute("PRAGMA synchronous = FULL")
        if self.check_schema():
            return
        self.write_ahead()
        with self.transaction():
            if not self.check_schema():  # another process may have been quicker
                self.connection.execute(TABLE)
                self.connection.execute(INDEX)
                self.connection.execute(f"PRAGMA application_id = {APPLICATION}")
                self.connection.execute(f"PRAGMA user_version = {SCHEMA}")

    def check_schema(self) -> bool:
        """Tell whether the file is a ledger; refuse one of a newer kind or of another program. False: it is empty."""
        with closing(self.connection.cursor()) as cursor:
            # Another process may be making the ledger, all of it at once: who sees its tables also sees whose it is.
            tables = cursor.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            application = cursor.execute("PRAGMA application_id").fetchone()[0]
            schema = cursor.execute("PRAGMA user_version").fetchone()[0]
        if application == 0 and tables == 0:
            return False
        if application != APPLICATION:
            raise BadInput(f"{self.path} is a database of another program, not a ledger")
        if schema > SCHEMA:
            raise BadInput(
                f"the ledger {self.path} was written by a newer Rookery: its schema is {schema}, this version knows "
                f"up to {SCHEMA}; upgrade, or name another ledger"
            )
        return True

    def write_ahead(self) -> None:
        """Turn on the write-ahead log, so that readers and a writer do not wait for each other."""
        limit = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                self.connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:  # this one statement does not wait for its turn by itself
                if "locked" not in str(error) or time.monotonic() > limit:
                    raise
                time.sleep(0.01)

    # -- writing --

    def store(self, records: Sequence[GameRecord]) -> None:
        """Store games; when this returns they are safe. A game that is there already is left as it is."""
        with self.complaints("written"), self.transaction():
            for record in records:
                row = row_of(record)
                names, holes = ", ".join(row), ", ".join(f":{name}" for name in row)
                self.connection.execute(
                    f"INSERT INTO games ({names}) VALUES ({holes}) ON CONFLICT (match, number) DO NOTHING", row
                )

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Do all of the body or nothing of it, while nobody else writes."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.connection.execute("COMMIT")
        except BaseException:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise

    # -- reading --

    def games(self, game: str | None = None, version: int | None = None) -> Iterator[GameRecord]:
        """Yield the games in the order in which they were stored, all or those of one game and rules version."""
        query = "SELECT * FROM games WHERE (:game IS NULL OR game = :game) AND (:version IS NULL OR version = :version)"
        with self.complaints("read"):
            for row in self.connection.execute(query + " ORDER BY id", {"game": game, "version": version}):
                yield record_of(dict(row))

    def listed(
        self, game: str = "", player: str = "", score: float | None = None, most: int = 50, skip: int = 0
    ) -> list[tuple[int, GameRecord]]:
        """Return games with their numbers in the ledger, the newest first.

        `game` is a name without options, `player` some signs that a player's text must hold, `score` that of team 0.
        """
        query = (
            "SELECT * FROM games"
            " WHERE (:game = '' OR game = :game OR substr(game, 1, length(:game) + 1) = :game || ':')"
            " AND (:player = '' OR instr(lower(team0), lower(:player)) OR instr(lower(team1), lower(:player)))"
            " AND (:score IS NULL OR score = :score) ORDER BY id DESC LIMIT :most OFFSET :skip"
        )
        wanted = {"game": game, "player": player, "score": score, "most": most, "skip": skip}
        with self.complaints("read"):
            rows = [dict(row) for row in self.connection.execute(query, wanted)]
            return [(int(row["id"]), record_of(row)) for row in rows]

    def numbered(self, number: int) -> GameRecord | None:
        """Return the game of a number, if there is one."""
        with self.complaints("read"):
            row = self.connection.execute("SELECT * FROM games WHERE id = ?", (number,)).fetchone()
            return record_of(dict(row)) if row is not None else None

    def number_of(self, match: str, number: int) -> int | None:
        """Return the number in the ledger of a game of a match, if it is there."""
        with self.complaints("read"):
            row = self.connection.execute(
                "SELECT id FROM games WHERE match = ? AND number = ?", (match, number)
            ).fetchone()
            return int(row["id"]) if row is not None else None

    def count(self, game: str | None = None) -> dict[tuple[str, int], int]:
        """Count the games of each game and rules version."""
        query = "SELECT game, version, count(*) FROM games WHERE :game IS NULL OR game = :game GROUP BY game, version"
        with self.complaints("read"):
            rows = self.connection.execute(query, {"game": game}).fetchall()
        return {(spec, version): number for spec, version, number in rows}

    def results(self, game: str, version: int) -> list[Result]:
        """Sum up one game's results as (player that begins, other player, score of the first, how many).

        A player that was given a time control is another one than without: it is named `player @ 10+0.1`.
        """
        with self.complaints("read"):
            rows = self.connection.execute(f"SELECT {SUMMED} GROUP BY 1, 2, 3", (game, version)).fetchall()
        return [(first, second, float(points), int(number)) for first, second, points, number in rows]

    def matches(self, game: str, version: int) -> dict[str, list[Result]]:
        """Sum up one game's results for each match."""
        found: dict[str, list[Result]] = {}
        with self.complaints("read"):
            for row in self.connection.execute(f"SELECT match, {SUMMED} GROUP BY 1, 2, 3, 4", (game, version)):
                match, first, second, points, number = row
                found.setdefault(match, []).append((first, second, float(points), int(number)))
        return found

    def nothing_of(self, game: str, version: int) -> str:
        """Say that there are no games of a kind, and which there are."""
        others = ", ".join(f"{number} of {spec} (rules version {v})" for (spec, v), number in self.count().items())
        return (
            f"the ledger {self.path} has no games of {game}, rules version {version}; it has {others or 'none at all'}"
        )

    @contextmanager
    def complaints(self, done: str) -> Iterator[None]:
        """Turn errors of the database and the disk into one that names the file."""
        try:
            yield
        except (sqlite3.Error, OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            if isinstance(error, BadInput):
                raise
            raise BadInput(f"the ledger {self.path} cannot be {done}: {reason_of(error)}") from error


def reason_of(error: Exception) -> str:
    """Say what is wrong with a file, in words a person can use."""
    if isinstance(error, KeyError):
        return f"its table has no column {error}"
    text = getattr(error, "strerror", None) or str(error)
    hints: dict[str, str] = {
        "file is not a database": "it is not an SQLite database",
        "unable to open database file": "no file can be opened or made there; is the folder writable?",
        "attempt to write a readonly database": "the file or its folder is read-only",
        "database is locked": f"another process has held it for more than {BUSY_SECONDS:.0f} s",
        "database or disk is full": "the disk is full; the games of this call were not stored",
    }
    return hints.get(text, text)
