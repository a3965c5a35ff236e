"""The wheel: what is in it, and that it runs without the repository."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.request
import venv
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from support import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]

FOREIGN = ("PYTHON", "PYTEST", "NICEGUI", "ROOKERY", "COV")  # variables that tell a program of these tests
SCRIPT = """
import rookery
from rookery.arena.matches import MatchSettings

position = rookery.load("pylos").start()
reveal_type(position.observe())
position.play(1.5)
MatchSettings(games="many")
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from the files that belong to the repository."""
    if find_spec("hatchling") is None:
        pytest.skip("building needs hatchling: pip install hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT, check=True, capture_output=True, timeout=300,
    )  # fmt: skip
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into an environment that sees the dependencies, but neither the sources nor their install."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder / "env", with_pip=False)
    python = folder / "env" / "bin" / "python"
    site = Path(
        subprocess.run(
            [python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"],
            capture_output=True, text=True, check=True,
        ).stdout.strip()
    )  # fmt: skip
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index", "--quiet",
         "--disable-pip-version-check", str(wheel)],
        check=True, timeout=300,
    )  # fmt: skip
    # A folder named in a .pth is searched, and its own .pth files, of which one is the editable install, are not read.
    (site / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    (folder / "empty").mkdir()
    return folder


def environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    return kept | {
        "ROOKERY_CACHE": str(folder / "cache"), "ROOKERY_LEDGER": str(folder / "games.db"), "NO_COLOR": "1",
        "COLUMNS": "160", "HOME": str(folder / "empty"), "MPLCONFIGDIR": str(folder / "matplotlib"),
    }  # fmt: skip


def run(folder: Path, *words: str, given: str = "") -> str:
    done = subprocess.run(
        [folder / "env" / "bin" / words[0], *words[1:]], cwd=folder / "empty", env=environment(folder), input=given,
        capture_output=True, text=True, timeout=500,
    )  # fmt: skip
    assert done.returncode == 0, f"{words}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}"
    return done.stdout


def test_the_wheel_holds_what_is_needed_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    for needed in (
        "rookery/py.typed", "rookery/zoo/pylos.safetensors", "rookery/zoo/pylos.md",
        "rookery/studies/configs/pylos_quick.yaml", "rookery/studies/curricula/gomoku_curriculum_quick.yaml",
        "rookery/web/board.js", "rookery/web/style.css", "rookery/web/documents/pylos.md",
        "rookery/examples/connect_four.py", "rookery/games/pictures/chess.py",
    ):  # fmt: skip
        assert needed in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    sources = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*.py")}
    assert sources <= set(names)
    for name in names:
        assert not any(part in name for part in ("__pycache__", "tests/", ".nbi", ".nbc", ".pytest", ".yaml~")), name
        assert name.startswith(("rookery/", "rookery-")), name


def test_it_comes_from_the_wheel(installed):
    said = run(installed, "python", "-c", "import rookery; print(rookery.__file__)").strip()
    assert Path(said).is_relative_to(installed)


def test_its_commands_run_in_an_empty_folder(installed):
    import rookery

    assert rookery.__version__ in run(installed, "rookery", "--version")
    assert "texas42" in run(installed, "rookery", "games")
    assert "pylos" in run(installed, "rookery", "zoo")
    assert "parameters" in run(installed, "rookery", "zoo", "card", "pylos")
    assert "Usage" in run(installed, "rookery", "zoo", "play", "--help")
    four = ("--game", "domineering:rows=4,cols=4", "--games", "4")
    assert "4 games in 2 pairs" in run(installed, "rookery", "match", "random", "greedy", *four)
    run(installed, "pbrain-rookery", given="END\n")


def test_it_serves_a_board_and_a_study(installed):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = installed / "serve.log"
    with log.open("w") as said:
        serving = subprocess.Popen(
            [installed / "env" / "bin" / "rookery", "serve", "--port", str(port)],
            cwd=installed / "empty", env=environment(installed), stdout=said, stderr=said,
        )  # fmt: skip
    try:
        assert "Rookery: play" in page(serving, log, f"http://127.0.0.1:{port}/play/domineering")
        assert "Pylos" in page(serving, log, f"http://127.0.0.1:{port}/studies")
    finally:
        serving.send_signal(signal.SIGINT)
        try:
            serving.wait(30)
        except subprocess.TimeoutExpired:
            serving.kill()
            serving.wait()


def page(serving: subprocess.Popen[bytes], log: Path, address: str, patience: float = 900) -> str:
    """Load a page as soon as the server answers."""
    end = time.monotonic() + patience
    while True:
        assert serving.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(address, timeout=60) as answer:
                return answer.read().decode()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.5)


def test_its_types_are_seen(installed):
    script = installed / "empty" / "user.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--python-executable", str(installed / "env" / "bin" / "python"), "--strict",
         "--cache-dir", str(installed / "mypy"), "--follow-imports", "silent", script.name],
        cwd=script.parent, env=environment(installed), capture_output=True, text=True, timeout=500,
    )  # fmt: skip
    assert "ndarray" in done.stdout  # what reveal_type tells
    assert 'Argument 1 to "play" of "Position" has incompatible type "float"' in done.stdout
    assert 'Argument "games" to "MatchSettings" has incompatible type "str"' in done.stdout
    assert "import-untyped" not in done.stdout
