"""Finding games by name, by options, by path and by entry point."""

from __future__ import annotations

from pathlib import Path

import pytest

import rookery
from rookery import BadInput, load
from support import CONNECT_FOUR, run_python


def test_options_are_read_from_the_text():
    game = load("domineering:rows=3,cols=5")
    assert game.options == {"rows": 3, "cols": 5}
    assert load(game.spec).options == game.options
    assert load("pylos:removal=greedy").spec == "pylos:removal=greedy"
    assert load("pylos").spec == "pylos"


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("hex", "there is no game 'hex'; there are domineering, pylos"),
        ("domineering:rows=x", "option rows of domineering must be a whole number, not 'x'"),
        ("domineering:rows=3,rows=4", "option 'rows' stands twice"),
        ("domineering:rows=", "'rows=' in 'domineering:rows=' should read option=value"),
        ("domineering:8", "options of domineering are written domineering:option=value"),
        ("domineering:height=3", "domineering has no option 'height'; its options are rows, cols"),
        ("nowhere/game.py", "the game file .*nowhere/game.py cannot be read: No such file"),
        (f"{CONNECT_FOUR}:rows=3", "connect_four has no option 'rows'; it has none"),
    ],
)
def test_a_wrong_name_or_option_is_refused(spec, complaint):
    with pytest.raises(BadInput, match=complaint):
        load(spec)


ENTRY_POINT = """
import sys
sys.path.insert(0, sys.argv[1])
from rookery import load
from rookery.games.library import names
print(names()[-1], load("four").name, load("four").start().legal().tolist())
"""


def test_an_installed_package_offers_its_game_by_an_entry_point(tmp_path):
    (tmp_path / "four_in_a_row.py").write_text(Path(CONNECT_FOUR).read_text())
    info = tmp_path / "four-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: four\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[rookery.games]\nfour = four_in_a_row\n")
    assert run_python(ENTRY_POINT, str(tmp_path)).strip() == "four connect_four [0, 1, 2, 3, 4, 5, 6]"


def test_the_package_offers_its_public_names_and_no_others():
    assert all(getattr(rookery, name) is not None for name in rookery.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = rookery.nothing


def test_importing_the_games_does_not_import_torch_or_the_command_line():
    loaded = run_python("import sys, rookery.games.library; print(*sorted({m.partition('.')[0] for m in sys.modules}))")
    assert "numba" in loaded.split()
    assert not {"torch", "typer", "rich", "nicegui"} & set(loaded.split())
