"""Data of the Texas 42 study: shards, positions with exact Q, hands with labels of E[Q]."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest
from typer.testing import CliRunner

from rookery.arena.texas42_networks import HandsOracle
from rookery.cli import app
from rookery.errors import BadInput
from rookery.nets.configs import HandsConfig
from rookery.nets.residual import build
from rookery.search.expected import expected_many
from rookery.search.solve.texas42 import ILLEGAL, Solver
from rookery.search.texas42_batch import called, dealt, legal_slots, longest_suits, play_random_each
from rookery.search.texas42_reachable import kept_of_words, reachable
from rookery.search.texas42_replay import kept_of, positions, replayed
from rookery.studies.texas42_decisions import (
    DecisionSettings,
    ExactLabeller,
    NetworkLabeller,
    make_decisions,
    needed_of,
)
from rookery.studies.texas42_decisions import make_shard as hands_of
from rookery.studies.texas42_files import (
    CERTAIN,
    OF_HAND,
    OF_POSITION,
    POINT,
    DataSet,
    archive_of,
    data_sets,
    digest,
    part_of,
    read_shard,
    seeds_of,
    write_shard,
)
from rookery.studies.texas42_measured import read_measured
from rookery.studies.texas42_positions import PositionSettings, make_positions
from rookery.studies.texas42_positions import make_shard as rows_of
from studies.texas42_samples import LATE, Guessing, late_rows

# ---- parts ---------------------------------------------------------------------------------------


def test_parts_go_by_deals_and_every_deal_has_one():
    seeds = np.arange(3000)
    shares = np.bincount(part_of(seeds)) / 3000
    assert shares.tolist() == [0.9, 0.05, 0.05]
    for number, part in enumerate(("train", "valid", "test")):
        found = seeds_of(part, np.arange(2000))
        assert (part_of(found) == number).all()
        assert len(set(found.tolist())) == 2000
    assert seeds_of("all", np.arange(5)).tolist() == [0, 1, 2, 3, 4]


# ---- shards --------------------------------------------------------------------------------------


def test_a_shard_comes_back_as_it_was_and_has_the_same_bytes_again(tmp_path):
    rows, path = late_rows(np.arange(30)), tmp_path / "00000.npz"
    write_shard(path, "positions", rows, {"deals": 30})
    kind, again = read_shard(path)
    assert kind == "positions"
    assert all((rows[name] == again[name]).all() and again[name].dtype == rows[name].dtype for name in rows)
    assert archive_of("positions", again) == path.read_bytes()


@pytest.mark.faults
@pytest.mark.parametrize("damage", ["flip", "cut", "swap", "sidecar", "alone", "empty"])
def test_a_damaged_shard_is_refused_by_name(tmp_path, damage):
    path = tmp_path / "00000.npz"
    write_shard(path, "positions", late_rows(np.arange(30)), {})
    content, beside = path.read_bytes(), path.with_suffix(".json")
    if damage == "flip":
        path.write_bytes(content[:100] + bytes([content[100] ^ 1]) + content[101:])
    elif damage == "cut":
        path.write_bytes(content[:-50])
    elif damage == "swap":
        write_shard(path, "positions", late_rows(np.arange(30), seed=1), {})
        path.write_bytes(content)
    elif damage == "sidecar":
        beside.write_text(beside.read_text()[:-20])
    elif damage == "alone":
        beside.unlink()
    else:
        path.unlink()
    with pytest.raises(BadInput, match="00000"):
        read_shard(path)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("hands", lambda hands: hands[:, ::-1].copy() | 1),
        ("played", lambda played: played ^ np.uint32(1)),
        ("trick", lambda trick: np.where(trick == 28, 3, trick).astype(np.int8)),
        ("declaration", lambda names: names + np.int8(10)),
        ("leader", lambda leader: (leader + np.int8(1)) % np.int8(4)),
        ("q", lambda q: np.where(q == -128, 0, q).astype(np.int8)),
        ("q", lambda q: np.where(q == -128, q, 43).astype(np.int8)),
    ],
)
def test_rows_that_cannot_be_are_refused(tmp_path, name, change):
    rows, path = late_rows(np.arange(30)), tmp_path / "00000.npz"
    write_shard(path, "positions", rows | {name: change(rows[name])}, {})
    with pytest.raises(BadInput, match=r"00000\.npz: row"):
        read_shard(path)


def test_a_hand_that_breaks_the_rules_is_refused(tmp_path):
    rows, path = hands_of(DecisionSettings(worlds=1), np.arange(2), Guessing()), tmp_path / "00000.npz"
    write_shard(path, "decisions", rows, {})
    assert read_shard(path)[0] == "decisions"
    rows["history"][1, 5] = rows["history"][1, 9]
    write_shard(path, "decisions", rows, {})
    with pytest.raises(BadInput, match="row 1"):
        read_shard(path)


# ---- positions made again ------------------------------------------------------------------------


def test_positions_made_again_show_the_same_and_have_the_same_values():
    from rookery.search.texas42_batch import all_tokens

    seeds, rng = np.arange(60), np.random.default_rng(1)
    states = dealt(seeds)
    called(states, rng.integers(10, size=60), rng.integers(4, size=60), np.zeros(60, np.int8))
    play_random_each(states, 0, seeds, rng.integers(12, 28, size=60))
    again = positions(*(kept_of(states)[name] for name in OF_POSITION))
    assert (all_tokens(states) == all_tokens(again)).all()
    assert (Solver().q(states).q == Solver().q(again).q).all()


def test_reachable_positions_are_those_that_play_reaches():
    state = dealt(np.array([4]))[0]
    called_states = dealt(np.array([4]))
    called(called_states, np.array([3]), np.array([1]), np.zeros(1, np.int8))
    levels = reachable(state["hands"], 3, 1)
    found: list[set[bytes]] = []
    for ply, words in zip(range(6), levels, strict=False):
        kept = kept_of_words(words)
        many = np.repeat(state["hands"][None], len(words), 0)
        made = positions(many, kept["played"], kept["trick"], np.full(len(words), 3, np.int8), kept["leader"])
        assert (made["plays"] == ply).all()
        found.append({essence(one) for one in made})
        assert len(found[-1]) == len(words)
    standing = {essence(called_states[0]): called_states[0].copy()}
    for ply in range(6):
        assert found[ply] == set(standing)
        standing = {essence(after): after for one in standing.values() for after in successors(one)}


def essence(state: np.void) -> bytes:
    """Return what tells positions of a deal apart: tiles played, who is to move, the current trick."""
    begun = int(state["plays"]) & ~3
    return bytes(
        [*int(state["played"]).to_bytes(4, "little"), state["texas42_mover"], *state["history"][begun : begun + 3]]
    )


def successors(state: np.void) -> list[np.void]:
    """Return the positions after every legal play."""
    from rookery.search.texas42_batch import play_each

    slots = np.flatnonzero(legal_slots(np.array([state]))[0])
    many = np.repeat(np.array([state]), len(slots))
    play_each(many, slots)
    return list(many)


@pytest.mark.parametrize(("source", "plays", "few"), [("early", range(8), 6), ("middle", range(8, 24), 14)])
def test_positions_of_some_tricks_have_a_choice_and_exact_q(source, plays, few):
    rows = rows_of(PositionSettings(source=source, per_deal=6), np.arange(30))
    made = positions(*(rows[name] for name in OF_POSITION))
    assert set(made["plays"].tolist()) == set(plays)
    assert ((rows["q"] != ILLEGAL) == legal_slots(made)).all()
    assert (legal_slots(made).sum(1) > 1).all()
    late = made["plays"] >= few
    assert (Solver().q(made[late]).q == rows["q"][late]).all()
    assert 60 < len(made) < 6 * 30


@pytest.mark.slow
@pytest.mark.parametrize("source", ["random", "played"])
def test_positions_have_exact_q_of_the_deals_of_their_part(source):
    settings = PositionSettings(source=source, part="valid", per_deal=6)
    rows = rows_of(settings, np.arange(6))
    assert set(rows["seed"] % 1000) <= set(range(900, 950))
    made = positions(*(rows[name] for name in OF_POSITION))
    assert (Solver().q(made).q == rows["q"]).all()
    assert len(np.unique(made["plays"] // 4)) == 7
    again = rows_of(settings, np.arange(6), threads=2)
    assert all((rows[name] == again[name]).all() for name in rows)
    deals = {seed: hands.tobytes() for seed, hands in zip(rows["seed"], dealt(rows["seed"])["hands"], strict=True)}
    same = [deals[seed] == hands.tobytes() for seed, hands in zip(rows["seed"], rows["hands"], strict=True)]
    assert all(same) if source == "random" else 0.2 < np.mean(same) < 0.95


# ---- hands ---------------------------------------------------------------------------------------


def test_hands_follow_the_labels_but_for_a_share_of_tiles():
    for explore, follows in ((0.0, True), (0.9, False)):
        rows = hands_of(DecisionSettings(worlds=1, explore=explore), np.arange(40), Guessing())
        states = replayed(*(rows[name] for name in OF_HAND))
        slots = np.array(
            [
                [
                    list(state["tiles"][state["texas42_mover"]]).index(tile)
                    for state, tile in zip(line, history, strict=True)
                ]
                for line, history in zip(states, rows["history"], strict=True)
            ]
        )
        best = rows["mean"].max(2) == np.take_along_axis(rows["mean"], slots[:, :, None], 2)[:, :, 0]
        assert best.all() == follows


def test_declarers_are_any_seat_and_call_their_longest_suit_in_half_of_the_hands():
    rows = hands_of(DecisionSettings(worlds=1), np.arange(400), Guessing())
    assert len(set(rows["leader"].tolist())) == 4
    longest = longest_suits(dealt(rows["seed"]), rows["leader"].astype(np.int64))
    assert 0.45 < (rows["declaration"] == longest).mean() < 0.65
    assert len(set(rows["declaration"].tolist())) == 10
    assert set(rows["bid"].tolist()) == set(range(30, 43))


def test_needed_points_count_those_that_are_taken():
    states = dealt(np.arange(3))
    called(states, np.zeros(3, np.int64), np.array([0, 1, 1]), np.array([30, 31, 42], np.int8))
    states["points"], states["texas42_mover"] = [[10, 1], [5, 0], [0, 6]], [2, 0, 3]
    bounds, sides = needed_of(states)
    assert bounds.tolist() == [18 - 9, 20 + 5, 42 - 6]
    assert sides.tolist() == [1, -1, 1]


@pytest.mark.slow
def test_exact_labels_are_those_of_all_worlds_where_there_are_few():
    rows = hands_of(DecisionSettings(worlds=2000, explore=0.3), np.arange(3), LateOnly())
    states = replayed(*(rows[name] for name in OF_HAND))[:, LATE:].reshape(-1)
    found = expected_many(states, 2000, np.arange(len(states)))
    assert found.complete.all()
    free = found.legal.sum(1) > 1
    for name, unit in (("mean", POINT), ("spread", POINT), ("make", CERTAIN)):
        labels = rows[name][:, LATE:].reshape(-1, 7) / unit
        assert np.allclose(labels[free], np.nan_to_num(getattr(found, name))[free], atol=1 / POINT)
        assert not labels[~free].any()


@pytest.mark.parametrize(("worlds", "by_trick"), [(3, [3] * 7), ((4, 8, 2), [4, 8, 2, 2, 2, 2, 2]), ((5,), [5] * 7)])
def test_worlds_may_go_by_trick(worlds, by_trick):
    class Asked(Guessing):
        def begin(self, states, worlds, seeds):
            asked.append((int(states["plays"][0]) // 4, worlds))
            return super().begin(states, worlds, seeds)

    asked = []
    hands_of(DecisionSettings(worlds=worlds), np.arange(6), Asked())
    assert {trick: [number for at, number in asked if at == trick] for trick, _ in asked}.keys() == set(range(6))
    assert all(number == by_trick[trick] for trick, number in asked)


@pytest.mark.parametrize("worlds", [(), (4,) * 8, (4, 0), (4, True), 0, None, 4.0, "100"])
def test_worlds_that_cannot_be_are_refused(worlds):
    with pytest.raises(BadInput, match="worlds"):
        DecisionSettings(worlds=worlds)


class LateOnly(ExactLabeller):
    """Exact labels of late decisions; quick ones before."""

    def begin(self, states, worlds, seeds):
        return super().begin(states, worlds if states["plays"][0] >= LATE else 1, seeds)


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("reads", [("all", "all"), ("open", "all"), ("all", "open"), ("open", "open")])
def test_labels_of_a_network_are_means_over_the_same_worlds(padded, reads):
    from rookery.search.worlds import sample_worlds

    config = HandsConfig(width=24, heads=2, layers=1, mlp=32)
    of_each = zip(("q", "policy"), reads, strict=True)
    networks = [build(config.model_copy(update={"answers": a, "reads": r}), 3) for a, r in of_each]
    for network in networks:
        network.slot_head.weight.data *= 0.3  # points beyond 42 would be cut
    oracle, second = (HandsOracle(network, "cpu", rows=64) for network in networks)
    oracle.compiled = padded  # kernels that are compiled get passes of one size
    states = dealt(np.arange(9))
    called(states, np.arange(9), np.arange(9) % 4, np.full(9, 30, np.int8))
    play_random_each(states, 0, np.arange(9), np.full(9, 6))
    found = NetworkLabeller(oracle, second).begin(states, 30, np.arange(9))()
    worlds = sample_worlds(states, 30, np.arange(9))
    q, logits = (each(worlds).reshape(9, 30, 7) for each in (oracle, second))
    assert np.allclose(found.mean, q.mean(1), atol=1e-4)
    assert np.allclose(found.spread, q.std(1), atol=1e-4)
    assert np.allclose(found.logits, logits.mean(1), atol=1e-5)
    bounds, sides = needed_of(states)
    assert np.allclose(found.make, (sides[:, None, None] * q > bounds[:, None, None] - 1).mean(1))


# ---- sets ----------------------------------------------------------------------------------------


def test_a_set_goes_on_where_it_stopped_and_comes_out_the_same(tmp_path):
    settings = DecisionSettings(worlds=1, per_shard=3)
    whole, parted = tmp_path / "data" / "whole", tmp_path / "data" / "parted"
    assert make_decisions(whole, 8, settings, Guessing())
    assert not make_decisions(parted, 8, settings, Guessing(), ended=lambda: True)
    assert DataSet(parted).numbers() == [0]
    damaged = parted / "00000.npz"
    damaged.write_bytes(damaged.read_bytes()[:-9])  # killed while writing it would leave no such file, a bad disk might
    assert make_decisions(parted, 8, settings, Guessing())
    for number in range(3):
        assert (whole / f"{number:05d}.npz").read_bytes() == (parted / f"{number:05d}.npz").read_bytes()
    assert [data.folder.name for data in data_sets(tmp_path, "decisions")] == ["parted", "whole"]
    assert data_sets(tmp_path, "positions") == []


def test_a_set_that_is_asked_for_more_has_its_last_file_made_anew(tmp_path):
    settings = DecisionSettings(worlds=1, per_shard=3)
    data, wanted = DataSet(tmp_path), tmp_path / "wanted"
    assert make_decisions(tmp_path, 4, settings, Guessing())
    first = data.shard(0).read_bytes()
    for games, shards in ((5, 2), (8, 3), (7, 3)):
        assert make_decisions(tmp_path, games, settings, Guessing())
        assert len(data.numbers()) == shards
    assert sum(len(rows["seed"]) for rows in data.read()) == 8  # none is taken away
    assert data.shard(0).read_bytes() == first
    assert make_decisions(wanted, 8, settings, Guessing())
    assert list(DataSet(wanted).checksums().values()) == list(data.checksums().values())


def test_positions_of_more_deals_are_added_to_the_last_file(tmp_path):
    settings = PositionSettings(source="random", per_deal=1, per_shard=4)
    for deals in (2, 3, 5):
        assert make_positions(tmp_path, deals, settings)
        assert sum(len(rows["seed"]) for rows in DataSet(tmp_path).read()) == deals


def test_a_set_made_with_other_settings_is_not_gone_on_with(tmp_path):
    make_decisions(tmp_path, 2, DecisionSettings(worlds=1, per_shard=3), Guessing())
    with pytest.raises(BadInput, match="worlds 1, not 2"):
        make_decisions(tmp_path, 2, DecisionSettings(worlds=2, per_shard=3), Guessing())
    with pytest.raises(BadInput, match="kind"):
        make_positions(tmp_path, 2, PositionSettings(per_shard=3))


def test_what_lies_beside_a_shard_tells_its_rows_and_checksum(tmp_path):
    settings = DecisionSettings(worlds=1, per_shard=3)
    make_decisions(tmp_path, 4, settings, Guessing())
    beside = json.loads((tmp_path / "00001.json").read_bytes())
    assert (beside["kind"], beside["rows"], beside["games"]) == ("decisions", 1, 1)
    assert beside["sha256"] == digest((tmp_path / "00001.npz").read_bytes())
    plan = json.loads((tmp_path / "plan.json").read_bytes())
    assert (plan["settings"], plan["shards"]) == (asdict(settings), 2)


def test_probabilities_and_points_are_kept_finely():
    rows = hands_of(DecisionSettings(worlds=1), np.arange(2), Guessing())
    assert set(np.unique(rows["mean"] % POINT)) == {0}
    assert np.allclose(rows["make"].max() / CERTAIN, 10 / 12, atol=1e-5)


# ---- the command ---------------------------------------------------------------------------------


def data(folder, *words, fails=False):
    """Ask for a small set of hands; return what is said."""
    asked = ["study", "texas42", "data", "--folder", folder, "--per-shard", 2, "--threads", 1, *words]
    asked += [] if "positions" in words or "--worlds" in words else ["--worlds", 2]
    result = CliRunner().invoke(app, [str(word) for word in asked])
    assert isinstance(result.exception, BadInput) if fails else result.exit_code == 0, result.output
    return str(result.exception) if fails else result.output


def test_what_is_damaged_beside_a_shard_is_made_again_and_other_files_are_left_alone(tmp_path):
    place = tmp_path / "data" / "some"
    data(tmp_path, "--name", "some", "--games", 3)
    whole = {path.name: path.read_bytes() for path in place.glob("0*")}
    (place / "0 copy.json").write_text("{}")
    for damaged in ("", "{}", '{"format": "rookery texas42 data", "version": 1}'):
        (place / "00000.json").write_text(damaged)
        data(tmp_path, "--name", "some", "--games", 3)
        assert {path.name: path.read_bytes() for path in place.glob("0000*")} == whole


def test_worlds_by_trick_are_asked_for_in_a_list(tmp_path):
    data(tmp_path, "--games", 2, "--worlds", "1,3")
    plan = DataSet(tmp_path / "data" / "decisions-exact-1-3-train").planned()
    assert plan["settings"]["worlds"] == [1, 3]
    data(tmp_path, "--games", 4, "--worlds", "1, 3")  # the same, and more of it
    said = data(tmp_path, "--games", 4, "--worlds", "1,4", "--name", "decisions-exact-1-3-train", fails=True)
    assert "worlds [1, 3], not [1, 4]" in said


@pytest.mark.parametrize("words", [(), ("--kind", "positions")])
@pytest.mark.parametrize("worlds", ["", "four", "4" * 5000, "4,,8", "4;8", "-4", "4,8,8,8,8,8,8,8", "0"])
def test_a_list_of_worlds_that_cannot_be_is_refused_by_name(tmp_path, worlds, words):
    assert "--worlds" in data(tmp_path, "--games", 2, "--worlds", worlds, *words, fails=True)
    assert not (tmp_path / "data").exists()


def test_asked_for_fewer_games_it_tells_how_many_there_are(tmp_path):
    data(tmp_path, "--name", "some", "--games", 4)
    assert "some: 4 games in" in data(tmp_path, "--name", "some", "--games", 3)
    assert read_measured(tmp_path)["data"]["some"]["games"] == 4


@pytest.mark.parametrize("change", [{"settings": None}, {"settings": [1]}, {"shards": "2"}, {"shards": None}])
def test_a_damaged_plan_is_refused_by_name(tmp_path, change):
    make_decisions(tmp_path, 2, DecisionSettings(worlds=1, per_shard=3), Guessing())
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(json.loads(plan.read_bytes()) | change))
    with pytest.raises(BadInput, match=r"plan\.json is damaged: it does not tell settings and shards"):
        make_decisions(tmp_path, 2, DecisionSettings(worlds=1, per_shard=3), Guessing())


@pytest.mark.parametrize("name", ["../elsewhere", "a/b", ".hidden"])
@pytest.mark.parametrize("kind", ["positions", "decisions"])
def test_a_set_that_nobody_would_find_again_is_refused(tmp_path, name, kind):
    said = data(tmp_path, "--games", 2, "--kind", kind, "--name", name, fails=True)
    assert said == f"--name must be the plain name of a folder, not {name!r}"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--kind", "positions", "--worlds", "7"), "--worlds 7: for positions of source played it means nothing"),
        (("--kind", "positions", "--oracle", "none"), "--oracle none: for positions of source played it means nothing"),
        (("--kind", "positions", "--second", "x"), "--second x: for positions of source played it means nothing"),
        (("--kind", "positions", "--compile"), "--compile: for positions of source played it means nothing"),
        (
            ("--kind", "positions", "--source", "random", "--explore", 0.9),
            "--explore 0.9: for positions of source random it means nothing",
        ),
        (("--source", "uniform"), "--source uniform: for decisions it means nothing"),
        (("--per-deal", 3), "--per-deal 3: for decisions it means nothing"),
    ],
)
def test_options_of_the_other_kind_of_data_are_refused_by_name(tmp_path, words, complaint):
    assert data(tmp_path, "--games", 2, *words, fails=True) == complaint
    assert not (tmp_path / "data").exists()


def test_no_threads_are_refused(tmp_path):
    assert data(tmp_path, "--threads", 0, fails=True) == "--threads must be a whole number in 1..1024, not 0"


@pytest.mark.parametrize(("kind", "share"), [("positions", 0.15), ("decisions", 0.05)])
def test_the_share_of_tiles_drawn_at_random_is_the_one_of_the_page_unless_given(tmp_path, kind, share):
    for name, words, wanted in (("usual", (), share), ("given", ("--explore", 0.5), 0.5)):
        data(tmp_path, "--games", 2, "--kind", kind, "--name", name, *words)
        assert DataSet(tmp_path / "data" / name).planned()["settings"]["explore"] == wanted
