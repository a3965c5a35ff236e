"""The baseline player of Gomoku and the search for fours, written as they are defined, over a dictionary of stones."""

from __future__ import annotations

from rookery.games.position import Position

DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))
WORTH = {(4, 2): 50_000, (4, 1): 12_000, (3, 2): 6_000, (3, 1): 1_500, (2, 2): 1_000, (2, 1): 100}
Point = tuple[int, int]  # row and column, both from 1; row 1 is at the bottom


class Stones:
    """A board with whoever moves next, "x" (Black) or "o" (White)."""

    def __init__(self, size: int, stones: dict[Point, str], mover: str):
        self.size, self.stones, self.mover = size, stones, mover

    @classmethod
    def of(cls, position: Position) -> Stones:
        rows, mover = position.text().split()[:2]
        stones = {}
        for down, row in enumerate(rows.split("/")):
            for col, sign in enumerate(row):
                if sign != ".":
                    stones[len(row) - down, col + 1] = sign
        return cls(len(rows.split("/")), stones, {"b": "x", "w": "o"}[mover])

    def action(self, point: Point) -> int:
        return (point[0] - 1) * self.size + point[1] - 1

    def points(self) -> list[Point]:
        return [(row, col) for row in range(1, self.size + 1) for col in range(1, self.size + 1)]

    def is_free(self, point: Point) -> bool:
        return 1 <= point[0] <= self.size and 1 <= point[1] <= self.size and point not in self.stones

    def after(self, point: Point) -> Stones:
        return Stones(self.size, self.stones | {point: self.mover}, other(self.mover))

    def row(self, point: Point, step: Point, sign: str) -> tuple[list[Point], int]:
        """List the points of the group of a colour through a point, and count its free ends."""
        members, ends = [point], 0
        for way in (1, -1):
            row, col = point[0] + way * step[0], point[1] + way * step[1]
            while self.stones.get((row, col)) == sign:
                members.append((row, col))
                row, col = row + way * step[0], col + way * step[1]
            ends += self.is_free((row, col))
        return sorted(members), ends

    def makes_five(self, point: Point, sign: str) -> bool:
        return any(len(self.row(point, step, sign)[0]) >= 5 for step in DIRECTIONS)

    def winner(self) -> str | None:
        return next((sign for point, sign in self.stones.items() if self.makes_five(point, sign)), None)


def other(sign: str) -> str:
    return "o" if sign == "x" else "x"


# ---- the baseline player -------------------------------------------------------------------------


def group_worth(length: int, ends: int) -> int:
    return 100_000 if length >= 5 else WORTH.get((length, ends), 0)


def black_score(board: Stones) -> int:
    score = 0
    for step in DIRECTIONS:
        for point, sign in board.stones.items():
            members, ends = board.row(point, step, sign)
            if point == members[0]:
                score += group_worth(len(members), ends) * (1 if sign == "x" else -1)
    return score


def rank(board: Stones, point: Point) -> int:
    total = 0
    for step in DIRECTIONS:
        own, others = (board.row(point, step, sign) for sign in (board.mover, other(board.mover)))
        total += group_worth(len(own[0]), own[1]) + group_worth(len(others[0]), others[1]) // 2
    return total


def ordered_moves(board: Stones) -> list[Point]:
    """All free points near a stone, by rank; sorting keeps ties in the order of rows, then columns."""
    near = {(row + i, col + j) for row, col in board.stones for i in range(-2, 3) for j in range(-2, 3)}
    moves = [point for point in board.points() if point in near and board.is_free(point)]
    return sorted(moves, key=lambda point: -rank(board, point))


def negamax(board: Stones, last: Point, depth: int, alpha: int, beta: int) -> int:
    if board.makes_five(last, other(board.mover)):
        return -1_000_000
    if len(board.stones) == board.size**2:
        return 0
    if depth == 0:
        return black_score(board) * (1 if board.mover == "x" else -1)
    best = -10_000_000
    for move in ordered_moves(board)[:20]:
        best = max(best, -negamax(board.after(move), move, depth - 1, -beta, -max(alpha, best)))
        if best >= beta:
            break
    return best


def baseline_move(board: Stones, depth: int) -> tuple[Point, int]:
    """Return the move of BaselineAgent(depth) and its value."""
    if not board.stones:
        return ((board.size + 1) // 2, (board.size + 1) // 2), 0
    moves = ordered_moves(board)
    for move in moves:
        if board.makes_five(move, board.mover):
            return move, 1_000_000
    best, choice = -10_000_000, moves[0]
    for move in moves[:20]:
        value = -negamax(board.after(move), move, depth - 1, -10_000_000, -best)
        if value > best:
            best, choice = value, move
    return choice, best


# ---- win by continuous fours ---------------------------------------------------------------------


def fives(board: Stones, sign: str, points: list[Point] | None = None) -> list[Point]:
    """List the points that make a five of a colour, among all or some."""
    return [p for p in points or board.points() if board.is_free(p) and board.makes_five(p, sign)]


def around(point: Point) -> list[Point]:
    """List the points that can be in a row of five with a point."""
    return [(point[0] + way * i, point[1] + way * j) for i, j in DIRECTIONS for way in (-4, -3, -2, -1, 1, 2, 3, 4)]


def wins_by_fours(board: Stones) -> bool:
    """Try every move that makes a five or a four, and its only answer, to the end."""
    attacker, defender = board.mover, other(board.mover)
    if fives(board, attacker):
        return True
    dangers = fives(board, defender)
    if len(dangers) > 1:
        return False
    for move in dangers or board.points():
        if not board.is_free(move):
            continue
        attacked = board.after(move)
        targets = set(fives(attacked, attacker, around(move)))
        if len(targets) > 1 or (targets and wins_by_fours(attacked.after(targets.pop()))):
            return True
    return False
