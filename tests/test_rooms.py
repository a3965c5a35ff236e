"""The rooms of the house: what imports what, and how the pages of the games look."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from support import ROOT

PACKAGE = ROOT / "src" / "rookery"
ROOMS = [
    "errors", "writing", "games", "search", "nets", "lc0", "arena", "learn", "probes", "studies", "engines", "web",
    "benchmarks", "doctor", "terminal", "cli", "__main__",
]  # fmt: skip
KERNEL_ROOMS = {"games", "search"}
HEADINGS = ["Rules", "Options", "State", "Actions", "Text", "Observations", "End and result", "Symmetries", "Sources"]


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


def test_every_file_is_in_a_known_room():
    assert {room_of(path) for path in sources()} <= set(ROOMS)


def test_a_room_imports_from_itself_or_from_rooms_above():
    for path in sources():
        for module in imported_modules(path):
            parts = module.split(".")
            if parts[0] == "rookery" and len(parts) > 1 and parts[1] in ROOMS:
                assert ROOMS.index(parts[1]) <= ROOMS.index(room_of(path)), f"{path} imports {module}"


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


def test_the_pages_of_the_games_have_the_same_headings():
    from rookery.games.library import OWN

    pages = {path.stem: path for path in (ROOT / "docs" / "games").glob("*.md")}
    assert set(pages) == set(OWN)
    for page in pages.values():
        assert re.findall(r"^## (.*)$", page.read_text(), re.M) == HEADINGS, page


def test_the_map_of_the_source_names_every_module():
    page = (ROOT / "docs" / "source-map.md").read_text()
    for path in sources():
        name = path.name if path.name != "__init__.py" else path.parent.name
        assert name in page, f"{path} is not on the map"


def test_links_between_pages_lead_somewhere():
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page}: {target}"
