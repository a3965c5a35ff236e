"""The sections of the Domineering study's report that show one protocol: learning, probes, comparisons, strength."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rookery.studies.decay import Decay
from rookery.studies.domineering_answers import difference_text
from rookery.studies.domineering_findings import END, FIFTHS, FIGURES, LEARNED, Findings, frozen_text
from rookery.studies.domineering_records import COMPARED, LARGE, MEANINGS, SMALL
from rookery.studies.intervals import shown
from rookery.studies.markdown import table
from rookery.studies.seeds import Paired

PARTS = {f"{100 * low:.0f}-{100 * high:.0f} %": (low, high) for low, high in FIFTHS}
DIGITS = {"policy_accuracy": 4, "value_accuracy": 4}
NOTHING = "Nothing of this is there."


def picture(figures: set[str], name: str, title: str) -> list[str]:
    """Show a figure, if it was drawn."""
    return [f"![{title}]({name}.png)", ""] if f"{name}.png" in figures else []


def learning_section(found: Findings, protocol: str, figures: set[str]) -> Iterator[str]:
    """Show losses and accuracies."""
    yield f"### Learning ({protocol})"
    yield ""
    yield (
        "Validation over the last tenth of the steps, means over seeds. The loss is the sum of value and policy loss "
        "in nats, without the sectors, so that conditions can be compared whatever they are taught. Steps that the "
        "small network was trained for are not counted. Seeds that stopped before others of the same condition are "
        "left out of the means."
    )
    yield ""
    rows = []
    for name in found.records.conditions(protocol):
        cells = [shown(found.level(name, protocol, key), DIGITS.get(key, 3)) for key in FIGURES]
        curves, there = found.curves(name, protocol, LEARNED), len(found.records.of(name, protocol))
        seeds = f"{len(curves.seeds)} of {there}" if len(curves.seeds) < there else there
        rows.append((name, seeds, f"{curves.steps[-1]:,}" if len(curves.steps) else "-", *cells))
    yield from table(("condition", "seeds", "steps", *FIGURES.values()), rows)
    yield from picture(figures, f"losses-{protocol}", "validation by steps")
    rows = []
    for pair in found.pairs(protocol):
        parts = [found.part(pair, protocol, LEARNED, span) for span in PARTS.values()]
        ends = [found.part(pair, protocol, key) for key in (LEARNED, "policy_accuracy")]
        if any(parts):
            cells = ["-" if part is None else f"{part.estimate.mean:+.4f}" for part in parts]
            last = f"{found.gap(pair, protocol, LEARNED).steps[-1]:,}"
            rows.append((" - ".join(pair), last, *cells, shown_pair(ends[0], 4), shown_pair(ends[1], 4)))
    if rows:
        yield (
            "Differences of the loss, seed by seed; below 0 the first has learned more. Parts are shares of the steps "
            "that both have, each by the seeds that went through it."
        )
        yield ""
        yield from table(("difference", "steps", *PARTS, "loss at the end", "policy accuracy at the end"), rows)


def shown_pair(found: Paired | None, digits: int = 3) -> str:
    """Write a difference with Student's interval."""
    return "-" if found is None else shown(found.estimate, digits)


def probes_section(found: Findings, protocol: str, figures: set[str]) -> Iterator[str]:
    """Show what each layer shows of the sectors."""
    yield f"### What each layer shows ({protocol})"
    yield ""
    yield (
        "R2 of ridge probes for the 16 sectors, read from the board's token behind each layer, mean over sectors and "
        f"seeds. Small networks are embedded up to layer {found.layer}."
    )
    yield ""
    most = max((run.layers for run in found.records.runs.values()), default=0)
    layers = range(found.records.layers(protocol) or most)
    for title, get in (("at step 0", found.start_level), ("at the end", found.level)):
        rows = []
        for name in found.records.conditions(protocol):
            values = [get(name, protocol, "r2", layer) for layer in layers]
            if any(values):
                rows.append((name, *("-" if value is None else f"{value.mean:.3f}" for value in values)))
        yield from table((title, *(f"layer {layer}" for layer in layers)), rows) if rows else [f"{NOTHING}", ""]
    yield from picture(figures, f"layers-{protocol}", "R2 by layer over training")
    yield from picture(figures, f"profiles-{protocol}", "R2 by layer at step 0 and in the end")
    yield from picture(figures, f"sectors-{protocol}", "R2 by sector")


def comparison_section(found: Findings, protocol: str, figures: set[str]) -> Iterator[str]:
    """Show the key comparisons at the embedded depth."""
    yield f"### The key comparisons at layer {found.layer} ({protocol})"
    yield ""
    yield (
        "Differences of R2, seed by seed: mean with Student's 95 % interval, then the interval by drawing seeds (too "
        "narrow with few seeds: with 4 it holds the truth in about 80 %). The last column is the chance of as uneven a "
        "split of signs by luck; with 4 seeds it is never below 0.125."
    )
    yield ""
    rows = []
    for pair in found.pairs(protocol):
        for title, part in (("step 0", found.at_start(pair, protocol)), *spans(found, pair, protocol)):
            if part is None:
                continue
            drawn = f"{part.bootstrap[0]:.3f} .. {part.bootstrap[1]:.3f}" if part.bootstrap else "-"
            seeds = ", ".join(f"s{seed} {value:+.3f}" for seed, value in part.by_seed.items())
            rows.append((" - ".join(pair), title, shown(part.estimate), drawn, seeds, f"{part.sign_chance:.3f}"))
    if not rows:
        yield "No two conditions were both probed."
        yield ""
        return
    yield from table(("difference", "when", "mean", "by drawing seeds", "by seed", "signs"), rows)
    left_out = {seed for pair in found.pairs(protocol) for seed in found.gap(pair, protocol).left_out}
    if left_out:
        named = ", ".join(str(seed) for seed in sorted(left_out))
        yield (
            f"Left out for want of steps or of a partner, in some of them: seeds {named}. Runs that were stopped count "
            "in the parts that they went through."
        )
        yield ""
    notes = {" - ".join(pair): found.cut_short(pair, protocol) for pair in found.pairs(protocol)}
    short = "; ".join(f"{name} {note}" for name, note in notes.items() if note)
    if short:
        yield f"Runs were stopped, so that parts and the last tenth are those of fewer steps: {short}."
        yield ""


def spans(found: Findings, pair: tuple[str, str], protocol: str) -> Iterator[tuple[str, Paired | None]]:
    """Yield the parts of training that a comparison shows: fifths for the key ones, the end for all."""
    if pair in COMPARED:
        yield from ((name, found.part(pair, protocol, "r2", span)) for name, span in PARTS.items())
    yield "last tenth", found.part(pair, protocol)


def decay_section(found: Findings, protocol: str, figures: set[str]) -> Iterator[str]:
    """Show how the gaps shrink."""
    yield f"### Does the gap last? ({protocol})"
    yield ""
    decays = {pair: decay for pair in COMPARED if (decay := found.decay(pair, protocol)) is not None}
    if not decays:
        yield "There are too few probes after step 0 to fit a curve."
        yield ""
        return
    yield (
        "Curves fitted to the mean gap over seeds, from the first probe after step 0 on. BIC counts steps for as many "
        "independent ones as they are worth; less is better. `not determined`: the decay is too slow for this length "
        "of training, and the asymptote could be anything. Intervals by drawing seeds are too narrow with few of them; "
        "Student's is that of the asymptotes of each seed's own fit, and verdicts go by it. The learning rate falls to "
        "0 at the last step, which flattens every curve: an asymptote is what such a schedule leaves, and no promise "
        "of what more steps would."
    )
    yield ""
    rows = []
    for pair, decay in decays.items():
        for name, fit in decay.fits.items():
            interval = decay.intervals[name]
            ends = f"{interval[0]:.3f} .. {interval[1]:.3f}" if interval else "-"
            known = "not determined" if fit.at_edge else f"{fit.asymptote:.4f}"
            best = [word for word in ("bic", "aic") if decay.best(word) == name]
            scores = f"{fit.bic(decay.samples):.1f}", f"{fit.aic():.1f}"
            alone = shown(decay.alone[name])
            rows.append((" - ".join(pair), name, known, ends, alone, *scores, ", ".join(best).upper()))
    head = ("gap", "family", "asymptote", "by drawing seeds", "mean of seeds, Student", "BIC", "AIC", "preferred by")
    yield from table(head, rows)
    yield from picture(figures, f"gaps-{protocol}", "the gaps and their fits")
    yield "Asymptote of an exponential if only the first part of the steps had been seen:"
    yield ""
    yield from horizon_table(decays)


def horizon_table(decays: Mapping[tuple[str, str], Decay]) -> list[str]:
    """Show what shorter runs would have said."""
    rows = []
    for pair, decay in decays.items():
        cells = []
        for line in decay.horizons:
            value = "too few points" if line["asymptote"] is None else f"{line['asymptote']:.3f}"
            cells.append("not determined" if line["at_edge"] else value)
        worth = f"{decay.samples:.0f} of {decay.fits['exponential'].points}"
        rows.append((" - ".join(pair), *cells, f"{decay.correlation:.2f}", worth))
    shares = [f"{100 * line['share']:.0f} %" for line in next(iter(decays.values())).horizons]
    return table(("gap", *shares, "correlation of neighbours", "independent points"), rows)


def persistence_section(found: Findings, protocol: str, figures: set[str]) -> Iterator[str]:
    """Show what stays of the embedded network."""
    yield f"### What stays of the small network ({protocol})"
    yield ""
    rows = []
    for name in found.records.conditions(protocol):
        for layer in range(found.layer + 1) if name not in SMALL else ():
            fresh, likeness = (shown(found.level(name, protocol, key, layer)) for key in ("r2", "cka_small"))
            frozen = frozen_text(found.curves(name, protocol, "frozen_r2", layer).by_seed(*END).values())
            if {fresh, frozen, likeness} != {"-"}:
                rows.append((name, layer, fresh, frozen, likeness))
    if not rows:
        yield NOTHING
        yield ""
        return
    yield (
        "At the end, by layer: R2 of a fresh probe, R2 of the probe of step 0 (if the layer still shows the sectors in "
        "the same way, both are the same; it is far below 0 where the layer's numbers have moved or grown, so that the "
        "old sums miss by more than the sectors vary; then the lowest and the highest seed are shown), and CKA with "
        "the small network's layer, which does not depend on how large the numbers are."
    )
    yield ""
    yield from table(("condition", "layer", "R2", "R2 of the frozen probe", "CKA with the small network"), rows)
    yield from kept_lines(found, protocol)
    levels = [
        (name, shown(found.start_level(name, protocol, "concentration")), shown(value))
        for name in found.records.conditions(protocol)
        if name not in SMALL and (value := found.level(name, protocol, "concentration")) is not None
    ]
    yield f"Concentration: R2 of layer {found.layer} minus the mean of the other layers."
    yield ""
    yield from table(("condition", "at step 0", "at the end"), levels)
    yield from picture(figures, f"persistence-{protocol}", "what stays of the embedded network")


def kept_lines(found: Findings, protocol: str) -> Iterator[str]:
    """Show whether the probes of step 0 still go with the sectors."""
    rows = []
    for name in found.records.conditions(protocol):
        for layer in range(found.layer + 1) if name not in SMALL else ():
            kept = found.kept(name, protocol, layer)
            if kept:
                rows.append((name, layer, *(shown(kept.get(key)) for key in ("at_start", "old", "fresh"))))
    if rows:
        yield (
            "Correlation of what probes read with the sectors, at the last step of complete runs. It does not ask how "
            "large the layer's numbers are, so it shows whether the old sums still go up and down with the sectors:"
        )
        yield ""
        head = ("condition", "layer", "at step 0", "the probe of step 0, at the end", "a fresh probe, at the end")
        yield from table(head, rows)


def similarity_section(found: Findings, protocol: str, figures: set[str]) -> Iterator[str]:
    """Show how alike layers of different networks are."""
    yield f"### How alike the networks are ({protocol})"
    yield ""
    shown_any = False
    for kind, title in (("conditions", "conditions of one seed"), ("seeds", "seeds of one condition")):
        values = found.similarity(kind, protocol)
        if values:
            shown_any = True
            most = max(len(row) for row in values.values())
            rows = []
            for name, row in values.items():
                rows.append((name, *(f"{value:.3f}" for value in row), *["-"] * (most - len(row))))
            yield from table((f"CKA, {title}", *(f"layer {layer}" for layer in range(most))), rows)
    if not shown_any:
        yield "Layers were not compared."
        yield ""
    yield from picture(figures, f"similarity-{protocol}", "CKA by layer")


def strength_section(found: Findings, protocol: str, figures: set[str]) -> Iterator[str]:
    """Show the matches."""
    yield f"### Strength at equal steps ({protocol})"
    yield ""
    pairs = [pair for pair in [*found.pairs(protocol), tuple(SMALL)] if len(pair) == 2]
    rows, means = [], []
    for first, second in pairs:
        for seed, match in sorted(found.matches((first, second), protocol).items()):
            score = f"{100 * match['score']:.1f} % ({100 * match['low']:.1f} .. {100 * match['high']:.1f})"
            split = f"{match['both']} / {match['split']} / {match['neither']}"
            rows.append((first, second, seed, f"{match['step']:,}", match["games"], score, split))
        mean = found.strength((first, second), protocol)
        if mean is not None:
            means.append((first, second, difference_text(mean)))
    if not rows:
        yield "The networks have not met."
        yield ""
        return
    match = found.compared["strength"][-1]  # the first may be of an earlier comparison
    how = "by the policy's first move" if match["candidates"] == 1 else f"by value among {match['candidates']} moves"
    yield (
        f"Networks play {how}, from {match['openings']} random openings that all matches share, each with both seats. "
        "Intervals of a match are over openings; they say nothing of other seeds. The second table takes one number "
        "from each seed: the score above one half, with Student's interval, or that of the openings if it is wider."
    )
    yield ""
    head = ("first", "second", "seed", "steps", "games", "score of the first", "openings won / split / lost")
    yield from table(head, rows)
    yield from table(("first", "second", "score - 0.5 over seeds"), means)
    yield from picture(figures, f"strength-{protocol}", "scores of all matches")


def meanings_section(found: Findings) -> Iterator[str]:
    """Say what the conditions and protocols are."""
    yield "## Conditions"
    yield ""
    there = {run.condition for run in found.records.runs.values()}
    rows = [(name, meaning) for name, meaning in MEANINGS.items() if name in {*there, *LARGE}]
    yield from table(("condition", "what it is"), rows)
    yield (
        "Protocols: `taught`: large networks are taught the sectors, too, as the study was planned; `probed`: they are "
        "only probed for them, as in the original's last runs."
    )
    yield ""


SECTIONS = (
    learning_section, probes_section, comparison_section, decay_section, persistence_section, similarity_section,
    strength_section,
)  # fmt: skip
