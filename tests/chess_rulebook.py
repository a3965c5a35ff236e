"""Chess as the rule book has it, square by square, and Lc0's planes as their description has them: slow and plain.

Squares are numbers file + 8 * rank, men are letters (White's capitals). A move is (source, target, promoted letter or
""), castling the king to the square of his rook. Nothing here is shared with the package.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

ROOK_STEPS = [(1, 0), (-1, 0), (0, 1), (0, -1)]
BISHOP_STEPS = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
KNIGHT_STEPS = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]
STEPS = {"r": ROOK_STEPS, "b": BISHOP_STEPS, "q": ROOK_STEPS + BISHOP_STEPS, "k": ROOK_STEPS + BISHOP_STEPS}
SLIDERS = "rbq"

Move = tuple[int, int, str]


def step(square: int, files: int, ranks: int) -> int | None:
    """The square some files and ranks away, None if it lies outside."""
    file, rank = square % 8 + files, square // 8 + ranks
    return file + 8 * rank if 0 <= file < 8 and 0 <= rank < 8 else None


def is_white(man: str) -> bool:
    return man.isupper()


@dataclass
class Board:
    """A position without its past."""

    men: list[str]
    white: bool
    castling: frozenset[int] = frozenset()  # squares of rooks that may castle
    passed: int | None = None  # the square a pawn has just passed over
    clock: int = 0

    def own(self, square: int) -> bool:
        return self.men[square] != "." and is_white(self.men[square]) == self.white

    def other(self, square: int) -> bool:
        return self.men[square] != "." and is_white(self.men[square]) != self.white

    def king(self, white: bool) -> int:
        return self.men.index("K" if white else "k")

    def attacked(self, square: int, by_white: bool) -> bool:
        """Whether a side attacks a square: look from the square for a man that could come."""
        for kind, steps in (("n", KNIGHT_STEPS), ("k", STEPS["k"])):
            for files, ranks in steps:
                at = step(square, files, ranks)
                if at is not None and self.men[at] == (kind.upper() if by_white else kind):
                    return True
        for files in (-1, 1):
            at = step(square, files, -1 if by_white else 1)
            if at is not None and self.men[at] == ("P" if by_white else "p"):
                return True
        for steps, kinds in ((ROOK_STEPS, "rq"), (BISHOP_STEPS, "bq")):
            for files, ranks in steps:
                at = step(square, files, ranks)
                while at is not None and self.men[at] == ".":
                    at = step(at, files, ranks)
                if at is not None and self.men[at].lower() in kinds and is_white(self.men[at]) == by_white:
                    return True
        return False

    def in_check(self, white: bool) -> bool:
        return self.attacked(self.king(white), not white)

    # -- moves --

    def legal(self) -> list[Move]:
        """All legal moves."""
        moves = [move for move in self.steps() if not self.after(move).in_check(self.white)]
        return moves + self.castlings()

    def steps(self) -> list[Move]:
        """All moves but castling, whether they leave the king in check or not."""
        moves: list[Move] = []
        for square in range(64):
            if self.own(square):
                kind = self.men[square].lower()
                moves += self.pawn_moves(square) if kind == "p" else self.officer_moves(square, kind)
        return moves

    def officer_moves(self, square: int, kind: str) -> list[Move]:
        moves: list[Move] = []
        for files, ranks in KNIGHT_STEPS if kind == "n" else STEPS[kind]:
            at = step(square, files, ranks)
            while at is not None and not self.own(at):
                moves.append((square, at, ""))
                if self.men[at] != "." or kind not in SLIDERS:
                    break
                at = step(at, files, ranks)
        return moves

    def pawn_moves(self, square: int) -> list[Move]:
        up = 1 if self.white else -1
        targets = []
        ahead = step(square, 0, up)
        if self.men[ahead] == ".":
            targets.append(ahead)
            if square // 8 == (1 if self.white else 6) and self.men[step(ahead, 0, up)] == ".":
                targets.append(step(ahead, 0, up))
        for files in (-1, 1):
            at = step(square, files, up)
            if at is not None and (self.other(at) or at == self.passed):
                targets.append(at)
        promoted = "qrbn" if ahead // 8 in (0, 7) else [""]
        return [(square, target, piece) for target in targets for piece in promoted]

    def castlings(self) -> list[Move]:
        """King and rook end on g and f, or c and d; nothing else on their ways, no attack on the king's."""
        king, moves = self.king(self.white), []
        for rook in self.castling:
            if not self.own(rook):
                continue
            first = rook // 8 * 8
            king_to, rook_to = (first + 6, first + 5) if rook > king else (first + 2, first + 3)
            king_way = range(min(king, king_to), max(king, king_to) + 1)
            rook_way = range(min(rook, rook_to), max(rook, rook_to) + 1)
            if any(self.men[at] != "." and at not in (king, rook) for at in (*king_way, *rook_way)):
                continue
            cleared = replace(self, men=[man if at != king else "." for at, man in enumerate(self.men)])
            if any(cleared.attacked(at, not self.white) for at in king_way):
                continue
            if not self.after((king, rook, "")).in_check(self.white):
                moves.append((king, rook, ""))
        return moves

    def after(self, move: Move) -> Board:
        """The position a move leads to."""
        source, target, promoted = move
        men, man = list(self.men), self.men[source]
        men[source] = "."
        castling = {rook for rook in self.castling if rook not in (source, target)}
        if man in "kK":
            castling = {rook for rook in castling if is_white(self.men[rook]) != self.white}
        if man in "kK" and self.own(target):
            first = target // 8 * 8
            men[target] = "."
            men[first + (6 if target > source else 2)] = man
            men[first + (5 if target > source else 3)] = "R" if self.white else "r"
            return Board(men, not self.white, frozenset(castling), None, self.clock + 1)
        quiet = man not in "pP" and men[target] == "."
        if man in "pP" and target == self.passed:
            men[target + (-8 if self.white else 8)] = "."
        men[target] = man if not promoted else promoted.upper() if self.white else promoted
        passed = (source + target) // 2 if man in "pP" and abs(target - source) == 16 else None
        return Board(men, not self.white, frozenset(castling), passed, self.clock + 1 if quiet else 0)

    # -- sameness and end --

    def can_pass(self) -> bool:
        """Whether a pawn may legally take en passant."""
        if self.passed is None:
            return False
        return any(target == self.passed and self.men[source] in "pP" for source, target, _ in self.legal())

    def sameness(self) -> tuple[object, ...]:
        """What two positions must share to be the same, by the laws of chess."""
        return tuple(self.men), self.white, self.castling, self.passed if self.can_pass() else None

    def too_few_men(self) -> bool:
        """Bare kings, one minor piece, or nothing but bishops on squares of one colour."""
        rest = [(man.lower(), (at % 8 + at // 8) % 2) for at, man in enumerate(self.men) if man not in ".kK"]
        if len(rest) <= 1:
            return all(kind in "bn" for kind, _ in rest)
        return {kind for kind, _ in rest} == {"b"} and len({colour for _, colour in rest}) == 1

    # -- for Lc0 --

    def marker(self) -> int | None:
        """The passed square if a pawn stands beside the pawn that passed it."""
        if self.passed is None:
            return None
        pawn = self.passed + (-8 if self.white else 8)
        beside = [step(pawn, files, 0) for files in (-1, 1)]
        wanted = "P" if self.white else "p"
        return self.passed if any(at is not None and self.men[at] == wanted for at in beside) else None


def move_of(board: Board, listed: tuple[int, int, int]) -> Move:
    """A move of Lc0's list: as its player sees it, kind 0 for a knight or none, then bishop, rook, queen."""
    source, target, kind = listed
    turn = 0 if board.white else 56
    knighted = board.men[source ^ turn] in "pP" and target >= 56 and kind == 0
    return source ^ turn, target ^ turn, "n" if knighted else ("", "b", "r", "q")[kind]


def read_fen(fen: str) -> Board:
    """A position from a FEN known to be right; its en passant square as it stands."""
    placement, side, castling, passed, clock, *_ = fen.split()
    ranks = ["".join("." * int(c) if c.isdigit() else c for c in rank) for rank in placement.split("/")]
    men = list("".join(reversed(ranks)))
    rooks = set()
    for letter in castling.replace("-", ""):
        first = 0 if letter.isupper() else 56
        own = [at for at in range(first, first + 8) if men[at] == ("R" if letter.isupper() else "r")]
        if letter in "Kk":
            rooks.add(max(own))
        elif letter in "Qq":
            rooks.add(min(own))
        else:
            rooks.add(first + "abcdefgh".index(letter.lower()))
    square = None if passed == "-" else "abcdefgh".index(passed[0]) + 8 * (int(passed[1]) - 1)
    return Board(men, side == "w", frozenset(rooks), square, int(clock))


def game_from(fen: str) -> Game:
    """A game that begins with a FEN."""
    board = read_fen(fen)
    return Game([board], board.passed)


@dataclass
class Game:
    """A game: its positions, the first one first."""

    boards: list[Board]
    first_marker: int | None = None  # the en passant square of a FEN, which Lc0 believes
    seen: dict[tuple[object, ...], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.seen[self.boards[0].sameness()] = 1

    @property
    def board(self) -> Board:
        return self.boards[-1]

    def play(self, move: Move) -> None:
        self.boards.append(self.board.after(move))
        same = self.board.sameness()
        self.seen[same] = self.seen.get(same, 0) + 1

    def drawn(self) -> str:
        """Which draw there is if there is a legal move; "" for none."""
        if self.seen[self.board.sameness()] >= 3:
            return "third occurrence"
        if self.board.clock >= 100:
            return "100 plies without capture or pawn move"
        return "too few men to mate" if self.board.too_few_men() else ""

    def ending(self) -> str:
        """How the game has ended; "" if it goes on."""
        if self.board.legal():
            return self.drawn()
        return "mate" if self.board.in_check(self.board.white) else "stalemate"

    # -- Lc0's planes --

    def marker(self, i: int) -> int | None:
        return self.first_marker if i == 0 else self.boards[i].marker()

    def repetitions(self, i: int) -> int:
        """How often position number i had occurred before, as Lc0 counts."""
        if self.boards[i].clock < 4:
            return 0
        for j in range(i - 4, -1, -2):
            a, b = self.boards[i], self.boards[j]
            if (a.men, a.castling, self.marker(i)) == (b.men, b.castling, self.marker(j)):
                return 1 + self.repetitions(j)
            if b.clock < 2:
                return 0
        return 0

    def is_usual_start(self) -> bool:
        first = self.boards[0]
        placement = "RNBQKBNRPPPPPPPP" + "." * 32 + "pppppppprnbqkbnr"
        rights = frozenset((0, 7, 56, 63))
        return "".join(first.men) == placement and first.white and first.castling == rights and self.marker(0) is None

    def planes(self, fill: str) -> np.ndarray:
        """The 112 planes; `fill` is "no", "fen_only" or "always"."""
        out = np.zeros((112, 64), np.float32)
        last = len(self.boards) - 1
        for slot in range(8):
            i = last - slot
            if i >= 0:
                self.show(out[13 * slot :], self.boards[i].men)
                out[13 * slot + 12] = 1 if self.repetitions(i) else 0
                continue
            if fill == "no" and not (self.marker(0) is not None and i == -1):
                break
            if fill == "fen_only" and self.is_usual_start():
                break
            self.show(out[13 * slot :], self.men_before_push())
        board = self.board
        king = {side: board.king(side) for side in (True, False)}
        for plane, side, kingside in ((104, 0, 0), (105, 0, 1), (106, 1, 0), (107, 1, 1)):
            white = board.white ^ bool(side)
            rooks = [rook for rook in board.castling if is_white(board.men[rook]) == white]
            out[plane] = any((rook > king[white]) == bool(kingside) for rook in rooks)
        out[108] = not board.white
        out[109] = board.clock
        out[111] = 1
        return out.reshape(112, 8, 8)

    def men_before_push(self) -> list[str]:
        men, marker = list(self.boards[0].men), self.marker(0)
        if marker is not None:
            up = 8 if self.boards[0].white else -8
            men[marker + up], men[marker - up] = men[marker - up], "."
        return men

    def show(self, planes: np.ndarray, men: list[str]) -> None:
        """Write twelve planes of a board as the player to move now sees it."""
        white = self.board.white
        for square, man in enumerate(men):
            if man != ".":
                plane = "pnbrqk".index(man.lower()) + (0 if is_white(man) == white else 6)
                planes[plane, square if white else square ^ 56] = 1
