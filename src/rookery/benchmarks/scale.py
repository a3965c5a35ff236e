"""What a run on many cards would need, from what one card does: bounds by division, and a small simulation.

Some cards play, others learn. A player sends what it has played in chunks; the learners' machines take them in through
their links, unpack them into the replay, and make the gradient steps that the new positions make due. New weights go
back through the same links and from machine to machine. Players wait when more steps are due, chunks on their way
included, than a few seconds of learning, so that nobody learns from weights of long ago.

Bounds say which part is full first. The simulation adds what division cannot see: chunks come unevenly, wait for each
other, and were played by weights that have aged on the way.
"""

from __future__ import annotations

import bisect
import heapq
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from rookery.arena.evaluator import NetworkEvaluator, on_threads
from rookery.benchmarks.learning import v5
from rookery.errors import BadInput
from rookery.learn.replay import Replay
from rookery.learn.selfplay import SelfPlay


@dataclass(frozen=True)
class Measured:
    """What one card and one core were measured to do."""

    positions: float
    """positions a second that a card plays"""
    batches: tuple[int, ...]
    """sizes of batches, rising"""
    steps: tuple[float, ...]
    """gradient steps a second of a card with these"""
    sent: float
    """bytes of a position on the way"""
    kept: float
    """bytes of a position in the replay"""
    packed: float
    """positions a second that a core packs"""
    unpacked: float
    """positions a second that a core unpacks into the replay"""
    weights: float
    """bytes of the network"""


@dataclass(frozen=True)
class Cluster:
    """What is assumed of the machines; nothing of it was measured."""

    cards: int
    learners: int
    """cards of them that learn"""
    cards_a_machine: int = 8
    link: float = 12.5e9
    """bytes a second in and out of a machine, each way"""
    cores: int = 16
    """cores of a machine for each of its cards"""
    latency: float = 50e-6
    """seconds until several cards have agreed on gradients, beside the bytes between machines"""

    def __post_init__(self) -> None:
        if not 1 <= self.learners < self.cards:
            raise BadInput(
                f"learners must lie between 1 and {self.cards - 1} of {self.cards} cards, not {self.learners}"
            )

    @property
    def players(self) -> int:
        """Cards that play."""
        return self.cards - self.learners

    @property
    def learning_machines(self) -> int:
        """Machines on which cards learn."""
        return math.ceil(self.learners / self.cards_a_machine)

    @property
    def unpacking_cores(self) -> float:
        """Cores of a machine on which cards learn."""
        return self.cores * self.learners / self.learning_machines

    @property
    def machines(self) -> int:
        """All machines."""
        return self.learning_machines + math.ceil(self.players / self.cards_a_machine)


@dataclass(frozen=True)
class Recipe:
    """How a run learns."""

    draws: float = 2.6
    """how often a position is drawn into a batch"""
    batch: int = 4096
    """positions of a step on each learning card"""
    chunk: float = 0.5
    """seconds of play in a chunk"""
    publish: float = 1.0
    """seconds of learning between two versions of the weights"""
    ahead: float = 2.0
    """seconds of learning that may be due before players wait"""


class Bound(NamedTuple):
    """What one part of the cluster could take, in positions played a second."""

    part: str
    positions: float


def step_seconds(measured: Measured, cluster: Cluster, recipe: Recipe) -> float:
    """Return how long the learners take for a step: their own work, then their gradients over the links."""
    own = float(np.interp(recipe.batch, measured.batches, [1 / steps for steps in measured.steps]))
    machines = cluster.learning_machines
    if cluster.learners == 1:
        return own
    between = 2 * (machines - 1) / machines * measured.weights / cluster.link
    return own + between + cluster.latency


def bounds(measured: Measured, cluster: Cluster, recipe: Recipe) -> list[Bound]:
    """Return what each part could take, the fullest first."""
    learning = cluster.learners * recipe.batch / recipe.draws / step_seconds(measured, cluster, recipe)
    found = [
        Bound("players", cluster.players * measured.positions),
        Bound("links", cluster.learning_machines * cluster.link / measured.sent),
        Bound("packing", cluster.players * cluster.cores * measured.packed),
        Bound("unpacking", cluster.learners * cluster.cores * measured.unpacked),
        Bound("learners", learning),
    ]
    return sorted(found, key=lambda bound: bound.positions)


def shared_out(measured: Measured, cards: int, recipe: Recipe, link: float) -> Cluster:
    """Share so many cards out between playing and learning, so that the part that is full first takes the most."""
    found = [Cluster(cards, learners, link=link) for learners in range(1, cards)]
    return max(found, key=lambda cluster: bounds(measured, cluster, recipe)[0].positions)


class Outcome(NamedTuple):
    """What came of some simulated seconds."""

    positions: float
    """played a second"""
    learners_idle: float
    """share of their time"""
    players_waiting: float
    """share of their time"""
    age: float
    """gradient steps by which the weights that played a position were old when it could be learned from, in the mean"""
    oldest: float
    """the same, above which 5 % lie"""


class Simulation:
    """Chunks on their way from players to learners. Times are seconds from the beginning."""

    def __init__(self, measured: Measured, cluster: Cluster, recipe: Recipe, jitter: float = 0.1, seed: int = 0):
        self.measured, self.cluster, self.recipe, self.jitter = measured, cluster, recipe, jitter
        self.random = np.random.default_rng(seed)
        self.step = step_seconds(measured, cluster, recipe)
        self.positions = measured.positions * recipe.chunk
        """in a chunk"""
        self.steps = self.positions * recipe.draws / (cluster.learners * recipe.batch)
        """that a chunk makes due"""
        self.links_free = [0.0] * cluster.learning_machines
        self.cores_free = [0.0] * cluster.learning_machines
        self.begun: list[float] = []
        """when learning from each chunk began, in order"""

    def run(self, seconds: float) -> Outcome:
        """Simulate; the first tenth of the time, in which everything fills up, is not counted."""
        begin, waited, ages = seconds / 10, 0.0, []
        events = [(self.length(), player, 0.0) for player in range(self.cluster.players)]
        heapq.heapify(events)
        while events[0][0] < seconds:
            now, player, version = heapq.heappop(events)
            there = self.arrive(now, player)
            self.begun.append(max(there, self.learned_until))
            if begin <= there < seconds:
                ages.append(self.steps_at(there) - version)
            resume = max(now, self.learned_until - self.recipe.ahead)
            waited += max(0.0, min(resume, seconds) - max(now, begin))
            heapq.heappush(events, (resume + self.length(), player, self.version_at(resume)))
        made, counted = self.steps_at(seconds) - self.steps_at(begin), seconds - begin
        return Outcome(
            positions=len(ages) * self.positions / counted,
            learners_idle=1 - made * self.step / counted,
            players_waiting=waited / counted / self.cluster.players,
            age=float(np.mean(ages)) if ages else math.nan,
            oldest=float(np.quantile(ages, 0.95)) if ages else math.nan,
        )

    def length(self) -> float:
        """Draw how long a player takes for a chunk; the mean is that of the recipe."""
        return self.recipe.chunk * float(self.random.lognormal(-(self.jitter**2) / 2, self.jitter))

    def arrive(self, now: float, player: int) -> float:
        """Send a chunk over its machine's link, unpack it, and return when it can be learned from."""
        machine = player % self.cluster.learning_machines
        sent = self.positions * self.measured.sent / self.cluster.link
        self.links_free[machine] = max(now, self.links_free[machine]) + sent
        unpacked = self.positions / (self.measured.unpacked * self.cluster.unpacking_cores)
        self.cores_free[machine] = max(self.links_free[machine], self.cores_free[machine]) + unpacked
        return self.cores_free[machine]

    @property
    def learned_until(self) -> float:
        """When all steps that are due so far will have been made."""
        return self.begun[-1] + self.steps * self.step if self.begun else 0.0

    def steps_at(self, now: float) -> float:
        """Return how many steps have been made at some time."""
        chunk = bisect.bisect_right(self.begun, now) - 1
        return 0.0 if chunk < 0 else chunk * self.steps + min(self.steps, (now - self.begun[chunk]) / self.step)

    def version_at(self, now: float) -> float:
        """Return the step of the newest weights that have reached the players."""
        hops = math.ceil(math.log2(self.cluster.machines + 1))  # machines that have them pass them on
        made = self.steps_at(now - hops * self.measured.weights / self.cluster.link)
        every = max(1.0, self.recipe.publish / self.step)
        return math.floor(made / every) * every


# ---- plans ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """A cluster, what it could take, and what it did in the simulation."""

    measured: Measured
    cluster: Cluster
    recipe: Recipe
    full: tuple[Bound, ...]
    outcome: Outcome

    @property
    def received(self) -> float:
        """Bytes a second into each machine on which cards learn."""
        return self.outcome.positions * self.measured.sent / self.cluster.learning_machines

    @property
    def published(self) -> float:
        """Bytes a second of weights out of a machine that passes them on to two others."""
        return 2 * self.measured.weights / self.recipe.publish

    def as_dict(self) -> dict[str, Any]:
        """Return the plan for JSON."""
        facts = {"received": self.received, "published": self.published, "machines": self.cluster.machines}
        bound = {f"bound {bound.part}": bound.positions for bound in self.full}
        return asdict(self.cluster) | asdict(self.recipe) | facts | bound | self.outcome._asdict()

    def lines(self) -> dict[str, str]:
        """Return what a person wants to know, by its name."""
        first, outcome = self.full[0], self.outcome
        step = step_seconds(self.measured, self.cluster, self.recipe)
        return {
            "machines": f"{self.cluster.machines}",
            "cards that play": f"{self.cluster.players}",
            "cards that learn": f"{self.cluster.learners}",
            "full first": first.part,
            "positions a second, at most": f"{first.positions / 1e6:.2f}M",
            "positions a second, simulated": f"{outcome.positions / 1e6:.2f}M",
            "gradient steps a second": f"{(1 - outcome.learners_idle) / step:.0f}",
            "positions in a step": f"{self.cluster.learners * self.recipe.batch:,}",
            "MB/s into a learning machine": f"{self.received / 1e6:.0f}",
            "MB/s of weights out of a machine": f"{self.published / 1e6:.0f}",
            "GB of replay for a minute": f"{60 * outcome.positions * self.measured.kept / 1e9:,.0f}",
            "learners idle": f"{100 * max(0.0, outcome.learners_idle):.0f} %",
            "players waiting": f"{100 * outcome.players_waiting:.0f} %",
            "age of weights in steps, mean": f"{outcome.age:.0f}",
            "age of weights in steps, 95 %": f"{outcome.oldest:.0f}",
        }


def planned(measured: Measured, cards: int, recipe: Recipe, link: float, seconds: float, seed: int) -> Plan:
    """Share cards out, and simulate."""
    cluster = shared_out(measured, cards, recipe, link)
    outcome = Simulation(measured, cluster, recipe, seed=seed).run(seconds)
    return Plan(measured, cluster, recipe, tuple(bounds(measured, cluster, recipe)), outcome)


# ---- what is measured ----------------------------------------------------------------------------

V5 = Measured(
    positions=28.5e6 / 64,  # bench selfplay --device cuda: simulations a second, 64 for each position
    batches=(256, 1024, 4096),  # bench train --device cuda
    steps=(766.0, 542.0, 473.0),
    sent=58.6,  # the last four by `measure_rows`, on one core of another machine
    kept=1509.0,
    packed=260e3,
    unpacked=264e3,
    weights=6.16e6,
)
"""V5 of Pylos on one NVIDIA H200: figures of docs/self-play.md and docs/past-one-machine.md"""


class Rows(NamedTuple):
    """What positions of finished games take and cost."""

    positions: int
    """that were measured"""
    sent: float
    """bytes of a position, packed"""
    kept: float
    """bytes of a position in the replay"""
    packed: float
    """positions a second that a core packs"""
    unpacked: float
    """positions a second that a core unpacks and puts into a replay"""


def measure_rows(games: int, tick: Callable[[], None], at_once: int = 32) -> Rows:
    """Play V5 of Pylos with random weights until so many games have ended; pack and unpack their positions."""
    settings, game, network = v5(at_once)
    replay = Replay(game, settings.network.observation, settings.training.replay)
    evaluator = NetworkEvaluator(network, replay.kind, device="cpu", batch=at_once, threads=1)
    player, ended = SelfPlay(game, settings.selfplay, settings.seed, replay), 0
    with on_threads(1):
        while ended < games:
            found = player.round(evaluator).games
            ended += found
            for _ in range(found):
                tick()
    begin = time.process_time()
    state = replay.state()
    packed = time.process_time()
    other = Replay(game, replay.kind, settings.training.replay)
    allocated = time.process_time()
    other.add(other.unpacked_rows(state))
    done = time.process_time()
    count = replay.filled
    return Rows(
        positions=count,
        sent=sum(array.nbytes for array in state.values()) / count,
        kept=sum(tensor[0].nbytes for tensor in replay.rows),
        packed=count / (packed - begin),
        unpacked=count / (done - allocated),
    )
