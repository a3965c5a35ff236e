"""The networks that come with the package."""

from __future__ import annotations

import pytest

from rookery import load
from rookery.arena.matches import MatchSettings, play_match
from rookery.arena.networks import zoo_facts, zoo_player
from rookery.arena.players import make_player
from rookery.nets.zoo import ZOO, zoo_card, zoo_names, zoo_strength

MOST_MEGABYTES = 20


def test_the_zoo_has_networks_to_play_against_and_stays_small():
    assert {"pylos", "domineering"} <= set(zoo_names())
    assert sum(path.stat().st_size for path in ZOO.iterdir()) < MOST_MEGABYTES * 1e6


@pytest.mark.parametrize("name", zoo_names())
def test_every_network_has_a_card_that_says_how_it_was_made_and_how_strong_it_is(name):
    card = zoo_card(name)
    assert card.startswith(f"# {name}\n")
    for word in ("seed", "games", "%"):
        assert word in card
    assert "simulations" in zoo_strength(name) or zoo_facts(name)["game"].startswith("texas42")
    assert zoo_strength(name)
    assert "rookery train" in card or "rookery study" in card
    assert f"{zoo_facts(name)['parameters']:,}" in " ".join(card.split())


@pytest.mark.slow
@pytest.mark.parametrize("name", zoo_names())
def test_every_network_wins_against_random_play(name):
    game = load(zoo_facts(name)["game"])
    games, wanted = (60, 36) if game.name == "texas42" else (8, 7)  # there, some deals nobody could win
    match = play_match(
        game, lambda: make_player(zoo_player(name, 8), game), lambda: make_player("random", game),
        MatchSettings(games=games, seed=1, at_once=8),
    )  # fmt: skip
    assert sum(match.score_of(number) for number in match.records) >= wanted
