"""Finding games by name, by options, by path and by entry point."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
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
    ("wrong", "complaint"),
    [
        ("hex", "there is no game 'hex'; there are chess, domineering, gomoku, pylos, texas42"),
        ("domineering:rows=x", "option rows of domineering must be a whole number, not 'x'"),
        ("domineering:rows=3,rows=4", "option 'rows' stands twice"),
        ("domineering:rows=", "'rows=' in 'domineering:rows=' should read option=value"),
        ("domineering:8", "'8' in 'domineering:8' should read option=value"),
        ("domineering:rows=１６", "option rows of domineering must be a whole number, not '１６'"),
        ("domineering:rows=1_6", "option rows of domineering must be a whole number, not '1_6'"),
        (None, "a game is given by its name or path, not by None"),
        ("domineering:height=3", "domineering has no option 'height'; its options are rows, cols"),
        ("nowhere/game.py", "the game file .*nowhere/game.py cannot be read: No such file"),
        (f"{CONNECT_FOUR}:rows=3", "connect_four has no option 'rows'; it has none"),
    ],
)
def test_a_wrong_name_or_option_is_refused(wrong, complaint):
    with pytest.raises(BadInput, match=complaint):
        load(wrong)


def test_an_option_given_twice_is_refused():
    with pytest.raises(BadInput, match="option 'rows' of domineering is given twice, as '3' and 4"):
        load("domineering:rows=3", rows=4)


def test_a_path_may_hold_colons_and_equals_signs(tmp_path):
    folder = tmp_path / "a:b=c"
    folder.mkdir()
    path = folder / "colon_game.py"
    path.write_text(Path(CONNECT_FOUR).read_text().replace("connect_four_mover", "colon_mover"))
    game = load(path)
    assert game.name == "connect_four"
    assert (game.spec, game.label) == (str(path), "connect_four")
    assert load(game.spec).start().text() == game.start().text()


OPTIONS = """
    def __init__(self, flag: bool = True, share: float = 0.5, word: str | int = "any"):
        self.flag, self.share, self.word = flag, share, word

    def text("""


def test_options_are_read_as_the_types_they_declare(tmp_path):
    path = tmp_path / "option_game.py"
    text = Path(CONNECT_FOUR).read_text().replace("connect_four_mover", "option_mover")
    path.write_text(text.replace("    def text(", OPTIONS.lstrip("\n"), 1))
    assert load(f"{path}:flag=false,share=0.25,word=7").options == {"flag": False, "share": 0.25, "word": 7}
    assert load(f"{path}:word=seven").options["word"] == "seven"
    with pytest.raises(BadInput, match="option flag of connect_four must be true or false, not 'no'"):
        load(f"{path}:flag=no")
    with pytest.raises(BadInput, match="option share of connect_four must be a number, not 'half'"):
        load(f"{path}:share=half")


def test_one_file_loaded_by_many_threads_is_one_game(tmp_path):
    path = tmp_path / "thread_game.py"
    path.write_text(Path(CONNECT_FOUR).read_text().replace("connect_four_mover", "thread_mover"))
    with ThreadPoolExecutor(8) as pool:
        games = list(pool.map(load, [str(path)] * 8))
    assert len({type(game) for game in games}) == 1


ENTRY_POINT = """
import sys
sys.path.insert(0, sys.argv[1])
from rookery import load
from rookery.games.library import names
print(names()[-1], load("four").name, load("four").start().legal().tolist())
"""


def offer(folder: Path, value: str) -> None:
    """Make the folder look like one into which a package with an entry point was installed."""
    info = folder / "four-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: four\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[rookery.games]\nfour = {value}\n")


def test_an_installed_package_offers_its_game_by_an_entry_point(tmp_path):
    (tmp_path / "four_in_a_row.py").write_text(Path(CONNECT_FOUR).read_text())
    offer(tmp_path, "four_in_a_row")
    assert run_python(ENTRY_POINT, str(tmp_path)).strip() == "four connect_four [0, 1, 2, 3, 4, 5, 6]"


def test_a_broken_entry_point_is_named_and_hides_no_other_game(tmp_path):
    offer(tmp_path, "missing_module")
    environment = dict(os.environ) | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    command = [sys.executable, "-m", "rookery"]
    listed = subprocess.run([*command, "games"], capture_output=True, text=True, env=environment)
    assert listed.returncode == 0
    assert "pylos" in listed.stdout
    assert "four: the entry point 'missing_module' fails: ModuleNotFoundError" in listed.stderr
    shown = subprocess.run([*command, "show", "four"], capture_output=True, text=True, env=environment)
    assert shown.returncode == 2
    assert "Traceback" not in shown.stderr


LENGTHS = """
import sys
sys.path.insert(0, sys.argv[1])
from rookery import load
from rookery.search.playout import random_games
print(random_games(load("four"), 100).plies.sum())
"""


def test_an_edit_in_any_file_of_an_installed_package_takes_effect(tmp_path):
    package = tmp_path / "fours"
    package.mkdir()
    text = Path(CONNECT_FOUR).read_text()
    begin, end = text.index("@njit"), text.index('@implements("start"')
    (package / "__init__.py").write_text("")
    board = package / "board.py"
    board.write_text("from numba import njit, uint64\n\n\n" + text[begin:end])
    (package / "four.py").write_text(
        "from fours.board import has_line\n" + text[:begin].partition('"""\n')[2] + text[end:]
    )
    offer(tmp_path, "fours.four")
    before = int(run_python(LENGTHS, str(tmp_path), cache=tmp_path / "cache"))
    board.write_text(board.read_text().replace("2 * step", "1 * step"))
    assert int(run_python(LENGTHS, str(tmp_path), cache=tmp_path / "cache")) < before


def test_the_package_offers_its_public_names_and_no_others():
    assert all(getattr(rookery, name) is not None for name in rookery.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = rookery.nothing


def test_importing_the_games_does_not_import_torch_or_the_command_line():
    loaded = run_python("import sys, rookery.games.library; print(*sorted({m.partition('.')[0] for m in sys.modules}))")
    assert "numba" in loaded.split()
    assert not {"torch", "typer", "rich", "nicegui"} & set(loaded.split())
