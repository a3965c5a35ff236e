"""How often is a game of Gomoku already won by fours, unseen by a player who looks two moves ahead?

    python examples/gomoku_fours.py [GAMES]

The first teacher of the curriculum, alpha-beta of depth 2, plays itself from random openings. Before each of its moves
a solver looks for a win by continuous fours: a row of forced replies that ends in five.
"""

import sys

import numpy as np

import rookery
from rookery.search.analysis import Limits
from rookery.search.gomoku_baseline import search
from rookery.search.gomoku_vcf import vcf


def main(games: int = 6) -> None:
    rng = np.random.default_rng(1)
    looked, won, missed, longest = 0, 0, 0, (0, None, ())
    for _ in range(games):
        position = rookery.load("gomoku:size=9").start()
        for _ in range(4):
            position.play(int(rng.choice(position.legal())))
        while not position.over:
            line = vcf(position, nodes=20_000)
            action = search(position, Limits(depth=2)).action
            looked, won = looked + 1, won + (line is not None)
            missed += line is not None and action != line[0]
            if line and len(line) > longest[0]:
                longest = (len(line), position.copy(), line)
            position.play(action)
    print(f"{games} games on 9 x 9, {looked} positions: {won} won by fours, another move chosen in {missed} of them")
    _, position, line = longest
    if position is not None:
        print(f"\nthe longest such win, {len(line)} moves, {position.game.seat_name(position.mover)} to move:")
        print(position.draw())
        print(" ".join(position.move_text(action) for action in line))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
