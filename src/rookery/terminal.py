"""What the command line shows while it works, and playing in a terminal.

What a command was asked for goes to standard output, progress and complaints to standard error.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.status import Status

from rookery.errors import BadInput
from rookery.games import cache
from rookery.games.game import Game
from rookery.games.library import load
from rookery.games.position import Position, Seat
from rookery.games.rng import random_below

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)

PATIENCE = 0.5  # seconds before a wait is explained
HELP = "a move, or: moves, board, text, undo, help, quit"


@contextmanager
def waiting(message: Callable[[], str]) -> Iterator[None]:
    """Show a spinner if the body takes longer than half a second, with a message that may change meanwhile."""
    finished = threading.Event()
    status, shown = Status("", console=err), ""

    def show() -> None:
        nonlocal shown
        while not finished.wait(PATIENCE):
            if message() != shown:
                shown = message()
                status.update(shown)
                status.start()  # shows nothing where there is no terminal
                if not err.is_terminal:
                    err.print(shown, markup=False, soft_wrap=True)

    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        finished.set()
        thread.join()
        status.stop()


def prepared(spec: str, *uses: str) -> Game:
    """Load a game and compile some uses of it, or take them from the cache, telling the person who waits."""
    from rookery.search.prepare import prepare

    before = cache.MISSES[0]

    def message() -> str:
        if cache.MISSES[0] == before:
            return f"loading {spec}"
        return f"compiling {spec} ({', '.join(uses)}) for this machine; next time it comes from the cache"

    with waiting(message):
        game = load(spec)
        for use in uses:
            prepare(game, use)
    return game


def progress_bar() -> Progress:
    """Make a progress bar with time left, and a note beside it for the rate, on standard error."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
        console=err,
        transient=True,
    )


def facts_of(game: Game) -> dict[str, Any]:
    """Return the facts of a game, for JSON."""
    facts = ("name", "version", "summary", "seats", "teams", "information", "actions", "most_legal", "longest")
    found = {fact: getattr(game, fact) for fact in facts}
    return found | {
        "options": game.options,
        "observations": game.observations,
        "symmetries": game.symmetries().names,
    }


def games_text(games: list[Game]) -> str:
    """Say what there is to play, in lines of less than 80 columns."""
    lines = []
    for game in games:
        count = len(game.symmetries())
        lines.append(f"{game.name:12s} {game.summary}")
        lines.append(
            f"{'':12s} {game.seats} seats, {game.actions} actions, at most {game.longest} plies, "
            f"{count} {'symmetry' if count == 1 else 'symmetries'}"
        )
        lines += [f"{'':12s}   {name}={value}" for name, value in game.options.items()]
    return "\n".join(lines)


def result_text(position: Position) -> str:
    """Say how a finished game ended."""
    game = position.game
    winners = [game.seat_name(seat) for seat in range(game.seats) if position.payoff(seat) > 0]
    return f"{' and '.join(winners)} won" if winners else "a draw"


def describe(position: Position) -> str:
    """Draw a position and say who is to move or how it ended."""
    state = result_text(position) if position.over else f"{position.game.seat_name(position.mover)} to move"
    return f"{position.draw()}\n{state}"


def random_choice(position: Position, seed: int, ply: int) -> str:
    """Choose a legal move at random."""
    actions = position.legal()
    return position.move_text(int(actions[random_below(len(actions), seed, 0, ply)]))


def parse_seat(game: Game, text: str) -> Seat | None:
    """Read a seat given by number or name; None for 'none'."""
    if text == "none":
        return None
    named = {str(seat): seat for seat in range(game.seats)}
    named |= {game.seat_name(seat).lower(): seat for seat in range(game.seats)}
    if text.lower() not in named:
        raise BadInput(f"--seat {text!r}: {game.name} has the seats {', '.join(named)}, or none to watch")
    return named[text.lower()]


def watch(position: Position, seed: int, delay: float) -> None:
    """Let random play against itself and show it, every position in a terminal, else moves and the end."""
    out.print(describe(position), markup=False)
    ply = 0
    while not position.over:
        move, seat = random_choice(position, seed, ply), position.mover
        position.play(move)
        ply += 1
        out.print(f"{ply:3d}  {position.game.seat_name(seat)} {move}", markup=False)
        if out.is_terminal and delay > 0:
            out.print(position.draw(), markup=False)
            time.sleep(delay)
    out.print(describe(position), markup=False)


class Session:
    """One game of a person against random play."""

    def __init__(self, position: Position, seat: Seat, seed: int, ask: Callable[[str], str]):
        self.position, self.seat, self.seed, self.ask = position, seat, seed, ask
        self.past: list[Position] = []

    def run(self) -> None:
        """Play until the game ends or the person leaves."""
        game = self.position.game
        out.print(f"You are {game.seat_name(self.seat)}. Type {HELP}.", markup=False)
        self.show()
        while not self.position.over:
            if self.position.mover != self.seat:
                move = random_choice(self.position, self.seed, len(self.past))
                self.make(move)
                out.print(f"random plays {move}", markup=False)
                if not self.position.over and self.position.mover == self.seat:
                    self.show()
            elif not self.answer():
                return
        self.show()

    def answer(self) -> bool:
        """Take one line from the person; return whether to go on."""
        try:
            line = self.ask(f"{self.position.game.seat_name(self.seat)}> ").strip()
        except (EOFError, RuntimeError, KeyboardInterrupt):  # RuntimeError: standard input is closed
            line = "quit"
        if line == "quit":
            out.print(f"left at {self.seen.text()}", markup=False, soft_wrap=True)
            return False
        commands: dict[str, Callable[[], None]] = {
            "moves": lambda: out.print(" ".join(self.position.moves()), markup=False),
            "board": self.show,
            "text": lambda: out.print(self.seen.text(), markup=False, soft_wrap=True),
            "undo": self.undo,
            "help": lambda: out.print(HELP, markup=False),
            "": lambda: None,
        }
        if line in commands:
            commands[line]()
            return True
        try:
            self.seen.play(line)  # a complaint about the whole position would tell what is hidden
            self.make(line)
        except BadInput as error:
            err.print(f"{error}", markup=False, style="red")
        return True

    def make(self, move: str) -> None:
        """Play a move, remembering the position before it."""
        before = self.position.copy()
        self.position.play(move)
        self.past.append(before)

    def undo(self) -> None:
        """Go back to the person's last decision."""
        turns = [i for i, position in enumerate(self.past) if position.mover == self.seat]
        if not turns:
            err.print("there is nothing to take back", style="red")
            return
        self.position = self.past[turns[-1]]
        del self.past[turns[-1] :]
        self.show()

    @property
    def seen(self) -> Position:
        """The position as the person may see it."""
        return self.position.seen_by(self.seat)

    def show(self) -> None:
        """Draw what the person may see."""
        out.print(describe(self.seen), markup=False)
