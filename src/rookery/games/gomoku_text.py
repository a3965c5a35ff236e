"""Positions of Gomoku as text, and which of them a game can reach.

A text has four parts: the rows from the top (x black, o white, . empty), the colour of the next stone, a word for
the phase, and up to seven last moves. Options are read from the state, which holds them.
"""

from __future__ import annotations

import numpy as np

from rookery.errors import BadInput
from rookery.games import gomoku_renju as renju
from rookery.games import rules
from rookery.games.gomoku_board import (
    BLACK,
    BLACK_WON,
    CHOOSE,
    DRAWN,
    FORBIDDEN,
    MARGIN,
    MOVE_BITS,
    MOVE_MASK,
    PLACE,
    PLAY,
    REMEMBERED,
    RENJU,
    WHITE,
    WHITE_WON,
    flip_stone,
    has_six,
    has_stone,
    has_won,
    lay_stones,
)
from rookery.games.notation import parse_grid, parse_square, square_text
from rookery.games.rules import State

PHASE_WORDS = {  # phase, seat that plays Black, whether Black has lost by a forbidden move
    "-": (PLAY, 0, False),
    "forbidden": (PLAY, 0, True),
    "place": (PLACE, 0, False),
    "choose": (CHOOSE, 0, False),
    "swapped": (PLAY, 1, False),
    "swapped-forbidden": (PLAY, 1, True),
}


# ---- writing -------------------------------------------------------------------------------------


def point_text(size: int, point: int) -> str:
    """Write a point: H8 is column H, row 8 from the bottom."""
    return square_text(*divmod(point, size)).upper()


def rows_of(state: State) -> list[str]:
    """Return the rows as text, the top one first."""
    size = int(state["size"])
    black, white = ([int(word) >> MARGIN for word in stones[MARGIN:]] for stones in state["stones"])
    return [
        "".join(".xo"[(black[row] >> col & 1) + 2 * (white[row] >> col & 1)] for col in range(size))
        for row in reversed(range(size))
    ]


def recent_moves(state: State) -> list[int]:
    """Return the moves the state remembers, the last one last."""
    moves = [(int(state["recent"]) >> MOVE_BITS * i & MOVE_MASK) - 1 for i in range(REMEMBERED)]
    return [move for move in reversed(moves) if move >= 0]


def position_text(state: State) -> str:
    """Write a position."""
    status = int(state["phase"]), int(state["black_seat"]), bool(state["result"] == FORBIDDEN)
    word = next(word for word, meaning in PHASE_WORDS.items() if meaning == status)
    moves = ",".join(point_text(int(state["size"]), move) for move in recent_moves(state))
    return " ".join(["/".join(rows_of(state)), "bw"[state["colour"]], word, moves or "-"])


# ---- reading -------------------------------------------------------------------------------------


def parse_point(size: int, text: str) -> int:
    """Read a point."""
    try:
        row, col = parse_square(text, size, size)
    except BadInput:
        last = point_text(size, size * size - 1)
        raise BadInput(f"{text!r} is no point of the board; points are A1..{last}") from None
    return row * size + col


def parse_position(text: str, state: State, spec: str) -> None:
    """Read a position of a game into a state that holds its options; `spec` names the game in errors."""
    parts = text.split()
    if len(parts) != 4:
        form = "the rows from the top, the colour of the next stone (b or w), the phase and the last moves"
        raise BadInput(f"position {text!r} of gomoku should have four parts: {form}")
    board, side, word, moves = parts
    if side not in ("b", "w"):
        raise BadInput(f"{side!r} in {text!r} should be b or w, the colour of the next stone")
    words = [word for word in PHASE_WORDS if has_phase(state, word)]
    if word not in words:
        raise BadInput(f"{word!r} in {text!r} should be a phase of {spec}: {', '.join(words)}")
    rules.start(state, 0)
    grid = parse_grid(board, int(state["size"]), int(state["size"]), ".xo")
    lay_stones(state, np.array([".xo".index(sign) for row in reversed(grid) for sign in row]))
    state["colour"] = "bw".index(side)
    state["phase"], state["black_seat"], forbidden = PHASE_WORDS[word]
    state["recent"] = parse_recent(text, moves, state)
    if state["phase"] == PLAY:
        state["gomoku_mover"] = int(state["black_seat"]) ^ int(state["colour"])
        judge(text, state, forbidden)
    else:
        check_opening(text, state)


def has_phase(state: State, word: str) -> bool:
    """Tell whether a phase can occur with the options of a state."""
    phase, black_seat, forbidden = PHASE_WORDS[word]
    opening = phase != PLAY or black_seat == 1
    return bool((state["swap2"] or not opening) and (state["rule"] == RENJU or not forbidden))


def parse_recent(text: str, moves: str, state: State) -> int:
    """Read the last moves, whose colours must alternate up to the stone before the next."""
    size = int(state["size"])
    words = [] if moves == "-" else moves.split(",")
    points = [parse_point(size, word) for word in words if word]
    if len(points) > REMEMBERED or len(set(points)) < len(words):
        raise BadInput(f"{moves!r} in {text!r} should be at most {REMEMBERED} different points, joined by ','")
    recent, colour = 0, int(state["colour"])
    for i, point in enumerate(reversed(points)):
        colour = 1 - colour
        if not has_stone(state, colour, *divmod(point, size)):
            wanted = ("black", "white")[colour]
            raise BadInput(f"{point_text(size, point)} in {text!r} should be a {wanted} stone, as a last move")
        recent |= (point + 1) << MOVE_BITS * i
    return recent


def check_opening(text: str, state: State) -> None:
    """Check a position of the opening and find who is to move."""
    rows = "".join(rows_of(state))
    blacks, whites = rows.count("x"), rows.count("o")
    stones, placing = blacks + whites, state["phase"] == PLACE
    allowed = range(5) if placing else (3, 5)
    if stones not in allowed or blacks != (stones + 1) // 2 or state["colour"] != stones % 2:
        form = "0..4 stones" if placing else "3 or 5 stones"
        raise BadInput(f"position {text!r}: in this phase there are {form}, laid in turns of black and white")
    state["gomoku_mover"] = (stones >= 3) if placing else (stones == 3)


# ---- what a game can reach -----------------------------------------------------------------------


def judge(text: str, state: State, forbidden: bool) -> None:
    """Set the result of a position outside the opening; refuse one that no game can reach."""
    side = int(state["colour"])
    rows = [bool(has_won(state, colour)) for colour in (BLACK, WHITE)]
    if rows[side] or ended_before(state, rows[1 - side]):
        raise BadInput(f"position {text!r}: the game had ended before the last move")
    if state["rule"] == RENJU and not rows[BLACK]:
        judge_forbidden(text, state, forbidden)
    elif forbidden:
        raise BadInput(f"position {text!r}: a move that makes five is not forbidden")
    if rows[1 - side]:
        state["result"] = (BLACK_WON, WHITE_WON)[1 - side]
    elif forbidden:
        state["result"] = FORBIDDEN
    elif state["left"] == 0:
        state["result"] = DRAWN


def ended_before(state: State, won: bool) -> bool:
    """Tell whether the game had ended before its last move; where that is not named, it may be any that fits."""
    size, colour = int(state["size"]), 1 - int(state["colour"])
    last = recent_moves(state)[-1:]
    if not last and won:
        last = [point for point in range(size * size) if has_stone(state, colour, *divmod(point, size))]
    return bool(last) and not any(open_without(state, colour, *divmod(point, size)) for point in last)


def open_without(state: State, colour: int, row: int, col: int) -> bool:
    """Tell whether nobody had won, or lost by an overline, if a stone were not there; the board is left as it was."""
    flip_stone(state, colour, row, col)
    ended = has_won(state, BLACK) or has_won(state, WHITE) or (state["rule"] == RENJU and has_six(state, BLACK))
    flip_stone(state, colour, row, col)
    return not ended


def judge_forbidden(text: str, state: State, forbidden: bool) -> None:
    """Check that a position is called forbidden exactly if its last move was, as far as it tells."""
    last = recent_moves(state)[-1:] if state["colour"] == WHITE else []
    lost = [point for point in last if renju.is_forbidden(state, *divmod(point, int(state["size"])))]
    if forbidden and not lost:
        raise BadInput(f"position {text!r}: its last move, which should be named, is not a forbidden move of Black")
    if not forbidden and (lost or has_six(state, BLACK)):
        raise BadInput(f"position {text!r}: Black has made a forbidden move, so its phase should be forbidden")
