"""Disks that are full, read-only or gone: one clear error, nothing lost, and going on when there is room again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from faults.disks import largest_file, small_disk
from faults.killing import Child, rookery
from faults.test_arena_kills import games
from learn.support_runs import SMALL_BOARD

pytestmark = [pytest.mark.faults, pytest.mark.slow]

REASONS = {"full": "No space left on device", "read-only": "Read-only file system", "limited": "File too large"}
LIMIT = 700
"""bytes a file may have where that is limited: less than anything that is made here"""


def stopped(child: Child, *words: str) -> str:
    """Look at a process that could not write: it says why in one line, and what to do."""
    status, said = child.end()
    assert status in (1, 2), said
    assert "Traceback" not in said
    complaint = said[said.index("rookery: ") :]
    assert all(word in complaint for word in words), said
    assert len(complaint.strip().splitlines()) == 1, said
    return complaint


# ---- data ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Maker:
    """A command that makes files in a folder."""

    arguments: tuple[str, ...]
    file: str
    """what its complaint names"""

    def begin(self, folder: Path, how: Callable[..., Child]) -> Child:
        return how(*self.arguments, "--folder", str(folder))


MAKERS = {
    "domineering": Maker(("study", "domineering", "data", "--games", "3000", "--threads", "1"), "phase1_"),
    "texas42": Maker(
        ("study", "texas42", "data", "--kind", "positions", "--source", "random", "--games", "12", "--per-shard", "3",
         "--per-deal", "1", "--threads", "1", "--name", "some"),
        "data/some",
    ),
}  # fmt: skip


def files(folder: Path) -> dict[str, bytes]:
    """Return all files of a folder, but for locks."""
    found = (path for path in folder.rglob("*") if path.is_file() and not path.name.endswith("lock"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


@pytest.fixture(scope="module", params=MAKERS)
def maker(request, nursery, tmp_path_factory):
    """A maker, and what it makes where nothing is in its way."""
    folder = tmp_path_factory.mktemp(request.param)
    MAKERS[request.param].begin(folder, nursery.rookery).finish()
    return MAKERS[request.param], files(folder)


@pytest.mark.parametrize("state", REASONS)
def test_makers_of_data_say_what_is_wrong_with_the_disk_and_go_on_later(tmp_path, nursery, maker, state):
    (made_by, whole), begin = maker, nursery.rookery
    with small_disk(tmp_path / "disk", "8m") as disk:
        folder = disk.folder / "made"
        folder.mkdir()
        if state == "full":
            disk.fill_up(leaving=8192)
        elif state == "read-only":
            disk.remount("ro")
        else:
            begin = partial(rookery, preexec_fn=largest_file(LIMIT))
        complaint = stopped(made_by.begin(folder, begin), str(folder), REASONS[state], "the same command goes on")
        assert state == "read-only" or made_by.file in complaint
        disk.make_room()
        assert not any(name.endswith(".part") for name in files(folder))
        made_by.begin(folder, nursery.rookery).finish()
        assert files(folder) == whole


# ---- the ledger ----------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["full", "read-only"])
def test_a_match_whose_ledger_cannot_be_written_says_so_and_loses_no_game(tmp_path, nursery, state):
    def play(number: int) -> Child:
        options = ["--game", SMALL_BOARD, "--games", str(number), "--threads", "1", "--ledger", str(ledger)]
        return nursery.rookery("match", "random", "random", *options)

    with small_disk(tmp_path / "disk", "1m") as disk:
        ledger = disk.folder / "ledger.sqlite"
        play(10).finish()
        before = games(ledger)
        if state == "full":
            disk.fill_up(leaving=40_000)  # some games fit
        else:
            disk.remount("ro")
        reason = {"full": "the disk is full", "read-only": "is the folder writable?"}[state]
        stopped(play(10_000), f"the ledger {ledger} cannot be", reason)
        disk.make_room()
        assert games(ledger)[:10] == before
        assert all(len(game.moves) == len(game.actions) > 0 for game in games(ledger))
        there = len(games(ledger))
        play(10).finish()
        assert len(games(ledger)) == there + 10
