"""One game while it is played: whose turn it is, what that player is handed, what it answers, and how the game ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rookery.arena.clocks import TimeControl
from rookery.arena.openings import Opening
from rookery.arena.player import Choice, Player, PlayerFailed, Turn, shown_to, turn_of, turn_seed
from rookery.arena.records import GameRecord, one_line
from rookery.errors import BadInput
from rookery.games import rules
from rookery.games.game import Game
from rookery.games.options import whole_number
from rookery.games.position import Position, Seat

Answer = Choice | PlayerFailed
"""what came back from a player: its choice, or why there is none"""


@dataclass(frozen=True)
class Plan:
    """A game to be played."""

    number: int
    """in the match, from 0"""
    opening: Opening
    sides: tuple[int, int]
    """which player of the match, 0 or 1, holds team 0, and which team 1"""

    @property
    def pair(self) -> int:
        """The number of the pair the game belongs to."""
        return self.number // 2


class RunningGame:
    """A game between two players, each of whom holds all seats of a team."""

    def __init__(self, plan: Plan, players: tuple[Player, Player], seed: int, stop: np.ndarray):
        self.plan, self.players, self.seed, self.stop = plan, players, seed, stop
        self.start = plan.opening.start.copy()
        self.position = plan.opening.position()
        self.moves = list(plan.opening.moves)
        self.seconds = [0.0, 0.0]
        self.score: float | None = None  # of team 0, once the game has ended
        self.payoff = 0.0
        self.reason = ""
        self.time_control: TimeControl | None = None
        self.clocks: list[float] = []
        self.most_plies: int | None = None

    @property
    def game(self) -> Game:
        """The game that is played."""
        return self.position.game

    @property
    def mover(self) -> Seat:
        """The seat to move."""
        return self.position.mover

    @property
    def side(self) -> int:
        """Which player of the match is to move, 0 or 1."""
        return self.plan.sides[self.game.teams[self.mover]]

    @property
    def player(self) -> Player:
        """The player to move."""
        return self.players[self.side]

    def begin(self, time_control: TimeControl | None = None, most_plies: int | None = None) -> None:
        """Set the clocks and tell both players; one who cannot begin has lost."""
        self.time_control, self.most_plies = time_control, most_plies
        if time_control:
            self.clocks = [time_control.base] * self.game.seats
        for seat in range(self.game.seats):
            team = self.game.teams[seat]
            player = self.players[self.plan.sides[team]]
            try:
                player.new_game(shown_to(player, self.start, seat), seat)
            except Exception as error:
                self.lose(team, failure(player, error))
                return
        self.look_for_end()

    def turn(self) -> Turn:
        """Return what the player to move is asked."""
        control = self.time_control
        return turn_of(
            self.player,
            self.start,
            self.position,
            self.moves,
            seed=turn_seed(self.seed, self.plan.number, len(self.moves)),
            clock=tuple(self.clocks) if control else None,
            increment=control.increment if control else 0.0,
            stop=self.stop,
        )

    def take(self, answer: Answer, seconds: float) -> None:
        """Make the move a player has chosen in so many seconds; end the game if that cannot be done."""
        seat = self.mover
        team = self.game.teams[seat]
        self.seconds[team] += seconds
        if isinstance(answer, PlayerFailed):
            self.lose(team, str(answer))
            return
        action = self.legal_action(answer)
        if action is None:
            self.lose(team, f"illegal move: {described(self.position, answer)}")
            return
        if self.time_control:
            left = self.time_control.after_move(self.clocks[seat], seconds)
            if left is None:
                self.lose(team, f"lost on time: {seconds:.2f} s for a move with {self.clocks[seat]:.2f} s left")
                return
            self.clocks[seat] = left
        self.position.play(action)
        self.moves.append(action)
        self.look_for_end()

    def legal_action(self, answer: object) -> int | None:
        """Return the action of an answer if it is one and legal."""
        if not isinstance(answer, Choice):
            return None
        try:
            action = whole_number("an action", answer.action, 0, self.game.actions - 1)
        except ValueError:
            return None
        return action if rules.is_legal(self.position.state, action) else None

    def look_for_end(self) -> None:
        """Score the game if the rules or the limit of plies end it."""
        if self.position.over:
            payoff = self.position.payoff(self.game.teams.index(0))
            self.end((1.0 + np.sign(payoff)) / 2.0, payoff, ending(self.position))
        elif self.most_plies is not None and len(self.moves) >= self.most_plies:
            self.end(0.5, 0.0, f"limit of {self.most_plies} plies")

    def lose(self, team: int, reason: str) -> None:
        """End the game against a team whose player cannot go on."""
        name = self.players[self.plan.sides[team]].name
        self.end(float(team == 1), 1.0 if team == 1 else -1.0, f"{name}: {reason}")

    def end(self, score: float, payoff: float, reason: str) -> None:
        """Keep the result."""
        self.score, self.payoff, self.reason = float(score), payoff, one_line(reason)

    def record(self) -> GameRecord:
        """Return the finished game as it is kept."""
        assert self.score is not None, "the game goes on"
        position, moves = self.start.copy(), list[str]()
        for action in self.moves:
            moves.append(position.move_text(action))
            position.play(action)
        first, second = (self.players[side].name for side in self.plan.sides)
        return GameRecord(
            game=self.game.spec, version=self.game.version, start=self.start.text(),
            actions=tuple(self.moves), moves=tuple(moves), opening=len(self.plan.opening.moves),
            players=(first, second), first_team=self.game.teams[self.game.start().mover],
            score=self.score, payoff=self.payoff, reason=self.reason,
            seconds=(self.seconds[0], self.seconds[1]), seed=self.seed, number=self.plan.number, pair=self.plan.pair,
            time_control=str(self.time_control or ""),
        )  # fmt: skip


def failure(player: Player, error: Exception) -> str:
    """Say why a player failed: its own words, or what went wrong in it.

    What a person can mend, such as an option, is nothing to lose a game by: it is raised again and ends the match.
    """
    if isinstance(error, BadInput):
        raise BadInput(f"player {player.name!r}: {error}") from error
    return str(error) if isinstance(error, PlayerFailed) else f"{type(error).__name__}: {error}"


def described(position: Position, answer: object) -> str:
    """Write what a player has answered, as a move if it is one of the game."""
    try:
        return position.move_text(answer.action) if isinstance(answer, Choice) else repr(answer)
    except Exception:
        return repr(getattr(answer, "action", answer))


def ending(position: Position) -> str:
    """Say how a game ended: in the game's own words if it has some."""
    told = getattr(position.game, "ending", None)
    return str(told(position.state)) if told else "end by the rules"
