"""Positions as people give them to a network of Lc0's: a FEN, with the moves that were made from it.

Unlike a game, a line of moves may go on through draws: what is not claimed at the board is played on. Only mate and
stalemate end it, and a hundred plies without capture or pawn move, beyond which a state keeps no history.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rookery.errors import BadInput
from rookery.games.chess import MATE, NO_PROGRESS, STALEMATE, Chess
from rookery.games.library import load
from rookery.games.position import Position
from rookery.games.rules import is_legal, play

STARTPOS = "startpos"
Given = Position | str | dict[str, Any]
"""a position; a FEN or startpos, with `moves ...` behind; or {"fen": ..., "moves": [...]}"""


def chess_game(chess960: bool = False) -> Chess:
    """Return the game in which positions are read; Chess960 begins from the usual position too."""
    game = load("chess", chess960=518) if chess960 else load("chess")
    assert isinstance(game, Chess)
    return game


def position_of(given: Given, game: Chess) -> Position:
    """Read a position in any of the forms in which it is given."""
    if isinstance(given, Position):
        if not isinstance(given.game, Chess):
            raise BadInput(f"a network of Lc0's judges chess, not {given.game.name} ({given.text()!r})")
        return given
    if isinstance(given, dict):
        return position_of_fields(given, game)
    if not isinstance(given, str):
        raise BadInput(f"a position is a FEN, startpos, or a dictionary with fen and moves, not {given!r}")
    words = given.split()
    split = words.index("moves") if "moves" in words else len(words)
    return position_after(" ".join(words[:split]), words[split + 1 :], game)


def position_of_fields(given: dict[str, Any], game: Chess) -> Position:
    """Read a position from its FEN and moves."""
    if not given.keys() & {"fen", "moves"}:
        raise BadInput(f"a position has fen or moves, and {str(given)[:60]} has neither")
    fen, moves = given.get("fen", STARTPOS), given.get("moves", [])
    if not isinstance(fen, str):
        raise BadInput(f"fen should be text, not {fen!r}")
    moves = moves.split() if isinstance(moves, str) else moves
    if not isinstance(moves, list) or not all(isinstance(move, str) for move in moves):
        raise BadInput(f"moves should be a list of moves like e2e4, not {moves!r}")
    return position_after(fen, moves, game)


def usual_fen(fen: str) -> str:
    """Return a FEN whose moves are counted from 1: programs that do not know the number write 0."""
    words = fen.split()
    return " ".join([*words[:5], "1", *words[6:]]) if words[5:6] == ["0"] else fen


def position_after(fen: str, moves: Sequence[str], game: Chess) -> Position:
    """Return the position after some moves from a FEN, or from `startpos`."""
    position = game.position(usual_fen(fen))
    for number, move in enumerate(moves, start=1):
        state = position.state
        if state["ending"] in (MATE, STALEMATE) or state["since"] >= NO_PROGRESS:
            raise BadInput(f"move {number} ({move!r}) from {fen!r}: the game is over ({game.ending(state)})")
        try:
            action = game.parse_move(state, move)
        except BadInput as error:
            raise BadInput(f"move {number} from {fen!r}: {error} (in {game.fen(state)!r})") from None
        if not is_legal(state, action):
            raise BadInput(f"move {number} ({move!r}) from {fen!r} is not legal (in {game.fen(state)!r})")
        play(state, action)
    return position


def read_lines(path: str | Path, game: Chess) -> Iterator[Position]:
    """Read positions from a file of one JSON object a line; an error names the line."""
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")  # some programs begin with a mark of the encoding
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{str(path)!r} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    yield from positions_in(text.split("\n"), str(path), game)  # what else ends lines may stand inside a JSON text


def positions_in(lines: Iterable[str], name: str, game: Chess) -> Iterator[Position]:
    """Read positions from lines of JSON; empty lines are passed over."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            given = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadInput(f"{name}, line {number} is no JSON: {error}") from None
        if not isinstance(given, dict):
            raise BadInput(f'{name}, line {number} should be an object like {{"fen": "startpos", "moves": ["e2e4"]}}')
        try:
            yield position_of_fields(given, game)
        except BadInput as error:
            raise BadInput(f"{name}, line {number}: {error}") from None
