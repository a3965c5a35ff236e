"""The sections of the Pylos report about what was measured of finished networks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rookery.studies.intervals import Estimate, shown
from rookery.studies.markdown import table
from rookery.studies.pylos_findings import Findings


def exact_section(found: Findings) -> Iterator[str]:
    """Show how networks judge positions with exact values."""
    yield "## Positions with exact values"
    yield ""
    if not found.exact:
        yield "The stage judge was not done."
        yield ""
        return
    for game, sample in found.exact["samples"].items():
        yield f"### {game.capitalize()} game (`{sample['game']}`)"
        yield ""
        yield (
            f"{sample['positions']:,} positions of random games, {sample['draws']:,} of them draws. "
            f"{sample['unsolved']:,} more were passed over ({listed(sample['unsolved_by_left'])} with 1, 2, ... "
            f"spheres left), since they were not solved within {sample['most_positions']:,} positions: where these "
            f"are many, the sample leans towards easy positions. Seed {sample['seed']}. Signs are judged where the "
            "exact value is a win or a loss, moves where some of them would give it away; searches have "
            f"{found.exact['simulations']} simulations. Wilson intervals."
        )
        yield ""
        rows = []
        for name, judged in found.exact["networks"].items():
            for row in [*judged[game]["by_left"], judged[game]["all"]]:
                cells = [share_cell(row[key]) for key in ("signs", "search_signs", "moves", "search_moves")]
                errors = [f"{row[key]:.3f}" for key in ("error", "search_error")]
                rows.append((name, row["left"], row["positions"], cells[0], errors[0], cells[1], errors[1], *cells[2:]))
        head = (
            "network", "spheres left", "positions", "right sign, %", "mean error", "after search, %", "mean error",
            "policy keeps value, %", "search keeps value, %",
        )  # fmt: skip
        yield from table(head, rows)
        yield f"![exact values, {game} game](exact-{game}.png)"
        yield ""


def listed(numbers: Sequence[int]) -> str:
    """Write numbers in a row."""
    return ", ".join(map(str, numbers))


def share_cell(facts: Mapping[str, Any]) -> str:
    """Write a share in per cent with its interval and of how many."""
    if not facts["count"]:
        return "-"
    estimate = Estimate(facts["mean"], facts["low"], facts["high"], facts["count"])
    return f"{shown(estimate, 1, 0.01)} of {estimate.count}"


def empty_section(found: Findings) -> Iterator[str]:
    """Show what is thought of the empty board."""
    yield "## The empty board"
    yield ""
    networks = (found.empty or {}).get("networks", {})
    if not networks:
        yield "The stage empty was not done."
        yield ""
    for name, board in networks.items():
        yield f"`{name}`, `{board['game']}`, values for the player who begins. Theory says that the second player wins."
        yield ""
        rows = [("network alone", f"{board['network']:+.3f}", "-")]
        for search in board["searches"]:
            line = " ".join(search["line"])
            rows.append((f"{search['simulations']:,} simulations", f"{search['value']:+.3f}", line))
        yield from table(("", "value", "principal line"), rows)


def floor_section(found: Findings) -> Iterator[str]:
    """Show the irreducible loss."""
    yield "## The irreducible value loss"
    yield ""
    networks = (found.floor or {}).get("networks", {})
    if not networks:
        yield "The stage floor was not done."
        yield ""
        return
    yield (
        "Positions of self-play games were played to the end again and again by the same network with the settings of "
        "self-play; the variance of the outcome is the least value loss on such games. Intervals by bootstrap over "
        "positions."
    )
    yield ""
    rows = [
        (
            name, f"{each['positions']:,}", f"{each['replays']:,}", interval_cell(each["floor"], each["interval"]),
            interval_cell(each["value_loss"], each["value_loss_interval"]), f"{100 * each['draws']:.1f} %",
            plain_cell(each),
        )
        for name, each in networks.items()
    ]  # fmt: skip
    yield from table(
        ("network", "positions", "replays each", "floor", "its own value loss there", "draws", "floor, no discount"),
        rows,
    )


def plain_cell(facts: Mapping[str, Any]) -> str:
    """Write the floor of outcomes that are not discounted, where it is known."""
    known = "floor_without_discount" in facts
    return interval_cell(facts["floor_without_discount"], facts["interval_without_discount"]) if known else "-"


def interval_cell(value: float, ends: Sequence[float]) -> str:
    """Write a number with its interval."""
    return f"{value:.3f} ({ends[0]:.3f} .. {ends[1]:.3f})"


def probes_section(found: Findings) -> Iterator[str]:
    """Show what each block sees."""
    yield "## What each block sees"
    yield ""
    if not found.probes:
        yield "The stage probe was not done."
        yield ""
        return
    yield "![probes](probes.png)"
    yield ""
    lines = found.probes["predictions"]
    rows = [[line[key] for key in ("network", "blocks", "said", "concept", "measured", "verdict")] for line in lines]
    yield from table(("network", "blocks", "what was said", "concept", "what was measured", "verdict"), rows)
    for name, each in found.probes["networks"].items():
        yield f"### {name}"
        yield ""
        cells = []
        for layer, scores, plain in zip(each["layers"], each["scores"], each["untrained"], strict=True):
            cells.append((layer, *(f"{number(a)} ({number(b)})" for a, b in zip(scores, plain, strict=True))))
        yield "Score of a linear probe, in brackets that on a network of the same shape that was never trained."
        yield ""
        yield from table(("layer", *each["concepts"]), cells)
    settings = found.probes.get("settings", {})
    yield "Settings: " + ", ".join(f"{key} {value}" for key, value in settings.items()) + "."
    yield ""


def number(value: float | None) -> str:
    """Write a score; a dash where there is none."""
    return "-" if value is None else f"{value:.3f}"
