"""Positions of Texas 42 in files: what is answered, beside slow rules, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from games.slow_texas42 import ALL_TILES, HAND_22
from rookery import BadInput, load
from rookery.games import texas42
from rookery.search.solve.texas42 import Solver
from rookery.search.texas42_answers import answers, positions_in, read_position
from search.slow_expected import slow_q
from search.slow_worlds import slow_worlds
from search.test_worlds import played_to

GAME, SOLVER = load("texas42"), Solver()
KEYS = ["to_move", "legal", "voids", "points", "value", "q", "worlds", "marginals"]


def line_of(position, **changes):
    """The JSON line of a position."""
    given = {
        "hands": position.state["tiles"].tolist(),
        "declaration": int(position.state["declaration"]),
        "leader": int(position.state["opener"]),
        "plays": [list(play) for play in texas42.record(position)],
    }
    return json.dumps(given | changes)


def answer_to(line):
    return json.loads(json.dumps(answers([read_position(line, GAME)], SOLVER)[0]))


@pytest.mark.parametrize("seed", range(5))
def test_answers_are_those_of_the_slow_rules(seed):
    for plays in (18, 21, 22, 24, 27):
        position, slow = played_to(seed, plays)
        found, mover = answer_to(line_of(position)), slow.mover
        assert list(found) == KEYS
        assert found["to_move"] == mover
        mine = [ALL_TILES[tile] for tile in position.state["tiles"][mover]]
        assert found["legal"] == [slot for slot, tile in enumerate(mine) if tile in slow.legal()]
        assert found["voids"] == [sorted(suits) for suits in slow.voids]
        assert found["points"] == slow.points
        sign = 1 if mover % 2 == 0 else -1
        q = {tile: sign * worth for tile, worth in slow_q(slow, tuple(map(frozenset, slow.hands))).items()}
        assert found["q"] == [q.get(tile) for tile in mine]
        assert found["value"] == sign * max(sign * worth for worth in q.values())
        worlds = slow_worlds(slow, mover)
        assert found["worlds"] == len(worlds)
        shares = [[sum(tile in w[seat] for w in worlds) / len(worlds) for seat in range(4)] for tile in ALL_TILES]
        assert np.allclose(found["marginals"], shares)


def test_vector_26_exact_values_by_slot():
    found = answer_to(line_of(GAME.set_up(texas42.deal(42), 6, 0, HAND_22.split()[:16])))
    assert (found["to_move"], found["value"], found["points"]) == (1, -4, [1, 13])
    assert found["q"] == [None, None, None, None, -4, 6, -4]
    found = answer_to(line_of(GAME.set_up(texas42.deal(42), 6, 0, HAND_22.split()[:20])))
    assert (found["to_move"], found["value"], found["points"]) == (3, 12, [1, 29])
    assert [worth for worth in found["q"] if worth is not None] == [12, 12]


def test_a_finished_hand_has_nobody_to_move_and_one_world():
    found = answer_to(line_of(played_to(1, 28)[0]))
    assert (found["to_move"], found["legal"], found["value"], found["worlds"]) == (None, [], 0, 1)
    assert found["q"] == [None] * 7
    assert np.sum(found["marginals"]) == 0


def test_hidden_hands_leave_the_value_open():
    position = played_to(2, 9)[0]
    hands = [hand if seat == position.mover else None for seat, hand in enumerate(position.state["tiles"].tolist())]
    found, whole = answer_to(line_of(position, hands=hands)), answer_to(line_of(position))
    assert (found.pop("value"), found.pop("q")) == (None, [None] * 7)
    assert found.items() <= whole.items()
    lost = line_of(position, hands=[None] * 4)
    assert "is hidden" in str(answers([read_position(lost, GAME)], SOLVER)[0])


def test_a_position_is_read_as_it_was_written():
    for plays in (0, 6, 28):
        position = played_to(3, plays)[0]
        assert read_position(line_of(position), GAME).states.tobytes() == position.states.tobytes()


PLAYED = played_to(1, 5)[0]
SEATS = [seat for seat, _ in texas42.record(PLAYED)]
TILES = [tile for _, tile in texas42.record(PLAYED)]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("", "it is no JSON"),
        ("{", "it is no JSON"),
        ("[" * 100_000, "it is no JSON"),
        (b"\xff\xfe", "it is no JSON"),
        ("[1, 2]", "it should be an object with hands, declaration, leader, plays, not list"),
        ('{"hands": []}', "'declaration' is missing"),
        (line_of(PLAYED, bid=30), "'bid' is not known; it may hold hands, declaration, leader, plays"),
        (line_of(PLAYED, leader=4), "seat 4 should be one of 0..3"),
        (line_of(PLAYED, declaration=10), "10 is no declaration"),
        (line_of(PLAYED, declaration="1" * 5000), "1' is no declaration"),
        (line_of(PLAYED)[:-1] + ', "leader": 3}', "'leader' stands twice"),
        (line_of(PLAYED, hands=[[1, 2, 3]] * 4), "the hand of seat 0 has 3 tiles"),
        (line_of(PLAYED, hands=7), "hands must be a list, not 7"),
        (line_of(PLAYED, plays=7), "plays must be a list, not 7"),
        (line_of(PLAYED, plays=[3]), r"play 1 should be \[seat, tile\] with a seat in 0..3, not 3"),
        (line_of(PLAYED, plays=[[True, 3]]), r"play 1 should be \[seat, tile\]"),
        (line_of(PLAYED, plays=[[0.0, 3]]), r"play 1 should be \[seat, tile\]"),
        (line_of(PLAYED, plays=[["0", 3]]), r"play 1 should be \[seat, tile\]"),
        (line_of(PLAYED, plays=[[0, 28]]), "28 is no tile"),
        (line_of(PLAYED, plays=[[(SEATS[0] + 1) % 4, TILES[0]]]), f"it is the turn of seat {SEATS[0]}"),
        (line_of(PLAYED, plays=[[SEATS[0], TILES[1]]]), "play 1, .* is not legal"),
    ],
)
def test_a_line_that_is_wrong_is_refused(line, complaint):
    with pytest.raises(BadInput, match=complaint):
        read_position(line, GAME)


def test_a_complaint_names_file_and_line_and_the_other_lines_are_read(tmp_path):
    path = tmp_path / "hands.jsonl"
    path.write_text(f"{line_of(PLAYED)}\n\nnonsense\r\n{line_of(PLAYED)}\n")
    read = dict(positions_in(path, GAME))
    assert list(read) == [1, 3, 4]
    assert read[1].text() == read[4].text() == PLAYED.text()
    assert str(read[3]).startswith(f"{path}, line 3: it is no JSON")
    with pytest.raises(BadInput, match=f"positions '{tmp_path / 'none'}' cannot be read: No such file"):
        list(positions_in(tmp_path / "none", GAME))
    with pytest.raises(BadInput, match="cannot be read"):
        list(positions_in(tmp_path, GAME))


def test_only_a_line_feed_ends_a_line_of_json(tmp_path):
    path = tmp_path / "hands.jsonl"
    noted = line_of(PLAYED).replace('{"', '{"a\u2028\x85b": 1, "')
    path.write_bytes("\n".join([line_of(PLAYED).replace(", ", ",\r"), noted, line_of(PLAYED)]).encode())
    read = dict(positions_in(path, GAME))
    assert list(read) == [1, 2, 3]
    assert read[1].text() == read[3].text() == PLAYED.text()
    assert "is not known" in str(read[2])
