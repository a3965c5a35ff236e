"""Games as text for other programs and for people.

`text` is for every game and can be read back: a block of `key: value` lines a game, blocks separated by an empty line.
`json` is, for Gomoku, the form in which the original project saves games, and for other games all that is known of
them. PGN has a module of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from rookery import writing
from rookery.arena.records import GameRecord, final_position
from rookery.errors import BadInput
from rookery.games.game import Game

TUPLES: dict[str, type] = {"actions": int, "moves": str, "players": str, "seconds": float}
NUMBERS: dict[str, type] = {
    "version": int, "opening": int, "first_team": int, "score": float, "payoff": float, "seed": int, "number": int,
    "pair": int,
}  # fmt: skip
LONGEST_IN_FILE_NAME = 80  # bytes of a player; file names, also while they are written, have 255
ESCAPES = {"%": "%25"} | {
    chr(code): f"%{code:02X}" if code < 256 else f"%u{code:04X}" for code in range(0x3001) if chr(code).isspace()
}
"""signs at which lines or words would be split, or that would be lost at an end, and how they are written"""


# ---- text ----------------------------------------------------------------------------------------


def escaped(word: str) -> str:
    """Write a word without spaces."""
    return "".join(ESCAPES.get(sign, sign) for sign in word)


def escaped_line(text: str) -> str:
    """Write a text on one line, with its spaces but for those at its ends."""
    body = text.strip(" ")
    front = len(text) - len(text.lstrip(" "))
    behind = len(text) - front - len(body)
    return "%20" * front + escaped(body).replace("%20", " ") + "%20" * behind


def unescaped(word: str) -> str:
    """Read what `escaped` wrote."""
    signs = {code: sign for sign, code in ESCAPES.items()}
    return re.sub("|".join(signs), lambda match: signs[match[0]], word)


def game_text(record: GameRecord) -> str:
    """Write a game as lines of `key: value`, in an order that people read."""
    lines = []
    for field in fields(record):
        value = getattr(record, field.name)
        if field.name in TUPLES:
            text = " ".join(escaped(str(item)) for item in value)
        else:
            text = escaped_line(value) if isinstance(value, str) else str(value)
        lines.append(f"{field.name}: {text}".rstrip())
    return "\n".join(lines) + "\n"


def parse_games(text: str) -> Iterator[GameRecord]:
    """Read games that `game_text` wrote, one after another with an empty line between them."""
    number, block = 0, dict[str, tuple[int, str]]()
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        key, colon, value = line.partition(":")
        if line.strip() and not colon:
            raise BadInput(f"line {number} of the games, {line!r}, should read key: value")
        if line.strip():
            block[key] = number, value.strip()
        elif block:
            yield parse_block(block, number)
            block = {}


def parse_block(block: dict[str, tuple[int, str]], end: int) -> GameRecord:
    """Read one game from its lines, each with its number."""
    names = [field.name for field in fields(GameRecord)]
    for key, (line, _) in block.items():
        if key not in names:
            raise BadInput(f"line {line} of the games: {key!r} is not known; keys are {', '.join(names)}")
    missing = [name for name in names if name not in block]
    if missing:
        raise BadInput(f"the game that ends in line {end - 1} does not say {missing[0]!r}")
    values: dict[str, Any] = {}
    for key, (line, text) in block.items():
        try:
            if key in TUPLES:
                values[key] = tuple(TUPLES[key](unescaped(word)) for word in text.split())
            else:
                values[key] = NUMBERS[key](text) if key in NUMBERS else unescaped(text)
        except ValueError:
            raise BadInput(f"line {line} of the games: {key} cannot be {text!r}") from None
    for key in ("players", "seconds"):
        if len(values[key]) != 2:
            raise BadInput(f"line {block[key][0]} of the games: {key} should be two, not {len(values[key])}")
    return GameRecord(**values)


# ---- JSON ----------------------------------------------------------------------------------------


def gomoku_json(game: Game, record: GameRecord) -> dict[str, Any]:
    """Return a game of Gomoku in the original's form; a start with stones on the board is told, too."""
    final = final_position(game, record)
    black = int(final.state["black_seat"])
    winner = "Draw" if record.score == 0.5 else ("Black wins", "White wins")[int(record.score != 1.0 - black)]
    saved: dict[str, Any] = {
        "date": record.date,
        "black": record.players[black],
        "white": record.players[1 - black],
        "result": winner,
        "moves": list(record.moves),
    }
    return saved if record.start == game.start().text() else saved | {"start": record.start}


def gomoku_file_name(saved: dict[str, Any]) -> str:
    """Name the file of a game as the original does."""
    when = re.sub(r"[^0-9T]", "", str(saved["date"])[:19]).replace("T", "_")
    names = (re.sub(r"[\s()\[\]{}/\\]", "", saved[colour]) for colour in ("black", "white"))
    return f"{when}_{'_vs_'.join(shortened(name) for name in names)}"


def shortened(name: str) -> str:
    """Cut a player's name, which may hold a long command, to what a file system takes twice in one name."""
    return name.encode()[:LONGEST_IN_FILE_NAME].decode(errors="ignore")


def record_json(game: Game, record: GameRecord) -> dict[str, Any]:
    """Return a game for a program: in the original's form for Gomoku, else all that is known."""
    return gomoku_json(game, record) if game.name == "gomoku" else asdict(record)


# ---- files ---------------------------------------------------------------------------------------


def exported(game: Game, records: Iterable[GameRecord], form: str) -> str:
    """Write games as `pgn`, `json` or `text`."""
    if form == "pgn":
        from rookery.arena.pgn import game_pgn

        return "\n".join(game_pgn(game, record) for record in records)
    if form == "json":
        return json.dumps([record_json(game, record) for record in records], indent=1) + "\n"
    if form == "text":
        return "\n".join(game_text(record) for record in records)
    raise BadInput(f"the format of an export must be pgn, json or text, not {form!r}")


def export_folder(game: Game, records: Iterable[GameRecord], folder: Path) -> int:
    """Write each game of Gomoku to a file of its own, named as the original names them; return how many."""
    if game.name != "gomoku":
        raise BadInput(f"{folder} is a folder; only games of gomoku as json are written to files of their own")
    written = 0
    for record in records:
        saved = gomoku_json(game, record)
        stem, times = gomoku_file_name(saved), 1
        while (folder / f"{stem}{'' if times == 1 else f'_{times}'}.json").exists():
            times += 1  # games that ended in the same second
        write_whole(folder / f"{stem}{'' if times == 1 else f'_{times}'}.json", json.dumps(saved, indent=2) + "\n")
        written += 1
    return written


def write_whole(path: Path, text: str) -> None:
    """Write a file so that there is either the old one or the whole new one; a pipe or device is written as it is."""
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    try:
        writing.write_whole(path, text.encode())
    except (FileNotFoundError, NotADirectoryError, PermissionError) as error:
        raise BadInput(f"{path} cannot be written: {error.strerror}") from None
