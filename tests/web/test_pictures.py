"""Boards as pictures: every legal move can be made on them, and nothing else."""

from __future__ import annotations

from functools import cache
from xml.etree import ElementTree

import pytest

from rookery.drawing import sheet
from rookery.games.library import load
from rookery.games.pictures.scene import Picture, Scene, drawn
from rookery.web.games import OFFERS
from support import random_walk

ALL = [(name, spec) for name, offer in OFFERS.items() for spec in offer.variants.values()]
FEW = [(name, offer.spec) for name, offer in OFFERS.items()]


@cache
def pictures(name: str, spec: str, seed: int = 1) -> list[tuple[Scene, Picture]]:
    """Draw the positions of a random game, at most 60 of them, each as its mover sees it."""
    game, found, actions = load(spec), [], []
    start = game.start(seed)
    for position, action in random_walk(game, seed):
        seat = position.mover
        scene = Scene(position.seen_by(seat), start.seen_by(seat), tuple(actions), seat)
        found.append((scene, OFFERS[name].draw(scene)))
        if action is None or len(found) == 60:
            break
        actions.append(action)
    return found


@pytest.mark.parametrize(("name", "spec"), FEW)
def test_the_ways_of_a_picture_are_the_legal_moves(name, spec):
    for scene, picture in pictures(name, spec):
        assert sorted(way.action for way in picture.ways) == [int(action) for action in scene.position.legal()]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "spec"), ALL)
@pytest.mark.parametrize("seed", range(5))
def test_the_ways_of_every_variant_are_the_legal_moves(name, spec, seed):
    for scene, picture in pictures(name, spec, seed):
        assert sorted(way.action for way in picture.ways) == [int(action) for action in scene.position.legal()]


@pytest.mark.parametrize(("name", "spec"), FEW)
def test_different_moves_are_made_in_different_ways(name, spec):
    for _, picture in pictures(name, spec):
        shown = {(way.path, way.label) for way in picture.ways}
        assert len(shown) == len(picture.ways)
        assert all(way.path or way.label for way in picture.ways)
        assert all(0 <= spot < len(picture.spots) for way in picture.ways for spot in way.path)


@pytest.mark.parametrize(("name", "spec"), FEW)
def test_a_picture_is_whole_svg_and_all_its_symbols_are_defined(name, spec):
    for _, picture in pictures(name, spec)[::7]:
        tree = ElementTree.fromstring(sheet(picture.width, picture.height, drawn(picture)))
        defined = {element.get("id") for element in tree.iter() if element.get("id")}
        used = {man.symbol for man in picture.men} | {way.man.symbol for way in picture.ways if way.man}
        assert used <= defined


@pytest.mark.parametrize(("name", "spec"), FEW)
def test_everything_lies_inside_the_picture(name, spec):
    for _, picture in pictures(name, spec)[::7]:
        for thing in [*picture.men, *picture.spots]:
            assert 0 <= thing.x <= picture.width
            assert 0 <= thing.y <= picture.height


def test_spots_do_not_overlap():
    for name, spec in FEW:
        _, picture = pictures(name, spec)[0]
        for i, one in enumerate(picture.spots):
            for other in picture.spots[:i]:
                apart = abs(one.x - other.x) >= (one.width + other.width) / 2 - 1e-9
                assert apart or abs(one.y - other.y) >= (one.height + other.height) / 2 - 1e-9, (name, one, other)


def test_a_stone_is_drawn_where_its_coordinates_say():
    game = load("gomoku:size=9")
    position = game.start()
    position.play("C1")
    scene = Scene(position, game.start(), (2,), 0)
    picture = OFFERS["gomoku"].draw(scene)
    stone = next(man for man in picture.men if man.symbol == "gomoku-x")
    spot = next(spot for spot in picture.spots if spot.label == "C1, black, last move")
    assert (stone.x, stone.y) == (spot.x, spot.y)
    assert stone.y == max(other.y for other in picture.spots)  # row 1 is below
    assert sum(other.x < stone.x and other.y == stone.y for other in picture.spots) == 2


def test_dominoes_cover_the_squares_of_their_moves():
    game = load("domineering:rows=4,cols=4")
    position, actions = game.start(), []
    for move in ("a1-a2", "b1-c1"):
        actions.append(position.action(move))
        position.play(move)
    picture = OFFERS["domineering"].draw(Scene(position, game.start(), tuple(actions), 0))
    places = {spot.label: (spot.x, spot.y) for spot in picture.spots}
    upright, flat = (next(man for man in picture.men if man.symbol == f"domineering-{i}") for i in (0, 1))
    assert (upright.x, 2 * upright.y) == (places["a1, covered"][0], places["a1, covered"][1] + places["a2, covered"][1])
    assert (2 * flat.x, flat.y) == (places["b1, covered"][0] + places["c1, covered"][0], places["b1, covered"][1])


def test_squares_covered_before_the_first_move_are_drawn():
    game = load("domineering:rows=4,cols=4")
    position = game.position("..../.##./..../.... h")
    picture = OFFERS["domineering"].draw(Scene(position, position, (), 0))
    assert [man.symbol for man in picture.men] == ["domineering-covered"] * 2


def test_a_board_of_chess_has_the_viewer_below():
    game = load("chess")
    for viewer, king in ((0, "e1, white king"), (1, "e8, black king")):
        picture = OFFERS["chess"].draw(Scene(game.start(), game.start(), (), viewer))
        assert next(spot for spot in picture.spots if spot.label == king).y == max(spot.y for spot in picture.spots)


def test_a_promotion_asks_for_the_piece_the_queen_first():
    game = load("chess")
    position = game.position("8/P6k/8/8/8/8/8/K7 w - - 0 1")
    picture = OFFERS["chess"].draw(Scene(position, position, (), 0))
    ways = [way for way in picture.ways if way.path == (48, 56)]
    assert [way.label for way in ways] == ["Queen", "Rook", "Bishop", "Knight"]
    assert [position.move_text(way.action) for way in ways] == ["a7a8q", "a7a8r", "a7a8b", "a7a8n"]


def test_castling_is_made_by_the_kings_way_and_in_chess960_by_the_rook():
    for spec, target in (("chess", 6), ("chess:chess960=518", 7)):
        position = load(spec).position("4k3/8/8/8/8/8/8/4K2R w K - 0 1")
        picture = OFFERS["chess"].draw(Scene(position, position, (), 0))
        castling = position.action("O-O")
        assert next(way.path for way in picture.ways if way.action == castling) == (4, target)


def test_a_raise_of_pylos_names_the_sphere_and_its_goal():
    game = load("pylos")
    position = game.start()
    for move in ("1a1", "1b1", "1a2", "1b2", "1d4"):
        position.play(move)
    raises = {way.path for _, way in [(0, way) for way in picture_of_pylos(position).ways] if len(way.path) == 2}
    expected = {tuple(int(cell) for cell in path) for path in slow_raises(position)}
    assert raises == expected


def picture_of_pylos(position):
    return OFFERS["pylos"].draw(Scene(position, position, (), position.mover))


def slow_raises(position):
    """Read the raises from the texts of the legal moves."""
    from rookery.games.pylos_board import parse_cell

    return [tuple(parse_cell(cell) for cell in move.split("-")) for move in position.moves() if "-" in move]


def test_tiles_that_may_not_be_played_are_dimmed_not_hidden():
    seen_dimmed = False
    for scene, picture in pictures("texas42", "texas42"):
        if scene.position.over:
            continue
        dimmed = [spot.label for spot in picture.spots if "may not" in spot.label]
        assert len(picture.spots) == len(dimmed) + len(picture.ways)
        seen_dimmed |= bool(dimmed)
    assert seen_dimmed
