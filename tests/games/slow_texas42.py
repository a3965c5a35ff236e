"""Texas 42 as the rule book says it: tiles are pairs of pips, suits are lists from best to worst. Slow and plain."""

from __future__ import annotations

import numpy as np

Tile = tuple[int, int]

ALL_TILES = [(high, low) for high in range(7) for low in range(high + 1)]
NAMES = ["blanks", "ones", "twos", "threes", "fours", "fives", "sixes", "doubles", "doubles-suit", "no-trump"]
LADDER = [str(points) for points in range(30, 42)] + [f"{marks}m" for marks in range(1, 8)]
HAND_22 = (
    "2-2 4-2 2-1 2-0 3-0 3-3 4-3 3-1 4-1 1-0 0-0 4-0 4-4 1-1 3-2 5-1 5-0 5-2 5-5 5-3 6-1 6-0 6-3 6-4 6-5 6-2 6-6 5-4"
)
"""the plays of published hand 22: deal 42, sixes, seat 0 leads, everyone plays the lowest legal tile"""
COUNT = {(5, 5): 10, (6, 4): 10, (5, 0): 5, (4, 1): 5, (3, 2): 5}


def pip_suit(pip: int) -> list[Tile]:
    """All tiles with a pip, the double first, then by the other pip."""
    others = [other for other in (6, 5, 4, 3, 2, 1, 0) if other != pip]
    return [(pip, pip)] + [(max(pip, other), min(pip, other)) for other in others]


def called_suit(name: str) -> list[Tile]:
    if name in ("doubles", "doubles-suit"):
        return [(pip, pip) for pip in (6, 5, 4, 3, 2, 1, 0)]
    return pip_suit(NAMES.index(name)) if name in NAMES[:7] else []


def suit_tiles(name: str, suit: int) -> list[Tile]:
    """The tiles of suit 0..6 or of 7, the called one, the best first."""
    if suit == 7:
        return called_suit(name)
    return [tile for tile in pip_suit(suit) if tile not in called_suit(name)]


def suit_of_lead(name: str, lead: Tile) -> int:
    return 7 if lead in called_suit(name) else lead[0]


def may_play(name: str, hand: list[Tile], trick: list[Tile]) -> list[Tile]:
    """The tiles of a hand that may be played to a trick."""
    if not trick:
        return list(hand)
    following = [tile for tile in hand if tile in suit_tiles(name, suit_of_lead(name, trick[0]))]
    return following or list(hand)


def winner(name: str, trick: list[Tile]) -> int:
    """The place in a full trick of the tile that wins it."""
    if name not in ("doubles-suit", "no-trump"):
        for tile in called_suit(name):
            if tile in trick:
                return trick.index(tile)
    for tile in suit_tiles(name, suit_of_lead(name, trick[0])):
        if tile in trick:
            return trick.index(tile)
    raise AssertionError("the led tile follows itself")


def worth(trick: list[Tile]) -> int:
    return 1 + sum(COUNT.get(tile, 0) for tile in trick)


class SlowHand:
    """One hand of play, and what everybody can see of it."""

    def __init__(self, hands: list[list[Tile]], name: str, leader: int):
        self.hands = [list(hand) for hand in hands]
        self.name, self.leader = name, leader
        self.trick: list[Tile] = []
        self.points = [0, 0]
        self.voids: list[set[int]] = [set(), set(), set(), set()]
        self.plays: list[tuple[int, Tile]] = []

    @property
    def mover(self) -> int:
        return (self.leader + len(self.trick)) % 4

    @property
    def over(self) -> bool:
        return len(self.plays) == 28

    def legal(self) -> list[Tile]:
        return may_play(self.name, self.hands[self.mover], self.trick)

    def play(self, tile: Tile) -> None:
        seat = self.mover
        self.hands[seat].remove(tile)
        self.plays.append((seat, tile))
        self.trick.append(tile)
        led = suit_of_lead(self.name, self.trick[0])
        if tile not in suit_tiles(self.name, led):
            self.voids[seat].add(led)
        if len(self.trick) == 4:
            self.leader = (self.leader + winner(self.name, self.trick)) % 4
            self.points[self.leader % 2] += worth(self.trick)
            self.trick = []


class SlowAuction:
    """One round of bids, the highest bidder's declaration, and what the contract brings."""

    def __init__(self, opener: int, mark_limit: int, forced: bool):
        self.opener, self.mark_limit, self.forced = opener, mark_limit, forced
        self.bids: list[str] = []

    @property
    def mover(self) -> int:
        return (self.opener + len(self.bids)) % 4

    @property
    def high(self) -> str | None:
        made = [bid for bid in self.bids if bid != "pass"]
        return made[-1] if made else None

    @property
    def declarer(self) -> int:
        return (self.opener + self.bids.index(self.high)) % 4

    def legal(self) -> list[str]:
        shaker_is_stuck = self.forced and self.bids == ["pass"] * 3
        allowed = [] if shaker_is_stuck else ["pass"]
        for bid in LADDER:
            if self.high is not None and LADDER.index(bid) <= LADDER.index(self.high):
                continue
            if bid.endswith("m"):
                marks = int(bid[:-1])
                standing = int(self.high[:-1]) if self.high is not None and self.high.endswith("m") else 0
                if marks > self.mark_limit or marks > (standing + 1 if standing else 2):
                    continue
            allowed.append(bid)
        return allowed

    def result(self, points: list[int]) -> int:
        """Marks won by the declaring team; negative if it is set."""
        marks = int(self.high[:-1]) if self.high.endswith("m") else 1
        needed = 42 if self.high.endswith("m") else int(self.high)
        return marks if points[self.declarer % 2] >= needed else -marks


def slow_all_tokens(hand: SlowHand, dealt: list[list[Tile]]) -> list[list[int]]:
    """The 32 tokens of 12 features that show every hand."""
    me, declaration = hand.mover, NAMES.index(hand.name)
    common = [declaration, (hand.leader - me) % 4]

    def token(tile: Tile, seat: int, held: bool, kind: int) -> list[int]:
        called, relative = called_suit(hand.name), (seat - me) % 4
        rank = called.index(tile) if tile in called else 7
        count = COUNT.get(tile, 0) // 5
        double, mine, partner = int(tile[0] == tile[1]), int(relative == 0), int(relative == 2)
        return [*tile, double, count, rank, relative, mine, partner, int(held), kind, *common]

    rows = [[0] * 10 + common]
    for seat in range(4):
        rows += [token(tile, seat, tile in hand.hands[seat], 1 + seat) for tile in sorted(dealt[seat])]
    for place, tile in enumerate(hand.trick):
        rows.append(token(tile, (hand.leader + place) % 4, False, 5 + place))
    return rows + [[0] * 12] * (32 - len(rows))


def slow_own_tokens(hand: SlowHand) -> list[list[int]]:
    """The 36 tokens of 8 features that show what the mover knows."""
    me, declaration = hand.mover, NAMES.index(hand.name)

    def token(tile: Tile, seat: int, held: bool) -> list[int]:
        double, count = int(tile[0] == tile[1]), COUNT.get(tile, 0) // 5
        return [*tile, double, count, (seat - me) % 4, int(held), declaration, 1 if held else 2]

    rows = [[0] * 6 + [declaration, 0]]
    rows += [token(tile, me, True) for tile in sorted(hand.hands[me])]
    rows += [token(tile, seat, False) for seat, tile in hand.plays]
    return rows + [[0] * 8] * (36 - len(rows))


# ---- numbers and choices for tests ---------------------------------------------------------------


def tile_id(tile: Tile) -> int:
    return ALL_TILES.index(tile)


def pairs(text: str) -> list[Tile]:
    """Read "6-4 5-5"."""
    return [(int(tile[0]), int(tile[2])) for tile in text.split()]


def ids(text: str) -> list[int]:
    return [tile_id(tile) for tile in pairs(text)]


def random_hand(rng: np.random.Generator) -> tuple[list[list[int]], int, int, list[int]]:
    """A deal, a declaration, a leader and 28 choices."""
    hands = rng.permutation(28).reshape(4, 7).tolist()
    return hands, int(rng.integers(10)), int(rng.integers(4)), rng.integers(5040, size=28).tolist()
