"""The studies' texts: what each study asks, its reports with figures, and what was probed.

Texts about the studies come with the package; reports of studies made here lie in folders. A browser names a text by
its key and a figure by its number; both are looked up, no file name is ever made from them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from rookery.studies.html import ITEM, PICTURE, blocks
from rookery.studies.verdicts import MISSING

PACKAGED = Path(__file__).parent / "documents"
"""in an installed package"""
IN_REPOSITORY = Path(__file__).parents[3] / "docs" / "studies"
REPORT = "report.md"
LONGEST_REPORT = 4_000_000  # bytes
FIGURES = {".png": "image/png", ".jpg": "image/jpeg"}
DATA = {".json": "application/json", ".csv": "text/csv", ".npz": "application/octet-stream"}
MOST_DATA = 40  # files of numbers beside a report
NOWHERE = Path("/")  # pictures within a line are not shown, so none is ever read from there


@dataclass(frozen=True)
class Answer:
    """One line of a report's table of answers."""

    question: str
    verdict: str
    measured: str


@dataclass(frozen=True)
class Document:
    """A text about a study: what it is about, or a report."""

    key: str
    """its address"""
    title: str
    name: str
    """of the link that leads to it"""
    text: str
    figures: tuple[Path, ...] = ()
    """in the order of the text"""
    runs: Path | None = None
    """folder of runs whose networks were probed"""
    data: tuple[Path, ...] = ()
    """files with the numbers of the figures"""

    @property
    def study(self) -> str:
        """The study that the title names."""
        return self.title.partition(":")[0]

    @property
    def command(self) -> str:
        """The first command of the text that is for a small machine, else the first at all, without its remark."""
        block = re.search(r"(?:^    rookery .*\n)+", self.text + "\n", re.M)
        lines = [line.strip() for line in block[0].splitlines()] if block else []
        small = [line for line in lines if re.search(r"#.*(two cores|CPU)", line)]
        return (small or lines or [""])[0].partition("#")[0].strip()

    @property
    def question(self) -> str:
        """The first paragraph under "The question", else the first one at all."""
        after = self.text.partition("## The question")[2] or self.text
        for block in re.split(r"\n\s*\n", after):
            if block.strip() and not block.lstrip().startswith(("#", "|", "!", "```")) and not block.startswith("    "):
                return plain(" ".join(block.split()))
        return ""

    @property
    def answers(self) -> list[Answer]:
        """The lines of the table of questions and verdicts, if there is one."""
        found: list[Answer] = []
        head: list[str] = []
        for line in self.text.splitlines():
            cells = [plain(cell.strip()) for cell in line.strip().strip("|").split("|")]
            if not line.startswith("|"):
                head = []
            elif not head:
                head = cells
            elif {"question", "verdict"} <= set(head) and len(cells) == len(head) and set(line) - set("|-: "):
                row = dict(zip(head, cells, strict=True))
                found.append(Answer(row["question"], row["verdict"], row.get("what was measured", "")))
        return found

    def pieces(self) -> Iterator[tuple[str, str, int]]:
        """Yield the text in pieces: ("html", safe HTML, 0) and ("figure", title, number of the figure)."""
        lines: list[str] = []
        number = 0
        for line in fenced(self.text.splitlines()):
            picture = PICTURE.fullmatch(line.strip())
            if picture is None:
                lines.append(PICTURE.sub(r"[\1]", line))
                continue
            yield "html", "\n".join(blocks(lines, NOWHERE)), 0
            lines = []
            if number < len(self.figures):
                yield "figure", picture[1], number
                number += 1
        yield "html", "\n".join(blocks(lines, NOWHERE)), 0


@dataclass(frozen=True)
class Study:
    """A study with all its texts, the one about it first."""

    title: str
    documents: tuple[Document, ...]

    @property
    def question(self) -> str:
        """What the study asks."""
        return self.documents[0].question

    @property
    def reported(self) -> bool:
        """Whether there is a report, answers or not."""
        return any(document.name.startswith("Report") for document in self.documents)

    @property
    def answer(self) -> Answer | None:
        """The first answer of its newest report; a question of which nothing is measured only where all are so."""
        answers = next((document.answers for document in reversed(self.documents) if document.answers), [])
        return next((answer for answer in answers if answer.verdict != MISSING), answers[0] if answers else None)


# ---- finding -------------------------------------------------------------------------------------


def documents(folder: Path | None) -> dict[str, Document]:
    """Find all texts by key: those that come with the package, and those of the study folders in a folder."""
    place = PACKAGED if PACKAGED.is_dir() else IN_REPOSITORY
    found = [document(path, path.stem, part_name(path.stem)) for path in sorted(place.glob("*.md"))]
    found += [document(path, f"{path.parent.name}-report", "Report") for path in sorted(place.glob(f"*/{REPORT}"))]
    for one in study_folders(folder):
        key = "in-" + quote(one.name, safe="").replace("%", "_")
        found.append(document(one / REPORT, key, report_name(one), probed_runs(one)))
    return {each.key: each for each in found if each is not None}


def study_folders(folder: Path | None) -> list[Path]:
    """List the folders of studies, the folder itself or those in it: without a report first, the newest report last."""
    if folder is None or not folder.is_dir():
        return []
    candidates = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]
    found = [one.resolve() for one in candidates if (one / REPORT).is_file() or probed_runs(one) is not None]
    return sorted(found, key=written_at)


def written_at(folder: Path) -> float:
    """Return when the report of a folder was written; 0 if there is none."""
    try:
        return (folder / REPORT).stat().st_mtime
    except OSError:
        return 0.0


def part_name(stem: str) -> str:
    """Name a text about a study, or about a part of it, as the file `pylos-probes.md` is."""
    return stem.partition("-")[2].capitalize() or "About"


def report_name(folder: Path) -> str:
    """Name the text of a study folder."""
    return f"{'Report' if (folder / REPORT).is_file() else 'Probes'} in {folder.name}"


def probed_runs(folder: Path) -> Path | None:
    """Return where the runs of a study lie, if networks of it were probed while they learned."""
    return folder / "runs" if any((folder / "runs").glob("*/probes.jsonl")) else None


def document(path: Path, key: str, name: str, runs: Path | None = None) -> Document | None:
    """Read a text; None for one that cannot be read. A study that is not finished has probes but no report."""
    try:
        if path.is_file() and path.stat().st_size > LONGEST_REPORT:
            return None
        missing = "# The Domineering study\n\nThere is no report yet. `rookery study domineering report` writes it."
        text = path.read_text(encoding="utf-8") if path.is_file() or runs is None else missing
    except (OSError, UnicodeDecodeError):
        return None
    title = next((line[2:].strip() for line in text.splitlines() if line.startswith("# ")), key)
    data = data_of(path.parent) if path.name == REPORT else ()
    return Document(key, title, name, text, figures_of(text, path.parent), runs, data)


def data_of(folder: Path) -> tuple[Path, ...]:
    """List the files beside a report that hold its numbers."""
    found = (
        sorted(path for path in folder.iterdir() if path.suffix in DATA and path.is_file()) if folder.is_dir() else []
    )
    return tuple(path.resolve() for path in found if path.resolve().is_relative_to(folder.resolve()))[:MOST_DATA]


def figures_of(text: str, folder: Path) -> tuple[Path, ...]:
    """List the pictures that stand alone in a line, as far as they lie in the text's folder."""
    found = [PICTURE.fullmatch(line.strip()) for line in text.splitlines()]
    paths = [(folder / picture[2]).resolve() for picture in found if picture is not None]
    root = folder.resolve()
    # One that is missing keeps its number, so that the others keep theirs; it is answered with "not found".
    return tuple(path if path.is_relative_to(root) and path.suffix in FIGURES else root / "none" for path in paths)


def studies(found: dict[str, Document]) -> list[Study]:
    """Sort texts into studies: those of one title, and those whose key begins with the key of the study's text.

    Reports say after a colon what the study is about; the title is what stands before it.
    """
    rest = list(found.values())
    made = []
    for main in [each for each in rest if each.name == "About"]:
        own = [each for each in rest if each.study == main.title or each.key.startswith(f"{main.key}-")]
        made.append(Study(main.title, (main, *(each for each in own if each is not main))))
        rest = [each for each in rest if each not in own]
    return made + [Study(each.title, (each,)) for each in rest]


# ---- Markdown ------------------------------------------------------------------------------------


def fenced(lines: Sequence[str]) -> Iterator[str]:
    """Put fences around code that is indented, as the texts about the studies write it."""
    inside = in_list = False
    before = ""
    for line in lines:
        indented = line.startswith("    ")
        if not inside and indented and not before.strip() and not in_list:
            inside = True
            yield "```"
        elif inside and line.strip() and not indented:
            inside = False
            yield "```"
        if line.strip() and not indented:
            in_list = ITEM.fullmatch(line) is not None
        yield line[4:] if inside else line
        before = line
    if inside:
        yield "```"


def plain(text: str) -> str:
    """Take the signs of Markdown off a line."""
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)
    return re.sub(r"\*\*|`", "", text)
