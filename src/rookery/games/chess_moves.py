"""Chess moves: where each man may go, and what a move does to the five words of a position.

Legal targets come straight from checks and pins, without trying moves: a king avoids attacked squares, a pinned man
keeps to its line, and in check the others take the checker or stand in between. En passant alone is tried, since it
takes two men off one line at once.
"""

from __future__ import annotations

from typing import Any

from numba import njit, uint64

from rookery.games.bits import Word, lowest_bit, popcount, reverse_bytes
from rookery.games.chess_board import (
    ALL,
    CASTLING_RANKS,
    FIRST_RANK,
    HIGH,
    KING_TARGETS,
    KNIGHT_TARGETS,
    LAST_RANK,
    LOW,
    MARKER_RANK,
    MIDDLE,
    MINE,
    NONE,
    NOT_A,
    NOT_H,
    ONE,
    SEVENTH_RANK,
    Men,
    attacked_by_them,
    attackers,
    between,
    bit,
    diagonal_view,
    knight_jumps,
    line_with,
    men_of,
    span,
    straight_view,
)
from rookery.games.chess_lc0 import FIRST_ACTION, REACH, promotion_action, unpacked
from rookery.games.rules import State

CASTLED, KNIGHTED = 1 << 15, 1 << 14  # remarks to an action, so that it can be written without its position
ACTION_MASK = (1 << 11) - 1  # what is left without them
MOVES_KEPT = 128  # of a state: that made at ply n is number n % 128

Words = tuple[Word, Word, Word, Word, Word]  # mine, low, middle, high, rights


@njit(cache=True, nogil=True)
def words_at(state: State, slot: int) -> Words:
    """Return the words of one of the last boards of a state."""
    return (
        state.boards[slot, 0],
        state.boards[slot, 1],
        state.boards[slot, 2],
        state.boards[slot, 3],
        state.boards[slot, 4],
    )


# ---- where men may go ----------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def answers(men: Men, checkers: Word) -> Word:
    """Return the squares to which men other than the king may go: all, or those that end a check."""
    if checkers == NONE:
        return ALL
    if checkers & (checkers - ONE) != NONE:
        return NONE
    return checkers | between(lowest_bit(men.kings & men.mine), lowest_bit(checkers))


@njit(cache=True, nogil=True)
def en_passant_is_legal(men: Men, source: int, marker: Word) -> bool:
    """Tell whether a pawn beside the marker's pawn may take it: no check may remain or arise."""
    captured = marker >> uint64(8)
    occupied = (men.mine | men.theirs) ^ captured ^ bit(source) ^ marker
    checkers = attackers(men, lowest_bit(men.kings & men.mine), occupied)
    return bool(checkers & ~captured == NONE)


@njit(cache=True, nogil=True)
def en_passant_sources(men: Men, marker: Word) -> Word:
    """Return my pawns that may legally take en passant."""
    found = NONE
    beside = (((marker >> uint64(9)) & NOT_H) | ((marker >> uint64(7)) & NOT_A)) & men.pawns & men.mine
    while beside != NONE:
        if en_passant_is_legal(men, lowest_bit(beside), marker):
            found |= beside & (~beside + ONE)
        beside &= beside - ONE
    return found


@njit(cache=True, nogil=True)
def pawn_attacks(pawn: Word) -> Word:
    """Return what my pawns attack."""
    return ((pawn << uint64(9)) & NOT_A) | ((pawn << uint64(7)) & NOT_H)


@njit(cache=True, nogil=True)
def pawn_targets(men: Men, source: int) -> Word:
    """Return where a pawn may go but for checks, pins and en passant."""
    pawn, free = bit(source), ~(men.mine | men.theirs)
    push = (pawn << uint64(8)) & free
    push |= ((push & uint64(0xFF0000)) << uint64(8)) & free
    return push | (pawn_attacks(pawn) & men.theirs)


@njit(cache=True, nogil=True)
def castling_targets(men: Men, rooks: Word, pinned: Word, attacked: Word) -> Word:
    """Return my rooks with which the king, who is not in check, may castle.

    King and rook go to their squares over nothing but each other, the king over no attacked square. A rook that
    shields the king along the rank, as can be in Chess960, may not leave.
    """
    found, king = NONE, lowest_bit(men.kings & men.mine)
    rooks &= FIRST_RANK & ~pinned
    while rooks != NONE:
        rook = lowest_bit(rooks)
        king_to, rook_to = castled_squares(king, rook)
        way = span(king, king_to)
        blocked = (way | span(rook, rook_to)) & (men.mine | men.theirs) & ~(bit(king) | bit(rook))
        if blocked == NONE and way & attacked == NONE:
            found |= bit(rook)
        rooks &= rooks - ONE
    return found


@njit(cache=True, nogil=True)
def castled_squares(king: int, rook: int) -> tuple[int, int]:
    """Return where king and rook of my side stand after castling."""
    return (6, 5) if rook > king else (2, 3)


@njit(cache=True, nogil=True)
def king_targets(men: Men, rights: Word, checkers: Word, pinned: Word) -> Word:
    """Return where my king may go; castling as the squares of the rooks."""
    targets = KING_TARGETS[lowest_bit(men.kings & men.mine)] & ~men.mine
    castling = rights & FIRST_RANK
    if checkers != NONE or castling == NONE:
        return targets if targets == NONE else targets & ~attacked_by_them(men)
    attacked = attacked_by_them(men)
    return (targets & ~attacked) | castling_targets(men, castling, pinned, attacked)


@njit(cache=True, nogil=True)
def officer_targets(men: Men, source: int) -> Word:
    """Return where a knight, bishop, rook or queen may go but for checks and pins."""
    man = bit(source)
    if man & men.knights != NONE:
        return KNIGHT_TARGETS[source] & ~men.mine
    occupied = men.mine | men.theirs
    targets = NONE
    if man & men.diagonal != NONE:
        targets = diagonal_view(source, occupied)
    if man & men.straight != NONE:
        targets |= straight_view(source, occupied)
    return targets & ~men.mine


@njit(cache=True, nogil=True)
def targets_of(men: Men, rights: Word, source: int, checkers: Word, pinned: Word, allowed: Word) -> Word:
    """Return the legal targets of my man on a square; `allowed` are the answers to a check."""
    man = bit(source)
    if man & men.kings != NONE:
        return king_targets(men, rights, checkers, pinned)
    targets = pawn_targets(men, source) if man & men.pawns != NONE else officer_targets(men, source)
    targets &= allowed
    if man & pinned != NONE:
        targets &= line_with(lowest_bit(men.kings & men.mine), source)
    marker = rights & MARKER_RANK
    if marker & pawn_attacks(man & men.pawns) != NONE and en_passant_is_legal(men, source, marker):
        targets |= marker
    return targets


@njit(cache=True, nogil=True)
def write_targets(source: int, targets: Word, out: Any, count: int) -> int:
    """Append the actions from a square to `targets`, in increasing order; return the new count."""
    reach, first = REACH[source], FIRST_ACTION[source]
    while targets != NONE:
        lowest = targets & (~targets + ONE)
        out[count] = first + popcount(reach & (lowest - ONE))
        count += 1
        targets ^= lowest
    return count


@njit(cache=True, nogil=True)
def write_promotions(source: int, targets: Word, out: Any, count: int) -> int:
    """Append the promotions of a pawn to queen, rook and bishop; return the new count."""
    while targets != NONE:
        first = promotion_action(source, lowest_bit(targets))
        for kind in range(3):
            out[count] = first + kind
            count += 1
        targets &= targets - ONE
    return count


@njit(cache=True, nogil=True)
def write_legal(men: Men, rights: Word, checkers: Word, pinned: Word, out: Any) -> int:
    """Write all legal actions in increasing order; return how many."""
    allowed, count = answers(men, checkers), 0
    movers = men.mine if allowed != NONE else men.mine & men.kings
    while movers != NONE:
        source = lowest_bit(movers)
        count = write_targets(source, targets_of(men, rights, source, checkers, pinned, allowed), out, count)
        movers &= movers - ONE
    promoting = men.mine & men.pawns & SEVENTH_RANK
    while promoting != NONE:
        source = lowest_bit(promoting)
        count = write_promotions(source, targets_of(men, rights, source, checkers, pinned, allowed), out, count)
        promoting &= promoting - ONE
    return count


@njit(cache=True, nogil=True)
def can_surely_move(men: Men, pinned: Word) -> bool:
    """Tell whether an unpinned man other than the king has a move; enough when there is no check."""
    movers, free = men.mine & ~pinned, ~(men.mine | men.theirs)
    pawns = movers & men.pawns
    if ((pawns << uint64(8)) & free) | (pawn_attacks(pawns) & men.theirs) != NONE:
        return True
    straight, diagonal = movers & men.straight, movers & men.diagonal
    steps = knight_jumps(movers & men.knights) | (straight << uint64(8)) | (straight >> uint64(8))
    steps |= ((straight << ONE) | (diagonal << uint64(9)) | (diagonal >> uint64(7))) & NOT_A
    steps |= ((straight >> ONE) | (diagonal >> uint64(9)) | (diagonal << uint64(7))) & NOT_H
    return bool(steps & ~men.mine != NONE)


@njit(cache=True, nogil=True)
def can_move(men: Men, rights: Word, checkers: Word, pinned: Word) -> bool:
    """Tell whether there is a legal move."""
    if checkers == NONE and can_surely_move(men, pinned):
        return True
    allowed, movers = answers(men, checkers), men.mine
    while movers != NONE:
        if targets_of(men, rights, lowest_bit(movers), checkers, pinned, allowed) != NONE:
            return True
        movers &= movers - ONE
    return False


# ---- what a move does ----------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def turned_words(words: Words) -> Words:
    """Return a position as the other player sees it."""
    mine, low, middle, high, rights = words
    return (
        reverse_bytes((low | middle | high) ^ mine),
        reverse_bytes(low),
        reverse_bytes(middle),
        reverse_bytes(high),
        reverse_bytes(rights),
    )


@njit(cache=True, nogil=True)
def castle(words: Words, source: int, target: int) -> Words:
    """Put king and rook where castling puts them; still seen by the one who castles."""
    mine, low, middle, high, rights = words
    king_to, rook_to = castled_squares(source, target)
    gone = bit(source) | bit(target)
    king, rook = bit(king_to), bit(rook_to)
    return (mine & ~gone) | king | rook, low, (middle & ~gone) | king | rook, (high & ~gone) | king, rights & LAST_RANK


@njit(cache=True, nogil=True)
def step(words: Words, start: Word, end: Word, captured: Word, promotion: bool, promoted: int) -> Words:
    """Put a man on another square, promoted if he is to be, and take what he captures; still seen by his owner."""
    mine, low, middle, high, rights = words
    low_bit, middle_bit, high_bit = low & start != NONE, middle & start != NONE, high & start != NONE
    if promotion:  # kinds 1..3 are bishop, rook, queen; 5 is a knight
        low_bit, middle_bit, high_bit = promoted != 2, promoted >= 2, promoted == 0
    kept = ~(start | end | captured)
    rights &= CASTLING_RANKS & kept
    if high_bit and middle_bit:  # the king
        rights &= ~FIRST_RANK
    return (
        (mine & kept) | end,
        (low & kept) | (end if low_bit else NONE),
        (middle & kept) | (end if middle_bit else NONE),
        (high & kept) | (end if high_bit else NONE),
        rights,
    )


@njit(cache=True, nogil=True)
def marker_behind(pushed: Word, pawns: Word) -> Word:
    """Return the marker of a pawn of theirs that has just gone two squares; none if no pawn stands beside it."""
    beside = ((pushed << ONE) & NOT_A) | ((pushed >> ONE) & NOT_H)
    return pushed << uint64(8) if beside & pawns != NONE else NONE


@njit(cache=True, nogil=True)
def after_move(words: Words, action: int) -> tuple[Words, bool, int]:
    """Return the position after a legal action, seen by the other player; whether it is irreversible; a remark.

    Irreversible means a capture or a move of a pawn, which set the clock of the hundred plies to zero. The remark
    is CASTLED, KNIGHTED (promoted to a knight) or 0.
    """
    mine, low, middle, high, rights = words
    source, target, promoted = unpacked(action)
    start, end = bit(source), bit(target)
    if mine & end != NONE:
        return turned_words(castle(words, source, target)), False, CASTLED
    is_pawn = (high & ~(low | middle)) & start != NONE
    captured = end >> uint64(8) if is_pawn and rights & MARKER_RANK & end != NONE else end
    irreversible = is_pawn or (low | middle | high) & captured != NONE
    promotion = is_pawn and end & LAST_RANK != NONE
    mine, low, middle, high, rights = turned_words(step(words, start, end, captured, promotion, promoted))
    if is_pawn and target - source == 16:
        rights |= marker_behind(reverse_bytes(end), high & ~(low | middle) & mine)
    return (mine, low, middle, high, rights), irreversible, KNIGHTED if promotion and promoted == 0 else 0


@njit(cache=True, nogil=True)
def men_in(words: Words) -> Men:
    """Sort the men of a position by kind."""
    return men_of(words[MINE], words[LOW], words[MIDDLE], words[HIGH])
