"""What the pages tell a reader to type is really run, in a folder of its own with a ledger of its own.

What is not run stands in NOT_RUN and UNFINISHED with the reason. Everything else must end without an error.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from doc_lines import Typed, commands, snippets, words_of
from support import ROOT, run_python

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("command line")]

PATIENCE = 1200  # seconds: the first command of a kind compiles, on a machine that may be busy
CARD, MINUTES, READERS = "meant for a card", "takes minutes", "needs a run or a file of the reader's"
NOT_RUN = {
    "rookery serve*": "serves until it is stopped; tests/test_cli_serve.py starts it and asks for pages",
    "rookery train *": f"{MINUTES}; tests/learn trains in small",
    "rookery study *": f"{MINUTES}, many {CARD}; tests/studies runs each in small",
    "rookery bench *": f"{MINUTES}: measures speed; tests/benchmarks runs each in small",
    "rookery sweep *": MINUTES,
    "rookery resume *": READERS,
    "rookery elo *": READERS,
    "rookery watch *": READERS,
    "rookery runs compare *": READERS,
    "rookery runs prune *": READERS,
    "rookery runs rm *": READERS,
    "rookery zoo * NAME": "NAME stands for one of the networks that `rookery zoo` lists",
    "rookery export pylos_v5*": READERS,
    "rookery export runs/*": READERS,
    "rookery lc0 export runs/*": READERS,
    "rookery * tiny.pb.gz*": "comes of the line before it, which trains",
    "rookery *net:*": READERS,
    "rookery *lookahead:*": READERS,
    "rookery match A B *": "A and B stand for players",
    "rookery match *": f"{MINUTES} in full; arena.md's first line is run, tests/arena plays the others' kinds",
    "rookery *uci:stockfish*": "needs Stockfish",
    "rookery *my_game.py*": "needs the reader's game; examples/connect_four.py is one, and run",
    "rookery *--positions hands.jsonl*": READERS,
    "rookery marks *": MINUTES,
    "rookery bid * --play *": MINUTES,
    "rookery solve domineering --rows 8 *": f"{MINUTES} where two cores are shared",
    "rookery solve pylos --sample *": MINUTES,
    "rookery perft chess *": "the count is checked by tests/games/test_chess.py",
}
"""commands that are not run, by pattern, and why"""
ALWAYS = ("rookery match random random --game pylos *",)
"""run although a pattern above fits"""

SETUP = "import numpy as np, torch, rookery\n"
POSITION_42 = (
    "position = rookery.load('texas42').start(3)\n"
    "for _ in range(16): position.play(int(position.legal()[0]))\n"
)  # fmt: skip
BEFORE = {
    "docs/lc0.md": "planes = torch.zeros(2, 112, 8, 8)\nposition = rookery.load('chess').start()\n",
    "docs/networks.md": """
from rookery.nets.configs import SMALL
from rookery.nets.residual import build
from rookery.nets.surgery import random_tokens
from rookery.search.trees import Trees, TreeSettings
observations = torch.zeros(3, 92)
tokens = random_tokens(SMALL, 4)
legal = torch.ones(4, 480, dtype=torch.bool)
small = build(SMALL, seed=1).eval()
trees = Trees(rookery.load("pylos"), TreeSettings(simulations=8), trees=4)
trees.begin([trees.game.start()] * 4)
""",
    "docs/training.md": """
def save(path): path.write_text("weights")
arrays, values, torch_state = {"counter": np.arange(3)}, {"games": 8}, None
""",
    "docs/search/trees.md": """
class Even:
    kind = "planes"
    def __call__(self, observations):
        return np.zeros((len(observations), 81), np.float32), np.zeros(len(observations), np.float32)
evaluator = Even()
""",
    "docs/search/solvers.md": """
from rookery.games import texas42
states = np.concatenate([rookery.load("texas42").start(seed).states for seed in (1, 2)])
""",
    "docs/search/worlds.md": POSITION_42,
}
"""what a snippet takes for granted; a page's snippets are run one after the other"""
UNFINISHED = {
    "docs/curriculum.md": "trains for minutes; tests/learn/test_curriculum.py does it on tiny boards",
    "docs/search/alphabeta.md 0": "part of a game's own file: STATE, lead and MOST are the game's",
    "docs/networks.md 5": CARD,
    "docs/studies/domineering.md": f"needs the study's games, and is {CARD}; tests/studies reads small ones",
}
"""snippets that are not run, by page or by page and number, and why"""


def why_not(line: Typed) -> str:
    """Return why a command is not run; nothing if it is."""
    text = " ".join(words_of(line.text))
    if any(fnmatchcase(text, pattern) for pattern in ALWAYS):
        return ""
    return next((why for pattern, why in NOT_RUN.items() if fnmatchcase(text, pattern)), "")


def typed_lines() -> list[Typed]:
    """Return the commands of the program, each once."""
    seen: dict[str, Typed] = {}
    for line in commands():
        if words_of(line.text)[0] == "rookery":
            seen.setdefault(" ".join(words_of(line.text)), line)
    return list(seen.values())


RUN = [line for line in typed_lines() if not why_not(line)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a reader's folder: the examples, an Lc0 network, a small transformer, and a ledger with some games."""
    from lc0_files import random_net
    from rookery.nets.configs import SMALL
    from rookery.nets.files import About, save_network
    from rookery.nets.lc0.files import write_file
    from rookery.nets.residual import build

    folder = tmp_path_factory.mktemp("reader")
    (folder / "examples").symlink_to(ROOT / "examples")
    net = random_net("attention, dense, several heads", sizes={"layers": 4})
    write_file(folder / "network.pb.gz", net)
    about = About(game="domineering", rules_version=1, observation="tokens", step=0)
    save_network(folder / "small.pth", build(SMALL, seed=1), about)
    run(folder, ["rookery", "match", "random", "random", "--game", "pylos", "--games", "4"])
    run(folder, ["rookery", "match", "random", "random", "--game", "chess", "--games", "2"])
    return folder


def run(folder: Path, words: list[str], timeout: float = PATIENCE) -> str:
    """Run a command where the reader is, and whoever asks for moves is told to stop."""
    environment = dict(os.environ) | {
        "ROOKERY_LEDGER": str(folder / "games.db"), "COLUMNS": "160", "NO_COLOR": "1",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "rookery", *words[1:]], cwd=folder, env=environment, capture_output=True, text=True,
        input="quit\nEND\n", timeout=timeout,
    )  # fmt: skip
    assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout


@pytest.mark.parametrize("line", RUN, ids=lambda line: f"{line}: {line.text.partition('  ')[0][:70]}")
def test_a_command_of_the_pages_runs(folder, line):
    said = run(folder, words_of(line.text))
    if "--json" in line.text:
        json.loads(said)


def test_what_is_not_run_is_listed_with_a_reason(record_property):
    left = [(line, why) for line in typed_lines() if (why := why_not(line))]
    record_property("not run", "\n".join(f"{line}: {line.text}: {why}" for line, why in left))
    for pattern in NOT_RUN:
        fitting = [line for line, _ in left if fnmatchcase(" ".join(words_of(line.text)), pattern)]
        assert fitting, f"{pattern} fits no command of the pages any more"
    assert len(RUN) >= 30


def page_snippets() -> dict[str, str]:
    """Join the snippets of each page that are run."""
    pages: dict[str, list[Typed]] = {}
    for snippet in snippets():
        pages.setdefault(snippet.page, []).append(snippet)
    joined = {}
    for page, found in pages.items():
        texts = [found[i].text for i in range(len(found)) if page not in UNFINISHED and f"{page} {i}" not in UNFINISHED]
        if texts:
            joined[page] = "\n".join(texts)
    return joined


@pytest.mark.parametrize("page", sorted(page_snippets()))
def test_the_snippets_of_a_page_run(folder, page, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("ROOKERY_LEDGER", str(folder / "games.db"))
    run_python(SETUP + BEFORE.get(page, "") + page_snippets()[page], timeout=PATIENCE)
