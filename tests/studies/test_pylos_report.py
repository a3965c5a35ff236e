"""The report of the Pylos study, from what stages leave in its folder."""

from __future__ import annotations

import re
import shutil

import pytest

from rookery import BadInput
from rookery.studies.pylos import FILES
from rookery.studies.pylos_findings import Findings, all_answers
from rookery.studies.pylos_report import write_report
from studies.canned import canned_run, canned_study

PNG = b"\x89PNG"
FIGURES = ("losses", "ablations", "ratings", "exact-greedy", "exact-official", "probes")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    study = canned_study(tmp_path_factory.mktemp("study"))
    write_report(study)
    return study


def test_a_whole_study_has_all_answers_tables_and_figures(finished):
    text = (finished.folder / "report.md").read_text()
    assert "not complete" not in text
    for figure in FIGURES:
        assert f"({figure}.png)" in text
        assert (finished.folder / f"{figure}.png").read_bytes().startswith(PNG)
    verdicts = {answer.question: answer.word for answer in all_answers(Findings(finished))}
    assert verdicts["Does V5's value loss fall below 0.15?"] == "no"
    assert (
        verdicts["Is it depth or the richer observation that lowers the value loss?"] == "observation alone is shown to"
    )
    assert verdicts["Is V5's value loss 0.7 to 0.9 at the start?"] == "yes"
    assert verdicts["Does V5 reach a value loss of 0.25 by 50,000 games?"] == "open"
    assert verdicts["Is the irreducible value loss 0.05 to 0.08?"] == "no"
    assert verdicts["Is V5 above V4 above V3?"] == "yes"
    assert verdicts["What cures dithering?"] == "v5-discount"
    assert verdicts["Does the best network see that the second player wins?"] == "yes"
    assert verdicts["Does each block see what the table says?"] == "yes"
    assert "| v4 | 1-2 | adjacency | neighbours | 0.9 | yes |" in text


def test_strength_is_not_asked_of_a_cure_that_was_taught_another_game(finished):
    cures = next(answer for answer in all_answers(Findings(finished)) if answer.question == "What cures dithering?")
    told = {line.partition(":")[0]: line for line in cures.reason.partition("as it is: ")[2].split("; ")}
    assert "Elo" in told["v5-discount"]
    assert "draws" in told["v5-choice"]
    assert "Elo" not in told["v5-choice"]


def test_every_row_of_a_table_has_as_many_cells_as_its_head(finished):
    lines = (finished.folder / "report.md").read_text().splitlines()
    width = 0
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith("|"):
            width = line.count("|") if following.startswith("| ---") else width
            assert line.count("|") == width, line


def test_numbers_of_runs_come_with_intervals(finished):
    text = (finished.folder / "report.md").read_text()
    row = next(line for line in text.splitlines() if line.startswith("| v5 | 1,000 |"))
    assert re.search(r"0\.30\d \(0\.30\d \.\. 0\.30\d\)", row)
    row = next(line for line in text.splitlines() if line.startswith("| v5-basic |"))
    assert re.search(r"0\.411 \(0\.398 \.\. 0\.424\)", row)


def test_a_partly_done_study_says_what_is_missing_and_shows_the_rest(finished, tmp_path):
    folder = tmp_path / "part"
    shutil.copytree(finished.folder, folder)
    for stage in ("judge", "floor", "probe"):
        (folder / FILES[stage]).unlink()
    shutil.rmtree(folder / "runs" / "best")
    study = type(finished)(folder, finished.plan)
    text = write_report(study).read_text()
    assert "**This study is not complete.** Not trained: best. Stages not done: judge, floor, probe." in text
    assert "| v4, 1,000 games | 900 |" in text
    shutil.rmtree(folder / "runs")
    (folder / FILES["rate"]).unlink()
    assert "Nothing was rated." in write_report(study).read_text()


def test_a_run_that_was_stopped_or_differs_is_named(finished, tmp_path):
    study = type(finished)(tmp_path, finished.plan)
    planned = next(run for run in study.plan if run.name == "v5")
    settings = planned.settings()
    other = settings.model_copy(update={"seed": 9})
    canned_run(study.run_folder(planned), other, 0.3, 0.1, "training")
    text = write_report(study).read_text()
    assert "v5 was stopped after 1,000 games." in text
    assert "| v5 | seed=9 (planned 1) |" in text


def test_remarks_are_put_into_the_report(finished, tmp_path):
    (tmp_path / "remarks.md").write_text("Trained on a card.\n")
    assert "## Remarks\n\nTrained on a card.\n" in write_report(type(finished)(tmp_path, finished.plan)).read_text()


def test_a_damaged_result_is_named(finished, tmp_path):
    study = type(finished)(tmp_path, finished.plan)
    (tmp_path / FILES["rate"]).write_text("{")
    with pytest.raises(BadInput, match=r"ratings\.json cannot be read: .*; remove it"):
        study.result("rate")
    (tmp_path / FILES["rate"]).write_text("{}")
    with pytest.raises(BadInput, match=r"ratings\.json is no result of this version"):
        study.result("rate")
