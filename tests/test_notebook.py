"""What a notebook shows: well-formed pictures and tables that agree with what they show, without scripts."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from learn.support_runs import filled_run
from rookery.arena.looks import Look, look
from rookery.arena.matches import MatchSettings, play_match
from rookery.arena.players import make_player
from rookery.arena.ratings import fit
from rookery.drawing import table
from rookery.games.library import load
from rookery.games.texas42 import held
from rookery.nets.configs import ResidualConfig
from rookery.nets.residual import build
from rookery.search.analysis import Analysis, Line
from support import CONNECT_FOUR, random_walk

SVG = "{http://www.w3.org/2000/svg}"


def read(text: str) -> ElementTree.Element:
    """Read a picture or a table; whatever is not well formed, or could run, is refused."""
    tree = ElementTree.fromstring(text)
    for element in tree.iter():
        assert element.tag.removeprefix(SVG) not in ("script", "foreignObject", "iframe", "a", "image")
        assert not [name for name in element.attrib if name.startswith("on")]
        assert element.get("href", "#").startswith("#")
    return tree


def used(tree: ElementTree.Element, symbol: str) -> int:
    """Count the things of a symbol in a picture."""
    return sum(element.get("href") == f"#{symbol}" for element in tree.iter(f"{SVG}use"))


def cells(tree: ElementTree.Element) -> list[list[str]]:
    return [["".join(cell.itertext()) for cell in row] for row in tree.iter("tr")]


def walked(spec: str, plies: int):
    """Return a position some random moves after the first."""
    for ply, (position, _) in enumerate(random_walk(load(spec), 3)):
        if ply == plies:
            return position
    raise AssertionError("the game was shorter")


def test_gomoku_shows_every_stone():
    position = walked("gomoku:size=5", 7)
    tree, text = read(position._repr_svg_()), position.text().split()[0]
    assert (used(tree, "gomoku-x"), used(tree, "gomoku-o")) == (text.count("x"), text.count("o")) == (4, 3)


def test_domineering_shows_every_covered_square():
    position = walked("domineering:rows=4,cols=4", 3)
    assert used(read(position._repr_svg_()), "domineering-covered") == position.text().count("#") == 6


def test_chess_shows_every_man():
    position = load("chess").position("r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq - 0 1")
    tree = read(position._repr_svg_())
    shown = {man: used(tree, f"chess-{man}") for man in ("wk", "wr", "wp", "bk", "br", "bp", "wq")}
    assert shown == {"wk": 1, "wr": 2, "wp": 1, "bk": 1, "br": 2, "bp": 1, "wq": 0}


def test_pylos_shows_every_sphere_and_the_reserves():
    position = walked("pylos", 9)
    tree, text = read(position._repr_svg_()), position.text().rsplit(" ", 3)[0]
    for sign in "wb":
        assert used(tree, f"pylos-{sign}") == text.count(sign)
        assert used(tree, f"pylos-stock-{sign}") == 15 - text.count(sign)


def test_texas42_shows_the_movers_hand_and_no_other():
    position = load("texas42").start(5)
    tree, hands = read(position._repr_svg_()), held(position)
    shown = {tile for tile in range(28) if used(tree, f"texas42-{tile}")}
    assert shown == set(hands[position.mover])
    assert used(tree, "texas42-back") == 21


def test_a_game_without_a_picture_shows_its_drawing():
    position = load(CONNECT_FOUR).start()
    position.play(3)
    lines = ["".join(element.itertext()) for element in read(position._repr_svg_()).iter(f"{SVG}text")]
    assert lines == position.draw().splitlines()


def test_every_position_of_a_game_can_be_shown():
    for spec in ("gomoku:size=5", "pylos", "texas42", "domineering:rows=4,cols=4"):
        for position, _ in random_walk(load(spec), 1):
            read(position._repr_svg_())


def test_an_analysis_is_a_table_of_its_moves():
    found = Analysis(4, 0.5, (Line(4, 0.5, 30, 0.25), Line(2, -0.5, 10)), 40, note="full <b>")
    tree = read(found._repr_html_())
    assert cells(tree)[1:] == [["4", "+0.500", "30", "25.0%"], ["2", "-0.500", "10", ""]]
    assert "full <b>" in "".join(tree.itertext())


def test_a_look_marks_the_moves_on_the_board():
    position = load("gomoku:size=5").start()
    lines = (Line(12, 0.5, 80, moves=(12,)), Line(6, 0.1, 20, moves=(6,)))
    shown = read(Look(position, "<mcts>", "C3", Analysis(12, 0.5, lines, 100))._repr_html_())
    discs = [element for element in shown.iter(f"{SVG}circle") if element.get("class") == "mark"]
    assert len(discs) == 2
    assert [row[:4] for row in cells(shown)[1:]] == [["C3", "80.0%", "+0.500", "80"], ["B2", "20.0%", "+0.100", "20"]]
    assert "<mcts> plays C3" in "".join(shown.itertext())


def test_a_look_at_chess_draws_arrows():
    position = load("chess").start()
    action = position.action("e2e4")
    found = Analysis(action, 0.1, (Line(action, 0.1, 9, moves=(action,)),), 9)
    shown = read(Look(position, "any", "e2e4", found)._repr_html_())
    assert len([element for element in shown.iter(f"{SVG}path") if element.get("class") == "mark"]) == 1


def test_a_player_that_says_nothing_is_shown_with_its_move():
    shown = look(load("domineering:rows=4,cols=4").start(), "random", seed=3)
    assert shown.analysis is None
    assert cells(read(shown._repr_html_()))[1] == ["random", shown.move]


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["pylos", "chess", "gomoku:size=9", "domineering:rows=6,cols=6"])
def test_a_search_is_looked_at(spec):
    found = look(load(spec).start(), "mcts:sims=50")
    assert read(found._repr_html_())
    assert found.move in [row[0] for row in cells(read(found._repr_html_()))[1:]]


def test_a_network_is_a_table_of_its_layers():
    network = build(ResidualConfig(inputs=10, actions=7, width=8, blocks=2, value_hidden=4, policy_hidden=6), seed=1)
    rows = cells(read(network._repr_html_()))
    assert sum(int(row[-1].replace(",", "")) for row in rows[1:]) == network.weights
    assert any(row[2].startswith("8 x 10") for row in rows[1:])


def test_a_match_is_a_table_with_its_interval():
    game = load("domineering:rows=4,cols=4")
    match = play_match(
        game, lambda: make_player("random", game), lambda: make_player("greedy", game), MatchSettings(games=8, seed=1)
    )
    tree = read(match._repr_html_())
    first, second = cells(tree)[1:]
    assert [int(part) for part in first[1:4]] == [match.score.wins, match.score.draws, match.score.losses]
    assert (first[0], second[0]) == match.names
    assert len(list(tree.iter(f"{SVG}circle"))) == 1


def test_ratings_are_drawn_in_order_with_their_intervals():
    name = "<script>alert(1)</script>"
    ratings = fit([("random", "greedy", 0.0, 8), ("greedy", "random", 0.0, 2), (name, "random", 1.0, 3)])
    tree = read(ratings._repr_html_())
    assert [row[0] for row in cells(tree)[1:]] == [rating.player for rating in ratings.ratings]
    middles = [float(circle.get("cx")) for circle in tree.iter(f"{SVG}circle")]
    assert middles == sorted(middles, reverse=True)
    assert len(middles) == 3


def test_a_run_shows_its_losses(tmp_path):
    run = filled_run(tmp_path / "run", games=30, elo=120.0)
    tree = read(run._repr_html_())
    titles = ["".join(element.itertext()) for element in tree.iter(f"{SVG}text")]
    assert {"value loss", "policy loss"} <= set(titles)
    assert ["game", "pylos"] in cells(tree)


def test_columns_of_numbers_stand_to_the_right_and_texts_to_the_left():
    tree = read(table(("move", "share", "error", "line"), [("D1", "20.5%", "±3", "D1 B1"), ("I2", "7 %", "", "I2 A1")]))
    for row in tree.iter("tr"):
        sides = [cell.get("style").partition("text-align:")[2].partition(";")[0] for cell in row]
        assert sides == ["left", "right", "right", "left"]
