"""Nello and sevens solved, against trying everything with the rule book."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from games.slow_texas42 import ALL_TILES
from games.slow_texas42_house import SlowHouseHand, away
from rookery import BadInput, load
from rookery.games.position import Position
from rookery.games.texas42_tiles import HOUSE_DECLARATIONS
from rookery.search.solve.texas42_house import makes


def slow_makes(hand: SlowHouseHand) -> bool:
    """Whether the contract is made if all play their best."""
    if hand.over:
        return hand.made
    ours = hand.mover % 2 == hand.bidder % 2
    answers = (slow_makes(after(hand, tile)) for tile in hand.legal())
    return any(answers) if ours else all(answers)


def after(hand: SlowHouseHand, tile: tuple[int, int]) -> SlowHouseHand:
    later = copy.deepcopy(hand)
    later.play(tile)
    return later


def endings(name: str, seed: int, plays: int) -> tuple[Position, SlowHouseHand]:
    """A hand some random plays from its beginning, twice; plays that lose the contract at once are avoided.

    In sevens the bidder's side gets 14 of the 18 tiles that are nearest, or it would lose nearly always.
    """
    rng, bidder = np.random.default_rng(seed), seed % 4
    near = rng.permutation(sorted(range(28), key=lambda tile: away(ALL_TILES[tile]))[:18])
    far = rng.permutation([tile for tile in range(28) if tile not in near[:14]])
    deal = [near[:7], far[:7], near[7:14], far[7:]] if name.startswith("sevens") else rng.permutation(28).reshape(4, 7)
    hands = [[int(tile) for tile in deal[(seat - bidder) % 4]] for seat in range(4)]
    position = load("texas42").set_up(hands, name, bidder)
    slow = SlowHouseHand([[ALL_TILES[tile] for tile in hand] for hand in position.state["tiles"]], name, bidder)
    for _ in range(plays):
        slots = rng.permutation(position.legal()).tolist()
        tiles = [ALL_TILES[position.state["tiles"][position.mover, slot]] for slot in slots]
        good = [i for i, tile in enumerate(tiles) if after(slow, tile).lost_so_far is False] or [0]
        slow.play(tiles[good[0]])
        position.play(int(slots[good[0]]))
    return position, slow


@pytest.mark.parametrize(
    ("name", "deals"),
    [(name, 24 if name == "sevens" else 8) for name in HOUSE_DECLARATIONS]
    + [pytest.param(name, 30, marks=pytest.mark.slow) for name in HOUSE_DECLARATIONS],
)
def test_endings_are_made_or_set_as_by_trying_everything(name, deals):
    lengths = (14, 15, 16) if name.startswith("nello") else (19, 20, 21)
    cases = [endings(name, seed, plays) for seed in range(deals) for plays in lengths]
    found = makes(np.concatenate([position.states for position, _ in cases]), threads=2)
    answers = set()
    for (position, slow), row in zip(cases, found, strict=True):
        legal = position.legal().tolist()
        assert (row[[slot for slot in range(7) if slot not in legal]] == -1).all()
        for slot in legal:
            tile = ALL_TILES[position.state["tiles"][position.mover, slot]]
            assert row[slot] == slow_makes(after(slow, tile))
            answers.add(int(row[slot]))
    assert answers == {0, 1}


def test_the_answers_do_not_depend_on_threads_or_on_the_other_positions():
    states = np.concatenate([load("texas42:declaration=nello").start(seed).states for seed in range(40)])
    together = makes(states, threads=2)
    assert (together == np.concatenate([makes(states[i : i + 1]) for i in range(40)])).all()


def test_what_is_no_house_contract_is_refused():
    with pytest.raises(BadInput, match="position 0 is neither nello nor sevens"):
        makes(load("texas42:declaration=fives").start().states)
    with pytest.raises(BadInput, match="has hidden hands"):
        makes(load("texas42:declaration=nello").start().seen_by(0).states)
