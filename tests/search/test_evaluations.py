"""What the games tell alpha-beta: evaluations, promises and forcing moves, against the plain meaning of each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rookery import BadInput, load
from rookery.games.position import Position
from rookery.games.texas42 import points
from rookery.search.alphabeta_walk import judged
from rookery.search.evaluations import (
    UNIT,
    ended_by_history,
    evaluate,
    forcing,
    playout_plies,
    promise,
    promise_unit,
    squashed,
    supplies,
)
from support import CONNECT_FOUR, SPECS, random_walk


def moves_of(position: Position, side: str) -> int:
    """Count the moves a side of Domineering would have if it were to move."""
    board = position.text().partition(" ")[0]
    return len(position.game.position(f"{board} {side}").legal())


def lead(position: Position) -> int:
    """Return the mover's moves minus the other's."""
    mine, theirs = "vh" if position.mover == 0 else "hv"
    return moves_of(position, mine) - moves_of(position, theirs)


@pytest.mark.parametrize("spec", ["domineering", "domineering:rows=5,cols=8"])
def test_domineering_counts_moves(spec):
    for position, action in random_walk(load(spec), 1):
        if action is not None:
            assert evaluate(position.state) == squashed(lead(position), 7)
            child = position.copy()
            child.play(action)
            assert promise(position.state, action) == -lead(child) - lead(position)


def test_squashing_keeps_the_order_and_the_bounds():
    leads = np.arange(-240, 241)
    values = [squashed(int(lead), 7) for lead in leads]
    assert values == sorted(set(values))
    assert values[0] == -values[-1] > -UNIT
    assert values[240 + 7] == UNIT // 2
    assert values[240] == 0


def test_pylos_counts_spheres_in_reserve():
    for position, action in random_walk(load("pylos"), 2):
        if action is not None:
            signs = "wb" if position.mover == 0 else "bw"
            on_board = [" ".join(position.text().split()[:4]).count(sign) for sign in signs]
            assert evaluate(position.state) == (on_board[1] - on_board[0]) * UNIT // 16


def test_texas42_counts_points_by_team():
    for position, action in random_walk(load("texas42"), 3):
        if action is not None:
            mine, theirs = points(position)[:: 1 if position.mover % 2 == 0 else -1]
            assert evaluate(position.state) == (mine - theirs) * UNIT // 42


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_evaluations_stay_inside_their_bounds_and_promises_too(spec):
    for position, action in random_walk(load(spec), 4):
        if action is not None:
            assert -UNIT < evaluate(position.state) < UNIT
            assert -1000 <= promise(position.state, action) <= 1000


# ---- chess ---------------------------------------------------------------------------------------


def mirrored(fen: str) -> str:
    """Turn the board and swap the colours."""
    board, side, castling, passant, *counters = fen.split()
    board = "/".join(reversed(board.split("/"))).swapcase()
    passant = passant if passant == "-" else passant[0] + str(9 - int(passant[1]))
    return " ".join([board, "wb"[side == "w"], castling.swapcase(), passant, *counters])


def test_chess_looks_the_same_to_both_sides():
    game = load("chess")
    for position, action in random_walk(game, 5):
        if action is not None:
            fen = game.fen(position.state)
            assert evaluate(game.position(mirrored(fen)).state) == evaluate(game.position(fen).state)


def test_chess_starts_even_and_a_man_more_is_better():
    game = load("chess")
    assert evaluate(game.start().state) == 0
    without = {"p": "rnbqkbnr/ppp1pppp", "n": "r1bqkbnr/pppppppp", "r": "1nbqkbnr/pppppppp", "q": "rnb1kbnr/pppppppp"}
    values = [evaluate(game.position(f"{top}/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1").state) for top in without.values()]
    assert values == sorted(values)
    assert values[0] > 0


def men(position: Position) -> tuple[int, int]:
    """Count the men and the pawns on the board."""
    board = position.game.fen(position.state).split()[0]  # type: ignore[attr-defined]
    return sum(sign.isalpha() for sign in board), board.lower().count("p")


def test_captures_and_promotions_are_forcing_and_promise_more_than_other_moves():
    found = 0
    walked = [position.copy() for position, action in random_walk(load("chess"), 0) if action is not None]
    for position in walked[::6]:
        out = np.empty(position.game.most_legal, np.int32)
        wanted = set()
        for move in position.legal():
            child = position.copy()
            child.play(int(move))
            if men(child)[0] < men(position)[0] or men(child)[1] < men(position)[1]:
                wanted.add(int(move))
        assert set(out[: forcing(position.state, out)].tolist()) == wanted
        assert all((promise(position.state, int(move)) > 0) == (int(move) in wanted) for move in position.legal())
        found += len(wanted)
    assert found > 20


def test_the_best_victim_and_the_least_attacker_come_first():
    position = load("chess").position("4k3/8/8/2q1r3/3P4/8/8/2R4K w - - 0 1")
    order = sorted(position.legal(), key=lambda action: -promise(position.state, int(action)))
    assert [position.move_text(int(action)) for action in order[:3]] == ["d4c5", "c1c5", "d4e5"]


def test_only_repetition_and_idleness_end_chess_by_history():
    game = load("chess")
    shuffled = game.position("startpos moves " + " ".join(["g1f3 g8f6 f3g1 f6g8"] * 2))
    assert shuffled.over
    assert ended_by_history(shuffled.state)
    mate = game.position("startpos moves f2f3 e7e5 g2g4 d8h4")
    assert mate.over
    assert not ended_by_history(mate.state)


def test_gomoku_counts_the_groups_of_the_side_to_move():
    game = load("gomoku")
    position = game.start()
    for move in ("H8", "A1", "H9", "C1", "H10", "E1"):
        position.play(move)
    black = evaluate(position.state)  # an open three
    assert black == UNIT * 6000 // 16000
    position.play("O15")
    assert evaluate(position.state) == -black
    assert evaluate(load("gomoku:opening=swap2").start().state) == 0


# ---- games from elsewhere ------------------------------------------------------------------------


def test_a_game_that_supplies_nothing_looks_even():
    position = load(CONNECT_FOUR).start()
    assert evaluate(position.state) == promise(position.state, 3) == promise_unit(position.state) == 0
    assert playout_plies(position.state) == 0
    assert forcing(position.state, np.empty(7, np.int32)) == 0
    assert not ended_by_history(position.state)


CENTRE = """

from rookery.search.evaluations import supplies


@supplies("evaluate", STATE)
def evaluate(state):
    return -1000 if state.stones[1 - state.connect_four_mover] & uint64(1 << 21) else 1000
"""


def test_a_game_from_a_path_may_supply_its_own(tmp_path: Path):
    path = tmp_path / "centred.py"
    path.write_text(
        Path(CONNECT_FOUR).read_text().replace("connect_four_mover", "centred_mover")
        + CENTRE.replace("connect_four", "centred")
    )
    position = load(str(path)).start()
    assert evaluate(position.state) == 1000
    position.play(3)
    assert judged(position.state) == -1000  # in compiled code, too


def test_what_no_search_asks_is_refused():
    game = load("pylos")
    with pytest.raises(BadInput, match=r"judge\(state\) is nothing a search asks; it asks evaluate\(state\)"):
        supplies("judge", game.state)(lambda state: 0)
    with pytest.raises(BadInput, match=r"evaluate\(x\) is nothing a search asks"):
        supplies("evaluate", game.state)(lambda x: 0)
    with pytest.raises(BadInput, match="a dtype without rules"):
        supplies("evaluate", np.dtype([("x", np.int32)]))(lambda state: 0)
