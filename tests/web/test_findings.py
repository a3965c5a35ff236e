"""What a search has found, as the page shows it."""

from __future__ import annotations

import pytest

from rookery.arena.marks import arrow, marks_of
from rookery.games.library import load
from rookery.games.pictures.scene import Scene
from rookery.nets.zoo import zoo_strength
from rookery.search.analysis import Analysis, Line
from rookery.web.findings import best_line, rows_of, value_for
from rookery.web.games import OFFERS
from rookery.web.opponents import found_by, opponents_for


def picture(position):
    return OFFERS[position.game.name].draw(Scene(position, position, (), position.mover))


def analysis(*lines, value=0.5):
    made = tuple(Line(action, worth, visits, moves=(action,)) for action, visits, worth in lines)
    return Analysis(made[0].action, value, made, 100)


def test_marks_are_discs_where_something_is_put_and_the_larger_the_likelier():
    position = load("gomoku:size=9").start()
    marks = marks_of(picture(position), analysis((40, 80, 0.5), (41, 20, -0.25)))
    spots = picture(position).spots
    assert [(mark["x"], mark["y"]) for mark in marks] == [(spots[40].x, spots[40].y), (spots[41].x, spots[41].y)]
    assert marks[0]["r"] > marks[1]["r"]
    assert [mark["text"] for mark in marks] == ["+.50", "-.25"]


def test_marks_are_arrows_where_something_moves():
    position = load("chess").start()
    (mark,) = marks_of(picture(position), analysis((position.action("e2e4"), 10, 0.1)))
    spots = picture(position).spots
    assert mark["arrow"].startswith("M")
    assert f"{spots[28].x:g} {spots[28].y:g}" in mark["arrow"]  # its tip lies on e4


def test_moves_that_are_not_legal_here_leave_no_mark():
    position = load("gomoku:size=9").start()
    position.play(40)
    assert marks_of(picture(position), analysis((40, 10, 0.0))) == []


def test_an_arrow_has_a_tip_at_its_target():
    points = [tuple(map(float, point.split())) for point in arrow((0, 0), (30, 40), 4)[1:-1].split("L")]
    assert max(points, key=lambda point: point[0] * 3 + point[1] * 4) == (30.0, 40.0)
    assert len(points) == 7


def test_a_value_is_told_from_the_side_of_the_team_of_the_seat():
    position = load("texas42").start(0)
    values = [value_for(position, analysis((0, 1, 0.0), value=0.5), seat) for seat in range(4)]
    own = position.mover % 2
    assert values == [0.5 if seat % 2 == own else -0.5 for seat in range(4)]


def test_rows_and_the_best_line_are_texts():
    position = load("gomoku:size=9").start()
    found = analysis((40, 75, 0.5), (0, 25, 0.1))
    assert [(row.move, row.share, row.visits) for row in rows_of(position, found)] == [
        ("E5", 0.75, 75),
        ("A1", 0.25, 25),
    ]
    assert best_line(position, found) == "E5"


@pytest.mark.parametrize("name", list(OFFERS))
def test_every_opponent_that_is_offered_without_networks_can_be_made(name):
    from rookery.arena.players import make_player

    for spec in OFFERS[name].variants.values():
        game = load(spec)
        opponents = opponents_for(game, with_networks=False)
        assert len({opponent.name for opponent in opponents}) == len(opponents)
        for opponent in opponents:
            assert 0 <= opponent.usual < len(opponent.levels)
            for level, text in enumerate(opponent.texts):
                assert make_player(text, game).name == text
                assert found_by(opponents, text) == (opponent, level)


def test_a_network_of_the_package_is_listed_with_the_strength_its_card_names():
    (network,) = [one for one in opponents_for(load("pylos")) if "(zoo)" in one.name]
    assert network.card == zoo_strength("pylos")
    assert not any(one.card for one in opponents_for(load("pylos"), with_networks=False))


def test_moves_of_chess_are_written_as_in_the_list_of_moves():
    position = load("chess").start()
    action = position.action("g1f3")
    found = Analysis(action, 0.1, (Line(action, 0.1, 5, moves=(action, action, action)),), 5)
    assert [row.move for row in rows_of(position, found)] == ["Nf3"]
    assert best_line(position, found) == "Nf3 Nf6"  # the third cannot be played, so the line ends before it
