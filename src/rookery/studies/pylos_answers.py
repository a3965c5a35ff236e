"""The seed's questions, answered from numbers: what was said, what was measured, and whether it is so.

Every function takes estimates and returns an answer; what was not measured makes it an open question. A verdict needs
the whole interval on one side, where there is an interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rookery.studies.intervals import Estimate, contrast, difference, shown
from rookery.studies.verdicts import NO, OPEN, YES, Answer

TARGET = 0.15
START = (0.7, 0.9)
FLOOR = (0.05, 0.08)
REACHED = 0.25
BY = {"v5": 50_000, "v4": 100_000}
PLATEAUS = {"v3": 0.33, "v4": 0.25}
NEAR_PLATEAU = 0.05
"""a plateau this close to what was said counts as it"""

NEARLY = 0.9
"""games shorter than this share of the usual length are called short"""
EVEN = 0.1
"""a value this close to 0 says nothing of who wins"""


def below(estimate: Estimate | None, level: float) -> str:
    """Tell whether a number is below a level; open where its interval holds the level."""
    if estimate is None:
        return OPEN
    if not estimate.known:
        return YES if estimate.mean < level else NO
    return YES if estimate.high < level else NO if estimate.low >= level else OPEN


def within(estimate: Estimate | None, low: float, high: float) -> str:
    """Tell whether a number lies in a range; open where its interval reaches over an end."""
    if estimate is None:
        return OPEN
    ends = (estimate.low, estimate.high) if estimate.known else (estimate.mean, estimate.mean)
    if low <= ends[0] and ends[1] <= high:
        return YES
    return NO if ends[1] < low or ends[0] > high else OPEN


def target_answer(value: Estimate | None, decisive: Estimate | None, draws: Estimate | None, games: int) -> Answer:
    """Answer whether V5's value loss falls below 0.15; a loss that draws have lowered does not count."""
    question, said = "Does V5's value loss fall below 0.15?", "below 0.15"
    if value is None:
        return Answer(OPEN, "V5 was not trained", question, said)
    told = (
        f"{shown(value)} over the last tenth of {games:,} games, one run; of decisive games alone {shown(decisive)}, "
        f"with {shown(draws, 1, 0.01)} % of games drawn"
    )
    verdict = below(value, TARGET)
    if verdict == YES and below(decisive, TARGET) != YES:
        return Answer("no: only draws bring it there", told, question, said)
    return Answer(verdict, told, question, said)


def start_answer(
    first: Mapping[str, float | None], plies: float | None = None, usual: Estimate | None = None
) -> Answer:
    """Answer whether the value loss begins at 0.7 to 0.9.

    plies  length of the games it is the loss of, and the usual length: of many games side by side the shortest end
           first, and those are easier to judge
    """
    question, said = "Is V5's value loss 0.7 to 0.9 at the start?", "0.7 to 0.9"
    value = first.get("v5")
    if value is None:
        return Answer(OPEN, "V5 was not trained", question, said)
    others = ", ".join(f"{name} {loss:.3f}" for name, loss in first.items() if loss is not None and name != "v5")
    told = f"{value:.3f} in the first line of figures, about a second of training" + (f" ({others})" if others else "")
    if plies is not None and usual is not None and plies < NEARLY * usual.mean:
        told += f"; of the games that ended first, which are short: {plies:.0f} plies, {usual.mean:.0f} at the end"
    return Answer(YES if START[0] <= value <= START[1] else NO, told, question, said)


def reached_answer(name: str, near: Estimate | None, reached: int | None, games: int) -> Answer:
    """Answer whether a run reaches 0.25 by the games that were said."""
    by = BY[name]
    question, said = f"Does {name.upper()} reach a value loss of 0.25 by {by:,} games?", f"0.25 by {by:,} games"
    if not games:
        return Answer(OPEN, f"{name.upper()} was not trained", question, said)
    when = f"first at or below 0.25 after {reached:,} games" if reached else f"never at 0.25 in {games:,} games"
    if near is None:
        verdict = YES if reached and reached <= by else OPEN
        return Answer(verdict, f"the run has {games:,} games only; {when}", question, said)
    verdict = YES if reached and reached <= by else below(near, REACHED)
    return Answer(verdict, f"{shown(near)} around {by:,} games; {when}", question, said)


def plateau_answer(name: str, value: Estimate | None) -> Answer:
    """Answer whether a run ends near the loss at which the original's got stuck."""
    level = PLATEAUS[name]
    question, said = f"Does {name.upper()} end near {level}?", f"a plateau of {level}"
    if value is None:
        return Answer(OPEN, f"{name.upper()} was not trained", question, said)
    verdict = within(value, level - NEAR_PLATEAU, level + NEAR_PLATEAU)
    return Answer(verdict, f"{shown(value)} over the last tenth of its games, one run", question, said)


def floor_answer(networks: Mapping[str, Mapping[str, Any]]) -> Answer:
    """Answer whether the least possible value loss is 0.05 to 0.08."""
    question, said = "Is the irreducible value loss 0.05 to 0.08?", "0.05 to 0.08"
    if not networks:
        return Answer(OPEN, "the stage floor was not done", question, said)
    estimates = {
        name: Estimate(found["floor"], found["interval"][0], found["interval"][1], found["positions"])
        for name, found in networks.items()
    }
    told = "; ".join(f"{name}: {shown(found)}, {found.count:,} positions" for name, found in estimates.items())
    main = estimates.get("v5") or next(iter(estimates.values()))
    return Answer(within(main, *FLOOR), told, question, said)


# ---- ablations -----------------------------------------------------------------------------------

Groups = Mapping[str, Sequence[float]]
"""values of the seeds of each ablation"""


def effects(groups: Groups) -> dict[str, Estimate]:
    """Return what depth and the richer observation add, each averaged over the other; empty if a group is missing."""
    if not all(groups.get(name) for name in ("v4", "v5", "v5-basic", "v4-rich")):
        return {}
    v4, v5, basic, rich = (groups[name] for name in ("v4", "v5", "v5-basic", "v4-rich"))
    return {
        "depth": contrast([(0.5, v5), (0.5, basic), (-0.5, v4), (-0.5, rich)]),
        "observation": contrast([(0.5, v5), (0.5, rich), (-0.5, v4), (-0.5, basic)]),
    }


def is_beyond(estimate: Estimate, sign: int) -> bool:
    """Tell whether a whole interval lies on one side of 0."""
    return estimate.known and (estimate.low > 0 if sign > 0 else estimate.high < 0)


def cause_answer(losses: Groups, elos: Groups) -> Answer:
    """Answer whether depth or the richer observation lowers the value loss."""
    question = "Is it depth or the richer observation that lowers the value loss?"
    said = "both: six blocks see too little, and support and freedom need not be found out"
    found = effects(losses)
    if not found:
        return Answer(OPEN, "the four ablations are not all there", question, said)
    told = "; ".join(f"{name} changes the value loss by {shown(estimate)}" for name, estimate in found.items())
    strength = effects(elos)
    if strength:
        told += "; " + "; ".join(
            f"{name} the rating by {shown(estimate, 0)} Elo" for name, estimate in strength.items()
        )
    helping = [name for name, estimate in found.items() if is_beyond(estimate, -1)]
    verdict = {0: "neither is shown to", 1: f"{''.join(helping)} alone is shown to", 2: "both do"}[len(helping)]
    return Answer(verdict if all(e.known for e in found.values()) else OPEN, told, question, said)


def cure_answer(draws: Groups, elos: Groups, cures: Sequence[str]) -> Answer:
    """Answer which change of V5 cures dithering: fewer draws, and no loss of strength."""
    question = "What cures dithering?"
    said = "a discount did in a first try; other cures may be better"
    there = [name for name in cures if draws.get(name)]
    if not draws.get("v5") or not there:
        return Answer(OPEN, "V5 and its changes are not there", question, said)
    lines, cured = [], []
    for name in there:
        fewer = difference(draws[name], draws["v5"])
        line = f"{name}: draws {shown(fewer, 1, 0.01)} points"
        stronger = difference(elos[name], elos["v5"]) if elos.get(name) and elos.get("v5") else None
        if stronger is not None:
            line += f", {shown(stronger, 0)} Elo"
        lines.append(line)
        if is_beyond(fewer, -1) and not (stronger is not None and is_beyond(stronger, -1)):
            cured.append(name)
    known = all(len(draws[name]) > 1 for name in ("v5", *there))
    verdict = (", ".join(cured) if cured else "none is shown to") if known else OPEN
    return Answer(verdict, "against V5 as it is: " + "; ".join(lines), question, said)


# ---- strength and theory -------------------------------------------------------------------------


def order_answer(matches: Sequence[Mapping[str, Any]]) -> Answer:
    """Answer whether V5 is above V4 above V3, from the matches of their last networks."""
    question, said = "Is V5 above V4 above V3?", "each version is stronger than the one before"
    found = {
        (match["first"], match["second"]): match for match in matches
    } | {(match["second"], match["first"]): turned(match) for match in matches}  # fmt: skip
    pairs = [("v5", "v4"), ("v4", "v3")]
    if not all(pair in found for pair in pairs):
        return Answer(OPEN, "the three have not met", question, said)
    told = "; ".join(
        f"{first} scores {100 * found[first, second]['score']:.1f} % against {second} "
        f"({found[first, second]['games']:,} games, Elo {elo_text(found[first, second])})"
        for first, second in pairs
    )
    verdicts = []
    for pair in pairs:
        low, high = found[pair]["elo_low"], found[pair]["elo_high"]
        verdicts.append(YES if low is not None and low > 0 else NO if high is not None and high < 0 else OPEN)
    return Answer(NO if NO in verdicts else OPEN if OPEN in verdicts else YES, told, question, said)


def turned(match: Mapping[str, Any]) -> dict[str, Any]:
    """Return a match as the other player sees it."""
    low, high = match["elo_low"], match["elo_high"]
    return dict(match) | {
        "first": match["second"], "second": match["first"], "score": 1 - match["score"], "elo": -match["elo"],
        "elo_low": None if high is None else -high, "elo_high": None if low is None else -low,
        "wins": match["losses"], "losses": match["wins"],
    }  # fmt: skip


def elo_text(match: Mapping[str, Any]) -> str:
    """Write an Elo difference with its interval, whose ends may be infinite."""
    low, high = (match[end] for end in ("elo_low", "elo_high"))
    ends = ("-inf" if low is None else f"{low:.0f}", "+inf" if high is None else f"{high:.0f}")
    return f"{match['elo']:+.0f} ({ends[0]} .. {ends[1]})"


def empty_answer(networks: Mapping[str, Mapping[str, Any]]) -> Answer:
    """Answer whether the best network sees that the second player wins from the empty board."""
    question, said = "Does the best network see that the second player wins?", "theory: a win of the second player"
    found = networks.get("best")
    if not found:
        return Answer(OPEN, "the stage empty was not done", question, said)
    told = f"value for the first player: network {found['network']:+.3f}" + "".join(
        f", after {search['simulations']:,} simulations {search['value']:+.3f}" for search in found["searches"]
    )
    deepest = found["searches"][-1]["value"] if found["searches"] else found["network"]
    return Answer(OPEN if abs(deepest) < EVEN else YES if deepest < 0 else NO, told, question, said)


def blocks_answer(lines: Sequence[Mapping[str, Any]]) -> Answer:
    """Answer whether blocks see what the seed's table says, line by line."""
    question, said = "Does each block see what the table says?", "from positions up to strategy, two blocks a step"
    if not lines:
        return Answer(OPEN, "the stage probe was not done", question, said)
    counts = {verdict: sum(line["verdict"] == verdict for line in lines) for verdict in (YES, NO, OPEN)}
    told = f"of {len(lines)} lines {counts[YES]} hold, {counts[NO]} do not, {counts[OPEN]} are open; see below"
    verdict = YES if counts[YES] == len(lines) else NO if counts[NO] else OPEN
    return Answer(verdict, told, question, said)
