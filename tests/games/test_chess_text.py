"""Chess positions and moves as text, and what is said about wrong ones."""

from __future__ import annotations

import re

import numpy as np
import pytest

from rookery import BadInput, load

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
EMPTY = "4k3/8/8/8/8/8/8/4K3 w - - 0 1"


def refused(call, *words: str) -> None:
    """Expect an error that names all the words."""
    with pytest.raises(BadInput) as error:
        call()
    for word in words:
        assert word in str(error.value), str(error.value)


# ---- positions -----------------------------------------------------------------------------------


def test_the_first_position_is_written_as_fen():
    assert load("chess").start().text() == START


def test_a_position_is_written_with_the_moves_that_matter_for_it():
    position = load("chess").start()
    for move in ("e4", "e5", "Nf3"):
        position.play(move)
    assert position.text() == START + " moves e2e4 e7e5 g1f3"
    assert position.game.fen(position.state) == "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2"


def test_moves_before_an_old_capture_are_left_out():
    position = load("chess").start()
    for move in ("e4", "d5", "exd5", "Nf6", "Nc3", "Nxd5", "Nf3", "Nc6", "Bb5", "Bd7", "Bc4", "Bc8"):
        position.play(move)
    moved = "rnbqkb1r/ppp1pppp/5n2/3P4/8/8/PPPP1PPP/RNBQKBNR w KQkq - 1 3"
    assert moved not in position.text()
    assert position.text().startswith(
        "rnbqkbnr/ppp1pppp/8/3P4/8/8/PPPP1PPP/RNBQKBNR b KQkq - 0 2 moves g8f6 b1c3 f6d5 "
    )
    position.play("Bb5")
    assert position.text().startswith("rnbqkb1r/ppp1pppp/8/3n4/8/2N5/PPPP1PPP/R1BQKBNR w KQkq - 0 4 moves g1f3 b8c6 ")


def test_startpos_and_four_fields_are_read():
    game = load("chess")
    assert game.position("startpos").text() == START
    assert game.position("startpos moves e2e4").text() == START + " moves e2e4"
    assert game.position(START.rsplit(" ", 2)[0]).text() == START
    assert load("chess", chess960=0).position("startpos").text().startswith("bbqnnrkr/")


def test_the_number_of_the_move_stops_at_the_largest_that_is_read():
    game = load("chess")
    position = game.position("4k3/8/8/8/8/8/8/4K2R b K - 0 9999")
    position.play("e8d8")
    assert game.fen(position.state) == "3k4/8/8/8/8/8/8/4K2R w K - 1 9999"
    assert game.position(game.fen(position.state)).text() == game.fen(position.state)
    assert game.position(position.text()).states.tobytes() == position.states.tobytes()


def test_moves_before_an_old_pawn_move_are_left_out_with_their_plies():
    position = load("chess").position("8/5k2/8/2pP4/8/8/1K6/8 w - c6 30 9")
    for move in ("Kb3", "Kf6", "Kb2", "Kf7", "d6", "Kf6", "Kb3", "Kf7", "Kb2", "Kf6", "Kb3", "Kf7", "Kb2"):
        position.play(move)
    assert position.text() == "8/5k2/3P4/2p5/8/8/1K6/8 b - - 0 11 moves f7f6 b2b3 f6f7 b3b2 f7f6 b2b3 f6f7 b3b2"


def test_a_repetition_survives_writing_and_reading():
    game = load("chess")
    position = game.start()
    for move in ("g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1"):
        position.play(move)
        position = game.position(position.text())
    position.play("f6g8")
    assert position.over


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1", "KQkq"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w AHkq - 0 1", "KQkq"),
        ("4k3/8/8/8/8/8/8/R1R1K1RR w GC - 0 1", "GC"),
        ("4k3/8/8/8/8/8/8/R1R1K1RR w KQ - 0 1", "KQ"),
        ("4k3/8/8/8/8/8/8/2R1K1R1 w CG - 0 1", "KQ"),
        ("1rk3r1/8/8/8/8/8/8/1RK3R1 b KQkq - 0 1", "KQkq"),
        ("1rk3r1/8/8/8/8/8/8/1RK3R1 b Bg - 0 1", "Qk"),
    ],
)
def test_castling_rights_are_read_as_x_fen_and_shredder_fen_and_written_as_x_fen(given, written):
    assert load("chess", chess960=0).position(given).text().split()[2] == written


def test_an_en_passant_square_is_believed_from_a_fen_and_set_by_a_move_only_beside_a_pawn():
    game = load("chess")
    alone = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1"
    assert game.position(alone).text() == alone
    assert game.fen(game.position("startpos moves e2e4").state).split()[3] == "-"
    beside = game.position("startpos moves e2e4 a7a6 e4e5 d7d5")
    assert game.fen(beside.state).split()[3] == "d6"
    assert "exd6" in [game.san(beside.state, int(action)) for action in beside.legal()]


@pytest.mark.parametrize(
    ("fen", "words"),
    [
        ("", ["''", "startpos", "4 to 6", "moves"]),
        ("moves e2e4", ["'moves e2e4'", "startpos", "4 to 6"]),
        ("e2e4", ["1 field;", "startpos", "moves"]),
        ("8/8/8 w", ["2 fields;", "4 to 6", "startpos", "moves"]),
        (START + " 1 2", ["8 fields"]),
        (START.replace("/8/8/8/8/", "/8/8/8/"), ["7 ranks", "needs 8"]),
        (START.replace("PPPPPPPP", "PPPPPPP"), ["rank 2", "'PPPPPPP'", "7 squares"]),
        (START.replace("/8/8/8/8/", "/8/9/8/8/"), ["'9'", "rank 5", "1-8"]),
        (START.replace("/8/8/8/8/", "/8/8/6xp/8/"), ["'x'", "rank 4", "pnbrqkPNBRQK"]),
        (START.replace("/8/8/8/8/", "/8/8/44p/8/"), ["rank 4", "9 squares"]),
        (START.replace("RNBQKBNR", "RNBQQBNR"), ["White has 0 kings"]),
        (START.replace("/8/8/8/8/", "/8/8/7k/8/"), ["Black has 2 kings"]),
        (START.replace("/8/8/8/8/", "/8/8/7P/8/"), ["White has 9 pawns", "at most 8"]),
        (START.replace("/8/8/8/8/", "/8/8/7q/8/"), ["Black has 8 pawns and 1 officer more"]),
        (START.replace("/8/8/8/8/", "/8/8/7R/8/"), ["White has 8 pawns and 1 officer more"]),
        (START.replace("/8/8/8/8/", "/8/8/7b/8/"), ["Black has 8 pawns and 1 officer more"]),
        (START.replace("/8/8/8/8/", "/8/8/6NN/8/"), ["White has 8 pawns and 2 officers more"]),
        (START.replace("/8/8/8/8/", "/8/8/7n/8/"), ["Black has 8 pawns and 1 officer more"]),
        ("P3k3/8/8/8/8/8/8/4K3 w - - 0 1", ["pawn on a8", "ranks 2 to 7"]),
        ("4k3/8/8/8/8/8/8/4K2p w - - 0 1", ["pawn on h1"]),
        (START.replace(" w ", " x "), ["field 2", "'x'", "w or b"]),
        (START.replace("KQkq", "KQxq"), ["'x'", "field 3", "KQkq"]),
        (START.replace("KQkq", "KK"), ["field 3", "twice"]),
        (EMPTY.replace(" w -", " w K"), ["castling 'K'", "rook on that side"]),
        (EMPTY.replace(" w -", " w H"), ["castling 'H'", "rook on h1"]),
        ("4k3/8/8/8/8/8/4K3/R7 w Q - 0 1", ["castling 'Q'", "White's king on his first rank"]),
        ("4k3/8/8/8/8/8/8/1R2K3 w Q - 0 1", ["rook on b1", "chess960"]),
        ("4k3/8/8/8/8/8/8/R2K4 w Q - 0 1", ["king on d1", "chess960"]),
        (START.replace(" - ", " e5 "), ["field 4", "rank 6", "'e5'"]),
        (START.replace(" - ", " e3 "), ["field 4", "rank 6", "'e3'"]),
        (START.replace(" - ", " e6 "), ["field 4", "e6", "from e7 to e5"]),
        ("4k3/8/8/3P4/8/8/8/4K3 w - e6 0 1", ["field 4", "e6", "from e7 to e5"]),
        ("4k3/8/8/3PP3/8/8/8/4K3 w - e6 0 1", ["field 4", "e6", "from e7 to e5"]),
        ("4k3/4p3/8/3Pp3/8/8/8/4K3 w - e6 0 1", ["field 4", "e6", "from e7 to e5"]),
        ("4k3/8/4n3/3Pp3/8/8/8/4K3 w - e6 0 1", ["field 4", "e6", "from e7 to e5"]),
        ("4k3/8/8/8/3pP3/4N3/8/4K3 b - e3 0 1", ["field 4", "e3", "from e2 to e4"]),
        (START.replace(" 0 1", " -1 1"), ["field 5", "'-1'", "0..9999"]),
        (START.replace(" 0 1", " 0 0"), ["field 6", "'0'", "1..9999"]),
        (START.replace(" 0 1", " x 1"), ["field 5", "'x'"]),
        ("4k3/8/8/8/8/8/8/4RK2 w - - 0 1", ["Black is in check but not to move"]),
        ("8/8/8/3kK3/8/8/8/8 w - - 0 1", ["in check but not to move"]),
        (START + " moves e2e5", ["move 1", "'e2e5'", "not legal"]),
        (START + " moves e2e4 e7e5 e9", ["move 3", "'e9'", "4p3"]),
        (
            "startpos moves e2e4 e7e5 Kd4",
            ["move 3", "'Kd4'", "SAN", "/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w"],
        ),
        ("startpos moves e2e4 e7e5 a1b4", ["move 3", "'a1b4'", "diagonals", "PPPP1PPP/RNBQKBNR w"]),
        ("startpos moves Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1 Ng8 Nf3", ["move 9", "'Nf3'", "over (third occurrence)"]),
        (START + " moves f2f3 e7e5 g2g4 d8h4 a2a3", ["move 5", "'a2a3'", "over (mate)"]),
    ],
)
def test_a_wrong_position_is_named_with_what_is_allowed(fen, words):
    refused(lambda: load("chess").position(fen), *words)


def test_a_wrong_option_is_named_with_what_is_allowed():
    refused(lambda: load("chess", chess960=960), "960", "-1..959")
    refused(lambda: load("chess:chess960=-2"), "-2", "-1..959")
    refused(lambda: load("chess:chess960=x"), "'x'", "whole number")
    refused(lambda: load("chess:size=8"), "size", "chess960")


# ---- moves ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fen", "uci", "san"),
    [
        (START, "g1f3", "Nf3"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1", "O-O"),
        ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "e8c8", "O-O-O"),
        ("4k3/8/8/8/8/2N5/8/4K1N1 w - - 0 1", "g1e2", "Nge2"),
        ("4k3/8/8/8/8/6N1/8/4K1N1 w - - 0 1", "g1e2", "N1e2"),
        ("1k6/8/8/8/4Q2Q/8/8/K6Q w - - 0 1", "h4e1", "Qh4e1"),
        ("1k6/8/8/8/8/8/4r3/R3K2R w - - 0 1", "e1e2", "Kxe2"),
        ("3r3k/4P3/8/8/8/8/8/K7 w - - 0 1", "e7d8q", "exd8=Q+"),
        ("3r4/4P1pk/5ppp/8/8/8/8/K7 w - - 0 1", "e7d8n", "exd8=N"),
        ("6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1", "e1e8", "Re8#"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", "exd6"),
        ("4k3/4r3/8/8/8/2N5/8/4K1N1 w - - 0 1", "c3e2", "Nce2"),
        ("4k3/8/8/8/1b6/2N5/8/4K1N1 w - - 0 1", "g1e2", "Ne2"),
    ],
)
def test_moves_are_written_and_read_in_uci_and_san(fen, uci, san):
    position = load("chess").position(fen)
    action = position.action(uci)
    assert action in position.legal()
    assert position.move_text(action) == uci
    assert position.game.san(position.state, action) == san
    assert position.action(san) == action
    assert position.action(san.rstrip("+#") + "!?") == action


def test_san_is_read_with_more_of_the_source_than_needed_and_with_zeros():
    game = load("chess")
    assert game.start().action("Ng1f3") == game.start().action("Ngf3") == game.start().action("Nf3")
    castling = game.position("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    assert castling.action("0-0") == castling.action("e1g1")
    assert castling.action("0-0-0") == castling.action("e1c1")
    assert game.position("7k/P7/8/8/8/8/8/7K w - - 0 1").action("a8Q") == 1792


@pytest.mark.parametrize("move", ["=e=4", "e=4", "=e4", "e4=", "N=f3", "Nf3=Q", "e4=Q"])
def test_an_equals_sign_is_read_only_before_a_promoted_piece(move):
    refused(lambda: load("chess").start().action(move), f"'{move}'", "SAN")
    promoting = load("chess").position("7k/P7/8/8/8/8/8/7K w - - 0 1")
    assert promoting.action("a8=R+") == promoting.action("a8R") == 1793
    refused(lambda: promoting.action("a=8Q"), "'a=8Q'")


def test_san_is_refused_for_moves_that_are_not_legal():
    game = load("chess")
    position = game.position("4k3/8/8/8/8/8/8/4K2R w - - 0 1")
    for text in ("e1e8", "e8d8", "h1g3"):
        action = game.parse_move(position.state, text)
        refused(lambda action=action: game.san(position.state, action), f"action {action}", "legal")
    for action in (-1, 1858):
        refused(lambda action=action: game.san(position.state, action), f"{action}", "0..1857")
    mated = game.position("startpos moves f2f3 e7e5 g2g4 d8h4")
    refused(lambda: game.san(mated.state, game.parse_move(mated.state, "a2a3")), "the game is over")


def test_castling_in_chess960_is_the_king_taking_his_rook():
    position = load("chess", chess960=0).position("4k3/8/8/8/8/8/8/1R3KR1 w KQ - 0 1")
    castling = {"f1g1": "O-O", "f1b1": "O-O-O"}
    assert castling.keys() <= set(position.moves())
    for move, san in castling.items():
        assert position.game.san(position.state, position.action(move)) == san
    position.play("f1b1")
    assert position.game.fen(position.state).startswith("4k3/8/8/8/8/8/8/2KR2R1 b")
    assert load("chess", chess960=518).start().text() == START


def test_the_way_of_the_king_means_castling_only_where_he_could_not_step_there():
    position = load("chess", chess960=0).position("4k3/8/8/8/8/8/8/R4K1R w KQ - 0 1")
    assert position.move_text(position.action("f1c1")) == "f1a1"
    assert position.move_text(position.action("f1g1")) == "f1g1"
    assert position.move_text(position.action("f1h1")) == "f1h1"


def test_a_way_of_a_king_that_cannot_castle_so_is_not_legal():
    game = load("chess", chess960=0)
    blocked = game.position("4k3/8/8/8/8/8/8/R1R1K3 w A - 0 1")  # a rook without the right where the king would go
    refused(lambda: blocked.play("e1c1"), "'e1c1'", "not legal")
    theirs = game.position("4k2r/8/8/8/8/8/8/4K3 w k - 0 1")
    refused(lambda: theirs.play("e8g8"), "'e8g8'", "not legal")


@pytest.mark.parametrize(
    ("move", "words"),
    [
        ("e2e5", ["'e2e5'", "not legal", "d2d4"]),
        ("e7e5", ["'e7e5'", "not legal"]),
        ("a1b4", ["'a1b4'", "ranks, files and diagonals"]),
        ("e2e2", ["'e2e2'", "ranks, files and diagonals"]),
        ("e2e4q", ["'e2e4q'", "no other move does"]),
        ("e2e9", ["'e2e9'", "UCI", "SAN", "legal: "]),
        ("Nd4", ["'Nd4'", "neither", "SAN"]),
        ("", ["''", "UCI"]),
    ],
)
def test_a_wrong_move_is_named_with_what_is_allowed(move, words):
    refused(lambda: load("chess").start().play(move), *words)


def test_wrong_promotions_are_named_with_what_is_allowed():
    position = load("chess").position("7k/P7/8/8/8/8/8/7K w - - 0 1")
    for move in ("a7a8", "a7a8k", "a7a8x"):
        refused(lambda move=move: position.play(move), f"'{move}'", "n, b, r or q")
    refused(lambda: position.play("a8"), "'a8'", "SAN")


def test_an_ambiguous_move_is_answered_with_its_meanings():
    position = load("chess").position("4k3/8/8/8/8/2N5/8/4K1N1 w - - 0 1")
    refused(lambda: position.play("Ne2"), "'Ne2'", "Nge2", "Nce2")


def test_no_move_is_read_after_the_end():
    position = load("chess").position("startpos moves f2f3 e7e5 g2g4 d8h4")
    refused(lambda: position.play("e2e4"), "'e2e4'", "over")
    refused(lambda: position.play("e4"), "'e4'", "over")


def test_the_board_is_drawn_from_whites_side():
    drawn = load("chess").position("startpos moves e2e4").draw().splitlines()
    assert drawn[0] == "8 r n b q k b n r"
    assert drawn[4] == "4 · · · · P · · ·"
    assert drawn[-1] == "  a b c d e f g h"


def test_texts_of_a_long_shuffling_game_keep_all_repetitions():
    game, rng = load("chess"), np.random.default_rng(1)
    position = game.position("4k2r/8/8/8/8/8/4P3/R3K3 w Qk - 0 1")
    longest = 0
    for _ in range(200):
        if position.over:
            break
        again = game.position(position.text())
        assert again.text() == position.text()
        assert (again.observe() == position.observe()).all()
        assert again.states["history"][0, : again.states["since"][0] + 1].tolist() == (
            position.states["history"][0, : position.states["since"][0] + 1].tolist()
        )
        longest = max(longest, len(re.findall(r"[a-h][1-8][a-h][1-8]", position.text())))
        position.play(int(rng.choice(position.legal())))
    assert longest > 20
