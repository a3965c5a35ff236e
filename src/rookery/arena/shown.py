"""Matches and ratings as tables and pictures, for a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from rookery.arena.matches import Match
from rookery.arena.ratings import Rating, Ratings
from rookery.arena.report import signed
from rookery.drawing import INK, MARK, MUTED, RULE, block, circle, line, number, sheet, table, words

WIDTH, NAMES, MARGIN, ROW, FOOT = 640.0, 220.0, 30.0, 22.0, 26.0
TICKS = 5
LETTERS = 30  # of a player's name beside its bar


def match_html(match: Match) -> str:
    """Write the result of a match as a table, with the interval of its score drawn below."""
    score = match.score
    low, high = score.elo_interval
    rows = [
        (match.names[0], score.wins, score.draws, score.losses, f"{score.score:.1%}"),
        (match.names[1], score.losses, score.draws, score.wins, f"{1 - score.score:.1%}"),
    ]
    told = f"{match.game.spec}: {len(score.games)} games in {len(score.pairs)} pairs, seed {match.settings.seed}"
    found = table(("player", "wins", "draws", "losses", "score"), rows, told)
    if not score.pairs:
        return block(found)
    ends = score.interval
    told = f"Elo {signed(score.elo)}, 95 % within {signed(low)} .. {signed(high)}"
    return block(found, bars([(match.names[0], ends[0], score.score, ends[1], told)], (0.0, 1.0), "score of the first"))


def ratings_html(ratings: Ratings) -> str:
    """Write ratings as a table, with their 95 % intervals drawn below."""
    rows = [
        (
            rating.player, f"{rating.elo:.0f}", f"{rating.error:.0f}" if rating.error else "", rating.games,
            f"{rating.score:.1%}", rating.note,
        )
        for rating in ratings.ratings
    ]  # fmt: skip
    found = table(("player", "Elo", "error", "games", "score", ""), rows, f"{ratings.games} games")
    drawn = [(rating.player, *ends(rating), "") for rating in ratings.ratings]
    least, most = min(row[1] for row in drawn), max(row[3] for row in drawn)
    space = 0.05 * (most - least) or 10.0
    return block(found, bars(drawn, (least - space, most + space), "Elo, 95 % intervals"))


def ends(rating: Rating) -> tuple[float, float, float]:
    """Return lower end, rating and upper end."""
    low, high = rating.interval
    return low, rating.elo, high


def bars(rows: Sequence[tuple[str, float, float, float, str]], scale: tuple[float, float], label: str) -> str:
    """Draw one bar from the lower to the upper end of each row, with a dot at its middle value.

    rows   name, lower end, value, upper end, and what is written above the bar
    scale  the values at the left and right edge
    """
    left, right, height = NAMES, WIDTH - MARGIN, FOOT + ROW * len(rows)

    def across(value: float) -> float:
        return left + (right - left) * (value - scale[0]) / (scale[1] - scale[0])

    parts = []
    for i in range(TICKS):
        value = scale[0] + (scale[1] - scale[0]) * i / (TICKS - 1)
        parts.append(line([(across(value), 4), (across(value), height - FOOT)], RULE, 1))
        written = f"{value:.0f}" if scale[1] - scale[0] > 10 else number(value)
        parts.append(words(across(value), height - FOOT + 12, written, 11, fill=MUTED))
    for i, (name, low, value, high, told) in enumerate(rows):
        y = ROW * (i + 0.5)
        short = name if len(name) <= LETTERS else name[: LETTERS - 1] + "…"
        parts.append(words(left - 10, y, short, 12, "end", INK))
        parts.append(line([(across(low), y), (across(high), y)], MARK, 3))
        parts.append(f"<g>{circle(across(value), y, 5, MARK)}{hover(name, low, value, high, told)}</g>")
    return sheet(WIDTH, height, *parts, label=label)


def hover(name: str, low: float, value: float, high: float, told: str) -> str:
    """Say what a bar shows, for those who point at it or cannot see it."""
    text = told or f"{value:.0f}, 95 % within {low:.0f} .. {high:.0f}"
    return f"<title>{escape(f'{name}: {text}')}</title>"
