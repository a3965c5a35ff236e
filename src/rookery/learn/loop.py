"""The loop of a run: play, learn, save, until all games are played.

Each turn of the loop makes one move in all games, then the gradient steps that the finished games make due, then new
weights play; behind a gate only those that have won a match. Nothing runs beside anything else, so a run is a function
of its settings: killed and resumed on a CPU with as many threads, it ends with the same weights. On a card sums may
differ in their last bits.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch

from rookery.arena.evaluator import PRECISIONS, USUAL, NetworkEvaluator, chosen_device
from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.library import load
from rookery.learn.gate import Gate
from rookery.learn.kept import Kept
from rookery.learn.losses import Losses
from rookery.learn.replay import Replay
from rookery.learn.runs import START, Run
from rookery.learn.selfplay import Finished, SelfPlay
from rookery.learn.settings import RunSettings, network_values
from rookery.learn.snapshots import Snapshot
from rookery.learn.starts import first_network
from rookery.learn.threads import fastest_threads
from rookery.learn.tracking import Tracker, check_sinks
from rookery.learn.trainer import Trainer
from rookery.nets.captured import captured
from rookery.nets.configs import read_config
from rookery.nets.files import About, save_network
from rookery.nets.folded import fold
from rookery.nets.network import Network

PLIES = 50  # of a game, as a guess, to weigh playing against learning
REPORT = 1.0  # seconds between two lines of figures
SNAPSHOT = 300.0  # seconds after which the state is saved, checkpoint or not
SAVING = 0.1  # most of the time that saving the state may take: thousands of games in flight are much to write

UNFIT = (KeyError, IndexError, TypeError, ValueError, RuntimeError, AttributeError, zlib.error)
"""what a state of something else makes its readers stumble over"""


def new_run(folder: str | os.PathLike[str], settings: RunSettings) -> Run:
    """Make the folder of a new run, for as many threads as are asked for or turn out to be best.

    What this machine lacks is told before anything is made.
    """
    threads, device = settings.threads, chosen_device(settings.device)
    check_sinks(settings.tracking)
    if not threads and device.type == "cpu":
        values = network_values(settings.network, load(settings.game))
        play, batch = settings.selfplay, settings.training.batch
        steps = settings.training.steps_per_game * play.at_once / PLIES  # that are due with a move of all games
        passes = play.simulations / play.leaves / max(steps, 1e-9)
        threads = fastest_threads(read_config(values), batch, play.at_once * play.leaves, passes)
    return Run.create(folder, settings, threads)


class OnProcessor:
    """Self-play by a CPU's threads; an Apple card may judge."""

    def __init__(self, game: Game, settings: RunSettings, replay: Replay, network: Network):
        rows, device = settings.selfplay.at_once * settings.selfplay.leaves, chosen_device(settings.device).type
        self.evaluator = NetworkEvaluator(network, replay.kind, device=device, precision=settings.precision, batch=rows)
        self.play = SelfPlay(game, settings.selfplay, settings.seed, replay)

    def update(self, network: Network) -> None:
        """Play with new weights."""
        self.evaluator.update(network)

    def round(self) -> Finished:
        """Make one move in all games."""
        return self.play.round(self.evaluator)


class OnCard:
    """Self-play on a card."""

    def __init__(self, game: Game, settings: RunSettings, replay: Replay, network: Network):
        from rookery.learn.selfplay_cuda import SelfPlayOnCard, judged_by

        numbers = PRECISIONS[USUAL["cuda"] if settings.precision == "auto" else settings.precision]
        self.network, self.folded = network, fold(network, "cuda", numbers)
        self.refold = captured(lambda: self.folded.update(network))  # hundreds of small kernels
        self.play = SelfPlayOnCard(game, settings.selfplay, settings.seed, replay, judged_by(self.folded))

    def update(self, network: Network) -> None:
        """Play with new weights."""
        if network is self.network:
            self.refold.replay()
        else:
            self.folded.update(network)

    def round(self) -> Finished:
        """Make one move in all games."""
        with torch.no_grad():
            return self.play.round()


class Games(Protocol):
    """Games in play, as a run looks at them."""

    keep_every: int

    def start(self, first: int = 0) -> None:
        """Begin all games."""

    def state(self) -> dict[str, np.ndarray]:
        """Return the games in play, between two rounds."""

    def load(self, state: dict[str, np.ndarray]) -> None:
        """Take the games in play back."""


class Players(Protocol):
    """Whoever plays the games of a run."""

    @property
    def play(self) -> Games:
        """The games in play."""

    def update(self, network: Network) -> None:
        """Play with new weights."""

    def round(self) -> Finished:
        """Play on and put finished games into the replay; in process, one move in all games."""


PlayersMaker = Callable[[Game, RunSettings, Replay, Network], Players]


def self_play(game: Game, settings: RunSettings, replay: Replay, network: Network) -> Players:
    """Play in this process, on a card if the replay lies on one."""
    side = OnCard if replay.device.type == "cuda" else OnProcessor
    return side(game, settings, replay, network)


@dataclass
class Figures:
    """What happened since the last report."""

    finished: Finished = field(default_factory=Finished)
    losses: list[tuple[int, int, Losses]] = field(default_factory=list)
    """of each training call: games played by then, steps made, means on the device"""
    kept: list[tuple[int, Kept]] = field(default_factory=list)
    """games to be kept, with the number of games finished by then"""
    gate: dict[str, float] = field(default_factory=dict)
    """of the last challenge"""
    played: float = 0.0
    trained: float = 0.0
    """seconds of playing and of training"""


class Training:
    """A run in progress."""

    def __init__(
        self, run: Run, say: Callable[[dict[str, Any]], None] | None = None, players: PlayersMaker = self_play
    ):
        """Make everything ready; go on from the run's snapshot if there is one. The run's lock must be held.

        `say` is told the figures of every report; `players` makes those who play.
        """
        self.run, self.settings, self.game, self.say = run, run.settings, run.game, say
        settings, play = self.settings, self.settings.selfplay
        self.device = chosen_device(settings.device)
        if threads := run.manifest["threads"]:
            torch.set_num_threads(threads)
        self.kind, self.games, self.elapsed, self.since = settings.network.observation, 0, 0.0, time.monotonic()
        self.saved_at, self.saving, self.reported_at = time.monotonic(), 0.0, -1e9
        """when the state was saved, and the seconds that took"""
        self.unsaved = True
        """whether anything has happened since"""
        self.checkpointed, self.checkpointed_at = 0, -1e9
        """games and time at the last checkpoint"""
        start = run.folder / START if settings.start else None
        network = first_network(read_config(network_values(settings.network, self.game)), settings.seed, start)
        where = "cuda" if self.device.type == "cuda" else "cpu"  # kernels write into it
        self.replay = Replay(self.game, self.kind, settings.training.replay, where, settings.training.symmetries)
        self.trainer = Trainer(network, settings.training, settings.planned_steps, settings.seed, self.replay)
        self.trainer.all_taught = (
            play.full_share >= 1 and play.random_plies == 0 and (play.opponent_taught or not play.opponent)
        )
        gated = settings.gate.kind != "none"
        self.gate = Gate(run, self.trainer.player, self.device.type) if gated else None
        self.players = players(self.game, settings, self.replay, self.player)
        self.players.play.keep_every = settings.tracking.game_every
        self.figures = Figures()
        self.last: dict[str, float | None] = {"value_loss": None, "policy_loss": None}
        self.go_on()

    def go_on(self) -> None:
        """Take up the run where its snapshot left it."""
        snapshot = self.run.load_state()
        if snapshot is None:
            self.run.go_back_to(0)
            return
        try:
            self.take_up(snapshot)
        except UNFIT as error:
            if isinstance(error, BadInput):
                raise
            said = str(error).strip().splitlines() or [""]
            raise BadInput(
                f"the state of {self.run.folder} does not belong to its settings, which cannot change while a run goes "
                f"on, or is no state of training: {type(error).__name__}: {said[0]}"
            ) from error
        self.players.update(self.player)
        self.run.go_back_to(self.games)

    def take_up(self, snapshot: Snapshot) -> None:
        """Put everything back that a snapshot holds."""
        parts: dict[str, dict[str, Any]] = {"replay": {}, "play": {}}
        for name, array in snapshot.arrays.items():
            part, _, key = name.partition("/")
            parts[part][key] = array
        self.replay.load(parts["replay"])
        self.players.play.load(parts["play"])
        self.trainer.load(snapshot.torch_state)
        if self.gate:
            self.gate.load(snapshot.torch_state["gate"])
        values = snapshot.values
        self.games, self.elapsed, self.checkpointed = values["games"], values["elapsed"], values["checkpointed"]
        self.last = values["last"]

    # -- the loop --

    def train(self, stop: Callable[[], bool] = lambda: False) -> bool:
        """Play and learn until all games are played; return False if `stop` said so before, with the state saved."""
        planned = self.settings.selfplay.games
        with Tracker(self.run, self.games) as tracker:
            self.run.write_progress("training", self.games, **self.last, elapsed_seconds=self.spent)
            while self.games < planned:
                if stop():
                    self.report(tracker)
                    if self.unsaved:
                        self.save_state()
                    return False
                self.turn()
                if time.monotonic() - self.reported_at >= REPORT or self.games >= planned:
                    self.report(tracker)
                self.maybe_save(tracker)
            self.checkpoint()
            self.save_state()
            self.run.write_progress("complete", self.games, **self.last, elapsed_seconds=self.spent)
        return True

    @property
    def spent(self) -> float:
        """Seconds the run has taken, those before it was resumed included."""
        return self.elapsed + time.monotonic() - self.since

    @property
    def player(self) -> Network:
        """The network that plays and is saved: behind a gate the champion, else the newest."""
        return self.gate.champion if self.gate else self.trainer.player

    def turn(self) -> None:
        """Make one move in all games and the steps that are due."""
        begin, self.unsaved = time.monotonic(), True
        finished = self.players.round()
        between = time.monotonic()
        due = self.settings.training.steps_after
        first, self.games = due(self.games), min(self.games + finished.games, self.settings.selfplay.games)
        self.figures.finished.merge(finished)
        self.figures.kept += [(self.games, game) for game in finished.kept]
        count = due(self.games) - first
        if count and self.trainer.ready():
            self.figures.losses.append((self.games, count, self.trainer.train(first, count)))
            if not self.gate:
                self.players.update(self.player)
        self.figures.played += between - begin
        self.figures.trained += time.monotonic() - between
        if self.gate and self.gate.is_due(self.games, self.trainer.steps):
            self.figures.gate = self.gate.challenge(self.trainer.player, self.games, self.trainer.steps)
            if self.settings.gate.discard and self.figures.gate["gate/taken"]:
                self.replay.clear()
            self.players.update(self.player)

    # -- what is told and kept --

    def report(self, tracker: Tracker) -> None:
        """Write the figures since the last report into the run, and tell them."""
        figures, done = self.figures, self.figures.finished
        told: dict[str, float] = {}
        if figures.losses:
            named = self.note_losses()
            self.last = {"value_loss": named["value"], "policy_loss": named["policy"]}
            told |= {f"loss/{name}": value for name, value in named.items()}
            told["train/steps"] = float(self.trainer.steps)
        told |= figures.gate
        if done.games:
            told |= {
                "selfplay/plies": done.plies / done.games,
                "selfplay/first_wins": done.wins / done.games,
                "selfplay/second_wins": done.losses / done.games,
                "selfplay/draws": (done.games - done.wins - done.losses) / done.games,
            }
            if self.settings.selfplay.opponent:
                told["selfplay/against_opponent"] = (1 + done.learner / done.games) / 2
            told |= {f"selfplay/{name}": count / done.games for name, count in done.endings.items()}
            told |= {"seconds/play": figures.played, "seconds/train": figures.trained, "seconds/all": self.spent}
        if told:
            tracker.log(self.games, told)
        for step, game in figures.kept:
            self.run.append_game(game.as_dict(step))
        self.run.write_progress("training", self.games, **self.last, elapsed_seconds=self.spent)
        self.figures, self.reported_at = Figures(), time.monotonic()
        if self.say:
            self.say({"games": self.games, "seconds": self.spent} | told)

    def note_losses(self) -> dict[str, float]:
        """Write a line for each training call, so that the history does not depend on when it is written.

        Return the means over all their steps, by name.
        """
        losses = [found for _, _, found in self.figures.losses]
        means = torch.stack([torch.stack(list(each)) for each in losses]).cpu().double()
        for (games, _, _), (value, policy, *_) in zip(self.figures.losses, means.tolist(), strict=True):
            self.run.append_loss(games, value, policy)
        steps = torch.tensor([count for _, count, _ in self.figures.losses], dtype=means.dtype)
        return dict(zip(Losses._fields, (steps @ means / steps.sum()).tolist(), strict=True))

    def maybe_save(self, tracker: Tracker) -> None:
        """Save a checkpoint if enough games were played and enough time has passed since the last."""
        keep = self.settings.checkpoints
        due = self.games // keep.every > self.checkpointed // keep.every and self.games < self.settings.selfplay.games
        now = time.monotonic()
        if due and now - self.checkpointed_at >= keep.least_seconds:
            self.report(tracker)  # what is not written before the snapshot would be missing after a kill
            self.checkpoint()
            if now - self.saved_at >= self.saving / SAVING:
                self.save_state()
        elif now - self.saved_at >= SNAPSHOT:  # checkpoints may be days apart
            self.report(tracker)
            self.save_state()

    def checkpoint(self) -> None:
        """Save the network that plays."""
        about = About(
            game=self.game.spec, rules_version=self.game.version, observation=self.kind, step=self.games,
            notes=f"run {self.run.folder.name}, seed {self.settings.seed}",
        )  # fmt: skip
        network = self.player
        self.run.save_checkpoint(self.games, lambda path: save_network(path, network, about))
        self.checkpointed, self.checkpointed_at = self.games, time.monotonic()

    def save_state(self) -> None:
        """Save everything needed to go on."""
        begin = time.monotonic()
        arrays = {f"replay/{name}": array for name, array in self.replay.state().items()}
        arrays |= {f"play/{name}": array for name, array in self.players.play.state().items()}
        values = {
            "games": self.games, "elapsed": self.spent, "checkpointed": self.checkpointed, "last": self.last,
        }  # fmt: skip
        state = self.trainer.state() | ({"gate": self.gate.state()} if self.gate else {})
        self.run.save_state(Snapshot(arrays, values, state))
        self.saved_at, self.unsaved = time.monotonic(), False
        self.saving = self.saved_at - begin
