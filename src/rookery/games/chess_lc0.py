"""Lc0's numbers: the 1858 moves of its policy and the 112 planes of its classical input.

Moves are written as the player to move sees them (`rookery.games.chess_board`). The first 1792 are the pairs of squares
a queen or a knight could go, by source, then by target; then come promotions to queen, rook and bishop. A promotion to
a knight is the plain pair. Castling is the king taking his own rook: e1h1, e1a1.

Planes 0..103 are eight boards of 13 planes, the present one first: my pawns, knights, bishops, rooks, queens and king,
then theirs, then ones if the position had occurred before. All boards are seen by the player to move now. The others:

    104, 105  I may castle queenside, kingside       108  Black is to move     110  zeros
    106, 107  they may castle queenside, kingside    109  plies without capture or pawn move     111  ones

The kinds of observation differ in what stands for boards before the first known position: the first position again
unless it is the usual starting position ("classical"), nothing ("classical_empty", as in training), or always the
first position ("classical_filled"). Where the first position has an en passant marker, such a board shows the pushed
pawn where it came from; "classical_empty" shows exactly one such board.
"""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from rookery.games.chess_board import (
    BISHOP,
    FIRST_RANK,
    HIGH,
    KING,
    KNIGHT,
    KNIGHT_STEPS,
    LAST_RANK,
    LINE_STEPS,
    LOW,
    MARKER_RANK,
    MIDDLE,
    MINE,
    NONE,
    ONE,
    PAWN,
    QUEEN,
    RIGHTS,
    ROOK,
    WORDS,
    both_ways,
    mask_of,
    squares_from,
)
from rookery.games.notation import square_text
from rookery.games.rules import State

SLOTS = 8
PLAIN = 1792  # actions from here on are promotions to queen, rook and bishop
KINDS = ("classical", "classical_empty", "classical_filled")
FEN_ONLY, EMPTY, FILLED = 0, 1, 2
PROMOTIONS = (QUEEN, ROOK, BISHOP)


def move_list() -> list[tuple[int, int, int]]:
    """List (source, target, promoted kind) of the 1858 moves; 0 stands for no kind named."""
    moves = [(source, target, 0) for source in range(64) for target in range(64) if int(REACH[source]) >> target & 1]
    for source in range(48, 56):
        for target in range(max(source + 7, 56), min(source + 9, 63) + 1):
            moves += [(source, target, kind) for kind in PROMOTIONS]
    return moves


def policy_texts() -> list[str]:
    """Write the 1858 moves as Lc0 does."""
    letters = {0: "", QUEEN: "q", ROOK: "r", BISHOP: "b"}
    return [
        square_text(source // 8, source % 8) + square_text(target // 8, target % 8) + letters[kind]
        for source, target, kind in MOVES
    ]


REACH = np.array(
    [mask_of(squares_from(s, both_ways(LINE_STEPS), 7) + squares_from(s, KNIGHT_STEPS, 1)) for s in range(64)],
    np.uint64,
)
FIRST_ACTION = np.cumsum([0, *(int(reach).bit_count() for reach in REACH[:-1])]).astype(np.int32)
MOVES = move_list()
ACTIONS = len(MOVES)
PACKED_MOVES = np.array([source | target << 6 | kind << 12 for source, target, kind in MOVES], np.uint16)
PLANE_KINDS = np.array([PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING], np.uint8)


@njit(cache=True, nogil=True)
def unpacked(action: int) -> tuple[int, int, int]:
    """Return source, target and promoted kind of a move; kind 0 promotes a pawn to a knight."""
    packed = int(PACKED_MOVES[action])
    return packed & 63, (packed >> 6) & 63, packed >> 12


@njit(cache=True, nogil=True)
def promotion_action(source: int, target: int) -> int:
    """Number a pawn's promotion to a queen; rook and bishop follow."""
    file, step = source - 48, target - source - 7  # step 0, 1, 2: to the left, straight, to the right
    return PLAIN + 9 * file + 3 * step - 3  # the a-file has no step 0


# ---- planes --------------------------------------------------------------------------------------

# mine, low, middle, high, rights of the usual starting position
USUAL_START = np.array(
    [0xFFFF, 0x6E0000000000006E, 0x9900000000000099, 0x52FF00000000FF52, 0x8100000000000081], np.uint64
)


@njit(cache=True, nogil=True)
def is_usual_start(state: State, slot: int, mover: int) -> bool:
    """Tell whether a board of the state, with that player to move, is the usual starting position."""
    if mover != 0:
        return False
    for word in range(WORDS):
        if state.boards[slot, word] != USUAL_START[word]:
            return False
    return True


@njit(cache=True, nogil=True)
def is_filled(state: State, kind: int, board: int, oldest: int) -> bool:
    """Tell whether a board before the oldest known one is shown at all; both are counted in plies ago."""
    slot = (state.plies - oldest) & 7
    if kind == EMPTY:
        return bool(board == oldest + 1 and state.boards[slot, RIGHTS] & MARKER_RANK != NONE)
    return kind == FILLED or not is_usual_start(state, slot, state.chess_mover ^ (oldest & 1))


@njit(cache=True, nogil=True)
def board_plane(state: State, kind: int, board: int, offset: int, square: int) -> float:
    """Return a square of plane `offset` of the position `board` plies ago."""
    oldest = min(state.plies, SLOTS - 1)
    known = board <= oldest
    if not known and not is_filled(state, kind, board, oldest):
        return 0.0
    ago = min(board, oldest)
    slot = (state.plies - ago) & 7
    if offset == 12:
        return 1.0 if known and state.repeated[slot] != 0 else 0.0
    high = state.boards[slot, HIGH]
    if not known:
        marker = state.boards[slot, RIGHTS] & MARKER_RANK
        high ^= (marker >> uint64(8)) | (marker << uint64(8))  # the push undone
    at = uint64(square ^ 56 if ago & 1 else square)
    man = (state.boards[slot, LOW] >> at) & ONE
    man |= ((state.boards[slot, MIDDLE] >> at) & ONE) << ONE
    man |= ((high >> at) & ONE) << uint64(2)
    mine = (state.boards[slot, MINE] >> at) & ONE
    wanted = uint64((1 if offset < 6 else 0) ^ (ago & 1))
    return 1.0 if man == PLANE_KINDS[offset % 6] and mine == wanted else 0.0


@njit(cache=True, nogil=True)
def may_castle(state: State, side: int, kingside: int) -> bool:
    """Tell whether I (side 0) or they (side 1) have kept a right to castle."""
    slot = state.plies & 7
    rank = FIRST_RANK if side == 0 else LAST_RANK
    rooks = state.boards[slot, RIGHTS] & rank
    if rooks == NONE:
        return False
    king = state.boards[slot, MIDDLE] & state.boards[slot, HIGH] & rank
    mine = state.boards[slot, MINE]
    king &= mine if side == 0 else ~mine
    queenside = rooks & (king - ONE)
    return bool((rooks ^ queenside if kingside else queenside) != NONE)


@njit(cache=True, nogil=True)
def plane_value(state: State, kind: int, i: int) -> float:
    """Return number `i` of the 112 x 64 planes."""
    plane, square = i >> 6, i & 63
    if plane < 104:
        board = plane // 13
        return board_plane(state, kind, board, plane - 13 * board, square)
    if plane < 108:
        return 1.0 if may_castle(state, (plane - 104) >> 1, plane & 1) else 0.0
    if plane == 108:
        return float(state.chess_mover)
    if plane == 109:
        return float(state.clocks[state.plies & 7])
    return float(plane - 110)
