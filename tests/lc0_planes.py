"""Lc0's planes in all formats as their description has them, square by square: slow and plain."""

from __future__ import annotations

import numpy as np

from chess_rulebook import Board, Game, is_white

CANONICAL = (3, 4, 5, 132, 133)
HECTOPLIES = (4, 5, 132, 133)
REPEATED_ONLY = (5, 133)
ARMAGEDDON = (132, 133)


def marked(game: Game, i: int) -> int | None:
    """File of the en passant marker of position number i."""
    marker = game.marker(i)
    return None if marker is None else marker % 8


def turned(square: int, turn: int) -> int:
    file, rank = square % 8, square // 8
    if turn & 1:
        file = 7 - file
    if turn & 2:
        rank = 7 - rank
    if turn & 4:
        file, rank = 7 - rank, 7 - file
    return file + 8 * rank


def view(square: int, white: bool) -> int:
    return square if white else square ^ 56


def canonical_turn(board: Board) -> int:
    """The five steps of the description."""
    if board.castling:
        return 0
    men = {view(square, board.white): man for square, man in enumerate(board.men) if man != "."}
    king = next(square for square, man in men.items() if man.lower() == "k" and is_white(man) == board.white)
    turn = 0
    if king % 8 <= 3:
        turn |= 1
    if any(man.lower() == "p" for man in men.values()):
        return turn
    if turned(king, turn) // 8 >= 4:
        turn |= 2
    file, rank = turned(king, turn) % 8, turned(king, turn) // 8
    if file + rank > 7:
        return turn | 4
    if file + rank < 7:
        return turn
    sets = [set(men), {square for square, man in men.items() if is_white(man) == board.white}]
    sets += [{square for square, man in men.items() if man.lower() == kind} for kind in "kqrnb"]
    for squares in sets:
        now = sum(1 << turned(square, turn) for square in squares)
        reflected = sum(1 << turned(turned(square, turn), 4) for square in squares)
        if now != reflected:
            return turn if now < reflected else turn | 4
    return turn


def shown_boards(game: Game, form: int, fill: str) -> list[tuple[list[str], bool]]:
    """The boards of the slots in their order, each with whether it had occurred before."""
    last, shown = len(game.boards) - 1, []
    i = last
    while len(shown) < 8:
        known, at = i >= 0, max(i, 0)
        if not known:
            if form in REPEATED_ONLY:
                break
            if fill == "no" and not (marked(game, 0) is not None and i == -1):
                break
            if fill == "fen_only" and game.is_usual_start():
                break
        board = game.boards[at]
        if form in CANONICAL:
            if board.castling != game.board.castling:
                break
            if not (known and i == last) and marked(game, at) is not None:
                break
        repeated = known and game.repetitions(i) > 0
        if form in REPEATED_ONLY and not repeated and i != last:
            if board.clock == 0:
                break
            i -= 1
            continue
        shown.append((board.men if known else game.men_before_push(), repeated))
        if form in CANONICAL and board.clock == 0:
            break
        i -= 1
    return shown


def slow_planes(game: Game, form: int, fill: str) -> np.ndarray:
    """The 112 planes of a format; `fill` is "no", "fen_only" or "always"."""
    board = game.board
    turn = canonical_turn(board) if form in CANONICAL else 0
    out = np.zeros((112, 64), np.float32)
    for slot, (men, repeated) in enumerate(shown_boards(game, form, fill)):
        for square, man in enumerate(men):
            if man != ".":
                kind = "pnbrqk".index(man.lower()) + (0 if is_white(man) == board.white else 6)
                out[13 * slot + kind, turned(view(square, board.white), turn)] = 1
        out[13 * slot + 12] = repeated
    if form == 1:
        out[104:108] = game.planes("no").reshape(112, 64)[104:108]
    else:
        for rook in board.castling:
            kingside = rook > board.king(is_white(board.men[rook]))
            out[105 if kingside else 104, turned(view(rook, board.white), turn)] = 1
    if form not in CANONICAL:
        out[108] = not board.white
    elif marked(game, len(game.boards) - 1) is not None:
        out[108, turned(56 + marked(game, len(game.boards) - 1), turn)] = 1
    out[109] = np.float32(board.clock) / np.float32(100) if form in HECTOPLIES else board.clock
    out[110] = form in ARMAGEDDON and not board.white
    out[111] = 1
    return out.reshape(112, 8, 8)
