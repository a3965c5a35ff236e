"""The seed's hypotheses and the question of the Domineering study, answered from its findings.

A verdict needs Student's interval over seeds, seed by seed, to lie on one side of 0; throughout training means in each
fifth of it. Where there is no interval, or it lies on both sides, the question stays open.
"""

from __future__ import annotations

from collections.abc import Sequence

from rookery.studies.domineering_findings import END, FIFTHS, LEARNED, Findings, frozen_text
from rookery.studies.domineering_records import COMPARED, LARGE
from rookery.studies.intervals import shown
from rookery.studies.seeds import Paired, paired
from rookery.studies.verdicts import NO, OPEN, YES, Answer

AUX = ("large-aux", "large")
EARLY = (0.0, 0.2)
RULED_OUT = 10.0
"""a family whose BIC is higher than the best by more does not count any more"""
ORIGINAL = dict(zip(COMPARED, (0.036, 0.061, -0.025), strict=True))
"""differences of R2 at the embedded depth that the original project recorded at the end"""
MEANS = {
    ("large-aux", "large"): "embedding a network that was taught the sectors",
    ("large-aux", "large-plain"): "the side task of the embedded network",
    ("large-plain", "large"): "embedding a network that was not taught the sectors",
}


def difference_text(found: Paired | None) -> str:
    """Write a difference with its interval and how many seeds agree."""
    if found is None:
        return "-"
    return f"{shown(found.estimate)}, above 0 in {found.above} of {found.estimate.count}"


def one_sided(found: Paired | None, wanted: int) -> str:
    """Tell whether a difference is on the wanted side of 0."""
    if found is None or found.verdict == 0:
        return OPEN
    return YES if found.verdict == wanted else NO


def throughout(parts: Sequence[Paired | None]) -> str:
    """Tell whether differences are above 0 in every part of training."""
    verdicts = [one_sided(part, 1) for part in parts]
    return NO if NO in verdicts else YES if set(verdicts) == {YES} else OPEN


def parts_text(parts: Sequence[Paired | None]) -> str:
    """Write the differences of the fifths of training, and in how many they are clear."""
    values = ", ".join("-" if part is None else f"{part.estimate.mean:+.3f}" for part in parts)
    clear = sum(one_sided(part, 1) == YES for part in parts)
    return f"by fifths of training {values}, clearly above 0 in {clear} of {len(parts)}"


def fifths(found: Findings, protocol: str, figure: str) -> list[Paired | None]:
    """Compare large-aux with large in each fifth of training."""
    return [found.part(AUX, protocol, figure, span) for span in FIFTHS]


def so_far(text: str, note: str) -> str:
    """Add to a text how far the runs went, if not to the end."""
    return f"{text} ({note})" if note else text


def judged(verdict: str, *notes: str) -> str:
    """Return a verdict; one from runs that were stopped says up to which step it holds."""
    known = sorted({note for note in notes if note})
    return verdict if verdict == OPEN else so_far(verdict, ", ".join(known))


# ---- the question --------------------------------------------------------------------------------


def help_answers(found: Findings, protocol: str) -> list[Answer]:
    """Answer whether embedding helps a large network to learn, soon and in the end."""
    answers = []
    faster = "Does embedding let a large network learn faster, the small one's steps not counted?"
    for span, question in ((EARLY, faster), (END, "Does it learn better?")):
        told, verdicts = [], []
        for pair in (("large-aux", "large"), ("large-plain", "large")):
            part = found.part(pair, protocol, LEARNED, span)
            note = found.cut_short(pair, protocol, LEARNED)
            told.append(so_far(f"{pair[0]} - {pair[1]}: {difference_text(part)}", note))
            verdicts.append((so_far(pair[0], note), one_sided(part, -1)))
        verdict = by_name(verdicts)
        where = "the first fifth" if span == EARLY else "the last tenth"
        said = "embedding helps (the study's question)"
        answers.append(Answer(verdict, f"validation loss over {where} of the steps: {'; '.join(told)}", question, said))
    return answers


def by_name(verdicts: Sequence[tuple[str, str]]) -> str:
    """Say for which conditions the answer is yes and for which no; open if for none."""
    named = [(word, [name for name, verdict in verdicts if verdict == word]) for word in (YES, NO)]
    return "; ".join(f"{word}: {', '.join(names)}" for word, names in named if names) or OPEN


def strength_answer(found: Findings, protocol: str) -> Answer:
    """Answer whether embedded networks play better after as many steps."""
    question, said = "Does an embedded network play better?", "embedding helps (the study's question)"
    told, verdicts = [], []
    for pair in COMPARED:
        result = found.strength(pair, protocol)
        if result is not None:
            games = sum(match["games"] for match in found.matches(pair, protocol).values())
            score = shown(result.estimate, 1, 0.01)
            told.append(f"{pair[0]} against {pair[1]}: points above 50 %: {score}, {games:,} games")
            verdicts.append((pair, one_sided(result, 1)))
    if not told:
        return Answer(OPEN, "the networks have not met", question, said)
    against = [(pair[0], verdict) for pair, verdict in verdicts if pair[1] == "large"]
    return Answer(by_name(against), "; ".join(told), question, said)


# ---- step 0 and hypotheses -----------------------------------------------------------------------


def start_answer(found: Findings, protocol: str) -> Answer:
    """Answer whether at step 0 the embedded layer shows most in large-aux and least in large."""
    question = f"At step 0, is the probe behind layer {found.layer} best in large-aux and worst in large?"
    said = "yes, or the embedding is probably wrong"
    values: dict[str, dict[int, float]] = {}
    for name in LARGE:
        runs = found.records.of(name, protocol)
        starts = {seed: run.probe(found.layer) for seed, run in runs.items()}
        values[name] = {seed: series[0] for seed, series in starts.items() if 0 in series}
    seeds = sorted(set.intersection(*(set(each) for each in values.values())))
    if not seeds:
        return Answer(OPEN, "not all three conditions were probed at step 0", question, said)
    best = [s for s in seeds if values["large-aux"][s] > max(values["large-plain"][s], values["large"][s])]
    worst = [s for s in seeds if values["large"][s] < min(values["large-plain"][s], values["large-aux"][s])]
    right = set(best) & set(worst)
    means = ", ".join(f"{name} {sum(values[name][s] for s in seeds) / len(seeds):.3f}" for name in LARGE)
    told = f"best in {len(best)} and worst in {len(worst)} of {len(seeds)} seeds; mean R2: {means}"
    clear = [found.at_start(pair, protocol) for pair in COMPARED]
    wrong = any(one_sided(difference, 1) == NO for difference in clear)
    return Answer(YES if len(right) == len(seeds) else NO if wrong else OPEN, told, question, said)


def concentration_answer(found: Findings, protocol: str) -> Answer:
    """Answer the first hypothesis."""
    question = f"H1: with small-aux embedded, are sectors more concentrated at layer {found.layer} throughout training?"
    said = "yes: that layer gave the small network's answer"
    parts = fifths(found, protocol, "concentration")
    if not any(parts):
        return Answer(OPEN, "large-aux and large were not both probed", question, said)
    levels = ", ".join(
        f"{name} {shown(found.level(name, protocol, 'concentration'))}"
        for name in LARGE
        if found.level(name, protocol, "concentration") is not None
    )
    note = found.cut_short(AUX, protocol, "concentration")
    gap = so_far(parts_text(parts), note)
    told = f"R2 of the layer minus the mean of the others, large-aux - large: {gap}; at the end {levels}"
    return Answer(judged(throughout(parts), note), told, question, said)


def fading_answer(found: Findings, protocol: str) -> Answer:
    """Answer the second hypothesis."""
    question = "H2: with small-plain embedded, do sector representations fade over training?"
    said = "they may, as the loss does not ask for them" if protocol == "probed" else "they may"
    runs = found.records.of("large-plain", protocol)
    ends = found.curves("large-plain", protocol, "r2").by_seed(*END)
    starts = {seed: series[0] for seed, run in runs.items() if 0 in (series := run.probe(found.layer))}
    change, note = paired(ends, starts), found.cut_short(("large-plain", "large-plain"), protocol)
    if change is None or all(run.last_step == 0 for run in runs.values()):
        return Answer(OPEN, "large-plain was not probed over training", question, said)
    frozen = found.curves("large-plain", protocol, "frozen_r2").by_seed(*END)
    kept = found.kept("large-plain", protocol, found.layer)
    told = f"R2 behind layer {found.layer} from step 0 to the end: {so_far(difference_text(change), note)}"
    if frozen:
        told += f"; R2 of the probe of step 0 itself in the end: {frozen_text(list(frozen.values()))}"
    if {"at_start", "old"} <= set(kept):
        told += f", its correlation with the sectors: from {shown(kept['at_start'])} to {shown(kept['old'])}"
    if protocol == "taught":
        told += "; the sectors are taught here, so they are asked for"
    return Answer(judged(one_sided(change, -1), note), told, question, said)


def early_answer(found: Findings, protocol: str) -> Answer:
    """Answer the third hypothesis."""
    question = f"H3: does large-aux keep a better probe in layers 0 to {found.layer} throughout training?"
    parts = fifths(found, protocol, "early")
    if not any(parts):
        return Answer(OPEN, "large-aux and large were not both probed", question, "yes")
    note = found.cut_short(AUX, protocol, "early")
    ends = difference_text(found.part(AUX, protocol, "early"))
    told = f"mean R2 of these layers, large-aux - large: {so_far(parts_text(parts), note)}; at the end {ends}"
    return Answer(judged(throughout(parts), note), told, question, "yes")


def survival_answer(found: Findings, protocol: str) -> Answer:
    """Answer whether the gap between large-aux and large would be left, as far as curves can tell."""
    question = f"Do fits of the gap of large-aux over large at layer {found.layer} leave some of it in the end?"
    said = "about 0.044 by an exponential, 0.010 by a power law (the original, 3 seeds)"
    decay = found.decay(AUX, protocol)
    if decay is None:
        return Answer(OPEN, "there are too few probes to fit a curve", question, said)
    best, told, verdicts = decay.best(), [], []
    least = decay.fits[best].bic(decay.samples)
    for name, fit in decay.fits.items():
        if fit.bic(decay.samples) > least + RULED_OUT:
            continue
        alone = decay.alone[name]
        known = "not determined" if fit.at_edge else f"{fit.asymptote:.3f}"
        told.append(f"{name} {known}, of each seed alone {shown(alone)}")
        certain = alone.known and not fit.at_edge
        verdicts.append(YES if certain and alone.low > 0 else NO if certain and alone.high < 0 else OPEN)
    agreed = verdicts[0] if len(set(verdicts)) == 1 else OPEN
    note = found.cut_short(AUX, protocol)
    text = f"asymptotes of the families that BIC leaves: {'; '.join(told)}; it prefers {best}"
    return Answer(judged(agreed, note), so_far(text, note), question, said)


def comparison_answers(found: Findings, protocol: str) -> list[Answer]:
    """Answer the three key comparisons: what is read at the embedded depth in the end."""
    answers = []
    for pair in COMPARED:
        part = found.part(pair, protocol)
        question = f"Does {MEANS[pair]} raise R2 at layer {found.layer} in the end? ({pair[0]} - {pair[1]})"
        said = f"{ORIGINAL[pair]:.3f} (the original, 3 seeds; its large networks were not taught the sectors)"
        note = found.cut_short(pair, protocol)
        told = lacking_text(found, pair, protocol) if part is None else so_far(difference_text(part), note)
        answers.append(Answer(judged(one_sided(part, 1), note), told, question, said))
    return answers


def lacking_text(found: Findings, pair: tuple[str, str], protocol: str) -> str:
    """Say why two conditions cannot be compared."""
    probed = [any(run.probes for run in found.records.of(name, protocol).values()) for name in pair]
    return "no seed has both to the same step" if all(probed) else "not both were probed"


def all_answers(found: Findings, protocol: str) -> list[Answer]:
    """List all answers of one protocol."""
    return [
        *help_answers(found, protocol), strength_answer(found, protocol), start_answer(found, protocol),
        concentration_answer(found, protocol), fading_answer(found, protocol), early_answer(found, protocol),
        *comparison_answers(found, protocol), survival_answer(found, protocol),
    ]  # fmt: skip
