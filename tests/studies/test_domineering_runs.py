"""Runs of the Domineering study in their folders: stopped anywhere, with the same networks in the end."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from faults.killing import Work, kill_again_and_again
from rookery import BadInput
from rookery.cli import app
from rookery.learn.files import LineLog
from rookery.learn.locks import Lock
from rookery.nets.files import load_network
from rookery.nets.residual import build
from rookery.nets.surgery import random_tokens
from rookery.studies import domineering_runs
from rookery.studies.domineering_files import write_games
from rookery.studies.domineering_plan import PRESETS, Preset
from rookery.studies.domineering_runs import Run, Training, beginning, load_data
from rookery.studies.domineering_training import Speed, validated
from studies.domineering_samples import some_records
from studies.domineering_tiny import LARGE, SMALL, NumberOfWeights, tiny, tiny_study

pytestmark = pytest.mark.xdist_group("domineering")

FILES = ["best.safetensors", "network.safetensors", "probes.jsonl", "progress.jsonl", "settings.json"]


@pytest.fixture(autouse=True)
def no_probes(monkeypatch):
    monkeypatch.setattr(domineering_runs, "Probing", NumberOfWeights)


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    return tiny_study(tmp_path_factory.mktemp("games"))


@pytest.fixture(scope="module")
def data(games):
    return load_data(games)


def files(run: Run) -> dict[str, object]:
    """Return what lies in the folder of a run, but for locks and times; of networks, what they hold."""
    found: dict[str, object] = {
        path.name: contents(path) for path in sorted(run.folder.iterdir()) if path.name != ".lock"
    }
    found["progress.jsonl"] = [{**line, "seconds": 0} for line in run.progress.read()]
    return found


def contents(path) -> object:
    """Return what a file holds."""
    if path.suffix != ".safetensors":
        return path.read_bytes()
    loaded = load_network(path)
    weights = {name: tensor.numpy().tobytes() for name, tensor in loaded.network.state_dict().items()}
    return weights, loaded.config, loaded.about


def trained(study, settings, data, **options) -> Run:
    run = Run(study, settings)
    assert run.train(data, **options)
    return run


class Killed(BaseException):
    """Stands for a process that ends at once."""


def killed_now(*_, **__) -> None:
    raise Killed


# ---- a run ---------------------------------------------------------------------------------------


def test_a_run_leaves_settings_figures_probes_and_networks(tmp_path, data):
    run = trained(tmp_path, tiny("small-aux"), data)
    assert list(files(run)) == FILES
    lines, probes = run.progress.read(), run.probes.read()
    assert [line["step"] for line in lines] == [line["step"] for line in probes] == [0, 2, 4, 6]
    names = ["loss", "value", "policy", "sectors", "policy_accuracy", "value_accuracy"]
    assert lines[0]["train"] is None
    assert all(list(line["train"]) == list(line["valid"]) == names for line in lines[1:])
    assert probes[0]["layers"][0]["r2"] == probes[3]["layers"][0]["first"] != probes[3]["layers"][0]["r2"]
    settings = json.loads((run.folder / "settings.json").read_text())
    assert settings["parameters"] == build(SMALL).weights
    assert (settings["name"], settings["steps"], settings["embedding"]) == ("small-aux-s42", 6, None)
    assert list(settings["data"]) == ["phase1_games.npz"]


def test_the_best_network_is_the_one_with_the_least_validation_loss(tmp_path, data):
    settings = tiny("small-aux", learning_rate=0.3)  # too high: it gets worse now and then
    run = trained(tmp_path, settings, data)
    losses = {line["step"]: line["valid"]["loss"] for line in run.progress.read()}
    best, last = load_network(run.best_file), load_network(run.network_file)
    assert best.about.step == min(losses, key=losses.__getitem__) != 6
    assert last.about.step == 6
    assert (best.about.game, best.about.observation) == ("domineering", "tokens")
    valid = Training(Run(tmp_path / "other", settings), beginning(tmp_path, settings), data, None).valid
    for loaded in (best, last):
        assert validated(loaded.network, valid, settings)["loss"] == losses[loaded.about.step]


def test_two_runs_with_the_same_seed_are_the_same(tmp_path, data):
    first, second = (trained(tmp_path / name, tiny("small-aux"), data) for name in ("one", "two"))
    assert files(first) == files(second)
    other = trained(tmp_path, tiny("small-aux", seed=43), data)
    assert files(other)["network.safetensors"] != files(first)["network.safetensors"]


def test_a_complete_run_is_left_alone(tmp_path, data, monkeypatch):
    run = trained(tmp_path, tiny("small-aux"), data)
    before = files(run)
    monkeypatch.setattr(Run, "make_steps", None)
    assert Run(tmp_path, tiny("small-aux")).train(data)
    assert files(run) == before


def test_a_state_that_a_kill_behind_the_last_network_left_is_removed(tmp_path, data, monkeypatch):
    run = Run(tmp_path, tiny("small-aux"))
    assert not run.train(data, until=-math.inf)
    with monkeypatch.context() as killed:
        killed.setattr(Path, "unlink", killed_now)
        with pytest.raises(Killed):
            run.train(data)
    assert run.complete
    assert run.state_file.exists()
    assert Run(tmp_path, tiny("small-aux")).train(data)
    assert list(files(run)) == FILES


def test_steps_need_not_be_a_multiple_of_anything(tmp_path, data):
    run = trained(tmp_path, tiny("small-aux", steps=5), data, speed=Speed(block=3))
    assert [line["step"] for line in run.progress.read()] == [0, 2, 4, 5]


# ---- stopped -------------------------------------------------------------------------------------


def test_a_run_that_is_stopped_again_and_again_ends_the_same(tmp_path, data):
    whole = trained(tmp_path / "whole", tiny("small-aux"), data)
    for number in range(1, 7):
        run = Run(tmp_path / "parts", tiny("small-aux"))
        assert run.train(data, until=-math.inf) == (number == 6)  # a step, then time is over
        assert run.state_file.exists() == (number < 6)
    assert files(run) == files(whole)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, data):
    """A short run that nobody stops."""
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(domineering_runs, "Probing", NumberOfWeights)
        return trained(tmp_path_factory.mktemp("whole"), tiny("small-aux", steps=3), data)


@pytest.mark.parametrize("moment", range(14))
def test_a_run_that_is_killed_anywhere_ends_the_same(tmp_path, data, undisturbed, monkeypatch, moment):
    monkeypatch.setattr(domineering_runs, "SAVE_SECONDS", 0.0)
    left = moment

    def killing(call):
        def instead(*arguments, **keywords):
            nonlocal left
            left -= 1
            if left == -1:
                raise Killed
            return call(*arguments, **keywords)

        return instead

    with monkeypatch.context() as patches:
        patches.setattr(LineLog, "append", killing(LineLog.append))
        for name in ("write_whole", "write_json", "save_network"):
            patches.setattr(domineering_runs, name, killing(getattr(domineering_runs, name)))
        patches.setattr(Run, "make_steps", killing(Run.make_steps))
        with pytest.raises(Killed):
            trained(tmp_path, tiny("small-aux", steps=3), data)
    assert files(trained(tmp_path, tiny("small-aux", steps=3), data)) == files(undisturbed)


def test_a_line_that_was_half_written_is_dropped(tmp_path, data):
    whole = trained(tmp_path / "whole", tiny("small-aux"), data)
    run = Run(tmp_path / "cut", tiny("small-aux"))
    run.train(data, until=-math.inf)
    for name in ("progress.jsonl", "probes.jsonl"):
        with (run.folder / name).open("a") as file:
            file.write('{"step": 2, "va')
    (run.folder / ".part-state.pt").write_bytes(b"half")
    assert run.train(data)
    assert files(run) == files(whole)


KILLED = """
import sys
from pathlib import Path
import torch
from rookery.studies import domineering_runs
from studies.domineering_tiny import NumberOfWeights, tiny
torch.set_num_threads(1)
domineering_runs.Probing, domineering_runs.SAVE_SECONDS = NumberOfWeights, 0.0
study = Path(sys.argv[1])
run = domineering_runs.Run(study, tiny("small-aux", steps=400, every=20))
run.train(domineering_runs.load_data(study))
"""


def check_left(run: Run) -> None:
    """Look at what a killed process has left: networks and lines are whole."""
    for path in (run.best_file, run.network_file):
        if path.exists():
            load_network(path)
    steps = [line["step"] for line in run.progress.read()]
    assert steps == sorted(set(steps))


@pytest.mark.slow
@pytest.mark.faults
def test_a_run_killed_again_and_again_ends_with_the_same_networks(tmp_path):
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        study, settings = tiny_study(tmp_path / "killed"), tiny("small-aux", steps=400, every=20)
        run, whole = Run(study, settings), files(trained(tmp_path / "whole", settings, load_data(study)))

        def finished() -> None:
            assert run.complete
            assert files(run) == whole
            shutil.rmtree(run.folder)

        work = Work(
            "training of the Domineering study", lambda how: how.python(KILLED, str(study)),
            lambda: len(run.progress.read()), 0.5, lambda: check_left(run), finished,
        )  # fmt: skip
        kill_again_and_again(work, seed=3)
    finally:
        torch.set_num_threads(threads)


# ---- embedding -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def with_small(games, data):
    """A study whose small networks are trained."""
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(domineering_runs, "Probing", NumberOfWeights)
        for condition in ("small-aux", "small-plain"):
            Run(games, tiny(condition)).train(data)
    return games


@pytest.mark.parametrize("condition", ["large-aux", "large-plain"])
def test_a_large_run_begins_with_the_best_small_network_at_the_cut(with_small, data, condition):
    small = load_network(with_small / "runs" / f"small-{condition[6:]}-s42" / "best.safetensors").network
    first = beginning(with_small, tiny(condition))
    tokens = random_tokens(LARGE, 5)
    with torch.no_grad():
        for mine, wanted in zip(first.network.heads(tokens, depth=1), small.heads(tokens), strict=True):
            assert torch.allclose(mine, wanted, atol=1e-6)
    run = trained(with_small, tiny(condition), data)
    embedding = json.loads((run.folder / "settings.json").read_text())["embedding"]
    assert embedding["small"] == f"small-{condition[6:]}-s42"
    assert embedding["verified"] is True
    assert max(embedding["differences"].values()) < 1e-12
    assert run.probes.read()[0]["layers"][0]["small"] is not None


def test_layers_that_add_nothing_begin_with_the_figures_of_the_small_network(with_small, data):
    settings = tiny("large-identity")
    first = beginning(with_small, settings)
    valid = Training(Run(with_small, settings), first, data, None).valid
    small = load_network(with_small / "runs" / "small-aux-s42" / "best.safetensors").network
    assert validated(first.network, valid, settings) == pytest.approx(validated(small, valid, settings), rel=1e-5)


def test_controls_embed_what_they_say(with_small):
    fresh, other = build(LARGE, 42), build(SMALL, 42)
    noheads = beginning(with_small, tiny("large-noheads"))
    assert torch.equal(noheads.network.value_head.weight, fresh.value_head.weight)
    assert noheads.embedding["differences"]["value"] is None
    random = beginning(with_small, tiny("large-random"))
    assert torch.equal(random.network.layers[0].attn.W_Q[:1], other.layers[0].attn.W_Q)
    assert random.embedding["small"] == "random"
    assert beginning(with_small, tiny("large")).embedding is None
    assert torch.equal(beginning(with_small, tiny("large")).network.pos_embed.weight, fresh.pos_embed.weight)


def test_upper_layers_are_the_same_in_all_conditions_of_a_seed(with_small):
    upper = [
        beginning(with_small, tiny(name)).network.layers[1].attn.W_Q for name in ("large", "large-aux", "large-random")
    ]
    assert torch.equal(upper[0], upper[1])
    assert torch.equal(upper[0], upper[2])


def test_an_embedding_that_is_not_right_is_not_trained(with_small, data, monkeypatch):
    def careless(small, large, *options):
        grown = domineering_runs.transformer(build(LARGE, 1))
        grown.load_state_dict(real(small, large, *options).state_dict())
        with torch.no_grad():
            grown.layers[0].mlp.W_out.bias[0] += 1e-3
        return grown

    real = domineering_runs.embed
    monkeypatch.setattr(domineering_runs, "embed", careless)
    run = Run(with_small, tiny("large-aux", seed=42, auxiliary=False))
    with pytest.raises(BadInput, match="large-aux-probe-s42 is not trained: the small network is not embedded"):
        run.train(data)
    assert not run.facts_file.exists()
    assert not run.progress.read()


def test_a_small_run_that_is_missing_is_named(tmp_path, data):
    with pytest.raises(BadInput, match="large-aux-s42 embeds the network of small-aux-s42, which is not there"):
        Run(tmp_path, tiny("large-aux")).train(data)
    Run(tmp_path, tiny("small-aux")).train(data, until=-math.inf)
    with pytest.raises(BadInput, match="small-aux-s42, which is not complete: train it first"):
        Run(tmp_path, tiny("large-aux")).train(data)


def test_a_small_network_of_another_shape_is_refused(with_small, data):
    other = SMALL.model_copy(update={"mlp": 8})
    with pytest.raises(BadInput, match=r"best.safetensors is not of the shape that large-aux-probe-s42 embeds"):
        Run(with_small, tiny("large-aux", small=other, auxiliary=False)).train(data)


# ---- refused -------------------------------------------------------------------------------------


def test_a_run_does_not_go_on_with_other_settings(tmp_path, data):
    Run(tmp_path, tiny("small-aux")).train(data, until=-math.inf)
    with pytest.raises(BadInput, match=r"was begun with learning_rate 0.01, not 0.02"):
        Run(tmp_path, tiny("small-aux", learning_rate=0.02)).train(data)


def test_a_run_does_not_go_on_with_other_games(tmp_path, data):
    Run(tmp_path, tiny("small-aux")).train(data, until=-math.inf)
    with pytest.raises(BadInput, match=r"was begun with data "):
        Run(tmp_path, tiny("small-aux")).train(replace(data, files={"phase1_games.npz": "another"}))


def test_a_run_does_not_go_on_with_another_small_network_but_on_another_machine(with_small, data):
    run = Run(with_small, tiny("large-plain", seed=42, auxiliary=False))
    run.train(data, until=-math.inf)
    facts = json.loads(run.facts_file.read_text())
    facts["embedding"]["differences"]["stream"] = 1e-15
    run.facts_file.write_text(json.dumps(facts))
    assert not run.train(data, until=-math.inf)
    facts["embedding"]["sha256"] = "another"
    run.facts_file.write_text(json.dumps(facts))
    with pytest.raises(BadInput, match=r"was begun with embedding \{'small': 'small-plain-s42', 'sha256': 'another'\}"):
        run.train(data)


def test_a_complete_run_tells_in_what_it_differs(tmp_path, data):
    trained(tmp_path, tiny("small-aux"), data)
    assert Run(tmp_path, tiny("small-aux")).differences() == []
    assert Run(tmp_path, tiny("small-aux", steps=7)).differences() == ["steps 6, not 7"]


def test_only_one_process_trains_a_run(tmp_path, data):
    run = Run(tmp_path, tiny("small-aux"))
    run.folder.mkdir(parents=True)
    lock = Lock(run.folder / ".lock")
    lock.take()
    with pytest.raises(BadInput, match="small-aux-s42 is being trained by process"):
        run.train(data)
    lock.give_back()
    assert trained(tmp_path, tiny("small-plain"), data).complete


@pytest.mark.parametrize("content", [b"", b"nonsense", b"PK\x03\x04 nearly"])
def test_a_damaged_state_is_named(tmp_path, data, content):
    run = Run(tmp_path, tiny("small-aux"))
    run.train(data, until=-math.inf)
    run.state_file.write_bytes(content)
    with pytest.raises(BadInput, match=r"state.pt cannot be read: .*; remove it to train the run anew"):
        run.train(data)
    run.state_file.unlink()
    assert run.train(data)


@pytest.mark.parametrize("content", ["{", "[]", '{"format": 99}'])
def test_damaged_settings_are_named(tmp_path, data, content):
    run = Run(tmp_path, tiny("small-aux"))
    run.train(data, until=-math.inf)
    run.facts_file.write_text(content)
    with pytest.raises(BadInput, match=r"settings.json"):
        run.train(data)


def test_figures_that_are_no_numbers_end_a_run(tmp_path, data):
    with pytest.raises(BadInput, match=r"figures at step \d+ are no numbers; a lower learning rate than 1e\+06"):
        Run(tmp_path, tiny("small-aux", learning_rate=1e6, steps=40, every=20)).train(data)


def test_too_few_games_are_refused(tmp_path):
    study = tiny_study(tmp_path, games=1)
    with pytest.raises(BadInput, match=r"no game is in the part that validates|positions to train on are less"):
        Run(study, tiny("small-aux")).train(load_data(study))


def test_games_are_all_that_are_there_or_those_that_are_named(tmp_path):
    with pytest.raises(BadInput, match="data has no games; `rookery study domineering data` makes them"):
        load_data(tmp_path)
    study = tiny_study(tmp_path, games=5)
    write_games(study / "data" / "phase2_games.npz", some_records(3, seed=9))
    assert [len(load_data(study, phases).table) for phases in ((), (1,), (2,), (1, 2))] == [8, 5, 3, 8]
    assert list(load_data(study).files) == ["phase1_games.npz", "phase2_games.npz"]
    with pytest.raises(BadInput, match=r"phase3_games.npz: there is no such file"):
        load_data(study, (3,))
    with pytest.raises(BadInput, match="phase 4: the phases there are: 1, 2, 3"):
        load_data(study, (4,))


# ---- the command ---------------------------------------------------------------------------------


@pytest.fixture
def tiny_preset(monkeypatch):
    changes = {"batch": 4, "every": 2, "valid_positions": 24, "probe_positions": 24}
    monkeypatch.setitem(PRESETS, "quick", Preset(SMALL, LARGE, 4, 4, (42,), changes))


def test_the_command_trains_all_runs_and_goes_on_where_it_stopped(tmp_path, games, tiny_preset):
    (tmp_path / "data").symlink_to(games / "data")
    command = ["study", "domineering", "train", "--preset", "quick", "--device", "cpu"]
    command += ["--folder", str(tmp_path)]
    stopped = CliRunner().invoke(app, [*command, "--seconds", "0"])
    assert stopped.exit_code == 0, stopped.output
    assert "stopped after 0 s in small-aux-s42; the same command goes on" in stopped.stderr
    answer = CliRunner().invoke(app, command)
    assert answer.exit_code == 0, answer.output
    names = ["large-aux-s42", "large-plain-s42", "large-s42", "small-aux-s42", "small-plain-s42"]
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == names
    assert "5 of 5: large-plain-s42 is complete: 4 steps" in answer.stderr.replace("\n", " ")
    stale = tmp_path / "runs" / "large-aux-s42" / "state.pt"
    stale.write_bytes(b"of a process that was killed behind its last network")
    again = CliRunner().invoke(app, [*command, "--runs", "large-aux,large-random", "--steps-large", "2"])
    assert not stale.exists()
    assert "it differs from the plan: steps 4, not 2" in again.stderr
    assert (tmp_path / "runs" / "large-random-s42" / "network.safetensors").exists()


def test_the_command_takes_seeds_reads_the_side_token_and_leaves_out_random_moves(tmp_path, games, tiny_preset):
    (tmp_path / "data").symlink_to(games / "data")
    command = ["study", "domineering", "train", "--preset", "quick", "--device", "cpu", "--folder", str(tmp_path)]
    command += ["--runs", "small-aux,large-aux", "--seeds", "7,8,7", "--drop-explored", "--side-token"]
    answer = CliRunner().invoke(app, [*command, "--reads", "cls,mean"])
    assert answer.exit_code == 0, answer.output
    names = ["large-aux-s7", "large-aux-s8", "small-aux-s7", "small-aux-s8"]
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == names
    for name in names:
        said = json.loads((tmp_path / "runs" / name / "settings.json").read_text())
        assert said["drop_explored"]
        assert said["network"]["side_token"]
        assert said["probe_reads"] == ["cls", "mean"]
    assert said["seed"] == 8
    loaded = load_network(tmp_path / "runs" / "large-aux-s7" / "network.safetensors")
    assert loaded.about.observation == "tokens_mover"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--seeds", "42,one"], "--seeds 'one': a seed is a whole number from 0 on"),
        (["--reads", "nose"], "probe_reads must be one of cls, mean, all, not 'nose'"),
        (["--preset", "huge"], "preset must be one of"),
        (["--runs", "huge"], "the study has no run 'huge'"),
        (["--phases", "one"], "--phases 'one': a phase is a number"),
        (["--device", "cpu", "--precision", "fp8"], "precision must be one of"),
        (["--steps-small", "0"], "steps must be a whole number"),
        (["--attention", "none"], "attention must be one of"),
        (["--device", "tpu"], "--device must be one of auto, cpu, cuda, not 'tpu'"),
    ],
)
def test_the_command_refuses_what_cannot_be(games, options, message):
    answer = CliRunner().invoke(app, ["study", "domineering", "train", "--folder", str(games), *options])
    assert isinstance(answer.exception, BadInput)
    assert message in str(answer.exception)
