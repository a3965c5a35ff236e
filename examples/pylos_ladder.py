"""A ladder of Pylos players on one scale, with intervals.

    python examples/pylos_ladder.py [GAMES]

Random moves, alpha-beta of two depths and the network that comes with the package meet each other in pairs of games
from random openings; one fit over all games gives the ratings.
"""

import itertools
import sys

import rookery
from rookery.arena.matches import MatchSettings, play_match
from rookery.arena.ratings import fit

PLAYERS = ("random", "alphabeta:depth=1", "alphabeta:depth=3", "net:zoo:pylos,sims=8")


def main(games: int = 4) -> None:
    game, results = rookery.load("pylos"), []
    for first, second in itertools.combinations(PLAYERS, 2):
        match = play_match(
            game,
            lambda text=first: rookery.make_player(text, game),
            lambda text=second: rookery.make_player(text, game),
            MatchSettings(games=games, seed=1, opening="random:4"),
        )
        print(f"{first:22} {match.score.wins:3} - {match.score.losses:<3} {second}")
        for number, record in match.records.items():
            players = (first, second) if number % 2 == 0 else (second, first)
            results.append((*players, record.first_score, 1))
    ratings = fit(results)
    print(f"\n{'player':22} {'Elo':>6}   95 % interval")
    for rating in ratings.ratings:
        low, high = rating.interval
        print(f"{rating.player:22} {rating.elo:6.0f}   {low:6.0f} .. {high:.0f}")
    print(f"\n{games} games of each pair: the intervals say how little that settles")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
