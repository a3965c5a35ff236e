"""Probes of Lc0's networks: what is there is read, what is not is not."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from lc0.broken import stored_broken
from lc0_files import random_net
from lc0_taught import tiny
from rookery import BadInput, lc0
from rookery.cli import app
from rookery.games.chess_lc0_input import pairs_of
from rookery.nets.lc0.files import file_bytes, read_bytes
from rookery.nets.lc0.hooks import run_with_cache
from rookery.nets.lc0.stored import load_network, network_of
from rookery.nets.lc0.trained import as_lc0, save_weights
from rookery.probes.chess_concepts import BOARD, CONCEPTS, Found, passed_pawns
from rookery.probes.lc0 import (
    INPUT,
    Positions,
    ProbeSettings,
    activations,
    boards_of,
    check_targets,
    judged,
    make_positions,
    probed,
    read_at,
    score_of,
    stream_names,
    untrained,
)

pytestmark = pytest.mark.xdist_group("learning")


def masks_and_values(count: int, seed: int = 1):
    """Return what networks might read: men on random squares."""
    rng = np.random.default_rng(seed)
    masks = rng.integers(0, 1 << 63, (count, 112), dtype=np.uint64) & rng.integers(
        0, 1 << 63, (count, 112), dtype=np.uint64
    )
    values = np.ones((count, 112), np.float32)
    values[:, 109] = rng.integers(0, 50, count)
    return masks, values


def test_men_are_read_from_the_first_planes():
    masks, _ = masks_and_values(5)
    boards = boards_of(masks)
    for n, plane, rank, file in ((0, 0, 0, 0), (2, 5, 3, 6), (4, 11, 7, 7)):
        assert boards[n, plane, rank, file] == bool(int(masks[n, plane]) >> (8 * rank + file) & 1)
    assert boards.sum() == sum(int(mask).bit_count() for mask in masks[:, :12].ravel())


@pytest.mark.parametrize("kind", ["attention, map", "squeezed tower, convolution policy"])
def test_layers_are_read_at_squares_or_in_the_mean(kind):
    network = network_of(read_bytes(file_bytes(random_net(kind))))
    assert stream_names(network) == ["embedded", "layers.0.out", "layers.1.out"]
    masks, values = masks_and_values(70)
    found = Found(np.array([0, 3, 66, 69]), np.array([5, BOARD, 63, 0]), np.zeros(4))
    read = activations(network, masks, values, found, "cpu")
    planes = ((masks[:, :, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)) * values[:, :, None]
    seen = torch.from_numpy(planes.astype(np.float32)).view(-1, 112, 8, 8)
    with torch.no_grad():
        whole = run_with_cache(network, seen, stream_names(network))[1]
    for name, layer in {INPUT: seen, **whole}.items():
        squares = layer if layer.dim() == 3 else layer.flatten(2).transpose(1, 2)
        wanted = torch.stack([squares[0, 5], squares[3].mean(0), squares[66, 63], squares[69, 0]])
        torch.testing.assert_close(read[name], wanted, atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(
            read_at(layer, torch.tensor([0]), torch.tensor([5])), wanted[:1], atol=1e-4, rtol=1e-4
        )


def test_layers_that_show_no_numbers_are_refused(tmp_path):
    network = load_network(stored_broken(tmp_path, "ip_emb_b"))
    masks, values = masks_and_values(3)
    found = Found(np.array([0, 2]), np.array([5, BOARD]), np.zeros(2))
    with pytest.raises(BadInput, match="layer 'embedded' of the network shows numbers that are not finite"):
        activations(network, masks, values, found, "cpu")


def test_right_answers_count_alike_on_both_sides():
    targets = torch.tensor([1.0] * 2 + [0.0] * 8)
    answers = torch.tensor([1.0, -1.0] + [-1.0] * 6 + [1.0] * 2)
    assert judged(answers, targets, True) == pytest.approx((1 / 2 + 6 / 8) / 2)
    assert judged(-torch.ones(10), targets, True) == 0.5
    assert np.isnan(judged(answers, torch.zeros(10), True))
    assert judged(targets.double(), targets, False) == 1


def test_what_a_layer_holds_is_read_and_what_it_does_not_is_not():
    rng = np.random.default_rng(2)
    inputs = torch.from_numpy(rng.normal(size=(900, 6)))
    hidden = inputs @ torch.from_numpy(rng.normal(size=6))
    groups = np.repeat(np.arange(90), 10)
    rare = (hidden > hidden.quantile(0.9)).double()
    nothing = torch.from_numpy(rng.permutation(rare.numpy()))
    assert score_of(inputs, hidden, groups, False).value > 0.99
    assert score_of(inputs, rare, groups, True).value > 0.9
    for targets, truth, chance in ((hidden[torch.from_numpy(rng.permutation(900))], False, 0.0), (nothing, True, 0.5)):
        score = score_of(inputs, targets, groups, truth)
        assert abs(score.value - chance) < 0.1
        assert 0 < score.error < 0.1


def test_an_untrained_network_has_the_shape_and_a_small_clock():
    network = as_lc0(tiny())
    fresh = untrained(network, 3)
    assert fresh.config == network.config
    weights = fresh.body.ip_emb_w.detach()
    assert float(weights[:, 109].abs().mean()) < float(weights[:, 108].abs().mean()) / 30
    assert torch.equal(weights, untrained(network, 3).body.ip_emb_w)
    assert not torch.equal(weights, untrained(network, 4).body.ip_emb_w)
    assert untrained(network_of(read_bytes(file_bytes(random_net("plain tower, dense policy")))), 1).config.body.filters


def test_positions_in_which_nothing_differs_are_refused():
    alike = Found(np.arange(20), np.full(20, BOARD), np.ones(20))
    with pytest.raises(BadInput, match="concept material: all 20 samples are alike"):
        check_targets(CONCEPTS["material"], alike)
    with pytest.raises(BadInput, match="positions"):
        ProbeSettings(positions=10)


# ---- with games ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def positions() -> Positions:
    """Positions of games made by a seed."""
    return make_positions(ProbeSettings(positions=400, seed=5))


@pytest.mark.slow
def test_positions_follow_from_the_seed_and_come_from_many_games(positions):
    again = make_positions(ProbeSettings(positions=400, seed=5))
    assert (positions.states == again.states).all()
    assert (positions.games == again.games).all()
    assert np.bincount(positions.games).max() <= 16
    assert len(set(positions.games.tolist())) >= 25
    assert (make_positions(ProbeSettings(positions=400, seed=6)).states != positions.states).any()


@pytest.mark.slow
def test_planes_show_material_and_controls_show_less(positions):
    rows, found = probed(as_lc0(tiny()), CONCEPTS["material"], positions, ProbeSettings(positions=400))
    assert [row.layer for row in rows] == ["planes", "embedded", "layers.0.out", "layers.1.out"]
    assert [row.width for row in rows] == [112, 16, 16, 16]
    assert len(found.targets) == 400
    assert rows[0].untrained is None
    assert rows[0].score.value > 0.99  # a sum of men is linear in their planes
    assert all(row.shuffled.value < 0.1 for row in rows)
    assert all(row.untrained is not None for row in rows[1:])


@pytest.mark.slow
@pytest.mark.parametrize("form", [2, 3, 5])
def test_concepts_are_the_same_on_boards_that_a_format_has_turned(positions, form):
    plain, turned = (boards_of(pairs_of(positions.states, each, 0)[0]) for each in (1, form))
    assert (plain != turned).any() == (form > 2)
    for name in ("material", "attacks", "king-attacked"):
        one, other = (CONCEPTS[name].find(boards, np.random.default_rng(1)).targets for boards in (plain, turned))
        np.testing.assert_array_equal(one, other)
    assert (passed_pawns(plain).sum((1, 2)) == passed_pawns(turned).sum((1, 2))).all()


@pytest.mark.slow
def test_a_tower_that_reads_another_format_is_probed_at_its_squares(positions):
    network = network_of(read_bytes(file_bytes(random_net("plain tower, dense policy", input_format=5))))
    rows, found = probed(network, CONCEPTS["passed-pawn"], positions, ProbeSettings(positions=400))
    assert [row.width for row in rows] == [112, 8, 8, 8]
    assert np.isfinite([row.score.value for row in rows]).all()
    assert 0 < found.targets.mean() < 0.5


@pytest.mark.slow
def test_the_command_prints_a_table_or_json(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_weights("net.pb.gz", tiny())
    asked = ["probe", "lc0", "net.pb.gz", "--concept", "material", "--positions", "200"]
    done = CliRunner(env={"NO_COLOR": "1"}).invoke(app, [*asked, "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)["concepts"][0]
    assert (told["concept"], told["measure"], told["samples"]) == ("material", "R2", 200)
    assert told["layers"][0]["score"]["value"] > 0.9
    done = CliRunner(env={"NO_COLOR": "1"}).invoke(app, asked)
    assert "layers.1.out" in done.stdout
    assert f"{told['layers'][0]['score']['value']:.3f}" in done.stdout
    assert lc0.load("net.pb.gz").format == 1


def test_help_shows_examples_and_bad_names_are_refused(tmp_path):
    run = CliRunner(env={"NO_COLOR": "1"})
    assert "rookery probe lc0" in run.invoke(app, ["probe", "lc0", "--help"]).stdout
    assert "rookery lc0 export" in run.invoke(app, ["lc0", "export", "--help"]).stdout
    for arguments in (["nothing.pb.gz"], ["zoo:pylos"], ["nothing.pb.gz", "--concept", "beauty"]):
        done = run.invoke(app, ["probe", "lc0", *arguments])
        assert isinstance(done.exception, BadInput)
