"""Renju's forbidden moves: what a black stone makes on its point.

The definitions, each about one line through the point:

    five           exactly five stones in a row; six or more are an overline
    four           four stones to which one more can be added to make five
    straight four  four stones side by side with two such points, one at each end; it counts as one four
    three          three stones to which one more can be added to make a straight four, where the added stone makes no
                   five and is itself not forbidden

A stone is forbidden if it makes an overline, more than one four (two may lie in one line), or threes in more than one
line; a stone that makes a five is never forbidden. The definition of a three refers to forbidden moves again. It is
followed without recursion: the added stones are put on the board one after the other, and a stack holds the way back.
"""

from __future__ import annotations

from numba import int64, njit, uint64

from rookery.games.bits import Word, popcount
from rookery.games.gomoku_board import (
    BLACK,
    CENTRE,
    COL_STEP,
    DIRECTIONS,
    ROW_STEP,
    WHITE,
    field,
    fives_in,
    flip_stone,
    lines_through,
    sixes_in,
)
from rookery.games.rules import State

ALLOWED, FIVE, OVERLINE, DOUBLE_FOUR, DOUBLE_THREE = 0, 1, 2, 3, 4
VERDICTS = ("allowed", "five", "overline", "double four", "double three")
UNDECIDED = 5  # may be a double three
SLOTS = 2 * DIRECTIONS  # where a three may be extended: behind and ahead in each direction
DEEPEST = 42  # frames of 6 bits in four words


# ---- one line ------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def span(behind: int, ahead: int) -> Word:
    """Set the bits of a window from so many points behind the centre to so many ahead."""
    behind, ahead = min(behind, CENTRE), min(ahead, CENTRE)
    return ((uint64(1) << uint64(behind + ahead + 1)) - uint64(1)) << uint64(CENTRE - behind)


@njit(cache=True, nogil=True)
def board_lines(state: State, row: int, col: int) -> Word:
    """Return the points of the four windows that lie on the board."""
    left, right, below, above = col, state.size - 1 - col, row, state.size - 1 - row
    lines = span(left, right) | (span(below, above) << uint64(16))
    lines |= span(min(left, below), min(right, above)) << uint64(32)
    return lines | (span(min(left, above), min(right, below)) << uint64(48))


@njit(cache=True, nogil=True)
def at(window: Word, place: int) -> bool:
    """Tell whether a place of a window is set."""
    return bool((window >> uint64(place)) & uint64(1))


@njit(cache=True, nogil=True)
def look_along(stones: Word, free: Word) -> tuple[int, int, int]:
    """Return what a stone at the centre makes in one line without five in a row.

    These are the number of fours, and the steps back and ahead to a point that makes a straight four, 0 for none.
    """
    low = high = CENTRE
    while at(stones, low - 1):
        low -= 1
    while at(stones, high + 1):
        high += 1
    first, last = low - 2, high + 2  # the points beside the row after its gap is filled
    back = ahead = 0  # stones in that row
    if at(free, low - 1):
        while first >= 0 and at(stones, first):
            first -= 1
        back = high - first
    if at(free, high + 1):
        while last <= 2 * CENTRE and at(stones, last):
            last += 1
        ahead = last - low
    if back == 5 or ahead == 5:
        straight = high - low == 3
        return (2 if back == 5 and ahead == 5 and not straight else 1), 0, 0
    steps_back = steps_ahead = 0
    if back == 4 and ends_open(stones, free, first, high + 1):
        steps_back = CENTRE - low + 1
    if ahead == 4 and ends_open(stones, free, low - 1, last):
        steps_ahead = high + 1 - CENTRE
    return 0, steps_back, steps_ahead


@njit(cache=True, nogil=True)
def ends_open(stones: Word, free: Word, before: int, after: int) -> bool:
    """Tell whether a row between two points could be made one longer, and no longer, at either end."""
    if not at(free, before) or not at(free, after):
        return False
    return not at(stones, before - 1) and not at(stones, after + 1)


# ---- all lines through a point -------------------------------------------------------------------


@njit(cache=True, nogil=True)
def look_around(state: State, row: int, col: int) -> tuple[int, Word]:
    """Judge a black stone by its lines alone, with the points where its possible threes extend.

    These are steps of 2 bits for each slot, 2 * direction + (0 behind, 1 ahead); 0 if there is no three.
    """
    stones = lines_through(state, BLACK, row, col)
    fives, sixes = fives_in(stones), sixes_in(stones)
    if fives != uint64(0):
        for direction in range(DIRECTIONS):
            if field(fives, direction) != uint64(0) and field(sixes, direction) == uint64(0):
                return FIVE, uint64(0)
        return OVERLINE, uint64(0)
    free = board_lines(state, row, col) & ~(stones | lines_through(state, WHITE, row, col))
    fours = threes = 0
    extensions = uint64(0)
    for direction in range(DIRECTIONS):
        window = field(stones, direction)
        if popcount(window) < 3:
            continue
        made, back, ahead = look_along(window, field(free, direction))
        fours += made
        if back + ahead > 0:
            threes += 1
            extensions |= uint64(back + 4 * ahead) << uint64(4 * direction)
    if fours > 1:
        return DOUBLE_FOUR, uint64(0)
    return (UNDECIDED if threes > 1 else ALLOWED), extensions


@njit(cache=True, nogil=True)
def steps_of(extensions: Word, slot: int) -> int:
    """Return how far away the extension of a slot is; negative for behind, 0 for none."""
    steps = int64((extensions >> uint64(2 * slot)) & uint64(3))
    return int(steps if slot & 1 else -steps)


@njit(cache=True, nogil=True)
def stepped(row: int, col: int, slot: int, steps: int) -> tuple[int, int]:
    """Go some steps along the direction of a slot."""
    return row + ROW_STEP[slot >> 1] * steps, col + COL_STEP[slot >> 1] * steps


# ---- threes whose extension may be forbidden itself ----------------------------------------------

Stack = tuple[Word, Word, Word, Word]


@njit(cache=True, nogil=True)
def push(stack: Stack, frame: int) -> Stack:
    """Put a frame of 6 bits on a stack of 256 bits."""
    a, b, c, d = stack
    up, over = uint64(6), uint64(58)
    return (a << up) | uint64(frame), (b << up) | (a >> over), (c << up) | (b >> over), (d << up) | (c >> over)


@njit(cache=True, nogil=True)
def pop(stack: Stack) -> tuple[Stack, int]:
    """Take the last frame off a stack."""
    a, b, c, d = stack
    down, over = uint64(6), uint64(58)
    rest = (a >> down) | (b << over), (b >> down) | (c << over), (c >> down) | (d << over), d >> down
    return rest, int64(a & uint64(63))


@njit(cache=True, nogil=True)
def is_double_three(state: State, row: int, col: int) -> bool:
    """Tell whether a black stone that makes no five, overline or double four makes two threes.

    Leaves the board as it was. A frame holds where a point was left: slot, steps to the next point, threes so far. The
    stack limits only how deep this goes: below DEEPEST added stones, one that may be a double three counts as allowed.
    """
    stack = (uint64(0), uint64(0), uint64(0), uint64(0))
    depth = slot = threes = 0
    _, extensions = look_around(state, row, col)
    while True:
        if threes < 2 and slot < SLOTS:
            steps = steps_of(extensions, slot)
            if steps == 0:
                slot += 1
                continue
            row, col = stepped(row, col, slot, steps)
            flip_stone(state, BLACK, row, col)
            verdict, further = look_around(state, row, col)
            if verdict == UNDECIDED and depth < DEEPEST:
                stack = push(stack, slot | (abs(steps) << 3) | (threes << 5))
                depth += 1
                extensions, slot, threes = further, 0, 0
                continue
            usable = verdict in (ALLOWED, UNDECIDED)
            flip_stone(state, BLACK, row, col)
            row, col = stepped(row, col, slot, -steps)
        else:
            usable = threes < 2
            if depth == 0:
                return not usable
            flip_stone(state, BLACK, row, col)
            stack, frame = pop(stack)
            depth -= 1
            slot, threes = frame & 7, frame >> 5
            steps = (frame >> 3) & 3
            row, col = stepped(row, col, slot, -steps if slot & 1 else steps)
            _, extensions = look_around(state, row, col)
        if usable:
            threes += 1
            slot |= 1  # a line holds at most one three
        slot += 1


@njit(cache=True, nogil=True)
def verdict_on(state: State, row: int, col: int) -> int:
    """Judge a black stone that lies on a point."""
    verdict, _ = look_around(state, row, col)
    if verdict == UNDECIDED:
        return DOUBLE_THREE if is_double_three(state, row, col) else ALLOWED
    return verdict


@njit(cache=True, nogil=True)
def is_forbidden(state: State, row: int, col: int) -> bool:
    """Tell whether the black stone on a point was a forbidden move."""
    verdict = verdict_on(state, row, col)
    return verdict != ALLOWED and verdict != FIVE


@njit(cache=True, nogil=True)
def verdict_at(state: State, row: int, col: int) -> int:
    """Judge the move of a black stone to an empty point; the board is left as it was."""
    flip_stone(state, BLACK, row, col)
    verdict = verdict_on(state, row, col)
    flip_stone(state, BLACK, row, col)
    return verdict
