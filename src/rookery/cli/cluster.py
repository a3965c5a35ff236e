"""What commands share that work on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Annotated

from typer import Option

from rookery.errors import BadInput

if TYPE_CHECKING:
    from rookery.arena.matches import Hire
    from rookery.cluster.nodes import Cluster
    from rookery.learn.spread import Spreader
    from rookery.learn.stage_work import Help

RayOption = Annotated[
    str | None,
    Option("--ray", metavar="ADDRESS", help="work on the cluster of Ray at HOST:PORT, or on one started here: local"),
]
WorkersOption = Annotated[
    int | None, Option("--workers", min=1, help="with --ray: so many workers; else one for each of its cards or cores")
]
LessonsRayOption = Annotated[
    str | None,
    Option(
        "--ray", metavar="ADDRESS", help="lessons by the cluster of Ray at HOST:PORT, or by one started here: local"
    ),
]
Helped = Callable[[], "AbstractContextManager[Spreader | None]"]
"""joins a cluster, if there is one"""
BITS = "workers play as fast as they can: the last bits of the weights may differ from those of a run in process"


def told(what: str) -> None:
    """Say what happens to workers, on standard error."""
    from rookery.terminal import err

    err.print(what, markup=False, style="dim", soft_wrap=True)


@contextmanager
def cluster_of(ray: str) -> Iterator[Cluster]:
    """Join a cluster, and say what it has."""
    from rookery.cluster.nodes import joined

    told(f"joining the cluster: {ray}")
    with joined(ray) as cluster:
        told(f"it has {cluster.processors} processors and {cluster.cards} cards")
        yield cluster


def refuse_workers(ray: str | None, workers: int | None) -> None:
    """Refuse a number of workers where there is no cluster."""
    if ray is None and workers is not None:
        raise BadInput(f"--workers {workers}: without --ray there are none")


def check_cluster(ray: str | None, workers: int | None) -> None:
    """Refuse what cannot be, before anything is made: workers without a cluster, one without Ray, tokens, or answer."""
    refuse_workers(ray, workers)
    if ray is not None:
        from rookery.cluster.nodes import imported_ray, knock

        imported_ray()
        knock(ray)


def check_lessons(ray: str | None, workers: int | None, stages: Sequence[str]) -> None:
    """Refuse a cluster for stages of a study of which it does none."""
    if ray is not None and "lessons" not in stages:
        raise BadInput(f"--ray {ray}: a cluster makes lessons, which are not among the stages: {', '.join(stages)}")
    check_cluster(ray, workers)


@contextmanager
def hired(ray: str | None, workers: int | None, first: str, second: str) -> Iterator[Hire]:
    """Return who plays a match: threads of this process, or workers of a cluster."""
    from functools import partial

    from rookery.arena.crew import Crew

    refuse_workers(ray, workers)
    if ray is None:
        yield Crew
        return
    from rookery.cluster.matches import MatchCrew

    with cluster_of(ray) as cluster:
        yield partial(MatchCrew, cluster, (first, second), workers, told)


def own_help() -> Help:
    """Return the help of this machine: games in this process, lessons in as many others as there are cores."""
    from rookery.learn.spread import Processes
    from rookery.learn.stage_work import Help
    from rookery.search.threads import cores

    return Help(spread=Processes(cores()))


@contextmanager
def help_from(ray: str | None, workers: int | None) -> Iterator[Help]:
    """Return who plays the games of a run and makes its lessons: this process, or workers of a cluster."""
    from rookery.learn.stage_work import Help

    refuse_workers(ray, workers)
    if ray is None:
        yield own_help()
        return
    from rookery.cluster.crew import Spread
    from rookery.cluster.selfplay import MakesPlayers

    with cluster_of(ray) as cluster, MakesPlayers(cluster, workers, told) as makes:
        told(BITS)
        yield Help(makes, Spread(cluster, workers, say=told))


@contextmanager
def spread_over(ray: str | None, workers: int | None, on_cards: bool = False) -> Iterator[Spreader | None]:
    """Return workers of a cluster that do pieces of work; None if there is no cluster."""
    refuse_workers(ray, workers)
    if ray is None:
        yield None
        return
    from rookery.cluster.crew import Spread

    with cluster_of(ray) as cluster:
        yield Spread(cluster, workers, on_cards, told)
