"""Gomoku read straight from the rule book, point by point: the oracle of the tests."""

from __future__ import annotations

DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))
Point = tuple[int, int]


class RuleBook:
    """A game of Gomoku: stones as a dictionary from points (row, column) to "x" (black) or "o" (white)."""

    def __init__(self, size: int, rule: str = "freestyle", opening: str = "none"):
        self.size, self.rule, self.opening = size, rule, opening
        self.stones: dict[Point, str] = {}
        self.history: list[Point] = []
        self.stage = "first three" if opening == "swap2" else "play"
        self.black_player = 0
        self.winner: str | None = None  # "x", "o" or "draw"
        self.deepest = 0

    # -- turns --

    def next_sign(self) -> str:
        return "xo"[len(self.stones) % 2]

    def mover(self) -> int:
        if self.stage in ("first three", "last choice"):
            return 0
        if self.stage in ("first choice", "two more"):
            return 1
        return self.black_player if self.next_sign() == "x" else 1 - self.black_player

    def moves(self) -> list[Point | str]:
        if self.stage == "first choice":
            return ["black", "white", "more"]
        if self.stage == "last choice":
            return ["black", "white"]
        return [point for point in self.points() if point not in self.stones]

    def play(self, move: Point | str) -> None:
        if move == "more":
            self.stage = "two more"
            return
        if isinstance(move, str):
            self.black_player = self.mover() if move == "black" else 1 - self.mover()
            self.stage = "play"
            return
        sign = self.next_sign()
        self.stones[move] = sign
        self.history.append(move)
        if self.stage == "first three" and len(self.stones) == 3:
            self.stage = "first choice"
        elif self.stage == "two more" and len(self.stones) == 5:
            self.stage = "last choice"
        elif self.stage == "play":
            self.winner = self.result_of(move, sign)

    def result_of(self, move: Point, sign: str) -> str | None:
        if any(self.row_wins(move, direction) for direction in DIRECTIONS):
            return sign
        if self.rule == "renju" and sign == "x" and self.verdict(move) != "allowed":
            return "o"
        return "draw" if len(self.stones) == self.size**2 else None

    def payoff(self, player: int) -> int:
        if self.winner in (None, "draw"):
            return 0
        winner = self.black_player if self.winner == "x" else 1 - self.black_player
        return 1 if player == winner else -1

    # -- rows --

    def points(self) -> list[Point]:
        return [(row, col) for row in range(self.size) for col in range(self.size)]

    def on_board(self, point: Point) -> bool:
        return 0 <= point[0] < self.size and 0 <= point[1] < self.size

    def is_empty(self, point: Point) -> bool:
        return self.on_board(point) and point not in self.stones

    def row_through(self, point: Point, direction: Point) -> list[Point]:
        """List the stones of one colour that stand side by side in a line, through a stone."""
        sign = self.stones[point]
        row = [point]
        for way in (1, -1):
            next_one = shifted(point, direction, way)
            while self.stones.get(next_one) == sign:
                row.append(next_one)
                next_one = shifted(next_one, direction, way)
        return sorted(row)

    def row_wins(self, point: Point, direction: Point) -> bool:
        row = self.row_through(point, direction)
        sign = self.stones[point]
        if self.rule == "freestyle" or (self.rule == "renju" and sign == "o"):
            return len(row) >= 5
        if self.rule == "caro":
            forward = direction if direction > (0, 0) else (-direction[0], -direction[1])
            ends = [shifted(row[0], forward, -1), shifted(row[-1], forward, 1)]
            if all(self.stones.get(end) == ("o" if sign == "x" else "x") for end in ends):
                return False
        return len(row) == 5

    # -- Renju: definitions for a black stone on a point, plainly recursive --

    def fours(self, point: Point, direction: Point) -> dict[frozenset[Point], int]:
        """Collect the fours through a stone in a line, with how many points make each of them a five."""
        found: dict[frozenset[Point], int] = {}
        for steps in range(-4, 5):
            added = shifted(point, direction, steps)
            if not self.is_empty(added):
                continue
            self.stones[added] = "x"
            row = self.row_through(added, direction)
            del self.stones[added]
            if len(row) == 5 and point in row:
                four = frozenset(row) - {added}
                found[four] = found.get(four, 0) + 1
        return found

    def is_three(self, point: Point, direction: Point, depth: int) -> bool:
        """Tell whether one more stone in the line makes a straight four, no five, and is itself allowed."""
        for steps in range(-4, 5):
            added = shifted(point, direction, steps)
            if not self.is_empty(added):
                continue
            self.stones[added] = "x"
            fives = any(len(self.row_through(added, way)) == 5 for way in DIRECTIONS)
            straight = any(
                point in four and ways == 2 and len(self.row_through(added, direction)) == 4
                for four, ways in self.fours(added, direction).items()
            )
            extends = straight and not fives and self.verdict(added, depth + 1) == "allowed"
            del self.stones[added]
            if extends:
                return True
        return False

    def verdict(self, point: Point, depth: int = 0) -> str:
        """Judge a black stone that stands on a point."""
        self.deepest = max(self.deepest, depth)
        lengths = [len(self.row_through(point, direction)) for direction in DIRECTIONS]
        if 5 in lengths:
            return "five"
        if max(lengths) > 5:
            return "overline"
        if sum(len(self.fours(point, direction)) for direction in DIRECTIONS) > 1:
            return "double four"
        if sum(self.is_three(point, direction, depth) for direction in DIRECTIONS) > 1:
            return "double three"
        return "allowed"

    def forbidden(self) -> dict[Point, str]:
        """List the empty points forbidden to Black."""
        found = {}
        for point in self.points():
            if point not in self.stones:
                self.stones[point] = "x"
                verdict = self.verdict(point)
                del self.stones[point]
                if verdict not in ("allowed", "five"):
                    found[point] = verdict
        return found


def shifted(point: Point, direction: Point, steps: int) -> Point:
    return point[0] + direction[0] * steps, point[1] + direction[1] * steps
