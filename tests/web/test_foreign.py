"""Games in the forms of other programs, and in those in which games are kept."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest

from rookery.errors import BadInput
from rookery.games.library import load
from rookery.studies.domineering_files import archive_of, records_of
from rookery.web.foreign import LARGEST_ARCHIVE, brain_name
from rookery.web.loading import games_in, games_of
from rookery.web.session import GameSession, Plan
from rookery.web.store import Store

PSQ = "\r\n".join(
    [
        "Piskvorky 15x15, 11:11, 0", "8,8,0", "9,8,0", "8,9,1203", "9,9,54", "8,10,77", "9,10,81", "8,11,5",
        "9,11,6", "8,12,9", r"C:\brains\pbrain-rapfi.zip", "JAX25.zip", "-1", "0,Freestyle15_1", "",
    ]
)  # fmt: skip
HANDS = [[0, 3, 5, 7, 10, 14, 17], [2, 4, 18, 19, 21, 23, 25], [6, 9, 11, 15, 20, 22, 26], [1, 8, 12, 13, 16, 24, 27]]
HAND = {"hands": HANDS, "declaration": 0, "leader": 0, "plays": [[0, 14], [1, 19]]}


def archive(games, seed=3):
    """Return an archive of random games of Domineering."""
    game, chance = load("domineering"), np.random.default_rng(seed)
    moves = np.full((games, 128), -1, np.int16)
    lengths = np.zeros(games, np.int16)
    for row in moves:
        position, ply = game.start(), 0
        while not position.over:
            row[ply] = chance.choice(position.legal())
            position.play(int(row[ply]))
            ply += 1
    lengths[:] = (moves >= 0).sum(axis=1)
    explored = np.zeros(moves.shape, np.bool_)
    explored[:, :4] = True
    return records_of(moves, lengths, explored)


def test_a_game_of_gomocup_is_read_with_its_players_opening_and_winner():
    (found,) = games_in(PSQ)
    assert found.session.plan.spec == "gomoku"
    assert found.players == ("pbrain-rapfi", "JAX25")
    assert (found.opening, found.session.ply, found.score) == (2, 9, 1.0)
    # Column 8 and rows 8 to 12: five in a column, the one in the middle of the board first.
    assert found.session.texts[0] == "H8"
    assert {text[0] for text in found.session.texts[::2]} == {"H"}


@pytest.mark.parametrize(
    ("told", "size", "spec"),
    [("1,Renju", 15, "gomoku:rule=renju"), ("2,Standard_2", 15, "gomoku:rule=standard"), ("", 20, "gomoku:size=20")],
)
def test_a_file_of_piskvork_says_the_size_and_the_rule(told, size, spec):
    (found,) = games_in(f"Piskvorky {size}x{size}, 0:0, 1\n8,8,15\n9,8,3\n-1\n{told}\n")
    assert (found.session.plan.spec, found.score, found.opening) == (spec, None, 0)


def test_a_game_that_goes_on_after_six_in_a_row_was_played_by_the_standard_rule():
    lines = [f"{column},{row},7" for pair in zip(
        [(1, 1), (2, 1), (3, 1), (5, 1), (6, 1), (4, 1), (9, 9)],
        [(1, 3), (2, 3), (9, 4), (4, 8), (9, 6), (7, 7), (1, 9)], strict=True,
    ) for column, row in pair]  # fmt: skip
    (found,) = games_in("Piskvorky 15x15, 0:0, 1\n" + "\n".join(lines) + "\n-1\n")
    assert (found.session.plan.spec, found.session.ply) == ("gomoku:rule=standard", 14)


def test_names_of_brains_lose_folder_and_ending():
    assert brain_name(r"C:\a b\pbrain-x.exe") == "pbrain-x"
    assert brain_name("/home/y/pbrain-y.ZIP") == "pbrain-y"
    assert brain_name("Anna") == "Anna"


def test_the_games_of_an_archive_of_the_study_are_read():
    records = archive(3)
    found = games_of(archive_of(records))
    assert len(found) == 3
    for number, one in enumerate(found):
        length = int(records.lengths[number])
        assert one.session.actions == records.moves[number, :length].tolist()
        assert (one.score, one.opening) == (float(length % 2), 4)
        assert one.session.over


def test_an_archive_of_the_plan_alone_is_read():
    records, content = archive(1), io.BytesIO()
    np.savez_compressed(content, moves=records.moves[:, :120], lengths=records.lengths, winners=records.winners)
    (found,) = games_of(content.getvalue())
    assert (found.session.over, found.opening) == (True, 0)


def test_hands_of_texas_42_are_read_line_by_line():
    played = HAND | {"plays": []}
    first, second = games_of((json.dumps(HAND) + "\n\n" + json.dumps(played) + "\n").encode())
    assert (first.session.ply, second.session.ply) == (2, 0)
    assert first.session.position.mover == 2
    assert first.score is None


def test_only_a_line_feed_ends_a_line_of_json():
    spaced = json.dumps(HAND).replace(", ", ",\r")
    noted = json.dumps(HAND | {"note": "a\u2028b\x85c"}, ensure_ascii=False)
    assert len(games_of(f"{json.dumps(HAND)}\n{spaced}".encode())) == 2
    with pytest.raises(BadInput, match="line 2: 'note' is not known"):
        games_of(f"{json.dumps(HAND)}\n{noted}".encode())


def test_a_saved_game_is_read_from_its_file(tmp_path):
    session = GameSession(Plan("domineering:rows=8,cols=8", frozenset([0]), "greedy", 5), [0])
    store = Store(tmp_path)
    store.change(store.add("me", session))
    store.close()
    (file,) = tmp_path.glob("*.json")
    for content in (file.read_bytes(), json.dumps(session.to_json()).encode()):
        (found,) = games_of(content)
        assert (found.session.actions, found.players, found.score) == ([0], ("human", "greedy"), None)


def damaged(**changes):
    """Return an archive in which something is wrong."""
    arrays, content = archive(1).arrays() | changes, io.BytesIO()
    np.savez(content, **arrays)
    return content.getvalue()


def saved(**changes):
    """Return a saved game in which something is wrong."""
    return json.dumps(GameSession(Plan("gomoku", frozenset(), "")).to_json() | changes).encode()


WRONG = {
    "psq not square": lambda: b"Piskvorky 15x14, 0:0\n1,1,0",
    "psq too small": lambda: b"Piskvorky 3x3\n",
    "psq beside the board": lambda: b"Piskvorky 15x15\n16,1,0\n",
    "psq on a stone": lambda: b"Piskvorky 15x15\n1,1,0\n1,1,0\n",
    "archive of nothing": lambda: b"PK\x03\x04" + b"x" * 1000,
    "archive cut off": lambda: archive_of(archive(1))[:-200],
    "archive with a long game": lambda: damaged(lengths=np.array([300], np.int16)),
    "archive with a short game": lambda: damaged(lengths=np.array([-1], np.int16)),
    "archive with winners of other games": lambda: damaged(winners=np.array([True, False])),
    "archive with illegal moves": lambda: damaged(moves=np.zeros((1, 128), np.int16)),
    "archive of objects": lambda: damaged(moves=np.array([[object()] * 128], dtype=object)),
    "hidden hand": lambda: json.dumps(HAND | {"hands": [*HANDS[:3], None]}).encode(),
    "play of another seat": lambda: json.dumps(HAND | {"plays": [[1, 14]]}).encode(),
    "hand with more": lambda: json.dumps(HAND | {"more": 1}).encode(),
    "hands that are none": lambda: json.dumps(HAND | {"hands": 5}).encode(),
    "saved nothing": lambda: json.dumps({"session": {}}).encode(),
    "saved program": lambda: json.dumps({"session": {"game": "x.py", "actions": []}}).encode(),
    "saved illegal move": lambda: saved(actions=[999]),
    "saved endless game": lambda: saved(actions=[0] * 5000),
    "saved people": lambda: saved(people=7),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_game_is_refused_in_words(name):
    with pytest.raises(BadInput, match=r"[a-z]"):
        games_of(WRONG[name]())


def test_an_archive_that_grows_when_unpacked_is_refused():
    content = io.BytesIO()
    np.savez_compressed(content, moves=np.zeros((LARGEST_ARCHIVE // 256 + 1, 128), np.int16))
    assert len(content.getvalue()) < 1_000_000
    with pytest.raises(BadInput, match="when unpacked"):
        games_of(content.getvalue())
