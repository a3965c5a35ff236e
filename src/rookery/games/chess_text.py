"""Chess moves as text: UCI (e2e4, e7e8q) and SAN (Nf3, exd8=Q+, O-O).

In UCI castling is written as the king's way, e1g1; in Chess960 as the king taking his rook, e1h1. Both are read where
they cannot be mistaken for a step of the king. A promotion names its piece, also the knight, which Lc0's list leaves
out.
"""

from __future__ import annotations

import re

import numpy as np

from rookery.errors import BadInput
from rookery.games import rules
from rookery.games.chess_board import BISHOP, QUEEN, RIGHTS, ROOK
from rookery.games.chess_fen import man_on, name, view
from rookery.games.chess_lc0 import MOVES
from rookery.games.notation import LETTERS
from rookery.games.rules import State

PROMOTED = {QUEEN: "q", ROOK: "r", BISHOP: "b", 0: "n"}
ACTION_OF = {move: action for action, move in enumerate(MOVES)}
PROMOTION_SIGN = re.compile(r"=(?=[NBRQ]\Z)")
UCI = re.compile(r"([a-h][1-8])([a-h][1-8])([a-z]?)", re.ASCII)


def man_at(state: State, square: int) -> str:
    """Return the letter of the man on a square of the board; "." if it is empty."""
    return man_on(state["boards"][int(state["plies"]) & 7].tolist(), int(state["chess_mover"]), square)


def is_own(state: State, man: str) -> bool:
    """Tell whether a man belongs to the player to move."""
    return man.isalpha() and man.islower() == bool(state["chess_mover"])


def squares_of(action: int, mover: int) -> tuple[int, int, int]:
    """Return source and target of an action on the board, and the promoted kind its number names."""
    source, target, kind = MOVES[action]
    return view(source, mover), view(target, mover), kind


def castles(state: State, action: int) -> bool:
    """Tell whether an action of a position is castling: no other move goes to an own man."""
    _, target, _ = squares_of(action, int(state["chess_mover"]))
    return is_own(state, man_at(state, target))


def promotes(state: State, action: int) -> bool:
    """Tell whether an action of a position promotes a pawn."""
    source, target, _ = squares_of(action, int(state["chess_mover"]))
    return man_at(state, source) in "pP" and target // 8 in (0, 7)


# ---- UCI -----------------------------------------------------------------------------------------


def uci_text(action: int, mover: int, castling: bool, promotion: bool, king_takes_rook: bool) -> str:
    """Write an action of a player; whether it castles or promotes depends on the position."""
    source, target, kind = squares_of(action, mover)
    if castling and not king_takes_rook:
        target = target // 8 * 8 + (6 if target > source else 2)
    return name(source) + name(target) + (PROMOTED[kind] if promotion or kind else "")


def parse_uci(state: State, text: str) -> int:
    """Read a UCI move of a position; it need not be legal."""
    match = UCI.fullmatch(text)
    if not match:
        raise BadInput(
            f"move {text!r} should be two squares, like e2e4, with a promoted piece of nbrq behind, like e7e8q"
        )
    mover = int(state["chess_mover"])
    source, target = (LETTERS.index(square[0]) + 8 * (int(square[1]) - 1) for square in match.groups()[:2])
    man = man_at(state, source)
    if man in "kK":
        target = castling_target(state, source, target)
    return numbered_move(text, view(source, mover), view(target, mover), match[3], man in "pP")


def castling_target(state: State, source: int, target: int) -> int:
    """Return the rook's square where a king's way of two squares or more means castling; else the target itself.

    If an own man other than that rook stands on the target, neither reading is legal.
    """
    if target // 8 != source // 8 or target % 8 not in (2, 6) or abs(target - source) < 2:
        return target
    mover = int(state["chess_mover"])
    rights = int(state["boards"][int(state["plies"]) & 7][RIGHTS])
    rooks = [square for square in range(64) if square // 8 == source // 8 and rights >> view(square, mover) & 1]
    return next((rook for rook in rooks if (rook > source) == (target > source)), target)


def numbered_move(text: str, source: int, target: int, promoted: str, is_pawn: bool) -> int:
    """Return the action of two squares as the player to move sees them, and the letter of a promoted piece."""
    promotion = is_pawn and source // 8 == 6 and target // 8 == 7
    if promotion != bool(promoted) or (promoted and promoted not in PROMOTED.values()):
        allowed = "a pawn that reaches the last rank names its new piece: n, b, r or q, as in e7e8q; no other move does"
        raise BadInput(f"move {text!r}: {allowed}")
    kinds = {letter: kind for kind, letter in PROMOTED.items()}
    move = (source, target, kinds[promoted] if promoted else 0)
    if move not in ACTION_OF:
        raise BadInput(
            f"move {text!r}: no man goes so; moves run along ranks, files and diagonals or are a knight's jump"
        )
    return ACTION_OF[move]


# ---- SAN -----------------------------------------------------------------------------------------


def legal_actions(state: State) -> list[int]:
    """List the legal actions; none if the game is over."""
    if rules.over(state):
        return []
    out = np.empty(len(MOVES), np.int32)
    return [int(action) for action in out[: rules.legal(state, out)]]


def bare_san(state: State, action: int, legal: list[int]) -> str:
    """Write a legal action without its sign of check."""
    mover = int(state["chess_mover"])
    source, target, kind = squares_of(action, mover)
    if castles(state, action):
        return "O-O" if target > source else "O-O-O"
    man = man_at(state, source).upper()
    if man == "P":
        start = f"{LETTERS[source % 8]}x" if source % 8 != target % 8 else ""
        return start + name(target) + (f"={PROMOTED[kind].upper()}" if promotes(state, action) else "")
    takes = "x" if man_at(state, target) != "." else ""
    return man + origin(state, source, target, legal) + takes + name(target)


def origin(state: State, source: int, target: int, legal: list[int]) -> str:
    """Write what tells a source from other men of its kind that may go to the target: file, rank or both."""
    mover, man = int(state["chess_mover"]), man_at(state, source)
    moves = [squares_of(action, mover)[:2] for action in legal]
    rivals = [other for other, goal in moves if goal == target and other != source and man_at(state, other) == man]
    if not rivals:
        return ""
    if all(other % 8 != source % 8 for other in rivals):
        return LETTERS[source % 8]
    if all(other // 8 != source // 8 for other in rivals):
        return str(source // 8 + 1)
    return name(source)


def san_text(state: State, action: int) -> str:
    """Write a legal action in SAN, with + for check and # for mate."""
    legal = legal_actions(state)
    if action not in legal:
        why = "not legal" if legal else "not legal, since the game is over"
        raise BadInput(f"SAN is written for legal moves; action {action} is {why}")
    text = bare_san(state, action, legal)
    after = np.array([state])
    rules.play(after[0], action)
    if after[0]["checkers"] == 0:
        return text
    return text + ("#" if rules.over(after[0]) and rules.payoff(after[0], int(state["chess_mover"])) == 1 else "+")


def parse_san(state: State, text: str) -> int:
    """Read a SAN move, which must be legal; signs of check and remarks (!?) are left aside, zeros may castle."""
    wanted = PROMOTION_SIGN.sub("", text.rstrip("+#!?").replace("0", "O"))
    legal = legal_actions(state)
    fits = [action for action in legal if wanted in san_spellings(state, action, legal)]
    if len(fits) == 1:
        return fits[0]
    if fits:
        meant = ", ".join(bare_san(state, action, legal) for action in fits)
        raise BadInput(f"move {text!r} may mean {meant}; name the file or the rank it comes from")
    legal_texts = ", ".join(bare_san(state, action, legal) for action in legal[:12])
    more = f" and {len(legal) - 12} more" if len(legal) > 12 else ""
    raise BadInput(
        f"move {text!r} is neither UCI (like e2e4, e7e8q) nor SAN of a legal move; "
        + (f"legal: {legal_texts}{more}" if legal else "the game is over")
    )


def san_spellings(state: State, action: int, legal: list[int]) -> set[str]:
    """Return what people write for a legal action: the source named as little or as much as they like, no "="."""
    if castles(state, action):
        return {bare_san(state, action, legal)}
    source, target, _ = squares_of(action, int(state["chess_mover"]))
    man = man_at(state, source).upper()
    if man == "P":
        return {bare_san(state, action, legal).replace("=", "")}
    takes = "x" if man_at(state, target) != "." else ""
    named = name(source)
    return {f"{man}{start}{takes}{name(target)}" for start in ("", named[0], named[1], named)}
