"""Games in forms that other programs write, and those in which this one keeps its own.

| form | what it is |
|---|---|
| PSQ | a game of Gomoku as Piskvork, the manager of Gomocup, writes it |
| NPZ | games of Domineering, as the study keeps them |
| JSON lines | hands of Texas 42, one a line, as `rookery analyse texas42 --positions` reads them |
| saved games | the files in which a server keeps the games of its visitors |

PSQ has a line with the size of the board, then one for each stone: `column,row,milliseconds`, counted from 1 and from
the upper left. The first stones that took no time are the opening. Then come the names of the players, a line with -1,
and one that ends with the name of the rules.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rookery.errors import BadInput
from rookery.games.library import load
from rookery.games.texas42 import Texas42
from rookery.games.texas42_tiles import tile_text
from rookery.search.texas42_answers import read_play, read_position
from rookery.studies.domineering_files import GameRecords, arrays_in, shaped
from rookery.web.found import MOST_GAMES, Found, check_offered, session_for, words_played
from rookery.web.session import GameSession, session_of

PSQ = re.compile(r"Piskvorky[ \t]+(\d{1,2})[ \t]*x[ \t]*(\d{1,2})\b")
STONE = re.compile(r"(\d{1,2})[ \t]*,[ \t]*(\d{1,2})[ \t]*(?:,[ \t]*(\d{1,12}))?")
ARCHIVE = b"PK\x03\x04"
"""how NPZ begins"""
LARGEST_ARCHIVE = 50_000_000  # bytes, unpacked


# ---- Gomoku: PSQ ---------------------------------------------------------------------------------


def from_psq(text: str) -> Found:
    """Read a game of Gomoku from a file of Piskvork."""
    head, *lines = [line.strip() for line in text.splitlines()]
    told = PSQ.match(head)
    if told is None or told[1] != told[2]:
        raise BadInput(f"a PSQ file should begin with Piskvorky and the size of a square board, not with {head[:60]!r}")
    size, stones, rest = int(told[1]), list[tuple[int, int]](), list[str]()
    for number, line in enumerate(lines, start=2):
        stone = STONE.fullmatch(line) if not rest else None
        if stone is None:
            rest += [line] if line else []
            continue
        column, row = int(stone[1]), int(stone[2])
        if not (1 <= column <= size and 1 <= row <= size):
            raise BadInput(f"line {number} of the PSQ, {line!r}, is not on a board of {size} x {size}")
        stones.append(((row - 1) * size + column - 1, int(stone[3] or 0)))
    names = [brain_name(line) for line in rest if line != "-1"]
    opening = next((ply for ply, (_, spent) in enumerate(stones) if spent), 0)
    session = by_some_rule(size, [action for action, _ in stones], rest[-1] if rest else "")
    first, second = [*names, "", ""][:2]
    return Found(session, (first, second), session.score(), opening=opening)


def brain_name(line: str) -> str:
    """Return the name of a player without its folder and ending."""
    return re.sub(r"\.(zip|exe|py)$", "", re.split(r"[\\/]", line)[-1], flags=re.I)[:80]


def by_some_rule(size: int, actions: list[int], told: str) -> GameSession:
    """Play stones by the rule a file names; by another one where it names none, or its game would have ended before."""
    named = next((rule for rule in ("renju", "standard") if rule in told.lower()), "freestyle")
    complaint: BadInput | None = None
    for rule in dict.fromkeys((named, "freestyle", "standard")):
        try:
            return session_for(load(f"gomoku:size={size},rule={rule}").spec, "", actions)
        except BadInput as error:
            complaint = complaint or error
    assert complaint is not None
    raise complaint


# ---- Domineering: NPZ ----------------------------------------------------------------------------


def from_npz(content: bytes) -> Iterator[Found]:
    """Read the first games of an archive of the Domineering study."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > LARGEST_ARCHIVE:
            raise BadInput(f"the archive has {size:,} bytes when unpacked; {LARGEST_ARCHIVE:,} are read at most")
        records = shaped(Path("the archive"), arrays_in(content))
    except BadInput:
        raise
    except Exception as error:  # damaged archives and headers raise errors of a dozen kinds
        raise BadInput(f"this is no archive of games, or cut off: {str(error) or type(error).__name__}") from None
    for number in range(min(len(records), MOST_GAMES)):
        yield domineering_game(records, number)


def domineering_game(records: GameRecords, number: int) -> Found:
    """Play one game of an archive again, and compare who won."""
    length = int(records.lengths[number])
    if not 0 <= length <= records.moves.shape[1]:
        raise BadInput(f"game {number} of the archive has the length {length}")
    try:
        session = session_for("domineering", "", [int(action) for action in records.moves[number, :length]])
    except BadInput as error:
        raise BadInput(f"game {number} of the archive: {error}") from None
    score = float(records.winners[number])
    if session.score() != score:
        raise BadInput(f"game {number} of the archive does not end as it says")
    drawn = [bool(mark) for mark in records.explored[number, :length]]
    return Found(session, ("", ""), score, opening=drawn.index(False) if False in drawn else 0)


# ---- Texas 42: JSON lines ------------------------------------------------------------------------


def is_hand(line: str) -> bool:
    """Tell whether a line is a hand of Texas 42."""
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(content, dict) and "hands" in content


def from_hands(text: str) -> Iterator[Found]:
    """Read hands of Texas 42, one a line; all tiles must be known."""
    game = load("texas42")
    assert isinstance(game, Texas42)
    for number, line in enumerate(text.split("\n"), start=1):  # what else ends lines may stand inside a JSON text
        if not line.strip():
            continue
        try:
            read_position(line, game)  # says what is wrong with it
            given = json.loads(line)
            if any(hand is None for hand in given["hands"]):
                raise BadInput("a hand with hidden tiles cannot be played again; all four are needed")
            start = game.set_up(given["hands"], given["declaration"], given["leader"]).text()
            plays = [read_play(play, place) for place, play in enumerate(given.get("plays", []), start=1)]
            session = words_played("texas42", start, [tile_text(tile) for _, tile in plays])
        except BadInput as error:
            raise BadInput(f"line {number}: {error}") from None
        yield Found(session, ("", ""), session.score())


# ---- saved games ---------------------------------------------------------------------------------


def is_saved(one: dict[str, Any]) -> bool:
    """Tell whether an object is a game that a server has saved."""
    return isinstance(one.get("session"), dict) or {"people", "opponent", "practice"} <= set(one)


def from_saved(one: dict[str, Any]) -> Found:
    """Read a game of a visitor from the file in which a server keeps it."""
    content = one["session"] if isinstance(one.get("session"), dict) else one
    spec, actions = content.get("game"), content.get("actions")
    if not isinstance(spec, str) or not isinstance(actions, list):
        raise BadInput("a saved game should have a game and a list of actions")
    check_offered(spec, len(actions))
    session = session_of(content)
    people, teams = session.plan.people, session.game.teams
    players = [
        "human" if all(seat in people for seat in range(len(teams)) if teams[seat] == team)
        else str(session.plan.opponent)[:200]
        for team in (0, 1)
    ]  # fmt: skip
    return Found(session, (players[0], players[1]), session.score(), reason=session.result())
