"""Matches and ratings as lines for people, and as values for programs."""

from __future__ import annotations

import math
from typing import Any

from rookery.arena.matches import Match
from rookery.arena.ratings import Rating, Ratings

SHOWN_REASONS = 8


def signed(elo: float) -> str:
    """Write an Elo difference; an interval may have no end."""
    return f"{elo:+.0f}" if math.isfinite(elo) else "no end"


def progress_note(match: Match) -> str:
    """Say how a match stands, in a few words."""
    score = match.score
    if not score.pairs:
        return ""
    low, high = score.elo_interval
    games = f"+{score.wins} ={score.draws} -{score.losses}"
    note = f"{games}  {100 * score.score:.1f} %  Elo {signed(score.elo)} [{signed(low)}, {signed(high)}]"
    return note if match.ratio is None else f"{note}  LLR {match.ratio:.2f}"


def match_lines(match: Match) -> list[str]:
    """Tell the result of a match."""
    score, settings = match.score, match.settings
    names = [f"A {match.names[0]}", f"B {match.names[1]}"]
    width = max(map(len, names))
    sides = [(names[0], score.wins, score.losses, score.score)]
    sides += [(names[1], score.losses, score.wins, 1.0 - score.score)]
    lines = [
        f"{match.game.spec}: {len(score.games)} games in {len(score.pairs)} pairs, openings {match.openings}, "
        f"seed {settings.seed}" + (f", time {settings.time_control}" if settings.time_control else ""),
        "",
        f"{'':{width}}   wins  draws losses   score  s/move",
    ]
    for side, (name, wins, losses, points) in enumerate(sides):
        thinking = match.seconds_a_move(side)
        lines.append(f"{name:{width}} {wins:6d} {score.draws:6d} {losses:6d} {100 * points:6.1f}% {thinking:7.3f}")
    low, high = score.elo_interval
    lines += [
        "",
        f"Elo difference of A       {signed(score.elo)}, 95 % within {signed(low)} .. {signed(high)} (from pairs)",
        f"likelihood of superiority {100 * score.superiority:.1f} %",
        f"pairs 0 .. 1 a game       {' '.join(f'{count}' for count in score.counts)}",
        f"who begins scores         {100 * match.first_team_score:.1f} %",
    ]
    return lines + sprt_lines(match) + reason_lines(match)


def sprt_lines(match: Match) -> list[str]:
    """Tell what a sequential test has found."""
    sprt, ratio = match.settings.sprt, match.ratio
    if sprt is None or ratio is None:
        return []
    found = {"H0": f"H0 accepted: {sprt.elo0:+g} Elo", "H1": f"H1 accepted: {sprt.elo1:+g} Elo"}
    verdict = found.get(match.verdict, "not decided")
    bounds = f"{sprt.lower:.2f} .. {sprt.upper:.2f}"
    return [
        f"SPRT {sprt.elo0:+g} against {sprt.elo1:+g}   {verdict} (ratio {ratio:.2f}, bounds {bounds}, "
        f"alpha {sprt.alpha:g}, beta {sprt.beta:g})"
    ]


def reason_lines(match: Match) -> list[str]:
    """Tell how the games ended, and which were left out."""
    reasons = match.reasons.most_common()
    lines = [f"{'ended by' if i == 0 else '':25s} {number:4d}  {reason}" for i, (reason, number) in enumerate(reasons)]
    if len(lines) > SHOWN_REASONS:
        lines = [*lines[:SHOWN_REASONS], f"{'':30s}and {len(lines) - SHOWN_REASONS} other reasons"]
    left = len(match.records) - len(match.counted)
    return [*lines, *([f"{left} more games are not counted: {why_left(match)}"] if left else [])]


def why_left(match: Match) -> str:
    """Say why finished games do not count."""
    return "they ended after the test was decided" if match.verdict else "their pairs are not complete"


def match_json(match: Match) -> dict[str, Any]:
    """Return the result of a match for a program."""
    settings, sprt = match.settings, match.settings.sprt
    test = None
    if sprt:
        test = {
            "elo0": sprt.elo0, "elo1": sprt.elo1, "alpha": sprt.alpha, "beta": sprt.beta, "ratio": match.ratio,
            "lower": sprt.lower, "upper": sprt.upper, "accepted": match.verdict or None,
        }  # fmt: skip
    return {
        "game": match.game.spec, "version": match.game.version, "first": match.names[0], "second": match.names[1],
        "match": match.identity, "seed": settings.seed, "openings": match.openings,
        "time_control": str(settings.time_control or "") or None, **match.score.as_dict(),
        "first_team_score": match.first_team_score, "seconds_a_move": [match.seconds_a_move(side) for side in (0, 1)],
        "reasons": dict(match.reasons), "sprt": test, "interrupted": match.interrupted,
    }  # fmt: skip


# ---- ratings -------------------------------------------------------------------------------------


def rating_line(rating: Rating, width: int) -> str:
    """Write one player's rating."""
    low, high = rating.interval
    interval = f"{low:7.0f} ..{high:6.0f}" if rating.error else f"{'':15s}"
    error = f"{rating.error:6.0f}" if rating.error else f"{'':6s}"
    line = f"{rating.player:{width}} {rating.elo:7.0f} {error} {interval} {rating.games:7d} {100 * rating.score:6.1f}%"
    return f"{line}  {rating.note}".rstrip()


def ratings_lines(ratings: Ratings, game: str) -> list[str]:
    """Tell the ratings of a game."""
    width = max(len(rating.player) for rating in ratings.ratings)
    lines = [f"{game}: {ratings.games} games", ""]
    groups = sorted({rating.group for rating in ratings.ratings})
    for group in groups:
        if len(groups) > 1:
            free = group in ratings.free_groups
            tied = "no pinned player: not to be compared with other groups" if free else "tied to the scale by its pins"
            lines.append(f"group {group + 1} of {len(groups)}, {tied}")
        lines.append(f"{'player':{width}}     Elo  error    95 % interval   games   score")
        lines += [rating_line(rating, width) for rating in ratings.ratings if rating.group == group]
        lines.append("")
    if len(groups) == 1 and ratings.free_groups:
        lines.append("no player is pinned: only differences mean something")
    share = f"equal players draw {100 * ratings.draws:.1f} % (error {100 * ratings.draws_error:.1f})"
    drawn = share if ratings.draws else "no game was drawn"  # 0.0 % without an error would claim too much
    beginning = f"beginning is worth {ratings.advantage:+.0f} Elo (error {ratings.advantage_error:.0f})"
    return [*lines, f"{beginning}; {drawn}"]


def ratings_json(ratings: Ratings, game: str, version: int) -> dict[str, Any]:
    """Return the ratings of a game for a program."""
    rows = [
        {
            "player": rating.player, "elo": rating.elo, "error": rating.error, "low": rating.interval[0],
            "high": rating.interval[1], "games": rating.games, "score": rating.score, "group": rating.group,
            "note": rating.note,
        }
        for rating in ratings.ratings
    ]  # fmt: skip
    return {
        "game": game, "version": version, "games": ratings.games, "pins": ratings.pins, "ratings": rows,
        "advantage": ratings.advantage, "advantage_error": ratings.advantage_error, "draws": ratings.draws,
        "draws_error": ratings.draws_error, "groups_without_pin": ratings.free_groups,
    }  # fmt: skip
