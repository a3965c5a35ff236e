"""Who beats whom, by the players' texts: what the searches promise each other."""

from __future__ import annotations

import pytest

from rookery import load
from rookery.arena.matches import MatchSettings, play_match
from rookery.arena.players import make_player


@pytest.mark.slow
def test_rave_holds_its_own_against_alphabeta_of_depth_3():
    game = load("domineering")
    match = play_match(
        game,
        lambda: make_player("rave:sims=400", game),
        lambda: make_player("alphabeta:depth=3", game),
        MatchSettings(games=20, seed=1),
    )
    # some 70 % are expected (docs/search/rave.md); at 70 % fewer than 7 of 20 are won once in 3,800
    assert match.score.wins >= 7
