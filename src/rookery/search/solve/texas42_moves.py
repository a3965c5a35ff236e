"""Which tiles the solver of Texas 42 tries, and in which order.

Of tiles that can be exchanged for one another (`texas42_suits`) only the first is tried. The order decides how much of
the tree is seen: a move that settles the question should come first. A tile's score is a weighted sum of a few facts,
with weights of its own for each kind of move, that is, for what the trick will probably come to.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64

from rookery.games.bits import lowest_bit
from rookery.games.texas42_tiles import HAND, SEATS
from rookery.search.inner import inner
from rookery.search.solve.texas42_endings import following
from rookery.search.solve.texas42_suits import Suits

Level = Any  # one record of LEVEL; Any, because Numba types it by the dtype

LEVEL = np.dtype(
    [
        ("left", np.int32),  # tiles still held
        ("seat", np.int32),  # to move
        ("place", np.int32),  # tiles in the trick
        ("suit", np.int32),  # led
        ("winner", np.int32),  # seat that wins the trick so far
        ("best", np.int32),  # its tile
        ("worth", np.int32),  # points in the trick so far, 1 for the trick included
        ("gain", np.int32),  # points of team 0 on the way from the level above
        ("need", np.int32),  # points of team 0 that are asked for
        ("value", np.int32),  # best for the mover so far
        ("low", np.int32),  # bounds known on arrival
        ("high", np.int32),
        ("move", np.int32),  # tile being searched
        ("chosen", np.int32),  # tile that gave `value`
        ("count", np.int32),  # of the moves
        ("next", np.int32),  # index of the move to be tried next
        ("moves", np.int32, (HAND + 1,)),  # 32 * score + tile, best first
    ],
    align=True,
)
FIRST = 10_000  # score of the move that the table knows
# Weights were found by changing one at a time while that saved positions, on 150 deals (seeds 1000 to 1149).
LEAD_WEIGHTS = np.array(
    [  # base, count, rank, is trump, partner can add count, opponents forced to give count, may give count
        [140, 0, 3, -92, -10, 10, -10],  # no opponent can beat it
        [90, -2, 0, 64, -60, 10, -60],  # an opponent can, but the partner can beat all
        [-10, -16, -6, -6, -60, 10, -60],  # lost, if all play well
    ],
    np.int32,
)
FOLLOW_WEIGHTS = np.array(
    [  # base, count, rank in the led suit, rank in its own, highest of its own, alone in it, own hand has a higher one
        [200, 2, -2, 0, 0, -10, 0],  # wins the trick
        [184, 4, -4, 0, 0, 0, 0],  # takes it from the partner
        [140, 6, -1, -8, 0, 10, 0],  # leaves it to the partner, who will keep it
        [90, 0, -6, 4, -10, 30, 0],  # wins for now, but the next seat can beat it
        [20, -8, -2, -40, -60, 60, -30],  # does not win, but the partner, still to play, can
        [80, -20, -6, -32, 0, 0, -30],  # lost
    ],
    np.int32,
)
SURE, HELPED, BEATEN = 0, 1, 2
WINS, OVERTAKES, KEPT, FOR_NOW, LEFT_TO_PARTNER, LOST = 0, 1, 2, 3, 4, 5


@inner
def legal_tiles(suits: Suits, hand: int, place: int, suit: int) -> int:
    """Return the tiles of a hand that may be played."""
    return hand if place == 0 else following(suits, hand, suit)


@inner
def twin_of(suits: Suits, tiles: int, tile: int, left: int) -> int:
    """Return a lower one of these tiles for which a tile can be exchanged, or -1."""
    lower = int64(tiles) & ((int64(1) << tile) - 1)
    while lower != 0:
        other = lowest_bit(lower)
        if suits.apart[tile, other] & left == 0:
            return other
        lower &= lower - 1
    return -1


@inner
def add_move(level: Level, tile: int, score: int) -> None:
    """Put a move where its score belongs among those listed."""
    move, i = score * 32 + tile, int64(level.count)
    while i > 0 and level.moves[i - 1] < move:
        level.moves[i] = level.moves[i - 1]
        i -= 1
    level.moves[i] = move
    level.count += 1


@inner
def list_moves(level: Level, suits: Suits, own: int, second: int, third: int, fourth: int, known: int) -> None:
    """List the moves of a level, one of each kind, the most promising first; `second` is the hand after the mover's."""
    tiles = int64(legal_tiles(suits, own, level.place, level.suit))
    level.count = level.next = 0
    if tiles & (tiles - 1) == 0:
        level.moves[0] = lowest_bit(tiles)
        level.count = 1
    elif level.place == 0:
        list_leads(level, suits, tiles, second, third, fourth, known)
    else:
        list_follows(level, suits, tiles, own, second, third)


@inner
def can_save(suits: Suits, suit: int, helps: int, threats: int) -> bool:
    """Tell whether one of the partner's tiles cannot be beaten by the opponents'."""
    while helps != 0:
        if threats & suits.beats[suit, lowest_bit(int64(helps))] == 0:
            return True
        helps &= helps - 1
    return False


@inner
def list_leads(level: Level, suits: Suits, tiles: int, second: int, third: int, fourth: int, known: int) -> None:
    """List the leads with their scores."""
    counts, rest = suits.tens | suits.fives, int64(tiles)
    while rest != 0:
        tile = lowest_bit(rest)
        rest &= rest - 1
        if twin_of(suits, tiles, tile, level.left) >= 0:
            continue
        suit = int64(suits.leads[tile])
        beats = int64(suits.beats[suit, tile])
        left, right = following(suits, second, suit), following(suits, fourth, suit)
        partner = following(suits, third, suit)
        kind = SURE
        if (left | right) & beats != 0:
            kind = HELPED if can_save(suits, suit, partner & beats, left | right) else BEATEN
        weights = LEAD_WEIGHTS[kind]
        score = weights[0] + weights[1] * suits.count[tile] + weights[2] * (suits.strength[suit, tile] & 15)
        score += weights[3] * (suits.trumps >> tile & 1) + weights[4] * (partner & counts != 0)
        score += weights[5] * (int64(left & ~counts == 0) + int64(right & ~counts == 0))
        score += weights[6] * ((left | right) & counts != 0)
        add_move(level, tile, FIRST if tile == known else score)


@inner
def list_follows(level: Level, suits: Suits, tiles: int, own: int, second: int, third: int) -> None:
    """List the tiles that may be played to a trick under way, with their scores."""
    suit, seen = int64(level.suit), int64(level.left | (1 << level.best))
    beats = int64(suits.beats[suit, level.best])
    threats = int64(0) if level.place == SEATS - 1 else int64(following(suits, second, suit))
    ours = (level.winner ^ level.seat) & 1 == 0
    otherwise = KEPT if ours and threats & beats == 0 else LOST
    if level.place == 1 and can_save(suits, suit, following(suits, third, suit) & beats, threats):
        otherwise = LEFT_TO_PARTNER
    rest = int64(tiles)
    while rest != 0:
        tile = lowest_bit(rest)
        rest &= rest - 1
        if twin_of(suits, tiles, tile, seen) >= 0:
            continue
        kind = otherwise
        if beats >> tile & 1:
            kind = FOR_NOW if threats & suits.beats[suit, tile] != 0 else OVERTAKES if ours else WINS
        add_move(level, tile, score_follow(suits, kind, suit, tile, own, level.left))


@inner
def score_follow(suits: Suits, kind: int, suit: int, tile: int, own: int, left: int) -> int:
    """Say how early a tile of a hand should be tried in a trick under way."""
    weights, led = FOLLOW_WEIGHTS[kind], int64(suits.leads[tile])
    higher = int64(suits.beats[led, tile])
    score = weights[0] + weights[1] * suits.count[tile] + weights[2] * suits.strength[suit, tile]
    score += weights[3] * suits.strength[led, tile]
    score += weights[4] * (higher & ~suits.trumps & left & ~own == 0)
    score += weights[5] * (own & suits.follow[led] & ~(int64(1) << tile) == 0)
    return int(score + weights[6] * (higher & own != 0))
