"""Whole games of Texas 42: hand after hand with the auction, the shaker moving on, until a team has seven marks.

Four players sit down, one a seat, or two, each for a team. Games come in pairs: in the second everyone moves on by one
seat, so that the teams are swapped while hand number h is dealt and begun as in the first game. What a game becomes
depends on its number, the seed and the players, not on threads or on the games beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from queue import LifoQueue
from typing import Any

import numpy as np

from rookery.arena.player import Choice, Player, PlayerFailed, Turn, turn_of, turn_seed
from rookery.arena.players import make_player
from rookery.arena.score import Score, student95
from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.options import whole_number
from rookery.games.position import Position, Seat
from rookery.games.rng import random_bits
from rookery.games.texas42 import MARKS_OF_A_GAME, Texas42
from rookery.games.texas42_auction import BID_TEXTS, SILENT
from rookery.games.texas42_tiles import NAMES, SEATS
from rookery.search.texas42_bidding import wilson
from rookery.search.threads import MOST_THREADS, new_stop, on_threads

MOST_GAMES = 1_000_000
MOST_HANDS = 400  # a game that goes on longer, as among players who always pass, is left as a draw
DEALS = 0x42  # sets the seeds of deals apart from those of decisions


@dataclass(frozen=True)
class MarksSettings:
    """How whole games are played."""

    games: int = 100
    """an even number"""
    seed: int = 0
    """same seed, same games"""
    marks: int = 7
    """that win a game"""
    threads: int = 1
    at_once: int = 16
    """games of a thread that go on together, for players that choose for many at once"""

    def __post_init__(self) -> None:
        if whole_number("games", self.games, 2, MOST_GAMES) % 2:
            raise BadInput(f"games must be an even number, since they are played in pairs, not {self.games}")
        whole_number("seed", self.seed, -(2**63), 2**63 - 1)
        whole_number("marks", self.marks, 1, 1000)
        whole_number("threads", self.threads, 1, MOST_THREADS)
        whole_number("games at once", self.at_once, 1, MOST_GAMES)


@dataclass(frozen=True)
class PlayedHand:
    """One hand of a game."""

    text: str
    """its last position"""
    bid: str
    """the highest; nothing if all passed"""
    declarer: Seat
    declaration: str
    made: bool
    marks: tuple[int, int]
    """that the teams of seats 0 and 1 won by it"""


@dataclass
class MarksGame:
    """One game."""

    number: int
    hands: list[PlayedHand] = field(default_factory=list)

    @property
    def swapped(self) -> bool:
        """Whether everyone has moved on by one seat."""
        return self.number % 2 == 1

    @property
    def marks(self) -> tuple[int, int]:
        """Marks of the first and the second side."""
        teams = [sum(hand.marks[team] for hand in self.hands) for team in (0, 1)]
        return (teams[1], teams[0]) if self.swapped else (teams[0], teams[1])

    def score(self, target: int) -> float:
        """Return the first side's score: 1, 0, or a half for a game that was left."""
        first, second = self.marks
        return 0.5 if max(first, second) < target else float(first > second)

    def side_of(self, seat: Seat) -> int:
        """Return the side, 0 or 1, that a seat belongs to."""
        return (seat + self.number) % 2


# ---- playing -------------------------------------------------------------------------------------


class Table:
    """One game under way."""

    def __init__(self, variants: Sequence[Game], number: int, settings: MarksSettings):
        self.variants, self.settings = variants, settings
        self.game, self.ply = MarksGame(number), 0
        self.deal()

    def deal(self) -> None:
        """Begin the next hand; the other game of the pair has the same."""
        hand, pair = len(self.game.hands), self.game.number // 2
        seed = int(random_bits(self.settings.seed ^ DEALS, pair, hand)) >> 1
        self.position: Position = self.variants[hand % SEATS].start(seed)
        self.first, self.moves = self.position.copy(), list[int]()

    @property
    def player(self) -> int:
        """Which of the four players is to move."""
        return (self.position.mover - self.game.number % 2) % SEATS

    @property
    def over(self) -> bool:
        """Whether a side has its marks, or the game takes too long."""
        return max(self.game.marks) >= self.settings.marks or len(self.game.hands) >= MOST_HANDS

    def turn(self, player: Player, stop: np.ndarray) -> Turn:
        """Make the turn of the player to move."""
        seed = turn_seed(self.settings.seed, self.game.number, self.ply)
        return turn_of(player, self.first, self.position, self.moves, seed=seed, stop=stop)

    def take(self, choice: Choice, name: str) -> None:
        """Make a move; a hand that is over is written down, and the next one begun unless the game is over."""
        if choice.action not in self.position.legal():
            raise PlayerFailed(f"{name} makes the move {choice.action}, not legal in {self.position.text()!r}")
        self.position.play(choice.action)
        self.moves.append(choice.action)
        self.ply += 1
        if self.position.over:
            self.game.hands.append(hand_of(self.position))
            if not self.over:
                self.deal()


def hand_of(position: Position) -> PlayedHand:
    """Write down a hand that is over."""
    state, won = position.state, round(position.payoff(0) * MARKS_OF_A_GAME)
    declarer, high = int(state["declarer"]), int(state["high_bid"])
    made = high != SILENT and position.payoff(declarer) > 0
    marks = (max(won, 0), max(-won, 0))
    return PlayedHand(position.text(), BID_TEXTS[high], declarer, NAMES[state["declaration"]], made, marks)


def play_tables(tables: list[Table], players: Sequence[Player], stop: np.ndarray) -> list[MarksGame]:
    """Play games to their end, asking each player for all games in which it is to move."""
    going = list(tables)
    while going and not stop[0]:
        asked = going[0].player
        name, waiting = players[asked].name, [t for t in going if players[t.player] is players[asked]]
        choices = players[asked].choose_many([table.turn(players[asked], stop) for table in waiting])
        if stop[0]:
            break
        for table, choice in zip(waiting, choices, strict=True):
            table.take(choice, name)
        going = [table for table in going if not table.over]
    return [table.game for table in tables if table.over]


# ---- the match -----------------------------------------------------------------------------------


@dataclass
class MarksMatch:
    """Games between two sides, and what has come of them; scores are those of the first side."""

    game: Game
    players: tuple[str, ...]
    """four, by seat of the first game of a pair"""
    settings: MarksSettings
    games: dict[int, MarksGame] = field(default_factory=dict)
    interrupted: bool = False

    @property
    def pairs(self) -> list[tuple[MarksGame, MarksGame]]:
        """The pairs of which both games are played."""
        numbers = [number for number in sorted(self.games) if number % 2 == 0 and number + 1 in self.games]
        return [(self.games[number], self.games[number + 1]) for number in numbers]

    @property
    def counted(self) -> list[MarksGame]:
        """The games of these pairs."""
        return [game for pair in self.pairs for game in pair]

    @property
    def score(self) -> Score:
        """Games won by the first side."""
        target = self.settings.marks
        return Score(tuple((first.score(target), second.score(target)) for first, second in self.pairs))

    @property
    def difference(self) -> tuple[float, float, float]:
        """Marks a game that the first side wins more than the second, with the ends of a 95 % interval over pairs."""
        of_pairs = np.array([sum(g.marks[0] - g.marks[1] for g in pair) / 2 for pair in self.pairs])
        if len(of_pairs) < 2:
            return float(of_pairs.mean()) if len(of_pairs) else 0.0, -np.inf, np.inf
        half = student95(len(of_pairs)) * float(of_pairs.std(ddof=1)) / len(of_pairs) ** 0.5
        return float(of_pairs.mean()), float(of_pairs.mean()) - half, float(of_pairs.mean()) + half

    def contracts(self, side: int) -> tuple[int, int]:
        """Return how many contracts a side has made, and how many it had."""
        hands = [hand for g in self.counted for hand in g.hands if hand.bid and g.side_of(hand.declarer) == side]
        return sum(hand.made for hand in hands), len(hands)

    def names(self, side: int) -> str:
        """Name the players of a side."""
        both = self.players[side], self.players[side + 2]
        return both[0] if both[0] == both[1] else " with ".join(both)


def seated(texts: Sequence[str]) -> tuple[str, str, str, str]:
    """Return who sits where: two players are a team each, four sit in order."""
    if len(texts) not in (2, SEATS):
        raise BadInput(f"{len(texts)} players are named; whole games need two, one a team, or four, one a seat")
    first, second, third, fourth = (*texts, *texts) if len(texts) == 2 else texts
    return first, second, third, fourth


def variants_of(game: Game) -> list[Game]:
    """Return the game with each seat speaking first, from the one its options name."""
    if not isinstance(game, Texas42) or game.auction == "none":
        raise BadInput(f"whole games need texas42 with auction=redeal or auction=forced, not {game.spec}")
    return [Texas42(**game.options | {"first": (game.first + hand) % SEATS}) for hand in range(SEATS)]


def make_four(texts: Sequence[str], game: Game, closing_all: ExitStack) -> list[Player]:
    """Make the players of four seats; equal texts share a player, which then chooses for both seats at once."""
    made = {text: closing_all.enter_context(closing(make_player(text, game))) for text in dict.fromkeys(texts)}
    return [made[text] for text in texts]


def play_marks(
    game: Game,
    texts: Sequence[str],
    settings: MarksSettings,
    finished: Callable[[MarksMatch], None] | None = None,
) -> MarksMatch:
    """Play whole games and return what came of them; an interrupt ends them, and what is finished counts.

    `finished` is called, on the thread that played, whenever some games have ended.
    """
    texts, variants, stop = seated(texts), variants_of(game), new_stop()
    with ExitStack() as closing_all:
        crews: LifoQueue[list[Player]] = LifoQueue()
        for _ in range(settings.threads):
            crews.put(make_four(texts, game, closing_all))
        alone = any(player.at_terminal for player in crews.queue[0])
        for player in dict.fromkeys(crews.queue[0]):
            player.prepare(variants[0].start())
        match = MarksMatch(game, tuple(player.name for player in crews.queue[0]), settings)

        def work(begun: int) -> None:
            players = crews.get()
            numbers = range(begun, min(begun + at_once, settings.games))
            played = play_tables([Table(variants, number, settings) for number in numbers], players, stop)
            crews.put(players)
            match.games.update({g.number: g for g in played})
            if finished:
                finished(match)

        at_once = 1 if alone else settings.at_once
        try:
            on_threads(work, range(0, settings.games, at_once), 1 if alone else settings.threads, stop)
        except KeyboardInterrupt:
            match.interrupted = True
        return match


# ---- telling -------------------------------------------------------------------------------------


def marks_json(match: MarksMatch) -> dict[str, Any]:
    """Return the result for a program."""
    games, sides = match.counted, []
    for side in (0, 1):
        made, had = match.contracts(side)
        low, high = wilson(np.array(made), max(had, 1)) if had else (0.0, 1.0)
        sides.append(
            {"players": match.names(side), "contracts": had, "made": made, "interval": [float(low), float(high)]}
        )
    mean, low_mark, high_mark = match.difference
    known = len(match.pairs) > 1
    return {
        "game": match.game.spec, "version": match.game.version, "players": list(match.players),
        "seed": match.settings.seed, "marks": match.settings.marks, **match.score.as_dict(),
        "marks_a_game": mean, "marks_interval": [low_mark, high_mark] if known else None, "sides": sides,
        "hands": sum(len(g.hands) for g in games), "passed_out": sum(not hand.bid for g in games for hand in g.hands),
        "results": [{"game": g.number, "marks": list(g.marks), "hands": len(g.hands)} for g in games],
        "interrupted": match.interrupted,
    }  # fmt: skip


def hands_json(match: MarksMatch) -> list[dict[str, Any]]:
    """Return every hand of the games that count, for a file of lines."""
    return [
        {"game": g.number, "hand": number, "team0": match.names(g.side_of(0)), "team1": match.names(g.side_of(1)),
         "text": hand.text, "bid": hand.bid, "declarer": hand.declarer, "declaration": hand.declaration,
         "made": hand.made, "marks": list(hand.marks)}
        for g in match.counted for number, hand in enumerate(g.hands)
    ]  # fmt: skip


def marks_lines(match: MarksMatch) -> list[str]:
    """Tell the result to a person."""
    score, told, games = match.score, marks_json(match), match.counted
    low, high = score.interval
    lines = [f"{match.game.label}, to {match.settings.marks} marks: {match.names(0)} against {match.names(1)}"]
    if not games:
        return [*lines, "no pair of games was finished"]
    lines.append(f"{len(games)} games in pairs of the same deals: {score.wins} won, {score.losses} lost"
                 + (f", {score.draws} left" if score.draws else ""))  # fmt: skip
    lines.append(f"won by the first {score.score:7.1%}   95 % interval {low:.1%} .. {high:.1%}")
    mean, least, most = match.difference
    lines.append(f"marks a game     {mean:+7.2f}   95 % interval {least:+.2f} .. {most:+.2f}")
    for side, facts in enumerate(told["sides"]):
        made = facts["made"] / facts["contracts"] if facts["contracts"] else 0.0
        ends = " .. ".join(f"{end:.1%}" for end in facts["interval"])
        which = "first " if side == 0 else "second"
        lines.append(f"{which} made      {made:7.1%}   95 % interval {ends}   of {facts['contracts']} contracts")
    lines.append(f"hands a game     {told['hands'] / len(games):7.1f}   {told['passed_out']} passed out")
    return lines
