"""How fast self-play and training are, beside the network alone.

Self-play is measured with V5 of Pylos and its 64 simulations, the game with take-backs by rule, as the original played
it: 0.18 games for each second of a processor core; or with the tower of the Gomoku study on 15 x 15 and its 200, with
or without a search for wins by fours at its leaves. Games are moved on first, on a card until they are at all stages.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from rookery.arena.evaluator import NetworkEvaluator, on_threads
from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.library import load
from rookery.games.options import one_of
from rookery.learn.curriculum_settings import read_curriculum, settings_of
from rookery.learn.replay import Replay
from rookery.learn.sections import TrainingSettings
from rookery.learn.selfplay import Finished, SelfPlay
from rookery.learn.settings import RunSettings, network_values, read_settings
from rookery.learn.trainer import Trainer
from rookery.nets.configs import read_config
from rookery.nets.folded import fold
from rookery.nets.network import Network
from rookery.nets.residual import build

ORIGINAL = 0.18  # games of the original for each second of a core
AT_ONCE = {"cpu": 128, "cuda": 16384}
TOWERS_AT_ONCE = {"cpu": 4, "cuda": 2048}
BATCHES = {"cpu": (256, 1024), "cuda": (256, 1024, 4096)}


@dataclass(frozen=True)
class SelfplayRow:
    """One round of measuring: rates by the clock on a card, by processor time on one core."""

    games: float
    simulations: float
    plies: float
    """of a game"""
    step: float
    """a simulation of all games, against the network alone"""

    def as_dict(self) -> dict[str, Any]:
        """Return the row for JSON."""
        return asdict(self)


def v5(at_once: int) -> tuple[RunSettings, Game, Network]:
    """Return the settings of V5 with so many games at once, its game, and its network before any training."""
    settings = read_settings("pylos_v5", [f"selfplay.at_once={at_once}"])
    game = load(settings.game)
    return settings, game, build(read_config(network_values(settings.network, game)), settings.seed).eval()


@dataclass(frozen=True)
class Subject:
    """Whose self-play is measured."""

    settings: RunSettings
    spread: int
    """rounds after which games are at all stages"""
    rounds: int
    """rounds that are measured at a time"""

    @property
    def at_once(self) -> int:
        """Games side by side."""
        return self.settings.selfplay.at_once

    def network(self) -> Network:
        """Return the network before any training."""
        values = network_values(self.settings.network, load(self.settings.game))
        return build(read_config(values), self.settings.seed).eval()


SUBJECTS = ("pylos", "gomoku")


def subject(name: str, device: str, fours: bool = False) -> Subject:
    """Return whose self-play is measured on a device; `fours` looks for wins by fours at its leaves."""
    if one_of("game", name, SUBJECTS) == "pylos":
        if fours:
            raise BadInput("fours: wins by fours are known in gomoku, not in pylos")
        return Subject(v5(AT_ONCE[device])[0], spread=60, rounds={"cpu": 10, "cuda": 30}[device])
    changes = {"at_once": TOWERS_AT_ONCE[device], "fours": str(fours).lower()}
    curriculum = read_curriculum("gomoku_curriculum", [f"stages.4.selfplay.{k}={v}" for k, v in changes.items()])
    settings = settings_of(curriculum, len(curriculum.stages) - 1, "")
    assert isinstance(settings, RunSettings)
    return Subject(settings, spread={"cpu": 2, "cuda": 15}[device], rounds={"cpu": 1, "cuda": 5}[device])


def timed(work: Callable[[], object], clock: Callable[[], float]) -> float:
    """Return how long something takes."""
    begin = clock()
    work()
    return clock() - begin


def on_card_clock() -> float:
    """Wait for the card and return the time."""
    torch.cuda.synchronize()
    return time.perf_counter()


def play_rounds(round_: Callable[[], Finished], rounds: int) -> Finished:
    """Play some rounds and count what was finished."""
    done = Finished()
    for _ in range(rounds):
        done.merge(round_())
    return done


def measure(
    round_: Callable[[], Finished], network: Callable[[], object], clock: Callable[[], float], at_once: int,
    simulations: int, rounds: int,
) -> SelfplayRow:  # fmt: skip
    """Measure some rounds of self-play and as many passes of the network."""
    done: list[Finished] = []
    spent = timed(lambda: done.append(play_rounds(round_, rounds)), clock)
    passes = rounds * (simulations + 1)
    alone = timed(lambda: [network() for _ in range(passes)], clock)
    played = at_once * rounds
    plies = done[0].plies / max(1, done[0].games)
    return SelfplayRow(
        games=played / plies / spent if done[0].games else 0.0,  # finished games alone are too few to count
        simulations=played * simulations / spent,
        plies=plies,
        step=spent / alone,
    )


def bench_selfplay(
    device: str, rounds: int, tick: Callable[[], None], name: str = "pylos", fours: bool = False
) -> list[SelfplayRow]:
    """Measure self-play; `tick` is called after each round, of which the first goes to spreading the games."""
    whose = subject(name, device, fours)
    settings, game, network = whose.settings, load(whose.settings.game), whose.network()
    replay = Replay(game, settings.network.observation, settings.training.replay, device)
    play = settings.selfplay
    if device == "cuda":
        return bench_on_card(whose, game, network, replay, rounds, tick)
    evaluator = NetworkEvaluator(network, replay.kind, device="cpu", batch=play.at_once, threads=1)
    player = SelfPlay(game, play, settings.seed, replay)
    observations = np.random.default_rng(0).standard_normal((play.at_once, network.config.inputs)).astype(np.float32)
    with on_threads(1):
        play_rounds(lambda: player.round(evaluator), whose.spread)
        tick()
        found = []
        for _ in range(rounds):
            row = measure(
                lambda: player.round(evaluator), lambda: evaluator(observations), time.process_time, play.at_once,
                play.simulations, whose.rounds,
            )  # fmt: skip
            found.append(row)
            tick()
    return found


def bench_on_card(
    whose: Subject, game: Game, network: Network, replay: Replay, rounds: int, tick: Callable[[], None]
) -> list[SelfplayRow]:
    """Measure self-play on a card, against the network captured in a graph of its own."""
    from rookery.learn.selfplay_cuda import SelfPlayOnCard, judged_by
    from rookery.nets.captured import Captured

    play, folded = whose.settings.selfplay, fold(network, "cuda", torch.bfloat16)
    with torch.no_grad():
        player = SelfPlayOnCard(game, play, whose.settings.seed, replay, judged_by(folded))
        alone = Captured(folded, play.at_once)
        play_rounds(player.round, whose.spread)
        tick()
        found = []
        for _ in range(rounds):
            row = measure(player.round, alone.replay, on_card_clock, play.at_once, play.simulations, whose.rounds)
            found.append(row)
            tick()
    return found


@dataclass(frozen=True)
class TrainRow:
    """Gradient steps a second with batches of one size: the median of the rounds, the lowest and the highest."""

    batch: int
    speed: float
    low: float
    high: float

    def as_dict(self) -> dict[str, Any]:
        """Return the row for JSON."""
        return asdict(self) | {"positions": self.speed * self.batch}


def filled_replay(game: Game, kind: str, rows: int, device: str) -> Replay:
    """Return a replay full of positions that nobody played."""
    replay, generator = Replay(game, kind, rows, device, symmetries=True), np.random.default_rng(0)
    count = 16
    replay.rows.observations.copy_(torch.from_numpy(generator.standard_normal(replay.rows.observations.shape)))
    replay.rows.actions[:, :count] = torch.arange(count, dtype=torch.int16, device=device)
    replay.rows.weights[:, :count] = torch.from_numpy(generator.random((rows, count), np.float32)).to(device)
    replay.rows.counts.fill_(count)
    replay.rows.outcomes.copy_(torch.from_numpy(generator.choice([-1.0, 1.0], rows)))
    replay.rows.taught.fill_(1)
    replay.written = rows
    return replay


def bench_training(device: str, rounds: int, tick: Callable[[], None]) -> list[TrainRow]:
    """Measure gradient steps of V5, from drawing the rows to new weights, on one core or on a card."""
    settings, game, _ = v5(AT_ONCE[device])
    replay = filled_replay(game, settings.network.observation, 65_536, device)
    clock, steps = (on_card_clock, 100) if device == "cuda" else (time.process_time, 5)
    trainers, speeds = {}, dict[int, list[float]]()
    with on_threads(1):
        for batch in BATCHES[device]:
            network = build(read_config(network_values(settings.network, game)), settings.seed)
            training = TrainingSettings(batch=batch, symmetries=True, precision="tf32" if device == "cuda" else "32")
            trainers[batch] = Trainer(network, training, 1_000_000, settings.seed, replay)
            trainers[batch].train(0, 2)
        for _ in range(rounds):
            for batch, trainer in trainers.items():
                spent = timed(lambda: trainer.train(trainer.steps, steps), clock)  # noqa: B023, used at once
                speeds.setdefault(batch, []).append(steps / spent)
            tick()
    return [TrainRow(batch, statistics.median(found), min(found), max(found)) for batch, found in speeds.items()]
