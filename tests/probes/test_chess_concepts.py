"""Concepts of chess against slow readings of a board by another program."""

from __future__ import annotations

import chess
import numpy as np
import pytest

from rookery import BadInput
from rookery.probes.chess_concepts import BOARD, CONCEPTS, DRAWN
from rookery.probes.lc0 import named_concepts

MEN = (chess.PAWN, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN, chess.KING)
FENS = (
    "8/2P5/8/8/1p6/P7/8/K1k5 w - - 0 1",  # a pawn that can be taken on its way, and one that cannot
    "8/8/8/3pP3/8/8/8/K1k5 w - d6 0 2",
    "4k3/8/8/8/4r3/8/4P3/4K3 w - - 0 1",  # a pawn shields the king
    "4k3/8/8/8/4r3/8/8/4K3 w - - 0 1",
    "4k3/4p3/8/8/8/8/3n4/4K2b b - - 0 1",
    "k7/8/8/8/8/8/6p1/7K w - - 0 1",
    "4k3/P6p/7P/8/8/8/8/4K3 b - - 0 1",
)


def boards():
    """Return boards of random games, and some that are made up."""
    rng, found = np.random.default_rng(3), [chess.Board(fen) for fen in FENS]
    for _ in range(5):
        board = chess.Board()
        while not board.is_game_over() and board.ply() < 120:
            found.append(board.copy(stack=False))
            board.push(rng.choice(list(board.legal_moves)))
    return found


BOARDS = boards()


def seen(square, board):
    """Return a square as the mover sees it, and back."""
    return square if board.turn else chess.square_mirror(square)


def planes():
    """Return the men of all boards as their movers see them, [N, 12, 8, 8]."""
    found = np.zeros((len(BOARDS), 12, 64), bool)
    for n, board in enumerate(BOARDS):
        for square, man in board.piece_map().items():
            place = MEN.index(man.piece_type) + (0 if man.color == board.turn else 6)
            found[n, place, seen(square, board)] = True
    return found.reshape(-1, 12, 8, 8)


PLANES = planes()


def asked(name, seed=0):
    """Return what a concept says: number of the board, square as the mover sees it, target."""
    found = CONCEPTS[name].find(PLANES, np.random.default_rng(seed))
    return list(zip(found.rows.tolist(), found.squares.tolist(), found.targets.tolist(), strict=True))


def test_material_is_what_the_men_are_worth():
    worth = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9, chess.KING: 0}
    for (row, square, target), board in zip(asked("material"), BOARDS, strict=True):
        total = sum(
            worth[man.piece_type] * (1 if man.color == board.turn else -1) for man in board.piece_map().values()
        )
        assert (square, target) == (BOARD, total)
        assert BOARDS[row] is board


def test_attacks_are_counted_by_squares():
    for (_, square, target), board in zip(asked("attacks"), BOARDS, strict=True):
        mine, theirs = (
            sum(board.is_attacked_by(side, at) for at in chess.SQUARES) for side in (board.turn, not board.turn)
        )
        assert (square, target) == (BOARD, mine - theirs)


def test_a_king_is_attacked_if_he_is_in_check():
    found = asked("king-attacked")
    assert len(found) == len(BOARDS)
    for row, square, target in found:
        board = BOARDS[row]
        assert seen(square, board) == board.king(board.turn)
        assert target == board.is_check()
    assert 0 < sum(target for *_, target in found) < len(found) / 4


def slow_passed(board, square):
    """Tell whether no pawn of the other side stands before a pawn, on its file or on one beside it."""
    forward = 1 if board.turn else -1
    for other in board.pieces(chess.PAWN, not board.turn):
        beside = abs(chess.square_file(other) - chess.square_file(square)) <= 1
        before = (chess.square_rank(other) - chess.square_rank(square)) * forward > 0
        if beside and before:
            return False
    return True


def test_a_pawn_is_passed_if_no_pawn_stands_in_its_way():
    found = asked("passed-pawn")
    for row, square, target in found:
        board = BOARDS[row]
        assert board.piece_at(seen(square, board)) == chess.Piece(chess.PAWN, board.turn)
        assert target == slow_passed(board, seen(square, board))
    assert 10 < sum(target for *_, target in found) < len(found) / 2


def test_a_man_is_attacked_if_one_of_theirs_attacks_his_square():
    found = asked("attacked-man")
    for row, square, target in found:
        board = BOARDS[row]
        man = board.piece_at(seen(square, board))
        assert man is not None
        assert man.color == board.turn
        assert man.piece_type != chess.KING
        assert target == board.is_attacked_by(not board.turn, seen(square, board))
    assert len({square for _, square, _ in found}) > 40


@pytest.mark.parametrize("name", ["passed-pawn", "attacked-man"])
def test_a_few_squares_of_a_board_are_drawn_by_the_seed(name):
    found = asked(name)
    rows = [row for row, *_ in found]
    assert max(rows.count(row) for row in set(rows)) == DRAWN
    assert len({(row, square) for row, square, _ in found}) == len(found)
    assert asked(name) == found != asked(name, seed=1)


def test_concepts_are_found_by_name():
    assert [concept.name for concept in named_concepts([], CONCEPTS)] == list(CONCEPTS)
    assert named_concepts(["material"], CONCEPTS) == [CONCEPTS["material"]]
    with pytest.raises(BadInput, match="there is no concept 'beauty'; there are material, attacks"):
        named_concepts(["beauty"], CONCEPTS)
