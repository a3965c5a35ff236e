"""Chess, with Chess960.

A position is kept as the player to move sees it (`chess_board`), so that moves and planes are read off the same way
for both. Actions are Lc0's 1858 moves (`chess_lc0`); `chess_moves` finds the legal ones and makes them; positions are
written in `chess_fen`, moves in `chess_text`.

The game ends with mate, else stalemate, else the third occurrence of a position, else 100 plies without capture or
pawn move, else too few men to mate. Positions are the same for the third occurrence if the men, the player to move,
the castling rights and the possible moves are: an en passant square counts only if the capture is legal. For Lc0's
planes a position is repeated if its marker is the same too, legal or not. Both are decided from the hashes of the
positions since the last capture or pawn move; the two differ only on the first of these, which alone can have a marker.

A state holds the last eight boards (the board after ply n in slot n % 8), and the moves since `base`, the
position from which they can all be played again with their repetitions: the latest one that is at least seven plies
old and follows a capture or pawn move, or the first of all.
"""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from rookery.errors import BadInput
from rookery.games import chess_fen as fen
from rookery.games import chess_text as notation
from rookery.games.bits import Word, reverse_bytes
from rookery.games.chess_board import (
    CASTLING_RANKS,
    MARKER_RANK,
    MINE,
    NONE,
    RIGHTS,
    ROOK,
    WORDS,
    attacked_by_them,
    bit,
    checks_and_pins,
    too_few_men,
    turned,
)
from rookery.games.chess_lc0 import ACTIONS, KINDS, SLOTS, plane_value, unpacked
from rookery.games.chess_moves import (
    ACTION_MASK,
    CASTLED,
    KNIGHTED,
    MOVES_KEPT,
    Words,
    after_move,
    answers,
    can_move,
    en_passant_sources,
    men_in,
    targets_of,
    words_at,
    write_legal,
)
from rookery.games.game import Game, register
from rookery.games.options import whole_number
from rookery.games.position import Action, Cell, Seat
from rookery.games.rng import STEP, scramble
from rookery.games.rules import State, implements

USUAL_NUMBER = 518  # of the usual starting position among those of Chess960
NO_PROGRESS = 100
ON, MATE, STALEMATE, REPETITION, NO_PROGRESS_DRAW, TOO_FEW_MEN = range(6)
ENDINGS = ("", "mate", "stalemate", "third occurrence", "100 plies without capture or pawn move", "too few men to mate")

STATE = np.dtype(
    [
        ("boards", np.uint64, (SLOTS, WORDS)),
        ("checkers", np.uint64),
        ("pinned", np.uint64),
        ("chess_mover", np.int32),
        ("plies", np.int32),  # since the first known position
        ("since", np.int32),  # the last capture or pawn move, or the first known position
        ("ending", np.int32),
        ("fullmove", np.int32),
        ("first_marked", np.int32),  # whether the first position in `history` has an en passant marker
        ("base_ply", np.int32),
        ("base_clock", np.int32),
        ("back_rank", np.int32),  # option: kinds of the first rank, three bits a file
        ("clocks", np.int16, (SLOTS,)),  # plies without capture or pawn move, of each board
        ("repeated", np.uint8, (SLOTS,)),  # whether each board had occurred before, as Lc0 sees it
        ("base", np.uint64, (WORDS,)),
        ("history", np.uint64, (NO_PROGRESS + 1,)),  # keys since the last capture or pawn move
        ("moves", np.uint16, (MOVES_KEPT,)),
    ],
    align=True,
)


# ---- reaching a position -------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def words_now(state: State) -> Words:
    """Return the words of the present position."""
    return words_at(state, state.plies & 7)


@njit(cache=True, nogil=True)
def key_of(words: Words, mover: int) -> Word:
    """Hash men, player to move, castling rights and the en passant square if the capture is legal."""
    mine, low, middle, high, rights = words
    marker = rights & MARKER_RANK
    if marker != NONE and en_passant_sources(men_in(words), marker) == NONE:
        marker = NONE
    rest = (rights & CASTLING_RANKS) | marker | (uint64(mover) << uint64(8))
    word = scramble(mine + STEP) ^ scramble(low + uint64(2) * STEP) ^ scramble(middle + uint64(3) * STEP)
    return word ^ scramble(high + uint64(4) * STEP) ^ scramble(rest + uint64(5) * STEP)


@njit(cache=True, nogil=True)
def enter_history(state: State, words: Words) -> int:
    """Note the position reached, mark it if it had occurred before, and return how often it had."""
    key, since = key_of(words, state.chess_mover), state.since
    if since == 0:
        state.first_marked = 1 if words[RIGHTS] & MARKER_RANK != NONE else 0
    earlier, repeated = 0, 0
    for i in range(since - 4, -1, -2):
        if state.history[i] == key:
            earlier += 1
            if i > 0 or state.first_marked == 0:
                repeated = 1
    state.history[since] = key
    state.repeated[state.plies & 7] = repeated
    return earlier


@njit(cache=True, nogil=True)
def settle(state: State) -> None:
    """Work out what follows from a position just reached: checks, pins, repetitions, the end."""
    words = words_now(state)
    men = men_in(words)
    checkers, pinned = checks_and_pins(men)
    state.checkers, state.pinned = checkers, pinned
    earlier = enter_history(state, words)
    if not can_move(men, words[RIGHTS], checkers, pinned):
        state.ending = MATE if checkers != NONE else STALEMATE
    elif earlier >= 2:
        state.ending = REPETITION
    elif state.clocks[state.plies & 7] >= NO_PROGRESS:
        state.ending = NO_PROGRESS_DRAW
    elif too_few_men(men):
        state.ending = TOO_FEW_MEN
    else:
        state.ending = ON


@njit(cache=True, nogil=True)
def move_base(state: State) -> None:
    """Let the kept moves begin at the position seven plies ago if nothing before it matters any more."""
    slot = (state.plies + 1) & 7
    if state.plies >= SLOTS - 1 and state.clocks[slot] == 0:
        for word in range(WORDS):
            state.base[word] = state.boards[slot, word]
        state.base_ply = state.plies - (SLOTS - 1)
        state.base_clock = 0


@njit(cache=True, nogil=True)
def begin(state: State, words: Words, mover: int, clock: int, fullmove: int) -> None:
    """Make a position the first known one, forgetting all else but the options."""
    state.boards[:] = 0
    state.history[:] = 0
    state.moves[:] = 0
    state.clocks[:] = 0
    state.repeated[:] = 0
    for word in range(WORDS):
        state.boards[0, word] = words[word]
        state.base[word] = words[word]
    state.chess_mover, state.plies, state.since, state.fullmove = mover, 0, 0, fullmove
    state.clocks[0] = clock
    state.base_ply, state.base_clock = 0, clock
    settle(state)


@njit(cache=True, nogil=True)
def first_words(back_rank: int) -> Words:
    """Return the starting position with the given men on the first ranks."""
    low, middle, rooks = uint64(0), uint64(0), uint64(0)
    high = uint64(0xFF00)
    for file in range(8):
        kind = (back_rank >> (3 * file)) & 7
        man = bit(file)
        low |= man if kind & 1 else NONE
        middle |= man if kind & 2 else NONE
        high |= man if kind & 4 else NONE
        rooks |= man if kind == ROOK else NONE
    return (
        uint64(0xFFFF),
        low | reverse_bytes(low),
        middle | reverse_bytes(middle),
        high | reverse_bytes(high),
        rooks | reverse_bytes(rooks),
    )


@njit(cache=True, nogil=True)
def other_is_in_check(state: State) -> bool:
    """Tell whether the king of the player who is not to move could be taken."""
    men = turned(men_in(words_now(state)))
    return bool(attacked_by_them(men) & men.kings & men.mine != NONE)


# ---- the contract --------------------------------------------------------------------------------


@implements("start", STATE)
def start(state: State, seed: int) -> None:
    begin(state, first_words(state.back_rank), 0, 0, 1)


@implements("mover", STATE)
def mover(state: State) -> int:
    return int(state.chess_mover)


@implements("legal", STATE)
def legal(state: State, out: np.ndarray) -> int:
    words = words_now(state)
    return write_legal(men_in(words), words[RIGHTS], state.checkers, state.pinned, out)


@implements("is_legal", STATE)
def is_legal(state: State, action: int) -> bool:
    words = words_now(state)
    source, target, promoted = unpacked(action)
    man = bit(source)
    if words[MINE] & man == NONE:
        return False
    men = men_in(words)
    if promoted != 0 and men.pawns & man == NONE:
        return False
    allowed = answers(men, state.checkers)
    return bool(targets_of(men, words[RIGHTS], source, state.checkers, state.pinned, allowed) & bit(target) != NONE)


@implements("play", STATE)
def play(state: State, action: int) -> None:
    clock = state.clocks[state.plies & 7] + 1
    words, irreversible, remark = after_move(words_now(state), action)
    state.moves[state.plies & (MOVES_KEPT - 1)] = action | remark
    state.plies += 1
    state.chess_mover = 1 - state.chess_mover
    state.fullmove = min(state.fullmove + 1 - state.chess_mover, fen.LARGEST_COUNTER)  # a FEN has four digits for it
    slot = state.plies & 7
    for word in range(WORDS):
        state.boards[slot, word] = words[word]
    state.clocks[slot] = 0 if irreversible else clock
    state.since = 0 if irreversible else state.since + 1
    move_base(state)
    settle(state)


@implements("over", STATE)
def over(state: State) -> bool:
    return bool(state.ending != ON)


@implements("payoff", STATE)
def payoff(state: State, seat: int) -> float:
    if state.ending != MATE:
        return 0.0
    return -1.0 if seat == state.chess_mover else 1.0


@implements("observe", STATE)
def observe(state: State, kind: int, i: int) -> float:
    return plane_value(state, kind, i)


@implements("key", STATE)
def key(state: State) -> Word:
    return state.history[state.since]


# ---- for people ----------------------------------------------------------------------------------


@register
class Chess(Game):
    """Chess from the usual or a Chess960 starting position."""

    name = "chess"
    version = 1
    state = STATE
    summary = "mate the king; Chess960 too, with the moves and planes of Lc0"
    actions = ACTIONS
    # Nine queens, two rooks, bishops and knights and a king who may castle both ways, each with all it could have
    # on an empty board. A pawn has fewer moves than a queen, so promoting can only raise the sum.
    few_moves = True
    most_legal = 9 * 27 + 2 * 14 + 2 * 13 + 2 * 8 + 8 + 2
    # 96 moves of pawns and 30 captures, at most 100 plies apart, and 100 plies without
    longest = (96 + 30 + 1) * NO_PROGRESS
    observations = dict.fromkeys(KINDS, (112, 8, 8))

    def __init__(self, chess960: int = -1):
        what = "option chess960 of chess (a starting position, 518 the usual one; -1 for chess without Chess960)"
        self.chess960 = whole_number(what, chess960, -1, 959)

    @property
    def king_takes_rook(self) -> bool:
        """Whether castling is written as the king taking his rook, and may start from any file."""
        return self.chess960 >= 0

    def set_options(self, state: State) -> None:
        kinds = fen.back_rank(self.chess960 if self.chess960 >= 0 else USUAL_NUMBER)
        state["back_rank"] = sum(kind << 3 * file for file, kind in enumerate(kinds))

    def seat_name(self, seat: Seat) -> str:
        return ("White", "Black")[seat]

    def fen(self, state: State) -> str:
        """Write the present position as FEN, without what came before: earlier occurrences are lost."""
        slot, mover = int(state["plies"]) & 7, int(state["chess_mover"])
        return fen.fen_text(state["boards"][slot].tolist(), mover, int(state["clocks"][slot]), int(state["fullmove"]))

    def text(self, state: State) -> str:
        """Write the base as FEN, then "moves" and those made since, as in UCI."""
        plies, mover = int(state["plies"]), int(state["chess_mover"])
        made = range(int(state["base_ply"]), plies)
        half_moves = 2 * int(state["fullmove"]) + mover - len(made)
        base = fen.fen_text(state["base"].tolist(), half_moves & 1, int(state["base_clock"]), half_moves >> 1)
        kept = state["moves"].tolist()
        moves = [self.kept_move(kept[ply % MOVES_KEPT], mover ^ (plies - ply) & 1) for ply in made]
        return " ".join([base, "moves", *moves]) if moves else base

    def kept_move(self, kept: int, mover: Seat) -> str:
        """Write a move that is kept with its remark."""
        action, castled, knighted = kept & ACTION_MASK, bool(kept & CASTLED), bool(kept & KNIGHTED)
        return notation.uci_text(action, mover, castled, knighted, self.king_takes_rook)

    def parse(self, text: str, state: State) -> None:
        words = text.split()
        split = words.index("moves") if "moves" in words else len(words)
        head, moves = " ".join(words[:split]), words[split + 1 :]
        if head == "startpos":
            start(state, 0)
        elif head:
            self.parse_fen(head, state)
        else:
            raise BadInput(f"position {text!r} names no first position; {fen.ALLOWED}")
        for number, move in enumerate(moves, start=1):
            try:
                play(state, self.parse_legal(state, move))
            except BadInput as error:
                raise BadInput(f"move {number} of position {text!r}: {error} (in {self.fen(state)!r})") from None

    def parse_legal(self, state: State, move: str) -> Action:
        """Read a move and refuse one that may not be made."""
        if over(state):
            raise BadInput(f"move {move!r}: the game is over ({self.ending(state)})")
        action = self.parse_move(state, move)
        if not is_legal(state, action):
            raise BadInput(f"move {move!r} is not legal")
        return action

    def parse_fen(self, text: str, state: State) -> None:
        """Read a FEN as the first known position."""
        read = fen.parse_fen(text, self.king_takes_rook)
        mine, low, middle, high, rights = (np.uint64(word) for word in read.words)
        begin(state, (mine, low, middle, high, rights), read.mover, read.clock, read.fullmove)
        if other_is_in_check(state):
            raise BadInput(f"FEN {text!r}: {self.seat_name(1 - read.mover)} is in check but not to move")

    def ending(self, state: State) -> str:
        """Say how the game has ended; nothing while it goes on."""
        return ENDINGS[state["ending"]]

    def draw(self, state: State) -> str:
        men = fen.men_on_board(state["boards"][int(state["plies"]) & 7].tolist(), int(state["chess_mover"]))
        rows = [f"{rank + 1} {' '.join(men[8 * rank : 8 * rank + 8])}" for rank in reversed(range(8))]
        return "\n".join([*rows, "  a b c d e f g h"]).replace(".", "·")

    def cells_of(self, state: State, action: Action) -> tuple[Cell, ...]:
        """The square a man goes to; the king's, where he castles."""
        source, target, _ = notation.squares_of(action, int(state["chess_mover"]))
        if notation.castles(state, action):
            target = target // 8 * 8 + (6 if target > source else 2)
        return ((0, target // 8, target % 8),)

    def drawn_at(self, cell: Cell) -> tuple[int, int]:
        return 7 - cell[1], 2 + 2 * cell[2]

    def move_text(self, state: State, action: Action) -> str:
        castling, promotion = notation.castles(state, action), notation.promotes(state, action)
        return notation.uci_text(action, int(state["chess_mover"]), castling, promotion, self.king_takes_rook)

    def parse_move(self, state: State, text: str) -> Action:
        """Read a move in UCI or in SAN."""
        if notation.UCI.fullmatch(text):
            return notation.parse_uci(state, text)
        return notation.parse_san(state, text)

    def san(self, state: State, action: Action) -> str:
        """Write a legal move in SAN."""
        return notation.san_text(state, whole_number(f"an action of {self.name}", action, 0, self.actions - 1))
