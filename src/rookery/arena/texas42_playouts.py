"""Deals of Texas 42 played out by players, and the table of what a hand can be bid on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rookery.arena.player import Player, turn_of, turn_seed
from rookery.arena.players import make_player
from rookery.errors import BadInput
from rookery.games.library import load
from rookery.games.position import Position
from rookery.games.texas42 import Texas42
from rookery.games.texas42_auction import ALL_POINTS, is_made
from rookery.games.texas42_tiles import DOUBLES_SUIT, NAMES, NOT_NAMED, read_declaration
from rookery.search.texas42_bidding import (
    BIDS,
    STRAIGHT,
    Chances,
    ExactPlay,
    chances_of,
    hand_position,
    promising,
)

HIGHEST = "42 and marks"


class PlayersPlay:
    """Play out deals by one player in all four seats, each seeing its own hand only."""

    def __init__(self, player: Player, seed: int = 0):
        self.player, self.seed, self.game = player, seed, Texas42(auction="redeal")

    def __call__(self, states: np.ndarray) -> np.ndarray:
        """Return the points [N] of the declaring team; 42 or 0 for a house contract made or set."""
        positions = [Position(self.game, states[i : i + 1].copy()) for i in range(len(states))]
        for ply in range(len(states[0]["history"])):
            going = [i for i, position in enumerate(positions) if not position.over]
            if not going:
                break
            turns = [
                turn_of(self.player, positions[i], positions[i], (), seed=turn_seed(self.seed, i, ply)) for i in going
            ]
            for i, choice in zip(going, self.player.choose_many(turns), strict=True):
                positions[i].play(choice.action)
        return np.array([points_of(position) for position in positions])


def points_of(position: Position) -> int:
    """Return what the declaring team has taken; of a house contract 42 or 0, as it is made or not."""
    state = position.state
    if state["declaration"] > NOT_NAMED:
        return ALL_POINTS * int(is_made(state))
    return int(state["points"][int(state["declarer"]) & 1])


def chances_for(
    spec: str, hand: str, worlds: int, seed: int, names: Sequence[str] | None, player: str | None, threads: int
) -> Chances:
    """Play out deals of a hand that is typed, with all declarations that may be named in a game, or some."""
    position = hand_position(hand, game_to_bid_in(spec))
    straight_and_house = promising(position.state, position.mover, len(STRAIGHT))
    declarations = [read_declaration(name) for name in names] if names else straight_and_house
    if DOUBLES_SUIT in declarations:
        raise BadInput(f"{NAMES[DOUBLES_SUIT]} is not one a bidder may name; nello-suit is the contract that uses it")
    if player is None:
        return chances_of(position, worlds, seed, declarations, ExactPlay(threads))
    made = make_player(player, position.game)
    try:
        return chances_of(position, worlds, seed, declarations, PlayersPlay(made, seed))
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


def bid_json(hand: str, chances: Chances, seed: int, player: str | None) -> dict[str, Any]:
    """Return the table for a program: each share with the ends of its 95 % interval."""
    low, high = chances.intervals()
    rows = [
        {
            "declaration": NAMES[declaration],
            "mean_points": float(chances.points[i].mean()),
            "make": {
                str(bid): [float(chances.shares[i, k]), float(low[i, k]), float(high[i, k])]
                for k, bid in enumerate(BIDS)
            },
        }
        for i, declaration in enumerate(chances.declarations)
    ]
    best = {str(bid): NAMES[chances.best(bid)] for bid in BIDS}
    return {"hand": hand, "deals": chances.deals, "seed": seed, "play": player or "exact", "rows": rows, "best": best}


def bid_lines(hand: str, chances: Chances, player: str | None) -> list[str]:
    """Write the table for a person, the best declaration for 30 first."""
    shares, means = chances.shares, chances.points.mean(1)
    low, high = chances.intervals()
    order = sorted(range(len(means)), key=lambda i: (-shares[i, 0], -means[i]))
    how = f"played by {player}" if player else "played exactly, all hands open"
    lines = [f"{hand}: {chances.deals} deals, {how}; how often each bid is made, in per cent", ""]
    lines.append(f"{'':11s} points " + " ".join(f"{bid:>4d}" for bid in BIDS))
    for i in order:
        cells = " ".join(f"{100 * share:4.0f}" for share in shares[i])
        lines.append(f"{NAMES[chances.declarations[i]]:11s} {means[i]:6.1f} {cells}")
    lines += ["", "marks need all 42; nello and sevens count as 42 if they are made", ""]
    for k, bid in enumerate(BIDS):
        if bid in (30, 31, 35, 40, ALL_POINTS):
            i = chances.declarations.index(chances.best(bid))
            ends = f"95 % interval {low[i, k]:.0%} .. {high[i, k]:.0%}"
            told = HIGHEST if bid == ALL_POINTS else str(bid)
            lines.append(f"{told:12s} {NAMES[chances.declarations[i]]:11s} {shares[i, k]:4.0%}   {ends}")
    return lines
