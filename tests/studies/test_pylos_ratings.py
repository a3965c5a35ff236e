"""Who meets whom in the Pylos study, and how matches are summed up."""

from __future__ import annotations

from collections import Counter

import pytest

from learn.support_runs import run_of_networks
from rookery.arena.records import GameRecord
from rookery.arena.score import Score
from rookery.studies.pylos_ratings import COSTLY, LONGER, contests, score_of

NETWORK = {"kind": "perceptron", "observation": "basic", "hidden": [4]}


def small_run(folder, steps, seed, game="pylos"):
    return run_of_networks(folder, steps, seed, game=game, network=NETWORK)


@pytest.fixture
def both(tmp_path):
    ladder = [small_run(tmp_path / name, [10, 20, 30, 40], seed) for seed, name in ((0, "v5"), (100, "best"))]
    greedy = small_run(tmp_path / "v5-basic-s1", [10, 20], 200, "pylos:removal=greedy")
    return contests(ladder, [greedy], 4, 1)


def test_all_checkpoints_of_the_ladder_and_the_last_of_an_ablation_are_rated_by_greedy_take_backs(both):
    contest = both["greedy"]
    assert contest.game.spec.startswith("pylos:")
    rated = [(entry.run.folder.name, entry.step) for entry in contest.entries]
    assert rated == [(name, step) for name in ("v5", "best") for step in (10, 20, 30, 40)] + [("v5-basic-s1", 20)]
    assert [entry.step for entry in contest.entries if entry.anchor] == [30, 40, 30, 40]


def test_who_meets_whom_how_often(both):
    contest = both["greedy"]
    last, anchors = set(contest.last_names().values()), {entry.name for entry in contest.entries if entry.anchor}
    met = Counter(name for pairing in contest.pairings for name in pairing.names)
    assert len(last) == 2
    assert len({frozenset(pairing.names) for pairing in contest.pairings}) == len(contest.pairings)
    for pairing in contest.pairings:
        assert pairing.games == (4 * LONGER if set(pairing.names) == last else 4)
    by_place = {(entry.run.folder.name, entry.step): entry.name for entry in contest.entries}
    assert met[by_place["v5", 10]] == 3 + 2
    assert met[by_place["v5-basic-s1", 20]] == 3 + 2
    assert met[COSTLY] == 3 + len(anchors)


def test_the_official_contest_is_of_the_last_networks_alone(both):
    contest = both["official"]
    assert contest.game.spec == "pylos"
    assert [(entry.run.folder.name, entry.step) for entry in contest.entries] == [("v5", 40), ("best", 40)]
    assert len(contest.pairings) == 6 * 5 // 2


def test_a_checkpoint_that_was_not_copied_takes_no_part(tmp_path):
    run = small_run(tmp_path / "v5", [10, 20, 30], 0)
    run.checkpoint_path(20).unlink()
    assert [entry.step for entry in contests([run], [], 2, 1)["greedy"].entries] == [10, 30]


def record(number: int, players: tuple[str, str], score: float) -> GameRecord:
    return GameRecord(
        "pylos", 1, "", (), (), 0, players, 0, score, 2 * score - 1, "", (0.0, 0.0), 1, number=number, pair=number // 2
    )


def test_a_match_is_summed_up_pair_by_pair_as_a_player_sees_it():
    records = [
        record(0, ("a", "b"), 1.0), record(1, ("b", "a"), 0.5), record(2, ("a", "b"), 0.0), record(3, ("b", "a"), 0.0),
    ]  # fmt: skip
    assert score_of("a", records) == Score(((1.0, 0.5), (0.0, 1.0)))
    assert score_of("b", records).score == 1 - score_of("a", records).score
