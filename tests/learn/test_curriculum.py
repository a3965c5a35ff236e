"""Curricula: stages in order, what they hand on, and when they are done."""

from __future__ import annotations

import json
import math
import shutil
from itertools import count
from types import SimpleNamespace

import pytest

from learn.tiny_curriculum import tiny_file, tiny_settings, worked
from learn.tiny_runs import after, same_weights
from rookery.arena.networks import network_name
from rookery.arena.score import elo_of_score
from rookery.errors import BadInput
from rookery.learn import stage_run
from rookery.learn.curriculum import Curriculum
from rookery.learn.curriculum_looks import curriculum_folder, find_curricula, summarise_curriculum
from rookery.learn.curriculum_settings import (
    CurriculumSettings,
    PlateauSettings,
    UntilSettings,
    cautions,
    is_curriculum,
    read_curriculum,
    settings_of,
    stage_seed,
)
from rookery.learn.files import LineLog
from rookery.learn.imitation import Imitation
from rookery.learn.judging import Judge, elo_after, plateau
from rookery.learn.runs import Run, run_folder
from rookery.learn.sections import ImitationTraining, LessonSettings
from rookery.learn.settings import CURRICULA, packaged_names
from rookery.learn.stage_run import MET, MISSED, STOPPED, StageRun
from rookery.learn.stage_work import ALONE
from rookery.learn.yaml_text import yaml_text
from rookery.nets.files import load_network
from support import CONNECT_FOUR, ROOT

pytestmark = pytest.mark.xdist_group("learning")


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """A curriculum that nobody disturbed, and how it ended."""
    folder = tmp_path_factory.mktemp("straight")
    Curriculum.create(folder / "all", tiny_settings(folder))
    return folder / "all", worked(folder / "all")


def weights(path):
    return dict(load_network(path).network.state_dict())


def lines(folder, stage):
    """Return what was judged in a stage, without times."""
    found = lines_with_times(folder, stage)
    return [{name: value for name, value in line.items() if name != "seconds"} for line in found]


def stage_of(curriculum):
    """Return what the first stage of a curriculum is made of."""
    settings = curriculum.settings
    return settings.stages[0], settings_of(settings, 0, ""), stage_seed(settings, 0), ALONE


def lines_with_times(folder, stage):
    """Return what was judged in a stage."""
    return LineLog(folder / "stages" / stage / "judged.jsonl").read()


# ---- going through -------------------------------------------------------------------------------


def test_stages_come_in_order_and_hand_their_network_on(straight):
    folder, outcome = straight
    assert outcome.verdict == MET
    assert outcome.network == folder / "stages" / "3" / "network.pth"
    assert load_network(outcome.network).config.rows == 6
    second = json.loads((folder / "stages" / "2" / "outcome.json").read_text())["network"]
    handed = [("1a", "network.pth", "2"), ("2", second, "3")]
    for before, file, after_it in handed:
        begun = weights(folder / "stages" / after_it / "start.pth")
        assert same_weights(begun, weights(folder / "stages" / before / file))
    progress = json.loads((folder / "progress.json").read_text())["stages"]
    assert [(stage["stage"], stage["status"]) for stage in progress] == [("1a", MET), ("2", MET), ("3", MET)]
    assert "stage 1a after 2 passes" in progress[0]["account"]
    assert "of 4 games against random" in progress[0]["account"]


def test_every_generation_leaves_its_figures(straight):
    folder, _ = straight
    first, second, third = (lines(folder, name) for name in ("1a", "2", "3"))
    assert [line["step"] for line in first] == [1, 2]
    assert [bool(line["beats"]) for line in first] == [False, True]  # met once the plateau is reached
    assert [line["step"] for line in third] == [1, 2]
    run = Run.open(folder / "stages" / "2")
    assert [line["step"] for line in second] == [entry["step"] for entry in run.checkpoints]
    assert len(second) == 3
    for line in second:
        assert line["policy_loss"] > 0
        assert line["value_loss"] > 0
        assert line["watched"]["random"]["games"] == 4
    assert second[0]["elo"] == 0
    assert second[2]["against_earlier"]["step"] == second[0]["step"]
    assert second[2]["elo"] == second[2]["elo_gain"]


def test_a_curriculum_that_is_done_is_left_as_it_is(straight):
    folder, outcome = straight
    before = {path: path.read_bytes() for path in folder.rglob("*.pth")}
    assert worked(folder) == outcome
    assert before == {path: path.read_bytes() for path in folder.rglob("*.pth")}


@pytest.mark.slow
def test_a_curriculum_stopped_and_resumed_is_the_same(tmp_path, straight):
    Curriculum.create(tmp_path / "all", tiny_settings(tmp_path))
    stops = 0
    while (outcome := worked(tmp_path / "all", after(9))).verdict == STOPPED:
        stops += 1
        assert stops < 100
    assert stops > 3
    assert outcome.verdict == MET
    assert same_weights(weights(outcome.network), weights(straight[1].network))
    for stage in ("1a", "2", "3"):
        assert lines(tmp_path / "all", stage) == lines(straight[0], stage)


# ---- a stage that is not done --------------------------------------------------------------------


@pytest.fixture
def missed(tmp_path, straight):
    """A curriculum whose first stage was done and then asked for more than it can do."""
    folder = tmp_path / "missed"
    shutil.copytree(straight[0], folder)
    (folder / "stages" / "1a" / "outcome.json").unlink()
    for name in ("2", "3"):
        shutil.rmtree(folder / "stages" / name)
    settle(folder, "{player: 'baseline:depth=2', share: 0.9}")
    return folder


def settle(folder, beats, *more):
    """Change whom the first stage must beat."""
    settings = read_curriculum(folder / "curriculum.yaml", [f"stages.1a.until.beats=[{beats}]", *more])
    (folder / "curriculum.yaml").write_text(yaml_text(settings.model_dump(mode="json")))


def test_a_stage_that_is_not_done_in_time_ends_the_curriculum_with_an_account(missed):
    outcome = worked(missed)
    assert outcome.verdict == MISSED
    assert "stage 1a after 4 passes" in outcome.account
    assert "games against baseline:depth=2" in outcome.account
    assert "more than 90 % are needed" in outcome.account
    assert outcome.stage == "1a"
    assert not (missed / "stages" / "2").exists()
    progress = json.loads((missed / "progress.json").read_text())["stages"]
    assert [stage["status"] for stage in progress] == [MISSED, "not begun", "not begun"]
    assert progress[0]["account"] == outcome.account
    assert worked(missed) == outcome
    settle(missed, "{player: random, share: 0.0}")
    with Curriculum(missed) as curriculum:
        assert curriculum.run_stage(0, None, lambda: False, lambda *how: None)[0] == MET
    assert Imitation(missed / "stages" / "1a").passes == 4


def test_who_must_be_beaten_may_be_somebody_else_after_a_miss(missed):
    assert worked(missed).verdict == MISSED
    settle(missed, '{player: "baseline:depth=1", share: 0.0, least: 0.7}', "stages.1a.until.games=20")
    outcome = worked(missed)
    assert outcome.verdict == MISSED
    assert "games against baseline:depth=1" in outcome.account
    assert "with the interval from 70 % on, are needed" in outcome.account
    assert [line["step"] for line in lines(missed, "1a")] == [1, 2, 3, 4]


def test_a_plateau_may_be_asked_for_no_more_after_a_miss(missed):
    settings = read_curriculum(missed / "curriculum.yaml", ["stages.1a.until.plateau.gain=-100"])
    (missed / "curriculum.yaml").write_text(yaml_text(settings.model_dump(mode="json")))
    outcome = worked(missed)
    assert outcome.verdict == MISSED
    assert "of loss were gained in the last 1 generations, more than -100" in outcome.account
    settle(missed, "{player: random, share: 0.0}")
    settings = read_curriculum(missed / "curriculum.yaml", ["stages.1a.until.plateau.of=none"])
    (missed / "curriculum.yaml").write_text(yaml_text(settings.model_dump(mode="json")))
    with Curriculum(missed) as curriculum:
        assert curriculum.run_stage(0, None, lambda: False, lambda *how: None)[0] == MET


def test_time_that_runs_out_ends_a_stage_too(missed):
    settings = read_curriculum(missed / "curriculum.yaml", ["stages.1a.until.seconds=0.001"])
    (missed / "curriculum.yaml").write_text(yaml_text(settings.model_dump(mode="json")))
    outcome = worked(missed)
    assert outcome.verdict == MISSED
    assert "stage 1a after 2 passes" in outcome.account


def test_the_first_stage_begins_with_given_weights(tmp_path, straight):
    given = straight[0] / "stages" / "1a" / "network.pth"
    Curriculum.create(tmp_path / "all", tiny_settings(tmp_path, f"start={given}"))
    assert worked(tmp_path / "all", lambda: True).verdict == STOPPED
    assert same_weights(weights(tmp_path / "all" / "stages" / "1a" / "start.pth"), weights(given))
    with pytest.raises(BadInput, match="its width is 4, not 5"):
        Curriculum.create(tmp_path / "other", tiny_settings(tmp_path, f"start={given}", "network.width=5"))
    assert not (tmp_path / "other").exists()


@pytest.mark.slow
def test_a_game_in_a_file_can_have_stages(tmp_path):
    stage = (
        "{name: a, kind: selfplay, game: %s, selfplay: {games: 4, at_once: 4, simulations: 2}, "
        "training: {batch: 4, replay: 99}, checkpoints: {keep: {last: 11, every: 0}}, until: {simulations: 2}}"
    )
    network = "network={kind: residual, observation: planes, width: 4, blocks: 1}"
    settings = tiny_settings(tmp_path, network, f"stages=[{stage % CONNECT_FOUR}]")
    Curriculum.create(tmp_path / "all", settings)
    assert worked(tmp_path / "all").verdict == MET


def test_a_stage_whose_settings_were_changed_is_not_gone_on_with(missed):
    text = (missed / "curriculum.yaml").read_text()
    (missed / "curriculum.yaml").write_text(text.replace("passes: 4", "passes: 5"))
    with pytest.raises(BadInput, match=r"1a was begun with other settings \(training.passes was 4, is 5\).*--from 1a"):
        worked(missed)
    with Curriculum(missed) as curriculum:
        assert curriculum.begin_anew("1a") == [missed / "set_aside" / "1" / "1a"]
        assert curriculum.run_stage(0, None, lambda: False, lambda *how: None)[0] == MISSED
    assert Imitation(missed / "stages" / "1a").passes == 5
    assert Imitation(missed / "set_aside" / "1" / "1a").passes == 2


def test_a_stage_that_is_done_does_not_take_other_settings_without_a_word(tmp_path, straight):
    shutil.copytree(straight[0], tmp_path / "all")
    file = tmp_path / "all" / "curriculum.yaml"
    file.write_text(file.read_text().replace("passes: 4", "passes: 5"))
    with pytest.raises(BadInput, match=r"1a was begun with other settings \(training.passes was 4, is 5\).*--from 1a"):
        worked(tmp_path / "all")
    (tmp_path / "all" / "stages" / "1a" / "config.yaml").unlink()  # carried here without it
    assert worked(tmp_path / "all").verdict == MET


def test_stages_behind_one_that_is_made_anew_must_be_made_anew_as_well(tmp_path, straight):
    shutil.copytree(straight[0], tmp_path / "all")
    shutil.rmtree(tmp_path / "all" / "stages" / "1a")
    with pytest.raises(BadInput, match=r"stages/1a is not done, but .*stages/2, .*stages/3 went on .*--from 1a"):
        worked(tmp_path / "all")


def test_a_stage_is_begun_anew_with_those_behind_it_and_nothing_is_lost(tmp_path, straight):
    folder = tmp_path / "all"
    shutil.copytree(straight[0], folder)
    before = {path.relative_to(folder / "stages"): path.read_bytes() for path in files_of(folder / "stages")}
    with Curriculum(folder) as curriculum:
        with pytest.raises(BadInput, match="has no stage '4'; its stages are 1a, 2, 3"):
            curriculum.begin_anew("4")
        aside = folder / "set_aside" / "1"
        assert curriculum.begin_anew("2") == [aside / "2", aside / "3"]
        assert curriculum.begin_anew("2") == []
        with pytest.raises(
            BadInput, match="--from 3: stage 2 is not done, so nothing can begin behind it; --from 2 can"
        ):
            curriculum.begin_anew("3")
    assert [path.name for path in (folder / "stages").iterdir()] == ["1a"]
    after = {path.relative_to(aside): path.read_bytes() for path in files_of(aside)}
    assert {path: data for path, data in before.items() if path.parts[0] != "1a"} == after
    outcome = worked(folder)
    assert outcome.verdict == MET
    assert same_weights(weights(outcome.network), weights(straight[1].network))
    with Curriculum(folder) as curriculum:
        assert curriculum.begin_anew("3") == [folder / "set_aside" / "2" / "3"]


def files_of(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_curriculum_names_its_newest_network(tmp_path, straight):
    folder = tmp_path / "all"
    shutil.copytree(straight[0], folder)
    assert network_name(str(folder)) == str(folder / "stages" / "3" / "network.pth")
    assert network_name(str(folder / "stages" / "1a")) == str(folder / "stages" / "1a" / "network.pth")
    shutil.rmtree(folder / "stages" / "3")
    assert network_name(str(folder)) == str(folder / "stages" / "2" / json.loads(
        (folder / "stages" / "2" / "outcome.json").read_bytes())["network"])  # fmt: skip
    shutil.rmtree(folder / "stages")
    with pytest.raises(BadInput, match=r"no stage of .* has a network yet"):
        network_name(str(folder))
    (folder / "progress.json").write_text('{"stages": 3}')
    with pytest.raises(BadInput, match="does not list stages"):
        network_name(str(folder))


def test_a_curriculum_can_be_looked_at(tmp_path, straight):
    folder = tmp_path / "all"
    shutil.copytree(straight[0], folder)
    assert find_curricula([tmp_path]) == find_curricula([folder]) == [folder]
    assert curriculum_folder("all", tmp_path) == folder
    assert curriculum_folder("nothing", tmp_path) is None
    summary = summarise_curriculum(folder)
    assert (summary.name, summary.status, summary.note) == ("all", "complete", "curriculum, stage 3, 3 of 3")
    with Curriculum(folder) as curriculum:
        curriculum.begin_anew("2")
        curriculum.write_progress(1, "at work", "")
        assert summarise_curriculum(folder).status == "training"
    summary = summarise_curriculum(folder)
    assert (summary.status, summary.note) == ("interrupted", "curriculum, stage 2, 2 of 3")
    shutil.copytree(straight[0] / "stages" / "2", folder / "stages" / "2")
    assert summarise_curriculum(folder).planned == 40
    (folder / "progress.json").unlink()
    assert summarise_curriculum(folder).status == "not begun"
    with pytest.raises(BadInput, match=r"is a curriculum; those of its stages that are runs: .*stages/2"):
        run_folder(str(folder))


# ---- when a stage is done ------------------------------------------------------------------------


def history(*losses):
    return [{"policy_loss": loss, "value_loss": 0.5} for loss in losses]


@pytest.mark.parametrize(
    ("losses", "reached"),
    [
        ((3, 2, 1), False),  # too early to tell
        ((3, 2, 1, 0.95), False),
        ((3, 1, 1.2, 0.95), True),  # 0.05 better than the best before
        ((3, 1, 1.2, 0.8), False),
        ((1, 2, 3, 4), True),
        ((1, None, None, None), True),
        ((None, None, 1), False),  # nothing was learnt before
        ((None, None, None), False),
    ],
)
def test_a_plateau_of_loss_is_little_gain_over_the_best_before(losses, reached):
    said = plateau(history(*losses), PlateauSettings(of="loss", over=2, gain=0.1))
    assert (said == "") == reached
    assert "nan" not in said
    assert "inf" not in said


def test_a_plateau_of_strength_is_little_gain_over_the_network_before():
    settings = PlateauSettings(of="elo", over=2, gain=20)
    rated = [{"elo": 0.0, "elo_gain": 0.0}, {"elo": 90.0, "elo_gain": 90.0}, {"elo": 10.0, "elo_gain": 10.0}]
    assert "before generation 3" in plateau(rated[:2], settings)
    assert plateau(rated, settings) == ""
    rated[2]["elo_gain"] = 30.0
    assert "30 Elo were gained in the last 2 generations, more than 20" in plateau(rated, settings)


def test_ratings_add_up_and_a_clean_score_stays_finite():
    met = elo_after({"elo": 50.0}, {"score": 0.75, "games": 2})
    assert met["elo"] == pytest.approx(50 + elo_of_score(0.75), abs=1e-3)
    clean = elo_after({"elo": 0.0}, {"score": 1.0, "games": 4})
    assert clean["elo"] == pytest.approx(elo_of_score(1 - 0.5 / 4), abs=1e-3)
    assert math.isfinite(elo_after({"elo": 0.0}, {"score": 0.0, "games": 2})["elo"])


# ---- settings ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", packaged_names(CURRICULA))
def test_packaged_curricula_can_be_run(name):
    assert is_curriculum(name)
    assert not cautions(read_curriculum(name))


def test_the_curriculum_of_gomoku_has_the_stages_of_the_plan():
    stages = {stage.name: stage for stage in read_curriculum("gomoku_curriculum").stages}
    assert list(stages) == ["1a", "1b", "2", "3", "4"]
    assert [stage.game for stage in stages.values()] == ["gomoku:size=9"] * 3 + ["gomoku:size=15"] * 2
    assert stages["4"].selfplay.urgency == "parent"
    assert stages["4"].selfplay.games == 200_000


def test_a_change_of_one_stage_leaves_others_that_share_its_lines_in_the_file():
    found = read_curriculum("gomoku_curriculum", ["stages.2.checkpoints.every=7", "stages.2.gate.kind=none"])
    second, fourth = (next(stage for stage in found.stages if stage.name == name) for name in ("2", "4"))
    assert (second.checkpoints.every, fourth.checkpoints.every) == (7, 500)
    assert (second.gate.kind, fourth.gate.kind) == ("none", "sprt")


def test_few_simulations_draw_a_warning(tmp_path):
    assert len(cautions(tiny_settings(tmp_path))) == 1
    assert "stage 2: selfplay.simulations is 4; below 50" in cautions(tiny_settings(tmp_path))[0]
    assert not cautions(tiny_settings(tmp_path, "stages.2.selfplay.simulations=50"))


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ("stages.1a.training.passes=0", "stages[0].training.passes: must be a whole number in 1..1000000, not 0"),
        ("stages.1a.training.steps=3", "stages[0].training.steps: there is no such key"),
        ("stages.1a.game=gomoku:size=99", "stages[0].game: option size of gomoku must be"),
        ("stages.1a.kind=reading", "stages[0].kind: must be imitation or selfplay, not 'reading'"),
        ("stages.1a.until.games=5", "stages[0].until.games: must be even, since games are played in pairs, not 5"),
        ("stages.1a.until.plateau.of=elo", "stages[0].until.plateau.of: must be loss for imitation, not elo"),
        ("stages.1a.until.beats=[{share: 1}]", "stages[0].until.beats[0].player: is missing; it must be a text"),
        ("stages.1a.training.batch=600", "stages[0].training.batch: must be at most 540"),
        ("stages.2.selfplay.leaves=9", "stages[1].selfplay.leaves: must lie in 1..4 (simulations), not 9"),
        ("stages.2.selfplay.random_plies=25", "stages[1].selfplay.random_plies: must be below 25, the longest game"),
        ("stages.2.until.plateau.over=3", "stages[1].checkpoints.keep.last: must be above 3 (until.plateau.over), not"),
        ("stages.2.name=1a", "stages: the name 1a stands twice"),
        ("stages.2.name=a/b", "stages[1].name: must be at most 64 letters"),
        ("stages.9.name=1", "stages has nothing named 9; it has 1a, 2, 3"),
        ("stages=[]", "until, 1 at least, not [] (from --set stages=[])"),
        ("stages.2.name=../x", "stages[1].name: must be at most 64 letters, digits or signs _ - . and begin with"),
        ("stages.2.gate.share=2", "stages[1].gate.share: must be a number in 0..1, not 2 (from --set stages.2.gate.sh"),
        ("stages.1a.until.beats=[{player: random, share: 1.0}]", "until.beats[0].share: must be below 1, since it"),
        (
            "stages.1a.until.beats=[{player: random, least: 0.999}]",
            "stages[0].until.beats[0].least: must be at most 0, the lower end of the interval after 4 wins in 4 games",
        ),
        (
            "stages.1a.until.plateau.over=7",
            "stages[0].until.plateau.over: must be below 4, the generations that there are at most (training.passes), "
            "not 7 (from --set stages.1a.until.plateau.over=7)",
        ),
        ("stages.1a.training.passes=1", "stages[0].until.plateau.over: cannot be asked for, the generations"),
        ("network={kind: residual, observation: planes}", "network.kind: must be tower, since boards differ"),
        ("network.observation=rich", "network.observation: must be one of planes, history"),
        ("colour=red", "colour: there is no such key; keys here are seed"),
    ],
)
def test_what_is_wrong_is_told_with_the_path_of_its_key(tmp_path, change, complaint):
    with pytest.raises(BadInput) as error:
        tiny_settings(tmp_path, change)
    assert complaint in str(error.value)


def test_a_faulty_stage_is_one_problem(tmp_path):
    with pytest.raises(BadInput) as error:
        tiny_settings(tmp_path, "stages=[{name: a, kind: imitation, game: 'gomoku:size=5', lesson: 3}]")
    assert "problems" not in str(error.value)
    assert "stages[0].lesson: there is no such key; did you mean lessons?" in str(error.value)


def test_the_highest_lower_end_that_is_allowed_is_that_of_a_clean_score(tmp_path):
    ask = "stages.1a.until.beats=[{player: random, least: %s}]"
    assert tiny_settings(tmp_path, ask % 0.896, "stages.1a.until.games=40")
    with pytest.raises(
        BadInput, match=r"must be at most 0\.896, .* after 40 wins in 40 games \(until.games\), not 0.9"
    ):
        tiny_settings(tmp_path, ask % 0.9, "stages.1a.until.games=40")


@pytest.mark.parametrize("text", ["3", "[]", "stages: 3"])
def test_what_is_no_curriculum_is_refused(tmp_path, text):
    with pytest.raises(BadInput):
        read_curriculum(tiny_file(tmp_path, text))


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (
            "stages.2.selfplay.games=20",
            r"stages\[1\].until.plateau.over: must be below 2, the generations that there are at most "
            r"\(selfplay.games / checkpoints.every\), not 2 \(stage 2\)",
        ),
        ("stages.1a.lessons.supervisor=uci:stockfish", r"stages\[0\].lessons.supervisor: .*uci plays chess only"),
        ("stages.2.until.watched=[nobody]", r"stages\[1\].until.watched\[0\]: .*nobody.* \(stage 2\)"),
        ("stages.1a.until.beats=[{player: nobody}]", r"stages\[0\].until.beats\[0\].player: .*nobody.* \(stage 1a\)"),
        ("stages.1a.lessons.supervisor=random", r"lessons.supervisor: the supervisor 'random' does not say what"),
        ("stages.1a.lessons.supervisor=human", r"lessons.supervisor: the supervisor 'human' does not say what"),
        ("stages.1a.until.beats=[{player: human}]", r"beats\[0\].player: player 'human' is a person; nobody sits"),
        ("stages.1a.until.watched=[human]", r"until.watched\[0\]: player 'human' is a person; nobody sits"),
        ("stages.2.selfplay.opponent=human", r"stages\[1\].selfplay.opponent: player 'human' is a person, who"),
        ("stages.2.selfplay.opponent=net:none.pth", r"stages\[1\].selfplay.opponent: .*none.pth.* \(stage 2\)"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_made(tmp_path, change, complaint):
    with pytest.raises(BadInput, match=complaint):
        Curriculum.create(tmp_path / "all", tiny_settings(tmp_path, change))
    assert not (tmp_path / "all").exists()


def test_a_stage_that_was_changed_to_wait_in_vain_is_not_worked_on(missed):
    settings = read_curriculum(missed / "curriculum.yaml", ["stages.2.checkpoints.every=20"])
    (missed / "curriculum.yaml").write_text(yaml_text(settings.model_dump(mode="json")))
    with pytest.raises(BadInput, match=r"stages\[1\].until.plateau.over: must be below 2"):
        worked(missed)


def test_players_that_cannot_be_are_told_before_a_curriculum_is_gone_on_with(missed):
    before = files_of(missed)
    settle(missed, "{player: human}")
    with pytest.raises(BadInput, match=r"stages\[0\].until.beats\[0\].player: player 'human' is a person"):
        worked(missed)
    with Curriculum(missed) as curriculum, pytest.raises(BadInput, match=r"player 'human' is a person"):
        curriculum.begin_anew("1a")
    assert not (missed / "set_aside").exists()
    assert set(files_of(missed)) - set(before) <= {missed / "lock"}


@pytest.mark.parametrize("change", ["games=30", "simulations=12", "urgency=reduced"])
def test_whom_a_stage_must_beat_is_met_again_when_it_is_asked_for_otherwise(missed, change):
    worked(missed)
    before = lines(missed, "1a")[-1]["beats"]["baseline:depth=2"]
    settle(missed, "{player: 'baseline:depth=2', share: 0.9}", f"stages.1a.until.{change}")
    assert worked(missed).verdict == MISSED
    after = lines(missed, "1a")[-1]["beats"]["baseline:depth=2"]
    assert after != before
    name, _, value = change.partition("=")
    assert str(after[{"games": "asked"}.get(name, name)]) == value
    assert [line["step"] for line in lines(missed, "1a")] == [1, 2, 3, 4]


def test_a_match_before_the_end_of_a_stage_counts_only_as_it_is_asked_for_now(missed):
    before = lines(missed, "1a")
    assert len(before) < 4  # the stage has not come to its end
    assert before[-1]["beats"]["random"]["asked"] == 4
    settle(missed, "{player: random, share: 0.0}", "stages.1a.until.games=40")
    with Curriculum(missed) as curriculum:
        assert curriculum.run_stage(0, None, lambda: False, lambda *how: None)[0] == MET
    found = lines(missed, "1a")
    assert [line["step"] for line in found] == [line["step"] for line in before]
    assert (found[-1]["beats"]["random"]["asked"], found[-1]["beats"]["random"]["games"]) == (40, 40)


def test_a_stop_between_two_matches_of_a_generation_loses_none_of_them(missed, monkeypatch):
    settle(missed, "{player: 'baseline:depth=1', share: 0.0}, {player: 'baseline:depth=2', share: 0.0}",
           "stages.1a.until.plateau.of=none", "stages.1a.until.games=6")  # fmt: skip
    met, usual = [], Judge.meet

    def meet(judge, network, rival, games, generation):
        met.append((rival, generation))
        return usual(judge, network, rival, games, generation)

    monkeypatch.setattr(Judge, "meet", meet)
    assert worked(missed, lambda: bool(met)).verdict == STOPPED
    assert [rival for rival, _ in met] == ["baseline:depth=1"]
    kept = missed / "stages" / "1a" / "judging.json"
    content = kept.read_bytes()
    kept.write_bytes(content[:-5])
    with pytest.raises(BadInput, match=r"judging\.json is damaged .*; remove it, and its matches are played again"):
        worked(missed)
    kept.write_bytes(content)
    with Curriculum(missed) as curriculum:
        assert curriculum.run_stage(0, None, lambda: len(met) > 2, lambda *how: None)[0] in (MET, STOPPED)
    assert [rival for rival, _ in met[:2]] == ["baseline:depth=1", "baseline:depth=2"]
    assert met[0][1] == met[1][1]  # of one generation
    assert set(lines(missed, "1a")[-1]["beats"]) == {"baseline:depth=1", "baseline:depth=2"}
    assert not (missed / "stages" / "1a" / "judging.json").exists()


def watched_settings(folder):
    """Return the settings of one stage of each kind that end when nothing is left to do, and meet players."""
    players = "[random, 'baseline:depth=1']"
    return tiny_settings(
        folder, "stages.1a.until.beats=[]", "stages.1a.until.plateau.over=2", "stages.1a.training.passes=3",
        f"stages.1a.until.watched={players}", "stages.1a.until.watched_games=2",
        "stages.2.until.plateau.of=none", "stages.2.selfplay.games=20", f"stages.2.until.watched={players}",
        "stages.2.until.watched_games=2", "stages.2.gate.kind=none",
    )  # fmt: skip


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    """Such a curriculum that nobody disturbed, and how many matches were played in it."""
    folder, met, usual = tmp_path_factory.mktemp("watched"), [], Judge.meet
    Curriculum.create(folder / "all", watched_settings(folder))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Judge, "meet", lambda *how: (met.append(how[2]), usual(*how))[1])
        outcome = worked(folder / "all")
    assert outcome.verdict == MET
    return folder / "all", outcome, met


@pytest.mark.slow
def test_wherever_judging_is_stopped_the_same_matches_are_played_and_the_same_networks_handed_on(
    tmp_path, watched, monkeypatch
):
    folder, outcome, wanted = watched
    assert len(wanted) > 10
    usual = Judge.meet
    for after_match in range(1, len(wanted) + 1):
        met, place = [], tmp_path / str(after_match)
        monkeypatch.setattr(Judge, "meet", lambda *how, met=met: (met.append(how[2]), usual(*how))[1])
        Curriculum.create(place, watched_settings(tmp_path))
        worked(place, lambda met=met, after_match=after_match: len(met) == after_match)
        again = worked(place)
        assert again.verdict == MET
        assert len(met) == len(wanted)
        assert same_weights(weights(again.network), weights(outcome.network))
        for stage in ("1a", "2", "3"):
            assert lines(place, stage) == lines(folder, stage)
            told = [json.loads((each / "stages" / stage / "outcome.json").read_text()) for each in (place, folder)]
            assert told[0]["network"] == told[1]["network"]


def test_the_seconds_of_a_stage_are_those_of_all_its_sittings(tmp_path, monkeypatch):
    ticks = count(step=10)
    monkeypatch.setattr(stage_run, "time", SimpleNamespace(monotonic=lambda: float(next(ticks))))
    Curriculum.create(tmp_path / "all", tiny_settings(tmp_path))
    spent = tmp_path / "all" / "stages" / "1a" / "spent.json"
    found = []
    for _ in range(3):
        assert worked(tmp_path / "all", lambda: True).verdict == STOPPED
        found.append(json.loads(spent.read_text())["seconds"])
    assert 0 < found[0] < found[1] < found[2]
    with Curriculum(tmp_path / "all") as curriculum:
        assert curriculum.run_stage(0, None, lambda: False, lambda *how: None)[0] == MET
    assert lines_with_times(tmp_path / "all", "1a")[0]["seconds"] > found[2]
    assert not spent.exists()


@pytest.mark.parametrize(
    ("file", "content", "complaint"),
    [
        ("outcome.json", '{"network": "network.pth"}', "outcome.json is damaged .*account"),
        ("outcome.json", "[1]", "outcome.json is damaged"),
        ("outcome.json", '{"netw', "outcome.json is damaged"),
        ("judged.jsonl", "{}", r"judged.jsonl, line 1 is no generation of a stage, .*: \{\}"),
        ("judged.jsonl", '{"step": "x", "seconds": 1.0, "file": "a", "beats": {}}', "line 1 is no generation"),
        ("judged.jsonl", '{"step": 3}', "line 1 is no generation"),
        ("spent.json", '{"seconds": "much"}', "spent.json is damaged .*; remove it, and its seconds do not count"),
    ],
)  # fmt: skip
def test_a_damaged_file_of_a_stage_is_named(missed, file, content, complaint):
    (missed / "stages" / "1a" / file).write_text(content + "\n")
    for _ in range(2):  # and nothing stays locked
        with pytest.raises(BadInput, match=complaint):
            worked(missed)


def test_a_generation_that_is_not_the_newest_stays_when_other_matches_are_asked_for(tmp_path, monkeypatch):
    change = "stages.1a.until.beats=[{player: 'baseline:depth=2', share: 0.9}]"
    more = ("stages.1a.until.plateau.of=none", "stages.1a.training.passes=3", "stages.1a.until.games=2", change)
    Curriculum.create(tmp_path / "all", tiny_settings(tmp_path, *more))
    met, usual = [], Judge.meet
    monkeypatch.setattr(Judge, "meet", lambda *how: (met.append(how[4]), usual(*how))[1])
    assert worked(tmp_path / "all", lambda: len(met) == 1).verdict == STOPPED
    place = tmp_path / "all" / "stages" / "1a"
    with Curriculum(tmp_path / "all") as curriculum:
        stage = StageRun(place, *stage_of(curriculum))
        stage.work.next(1, lambda: False, lambda *how: None)  # a pass is made, and not judged
        stage.work.close()
    settle(tmp_path / "all", "{player: 'baseline:depth=2', share: 0.9}", "stages.1a.until.games=4")
    assert worked(tmp_path / "all").verdict == MISSED
    assert [line["step"] for line in lines(tmp_path / "all", "1a")] == [1, 2, 3]


def test_a_curriculum_needs_a_folder_of_its_own(tmp_path):
    for name in ("notes", ".page.part"):
        (tmp_path / name).write_text("mine")
    with pytest.raises(BadInput, match="is not empty"):
        Curriculum.create(tmp_path, tiny_settings(tmp_path))
    assert (tmp_path / ".page.part").read_text() == "mine"
    with pytest.raises(BadInput, match="is no curriculum"):
        Curriculum(tmp_path)


def test_one_process_at_a_time(straight):
    with Curriculum(straight[0]), pytest.raises(BadInput, match="is being trained by process"):
        worked(straight[0])


# ---- docs ----------------------------------------------------------------------------------------


def test_the_page_on_curricula_explains_every_key_as_it_is():
    from learn.test_settings import keys_of

    page = (ROOT / "docs" / "curriculum.md").read_text()
    own = ("training.passes", "training.root_value_share", "training.mask_policy", "training.symmetries")
    rows = [*keys_of(LessonSettings, "lessons."), *keys_of(UntilSettings, "until.")]
    rows += [row for row in keys_of(ImitationTraining, "training.") if row[0] in own]
    rows += [row for row in keys_of(CurriculumSettings) if row[0] in ("seed", "device", "threads", "folder", "start")]
    assert len(rows) == 28
    for key, may_be, default, meaning in rows:
        assert f"| `{key}` | {may_be} | {default} | {meaning} |" in page


def test_settings_in_a_file_are_told_apart_by_their_stages(tmp_path):
    assert is_curriculum(tiny_file(tmp_path))
    assert not is_curriculum("pylos_quick")
