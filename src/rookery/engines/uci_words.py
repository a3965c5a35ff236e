"""What a manager says to a UCI engine: positions, and what a search may spend."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from rookery.arena.searching import INCREMENT_SHARE, MOST_OF_CLOCK, MOVES_AHEAD
from rookery.errors import BadInput
from rookery.games.chess import NO_PROGRESS, Chess
from rookery.games.chess_text import UCI
from rookery.games.position import Action, Position
from rookery.games.rules import play
from rookery.lc0.positions import usual_fen
from rookery.lc0.search import legal_actions, searchable

NUMBER = re.compile(r"[+-]?[0-9]{1,15}")
NUMBERS = ("nodes", "depth", "mate", "movetime", "wtime", "btime", "winc", "binc", "movestogo")
SWITCHES = ("infinite", "ponder")
WORDS = (*NUMBERS, *SWITCHES, "searchmoves")
MOST_MOVES_AHEAD = 50
LEAST = 0.005  # seconds
WAY_OF_A_MOVETIME = 0.1  # of a time for one move, at most, is kept back


# ---- positions -----------------------------------------------------------------------------------


def read_position(words: Sequence[str], game: Chess) -> tuple[Position, Position, tuple[Action, ...]]:
    """Read `startpos` or `fen ...`, with `moves ...` behind; return it, where it began, and the moves between.

    Moves go on through draws that nobody has claimed. Beyond a hundred plies without progress the game counts as begun
    anew.
    """
    split = words.index("moves") if "moves" in words else len(words)
    head, moves = list(words[:split]), words[split + 1 :]
    if head and head[0] == "fen":
        head = head[1:]
    elif head[:1] != ["startpos"]:
        raise BadInput("position should be followed by startpos or fen")
    start = game.position(usual_fen(" ".join(head)))
    position, made = start.copy(), list[Action]()
    for move in moves:
        if int(position.state["since"]) >= NO_PROGRESS:
            start, made = searchable(position), []
            position = start.copy()
        action = read_move(position, move)
        play(position.state, action)
        made.append(action)
    return position, start, tuple(made)


def read_move(position: Position, text: str) -> Action:
    """Read a move, in UCI alone; refuse one that is not legal."""
    if not UCI.fullmatch(text):
        raise BadInput(f"{text[:20]!r} is no move like e2e4 or e7e8q")
    action = position.game.parse_move(position.state, text)
    if action not in legal_actions(position):
        raise BadInput(f"{text} is not legal in {position.text()!r}")
    return action


def read_moves(position: Position, texts: Sequence[str]) -> tuple[tuple[Action, ...], list[str]]:
    """Read the moves among some texts; return them, and why the others are none."""
    moves, wrong = list[Action](), list[str]()
    for text in texts:
        try:
            moves.append(read_move(position, text))
        except BadInput as error:
            wrong.append(str(error))
    return tuple(moves), wrong


# ---- go ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Go:
    """What a search may spend."""

    numbers: dict[str, int] = field(default_factory=dict)
    infinite: bool = False
    ponder: bool = False
    only: tuple[str, ...] = ()
    """moves that are to be searched"""

    @property
    def limited(self) -> bool:
        """Whether anything but a word of the manager ends it."""
        return not self.infinite and bool(self.numbers)

    def at_least_one(self, name: str) -> int | None:
        """Return a limit, which is 1 at least; None if it is not given."""
        return max(1, self.numbers[name]) if name in self.numbers else None

    def seconds(self, white_moves: bool, overhead: float) -> float | None:
        """Return the time for the move; None if there is no limit of time."""
        if self.infinite:
            return None
        times = []
        if "movetime" in self.numbers:
            given = self.numbers["movetime"] / 1000
            times.append(given - min(overhead, WAY_OF_A_MOVETIME * given))
        clock = "wtime" if white_moves else "btime"
        if clock in self.numbers:
            left = self.numbers[clock] / 1000 - overhead
            step = max(0, self.numbers.get("winc" if white_moves else "binc", 0)) / 1000
            moves = min(max(1, self.numbers.get("movestogo", MOVES_AHEAD)), MOST_MOVES_AHEAD)
            most = MOST_OF_CLOCK if moves > 1 else 0.9
            times.append(min(left / moves + INCREMENT_SHARE * step, most * left))
        return max(LEAST, min(times)) if times else None


def read_go(words: Sequence[str]) -> tuple[Go, list[str]]:
    """Read what follows `go`; return it, and the words that mean nothing."""
    numbers, switches, only, strange = dict[str, int](), set[str](), list[str](), list[str]()
    i = 0
    while i < len(words):
        word, i = words[i], i + 1
        if word in NUMBERS and i < len(words) and NUMBER.fullmatch(words[i]):
            numbers[word] = int(words[i])
            i += 1
        elif word in SWITCHES:
            switches.add(word)
        elif word == "searchmoves":
            while i < len(words) and words[i] not in WORDS:
                only.append(words[i])
                i += 1
        else:
            strange.append(word)
    return Go(numbers, "infinite" in switches, "ponder" in switches, tuple(only)), strange
