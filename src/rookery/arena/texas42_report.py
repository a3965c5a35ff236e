"""Texas 42 in lines for people: what plays are worth, who may hold what, what plays have cost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rookery.games.position import Position
from rookery.games.texas42 import points, voids
from rookery.games.texas42_auction import is_made
from rookery.games.texas42_house import sits_out
from rookery.games.texas42_tiles import CALLED, NAMES, NOT_NAMED, SEATS, TILES, tile_text
from rookery.search.expected import Expected, bids_of
from rookery.search.texas42_costs import Cost
from rookery.search.worlds import Worlds

SUIT_NAMES = ("blanks", "ones", "twos", "threes", "fours", "fives", "sixes", "the called suit")
COSTLY = 0.05  # points; less is not worth mentioning


def suit_name(suit: int) -> str:
    """Name a suit by its number."""
    return SUIT_NAMES[suit] if suit <= CALLED else str(suit)


def known_lines(position: Position, worlds: Worlds, bid: int | None = None) -> list[str]:
    """Say who is to play, what the contract is, who is void in what, and how many worlds are possible."""
    game, state = position.game, position.state
    needed = int(bids_of(position.states)[0]) if bid is None else bid
    declarer = int(state["declarer"])
    taken = points(position)[declarer % 2]
    team = " and ".join(game.seat_name(seat) for seat in (declarer, (declarer + 2) % SEATS))
    goal = f"{team} need {needed} points and have {taken}"
    if sits_out(state) >= 0:
        goal = f"{game.seat_name(declarer)} must lose every trick; {game.seat_name(sits_out(state))} sits out"
    elif state["declaration"] > NOT_NAMED:
        goal = f"{team} must take every trick"
    shown = [
        f"{game.seat_name(seat)} of {', '.join(suit_name(suit) for suit in sorted(suits))}"
        for seat, suits in enumerate(voids(position))
        if suits
    ]
    return [
        f"{game.seat_name(position.mover)} to play; {goal}",
        f"void: {'; '.join(shown) or 'nobody so far'}",
        f"possible worlds: {worlds.count:,}",
    ]


def play_lines(position: Position, found: Expected, q: np.ndarray | None = None, rule: str = "mean") -> list[str]:
    """Lay out what each play is worth, the best first; `q` [7] is exact, from the mover's side, if hands are open."""
    mine, best = position.state["tiles"][position.mover], found.choice(rule)
    values = found.mean if rule == "mean" else found.success
    lines = [f"{'play':7s}{'E[Q]':>8s}{'spread':>9s}{'P(make)':>10s}{'exact' if q is not None else '':>8s}".rstrip()]
    for slot in sorted(np.flatnonzero(found.legal), key=lambda slot: (slot != best, -values[slot])):
        name = tile_text(int(mine[slot])) + (" *" if slot == best else "")
        row = f"{name:7s}{found.mean[slot]:+8.2f}{found.spread[slot]:9.2f}{100 * found.make[slot]:8.1f} %"
        lines.append(row + (f"{q[slot]:+8.0f}" if q is not None else ""))
    return lines


def holder_lines(position: Position, worlds: Worlds) -> list[str]:
    """Lay out how likely each seat holds each tile that is not yet played, in percent."""
    chances, game = worlds.marginals(), position.game
    lines = [f"{'tile':5s}" + "".join(f"{game.seat_name(seat):>9s}" for seat in range(SEATS))]
    held = [tile for tile in range(TILES) if chances[tile].any()]
    return lines + [f"{tile_text(tile):5s}" + "".join(f"{100 * p:7.1f} %" for p in chances[tile]) for tile in held]


def end_without_points(position: Position) -> str:
    """Say how a hand ended in which points meant nothing, or nothing was played; empty for other hands."""
    state = position.state
    if not state["plays"]:
        return "all have passed; nothing was played"
    if state["declaration"] < NOT_NAMED:
        return ""
    end = "made" if is_made(state) else "set"
    name = NAMES[state["declaration"]]
    return f"{name} by {position.game.seat_name(int(state['declarer']))} is {end}; plays cost no points in it"


def cost_lines(position: Position, found: Sequence[Cost]) -> list[str]:
    """Lay out what each play has cost, and what each seat has given away in all."""
    game = position.game
    lines = [f"{'trick':6s}{'seat':7s}{'play':6s}{'cost':>7s}  {'better':8s}{'all open':>8s}  better"]
    for cost in found:
        known = tile_text(cost.known_best) if cost.known > COSTLY else ("forced" if cost.choices == 1 else "")
        seen = tile_text(cost.open_best) if cost.open > COSTLY else ""
        trick = str(cost.number // SEATS + 1) if cost.number % SEATS == 0 else ""
        row = f"{trick:6s}{game.seat_name(cost.seat):7s}{tile_text(cost.tile):6s}{cost.known:7.2f}  {known:8s}"
        lines.append((row + f"{cost.open:8.0f}  {seen}").rstrip())
    for seat in range(SEATS):
        mine = [cost for cost in found if cost.seat == seat]
        total = f"{'':6s}{game.seat_name(seat):7s}{'all':6s}{sum(c.known for c in mine):7.2f}  {'':8s}"
        lines.append(total + f"{sum(c.open for c in mine):8.0f}")
    return lines
