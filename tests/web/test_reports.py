"""The studies' texts and probes, and their pages."""

from __future__ import annotations

import asyncio
import json
import os
from importlib import import_module
from pathlib import Path

import pytest
from nicegui.testing.user_simulation import user_simulation

from rookery.web.app import build
from rookery.web.host import Host
from rookery.web.probing import probed
from rookery.web.reports import IN_REPOSITORY, Document, documents, fenced, figures_of, studies
from rookery.web.site import Site
from rookery.web.store import Store
from rookery.web.studies_page import Probes
from rookery.web.thinking import Desk

ANSWERS = """# The Pylos study

Why is it so?

## Answers

| question | what was said | what was measured | verdict |
| --- | --- | --- | --- |
| Is it? | yes | 0.5 (0.4 .. 0.6) | **no** |

![losses](losses.png)

![elsewhere](../../secret.png)

    rookery study pylos
"""


def study_folder(folder: Path) -> Path:
    """Make a folder with a study that has a report, a figure and probes."""
    one = folder / "mine"
    (one / "runs" / "small-s1").mkdir(parents=True)
    (one / "report.md").write_text(ANSWERS)
    (one / "losses.png").write_bytes(b"a picture")
    (one / "ratings.json").write_text("[1, 2]")
    (one / "secret.txt").write_text("nothing to give out")
    (one / "elsewhere.json").symlink_to(folder.parent / "secret.png")
    (folder.parent / "secret.png").write_bytes(b"a secret")
    lines = [
        {"step": step, "layers": [{"layer": layer, "read": "cls", "r2": 0.1 * layer + step} for layer in range(2)]}
        for step in (0, 10)
    ]
    text = "\n".join(json.dumps(line) for line in lines) + '\n{"step": 20, "lay'
    (one / "runs" / "small-s1" / "probes.jsonl").write_text(text)
    settings = {"condition": "small", "meaning": "a small one", "seed": 1}
    (one / "runs" / "small-s1" / "settings.json").write_text(json.dumps(settings))
    return folder


def test_only_a_line_feed_ends_a_line_of_probes(tmp_path):
    (tmp_path / "run").mkdir()
    line = {"step": 3, "layers": [{"read": "a\u2028b\x85c", "r2": 0.5}]}
    (tmp_path / "run" / "probes.jsonl").write_bytes(json.dumps(line, ensure_ascii=False).encode() + b"\n")
    assert probed(tmp_path)[0]["reads"] == {"a\u2028b\x85c": {"steps": [3], "r2": [[0.5]]}}


def test_every_study_of_the_repository_has_a_question_and_figures_that_are_there():
    found = documents(None)
    assert {"chess", "domineering", "gomoku", "pylos", "texas42", "pylos-report"} <= set(found)
    assert len(studies(found)) == 5
    for study in studies(found):
        assert study.documents[0].name == "About"
        assert study.documents[0].command.startswith("rookery ")
        assert len(study.question) > 80
        assert study.reported
        assert study.answer is not None  # whatever a report is about, its card tells what came out
        assert study.answer.measured
    for document in found.values():
        assert all(path.is_file() for path in document.figures)
    assert len(found["pylos-report"].answers) >= 10


def test_a_report_in_a_folder_joins_its_study_and_its_answer_is_shown(tmp_path):
    found = documents(study_folder(tmp_path / "studies"))
    pylos = next(study for study in studies(found) if study.title == "The Pylos study")
    assert pylos.documents[-1].key == "in-mine"
    assert (pylos.answer.question, pylos.answer.verdict) == ("Is it?", "no")
    assert pylos.answer.measured == "0.5 (0.4 .. 0.6)"


@pytest.mark.parametrize("name", ["chess", "domineering", "gomoku", "texas42"])
def test_every_report_that_is_written_joins_its_study(tmp_path, name):
    title = import_module(f"rookery.studies.{name}_report").TITLE
    (tmp_path / "somewhere").mkdir()
    (tmp_path / "somewhere" / "report.md").write_text(f"# {title}\n")
    found = studies(documents(tmp_path))
    assert len(found) == 5
    (joined,) = [study for study in found if study.documents[-1].key == "in-somewhere"]
    assert joined.documents[0].key == name


def test_the_newest_report_answers_whatever_its_folder_is_called(tmp_path):
    for folder, verdict, time in (("a", "new", 2_000), ("b", "old", 1_000)):
        (tmp_path / folder).mkdir()
        report = tmp_path / folder / "report.md"
        report.write_text(
            f"# The chess study: small\n\n| question | verdict |\n| --- | --- |\n| Is it? | {verdict} |\n"
        )
        os.utime(report, (time, time))
    (chess,) = [study for study in studies(documents(tmp_path)) if study.title == "The chess study"]
    assert chess.answer.verdict == "new"


@pytest.mark.parametrize(("verdicts", "shown"), [(("missing", "no", "yes"), "no"), (("missing", "missing"), "missing")])
def test_a_question_of_which_nothing_is_measured_is_shown_only_where_all_are_so(tmp_path, verdicts, shown):
    rows = "".join(f"| Is it {number}? | **{verdict}** |\n" for number, verdict in enumerate(verdicts))
    (tmp_path / "report.md").write_text(f"# The chess study: small\n\n| question | verdict |\n| --- | --- |\n{rows}")
    (chess,) = [study for study in studies(documents(tmp_path)) if study.title == "The chess study"]
    assert chess.answer.verdict == shown


def test_the_folder_of_one_study_can_be_named_itself(tmp_path):
    assert "in-mine" in documents(study_folder(tmp_path / "studies") / "mine")


def test_figures_outside_the_folder_of_a_text_are_not_found(tmp_path):
    folder = study_folder(tmp_path / "studies") / "mine"
    inside, outside = figures_of((folder / "report.md").read_text(), folder)
    assert inside.read_bytes() == b"a picture"
    assert not outside.exists()
    assert not figures_of("![x](/etc/passwd.png)", folder)[0].exists()


def test_a_text_comes_in_pieces_with_everything_escaped():
    text = "# T\n\n<script>alert(1)</script> and ![in a line](/etc/passwd)\n\n![f](f.png)\n\n    x < y\n"
    pieces = list(Document("k", "T", "T", text, (Path("f.png"),)).pieces())
    assert [kind for kind, *_ in pieces] == ["html", "figure", "html"]
    assert "<script>" not in pieces[0][1]
    assert "[in a line]" in pieces[0][1]
    assert pieces[2][1] == "<pre>x &lt; y</pre>"


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (["a", "", "    b", "    c", "", "d"], ["a", "", "```", "b", "c", "", "```", "d"]),
        (["    b"], ["```", "b", "```"]),
        (["- item", "", "    goes on"], ["- item", "", "    goes on"]),
        (["a", "    goes on"], ["a", "    goes on"]),
    ],
)
def test_indented_code_gets_fences_and_nothing_else_does(lines, wanted):
    assert list(fenced(lines)) == wanted


def test_probes_are_read_by_step_and_layer_and_half_a_line_is_left_out(tmp_path):
    (one,) = probed(study_folder(tmp_path / "studies") / "mine" / "runs")
    assert (one["name"], one["condition"], one["meaning"]) == ("small-s1", "small", "a small one")
    assert one["reads"] == {"cls": {"steps": [0, 10], "r2": [[0.0, 0.1], [10.0, 10.1]]}}


def test_the_pages_show_cards_texts_and_probes_and_give_out_nothing_else(tmp_path):
    async def visit():
        site = Site(Host(Store(None), Desk(1)), studies=study_folder(tmp_path / "studies"))
        async with user_simulation() as user:
            build(site)
            await user.open("/studies")
            await user.should_see("The Domineering study")
            await user.should_see("0.5 (0.4 .. 0.6)")
            await user.open("/studies/in-mine")
            (probes,) = user.find(kind=Probes).elements
            assert json.loads(probes._props["content"])[0]["name"] == "small-s1"
            for address in ("nothing", "in-other"):
                await user.open(f"/studies/{address}")
                await user.should_see("There is no such text here")
            asked = {
                address: (await user.http_client.get(address)).status_code
                for address in ("/studies/in-mine/figure/0", "/studies/in-mine/figure/1", "/studies/in-mine/figure/2",
                                "/studies/in-mine/figure/-1", "/studies/other/figure/0", "/studies/in-mine/text",
                                "/studies/in-mine/data/0", "/studies/in-mine/data/1", "/studies/other/data/0")
            }  # fmt: skip
            assert list(asked.values()) == [200, 404, 404, 404, 404, 200, 200, 404, 404]
        site.close()

    asyncio.run(visit())


def test_the_texts_of_the_repository_come_with_the_package():
    settings = (IN_REPOSITORY.parents[1] / "pyproject.toml").read_text()
    assert '"docs/studies" = "rookery/web/documents"' in settings
