"""Probes of the Domineering study: what is read, from where, and what controls say."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from rookery import BadInput
from rookery.arena.evaluator import on_threads
from rookery.nets.configs import TransformerConfig
from rookery.nets.hooks import run_with_cache
from rookery.nets.residual import build
from rookery.nets.surgery import embed
from rookery.probes.ridge import fit_ridge
from rookery.probes.similarity import cka
from rookery.studies.domineering_batches import GameTable, Positions, possible_moves, sector_weights
from rookery.studies.domineering_probes import (
    collected,
    correlation,
    freeze,
    kept_lines,
    layer_inputs,
    load_frozen,
    probe_layers,
    probe_set,
    random_control,
    raw_control,
    shuffled_control,
)
from studies.domineering_samples import some_records

pytestmark = pytest.mark.xdist_group("domineering")

TINY = TransformerConfig(rows=16, cols=16, width=16, heads=2, head_width=8, layers=2, mlp=16, policy_hidden=8)
SMALLER = TransformerConfig(rows=16, cols=16, width=16, heads=1, head_width=8, layers=1, mlp=8, policy_hidden=8)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    with on_threads(1):
        yield


@pytest.fixture(scope="module")
def positions() -> Positions:
    return Positions(GameTable(some_records(30, seed=3)), "all")


@pytest.fixture(scope="module")
def probed(positions):
    return probe_set(positions, 200)


@pytest.fixture(scope="module")
def network():
    return build(TINY, seed=1)


# ---- positions -----------------------------------------------------------------------------------


def test_the_sample_is_the_same_every_time_and_has_no_position_twice(positions, probed):
    again = probe_set(positions, 200)
    assert torch.equal(probed.tokens, again.tokens)
    assert len(np.unique(np.c_[probed.tokens.numpy(), probed.groups], axis=0)) == 200
    assert not torch.equal(probe_set(positions, 200, seed=1).tokens, probed.tokens)


def test_positions_have_their_own_sectors_and_games(positions, probed):
    free = (probed.tokens[:, :256] == 0).view(-1, 16, 16)
    assert torch.equal(possible_moves(free).float() @ torch.from_numpy(sector_weights()), probed.targets)
    assert len(np.unique(probed.groups)) == 30
    assert (np.diff(probed.groups) >= 0).all()


def test_where_there_are_too_few_positions_all_are_taken(positions):
    assert len(probe_set(positions, 10**6)) == len(positions)


def test_too_few_games_cannot_be_probed():
    few = Positions(GameTable(some_records(2, seed=3)), "all")
    with pytest.raises(BadInput, match="positions of 3 games or more, not of 2"):
        probe_set(few, 50)


def test_few_games_make_few_folds():
    few = probe_set(Positions(GameTable(some_records(4, seed=3)), "all"), 80)
    assert few.folds == 4


# ---- what is read --------------------------------------------------------------------------------


def test_reads_are_the_stream_behind_each_layer(network, probed):
    some = probed[:40]
    _, cache = run_with_cache(network, some.tokens.long(), ["layers.*.out"])
    for layer in range(2):
        stream = cache[f"layers.{layer}.out"].detach()
        board, mean, sectors = (list(layer_inputs(network, some, read))[layer] for read in ("cls", "mean", "all"))
        torch.testing.assert_close(board, stream[:, 256])
        torch.testing.assert_close(mean, stream.mean(1))
        for sector in range(16):
            squares = [
                16 * row + col
                for row in range(sector // 4 * 4, sector // 4 * 4 + 4)
                for col in range(sector % 4 * 4, sector % 4 * 4 + 4)
            ]
            torch.testing.assert_close(sectors[:, sector, 16:], stream[:, squares].mean(1))
            torch.testing.assert_close(sectors[:, sector, :16], stream[:, 256])


def test_chunks_make_no_difference(network, probed, monkeypatch):
    places = [(0, "cls"), (1, "cls"), (1, "all"), (0, "mean")]
    whole = collected(network, probed, places)
    monkeypatch.setitem(__import__("rookery.studies.domineering_probes", fromlist=["AT_ONCE"]).AT_ONCE, "cpu", 7)
    for one, other in zip(whole, collected(network, probed, places), strict=True):
        torch.testing.assert_close(one, other)


def test_layers_that_there_are_not_are_refused(network, probed):
    with pytest.raises(BadInput, match=r"layer must be a whole number in 0\.\.1, not 2"):
        collected(network, probed, [(2, "cls")])


def test_other_reads_are_refused(network, probed):
    with pytest.raises(BadInput, match="read must be one of cls, mean, all, not 'tokens'"):
        probe_layers(network, probed, reads=["tokens"])


# ---- lines ---------------------------------------------------------------------------------------


def test_lines_have_the_form_of_the_file(network, probed):
    lines = probe_layers(network, probed, reads=("cls", "mean", "all"))
    assert json.loads(json.dumps(lines, allow_nan=False)) == lines
    assert [(line["read"], line["layer"]) for line in lines] == [
        (read, layer) for read in ("cls", "mean", "all") for layer in (0, 1)
    ]
    for line in lines:
        assert set(line) == {"layer", "read", "r2", "sectors", "penalty", "frozen_r2", "cka_small"}
        assert len(line["sectors"]) == 16
        assert line["r2"] == pytest.approx(np.mean(line["sectors"]), abs=1e-5)
    inputs = list(layer_inputs(network, probed))[1]
    scores = fit_ridge(inputs, probed.targets, probed.groups, shared=True)
    assert lines[1]["r2"] == pytest.approx(scores.mean_r2, rel=1e-5)


def test_two_calls_give_the_same_numbers(network, probed):
    assert probe_layers(network, probed) == probe_layers(network, probed)


def test_frozen_probes_give_the_same_score_while_nothing_has_changed(network, probed):
    for line in probe_layers(network, probed, freeze(network, probed)):
        assert line["frozen_r2"] == pytest.approx(line["r2"], abs=1e-5)


def test_frozen_probes_read_worse_what_was_turned_around(network, probed, tmp_path):
    frozen = freeze(network, probed)
    frozen.save(tmp_path / "frozen.safetensors")
    other = build(TINY, seed=5)
    kept, read_back = (
        probe_layers(other, probed, probes) for probes in (frozen, load_frozen(tmp_path / "frozen.safetensors"))
    )
    assert kept == read_back
    assert kept[1]["frozen_r2"] < kept[1]["r2"] - 0.1


def test_files_that_hold_no_probes_are_refused(tmp_path):
    (tmp_path / "bad.safetensors").write_bytes(b"nothing")
    with pytest.raises(BadInput, match=r"bad\.safetensors is no file of probes"):
        load_frozen(tmp_path / "bad.safetensors")
    with pytest.raises(BadInput, match="there is no such file of probes"):
        load_frozen(tmp_path / "none.safetensors")


def test_embedded_layers_are_those_of_the_small_network(probed):
    small = build(SMALLER, seed=2)
    grown = embed(small, build(TINY, seed=3))
    lines, known = probe_layers(grown, probed, small=small), list(layer_inputs(small, probed))
    assert lines[0]["cka_small"] == pytest.approx(1, abs=1e-6)
    assert lines[1]["cka_small"] is None
    assert probe_layers(grown, probed, small=known) == lines
    other = build(TINY, seed=4)
    inputs = list(layer_inputs(other, probed))
    assert probe_layers(other, probed, small=small)[0]["cka_small"] == pytest.approx(cka(inputs[0], known[0]), rel=1e-5)


# ---- controls ------------------------------------------------------------------------------------


def test_random_networks_are_probed_by_their_seed(probed):
    first, second = random_control(TINY, probed, seed=1), random_control(TINY, probed, seed=2)
    assert [line["read"] for line in first] == ["cls", "cls", "mean", "mean"]
    assert first == random_control(TINY, probed, seed=1)
    assert first != second


def test_the_raw_board_is_read_square_by_square(positions):
    probed = probe_set(positions, 1500)
    found = raw_control(probed)
    board = probed.tokens[:, :256].double()
    assert found["r2"] == pytest.approx(fit_ridge(board, probed.targets, probed.groups, shared=True).mean_r2, rel=1e-5)
    assert found["read"] == "board"


def test_shuffled_sectors_are_not_read(network, positions):
    probed = probe_set(positions, 600)
    found = shuffled_control(network, probed, 1, shuffles=10)
    assert found["highest"] < 0.02
    assert found["mean"] < found["r2"]
    assert found["p"] == pytest.approx(1 / 11)
    assert found == shuffled_control(network, probed, 1, shuffles=10)


# ---- what stays ----------------------------------------------------------------------------------


def test_a_layer_that_has_grown_still_goes_with_the_sectors_though_its_old_probe_misses(network, probed):
    before = list(layer_inputs(network, probed))
    grown = [40 * inputs + 7 for inputs in before]
    same, moved = kept_lines(network, before, probed), kept_lines(network, grown, probed)
    assert [line["layer"] for line in same] == [0, 1]
    for now, line in zip(same, moved, strict=True):
        assert now["old"] == now["fresh"] == now["at_start"] == line["at_start"]
        assert line["fresh"] == pytest.approx(now["fresh"], abs=1e-3)
    frozen, fresh = freeze(network, probed), fit_ridge(grown[1], probed.targets, probed.groups, shared=True)
    assert frozen.r2(1, grown[1], fresh, probed.targets) < -1


def test_correlations_are_those_of_numpy_and_lost_with_another_network(network, probed):
    random = torch.Generator().manual_seed(5)
    noise = torch.randn(len(probed), 16, generator=random)
    line = kept_lines(network, [noise], probed)[0]
    assert abs(line["old"]) < 0.3
    answers = torch.randn(len(probed), 16, generator=random)
    pairs = zip(answers.T.numpy(), probed.targets.T.numpy(), strict=True)
    expected = [np.corrcoef(*pair)[0, 1] for pair in pairs if pair[1].std() > 0]
    assert correlation(answers, probed.targets) == pytest.approx(np.mean(expected), abs=1e-5)
