"""How contests stand, in words and tables, and the ratings of the ledger. Plain Python."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from rookery.arena.ledger import Ledger
from rookery.arena.ratings import Ratings, fit
from rookery.arena.score import Score
from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.pictures.scene import Picture, Scene
from rookery.web.contests import Contest, Live
from rookery.web.games import OFFERS, sides_of
from rookery.web.opponents import Opponent


def choices_of(opponents: Iterable[Opponent]) -> dict[str, str]:
    """Return all players by what a person reads: the kind and its strength."""
    found = {}
    for opponent in opponents:
        for level, text in opponent.levels:
            found[f"{opponent.name}, {level} {opponent.unit}" if opponent.unit else opponent.name] = text
    return found


def elo_text(elo: float) -> str:
    """Write an Elo difference with its sign."""
    return f"{elo:+.0f}" if math.isfinite(elo) else "+∞" if elo > 0 else "-∞"


def score_text(score: Score | None) -> str:
    """Say how a match stands, for its first player, with 95 % intervals."""
    if score is None or not score.pairs:
        return "No pair of games is finished yet."
    number, (low, high) = len(score.games), score.interval
    points = f"{sum(score.games):g} of {number} points ({100 * score.score:.0f} %)"
    if len(score.pairs) < 2:
        return f"{points}. An interval needs two pairs of games."
    ends = " to ".join(map(elo_text, score.elo_interval))
    return f"{points}, 95 % interval {100 * low:.0f} to {100 * high:.0f} %. Elo {elo_text(score.elo)} ({ends})."


def crosstable(contest: Contest) -> list[list[tuple[str, float | None]]]:
    """Return a row for each player: its score against each, as text and from 0 to 1, and in the end its points."""
    number, rows = len(contest.order.texts), []
    for one in range(number):
        row: list[tuple[str, float | None]] = []
        points = games = 0.0
        for other in range(number):
            score = contest.scores.get((min(one, other), max(one, other))) if one != other else None
            if score is None or not score.pairs:
                row.append(("–" if one == other else "", None))
                continue
            share = score.score if one < other else 1 - score.score
            points, games = points + share * len(score.games), games + len(score.games)
            row.append((f"{share * len(score.games):g} / {len(score.games)}", share))
        rows.append([*row, (f"{points:g} / {games:g}" if games else "", points / games if games else None)])
    return rows


def live_picture(live: Live) -> Picture:
    """Draw a game that is being played, nothing hidden; nobody can move in it."""
    return replace(OFFERS[live.position.game.name].draw(Scene(live.position, live.start, live.actions, 0)), ways=())


def live_text(live: Live, labels: Sequence[str]) -> tuple[str, str, str]:
    """Say who plays each side of a game, and how far it is."""
    sides = sides_of(live.position.game)
    players = [f"{side}: {labels[number]}" for side, number in zip(sides, live.holders, strict=True)]
    if not live.position.over:
        return players[0], players[1], f"move {len(live.actions)}"
    payoff = live.position.payoff(live.position.game.teams.index(0))
    ended = f"{sides[0] if payoff > 0 else sides[1]} won" if payoff else "a draw"
    return players[0], players[1], f"{ended} after {len(live.actions)} moves"


def ledger_ratings(game: Game, ledger: Path | None) -> Ratings | None:
    """Fit the ratings of a game to the games of the ledger; None if there are none."""
    try:
        with Ledger(ledger, create=False) as opened:
            results = opened.results(game.spec, game.version)
    except (BadInput, OSError):
        return None
    return fit(results) if results else None
