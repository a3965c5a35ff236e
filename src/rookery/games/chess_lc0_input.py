"""What Lc0's networks read, in all its formats: 112 planes as (mask, value) pairs, for thousands of positions at once.

A plane is a value on the squares of a mask and 0 elsewhere. Formats, by the numbers they have in weight files:

    1         classical (`chess_lc0`)
    2         castling as the squares of the rooks: 104 queenside, 105 kingside, mine and theirs; 106 and 107 are empty
    3         and canonical: the board is turned so that my king stands to the right, and without pawns below, and on
              one side of the diagonal; 108 is the en passant marker, on the last rank; history ends where it cannot be
              repeated
    4, 132    and 109 is the counter / 100; 132: 110 has ones if Black is to move
    5, 133    and history holds only positions that had occurred before; 133: 110 as in 132

How boards and moves are turned stands in `chess_lc0_turns`.

Boards before the first known position are filled as in `chess_lc0`: FEN_ONLY, EMPTY, FILLED.
"""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from rookery.games.bits import Word, lowest_bit
from rookery.games.chess_board import (
    ALL,
    CASTLING_RANKS,
    FIRST_RANK,
    HIGH,
    LAST_RANK,
    MARKER_RANK,
    MIDDLE,
    MINE,
    NONE,
    ONE,
    RIGHTS,
)
from rookery.games.chess_lc0 import SLOTS, is_filled
from rookery.games.chess_lc0_turns import canonical_turn, turned_actions, turned_word
from rookery.games.chess_moves import (
    ACTION_MASK,
    MOVES_KEPT,
    Words,
    after_move,
    men_in,
    turned_words,
    words_at,
    write_legal,
)
from rookery.games.rules import State

PLANES = 112
FORMATS = (1, 2, 3, 4, 5, 132, 133)
FILLS = ("fen_only", "no", "always")
"""names of FEN_ONLY, EMPTY, FILLED, in their order"""
CLASSICAL = 1
FIRST_CANONICAL = 3


# ---- one position --------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def write_board(words: Words, repeated: bool, turn: int, first: int, masks: np.ndarray) -> None:
    """Write the thirteen planes of a board, which is given as the player to move now sees it."""
    mine, low, middle, high, _ = words
    kinds = (
        high & ~(low | middle),
        high & low,
        low & ~(middle | high),
        middle & ~(low | high),
        low & middle,
        high & middle,
    )
    plane = first
    for men in kinds:
        masks[plane] = turned_word(men & mine, turn)
        masks[plane + 6] = turned_word(men & ~mine, turn)
        plane += 1
    masks[first + 12] = ALL if repeated else NONE


@njit(cache=True, nogil=True)
def before_push(words: Words) -> Words:
    """Return a position with the marked pawn where it came from."""
    mine, low, middle, high, rights = words
    marker = rights & MARKER_RANK
    return mine, low, middle, high ^ ((marker >> uint64(8)) | (marker << uint64(8))), rights


@njit(cache=True, nogil=True)
def write_history(state: State, canonical: bool, fill: int, turn: int, masks: np.ndarray) -> None:
    """Write the last eight boards."""
    oldest = min(state.plies, SLOTS - 1)
    rights_now = state.boards[state.plies & 7, RIGHTS] & CASTLING_RANKS
    for board in range(SLOTS):
        known = board <= oldest
        if not known and not is_filled(state, fill, board, oldest):
            return
        ago = min(board, oldest)
        slot = (state.plies - ago) & 7
        words = words_at(state, slot)
        if not known:
            words = before_push(words)
        marked = words[RIGHTS] & MARKER_RANK != NONE
        if ago & 1:
            words = turned_words(words)
        if canonical and (words[RIGHTS] & CASTLING_RANKS != rights_now or (board > 0 and marked)):
            return
        write_board(words, known and state.repeated[slot] != 0, turn, 13 * board, masks)
        if canonical and state.clocks[slot] == 0:
            return


@njit(cache=True, nogil=True)
def had_occurred(state: State, index: int) -> bool:
    """Tell whether a position since the last capture or pawn move had occurred before it."""
    key = state.history[index]
    for earlier in range(index - 4, -1, -2):
        if state.history[earlier] == key and (earlier > 0 or state.first_marked == 0):
            return True
    return False


@njit(cache=True, nogil=True)
def write_repeated(state: State, turn: int, masks: np.ndarray) -> None:
    """Write the present board and the latest earlier ones that had occurred before.

    A state has only the last eight boards, so older ones are played again from the base.
    """
    words = words_at(state, state.plies & 7)
    rights_now = words[RIGHTS] & CASTLING_RANKS
    write_board(words, state.repeated[state.plies & 7] != 0, turn, 0, masks)
    count, first = 0, 0
    for index in range(state.since - 1, 3, -1):
        if count < SLOTS - 1 and had_occurred(state, index):
            count += 1
            first = index
    if count == 0:
        return
    begin = state.plies - state.since  # ply of the first position in the history
    replayed = state.since - first > SLOTS - 1
    if replayed:
        words = state.base[0], state.base[1], state.base[2], state.base[3], state.base[4]
        for ply in range(state.base_ply, begin + first):
            words = after_move(words, int(state.moves[ply & (MOVES_KEPT - 1)]) & ACTION_MASK)[0]
    for index in range(first, state.since):
        ply = begin + index
        if not replayed:
            words = words_at(state, ply & 7)
        if had_occurred(state, index):
            shown = words
            if (state.plies - ply) & 1:
                shown = turned_words(words)
            if shown[RIGHTS] & CASTLING_RANKS == rights_now:
                write_board(shown, True, turn, 13 * count, masks)
            count -= 1
        if replayed:
            words = after_move(words, int(state.moves[ply & (MOVES_KEPT - 1)]) & ACTION_MASK)[0]


@njit(cache=True, nogil=True)
def castling_rooks(words: Words, side: int) -> tuple[Word, Word]:
    """Return my (side 0) or their rooks that may castle, queenside and kingside."""
    rank = FIRST_RANK if side == 0 else LAST_RANK
    rooks = words[RIGHTS] & rank
    if rooks == NONE:
        return NONE, NONE
    king = words[MIDDLE] & words[HIGH] & rank
    king &= words[MINE] if side == 0 else ~words[MINE]
    queenside = rooks & (king - ONE)
    return queenside, rooks ^ queenside


@njit(cache=True, nogil=True)
def write_rest(state: State, form: int, turn: int, masks: np.ndarray, values: np.ndarray) -> None:
    """Write the eight planes behind the boards."""
    slot = state.plies & 7
    words = words_at(state, slot)
    my_queenside, my_kingside = castling_rooks(words, 0)
    their_queenside, their_kingside = castling_rooks(words, 1)
    if form == CLASSICAL:
        masks[104] = ALL if my_queenside != NONE else NONE
        masks[105] = ALL if my_kingside != NONE else NONE
        masks[106] = ALL if their_queenside != NONE else NONE
        masks[107] = ALL if their_kingside != NONE else NONE
    else:
        masks[104], masks[105] = my_queenside | their_queenside, my_kingside | their_kingside
    black = ALL if state.chess_mover == 1 else NONE
    if form < FIRST_CANONICAL:
        masks[108] = black
    else:
        masks[108] = turned_word((words[RIGHTS] & MARKER_RANK) << uint64(16), turn)
    masks[109] = ALL
    count = np.float32(state.clocks[slot])
    values[109] = count / np.float32(100) if form > FIRST_CANONICAL else count
    masks[110] = black if form > 100 else NONE  # the formats with Armageddon
    masks[111] = ALL


@njit(cache=True, nogil=True)
def encode(state: State, form: int, fill: int, masks: np.ndarray, values: np.ndarray) -> int:
    """Write the planes of a position as masks [112] and values [112]; return how the board was turned."""
    masks[:] = 0
    values[:] = 1
    canonical = form >= FIRST_CANONICAL
    turn = canonical_turn(words_at(state, state.plies & 7)) if canonical else 0
    if form == 5 or form == 133:
        write_repeated(state, turn, masks)
    else:
        write_history(state, canonical, fill, turn, masks)
    write_rest(state, form, turn, masks, values)
    return turn


# ---- many positions ------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def encode_all(
    states: np.ndarray, form: int, fill: int, masks: np.ndarray, values: np.ndarray, turns: np.ndarray
) -> None:
    """Write masks and values [N, 112] of N states, and how each board was turned [N]."""
    for i in range(len(states)):
        turns[i] = encode(states[i], form, fill, masks[i], values[i])


@njit(cache=True, nogil=True)
def fill_planes(masks: np.ndarray, values: np.ndarray, planes: np.ndarray) -> None:
    """Write planes [N, 112, 64] from masks and values [N, 112]."""
    for i in range(masks.shape[0]):
        for plane in range(masks.shape[1]):
            mask, value = masks[i, plane], values[i, plane]
            planes[i, plane, :] = value if mask == ALL else np.float32(0)
            mask = NONE if mask == ALL else mask
            while mask != NONE:
                planes[i, plane, lowest_bit(mask)] = value
                mask &= mask - ONE


@njit(cache=True, nogil=True)
def list_moves(
    states: np.ndarray,
    turns: np.ndarray,
    table: np.ndarray,
    actions: np.ndarray,
    indices: np.ndarray,
    counts: np.ndarray,
) -> None:
    """List the moves of N states, also of drawn ones: actions [N, most], their policy indices, how many there are.

    `table` is that of `turned_actions`. A move's index is its own number after the turn of the board.
    """
    for i in range(len(states)):
        state = states[i]
        words = words_at(state, state.plies & 7)
        count = write_legal(men_in(words), words[RIGHTS], state.checkers, state.pinned, actions[i])
        for k in range(count):
            indices[i, k] = table[turns[i], actions[i, k]]
        counts[i] = count


def planes_of(states: np.ndarray, form: int, fill: int) -> tuple[np.ndarray, np.ndarray]:
    """Return planes [N, 112, 8, 8] of N states, and how each board was turned [N]."""
    masks, values, turns = pairs_of(states, form, fill)
    planes = np.empty((len(states), PLANES, 64), np.float32)
    fill_planes(masks, values, planes)
    return planes.reshape(-1, PLANES, 8, 8), turns


def pairs_of(states: np.ndarray, form: int, fill: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return masks and values [N, 112] of N states, and how each board was turned [N]."""
    masks, values = np.empty((len(states), PLANES), np.uint64), np.empty((len(states), PLANES), np.float32)
    turns = np.empty(len(states), np.int32)
    encode_all(states, form, fill, masks, values, turns)
    return masks, values, turns


def moves_of(states: np.ndarray, turns: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return moves and policy indices [N, most] of N states, and how many each has [N]; the rest is not set."""
    actions, indices = np.empty((len(states), most), np.int32), np.empty((len(states), most), np.int32)
    counts = np.empty(len(states), np.int32)
    list_moves(states, turns, turned_actions(), actions, indices, counts)
    return actions, indices, counts
