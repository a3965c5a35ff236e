"""Self-play on a cluster: workers play, and what they have played comes to the learner in chunks.

A worker holds the same self-play as a run in process. Games side by side form a slot; there are as many slots as
workers, and a chunk is some rounds of one slot. It follows from the games in play and the weights, which travel with
the task, so it can be done again by anybody: who still holds the games in play does not load them.

    learner     takes a chunk in, makes the steps that are due, puts new weights into the object store
    a thread    gives every free worker the next chunk of a slot with the newest weights, and keeps what comes back

Workers are at most two chunks each ahead of the learner. A state of the run holds, for each slot, the games in play
behind the last chunk that was taken in. Chunks are taken in as they arrive, so the last bits of a run depend on who was
faster.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch

from rookery.arena.evaluator import chosen_device
from rookery.cluster.crew import Crew, Say
from rookery.cluster.nodes import Cluster, imported_ray
from rookery.games.game import Game
from rookery.games.library import load
from rookery.learn.loop import self_play
from rookery.learn.replay import Replay
from rookery.learn.selfplay import Finished
from rookery.learn.settings import RunSettings, network_values
from rookery.nets.configs import read_config
from rookery.nets.network import Network
from rookery.nets.residual import build

SHARE = 4  # a chunk ends when one game in so many of its slot has ended,
MOST_ROUNDS = 32  # or after so many rounds
SLOT_GAMES = 1 << 40  # numbers of games from one slot to the next
WAIT = 1.0  # seconds the learner waits for a chunk before it looks whether it shall stop

State = dict[str, np.ndarray]


@dataclass(frozen=True)
class Chunk:
    """Rounds to be played: a task."""

    slot: int
    number: int
    """of the chunk in its slot"""
    weights: Any
    """where they lie in the object store"""
    version: int
    """of the weights"""
    state: State | None
    """the games in play; None: they are to be begun"""


@dataclass(frozen=True)
class Played:
    """What came of a chunk."""

    version: int
    finished: Finished
    rows: list[State]
    """of the finished games, packed"""
    state: State
    """the games in play"""


class SelfplayWorker:
    """Plays chunks."""

    def __init__(self, settings: RunSettings, keep_every: int):
        device, game = chosen_device(settings.device), load(settings.game)
        play, where = settings.selfplay, "cuda" if device.type == "cuda" else "cpu"
        self.network = build(read_config(network_values(settings.network, game)), settings.seed).to(device)
        most = min(settings.training.replay, play.at_once * (play.ply_limit or game.longest))
        self.replay = Replay(game, settings.network.observation, most, where)
        self.side = self_play(game, settings, self.replay, self.network)
        self.side.play.keep_every = keep_every
        self.enough = -(-play.at_once // SHARE)
        self.version, self.at = -1, (-1, -1)

    def __call__(self, chunk: Chunk) -> Played:
        """Play some rounds of a slot."""
        if chunk.version != self.version:
            weights = imported_ray().get(chunk.weights)
            self.network.load_state_dict({name: torch.tensor(array) for name, array in weights.items()})
            self.side.update(self.network)
            self.version = chunk.version
        if self.at != (chunk.slot, chunk.number):
            self.take_up(chunk)
        self.at = -1, -1  # whatever interrupts this leaves games that nobody may go on with
        finished, rows = Finished(), []
        for _ in range(MOST_ROUNDS):
            finished.merge(self.side.round())
            if self.replay.written:
                rows.append(self.replay.state())
                self.replay.clear()
            if finished.games >= self.enough:
                break
        self.at = chunk.slot, chunk.number + 1
        return Played(chunk.version, finished, rows, self.side.play.state())

    def take_up(self, chunk: Chunk) -> None:
        """Put the games in play of a slot in place, or begin them."""
        if chunk.state is None:
            self.side.play.start(chunk.slot * SLOT_GAMES)
        else:
            self.side.play.load(chunk.state)


@dataclass
class Slots:
    """The games in play of all slots, behind the last chunks that the learner has taken in."""

    states: dict[int, State] = field(default_factory=dict)
    keep_every: int = 0
    """one finished game in so many is told move by move; 0: none"""

    def start(self, first: int = 0) -> None:
        """Begin all games anew."""
        self.states.clear()

    def state(self) -> State:
        """Return all games in play; those of the first slot are named as those of a run in process."""
        return {
            name if slot == 0 else f"{slot}/{name}": array
            for slot, state in self.states.items()
            for name, array in state.items()
        }

    def load(self, state: State) -> None:
        """Take the games in play back, those of slots for which there is no worker, too."""
        for name, array in state.items():
            slot, _, rest = name.rpartition("/")
            self.states.setdefault(int(slot or 0), {})[rest] = array


class OnCluster:
    """Self-play by the workers of a cluster."""

    def __init__(
        self, cluster: Cluster, workers: int | None, say: Say, settings: RunSettings, replay: Replay, network: Network
    ):
        self.cluster, self.settings, self.replay, self.say = cluster, settings, replay, say
        self.on_cards = settings.device in ("auto", "cuda") and cluster.cards > 0
        self.count = workers or cluster.room(self.on_cards)
        self.play = Slots()
        self.ready: queue.Queue[tuple[int, Played] | BaseException] = queue.Queue(self.count)
        self.newest, self.version = network, 0
        self.weights: Any = None
        self.crew: Crew | None = None
        self.thread = threading.Thread(target=self.feed, daemon=True)
        self.free = list(reversed(range(self.count)))
        """slots that wait for a worker"""
        self.numbers = [0] * self.count
        """of the next chunk in each slot"""
        self.latest: dict[int, State] = {}
        """games in play behind the last chunk that has come back"""

    # -- the learner's side --

    def update(self, network: Network) -> None:
        """Play with new weights, from the next chunk on."""
        self.newest, self.version = network, self.version + 1
        if self.crew:
            self.share_weights(self.crew)

    def share_weights(self, crew: Crew) -> None:
        """Put the newest weights where workers fetch them."""
        arrays = {name: tensor.detach().cpu().numpy() for name, tensor in self.newest.state_dict().items()}
        self.weights = self.version, crew.put(arrays)

    def begin(self) -> None:
        """Hire the workers, once it is known where games go on."""
        worker = partial(SelfplayWorker, self.settings, self.play.keep_every)
        self.crew = Crew(self.cluster, worker, self.count, self.on_cards, self.say)
        self.share_weights(self.crew)
        self.latest = dict(self.play.states)
        self.thread.start()

    def round(self) -> Finished:
        """Take in a chunk; nothing if none comes soon."""
        if self.crew is None:
            self.begin()
        try:
            arrived = self.ready.get(timeout=WAIT)
        except queue.Empty:
            return Finished()
        if isinstance(arrived, BaseException):
            raise arrived
        slot, played = arrived
        self.play.states[slot] = played.state
        if self.settings.gate.discard and played.version != self.version:
            return Finished()  # nobody learns from games of an earlier champion
        for rows in played.rows:
            self.replay.add(self.replay.unpacked_rows(rows))
        return played.finished

    def close(self) -> None:
        """Let the workers go; what was not taken in is played again by who resumes the run."""
        if self.crew is None:
            return
        self.crew.closed = True
        while self.thread.is_alive():  # it may be waiting for room
            try:
                self.ready.get(timeout=0.1)
            except queue.Empty:
                self.thread.join(0.1)
        self.crew.close()

    # -- the thread --

    def feed(self) -> None:
        """Keep all workers at work; what goes wrong is told to the learner."""
        assert self.crew is not None
        try:
            for chunk, played in self.crew.done(self.chunks()):
                self.latest[chunk.slot] = played.state
                self.numbers[chunk.slot] += 1
                self.free.append(chunk.slot)
                self.ready.put((chunk.slot, played))
        except BaseException as error:
            self.ready.put(error)

    def chunks(self) -> Iterator[Chunk | None]:
        """Yield the next chunk of a slot that waits for one, with the newest weights; None if no slot does."""
        while True:
            if not self.free:
                yield None
                continue
            slot, (version, weights) = self.free.pop(), self.weights
            yield Chunk(slot, self.numbers[slot], weights, version, self.latest.get(slot))


class MakesPlayers:
    """Makes those who play the games of runs, and lets them go in the end."""

    def __init__(self, cluster: Cluster, workers: int | None, say: Say):
        self.cluster, self.workers, self.say = cluster, workers, say
        self.made: list[OnCluster] = []

    def __enter__(self) -> MakesPlayers:
        return self

    def __call__(self, game: Game, settings: RunSettings, replay: Replay, network: Network) -> OnCluster:
        """Make players for a run; those of an earlier one leave."""
        self.close()
        self.made.append(OnCluster(self.cluster, self.workers, self.say, settings, replay, network))
        return self.made[-1]

    def close(self) -> None:
        """Let all players go."""
        while self.made:
            self.made.pop().close()

    def __exit__(self, *trouble: object) -> None:
        self.close()
