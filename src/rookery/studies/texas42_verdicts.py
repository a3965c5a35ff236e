"""What the Texas 42 study was to show, and whether it does: each line is computed from what was measured.

met       by the whole interval, where there is one
missed    likewise
open      not measured, or the interval lies on both sides
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rookery.learn.files import LineLog
from rookery.studies.intervals import share_estimate
from rookery.studies.texas42_apart import curves
from rookery.studies.texas42_checks import all_checks
from rookery.studies.texas42_estimates import half_width
from rookery.studies.texas42_files import data_sets, worlds_by_trick

MET, MISSED, OPEN = "met", "missed", "open"
UNIFORM_GAP, BLUNDERS, OPENING_GAP = 0.05, 0.0015, 0.3
OF_CEILING, REGRET = 0.9, 0.35
ALIKE = 0.05
"""points within which choices by logits and by Q count as the same"""
DEALS = 1000
FEWEST, FEWEST_DEALS = 100, 20
"""positions, and deals, from which a verdict may follow; of fewer the error is not known"""
WORLDS = 1000
"""worlds of each of the two sets by which agreement is judged: of few, so many choices are not surely worse than the
best that anybody agrees"""


class Verdict(NamedTuple):
    """One claim."""

    claim: str
    verdict: str
    found: str


def at_most(low: float, high: float, bound: float) -> str:
    """Compare an interval with the most that is allowed."""
    return MET if high <= bound else MISSED if low > bound else OPEN


def at_least(low: float, high: float, bound: float) -> str:
    """Compare an interval with the least that is wanted."""
    return MET if low >= bound else MISSED if high < bound else OPEN


def all_verdicts(study: Path, measured: Mapping[str, Any]) -> list[Verdict]:
    """Judge everything that was to be shown."""
    runs = {path.parent.name: json.loads(path.read_bytes()) for path in (study / "runs").glob("*/settings.json")}
    return [
        *stage2_verdicts(runs, measured.get("trial", {})),  # first what the study is about
        *stage1_verdicts(study, runs),
        *logits_verdicts(measured),
        *scale_verdicts(runs, measured),
        *match_verdicts(runs, measured.get("duels", [])),
        check_verdict(study),
    ]


# ---- stage 1 -------------------------------------------------------------------------------------


def stage1_verdicts(study: Path, runs: Mapping[str, Any]) -> Iterator[Verdict]:
    """Judge the best Stage 1 in Q mode: evenly drawn positions, and opening leads of played hands."""
    sources = sources_of(study)
    lines = {
        name: lines[0]["valid"]
        for name, facts in runs.items()
        if facts["stage"] == 1 and facts["network"]["answers"] != "policy"
        and (lines := LineLog(study / "runs" / name / "progress.jsonl").tail(1))
    }  # fmt: skip
    found = {
        (name, source): figures
        for name, valid in lines.items() for data, figures in valid.items()
        for source in (sources.get(data),)
    }  # fmt: skip
    claims = (
        (f"Stage 1: gap on evenly drawn positions at most {UNIFORM_GAP} points", "uniform", "all", "gap", UNIFORM_GAP),
        (f"Stage 1: blunders there at most {BLUNDERS:.2%}", "uniform", "all", "blunder", BLUNDERS),
        (
            f"Stage 1: gap of opening leads in play at most {OPENING_GAP} points",
            "played",
            "opening",
            "gap",
            OPENING_GAP,
        ),
    )
    for claim, source, group, key, bound in claims:
        known = {
            name: figures[group] for (name, of), figures in found.items()
            if of == source and figures.get(group, {}).get("count")
        }  # fmt: skip
        yield best_of_runs(claim, known, key, bound)


def sources_of(study: Path) -> dict[str, str]:
    """Return how the positions of each set were drawn: random, played or uniform."""
    found = {data.folder.name: str(data.planned()["settings"].get("source")) for data in data_sets(study, "positions")}
    return {"positions-uniform": "uniform", "positions-valid": "played"} | found  # where the data stayed elsewhere


def best_of_runs(claim: str, known: Mapping[str, Mapping[str, Any]], key: str, bound: float) -> Verdict:
    """Judge the run with the smallest figure."""
    if not known:
        return Verdict(claim, OPEN, "not measured")
    name, figures = min(known.items(), key=lambda item: item[1][key])
    count, mean = int(figures["count"]), figures[key]
    half, deals = half_width(figures, key), figures.get("deals", FEWEST_DEALS)
    shown = f"{mean:.3f} +- {half:.3f}" if key == "gap" else f"{mean:.2%} +- {half:.2%}"
    high = share_estimate(0, deals).high if mean == 0 else mean + half  # that none was seen says something of deals
    verdict = at_most(mean - half, high, bound) if count >= FEWEST and deals >= FEWEST_DEALS else OPEN
    return Verdict(claim, verdict, f"{name}: {shown}, {count:,} positions{by_its_q(key, figures)}")


def by_its_q(key: str, figures: Mapping[str, Any]) -> str:
    """Tell the gap of the Q of a network that chooses by a policy beside it."""
    q_gap = figures.get("q_gap")
    if key != "gap" or q_gap is None or q_gap == figures["gap"]:
        return ""
    return f"; by its Q {q_gap:.3f} +- {half_width(figures, 'q_gap'):.3f}"


# ---- stage 2 -------------------------------------------------------------------------------------


def stage2_verdicts(runs: Mapping[str, Any], trial: Mapping[str, Any]) -> Iterator[Verdict]:
    """Judge the Stage 2 with the smallest regret."""
    found_best = best_stage2(runs, trial.get("players", {}))
    claims = (
        f"Stage 2: mean regret on unforced decisions at most {REGRET} point",
        f"Stage 2: agreement at least {OF_CEILING:.0%} of the ceiling",
    )
    if found_best is None:
        yield from (Verdict(claim, OPEN, "not measured") for claim in claims)
        return
    name, best = found_best
    low, mean, high = ends(best["regret"])
    count, worlds = f"{best['decisions']:,} decisions", trial.get("worlds", 0)
    found = f"{name}: {mean:.3f} ({low:.3f} .. {high:.3f}), {count}; {worst_trick(best)}"
    yield Verdict(claims[0], at_most(low, high, REGRET), found)
    low, mean, high = share_ends(best)
    found = f"{name}: {mean:.1%} ({low:.1%} .. {high:.1%}) of {best['ceiling']:.1%}, {count} in 2 x {worlds:,} worlds"
    yield Verdict(claims[1], enough_agree(low, high, worlds), found)


def enough_agree(low: float, high: float, worlds: int) -> str:
    """Judge an agreement as a share of the ceiling."""
    return at_least(low, high, OF_CEILING) if worlds >= WORLDS else OPEN


def best_stage2(runs: Mapping[str, Any], players: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]] | None:
    """Return the Stage 2 with the smallest regret, and its figures; None if none was judged."""
    known = {name: each for name, each in players.items() if runs.get(name, {}).get("stage") == 2}
    return min(known.items(), key=lambda item: item[1]["regret"]["mean"]) if known else None


def share_ends(player: Mapping[str, Any]) -> tuple[float, float, float]:
    """Return low end, mean and high end of an agreement as a share of the ceiling."""
    if "share" in player:
        return ends(player["share"])
    low, mean, high = (end / max(player["ceiling"], 1e-9) for end in ends(player["agreement"]))
    return low, mean, high


def ends(estimate: Mapping[str, Any]) -> tuple[float, float, float]:
    """Return low end, mean and high end of an estimate."""
    low, high = (
        infinite if estimate[end] is None else float(estimate[end])
        for end, infinite in (("low", -float("inf")), ("high", float("inf")))
    )
    return low, float(estimate["mean"]), high


def worst_trick(player: Mapping[str, Any]) -> str:
    """Say where a player falls short most."""
    tricks = {number: each["regret"] for number, each in enumerate(player["by_trick"], start=1) if each}
    worst = max(tricks, key=lambda number: tricks[number]["mean"])
    low, mean, high = ends(tricks[worst])
    return f"most in trick {worst}, {mean:.2f} ({low:.2f} .. {high:.2f})"


# ---- logits --------------------------------------------------------------------------------------


def logits_verdicts(measured: Mapping[str, Any]) -> Iterator[Verdict]:
    """Judge whether choosers by logits do as well as their peers by Q."""
    claim = f"Logits work like Q: they lose at most {ALIKE} points a decision"
    pairs = measured.get("trial", {}).get("pairs", [])
    for pair in pairs:
        low, mean, high = ends(pair["behind"])
        found = f"{mean:+.3f} ({low:+.3f} .. {high:+.3f}), the same choice in {pair['same']['mean']:.1%}"
        found += f" of {pair['behind']['count']:,} decisions"
        yield Verdict(f"{claim}: {pair['first']} against {pair['second']}", at_most(low, high, ALIKE), found)
    for name, each in measured.get("claim", {}).items():
        low, mean, high = ends(each["regret"])
        found = f"{mean:.3f} ({low:.3f} .. {high:.3f}), the same choice in {each['same_choice']['mean']:.1%}"
        found += f" of {each['regret']['count']:,} decisions"
        yield Verdict(f"{claim}: labels of {name}", at_most(low, high, ALIKE), found)
    if not pairs and not measured.get("claim"):
        yield Verdict(claim, OPEN, "not measured")


# ---- scale and matches ---------------------------------------------------------------------------


def scale_verdicts(runs: Mapping[str, Any], measured: Mapping[str, Any]) -> Iterator[Verdict]:
    """Judge how much was made, here or on a machine whose data are gone."""
    sets = [each for each in measured.get("data", {}).values() if "worlds" in each["settings"]]
    for games, worlds, exact in ((100_000, 100, False), (10_000, 1000, False), (5_000, 100, True)):
        fitting = [
            each["games"] for each in sets
            if (each["settings"]["oracle"] == "exact") == exact
            and worlds_by_trick(each["settings"]["worlds"]).min() >= worlds
        ]  # fmt: skip
        made = max(fitting, default=0)
        claim = f"{games:,} {'exact ' * exact}games at N = {worlds:,}{'' if exact else ' through Stage 1'}"
        yield Verdict(claim, MET if made >= games else OPEN, f"{made:,} made")
    judged = measured.get("trial", {}).get("players", {})
    known = {label: [hands for hands, _ in points] for label, points in curves(runs, judged).items()}
    label = max(known, key=lambda each: len({1_000, 10_000, 100_000} & set(known[each])), default="")
    hands = ", ".join(f"{each:,}" for each in known.get(label, ())) or "no two numbers of"
    curve = {1_000, 10_000, 100_000} <= set(known.get(label, ()))
    yield Verdict(
        "Learning curve over 1k, 10k and 100k games", MET if curve else OPEN, f"{label}: {hands} games".lstrip(": ")
    )
    sweep = [name for name in runs if "sweep" in name and name in judged]
    yield Verdict("A small sweep of Stage 2", MET if len(sweep) > 3 else OPEN, f"{len(sweep)} runs")


def match_verdicts(runs: Mapping[str, Any], matches: list[dict[str, Any]]) -> Iterator[Verdict]:
    """Judge which players have met on enough deals."""
    enough = [each for each in matches if each["deals"] >= DEALS]
    names = {name for each in enough for name in (each["first"], each["second"])}
    heads = {name.partition(":")[0] for name in names}
    worlds = {int(part) for name in names for part in name.split(":")[1:2] if part.isdecimal()}
    kinds = {
        "random": "random" in heads, "heuristic": "heuristic" in heads, "E[Q] N = 10": 10 in worlds,
        "E[Q] N = 100": 100 in worlds, "Stage 2": any(runs.get(head, {}).get("stage") == 2 for head in heads),
        "mean against P(make)": any(f"{each['second']}:make" == each["first"] for each in enough),
    }  # fmt: skip
    lacking = [name for name, there in kinds.items() if not there]
    found = f"lacking: {', '.join(lacking)}" if lacking else f"{len(enough)} matches"
    yield Verdict(f"Matches on at least {DEALS:,} mirrored deals", OPEN if lacking else MET, found)
    for each in enough:
        if f"{each['second']}:make" == each["first"]:
            low, mean, high = ends(each["made_more"])
            verdict = at_least(low, high, 0.0)
            found = f"{100 * mean:+.1f} % of bids ({100 * low:+.1f} .. {100 * high:+.1f}), {each['deals']:,} deals"
            yield Verdict(f"P(make) makes more bids than the mean: {each['second']}", verdict, found)


def check_verdict(study: Path) -> Verdict:
    """Judge the checks that run with the data."""
    checks = all_checks(study)
    failed = [check.name for check in checks if not check.holds]
    verdict = OPEN if not checks else MISSED if failed else MET
    found = f"{len(checks) - len(failed)} of {len(checks)}{'; not: ' + ', '.join(failed) if failed else ''}"
    return Verdict("Checks of data and runs hold", verdict, found)
