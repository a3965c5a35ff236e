"""Who thinks behind the UCI engine: Lc0's search with a network, or any player of the arena.

A thinker is asked from one thread and thinks in another, which it lets go on while it tells what it knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch

from rookery.arena.evaluator import chosen_device
from rookery.arena.player import Player, Turn, turn_seed
from rookery.arena.players import make_player
from rookery.arena.searching import Analyst, SearchPlayer
from rookery.engines.uci_info import Told, ToldLine, told_of_analysis, told_of_found
from rookery.engines.uci_options import Options
from rookery.errors import BadInput
from rookery.games.chess import Chess
from rookery.games.position import Action, Position
from rookery.lc0.evaluator import Evaluator, load
from rookery.lc0.positions import chess_game
from rookery.lc0.search import Searcher, legal_actions
from rookery.search.analysis import Analysis, Limits, Watch
from rookery.search.threads import new_stop

CPU_BATCH, CARD_BATCH = 7, 256
FEW_NODES = 4  # in which all that a search does is done once; a large network takes seconds for a full batch


@dataclass
class Job:
    """One search."""

    position: Position
    start: Position
    moves: tuple[Action, ...]
    """from the start to the position"""
    limits: Limits = field(default_factory=Limits)
    mate: int | None = None
    """end when a mate in so many moves is found"""
    only: tuple[Action, ...] = ()
    stop: np.ndarray = field(default_factory=new_stop)
    seed: int = 0


class Thinker:
    """Whoever thinks."""

    name: str
    last_word: float = 0.03
    """seconds for which a thought that is stopped is waited for; what is known then is the answer"""

    def prepare(self) -> None:
        """Do what takes long and is needed once."""

    def new_game(self) -> None:
        """Hear that a game begins."""

    def begin(self, job: Job) -> list[str]:
        """Get ready for a search; return what the manager should hear of it."""
        return []

    def think(self, job: Job) -> None:
        """Search until a limit is reached or the job is stopped."""
        raise NotImplementedError

    def told(self, job: Job, lines: int, verbose: bool = False) -> Told | None:
        """Return what is known so far; None if nothing is."""
        raise NotImplementedError

    def told_before(self, job: Job, lines: int) -> Told | None:
        """Return what is known of a search that is not begun from one that still goes on; None if nothing is."""
        return None

    def close(self) -> None:
        """Free what is held."""


class NetworkThinker(Thinker):
    """Lc0's search with a network."""

    last_word = 0.003  # a pass of the network takes long, and the tree can be asked without it

    def __init__(self, path: str, options: Options):
        self.name, self.options = path, options
        self.read_with: tuple[str, ...] = ()
        self.usual_threads = torch.get_num_threads()
        self.renew()

    def renew(self) -> None:
        """Make the tree anew, and read the network if it is to be another one or elsewhere; all or nothing of it."""
        values = self.options.values
        device = chosen_device(values["Backend"]).type
        settings = self.options.settings(CPU_BATCH if device == "cpu" else CARD_BATCH)
        heads, fill = (values["PolicyHead"], values["ValueHead"]), values["HistoryFill"]
        wanted = (self.name, device, *heads, fill, str(settings.batch))
        another = wanted != self.read_with
        if another:
            precision = "f32" if device == "cpu" else "f16"
            policy, value = (head or None for head in heads)
            evaluator = load(self.name, device, precision, policy, value, fill, settings.batch, 0)
        else:
            evaluator = self.evaluator
        room, remembered = self.options.number("RamLimitMb"), self.options.number("NNCacheSize")
        searcher = Searcher(evaluator, settings, room, remembered=remembered)
        if another:
            warm_up(searcher)
        self.evaluator: Evaluator = evaluator
        self.searcher, self.read_with = searcher, wanted

    def new_game(self) -> None:
        self.searcher.clear()

    def begin(self, job: Job) -> list[str]:
        torch.set_num_threads(self.options.number("Threads") or self.usual_threads)
        self.searcher.turn_to(job.position, job.only)
        return []

    def think(self, job: Job) -> None:
        pruning = float(self.options.values["SmartPruningFactor"])
        watch = Watch(seconds=job.limits.seconds, stop=job.stop)
        if job.mate is None:
            self.searcher.run(job.limits, watch, pruning)
            return
        nodes = job.limits.nodes or 1 << 30
        while not watch.ended:  # in parts, to see whether the mate is found
            part = min(nodes, 2 * self.searcher.visits + 64)
            why = self.searcher.run(replace(job.limits, nodes=part), watch)
            told = self.told(job, 1)
            found = told is not None and told.lines and told.lines[0].mate
            done = part == nodes or why != "all nodes searched" or self.searcher.settled
            if done or (found and 0 < found <= job.mate):
                break

    def told(self, job: Job, lines: int, verbose: bool = False) -> Told | None:
        found = self.searcher.found()
        known = found.moves and found.visits > 0
        return told_of_found(found, lines, job.position if verbose else None) if known else None

    def told_before(self, job: Job, lines: int) -> Told | None:
        found = None if job.only else self.searcher.known_of(job.position)
        return None if found is None else told_of_found(found, lines)


def warm_up(searcher: Searcher) -> None:
    """Compile, and let the network run, by a look at two positions of which one follows from the other."""
    if searcher.evaluator.card:
        searcher.evaluator.card.prepare()
    few = Limits(nodes=FEW_NODES)
    position = chess_game().position("startpos")
    searcher.begin(position)
    searcher.run(few)
    position.play(searcher.found().action)
    searcher.begin(position)
    searcher.run(few)
    searcher.clear()


class PlayerThinker(Thinker):
    """A player of the arena."""

    def __init__(self, text: str, game: Chess):
        self.player: Player = make_player(text, game)
        if self.player.at_terminal:
            raise BadInput(f"player {self.player.name!r} needs a terminal, but a manager sits there")
        self.name = self.player.name
        self.latest: Analysis | None = None
        self.chosen: Action | None = None
        self.job: Job | None = None
        self.own = self.player.limits if isinstance(self.player, SearchPlayer) else Limits()

    def prepare(self) -> None:
        game = chess_game()
        self.player.prepare(game.start())

    def begin(self, job: Job) -> list[str]:
        self.latest, self.chosen, self.job = None, None, job
        if isinstance(self.player, SearchPlayer):
            limits = job.limits
            self.player.limits = Limits(
                least(self.own.depth, limits.depth), least(self.own.nodes, limits.nodes), self.own.seconds
            )
        return ["searchmoves and mate are for networks; this player looks at all moves"] if job.only or job.mate else []

    def think(self, job: Job) -> None:
        position = playable(job.position)
        if position is None:
            return

        def heard(found: Analysis) -> None:
            if self.job is job:
                self.latest = found

        if isinstance(self.player, Analyst):
            self.player.report = heard
        same = position is job.position
        turn = Turn(
            position, job.start if same else position.copy(), job.moves if same else (), job.seed,
            seconds=job.limits.seconds, stop=job.stop,
        )  # fmt: skip
        choice = self.player.choose(turn)
        if self.job is job:
            self.chosen, self.latest = choice.action, choice.analysis or self.latest

    def told(self, job: Job, lines: int, verbose: bool = False) -> Told | None:
        found, chosen = self.latest, self.chosen
        if found is not None:
            return told_of_analysis(found, lines)
        return None if chosen is None else Told((ToldLine((chosen,), 0.0),), 1, 1, 1, 1)

    def close(self) -> None:
        self.player.close()


def least(first: int | None, second: int | None) -> int | None:
    """Return the lower of two limits, either of which may not be there."""
    given = [limit for limit in (first, second) if limit is not None]
    return min(given) if given else None


def playable(position: Position) -> Position | None:
    """Return a position in which a player can be asked for a move: a draw nobody has claimed is played on.

    None if the game is over by the rules, or has too few men for any search.
    """
    if not position.over:
        return position
    game = position.game
    assert isinstance(game, Chess)
    if not legal_actions(position):
        return None
    words = game.fen(position.state).split()
    fresh = game.position(" ".join([*words[:4], "0", words[5]]))
    return None if fresh.over else fresh


def fallback(position: Position) -> Sequence[Action]:
    """Return a legal move, for when nothing better is known; none if there is none."""
    return legal_actions(position)[:1]


def seed_of(seed: int, moves: int) -> int:
    """Return the seed of a decision."""
    return turn_seed(seed, 0, moves)
