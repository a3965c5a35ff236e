"""Squares as people write them: a letter for the column, a number for the row, "c2"."""

from __future__ import annotations

import re

from rookery.errors import BadInput

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def square_text(row: int, col: int) -> str:
    """Write the square in row `row` and column `col`, both from 0: (1, 2) is "c2"."""
    return f"{LETTERS[col]}{row + 1}"


def parse_square(text: str, rows: int, cols: int) -> tuple[int, int]:
    """Read a square of a board into (row, column), both from 0."""
    match = re.fullmatch(r"([a-zA-Z])([1-9][0-9]?)", text.strip(), re.ASCII)
    if match:
        row, col = int(match[2]) - 1, LETTERS.index(match[1].lower())
        if row < rows and col < cols:
            return row, col
    raise BadInput(f"{text!r} is no square of the board; squares are a1..{square_text(rows - 1, cols - 1)}")


def parse_grid(text: str, rows: int, cols: int, signs: str) -> list[list[str]]:
    """Read rows of one-letter squares joined by "/", checking their number, length and letters."""
    grid = [list(row) for row in text.strip().split("/")]
    if [len(row) for row in grid] != [cols] * rows:
        raise BadInput(f"{text!r} should be {rows} rows of {cols} squares joined by '/'")
    for row, squares in enumerate(grid):
        for col, sign in enumerate(squares):
            if sign not in signs:
                raise BadInput(f"{sign!r} in row {row + 1}, column {col + 1} of {text!r} should be one of {signs!r}")
    return grid
