"""Ratings of checkpoints: who is an anchor, what is played, what the manifest says, and what an interrupt leaves."""

from __future__ import annotations

import shutil

import pytest

from learn.support_runs import run_of_networks
from rookery import BadInput
from rookery.arena.ledger import Ledger
from rookery.arena.ratings import fit
from rookery.learn.manifest import UNRATED
from rookery.learn.rating import LEDGER, Contest, RatingSettings, anchor_steps, label_of, player_name
from rookery.learn.rating_report import draw_ratings, rating_json
from rookery.learn.runs import Run

QUICK = RatingSettings(games=4, round_robin_games=4, simulations=4, references=())


def rated(run: Run) -> dict[int, float | None]:
    return {entry["step"]: entry.get("elo") for entry in run.checkpoints}


def stored(run: Run) -> list[tuple[str, int]]:
    """List the games that a run keeps, by match and number."""
    with Ledger(run.folder / LEDGER, create=False) as ledger:
        return [(record.match, record.number) for record in ledger.games()]


# ---- anchors and labels --------------------------------------------------------------------------


def test_ten_checkpoints_are_all_anchors():
    steps = list(range(1000, 11000, 1000))
    assert anchor_steps(steps, 10_000) == steps


def test_of_more_the_first_one_in_each_spacing_and_the_latest_are_anchors():
    steps = list(range(1000, 45_500, 1000))
    assert anchor_steps(steps, 10_000) == [1000, 11_000, 21_000, 31_000, 41_000, 45_000]
    assert anchor_steps(steps, 44_000) == [1000, 45_000]
    assert anchor_steps(steps, 1) == steps


@pytest.mark.parametrize(
    ("elo", "label"),
    [
        (-300, "Baseline"), (1049.9, "Baseline"), (1050, "Beginner"), (1150, "Novice"), (1300, "Intermediate"),
        (1499, "Intermediate"), (1500, "Advanced"), (1700, "Expert"), (4000, "Expert"),
    ],
)  # fmt: skip
def test_labels_are_those_of_the_originals_training(elo, label):
    assert label_of(elo) == label


# ---- who meets whom ------------------------------------------------------------------------------


def test_anchors_and_references_meet_each_other_and_all_others_meet_them(tmp_path):
    run = run_of_networks(tmp_path / "run", list(range(10, 130, 10)))
    settings = RatingSettings(games=2, round_robin_games=6, anchor_spacing=100, references=("alphabeta:depth=1",))
    contest = Contest([run], settings)
    anchors = {entry.name for entry in contest.entries if entry.anchor} | {"random", "alphabeta:depth=1"}
    others = {entry.name for entry in contest.entries if not entry.anchor}
    assert len(anchors) == 5
    assert len(others) == 9
    met = {frozenset(pairing.names): pairing.games for pairing in contest.pairings}
    assert len(met) == len(contest.pairings)
    expected = {frozenset((a, b)): 6 for a in anchors for b in anchors if a != b}
    expected |= {frozenset((a, b)): 2 for a in anchors for b in others}
    assert met == expected


def test_anchors_of_several_runs_meet_across_them(tmp_path):
    runs = [run_of_networks(tmp_path / name, [10, 20], seed) for seed, name in ((0, "a"), (100, "b"))]
    contest = Contest(runs, QUICK)
    assert len(contest.pairings) == 5 * 4 / 2  # four networks and random


# ---- playing and rating --------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path):
    return run_of_networks(tmp_path / "run", [10, 20])


def test_ratings_are_those_of_one_fit_over_all_games(run):
    contest = Contest([run], QUICK)
    assert contest.play()
    ratings = contest.rate()
    assert ratings["random"].elo == 0
    with Ledger(run.folder / LEDGER, create=False) as ledger:
        expected = fit(ledger.results(run.game.spec, run.game.version), {"random": 0.0})
    for entry, told in zip(contest.entries, run.checkpoints, strict=True):
        wanted = expected[entry.name]
        assert told["elo"] == pytest.approx(wanted.elo, abs=0.06)
        assert told["interval"] == pytest.approx(list(wanted.interval), abs=0.06)
        assert told["label"] == label_of(wanted.elo)
        assert told["rating_games"] == wanted.games == 8
    assert run.best == run.folder / max(run.checkpoints, key=lambda entry: (entry["elo"], entry["step"]))["file"]


def test_games_are_paired_and_begin_at_random(run):
    contest = Contest([run], QUICK)
    contest.play()
    with Ledger(run.folder / LEDGER, create=False) as ledger:
        records = list(ledger.games())
    openings: dict[tuple[str, int], set[tuple[int, ...]]] = {}
    for record in records:
        openings.setdefault((record.match, record.pair), set()).add(record.actions[: record.opening])
    assert all(len(begun) == 1 for begun in openings.values())
    assert len({next(iter(begun)) for begun in openings.values()}) > 1


def test_checkpoints_that_are_rated_keep_their_rating_and_new_ones_are_filled_in(tmp_path):
    run = run_of_networks(tmp_path / "run", [10, 20, 30])
    run.rate(20, 777.0, "Baseline")
    contest = Contest([run], QUICK)
    assert [entry.step for entry in contest.due] == [10, 30]
    contest.play()
    contest.rate()
    found = rated(run)
    assert found[20] == 777.0
    assert None not in found.values()
    again = Contest([Run.open(run.folder)], RatingSettings(**vars(QUICK) | {"again": True}))
    assert again.missing() == []  # all games were played; they are only fitted anew
    again.rate()
    assert rated(run)[20] != 777.0


def test_where_all_are_rated_nothing_is_played(run):
    for step in (10, 20):
        run.rate(step, 5.0, "Baseline")
    contest = Contest([run], QUICK)
    assert (contest.missing(), contest.play(), contest.rate()) == ([], True, None)
    assert not (run.folder / LEDGER).exists()
    assert [row["elo"] for row in rating_json(contest, None)["checkpoints"]] == [5.0, 5.0]


def test_a_rating_that_was_interrupted_goes_on_where_it_was_and_ends_alike(tmp_path):
    run = run_of_networks(tmp_path / "run", [10, 20, 30])
    shutil.copytree(run.folder, tmp_path / "undisturbed" / "run")
    whole = Run.open(tmp_path / "undisturbed" / "run")
    contest = Contest([whole], QUICK)
    contest.play()
    contest.rate()

    told = []

    def interrupt(match):
        told.append(match)
        if len(told) == 10:
            raise KeyboardInterrupt

    first = Contest([run], QUICK)
    assert not first.play(interrupt)
    assert len(stored(run)) == 8  # two whole matches
    assert rated(run) == {10: None, 20: None, 30: None}
    assert run.checkpoints[0]["label"] == UNRATED
    second = Contest([run], QUICK)
    assert len(second.missing()) == len(second.pairings) - 2
    second.play()
    second.rate()
    assert sorted(stored(run)) == sorted(stored(whole))
    assert rated(run) == rated(whole)


def test_a_longer_rating_plays_the_first_games_only_once(run):
    Contest([run], QUICK).play()
    before = stored(run)
    longer = RatingSettings(**vars(QUICK) | {"games": 6, "round_robin_games": 6})
    Contest([run], longer).play()
    after = stored(run)
    assert set(before) < set(after)
    assert len(after) == len(set(after)) == 3 * 6


def test_games_that_two_runs_keep_count_once(tmp_path):
    runs = [run_of_networks(tmp_path / name, [10], seed) for seed, name in ((0, "a"), (100, "b"))]
    settings = RatingSettings(**vars(QUICK) | {"references": ("greedy",)})
    for run in runs:
        Contest([run], settings).play()  # random meets greedy in both
    contest = Contest(runs, settings)
    assert len(contest.missing()) == 1
    contest.play()
    assert sum(number for *_, number in contest.results()) == 6 * 4


def test_a_folder_that_was_moved_has_its_games_still(run, tmp_path):
    Contest([run], QUICK).play()
    moved = Run.open(run.folder.rename(tmp_path / "elsewhere"))
    assert Contest([moved], QUICK).missing() == []


def test_a_checkpoint_that_was_made_anew_is_another_player(run, tmp_path):
    Contest([run], QUICK).play()
    other = run_of_networks(tmp_path / "other", [10], seed=5)
    shutil.copy(other.checkpoint_path(10), run.checkpoint_path(10))
    assert len(Contest([run], QUICK).missing()) == 2


def test_a_copied_run_gets_the_same_ratings(run, tmp_path):
    shutil.copytree(run.folder, tmp_path / "copy")
    copy = Run.open(tmp_path / "copy")
    contest = Contest([run, copy], QUICK)
    contest.play()
    contest.rate()
    assert rated(run) == rated(copy)
    assert None not in rated(copy).values()


def test_networks_of_different_observations_and_options_meet_on_a_stated_game(tmp_path):
    from rookery import load

    basic = {"kind": "perceptron", "observation": "basic", "hidden": [8]}
    runs = [
        run_of_networks(tmp_path / "greedy", [10], game="pylos:removal=greedy", network=basic),
        run_of_networks(tmp_path / "rich", [10], game="pylos", network=basic | {"observation": "rich"}),
    ]
    contest = Contest(runs, RatingSettings(games=2, round_robin_games=2, simulations=2, references=()), load("pylos"))
    contest.prepare()
    assert contest.play()
    assert contest.rate().games == 6
    assert all(record is not None for run in runs for record in rated(run).values())


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"games": 3}, "games must be even"), ({"round_robin_games": 0}, "round-robin-games"),
        ({"simulations": 0}, "search-iters"), ({"anchor_spacing": 0}, "anchor-spacing"),
    ],
)  # fmt: skip
def test_impossible_settings_are_refused_by_name(changes, complaint):
    with pytest.raises(BadInput, match=complaint):
        RatingSettings(**changes)


def test_a_run_without_checkpoints_and_a_missing_file_are_refused(tmp_path):
    with pytest.raises(BadInput, match="no checkpoints yet"):
        Contest([run_of_networks(tmp_path / "empty", [])], QUICK)
    run = run_of_networks(tmp_path / "run", [10])
    run.checkpoint_path(10).unlink()
    with pytest.raises(BadInput, match=r"checkpoint_00010\.pth cannot be read"):
        Contest([run], QUICK)


def test_a_network_of_another_game_is_refused_before_anything_is_played(run):
    from rookery import load

    contest = Contest([run], QUICK, load("domineering:rows=5,cols=5"))
    with pytest.raises(BadInput, match="cannot play"):
        contest.prepare()


def test_a_person_is_no_reference(run):
    with pytest.raises(BadInput, match="a person"):
        Contest([run], RatingSettings(references=("human",)))


def test_a_file_of_weights_that_is_broken_is_refused(run):
    run.checkpoint_path(20).write_bytes(b"nothing of the kind")
    contest = Contest([run], QUICK)
    with pytest.raises(BadInput, match=r"checkpoint_00020\.pth"):
        contest.prepare()


# ---- figures -------------------------------------------------------------------------------------


def test_ratings_are_drawn_with_and_without_intervals(tmp_path, run):
    run.rate(10, 100.0, "Baseline", interval=[50.0, 150.0])
    run.rate(20, 200.0, "Baseline")
    draw_ratings([run.folder], {"random": {"elo": 0.0}}, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_a_player_is_named_by_file_and_content(run):
    first, second = (player_name(run.checkpoint_path(step), 32) for step in (10, 20))
    assert first.startswith("net:checkpoint_00010.pth#")
    assert first.endswith(",sims=32")
    assert first.partition("#")[2] != second.partition("#")[2]
