"""How games begin."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest

from rookery.arena.chess_openings import CHESS_OPENINGS
from rookery.arena.openings import Opening, Openings, canonical_key, parse_moves, usual_openings
from rookery.errors import BadInput
from rookery.games.library import load
from support import CONNECT_FOUR


def drawn(spec, text, seed, number):
    return list(islice(Openings(load(spec), text, seed), number))


def signs(openings):
    return [(opening.start.text(), opening.moves) for opening in openings]


@pytest.mark.parametrize("spec", ["domineering:rows=5,cols=5", CONNECT_FOUR, "texas42"])
def test_openings_are_legal_distinct_and_not_over(spec):
    game = load(spec)
    openings = drawn(spec, None, 1, 60)
    assert len({opening.position().key for opening in openings}) == 60
    for opening in openings:
        assert not opening.position().over  # and every move was legal, or playing it would have failed
        assert len(opening.moves) == int(usual_openings(game).partition(":")[2])


@pytest.mark.parametrize("text", ["random:3", None])
def test_openings_are_the_same_for_one_seed_only(text):
    assert signs(drawn("texas42", text, 5, 10)) == signs(drawn("texas42", text, 5, 10))
    assert signs(drawn("texas42", text, 5, 10)) != signs(drawn("texas42", text, 6, 10))
    assert signs(drawn("texas42", text, 5, 20))[:10] == signs(drawn("texas42", text, 5, 10))


def test_mirror_images_are_one_opening():
    game = load(CONNECT_FOUR)
    left, right = (Opening(game.start(), moves) for moves in ((0, 1), (6, 5)))
    symmetries = game.symmetries()
    assert canonical_key(left, symmetries) == canonical_key(right, symmetries)
    assert len({canonical_key(o, symmetries) for o in drawn(CONNECT_FOUR, "random:2", 3, 25)}) == 25  # there are 28


def test_a_game_with_too_few_openings_repeats_them():
    openings = drawn("domineering:rows=3,cols=3", "random:1", 0, 40)  # a move at the edge, or one in the middle
    counts = Counter(canonical_key(opening, opening.start.game.symmetries()) for opening in openings)
    assert len(counts) == 2
    assert max(counts.values()) <= 24


def test_openings_longer_than_the_game_are_refused():
    with pytest.raises(BadInput, match="is over before the opening is"):
        drawn("domineering:rows=2,cols=2", "random:9", 0, 1)


@pytest.mark.parametrize("spec", ["gomoku", "gomoku:size=5", "gomoku:size=9,opening=swap2"])
def test_stones_are_put_in_the_middle(spec):
    game = load(spec)
    size = game.options["size"]
    for opening in drawn(spec, None, 2, 30):
        assert len(opening.moves) == 3
        for action in opening.moves:
            assert max(abs(coordinate - (size - 1) / 2) for coordinate in divmod(action, size)) <= 3


def test_the_book_of_chess_is_legal_and_distinct_and_goes_on_with_random_moves():
    openings = drawn("chess", "book", 4, len(CHESS_OPENINGS) + 5)
    assert len({opening.position().key for opening in openings}) == len(openings)
    first, again = openings[: len(CHESS_OPENINGS)], openings[len(CHESS_OPENINGS) :]
    assert signs(first) != signs(drawn("chess", "book", 5, len(first)))
    for longer, opening in zip(again, first, strict=False):
        assert longer.moves[: len(opening.moves)] == opening.moves
        assert len(longer.moves) == len(opening.moves) + 2


def test_a_file_holds_positions_and_moves(tmp_path):
    path = tmp_path / "openings.txt"
    path.write_text("# remarks\n\n 1 2 3\n4,4\n......./......./......./......./......./...x... \n")
    openings = drawn(CONNECT_FOUR, str(path), 0, 7)
    assert [opening.moves for opening in openings[:3]] == [(0, 1, 2), (3, 3), ()]
    assert openings[2].start.text().endswith("...x...")
    assert len({opening.position().key for opening in openings}) == 7  # from the fourth on with random moves after them


def test_moves_of_chess_may_be_numbered_as_in_a_book():
    game = load("chess")
    plain = parse_moves(game, "e4 e5 Nf3 Nc6")
    for text in ("1.e4 e5 2.Nf3 Nc6", "1. e4 e5 2. Nf3 Nc6", "1. e2e4 1... e7e5 2. g1f3 2... b8c6", "e4,e5,Nf3,Nc6"):
        assert parse_moves(game, text).moves == plain.moves


def test_boards_that_begin_with_a_hash_are_no_remarks(tmp_path):
    path = tmp_path / "openings.txt"
    path.write_text("# two boards\n#../#../... v\n###/.../... h\n")
    boards = drawn("domineering:rows=3,cols=3", str(path), 0, 2)
    assert len({board.position().key for board in boards}) == 2


def test_random_moves_follow_a_board_without_symmetry(tmp_path):
    path = tmp_path / "openings.txt"
    path.write_text("##.../#..../...../...../..... v\n")
    boards = drawn("domineering:rows=5,cols=5", str(path), 0, 400)
    assert len({board.position().key for board in boards}) == 400
    assert {len(board.moves) for board in boards} == {0, 2, 4}


def test_a_short_game_from_a_file_repeats_what_it_has(tmp_path):
    path = tmp_path / "openings.txt"
    path.write_text("###/#../... v\n")
    boards = drawn("domineering:rows=3,cols=3", str(path), 0, 30)
    assert all(not board.position().over for board in boards)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("9 9", "line 2 of .* is neither a position .* nor moves"),
        ("1 1 1 1 1 1 1", "line 2 of .* nor moves .*not legal"),
        ("x", "line 2 of"),
        ("1 2 1 2 1 2 1", "line 2 of .*: the game is over"),
    ],
)
def test_bad_lines_are_refused_by_file_and_number(tmp_path, line, complaint):
    path = tmp_path / "openings.txt"
    path.write_text(f"1\n{line}\n")
    with pytest.raises(BadInput, match=complaint) as caught:
        drawn(CONNECT_FOUR, str(path), 0, 1)
    assert str(path) in str(caught.value)


def test_a_position_with_hidden_hands_cannot_be_played(tmp_path):
    path = tmp_path / "openings.txt"
    path.write_text(load("texas42").start(1).seen_by(0).text())
    with pytest.raises(BadInput, match=r"line 1 of .* does not say what every seat holds"):
        drawn("texas42", str(path), 0, 1)


def test_useless_files_are_refused(tmp_path):
    for content, complaint in [(b"# nothing\n", "holds none"), (b"\xff\xfe\x00", "not text in UTF-8")]:
        (tmp_path / "f").write_bytes(content)
        with pytest.raises(BadInput, match=complaint):
            drawn("texas42", str(tmp_path / "f"), 0, 1)


@pytest.mark.parametrize(
    ("spec", "text", "complaint"),
    [
        (CONNECT_FOUR, "random:x", "should name a number of moves"),
        (CONNECT_FOUR, "random", "should name a number of moves"),
        (CONNECT_FOUR, "random:201", "should name a number of moves"),
        (CONNECT_FOUR, "centre:3", "are for gomoku"),
        (CONNECT_FOUR, "book", "are for chess"),
        ("gomoku", "centre:100", "the middle takes at most 24 stones"),
        ("chess:chess960=3", "book", "usual first position"),
        (CONNECT_FOUR, "/no/such/file", "nor a file: No such file"),
    ],
)
def test_wrong_texts_are_refused(spec, text, complaint):
    with pytest.raises(BadInput, match=complaint):
        drawn(spec, text, 0, 1)
