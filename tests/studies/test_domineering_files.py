"""Files of Domineering games: what is in them, and which are refused."""

from __future__ import annotations

import contextlib
import io
import json
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery import BadInput
from rookery.search.domineering_replay import opening_keys
from rookery.studies.domineering_files import (
    GameRecords,
    archive_of,
    joined,
    read_about,
    read_games,
    write_games,
)  # fmt: skip
from studies.domineering_samples import some_records, turned

pytestmark = pytest.mark.xdist_group("domineering")

ABOUT = {"phase": 1, "seed": 4}


@pytest.fixture
def records() -> GameRecords:
    return some_records(12, seed=4)


def save(path, **arrays) -> None:
    np.savez(path, **arrays)


def test_numpy_reads_a_file_without_pickle_as_the_plan_has_it(tmp_path, records):
    write_games(tmp_path / "games.npz", records, ABOUT)
    with np.load(tmp_path / "games.npz", allow_pickle=False) as stored:
        assert set(stored.files) == {"moves", "lengths", "winners", "explored"}
        assert (stored["moves"].dtype, stored["moves"].shape) == (np.int16, (12, 128))
        assert (stored["lengths"].dtype, stored["winners"].dtype) == (np.int16, np.bool_)
        for game in range(12):
            length = int(stored["lengths"][game])
            assert (stored["moves"][game, :length] >= 0).all()
            assert (stored["moves"][game, length:] == -1).all()
            last = int(stored["moves"][game, length - 1])
            assert stored["winners"][game] == (last < 240)  # who moved last has won


def test_what_is_written_is_read_again(tmp_path, records):
    write_games(tmp_path / "games.npz", records, ABOUT)
    found = read_games(tmp_path / "games.npz")
    for name, array in records.arrays().items():
        assert (found.arrays()[name] == array).all()
    about = read_about(tmp_path / "games.npz")
    assert (about["phase"], about["seed"], about["games"]) == (1, 4, 12)


def test_the_same_games_give_the_same_bytes(records):
    assert archive_of(records) == archive_of(joined([records[:5], records[5:]]))


def test_a_file_as_the_plan_has_it_needs_no_more(tmp_path, records):
    width = int(records.lengths.max())
    save(tmp_path / "plain.npz", moves=records.moves[:, :width], lengths=records.lengths, winners=records.winners)
    found = read_games(tmp_path / "plain.npz")
    assert (found.moves == records.moves).all()
    assert not found.explored.any()


def damaged(records: GameRecords, how: str) -> tuple[dict[str, np.ndarray], str]:
    """Return arrays in which game 7 is not as it should be, and what is said of it."""
    arrays = {name: array.copy() for name, array in records.arrays().items()}
    length = int(arrays["lengths"][7])
    if how == "winner":
        arrays["winners"][7] ^= True
        marked = "Vertical" if arrays["winners"][7] else "Horizontal"
        return arrays, f"game 7 is marked as won by {marked}, but its moves say otherwise"
    if how == "length too small":
        arrays["lengths"][7] -= 1
        return arrays, f"game 7 ends after {length - 1} moves though whose turn it is can move"
    if how == "length too great":
        arrays["lengths"][7] += 1
        return arrays, f"game 7 holds an illegal move, -1, at ply {length}"
    if how == "impossible length":
        arrays["lengths"][7] = 129
        return arrays, "game 7 has the length 129, with room for 128 moves"
    if how == "move twice":
        arrays["moves"][7, 10] = arrays["moves"][7, 8]
        return arrays, f"game 7 holds an illegal move, {arrays['moves'][7, 8]}, at ply 10"
    if how == "move of the other":
        arrays["moves"][7, 0] = 300
        return arrays, "game 7 holds an illegal move, 300, at ply 0"
    if how == "no move at all":
        arrays["moves"][7, 20] = 480
        return arrays, "game 7 holds an illegal move, 480, at ply 20"
    if how == "moves behind the end":
        arrays["moves"][7, length + 1] = 5
        return arrays, f"game 7 goes on behind its end, at ply {length + 1}"
    arrays["explored"][7, 127] = True
    return arrays, "game 7 goes on behind its end, at ply 127"


FAULTS = [
    "winner", "length too small", "length too great", "impossible length", "move twice", "move of the other",
    "no move at all", "moves behind the end", "marks behind the end",
]  # fmt: skip


@pytest.mark.parametrize("how", FAULTS)
def test_a_game_that_cannot_be_is_refused_by_file_and_number(tmp_path, records, how):
    arrays, complaint = damaged(records, how)
    save(tmp_path / "wrong.npz", **arrays)
    with pytest.raises(BadInput) as refused:
        read_games(tmp_path / "wrong.npz")
    assert str(refused.value) == f"{tmp_path / 'wrong.npz'}: {complaint}"


def test_games_cut_at_a_ply_are_refused(tmp_path, records):
    """A game that is cut so that its label fits again is still not over."""
    cut = records.moves[:, :100].copy()
    save(tmp_path / "cut.npz", moves=cut, lengths=np.full(12, 100, np.int16), winners=np.zeros(12, np.bool_))
    with pytest.raises(BadInput, match=r"cut.npz: game 0 ends after 100 moves"):
        read_games(tmp_path / "cut.npz")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"moves": np.zeros((12, 128), np.int32)}, "array moves is int32 of shape"),
        ({"moves": np.zeros((12, 129), np.int16)}, "array moves is int16 of shape"),
        ({"moves": np.zeros(12, np.int16)}, "array moves is int16 of shape"),
        ({"lengths": np.zeros(11, np.int16)}, "array lengths is int16 of shape"),
        ({"winners": np.zeros(12, np.uint8)}, "array winners is uint8 of shape"),
        ({"winners": np.array([None] * 12)}, "array winners holds Python objects"),
        ({"explored": np.zeros((12, 64), np.bool_)}, "array explored is bool of shape"),
    ],
)
def test_arrays_of_another_kind_are_refused(tmp_path, records, change, complaint):
    save(tmp_path / "wrong.npz", **(records.arrays() | change))
    with pytest.raises(BadInput, match=complaint) as refused:
        read_games(tmp_path / "wrong.npz")
    assert str(tmp_path / "wrong.npz") in str(refused.value)


def test_missing_arrays_and_files_are_named(tmp_path, records):
    save(tmp_path / "wrong.npz", moves=records.moves)
    with pytest.raises(BadInput, match=r"wrong.npz has no array lengths, winners"):
        read_games(tmp_path / "wrong.npz")
    with pytest.raises(BadInput, match=r"none.npz: there is no such file"):
        read_games(tmp_path / "none.npz")


def test_a_file_cut_off_anywhere_is_refused(tmp_path, records):
    content, path = archive_of(records), tmp_path / "cut.npz"
    for length in [0, 1, 100, len(content) // 2, len(content) - 1]:
        path.write_bytes(content[:length])
        with pytest.raises(BadInput, match=r"cut.npz is no file of games, or cut off"):
            read_games(path)


def test_an_array_that_claims_to_be_larger_than_it_is_is_refused(tmp_path, records):
    header = io.BytesIO()
    shape = (1 << 40, 128)
    np.lib.format.write_array_header_1_0(header, {"descr": "<i2", "fortran_order": False, "shape": shape})
    with zipfile.ZipFile(tmp_path / "large.npz", "w") as archive:
        archive.writestr("moves.npy", header.getvalue() + bytes(1000))
    with pytest.raises(BadInput, match="array moves should have 281474976710656 bytes, and has 1000"):
        read_games(tmp_path / "large.npz")


@given(place=st.floats(0, 1, exclude_max=True), flip=st.integers(1, 255))
def test_a_flipped_byte_is_refused_or_changes_no_game(tmp_path_factory, place, flip):
    records = some_records(2, seed=1)
    content = bytearray(archive_of(records))
    content[int(place * len(content))] ^= flip
    path = tmp_path_factory.mktemp("flipped") / "games.npz"
    path.write_bytes(content)
    with contextlib.suppress(BadInput):
        read = read_games(path)
        assert (read.moves == records.moves).all()
        assert (read.winners == records.winners).all()


def test_a_file_that_is_not_the_one_told_of_is_refused(tmp_path, records):
    path = tmp_path / "games.npz"
    write_games(path, records, ABOUT)
    path.write_bytes(archive_of(records[:11]))
    with pytest.raises(BadInput, match=r"games.npz is not the file that games.json tells of"):
        read_games(path)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"{", "does not tell how games were made"),
        (b"[]", "does not tell how games were made: its format should be"),
        (b'{"format": "rookery domineering games", "version": 2}', "is of version 2; this program reads version 1"),
        (b'{"format": "rookery domineering games", "version": 1}', "should tell the number of games"),
    ],
)
def test_settings_that_are_none_are_refused(tmp_path, records, content, complaint):
    write_games(tmp_path / "games.npz", records, ABOUT)
    (tmp_path / "games.json").write_bytes(content)
    with pytest.raises(BadInput, match=complaint) as refused:
        read_games(tmp_path / "games.npz")
    assert "games.json" in str(refused.value)


@pytest.mark.parametrize(
    ("label", "complaint"),
    [({"phase": 2}, "phase 1, but .* phase 2"), ({"rules_version": 99}, "rules_version"), ({"game": "pylos"}, "game")],
)
def test_a_file_that_is_mislabelled_is_refused(tmp_path, records, label, complaint):
    write_games(tmp_path / "phase1_games.npz", records, {"phase": 1} | label)
    with pytest.raises(BadInput, match=rf"phase1_games.npz should hold games with .*{complaint}"):
        read_games(tmp_path / "phase1_games.npz")


def test_a_folder_is_no_file_of_games(tmp_path):
    with pytest.raises(BadInput, match="cannot be read"):
        read_games(tmp_path)


def test_settings_are_json_that_people_read(tmp_path, records):
    write_games(tmp_path / "games.npz", records, {"phase": 1, "settings": {"explore": 30}})
    assert json.loads((tmp_path / "games.json").read_text())["settings"] == {"explore": 30}


# ---- games that begin alike ----------------------------------------------------------------------


def test_openings_have_the_key_of_their_mirror_images_and_no_other(records):
    keys = opening_keys(records.moves, 16)
    assert len(set(keys.tolist())) == 12
    for over_rows in (False, True):
        for over_cols in (False, True):
            assert (opening_keys(turned(records.moves, over_rows, over_cols), 16) == keys).all()


def test_the_key_of_an_opening_is_that_of_its_squares(records):
    keys = opening_keys(records.moves, 16)
    other_order = records.moves.copy()
    other_order[:, [0, 4]] = other_order[:, [4, 0]]
    assert (opening_keys(other_order, 16) == keys).all()
    later = records.moves.copy()
    later[:, 16:] = -1
    assert (opening_keys(later, 16) == keys).all()
    assert (opening_keys(records.moves, 18) != keys).all()
