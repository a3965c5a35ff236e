"""Runs that begin with the weights of another network."""

from __future__ import annotations

import re

import pytest
import torch

from learn.tiny_runs import after, same_weights, tiny_settings, trained, weights
from rookery.errors import BadInput
from rookery.games.library import load
from rookery.learn.loop import Training
from rookery.learn.runs import Run
from rookery.learn.settings import network_values, read_settings
from rookery.learn.starts import first_network, misfit
from rookery.nets.configs import ResidualConfig, TowerConfig, read_config
from rookery.nets.files import About, Loaded, load_network, save_network
from rookery.nets.residual import build

pytestmark = pytest.mark.xdist_group("learning")

TOWER = TowerConfig(planes=3, rows=9, cols=9, width=4, blocks=1, policy_hidden=4, value_hidden=4)


def saved(folder, config, observation="planes"):
    path = folder / "begin.pth"
    save_network(path, build(config, 77), About(observation=observation))
    return path


def tiny_config(folder):
    settings = tiny_settings(folder)
    return read_config(network_values(settings.network, load(settings.game)))


def test_a_run_begins_with_the_weights_it_is_given_and_needs_their_file_no_more(tmp_path):
    path = saved(tmp_path, tiny_config(tmp_path))
    run = Run.create(tmp_path / "run", tiny_settings(tmp_path, f"start={path}"))
    path.unlink()
    with run.training():
        training = Training(run)
    assert same_weights(
        dict(training.trainer.network.state_dict()), dict(build(tiny_config(tmp_path), 77).state_dict())
    )
    assert same_weights(dict(training.player.state_dict()), dict(training.trainer.network.state_dict()))


def test_a_run_with_given_weights_stopped_and_resumed_is_the_same_run(tmp_path):
    path = saved(tmp_path, tiny_config(tmp_path))
    for name in ("straight", "stopped"):
        Run.create(tmp_path / name, tiny_settings(tmp_path, f"start={path}"))
    assert trained(tmp_path / "straight")[0]
    while not trained(tmp_path / "stopped", after(23))[0]:
        pass
    assert same_weights(weights(tmp_path / "stopped", 40), weights(tmp_path / "straight", 40))


def test_weights_of_a_small_board_begin_a_run_on_a_large_one(tmp_path):
    path = saved(tmp_path, TOWER)
    network = "network={kind: tower, observation: planes, width: 4, blocks: 1, policy_hidden: 4, value_hidden: 4}"
    settings = tiny_settings(tmp_path, "game=gomoku", network, f"start={path}", "selfplay.ply_limit=0")
    run = Run.create(tmp_path / "run", settings)
    config = read_config(network_values(settings.network, run.game))
    network = first_network(config, 1, run.folder / "start.pth")
    assert (network.config.rows, network.config.cols) == (15, 15)
    assert same_weights(dict(network.state_dict()), dict(load_network(path).network.state_dict()))
    logits, values = network(torch.zeros(2, 3 * 15 * 15))
    assert logits.shape == (2, 225)
    assert values.shape == (2,)


@pytest.mark.parametrize(
    ("config", "observation", "why"),
    [
        (TOWER, "planes", ""),
        (TOWER.model_copy(update={"rows": 5, "cols": 6}), "planes", ""),
        (TOWER.model_copy(update={"width": 5}), "planes", "its width is 5, not 4"),
        (TOWER.model_copy(update={"blocks": 2}), "planes", "its blocks is 2, not 1"),
        (TOWER.model_copy(update={"planes": 17}), "planes", "its planes is 17, not 3"),
        (TOWER, "history", "it reads observations 'history', not 'planes'"),
        (TOWER, "", ""),
        (ResidualConfig(inputs=243, actions=81), "planes", "its kind is residual, not tower"),
    ],
)
def test_what_fits_and_why_not(config, observation, why):
    network = build(config, 1)
    wanted = TOWER.model_copy(update={"rows": 15, "cols": 15})
    assert misfit(Loaded(network, config, About(observation=observation)), wanted, "planes") == why


@pytest.mark.parametrize("given", ["nowhere.pth", "other"])
def test_weights_that_do_not_fit_are_refused_before_anything_is_made(tmp_path, given):
    path = saved(tmp_path, TOWER) if given == "other" else tmp_path / given
    complaint = "does not fit these settings: its kind is tower, not residual" if given == "other" else "is not there"
    with pytest.raises(BadInput, match=re.escape(complaint)):
        Run.create(tmp_path / "run", tiny_settings(tmp_path, f"start={path}"))
    assert not (tmp_path / "run").exists()


def test_settings_of_earlier_runs_still_read(tmp_path):
    file = tmp_path / "config.yaml"
    file.write_text("game: pylos\nnetwork: {kind: residual, observation: rich}\n")
    assert read_settings(file).start == ""
