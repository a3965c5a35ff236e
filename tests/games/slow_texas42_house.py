"""House contracts of Texas 42 as the rule book says them. Slow and plain."""

from __future__ import annotations

from games.slow_texas42 import COUNT, LADDER, SlowAuction, Tile, pip_suit

JUMPS = {"splash-2m": 2, "splash-3m": 3} | {f"plunge-{marks}m": marks for marks in range(2, 8)}


def nello_suit(name: str, lead: Tile) -> list[Tile]:
    """The suit a tile leads in nello, the best tile first."""
    doubles = [(pip, pip) for pip in (6, 5, 4, 3, 2, 1, 0)]
    double, *others = pip_suit(lead[0])
    if name == "nello":
        return [double, *others]
    if name == "nello-low":
        return [*others, double]
    return doubles if lead in doubles else others


def away(tile: Tile) -> int:
    """How far a tile is from seven."""
    return abs(7 - tile[0] - tile[1])


class SlowHouseHand:
    """One hand of nello or sevens."""

    def __init__(self, hands: list[list[Tile]], name: str, bidder: int):
        self.hands = [list(hand) for hand in hands]
        self.name, self.bidder, self.leader = name, bidder, bidder
        self.trick: list[tuple[int, Tile]] = []
        self.takers: list[int] = []
        self.points = [0, 0]
        self.plays: list[tuple[int, Tile]] = []
        self.impossible: list[set[Tile]] = [set(), set(), set(), set()]
        """tiles everybody knows a seat not to hold any more, by the rules of following alone"""

    @property
    def seats(self) -> list[int]:
        """Who plays to a trick, in order."""
        around = [(self.leader + i) % 4 for i in range(4)]
        return [seat for seat in around if not (self.name.startswith("nello") and seat == (self.bidder + 2) % 4)]

    @property
    def over(self) -> bool:
        return len(self.takers) == 7

    @property
    def mover(self) -> int:
        return self.seats[len(self.trick)]

    def legal(self) -> list[Tile]:
        hand = self.hands[self.mover]
        if self.name == "sevens":
            return [tile for tile in hand if away(tile) == min(away(other) for other in hand)]
        if self.name == "sevens-free" or not self.trick:
            return list(hand)
        suit = nello_suit(self.name, self.trick[0][1])
        return [tile for tile in hand if tile in suit] or list(hand)

    def play(self, tile: Tile) -> None:
        seat = self.mover
        self.hands[seat].remove(tile)
        self.trick.append((seat, tile))
        self.plays.append((seat, tile))
        self.learn(seat, tile)
        if len(self.trick) == len(self.seats):
            self.leader = self.winner()
            self.takers.append(self.leader)
            self.points[self.leader % 2] += 1 + sum(COUNT.get(played, 0) for _, played in self.trick)
            self.trick = []

    def learn(self, seat: int, tile: Tile) -> None:
        every = [(high, low) for high in range(7) for low in range(high + 1)]
        if self.name == "sevens":
            self.impossible[seat] |= {other for other in every if away(other) < away(tile)}
        elif self.name.startswith("nello"):
            suit = nello_suit(self.name, self.trick[0][1])
            if tile not in suit:
                self.impossible[seat] |= set(suit)

    def winner(self) -> int:
        if self.name.startswith("sevens"):
            nearest = min(away(tile) for _, tile in self.trick)
            return next(seat for seat, tile in self.trick if away(tile) == nearest)
        suit = nello_suit(self.name, self.trick[0][1])
        return min((play for play in self.trick if play[1] in suit), key=lambda play: suit.index(play[1]))[0]

    @property
    def lost_so_far(self) -> bool:
        """Whether a trick has gone to the wrong seat."""
        if self.name.startswith("nello"):
            return self.bidder in self.takers
        return any(taker % 2 != self.bidder % 2 for taker in self.takers)

    @property
    def made(self) -> bool:
        """Nello: the bidder takes nothing. Sevens: the bidder's side takes everything."""
        return self.over and not self.lost_so_far


class SlowHouseAuction(SlowAuction):
    """The auction with splash and plunge."""

    def __init__(self, opener: int, forced: bool, hands: list[list[Tile]], splash: set[int], plunge: int):
        super().__init__(opener, 7, forced)
        self.doubles = [sum(high == low for high, low in hand) for hand in hands]
        self.splash, self.plunge = splash, plunge

    def marks(self, bid: str) -> int:
        """Marks of a bid of marks, 0 for points."""
        return JUMPS[bid] if bid in JUMPS else int(bid[:-1]) if bid.endswith("m") else 0

    def legal(self) -> list[str]:
        standing = self.marks(self.high) if self.high else 0
        plain = SlowAuction(self.opener, 7, self.forced)
        plain.bids = [f"{JUMPS[bid]}m" if bid in JUMPS else bid for bid in self.bids]
        jumps = []
        for bid, marks in JUMPS.items():
            if bid.startswith("splash"):
                fits = marks in self.splash and self.doubles[self.mover] >= 3
            else:
                highest_needed = self.plunge if standing < self.plunge else standing + 1
                fits = self.plunge > 0 and marks == highest_needed and self.doubles[self.mover] >= 4
            if fits and marks > standing:
                jumps.append(bid)
        return plain.legal() + jumps

    @property
    def namer(self) -> int:
        """Who names and leads."""
        return (self.declarer + 2) % 4 if self.high in JUMPS else self.declarer

    def names(self, nello: str, sevens: str) -> list[str]:
        """What may be named, for a house's rule of nello and of sevens."""
        straight = ["blanks", "ones", "twos", "threes", "fours", "fives", "sixes", "doubles", "no-trump"]
        if self.high in LADDER and self.high.endswith("m"):
            every = {"high": ["nello"], "low": ["nello-low"], "suit": ["nello-suit"], "none": []}
            every["any"] = ["nello", "nello-low", "nello-suit"]
            straight += every[nello] + {"none": [], "nearest": ["sevens"], "free": ["sevens-free"]}[sevens]
        return straight
