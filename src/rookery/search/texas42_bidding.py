"""What a hand of Texas 42 can be bid on: how often each declaration makes each bid, over deals of the other hands.

    chances = chances_of(hand_position("6-6,6-5,6-4,6-2,5-5,1-0,0-0"), deals=200, seed=1)
    chances.made                 [D, 13] deals in which a declaration takes 30, 31, ..., 41, 42 points
    chances.best(30)             the declaration that takes 30 most often

The other hands are dealt at random, as far as bids have told nothing of them, and the same deals serve every
declaration: one is fixed first, then its deals are averaged, so a bidder never uses what it cannot know. How a deal is
played out is a function of its own. The usual one solves it, all hands open. That is fast and the same for everyone,
but flatters bidder and defenders alike; players that see only their hands can take its place.

Nello and sevens have no points: they count as 42 where they are made, and as 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rookery.errors import BadInput
from rookery.games.position import Position
from rookery.games.rules import State
from rookery.games.texas42 import Texas42, state_of
from rookery.games.texas42_auction import (
    ALL_POINTS,
    BIDDING,
    LAST_BID,
    LEAST_POINTS,
    NAMING,
    ONE_MARK,
    PASS,
    PLAYING,
    marks_of,
    may_bid,
    may_name,
    points_needed,
)
from rookery.games.texas42_setup import read_hands
from rookery.games.texas42_tiles import DOUBLES_SUIT, NAMES, NO_TRUMP, NOT_NAMED, PAIRS, tiles_of
from rookery.search.solve.texas42 import Report, Solver, ignore
from rookery.search.solve.texas42_house import makes
from rookery.search.threads import Stopped
from rookery.search.worlds import one_seed, worlds_of

BIDS = tuple(range(LEAST_POINTS, ALL_POINTS + 1))
STRAIGHT = tuple(declaration for declaration in range(NOT_NAMED) if declaration != DOUBLES_SUIT)
"""what may be named in straight 42"""
DOUBLES = 7
Z95 = 1.959964
SLICE = 8  # deals between two looks at whether a declaration is hopeless

PlayOut = Callable[[np.ndarray], np.ndarray]
"""states [N] at the first lead, all hands open -> points [N] that the declaring team takes"""


class ExactPlay:
    """Play out deals with all hands open, everyone at his best."""

    def __init__(self, threads: int = 1, stop: np.ndarray | None = None, report: Report = ignore):
        """Make it with so many threads; once `stop` (one element) is 1, it gives up and raises `Stopped`.

        `report` hears of deals that are done: how many since the last time.
        """
        self.threads, self.stop, self.report = threads, stop, report
        self.solver = Solver(threads)

    def __call__(self, states: np.ndarray) -> np.ndarray:
        """Return the points [N] of the declaring team; 42 or 0 for a house contract made or set."""
        points = np.zeros(len(states), np.int64)
        house = states["declaration"] > NOT_NAMED
        if house.any():
            made = makes(states[house], self.threads, self.stop)
            if self.stop is not None and self.stop[0]:
                raise Stopped
            ours = (states["declarer"] & 1) == (states["texas42_mover"] & 1)
            best = np.where(ours[house], (made == 1).any(1), ~(made == 0).any(1))
            points[house] = ALL_POINTS * best
            self.report(int(house.sum()))
        if not house.all():
            values = self.solver.values(states[~house], self.stop, self.report).astype(np.int64)
            sides = 1 - 2 * (states["declarer"][~house].astype(np.int64) & 1)
            points[~house] = (ALL_POINTS + sides * values) // 2
        return points


@dataclass(frozen=True)
class Chances:
    """What a hand takes with each of D declarations in the same N deals."""

    declarations: tuple[int, ...]
    points: np.ndarray
    """[D, N] of the bidder's team"""

    @property
    def deals(self) -> int:
        """How many deals were played out with each declaration."""
        return int(self.points.shape[1])

    @property
    def made(self) -> np.ndarray:
        """[D, 13] deals in which a bid of 30..42 is made; a bid of marks needs 42."""
        return np.asarray((self.points[:, :, None] >= np.array(BIDS)).sum(1))

    @property
    def shares(self) -> np.ndarray:
        """[D, 13] the same as shares."""
        return np.asarray(self.made / self.deals)

    def intervals(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends [D, 13] of 95 % intervals of the shares, by Wilson."""
        return wilson(self.made, self.deals)

    def share(self, points: int) -> np.ndarray:
        """Return how often [D] a number of points is reached."""
        return np.asarray((self.points >= points).mean(1))

    def best(self, points: int) -> int:
        """Return the declaration that reaches a number of points most often; the mean decides ties."""
        order = np.lexsort((-self.points.mean(1), -self.share(points)))
        return self.declarations[int(order[0])]


def wilson(made: np.ndarray, tries: int) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of Wilson's 95 % interval of shares."""
    share, weight = made / tries, Z95**2 / tries
    centre = (share + weight / 2) / (1 + weight)
    half = np.sqrt(share * (1 - share) * weight + weight**2 / 4) / (1 + weight)
    return np.minimum(share, np.maximum(0.0, centre - half)), np.maximum(share, np.minimum(1.0, centre + half))


# ---- deals ---------------------------------------------------------------------------------------


def hand_position(hand: str | Sequence[int | str], game: Texas42 | None = None) -> Position:
    """Return the first position of a hand whose holder speaks first, nothing else being known.

    The hand is text like "6-6,6-5,..." or a list of tiles; the game has an auction, and is straight 42 unless given.
    """
    listed = [tile for tile in hand.replace(",", " ").split() if tile] if isinstance(hand, str) else hand
    own = read_hands([listed, None, None, None])[0]
    return (game or Texas42(auction="redeal")).set_up([own, None, None, None], None, 0)


def contracts(states: np.ndarray, declaration: int, declarer: int, leader: int) -> np.ndarray:
    """Return deals as they stand when a declaration has just been named; those of the auction or of a first lead."""
    begun = states.copy()
    begun["phase"], begun["declaration"], begun["declarer"] = PLAYING, declaration, declarer
    begun["texas42_mover"] = begun["leaders"][:, 0] = leader
    return begun


def chances_of(
    position: Position,
    deals: int = 100,
    seed: int = 0,
    declarations: Sequence[int] = STRAIGHT,
    play: PlayOut | None = None,
    hopeless: tuple[int, float] | None = None,
) -> Chances:
    """Play out deals for the seat to speak, with each declaration; the other hands are not looked at.

    `hopeless` names points and a share: a declaration is left out as soon as it cannot reach the points in that share
    of the deals any more. After splash and plunge the partner of the bidder names, and leads.
    """
    state = state_of(position)
    if state["phase"] not in (BIDDING, NAMING):
        raise BadInput(f"there is nothing to bid on in {position.text()!r}: a declaration has been named")
    out, seat = play or ExactPlay(), position.mover
    declarer = int(state["declarer"]) if state["phase"] == NAMING else seat
    worlds = worlds_of(position.seen_by(seat).states, deals, one_seed(seed)).states
    points = {d: played_out(contracts(worlds, d, declarer, seat), out, hopeless) for d in declarations}
    kept = {declaration: taken for declaration, taken in points.items() if len(taken) == deals}
    return Chances(tuple(kept), np.array(list(kept.values()), np.int64).reshape(len(kept), deals))


def played_out(states: np.ndarray, play: PlayOut, hopeless: tuple[int, float] | None) -> np.ndarray:
    """Return the points of deals, or of fewer if they become hopeless on the way."""
    if hopeless is None:
        return play(states)
    (needed, share), taken = hopeless, np.zeros(0, np.int64)
    while len(taken) < len(states):
        taken = np.concatenate([taken, play(states[len(taken) : len(taken) + SLICE])])
        failed = int((taken < needed).sum())
        if (len(states) - failed) / len(states) < share:
            return taken[: len(states) - 1]
    return taken


# ---- the bidder ----------------------------------------------------------------------------------


def strength(tiles: Sequence[int], declaration: int) -> int:
    """Guess how good a declaration is for a hand: trumps, the trump double once more, and other doubles count."""
    doubles = sum(PAIRS[tile][0] == PAIRS[tile][1] for tile in tiles)
    if declaration == NO_TRUMP:
        return 2 * doubles
    if declaration == DOUBLES:
        return 3 * doubles
    trumps = sum(declaration in PAIRS[tile] for tile in tiles)
    has_double = any(PAIRS[tile] == (declaration, declaration) for tile in tiles)
    return 2 * trumps + has_double + doubles


def promising(state: State, seat: int, most: int) -> list[int]:
    """Return the declarations that look best for a seat's hand, and all house contracts that may be named."""
    tiles = tiles_of(state["hands"][seat])
    straight = sorted(STRAIGHT, key=lambda declaration: -strength(tiles, declaration))[:most]
    return sorted(straight) + [d for d in range(NOT_NAMED + 1, len(NAMES)) if may_be_named(state, d)]


def may_be_named(state: State, declaration: int) -> bool:
    """Tell whether a house contract may be named now, or could be by who wins the auction with the most marks."""
    if state["phase"] == NAMING:
        return bool(may_name(state, declaration))
    won = np.array([state])
    won["high_bid"] = ONE_MARK + int(state["mark_limit"]) - 1
    return bool(may_name(won[0], declaration))


def after_bid(state: State, declaration: int, bid: int) -> bool:
    """Tell whether who wins the auction with a bid may name a declaration."""
    won = np.array([state])
    won["high_bid"] = bid
    return bool(may_name(won[0], declaration))


def least_bid(state: State, declaration: int) -> int:
    """Return the lowest bid after which a declaration may be named; one mark for a contract that is not played."""
    bids = range(PASS + 1, LAST_BID + 1)
    return next((bid for bid in bids if after_bid(state, declaration, bid)), ONE_MARK)


def chances_after(state: State, chances: Chances, bid: int) -> Chances:
    """Return the chances of the declarations that may be named after a bid."""
    allowed = [i for i, declaration in enumerate(chances.declarations) if after_bid(state, declaration, bid)]
    return Chances(tuple(chances.declarations[i] for i in allowed), chances.points[allowed])


def chance_of_bid(state: State, chances: Chances, bid: int) -> float:
    """Return how often a bid is made with the best declaration that may be named after it."""
    return float(chances_after(state, chances, bid).share(points_needed(bid)).max(initial=0.0))


def choose_bid(state: State, chances: Chances, threshold: float) -> int:
    """Return the bid to make, of those whose chance reaches a threshold: the one that promises most marks.

    Of bids that promise the same the highest is taken, since it costs nothing and is harder to outbid. Where none is
    good enough it is a pass, or the lowest bid if passing is not allowed. Splash and plunge are not bid.
    """
    allowed = [bid for bid in range(PASS + 1, LAST_BID + 1) if may_bid(state, bid)]
    chance = {bid: chance_of_bid(state, chances, bid) for bid in allowed}
    good = [bid for bid in allowed if chance[bid] >= threshold]
    if not good:
        return PASS if may_bid(state, PASS) else allowed[0]
    return max(good, key=lambda bid: (marks_of(bid) * (2 * chance[bid] - 1), bid))


def choose_declaration(state: State, chances: Chances) -> int:
    """Return the declaration that makes the contract most often, of those that may be named."""
    bid = int(state["high_bid"])
    return chances_after(state, chances, bid).best(points_needed(bid))
