"""What Lc0's networks read, in all its formats: 112 planes as (mask, value) pairs, for thousands of positions at once.

A plane is a value on the squares of a mask and 0 elsewhere. Formats, by the numbers they have in weight files:

    1         classical (`chess_lc0`)
    2         castling as the squares of the rooks: 104 queenside, 105 kingside, mine and theirs; 106 and 107 are empty
    3         and canonical: the board is turned so that my king stands to the right, and without pawns below, and on
              one side of the diagonal; 108 is the en passant marker, on the last rank; history ends where it cannot be
              repeated
    4, 132    and 109 is the counter / 100; 132: 110 has ones if Black is to move
    5, 133    and history holds only positions that had occurred before; 133: 110 as in 132

A canonical board is turned by a set of bits, applied in this order: 1 flips files, 2 mirrors ranks, 4 reflects in the
diagonal from a8 to h1. The same bits turn moves: `turned_actions` has the number of each move after each turn.

Boards before the first known position are filled as in `chess_lc0`: FEN_ONLY, EMPTY, FILLED.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numba import njit, uint64

from rookery.games.bits import Word, lowest_bit, reverse_bytes
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
from rookery.games.chess_lc0 import MOVES, SLOTS, is_filled
from rookery.games.chess_moves import Words, after_move, men_in, write_legal
from rookery.games.rules import State

PLANES = 112
FORMATS = (1, 2, 3, 4, 5, 132, 133)
FILLS = ("fen_only", "no", "always")
"""names of FEN_ONLY, EMPTY, FILLED, in their order"""
CLASSICAL = 1
FIRST_CANONICAL = 3
FLIP, MIRROR, REFLECT = 1, 2, 4
MOVES_KEPT = 128  # of a state's ring of moves

PAIRS_MASK, FOURS_MASK = uint64(0x5555555555555555), uint64(0x3333333333333333)
EIGHTS_MASK = uint64(0x0F0F0F0F0F0F0F0F)


# ---- turning boards and moves --------------------------------------------------------------------


@njit(cache=True, nogil=True)
def flipped(word: Word) -> Word:
    """Exchange the files a and h, b and g, and so on."""
    word = ((word >> ONE) & PAIRS_MASK) | ((word & PAIRS_MASK) << ONE)
    word = ((word >> uint64(2)) & FOURS_MASK) | ((word & FOURS_MASK) << uint64(2))
    return ((word >> uint64(4)) & EIGHTS_MASK) | ((word & EIGHTS_MASK) << uint64(4))


@njit(cache=True, nogil=True)
def exchanged(word: Word, where: Word, distance: Word) -> Word:
    """Exchange the bits of a mask with those so far below them."""
    differ = where & (word ^ (word << distance))
    return word ^ differ ^ (differ >> distance)


@njit(cache=True, nogil=True)
def reflected(word: Word) -> Word:
    """Reflect in the diagonal from a8 to h1: exchange files and ranks, then turn the board by half."""
    word = exchanged(word, uint64(0x0F0F0F0F00000000), uint64(28))
    word = exchanged(word, uint64(0x3333000033330000), uint64(14))
    word = exchanged(word, uint64(0x5500550055005500), uint64(7))
    return reverse_bytes(flipped(word))


@njit(cache=True, nogil=True)
def turned_word(word: Word, turn: int) -> Word:
    """Turn a set of squares."""
    if turn & FLIP:
        word = flipped(word)
    if turn & MIRROR:
        word = reverse_bytes(word)
    if turn & REFLECT:
        word = reflected(word)
    return word


@njit(cache=True, nogil=True)
def canonical_turn(words: Words) -> int:
    """Choose how a position is turned, from its mover's point of view."""
    mine, low, middle, high, rights = words
    if rights & CASTLING_RANKS != NONE:
        return 0
    turn = 0
    kings = high & middle
    king = lowest_bit(kings & mine)
    if king & 7 < 4:
        turn |= FLIP
        king ^= 7
    if high & ~(low | middle) != NONE:  # pawns
        return turn
    if king >> 3 >= 4:
        turn |= MIRROR
        king ^= 56
    across = (king & 7) + (king >> 3)
    if across == 7:
        return turn | diagonal_turn(words, turn)
    return turn | REFLECT if across > 7 else turn


@njit(cache=True, nogil=True)
def diagonal_turn(words: Words, turn: int) -> int:
    """Choose whether to reflect where my king stands on the diagonal: the lesser of the first sets that differ."""
    mine, low, middle, high, _ = words
    straight = middle & ~high
    sets = (
        low | middle | high,
        mine,
        high & middle,
        low & straight,
        straight & ~low,
        high & low,
        low & ~middle & ~high,
    )
    for men in sets:
        seen = turned_word(men, turn)
        other = reflected(seen)
        if seen != other:
            return REFLECT if seen > other else 0
    return 0


def turned_square(square: int, turn: int) -> int:
    """Turn a square."""
    file, rank = square % 8, square // 8
    if turn & FLIP:
        file = 7 - file
    if turn & MIRROR:
        rank = 7 - rank
    if turn & REFLECT:
        file, rank = 7 - rank, 7 - file
    return file + 8 * rank


@cache
def turned_actions() -> np.ndarray:
    """Number each of the 1858 moves after each of the eight turns, [8, 1858]; -1 for promotions that cannot be turned
    so, since boards with pawns are only flipped."""
    number_of = {move: number for number, move in enumerate(MOVES)}
    squares = [[turned_square(square, turn) for square in range(64)] for turn in range(8)]
    table = [
        [number_of.get((turned[source], turned[target], kind), -1) for source, target, kind in MOVES]
        for turned in squares
    ]
    return np.array(table, np.int32)


# ---- one position --------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def words_at(state: State, slot: int) -> Words:
    """Return the words of one of the last boards."""
    return (
        state.boards[slot, 0],
        state.boards[slot, 1],
        state.boards[slot, 2],
        state.boards[slot, 3],
        state.boards[slot, 4],
    )


@njit(cache=True, nogil=True)
def seen_from_other_side(words: Words) -> Words:
    """Return a position as the other player sees it."""
    mine, low, middle, high, rights = words
    theirs = (low | middle | high) ^ mine
    return (
        reverse_bytes(theirs),
        reverse_bytes(low),
        reverse_bytes(middle),
        reverse_bytes(high),
        reverse_bytes(rights),
    )


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
            words = seen_from_other_side(words)
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
            words = after_move(words, int(state.moves[ply & (MOVES_KEPT - 1)]) & 0x7FF)[0]
    for index in range(first, state.since):
        ply = begin + index
        if not replayed:
            words = words_at(state, ply & 7)
        if had_occurred(state, index):
            shown = words
            if (state.plies - ply) & 1:
                shown = seen_from_other_side(words)
            if shown[RIGHTS] & CASTLING_RANKS == rights_now:
                write_board(shown, True, turn, 13 * count, masks)
            count -= 1
        if replayed:
            words = after_move(words, int(state.moves[ply & (MOVES_KEPT - 1)]) & 0x7FF)[0]


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
