"""Domineering by plain search: the oracle of the solver's tests."""

from __future__ import annotations

from functools import cache

import numpy as np

Squares = frozenset[tuple[int, int]]


def dominoes(squares: Squares, seat: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """List the dominoes a seat can lay on open squares."""
    down, right = 1 - seat, seat
    return [((r, c), (r + down, c + right)) for r, c in sorted(squares) if (r + down, c + right) in squares]


@cache
def mover_wins(squares: Squares, seat: int, free: int = 0) -> bool:
    """Try everything; `free` counts moves that only the mover (below 0: only the other) can make elsewhere."""
    if free > 0 and not mover_wins(squares, 1 - seat, 1 - free):
        return True
    return any(not mover_wins(squares - set(pair), 1 - seat, -free) for pair in dominoes(squares, seat))


def random_squares(rng: np.random.Generator, rows: int, cols: int, most: int) -> Squares:
    """Leave at most so many random squares of a board open."""
    count = int(rng.integers(0, min(most, rows * cols) + 1))
    chosen = rng.permutation(rows * cols)[:count]
    return frozenset((int(square) // cols, int(square) % cols) for square in chosen)


def random_shape(rng: np.random.Generator) -> tuple[int, int]:
    return int(rng.integers(1, 7)), int(rng.integers(1, 7))


def board_text(squares: Squares, rows: int, cols: int, seat: int) -> str:
    board = ["".join(".#"[(row, col) not in squares] for col in range(cols)) for row in range(rows)]
    return f"{'/'.join(board)} {'vh'[seat]}"
