"""The rooms of the house: what imports what, and that every file is on the map."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from support import ROOT

PACKAGE = ROOT / "src" / "rookery"
ROOMS = [
    "errors", "writing", "drawing", "games", "search", "nets", "lc0", "arena", "learn", "probes", "studies",
    "cluster", "checks", "engines", "web", "benchmarks", "doctor", "terminal", "cli", "__main__",
]  # fmt: skip
STUDIES = ("chess", "domineering", "gomoku", "pylos", "texas42")
KERNEL_ROOMS = {"games", "search"}
CLOCK_OF_THE_DAY = re.compile(r"\btime\.time\b|time_ns|\bnow\(|today\(|gmtime|localtime|st_mtime|getmtime")
LOOKED_AT = {
    "arena/matches.py": "when a game was played", "benchmarks/page.py": "the date of a page",
    "cli/study.py": "the date of a report", "learn/locks.py": "since when a lock is held",
    "learn/manifest.py": "when a checkpoint was saved", "learn/summaries.py": "how old a run is",
    "learn/tracking.py": "when a line was logged", "web/keeping.py": "when a game was played",
    "web/processes.py": "when a process ended", "web/replays.py": "the date of a game",
    "web/reports.py": "which report is the newest", "web/store.py": "when a game was touched",
    "web/trainings.py": "when a process began; whether a file has changed",
}  # fmt: skip
"""who looks at the clock of the day, and what for: never to measure how long something takes"""


def imported_modules(path: Path) -> set[str]:
    """List what a file imports, also inside functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports name the whole path"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def sources() -> list[Path]:
    return [path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py"]


def test_the_page_for_contributors_names_the_rooms_in_their_order():
    page = (ROOT / "CONTRIBUTING.md").read_text()
    listed = page.partition("never from below: ")[2].partition(". ")[0]
    assert re.findall(r"`(\w+)`", listed) == [room for room in ROOMS if room != "__main__"]


def test_every_file_is_in_a_known_room():
    assert {room_of(path) for path in sources()} <= set(ROOMS)


def test_a_room_imports_from_itself_or_from_rooms_above():
    for path in sources():
        for module in imported_modules(path):
            parts = module.split(".")
            if parts[0] == "rookery" and len(parts) > 1 and parts[1] in ROOMS:
                assert ROOMS.index(parts[1]) <= ROOMS.index(room_of(path)), f"{path} imports {module}"


def study_of(room: str, name: str) -> str:
    """Return the study that a module or command belongs to, by its name; empty if it is shared, or of another room."""
    prefix = {"studies": "", "cli": "study_"}.get(room)
    if prefix is None or not name.startswith(prefix):
        return ""
    return next((study for study in STUDIES if re.match(rf"{study}(_|$)", name.removeprefix(prefix))), "")


def test_every_study_has_modules_and_commands():
    for room in ("studies", "cli"):
        assert {study_of(room, path.stem) for path in sources() if room_of(path) == room} == {*STUDIES, ""}


def test_a_study_imports_its_own_modules_and_shared_ones_which_import_none():
    """What two studies want gets a module without the name of one; commands keep to their study, too."""
    for path in sources():
        room, mine = room_of(path), study_of(room_of(path), path.stem)
        if room == "studies" or (room == "cli" and path.stem.startswith("study")):
            modules = [module.split(".") for module in imported_modules(path) if module.startswith("rookery.")]
            others = {study_of(*parts[1:3]) for parts in modules if len(parts) > 2} - {mine, ""}
            assert not others, f"{path} takes from {others}"


def test_networks_know_no_games():
    for path in sources():
        if room_of(path) == "nets":
            assert not [m for m in imported_modules(path) if m.startswith(("rookery.games", "rookery.search"))]


def test_rules_and_search_import_numpy_and_numba_only():
    allowed = {"numpy", "numba", "llvmlite", "rookery"}
    standard = __import__("sys").stdlib_module_names
    for path in sources():
        if room_of(path) in KERNEL_ROOMS:
            foreign = {module.partition(".")[0] for module in imported_modules(path)} - allowed - set(standard)
            assert not foreign, f"{path} imports {foreign}"


def test_every_kernel_is_cached_and_frees_the_interpreter():
    for path in sources():
        for decorator in re.findall(r"@(?:numba\.)?n?jit\b.*", path.read_text()):
            if room_of(path) in KERNEL_ROOMS:
                assert "cache=True" in decorator, f"{path}: {decorator}"
                assert "nogil=True" in decorator, f"{path}: {decorator}"


def test_the_clock_of_the_day_is_looked_at_for_people_only():
    looking = {str(path.relative_to(PACKAGE)) for path in sources() if CLOCK_OF_THE_DAY.search(path.read_text())}
    assert looking == set(LOOKED_AT)


def test_folders_that_the_compile_cache_leaves_out_hold_nothing_that_is_compiled():
    from rookery.games.cache import PLAIN_FOLDERS

    left_out = [path for path in sources() if path.parent.name in PLAIN_FOLDERS]
    assert {path.stem for path in left_out} > {"scene", "chess"}
    for path in left_out:
        assert not {module.partition(".")[0] for module in imported_modules(path)} & {"numba", "llvmlite"}, path


def mapped() -> list[str]:
    """List the files that the map names, by their paths; a folder holds for the rest of its cell."""
    found, room = [], ""
    for line in (ROOT / "docs" / "source-map.md").read_text().splitlines():
        cells = line.split("|")
        if len(cells) < 4:
            continue
        if (named := re.search(r"\*\*(\w+)\*\*", cells[1])) is not None:
            room = named[1]
        folder = ""
        for name in re.findall(r"`([^`]+\.\w+)`", cells[2]):
            folder = name.rpartition("/")[0] or folder
            found.append("/".join(part for part in (room, folder, name.rpartition("/")[2]) if part))
    return found


def at_the_root(path: str) -> str:
    """Return a path of the map as it is in the package: the last rooms are followed by files at its root."""
    name = path.rpartition("/")[2]
    return name if name in ("doctor.py", "terminal.py", "__main__.py") and not (PACKAGE / path).exists() else path


def test_the_map_of_the_source_names_every_module_once_and_nothing_else():
    listed = [at_the_root(path) for path in mapped()]
    assert len(listed) == len(set(listed)), sorted(path for path in set(listed) if listed.count(path) > 1)
    assert not [path for path in listed if not list(PACKAGE.glob(path))]
    modules = {path.relative_to(PACKAGE).as_posix() for path in sources() if path.name != "__init__.py"}
    assert {path for path in listed if path.endswith(".py")} == modules
