"""What a play of Texas 42 is worth, and what it costs not to see the other hands.

    python examples/texas42_price.py [DEAL]

For the first play of a deal: points on average over sampled deals of the unseen tiles, and in the real deal with all
hands open.
"""

import sys

import rookery
from rookery.games.texas42 import held
from rookery.games.texas42_tiles import tile_text
from rookery.search.expected import expected
from rookery.search.solve.texas42 import Solver
from rookery.search.worlds import Worlds

WORLDS = 40


def main(deal: int = 7) -> None:
    position = rookery.load("texas42:declaration=sixes").start(deal)
    seat = position.mover
    team = 1 - 2 * (seat % 2)  # exact values are those of team 0
    hand = held(position)[seat]
    found = expected(position.seen_by(seat), WORLDS, seed=1)
    open_hands = team * Solver(threads=1).q(position.states).q[0].astype(int)
    print(f"deal {deal}, sixes are trumps, seat {seat} leads; {Worlds(position).count:,} deals are possible to it")
    print(f"{'tile':6} {'points, mean':>13} {'spread':>7} {'makes 30':>9} {'all hands open':>15}")
    for slot in sorted(range(7), key=lambda slot: -found.mean[slot]):
        line = f"{tile_text(hand[slot]):6} {found.mean[slot]:13.1f} {found.spread[slot]:7.1f}"
        print(f"{line} {found.make[slot]:9.0%} {open_hands[slot]:15d}")
    choice = int(found.choice("mean"))
    cost = open_hands.max() - open_hands[choice]
    print(f"it should lead {tile_text(hand[choice])}; with all hands open that costs {cost} points in this deal")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
