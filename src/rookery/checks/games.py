"""Checks of many games: whether they differ, how they end, and whether parts that must differ share some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np

from rookery.checks.finding import Finding, Verdict, if_above, if_below, if_outside, percent
from rookery.games.game import Game

FEWEST_GAMES = 20
"""of which anything is said"""
OPENING_PLIES = 8
"""behind random ones, in which games should come apart"""
SAME_OPENING, ONE_OPENING = 0.25, 0.6
"""share of the commonest opening"""
DISTINCT, HARDLY_DISTINCT = 0.95, 0.5
"""share of games that are no repetition"""
DRAWS, ALL_DRAWN = 0.6, 0.95
CUT_OFF, MOSTLY_CUT_OFF = 0.2, 0.7
FIRST_MOVER, ALWAYS_ONE_SIDE = (0.1, 0.9), (0.01, 0.99)
LEAKED, MUCH_LEAKED = 0.01, 0.2


def canonical(game: Game | None, actions: Sequence[int]) -> tuple[int, ...]:
    """Return the beginning of a game so that mirror images give the same; without a game, as it is."""
    if game is None or not len(actions):
        return tuple(actions)
    tables = game.symmetries().actions
    turned: np.ndarray = tables[:, np.asarray(actions)]
    return min(tuple(row) for row in turned.tolist())


# ---- how different they are ----------------------------------------------------------------------


def opening_variety(openings: Sequence[Hashable], looked: str) -> list[Finding]:
    """Check that no opening is that of most games; games that begin alike have equal openings."""
    if len(openings) < FEWEST_GAMES:
        return []
    counts = Counter(openings)
    share = max(counts.values()) / len(openings)
    told = f"the commonest opening has {percent(share)} of them, {len(counts)} differ"
    verdict = if_above(share, SAME_OPENING, ONE_OPENING)
    return [Finding("opening-variety", verdict, share, told, f"at most {percent(SAME_OPENING)}", looked)]


def distinct_games(games: Sequence[Hashable], looked: str) -> list[Finding]:
    """Check that games are not played again and again."""
    if len(games) < FEWEST_GAMES:
        return []
    share = len(set(games)) / len(games)
    verdict = if_below(share, DISTINCT, HARDLY_DISTINCT)
    return [Finding("distinct-games", verdict, share, percent(share), f"at least {percent(DISTINCT)}", looked)]


def openings_of(game: Game | None, games: Sequence[Sequence[int]], random_plies: int = 0) -> list[tuple[int, ...]]:
    """Return how games begin, mirror images alike."""
    return [canonical(game, actions[: random_plies + OPENING_PLIES]) for actions in games]


# ---- how they end --------------------------------------------------------------------------------


def draws(share: float, looked: str) -> Finding:
    """Check that somebody wins now and then."""
    return Finding(
        "draws", if_above(share, DRAWS, ALL_DRAWN), share, percent(share), f"at most {percent(DRAWS)}", looked
    )


def cut_off(share: float, looked: str) -> Finding:
    """Check that games end by the rules, and not by a limit on plies or repetitions."""
    verdict = if_above(share, CUT_OFF, MOSTLY_CUT_OFF)
    return Finding("cut-off", verdict, share, percent(share), f"at most {percent(CUT_OFF)}", looked)


def first_mover(wins: float, losses: float, looked: str) -> list[Finding]:
    """Check that either side wins some of the games that are won; `wins` and `losses` are counts or shares."""
    if wins + losses <= 0:
        return []
    share = wins / (wins + losses)
    verdict = if_outside(share, FIRST_MOVER, ALWAYS_ONE_SIDE)
    if verdict is Verdict.WRONG:  # one side may win by theory, as in Gomoku
        verdict = Verdict.WARNING
    expected = f"{percent(FIRST_MOVER[0])} to {percent(FIRST_MOVER[1])}"
    return [Finding("first-mover", verdict, share, f"{percent(share)} of the games that are won", expected, looked)]


# ---- parts that must differ ----------------------------------------------------------------------


def split_leak(known: np.ndarray, apart: np.ndarray, looked: str) -> list[Finding]:
    """Check that what judges was not learned from.

    known  keys of what is learned from: positions, games or deals
    apart  keys of what is kept apart
    """
    if not len(known) or not len(apart):
        return []
    share = float(np.isin(apart, known).mean())
    verdict = if_above(share, LEAKED, MUCH_LEAKED)
    return [Finding("split-leak", verdict, share, percent(share), f"at most {percent(LEAKED)}", looked)]
