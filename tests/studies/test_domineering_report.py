"""Findings, answers and report of the Domineering study, from made-up runs whose truth is known."""

from __future__ import annotations

import ast
import base64
import io
import json
import re
import shutil
import sys
from html.parser import HTMLParser

import pytest

from rookery import BadInput
from rookery.studies.domineering_answers import all_answers, throughout
from rookery.studies.domineering_figures import leave_empty, sector_board, show_far_below
from rookery.studies.domineering_findings import Findings, frozen_text
from rookery.studies.domineering_report import report_facts, verification, write_report
from rookery.studies.pylos_figures import new_figure
from rookery.studies.seeds import paired
from studies.domineering_made_up import SMALL, made_up_comparison, made_up_run, made_up_study
from support import ROOT


class Loads(HTMLParser):
    """What a page loads or leads to."""

    def __init__(self):
        super().__init__()
        self.found, self.tags = [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.found += [value for name, value in attributes if name in ("src", "href", "data", "action", "srcset")]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    made_up_study(folder)
    made_up_comparison(folder)
    (folder / "remarks.md").write_text("A <remark> with a [link](https://example.org/x) and\n\n- an item\n")
    return folder


@pytest.fixture(scope="module")
def found(whole):
    return Findings(whole)


def reported(folder):
    """Write a report without figures, which take most of the time."""
    before = sys.modules.get("matplotlib")
    sys.modules["matplotlib"] = None
    try:
        return write_report(folder).read_text()
    finally:
        if before is None:
            del sys.modules["matplotlib"]
        else:
            sys.modules["matplotlib"] = before


def answer(found, beginning, protocol="taught"):
    return next(each for each in all_answers(found, protocol) if each.question.startswith(beginning))


# ---- findings ------------------------------------------------------------------------------------


def test_differences_at_the_embedded_depth_come_out(found):
    end = found.part(("large-aux", "large"), "taught")
    assert end.estimate.mean == pytest.approx(0.05, abs=0.006)
    assert end.estimate.count == 4
    assert end.verdict == 1
    start = found.at_start(("large-plain", "large"), "taught")
    assert start.estimate.mean == pytest.approx(0.13, abs=0.01)


def test_what_a_seed_does_to_all_conditions_falls_out_of_differences(tmp_path):
    made_up_study(tmp_path, steps=5000, seed_effect=0.2)
    wide = Findings(tmp_path)
    level, gap = wide.level("large", "taught", "r2"), wide.part(("large-aux", "large"), "taught")
    assert level.high - level.low > 0.2
    assert gap.estimate.high - gap.estimate.low < 0.03


def test_the_gap_has_the_asymptote_it_was_made_with(found):
    decay = found.decay(("large-aux", "large"), "taught")
    assert decay.best() == "exponential"
    assert decay.fits["exponential"].asymptote == pytest.approx(0.05, abs=0.004)
    assert decay.fits["exponential"].shape[0] == pytest.approx(6000, rel=0.1)
    assert [line["share"] for line in decay.horizons] == [0.2, 0.4, 0.6, 0.8, 1.0]


def test_strength_takes_one_number_from_each_seed(found):
    result = found.strength(("large-aux", "large"), "taught")
    assert list(result.by_seed.values()) == pytest.approx([0.10, 0.11, 0.12, 0.13])
    assert result.verdict == 1


def test_seeds_that_score_alike_by_chance_prove_nothing(tmp_path):
    made_up_study(tmp_path, seeds=[1, 2], steps=1000)
    made_up_comparison(tmp_path, seeds=[1, 2])
    content = json.loads((tmp_path / "compare.json").read_text())
    for match in content["strength"]:
        match |= {"score": 0.625, "low": 0.4, "high": 0.85}
    (tmp_path / "compare.json").write_text(json.dumps(content))
    found = Findings(tmp_path).strength(("large-aux", "large"), "taught")
    assert found.by_seed == {1: 0.125, 2: 0.125}
    assert (found.estimate.low, found.estimate.high) == pytest.approx((0.125 - 0.225 / 2**0.5, 0.125 + 0.225 / 2**0.5))
    assert answer(Findings(tmp_path), "Does an embedded network play").word == "open"


def test_a_complete_study_lacks_nothing(found):
    assert found.missing == []


# ---- answers -------------------------------------------------------------------------------------


def test_answers_are_those_the_runs_were_made_with(found):
    assert answer(found, "Does embedding let").word.startswith("yes: large-aux")
    assert answer(found, "Does an embedded network play").word == "yes: large-aux"
    assert answer(found, "At step 0").word == "yes"
    assert answer(found, "H1").word == "yes"
    assert answer(found, "H2").word == "no"  # it was made to grow from 0.15 to 0.18
    assert answer(found, "H3").word == "yes"
    assert answer(found, "Does embedding a network that was not").word == "no"
    assert answer(found, "Do fits of the gap").word == "yes"


def test_throughout_needs_every_part():
    above, below, unclear = ({1: v, 2: v * 1.01, 3: v * 0.99} for v in (1.0, -1.0, 0.0))
    unclear = {1: 1.0, 2: -1.0, 3: 0.1}
    yes, no, open_ = paired(above), paired(below), paired(unclear)
    assert throughout([yes] * 5) == "yes"
    assert throughout([yes, yes, open_, yes, yes]) == "open"
    assert throughout([yes, yes, open_, yes, no]) == "no"
    assert throughout([yes, None]) == "open"


def test_a_wrong_order_at_step_0_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("studies.domineering_made_up", fromlist=["STARTS"]).STARTS, "large-plain", 0.5)
    made_up_study(tmp_path, seeds=[1, 2, 3], steps=1000)
    told = answer(Findings(tmp_path), "At step 0")
    assert told.word == "no"
    assert "best in 0 and worst in 3 of 3 seeds" in told.reason


def test_answers_of_runs_that_were_stopped_say_up_to_which_step_they_hold(tmp_path):
    made_up_study(tmp_path, seeds=[1, 2, 3], steps=12_000, planned=30_000)
    for seed in (1, 2, 3):  # one condition has less than the others
        shutil.rmtree(tmp_path / "runs" / f"large-s{seed}")
        made_up_run(tmp_path, f"large-s{seed}", steps=9000, planned=30_000)
    found = Findings(tmp_path)
    for beginning in ("Does embedding a network that was taught", "H1", "H3"):
        told = answer(found, beginning)
        assert told.word == "yes (up to step 9,000 of 30,000)"
        assert "(up to step 9,000 of 30,000)" in told.reason
    assert answer(found, "Does it learn").word == "yes: large-aux (up to step 9,000 of 30,000)"
    assert answer(found, "H2").word == "no (up to step 12,000 of 30,000)"
    text = reported(tmp_path)
    assert "large-aux - large up to step 9,000 of 30,000; large-aux - large-plain up to step 12,000" in text
    assert "| large-aux - large | 9,000 | -0.0" in text


def test_means_count_the_seeds_they_are_of(tmp_path):
    made_up_study(tmp_path, seeds=[1, 2, 3], steps=2000)
    shutil.rmtree(tmp_path / "runs" / "large-s2")
    made_up_run(tmp_path, "large-s2", steps=1000, planned=2000)
    text = reported(tmp_path)
    assert "| large | 2 of 3 | 2,000 |" in text
    assert "| large-aux | 3 | 2,000 |" in text


def test_runs_that_cannot_be_compared_are_named(tmp_path):
    made_up_study(tmp_path, seeds=[1, 2], steps=1000)
    place = tmp_path / "runs" / "large-s2" / "settings.json"
    place.write_text(json.dumps(json.loads(place.read_text()) | {"parameters": 7}))
    assert any(
        line.startswith("The large networks (taught) differ in parameters: 1000 in ") and "; 7 in large-s2." in line
        for line in Findings(tmp_path).missing
    )


def test_one_seed_alone_answers_nothing_that_needs_an_interval(tmp_path):
    made_up_study(tmp_path, seeds=[42])
    found = Findings(tmp_path)
    verdict = {answer.question: answer.word for answer in all_answers(found, "taught")}
    at_start = [question for question in verdict if question.startswith("At step 0")]
    assert {value for question, value in verdict.items() if question not in at_start} == {"open"}
    assert any("one seed alone" in line for line in found.missing)


# ---- the report ----------------------------------------------------------------------------------


def check_page(folder, figures):
    """Check that a page loads nothing and that its pictures can be seen."""
    from matplotlib import image

    content = (folder / "report.html").read_text()
    page = Loads()
    page.feed(content)
    assert page.tags.count("img") == figures
    assert not {"script", "link", "iframe", "object", "a"} & set(page.tags)
    assert all(value.startswith("data:image/png;base64,") for value in page.found)
    assert "@import" not in content
    assert "url(" not in content
    for value in page.found:
        pixels = image.imread(io.BytesIO(base64.b64decode(value.partition(",")[2])), format="png")
        assert pixels.shape[0] > 100
    return content, page


def test_the_report_has_all_runs_and_remarks(whole):
    text = reported(whole)
    assert len(re.findall(r"^\| (?:large|small)[a-z-]*-s\d+ \| [\d,]+ \|", text, re.M)) == 20
    assert text.count("What is missing") == text.count("Matplotlib is not installed") == 1
    assert "yes, within 1e-16" in text
    content, page = check_page(whole, 0)
    assert page.tags.count("table") > 10
    assert "A &lt;remark&gt; with a link (https://example.org/x) and" in content
    assert "<li>an item</li>" in content


@pytest.mark.parametrize(
    ("difference", "told"), [(1.47e-14, "2e-14"), (1.02e-14, "2e-14"), (9.3e-15, "1e-14"), (1e-16, "1e-16"), (0.0, "0")]
)
def test_a_difference_at_the_cut_is_never_told_smaller_than_it_is(difference, told):
    assert verification({"verified": True, "differences": {"stream": difference}}) == f"yes, within {told}"


@pytest.mark.slow
def test_all_figures_are_drawn_and_are_within_the_page(whole):
    text = write_report(whole).read_text()
    shown = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)
    assert len(shown) == 8
    assert {path.name for path in whole.glob("*.png")} == set(shown)
    assert "not complete" not in text
    check_page(whole, 8)


def test_facts_are_json(whole):
    facts = json.loads(json.dumps(report_facts(whole), allow_nan=False))
    assert facts["embedded_layer"] == 1
    assert len(facts["runs"]) == 20
    pair = facts["protocols"]["taught"]["comparisons"][0]
    assert (pair["first"], pair["second"]) == ("large-aux", "large")
    assert pair["r2_at_end"]["by_seed"].keys() == {"42", "123", "456", "789"}
    assert pair["decay"]["best_by_bic"] == "exponential"
    assert len(facts["answers"]["taught"]) == 11


# ---- what is missing -----------------------------------------------------------------------------


def test_without_matplotlib_there_are_tables_and_no_figures(tmp_path):
    made_up_study(tmp_path, seeds=[1, 2], steps=2000)
    text = reported(tmp_path)
    assert "There are no figures: Matplotlib is not installed here." in text
    assert "![" not in text
    assert not list(tmp_path.glob("*.png"))


def test_the_same_folder_gives_the_same_report(tmp_path):
    made_up_study(tmp_path, seeds=[1, 2], steps=9000)
    made_up_comparison(tmp_path, seeds=[1, 2])
    first = reported(tmp_path)
    assert reported(tmp_path) == first
    assert "| large-aux | large | 1 | 30,000 | 100 | 60.0 %" in first


def test_an_empty_folder_gives_a_report_that_says_so(tmp_path):
    text = reported(tmp_path)
    assert "There are no runs" in text
    assert report_facts(tmp_path)["answers"] == {}
    with pytest.raises(BadInput, match="there is no such folder of a study"):
        write_report(tmp_path / "nowhere")


def test_runs_without_probes_are_reported_by_their_losses(tmp_path):
    made_up_study(tmp_path, seeds=[1, 2], steps=5000, probes=False)
    text = reported(tmp_path)
    assert "large-aux-s1 was not probed." in text
    assert "| large-aux - large | 5,000 | -0.0" in text
    assert answer(Findings(tmp_path), "H1").word == "open"


def test_an_unfinished_run_is_named_and_left_out_of_comparisons(tmp_path):
    made_up_study(tmp_path, seeds=[1, 2, 3], steps=10_000)
    made_up_run(tmp_path, "large-aux-s4", steps=2000, planned=10_000)
    made_up_run(tmp_path, "large-s4", steps=10_000)
    text = reported(tmp_path)
    assert "large-aux-s4 was stopped after 2,000 of 10,000 steps." in text
    assert "Left out for want of steps or of a partner, in some of them: seeds 4. Runs" in text
    found = Findings(tmp_path)
    assert found.part(("large-aux", "large"), "taught").estimate.count == 3
    assert found.part(("large-aux", "large"), "taught", "r2", (0.0, 0.2)).estimate.count == 4


def test_seeds_that_stopped_in_turns_are_compared_as_far_as_both_went(tmp_path):
    for name, steps in (
        ("large-aux-s1", 4000),
        ("large-plain-s1", 10_000),
        ("large-aux-s2", 10_000),
        ("large-plain-s2", 6000),
    ):
        made_up_run(tmp_path, name, steps=steps, planned=10_000)
    told = answer(Findings(tmp_path), "Does the side task")
    assert "(no interval), above 0 in 1 of 1 (up to step 6,000 of 10,000)" in told.reason
    assert told.word == "open"
    assert Findings(tmp_path).gap(("large-aux", "large-plain"), "taught").left_out == [1]


def test_missing_conditions_and_seeds_are_named(tmp_path):
    for name in ("large-s1", "large-s2", "large-aux-s1"):
        made_up_run(tmp_path, name, steps=2000)
    lines = Findings(tmp_path).missing
    assert "large-aux (taught) was not trained with seed 2." in lines
    assert "large-plain (taught) was not trained at all." in lines
    assert any("were not compared" in line for line in lines)
    assert "too few probes after step 0" in reported(tmp_path)


def test_small_networks_alone_are_reported(tmp_path):
    for condition in SMALL:
        made_up_run(tmp_path, f"{condition}-s42", steps=2000)
    text = reported(tmp_path)
    assert "| small-aux | 0.06" in text
    assert "large (taught) was not trained at all." in text


def test_both_protocols_have_their_own_sections(tmp_path):
    made_up_study(tmp_path, seeds=[1, 2], steps=2000)
    made_up_study(tmp_path, seeds=[1, 2], suffix="-probe", steps=2000)
    text = reported(tmp_path)
    assert "## Large networks taught" in text
    assert "## Large networks probed" in text
    assert text.count("| large-aux - large | last tenth |") == 2


def test_runs_that_have_only_begun_are_reported(tmp_path):
    made_up_study(tmp_path, seeds=[1, 2], steps=0, every=1000, planned=1000)
    (tmp_path / "runs" / "large-s3").mkdir()
    (tmp_path / "compare.json").write_text("{ cut off")
    text = reported(tmp_path)
    (tmp_path / "compare.json").write_text('{"strength": 3}')
    assert reported(tmp_path) == text
    assert "large-s3 was stopped after 0 steps." in text
    assert "differ in" not in text
    assert "| large-aux - large | step 0 |" in text


def test_figures_that_can_be_drawn_are_and_old_ones_are_taken_away(tmp_path):
    made_up_study(tmp_path, seeds=[1], steps=1000, probes=False)
    (tmp_path / "strength-taught.png").write_bytes(b"old")
    write_report(tmp_path)
    assert {path.name for path in tmp_path.glob("*.png")} == {"losses-taught.png"}
    check_page(tmp_path, 1)


def test_a_probe_that_is_far_below_0_can_be_seen():
    _, axes = new_figure(2)
    for axis, heights in zip(axes.flat, ([0.4, -20.0, -8000.0], [0.4, 0.1, -0.2]), strict=True):
        axis.plot([0, 1, 2], heights)
        show_far_below(axis)
        low, high = axis.get_ylim()
        assert low < min(heights)
        assert max(heights) < high <= 1
    assert [axis.get_yscale() for axis in axes.flat] == ["symlog", "linear"]


def test_an_outdated_probe_far_below_0_is_shown_by_its_seeds():
    assert frozen_text([]) == "-"
    assert frozen_text([0.4, 0.5]).startswith("0.450 (")
    assert frozen_text([-75.05]) == "far below 0 (-75)"
    assert frozen_text([-2.184]) == "far below 0 (-2.2)"
    assert frozen_text([-8100.9, -1265.3]) == "far below 0 (-8,101 .. -1,265)"
    assert frozen_text([-30.2, 0.25]) == "partly far below 0 (-30 .. 0.2)"


def test_correlations_of_outdated_probes_are_in_the_report_and_in_the_second_answer(whole, found):
    assert "| large-plain | 1 | 0.500 (0.500 .. 0.500) | 0.400 (0.400 .. 0.400) | 0.600 (0.600 .. 0.600) |" in reported(
        whole
    )
    assert "its correlation with the sectors: from 0.500" in answer(found, "H2").reason
    assert found.kept("large-aux", "taught", 1) == {}


def test_the_games_and_their_players_are_in_the_report(tmp_path):
    made_up_study(tmp_path, seeds=[1], steps=1000)
    assert "## The games" not in reported(tmp_path)
    (tmp_path / "data").mkdir()
    about = {"games": 25_000, "seed": 0, "settings": {"player": "alphabeta"}}
    (tmp_path / "data" / "phase1_games.json").write_text(json.dumps(about))
    text = reported(tmp_path)
    assert "| phase1_games | 25,000 | alphabeta | 0 |" in text
    assert "Their players have not met" in text
    score = {"mean": 0.85, "low": 0.82, "high": 0.88, "count": 200}
    match = {"first": "rave", "second": "lookahead", "openings": 200, "both": 140, "split": 60, "neither": 0}
    alone = match | {"second": "alphabeta", "score": score | {"low": None, "high": None}}
    results = {"results": [match | {"score": score}, alone]}
    (tmp_path / "data" / "players.json").write_text(json.dumps(results))
    text = reported(tmp_path)
    assert "| rave | lookahead | 400 | 85.0 % (82.0 .. 88.0) | 140 / 60 / 0 |" in text
    assert "| rave | alphabeta | 400 | 85.0 % (no interval) | 140 / 60 / 0 |" in text


def test_conditions_without_a_common_seed_are_not_called_unprobed(tmp_path):
    made_up_run(tmp_path, "large-aux-s1", steps=10_000)
    made_up_run(tmp_path, "large-plain-s2", steps=10_000)
    measured = answer(Findings(tmp_path), "Does the side task").reason
    assert measured == "no seed has both to the same step"
    assert answer(Findings(tmp_path), "Does embedding a network that was not").reason == "not both were probed"


def test_a_panel_without_anything_says_so():
    _, axes = new_figure(1)
    leave_empty(axes[0, 0], "large-aux - large", "no seed has both")
    assert [text.get_text() for text in axes[0, 0].texts] == ["no seed has both"]
    assert not len(axes[0, 0].get_yticks())


def test_sectors_are_those_of_the_seeds_that_went_furthest(tmp_path):
    made_up_run(tmp_path, "large-s1", steps=2000, planned=10_000, seed_effect=0.2)
    made_up_run(tmp_path, "large-s2", steps=10_000, seed_effect=0.2)
    found = Findings(tmp_path)
    last = found.records.runs["large-s2"].sectors(found.layer, 10_000)
    assert sector_board(found, "large", "taught").flatten().tolist() == last


def test_no_module_needs_matplotlib_before_it_draws():
    for path in (ROOT / "src" / "rookery").rglob("*.py"):
        at_once = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.Import | ast.ImportFrom)]
        names = {alias.name for node in at_once for alias in node.names} | {getattr(n, "module", "") for n in at_once}
        assert not [name for name in names if name and name.startswith("matplotlib")], path
