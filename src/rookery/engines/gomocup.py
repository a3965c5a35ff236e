"""A player as a Gomoku engine that speaks the Gomocup (Piskvork) protocol.

A thread reads lines; what they ask for is done one after the other. END is obeyed by the reading thread itself, at once
and without a word, whatever is being thought; when the input ends without END, all is answered first. What cannot be
done leaves everything as it was before.

The time for a move is the least of `timeout_turn` and a share of `time_left`, less what an answer takes on its way.

Coordinates are column and row from 0. Lines of BOARD come in no sure order, so its stones are set up as they lie.
"""

from __future__ import annotations

import queue
import re
import threading
import time
from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import replace

import rookery
from rookery.arena.player import Player, PlayerFailed, Turn, turn_seed
from rookery.arena.players import make_player
from rookery.arena.searching import MOVES_AHEAD, SearchPlayer
from rookery.engines.gomocup_board import OTHER, OWN, Board, Refused
from rookery.engines.memory import BESIDE_TREE, memory_used, most_nodes
from rookery.engines.pipes import heard, leave, tell, tell_of_failure
from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.gomoku import MORE, TAKE_BLACK, TAKE_WHITE
from rookery.games.gomoku_board import LARGEST, SMALLEST
from rookery.games.library import load
from rookery.games.options import whole_number
from rookery.games.position import Position
from rookery.search.gomoku_swap2 import opening_choice

USUAL_PLAYERS = {"freestyle": "advanced", "standard": "mcts", "renju": "mcts", "caro": "mcts"}
"""who plays if nobody is named: the others of our Gomoku players know freestyle alone"""
RULES = {0: "freestyle", 1: "standard", 4: "renju", 8: "caro"}
CONTINUOUS = 2  # of the mask of rules: many games on one board, of which each is a game of its own here
UNLIMITED = 2_147_483_647  # time_left where there is no clock
ON_ITS_WAY = 0.03  # seconds that an answer may take to the manager
SHARE_ON_ITS_WAY = 0.05  # of a move's time, kept back as well
NO_TIME = 0.01  # seconds, where the manager says as fast as possible
USUAL_TURN = 30_000  # milliseconds a move, if the manager says nothing
NUMBERS = ("timeout_turn", "timeout_match", "time_left", "max_memory", "rule")
NUMBER = re.compile(r"-?[0-9]{1,18}")
LONGEST_LINE = 1000
TREES = ("mcts", "net", "rave")  # kinds of players that remember what they search
SWAP2 = (0, 3, 5)  # stones on the board when the opening asks for something
TAKEN_BACK = ("board", "opening", "infos", "told_left")  # what a line that cannot be obeyed has not changed


class GomocupEngine:
    """Our side of the protocol: lines come in by `line`, answers go out by `say`."""

    def __init__(self, say: Callable[[str], None], player: str = "", seed: int = 0):
        """Make an engine; `player` is empty for one that suits the rule."""
        self.tell, self.player_text, self.seed = say, player, seed
        self.board, self.rule, self.infos = Board(), "freestyle", dict[str, int]()
        self.players: dict[str, Player] = {}
        self.named: dict[str, int | None] = {}
        """simulations that a player's text names, by game; memory may allow fewer"""
        self.collecting: tuple[str, list[str]] | None = None
        """the command whose lines come in until DONE"""
        self.opening: list[int] = []
        """stones of an opening of which nobody has taken a colour"""
        self.told_left: float | None = None
        """when the manager said how much time is left"""
        self.asked_at = self.said_at = time.monotonic()
        """since when the time of an answer counts, and when the last one was given"""

    # -- lines --

    def line(self, text: str, heard_at: float | None = None) -> None:
        """Do what a line asks for; what cannot be done is answered with ERROR, what is not known with UNKNOWN.

        Its time counts since it was heard, for an INFO before it may have taken some, but not before the last answer.
        """
        text, self.asked_at = text.strip(), max(heard_at or time.monotonic(), self.said_at)
        if not text:
            return
        word, rest = two_words(text)
        before = deepcopy({name: getattr(self, name) for name in TAKEN_BACK})
        try:
            self.obey(text, word.upper(), rest)
        except Exception as error:
            expected = isinstance(error, Refused | BadInput | PlayerFailed)
            if not expected:
                tell_of_failure()
            vars(self).update(before)
            reason = " ".join(str(error).split())
            answer = "MESSAGE" if word.upper() == "INFO" else "ERROR"  # no answer belongs to INFO
            self.say(f"{answer} {reason if expected else f'{type(error).__name__}: {reason}'}")

    def obey(self, text: str, word: str, rest: str) -> None:
        """Do what a line asks for; a command in the midst of a board breaks that off, but for INFO."""
        command = self.commands.get(word)
        if self.collecting is not None and command is not None and word != "INFO":
            self.say(f"MESSAGE {self.collecting[0]} without DONE was broken off by {word}")
            self.collecting = None
        if command is not None:
            command(self, rest)
        elif self.collecting is not None:
            self.collect(text)
        else:
            self.say(f"UNKNOWN {' '.join(text.split())[:60]}")

    def say(self, text: str) -> None:
        """Answer."""
        self.tell(text)
        self.said_at = time.monotonic()

    def collect(self, text: str) -> None:
        """Take a line of a board; DONE ends it."""
        assert self.collecting is not None
        command, lines = self.collecting
        if text.upper() != "DONE":
            if len(lines) <= self.board.size**2:  # more would be refused anyway
                lines.append(text)
            return
        self.collecting = None
        if command == "BOARD":
            self.play_board(lines)
        else:
            self.play_opening(lines)

    # -- a game begins --

    def start(self, text: str) -> None:
        """Begin a game on a board of a size; this is the time to compile and load."""
        size = int(text) if NUMBER.fullmatch(text) else -1
        if not SMALLEST <= size <= LARGEST:
            raise Refused(f"START {text[:60]}: the size must be a number in {SMALLEST}..{LARGEST}")
        self.clear(size)
        self.get_ready()
        self.say("OK")

    def get_ready(self) -> None:
        """Load and compile what a game under the present rule may need."""
        game, _ = self.game_player()
        board = Board(self.board.size)
        board.put(0, OTHER)
        position = board.position(game)  # as TURN is answered
        position.legal()
        turn_seed(self.seed, 0, 1)
        game.position(position.text())  # as BOARD is read
        opening = load("gomoku", size=self.board.size, rule=self.rule, opening="swap2").start(0)
        for _ in range(4):  # three stones and a colour, as SWAP2BOARD is answered
            opening.play(opening_choice(opening).action)

    def rect_start(self, text: str) -> None:
        """Begin a game; only square boards are played."""
        width, _, height = (part.strip() for part in text.partition(","))
        if not width or width != height:
            raise Refused(f"RECTSTART {text[:60]}: only square boards are played, as in RECTSTART 15,15")
        self.start(width)

    def restart(self, text: str) -> None:
        """Begin a game on a board of the same size."""
        self.clear(self.sized())
        self.say("OK")

    def clear(self, size: int) -> None:
        """Put an empty board in place; what was left of the time of another game means nothing any more."""
        self.board, self.opening = Board(size), []
        self.infos.pop("time_left", None)
        self.told_left = None

    def sized(self) -> int:
        """Return the size of the board; refuse to go on without."""
        if not self.board.size:
            raise Refused("no game is begun; START comes first")
        return self.board.size

    def info(self, text: str) -> None:
        """Take a fact; those that mean nothing to us are let pass without a word."""
        key, value = two_words(text.lower())
        if key not in NUMBERS or not NUMBER.fullmatch(value):
            return
        number = self.infos[key] = int(value)
        if key == "rule":
            self.rule = RULES.get(number & ~CONTINUOUS, "")
            if not self.rule:
                self.say(f"MESSAGE rule {number} is not known; freestyle is played")
                self.rule = "freestyle"
            if self.board.size:
                self.get_ready()  # now, before a clock runs
        if key == "max_memory" and self.players:
            self.heed_memory()
        if key == "time_left":
            self.told_left = self.asked_at

    def about(self, text: str) -> None:
        """Tell who we are."""
        name = self.player_text or "rookery"
        self.say(f'name="{name}", version="{rookery.__version__}", author="Rookery", country="-"')

    # -- moves --

    def begin(self, text: str) -> None:
        """Make the first move of a game."""
        self.sized()
        if self.board.stones:
            raise Refused("BEGIN: there are stones on the board already")
        self.board.plays_black = True
        self.answer_with_a_move()

    def turn(self, text: str) -> None:
        """Answer a move of the other player."""
        self.sized()
        point = self.board.point(text)
        if self.opening:  # of which the other took White, who moves now
            self.board.adopt(self.opening, plays_black=True)
            self.opening = []
        self.board.put(point, OTHER)
        self.answer_with_a_move()

    def play(self, text: str) -> None:
        """Make the move the manager wants of us."""
        self.sized()
        point = self.board.point(text)
        self.board.put(point, OWN)
        self.say(self.board.text(point))

    def take_back(self, text: str) -> None:
        """Take a stone off the board."""
        self.sized()
        self.board.take(self.board.point(text))
        self.say("OK")

    def board_comes(self, text: str) -> None:
        """Wait for the stones of a board."""
        self.sized()
        self.collecting = ("BOARD", [])

    def play_board(self, lines: list[str]) -> None:
        """Set up a board and make a move."""
        board = Board(self.board.size)
        board.set_up(board.stone(line) for line in lines)
        self.board, self.opening = board, []
        self.answer_with_a_move()

    def answer_with_a_move(self) -> None:
        """Think, lay the stone and tell it."""
        self.say(self.own_move())

    def own_move(self) -> str:
        """Lay the stone that the player chooses, and return where."""
        game, player = self.game_player()
        position = self.board.position(game)
        if position.over:
            raise Refused("the game on this board is over")
        seed = turn_seed(self.seed, 0, len(self.board.stones))
        point = player.choose(Turn(position, position.copy(), (), seed, seconds=self.seconds())).action
        if point not in position.legal():
            raise PlayerFailed(f"{player.name} wants to move to {self.board.text(point)}, which is not free")
        self.board.put(point, OWN)
        return self.board.text(point)

    def seconds(self) -> float:
        """Return the time that is left for a move, of which some may have gone by since it was asked for."""
        turn = self.infos.get("timeout_turn", USUAL_TURN) / 1000
        given = [turn if turn > 0 else NO_TIME]
        left = self.infos.get("time_left", UNLIMITED)
        if self.told_left is None and self.infos.get("timeout_match", 0) > 0:
            left = self.infos["timeout_match"]  # before the first word of what is left
        if left < UNLIMITED:
            passed = 0.0 if self.told_left is None else time.monotonic() - self.told_left
            still = max(0.0, left / 1000 - passed)
            given.append(still / MOVES_AHEAD)
        least, gone = min(given), time.monotonic() - self.asked_at
        return max(0.001, least - min(ON_ITS_WAY, least / 2) - SHARE_ON_ITS_WAY * least - gone)

    def game_player(self) -> tuple[Game, Player]:
        """Return the game of the present size and rule, and who plays it, ready to think."""
        game = load("gomoku", size=self.board.size, rule=self.rule)
        player = self.players.get(game.spec)
        if player is None:
            player = make_player(self.player_text or USUAL_PLAYERS[self.rule], game)
            refuse_people(player)
            player.prepare(game.start(0))
            self.players[game.spec] = player
            self.heed_memory()
        return game, player

    def heed_memory(self) -> None:
        """Let trees grow no larger than the memory that the manager allows us; say so where even the program is."""
        allowed, used = self.infos.get("max_memory", 0), memory_used()
        spare = allowed - used - BESIDE_TREE if allowed > 0 else None
        if spare is not None and spare < 0:
            needed = (used + BESIDE_TREE) >> 20
            self.say(
                f"MESSAGE max_memory of {allowed >> 20} MB is less than the {needed} MB that the program itself needs"
            )
        for spec, player in self.players.items():
            if player.name.partition(":")[0] in TREES:
                assert isinstance(player, SearchPlayer)
                named = self.named.setdefault(spec, player.limits.nodes)
                room = most_nodes(load(spec), spare)
                player.limits = replace(player.limits, nodes=min((n for n in (named, room) if n), default=None))

    # -- the opening of swap2 --

    def opening_comes(self, text: str) -> None:
        """Wait for the stones of an opening."""
        self.sized()
        self.collecting = ("SWAP2BOARD", [])

    def play_opening(self, lines: list[str]) -> None:
        """Answer in the opening: lay three stones, or take a colour, or lay two more."""
        points = [self.board.point(line) for line in lines]
        if len(points) not in SWAP2 or len(set(points)) < len(points):
            raise Refused(f"SWAP2BOARD: {len(points)} stones; the opening has 0, 3 or 5 different ones")
        game = load("gomoku", size=self.board.size, rule=self.rule, opening="swap2")
        position = game.start(0)
        for action in [*points[:3], *([game.actions - 3 + MORE, *points[3:]] if len(points) == 5 else [])]:
            position.play(action)
        self.say(self.opening_answer(game, position, points))

    def opening_answer(self, game: Game, position: Position, points: list[int]) -> str:
        """Go through our part of the opening by its rule, and return what was done; `points` are the stones so far."""
        colours, seat, laid = game.actions - 3, position.mover, list[int]()
        while position.mover == seat:
            action = opening_choice(position).action
            if action == colours + TAKE_BLACK:
                self.board.adopt(points, plays_black=True)
                return "SWAP"
            if action == colours + TAKE_WHITE:
                self.board.adopt(points, plays_black=False)
                return self.own_move()
            laid.append(action)
            position.play(action)
        self.board, self.opening = Board(self.board.size), [*points, *laid]
        return " ".join(self.board.text(point) for point in laid)

    commands = {
        "START": start, "RECTSTART": rect_start, "RESTART": restart, "INFO": info, "ABOUT": about, "BEGIN": begin,
        "TURN": turn, "PLAY": play, "TAKEBACK": take_back, "BOARD": board_comes, "SWAP2BOARD": opening_comes,
    }  # fmt: skip


def two_words(text: str) -> tuple[str, str]:
    """Return the first word of a line, and what stands behind it."""
    words = [*text.split(None, 1), "", ""]
    return words[0], words[1].strip()


def refuse_people(player: Player) -> None:
    """Refuse a player who would need the terminal."""
    if player.at_terminal:
        raise BadInput(f"player {player.name!r} needs a terminal, but a manager sits there")


# ---- the process ---------------------------------------------------------------------------------


def serve(lines: Iterable[str], say: Callable[[str], None], leave: Callable[[], None], player: str, seed: int) -> None:
    """Read lines and obey them until END, or until there are no more."""
    engine = GomocupEngine(say, player, seed)
    waiting: queue.Queue[tuple[str, float] | None] = queue.Queue()

    def read() -> None:
        for line in lines:
            if line.strip().upper() == "END":
                leave()  # whatever the main thread thinks or compiles
                break
            waiting.put((line, time.monotonic()))
        waiting.put(None)

    threading.Thread(target=read, daemon=True).start()
    while (found := waiting.get()) is not None:
        engine.line(*found)
    leave()


def run(player: str = "", seed: int = 0) -> None:
    """Be an engine on standard input and output."""
    whole_number("seed", seed, -(2**63), 2**63 - 1)
    if player:
        refuse_people(make_player(player, load("gomoku")))  # a text that means nothing, before a manager waits
    serve(heard(LONGEST_LINE), tell, leave, player, seed)


def main() -> None:
    """Be an engine: what a manager starts as `pbrain-rookery`."""
    run()
