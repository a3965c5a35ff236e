"""What a text names, a run, data or a network, and all checks of it.

report = look("runs/pylos_quick")
report.verdict, report.findings
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rookery.checks import curves, domineering, imitation, ledger, study_runs, texas42
from rookery.checks.finding import Finding, Sample, Verdict, about, worst, worst_first
from rookery.checks.networks import LC0_ENDINGS, check_network
from rookery.checks.selfplay import check_run
from rookery.errors import BadInput
from rookery.games.options import given_path, whole_number
from rookery.learn.curriculum import is_curriculum_folder
from rookery.learn.files import LineLog
from rookery.learn.runs import is_run
from rookery.nets.zoo import ZOO_SIGN, zoo_file, zoo_names

NETWORK_ENDINGS = (".pth", ".pt", ".safetensors", *LC0_ENDINGS)
KINDS = (
    "a run's folder (self-play, imitation, curriculum, one of a study), data (Domineering games, Texas 42 shards, "
    "lessons, a ledger), a study's folder, or a network (zoo name, .pth, .safetensors, .pb.gz)"
)

Checking = Callable[[Sample], list[Finding]]


@dataclass(frozen=True)
class Report:
    """All that was found."""

    what: str
    """what was recognised"""
    findings: list[Finding]
    """the worst first"""

    @property
    def verdict(self) -> Verdict:
        """The worst verdict."""
        return worst(found.verdict for found in self.findings)

    def passes(self, strict: bool = False) -> bool:
        """Tell whether nothing is wrong; `strict`: and nothing is worth a warning."""
        return self.verdict is Verdict.OK or (self.verdict is Verdict.WARNING and not strict)

    def as_dict(self) -> dict[str, Any]:
        """Return the report for JSON."""
        return {"what": self.what, "verdict": str(self.verdict), "findings": [each.as_dict() for each in self.findings]}


def look(
    text: str, positions: int = 256, seed: int = 0, say: Callable[[str], None] = lambda note: None
) -> Report:  # fmt: skip
    """Recognise what a text names and run all checks that apply; `say` is told what is being looked at."""
    whole_number("--positions", positions, 16, 1 << 20)
    what, check = recognised(text)
    findings = check(Sample(positions, whole_number("--seed", seed, 0, 1 << 40), say))
    return Report(what, worst_first(findings))


# ---- recognising ---------------------------------------------------------------------------------


def recognised(text: str) -> tuple[str, Checking]:
    """Say what a text names, and how it is checked."""
    path = given_path(text)
    if text.startswith(ZOO_SIGN):
        return network(zoo_file(text.removeprefix(ZOO_SIGN)))
    if path.is_dir():
        return folder(path)
    if path.is_file():
        return file(path)
    if (Path("runs") / text).is_dir():
        return folder(Path("runs") / text)
    if text in zoo_names():
        return network(zoo_file(text))
    raise BadInput(f"{text!r} is not there: give {KINDS}; the zoo has {', '.join(zoo_names())}")


def network(path: Path) -> tuple[str, Checking]:
    """Check a network."""
    return f"network {path.name}", partial(check_network, path)


def file(path: Path) -> tuple[str, Checking]:
    """Say what a file is."""
    if path.name.endswith(NETWORK_ENDINGS):
        return network(path)
    if ledger.is_ledger(path):
        return f"ledger {path.name}", partial(ledger.check_ledger, path)
    if path.suffix == ".npz" and (imitation.is_lessons(path.parent) or texas42.is_data_set(path.parent)):
        return folder(path.parent)  # what a shard is, is told by what lies beside it
    if domineering.is_games_file(path):
        return f"Domineering games {path.name}", partial(domineering.check_games_files, [path])
    raise BadInput(f"{path} is nothing that can be checked: give {KINDS}")


def folder(path: Path) -> tuple[str, Checking]:
    """Say what a folder is."""
    for is_one, name, check in FOLDERS:
        if is_one(path):
            return f"{name} {path.resolve().name}", partial(check, path)
    if parts_of_study(path):
        return f"study {path.resolve().name}", partial(check_study, path)
    raise BadInput(f"{path} is nothing that can be checked: give {KINDS}")


# ---- studies -------------------------------------------------------------------------------------


def is_arm(path: Path) -> bool:
    """Tell whether a folder is a run of an arm of the Gomoku study."""
    return (path / "run.json").is_file() and (path / "curve.jsonl").is_file()


def check_arm(path: Path, sample: Sample) -> list[Finding]:
    """Check a run of an arm of the Gomoku study: its losses are numbers, and its newest network."""
    found = curves.loss_numbers(LineLog(path / "curve.jsonl").read(), ("value_loss", "policy_loss"))
    newest = path / "newest.pth"
    return found + (about(newest.name, check_network(newest, sample)) if newest.is_file() else [])


def games_in(path: Path) -> list[Path]:
    """List the files of games of Domineering in a folder."""
    return sorted(path.glob("phase*_games.npz"))


def check_games_folder(path: Path, sample: Sample) -> list[Finding]:
    """Check all games of Domineering in a folder."""
    return domineering.check_games_files(games_in(path), sample)


FOLDERS: tuple[tuple[Callable[[Path], bool], str, Callable[[Path, Sample], list[Finding]]], ...] = (
    (is_curriculum_folder, "curriculum", imitation.check_curriculum),
    (is_run, "run", check_run),
    (imitation.is_imitation, "imitation", imitation.check_imitation),
    (imitation.is_lessons, "lessons", imitation.check_lessons_folder),
    (study_runs.is_study_run, "run", study_runs.check_study_run),
    (is_arm, "run", check_arm),
    (texas42.is_data_set, "Texas 42 data", lambda path, sample: texas42.check_data_sets([path], sample)),
    (lambda path: bool(games_in(path)), "Domineering games", check_games_folder),
)
"""kinds of folders: how one is recognised, what it is called, and how it is checked"""


def parts_of_study(path: Path) -> list[tuple[str, Checking]]:
    """List the parts of a study's folder that can be checked."""
    found: list[tuple[str, Checking]] = []
    if games_in(path / "data"):
        found.append(("data", partial(check_games_folder, path / "data")))
    sets = [each for each in sorted((path / "data").glob("*")) if texas42.is_data_set(each)]
    if sets:
        found.append(("data", partial(texas42.check_data_sets, sets)))
    parts = [path / "main", *sorted((path / "runs").glob("*")), *sorted((path / "arms").glob("*"))]
    for part in parts:
        for is_one, _, check in FOLDERS:
            if part.is_dir() and is_one(part):
                found.append((part.name, partial(check, part)))
                break
    return found


def check_study(path: Path, sample: Sample) -> list[Finding]:
    """Check all data and runs of a study; one that cannot be read must not hide the others."""
    found: list[Finding] = []
    for name, check in parts_of_study(path):
        try:
            found += about(name, check(sample))
        except BadInput as error:
            found += about(name, [Finding("rows-sound", Verdict.WRONG, 1.0, str(error), "it can be read", "its files")])
    return found
