"""Positions of Texas 42 in files for programs, one JSON object a line, and what is known of each.

A line reads

    {"hands": [[ids] x 4], "declaration": 0..9, "leader": seat, "plays": [[seat, id], ...]}

where tiles, declarations and leaders may be text, too (nello and sevens have names alone), and its answer holds
`to_move`, `legal` (slots), `voids` (of each seat), `points` (of each team), `value` and `q` (exact, team 0 minus team
1, points to come, null where not legal), `worlds` (how many the seat to move thinks possible) and `marginals` (28 tiles
x 4 seats: the chance that the seat still holds the tile, as the seat to move knows it). A hand may be null if it is
hidden, except that of the seat to move; the value and all of q are null then, and in nello and sevens.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.position import Position
from rookery.games.texas42 import Texas42, points, record, voids
from rookery.games.texas42_setup import listed
from rookery.games.texas42_tiles import HAND, NO_TILE, NOT_NAMED, read_tile, tile_text
from rookery.search.solve.texas42 import ILLEGAL, Solver
from rookery.search.worlds import Worlds

NEEDED, ALLOWED = ("hands", "declaration", "leader"), ("hands", "declaration", "leader", "plays")
Read = Position | BadInput
"""what a line gave: a position, or what is wrong with it"""


def positions_in(path: Path, game: Game) -> Iterator[tuple[int, Read]]:
    """Read a file line by line; yield the number of each line that is not empty, with its position or complaint."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise BadInput(f"positions {str(path)!r} cannot be read: {error.strerror}") from None
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield number, read_position(line, game)
            except BadInput as error:
                yield number, BadInput(f"{path}, line {number}: {error}")


def read_position(line: bytes | str, game: Game) -> Position:
    """Read a position from its JSON object."""
    try:
        given = json.loads(line, object_pairs_hook=object_of)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"it is no JSON: {error}") from None
    if not isinstance(given, dict):
        raise BadInput(f"it should be an object with {', '.join(ALLOWED)}, not {type(given).__name__}")
    for name in NEEDED:
        if name not in given:
            raise BadInput(f"{name!r} is missing")
    for name in given:
        if name not in ALLOWED:
            raise BadInput(f"{name!r} is not known; it may hold {', '.join(ALLOWED)}")
    if not isinstance(game, Texas42):
        raise BadInput(f"positions in files are those of texas42, not of {game.name}")
    plays = [read_play(play, number) for number, play in enumerate(listed("plays", given.get("plays", [])), start=1)]
    position = game.set_up(given["hands"], given["declaration"], given["leader"], [tile for _, tile in plays])
    for number, ((told, tile), (seat, _)) in enumerate(zip(plays, record(position), strict=True), start=1):
        if told != seat:
            raise BadInput(f"play {number}, {tile_text(tile)} by seat {told}: it is the turn of seat {seat}")
    return position


def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; refuse one in which a name stands twice."""
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"{name!r} stands twice")
    return dict(pairs)


def read_play(play: Any, number: int) -> tuple[int, int]:
    """Read a seat and a tile."""
    if not isinstance(play, list) or len(play) != 2 or type(play[0]) is not int or play[0] not in range(4):
        raise BadInput(f"play {number} should be [seat, tile] with a seat in 0..3, not {play!r}")
    return play[0], read_tile(play[1])


def answers(positions: list[Position], solver: Solver) -> list[dict[str, Any] | BadInput]:
    """Say what is known of each position; all that can be solved are solved together."""
    known: list[dict[str, Any] | BadInput] = []
    for position in positions:
        try:
            known.append(seen_facts(position))
        except BadInput as error:
            known.append(error)
    open_ones = [i for i, position in enumerate(positions) if can_be_solved(position)]
    if open_ones:
        solved = solver.q(np.concatenate([positions[i].states for i in open_ones]))
        for i, value, q in zip(open_ones, solved.values, solved.q, strict=True):
            facts = known[i]
            if isinstance(facts, dict):
                facts["value"] = int(value)
                facts["q"] = [None if worth == ILLEGAL else int(worth) for worth in q]
    return known


def can_be_solved(position: Position) -> bool:
    """Tell whether all hands are known and points count, as they do not in nello and sevens."""
    return not (position.state["tiles"] == NO_TILE).any() and position.state["declaration"] < NOT_NAMED


def seen_facts(position: Position) -> dict[str, Any]:
    """Return what follows from the record and the mover's own hand; when all is played, one world is left."""
    worlds = Worlds(position)
    return {
        "to_move": None if position.over else position.mover,
        "legal": [int(slot) for slot in position.legal()],
        "voids": [sorted(suits) for suits in voids(position)],
        "points": list(points(position)),
        "value": None,
        "q": [None] * HAND,
        "worlds": worlds.count,
        "marginals": worlds.marginals().tolist(),
    }
