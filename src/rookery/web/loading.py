"""Games from a file: PGN for chess, `text` and `json` as `rookery export` writes them, what `Share` wrote, and more.

Forms of other programs, and those in which games are kept, are in `foreign.py`.

A file comes from a stranger: its games must be of a kind that is offered, and every move is checked by the rules.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

from rookery.arena.exports import NUMBERS, TUPLES, parse_games
from rookery.arena.records import GameRecord
from rookery.errors import BadInput
from rookery.games.chess import Chess
from rookery.games.library import load
from rookery.web.foreign import ARCHIVE, PSQ, from_hands, from_npz, from_psq, from_saved, is_hand, is_saved
from rookery.web.found import MOST_GAMES, Found, session_for, words_played
from rookery.web.games import OFFERS
from rookery.web.session import GameSession
from rookery.web.sharing import TAG, read_pgn, read_shared

LONGEST_FILE = 1_000_000  # bytes
MOST_PLIES = 10_000
"""after so many plies no further game of a file is read; each takes about 2 kB of memory"""
PGN_SCORES = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}
GOMOKU_SCORES = {"Black wins": 1.0, "White wins": 0.0, "Draw": 0.5}


def games_of(content: bytes) -> list[Found]:
    """Read the games of a file; BadInput says what is wrong with the first that cannot be read."""
    if content.startswith(ARCHIVE):
        return some_of(from_npz(content))
    return games_in(content.decode("utf-8", errors="replace"))


def games_in(text: str) -> list[Found]:
    """Read the games of a file; BadInput says what is wrong with the first that cannot be read."""
    if len(text) > LONGEST_FILE:
        raise BadInput(f"the file has {len(text):,} characters; {LONGEST_FILE:,} are read at most")
    return some_of(read(text.lstrip("\ufeff").strip()))


def some_of(games: Iterable[Found]) -> list[Found]:
    """Take no more games than a page holds; none at all is an error."""
    found: list[Found] = []
    for one in games:
        found.append(one)
        if len(found) == MOST_GAMES or sum(each.session.ply for each in found) > MOST_PLIES:
            break
    if not found:
        raise BadInput("the file has no games; it should be PGN, or text or json as `rookery export` writes them")
    return found


def read(text: str) -> Iterator[Found]:
    """Yield the games of a text in whatever form it is."""
    if PSQ.match(text):
        yield from_psq(text)
    elif is_hand(text.partition("\n")[0]):
        yield from from_hands(text)
    elif re.match(r"\{|\[\s*[{\]]", text):
        yield from from_json(text)
    elif re.search(r"^version:", text, re.M) and re.search(r"^players:", text, re.M):
        for record in parse_games(text):
            yield of_record(record)
    elif re.search(r"^game:", text, re.M):
        allowed = {spec for offer in OFFERS.values() for spec in offer.variants.values()}
        game, start, actions = read_shared(text, load("chess"), allowed)
        yield Found(session_for(game.spec, start, actions), ("", ""))
    elif text:
        for chunk in re.split(r"^(?=\[Event )", text, flags=re.M):
            if chunk.strip():
                yield from_pgn(chunk)


def of_record(record: GameRecord) -> Found:
    """Play the game of a record again."""
    session = session_for(record.game, record.start, record.actions)
    if session.game.version != record.version:
        raise BadInput(
            f"the game was played by version {record.version} of the rules of {session.game.name}; "
            f"these are version {session.game.version}"
        )
    return Found(session, record.players, record.score, record.date, record.opening, record.reason)


def from_pgn(text: str) -> Found:
    """Read a game of chess."""
    tags = dict(TAG.findall(text))
    spec = "chess:chess960=0" if "960" in tags.get("Variant", "") else "chess"
    game = load(spec)
    assert isinstance(game, Chess)
    _, start, actions = read_pgn(text, game)
    if not actions and not tags:
        raise BadInput("the file is neither PGN, nor text or json as `rookery export` writes them")
    players = (tags.get("White", ""), tags.get("Black", ""))
    date = tags.get("Date", "").replace(".", "-")
    return Found(session_for(spec, start, actions), players, PGN_SCORES.get(tags.get("Result", "")), date)


def from_json(text: str) -> Iterator[Found]:
    """Read one game or a list of games: records, saved games, or games of Gomoku in the original's form."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"the file looks like JSON but is not: {error}") from None
    for one in content if isinstance(content, list) else [content]:
        if not isinstance(one, dict):
            raise BadInput("a game in JSON should be an object with names and values")
        yield from_saved(one) if is_saved(one) else from_gomoku(one) if "black" in one else of_record(record_in(one))


def record_in(one: dict[str, Any]) -> GameRecord:
    """Make a record of an object that has its fields."""
    try:
        values = {field.name: one[field.name] for field in fields(GameRecord)}
        tuples = {name: tuple(kind(item) for item in values.pop(name)) for name, kind in TUPLES.items()}
        numbers = {name: kind(values.pop(name)) for name, kind in NUMBERS.items()}
        wrong = [name for name, value in values.items() if not isinstance(value, str)]
        if wrong or len(tuples["players"]) != 2:
            raise BadInput(f"a game in JSON has a wrong value of {wrong[0] if wrong else 'players'!r}")
        whole: dict[str, Any] = {**values, **tuples, **numbers}
        return GameRecord(**whole)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput(f"a game in JSON lacks something or has it in a wrong form: {error}") from None


def from_gomoku(one: dict[str, Any]) -> Found:
    """Read a game of Gomoku in the original's form, which does not tell the size: that on which it ends as it says."""
    moves, start = one.get("moves"), one.get("start", "")
    if not isinstance(moves, list) or not all(isinstance(move, str) for move in moves) or not isinstance(start, str):
        raise BadInput("a game of Gomoku in JSON should have a list of moves such as H8")
    score = GOMOKU_SCORES.get(str(one.get("result")))
    tried, complaint = list[GameSession](), BadInput("no moves")
    for spec in OFFERS["gomoku"].variants.values():
        try:
            tried.append(words_played(spec, start, moves))
        except BadInput as error:
            complaint = error
    if not tried:
        raise complaint
    fitting = [session for session in tried if score is not None and session.score() == score]
    usual = [session for session in tried if session.plan.spec == "gomoku"]
    players = (str(one.get("black", "")), str(one.get("white", "")))
    return Found((fitting or usual or tried)[0], players, score, str(one.get("date", "")))
