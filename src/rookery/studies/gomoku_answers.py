"""Verdicts of the Gomoku study, computed from its numbers.

A milestone is reached as it was set: by the share of the points, with the interval above one half. Arms are compared
over seeds, which are what varies; where the interval includes both answers, the question stays open.

Seeds may agree by chance, above all where a score is near 0 or 1. So an interval over seeds is never narrower than the
one that all their games together give.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rookery.arena.score import Score
from rookery.studies.gomoku_plan import HALF, Comparison, Milestone
from rookery.studies.intervals import Z95, Estimate, difference, mean_estimate
from rookery.studies.verdicts import MISSING, NO, OPEN, YES, Answer, Verdict

BySeed = Mapping[int, float]
"""a figure of each seed"""
GAIN = 35.0
"""Elo that are 55 % of the points: an arm that gains less from one mark to the next has stopped getting better"""
Scores = Mapping[int, Score]
"""the match of each seed"""


def milestone_verdict(milestone: Milestone, facts: Mapping[str, Any] | None) -> Verdict:
    """Say whether a milestone is reached; of a match that is not played to its end, that it is missing.

    facts  score, low, high, games, and `complete`
    """
    if facts is None:
        return Verdict(MISSING, "not played")
    if not facts["complete"]:
        return Verdict(MISSING, f"stopped after {facts['games']} games")
    score, low, high, share = facts["score"], facts["low"], facts["high"], milestone.share
    reached = score >= share if milestone.goal else score > share and low > HALF
    if reached:
        above = low >= share if milestone.goal else low > share
        return Verdict(YES, "the whole interval is above" if above else "the interval includes what is wanted")
    if score > share:
        return Verdict(OPEN, "the interval reaches down to one half")
    if high < share:
        return Verdict(NO, "the whole interval is below")
    less = "less" if score < share else "no more than that"
    return Verdict(OPEN, f"{less}, but the interval includes what is wanted")


def values_of(scores: Scores) -> list[float]:
    """Return the score of each seed."""
    return [scores[seed].score for seed in sorted(scores)]


def pooled(scores: Scores) -> Score:
    """Return all games of all seeds as one match."""
    return Score(tuple(pair for seed in sorted(scores) for pair in scores[seed].pairs))


def score_over_seeds(scores: Scores) -> Estimate | None:
    """Return the mean score over seeds, its interval cut to what a score can be; None if there is none."""
    if not scores:
        return None
    found = mean_estimate(values_of(scores))
    if not found.known:
        return found
    low, high = pooled(scores).interval
    return Estimate(found.mean, max(0.0, min(low, found.low)), min(1.0, max(high, found.high)), found.count)


def verdict_by(estimate: Estimate | None, even: float, named: str) -> Verdict:
    """Say on which side of a number, at which two arms are even, an interval lies."""
    if estimate is None:
        return Verdict(MISSING, "not played")
    if not estimate.known:
        return Verdict(OPEN, "one seed alone has no interval")
    if estimate.low > even:
        return Verdict(YES, f"the interval is above {named}")
    if estimate.high < even:
        return Verdict(NO, f"the interval is below {named}: the other way round")
    return Verdict(OPEN, f"the interval includes {named}")


def duel_verdict(estimate: Estimate | None) -> Verdict:
    """Say whether the first of two arms is better, from its score over seeds."""
    return verdict_by(estimate, HALF, "one half")


def gap(first: Scores, second: Scores) -> Estimate | None:
    """Estimate by how much the first arm scores more against the same player; None if one has not met it.

    The games together give an interval by Newcombe's rule: distances to the ends of both intervals, squared and added.
    """
    if not first or not second:
        return None
    found = difference(values_of(first), values_of(second))
    if not found.known:
        return found
    one, other = pooled(first), pooled(second)
    mean = one.score - other.score
    down = math.hypot(one.score - one.interval[0], other.interval[1] - other.score)
    up = math.hypot(one.interval[1] - one.score, other.score - other.interval[0])
    return Estimate(found.mean, min(found.low, mean - down), max(found.high, mean + up), found.count)


def gap_verdict(estimate: Estimate | None) -> Verdict:
    """Say whether the first arm scores more against a player, from the difference over seeds."""
    return verdict_by(estimate, 0.0, "0")


def claim_answer(
    comparison: Comparison, seconds: int, score: Estimate | None, gaps: Sequence[Estimate | None]
) -> Answer:  # fmt: skip
    """Answer a claim: by the arms' own matches, and by what players say."""
    question, said = f"Is {comparison.first} better than {comparison.second} in the same time?", comparison.claim
    if score is None:
        return Answer(MISSING, f"they have not met after {seconds} s", question, said)
    own, words = duel_verdict(score), [gap_verdict(each).word for each in gaps if each is not None]
    met = (
        f"after {seconds} s {comparison.first} scores {percent(score)} against {comparison.second} "
        f"over {score.count} {'seed' if score.count == 1 else 'seeds'}; {own.reason}"
    )
    agree = ""
    if words:
        counts = ", ".join(f"{words.count(word)} {word}" for word in (YES, NO, OPEN) if word in words)
        agree = f"; against the same players, is {comparison.first} ahead? {counts} of {len(words)}"
    return Answer(own.word, met + agree, question, said)


def milestones_answer(milestones: Sequence[tuple[Milestone, Verdict]], goal: bool) -> Answer:
    """Answer whether all milestones, or all goals, are reached.

    Milestones are those of a search without fours. A goal is for a search with or without them, whichever does better.
    """
    judged = [(each, verdict.word) for each, verdict in milestones if each.goal == goal]
    named = dict(best_way(each, judged) for each, _ in judged if not each.fours)
    words = list(named.values())
    word = YES if set(words) == {YES} else NO if NO in words else MISSING if set(words) <= {MISSING} else OPEN
    told = "; ".join(
        f"{meant}: {', '.join(name for name, found in named.items() if found == kind)}"
        for kind, meant in ((YES, "reached"), (OPEN, "open"), (NO, "missed"), (MISSING, "not played"))
        if kind in words
    )
    what, said = ("goals", "they go beyond the plan") if goal else ("milestones", "the plan leads to all five")
    return Answer(word, told, f"Are all {len(words)} {what} reached?", said)


def best_way(wanted: Milestone, judged: Sequence[tuple[Milestone, str]]) -> tuple[str, str]:
    """Return the better answer of a milestone and of the same with fours, with the name it goes by."""
    alike = replace(wanted, name="")
    ways = [(each.name, word) for each, word in judged if replace(each, name="", fours=wanted.fours) == alike]
    return min(ways, key=lambda way: (YES, OPEN, NO, MISSING).index(way[1]))


def percent(estimate: Estimate) -> str:
    """Write a share with its interval."""
    mean = f"{100 * estimate.mean:.1f} %"
    return f"{mean} ({100 * estimate.low:.1f} - {100 * estimate.high:.1f})" if estimate.known else mean


def plateau_verdict(marks: Sequence[tuple[int, BySeed]], errors: Sequence[BySeed]) -> Verdict:
    """Say whether an arm has stopped getting better: its rating at the last mark against the one before, by seed.

    marks   seconds, and the rating of each seed
    errors  standard errors of these ratings, by which games alone are uncertain
    """
    if len(marks) < 2:
        return Verdict(MISSING, "two marks are needed")
    (before, old), (after, new) = marks[-2], marks[-1]
    seeds = sorted(set(old) & set(new))
    if not seeds:
        return Verdict(MISSING, "no seed is rated at both marks")
    found = mean_estimate([new[seed] - old[seed] for seed in seeds])
    said = f"{found.mean:+.0f} Elo from {before} s to {after} s"
    if not found.known:
        return Verdict(OPEN, f"{said}; one seed alone has no interval")
    half = Z95 * math.hypot(*(side[seed] for side in errors[-2:] for seed in seeds)) / len(seeds)
    low, high = min(found.low, found.mean - half), max(found.high, found.mean + half)
    said += f" ({low:+.0f} .. {high:+.0f}, {found.count} seeds)"
    if low > 0:
        return Verdict(NO, f"{said}: still getting better")
    if high < GAIN:
        return Verdict(
            YES, f"{said}: {'getting worse' if high < 0 else f'no gain of {GAIN:.0f} Elo, 55 % of the points'}"
        )
    return Verdict(OPEN, f"{said}: no gain can be told from none")


def band(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean, the lowest and the highest of some values."""
    return math.fsum(values) / len(values), min(values), max(values)
