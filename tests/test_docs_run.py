"""What the pages tell a reader to type is really run, in a folder of its own with a ledger of its own.

What is not run stands in NOT_RUN and UNFINISHED with the reason. Everything else must end without an error.
"""

from __future__ import annotations

import json
import os
import shutil
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
    "rookery elo *": MINUTES,
    "rookery runs rm *": "asks before it deletes; tests/test_cli_runs.py answers",
    "rookery zoo * NAME": "NAME stands for one of the networks that `rookery zoo` lists",
    "rookery lc0 export runs/*": READERS,
    "rookery * tiny.pb.gz*": "comes of the line before it, which trains",
    "rookery *net:*": READERS,
    "rookery *lookahead:*": READERS,
    "rookery match A B *": "A and B stand for players",
    "rookery match *": f"{MINUTES} in full; arena.md's first line is run, tests/arena plays the others' kinds",
    "rookery *uci:stockfish*": "needs Stockfish",
    "rookery *my_game.py*": "needs the reader's game; examples/connect_four.py is one, and run",
    "rookery marks *": MINUTES,
    "rookery bid * --play *": MINUTES,
    "rookery solve domineering --rows 8 *": f"{MINUTES} where two cores are shared",
    "rookery solve pylos --sample *": MINUTES,
    "rookery perft chess *": "the count is checked by tests/games/test_chess.py",
}
"""commands that are not run, by pattern, and why"""
ALWAYS = (
    "rookery match random random --game pylos *", "rookery bench scale", "rookery resume pylos_quick",
    "rookery match net:runs/four,*", "rookery play *net:runs/four,*", "rookery play *net:runs/rented,*",
)  # fmt: skip
"""run although a pattern above fits"""
OWN_RUNS = {
    "pylos_quick": "selfplay.games=40 selfplay.simulations=8 network.width=16 network.blocks=1 training.batch=64 "
    "training.fresh=64 training.warmup_steps=2 checkpoints.every=20 checkpoints.least_seconds=0 threads=1",
    "examples/connect_four.yaml": "selfplay.games=64 selfplay.simulations=8 network.width=16 network.blocks=1 "
    "training.batch=64 training.fresh=64 training.warmup_steps=2 threads=1",
}
"""runs that the reader of the pages has, in small: settings, and what is changed in them"""
HANDS = {"hands": [list(range(seat, 28, 4)) for seat in range(4)], "declaration": 3, "leader": 1, "plays": []}

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
    """Make a reader's folder: the examples, networks, a ledger with some games, runs, and data of a study."""
    from lc0_files import random_net
    from rookery.nets.configs import SMALL
    from rookery.nets.files import About, save_network
    from rookery.nets.lc0.files import write_file
    from rookery.nets.residual import build
    from rookery.studies.domineering_games import alphabeta_recipe, make_games

    folder = tmp_path_factory.mktemp("reader")
    (folder / "examples").symlink_to(ROOT / "examples")
    net = random_net("attention, dense, several heads", sizes={"layers": 4})
    write_file(folder / "network.pb.gz", net)
    about = About(game="domineering", rules_version=1, observation="tokens", step=0)
    save_network(folder / "small.pth", build(SMALL, seed=1), about)
    run(folder, ["rookery", "match", "random", "random", "--game", "pylos", "--games", "4"])
    run(folder, ["rookery", "match", "random", "random", "--game", "chess", "--games", "2"])
    make_games(folder / "study" / "data", 60, alphabeta_recipe(seed=1))
    (folder / "hands.jsonl").write_text(json.dumps(HANDS) + "\n")
    train_small(folder)
    return folder


def train_small(folder: Path) -> None:
    """Train the reader's runs; those of Pylos are all the same one."""
    for (config, changes), name in zip(OWN_RUNS.items(), ("pylos_quick", "four"), strict=True):
        changed = [word for change in changes.split() for word in ("--set", change)]
        run(folder, ["rookery", "train", config, *changed, "--folder", f"runs/{name}"])
    for name in ("pylos_v4", "pylos_v5", "rented"):
        shutil.copytree(folder / "runs" / "pylos_quick", folder / "runs" / name)
    (last,) = (folder / "runs" / "pylos_v5").glob("checkpoint_*40.pth")
    shutil.copyfile(last, last.with_name("checkpoint_50000.pth"))


def run(folder: Path, words: list[str], timeout: float = PATIENCE) -> str:
    """Run a command where the reader is, and whoever asks for moves is told to stop."""
    environment = dict(os.environ) | {
        "ROOKERY_LEDGER": str(folder / "games.db"), "COLUMNS": "160", "NO_COLOR": "1",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "rookery", *words[1:]], cwd=folder, env=environment, capture_output=True, text=True,
        input="quit\nEND\n", timeout=timeout,
    )  # fmt: skip
    fine = (0, 1) if words[1] == "check" else (0,)  # 1: it has found something, which in a run so small it may
    assert done.returncode in fine, f"{' '.join(words)}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
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
