"""How games begin. Two players without chance would play one game again and again, so each pair has an opening.

Openings are told by a text:

    random:6      six random legal moves from the first position; in a game with a deal, each opening has its own
    centre:3      Gomoku: three random stones in the 7 x 7 points of the middle
    book          chess: ordinary openings, in an order drawn by the seed
    FILE          one opening a line, a position's text or moves from the first position; a line that begins with
                  "# " is a remark

Openings are drawn without repetition, also not turned or mirrored; when the game has no more of them, each may come
once more, and so on. A book or file that is through begins again, with two random moves after each opening, and with
more when these are used up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rookery.arena.chess_openings import CHESS_OPENINGS
from rookery.errors import BadInput
from rookery.games.game import Game, Symmetries
from rookery.games.gomoku import Gomoku
from rookery.games.position import Action, Position
from rookery.games.rng import random_below, random_bits

MOST_PLIES = 200
USUAL_PLIES = 6
CENTRE = 7  # points a side of the middle of a Gomoku board
CENTRE_STONES = 3
ATTEMPTS = 50  # draws of one opening before a repetition is accepted
MORE_PLIES = 2  # after the openings of a list that is through
MOVES, DEALS, ORDER = -1, -2, -3  # streams of random numbers; players have those from 0 on


@dataclass(frozen=True)
class Opening:
    """How a pair of games begins."""

    start: Position
    moves: tuple[Action, ...] = ()

    def position(self) -> Position:
        """Return the position in which the players take over."""
        position = self.start.copy()
        for action in self.moves:
            position.play(action)
        return position


Draw = Callable[[int], Opening | None]
"""attempt number n, counted over all openings of a match -> an opening; None if the game is over there"""


class Openings:
    """The openings of a match, in order: the same for the same game, text and seed."""

    def __init__(self, game: Game, text: str | None, seed: int):
        self.game, self.seed = game, seed
        self.text = usual_openings(game) if text is None else text
        self.known: set[int] = set()
        self.attempt = 0
        self.symmetries = game.symmetries()

    def __iter__(self) -> Iterator[Opening]:
        self.known.clear()
        self.attempt = 0
        kind, _, number = self.text.partition(":")
        if kind == "random":
            return self.distinct(RandomMoves(self.game, self.seed, read_plies(self.text, number)))
        if kind == "centre":
            return self.distinct(Centre(self.game, self.seed, read_plies(self.text, number)))
        if self.text == "book":
            return self.listed(chess_book(self.game, self.seed))
        return self.listed(read_openings(self.game, self.text))

    def search(self, draw: Draw) -> tuple[Opening | None, bool]:
        """Draw until there is an opening that is new; return the last one that could be played, and whether it is."""
        found: Opening | None = None
        for _ in range(ATTEMPTS):
            drawn = draw(self.attempt)
            self.attempt += 1
            found = drawn or found
            if drawn is not None and self.is_new(drawn):
                return drawn, True
        return found, False

    def distinct(self, draw: Draw) -> Iterator[Opening]:
        """Draw openings without end, none twice as far as that can be."""
        while True:
            found, new = self.search(draw)
            if found is None:
                raise BadInput(f"openings {self.text!r}: {self.game.spec} is over before the opening is")
            if not new:
                self.known.clear()  # all are used up: from here on each may come once more
            yield found

    def is_new(self, opening: Opening) -> bool:
        """Tell whether no opening before led here, nor to a mirror image of it."""
        key = canonical_key(opening, self.symmetries)
        new = key not in self.known
        self.known.add(key)
        return new

    def listed(self, openings: Iterable[Opening]) -> Iterator[Opening]:
        """Go through a list again and again, with random moves after each opening from the second time on."""
        kept = []
        for opening in openings:
            kept.append(opening)
            self.is_new(opening)
            yield opening
        plies = MORE_PLIES
        while True:
            searched = [(opening, *self.search(RandomMoves(self.game, self.seed, plies, opening))) for opening in kept]
            yield from (found or opening for opening, found, new in searched if new or found is None)
            if plies == MOST_PLIES or any(found is None for _, found, _ in searched):  # so many moves end the game
                plies = MORE_PLIES
                self.known.clear()
            elif not all(new for *_, new in searched):
                plies += MORE_PLIES


# ---- drawing -------------------------------------------------------------------------------------


class RandomMoves:
    """Random moves after an opening, or from the first position of a new deal each time."""

    def __init__(self, game: Game, seed: int, plies: int, after: Opening | None = None):
        self.game, self.seed, self.plies, self.after = game, seed, plies, after

    def __call__(self, attempt: int) -> Opening | None:
        base = self.after or Opening(self.game.start(deal_seed(self.seed, attempt)))
        position, moves = base.position(), list(base.moves)
        for ply in range(self.plies):
            legal = position.legal()
            if len(legal) == 0:
                return None
            counter = attempt * MOST_PLIES + ply
            moves.append(int(legal[random_below(len(legal), self.seed, MOVES, counter)]))
            position.play(moves[-1])
        return None if position.over else Opening(base.start, tuple(moves))


class Centre:
    """Random stones in the middle of a Gomoku board."""

    def __init__(self, game: Game, seed: int, stones: int):
        if not isinstance(game, Gomoku):
            raise BadInput(f"openings 'centre:{stones}' are for gomoku, not for {game.name}")
        self.points = game.middle(CENTRE)
        if stones > len(self.points) // 2:
            raise BadInput(f"openings 'centre:{stones}': the middle takes at most {len(self.points) // 2} stones")
        self.game, self.seed, self.stones = game, seed, stones

    def __call__(self, attempt: int) -> Opening | None:
        position, moves = self.game.start(), list[Action]()
        for ply in range(self.stones):
            legal = set(position.legal().tolist())
            free = [point for point in self.points if point in legal]
            if not free:
                return None
            moves.append(free[random_below(len(free), self.seed, MOVES, attempt * MOST_PLIES + ply)])
            position.play(moves[-1])
        return None if position.over else Opening(self.game.start(), tuple(moves))


def deal_seed(seed: int, number: int) -> int:
    """Return the seed of a deal: unrelated to what players are given."""
    return int(random_bits(seed, DEALS, number)) >> 1


def canonical_key(opening: Opening, symmetries: Symmetries) -> int:
    """Hash the position an opening leads to, alike for all its mirror images if it comes from the first position."""
    keys, first = [], opening.start.game.start()
    for table in symmetries.actions if opening.start.key == first.key else symmetries.actions[:1]:
        position = opening.start.copy()
        for action in opening.moves:
            position.play(int(table[action]))
        keys.append(position.key)
    return min(keys)


# ---- sets and files ------------------------------------------------------------------------------


def usual_openings(game: Game) -> str:
    """Return the text of the openings a game has unless somebody asks for others."""
    if game.name == "chess" and game.options["chess960"] in (-1, 518):
        return "book"
    if game.name == "gomoku":
        return f"centre:{CENTRE_STONES}"
    if game.information == "hidden":
        return "random:0"
    return f"random:{min(USUAL_PLIES, game.longest // 6)}"


def read_plies(text: str, number: str) -> int:
    """Read how many moves an opening has."""
    if not re.fullmatch(r"[0-9]{1,3}", number) or int(number) > MOST_PLIES:
        raise BadInput(f"openings {text!r} should name a number of moves in 0..{MOST_PLIES}, as in random:6")
    return int(number)


def chess_book(game: Game, seed: int) -> Iterator[Opening]:
    """Return the openings of chess, in an order drawn by the seed."""
    if game.name != "chess" or game.options["chess960"] not in (-1, 518):
        raise BadInput(f"openings 'book' are for chess from its usual first position, not for {game.spec}")
    order = list(CHESS_OPENINGS)
    for last in range(len(order) - 1, 0, -1):
        other = random_below(last + 1, seed, ORDER, last)
        order[last], order[other] = order[other], order[last]
    return (parse_moves(game, line) for line in order)


def read_openings(game: Game, told: str) -> list[Opening]:
    """Read a file of openings, one a line."""
    path = Path(told)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise BadInput(
            f"the openings {told!r} are neither random:N, centre:N or book nor a file: {error.strerror}"
        ) from None
    except UnicodeDecodeError:
        raise BadInput(f"the file of openings {path} is not text in UTF-8") from None
    numbered = [(number, line.strip()) for number, line in enumerate(lines, start=1)]
    openings = [
        read_line(game, path, number, text) for number, text in numbered if text and not f"{text} ".startswith("# ")
    ]
    if not openings:
        raise BadInput(f"the file of openings {path} holds none")
    return openings


def read_line(game: Game, path: Path, number: int, text: str) -> Opening:
    """Read one opening: a position or moves."""
    where = f"line {number} of {path}"
    try:
        opening = Opening(game.position(text))
    except BadInput as no_position:
        try:
            opening = parse_moves(game, text)
        except BadInput as no_moves:
            raise BadInput(f"{where} is neither a position ({no_position}) nor moves ({no_moves})") from None
    position = opening.position()
    if position.over:
        raise BadInput(f"{where}: the game is over in {position.text()!r}")
    if game.information == "hidden" and not can_be_played(position):
        raise BadInput(f"{where}: {position.text()!r} does not say what every seat holds")
    return opening


def parse_moves(game: Game, text: str) -> Opening:
    """Read moves from the first position, with spaces or commas between them; numbers like 1. are left aside."""
    position, moves = game.start(), []
    for word in re.sub(r"(^|\s)[0-9]+\.+(?=\s|[a-zA-Z])", " ", text).replace(",", " ").split():
        action = position.action(word)
        position.play(action)
        moves.append(action)
    if not moves:
        raise BadInput(f"{text!r} holds no moves")
    return Opening(game.start(), tuple(moves))


def can_be_played(position: Position) -> bool:
    """Tell whether every seat knows its moves up to the end of some game."""
    while not position.over:
        legal = position.legal()
        if len(legal) == 0:
            return False
        position.play(int(legal[0]))
    return True
