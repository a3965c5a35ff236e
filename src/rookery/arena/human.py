"""A person at a terminal, as a player of matches. Talk goes to standard error: standard output is for results."""

from __future__ import annotations

import sys
from collections.abc import Callable

from rookery.arena.player import Choice, Player, PlayerFailed, Turn
from rookery.errors import BadInput

HELP = "a move, or: moves, board, text, help, quit"


def read_line() -> str:
    """Read a line from standard input; nothing at all at its end."""
    return sys.stdin.readline() if sys.stdin else ""


def tell(text: str) -> None:
    """Write to standard error."""
    sys.stderr.write(text)
    sys.stderr.flush()


class HumanPlayer(Player):
    """Whoever sits at the terminal."""

    at_terminal = True

    def __init__(self, read: Callable[[], str] = read_line, write: Callable[[str], None] = tell):
        self.read, self.write = read, write

    def choose(self, turn: Turn) -> Choice:
        """Show the position and ask until a legal move is given."""
        position, game = turn.position, turn.position.game
        name = game.seat_name(position.mover)
        self.write(f"{position.draw()}\n{name} to move: {HELP}\n")
        answers: dict[str, Callable[[], str]] = {
            "moves": lambda: " ".join(position.moves()),
            "board": position.draw,
            "text": position.text,
            "help": lambda: HELP,
            "": lambda: HELP,
        }
        while True:
            self.write(f"{name}> ")
            line = self.read()
            word = line.strip()
            if not line or word == "quit":
                raise PlayerFailed(f"the person playing {name} has left")
            if word in answers:
                self.write(answers[word]() + "\n")
                continue
            try:
                action = position.action(word)
                position.check_legal(action, word)
            except BadInput as error:
                self.write(f"{error}\n")
            else:
                return Choice(action)
