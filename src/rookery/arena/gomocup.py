"""Gomoku engines that speak the Gomocup (Piskvork) protocol.

A game is told move by move (`TURN`) as long as it goes on from what the engine knows; otherwise the engine is started
anew and gets the whole board, in the order of play as far as that is known. Coordinates are column and row from 0.

In the opening of `opening=swap2` the engine is asked once (`SWAP2BOARD`) and answers with several stones, or with a
colour and the first stone of it. What the game asks for later is kept until then.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, zip_longest

from rookery.arena.engine import LONGEST_NAME, USUAL, EnginePlayer, EngineSettings, milliseconds
from rookery.arena.player import Choice, PlayerFailed, Turn
from rookery.arena.process import ProcessFailed
from rookery.games.game import Game
from rookery.games.gomoku import MORE, TAKE_BLACK, TAKE_WHITE, Gomoku
from rookery.games.gomoku_board import PLACE, PLAY, has_stone
from rookery.games.position import Action

RULE_NUMBERS = {"freestyle": 0, "standard": 1, "renju": 4, "caro": 8}
AGAINST_AN_ENGINE = 1  # the game_type of a match between two engines
UNLIMITED = "2147483647"  # time_left where there is no clock
POINT = re.compile(r"\d{1,3}\s*,\s*\d{1,3}")
POINTS = re.compile(r"\d{1,3}\s*,\s*\d{1,3}(?:\s+\d{1,3}\s*,\s*\d{1,3})*")
ABOUT_NAME = re.compile(r'name\s*=\s*"([^"]*)"')
TALK = ("MESSAGE", "DEBUG")
SWAP2_STONES = {0: (3,), 3: (1, 2), 5: (1,)}  # stones on the board -> how many stones an answer may have

Stone = tuple[int, int]  # point and colour


def stones_in_order(turn: Turn) -> list[Stone]:
    """List the stones on the board: those of the first position in turns, then the moves as they were made."""
    start = turn.start
    assert isinstance(start.game, Gomoku)
    size, points = start.game.size, start.game.points
    groups = [
        [(point, colour) for point in range(points) if has_stone(start.state, colour, *divmod(point, size))]
        for colour in (0, 1)
    ]
    stones = [stone for stone in chain.from_iterable(zip_longest(*groups)) if stone]
    colour = int(start.state["colour"])
    for action in turn.moves:
        if action < points:  # the others are choices of the opening
            stones.append((action, colour))
            colour = 1 - colour
    return stones


class GomocupPlayer(EnginePlayer):
    """A Gomoku engine."""

    protocol = "gomocup"
    farewell = "END"
    line_end = "\r\n"

    def __init__(self, game: Game, command: Sequence[str], settings: EngineSettings):
        super().__init__(game, command, settings)
        assert isinstance(game, Gomoku)
        self.size, self.points = game.size, game.points
        self.infos = {
            "max_memory": str(settings.memory << 20),
            "game_type": str(AGAINST_AN_ENGINE),
            "rule": str(RULE_NUMBERS[game.rule]),
            **settings.extras,
        }
        self.told: dict[str, str] = {}  # infos the engine has
        self.known: set[Stone] = set()  # stones on the engine's board
        self.planned: dict[str, Action] = {}  # text of a position of the opening -> what the engine will do there

    # -- a game begins --

    def greet(self) -> None:
        """Ask for the engine's name."""
        self.title = ""
        self.send("ABOUT")
        for line in self.lines("a name to 'ABOUT'", self.settings.start):
            if line.split()[0] not in TALK:
                name = ABOUT_NAME.search(line)
                self.title = name[1][:LONGEST_NAME] if name else ""
                break
        self.heard()

    def begin_game(self) -> None:
        self.planned = {}
        self.restart()

    def restart(self) -> None:
        """Give the engine an empty board."""
        command = f"START {self.size}"
        self.send(command)
        for line in self.lines(f"'OK' to {command!r}", self.settings.start):
            if line.split()[0] == "OK":
                break
            if line.split()[0] not in TALK:
                self.wrong(line)
        self.heard()
        self.known, self.told = set(), {}

    def inform(self, turn: Turn) -> float:
        """Tell the engine what it does not know yet of rules and time; return how many seconds it has."""
        left = None if turn.clock is None else max(0.001, turn.clock[turn.position.mover])
        given = turn.seconds if left is None else left  # an engine shares out a clock for itself
        seconds = min((time for time in (given, self.settings.time) if time is not None), default=USUAL)
        times = {
            "timeout_turn": milliseconds(seconds),
            "timeout_match": self.told.get("timeout_match", "0" if left is None else milliseconds(left)),
            "time_left": UNLIMITED if left is None else milliseconds(left),
        }
        for key, value in (times | self.infos).items():
            if self.told.get(key) != value:
                self.send(f"INFO {key} {value}")
                self.told[key] = value
        return seconds

    # -- a move --

    def answer(self, turn: Turn) -> Choice:
        text, phase, stones = turn.position.text(), int(turn.position.state["phase"]), stones_in_order(turn)
        if text not in self.planned and phase != PLAY:
            self.plan_opening(turn, phase, stones)
        if text in self.planned:
            return Choice(self.planned.pop(text))
        own = int(turn.position.state["colour"])
        line = self.ask(turn, self.board_lines(stones, own))
        point = POINT.fullmatch(line)
        if not point:
            self.wrong(line)
        action = self.checked_move(turn.position, self.read_point(point[0], line), line)
        self.known = {*stones, (action, own)}
        self.heard()
        return Choice(action)

    def board_lines(self, stones: list[Stone], own: int) -> list[str]:
        """Say what has changed on the board since the engine last saw it, or all of it."""
        new = set(stones) - self.known
        if self.known <= set(stones) and len(new) == 1:
            point, colour = new.pop()
            if colour != own:
                return [f"TURN {self.point_text(point)}"]
        if not stones and not self.known:
            return ["BEGIN"]
        if self.known:
            self.restart()
        return ["BOARD", *(f"{self.point_text(point)},{1 if colour == own else 2}" for point, colour in stones), "DONE"]

    def ask(self, turn: Turn, lines: list[str]) -> str:
        """Send some lines and return the answer."""
        seconds = self.inform(turn) + self.settings.grace
        self.send(self.line_end.join(lines))
        optional = lines[0] == "SWAP2BOARD"
        for line in self.lines(f"an answer to {' '.join(lines)[:60]!r}", seconds, turn.stop):
            word = line.split()[0].upper()
            if word == "SUGGEST":
                self.send(f"PLAY {line.partition(' ')[2]}")
            elif word not in TALK and (optional or word != "UNKNOWN"):  # a mandatory command is known: an INFO is not
                return line
        raise AssertionError("lines end with an error only")

    def hurry(self) -> float:
        raise ProcessFailed("it was to stop at once, for which the protocol has no word")

    # -- the opening --

    def plan_opening(self, turn: Turn, phase: int, stones: list[Stone]) -> None:
        """Ask what to do in the opening, and keep it."""
        if phase == PLACE and stones:
            raise PlayerFailed(
                f"{self.label}: the protocol has no word for an opening of which some stones lie already"
            )
        lines = ["SWAP2BOARD", *(self.point_text(point) for point, _ in stones), "DONE"]
        line = self.ask(turn, lines)
        position = turn.position.copy()
        for action in self.opening_actions(line, len(stones)):
            self.planned[position.text()] = self.checked_move(position, action, line)
            position.play(action)
        self.heard()

    def opening_actions(self, line: str, stones: int) -> list[Action]:
        """Read an answer of the opening: stones to lay, SWAP to take Black, or the next stone to take White with it."""
        if line.upper() == "SWAP" and stones:
            return [self.points + TAKE_BLACK]
        points = [self.read_point(point, line) for point in POINT.findall(line)] if POINTS.fullmatch(line) else []
        if len(points) not in SWAP2_STONES[stones]:
            self.wrong(line)
        if not stones:
            return points
        return [self.points + (TAKE_WHITE if len(points) == 1 else MORE), *points]

    # -- points --

    def point_text(self, point: int) -> str:
        """Write a point as column and row."""
        row, col = divmod(point, self.size)
        return f"{col},{row}"

    def read_point(self, text: str, line: str) -> int:
        """Read a point; fail if it is not on the board."""
        col, row = (int(number) for number in text.split(","))
        if col >= self.size or row >= self.size:
            self.wrong(line, f"which is not on the board of {self.size} x {self.size}")
        return row * self.size + col
