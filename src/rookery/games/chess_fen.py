"""FEN and X-FEN: chess positions as text.

Six fields: placement from rank 8 down, side to move, castling, en passant square, plies without capture or pawn move,
number of the move. Castling is written as in X-FEN: K and Q name the outermost rook of that side, a file's letter (as
Shredder writes always) any other. Both are read. The en passant square is written when a pawn stands ready to
take, whether it may or not; read, it is believed as long as a pawn can have come by.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from rookery.errors import BadInput
from rookery.games.chess_board import BISHOP, HIGH, KING, KNIGHT, LOW, MIDDLE, MINE, PAWN, QUEEN, RIGHTS, ROOK, WORDS
from rookery.games.notation import LETTERS, square_text

LETTER_OF_KIND = {PAWN: "p", KNIGHT: "n", BISHOP: "b", ROOK: "r", QUEEN: "q", KING: "k"}
KIND_OF_LETTER = {letter: kind for kind, letter in LETTER_OF_KIND.items()}
FIRST_SET = {"q": 1, "r": 2, "b": 2, "n": 2}
LARGEST_COUNTER = 9999
START_FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
FIELDS = "placement, side to move, castling, en passant square, and if you like the plies without progress and the move"
ALLOWED = (
    f"a position is 'startpos' or a FEN of 4 to 6 fields ({FIELDS}), "
    "then if you like 'moves' and the moves made since, as in 'startpos moves e2e4 e7e5'"
)


class Fen(NamedTuple):
    """A position read from a FEN: the five words as the player to move sees them, and the counters."""

    words: list[int]
    mover: int
    clock: int
    fullmove: int


def view(square: int, mover: int) -> int:
    """Turn a square of the board into the one the player to move sees, or back."""
    return square ^ 56 * mover


def man_on(words: Sequence[int], mover: int, square: int) -> str:
    """Return the letter of the man on a square of the board, White's as capitals; "." if it is empty."""
    seen = view(square, mover)
    kind = words[LOW] >> seen & 1 | (words[MIDDLE] >> seen & 1) << 1 | (words[HIGH] >> seen & 1) << 2
    letter = LETTER_OF_KIND.get(kind, ".")
    return letter.upper() if words[MINE] >> seen & 1 != mover else letter


def men_on_board(words: Sequence[int], mover: int) -> list[str]:
    """Return the letters of all 64 squares, a1 first."""
    return [man_on(words, mover, square) for square in range(64)]


def name(square: int) -> str:
    """Write a square."""
    return square_text(square // 8, square % 8)


def counted(number: int, thing: str) -> str:
    """Write a number of things."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


# ---- writing -------------------------------------------------------------------------------------


def fen_text(words: Sequence[int], mover: int, clock: int, fullmove: int) -> str:
    """Write a position."""
    men = men_on_board(words, mover)
    ranks = ["".join(men[8 * rank : 8 * rank + 8]) for rank in reversed(range(8))]
    placement = re.sub(r"\.+", lambda empty: str(len(empty[0])), "/".join(ranks))
    marker = words[RIGHTS] >> 40 & 0xFF
    passing = name(view(40 + marker.bit_length() - 1, mover)) if marker else "-"
    castling = "".join(castling_letters(words, mover, men, side) for side in (0, 1)) or "-"
    return f"{placement} {'wb'[mover]} {castling} {passing} {clock} {fullmove}"


def castling_letters(words: Sequence[int], mover: int, men: list[str], side: int) -> str:
    """Write the castling rights of a side (0 White), kingside first."""
    rank = men[56 * side : 56 * side + 8]
    seen_rank = 0 if side == mover else 56
    rooks = [file for file in range(8) if words[RIGHTS] >> (seen_rank + file) & 1]
    letters = ""
    for file in reversed(rooks):
        short = "K" if file > rank.index("kK"[1 - side]) else "Q"
        usual = file == outermost_rook(rank, side, short)
        letter = short if usual else LETTERS[file].upper()
        letters += letter if side == 0 else letter.lower()
    return letters


def outermost_rook(rank: Sequence[str], side: int, letter: str) -> int | None:
    """Return the file of the rook that K or Q means on a side's first rank, None if there is none."""
    king, rook = ("K", "R") if side == 0 else ("k", "r")
    files = [file for file in range(8) if rank[file] == rook]
    if letter in "Kk":
        return max((file for file in files if file > rank.index(king)), default=None)
    return min((file for file in files if file < rank.index(king)), default=None)


# ---- reading -------------------------------------------------------------------------------------


def parse_fen(text: str, any_castling: bool) -> Fen:
    """Read a FEN; without `any_castling`, only kings on the e-file and rooks in the corners castle."""
    fields = text.split()
    if not 4 <= len(fields) <= 6:
        raise BadInput(f"FEN {text!r} has {counted(len(fields), 'field')}; {ALLOWED}")
    men = parse_placement(text, fields[0])
    check_men(text, men)
    if fields[1] not in ("w", "b"):
        raise BadInput(f"FEN {text!r}: field 2, the side to move, should be w or b, not {fields[1]!r}")
    mover = "wb".index(fields[1])
    words = [0] * WORDS
    for square, man in enumerate(men):
        if man != ".":
            place_man(words, view(square, mover), KIND_OF_LETTER[man.lower()], man.islower() == bool(mover))
    for square in parse_castling(text, fields[2], men, any_castling):
        words[RIGHTS] |= 1 << view(square, mover)
    if fields[3] != "-":
        words[RIGHTS] |= 1 << view(parse_marker(text, fields[3], men, mover), mover)
    clock = parse_counter(text, "5, the plies without capture or pawn move,", fields[4:5], 0)
    fullmove = parse_counter(text, "6, the number of the move,", fields[5:6], 1)
    return Fen(words, mover, clock, fullmove)


def place_man(words: list[int], square: int, kind: int, mine: bool) -> None:
    """Put a man on a square of the mover's view."""
    for word, has in ((LOW, kind & 1), (MIDDLE, kind & 2), (HIGH, kind & 4), (MINE, mine)):
        words[word] |= bool(has) << square


def parse_placement(text: str, placement: str) -> list[str]:
    """Read the first field into 64 letters, a1 first."""
    ranks = placement.split("/")
    if len(ranks) != 8:
        given = counted(len(ranks), "rank")
        raise BadInput(f"FEN {text!r}: field 1, the placement, has {given} joined by '/'; it needs 8")
    men: list[str] = []
    for number, rank in zip(range(8, 0, -1), ranks, strict=True):
        for sign in rank:
            if sign not in "12345678pnbrqkPNBRQK":
                raise BadInput(
                    f"FEN {text!r}: {sign!r} in rank {number} ({rank!r}) should be one of 1-8 or pnbrqkPNBRQK"
                )
        squares = "".join("." * int(sign) if sign.isdigit() else sign for sign in rank)
        if len(squares) != 8:
            raise BadInput(f"FEN {text!r}: rank {number} ({rank!r}) has {counted(len(squares), 'square')}; it needs 8")
        men = [*squares, *men]
    return men


def check_men(text: str, men: list[str]) -> None:
    """Refuse men that no game can have: this also bounds the number of legal moves."""
    for side, capital in (("White", True), ("Black", False)):
        own = [man.lower() for man in men if man.isalpha() and man.isupper() == capital]
        if own.count("k") != 1:
            raise BadInput(f"FEN {text!r}: {side} has {own.count('k')} kings; each side needs 1")
        promoted = sum(max(0, own.count(letter) - first) for letter, first in FIRST_SET.items())
        if own.count("p") + promoted > 8:
            raise BadInput(
                f"FEN {text!r}: {side} has {counted(own.count('p'), 'pawn')} and {counted(promoted, 'officer')} more "
                f"than at the start; together at most 8 are possible, since each of these was a pawn"
            )
    for square in (*range(8), *range(56, 64)):
        if men[square] in "pP":
            raise BadInput(f"FEN {text!r}: there is a pawn on {name(square)}; pawns stand on ranks 2 to 7")


def parse_castling(text: str, field: str, men: list[str], any_castling: bool) -> list[int]:
    """Read the third field into the squares of the rooks that may castle."""
    rooks: list[int] = []
    for letter in "" if field == "-" else field:
        if letter not in "KQkqABCDEFGHabcdefgh":
            raise BadInput(f"FEN {text!r}: {letter!r} in field 3, castling, should be -, or of KQkq and files A-H, a-h")
        rooks.append(castling_rook(text, letter, men))
    check_castling(text, rooks, men, any_castling)
    return rooks


def castling_rook(text: str, letter: str, men: list[str]) -> int:
    """Return the square of the rook that a castling letter names."""
    side = int(letter.islower())
    rank = men[56 * side : 56 * side + 8]
    if "Kk"[side] not in rank:
        raise BadInput(f"FEN {text!r}: castling {letter!r} needs {('White', 'Black')[side]}'s king on his first rank")
    file = outermost_rook(rank, side, letter) if letter in "KQkq" else LETTERS.index(letter.lower())
    if file is None or rank[file] != "Rr"[side]:
        where = (
            "on that side of the king" if letter in "KQkq" else f"on {name(56 * side + LETTERS.index(letter.lower()))}"
        )
        raise BadInput(f"FEN {text!r}: castling {letter!r} needs a rook {where}")
    return 56 * side + file


def check_castling(text: str, rooks: list[int], men: list[str], any_castling: bool) -> None:
    """Refuse a right given twice, two on one side of a king, and Chess960 where it is not played."""
    for side, king in enumerate((men.index("K"), men.index("k"))):
        own = [rook for rook in rooks if rook // 56 == side]
        sides = [rook > king for rook in own]
        if len(set(sides)) != len(sides):
            raise BadInput(
                f"FEN {text!r}: field 3 castles twice on one side of the king; each side of him allows one rook"
            )
        usual = all(rook % 8 in (0, 7) for rook in own) and king % 8 == 4
        if own and not usual and not any_castling:
            raise BadInput(
                f"FEN {text!r}: field 3 castles with a king on {name(king)} and a rook on {name(own[0])}; "
                "without the option chess960 (0..959) kings castle from the e-file with rooks in the corners"
            )


def parse_marker(text: str, field: str, men: list[str], mover: int) -> int:
    """Read the fourth field: the square behind a pawn that has just gone two squares."""
    rank = "63"[mover]
    if not re.fullmatch(f"[a-h]{rank}", field):
        raise BadInput(f"FEN {text!r}: field 4, en passant, should be - or a square of rank {rank}, not {field!r}")
    square = LETTERS.index(field[0]) + 8 * (int(rank) - 1)
    up = 8 if mover == 0 else -8
    if men[square] != "." or men[square + up] != "." or men[square - up] != "pP"[mover]:
        raise BadInput(
            f"FEN {text!r}: field 4, en passant, is {field}, but no pawn can just have gone from {name(square + up)} "
            f"to {name(square - up)}; write - if none has"
        )
    return square


def parse_counter(text: str, field: str, given: list[str], least: int) -> int:
    """Read one of the two counters; the least value if it is left out."""
    if not given:
        return least
    if not re.fullmatch(r"[0-9]{1,4}", given[0], re.ASCII) or int(given[0]) < least:
        raise BadInput(
            f"FEN {text!r}: field {field} should be a whole number in {least}..{LARGEST_COUNTER}, not {given[0]!r}"
        )
    return int(given[0])


# ---- starting positions ---------------------------------------------------------------------------


def back_rank(number: int) -> list[int]:
    """Return the kinds on the first rank of a starting position of Chess960, by its usual number 0..959."""
    files = [0] * 8
    number, light = divmod(number, 4)
    number, dark = divmod(number, 4)
    knights, queen = divmod(number, 6)
    files[2 * light + 1] = files[2 * dark] = BISHOP
    pairs = [(first, second) for first in range(4) for second in range(first + 1, 5)]
    fill_free(files, {queen: QUEEN})
    fill_free(files, dict.fromkeys(pairs[knights], KNIGHT))
    fill_free(files, {0: ROOK, 1: KING, 2: ROOK})
    return files


def fill_free(files: list[int], kinds: dict[int, int]) -> None:
    """Put kinds on free files, which are counted from the left."""
    free = [file for file in range(8) if not files[file]]
    for place, kind in kinds.items():
        files[free[place]] = kind
