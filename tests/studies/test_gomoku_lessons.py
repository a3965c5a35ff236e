"""Lessons of the Gomoku study that are made ahead."""

from __future__ import annotations

import json

import pytest

from rookery.learn.curriculum import OUTCOME, STAGES
from rookery.learn.files import write_json
from rookery.learn.imitation import SHARDS, Imitation, make_imitation
from rookery.learn.locks import Lock
from rookery.learn.spread import in_turn
from rookery.learn.stage_work import Help, ImitationWork
from rookery.studies.gomoku import Study, imitation_stages
from rookery.studies.gomoku_lessons import ABOUT, Ahead, bring_from
from studies.gomoku_made_up import tiny


def never():
    return False


def silent(done, total, note):
    pass


def files(folder):
    return {path.name: path.read_bytes() for path in folder.glob("shard_*.npz")}


def first_stage(study):
    """Return the settings of stage 1a."""
    return dict(imitation_stages(study.main_settings()))["1a"]


def test_runs_of_one_seed_share_their_lessons_and_those_without_imitation_want_none(tmp_path):
    study = Study(tmp_path, tiny())
    names = [f"{run}, stage {stage}" for run in ("main", "curriculum-s2") for stage in ("1a", "1b", "3")]
    assert list(study.lessons()) == names  # curriculum-s1 has the seed of main
    assert list(study.lessons(["curriculum-s1"])) == [f"curriculum-s1, stage {stage}" for stage in ("1a", "1b", "3")]
    assert study.lessons(["scratch"]) == {}


def test_stages_that_are_done_want_no_lessons(tmp_path):
    study = Study(tmp_path, tiny())
    place = tmp_path / "main" / STAGES / "1a"
    place.mkdir(parents=True)
    (place / OUTCOME).write_text("{}")
    assert list(study.lessons(["main"])) == ["main, stage 1b", "main, stage 3"]
    run = study.arm_runs(["curriculum-s1"])[0]
    run.folder.mkdir(parents=True)
    plan = {"seconds": study.preset.arm_seconds, "legs": [], "seed": 1, "changes": []}
    facts = {"plan": plan, "newest": {"leg": 1, "seconds": 1.0, "steps": 1, "done": True}, "begun_without_work": 0}
    (run.folder / "run.json").write_text(json.dumps(facts))
    assert list(study.lessons(["curriculum-s1"])) == ["curriculum-s1, stage 3"]
    for seconds in run.marks:
        run.mark_file(seconds).parent.mkdir(exist_ok=True)
        run.mark_file(seconds).touch()
    assert study.lessons(["curriculum-s1"]) == {}


def test_lessons_lie_by_what_they_follow_from(tmp_path):
    settings = first_stage(Study(tmp_path, tiny()))

    def place(**changes):
        lessons = settings.lessons.model_copy(update=changes)
        return Ahead(tmp_path, settings.model_copy(update={"lessons": lessons})).folder

    assert place() == place(positions=10, held_out=0.2, threads=7)
    others = {place(explore=20), place(supervisor="baseline:depth=4"), place(opening=1), place(temperature=0.5)}
    assert len({place(), *others}) == 5
    assert Ahead(tmp_path, settings.model_copy(update={"seed": 9})).folder != place()
    assert place().name.startswith("baseline-depth-2-")


def test_who_wants_lessons_that_another_one_makes_waits_for_them_and_makes_none(tmp_path):
    ahead = Ahead(tmp_path, first_stage(Study(tmp_path, tiny())))
    ahead.folder.mkdir(parents=True)
    other, said = Lock(ahead.folder / ".lock"), []
    other.take()

    def say(done, total, note):
        said.append(note)
        write_json(ahead.folder / ABOUT, {"positions": ahead.settings.lessons.positions})  # the other one is done
        other.give_back()

    assert ahead.make(never, say)
    assert said == ["another process makes them; waiting"]
    assert files(ahead.folder) == {}


def test_who_waits_for_lessons_can_be_stopped(tmp_path):
    ahead = Ahead(tmp_path, first_stage(Study(tmp_path, tiny())))
    ahead.folder.mkdir(parents=True)
    other = Lock(ahead.folder / ".lock")
    other.take()
    assert not ahead.make(lambda: True, silent)
    assert files(ahead.folder) == {}
    other.give_back()


@pytest.mark.slow
def test_a_stage_learns_from_lessons_that_were_made_ahead_as_from_its_own(tmp_path):
    settings = first_stage(Study(tmp_path, tiny()))
    ahead = Ahead(tmp_path / "study", settings)
    asked = iter([False, True])
    more = settings.lessons.model_copy(update={"positions": 5_000, "threads": 1})
    stopped = Ahead(tmp_path / "study", settings.model_copy(update={"lessons": more}))
    assert not stopped.make(lambda: next(asked), silent)  # time was up, some are there
    assert not ahead.complete
    assert ahead.make(never, silent)
    assert ahead.complete
    assert ahead.positions >= settings.lessons.positions
    assert json.loads((ahead.folder / ABOUT).read_bytes())["supervisor"] == "baseline:depth=2"

    work = ImitationWork(tmp_path / "brought", settings, Help(bring=bring_from(tmp_path / "study")))
    brought = files(tmp_path / "brought" / SHARDS)
    assert brought == files(ahead.folder)
    assert work.imitation.learn()
    work.close()
    assert files(tmp_path / "brought" / SHARDS) == brought  # nothing was missing

    make_imitation(tmp_path / "own", settings)
    with Imitation(tmp_path / "own") as own:
        own.learn()
    found, expected = (Imitation(tmp_path / name).figures.read() for name in ("brought", "own"))
    assert found == expected


@pytest.mark.slow
def test_lessons_made_elsewhere_are_those_made_here(tmp_path):
    settings, asked = first_stage(Study(tmp_path, tiny())), []

    def elsewhere(maker, tasks):
        for task, made in in_turn(maker, tasks):
            asked.append(task)
            yield task, made

    here, there = (Ahead(tmp_path / name, settings) for name in ("here", "there"))
    assert here.make(never, silent)
    assert there.make(never, silent, elsewhere)
    assert asked
    assert (here.folder / ABOUT).read_bytes() == (there.folder / ABOUT).read_bytes()
    assert files(here.folder).items() <= files(there.folder).items()  # there may be more


def test_a_stage_without_lessons_made_ahead_is_left_to_make_them(tmp_path):
    settings = first_stage(Study(tmp_path, tiny()))
    bring_from(tmp_path)(tmp_path / "stage" / SHARDS, settings)
    assert not (tmp_path / "stage").exists()
