"""What the command line shows while it works, and playing in a terminal.

What a command was asked for goes to standard output, progress and complaints to standard error.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.status import Status

from rookery.arena.player import Choice, Player, shown_to, turn_of, turn_seed
from rookery.arena.players import make_player
from rookery.arena.searching import Analyst
from rookery.errors import BadInput
from rookery.games import cache
from rookery.games.game import Game
from rookery.games.library import load
from rookery.games.position import Action, Position, Seat

out = Console(highlight=False, emoji=False)  # else the :100: of a player's text becomes a picture
err = Console(stderr=True, highlight=False, emoji=False)

PATIENCE = 0.5  # seconds before a wait is explained
HELP = "a move, or: moves, board, text, hint, undo, help, quit"


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


def progress_bar(shown: bool = True) -> Progress:
    """Make a progress bar with time left, and a note beside it for the rate, on standard error."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}", markup=False),
        console=err,
        transient=True,
        disable=not shown,
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


@contextmanager
def playing(texts: Sequence[str], game: Game) -> Iterator[list[Player]]:
    """Make players from their texts, and close them in the end."""
    with ExitStack() as closing_all:
        yield [closing_all.enter_context(closing(make_player(text, game))) for text in texts]


@contextmanager
def compiling_announced(name: str) -> Iterator[None]:
    """Tell the person who waits when a player is being compiled; while it thinks, nothing is said."""
    with waiting(waiting_text(name)):
        yield


def waiting_text(name: str) -> Callable[[], str]:
    """Return what says that a player is being compiled, from the moment on that it is; nothing before."""
    before = cache.MISSES[0]
    told = f"compiling {name} for this machine; next time it comes from the cache"
    return lambda: told if cache.MISSES[0] > before else ""


def chosen_by(player: Player, start: Position, position: Position, moves: Sequence[Action], seed: int) -> Choice:
    """Ask a player for a move."""
    with compiling_announced(player.name):
        return player.choose(turn_of(player, start, position, moves, seed=turn_seed(seed, 0, len(moves))))


def begin_game(player: Player, start: Position, seat: Seat) -> None:
    """Tell a player that a game begins."""
    with compiling_announced(player.name):
        player.new_game(shown_to(player, start, seat), seat)


def parse_seat(game: Game, text: str) -> Seat | None:
    """Read a seat given by number or name; None for 'none'."""
    if text == "none":
        return None
    named = {str(seat): seat for seat in range(game.seats)}
    named |= {game.seat_name(seat).lower(): seat for seat in range(game.seats)}
    if text.lower() not in named:
        raise BadInput(f"--seat {text!r}: {game.name} has the seats {', '.join(named)}, or none to watch")
    return named[text.lower()]


def watch(position: Position, players: Sequence[Player], seed: int, delay: float) -> None:
    """Show a game between players, one of each team: every position in a terminal, else moves and the end."""
    game, start = position.game, position.copy()
    moves: list[Action] = []
    seated = [players[game.teams[seat] % len(players)] for seat in range(game.seats)]
    for seat, player in enumerate(seated):
        begin_game(player, start, seat)
    out.print(describe(position), markup=False)
    while not position.over:
        seat = position.mover
        action = chosen_by(seated[seat], start, position, moves, seed).action
        move = position.move_text(action)
        position.play(action)
        moves.append(action)
        out.print(f"{len(moves):3d}  {game.seat_name(seat)} {move}", markup=False)
        if out.is_terminal and delay > 0:
            out.print(position.draw(), markup=False)
            time.sleep(delay)
    out.print(describe(position), markup=False)


class Session:
    """One game of a person against a player, who holds all other seats but those of the person's partners."""

    def __init__(
        self,
        position: Position,
        seat: Seat,
        seed: int,
        ask: Callable[[str], str],
        player: Player | None = None,
        partner: Player | None = None,
        adviser: Player | None = None,
    ):
        """Begin a game; without a partner of its own the person's team is filled up by the player."""
        self.position, self.seat, self.seed, self.ask = position, seat, seed, ask
        self.player = player or make_player("random", position.game)
        self.partner, self.adviser = partner or self.player, adviser
        self.start = position.copy()
        self.moves: list[Action] = []
        self.past: list[Position] = []

    def run(self) -> None:
        """Play until the game ends or the person leaves."""
        game = self.position.game
        for seat in range(game.seats):
            if seat != self.seat:
                begin_game(self.player_at(seat), self.start, seat)
        out.print(f"You are {game.seat_name(self.seat)}. Type {HELP}.", markup=False)
        self.show()
        while not self.position.over:
            if self.position.mover != self.seat:
                player = self.player_at(self.position.mover)
                action = chosen_by(player, self.start, self.position, self.moves, self.seed).action
                out.print(f"{self.named(player)} plays {self.position.move_text(action)}", markup=False)
                self.make(action)
                if not self.position.over and self.position.mover == self.seat:
                    self.show()
            elif not self.answer():
                return
        self.show()

    def player_at(self, seat: Seat) -> Player:
        """Return who holds a seat of the others."""
        teams = self.position.game.teams
        return self.partner if teams[seat] == teams[self.seat] else self.player

    def named(self, player: Player) -> str:
        """Name the player to move, with the seat where there are several."""
        game = self.position.game
        return player.name if game.seats == 2 else f"{game.seat_name(self.position.mover)} ({player.name})"

    def hint(self) -> None:
        """Ask the adviser, who sees what the person sees, unless it is an oracle."""
        if self.adviser is None:
            err.print("nobody gives hints; begin with --hint PLAYER", markup=False, style="red")
            return
        seed = turn_seed(self.seed, 1, len(self.moves))
        turn = turn_of(self.adviser, self.start, self.position, self.moves, seed=seed)
        with compiling_announced(self.adviser.name):
            if isinstance(self.adviser, Analyst):
                told = self.adviser.advice(turn)
            else:
                told = f"{self.adviser.name} would play {turn.position.move_text(self.adviser.choose(turn).action)}"
        out.print(told, markup=False)

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
            "hint": self.hint,
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

    def make(self, move: Action | str) -> None:
        """Play a move, remembering the position before it."""
        action = self.position.action(move) if isinstance(move, str) else move
        before = self.position.copy()
        self.position.play(action)
        self.past.append(before)
        self.moves.append(action)

    def undo(self) -> None:
        """Go back to the person's last decision."""
        turns = [i for i, position in enumerate(self.past) if position.mover == self.seat]
        if not turns:
            err.print("there is nothing to take back", style="red")
            return
        self.position = self.past[turns[-1]]
        del self.past[turns[-1] :], self.moves[turns[-1] :]
        self.show()

    @property
    def seen(self) -> Position:
        """The position as the person may see it."""
        return self.position.seen_by(self.seat)

    def show(self) -> None:
        """Draw what the person may see."""
        out.print(describe(self.seen), markup=False)
