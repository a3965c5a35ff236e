"""Domineering.

Two players take turns laying dominoes: seat 0 vertically, seat 1 horizontally. Whoever cannot move loses, so
there are no draws. Vertical moves first.

A position is the set of covered squares and the seat to move. The squares are kept twice, once by rows and once by
columns, so that both players read their moves the same way: a move takes place j of lines i and i+1, where lines
are rows for Vertical and columns for Horizontal. Four lines of sixteen places share a word: place j of line i is bit
16 * (i % 4) + j of word i // 4. Squares outside a smaller board are covered from the start.

Actions on R rows x C columns, each seat counting along its own lines; on 16 x 16 these are 0..239 and 240..479:

    vertical     a = C * row + col                  covers (row, col), (row + 1, col)
    horizontal   a = (R - 1) * C + R * col + row    covers (row, col), (row, col + 1)
"""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from rookery.errors import BadInput
from rookery.games.bits import Word, lowest_bit
from rookery.games.game import Game, Symmetries, register
from rookery.games.notation import parse_grid, parse_square, square_text
from rookery.games.options import whole_number
from rookery.games.position import Action, Cell, Position, Seat
from rookery.games.rng import hashed
from rookery.games.rules import State, implements

LARGEST = 16
SECTOR = 4
TOKENS, TOKENS_MOVER, PLANES = 0, 1, 2  # kinds of observations
ALL_COVERED = uint64(0xFFFFFFFFFFFFFFFF)

STATE = np.dtype(
    [("covered", np.uint64, (2, 4)), ("rows", np.int32), ("cols", np.int32), ("domineering_mover", np.int32)],
    align=True,
)


@njit(cache=True, nogil=True)
def is_covered(state: State, row: int, col: int) -> bool:
    """Tell whether a square of the 16 x 16 frame is covered."""
    return bool((state.covered[0, row >> 2] >> uint64(16 * (row & 3) + col)) & uint64(1))


@njit(cache=True, nogil=True)
def cover(state: State, row: int, col: int) -> None:
    """Cover a square in both views."""
    state.covered[0, row >> 2] |= uint64(1) << uint64(16 * (row & 3) + col)
    state.covered[1, col >> 2] |= uint64(1) << uint64(16 * (col & 3) + row)


@njit(cache=True, nogil=True)
def line_of(number: int, length: int) -> int:
    """Return the line of a place counted along lines; on the usual board a shift saves the division."""
    return number >> 4 if length == LARGEST else number // length


@njit(cache=True, nogil=True)
def domino(state: State, action: int) -> tuple[int, int, int, int]:
    """Return the first square of a domino and the step to its second: (row, col, down, right)."""
    vertical = (state.rows - 1) * state.cols
    if action < vertical:
        row = line_of(action, state.cols)
        return row, action - row * state.cols, 1, 0
    col = line_of(action - vertical, state.rows)
    return action - vertical - col * state.rows, col, 0, 1


@njit(cache=True, nogil=True)
def free_pairs(state: State, seat: int, word: int) -> Word:
    """Return the places of four lines at which a seat can lay a domino, as bits."""
    below = state.covered[seat, word] >> uint64(16)
    if word < 3:
        below |= state.covered[seat, word + 1] << uint64(48)
    else:
        below |= uint64(0xFFFF) << uint64(48)
    return ~(state.covered[seat, word] | below)


@njit(cache=True, nogil=True)
def can_cover(state: State, seat: int, row: int, col: int) -> bool:
    """Tell whether a seat can still cover a square with one of its dominoes."""
    if is_covered(state, row, col):
        return False
    down, right = 1 - seat, seat
    before = row >= down and col >= right and not is_covered(state, row - down, col - right)
    after = row + down < state.rows and col + right < state.cols and not is_covered(state, row + down, col + right)
    return before or after


@implements("start", STATE)
def start(state: State, seed: int) -> None:
    for seat in range(2):
        for word in range(4):
            state.covered[seat, word] = ALL_COVERED
    for row in range(state.rows):
        state.covered[0, row >> 2] ^= ((uint64(1) << uint64(state.cols)) - uint64(1)) << uint64(16 * (row & 3))
    for col in range(state.cols):
        state.covered[1, col >> 2] ^= ((uint64(1) << uint64(state.rows)) - uint64(1)) << uint64(16 * (col & 3))
    state.domineering_mover = 0


@implements("mover", STATE)
def mover(state: State) -> int:
    return int(state.domineering_mover)


@implements("legal", STATE)
def legal(state: State, out: np.ndarray) -> int:
    seat = state.domineering_mover
    first = seat * (state.rows - 1) * state.cols
    count = 0
    for word in range(4):
        pairs = free_pairs(state, seat, word)
        while pairs != uint64(0):
            out[count] = first + 64 * word + lowest_bit(pairs)
            count += 1
            pairs &= pairs - uint64(1)
    gap = LARGEST - (state.rows if seat == 1 else state.cols)
    if gap > 0:  # lines of the frame are longer than those of the board; on 16 x 16 this second pass is saved
        for i in range(count):
            out[i] -= gap * ((out[i] - first) >> 4)
    return count


@implements("is_legal", STATE)
def is_legal(state: State, action: int) -> bool:
    row, col, down, right = domino(state, action)
    if right != state.domineering_mover:
        return False
    return not is_covered(state, row, col) and not is_covered(state, row + down, col + right)


@implements("play", STATE)
def play(state: State, action: int) -> None:
    row, col, down, right = domino(state, action)
    cover(state, row, col)
    cover(state, row + down, col + right)
    state.domineering_mover = 1 - state.domineering_mover


@implements("over", STATE)
def over(state: State) -> bool:
    for word in range(4):
        if free_pairs(state, state.domineering_mover, word) != uint64(0):
            return False
    return True


@implements("payoff", STATE)
def payoff(state: State, seat: int) -> float:
    if not over(state):
        return 0.0
    return -1.0 if seat == state.domineering_mover else 1.0


@implements("observe", STATE)
def observe(state: State, kind: int, i: int) -> float:
    squares = state.rows * state.cols
    if kind != PLANES and i == squares:
        return 2.0 if kind == TOKENS else 2.0 + state.domineering_mover
    plane = i // squares
    row = (i - plane * squares) // state.cols
    col = i - plane * squares - row * state.cols
    seat = state.domineering_mover
    if plane == 0:
        return 1.0 if is_covered(state, row, col) else 0.0
    if plane == 3:
        return 1.0 if seat == 0 else 0.0
    return 1.0 if can_cover(state, seat if plane == 1 else 1 - seat, row, col) else 0.0


@implements("key", STATE)
def key(state: State) -> Word:
    word = hashed(state.domineering_mover)
    for i in range(4):
        word = hashed(word ^ state.covered[0, i])
    return word


@njit(cache=True, nogil=True)
def count_sectors(state: State, out: np.ndarray) -> None:
    """Write Vertical's minus Horizontal's moves into `out` [sector rows, sector columns].

    A move belongs to the sector of its top or left square, whoever is to move.
    """
    out[:] = 0
    for row in range(state.rows):
        for col in range(state.cols):
            if is_covered(state, row, col):
                continue
            if row + 1 < state.rows and not is_covered(state, row + 1, col):
                out[row // SECTOR, col // SECTOR] += 1
            if col + 1 < state.cols and not is_covered(state, row, col + 1):
                out[row // SECTOR, col // SECTOR] -= 1


def sector_targets(position: Position) -> np.ndarray:
    """Return Vertical's minus Horizontal's possible moves in each 4 x 4 sector, row by row.

    Not equivariant: after a symmetry they must be counted again, since a move belongs to its top or left square.
    """
    game = position.game
    if not isinstance(game, Domineering):
        raise BadInput(f"sector targets are of domineering, not of {game.name}")
    out = np.empty((-(-game.rows // SECTOR), -(-game.cols // SECTOR)), np.float32)
    count_sectors(position.state, out)
    return out.reshape(-1)


@register
class Domineering(Game):
    """Domineering on a board of up to 16 x 16 squares."""

    name = "domineering"
    version = 1
    state = STATE
    summary = "lay dominoes, one player vertically, one horizontally; who cannot move loses"
    vanishing = True

    def __init__(self, rows: int = LARGEST, cols: int = LARGEST):
        self.rows = rows = whole_number("option rows of domineering", rows, 1, LARGEST)
        self.cols = cols = whole_number("option cols of domineering", cols, 1, LARGEST)
        self.vertical = (rows - 1) * cols
        self.actions = self.vertical + rows * (cols - 1)
        self.most_legal = max(self.vertical, self.actions - self.vertical)
        self.longest = rows * cols // 2
        tokens = (rows * cols + 1,)
        self.observations = {"tokens": tokens, "tokens_mover": tokens, "planes": (4, rows, cols)}

    def set_options(self, state: State) -> None:
        state["rows"], state["cols"] = self.rows, self.cols

    def seat_name(self, seat: Seat) -> str:
        return ("Vertical", "Horizontal")[seat]

    def covered_squares(self, state: State) -> list[list[bool]]:
        """Return the board as rows of squares."""
        return [[bool(is_covered(state, row, col)) for col in range(self.cols)] for row in range(self.rows)]

    def text(self, state: State) -> str:
        rows = ["".join(".#"[square] for square in row) for row in self.covered_squares(state)]
        return f"{'/'.join(rows)} {'vh'[state['domineering_mover']]}"

    def parse(self, text: str, state: State) -> None:
        board, _, side = text.strip().partition(" ")
        if side not in ("v", "h"):
            raise BadInput(f"position {text!r} of domineering should end in ' v' or ' h', the player to move")
        start(state, 0)
        for row, squares in enumerate(parse_grid(board, self.rows, self.cols, ".#")):
            for col, square in enumerate(squares):
                if square == "#":
                    cover(state, row, col)
        state["domineering_mover"] = "vh".index(side)

    def draw(self, state: State) -> str:
        header = "   " + " ".join(square_text(0, col)[0] for col in range(self.cols))
        rows = [
            f"{row + 1:2d} " + " ".join(".█"[square] for square in squares)
            for row, squares in enumerate(self.covered_squares(state))
        ]
        return "\n".join([header, *rows])

    def cells_of(self, state: State, action: Action) -> tuple[Cell, ...]:
        row, col, down, right = (int(number) for number in domino(state, action))
        return (0, row, col), (0, row + down, col + right)

    def drawn_at(self, cell: Cell) -> tuple[int, int]:
        return 1 + cell[1], 3 + 2 * cell[2]

    def move_text(self, state: State, action: Action) -> str:
        row, col, down, right = domino(state, action)
        return f"{square_text(row, col)}-{square_text(row + down, col + right)}"

    def parse_move(self, state: State, text: str) -> Action:
        squares = [parse_square(part, self.rows, self.cols) for part in text.split("-")]
        if len(squares) == 2:
            (row, col), second = sorted(squares)
            if second == (row + 1, col):
                return row * self.cols + col
            if second == (row, col + 1):
                return self.vertical + col * self.rows + row
        raise BadInput(f"move {text!r} of domineering should name two neighbouring squares, like a1-a2")

    def symmetries(self) -> Symmetries:
        """The identity, both flips and the half turn: all that keep vertical dominoes vertical."""
        flips = {"identity": (False, False), "mirror": (False, True), "flip": (True, False), "half turn": (True, True)}
        actions = np.empty((4, self.actions), np.int64)
        squares = np.empty((4, self.rows, self.cols), np.int64)
        for s, (over_rows, over_cols) in enumerate(flips.values()):
            grid = np.arange(self.rows * self.cols).reshape(self.rows, self.cols)
            squares[s] = flip(grid, over_rows, over_cols)
            vertical = np.arange(self.vertical).reshape(self.rows - 1, self.cols)
            horizontal = np.arange(self.vertical, self.actions).reshape(self.cols - 1, self.rows)
            actions[s, : self.vertical] = flip(vertical, over_rows, over_cols).reshape(-1)
            actions[s, self.vertical :] = flip(horizontal, over_cols, over_rows).reshape(-1)
        flat = squares.reshape(4, -1)
        size = flat.shape[1]
        tokens = np.concatenate([flat, np.full((4, 1), size)], 1)
        planes = np.concatenate([flat + plane * size for plane in range(4)], 1)
        return Symmetries(tuple(flips), actions, {"tokens": tokens, "tokens_mover": tokens, "planes": planes})


def flip(grid: np.ndarray, over_rows: bool, over_cols: bool) -> np.ndarray:
    """Reverse the rows and the columns of a table as asked."""
    return grid[:: -1 if over_rows else 1, :: -1 if over_cols else 1]
