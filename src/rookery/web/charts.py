"""Charts as ECharts is told them, made by pure functions.

They are drawn as SVG, so that colours are those of the page and change with it between light and dark.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rookery.arena.ratings import Rating
from rookery.web.curves import Curve, Span

SERIES = tuple(f"var(--series-{number})" for number in range(1, 6))
MARKS = ("circle", "rect", "triangle", "diamond", "roundRect")
DASHES = ("solid", "dashed", "dotted")
BAND = 0.18  # opacity of a band
TEXT, MUTED, LINE, SURFACE = "var(--text)", "var(--muted)", "var(--line)", "var(--surface)"


def colour(number: int) -> str:
    """Return the colour of a curve; they come again with other dashes."""
    return SERIES[number % len(SERIES)]


def band(curve: Curve, number: int, axis: int) -> list[dict[str, Any]]:
    """Draw the band of a curve: its lower end, and on top of it what is missing to the upper one."""
    shared = {
        "type": "line", "stack": f"{axis} {curve.run}", "stackStrategy": "all", "symbol": "none", "silent": True,
        "lineStyle": {"opacity": 0}, "xAxisIndex": axis, "yAxisIndex": axis, "tooltip": {"show": False},
        "itemStyle": {"color": colour(number)}, "z": 1,
    }  # fmt: skip
    points = list(zip(curve.steps, curve.lows, curve.highs, strict=True))
    lower = {"data": [[step, low] for step, low, _ in points]}
    upper = {
        "data": [[step, high - low] for step, low, high in points],
        "areaStyle": {"color": colour(number), "opacity": BAND},
    }
    return [shared | lower, shared | upper]


def line(curve: Curve, number: int, axis: int) -> dict[str, Any]:
    """Draw a curve, with its name at its end."""
    return {
        "type": "line", "name": curve.run, "xAxisIndex": axis, "yAxisIndex": axis, "z": 3,
        "data": [[step, mean] for step, mean in zip(curve.steps, curve.means, strict=True)],
        "showSymbol": axis == 1 or len(curve.steps) < 2, "symbol": MARKS[number % len(MARKS)], "symbolSize": 6,
        "itemStyle": {"color": colour(number)},
        "lineStyle": {"color": colour(number), "width": 2, "type": DASHES[number // len(SERIES) % len(DASHES)]},
    }  # fmt: skip


def axis_pair(
    grid: int, name: str, ends: tuple[float, float], named_below: bool, logarithmic: bool = False
) -> tuple[dict[str, Any], ...]:
    """Return the axes of a grid, the lower one from end to end."""
    words = {"axisLabel": {"color": MUTED}, "axisLine": {"lineStyle": {"color": LINE}}, "gridIndex": grid}
    lines = {"splitLine": {"lineStyle": {"color": LINE}}}
    across = words | {"type": "value", "min": ends[0], "max": ends[1], "splitLine": {"show": False}}
    if named_below:
        across |= {"name": "games", "nameLocation": "middle", "nameGap": 26, "nameTextStyle": {"color": MUTED}}
    named = {"name": name, "nameTextStyle": {"color": MUTED, "align": "left"}, "scale": True}
    return across, words | lines | named | {"type": "log" if logarithmic else "value"}


def ends_of(curves: Sequence[Curve]) -> Span:
    """Return the first and the last step of some curves."""
    steps = [step for curve in curves for step in curve.steps]
    return min(steps, default=0.0), max(steps, default=1.0)


def training_options(
    figure: str,
    curves: Sequence[Curve],
    ratings: Sequence[Curve],
    logarithmic: bool = False,
    zoom: Span = (0.0, 100.0),
) -> dict[str, Any]:
    """Return a plot of a figure and, below it if there are any, of ratings: one zoom, in per cent, for both."""
    rated = any(curve.steps for curve in ratings)
    ends = ends_of([*curves, *ratings])
    pairs = [axis_pair(0, figure, ends, not rated, logarithmic)]
    grids = [{"left": 56, "right": 24, "top": 58, "height": 160 if rated else 280}]
    if rated:
        pairs.append(axis_pair(1, "Rating (Elo)", ends, True))
        grids.append({"left": 56, "right": 24, "top": 268, "height": 100})
    series: list[dict[str, Any]] = []
    for axis, group in enumerate([curves, ratings] if rated else [curves]):
        for number, curve in enumerate(group):
            if not (logarithmic and axis == 0):  # what is stacked has no place on a scale of ratios
                series += band(curve, number, axis)
            series.append(line(curve, number, axis))
    everywhere = {
        "xAxisIndex": list(range(len(pairs))), "filterMode": "none", "start": zoom[0], "end": zoom[1],
    }  # fmt: skip
    return {
        "animation": False,
        "legend": {"top": 4, "type": "scroll", "data": [curve.run for curve in curves], "textStyle": {"color": TEXT}},
        "tooltip": {
            "trigger": "axis", "backgroundColor": SURFACE, "borderColor": LINE, "textStyle": {"color": TEXT},
            "confine": True,
        },
        "axisPointer": {"link": [{"xAxisIndex": "all"}]},
        "grid": grids,
        "xAxis": [pair[0] for pair in pairs],
        "yAxis": [pair[1] for pair in pairs],
        "dataZoom": [{"type": "inside", **everywhere}, {"type": "slider", "bottom": 8, "height": 20, **everywhere}],
        "series": series,
    }  # fmt: skip


def ratings_options(ratings: Sequence[Rating], shown: Sequence[str]) -> dict[str, Any]:
    """Return a plot of ratings, the best on top, each a dot with its 95 % interval; fixed ones are hollow."""
    rows = list(zip(ratings, shown, strict=True))[::-1]
    bars = [
        {
            "type": "line", "silent": True, "symbol": "none", "z": 2,
            "lineStyle": {"color": SERIES[0], "width": 3}, "tooltip": {"show": False},
            "data": [[end, place] for end in rating.interval],
        }
        for place, (rating, _) in enumerate(rows)
        if rating.error
    ]  # fmt: skip
    dots = {
        "type": "scatter", "symbolSize": 11, "z": 3,
        "data": [
            {
                "value": [rating.elo, place],
                "itemStyle": {"color": SERIES[0] if rating.error else SURFACE, "borderColor": SERIES[0],
                              "borderWidth": 2},
            }
            for place, (rating, _) in enumerate(rows)
        ],
    }  # fmt: skip
    words = {"axisLabel": {"color": MUTED}, "axisLine": {"lineStyle": {"color": LINE}}}
    return {
        "animation": False,
        "grid": {"left": 8, "right": 24, "top": 12, "bottom": 40, "containLabel": True},
        "xAxis": words | {
            "type": "value", "scale": True, "name": "Elo", "nameLocation": "middle", "nameGap": 26,
            "nameTextStyle": {"color": MUTED}, "splitLine": {"lineStyle": {"color": LINE}},
        },
        "yAxis": words | {
            "type": "category", "data": [name for _, name in rows],
            "axisLabel": {"color": TEXT, "width": 190, "overflow": "truncate"},
        },
        "series": [*bars, dots],
    }  # fmt: skip
