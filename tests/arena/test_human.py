"""A person as a player."""

from __future__ import annotations

import pytest

from arena.scripted import turn_at
from rookery import load
from rookery.arena.human import HumanPlayer
from rookery.arena.player import PlayerFailed

GAME = "domineering:rows=3,cols=3"


def session(*lines):
    """Make a person who types lines and then nothing more, and a list of what is shown."""
    shown: list[str] = []
    given = iter(lines)
    return HumanPlayer(lambda: next(given, ""), shown.append), shown


def test_a_person_is_asked_until_the_move_is_legal():
    position = load(GAME).start()
    player, shown = session("help\n", "moves\n", "board\n", "text\n", "\n", "foo\n", "a1-b1\n", " a1-a2 \n")
    assert position.move_text(player.choose(turn_at(position)).action) == "a1-a2"
    told = "".join(shown)
    assert told.count(position.draw()) == 2
    assert " ".join(position.moves()) in told
    assert position.text() + "\n" in told
    assert "'foo' is no square of the board" in told
    assert "move 'a1-b1' is not legal" in told
    assert told.count("Vertical> ") == 8


@pytest.mark.parametrize("lines", [(), ("moves\n",), ("quit\n",)])
def test_the_end_of_input_gives_the_game_up(lines):
    player, _ = session(*lines)
    with pytest.raises(PlayerFailed, match="the person playing Vertical has left"):
        player.choose(turn_at(load(GAME).start()))


def test_a_person_is_shown_the_own_hand_only():
    position = load("texas42").start(3)
    player, shown = session("board\n", "text\n", f"{position.moves()[0]}\n")
    player.choose(turn_at(position))
    assert position.text() not in "".join(shown)
    assert position.seen_by(0).text() in "".join(shown)
