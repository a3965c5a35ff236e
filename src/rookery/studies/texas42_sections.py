"""Sections of the Texas 42 study's report: choices by exact values, pairs of runs, logits, matches.

Every number comes with its interval and its sample; sentences follow from the numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rookery.studies.intervals import Estimate, shown
from rookery.studies.markdown import table
from rookery.studies.texas42_apart import SWEEP, curves
from rookery.studies.texas42_estimates import p_text, p_value
from rookery.studies.texas42_evaluate import exact_name
from rookery.studies.texas42_verdicts import (
    MET,
    MISSED,
    OF_CEILING,
    OPEN,
    REGRET,
    at_least,
    at_most,
    best_stage2,
    ends,
    enough_agree,
    share_ends,
)

Facts = Mapping[str, Any]
Runs = Mapping[str, Facts]


def number(estimate: Facts | None, digits: int = 3, unit: float = 1.0) -> str:
    """Write an estimate that comes from JSON."""
    if estimate is None:
        return "-"
    low, high = (
        infinite if estimate[end] is None else estimate[end]
        for end, infinite in (("low", -math.inf), ("high", math.inf))
    )
    mean = math.nan if estimate["mean"] is None else estimate["mean"]
    if low == high:
        return f"{mean / unit:.{digits}f} (all the same)"  # an interval of no width would look like certainty
    return shown(Estimate(mean, low, high, estimate["count"]), digits, unit)


def percent(estimate: Facts | None) -> str:
    """Write a share in per cent."""
    return number(estimate, 1, 0.01)


def several(words: Sequence[Any]) -> str:
    """List words as people do: a, b and c."""
    texts = [str(word) for word in words]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


# ---- choices -------------------------------------------------------------------------------------


def evaluation_section(found: Facts, runs: Runs) -> Iterator[str]:
    """Show who chooses how well, by exact search in worlds that nobody chose by."""
    players, reference = found["players"], exact_name(found["worlds"])
    deals = next(iter(players.values())).get("deals")
    yield "## Choices, by exact values"
    yield ""
    yield (
        f"{found['decisions']:,} unforced decisions{f' of {deals:,} deals' if deals else ''} that nobody has learned "
        "from, spread evenly over tricks as far as there are any; the seventh leaves no choice. "
        f"The reference chooses by exact E[Q] over {found['worlds']:,} worlds; "
        f"all are scored by exact E[Q] over {found['worlds']:,} others. Regret: points lost against the reference; "
        "it can be below 0, since the reference is not always the best where all are scored. Agreement: the choice is "
        "not worse than the best there by more than two standard errors of the difference; that of the reference is "
        f"the ceiling. Intervals are over {'deals' if deals else 'decisions, as if those of a deal were independent'}."
    )
    yield ""
    rows = [
        (
            name,
            "0, the reference" if name == reference else number(each["regret"]),
            percent(each["agreement"]),
            "the ceiling" if name == reference else percent(each.get("share")),
        )
        for name, each in players.items()
    ]
    yield from table(("who chooses", "regret, points", "agreement, %", "of the ceiling, %"), rows)
    for key, write in (("regret", number), ("agreement", percent)):
        yield f"{key.capitalize()} by trick, {'points' if key == 'regret' else '%'}:"
        yield ""
        yield from trick_table(players, key, write, reference)
    yield from shortfall_lines(runs, players, found["worlds"])


def trick_table(players: Facts, key: str, write: Callable[[Facts], str], reference: str) -> Iterator[str]:
    """Show a figure of all players by trick, with how many decisions there are."""
    some = next(iter(players.values()))["by_trick"]
    tricks = [trick for trick, each in enumerate(some) if each]
    rows: list[tuple[str, ...]] = [("decisions", *(f"{some[trick]['decisions']:,}" for trick in tricks))]
    if key == "agreement":
        ceiling = [some[trick].get("reached") for trick in tricks]
        rows.append(("**ceiling**", *(
            percent(each) if each else f"{100 * some[trick]['ceiling']:.1f}"
            for trick, each in zip(tricks, ceiling, strict=True)
        )))  # fmt: skip
    for name, each in players.items():
        if name != reference:
            rows.append((name, *(write(each["by_trick"][trick][key]) for trick in tricks)))
    yield from table(("who chooses", *(f"trick {trick + 1}" for trick in tricks)), rows)


def shortfall_lines(runs: Runs, players: Facts, worlds: int) -> Iterator[str]:
    """Say in which tricks the best Stage 2 falls short, and by how much."""
    best = best_stage2(runs, players)
    if best is None:
        return
    name, player = best
    judged = {trick: trick_verdict(each, worlds) for trick, each in enumerate(player["by_trick"], start=1) if each}
    others = sum(runs[run]["stage"] == 2 for run in players if run in runs)
    yield "### Where Stage 2 falls short"
    yield ""
    yield f"{name} has the smallest regret" + (
        f" of {others} runs; it was picked by these same decisions, which flatters it a little." if others > 1 else "."
    )
    yield ""
    yield from (f"- trick {trick}: {trick_words(player['by_trick'][trick - 1])}" for trick in judged)
    yield ""
    yield " ".join(summary_sentences(judged)) + " " + regret_sentence(player)
    yield ""


def trick_verdict(trick: Facts, worlds: int) -> str:
    """Judge both bounds in a trick: MISSED if one surely is, MET if both surely are met."""
    low, _, high = ends(trick["regret"])
    share_low, _, share_high = share_ends(trick)
    both = at_most(low, high, REGRET), enough_agree(share_low, share_high, worlds)
    return MISSED if MISSED in both else OPEN if OPEN in both else MET


def trick_words(trick: Facts) -> str:
    """Write the figures of a trick, each with what it means for its bound."""
    low, _, high = ends(trick["regret"])
    share_low, share, share_high = share_ends(trick)
    part = f"{100 * share:.1f} ({100 * share_low:.1f} .. {100 * share_high:.1f}) %"
    regret = {MET: "within", MISSED: "above", OPEN: "on both sides of"}[at_most(low, high, REGRET)]
    agrees = {MET: "at least", MISSED: "below", OPEN: "on both sides of"}[at_least(share_low, share_high, OF_CEILING)]
    return (
        f"{trick['decisions']:,} decisions, regret {number(trick['regret'])}, {regret} {REGRET}; agreement "
        f"{percent(trick['agreement'])} %, {part} "
        f"of the ceiling of {100 * trick['ceiling']:.1f} %, {agrees} {OF_CEILING:.0%}"
    )


def summary_sentences(judged: Mapping[int, str]) -> Iterator[str]:
    """Say of which tricks both bounds are met, missed or undecided."""
    found = {verdict: [trick for trick, each in judged.items() if each == verdict] for verdict in (MISSED, OPEN, MET)}
    named = {
        verdict: f"trick{'s' if len(tricks) > 1 else ''} {several(tricks)}"
        for verdict, tricks in found.items()
        if tricks
    }
    if MISSED in named:
        yield f"By their whole intervals it misses a bound in {named[MISSED]}."
    if OPEN in named:
        yield f"In {named[OPEN]} these decisions do not tell."
    if MET in named:
        yield f"In {named[MET]} it meets both."


def regret_sentence(player: Facts) -> str:
    """Say in which trick most of the regret arises."""
    sums = {
        trick: each["decisions"] * each["regret"]["mean"] for trick, each in enumerate(player["by_trick"], 1) if each
    }
    total, most = sum(sums.values()), max(sums, key=lambda trick: sums[trick])
    if total <= 0:
        return "Over all tricks it has no regret."
    return f"Most of its regret on these decisions arises in trick {most}: {sums[most] / total:.0%}."


# ---- pairs of runs -------------------------------------------------------------------------------


def pairs_section(trial: Facts, runs: Runs) -> Iterator[str]:
    """Show what more hands, other sizes, other labels and other settings change."""
    players, apart = trial["players"], trial.get("apart", [])
    of_curves = curves(runs, players)
    if not of_curves and not apart:
        return
    yield "## What hands, sizes, labels and settings change"
    yield ""
    yield (
        "Runs of Stage 2 on the decisions above. Of two runs that differ in one thing, and in what goes along with it "
        "(steps with hands, learning rates with sizes), what the first loses against the second is counted decision by "
        "decision, with intervals over deals, each for itself; below 0 the first is better. Each run is of one seed of "
        "training: what another seed would change is not in an interval, and only seeds that were varied show it."
    )
    yield ""
    yield from curve_tables(of_curves, players, apart, runs)
    yield from sweep_table(players, apart)
    rest = [each for each in apart if each["differs"] in ("size", "labels")]
    if rest:
        yield "### Sizes and labels"
        yield ""
        rows = [(each["differs"], *two_of(each), number(each["behind"]), verdict_of(each)) for each in rest]
        yield from table(("differs in", "first", "second", "first loses, points", "so"), rows)


def two_of(pair: Facts) -> tuple[str, str]:
    """Name both runs of a pair with what differs."""
    first, second = pair["values"]
    return f"{pair['first']} ({first})", f"{pair['second']} ({second})"


def verdict_of(pair: Facts, first: str = "the first", second: str = "the second") -> str:
    """Say which of a pair is better, if the whole interval does."""
    low, _, high = ends(pair["behind"])
    return f"better: {first}" if high < 0 else f"better: {second}" if low > 0 else "not told apart"


def curve_tables(
    of_curves: Mapping[str, list[tuple[int, str]]], players: Facts, apart: Sequence[Facts], runs: Runs
) -> Iterator[str]:  # fmt: skip
    """Show learning curves over hands; each run against the one before."""
    behind = {(each["first"], each["second"]): each for each in apart if each["differs"] == "hands"}
    for label, points in of_curves.items():
        yield f"### Learning from more hands: {label}"
        yield ""
        rows, before = [], ""
        for hands, name in points:
            each, pair = players[name], behind.get((name, before))
            step = f"{number(pair['behind'])}, {verdict_of(pair, 'more hands', 'fewer hands')}" if pair else "-"
            rows.append((f"{hands:,}", f"{runs[name]['steps']:,}", name, number(each["regret"]),
                         percent(each["agreement"]), percent(each.get("share")), step))  # fmt: skip
            before = name
        head = (
            "hands",
            "steps",
            "run",
            "regret, points",
            "agreement, %",
            "of the ceiling, %",
            "loses against the one above",
        )
        yield from table(head, rows)


def sweep_table(players: Facts, apart: Sequence[Facts]) -> Iterator[str]:
    """Show the sweep: what each setting changes against its baseline."""
    sweep = [each for each in apart if each["first"].startswith(SWEEP)]
    for base in dict.fromkeys(each["second"] for each in sweep):
        some = [each for each in sweep if each["second"] == base]
        yield f"### Sweep around {base}"
        yield ""
        rows = [("-", base, number(players[base]["regret"]), percent(players[base]["agreement"]), "baseline", "-")]
        for each in some:
            own, (value, usual) = players[each["first"]], each["values"]
            rows.append((
                f"{each['differs']} {value}, not {usual}", each["first"], number(own["regret"]),
                percent(own["agreement"]), number(each["behind"]), verdict_of(each, "the change", "the baseline"),
            ))  # fmt: skip
        head = ("changed", "run", "regret, points", "agreement, %", "loses against the baseline, points", "so")
        yield from table(head, rows)
        told = [verdict_of(each, "variation", "baseline") for each in some]
        yield (
            f"Of {len(some)} variations, by the whole interval: {told.count('better: variation')} better than the "
            f"baseline, {told.count('better: baseline')} worse, {told.count('not told apart')} not told apart."
        )
        yield ""


# ---- logits --------------------------------------------------------------------------------------


def claim_section(measured: Facts, runs: Runs) -> Iterator[str]:
    """Show in three ways whether logits choose as Q does."""
    labels, pairs = measured.get("claim", {}), measured.get("trial", {}).get("pairs", [])
    if not labels and not pairs:
        return
    yield "## Do logits work like Q?"
    yield ""
    if labels:
        yield (
            "**Labels.** The same decisions in the same worlds, by the mean of a network's Q and by mean logits of "
            "another one in policy mode. Regret is what the choice by logits "
            "loses by that mean of Q, by which the choice by Q loses nothing, right or wrong."
        )
        yield ""
        rows = [
            (name, f"{each['decisions']:,}", f"{each['deals']:,}" if "deals" in each else "-",
             percent(each["same_choice"]), number(each["regret"]), f"{each['largest_logit']:.1f}")
            for name, each in labels.items()
        ]  # fmt: skip
        head = ("set", "unforced decisions", "deals", "same choice, %", "regret, points", "largest logit")
        yield from table(head, rows)
    of_stage2 = [each for each in pairs if runs.get(each["first"], {}).get("stage") == 2]
    of_stage1 = [each for each in pairs if each not in of_stage2]
    for some, words in (
        (of_stage1, "**Choices.** E[logits] and E[Q] of two Stage 1 over the same worlds, scored by exact values"),
        (of_stage2, "**Stage 2.** Taught mean logits, and mean Q, of the same hands, scored by exact values"),
    ):
        yield f"{words}, decision by decision, with intervals over deals:" if some else f"{words}: no pair is judged."
        yield ""
        if some:
            yield from pair_table(some)
    for each in measured.get("trial", {}).get("apart", []):
        if each["differs"] == "seed":
            yield (
                f"To compare with: {each['first']} and {each['second']}, both taught Q and unlike in seeds alone, "
                f"choose the same in {percent(each['same'])} % of these decisions."
            )
            yield ""


def pair_table(pairs: Sequence[Facts]) -> Iterator[str]:
    """Show what choosers by logits lose against their peers by Q."""
    rows = [
        (each["first"], each["second"], f"{each['behind']['count']:,}", number(each["behind"]), percent(each["same"]),
         percent(each.get("agrees_more")), verdict_of(each, "logits", "Q"))
        for each in pairs
    ]  # fmt: skip
    head = ("by logits", "by Q", "decisions", "logits lose, points", "same choice, %", "agreement more, %", "so")
    yield from table(head, rows)


# ---- matches -------------------------------------------------------------------------------------


def duel_section(found: Sequence[Facts]) -> Iterator[str]:
    """Show matches on mirrored deals, with paired tests."""
    yield "## Matches on mirrored deals"
    yield ""
    yield (
        "Each deal of the test part is played twice, with sides changed; the leader calls its longest suit and has bid "
        "30. What the first player wins more than the second on both hands of a deal, over two, is one sample; p is "
        "two-sided, by Student's test over deals, each match for itself. Deals won: of those in which one took more."
    )
    yield ""
    rows = [
        (
            f"{each['first']} against {each['second']}",
            f"{each['deals']:,}",
            with_p(each["points_a_hand"], 2),
            f"{percent(each['wins'])} of {each['wins']['count']:,}",
            f"{each['made'][0]:.1%}, {each['made'][1]:.1%}",
            with_p(each["made_more"], 1, 0.01),
        )
        for each in found
    ]
    head = ("match", "deals", "points more a hand", "deals won, %", "bids made by each", "bids made more, %")
    yield from table(head, rows)
    yield from make_lines(found)


def with_p(estimate: Facts, digits: int, unit: float = 1.0) -> str:
    """Write a paired difference with its interval and p."""
    return f"{number(estimate, digits, unit)}, {p_text(p_value(estimate))}"


def make_lines(found: Sequence[Facts]) -> Iterator[str]:
    """Say of each player what playing for the bid, and not for points, changes."""
    pairs = [each for each in found if each["first"] == f"{each['second']}:make"]
    if not pairs:
        return
    yield "### Points or P(make)"
    yield ""
    for each in pairs:
        low, _, high = ends(each["made_more"])
        words = "makes more bids" if low > 0 else "makes fewer bids" if high < 0 else "is not told apart by bids made"
        yield (
            f"- {each['second']}, playing for the bid against itself playing for points, {words}: "
            f"{with_p(each['made_more'], 1, 0.01)}, in % of bids; points more a hand "
            f"{with_p(each['points_a_hand'], 2)}; {each['deals']:,} deals."
        )
    yield ""
