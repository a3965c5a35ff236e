"""Lc0's planes in all formats and fills, and its moves after turning the board, against the slow versions."""

from __future__ import annotations

import numpy as np
import pytest

import chess_rulebook as book
import lc0_planes as slow
from rookery import load
from rookery.games.chess_lc0 import MOVES
from rookery.games.chess_lc0_input import (
    FILLS,
    FORMATS,
    encode,
    moves_of,
    pairs_of,
    planes_of,
)
from rookery.games.chess_lc0_turns import reflected, turned_actions, turned_square, turned_word
from rookery.games.chess_text import ACTION_OF

pytestmark = pytest.mark.xdist_group("lc0_input")  # what is compiled and made is made once

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
FIRSTS = [
    START,
    "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3",
    "4k2r/8/8/2pP4/8/8/8/R3K3 w Qk c6 0 1",
    "4k2r/8/8/8/8/8/8/R3K3 w Qk - 9 30",
    "8/8/4k3/8/8/2N5/1K1R4/8 w - - 3 40",
    "8/8/3k4/8/8/8/1K1R1n2/8 b - - 3 40",
    "8/1b6/3k4/8/4K3/8/6Q1/1B6 w - - 0 40",
    "4k3/8/8/8/8/5p2/P7/1K6 w - - 7 40",
]


def same(position, game) -> None:
    for form in FORMATS:
        for number, fill in enumerate(FILLS):
            planes, turns = planes_of(position.states, form, number)
            wanted = slow.slow_planes(game, form, fill)
            assert (planes[0] == wanted).all(), (form, fill, position.text(), np.argwhere(planes[0] != wanted)[:5])
            assert turns[0] == (slow.canonical_turn(game.board) if form in slow.CANONICAL else 0)


def walk(position, seed: int, plies: int, sampled: int) -> set[int]:
    """Play at random, mostly taking moves back, compare all planes after each `sampled`-th ply; return the turns."""
    rng = np.random.default_rng(seed)
    game = book.game_from(position.text())
    back, turns = [-1, -1], set()
    for ply in range(plies):
        if ply < 3 or ply % sampled == 0:
            same(position, game)
        turns.add(int(planes_of(position.states, 3, 0)[1][0]))
        if position.over:
            break
        legal = position.legal().tolist()
        again = back[position.mover]
        action = again if again in legal and rng.random() < 0.7 else int(rng.choice(legal))
        source, target, _ = MOVES[action]
        back[position.mover] = ACTION_OF[target, source, 0]
        game.play(book.move_of(game.board, MOVES[action]))
        position.play(action)
    return turns


@pytest.mark.parametrize("fen", FIRSTS)
def test_planes_of_all_formats_match_the_slow_version(fen):
    for seed in range(3):
        walk(load("chess").position(fen), seed, plies=60, sampled=9)


def test_planes_of_chess960_match_the_slow_version():
    for seed in range(2):
        walk(load("chess", chess960=333 * seed).start(), seed, plies=60, sampled=9)


@pytest.mark.slow
def test_planes_of_all_formats_match_the_slow_version_along_many_games():
    turns = set()
    for seed in range(40):
        for fen in FIRSTS:
            turns |= walk(load("chess").position(fen), 100 + seed, plies=250, sampled=13)
    assert turns == set(range(8))


def test_repeated_positions_older_than_eight_plies_are_shown_in_the_second_canonical_format():
    # Two positions come about twice; then knights wander, so that these lie ever further back.
    position, game = load("chess").start(), book.game_from(START)
    shuffle = [
        "b1c3",
        "b8c6",
        "a1b1",
        "a8b8",
        "c3d5",
        "c6d4",
        "d5c3",
        "d4c6",
        "c3a4",
        "c6a5",
        "b1a1",
        "b8a8",
        "a1b1",
        "a8b8",
    ]
    shuffle += ["a4c5", "a5c4", "c5d3", "c4d6", "d3f4", "d6f5", "f4h5", "f5h4", "h5g3", "h4g6"]
    for move in shuffle:
        action = position.action(move)
        game.play(book.move_of(game.board, MOVES[action]))
        position.play(action)
        same(position, game)
    boards = slow.shown_boards(game, 5, "no")
    assert sum(repeated for _, repeated in boards) == 2
    assert position.state["plies"] > 16


def test_the_counter_is_shown_beyond_a_hundred_and_in_single_precision():
    position = load("chess").position("4k3/8/8/8/8/8/3R4/4K3 w - - 123 90")
    assert planes_of(position.states, 1, 0)[0][0, 109].tolist() == [[123.0] * 8] * 8
    assert planes_of(position.states, 4, 0)[0][0, 109, 3, 3] == np.float32(123) / np.float32(100)


def test_only_canonical_formats_with_armageddon_tell_black_by_plane_110():
    position = load("chess").position("4k3/8/8/8/8/8/4R3/4K3 b - - 0 1")
    shown = {form: planes_of(position.states, form, 0)[0][0] for form in FORMATS}
    assert [form for form in FORMATS if shown[form][108].any()] == [1, 2]
    assert [form for form in FORMATS if shown[form][110].all()] == [132, 133]
    assert not any(shown[form][110].any() for form in (1, 2, 3, 4, 5))


# ---- turning -------------------------------------------------------------------------------------


def test_sets_of_squares_are_turned_like_their_squares():
    rng = np.random.default_rng(3)
    for turn in range(8):
        for _ in range(20):
            squares = rng.choice(64, 12, replace=False)
            word = np.uint64(sum(1 << int(square) for square in squares))
            wanted = sum(1 << slow.turned(int(square), turn) for square in squares)
            assert int(turned_word(word, turn)) == wanted
            assert turned_square(int(squares[0]), turn) == slow.turned(int(squares[0]), turn)
    assert int(reflected(np.uint64(1 << 56))) == 1 << 56
    assert int(reflected(np.uint64(1))) == 1 << 63


def test_moves_are_turned_like_their_squares_and_back():
    table = turned_actions()
    for turn in range(8):
        for action, (source, target, kind) in enumerate(MOVES):
            wanted = (slow.turned(source, turn), slow.turned(target, turn), kind)
            assert table[turn, action] == ACTION_OF.get(wanted, -1)
    plain = range(1792)
    for turn in (0, 1, 2, 3, 4, 7):  # those that undo themselves
        assert (table[turn, table[turn, plain]] == plain).all()
    assert (table[6, table[5, plain]] == plain).all()
    assert (table[:2] >= 0).all()


def test_no_legal_move_is_lost_by_turning():
    rng = np.random.default_rng(5)
    chess = load("chess")
    for fen in FIRSTS:
        position = chess.position(fen)
        for _ in range(40):
            _, _, turns = pairs_of(position.states, 3, 0)
            actions, indices, counts = moves_of(position.states, turns, chess.most_legal)
            listed = actions[0, : counts[0]]
            if position.over:
                break
            assert listed.tolist() == position.legal().tolist()
            for action, index in zip(listed, indices[0, : counts[0]], strict=True):
                source, target, kind = MOVES[action]
                turn = int(turns[0])
                assert MOVES[index] == (slow.turned(source, turn), slow.turned(target, turn), kind)
            position.play(int(rng.choice(listed)))


def test_moves_of_drawn_positions_are_listed_and_of_mates_there_are_none():
    chess = load("chess")
    for fen, count in (("4k3/8/8/8/8/8/4R3/4K3 b - - 100 90", 4), ("8/8/4k3/8/8/8/8/K7 w - - 0 1", 3)):
        position = chess.position(fen)
        assert position.over
        assert moves_of(position.states, np.zeros(1, np.int32), chess.most_legal)[2][0] == count
    mate = chess.position("R3k3/8/4K3/8/8/8/8/8 b - - 0 1")
    assert moves_of(mate.states, np.zeros(1, np.int32), chess.most_legal)[2][0] == 0


# ---- batches -------------------------------------------------------------------------------------


def test_masks_and_values_make_the_planes_and_positions_of_a_batch_do_not_touch():
    chess, rng = load("chess"), np.random.default_rng(7)
    states = np.concatenate([chess.position(fen).states for fen in FIRSTS])
    for form in FORMATS:
        masks, values, turns = pairs_of(states, form, 0)
        planes, again = planes_of(states, form, 0)
        assert (turns == again).all()
        bits = (masks[:, :, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
        assert (planes.reshape(-1, 112, 64) == bits * values[:, :, None]).all()
        order = rng.permutation(len(states))
        assert (planes_of(states[order], form, 0)[0] == planes[order]).all()
        alone, value = np.full(112, 7, np.uint64), np.full(112, 7, np.float32)
        assert encode(states[4], form, 0, alone, value) == turns[4]
        assert (alone == masks[4]).all()


def test_the_classical_format_is_the_games_own_observation():
    chess = load("chess")
    kinds = dict(zip(FILLS, chess.observations, strict=True))
    for fen in FIRSTS:
        position = chess.position(fen)
        for number, fill in enumerate(FILLS):
            assert (planes_of(position.states, 1, number)[0][0] == position.observe(kinds[fill])).all()
