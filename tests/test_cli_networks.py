"""Commands on networks and their training, as a person types them; in this process, where another tells no more."""

from __future__ import annotations

import json
import os

import pytest
from typer.testing import CliRunner

from learn.support_runs import board_settings, run_of_networks
from rookery import BadInput, load, terminal
from rookery.arena import networks
from rookery.cli import app
from rookery.learn.settings import write_settings
from rookery.nets import zoo as zoo_files
from rookery.nets.configs import HandsConfig, TranscriptConfig, TransformerConfig
from rookery.nets.files import About, load_network, save_network
from rookery.nets.residual import build
from rookery.nets.surgery import random_tokens, verify_embedding
from rookery.web.opponents import opponents_for
from support import run_rookery

pytestmark = pytest.mark.xdist_group("command line")
QUICK = ("--games", "2", "--round-robin-games", "2", "--search-iters", "2", "--references", "none")


@pytest.fixture
def rookery(monkeypatch, tmp_path):
    """Return a function that runs a command in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(terminal.out, "_width", 200)  # an earlier test may have made it for a narrow terminal

    def run(*arguments, given=""):
        return CliRunner(env={"NO_COLOR": "1"}).invoke(app, list(arguments), input=given)

    return run


@pytest.fixture
def run(tmp_path):
    return run_of_networks(tmp_path / "runs" / "small", [10, 20])


@pytest.mark.parametrize(
    "command", [("elo",), ("grow",), ("sweep",), ("train",), ("zoo", "card"), ("zoo", "play"), ("zoo",)]
)
def test_help_shows_an_example(rookery, command):
    done = rookery(*command, "--help")
    assert done.exit_code == 0
    assert f"rookery {' '.join(command)}" in done.output or command == ("zoo",)


# ---- elo -----------------------------------------------------------------------------------------


def test_a_run_is_rated_drawn_and_told(rookery, run, tmp_path):
    done = rookery("elo", "small", *QUICK)
    assert done.exit_code == 0, done.output
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [line[1] for line in lines if line and line[0] == "small"] == ["10", "20"]
    assert any(line[:1] == ["random"] and "pinned" in line for line in lines)
    assert (run.folder / "ratings.png").read_bytes().startswith(b"\x89PNG")
    told = json.loads(rookery("elo", "small", *QUICK, "--again", "--json", "--figure", "here.png").stdout)
    assert [row["elo"] for row in told["checkpoints"]] == [entry["elo"] for entry in run.checkpoints]
    assert told["fit"]["games"] == 6
    assert told["references"]["random"]["elo"] == 0
    assert (tmp_path / "here.png").exists()
    before = rookery("elo", "small", *QUICK)
    assert before.exit_code == 0
    assert "as rated before" in before.stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["none"], "'none' is no run"), (["small", "--games", "3"], "games must be even"),
        (["small", "--references", "nobody"], "nobody"), (["small", "--game", "chess"], "cannot play"),
        (["small", "--game", "nothing"], "nothing"), (["small", "--opening", "random:x"], "random:x"),
        (["small", "--references", "human"], "a person"), (["small", "--search-iters", "0"], "search-iters"),
    ],
)  # fmt: skip
def test_wrong_requests_for_ratings_are_refused(rookery, run, arguments, complaint):
    done = rookery("elo", *QUICK, *arguments)
    assert isinstance(done.exception, BadInput)
    assert complaint in str(done.exception)
    assert not (run.folder / "ratings.png").exists()


def test_an_interrupted_rating_says_how_to_go_on(rookery, run, monkeypatch):
    from rookery.learn.rating import Contest

    monkeypatch.setattr(Contest, "meet", interrupted)
    done = rookery("elo", "small", *QUICK)
    assert done.exit_code == 130
    assert "the same command goes on" in done.output
    assert all("elo" not in entry for entry in run.checkpoints)


def interrupted(*arguments):
    raise KeyboardInterrupt


# ---- export --------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["safetensors", "pth"])
def test_a_run_is_exported_by_its_best_checkpoint_and_reads_back_equal(rookery, run, tmp_path, form):
    run.set_best(10)
    done = rookery("export", "small", "--format", form, "--out", f"saved.{form}")
    assert done.exit_code == 0, done.output
    assert done.stdout.strip() == f"saved.{form}"
    loaded, source = load_network(tmp_path / f"saved.{form}"), load_network(run.checkpoint_path(10))
    assert loaded.about == source.about
    for name, tensor in source.network.state_dict().items():
        assert tensor.equal(loaded.network.state_dict()[name])


def test_a_file_is_exported_by_the_ending_of_its_target(rookery, run, tmp_path):
    onnx = pytest.importorskip("onnx")
    done = rookery("export", str(run.checkpoint_path(20)), "--out", "saved.onnx")
    assert done.exit_code == 0, done.output
    assert onnx.load(tmp_path / "saved.onnx").producer_name == "rookery"


def test_without_a_target_a_network_is_written_here_under_the_runs_name(rookery, run, tmp_path):
    assert rookery("export", "small").exit_code == 0
    assert load_network(tmp_path / "small.safetensors").about.step == 20  # none is rated: the newest


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["small", "--format", "onnx", "--out", "a.pth"], "should end in .onnx"),
        (["small", "--out", "a.txt"], "must name a file that ends in"),
        (["small", "--out", "."], "must name a file"),
        (["none.pth"], "is not there"),
        (["none", "--format", "pth"], "is no run"),
        (["none"], "there is no game 'none'"),
        (["none"], "nor is 'none' a run, or a file of weights"),
        (["small", "--format", "pgn"], "--format pgn is for games; small is a network: safetensors, onnx, pth"),
        (["small", "--ledger", "x"], "a network is not in a ledger"),
        (["zoo:none"], "the zoo has no network 'none'"),
        (["small", "--format", "onnx", "--half"], "single precision only"),
        (["gomoku", "--half"], "--half is for networks"),
        (["runs/small/checkpoint_00010.pth", "--format", "pth", "--out", "runs/small/checkpoint_00010.pth"], "itself"),
    ],
)
def test_wrong_exports_are_refused(rookery, run, arguments, complaint):
    done = rookery("export", *arguments)
    assert isinstance(done.exception, BadInput)
    assert complaint in str(done.exception)


def test_a_game_of_the_same_name_as_a_run_stays_a_game(rookery, tmp_path, monkeypatch):
    run_of_networks(tmp_path / "runs" / "pylos", [10])
    done = rookery("export", "pylos", "--ledger", "no-ledger")
    assert "there is no ledger" in str(done.exception)


# ---- grow ----------------------------------------------------------------------------------------


LITTLE = TransformerConfig(rows=4, cols=4, width=8, heads=2, head_width=4, mlp=6, sectors=1, policy_hidden=4)


@pytest.fixture
def little(tmp_path):
    about = About(game="domineering:rows=4,cols=4", rules_version=1, observation="tokens", step=30)
    save_network(tmp_path / "little.pth", build(LITTLE, seed=3), about)
    return load_network(tmp_path / "little.pth")


def test_a_network_is_grown_by_a_file_of_sizes_and_plays(rookery, little, tmp_path):
    (tmp_path / "large.yaml").write_text("network: {kind: transformer, heads: 3, layers: 3}\n")
    done = rookery("grow", "little.pth", "large.yaml", "--set", "mlp=9", "--seed", "5")
    assert done.exit_code == 0, done.output
    assert done.stdout.strip() == "little-grown.pth"
    grown = load_network(tmp_path / "little-grown.pth")
    assert grown.config == LITTLE.model_copy(update={"heads": 3, "layers": 3, "mlp": 9})
    assert grown.about.model_dump() == little.about.model_dump() | {
        "step": 0, "notes": "grown from little.pth, seed 5",
    }  # fmt: skip
    verify_embedding(little.network, grown.network, random_tokens(LITTLE, 8))
    played = rookery(
        "match", "net:little-grown.pth,sims=2", "random", "--game", "domineering:rows=4,cols=4", "--games", "2"
    )
    assert played.exit_code == 0, played.output


def test_the_last_network_of_a_run_of_a_study_is_grown_from_its_folder(rookery, little, tmp_path):
    folder = tmp_path / "study" / "runs" / "small-aux-s42"
    folder.mkdir(parents=True)
    save_network(folder / "network.safetensors", little.network, little.about)
    (tmp_path / "large.yaml").write_text("layers: 3\n")
    done = rookery("grow", "study/runs/small-aux-s42", "large.yaml")
    assert done.exit_code == 0, done.output
    assert done.stdout.strip() == "small-aux-s42-grown.pth"
    verify_embedding(
        little.network, load_network(tmp_path / "small-aux-s42-grown.pth").network, random_tokens(LITTLE, 8)
    )


def test_controls_of_growing_are_held_and_told(rookery, little, tmp_path):
    done = rookery("grow", "little.pth", "little.pth.yaml", "--out", "a.pth")
    assert "cannot be read" in str(done.exception)
    (tmp_path / "large.yaml").write_text("layers: 3\n")
    controls = ("--identity", "--random", "--fresh-heads", "--out", "control.safetensors")
    assert rookery("grow", "little.pth", "large.yaml", *controls).exit_code == 0
    grown = load_network(tmp_path / "control.safetensors")
    assert grown.about.notes == "grown from little.pth, seed 0, a random network, fresh heads, identity above"
    assert grown.network.layers[2].attn.W_O.count_nonzero() == 0
    verify_embedding(build(LITTLE, 1), grown.network, random_tokens(LITTLE, 8), heads=False)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["none.pth", "large"], "is not there"), (["little.pth", "huge"], "one of small, large"),
        (["little.pth", "large"], "width must be the same"),
        (["little.pth", "large.yaml", "--out", "a.txt"], "ends in"),
        (["little.pth", "large.yaml", "--out", "nowhere/a.pth"], "there is no folder 'nowhere'"),
        (["little.pth", "large.yaml", "--out", "little.pth"], "the small network itself"),
        (["little.pth", "large.yaml", "--set", "depth=3"], r"large.yaml.transformer.depth"),
        (["little.pth", "large.yaml", "--set", "layers"], "should read"), (["little.pth", "list.yaml"], "by name"),
        (["small", "large"], "a perceptron grows into a perceptron"),
    ],
)  # fmt: skip
def test_wrong_requests_to_grow_are_refused_and_write_nothing(rookery, run, little, tmp_path, arguments, complaint):
    (tmp_path / "large.yaml").write_text("layers: 3\n")
    (tmp_path / "list.yaml").write_text("[1, 2]\n")
    before = sorted(tmp_path.iterdir())
    done = rookery("grow", *arguments)
    assert isinstance(done.exception, BadInput), done.output
    assert complaint in str(done.exception)
    assert sorted(tmp_path.iterdir()) == before


# ---- the zoo -------------------------------------------------------------------------------------


def test_the_zoo_is_listed_and_a_name_it_has_not_is_refused():
    done = run_rookery("zoo")
    assert done.returncode == 0
    assert "the zoo is empty" in done.stderr or "parameters" in done.stdout
    wrong = run_rookery("zoo", "card", "nobody")
    assert wrong.returncode == 2
    assert "the zoo has no network 'nobody'" in wrong.stderr


@pytest.fixture
def zoo(tmp_path, monkeypatch, run):
    folder = tmp_path / "zoo"
    folder.mkdir()
    monkeypatch.setattr(zoo_files, "ZOO", folder)
    CliRunner().invoke(app, ["export", str(run.checkpoint_path(20)), "--out", str(folder / "tiny.safetensors")])
    return folder


def test_the_zoo_is_listed_with_what_its_files_say(rookery, zoo):
    done = rookery("zoo")
    assert done.exit_code == 0, done.output
    assert "domineering:rows=4,cols=4" in done.stdout
    (facts,) = json.loads(rookery("zoo", "list", "--json").stdout)
    assert (facts["name"], facts["observation"], facts["step"], facts["has_card"]) == ("tiny", "planes", 20, False)
    assert facts["parameters"] == sum(p.numel() for p in load_network(zoo / "tiny.safetensors").network.parameters())


def test_a_card_is_the_file_beside_the_network(rookery, zoo):
    missing = rookery("zoo", "card", "tiny")
    assert isinstance(missing.exception, BadInput)
    assert "tiny.md" in str(missing.exception)
    (zoo / "tiny.md").write_text("# Tiny\n\nIt knows [nothing].\n")
    assert rookery("zoo", "card", "tiny").stdout == "# Tiny\n\nIt knows [nothing].\n"


def test_a_network_of_the_zoo_is_played_in_the_terminal(rookery, zoo):
    watched = rookery("zoo", "play", "tiny", "--sims", "2", "--seat", "none")
    assert watched.exit_code == 0, watched.output
    assert "won" in watched.stdout
    left = rookery("zoo", "play", "tiny", "--sims", "2", given="moves\nquit\n")
    assert "You are" in left.stdout
    refused = rookery("zoo", "play", "tiny", "--game", "domineering:rows=5,cols=5")
    assert "cannot play" in str(refused.exception)
    assert "the zoo has no network" in str(rookery("zoo", "play", "nobody").exception)


def test_networks_that_tell_of_points_play_as_those_they_were_made_for(rookery, zoo):
    game = load("texas42:bid=30")
    for name, observation, config in (("seen", "known", TranscriptConfig), ("open", "all", HandsConfig)):
        network = build(config(width=24, heads=2, layers=1, mlp=32), 1)
        about = About(game=game.spec, rules_version=game.version, step=5, observation=observation)
        save_network(zoo / f"{name}.safetensors", network, about)
        (zoo / f"{name}.md").write_text(f"# {name}\n\nStrength: none.\n")
    assert networks.zoo_player("seen", 8) == "stage2:zoo:seen"
    assert networks.zoo_player("open", 8) == "eq:oracle=zoo:open"
    assert networks.zoo_player("tiny", 8) == "net:zoo:tiny,sims=8"
    assert networks.search_of("a.pth", load("gomoku:size=9")) == "net:a.pth,vcf=leaves"
    assert networks.search_of("a.pth", load("gomoku:rule=renju")) == "net:a.pth"
    watched = rookery("zoo", "play", "seen", "--seat", "none")
    assert watched.exit_code == 0, watched.output
    assert "won" in watched.stdout
    listed = [opponent.texts for opponent in opponents_for(game)]
    assert ("stage2:zoo:seen",) in listed
    assert ("eq:oracle=zoo:open",) in listed
    bidding = [opponent.texts for opponent in opponents_for(load("texas42:auction=redeal"))]
    inner = "bidder:stage2:zoo:seen"  # 40 deals unless it is told
    assert tuple(inner + deals for deals in (",worlds=10", ",worlds=20", "", ",worlds=80")) in bidding
    assert not any("zoo:open" in text for texts in bidding for text in texts)
    nello = opponents_for(load("texas42:declaration=nello"))
    assert not any("zoo" in text for each in nello for text in each.texts)


@pytest.mark.parametrize(("said", "expected"), [((), 6), (("--games", "2"), 2)])
def test_a_run_says_how_many_games_rate_a_checkpoint_unless_the_command_does(rookery, tmp_path, said, expected):
    # with twelve checkpoints and a wide spacing, those between the first and the last are no anchors
    steps = list(range(10, 130, 10))
    run = run_of_networks(tmp_path / "runs" / "many", steps, checkpoints__rating_games=6)
    done = rookery("elo", "many", *said, *QUICK[2:], "--anchor-spacing", "1000", "--json")
    assert done.exit_code == 0, done.output
    anchors = 3  # the first, the last, random
    assert run.checkpoints[5]["rating_games"] == expected * anchors


# ---- several runs --------------------------------------------------------------------------------


@pytest.fixture
def config(tmp_path):
    write_settings(board_settings(selfplay__games=12), tmp_path / "small.yaml")
    return "small.yaml"


@pytest.mark.slow
def test_runs_of_several_seeds_are_trained_compared_and_not_trained_again(rookery, config, tmp_path):
    done = rookery("train", config, "--seeds", "2")
    assert done.exit_code == 0, done.output
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["small-seed1", "complete"] in [line[:2] for line in lines]
    assert ["seed", "1", "2"] in lines
    assert (tmp_path / "runs" / "small-seeds.png").read_bytes().startswith(b"\x89PNG")
    saved = {path: os.stat(path).st_mtime_ns for path in tmp_path.glob("runs/*/checkpoint_*.pth")}
    assert len({path.parent for path in saved}) == 2
    again = rookery("train", config, "--seeds", "3")
    assert again.exit_code == 0, again.output
    assert all(os.stat(path).st_mtime_ns == when for path, when in saved.items())
    assert (tmp_path / "runs" / "small-seed3").is_dir()


def test_a_sweep_trains_each_combination_and_compares_them(rookery, config, tmp_path):
    done = rookery("sweep", config, "training.batch=4,8", "--set", "selfplay.games=8", "--folder", "out/b")
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "b-sweep.png", "b-training.batch=4", "b-training.batch=8",
    ]  # fmt: skip
    assert ["training.batch", "4", "8"] in [line.split() for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["sweep", "small.yaml", "training.batch"], "should read"),
        (["sweep", "small.yaml", "training.bach=1,2"], "there is no such key"),
        (["sweep", "nothing.yaml", "training.batch=1,2"], "cannot be read"),
        (["train", "small.yaml", "--seeds", "5000"], "seeds must be"),
        (["train", "small.yaml", "--seeds", "2", "--set", "seed=9223372036854775807"], "seed"),
    ],
)
def test_wrong_requests_for_several_runs_are_refused_before_anything_begins(
    rookery, config, tmp_path, arguments, complaint
):
    done = rookery(*arguments)
    assert isinstance(done.exception, BadInput)
    assert complaint in str(done.exception)
    assert not (tmp_path / "runs").exists()


def test_options_that_typer_refuses_end_with_status_2(rookery, config):
    assert rookery("train", config, "--seeds", "0").exit_code == 2
    assert rookery("sweep", config).exit_code == 2
    assert rookery("elo").exit_code == 2
    assert rookery("export", "x", "--format", "xml").exit_code == 2
