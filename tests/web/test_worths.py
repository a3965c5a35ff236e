"""What plays of Texas 42 are worth, as a page shows it."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from rookery.arena.player import turn_of
from rookery.arena.players import make_player
from rookery.games.library import load
from rookery.web.worths import LEFT, RIGHT, Worth, worths_of, worths_svg


def test_bars_begin_at_zero_and_have_whiskers_as_long_as_the_spread():
    drawn = ElementTree.fromstring(worths_svg([Worth("6-4", 10.0, 5.0, 0.8), Worth("1-0", -4.0, 1.0, 0.25)]))
    unit = (RIGHT - LEFT) / 20  # from -5 to 15
    zero = LEFT + 5 * unit
    bars = [(float(bar.get("x")), float(bar.get("width"))) for bar in drawn.iter("rect")]
    assert np.allclose(bars, [(zero, 10 * unit), (zero - 4 * unit, 4 * unit)], atol=0.01)
    whisker = re.match(r"M([\d.]+) [\d.]+H([\d.]+)", list(drawn.iter("path"))[1].get("d"))
    assert np.allclose([float(end) for end in whisker.groups()], [zero + 5 * unit, zero + 15 * unit], atol=0.01)
    texts = [text.text for text in drawn.iter("text")]
    assert texts[4:] == ["6-4", "+10.0", "80 %", "1-0", "-4.0", "25 %"]
    assert "6-4: +10.0 points, spread 5.0, bid made 80 %" in drawn.get("aria-label")


def test_nothing_is_drawn_of_nothing():
    assert worths_svg([]) == ""
    assert worths_svg([Worth("0-0", 0.0, 0.0, 1.0)])


@pytest.mark.slow
@pytest.mark.parametrize("text", ["eq:worlds=5", "bidder:eq,worlds=5"])
def test_players_that_average_over_deals_tell_what_plays_are_worth(text):
    game = load("texas42")
    start = game.start(3)
    player = make_player(text, game)
    found = worths_of(player, turn_of(player, start, start.copy(), (), seed=1))
    assert len(found) == len(start.legal())
    assert max(one.mean for one in found) == found[0].mean
    assert all(0 <= one.make <= 1 and one.spread >= 0 for one in found)


@pytest.mark.parametrize(("spec", "text"), [("gomoku:size=9", "random"), ("texas42", "random")])
def test_other_players_tell_nothing(spec, text):
    game = load(spec)
    start = game.start(3)
    player = make_player(text, game)
    assert worths_of(player, turn_of(player, start, start.copy(), (), seed=1)) == ()
