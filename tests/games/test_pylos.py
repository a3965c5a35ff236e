"""Pylos against the rules read sphere by sphere, and the values of its fact sheet."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery import BadInput, load
from rookery.games.pylos_board import PLACES, cell_of, cell_symmetries, lines, raise_pairs, squares
from rookery.search.playout import random_games
from support import random_walk

LEVELS = range(4)


class SlowPylos:
    """The rules as the box tells them: a dictionary from (level, row, column) to the owner of the sphere there."""

    def __init__(self, rules: str = "mature", removal: str = "choice", ply_cap: int = 200, repetition_cap: int = 0):
        self.rules, self.removal, self.ply_cap, self.repetition_cap = rules, removal, ply_cap, repetition_cap
        self.pyramid: dict[tuple[int, int, int], int] = {}
        self.player = 0
        self.to_take = 0  # spheres that may still be taken back
        self.taken = 0
        self.seen: list[object] = []
        self.winner: int | None = None
        self.drawn = False

    def supports(self, place):
        level, row, col = place
        return [(level - 1, row + r, col + c) for r in (0, 1) for c in (0, 1)] if level else []

    def can_hold(self, place) -> bool:
        return place not in self.pyramid and all(below in self.pyramid for below in self.supports(place))

    def is_free(self, place) -> bool:
        return not any(place in self.supports(other) for other in self.pyramid)

    def own_free(self):
        return [p for p in PLACES if self.pyramid.get(p) == self.player and self.is_free(p)]

    def reserve(self, player: int) -> int:
        return 15 - list(self.pyramid.values()).count(player)

    def placements(self):
        return [p for p in PLACES if self.can_hold(p)] if self.reserve(self.player) else []

    def raises(self):
        found = []
        for source in self.own_free():
            without = SlowPylos()
            without.pyramid = {p: owner for p, owner in self.pyramid.items() if p != source}
            found += [(source, p) for p in PLACES if p[0] > source[0] and without.can_hold(p)]
        return found

    def moves(self) -> dict[int, tuple]:
        """Action -> what it does."""
        if self.winner is not None or self.drawn:
            return {}
        if self.to_take:
            moves = {PLACES.index(p): ("take", p) for p in self.own_free()}
            return moves | ({302: ("stop",)} if self.taken else {})
        pairs = [(PLACES[s], PLACES[d]) for s, d in raise_pairs()]
        moves = {PLACES.index(p): ("place", p) for p in self.placements()}
        return moves | {30 + pairs.index(pair): ("raise", *pair) for pair in self.raises()}

    def completes(self, place) -> bool:
        level, row, col = place

        def owned(places):
            return all(self.pyramid.get(p) == self.player for p in places)

        in_squares = [
            [(level, top + r, left + c) for r in (0, 1) for c in (0, 1)]
            for top in (row - 1, row)
            for left in (col - 1, col)
        ]
        size = 4 - level
        in_lines = [[(level, row, c) for c in range(size)], [(level, r, col) for r in range(size)]] if level < 2 else []
        shapes = {"children": [], "standard": in_squares, "mature": in_squares + in_lines}[self.rules]
        return any(owned(shape) for shape in shapes)

    def play(self, action: int) -> None:
        kind, *places = self.moves()[action]
        if kind == "take":
            del self.pyramid[places[0]]
            self.to_take, self.taken = self.to_take - 1, self.taken + 1
            if not self.to_take or not self.own_free():
                self.end_turn()
        elif kind == "stop":
            self.end_turn()
        else:
            if kind == "raise":
                del self.pyramid[places[0]]
            self.pyramid[places[-1]] = self.player
            if not self.completes(places[-1]):
                self.end_turn()
            elif self.removal == "choice":
                self.to_take = 2
            else:
                for _ in range(2):
                    if self.own_free():
                        del self.pyramid[self.own_free()[0]]
                self.end_turn()

    def end_turn(self) -> None:
        self.to_take = self.taken = 0
        self.player = 1 - self.player
        here = (tuple(sorted(self.pyramid.items())), self.player)
        self.seen.append(here)
        if (3, 0, 0) in self.pyramid:
            self.winner = self.pyramid[3, 0, 0]
        elif not self.moves():
            self.winner = 1 - self.player
        elif len(self.seen) >= self.ply_cap or (self.repetition_cap and self.seen.count(here) >= self.repetition_cap):
            self.drawn = True

    def rich(self) -> list[float]:
        own = [{self.player: 1.0, None: 0.0}.get(self.pyramid.get(p), -1.0) for p in PLACES]
        supported = [float(all(below in self.pyramid for below in self.supports(p))) for p in PLACES]
        if self.to_take:
            supported[:16] = [0.5 if self.taken else 0.0] * 16
        free = [float(p in self.pyramid and self.is_free(p)) for p in PLACES]
        return own + supported + free + [self.reserve(self.player) / 15, self.reserve(1 - self.player) / 15]


def compare_game(options: dict, seed: int) -> None:
    slow = SlowPylos(**options)
    for position, action in random_walk(load("pylos", **options), seed):
        assert position.legal().tolist() == sorted(slow.moves())
        assert position.mover == slow.player
        assert position.over == (slow.winner is not None or slow.drawn)
        assert position.observe("rich") == pytest.approx(slow.rich())
        assert (position.observe("basic") == position.observe("rich")[[*range(30), 90, 91]]).all()
        if action is not None:
            slow.play(action)
    expected = {None: (0, 0), 0: (1, -1), 1: (-1, 1)}[slow.winner]
    assert (position.payoff(0), position.payoff(1)) == expected


VARIANTS = [
    {},
    {"rules": "standard"},
    {"rules": "children"},
    {"removal": "greedy"},
    {"removal": "greedy", "rules": "standard"},
    {"removal": "greedy", "repetition_cap": 2},
    {"ply_cap": 40},
    {"repetition_cap": 2, "ply_cap": 100},
]


def test_games_agree_with_the_rule_book_in_every_variant():
    for seed in range(3):
        for options in VARIANTS:
            compare_game(options, seed)


@pytest.mark.slow
def test_thousands_of_games_agree_with_the_rule_book():
    for seed in range(250):
        for options in VARIANTS:
            compare_game(options, 1000 + seed)


@st.composite
def pyramids(draw):
    """A pyramid filled from below in a random way, with any owners and any player to move."""
    fill, owners = draw(st.lists(st.booleans(), min_size=30, max_size=30)), draw(st.lists(st.booleans(), min_size=30))
    slow = SlowPylos()
    for cell, place in enumerate(PLACES[:-1]):
        wish = int(owners[cell % len(owners)]) if owners else cell % 2
        owner = wish if slow.reserve(wish) else 1 - wish
        if fill[cell] and slow.can_hold(place):
            slow.pyramid[place] = owner
    slow.player = int(draw(st.booleans()))
    if slow.own_free() and draw(st.booleans()):
        slow.to_take, slow.taken = draw(st.sampled_from([(2, 0), (1, 1)]))
    return slow


def text_of(slow: SlowPylos) -> str:
    levels = [
        "/".join(
            "".join(".wb"[1 + slow.pyramid.get((level, r, c), -1)] for c in range(4 - level)) for r in range(4 - level)
        )
        for level in LEVELS
    ]
    phase = {(0, 0): "-", (2, 0): "take", (1, 1): "more"}[slow.to_take, slow.taken]
    return " ".join([*levels, "wb"[slow.player], phase, "7"])


@given(pyramids())
def test_any_pyramid_has_the_moves_of_the_rule_book(slow):
    position = load("pylos").position(text_of(slow))
    assert position.text() == text_of(slow)
    assert position.legal().tolist() == sorted(slow.moves())
    assert position.over == (not slow.moves())
    assert position.observe("rich") == pytest.approx(slow.rich())


# ---- the values of the fact sheet ----------------------------------------------------------------


def raise_action(source: int, destination: int) -> int:
    return 30 + raise_pairs().index((source, destination))


def test_the_start_position_is_as_the_sheet_says():
    position = load("pylos").start()
    assert position.legal().tolist() == list(range(16))
    assert position.observe("rich").sum() == 18
    assert position.observe("basic").sum() == 2
    rich = position.observe("rich")
    assert (np.flatnonzero(rich) == [*range(30, 46), 90, 91]).all()


def test_raises_are_numbered_as_the_sheet_says():
    numbers = {(0, 16): 30, (0, 29): 43, (1, 16): 44, (15, 29): 253, (16, 25): 254, (24, 29): 298, (25, 29): 299}
    for pair, number in (numbers | {(28, 29): 302}).items():
        assert raise_action(*pair) == number
    assert len(raise_pairs()) == 273
    for source, destination in raise_pairs():
        closed = (
            30 + 14 * source + destination - 16 if source < 16
            else 254 + 5 * (source - 16) + destination - 25 if source < 25
            else 299 + source - 25
        )  # fmt: skip
        assert raise_action(source, destination) == closed


def test_shapes_and_symmetries_are_counted_as_in_the_sheet():
    assert len(squares()) == 14
    assert len(lines()) == 14
    assert sum(len(line) == 4 for line in lines()) == 8
    assert len({tuple(table) for table in cell_symmetries().values()}) == 8
    assert [cell_of(0, 3, 3), cell_of(1, 2, 2), cell_of(2, 1, 1), cell_of(3, 0, 0)] == [15, 24, 28, 29]


def test_156_raises_are_possible_and_all_of_them_occur():
    from rookery.games.pylos_board import RAISES

    possible = {(s, d) for s in range(30) for d in range(30) if RAISES[s] >> d & 1}
    assert len(possible) == 156
    assert not any(d == 29 for _, d in possible)
    played = set()
    game = load("pylos")
    for seed in range(400):
        for position, _ in random_walk(game, seed):
            if "-" in position.text().split(" ")[5]:
                played.update(raise_pairs()[a - 30] for a in position.legal() if a >= 30)
    assert played == possible


def test_mixed_colours_support_and_a_support_cannot_be_raised():
    position = load("pylos").start()
    for cell in (0, 1, 4, 2, 5):
        position.play(cell)
    assert position.mover == 1
    assert position.legal().tolist() == [3, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 58]
    assert position.move_text(58) == "1c1-2a1"
    with pytest.raises(BadInput, match="move 44 is not legal"):
        position.play(44)


def test_greedy_removal_takes_the_two_lowest_free_spheres():
    game = load("pylos", removal="greedy")
    position = game.position("bbb./.ww./.w../.... .../.../... ../.. . w - 6")
    position.play(10)
    assert position.text() == "bbb./..../.ww./.... .../.../... ../.. . b - 7"
    assert position.observe("basic")[31] == pytest.approx(13 / 15)


def test_a_greedy_line_takes_back_its_first_spheres():
    game = load("pylos", removal="greedy")
    position = game.position("bbb./ww../w.../.... .../.../... ../.. . b - 5")
    position.play(3)
    assert position.text() == "..bb/ww../w.../.... .../.../... ../.. . w - 6"


def test_a_square_lets_the_mover_choose_one_or_two_spheres():
    start = "bbb./.ww./.w../.... .../.../... ../.. . w - 6"
    position = load("pylos").position(start)
    position.play("1c3")
    assert position.mover == 0
    assert position.moves() == ["x1b2", "x1c2", "x1b3", "x1c3"]
    assert (position.observe("rich")[30:46] == 0).all()
    position.play("x1c3")
    assert position.mover == 0
    assert position.moves() == ["x1b2", "x1c2", "x1b3", "stop"]
    assert (position.observe("rich")[30:46] == 0.5).all()
    second = position.copy()
    position.play("stop")
    assert position.text() == "bbb./.ww./.w../.... .../.../... ../.. . b - 7"
    second.play("x1b2")
    assert second.text() == "bbb./..w./.w../.... .../.../... ../.. . b - 7"


def test_taking_one_sphere_may_free_another():
    position = load("pylos").position("wwww/wwbb/bb../.... w../.../... ../.. . w take 20")
    assert "x1a1" not in position.moves()
    position.play("x2a1")
    assert "x1a1" in position.moves()


def test_the_turn_ends_when_nothing_is_left_to_take():
    position = load("pylos").position("bb../bb../..../.... w../.../... ../.. . w take 9")
    position.play("x2a1")
    assert position.text() == "bb../bb../..../.... .../.../... ../.. . b - 10"


def test_lines_count_only_by_the_mature_rules():
    text = "www./bb../b.../.... .../.../... ../.. . w - 6"
    for rules, phase in (("mature", "take"), ("standard", "-"), ("children", "-")):
        position = load("pylos", rules=rules).position(text)
        position.play("1d1")
        assert position.text().split()[5] == phase


def test_who_sets_the_apex_wins():
    position = load("pylos").position("wbwb/bwbw/wbwb/bwbw wbw/bwb/wbw wb/bw . b - 40")
    position.play("4a1")
    assert position.over
    assert (position.payoff(0), position.payoff(1)) == (-1, 1)


def test_who_cannot_move_loses():
    position = load("pylos").position("bbbb/bbbb/bbbb/wwbb .../.../... ../.. . b - 40")
    assert position.moves()  # an empty reserve, but raises
    stuck = load("pylos").position("bbbb/bbbb/bbbb/bbbw www/www/www ww/w. . b - 40")
    assert stuck.over
    assert stuck.payoff(1) == -1


def test_the_ply_cap_and_the_repetition_cap_end_in_draws():
    capped = random_games(load("pylos", ply_cap=40, removal="greedy"), 2000, seed=1)
    assert capped.plies.max() == 40
    assert (capped.payoffs[capped.plies == 40, 0] == 0).any()
    repeated = random_games(load("pylos", removal="greedy", repetition_cap=2), 2000, seed=1)
    assert (repeated.payoffs[:, 0] == 0).mean() > 0.05


def test_random_games_of_the_original_last_46_to_48_plies():
    done = random_games(load("pylos", removal="greedy"), 20_000, seed=3)
    assert 46 < done.plies.mean() < 48


def test_greedy_removal_takes_back_the_sphere_just_played_in_most_shapes():
    game, taken, shapes = load("pylos", removal="greedy"), 0, 0
    for seed in range(300):
        for position, action in random_walk(game, seed):
            if action is not None:
                destination = action if action < 30 else raise_pairs()[action - 30][1]
                own = (position.observe("basic")[:30] == 1).sum()
                after = position.copy()
                after.play(action)
                if not after.over and (after.observe("basic")[:30] == -1).sum() < own + (action < 30):
                    shapes += 1
                    taken += after.observe("basic")[destination] == 0
    assert shapes > 500
    assert 0.7 < taken / shapes < 0.9


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("....", "should have seven parts"),
        ("..../..../..../... .../.../... ../.. . w - 0", "4 rows of 4 squares"),
        ("..../..../..../...x .../.../... ../.. . w - 0", "'x' in row 4, column 4"),
        ("..../..../..../.... .../.../... ../.. . g - 0", "'g' in .* should be w or b"),
        ("..../..../..../.... .../.../... ../.. . w maybe 0", "'maybe' in .* should be a phase: -, take, more"),
        ("..../..../..../.... .../.../... ../.. . w drawn 9", "'drawn' in .* should be a phase: -, take, more"),
        ("..../..../..../.... .../.../... ../.. . w - ١", "'١' in .* number of turns in 0..200"),
        (f"..../..../..../.... .../.../... ../.. . w - {'1' * 5000}", "number of turns in 0..200"),
        ("..../..../..../.... .../.../... ../.. . w - -1", "'-1' in .* number of turns in 0..200"),
        ("..../..../..../.... .../.../... ../.. . w - 201", "'201' in .* number of turns in 0..200"),
        ("..../..../..../.... w../.../... ../.. . w - 0", "the sphere on 2a1 rests on nothing"),
        ("wwww/wwww/wwww/wwww .../.../... ../.. . w - 0", "White has more than 15 spheres"),
        ("..../..../..../.... .../.../... ../.. . w take 0", "there is nothing to take back"),
    ],
)
def test_a_wrong_position_is_refused(text, complaint):
    with pytest.raises(BadInput, match=complaint):
        load("pylos").position(text)


def test_a_take_back_phase_is_refused_where_there_is_none():
    text = "ww../ww../..../.... .../.../... ../.. . w take 4"
    for options in ({"removal": "greedy"}, {"rules": "children"}):
        with pytest.raises(BadInput, match="there is no take-back phase"):
            load("pylos", **options).position(text)


@pytest.mark.parametrize(
    ("move", "complaint"),
    [
        ("", "'' is no cell of the pyramid"),
        ("5a1", "'5a1' is no cell"),
        ("1e1", "'e1' is no square of the board; squares are a1..d4"),
        ("2a1", "move '2a1' is not legal"),
        ("1a1-1b1", "a raise goes to a higher level"),
        ("x1a1", "there is nothing to take back now"),
        ("stop", "move 'stop' is not legal"),
        (303, r"an action of pylos must be a whole number in 0..302, not 303"),
    ],
)
def test_a_wrong_move_is_refused(move, complaint):
    with pytest.raises(BadInput, match=complaint):
        load("pylos").start().play(move)


def test_a_placement_is_refused_while_taking_back():
    position = load("pylos").position("ww../ww../..../.... .../.../... ../.. . w take 4")
    with pytest.raises(BadInput, match="take a sphere back"):
        position.play("1d4")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"rules": "expert"}, "option rules of pylos must be one of children, standard, mature, not 'expert'"),
        ({"removal": "none"}, "option removal of pylos must be one of choice, greedy, not 'none'"),
        ({"ply_cap": 0}, r"option ply_cap of pylos must be a whole number in 1..255, not 0"),
        ({"repetition_cap": 256}, r"option repetition_cap of pylos must be a whole number in 0..255, not 256"),
        ({"colour": "red"}, "pylos has no option 'colour'; its options are rules, removal, ply_cap, repetition_cap"),
    ],
)
def test_a_wrong_option_is_refused(options, complaint):
    with pytest.raises(BadInput, match=complaint):
        load("pylos", **options)


def test_a_draw_by_repetition_is_read_back():
    game, drawn = load("pylos", removal="greedy", repetition_cap=2), 0
    for seed in range(60):
        *_, (position, _) = random_walk(game, seed)
        if position.payoff(0) == 0:
            drawn += 1
            assert position.text().split(" ")[5] == "drawn"
            again = game.position(position.text())
            assert (again.over, again.payoff(0), again.text()) == (True, 0, position.text())
    assert drawn > 3


def test_a_draw_by_repetition_is_refused_where_the_game_ended_otherwise():
    text = "wbwb/bwbw/wbwb/bwbw wbw/bwb/wbw wb/bw b w drawn 40"
    with pytest.raises(BadInput, match="ended otherwise than by repetition"):
        load("pylos", repetition_cap=3).position(text)


def test_an_emptied_board_has_not_occurred_before():
    position = load("pylos", repetition_cap=3).position("b.../..../..../.... .../.../... ../.. . b more 7")
    position.play("x1a1")
    assert not position.over
