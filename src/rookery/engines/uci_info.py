"""What a UCI engine tells of a search: scores, lines, and all about each move.

A value becomes a score in one of four ways (`ScoreType`). The usual one, WDL_mu, fits a logistic curve through the
chances to win and to lose and tells where its middle lies, in hundredths of what would make both sides even.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from rookery.games.position import Action, Position
from rookery.games.rules import play
from rookery.lc0.found import Found, MoveFound, chances
from rookery.lc0.positions import chess_game
from rookery.search.analysis import Analysis

LEAST_CHANCE = 0.0001
MOST_CERTAIN = 0.996
MOST_SCORE = 12_800  # as in Lc0, so that no score looks like a mate


@dataclass(frozen=True)
class ToldLine:
    """One line of play."""

    moves: tuple[Action, ...]
    q: float
    """value for the mover, in [-1, 1]"""
    d: float | None = None
    """chance to draw; None if nobody knows"""
    plies_left: float | None = None
    mate: int | None = None
    """moves to mate, below 0 if the mover is mated"""


@dataclass(frozen=True)
class Told:
    """What is known of a search at some moment."""

    lines: tuple[ToldLine, ...]
    nodes: int
    made: int
    """nodes of this search alone, for its speed"""
    depth: int
    deepest: int
    full: float = 0.0
    verbose: tuple[str, ...] = ()

    @property
    def moves(self) -> tuple[Action, ...]:
        """The best play."""
        return self.lines[0].moves if self.lines else ()


# ---- scores --------------------------------------------------------------------------------------


def score_of(q: float, d: float, kind: str) -> int:
    """Return a score, for the mover."""
    if kind == "centipawn":
        score = 90 * math.tan(1.5637541897 * q)
    elif kind == "Q":
        score = 10_000 * q
    elif kind == "win_percentage":
        score = 5000 * (q + 1)
    else:
        score = middle_of(*chances(q, d))
    return round(min(max(score, -MOST_SCORE), MOST_SCORE))


def middle_of(win: float, draw: float, lose: float) -> float:
    """Return the score of chances by WDL_mu."""
    plain = 45 * math.tan(1.56728071628 * (win - lose))
    if min(win, draw, lose) <= LEAST_CHANCE or abs(win - lose) + draw >= MOST_CERTAIN:
        return plain
    a, b = math.log(1 / lose - 1), math.log(1 / win - 1)
    if a + b == 0:
        return plain
    middle = (a - b) / (a + b)
    return 100 * middle if abs(middle) < 1 or abs(plain) < abs(100 * middle) else plain


def per_mille(win: float, draw: float, lose: float) -> tuple[int, int, int]:
    """Return chances in thousandths that sum to 1000."""
    wins, loses = round(1000 * win), round(1000 * lose)
    return wins, max(0, 1000 - wins - loses), min(loses, 1000 - wins)


# ---- from searches -------------------------------------------------------------------------------


def mate_in(move: MoveFound) -> int | None:
    """Return the moves to a proven mate, below 0 if it is the mover's; None if none is proven."""
    if not move.result:
        return None
    plies = 1 + round(move.m)
    return (plies + 1) // 2 if move.result > 0 else -(plies // 2)


def told_of_found(found: Found, lines: int, position: Position | None = None) -> Told:
    """Tell of Lc0's search; with a position, all about each move too."""
    told = tuple(told_move(found, move) for move in found.moves[:lines])
    verbose = () if position is None else verbose_lines(found, position)
    return Told(told, found.visits, found.made, found.depth, found.deepest, found.full, verbose)


def told_move(found: Found, move: MoveFound) -> ToldLine:
    """Tell of a move; one that was not visited is taken to be worth what the position is, as in Lc0."""
    q, d, m = (move.q, move.d, move.m) if move.visits > 0 else (found.q, found.d, found.m)
    return ToldLine(move.line, q, d, 1 + m, mate_in(move))


def told_of_analysis(found: Analysis, lines: int) -> Told:
    """Tell of any other search."""
    told = [ToldLine(line.moves or (line.action,), line.value) for line in found.lines]
    told.sort(key=lambda line: line.moves[0] != found.action)  # what is played stands first
    if not told or told[0].moves[0] != found.action:
        told.insert(0, ToldLine((found.action,), found.value))
    depth = max([found.depth, *(len(line.moves) for line in told[:lines])])
    return Told(tuple(told[:lines]), found.nodes, found.nodes, max(1, found.depth), depth)


def verbose_lines(found: Found, position: Position) -> tuple[str, ...]:
    """Tell all about each move of the root, the best one last, and of the root itself."""
    castling_plain = Position(chess_game(chess960=True), position.states)
    lines = []
    for move in reversed(found.moves):
        own = "  -.----" if move.own is None else f"{move.own:7.4f}"
        lines.append(
            f"{castling_plain.move_text(move.action):<5} ({move.action:<4}) N: {move.visits:7d} (+{move.flight:2d}) "
            f"(P: {100 * move.prior:5.2f}%) (WL: {move.q:8.5f}) (D: {move.d:5.3f}) (M: {move.m:4.1f}) "
            f"(Q: {move.q:8.5f}) (U: {move.u:7.5f}) (S: {move.q + move.u + move.length:8.5f}) (V: {own})"
        )
    root = (
        f"node  ({len(found.moves):<4}) N: {found.visits:7d} (+ 0) (P: {100:5.2f}%) (WL: {found.q:8.5f}) "
        f"(D: {found.d:5.3f}) (M: {found.m:4.1f}) (Q: {found.q:8.5f}) (V: {found.own:7.4f})"
    )
    return (*lines, root)


# ---- lines ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Style:
    """What a manager wants to see."""

    score: str = "WDL_mu"
    chances: bool = False
    moves_left: bool = False
    lines: int = 1


def info_lines(told: Told, position: Position, seconds: float, style: Style) -> list[str]:
    """Write what is known, a line for each line of play."""
    head = f"info depth {max(1, told.depth)} seldepth {max(1, told.deepest)} time {round(1000 * seconds)}"
    tail = f"nps {round(told.made / max(seconds, 0.001))} hashfull {round(1000 * told.full)} tbhits 0"
    written = []
    for number, line in enumerate(told.lines[: style.lines], start=1):
        parts = [head, f"nodes {told.nodes}", f"score {score_text(line, style)}"]
        if style.chances:
            known = chances(line.q, 0.0 if line.d is None else line.d)
            parts.append("wdl {} {} {}".format(*per_mille(*known)))
        if style.moves_left and line.plies_left is not None:
            parts.append(f"movesleft {round(line.plies_left / 2)}")
        parts += [tail, *([f"multipv {number}"] if style.lines > 1 else [])]
        written.append(" ".join([*parts, "pv", *move_texts(line.moves, position)]))
    return written


def score_text(line: ToldLine, style: Style) -> str:
    """Write the score of a line."""
    if line.mate is not None:
        return f"mate {line.mate}"
    return f"cp {score_of(line.q, 0.0 if line.d is None else line.d, style.score)}"


def move_texts(moves: tuple[Action, ...], position: Position) -> list[str]:
    """Write moves one after the other from a position on."""
    shown, texts = position.copy(), []
    for action in moves:
        texts.append(shown.move_text(action))
        play(shown.state, action)
    return texts
