"""A crew: workers on a cluster that do tasks, each of which may be done again.

    with joined("local") as cluster, crew_of(cluster, maker) as crew:
        for task, result in crew.done(iter(tasks)):
            ...

A worker is what `maker` returns in the process of the worker: anything that can be called with a task. It is the same
thing that does the work in process; only tasks and results travel. A result must follow from its task alone, whoever
does it: a worker or machine that is lost is replaced, its task goes to the next who is free, and nothing else is done
twice. New workers that find no room wait until a machine joins, while the others work on.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rookery.cluster.nodes import Cluster, first_line, imported_ray
from rookery.errors import BadInput

Worker = Callable[[Any], Any]
Maker = Callable[[], Worker]
Say = Callable[[str], None]

MOST_LOSSES = 5
"""workers that may be lost over one task, or before they could begin, until it is the task that is blamed"""
PATIENCE = 30.0  # seconds without any worker before that is told


class Hand:
    """The process of a worker, as Ray holds it."""

    def begin(self, maker: Maker) -> None:
        """Make the worker; not when the process begins, so that what is wrong with it is told as an error."""
        self.worker = maker()

    def do(self, task: Any) -> Any:
        """Do a task."""
        return self.worker(task)


@dataclass
class Task:
    """Something to do."""

    what: Any
    losses: int = 0
    """workers that were lost over it"""


class Crew:
    """Workers on a cluster."""

    def __init__(self, cluster: Cluster, maker: Maker, workers: int, on_cards: bool = False, say: Say = lambda _: None):
        """Hire workers, each with a processor of its own or, with `on_cards` where there are any, with a card.

        `say` is told what happens to them.
        """
        self.ray, self.say, self.count = imported_ray(), say, workers
        needs = {"num_cpus": 1, "num_gpus": int(on_cards and cluster.cards > 0)}
        self.hand: Any = self.ray.remote(Hand).options(**needs, max_restarts=0)
        self.maker = self.ray.put(maker)
        exceptions = self.ray.exceptions
        self.lost = (
            exceptions.RayActorError, exceptions.ObjectLostError, exceptions.WorkerCrashedError,
            exceptions.NodeDiedError, exceptions.OutOfMemoryError, exceptions.RayChannelError,
        )  # fmt: skip
        self.idle: list[Any] = []
        self.busy: dict[Any, tuple[Any, Task]] = {}
        self.coming: dict[Any, Any] = {}
        self.again: deque[Task] = deque()
        self.false_starts = 0
        self.closed = False
        """whether work ends, whatever is left of it; may be set by another thread"""
        for _ in range(workers):
            self.hire()

    def hire(self) -> None:
        """Ask for a worker; it may take a while to come."""
        hand = self.hand.remote()
        self.coming[hand.begin.remote(self.maker)] = hand

    def put(self, value: Any) -> Any:
        """Put a value where all workers can fetch it; it goes to each machine once."""
        return self.ray.put(value)

    # -- work --

    def done(self, tasks: Iterator[Any]) -> Iterator[tuple[Any, Any]]:
        """Yield tasks with their results as they end, each once.

        A task is taken when a worker is free, so that an iterator may decide late; None from it means that there is
        nothing to do at present, and the end has come when that is so and nobody is working.
        """
        self.alone_since = time.monotonic()
        while not self.closed:
            while self.idle and (task := self.next_task(tasks)) is not None:
                worker = self.idle.pop()  # who has just ended; it may still know what the task is about
                self.busy[worker.do.remote(task.what)] = worker, task
            if self.idle and not self.busy:
                return
            ended, _ = self.ray.wait([*self.busy, *self.coming], num_returns=1, timeout=1.0)
            self.complain()
            for reference in ended:
                if reference in self.coming:
                    self.welcome(reference)
                else:
                    yield from self.take_in(reference)

    def next_task(self, tasks: Iterator[Any]) -> Task | None:
        """Return what is to be done next: first what was lost."""
        if self.again:
            return self.again.popleft()
        what = next(tasks, None)
        return None if what is None else Task(what)

    def welcome(self, reference: Any) -> None:
        """Let a worker begin that has come."""
        worker = self.coming.pop(reference)
        try:
            self.fetched(reference)
        except self.lost as error:
            self.false_starts += 1
            if self.false_starts > MOST_LOSSES * self.count:
                raise BadInput(f"workers end before they begin: {first_line(error)}") from None
            self.replace(worker, "a worker was lost before it could begin")
            return
        self.false_starts = 0
        self.idle.append(worker)

    def take_in(self, reference: Any) -> Iterator[tuple[Any, Any]]:
        """Yield a task and its result; if its worker was lost, replace it and put the task back instead."""
        worker, task = self.busy.pop(reference)
        try:
            result = self.fetched(reference)
        except self.lost as error:
            task.losses += 1
            if task.losses >= MOST_LOSSES:
                raise BadInput(f"{task.losses} workers were lost over the same task: {first_line(error)}") from None
            self.again.append(task)
            self.replace(worker, "a worker was lost; what it was doing is done again")
            return
        self.idle.append(worker)
        yield task.what, result

    def fetched(self, reference: Any) -> Any:
        """Return a result; what a person can mend is raised as it was in the worker."""
        try:
            return self.ray.get(reference)
        except self.ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, BadInput):
                raise error.cause from None
            raise

    def replace(self, worker: Any, told: str) -> None:
        """Hire somebody for a worker that was lost."""
        self.say(told)
        self.dismiss(worker)
        self.hire()

    def complain(self) -> None:
        """Say once in a while that there is nobody to work."""
        now = time.monotonic()
        if self.busy or self.idle:
            self.alone_since = now
        elif now - self.alone_since > PATIENCE:
            self.alone_since = now
            self.say("no worker is ready yet; if the cluster has no room for one, a machine must join it")

    # -- the end --

    def dismiss(self, worker: Any) -> None:
        """End the process of a worker."""
        with contextlib.suppress(Exception):  # it may have ended by itself
            self.ray.kill(worker)

    def close(self) -> None:
        """Dismiss everybody."""
        for worker in [*self.idle, *(worker for worker, _ in self.busy.values()), *self.coming.values()]:
            self.dismiss(worker)
        self.idle, self.busy, self.coming = [], {}, {}


@contextmanager
def crew_of(
    cluster: Cluster, maker: Maker, workers: int | None = None, on_cards: bool = False, say: Say = lambda _: None
) -> Iterator[Crew]:
    """Hire as many workers as the cluster has room for, or so many, and dismiss them in the end."""
    crew = Crew(cluster, maker, workers or cluster.room(on_cards), on_cards, say)
    try:
        yield crew
    finally:
        crew.close()


class Spread:
    """Work that is spread over a cluster, called like `in_turn`."""

    def __init__(self, cluster: Cluster, workers: int | None = None, on_cards: bool = False, say: Say = lambda _: None):
        self.cluster, self.workers, self.on_cards, self.say = cluster, workers, on_cards, say

    def __call__(self, maker: Maker, tasks: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        """Yield tasks with their results as they end; the worker that `maker` makes does each."""
        with crew_of(self.cluster, maker, self.workers, self.on_cards, self.say) as crew:
            yield from crew.done(iter(tasks))
