"""What the pages tell a reader to type is really run, in a folder of its own with a ledger of its own.

Some commands are run as they stand; some, which would take minutes, with smaller sizes behind them (QUICKLY, OWN_RUNS).
What is not run stands in NOT_RUN and UNFINISHED with the reason; `test_docs.py` reads it with the program's own parser.
Everything else must end without an error.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from arena.scripted import random_network
from doc_lines import Typed, commands, snippets, words_of
from support import ROOT, run_python

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("command line")]

PATIENCE = 1200  # seconds: the first command of a kind compiles, on a machine that may be busy
CARD, MINUTES, READERS = "meant for a card", "takes minutes", "needs a run or a file of the reader's"
NOT_RUN = {
    "rookery serve*": "serves until it is stopped; tests/test_cli_serve.py starts it and asks for pages",
    "rookery * --ray *": f"{MINUTES}; others with --ray are run, on a cluster of this machine; tests/cluster has more",
    "rookery train *": f"{MINUTES}; tests/learn trains in small",
    "rookery study *": f"{MINUTES}, many {CARD}; tests/studies runs each in small",
    "rookery bench *": f"{MINUTES}: measures speed; tests/benchmarks runs each in small",
    "rookery resume *": READERS,
    "rookery runs rm *": "asks before it deletes; tests/test_cli_runs.py answers",
    "rookery *net:runs/gomoku[9,_]*": READERS,
    "rookery match net:studies/*": READERS,
    "rookery watch runs/gomoku_curriculum": READERS,
    "rookery *lookahead:*": READERS,
    "rookery match A B *": "A and B stand for players",
    "rookery match *gomocup:*": f"{MINUTES}; tests/arena/test_gomocup.py plays such engines",
    "rookery *uci:stockfish*": "needs Stockfish",
    "rookery solve domineering --rows 8 *": f"{MINUTES} where two cores are shared",
}
"""commands that are not run, by pattern, and why"""
RATED = "--games 2 --round-robin-games 2 --search-iters 4 --references none"
SMALL_RUN = (
    "--set selfplay.games=16 --set selfplay.simulations=4 --set network.width=16 --set training.batch=32 "
    "--set training.fresh=32 --set training.warmup_steps=2 --set threads=1"
)
QUICKLY = {
    "rookery match random random --game pylos *": "",
    "rookery match net:runs/four,*": "",
    "rookery match net:tiny.pth,*": "--games 2",
    "rookery match net:zoo:gomoku15,*": "--games 2 --plies 12",
    "rookery match net:runs/pylos_v4,*": "--games 2",
    "rookery match mcts:sims=200 greedy *": "--games 2",
    "rookery match alphabeta:depth=4 *": "--games 2 --plies 12",
    "rookery match lc0:*": "--games 2 --plies 12",
    "rookery match eq:worlds=10 *": "--games 2",
    "rookery match rave:*": "--games 2",
    "rookery marks eq:worlds=10 *": "--games 2 --to 1",
    "rookery marks bidder:*": "--games 2 --to 1",
    "rookery marks heuristic *": "--games 2",
    "rookery bid * --play *": "--worlds 2",
    "rookery solve pylos --sample *": "--sample 10",
    "rookery perft chess *": "--depth 3",
    "rookery elo *": RATED,
    "rookery sweep *": SMALL_RUN,
    "rookery train pylos_quick --seeds 4": f"{SMALL_RUN} --set network.blocks=1",
    "rookery resume pylos_quick": "",
    "rookery bench scale": "",
    "rookery bench rules": "pylos --rounds 1 --seconds 0.05",
    "rookery bench rules my_game.py": "--rounds 1 --seconds 0.05",
    "rookery bench texas42 --deals 300 --json": "--deals 2",
    "rookery study domineering data": "--games 60",
    "rookery study domineering data --games *": "--games 60 --threads 1",
    "rookery study texas42 --preset full --plan": "",
    "rookery match net:runs/pylos_v5 * --ray *": "--games 2 --plies 12 --workers 1",
    "rookery study domineering data --phase 1 --ray *": "--games 60 --workers 1",
    "rookery study texas42 data * --ray *": "--games 4 --worlds 4 --workers 1",
    "rookery study chess --only lessons --ray *": "--preset quick --workers 1",
    "rookery train pylos_v5 --ray 10*": f"{SMALL_RUN} --set network.blocks=1 --folder runs/by_cluster --workers 1",
    "rookery resume runs/pylos_v5 --ray *": "--workers 1",
}
"""what is put behind a command to make it quick, by pattern; these are run although a pattern above may fit"""
STANDS_FOR = {"NAME": "pylos", "10.0.0.1:6379": "local"}
"""words of the pages that stand for something of the reader's"""
OWN_RUNS = {
    "rookery train pylos_quick": "selfplay.games=40 selfplay.simulations=8 network.width=16 network.blocks=1 "
    "training.batch=64 training.fresh=64 training.warmup_steps=2 checkpoints.every=20 checkpoints.least_seconds=0 "
    "threads=1",
    "rookery train examples/connect_four.yaml --folder runs/four": "selfplay.games=64 selfplay.simulations=8 "
    "network.width=16 network.blocks=1 training.batch=64 training.fresh=64 training.warmup_steps=2 threads=1",
    "rookery train chess_lc0_quick --folder runs/tiny": "stages.imitation.lessons.positions=600 "
    "stages.imitation.training.passes=1 stages.imitation.training.warmup_steps=2 stages.selfplay.selfplay.games=8 "
    "stages.selfplay.selfplay.simulations=16 stages.selfplay.selfplay.ply_limit=40",
}
"""commands that make the reader's runs, done before all others, and what is changed in the settings"""
HANDS = {"hands": [list(range(seat, 28, 4)) for seat in range(4)], "declaration": 3, "leader": 1, "plays": []}

TOKEN = secrets.token_hex(32)
"""of clusters that commands start: none is written to the home of whoever runs the tests"""
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


def plain(line: Typed) -> str:
    """Return a command without its comment, words apart by one blank."""
    return " ".join(words_of(line.text))


def why_not(line: Typed) -> str:
    """Return why a command is not run; nothing if it is."""
    if plain(line) in OWN_RUNS or fitting(QUICKLY, plain(line)) is not None:
        return ""
    return fitting(NOT_RUN, plain(line)) or ""


def fitting(table: dict[str, str], command: str) -> str | None:
    """Return what a table says of the first pattern that fits; None if none does."""
    return next((found for pattern, found in table.items() if fnmatchcase(command, pattern)), None)


def to_run(line: Typed) -> list[str]:
    """Return the words that are run for a command of the pages."""
    more = (fitting(QUICKLY, plain(line)) or "").split()
    return [STANDS_FOR.get(word, word) for word in words_of(line.text)] + more


def typed_lines() -> list[Typed]:
    """Return the commands of the program, each once."""
    seen: dict[str, Typed] = {}
    for line in commands():
        if words_of(line.text)[0] == "rookery":
            seen.setdefault(plain(line), line)
    return list(seen.values())


RUN = [line for line in typed_lines() if not why_not(line) and plain(line) not in OWN_RUNS]


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
    for place in ("my_game.py", "path/to/my_game.py"):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / "examples" / "connect_four.py", folder / place)
    net = random_net("attention, dense, several heads", sizes={"layers": 4})
    write_file(folder / "network.pb.gz", net)
    about = About(game="domineering", rules_version=1, observation="tokens", step=0)
    save_network(folder / "small.pth", build(SMALL, seed=1), about)
    shutil.copyfile(random_network("gomoku:size=9", "planes"), folder / "tiny.pth")
    run(folder, ["rookery", "match", "random", "random", "--game", "pylos", "--games", "4"])
    run(folder, ["rookery", "match", "random", "random", "--game", "chess", "--games", "2"])
    make_games(folder / "study" / "data", 60, alphabeta_recipe(seed=1))
    (folder / "hands.jsonl").write_text(json.dumps(HANDS) + "\n")
    train_small(folder)
    return folder


def train_small(folder: Path) -> None:
    """Train the reader's runs; those of Pylos are all the same one."""
    for command, changes in OWN_RUNS.items():
        run(folder, [*command.split(), *(word for change in changes.split() for word in ("--set", change))])
    run(folder, ["rookery", "lc0", "export", "runs/tiny", "tiny.pb.gz"])
    for name in ("pylos_v4", "pylos_v5", "rented"):
        shutil.copytree(folder / "runs" / "pylos_quick", folder / "runs" / name)
    (last,) = (folder / "runs" / "pylos_v5").glob("checkpoint_*40.pth")
    shutil.copyfile(last, last.with_name("checkpoint_50000.pth"))


def run(folder: Path, words: list[str], timeout: float = PATIENCE) -> str:
    """Run a command where the reader is, and whoever asks for moves is told to stop."""
    environment = dict(os.environ) | {
        "ROOKERY_LEDGER": str(folder / "games.db"), "COLUMNS": "160", "NO_COLOR": "1", "RAY_AUTH_TOKEN": TOKEN,
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
    said = run(folder, to_run(line))
    if "--json" in line.text:
        json.loads(said)


def test_what_is_not_run_is_listed_with_a_reason(record_property):
    left = {plain(line): why for line in typed_lines() if (why := why_not(line))}
    record_property("not run", "\n".join(f"{text}: {why}" for text, why in left.items()))
    for pattern in NOT_RUN:
        assert any(fnmatchcase(text, pattern) for text in left), f"{pattern} fits no command of the pages any more"
    for pattern in QUICKLY:
        assert any(fnmatchcase(plain(line), pattern) for line in RUN), f"{pattern} fits no command any more"
    assert {plain(line) for line in typed_lines()} >= set(OWN_RUNS)
    assert len(left) < len(typed_lines()) / 2


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
