"""What each play of Texas 42 is worth, as bars: expected points, their spread, and the chance that the bid is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rookery.arena.player import Player, Turn
from rookery.arena.texas42_bidder import BidderPlayer
from rookery.arena.texas42_players import ExpectedPlayer
from rookery.drawing import number, rectangle, words
from rookery.games.texas42 import Texas42
from rookery.games.texas42_auction import PLAYING
from rookery.games.texas42_tiles import tile_text

ROW, HEAD = 24.0, 20.0
LEFT, RIGHT = 44.0, 214.0  # of the bars
MEAN_AT, MAKE_AT, WIDTH = 262.0, 326.0, 328.0
MUTED, TEXT, OWN, LINE = "var(--muted)", "var(--text)", "var(--accent)", "var(--line)"


@dataclass(frozen=True)
class Worth:
    """What one play is worth to its player."""

    play: str
    mean: float
    """expected points still to come, own team minus the other"""
    spread: float
    """their standard deviation over the deals that are possible"""
    make: float
    """chance that the declaring team makes its bid"""


def worths_of(player: Player, turn: Turn) -> tuple[Worth, ...]:
    """Ask a player that averages over deals what the plays are worth, the best first; none of other players."""
    inner = player.inner if isinstance(player, BidderPlayer) else player
    position = turn.position
    if not isinstance(position.game, Texas42) or not isinstance(inner, ExpectedPlayer):
        return ()
    if int(position.state["phase"]) != PLAYING:
        return ()
    inner.exact.stop = turn.stop
    found, tiles = inner.expected(turn), position.state["tiles"][position.mover]
    best = found.choice(inner.rule)
    order = sorted(np.flatnonzero(found.legal), key=lambda slot: (slot != best, -found.mean[slot]))
    return tuple(
        Worth(tile_text(int(tiles[slot])), float(found.mean[slot]), float(found.spread[slot]), float(found.make[slot]))
        for slot in order
    )


def worths_svg(worths: Sequence[Worth]) -> str:
    """Draw the worths as bars from zero, with a line as long as the spread to both sides."""
    if not worths:
        return ""
    low = min(0.0, *(one.mean - one.spread for one in worths))
    high = max(0.0, *(one.mean + one.spread for one in worths))
    unit = (RIGHT - LEFT) / max(high - low, 1e-9)
    height = HEAD + ROW * len(worths)
    rows = "".join(row(one, HEAD + ROW * (i + 0.5), low, unit) for i, one in enumerate(worths))
    zero = number(LEFT - low * unit)
    axis = f'<path d="M{zero} {number(HEAD - 2)}V{number(height)}" stroke="{LINE}" stroke-width="1.5"/>'
    head = words(0, 9, "play", 11, "start", MUTED) + words(LEFT, 9, "points to come, and spread", 11, "start", MUTED)
    head += words(MEAN_AT, 9, "E[Q]", 11, "end", MUTED) + words(MAKE_AT, 9, "P(make)", 11, "end", MUTED)
    size = f'viewBox="0 0 {number(WIDTH)} {number(height)}" width="100%"'
    return f'<svg {size} role="img" aria-label="{told(worths)}">{head}{axis}{rows}</svg>'


def row(one: Worth, y: float, low: float, unit: float) -> str:
    """Draw one play."""
    zero, end = LEFT - low * unit, LEFT + (one.mean - low) * unit
    bar = rectangle(min(zero, end), y - 6, max(abs(end - zero), 1), 12, OWN, 'rx="2" opacity="0.75"')
    reach = one.spread * unit
    ends = "".join(f"M{number(x)} {number(y - 4)}v8" for x in (end - reach, end + reach))
    whisker = f'<path d="M{number(end - reach)} {number(y)}H{number(end + reach)}{ends}" stroke="{TEXT}" fill="none"/>'
    numbers = words(MEAN_AT, y, f"{one.mean:+.1f}", 13, "end", TEXT)
    numbers += words(MAKE_AT, y, f"{100 * one.make:.0f} %", 13, "end", TEXT)
    return words(0, y, one.play, 13, "start", TEXT) + bar + whisker + numbers


def told(worths: Sequence[Worth]) -> str:
    """Say the same in words, for those who cannot see it."""
    return "; ".join(
        f"{one.play}: {one.mean:+.1f} points, spread {one.spread:.1f}, bid made {100 * one.make:.0f} %"
        for one in worths
    )
