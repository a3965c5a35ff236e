"""Lc0's list of moves and its planes, by the values of its description and against the slow version."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

import chess_rulebook as book
from rookery import load
from rookery.games.chess_lc0 import MOVES, USUAL_START, policy_texts
from rookery.games.chess_text import ACTION_OF
from rookery.games.position import Position

FILLS = {"classical": "fen_only", "classical_empty": "no", "classical_filled": "always"}
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
PASSING = "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3"


def digest(lines: list[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode("ascii")).hexdigest()


# ---- the 1858 moves ------------------------------------------------------------------------------


def test_the_list_of_moves_is_lc0s():
    texts = policy_texts()
    assert len(texts) == load("chess").actions == 1858
    assert texts[:10] == ["a1b1", "a1c1", "a1d1", "a1e1", "a1f1", "a1g1", "a1h1", "a1a2", "a1b2", "a1c2"]
    assert texts[-10:] == ["g7g8b", "g7h8q", "g7h8r", "g7h8b", "h7g8q", "h7g8r", "h7g8b", "h7h8q", "h7h8r", "h7h8b"]
    assert digest(texts) == "4a901f49851725496e39e34648dd58f240950fa6b72a0bbf6b2816b9af767cc7"


@pytest.mark.parametrize(
    ("move", "number"),
    [
        ("a1b1", 0), ("a1h8", 22), ("b1c3", 36), ("e1a1", 97), ("e1c1", 99), ("e1g1", 102), ("e1h1", 103),
        ("g1f3", 159), ("d2d4", 293), ("e2e4", 322), ("e5d6", 1041), ("a7a8", 1401), ("a7b8", 1402), ("e7d8", 1514),
        ("b8c6", 1632), ("h8a1", 1769), ("h8g8", 1791), ("a7a8q", 1792), ("a7a8r", 1793), ("a7a8b", 1794),
        ("d7d8q", 1819), ("h7h8b", 1857),
    ],
)  # fmt: skip
def test_numbers_of_single_moves(move, number):
    assert policy_texts().index(move) == number


def number_of(source: int, target: int | None, kind: int) -> int:
    """The number of a move, -1 if the list has none."""
    return -1 if target is None else ACTION_OF.get((source, target, kind), -1)


def test_the_attention_policy_maps_onto_the_list():
    numbers = [number_of(source, target, 0) for source in range(64) for target in range(64)]
    numbers += [number_of(48 + f, 56 + t, kind) for f in range(8) for t in range(8) for kind in (3, 2, 1)]
    wanted = "c2d933f5810a484cb1f68e92e9db9d21a94c80adf4bcbd0cfe7da5609e2a03c6"
    assert digest([str(number) for number in numbers]) == wanted


def test_the_convolution_policy_maps_onto_the_list():
    # 73 planes of 64 sources: seven squares in each direction from north clockwise, jumps, then promotions on rank 7
    lines = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)]
    ways = [(files * far, ranks * far, 0) for files, ranks in lines for far in range(1, 8)]
    ways += [(files, ranks, 0) for files, ranks in book.KNIGHT_STEPS]
    ways += [(files, 1, kind) for files in (-1, 0, 1) for kind in (2, 1, 3)]
    numbers = [number_of(s, book.step(s, files, ranks), kind) for files, ranks, kind in ways for s in range(64)]
    assert len(numbers) == 4672
    wanted = "6a59892071d2faeec920436e2f942af849070d5e13c7eb12042d2eaf1d9a9bb2"
    assert digest([str(number) for number in numbers]) == wanted


@pytest.mark.parametrize(
    ("fen", "move", "number"),
    [
        (START, "e2e4", 322),
        (START.replace(" w ", " b "), "e7e5", 322),
        (START.replace(" w ", " b "), "g8f6", 159),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1", 103),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1h1", 103),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1c1", 97),
        ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "e8g8", 103),
        ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "e8a8", 97),
        ("k7/8/8/8/8/8/8/K3R3 w - - 0 1", "e1g1", 102),
        ("7k/P7/8/8/8/8/8/7K w - - 0 1", "a7a8n", 1401),
        ("7k/P7/8/8/8/8/8/7K w - - 0 1", "a7a8q", 1792),
        ("7k/8/8/8/8/8/p7/7K b - - 0 1", "a2a1r", 1793),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", 1041),
        ("4k3/8/8/8/3Pp3/8/8/4K3 b - d3 0 1", "e4d3", 1041),
    ],
)
def test_moves_of_positions_have_lc0s_numbers(fen, move, number):
    position = load("chess").position(fen)
    assert position.action(move) == number
    assert number in position.legal()


# ---- planes --------------------------------------------------------------------------------------


def same_planes(position: Position, slow: book.Game) -> None:
    for kind, fill in FILLS.items():
        assert (position.observe(kind) == slow.planes(fill)).all(), (kind, position.text())


def walk(position: Position, seed: int, plies: int, sampled: int) -> None:
    """Play at random, often taking moves back, and compare planes after each `sampled`-th ply and the first nine."""
    rng = np.random.default_rng(seed)
    slow = book.game_from(position.text())
    back = [-1, -1]
    for ply in range(plies):
        if ply < 9 or ply % sampled == 0 or position.over:
            same_planes(position, slow)
        if position.over:
            return
        legal = position.legal().tolist()
        again = back[position.mover]
        action = again if again in legal and rng.random() < 0.6 else int(rng.choice(legal))
        source, target, _ = MOVES[action]
        back[position.mover] = ACTION_OF[target, source, 0]
        slow.play(book.move_of(slow.board, MOVES[action]))
        position.play(action)


@pytest.mark.parametrize("fen", [START, PASSING, "4k2r/8/8/2pP4/8/8/8/R3K3 w Qk c6 0 1", START.replace(" w ", " b ")])
def test_planes_match_the_slow_version(fen):
    for seed in range(4):
        walk(load("chess").position(fen), seed, plies=120, sampled=10)


def test_planes_of_chess960_match_the_slow_version():
    for seed in range(4):
        walk(load("chess", chess960=100 * seed).start(), seed, plies=120, sampled=10)


@pytest.mark.slow
def test_planes_match_the_slow_version_along_hundreds_of_games():
    for seed in range(150):
        for fen in (START, PASSING, "4k2r/8/8/2pP4/8/8/8/R3K3 w Qk c6 7 1"):
            walk(load("chess").position(fen), seed, plies=400, sampled=6)


def test_the_usual_start_shows_one_board_and_other_first_positions_eight():
    start = load("chess").start().observe("classical")
    assert (load("chess").start().states["boards"][0, 0] == USUAL_START).all()
    assert start[:13].sum() == 32
    assert start[13:104].sum() == 0
    other = load("chess").position(START.replace("KQkq", "KQk")).observe("classical")
    assert [other[13 * slot : 13 * slot + 13].sum() for slot in range(8)] == [32] * 8
    assert (load("chess").position(START).observe() == start).all()


def test_auxiliary_planes_are_in_lc0s_order():
    planes = load("chess").position("r3k2r/8/8/8/8/8/8/R3K2R b Kq - 17 40").observe()
    assert [planes[plane].max() for plane in range(104, 112)] == [1, 0, 0, 1, 1, 17, 0, 1]
    assert (planes[104:].reshape(8, -1).min(1) == planes[104:].reshape(8, -1).max(1)).all()


def test_a_king_of_theirs_on_my_first_rank_does_not_move_my_castling_planes():
    planes = load("chess", chess960=0).position("8/8/8/8/8/8/8/k1NRK3 w D - 0 1").observe()
    assert [planes[plane].max() for plane in range(104, 108)] == [1, 0, 0, 0]


def test_black_sees_the_board_upside_down_but_not_mirrored():
    planes = load("chess").position("4k3/8/8/8/8/8/P7/4K3 b - - 0 1").observe()
    assert np.argwhere(planes[5]).tolist() == [[0, 4]]  # our king on e1
    assert np.argwhere(planes[11]).tolist() == [[7, 4]]
    assert np.argwhere(planes[6]).tolist() == [[6, 0]]  # their pawn on a7


def test_a_first_position_with_an_en_passant_square_shows_the_push_undone():
    position = load("chess").position(PASSING)
    for kind, boards in (("classical", 7), ("classical_empty", 1), ("classical_filled", 7)):
        planes = position.observe(kind)
        assert planes[6, 4, 4] == 1  # White's e-pawn, as Black sees it
        shown = [slot for slot in range(1, 8) if planes[13 * slot + 6, 6, 4] == 1 and planes[13 * slot + 6, 4, 4] == 0]
        assert shown == list(range(1, 1 + boards))


def test_the_repetition_plane_is_one_from_the_second_occurrence_on():
    position = load("chess").start()
    for move in ("g1f3", "g8f6", "f3g1"):
        position.play(move)
        assert position.observe()[12].max() == 0
    position.play("f6g8")
    planes = position.observe()
    assert planes[12].min() == 1
    assert [planes[13 * slot + 12].max() for slot in range(1, 8)] == [0] * 7
    position.play("g1f3")
    assert [position.observe()[13 * slot + 12].max() for slot in range(8)] == [1, 1, 0, 0, 0, 0, 0, 0]


def test_lc0_tells_a_marked_position_from_the_same_one_without_marker_where_the_laws_do_not():
    # The pawn that could take is pinned, so by the laws the positions are the same.
    position = load("chess").position("4k3/4r3/8/3pP3/8/8/8/4K3 w - d6 0 1")
    for move in ("e1e2", "e8f8", "e2e1", "f8e8"):
        position.play(move)
    assert position.key == load("chess").position("4k3/4r3/8/3pP3/8/8/8/4K3 w - - 0 1").key
    assert position.observe()[12].max() == 0
    for move in ("e1e2", "e8f8", "e2e1"):
        position.play(move)
    assert position.observe()[12].max() == 1
    position.play("f8e8")
    assert position.game.ending(position.state) == "third occurrence"
    assert position.observe()[12].max() == 1
