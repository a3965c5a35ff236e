"""Chess in the learning: lessons of alpha-beta, rows of Lc0's planes, imitation, self-play, weight files."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from lc0_files import random_net
from lc0_taught import TINY, planes, tiny
from learn.test_lessons import check_rows
from learn.tiny_chess import NETWORK, STAGE, made
from learn.tiny_imitation import learned
from learn.tiny_runs import after, same_weights
from nets.samples import on_one_thread
from rookery import BadInput, lc0
from rookery.arena.chess_openings import CHESS_OPENINGS
from rookery.arena.networks import network_file
from rookery.arena.openings import parse_moves
from rookery.cli import app
from rookery.games.library import load
from rookery.learn.curriculum import Curriculum
from rookery.learn.curriculum_settings import read_curriculum
from rookery.learn.imitation import Imitation, ImitationSettings
from rookery.learn.lessons import make_lessons, opening_of, rows_of, trimmed
from rookery.learn.replay import Replay
from rookery.learn.sections import LessonSettings
from rookery.learn.settings import RunSettings, network_values, packaged_names
from rookery.learn.starts import start_bytes
from rookery.learn.weight_files import export_weights
from rookery.learn.yaml_text import read_yaml
from rookery.nets.configs import read_config
from rookery.nets.files import About, load_network, save_network
from rookery.nets.lc0.files import write_file
from rookery.nets.lc0.schema import Encoding
from rookery.nets.lc0.stored import load_network as load_weights
from rookery.nets.lc0.trained import save_weights
from rookery.search.alphabeta import search
from rookery.search.analysis import Limits

pytestmark = pytest.mark.xdist_group("learning")


# ---- settings ------------------------------------------------------------------------------------


def test_settings_of_a_network_are_its_configuration():
    made_of = ImitationSettings.model_validate(STAGE).network
    assert read_config(network_values(made_of, load("chess"))) == TINY


def test_a_network_of_lc0s_kind_is_for_chess_alone():
    with pytest.raises(ValueError, match="reads Lc0's planes of chess, not 'planes' of gomoku"):
        RunSettings.model_validate({"game": "gomoku:size=9", "network": {**NETWORK, "observation": "planes"}})


def test_heads_that_do_not_share_out_the_width_are_refused():
    with pytest.raises(ValueError, match="heads: must divide 16, which 3 does not"):
        RunSettings.model_validate({"game": "chess", "network": {**NETWORK, "heads": 3}})


@pytest.mark.parametrize("name", ["chess_lc0", "chess_lc0_quick"])
def test_packaged_settings_can_be_run(name):
    assert name in packaged_names("curricula")
    found = read_curriculum(name)
    network = read_config(network_values(found.network, load("chess")))
    assert [stage.kind for stage in found.stages] == ["imitation", "selfplay"]
    assert network.kind == "lc0"


# ---- starts --------------------------------------------------------------------------------------


def test_a_run_begins_with_a_weight_file_whose_shape_fits(tmp_path):
    network, seen = tiny(), planes(3)
    save_weights(tmp_path / "net.pb.gz", network, Encoding.FLOAT32)
    (tmp_path / "start.pth").write_bytes(start_bytes(str(tmp_path / "net.pb.gz"), TINY.model_dump(), "classical"))
    loaded = load_network(tmp_path / "start.pth")
    assert (loaded.about.game, loaded.about.observation) == (load("chess").spec, "classical")
    with torch.no_grad():
        assert all(torch.equal(a, b) for a, b in zip(loaded.network(seen), network(seen), strict=True))


def test_a_weight_file_of_another_shape_is_refused_with_the_difference(tmp_path):
    save_weights(tmp_path / "net.pb.gz", tiny())
    wanted = TINY.model_dump() | {"hidden": 99}
    with pytest.raises(BadInput, match=r"net.pb.gz' does not fit these settings: its hidden is 24, not 99"):
        start_bytes(str(tmp_path / "net.pb.gz"), wanted, "classical")
    write_file(tmp_path / "tower.pb.gz", random_net("plain tower, dense policy"))
    with pytest.raises(BadInput, match="cannot be taught on: its body is a residual tower"):
        start_bytes(str(tmp_path / "tower.pb.gz"), wanted, "classical")
    with pytest.raises(BadInput, match=r"nothing\.pb\.gz"):
        start_bytes(str(tmp_path / "nothing.pb.gz"), wanted, "classical")


def test_what_a_missing_part_would_be_like_does_not_matter(tmp_path):
    save_weights(tmp_path / "net.pb.gz", tiny("without smolgen"))
    wanted = tiny("without smolgen").config.model_dump() | {"smolgen_size": 3, "smolgen_activation": "tanh", "dense": 9}
    assert start_bytes(str(tmp_path / "net.pb.gz"), wanted, "classical")


@pytest.mark.parametrize("kind", ["attention, old header with smolgen", "attention, dense, several heads"])
def test_the_settings_that_a_weight_file_wants_are_printed_and_fit(tmp_path, kind):
    path = str(tmp_path / "net.pb.gz")
    write_file(path, random_net(kind))
    for arguments in ([], ["--json"]):
        done = CliRunner(env={"NO_COLOR": "1"}).invoke(app, ["lc0", "settings", path, *arguments])
        assert done.exit_code == 0, done.output
        printed = read_yaml(done.stdout, "printed")
        values = {"game": "chess", "network": printed if arguments else printed["network"]}
        network = RunSettings.model_validate(values).network
        assert start_bytes(path, network_values(network, load("chess")), network.observation)


# ---- export --------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["linear16", "f16", "bf16", "f32"])
def test_a_checkpoint_becomes_a_weight_file(tmp_path, encoding):
    network, seen = tiny(), planes(4)
    save_network(tmp_path / "net.pth", network, About(game="chess", observation="classical", step=70))
    facts = export_weights(str(tmp_path / "net.pth"), tmp_path / "net.pb.gz", encoding)
    assert (facts["games"], facts["parameters"], facts["encoding"]) == (70, network.weights, encoding)
    found = load_weights(tmp_path / "net.pb.gz")
    with torch.no_grad():
        worst = (found.heads(seen).policy - network(seen)[0]).abs().max()
    assert worst == 0 if encoding == "f32" else 0 < worst < 0.2


def test_what_cannot_be_exported_is_refused(tmp_path):
    with pytest.raises(BadInput, match=r"'out.onnx': a weight file ends in .pb.gz or .pb"):
        export_weights("net.pth", "out.onnx")
    with pytest.raises(BadInput, match=r"encoding 'f8' should be one of linear16, f16, bf16, f32"):
        export_weights("net.pth", "out.pb", "f8")
    with pytest.raises(BadInput, match=r"pylos.safetensors': a network of kind 'residual' cannot be a weight file"):
        export_weights("zoo:pylos", tmp_path / "out.pb.gz")
    assert not (tmp_path / "out.pb.gz").exists()


# ---- lessons and rows ----------------------------------------------------------------------------


def test_a_game_of_lessons_begins_with_a_part_of_the_book_and_random_moves():
    game = load("chess")
    book = [parse_moves(game, line).moves for line in CHESS_OPENINGS]
    known = []
    for number in range(30):
        position, moves = opening_of(game, LessonSettings(opening=3), 5, number)
        assert not position.over
        part = tuple(moves[:-3])
        assert any(line[: len(part)] == part for line in book)
        known.append(part)
        assert opening_of(game, LessonSettings(opening=3), 5, number)[1] == moves
    assert len(set(known)) > 15
    assert {len(part) for part in known} > {1, 2, 3}


@pytest.mark.slow
def test_lessons_of_alpha_beta_are_its_moves_and_values_and_rows_hold_them():
    game = load("chess")
    how = LessonSettings(supervisor="alphabeta:depth=2", explore=30)
    lessons = make_lessons(game, how, seed=3, first=5, count=4)
    for g in range(4):
        position, asked = game.start(), 0
        for ply, action in enumerate(lessons.moves[g][lessons.moves[g] >= 0]):
            if lessons.chosen[g, ply] >= 0 and ply % 5 == 0:
                said = search(position, Limits(depth=2))
                assert lessons.chosen[g, ply] == said.action
                assert lessons.values[g, ply] == pytest.approx(said.value, abs=1e-6)
                asked += 1
            position.play(int(action))
        assert position.over
        assert asked > 2
    short = trimmed(lessons)
    assert short.moves.shape[1] == (lessons.moves >= 0).sum(1).max() < game.longest
    whole, cut = (rows_of(game, "classical", some, 5, 0.0) for some in (lessons, short))
    assert all((one == other).all() for one, other in zip(whole, cut, strict=True))
    check_rows(game, "classical", lessons, 5, 0.0)


@pytest.mark.slow
def test_a_replay_keeps_planes_in_bytes_and_loses_nothing():
    game = load("chess")
    replay = Replay(game, "classical", 50)
    assert replay.rows.observations.dtype == torch.uint8
    position, rng, seen = game.start(), np.random.default_rng(4), []
    for row in range(40):
        seen.append(position.observe("classical").ravel())
        replay.rows.observations[row] = torch.from_numpy(seen[-1])
        position.play(int(rng.choice(position.legal())))
    replay.written = 40
    batch = replay.batch(torch.arange(40), torch.zeros(40, dtype=torch.int64))
    assert batch.observations.dtype == torch.float32
    np.testing.assert_array_equal(batch.observations.numpy(), np.stack(seen))
    again = Replay(game, "classical", 50)
    again.load(replay.state())
    assert torch.equal(again.rows.observations[:40], replay.rows.observations[:40])


# ---- learning ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_network_comes_to_agree_with_alpha_beta_also_when_it_is_stopped(tmp_path):
    straight, stopped = made(tmp_path / "straight"), made(tmp_path / "stopped")
    assert learned(straight)
    while not learned(stopped, after(4)):
        pass
    lines = Imitation(straight).figures.read()
    assert lines == Imitation(stopped).figures.read()
    assert lines[-1]["taught_policy_loss"] < lines[0]["taught_policy_loss"]
    assert lines[-1]["policy_loss"] < lines[0]["policy_loss"]
    assert lines[-1]["agreed"] > 3 / 30  # by chance one of about thirty
    one, other = (dict(load_network(folder / "network.pth").network.state_dict()) for folder in (straight, stopped))
    assert same_weights(one, other)


@pytest.mark.slow
def test_the_quick_curriculum_ends_in_a_weight_file_that_says_the_same(tmp_path):
    changes = ["stages.imitation.lessons.positions=600", "stages.imitation.training.passes=1",
               "stages.imitation.training.warmup_steps=2", "stages.selfplay.selfplay.games=8",
               "stages.selfplay.selfplay.at_once=8", "stages.selfplay.selfplay.simulations=16",
               "stages.selfplay.selfplay.ply_limit=40",
               "stages.selfplay.checkpoints.every=8"]  # fmt: skip
    with pytest.raises(BadInput, match=r"no stage of .* has a network yet"):
        network_file(str(Curriculum.create(tmp_path / "run", read_curriculum("chess_lc0_quick", changes)).folder))
    before = torch.get_num_threads()
    try:
        with Curriculum(tmp_path / "run") as curriculum:
            outcome = curriculum.work()
    finally:
        torch.set_num_threads(before)
    assert outcome.verdict == "met"
    assert network_file(str(tmp_path / "run")) == outcome.network
    imitated = tmp_path / "run" / "stages" / "imitation"
    assert network_file(str(imitated)) == imitated / "network.pth"
    export_weights(str(tmp_path / "run"), tmp_path / "net.pb.gz", "f32")
    game, player = load("chess"), load_network(outcome.network)
    position = game.start()
    for move in ("e2e4", "e7e5", "g1f3"):
        position.play(position.action(move))
    with on_one_thread(), torch.no_grad():
        found = lc0.load(tmp_path / "net.pb.gz").evaluate([position])[0]
        logits, values = player.network(torch.from_numpy(position.observe("classical")).flatten()[None])
    assert found.q == pytest.approx(float(values[0]), abs=1e-6)
    for move, said in found.moves.items():
        assert said.index == position.action(move)
        assert said.logit == pytest.approx(float(logits[0, said.index]), abs=1e-5)
