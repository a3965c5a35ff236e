"""A player of Texas 42 that bids by what its hand makes over sampled deals, and leaves the play to another player."""

from __future__ import annotations

from collections.abc import Sequence

from rookery.arena.player import Choice, Player, Turn
from rookery.arena.searching import Analyst
from rookery.arena.texas42_heuristic import HeuristicPlayer
from rookery.arena.texas42_playouts import PlayersPlay
from rookery.games.library import load
from rookery.games.position import Action, Position, Seat
from rookery.games.texas42_auction import (
    BID_TEXTS,
    BIDDING,
    FIRST_BID,
    FIRST_NAME,
    LAST_BID,
    PASS,
    PLAYING,
    may_bid,
    points_needed,
)
from rookery.games.texas42_tiles import NAMES
from rookery.search.analysis import Analysis, Line
from rookery.search.texas42_bidding import (
    ExactPlay,
    PlayOut,
    chance_of_bid,
    chances_after,
    chances_of,
    choose_bid,
    choose_declaration,
    promising,
)
from rookery.search.threads import Stopped

DEALS = 40
THRESHOLD = 0.9  # open hands flatter: of hands that make 30 in so many open deals, players make three in four
DECLARATIONS = 3


class BidderPlayer(Analyst):
    """A player that bids by thresholds; in the play it is the player it was given."""

    def __init__(
        self, inner: Player, worlds: int = DEALS, threshold: float = THRESHOLD, declarations: int = DECLARATIONS,
        by: str = "exact",
    ):  # fmt: skip
        self.inner, self.deals, self.threshold, self.declarations = inner, worlds, threshold, declarations
        self.exact = ExactPlay()
        self.play: PlayOut = self.exact if by == "exact" else PlayersPlay(HeuristicPlayer())
        self.at_terminal = inner.at_terminal

    def prepare(self, start: Position) -> None:
        """Compile what bidding and the play need."""
        self.inner.prepare(start)
        chances_of(load("texas42:auction=redeal").start(1), 1, play=self.play)

    def new_game(self, start: Position, seat: Seat) -> None:
        """Tell the player inside."""
        self.inner.new_game(start, seat)

    def close(self) -> None:
        """Close the player inside."""
        self.inner.close()

    def advice(self, turn: Turn) -> str:
        """Say what to bid or name and why; of the play the player inside knows more."""
        if turn.position.state["phase"] == PLAYING and isinstance(self.inner, Analyst):
            return self.inner.advice(turn)
        choice = self.choose(turn)
        why = choice.analysis.note if choice.analysis else ""
        return f"{self.name} would play {turn.position.move_text(choice.action)}" + (f"; {why}" if why else "")

    def choose(self, turn: Turn) -> Choice:
        """Bid, name a declaration, or let the other player play."""
        return self.choose_many([turn])[0]

    def choose_many(self, turns: Sequence[Turn]) -> list[Choice]:
        """Ask the player inside for all plays together."""
        plays = [turn for turn in turns if turn.position.state["phase"] == PLAYING]
        played = iter(self.inner.choose_many(plays) if plays else [])
        return [next(played) if turn.position.state["phase"] == PLAYING else self.in_auction(turn) for turn in turns]

    def in_auction(self, turn: Turn) -> Choice:
        """Bid or name; one that is told to stop takes the first thing that is allowed."""
        self.exact.stop = turn.stop
        try:
            found = self.bid(turn) if turn.position.state["phase"] == BIDDING else self.name_declaration(turn)
        except Stopped:
            return Choice(int(turn.position.legal()[0]))
        return Choice(found.action, found)

    def bid(self, turn: Turn) -> Analysis:
        """Choose a bid. What cannot reach the threshold for the lowest bid is not looked at to the end."""
        position, state = turn.position, turn.position.state
        lowest = next((bid for bid in range(PASS + 1, LAST_BID + 1) if may_bid(state, bid)), None)
        if lowest is None:
            return certain(FIRST_BID + PASS, "nothing higher may be bid")
        hopeless = (points_needed(lowest), self.threshold) if may_bid(state, PASS) else None
        candidates = promising(state, position.mover, self.declarations)
        chances = chances_of(position, self.deals, turn.seed, candidates, self.play, hopeless)
        bid = choose_bid(state, chances, self.threshold)
        told = bid if bid != PASS else lowest
        named, share = chances_after(state, chances, told), chance_of_bid(state, chances, told)
        if not named.declarations:
            return certain(FIRST_BID + PASS, f"no declaration makes {BID_TEXTS[lowest]} often enough")
        name = NAMES[named.best(points_needed(told))]
        note = f"{self.deals} deals: {name} makes {BID_TEXTS[told]} in {share:.0%}"
        value = 2 * share - 1 if bid != PASS else 0.0
        return Analysis(FIRST_BID + bid, value, (Line(FIRST_BID + bid, value),), self.deals, note=note)

    def name_declaration(self, turn: Turn) -> Analysis:
        """Choose the declaration that makes the contract most often."""
        position, state = turn.position, turn.position.state
        needed = points_needed(int(state["high_bid"]))
        candidates = promising(state, position.mover, self.declarations)
        chances = chances_of(position, self.deals, turn.seed, candidates, self.play)
        chosen = choose_declaration(state, chances)
        shares = dict(zip(chances.declarations, 2 * chances.share(needed) - 1, strict=True))
        order = sorted(shares, key=lambda declaration: (declaration != chosen, -shares[declaration]))
        lines = tuple(Line(FIRST_NAME + d, float(shares[d]), self.deals) for d in order)
        return Analysis(FIRST_NAME + chosen, lines[0].value, lines, self.deals, note=f"{self.deals} deals")


def certain(action: Action, note: str) -> Analysis:
    """Return an action that needs no numbers."""
    return Analysis(action, 0.0, (Line(action, 0.0),), 0, note=note)
