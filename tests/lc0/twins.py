"""Boards that look the same to some of Lc0's networks: turned, and with the colours exchanged."""

from __future__ import annotations

from itertools import product

import chess

from rookery.games.position import Position
from rookery.lc0.positions import chess_game

WITHOUT_PAWNS = "8/8/8/4k3/8/2N5/3R4/1K6 w - - 3 40"
WITH_PAWNS = "8/1p3k2/8/8/2P5/8/1K2R3/8 w - - 7 40"


def turned_boards(fen: str, turns: int) -> list[str]:
    """Turn a board in the first ways of eight: files exchanged, ranks exchanged, reflected; and for either colour."""
    ways = (chess.flip_horizontal, chess.flip_vertical, chess.flip_diagonal)[:turns]
    found = []
    for chosen in product((False, True), repeat=len(ways)):
        board = chess.Board(fen)
        for way in (way for way, wanted in zip(ways, chosen, strict=True) if wanted):
            board.apply_transform(way)
        found += [board.fen(), board.mirror().fen()]
    return found


def twin_boards() -> list[list[Position]]:
    """Return two sets of boards of which each set is one board: with pawns only the files can be exchanged."""
    game = chess_game()
    sets = (turned_boards(WITHOUT_PAWNS, 3), turned_boards(WITH_PAWNS, 1))
    return [[game.position(fen) for fen in fens] for fens in sets]
