"""Texas 42: a trick game with dominoes for four seats in two teams.

Seats 0..3 sit clockwise, partners opposite: seats 0 and 2 are team 0, seats 1 and 3 team 1. Each holds seven of the 28
tiles (`texas42_tiles` numbers them and says who beats whom). A declaration calls a suit; the leader plays
a tile, the others follow its suit if they can, and the trick's winner leads the next. A trick is worth one point and
the count tiles in it, so a hand distributes 42 points.

A position is one hand of play: the four initial hands, the record of plays, and what follows from it. Actions:

    0..6     play the tile in that slot of the mover's initial hand, sorted by id
    7..26    bids, pass to 7 marks (`texas42_auction`); only with the auction
    27..36   name declaration 0..9; only with the auction
    38..42   name nello or sevens, declarations 11..15 (`texas42_house`); only with house contracts
    43..50   bid splash or plunge

In a position seen by one seat the other hands hold only what they have played, and their slots are empty: nothing
in the record of the position depends on hidden tiles. A seat whose hand is hidden has no legal plays.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit, uint64

from rookery.errors import BadInput
from rookery.games import texas42_auction as auction
from rookery.games import texas42_text as notation
from rookery.games import texas42_tokens as tokens
from rookery.games.bits import Word, popcount
from rookery.games.game import Game, register
from rookery.games.options import one_of, whole_number
from rookery.games.position import Action, Position, Seat
from rookery.games.rng import random_below, scramble
from rookery.games.rules import State, implements
from rookery.games.texas42_auction import (
    ALL_POINTS,
    AUCTIONS,
    BIDDING,
    DONE,
    FIRST_BID,
    FIRST_JUMP,
    FIRST_NAME,
    HOUSE_ACTIONS,
    LEAST_POINTS,
    MOST_MARKS,
    NAMING,
    NO_AUCTION,
    PLAYING,
    SILENT,
    bid_of,
)
from rookery.games.texas42_house import FIRST_SPLASH, USUAL, packed, read_house
from rookery.games.texas42_known import KNOWN_FEATURES, KNOWN_TOKENS, known
from rookery.games.texas42_open import OPEN_FEATURES, OPEN_TOKENS, open_hands
from rookery.games.texas42_play import DEAL_STREAM, clear, deal_hands, playable, put
from rookery.games.texas42_setup import Hand, set_up
from rookery.games.texas42_tiles import (
    DECLARATIONS,
    HAND,
    NAMES,
    NO_TILE,
    NOT_NAMED,
    SEATS,
    SUITS,
    TILES,
    bit,
    read_declaration,
    tiles_of,
)
from rookery.games.texas42_tiles import deal as deal

ALL, OWN, KNOWN, OPEN, BIDS = range(5)  # kinds of observations
MARKS_OF_A_GAME = 7.0

# The record has no holes: NumPy leaves them unset when it copies, and equal positions should have equal bytes.
STATE = np.dtype(
    [
        ("hands", np.uint32, (SEATS,)),  # initial hands; of a hidden one, the tiles it has played
        ("played", np.uint32),
        ("tiles", np.int8, (SEATS, HAND)),  # initial hands by slot; NO_TILE if hidden
        ("history", np.int8, (TILES,)),  # tiles in the order of play, then NO_TILE
        ("leaders", np.int8, (8,)),  # leader of each trick; the last is the winner of the seventh
        ("voids", np.uint8, (SEATS,)),  # suits a seat has shown not to hold
        ("points", np.int8, (2,)),
        ("plays", np.int8),
        ("led_suit", np.int8),  # of the current trick; NO_SUIT before its lead
        ("texas42_mover", np.int8),
        ("phase", np.int8),
        ("declaration", np.int8),
        ("opener", np.int8),  # speaks first in the auction, else leads first
        ("bids", np.int8, (SEATS,)),  # by seat
        ("spoken", np.int8),
        ("high_bid", np.int8),
        ("declarer", np.int8),
        ("auction", np.int8),  # options from here on
        ("mark_limit", np.int8),
        ("wanted", np.int8),  # points the first leader's team must take; 0: the difference counts
        ("first", np.int8),
        ("called", np.int8),  # the declaration of every hand; NOT_NAMED: drawn with the deal
        ("nello", np.int8),  # house contracts, 0 if not played (`texas42_house`)
        ("sevens", np.int8),
        ("splash", np.int8),
        ("plunge", np.int8),
    ],
    align=True,
)


# ---- the contract --------------------------------------------------------------------------------


@implements("start", STATE)
def start(state: State, seed: int) -> None:
    clear(state)
    deal_hands(state, seed)
    if state.auction == NO_AUCTION:
        drawn = random_below(len(DECLARATIONS), seed, DEAL_STREAM, SEATS)
        state.declaration = drawn if state.called == NOT_NAMED else state.called


@implements("mover", STATE)
def mover(state: State) -> int:
    return int(state.texas42_mover)


@njit(cache=True, nogil=True, forceinline=True)
def in_auction(state: State) -> Word:
    """Return what may be bid or named, action a as bit a.

    Inlined by force: behind a call that might fail, Numba counts the users of the list that `legal` writes by atomic
    instructions, which take as long as the rest of it.
    """
    if state.phase == NAMING:
        return uint64(auction.names(state) << FIRST_NAME)
    return uint64(auction.plain_bids(state) << FIRST_BID | auction.jumps(state) << (FIRST_JUMP - FIRST_SPLASH))


@implements("legal", STATE)
def legal(state: State, out: np.ndarray) -> int:
    if state.phase == PLAYING:
        hand, actions = uint64(state.hands[state.texas42_mover]), uint64(playable(state))
    else:
        hand, actions = ~uint64(0), in_auction(state)
    count = 0  # of those written; an action is the number of bits of `hand` below its own
    while actions != uint64(0):
        out[count] = popcount(hand & ~actions & (actions - uint64(1)))
        count += 1
        actions &= actions - uint64(1)
    return count


@implements("is_legal", STATE)
def is_legal(state: State, action: int) -> bool:
    if state.phase == BIDDING:
        bid = bid_of(action)
        return bid != SILENT and auction.may_call(state, bid)
    if state.phase == NAMING:
        return auction.may_name(state, action - FIRST_NAME)
    if action >= HAND:
        return False
    return bool(playable(state) & bit(state.tiles[state.texas42_mover, action]))


@implements("play", STATE)
def play(state: State, action: int) -> None:
    if state.phase == BIDDING:
        auction.make_bid(state, bid_of(action))
    elif state.phase == NAMING:
        auction.name_declaration(state, action - FIRST_NAME)
    else:
        put(state, state.tiles[state.texas42_mover, action])


@implements("over", STATE)
def over(state: State) -> bool:
    return bool(state.phase == DONE)


@implements("payoff", STATE)
def payoff(state: State, seat: int) -> float:
    if state.phase != DONE:
        return 0.0
    team, side = seat & 1, state.declarer & 1
    if state.auction == NO_AUCTION and state.wanted == 0 and state.declaration < NOT_NAMED:
        return float(state.points[team] - state.points[1 - team]) / ALL_POINTS
    if state.auction == NO_AUCTION:
        worth = 1.0
    elif state.high_bid != SILENT:
        worth = auction.marks_of(state.high_bid) / MARKS_OF_A_GAME
    else:
        return 0.0
    return worth if auction.is_made(state) == (side == team) else -worth


@implements("observe", STATE)
def observe(state: State, kind: int, i: int) -> float:
    if kind == BIDS:
        return tokens.bidding(state, i)
    if kind == KNOWN:
        return float(known(state, i))
    if kind == OPEN:
        return float(open_hands(state, i))
    return float(tokens.all_hands(state, i) if kind == ALL else tokens.own_hand(state, i))


@implements("key", STATE)
def key(state: State) -> Word:
    word = scramble(uint64(state.hands[0]) | (uint64(state.hands[1]) << uint64(32)))
    word = scramble(word ^ uint64(state.hands[2]) ^ (uint64(state.hands[3]) << uint64(32)))
    shown = uint64(state.played)
    for seat in range(SEATS):
        shown |= uint64(state.voids[seat]) << uint64(TILES + SUITS * seat)
    word = scramble(word ^ shown)
    rest = uint64(state.points[0]) | (uint64(state.points[1]) << uint64(6))
    rest |= (uint64(state.declaration) << uint64(12)) | (uint64(state.texas42_mover) << uint64(16))
    rest |= (uint64(state.opener) << uint64(18)) | (uint64(state.phase) << uint64(20))
    for seat in range(SEATS):
        rest |= uint64(state.bids[seat]) << uint64(22 + 5 * seat)
    for place in range(state.plays & 3):
        rest |= uint64(state.history[(state.plays & ~3) + place] + 1) << uint64(42 + 5 * place)
    return scramble(word ^ rest)


# ---- for people ----------------------------------------------------------------------------------


def state_of(position: Position) -> State:
    """Return the record of a position of this game."""
    if not isinstance(position.game, Texas42):
        raise BadInput(f"a position of texas42 is needed here, not one of {position.game.name}")
    return position.state


def points(position: Position) -> tuple[int, int]:
    """Return the points that team 0 and team 1 have taken so far."""
    taken = state_of(position)["points"]
    return int(taken[0]), int(taken[1])


def voids(position: Position) -> list[set[int]]:
    """Return for each seat the suits, 7 for the called one, that it has shown not to hold."""
    return [{suit for suit in range(SUITS) if int(shown) >> suit & 1} for shown in state_of(position)["voids"]]


def held(position: Position) -> list[list[int] | None]:
    """Return the tiles each seat still holds, in increasing order; None for a hidden hand."""
    state = state_of(position)
    played = int(state["played"])
    return [
        None if state["tiles"][seat, 0] == NO_TILE else tiles_of(int(state["hands"][seat]) & ~played)
        for seat in range(SEATS)
    ]


def record(position: Position) -> list[tuple[Seat, int]]:
    """Return the plays so far in order, as (seat, tile)."""
    state = state_of(position)
    return [
        ((int(state["leaders"][i // 4]) + i) % 4, int(tile))
        for i, tile in enumerate(state["history"][: state["plays"]])
        if tile != NO_TILE  # of the seat that sits out
    ]


@register
class Texas42(Game):
    """One hand of Texas 42, with or without the auction."""

    name = "texas42"
    version = 1
    state = STATE
    summary = "four seats, two teams, seven tricks of dominoes; 42 points to take"
    seats = SEATS
    teams = (0, 1, 0, 1)
    information = "hidden"

    def __init__(
        self,
        auction: str = "none",
        declaration: str | int = "any",
        first: int = 0,
        bid: int = 0,
        mark_limit: int = MOST_MARKS,
        nello: str = "none",
        nello_marks: int = 1,
        splash: str | int = "none",
        splash_doubles: int = 3,
        plunge: int = 0,
        plunge_doubles: int = 4,
        sevens: str = "none",
        sevens_marks: int = 1,
    ):
        self.read_options(auction, declaration, first, bid, mark_limit)
        self.nello, self.nello_marks, self.sevens, self.sevens_marks = nello, nello_marks, sevens, sevens_marks
        self.splash, self.splash_doubles = splash, splash_doubles
        self.plunge, self.plunge_doubles = plunge, plunge_doubles
        self.read_house_options()
        self.actions = HAND if auction == "none" else FIRST_NAME + len(DECLARATIONS)
        self.most_legal = HAND if auction == "none" else 15  # a first bid: pass, twelve of points, two of marks
        if self.house:
            self.actions, self.most_legal = HOUSE_ACTIONS, 18  # two splashes and a plunge more
        self.longest = TILES if auction == "none" else SEATS + 1 + TILES
        self.observations = {
            "all": (tokens.ALL_TOKENS, tokens.ALL_FEATURES),
            "own": (tokens.OWN_TOKENS, tokens.OWN_FEATURES),
            "known": (KNOWN_TOKENS, KNOWN_FEATURES),
            "open": (OPEN_TOKENS, OPEN_FEATURES),
        }
        if auction != "none":
            self.observations["bidding"] = (tokens.BIDDING_NUMBERS + (SEATS if self.house else 0),)

    def read_options(self, auction: str, declaration: str | int, first: int, bid: int, mark_limit: int) -> None:
        """Check the options and keep them."""
        self.auction = one_of("option auction of texas42", auction, AUCTIONS)
        self.first = whole_number("option first of texas42", first, 0, SEATS - 1)
        self.mark_limit = whole_number("option mark_limit of texas42", mark_limit, 1, MOST_MARKS)
        self.bid = whole_number("option bid of texas42", bid, 0, ALL_POINTS)
        if 0 < self.bid < LEAST_POINTS:
            raise BadInput(f"option bid of texas42 must be 0 or in {LEAST_POINTS}..{ALL_POINTS}, not {bid!r}")
        try:
            self.declaration = "any" if declaration == "any" else NAMES[read_declaration(declaration)]
        except BadInput as error:
            raise BadInput(f"option declaration of texas42: {error}; or any, drawn with the deal") from None
        self.check_together()

    def read_house_options(self) -> None:
        """Check the options of the house contracts and keep them."""
        given = {name: getattr(self, name) for name in USUAL}
        for name, value in read_house(given, self.auction != "none", self.mark_limit).items():
            setattr(self, name, value)

    @property
    def house(self) -> bool:
        """Whether any house contract can be bid."""
        return any(getattr(self, name) != usual for name, usual in USUAL.items())

    def check_together(self) -> None:
        """Refuse options that would have no effect beside the others."""
        if self.auction == "none" and self.mark_limit != MOST_MARKS:
            raise BadInput(f"option mark_limit={self.mark_limit} of texas42 needs auction=redeal or auction=forced")
        if self.bid and self.declaration not in ("any", *DECLARATIONS):
            raise BadInput(f"option bid={self.bid} of texas42 does not go with {self.declaration}, won by tricks")
        for option, value, usual in (("declaration", self.declaration, "any"), ("bid", self.bid, 0)):
            if self.auction != "none" and value != usual:
                raise BadInput(f"option {option}={value} of texas42 needs auction=none; bidders choose their own")

    def set_options(self, state: State) -> None:
        state["auction"], state["mark_limit"] = AUCTIONS.index(self.auction), self.mark_limit
        state["first"], state["wanted"] = self.first, self.bid
        state["called"] = NOT_NAMED if self.declaration == "any" else NAMES.index(self.declaration)
        for name, value in packed({name: getattr(self, name) for name in USUAL}).items():
            state[name] = value

    def seat_name(self, seat: Seat) -> str:
        return notation.SEAT_NAMES[seat]

    def hide(self, state: State, seat: Seat) -> None:
        for other in range(SEATS):
            if other != seat:
                state["hands"][other] &= state["played"]
                state["tiles"][other] = NO_TILE

    def hidden_seats(self, state: State) -> list[Seat]:
        return [seat for seat in range(SEATS) if state["tiles"][seat, 0] == NO_TILE]

    def set_up(
        self,
        hands: Sequence[Hand],
        declaration: str | int | None,
        leader: Seat = 0,
        plays: Sequence[int | str] = (),
        bids: Sequence[str | int] = (),
    ) -> Position:
        """Return the position after some plays.

        A hand is seven tiles, given as ids or text, or None if it is hidden. With the auction `leader` speaks first and
        `bids` come in order; `declaration` is None until the highest bidder has named it.
        """
        states = self.empty_states()
        set_up(states[0], hands, declaration, leader, plays, bids)
        return Position(self, states)

    # -- text --

    def text(self, state: State) -> str:
        return notation.position_text(state, self.auction != "none")

    def parse(self, text: str, state: State) -> None:
        notation.parse_position(text, state, self.auction != "none", self.spec)
        if self.declaration not in ("any", NAMES[state["declaration"]]):
            named = NAMES[state["declaration"]]
            raise BadInput(f"position {text!r} is declared as {named}, but {self.spec} is always {self.declaration}")

    def draw(self, state: State) -> str:
        return notation.drawn(state, self.auction != "none")

    def move_text(self, state: State, action: Action) -> str:
        return notation.move_text(state, int(action))

    def parse_move(self, state: State, text: str) -> Action:
        return notation.parse_move(state, text, self.actions)
