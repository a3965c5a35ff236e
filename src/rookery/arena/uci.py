"""Chess engines that speak UCI.

Each move is asked for with the whole game (`position ... moves ...`), so an engine can take up a game anywhere. In
Chess960 the engine is told so, and castling is written as the king taking his rook.

Engines count in centipawns. A value in [-1, 1] is made of them by 2 / (1 + exp(-0.00368208 cp)) - 1, a curve fitted to
games of people, unless the engine itself gives its chances to win, draw and lose.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from contextlib import suppress

from rookery.arena.engine import LONGEST_NAME, UNTIMED, USUAL, EnginePlayer, EngineSettings, milliseconds
from rookery.arena.player import Choice, PlayerFailed, Turn
from rookery.arena.searching import Analyst
from rookery.arena.texts import allowed_text
from rookery.errors import BadInput
from rookery.games.chess import Chess
from rookery.games.chess_fen import START_FEN
from rookery.games.chess_text import UCI
from rookery.games.game import Game
from rookery.games.options import one_of, whole_number
from rookery.games.position import Action, Position
from rookery.search.analysis import Analysis, Line

WINNING_CHANCES = 0.00368208  # a centipawn
MOST = 2**63
LONGEST_OPTION = 4096  # characters of a line that are looked at for an option
CLOCK_SHARE = 0.8  # of what is left on the clock, at most, for a move with a time of its own
CHESS960, MULTIPV = "UCI_Chess960", "MultiPV"

OPTION = re.compile(r"option\s++name\s++(\S.*?)\s++type\s++(\S+)(.*)")  # a row of blanks is looked at once
NUMBERS = {key: re.compile(rf"(?<!\S){key} (\d{{1,18}})(?!\S)") for key in ("depth", "nodes", "multipv")}
SCORE = re.compile(r"(?<!\S)score (cp|mate) (-?\d{1,9})(?: (lowerbound|upperbound))?(?!\S)")
CHANCES = re.compile(r"(?<!\S)wdl (\d{1,9}) (\d{1,9}) (\d{1,9})(?!\S)")
PLAY = re.compile(r"(?<!\S)pv (.+)")


# ---- what is sent --------------------------------------------------------------------------------


def position_command(turn: Turn) -> str:
    """Write the game so far."""
    game, played = turn.start.game, turn.start.copy()
    head, _, earlier = played.text().partition(" moves ")
    usual = head == START_FEN and isinstance(game, Chess) and not game.king_takes_rook
    moves = earlier.split()
    for action in turn.moves:
        moves.append(played.move_text(action))
        played.play(action)
    return " ".join(["position", *(["startpos"] if usual else ["fen", head]), *(["moves"] if moves else []), *moves])


def go_command(turn: Turn, settings: EngineSettings) -> tuple[str, float]:
    """Write what a search may spend, and tell how many seconds that is."""
    words: list[str] = []
    for name, limit in (("depth", settings.depth), ("nodes", settings.nodes)):
        words += [] if limit is None else [name, str(limit)]
    given = turn.seconds if turn.clock is None else None  # an engine shares out a clock for itself
    times = [seconds for seconds in (settings.time, given) if seconds is not None]
    if times and turn.clock is not None:
        times.append(CLOCK_SHARE * max(0.0, turn.clock[turn.position.mover]))
    if not times and not words and turn.clock is None:
        times = [USUAL]
    if times:
        return " ".join(["go", *words, "movetime", milliseconds(min(times))]), min(times)
    if turn.clock is None:
        return " ".join(["go", *words]), UNTIMED
    white, black = (milliseconds(left) for left in turn.clock)
    step = milliseconds(turn.increment) if turn.increment else "0"
    words = ["go", *words, "wtime", white, "btime", black, "winc", step, "binc", step]
    return " ".join(words), max(0.0, turn.clock[turn.position.mover])


# ---- what comes back -----------------------------------------------------------------------------


def number_in(info: str, key: str, otherwise: int) -> int:
    """Read a number of an info line."""
    found = NUMBERS[key].search(info)
    return int(found[1]) if found else otherwise


def value_in(info: str) -> float | None:
    """Read the value of an info line for the player to move; None if it names none."""
    score, chances = SCORE.search(info), CHANCES.search(info)
    if score and score[1] == "mate":
        return 1.0 if int(score[2]) > 0 else -1.0
    if chances and sum(map(int, chances.groups())) > 0:
        win, draw, loss = map(int, chances.groups())
        return (win - loss) / (win + draw + loss)
    return math.tanh(WINNING_CHANCES * int(score[2]) / 2) if score else None


def line_in(info: str, position: Position) -> Line | None:
    """Read the moves of an info line as far as they make sense; None if it has no value or no move."""
    value, play = value_in(info), PLAY.search(info)
    moves = readable_moves(play[1].split(), position) if play else ()
    return Line(moves[0], value, moves=moves) if moves and value is not None else None


def readable_moves(words: Sequence[str], position: Position) -> tuple[Action, ...]:
    """Read moves one after the other, up to the first that is none."""
    position, actions = position.copy(), []
    for word in words:
        try:
            action = read_move(word, position)
            position.play(action)
        except BadInput:
            break
        actions.append(action)
    return tuple(actions)


def read_move(word: str, position: Position) -> Action:
    """Read a move of an engine, in UCI only."""
    if not UCI.fullmatch(word):
        raise BadInput(f"{word!r} is no move in UCI, like e2e4 or e7e8q")
    return position.action(word)


def analysis_of(infos: dict[int, str], position: Position, action: Action | None) -> Analysis | None:
    """Put together what an engine has told of its lines; None if it has told nothing of use."""
    read = [(info, line_in(info, position)) for _, info in sorted(infos.items())]
    lines = [(info, line) for info, line in read if line]
    if not lines:
        return None
    info, best = lines[0]
    score = SCORE.search(info)
    return Analysis(
        action=best.action if action is None else action,
        value=best.value,
        lines=tuple(line for _, line in lines),
        nodes=number_in(info, "nodes", 0),
        depth=number_in(info, "depth", 0),
        proven=bool(score and score[1] == "mate" and not score[3]),
    )


# ---- the engine ----------------------------------------------------------------------------------


class UciPlayer(EnginePlayer, Analyst):
    """A chess engine."""

    protocol = "uci"
    farewell = "quit"

    def __init__(self, game: Game, command: Sequence[str], settings: EngineSettings):
        super().__init__(game, command, settings)
        self.options: dict[str, tuple[str, str, str]] = {}  # name in small letters -> name, type, the rest
        if settings.extras:
            self.check_options()

    def check_options(self) -> None:
        """Start the engine to see whether it has the given options; how else it fails is told with the first game."""
        with suppress(PlayerFailed):
            self.guarded(self.open)

    def greet(self) -> None:
        """Ask for name and options, and set those that are given."""
        self.title, self.options = "", {}
        self.send("uci")
        for line in self.lines("'uciok' to 'uci'", self.settings.start):
            if line.startswith("id name "):
                self.title = line.removeprefix("id name ").strip()[:LONGEST_NAME]
            option = OPTION.fullmatch(line[:LONGEST_OPTION])
            if option:
                self.options[option[1].lower()] = (option[1], option[2], option[3])
            if line == "uciok":
                break
        self.set_options()
        self.wait_until_ready(self.settings.start)

    def set_options(self) -> None:
        """Set the given options, and Chess960 if it is played."""
        wanted = dict(self.settings.extras)
        if isinstance(self.game, Chess) and self.game.king_takes_rook:
            wanted[CHESS960] = "true"
        for name, value in wanted.items():
            known = self.options.get(name.lower())
            if known is None:
                have = [known for known, _, _ in self.options.values()]
                raise BadInput(f"{self.label} has no option {name!r}; {allowed_text(name, have, 'its options are')}")
            check_value(self.label, known, value)
            self.send(f"setoption name {known[0]} value {value}")

    def wait_until_ready(self, seconds: float) -> None:
        """Wait until the engine has done all it was told."""
        self.send("isready")
        for line in self.lines("'readyok' to 'isready'", seconds):
            if line == "readyok":
                break
        self.heard()

    def begin_game(self) -> None:
        given = (name.lower() for name in self.settings.extras)
        if self.lines_wanted > 1 and MULTIPV.lower() in self.options and MULTIPV.lower() not in given:
            self.send(f"setoption name {MULTIPV} value {self.lines_wanted}")
        self.send("ucinewgame")
        self.wait_until_ready(self.settings.start)

    def answer(self, turn: Turn) -> Choice:
        self.send(position_command(turn))
        self.wait_until_ready(self.settings.start)
        command, seconds = go_command(turn, self.settings)
        self.send(command)
        infos: dict[int, str] = {}
        for line in self.lines(f"'bestmove' to {command!r}", seconds + self.settings.grace, turn.stop):
            if line.split()[0] == "bestmove":
                return self.best_move(line, turn.position, infos)
            if line.startswith("info ") and SCORE.search(line):
                self.note_info(line, turn.position, infos)
        raise AssertionError("lines end with an error only")

    def best_move(self, line: str, position: Position, infos: dict[int, str]) -> Choice:
        """Read the move an engine has chosen."""
        word = (line.split()[1:] or [""])[0]
        try:
            action = read_move(word, position)
            position.check_legal(action, word)
        except BadInput as error:
            self.wrong(line, str(error))
        self.heard()
        return Choice(action, analysis_of(infos, position, action))

    def note_info(self, line: str, position: Position, infos: dict[int, str]) -> None:
        """Keep the last info line of each principal variation; a mere bound replaces nothing."""
        info, number = line.partition(" string ")[0], number_in(line, "multipv", 1)
        score = SCORE.search(info)
        if score and (not score[3] or number not in infos):
            infos[number] = info
            found = analysis_of(infos, position, None) if self.report else None
            if self.report and found:
                self.report(found)

    def hurry(self) -> float:
        self.send("stop")
        return self.settings.grace


def check_value(engine: str, option: tuple[str, str, str], value: str) -> None:
    """Refuse a value that an engine's option does not take."""
    name, kind, rest = option
    what = f"option {name} of {engine}"
    if kind == "check":
        one_of(what, value, ("true", "false"))
    elif kind == "combo":
        one_of(what, value, re.findall(r"var (.+?)(?= var |$)", rest))
    elif kind == "button":
        raise BadInput(f"{what} is a button: it takes no value, not {value!r} either")
    elif kind == "spin":
        bounds = {key: int(number) for key, number in re.findall(r"(min|max) (-?\d{1,18})", rest)}
        number = int(value) if re.fullmatch(r"-?\d{1,18}", value) else value
        whole_number(what, number, bounds.get("min", -MOST), bounds.get("max", MOST))
