"""Chess against the rule book, python-chess and published counts."""

from __future__ import annotations

import chess as peer
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import chess_rulebook as book
from rookery import BadInput, load
from rookery.games import rules
from rookery.games.chess_lc0 import MOVES
from rookery.games.chess_text import ACTION_OF
from rookery.games.position import Position
from rookery.search.perft import perft
from rookery.search.playout import random_games

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
FEW_MEN = [  # random play repeats positions here
    "8/8/4k3/8/8/3R4/4K3/8 w - - 0 1",
    "4k2r/8/8/8/8/8/8/R3K3 w Qk - 0 1",
    "8/8/4k3/2b5/8/5B2/4K3/8 w - - 60 80",
    "8/5k2/8/2pP4/8/8/1K6/8 w - c6 0 1",
]
PUBLISHED = {
    START: [20, 400, 8902, 197281, 4865609],
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1": [48, 2039, 97862, 4085603],
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1": [14, 191, 2812, 43238, 674624],
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1": [6, 264, 9467, 422333],
    "r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1": [6, 264, 9467, 422333],
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8": [44, 1486, 62379, 2103487],
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10": [46, 2079, 89890, 3894594],
}
PUBLISHED_960 = {
    "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9": [21, 528, 12189, 326672],
    "2nnrbkr/p1qppppp/8/1ppb4/6PP/3PP3/PPP2P2/BQNNRBKR w HEhe - 1 9": [21, 807, 18002, 667366],
    "b1q1rrkb/pppppppp/3nn3/8/P7/1PPP4/4PPPP/BQNNRKRB w GE - 1 9": [20, 479, 10471, 273318],
    "qbbnnrkr/2pp2pp/p7/1p2pp2/8/P3PP2/1PPP1KPP/QBBNNR1R w hf - 0 9": [22, 593, 13440, 382958],
    "1nbbnrkr/p1p1ppp1/3p4/1p3P1p/3Pq2P/8/PPP1P1P1/QNBBNRKR w HFhf - 0 9": [28, 1120, 31058, 1171749],
}


def moves_of(position: Position, board: book.Board) -> list[book.Move]:
    """The legal moves in the rule book's form."""
    return sorted(book.move_of(board, MOVES[action]) for action in position.legal())


def ending_of(position: Position) -> str:
    return position.game.ending(position.state)


def choose(rng: np.random.Generator, position: Position, back: int | None) -> int:
    """A random legal action; often the given one, so that positions recur."""
    legal = position.legal().tolist()
    return back if back in legal and rng.random() < 0.6 else int(rng.choice(legal))


def compare_game(position: Position, slow: book.Game, seed: int, sampled: int, shuffle: bool = False) -> None:
    """Play a random game both ways; compare every `sampled`-th position, and each ply whether it is drawn."""
    rng = np.random.default_rng(seed)
    ply, turn = 0, position.mover
    last: dict[int, int] = {}
    while not position.over:
        if ply % sampled == seed % sampled:
            assert slow.ending() == ""
            assert moves_of(position, slow.board) == sorted(slow.board.legal()), position.text()
            assert (int(position.state["checkers"]) != 0) == slow.board.in_check(slow.board.white)
        action = choose(rng, position, last.get(position.mover) if shuffle else None)
        source, target, _ = MOVES[action]
        last[position.mover] = ACTION_OF[target, source, 0]
        rules.play(position.state, action)
        slow.play(book.move_of(slow.board, MOVES[action]))
        ply += 1
        assert position.over or slow.drawn() == ""
    assert ending_of(position) == slow.ending(), position.text()
    loser = 1 - (ply + turn) % 2 if ending_of(position) == "mate" else None
    assert position.payoff(0) == (0 if loser is None else 1 if loser == 0 else -1)


def test_random_games_match_the_rule_book():
    game = load("chess")
    for seed in range(16):
        compare_game(game.start(), book.game_from(START), seed, sampled=16)


@pytest.mark.parametrize("number", [0, 334, 700, 959])
def test_random_games_of_chess960_match_the_rule_book(number):
    game = load("chess", chess960=number)
    for seed in range(15):
        position = game.start()
        compare_game(position, book.game_from(position.text()), seed, sampled=12)


@pytest.mark.parametrize("fen", FEW_MEN)
def test_endgames_with_many_repetitions_match_the_rule_book(fen):
    for seed in range(15):
        compare_game(load("chess").position(fen), book.game_from(fen), seed, sampled=5, shuffle=True)


@pytest.mark.slow
def test_thousands_of_random_games_match_the_rule_book():
    game = load("chess")
    for seed in range(1000, 3000):
        compare_game(game.start(), book.game_from(START), seed, sampled=5, shuffle=seed % 3 == 0)


@pytest.mark.slow
def test_a_thousand_games_of_chess960_match_the_rule_book():
    for seed in range(1000):
        position = load("chess", chess960=seed % 960).start()
        compare_game(position, book.game_from(position.text()), seed, sampled=5, shuffle=seed % 3 == 0)


# ---- python-chess as a second opinion ------------------------------------------------------------


def peer_ending(board: peer.Board) -> str:
    if board.is_checkmate():
        return "mate"
    if board.is_stalemate():
        return "stalemate"
    if board.is_repetition(3):
        return "third occurrence"
    if board.is_fifty_moves():
        return "100 plies without capture or pawn move"
    return "too few men to mate" if board.is_insufficient_material() else ""


def compare_with_peer(position: Position, board: peer.Board, seed: int) -> float:
    """Play a random game in both packages; return White's result."""
    game = position.game
    rng = np.random.default_rng(seed)
    while not position.over:
        texts = position.moves()
        assert sorted(texts) == sorted(board.uci(move) for move in board.legal_moves), position.text()
        choice = int(rng.integers(len(texts)))
        move = board.parse_uci(texts[choice])
        san = board.san(move)
        action = int(position.legal()[choice])
        assert game.san(position.state, action) == san
        assert game.parse_move(position.state, san) == action
        position.play(action)
        board.push(move)
        assert game.fen(position.state) == board.fen(en_passant="xfen")
        assert ending_of(position) == peer_ending(board)
    outcome = board.outcome(claim_draw=True)
    assert outcome is not None
    assert position.payoff(0) == {peer.WHITE: 1, peer.BLACK: -1, None: 0}[outcome.winner]
    return position.payoff(0)


def test_random_games_match_python_chess():
    results = [compare_with_peer(load("chess").start(), peer.Board(), seed) for seed in (12, 16, 32)]
    assert results == [1, 0, -1]


def test_random_games_of_chess960_match_python_chess():
    results = []
    for seed, number in ((12, 7), (30, 7), (50, 307)):
        start = load("chess", chess960=number).start()
        results.append(compare_with_peer(start, peer.Board.from_chess960_pos(number), seed))
    assert results == [1, 0, -1]


@pytest.mark.slow
def test_hundreds_of_random_games_match_python_chess():
    for seed in range(1000, 1150):
        compare_with_peer(load("chess").start(), peer.Board(), seed)
        number = (seed * 7) % 960
        compare_with_peer(load("chess", chess960=number).start(), peer.Board.from_chess960_pos(number), seed)


def test_all_starting_positions_of_chess960_have_their_numbers():
    for number in range(960):
        position = load("chess", chess960=number).start()
        assert position.text() == peer.Board.from_chess960_pos(number).fen()


# ---- counts --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("fen", "counts"), PUBLISHED.items())
def test_published_move_counts(fen, counts):
    position = load("chess").position(fen)
    assert [sum(perft(position, depth).values()) for depth in range(1, len(counts) + 1)] == counts


@pytest.mark.parametrize(("fen", "counts"), PUBLISHED_960.items())
def test_published_move_counts_of_chess960(fen, counts):
    position = load("chess", chess960=0).position(fen)
    assert [sum(perft(position, depth).values()) for depth in range(1, len(counts) + 1)] == counts


@pytest.mark.slow
def test_move_counts_to_depth_six():
    assert sum(perft(load("chess").start(), 6).values()) == 119060324
    kiwipete = list(PUBLISHED)[1]
    assert sum(perft(load("chess").position(kiwipete), 5).values()) == 193690690


def test_castling_that_uncovers_the_king_along_the_rank_is_not_legal():
    # after c1 castles with b1, the rook on a1 would see the king
    game = load("chess", chess960=0)
    assert "c1b1" not in game.position("4k3/8/8/8/8/8/8/rRK5 w B - 0 1").moves()
    assert "c1b1" in game.position("r3k3/8/8/8/8/8/8/1RK5 w B - 0 1").moves()


def test_the_position_with_the_most_moves_fits():
    position = load("chess").position("R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1")
    assert len(position.legal()) == 218


# ---- the end -------------------------------------------------------------------------------------


def ending(fen: str) -> str:
    position = load("chess").position(fen)
    assert position.over == bool(ending_of(position))
    return ending_of(position)


def test_mate_comes_before_the_hundred_plies():
    assert ending("7k/5KQ1/8/8/8/8/8/8 b - - 100 80") == "mate"
    assert ending("7k/5K2/6Q1/8/8/8/8/8 b - - 100 80") == "stalemate"
    assert ending("7k/8/5K2/8/8/8/6Q1/8 b - - 100 80").startswith("100 plies")
    assert ending("7k/8/5K2/8/8/8/6Q1/8 b - - 99 80") == ""


def test_the_winner_is_who_mates():
    position = load("chess").start()
    for move in ("f3", "e5", "g4", "Qh4#"):
        position.play(move)
    assert ending_of(position) == "mate"
    assert (position.payoff(0), position.payoff(1)) == (-1, 1)


@pytest.mark.parametrize(
    ("placement", "dead"),
    [
        ("8/8/8/3k4/8/3K4/8/8", True),
        ("k7/8/8/8/8/3KN3/8/8", True),
        ("8/8/8/3k4/8/3KB3/8/8", True),
        ("8/8/8/1k4b1/8/4KB2/8/8", False),
        ("8/8/8/2bk4/8/3KB3/8/8", True),
        ("8/6b1/3B1b2/2bk4/8/3KB3/8/8", True),
        ("8/8/8/3kn3/8/3KB3/8/8", False),
        ("k3n3/8/8/8/8/3KN3/8/8", False),
        ("k7/8/8/8/8/3KNN2/8/8", False),
        ("8/8/8/3k4/8/3K3P/8/8", False),
        ("8/8/8/3k4/8/3K3R/8/8", False),
    ],
)
def test_too_few_men_to_mate(placement, dead):
    assert ending(f"{placement} w - - 0 1") == ("too few men to mate" if dead else "")


def test_the_third_occurrence_ends_the_game_and_the_second_does_not():
    position = load("chess").start()
    for move in ("g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1"):
        position.play(move)
    assert not position.over
    position.play("f6g8")
    assert ending_of(position) == "third occurrence"


def occurrences_after(fen: str, cycle: list[str]) -> int:
    """How many rounds of a cycle of moves are played before the game is drawn by the third occurrence."""
    position = load("chess").position(fen)
    for rounds in range(1, 5):
        for move in cycle:
            position.play(move)
            if position.over:
                assert ending_of(position) == "third occurrence"
                return rounds
    raise AssertionError("no third occurrence")


def test_an_en_passant_square_tells_positions_apart_only_if_the_capture_is_legal():
    kings = ["e1d1", "e8d8", "d1e1", "d8e8"]
    legal = "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1"
    assert occurrences_after(legal, kings) == 3
    assert occurrences_after(legal.replace("d6", "-"), kings) == 2
    pinned = "4k3/4r3/8/3pP3/8/8/8/4K3 w - d6 0 1"  # taking would uncover the king
    assert occurrences_after(pinned, ["e1e2", "e8f8", "e2e1", "f8e8"]) == 2


def test_lost_castling_rights_tell_positions_apart():
    cycle = ["h1g1", "h8g8", "g1h1", "g8h8"]
    assert occurrences_after("4k2r/8/8/8/8/8/8/4K2R w Kk - 0 1", cycle) == 3
    assert occurrences_after("4k2r/8/8/8/8/8/8/4K2R w - - 0 1", cycle) == 2


def test_random_play_does_not_depend_on_the_number_of_threads():
    one, two = (random_games(load("chess"), 200, 3, threads, 64) for threads in (1, 2))
    assert (one.keys == two.keys).all()
    assert (one.plies == two.plies).all()


# ---- odd positions -------------------------------------------------------------------------------

SQUARES = st.permutations(range(64))
OFFICERS = st.lists(st.sampled_from("QRBNqrbnPp"), max_size=12)


@st.composite
def fens(draw: st.DrawFn) -> str:
    """A placement of kings and some men, mostly not reachable; some pawns have just gone two squares."""
    squares = draw(SQUARES)
    men = ["."] * 64
    for man, square in zip(["K", "k", *draw(OFFICERS)], squares, strict=False):
        if man not in "Pp" or 8 <= square < 56:
            men[square] = man
    white = draw(st.booleans())
    passing = "-"
    if draw(st.booleans()):
        file = draw(st.integers(0, 7))
        origin, passed, pawn = ((48, 40, 32), (8, 16, 24))[not white]
        if men[origin + file] == men[passed + file] == "." and men[pawn + file] not in "Kk":
            men[pawn + file] = "p" if white else "P"
            passing = "abcdefgh"[file] + ("6" if white else "3")
            beside = pawn + file + draw(st.sampled_from((-1, 1)))
            if beside // 8 == pawn // 8 and men[beside] not in "Kk":
                men[beside] = "P" if white else "p"
    rooks = "".join(
        name if side == "K" else name.lower()
        for side, rook, first in (("K", "R", 0), ("k", "r", 56))
        if side in men[first : first + 8]
        for name in castling_names(men[first : first + 8], side, rook)
    )
    rows = "/".join("".join(men[8 * rank : 8 * rank + 8]) for rank in reversed(range(8)))
    for empty in range(8, 0, -1):
        rows = rows.replace("." * empty, str(empty))
    return f"{rows} {'w' if white else 'b'} {rooks or '-'} {passing} {draw(st.integers(0, 99))} 1"


def castling_names(rank: list[str], king: str, rook: str) -> list[str]:
    """The files of one rook on each side of the king."""
    at = rank.index(king)
    left = [file for file in range(at) if rank[file] == rook]
    right = [file for file in range(at + 1, 8) if rank[file] == rook]
    return ["ABCDEFGH"[files[0]] for files in (right, left) if files]


def too_many(board: book.Board) -> bool:
    """Whether a side has more men than promotions allow."""
    first = {"p": 0, "q": 1, "r": 2, "b": 2, "n": 2}
    counts = [{kind: board.men.count(kind), kind.upper(): board.men.count(kind.upper())} for kind in first]
    return any(
        sum(
            max(0, count[kind.upper() if white else kind] - first[kind])
            for kind, count in zip(first, counts, strict=True)
        )
        > 8
        for white in (True, False)
    )


@settings(max_examples=100)
@given(fen=fens())
def test_odd_positions_match_the_rule_book(fen):
    game = load("chess", chess960=0)
    board = book.read_fen(fen)
    if board.in_check(not board.white):
        with pytest.raises(BadInput, match=r"in check but not to move|officers? more"):
            game.position(fen)
        return
    assume(not too_many(board))
    position = game.position(fen)
    slow = book.game_from(fen)
    assert ending_of(position) == slow.ending()
    if position.over:
        return
    assert moves_of(position, board) == sorted(board.legal())
    asked = [action for action in range(game.actions) if rules.is_legal(position.state, action)]
    assert asked == position.legal().tolist()
    again = game.position(position.text())
    assert (again.text(), again.key) == (position.text(), position.key)
    for action in position.legal():
        after = position.copy()
        after.play(int(action))
        placement = game.fen(after.state).split()[0]
        assert book.read_fen(f"{placement} w - - 0 1").men == board.after(book.move_of(board, MOVES[action])).men
