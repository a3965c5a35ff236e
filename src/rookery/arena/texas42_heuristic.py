"""A plain player of Texas 42, by rules of thumb and what its seat can see.

Leading: draw trumps with sure ones while the own team declares and the others may hold some; else lead what nobody can
beat, count tiles first; else the best of a suit; else throw away. Following: give count to a partner who is sure to win
the trick; win with count if nobody can beat that; else win as high as possible, or throw away. In the auction: trumps
and doubles are counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rookery.arena.player import Choice, Player, Turn
from rookery.games import texas42_auction as auction
from rookery.games.position import Action, Position
from rookery.games.rules import State
from rookery.games.texas42_auction import FIRST_BID, FIRST_NAME
from rookery.games.texas42_play import playable
from rookery.games.texas42_setup import allowed_tiles
from rookery.games.texas42_tiles import (
    ALL_TILES,
    CALLED,
    COUNT,
    DOUBLES_SUIT,
    FOLLOW,
    LEADS,
    NO_TILE,
    NOT_NAMED,
    PAIRS,
    POWER,
    SEVENS,
    tiles_of,
)

DOUBLES = 7  # the declaration
BIDS_BY_STRENGTH = {6: 30, 7: 32, 8: 35}  # trumps, the trump double once more, and other doubles -> the highest bid


@dataclass(frozen=True)
class View:
    """What a seat sees that is to play."""

    state: State

    @property
    def me(self) -> int:
        """The seat."""
        return int(self.state["texas42_mover"])

    @property
    def declaration(self) -> int:
        """Its number."""
        return int(self.state["declaration"])

    @property
    def trick(self) -> list[int]:
        """The tiles that lie on the table."""
        plays = int(self.state["plays"])
        return [int(tile) for tile in self.state["history"][plays & ~3 : plays]]

    def power(self, tile: int, suit: int) -> int:
        """Return the strength of a tile when a suit is led."""
        return int(POWER[self.declaration, suit, tile])

    def suit(self, tile: int) -> int:
        """Return the suit a tile leads."""
        return int(LEADS[self.declaration, tile])

    def worth(self, tile: int) -> int:
        """Return the count of a tile."""
        return int(COUNT[tile])

    def is_trump(self, tile: int) -> bool:
        """Tell whether a tile is called and has power."""
        return self.declaration < DOUBLES_SUIT and self.suit(tile) == CALLED

    def may_hold(self, seats: list[int]) -> int:
        """Return the unseen tiles that one of some seats may hold."""
        unseen = ALL_TILES & ~int(self.state["played"]) & ~int(self.state["hands"][self.me])
        possible = 0
        for seat in seats:
            possible |= unseen & allowed_tiles(self.state, seat)
        return possible

    def can_beat(self, seats: list[int], tile: int, suit: int, trumps_too: bool = True) -> bool:
        """Tell whether one of some seats may hold a tile that beats another; trumps may be left out of account."""
        return any(
            self.power(other, suit) > self.power(tile, suit) and (trumps_too or not self.is_trump(other))
            for other in tiles_of(self.may_hold(seats))
        )

    def waste(self, tile: int) -> tuple[int, bool, int]:
        """Order tiles by how gladly they are thrown away, the gladdest first."""
        return self.worth(tile), self.is_trump(tile), self.power(tile, self.suit(tile))

    def gift(self, tile: int) -> tuple[int, bool, int]:
        """Order tiles by how gladly they are given to a trick of the own team, the gladdest last."""
        return self.worth(tile), not self.is_trump(tile), -self.power(tile, self.suit(tile))


def lead(view: View, tiles: list[int]) -> int:
    """Choose a tile to lead."""
    others = [(view.me + 1) % 4, (view.me + 3) % 4]
    sure = [tile for tile in tiles if not view.can_beat(others, tile, view.suit(tile))]
    trumps = [tile for tile in sure if view.is_trump(tile)]
    declaring = int(view.state["declarer"]) % 2 == view.me % 2
    called = int(FOLLOW[view.declaration, CALLED])
    if trumps and declaring and view.may_hold(others) & called:
        return max(trumps, key=lambda tile: view.power(tile, CALLED))
    if sure:
        return max(sure, key=view.gift)
    best = [tile for tile in tiles if not view.can_beat(others, tile, view.suit(tile), trumps_too=False)]
    return max(best, key=view.gift) if best else min(tiles, key=view.waste)


def follow(view: View, tiles: list[int]) -> int:
    """Choose a tile to play to a trick."""
    trick, suit = view.trick, int(view.state["led_suit"])
    strengths = [view.power(tile, suit) for tile in trick]
    ahead = strengths.index(max(strengths))
    behind = [(view.me + 1 + i) % 4 for i in range(3 - len(trick))]
    rivals = [seat for seat in behind if seat % 2 != view.me % 2]
    if (len(trick) - ahead) % 2 == 0:  # the partner's tile is ahead
        safe = not view.can_beat(rivals, trick[ahead], suit)
        return max(tiles, key=view.gift) if safe else min(tiles, key=view.waste)
    winning = [tile for tile in tiles if view.power(tile, suit) > strengths[ahead]]
    sure = [tile for tile in winning if not view.can_beat(rivals, tile, suit)]
    if sure:
        return max(sure, key=view.gift)
    return max(winning, key=lambda tile: view.power(tile, suit)) if winning else min(tiles, key=view.waste)


def in_house(view: View, tiles: list[int]) -> int:
    """Choose a tile in nello or sevens.

    In nello the bidder stays below the trick as high as possible, the others as low as possible; in sevens everyone
    plays what is nearest.
    """
    trick, suit = [tile for tile in view.trick if tile != NO_TILE], int(view.state["led_suit"])
    if not trick or view.declaration >= SEVENS:
        order = sorted(tiles, key=lambda tile: view.power(tile, view.suit(tile)))
        return order[-1] if view.declaration >= SEVENS else order[0]
    ahead = max(view.power(tile, suit) for tile in trick)
    below = [tile for tile in tiles if view.power(tile, suit) < ahead]
    if view.me == int(view.state["declarer"]) and below:
        return max(below, key=lambda tile: (view.power(tile, suit), sum(PAIRS[tile])))
    return min(tiles, key=lambda tile: (view.power(tile, suit), -sum(PAIRS[tile])))


# ---- the auction ---------------------------------------------------------------------------------


def strength(hand: list[int], declaration: int) -> int:
    """Count trumps, the trump double twice, and the other doubles."""
    doubles = [tile for tile in hand if PAIRS[tile][0] == PAIRS[tile][1]]
    if declaration == DOUBLES:
        return len(doubles) + (PAIRS.index((6, 6)) in doubles)
    trumps = [tile for tile in hand if declaration in PAIRS[tile]]
    return len(trumps) + len(doubles)


def in_auction(position: Position) -> Action:
    """Choose a bid or a declaration by the strength of the own hand."""
    state = position.state
    hand = [int(tile) for tile in state["tiles"][position.mover]]
    named = max(range(DOUBLES + 1), key=lambda declaration: strength(hand, declaration))
    if state["phase"] == auction.NAMING:
        return FIRST_NAME + named
    most = max((bid for least, bid in BIDS_BY_STRENGTH.items() if strength(hand, named) >= least), default=0)
    legal = [int(action) for action in position.legal()]
    bids = [action for action in legal if action - FIRST_BID > auction.PASS]
    if bids and auction.points_needed(bids[0] - FIRST_BID) <= most:
        return bids[0]
    return legal[0]  # a pass, or the least bid where the last to speak may not pass


class HeuristicPlayer(Player):
    """A player by rules of thumb."""

    def choose(self, turn: Turn) -> Choice:
        """Choose by the rules."""
        state = turn.position.state
        if state["phase"] != auction.PLAYING:
            return Choice(in_auction(turn.position))
        view, tiles = View(state), tiles_of(playable(state))
        if view.declaration > NOT_NAMED:
            return Choice(int(np.flatnonzero(state["tiles"][view.me] == in_house(view, tiles))[0]))
        tile = lead(view, tiles) if not view.trick else follow(view, tiles)
        return Choice(int(np.flatnonzero(state["tiles"][view.me] == tile)[0]))
