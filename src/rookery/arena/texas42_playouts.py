"""Deals of Texas 42 played out by players, and the table of what a hand can be bid on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rookery.arena.player import Player, turn_of, turn_seed
from rookery.arena.players import make_player
from rookery.errors import BadInput
from rookery.games.library import load
from rookery.games.position import Position
from rookery.games.rules import State
from rookery.games.texas42 import Texas42
from rookery.games.texas42_auction import ALL_POINTS, BID_TEXTS, ONE_MARK, PASS, is_made, points_needed
from rookery.games.texas42_tiles import DOUBLES_SUIT, NAMES, NOT_NAMED, read_declaration
from rookery.search.texas42_bidding import (
    BIDS,
    STRAIGHT,
    Chances,
    ExactPlay,
    chances_of,
    least_bid,
    promising,
)

HIGHEST = "42 and marks"
SKIPPED = tuple(str(bid) for bid in BIDS if bid not in (30, 31, 35, 40, ALL_POINTS))
"""bids of points whose best declaration is not told to people"""


class PlayersPlay:
    """Play out deals by one player in all four seats, each seeing its own hand only."""

    def __init__(self, player: Player, seed: int = 0, report: Callable[[float], None] = lambda deals: None):
        """Make it of a player; `report` hears how many deals are done since the last time, in parts of deals too."""
        self.player, self.seed, self.report, self.game = player, seed, report, Texas42(auction="redeal")

    def __call__(self, states: np.ndarray) -> np.ndarray:
        """Return the points [N] of the declaring team; 42 or 0 for a house contract made or set."""
        positions = [Position(self.game, states[i : i + 1].copy()) for i in range(len(states))]
        plies = len(states[0]["history"])
        for ply in range(plies):
            if going := [i for i, position in enumerate(positions) if not position.over]:
                self.play(positions, going, ply)
            self.report(len(states) / plies)
        return np.array([points_of(position) for position in positions])

    def play(self, positions: list[Position], going: list[int], ply: int) -> None:
        """Let the player choose in the deals that are not over."""
        turns = [turn_of(self.player, positions[i], positions[i], (), seed=turn_seed(self.seed, i, ply)) for i in going]
        for i, choice in zip(going, self.player.choose_many(turns), strict=True):
            positions[i].play(choice.action)


def points_of(position: Position) -> int:
    """Return what the declaring team has taken; of a house contract 42 or 0, as it is made or not."""
    state = position.state
    if state["declaration"] > NOT_NAMED:
        return ALL_POINTS * int(is_made(state))
    return int(state["points"][int(state["declarer"]) & 1])


def declarations_for(position: Position, names: Sequence[str] | None) -> list[int]:
    """Return the declarations to try with a hand: those that are named, or all that may be in its game."""
    declarations = [read_declaration(name) for name in names or ()]
    if DOUBLES_SUIT in declarations:
        raise BadInput(f"{NAMES[DOUBLES_SUIT]} is not one a bidder may name; nello-suit is the contract that uses it")
    return declarations or promising(position.state, position.mover, len(STRAIGHT))


def chances_for(
    position: Position, worlds: int, seed: int, declarations: Sequence[int], player: str | None, threads: int,
    report: Callable[[float], None] = lambda deals: None,
) -> Chances:  # fmt: skip
    """Play out deals of a hand with some declarations; `report` hears how many deals are done since the last time."""
    if player is None:
        return chances_of(position, worlds, seed, declarations, ExactPlay(threads, report=report))
    made = make_player(player, position.game)
    try:
        return chances_of(position, worlds, seed, declarations, PlayersPlay(made, seed, report))
    finally:
        made.close()


def game_to_bid_in(spec: str) -> Texas42:
    """Load a game of Texas 42 with an auction, straight 42 unless options are given; refuse those that need none."""
    game = load(spec)
    if not isinstance(game, Texas42):
        raise BadInput(f"hands of texas42 are bid on, not those of {game.spec}")
    if game.auction != "none":
        return game
    if game.options_text():
        raise BadInput(f"{game.spec} has no auction, and what its options say counts for nothing in a bid")
    return Texas42(auction="redeal")


# ---- telling -------------------------------------------------------------------------------------


def best_after(chances: Chances, least: Sequence[int], bid: int) -> int | None:
    """Return the row of the declaration that makes a bid most often, of those that may be named after it, if any."""
    rows = [i for i, each in enumerate(least) if each <= bid]
    shares, means = chances.share(points_needed(bid)), chances.points.mean(1)
    return max(rows, key=lambda i: (shares[i], means[i]), default=None)


def told_bids(least: Sequence[int]) -> dict[int, str]:
    """Name the bids to tell the best declaration of: of points, of one mark, and those that a house contract needs."""
    higher = sorted({bid for bid in least if bid > ONE_MARK})
    return {PASS + 1 + k: str(points) for k, points in enumerate(BIDS)} | {bid: BID_TEXTS[bid] for bid in higher}


def columns_of(least: int) -> range:
    """Return the columns of the table, one of each of BIDS, that count for a declaration with a lowest bid."""
    return range(min(least, ONE_MARK) - PASS - 1, len(BIDS))


def bid_json(hand: str, state: State, chances: Chances, seed: int, player: str | None) -> dict[str, Any]:
    """Return the table for a program: each share with the ends of its 95 % interval, null where it is no bid."""
    low, high = chances.intervals()
    least = [least_bid(state, declaration) for declaration in chances.declarations]
    rows = [
        {
            "declaration": NAMES[declaration],
            "mean_points": float(chances.points[i].mean()),
            "least_bid": BID_TEXTS[least[i]],
            "make": {str(bid): None for bid in BIDS}
            | {str(BIDS[k]): [float(ends[i, k]) for ends in (chances.shares, low, high)] for k in columns_of(least[i])},
        }
        for i, declaration in enumerate(chances.declarations)
    ]
    found = {name: best_after(chances, least, bid) for bid, name in told_bids(least).items()}
    best = {name: None if i is None else NAMES[chances.declarations[i]] for name, i in found.items()}
    return {"hand": hand, "deals": chances.deals, "seed": seed, "play": player or "exact", "rows": rows, "best": best}


def bid_lines(hand: str, state: State, chances: Chances, player: str | None) -> list[str]:
    """Write the table for a person, the best declaration for 30 first."""
    shares, means = chances.shares, chances.points.mean(1)
    least = [least_bid(state, declaration) for declaration in chances.declarations]
    order = sorted(range(len(means)), key=lambda i: (least[i], -shares[i, 0], -means[i]))
    how = f"played by {player}" if player else "played exactly, all hands open"
    lines = [f"{hand}: {chances.deals} deals, {how}; how often each bid is made, in per cent", ""]
    lines.append(f"{'':11s} points " + " ".join(f"{bid:>4d}" for bid in BIDS))
    for i in order:
        cells = ["   -"] * len(BIDS)
        for k in columns_of(least[i]):
            cells[k] = f"{100 * shares[i, k]:4.0f}"
        more = f"  after {BID_TEXTS[least[i]]}" if least[i] > ONE_MARK else ""
        lines.append(f"{NAMES[chances.declarations[i]]:11s} {means[i]:6.1f} {' '.join(cells)}{more}")
    lines += ["", "marks need all 42; nello and sevens are named after bids of marks, and count as 42 if made", ""]
    return lines + best_lines(chances, least)


def best_lines(chances: Chances, least: Sequence[int]) -> list[str]:
    """Name the best declaration for some bids, with the interval of its share."""
    (low, high), lines = chances.intervals(), []
    for bid, name in told_bids(least).items():
        i, k = best_after(chances, least, bid), min(bid, ONE_MARK) - PASS - 1
        if i is not None and name not in SKIPPED:
            ends = f"95 % interval {low[i, k]:.0%} .. {high[i, k]:.0%}"
            told = HIGHEST if bid == ONE_MARK else name
            lines.append(f"{told:12s} {NAMES[chances.declarations[i]]:11s} {chances.shares[i, k]:4.0%}   {ends}")
    return lines
