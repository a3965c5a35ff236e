"""What the Texas 42 study was to show: verdicts follow from the numbers."""

from __future__ import annotations

import json

import pytest

from rookery.learn.files import LineLog
from rookery.studies.texas42_figures import curves_of, draw_all
from rookery.studies.texas42_files import DataSet
from rookery.studies.texas42_verdicts import MET, MISSED, OPEN, all_verdicts, at_least, at_most, sources_of


def estimate(mean, half=0.01):
    return {"mean": mean, "low": mean - half, "high": mean + half, "count": 1000}


def player(regret, agreement=0.9):
    part = {"decisions": 1000, "regret": estimate(regret), "agreement": estimate(agreement), "ceiling": 0.95}
    return part | {"by_trick": [part, part | {"regret": estimate(9.0)}, None, None, None, None, None]}


def add_run(study, name, stage, answers="q", valid=None, **facts):
    folder = study / "runs" / name
    folder.mkdir(parents=True)
    usual = {"stage": stage, "rows": 0, "learned_rows": 100_000, "data": ["decisions-100"]}
    network = {"answers": answers, "width": 128, "layers": 4}
    (folder / "settings.json").write_text(json.dumps(usual | {"network": network} | facts))
    train = {"loss": 1.0, "gap": 1.0}
    LineLog(folder / "progress.jsonl").append({"step": 1, "seconds": 1.0, "train": train, "valid": valid or {}})


def figures(gap, blunder, opening, count=100_000):
    rest = {"count": count, "gap_error": 0.001, "blunder_error": 0.0001}
    group = {"gap": gap, "blunder": blunder} | rest
    return {"all": group, "unforced": group, "opening": {"gap": opening, "blunder": 0} | rest, "by_trick": [group] * 7}


def verdicts(study, **measured):
    return {each.claim: each for each in all_verdicts(study, measured)}


def found(study, words, **measured):
    return next(each for claim, each in verdicts(study, **measured).items() if claim.startswith(words))


@pytest.mark.parametrize(
    ("interval", "most", "least"),
    [((0.1, 0.2), MET, MISSED), ((0.4, 0.5), MISSED, MET), ((0.2, 0.4), OPEN, OPEN)],
)
def test_a_bound_is_met_or_missed_only_by_the_whole_interval(interval, most, least):
    assert at_most(*interval, 0.3) == most
    assert at_least(*interval, 0.3) == least


def test_nothing_measured_leaves_everything_open(tmp_path):
    assert {each.verdict for each in verdicts(tmp_path).values()} == {OPEN}


def test_stage_1_is_judged_by_its_best_network_in_q_mode(tmp_path):
    add_run(tmp_path, "small", 1, valid={"positions-uniform": figures(0.2, 0.01, 1.0)})
    add_run(
        tmp_path,
        "large",
        1,
        valid={"positions-uniform": figures(0.04, 0.002, 1.0), "positions-valid": figures(1, 1, 0.5)},
    )
    add_run(tmp_path, "policy", 1, "policy", valid={"positions-uniform": figures(0.01, 0.0, 0.0)})
    assert found(tmp_path, "Stage 1: gap on evenly")[1:] == (MET, "large: 0.040 +- 0.002, 100,000 positions")
    assert found(tmp_path, "Stage 1: blunders").verdict == MISSED
    assert found(tmp_path, "Stage 1: gap of opening").verdict == MISSED


def test_a_policy_beside_q_is_judged_by_its_choice_and_its_q_is_told(tmp_path):
    valid = figures(0.04, 0.001, 0.2)
    for group in (valid["all"], valid["opening"]):
        group |= {"q_gap": 0.06, "q_gap_error": 0.01}
    add_run(tmp_path, "q", 1, valid={"positions-uniform": figures(0.2, 0.01, 1.0)})
    add_run(tmp_path, "both", 1, "both", valid={"positions-uniform": valid})
    shown = "both: 0.040 +- 0.002, 100,000 positions; by its Q 0.060 +- 0.020"
    assert found(tmp_path, "Stage 1: gap on evenly")[1:] == (MET, shown)
    assert found(tmp_path, "Stage 1: blunders")[1:] == (MET, "both: 0.10% +- 0.02%, 100,000 positions")
    valid["all"]["q_gap"] = valid["all"]["gap"]  # as in mode q
    add_run(
        tmp_path, "alike", 1, valid={"positions-uniform": valid | {"all": valid["all"] | {"gap": 0.03, "q_gap": 0.03}}}
    )
    assert found(tmp_path, "Stage 1: gap on evenly")[2] == "alike: 0.030 +- 0.002, 100,000 positions"


def test_a_handful_of_positions_decides_nothing(tmp_path):
    add_run(tmp_path, "one", 1, valid={"positions-uniform": figures(0.0, 0.0, 0.0, count=99)})
    assert found(tmp_path, "Stage 1: gap on evenly").verdict == OPEN


def test_stage_2_is_judged_by_regret_and_by_its_share_of_the_ceiling(tmp_path):
    add_run(tmp_path, "two", 2)
    add_run(tmp_path, "worse", 2)
    trial = {"worlds": 1000, "players": {"two": player(0.3), "worse": player(0.8), "random": player(-5.0)}}
    regret = found(tmp_path, "Stage 2: mean regret", trial=trial)
    assert regret.verdict == MET
    assert "two: 0.300" in regret.found
    assert "most in trick 2, 9.00" in regret.found
    share = found(tmp_path, "Stage 2: agreement", trial=trial)
    assert (share.verdict, share.found) == (
        MET,
        "two: 94.7% (93.7% .. 95.8%) of 95.0%, 1,000 decisions in 2 x 1,000 worlds",
    )
    few = found(tmp_path, "Stage 2: agreement", trial=trial | {"worlds": 999})
    assert few.verdict == OPEN  # with few worlds hardly any choice is surely worse
    paired = {"players": {"two": player(0.3) | {"share": estimate(0.905)}}}  # decision by decision it is less sure
    assert found(tmp_path, "Stage 2: agreement", trial=paired).verdict == OPEN
    assert found(tmp_path, "Stage 2: mean regret", trial={"players": {"two": player(0.345)}}).verdict == OPEN


@pytest.mark.parametrize(
    ("deals", "blunder", "gap_verdict", "blunder_verdict"),
    [
        (1, 0.001, OPEN, OPEN),
        (19, 0.001, OPEN, OPEN),
        (20, 0.001, MET, MET),
        (20, 0.0, MET, OPEN),
        (4000, 0.0, MET, MET),
    ],
)
def test_stage_1_is_judged_by_enough_deals_also_where_no_blunder_was_seen(
    tmp_path, deals, blunder, gap_verdict, blunder_verdict
):
    told = figures(0.04, blunder, 0.2)
    for group in ("all", "unforced", "opening"):
        told[group] |= {"deals": deals, "blunder_error": blunder / 100}
    add_run(tmp_path, "one", 1, valid={"positions-uniform": told})
    assert found(tmp_path, "Stage 1: gap on evenly drawn").verdict == gap_verdict
    assert found(tmp_path, "Stage 1: blunders").verdict == blunder_verdict


def test_a_set_is_of_the_source_that_its_plan_tells(tmp_path):
    DataSet(tmp_path / "data" / "positions-uniform").begin("positions", 1, {"source": "random"})
    assert sources_of(tmp_path) == {"positions-uniform": "random", "positions-valid": "played"}


def test_logits_are_judged_against_their_peers(tmp_path):
    pairs = [{"first": "logits", "second": "plain", "behind": estimate(0.2), "same": estimate(0.8)}]
    assert found(tmp_path, "Logits work like Q", trial={"pairs": pairs}).verdict == MISSED
    claim = {"decisions-100": {"regret": estimate(0.01), "same_choice": estimate(0.99)}}
    assert found(tmp_path, "Logits work like Q", claim=claim).verdict == MET


def test_amounts_are_those_that_were_made(tmp_path):
    for name, hands in (("two", 100_000), ("two-10k", 10_000), ("two-1k", 1_000)):
        add_run(tmp_path, name, 2, learned_rows=hands)
    add_run(tmp_path, "other", 2, learned_rows=5_000, data=["decisions-1000"])
    players = {name: player(0.3) for name in ("two", "two-10k", "two-1k", "other")}
    settings = {"oracle": "abc", "worlds": 100}
    data = {
        "a": {"games": 100_000, "settings": settings},
        "b": {"games": 4_000, "settings": {"oracle": "exact", "worlds": [100, 200]}},
        "d": {"games": 9_000, "settings": {"oracle": "exact", "worlds": [4, 100]}},
        "c": {"games": 200_000, "settings": {"oracle": "exact", "worlds": 99}},
    }
    read = verdicts(tmp_path, data=data, trial={"players": players})
    assert read["100,000 games at N = 100 through Stage 1"].verdict == MET
    assert read["10,000 games at N = 1,000 through Stage 1"].verdict == OPEN
    assert read["5,000 exact games at N = 100"][1:] == (OPEN, "4,000 made")
    curve = read["Learning curve over 1k, 10k and 100k games"]
    assert curve[1:] == (MET, "128x4, q, decisions-100: 1,000, 10,000, 100,000 games")


def test_a_learning_curve_is_one_of_networks_that_differ_in_hands_alone(tmp_path):
    add_run(tmp_path, "two", 2)
    add_run(tmp_path, "two-10k", 2, learned_rows=10_000)
    add_run(tmp_path, "by-others", 2, learned_rows=1_000, data=["decisions-1000"])
    players = {name: player(0.3) for name in ("two", "two-10k", "by-others")}
    curve = found(tmp_path, "Learning curve", trial={"players": players})
    assert curve[1:] == (OPEN, "128x4, q, decisions-100: 10,000, 100,000 games")


def match(first, second, deals=1000, more=0.05):
    facts = {"points_a_hand": estimate(1.0), "made_more": estimate(more), "deals": deals}
    return {"first": first, "second": second, **facts}


def test_matches_must_be_of_every_kind_and_long_enough(tmp_path):
    add_run(tmp_path, "two", 2)
    duels = [match("heuristic", "random"), match("exact:10", "two"), match("exact:100:make", "exact:100")]
    assert found(tmp_path, "Matches on", duels=duels).verdict == MET
    assert found(tmp_path, "P(make) makes more", duels=duels).verdict == MET
    short = [match("heuristic", "random", 999), *duels[1:]]
    assert found(tmp_path, "Matches on", duels=short)[1:] == (OPEN, "lacking: random, heuristic")


def test_learning_curves_join_networks_that_differ_in_games_alone(tmp_path):
    runs = {
        "large": {"stage": 2, "rows": 0, "learned_rows": 100_000, "data": ["a"]},
        "small": {"stage": 2, "rows": 1000, "learned_rows": 1000, "data": ["a"]},
        "other": {"stage": 2, "rows": 1000, "learned_rows": 1000, "data": ["b"]},
    }
    for facts in runs.values():
        facts["network"] = {"width": 128, "layers": 4, "answers": "q"}
    curves = curves_of(runs, {name: player(0.3) for name in runs})
    assert [[games for games, _ in points] for points in curves.values()] == [[1000, 100_000]]


def test_only_figures_with_numbers_are_drawn(tmp_path):
    (tmp_path / "tricks.png").write_bytes(b"old")
    assert draw_all(tmp_path, {"duels": [match("heuristic", "random")]}) == {"matches.png"}
    assert sorted(path.name for path in tmp_path.glob("*.png")) == ["matches.png"]
