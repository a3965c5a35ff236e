"""The chess study: its pieces, its report from folders with everything or nothing in them, and all by one command."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from lc0_taught import SIZES
from rookery.arena.networks import network_for
from rookery.cli import app
from rookery.errors import BadInput
from rookery.games.library import load
from rookery.lc0.evaluator import Judged
from rookery.learn.spread import in_turn
from rookery.learn.stage_work import ALONE, Help
from rookery.nets.configs import read_config
from rookery.nets.files import About, save_network
from rookery.nets.residual import build
from rookery.probes.chess_concepts import CONCEPTS
from rookery.search.trees import search
from rookery.studies import chess_plan
from rookery.studies.chess import Study, match_name
from rookery.studies.chess_measures import apart
from rookery.studies.chess_plan import OPENING, POLICY_ALONE, QUICK, SEARCH, STOCKFISH, player_text
from rookery.studies.chess_report import Findings, answers, write_report
from rookery.studies.matches import Found, Meeting, Table, read_match
from rookery.studies.stages import add_note, keep_result, read_notes, read_result
from studies.gomoku_made_up import lines, pairs

pytestmark = pytest.mark.xdist_group("chess")  # so that nothing is compiled twice

TINY = replace(
    QUICK, rivals=("random", STOCKFISH), games=2, simulations=(POLICY_ALONE, 2, 3), positions=200,
    changes=(
        "network.width=16", "network.layers=1", "network.heads=2", "network.hidden=16", "network.policy_width=16",
        "network.policy_model=16", "stages.imitation.lessons.positions=300", "stages.imitation.lessons.threads=1",
        "stages.imitation.training.passes=1", "stages.imitation.training.batch=32",
        "stages.selfplay.selfplay.games=4", "stages.selfplay.selfplay.at_once=4",
        "stages.selfplay.selfplay.simulations=2", "stages.selfplay.selfplay.ply_limit=20",
        "stages.selfplay.training.batch=16", "stages.selfplay.checkpoints.every=4",
        "stages.selfplay.until.simulations=2",
    ),
)  # fmt: skip


def saved(path, seed=0):
    """Save a network that has learnt nothing."""
    game = load("chess")
    config = read_config({"kind": "lc0", **SIZES})
    path.parent.mkdir(parents=True, exist_ok=True)
    about = About(game=game.spec, rules_version=game.version, observation="classical")
    save_network(path, build(config, seed), about)
    return path


def asked(folder, *words):
    """Give the command; return what it says."""
    result = CliRunner().invoke(
        app, ["study", "chess", "--preset", "quick", "--folder", str(folder), "--device", "cpu", *words],
        catch_exceptions=False,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    return result.output


# ---- pieces --------------------------------------------------------------------------------------


def test_notes_of_processes_that_work_at_once_are_all_kept(tmp_path):
    def note(number):
        add_note(tmp_path, "train", {"command": f"command {number}"})

    with ThreadPoolExecutor(8) as several:
        list(several.map(note, range(40)))
    assert {each["command"] for each in read_notes(tmp_path)["train"]} == {f"command {number}" for number in range(40)}


def test_notes_keep_the_newest_of_each_command(tmp_path):
    add_note(tmp_path, "train", {"command": "a", "date": "1"})
    add_note(tmp_path, "train", {"command": "b", "date": "2"})
    add_note(tmp_path, "train", {"command": "a", "date": "3"})
    assert read_notes(tmp_path) == {"train": [{"command": "b", "date": "2"}, {"command": "a", "date": "3"}]}


def test_a_result_counts_for_its_inputs_alone(tmp_path):
    keep_result(tmp_path / "found.json", {"network": "x"}, {"a": 1})
    assert read_result(tmp_path / "found.json", {"network": "x"}) == {"a": 1}
    assert read_result(tmp_path / "found.json") == {"a": 1}
    assert read_result(tmp_path / "found.json", {"network": "y"}) is None
    (tmp_path / "found.json").write_text("[]")
    with pytest.raises(BadInput, match=r"found\.json is damaged"):
        read_result(tmp_path / "found.json")


def test_an_engine_that_is_not_installed_is_left_out(monkeypatch):
    monkeypatch.setattr(chess_plan.shutil, "which", lambda name, path=None: None)
    assert player_text(STOCKFISH) is None
    assert player_text("random") == "random"
    monkeypatch.setattr(chess_plan.shutil, "which", lambda name, path=None: path and f"{path}/{name}")
    assert player_text(STOCKFISH) == "uci:/usr/games/stockfish,nodes=1000,option.Skill Level=0,option.Threads=1"


def test_answers_are_compared_over_legal_moves_alone():
    def judged(logits, q):
        logits = np.array(logits, np.float32)
        rows = len(logits)
        moves = np.zeros(logits.shape, np.int64)
        return Judged(np.zeros((rows, 3)), np.array(q), np.zeros(rows), moves, moves, logits, np.array([3, 2]))

    one = judged([[1.0, 2.0, 0.0], [5.0, 4.0, 9.0]], [0.5, -0.5])
    other = judged([[1.0, 2.25, 0.0], [3.5, 4.0, 1.0]], [0.5, -0.25])
    assert apart(one, other) == {"logit": 1.5, "value": 0.25, "same_move": 0.5}
    assert apart(one, one) == {"logit": 0.0, "value": 0.0, "same_move": 1.0}


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--only", "rate"), "'rate' is none of lessons, train, export, matches, probes, report"),
        (("--set", "stages.9.selfplay.games=1"), "stages.9"),
        (("--preset", "tiny"), "--preset"),
        (("--games", "3"), "--games must be even"),
        (("--only", "matches"), "has no network yet; the stage train makes one"),
        (("--only", "probes"), "has no network yet"),
        (("--only", "report", "--ray", "local"), "a cluster makes lessons, which are not among the stages: report"),
        (("--workers", "2"), "--workers 2: without --ray there are none"),
    ],
)
def test_the_command_refuses_what_cannot_be(tmp_path, words, complaint):
    result = CliRunner().invoke(app, ["study", "chess", "--preset", "quick", "--folder", str(tmp_path), *words])
    assert isinstance(result.exception, BadInput)
    assert complaint in str(result.exception)


def test_the_last_network_plays_and_meets_the_one_before(tmp_path):
    study = Study(tmp_path, TINY)
    first = saved(study.network_of("imitation"))
    assert study.network == first
    assert study.duels() == []
    last = saved(study.network_of("selfplay"), seed=1)
    assert dict(study.meeting("random", "random", 400).search)["leaves"] == 4
    assert "leaves" not in dict(study.meeting("random", "random", POLICY_ALONE).search)
    duel = study.matches()[-1]
    assert (duel.name, duel.first, duel.second) == (match_name("imitation", 2), last, first)


@pytest.mark.slow
def test_one_simulation_plays_the_likeliest_move(tmp_path):
    game = load("chess")
    player = Table(tmp_path, "cpu", lambda: False).network(
        saved(tmp_path / "net.pth"), game, Meeting("m", "chess", tmp_path, "random", 2, 1, OPENING, SEARCH), "first"
    )
    rng = np.random.default_rng(1)
    position = game.start()
    for _ in range(30):
        legal = position.legal()
        logits, _ = player.evaluator(position.observe("classical").reshape(1, -1))
        found = search(position, player.limits, evaluator=player.evaluator, **dict(SEARCH))
        assert found.action == legal[np.argmax(logits[0, legal])]
        position.play(int(rng.choice(legal)))
        if position.over:
            position = game.start()
    assert network_for(str(tmp_path / "net.pth"), game).about.observation == "classical"


# ---- the report ----------------------------------------------------------------------------------


def layer(name, value, untrained):
    scores = {"score": value, "untrained": untrained, "shuffled": 0.5}
    told = {key: None if number is None else {"value": number, "error": 0.01} for key, number in scores.items()}
    return {"layer": name, "width": 16} | told


def made_up(folder):
    """Make a study that nobody has run."""
    study = Study(folder, QUICK)
    for simulations in QUICK.simulations:
        for rival in QUICK.rivals:
            content = Found({"first": "x", "games": 20}, pairs(1.0 if rival == "random" else 0.0), 12.0)
            Table(folder, "cpu", lambda: False).keep(match_name(rival, simulations), content)
    Table(folder, "cpu", lambda: False).keep(match_name("imitation", 8), Found({"first": "x", "games": 40}, pairs(0.5)))
    off = {"logit": 0.01, "value": 0.001, "same_move": 0.998, "bytes": 1000}
    encodings = {"linear16": off, "f32": off}
    keep_result(folder / "files.json", {}, {"parameters": 1234567, "positions": 400, "encodings": encodings})
    probes = {
        name: {
            "says": concept.says, "truth": concept.truth, "samples": 400, "mean": 0.25,
            "layers": [layer("planes", 0.6, None), layer("layers.0.out", 0.9, 0.7 if concept.truth else 0.95)],
        }
        for name, concept in CONCEPTS.items()
    }  # fmt: skip
    keep_result(folder / "probes.json", {}, probes)
    generation = {"policy_loss": 1.2, "value_loss": 0.3, "seconds": 9.0, "beats": {}, "watched": {}, "file": "n.pth"}
    for stage in ("imitation", "selfplay"):
        rated = {"elo": 40.0, "elo_gain": 40.0} if stage == "selfplay" else {}
        content = [{"step": step} | generation | rated for step in (1, 2)]
        lines(folder / "main" / "stages" / stage / "judged.jsonl", content)
    return study


def test_every_number_and_verdict_is_in_the_report(tmp_path):
    study = made_up(tmp_path)
    text = write_report(study).read_text()
    assert "| Does it beat random with 16 simulations? | **yes** | 100.0 % (" in text
    assert "| Does it beat stockfish with 16 simulations? | **no** | 25.0 % (" in text
    assert "| Is it better than after imitation? | **missing** | not played to its end |" in text
    assert "| Does its weight file play what it plays? | **no** | linear16: the same best move in 99.80 % of" in text
    assert "more of passed-pawn than the planes and an untrained network? | **yes** | last layer 0.900 ± 0.010" in text
    assert "more of material than the planes and an untrained network? | **no** | last layer 0.900 ± 0.010" in text
    assert "matches that are not played to their end: 8 simulations against imitation\n" in text
    assert "| policy alone against random | 100.0 (" in text
    assert "The network has 1,234,567 parameters." in text
    assert "| linear16 | 0.00 | 0.01 | 0.001 | 99.80 |" in text
    assert "| layers.0.out | 16 | 0.900 ± 0.010 | 0.700 ± 0.010 | 0.500 ± 0.010 |" in text
    for name in ("main.png", "matches.png", "probes.png"):
        assert (tmp_path / name).stat().st_size > 1000
        assert f"]({name})" in text
    page = (tmp_path / "report.html").read_text()
    assert page.count("data:image/png;base64,") == 3
    assert "http" not in page.replace("http-equiv", "")


def test_an_empty_folder_makes_a_report_of_what_is_missing(tmp_path):
    text = write_report(Study(tmp_path, QUICK)).read_text()
    assert "stage imitation of the curriculum has no generation yet" in text
    assert "weight files are not compared with the network" in text
    assert "concepts that are not probed: material, attacks, king-attacked, passed-pawn, attacked-man" in text
    assert {verdict.word for _, verdict in answers(Findings(Study(tmp_path, QUICK)))} == {"missing"}


def test_results_of_another_network_than_is_there_do_not_count(tmp_path):
    study = made_up(tmp_path)
    study.network_of("imitation").parent.mkdir()
    study.network_of("imitation").write_bytes(b"another one")
    found = Findings(study)
    assert found.files is None
    assert found.probes == {}
    assert all(match is None for _, _, match in found.matches)


# ---- all of it -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_lessons_made_elsewhere_are_those_made_here(tmp_path):
    asked, shards = [], []

    def elsewhere(maker, tasks):
        for task, made in in_turn(maker, tasks):
            asked.append(task)
            yield task, made

    for name, help_with in (("here", ALONE), ("there", Help(spread=elsewhere))):
        assert Study(tmp_path / name, TINY).make_lessons(lambda: False, lambda *told: None, help_with)
        folder = tmp_path / name / "main" / "stages" / "imitation" / "shards"
        shards.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert asked
    assert shards[0].items() <= shards[1].items()  # there may be more


@pytest.mark.slow
def test_one_command_does_everything_once_and_goes_on_where_time_was_up(tmp_path, monkeypatch):
    monkeypatch.setitem(chess_plan.PRESETS, "quick", TINY)
    monkeypatch.setattr(chess_plan.shutil, "which", lambda name, path=None: None)
    assert "stopped in train" in asked(tmp_path, "--only", "lessons,train", "--seconds", "0")
    asked(tmp_path, "--only", "lessons")
    shards = list((tmp_path / "main" / "stages" / "imitation" / "shards").iterdir())
    assert shards
    assert not (tmp_path / "networks").exists()
    said = asked(tmp_path)
    assert "all 2 stages are done" in said
    assert "stockfish is not installed here" in said
    assert sorted(path.name for path in (tmp_path / "files").iterdir()) == [
        "chess-bf16.pb.gz", "chess-f16.pb.gz", "chess-f32.pb.gz", "chess-linear16.pb.gz",
    ]  # fmt: skip
    found = json.loads((tmp_path / "files.json").read_bytes())["found"]["encodings"]
    assert found["f32"] == {"logit": 0.0, "value": 0.0, "same_move": 1.0, "bytes": found["f32"]["bytes"]}
    assert 0 < found["linear16"]["logit"] < found["bf16"]["logit"] < 1
    text = (tmp_path / "report.md").read_text()
    assert "against stockfish" in text.partition("What is missing:")[2].partition("| question")[0]
    assert "concepts that are not probed" not in text
    names = {"0001_random", "0002_random", "0003_random", "0002_imitation"}
    assert {path.stem for path in (tmp_path / "matches").iterdir()} == names
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/*.*")}
    asked(tmp_path)
    assert before == {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/*.*")}


@pytest.mark.slow
def test_matches_are_played_anew_for_another_network(tmp_path, monkeypatch):
    monkeypatch.setitem(chess_plan.PRESETS, "quick", replace(TINY, rivals=("random",), simulations=(POLICY_ALONE, 2)))
    study = Study(tmp_path, TINY)
    saved(study.network_of("imitation"))
    asked(tmp_path, "--only", "matches")
    before = read_match(tmp_path, match_name("random", POLICY_ALONE)).identity
    assert before["opening"] == OPENING
    assert before["urgency"] == "lc0"
    shutil.rmtree(study.network_of("imitation").parent)
    saved(study.network_of("imitation"), seed=3)
    asked(tmp_path, "--only", "matches")
    assert read_match(tmp_path, match_name("random", POLICY_ALONE)).identity["first"] != before["first"]
