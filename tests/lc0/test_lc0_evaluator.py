"""Positions judged by Lc0's networks, against slow planes, slow networks and slow rules together."""

from __future__ import annotations

import json
import warnings
import xml.etree.ElementTree as ElementTree
from contextlib import nullcontext

import chess
import numpy as np
import pytest
import torch

import chess_rulebook as book
import lc0_planes
from lc0.broken import SIZES, stored_broken
from lc0.twins import twin_boards
from lc0_files import random_net
from nets.lc0.slow_lc0 import Slow, move_list
from nets.samples import on_one_thread
from rookery import BadInput, lc0, load
from rookery.games.chess_lc0_input import FORMATS, pairs_of, planes_of
from rookery.lc0.evaluator import planes_on
from rookery.lc0.pictures import board_svg
from rookery.lc0.positions import chess_game, position_of, read_lines
from rookery.nets.lc0.files import file_bytes

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
LINES = [
    (START, []),
    (START, ["e2e4", "c7c5", "g1f3", "d7d6", "d2d4", "c5d4", "f3d4", "g8f6", "b1c3", "a7a6"]),
    (START, ["g1f3", "g8f6", "f3g1", "f6g8", "e2e4"]),
    ("r3k2r/ppp1qppp/2n5/3pP3/8/8/PPPQ1PPP/R3K2R w KQkq d6 0 12", []),
    ("r3k2r/ppp1qppp/2n5/3pP3/8/8/PPPQ1PPP/R3K2R b KQkq - 4 12", ["e8c8"]),
    ("8/P1k5/8/8/8/8/2K4p/8 w - - 5 60", ["c2b3"]),
    ("8/8/4k3/8/8/2N5/1K1R4/8 w - - 3 40", ["c3b5", "e6f5"]),
    ("8/8/4k3/8/4K3/8/1n1R4/8 b - - 30 80", []),
]
NETS = [
    ("attention, dense, several heads", 1),
    ("squeezed tower, convolution policy", 2),
    ("attention, map", 3),
    ("mish tower, attention policy", 4),
    ("attention, dense, shared embedding", 5),
    ("plain tower, dense policy", 132),
    ("attention, policy encoders", 133),
]


@pytest.fixture(autouse=True)
def one_thread():
    with on_one_thread():
        yield


def stored(tmp_path, kind: str, form: int = 1, seed: int = 0):
    net = random_net(kind, seed, input_format=form)
    path = tmp_path / "net.pb.gz"
    path.write_bytes(file_bytes(net))
    return path, net


def played(fen: str, moves: list[str]) -> tuple[book.Game, chess.Board]:
    """The position in the rule book and in another program."""
    game, board = book.game_from(fen), chess.Board(fen)
    for text in moves:
        move = board.parse_uci(text)
        target = move.to_square
        if board.is_castling(move):
            target = move.to_square // 8 * 8 + (7 if move.to_square % 8 == 6 else 0)
        game.play((move.from_square, target, chess.piece_symbol(move.promotion) if move.promotion else ""))
        board.push(move)
    return game, board


def index_of(board: chess.Board, move: chess.Move, turn: int) -> int:
    """The index of a move by the four steps of the description."""
    source, target = move.from_square, move.to_square
    if board.is_castling(move):
        target = target // 8 * 8 + (7 if target % 8 == 6 else 0)
    if board.turn == chess.BLACK:
        source, target = source ^ 56, target ^ 56
    piece = chess.piece_symbol(move.promotion) if move.promotion else ""
    entry = (lc0_planes.turned(source, turn), lc0_planes.turned(target, turn), "" if piece == "n" else piece)
    return move_list().index(entry)


@pytest.mark.parametrize(("kind", "form"), NETS)
def test_evaluations_are_those_of_slow_planes_a_slow_network_and_other_rules(tmp_path, kind, form):
    path, net = stored(tmp_path, kind, form)
    slow = Slow(net)
    for fill in ("fen_only", "no", "always"):
        network = lc0.load(path, fill=fill)
        found = network.evaluate([{"fen": fen, "moves": moves} for fen, moves in LINES])
        for (fen, moves), one in zip(LINES, found, strict=True):
            game, board = played(fen, moves)
            logits, value, left = slow(lc0_planes.slow_planes(game, form, fill))
            chances = value if len(value) == 3 else [(1 + value[0]) / 2, 0, (1 - value[0]) / 2]
            assert abs(one.q - (chances[0] - chances[2])) < 1e-5
            assert abs(one.d - chances[1]) < 1e-5
            assert abs(one.m - left) < 1e-4
            np.testing.assert_allclose(one.wdl, chances, atol=1e-5)
            turn = lc0_planes.canonical_turn(game.board) if form in lc0_planes.CANONICAL else 0
            wanted = {move.uci(): index_of(board, move, turn) for move in board.legal_moves}
            assert {text: move.index for text, move in one.moves.items()} == wanted
            legal = np.array([logits[index] for index in wanted.values()])
            shares = np.exp(legal) / np.exp(legal).sum()
            for share, logit, text in zip(shares, legal, wanted, strict=True):
                assert abs(one.moves[text].logit - logit) < 1e-4
                assert abs(one.moves[text].p - share) < 1e-5


def test_moves_come_likeliest_first_and_temperature_flattens_them(tmp_path):
    network = lc0.load(stored(tmp_path, "attention, map")[0])
    sharp, flat = network.evaluate("startpos")[0], network.evaluate("startpos", temperature=5.0)[0]
    shares = [move.p for move in sharp.moves.values()]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1)
    assert next(iter(flat.moves.values())).p < shares[0]
    logits = np.array([move.logit for move in flat.moves.values()]) / 5
    np.testing.assert_allclose([move.p for move in flat.moves.values()], np.exp(logits) / np.exp(logits).sum())
    with pytest.raises(BadInput, match="temperature"):
        network.evaluate("startpos", temperature=0)


def test_at_the_least_temperature_the_likeliest_move_is_all_there_is(tmp_path):
    network = lc0.load(stored(tmp_path, "attention, map")[0])
    found = network.evaluate(["startpos"], temperature=5e-324)[0]
    assert [move.p for move in found.moves.values()] == [1.0] + [0.0] * 19


def test_answers_are_remembered_by_what_the_network_sees(tmp_path, monkeypatch):
    network = lc0.load(stored(tmp_path, "attention, dense, several heads")[0], batch=3)
    asked = []
    run = network.run
    monkeypatch.setattr(network, "run", lambda masks, values: asked.append(len(masks)) or run(masks, values))
    positions = [f"startpos moves {move}" for move in ("e2e4", "d2d4", "c2c4", "g1f3", "e2e4")]
    first = network.evaluate(positions)
    assert asked == [3, 1]
    assert network.evaluate(positions) == first
    assert asked == [3, 1]
    assert first[0] == first[4]
    network.clear()
    again = network.evaluate(positions)
    assert asked == [3, 1, 3, 1]
    assert again == first
    network.choose_heads("soft", "q")
    assert network.evaluate(positions)[0].q != first[0].q


@pytest.mark.parametrize("form", FORMATS)
def test_remembered_answers_are_those_of_the_board_asked_about_not_of_one_that_looks_the_same(tmp_path, form):
    path, _ = stored(tmp_path, "squeezed tower, convolution policy", form)
    remembering, forgetful = lc0.load(path), lc0.load(path, remembered=0)
    for twins in twin_boards():
        for twin in [*twins, *twins]:
            assert remembering.evaluate(twin) == forgetful.evaluate(twin)
    boards = sum(len(twins) for twins in twin_boards())
    assert len(remembering.remembered.kept) == (2 if form in (3, 4, 5) else 4 if form > 100 else boards)


@pytest.mark.parametrize("layer", SIZES)
def test_answers_that_are_no_numbers_are_refused_by_the_name_of_the_network(tmp_path, layer):
    network = lc0.load(stored_broken(tmp_path, layer))
    for _ in range(2):  # also when they are remembered
        with pytest.raises(BadInput, match=r"network '.*broken.pb.gz' answers with numbers that are not finite at 'r"):
            network.evaluate(["startpos", "startpos moves e2e4"])
    found = network.judge(chess_game().start().states, unsound=True)
    assert not np.isfinite([*found.logits[0], *found.chances[0], *found.q, *found.moves_left]).all()


def test_a_network_whose_numbers_do_not_fit_is_refused_with_the_remedy(tmp_path):
    path = stored_broken(tmp_path, "ip_emb_b", 60_000.0)
    assert lc0.load(path).evaluate("startpos")
    with pytest.raises(BadInput, match=r"do not fit into f16.*--precision f32"):
        lc0.load(path, precision="f16").evaluate("startpos")


def test_no_more_answers_are_remembered_than_asked_for(tmp_path):
    network = lc0.load(stored(tmp_path, "attention, map")[0], remembered=2)
    network.evaluate([f"startpos moves {move}" for move in ("e2e4", "d2d4", "c2c4")])
    assert len(network.remembered.kept) == 2
    none = lc0.load(stored(tmp_path, "attention, map")[0], remembered=0)
    none.evaluate("startpos")
    assert len(none.remembered.kept) == 0


def test_batches_of_any_size_answer_the_same(tmp_path):
    path, _ = stored(tmp_path, "attention, dense, several heads")
    positions = [{"fen": fen, "moves": moves} for fen, moves in LINES]
    whole = lc0.load(path, batch=100).evaluate(positions)
    parts = lc0.load(path, batch=3).evaluate(positions)
    for one, other in zip(whole, parts, strict=True):
        assert one.q == pytest.approx(other.q, abs=1e-6)
        assert {m: v.index for m, v in one.moves.items()} == {m: v.index for m, v in other.moves.items()}
    assert lc0.load(path).evaluate([]) == []


def test_mates_have_no_moves_and_drawn_positions_all_of_them(tmp_path):
    network = lc0.load(stored(tmp_path, "attention, map")[0])
    mate, drawn = network.evaluate(["R3k3/8/4K3/8/8/8/8/8 b - - 0 1", "8/8/4k3/8/8/8/8/K7 w - - 0 1"])
    assert mate.moves == {}
    assert set(drawn.moves) == {"a1a2", "a1b1", "a1b2"}


def test_moves_may_be_counted_from_0():
    given = {"fen": "4k3/8/8/8/8/8/4P3/4K3 w - - 7 0", "moves": ["e2e4"]}
    assert position_of(given, chess_game()).text() == "4k3/8/8/8/8/8/4P3/4K3 w - - 7 1 moves e2e4"


def test_lines_go_on_through_draws_that_nobody_claims():
    game = chess_game()
    back = ["g1f3", "g8f6", "f3g1", "f6g8"]
    position = position_of({"fen": "startpos", "moves": [*back, *back, *back, "e2e4"]}, game)
    assert not position.over
    assert game.fen(position.state).startswith("rnbqkbnr/pppppppp/8/8/4P3")
    position_of({"fen": "8/8/4k3/8/8/8/8/K7 w - - 0 1", "moves": ["a1a2", "e6e5"]}, game)
    with pytest.raises(BadInput, match=r"move 1 .'e8d8'. from .* the game is over .mate."):
        position_of("R3k3/8/4K3/8/8/8/8/8 b - - 0 1 moves e8d8", game)
    with pytest.raises(BadInput, match=r"move 101 .*the game is over"):
        position_of({"fen": "4k3/4r3/8/8/8/8/4R3/4K3 w - - 0 1", "moves": ["e1d1", "e8d8", "d1e1", "d8e8"] * 30}, game)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("startpos moves e2e5", "move 1 .'e2e5'. from 'startpos' is not legal"),
        ("startpos moves e2e4 hello", "move 2 from 'startpos'.*hello"),
        ("nonsense", "FEN 'nonsense' has 1 field"),
        ({"fen": 3}, "fen should be text, not 3"),
        ({"fen": "startpos", "moves": [1]}, "moves should be a list"),
        (7, "not 7"),
    ],
)
def test_bad_positions_are_told(given, message):
    with pytest.raises(BadInput, match=message):
        position_of(given, chess_game())


def test_positions_of_other_games_are_refused(tmp_path):
    with pytest.raises(BadInput, match="judges chess, not gomoku"):
        position_of(load("gomoku").start(), chess_game())


def test_files_of_positions_are_read_line_by_line(tmp_path):
    path = tmp_path / "positions.jsonl"
    path.write_text('{"fen": "startpos", "moves": ["e2e4"]}\n\n{"moves": "d2d4 d7d5"}\n')
    assert [position.text().split()[-1] for position in read_lines(path, chess_game())] == ["e2e4", "d7d5"]
    path.write_bytes(b"\xef\xbb\xbf" + b'{"moves": ["e2e4"]}\r\n')
    assert [position.text().split()[-1] for position in read_lines(path, chess_game())] == ["e2e4"]
    for bad, message in (
        ("{", "line 1 is no JSON"),
        ("[1]", "line 1 should be an object"),
        ('{"FEN": "8/8/4k3/8/8/3K4/8/1R6 w - - 0 1"}', "line 1: a position has fen or moves"),
        ('{"fen": "startpos", "moves": ["e2e5"]}', "line 1: move 1"),
    ):
        path.write_text(bad + "\n")
        with pytest.raises(BadInput, match=message):
            list(read_lines(path, chess_game()))
    with pytest.raises(BadInput, match="cannot be read"):
        list(read_lines(tmp_path / "none.jsonl", chess_game()))


def test_only_a_line_feed_ends_a_line_of_json(tmp_path):
    path = tmp_path / "positions.jsonl"
    strange = "a\u2028b\u2029c\x85d"  # which str.splitlines takes for ends of lines
    lines = [json.dumps({"moves": [move], "note": strange}, ensure_ascii=False) for move in ("e2e4", "d2d4")]
    lines[1] = lines[1].replace(", ", ",\r")
    path.write_bytes("\r\n".join([*lines, "{"]).encode())
    read = read_lines(path, chess_game())
    assert [next(read).text().split()[-1] for _ in range(2)] == ["e2e4", "d2d4"]
    with pytest.raises(BadInput, match="line 3 is no JSON"):
        next(read)


def test_chess960_castles_as_king_takes_rook(tmp_path):
    network = lc0.load(stored(tmp_path, "attention, map", form=2)[0])
    game = load("chess", chess960=0)
    position = game.position("k6r/8/8/8/8/8/8/1RK4R w HB - 0 1")
    moves = network.evaluate([position])[0].moves
    assert moves["c1h1"].index == move_list().index((2, 7, ""))
    assert moves["c1b1"].index == move_list().index((2, 1, ""))


def test_wrong_settings_are_told(tmp_path):
    path, _ = stored(tmp_path, "attention, map")
    for changes, message in (
        ({"device": "tpu"}, "device 'tpu' should be one of cpu, cuda, mps"),
        ({"precision": "f8"}, "precision 'f8' should be one of"),
        ({"batch": 0}, r"batch of a network must be a whole number in 1\.\.1048576, not 0"),
        ({"fill": "maybe"}, "fill 'maybe' should be one of"),
        ({"policy_head": "soft"}, "no policy head 'soft'.*vanilla"),
    ):
        with pytest.raises(BadInput, match=message):
            lc0.load(path, **changes)


def test_half_precision_is_near_single_precision(tmp_path):
    path, _ = stored(tmp_path, "attention, dense, several heads")
    exact, rounded = (lc0.load(path, precision=kind).evaluate("startpos")[0] for kind in ("f32", "bf16"))
    assert 0 < abs(exact.q - rounded.q) < 0.05


@pytest.mark.parametrize(
    ("device", "precision", "rounded"), [("cuda", "f32", False), ("cuda", "bf16", True), ("cpu", "f32", True)]
)
def test_a_card_rounds_nothing_while_it_is_to_be_exact_and_goes_on_as_before(
    tmp_path, monkeypatch, device, precision, rounded
):
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", True)
    network, seen = lc0.load(stored(tmp_path, "squeezed tower, convolution policy")[0], precision=precision), []
    assert torch.backends.cudnn.allow_tf32
    heads = network.heads

    def watched(planes):
        seen.append(torch.backends.cudnn.allow_tf32)
        return heads(planes)

    monkeypatch.setattr(network, "heads", watched)
    network.device = torch.device(device)  # all that is asked is where a pass would be made
    network.columns(torch.zeros(1, 112, 8, 8, dtype=network.dtype))
    assert seen == [rounded]
    assert torch.backends.cudnn.allow_tf32


@pytest.mark.parametrize(
    ("message", "heard"),
    [
        ("TensorFloat32 tensor cores for float32 matrix multiplication available but not enabled.", False),
        ("\nOnline softmax is disabled on the fly since Inductor decides to\nsplit the reduction.", False),
        ("something else is wrong", True),
    ],
)
def test_of_a_compilers_warnings_only_advice_is_not_passed_on(tmp_path, monkeypatch, message, heard):
    def compiled(heads, dynamic):
        def judged(planes):
            warnings.warn(message, stacklevel=1)
            return heads(planes)

        return judged

    monkeypatch.setattr(torch, "compile", compiled)
    network = lc0.load(stored(tmp_path, "squeezed tower, convolution policy")[0], compiled=True)
    with pytest.warns(UserWarning, match=message) if heard else nullcontext():
        network.evaluate(["startpos"])


def test_planes_made_on_a_device_are_those_made_here():
    states = np.concatenate([position_of({"fen": fen, "moves": moves}, chess_game()).states for fen, moves in LINES])
    for form in (1, 4):
        masks, values, _ = pairs_of(states, form, 0)
        words = torch.from_numpy(masks.view(np.int64))
        assert (planes_on(words, torch.from_numpy(values)).numpy() == planes_of(states, form, 0)[0]).all()


def test_a_picture_has_an_arrow_for_each_likely_move(tmp_path):
    network = lc0.load(stored(tmp_path, "attention, map")[0])
    position = load("chess").start()
    found = network.evaluate([position])[0]
    picture = ElementTree.fromstring(board_svg(position, found))
    shown = [title.text for title in picture.iter("{http://www.w3.org/2000/svg}title")]
    likely = [text for text, move in list(found.moves.items())[:8] if move.p >= 0.01]
    assert [text.split()[0] for text in shown] == likely
    men = [text for text in picture.iter("{http://www.w3.org/2000/svg}text") if text.text in "♔♕♖♗♘♙♚♛♜♝♞♟"]
    assert len(men) == 32


def test_a_drawn_position_is_drawn_with_its_arrows_and_castling_goes_to_the_rook(tmp_path):
    network = lc0.load(stored(tmp_path, "attention, map")[0])
    for fen in ("8/8/4k3/8/8/8/8/K7 w - - 0 1", "4k3/8/8/8/8/8/8/4K2R w K - 0 1"):
        position = chess_game().position(fen)
        found = network.evaluate([position])[0]
        assert board_svg(position, found).count("<polygon") == min(
            8, sum(move.p >= 0.01 for move in found.moves.values())
        )


def test_evaluations_can_be_written_as_json(tmp_path):
    from dataclasses import asdict

    found = lc0.load(stored(tmp_path, "attention, map")[0]).evaluate("startpos")[0]
    assert json.loads(json.dumps(asdict(found)))["moves"]["e2e4"]["index"] == 322
