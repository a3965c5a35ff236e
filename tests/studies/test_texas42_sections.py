"""Sections of the Texas 42 study's report, from made-up measurements: what they say follows from the numbers."""

from __future__ import annotations

import json

import pytest

from rookery.learn.files import LineLog
from rookery.studies.stages import read_notes
from rookery.studies.texas42_checks import Check
from rookery.studies.texas42_measured import keep_note
from rookery.studies.texas42_report import how_section, lacking_of, risk_section, stage_section
from rookery.studies.texas42_sections import (
    claim_section,
    duel_section,
    evaluation_section,
    number,
    pairs_section,
    several,
)

REFERENCE = "exact E[Q], 1000 worlds"


def estimate(mean, half=0.01, count=1200):
    return {"mean": mean, "low": mean - half, "high": mean + half, "count": count}


def figures(regret=0.2, share=0.95, ceiling=0.96, decisions=200, half=0.02):
    return {
        "decisions": decisions, "deals": 180, "regret": estimate(regret, half), "agreement": estimate(share * ceiling),
        "ceiling": ceiling, "reached": estimate(ceiling), "of_ceiling": share, "share": estimate(share, half),
    }  # fmt: skip


def player(*tricks, **whole):
    return figures(decisions=1200, **whole) | {"by_trick": [*tricks, *[figures()] * (6 - len(tricks)), None]}


def run(stage=2, hands=10_000, width=128, layers=4, answers="q", data=("decisions-100",), **changes):
    network = {"width": width, "layers": layers, "answers": answers}
    usual = {
        "stage": stage,
        "rows": hands,
        "train_rows": 0,
        "data": list(data),
        "network": network,
        "seed": 0,
        "steps": 3000,
    }
    return usual | {"parameters": width * layers} | changes


def trial(players, **others):
    found = {"random": player(regret=5.0), REFERENCE: player(regret=0.0)} | players
    return {"players": found, "decisions": 1200, "worlds": 1000, **others}


def text_of(lines):
    return "\n".join(lines)


def test_it_is_said_where_stage_2_falls_short_and_where_it_is_not_known():
    tricks = figures(), figures(regret=0.6), figures(regret=0.34), figures(share=0.85), figures(share=0.91)
    said = text_of(evaluation_section(trial({"two": player(*tricks)}), {"two": run()}))
    assert "- trick 2: 200 decisions, regret 0.600 (0.580 .. 0.620), above 0.35; agreement 91.2" in said
    assert "regret 0.340 (0.320 .. 0.360), on both sides of 0.35" in said
    assert "85.0 (83.0 .. 87.0) % of the ceiling of 96.0 %, below 90%" in said
    assert "By their whole intervals it misses a bound in tricks 2 and 4." in said
    assert "In tricks 3 and 5 these decisions do not tell." in said
    assert "In tricks 1 and 6 it meets both." in said
    assert "Most of its regret on these decisions arises in trick 2: 34%." in said
    assert "| 0, the reference |" in said
    assert "1,200 unforced decisions of 180 deals" in said
    assert "Intervals are over deals." in said
    assert "flatters" not in said  # it was the only one


def test_every_trick_has_its_interval_its_sample_and_the_ceiling():
    said = text_of(
        evaluation_section(trial({"two": player(), "worse": player(regret=1.0)}), {"two": run(), "worse": run()})
    )
    tables = [line for line in said.splitlines() if line.startswith("| ")]
    assert tables.count("| decisions | 200 | 200 | 200 | 200 | 200 | 200 |") == 2
    ceiling = next(line for line in tables if line.startswith("| **ceiling**"))
    assert ceiling.count("96.0 (95.0 .. 97.0)") == 6
    assert sum(line.count("0.200 (0.180 .. 0.220)") for line in tables) >= 18
    assert "of 2 runs; it was picked by these same decisions" in said


def pair(first, second, differs, values, behind, half=0.01):
    facts = {"behind": estimate(behind, half), "agrees_more": estimate(0.0), "same": estimate(0.8)}
    return {"first": first, "second": second, "differs": differs, "values": values, "decisions": 1200, **facts}


def test_curves_sizes_labels_and_the_sweep_are_compared_by_pairs():
    runs = {
        "stage2-1k": run(hands=1000), "stage2-10k": run(hands=10_000), "stage2-100k": run(hands=100_000),
        "stage2-small": run(width=64), "stage2-sweep-seed-1": run(seed=1), "stage2-sweep-rate": run(),
    }  # fmt: skip
    apart = [
        pair("stage2-10k", "stage2-1k", "hands", ["10,000", "1,000"], -0.3),
        pair("stage2-100k", "stage2-10k", "hands", ["100,000", "10,000"], -0.005),
        pair("stage2-10k", "stage2-small", "size", ["128x4", "64x4"], 0.2),
        pair("stage2-sweep-seed-1", "stage2-10k", "seed", ["1", "0"], 0.001),
        pair("stage2-sweep-rate", "stage2-10k", "learning_rate", ["0.1", "0.2"], -0.1),
    ]
    players = {name: player() for name in runs}
    said = text_of(pairs_section(trial(players, apart=apart), runs))
    lines = said.splitlines()
    assert "### Learning from more hands: 128x4, q, decisions-100" in lines
    place = next(i for i, line in enumerate(lines) if line.startswith("| 1,000 |"))
    assert lines[place].endswith("| - |")
    assert lines[place + 1].endswith("-0.300 (-0.310 .. -0.290), better: more hands |")
    assert lines[place + 2].endswith("-0.005 (-0.015 .. 0.005), not told apart |")
    assert "### Sweep around stage2-10k" in lines
    assert any(line.startswith("| seed 1, not 0 | stage2-sweep-seed-1 |") for line in lines)
    assert "1 better than the baseline, 0 worse, 1 not told apart" in said
    assert "| size | stage2-10k (128x4) | stage2-small (64x4) | 0.200 (0.190 .. 0.210) | better: the second |" in lines
    assert text_of(pairs_section(trial({"two": player()}), {"two": run()})) == ""


def test_logits_are_compared_in_three_ways():
    labels = {"decisions-claim": {"decisions": 9000, "deals": 500, "same_choice": estimate(0.9),
                                  "regret": estimate(0.03), "largest_logit": 5.0}}  # fmt: skip
    pairs = [
        {"first": "E[logits] of one", "second": "E[Q] of one", "behind": estimate(0.2), "same": estimate(0.8)},
        {"first": "two-logits", "second": "two", "behind": estimate(-0.2), "same": estimate(0.7)},
    ]
    runs = {"two-logits": run(answers="logits"), "two": run()}
    said = text_of(claim_section({"claim": labels, "trial": {"pairs": pairs}}, runs))
    assert "| decisions-claim | 9,000 | 500 | 90.0 (89.0 .. 91.0) | 0.030 (0.020 .. 0.040) | 5.0 |" in said
    first, second = said.index("**Choices.**"), said.index("**Stage 2.**")
    assert first < said.index("better: Q") < second < said.index("better: logits")
    alone = text_of(claim_section({"trial": {"pairs": pairs[:1]}}, runs))
    assert "scored by exact values: no pair is judged." in alone
    assert text_of(claim_section({}, runs)) == ""
    other = {"first": "two-seed-1", "second": "two", "differs": "seed", "same": estimate(0.75)}
    said = text_of(claim_section({"claim": labels, "trial": {"pairs": pairs, "apart": [other]}}, runs))
    assert (
        "two-seed-1 and two, both taught Q and unlike in seeds alone, choose the same in 75.0 (74.0 .. 76.0) %" in said
    )


def duel(first, second, points=1.0, made=0.02, half=0.01):
    facts = {"points_a_hand": estimate(points, 0.5, 1000), "made_more": estimate(made, half, 1000), "made": [0.6, 0.5]}
    return {"first": first, "second": second, "deals": 1000, "wins": estimate(0.6, count=900), **facts}


def test_matches_have_paired_tests_and_playing_for_the_bid_is_put_into_words():
    found = [duel("a", "b"), duel("eq:make", "eq", -1.0), duel("two:make", "two", half=0.03)]
    said = text_of(duel_section(found))
    assert "| a against b | 1,000 | 1.00 (0.50 .. 1.50), p < 0.0001 | 60.0 (59.0 .. 61.0) of 900 |" in said
    assert (
        "- eq, playing for the bid against itself playing for points, makes more bids: 2.0 (1.0 .. 3.0), p < 0.0001"
        in said
    )
    assert "points more a hand -1.00 (-1.50 .. -0.50), p < 0.0001; 1,000 deals." in said
    assert "- two, playing for the bid against itself playing for points, is not told apart by bids made" in said
    assert "p = 0.19" in said


def test_risks_follow_from_the_checks():
    checks = [
        Check("a: logits are of a reasonable size", True, "none are kept"),
        Check("a: hidden hands change nothing that Stage 2 sees", True, ""),
        Check("a: deals are of one part", False, ""),
        Check("run: the loss falls", True, "1 to 0"),
    ]
    said = text_of(risk_section(checks, trial({"two": player()}), {"two": run()})).splitlines()
    holds = {line.split(" | ")[0].strip("| "): line.split(" | ")[1] for line in said if line.startswith("| ")}
    assert holds["logits are of a reasonable size"] == "open"  # there are none to look at
    assert holds["Stage 2 sees nothing that is hidden, and no deal is in two parts"] == "**no**"
    assert holds["the loss falls in training"] == "yes"
    assert holds["validation follows"] == "open"
    assert holds["Stage 2 agrees more than chance among legal slots"] == "open"


def test_stage_1_is_shown_by_trick_with_intervals_and_opening_leads_apart(tmp_path):
    group = {"count": 500, "gap": 0.04, "gap_error": 0.01, "blunder": 0.001, "blunder_error": 0.0001}
    group |= {"q_gap": 0.06, "q_gap_error": 0.02, "zero_regret": 0.9, "q_mae": 1.0, "value_mae": 1.0}
    facts = run(1, steps=9)
    valid = {"all": group, "unforced": group, "opening": group | {"gap": 0.5, "count": 77}, "by_trick": [group] * 7}
    (tmp_path / "runs" / "one").mkdir(parents=True)
    (tmp_path / "runs" / "one" / "settings.json").write_text(json.dumps(facts))
    line = {"step": 9, "seconds": 1.0, "train": None, "valid": {"positions-uniform": valid}}
    LineLog(tmp_path / "runs" / "one" / "progress.jsonl").append(line)
    assert "None was trained." in text_of(stage_section(tmp_path, 2, {"one": line}))
    said = text_of(stage_section(tmp_path, 1, {"one": line}))
    row = next(line for line in said.splitlines() if line.startswith("| one | positions-uniform (uniform) |"))
    assert row.split(" | ")[2:4] == ["0.500 +- 0.020 (77)", "0.040 +- 0.020 (500)"]
    assert row.count("0.040 +- 0.020 (500)") == 6
    shown = {line.split(" | ")[2]: line for line in said.splitlines() if line.startswith("| one |")}
    assert shown["gap"].count("0.040 +- 0.020 |") == 6
    assert shown["gap of Q"].count("0.060 +- 0.039 |") == 7
    assert shown["blunders"].count("0.10% +- 0.02% |") == 7
    assert shown["no gap"].count(" 90.0% |") == 7
    assert shown["error of Q"].count(" 1.00 |") == 7
    facts["network"]["answers"] = "both"
    (tmp_path / "runs" / "one" / "settings.json").write_text(json.dumps(facts))
    of_both = text_of(stage_section(tmp_path, 1, {"one": line}))
    assert of_both == said
    assert (
        "| 0.060 +- 0.039 (500) | 0.040 +- 0.020 (500) | 0.10% +- 0.02% (500) | 90.0% (500) | 1.00 | 1.00 |" in of_both
    )
    facts["network"]["answers"] = "policy"
    (tmp_path / "runs" / "one" / "settings.json").write_text(json.dumps(facts))
    group.update(q_gap=None, q_gap_error=None, q_mae=None)  # as a policy is measured; the opening leads are a copy
    of_policy = text_of(stage_section(tmp_path, 1, {"one": line}))
    assert "| gap of Q | 0.060 +- 0.039 | - |" in of_policy
    assert "| error of Q | 1.00 | - |" in of_policy
    assert "0.10% +- 0.02% (500)" in said
    assert next(lacking_of(tmp_path, {"duels": []}, {"one": line | {"step": 3}})) == "run one is not complete"


# ---- notes ---------------------------------------------------------------------------------------


def note(command="rookery study", seconds=10.0, seed=0, cpu="one"):
    return {"command": command, "date": "2026-01-01", "machine": {"cpu": cpu}, "seed": seed, "seconds": seconds}


def test_seconds_of_work_that_was_done_in_parts_are_added_up(tmp_path):
    for facts in (note(), note(seconds=5.5), note(cpu="two"), note(seed=1)):
        keep_note(tmp_path, "trial.npz", facts)
    found = read_notes(tmp_path)["trial.npz"]
    assert [(each["seconds"], each["times"]) for each in found] == [(15.5, 2), (10.0, 1), (10.0, 1)]


def test_commands_machines_seconds_and_seeds_are_shown(tmp_path):
    assert "Nothing is noted" in text_of(how_section(tmp_path, {}, {}))
    keep_note(tmp_path, "run-a", note())
    keep_note(tmp_path, "match", note("rookery other", 7, None, "two"))
    said = text_of(how_section(tmp_path, {"run-a": run(), "run-b": run()}, {"run-a": {"seconds": 4.0}}))
    assert "- machine B: cpu two" in said
    assert "| run-a | 10 (4) | A | 0 | `rookery study` | 2026-01-01 |" in said
    assert "| match | 7 | B | - | `rookery other` | 2026-01-01 |" in said
    assert "Of run-b it is not noted" in said


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        (None, "-"),
        ({"mean": 1.0, "low": None, "high": None, "count": 1}, "1.000 (no interval)"),
        ({"mean": 0.0, "low": 0.0, "high": 0.0, "count": 8}, "0.000 (all the same)"),
    ],
)
def test_numbers_without_an_interval_say_so(facts, text):
    assert number(facts) == text
    assert several([1, 2, 3]) == "1, 2 and 3"


def test_what_an_older_program_measured_is_shown_as_far_as_it_goes():
    new = ("deals", "reached", "share")

    def older(figures):
        return {key: value for key, value in figures.items() if key not in new}

    two = older(player())
    two["by_trick"] = [each and older(each) for each in two["by_trick"]]
    found = {"players": {REFERENCE: two, "two": two}, "decisions": 1200, "worlds": 1000}
    said = text_of(evaluation_section(found, {"two": run()}))
    assert "1,200 unforced decisions that nobody has learned from" in said
    assert "Intervals are over decisions, as if" in said
    assert "| **ceiling** | 96.0 |" in said
    assert "In tricks 1, 2, 3, 4, 5 and 6 it meets both." in said
