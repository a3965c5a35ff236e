"""The visitors' games in memory and on the disk: how many are kept, and what happens when one of them cannot be."""

from __future__ import annotations

import errno
import json

import pytest

from rookery.web import store as module
from rookery.web.session import GameSession, Plan
from rookery.web.store import Store


def begun() -> GameSession:
    return GameSession(Plan("gomoku:size=9", frozenset([0]), "random"))


def kept_on_disk(folder, visitor: str, count: int) -> list[str]:
    """Write some games as an earlier server did."""
    store = Store(folder)
    ids = []
    for _ in range(count):
        kept = store.add(visitor, begun())
        store.change(kept)
        ids.append(kept.id)
    store.close()
    return ids


def test_a_game_that_was_forgotten_while_a_page_shows_it_can_go_on(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_OF_VISITOR", 2)
    store = Store(tmp_path)
    shown = store.add("anna", begun())
    for _ in range(3):
        store.add("anna", begun())
    assert store.find("anna", shown.id) is None
    assert shown.session.play(40, 0)
    store.change(shown)
    assert store.find("anna", shown.id) is shown
    store.close()
    assert [path.stem for path in tmp_path.glob("*.json")] == [shown.id]


def test_games_of_earlier_servers_count_too(tmp_path, monkeypatch):
    kept_on_disk(tmp_path, "anna", 3)
    bert = kept_on_disk(tmp_path, "bert", 1)
    monkeypatch.setattr(module, "MOST_OF_VISITOR", 2)
    store = Store(tmp_path)
    new = store.add("anna", begun())
    store.change(new)
    store.close()
    left = {path.stem for path in tmp_path.glob("*.json")}
    assert len(left) == 3
    assert left > {new.id, *bert}


def test_visitors_who_never_move_push_out_nobody_who_has(monkeypatch):
    monkeypatch.setattr(module, "MOST_GAMES", 5)
    store = Store(None)
    played = store.add("anna", begun())
    played.session.play(40, 0)
    store.change(played)
    for number in range(20):
        store.add(f"guest {number}", begun())
    assert store.find("anna", played.id) is played
    assert len(store.games) == 5


def test_of_many_changes_the_last_is_on_the_disk(tmp_path):
    store = Store(tmp_path)
    kept = store.add("anna", begun())
    for action in (0, 40, 2, 42, 4, 44, 6, 46):
        kept.session.make(action)
        store.change(kept)
    store.close()
    content = json.loads((tmp_path / f"{kept.id}.json").read_text())
    assert content["session"]["actions"] == kept.session.actions
    assert not store.unwritten


def test_a_disk_without_room_is_told_of_and_forgotten_when_there_is_room_again(tmp_path, monkeypatch):
    store = Store(tmp_path)
    kept = store.add("anna", begun())

    def full(path, content):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    with monkeypatch.context() as patched:
        patched.setattr(module, "write_whole", full)
        store.unwritten[kept.id] = b"{}"
        store.write_down(tmp_path)
    assert "No space left on device" in store.trouble
    assert store.unwritten == {kept.id: b"{}"}
    store.change(kept)
    store.close()
    assert store.trouble == ""


@pytest.mark.parametrize("said", [None, [], [1.0], [1.0, -2.0], [1.0, "x"], [1.0, float("nan")], {"0": 1}])
def test_times_that_make_no_sense_are_not_taken_over(tmp_path, said):
    (id,) = kept_on_disk(tmp_path, "anna", 1)
    path = tmp_path / f"{id}.json"
    content = json.loads(path.read_text())
    content["session"]["seconds"] = said
    path.write_text(json.dumps(content))
    store = Store(tmp_path)
    assert store.find("anna", id).session.seconds == [0.0, 0.0]
    store.close()
