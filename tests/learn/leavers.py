"""Processes that were to learn along, and leave too early. They are called like `accompany`."""

from __future__ import annotations

import os
from typing import Any

from rookery.learn.others import join_group, meeting_point


def at_once(*given: Any) -> None:
    """Leave before anything is said."""
    os._exit(3)


def before_all_meet(*given: Any) -> None:
    """Say that one is there, and leave."""
    given[-1].send(given[2])
    os._exit(3)


def before_weights_come(device: str, processes: int, rank: int, port: int, *more: Any) -> None:
    """Meet the others and leave, while they send weights."""
    store = meeting_point(processes, port)
    more[-1].send(rank)
    join_group(device, processes, rank, store)
    os._exit(3)


def within_a_step(*given: Any) -> None:
    """Take part until the first share of a batch has come, and leave then."""
    from rookery.learn import others, trainer

    trainer.make_step = lambda *given: os._exit(3)
    others.accompany(*given)


def lost_while_all_meet() -> None:
    """Try twice to learn with a process that leaves while all meet, and print what is told."""
    from learn.test_others import two_alike
    from rookery.errors import BadInput
    from rookery.learn import others

    others.accompany = before_all_meet
    for trainer in two_alike():
        try:
            with others.accompanied(trainer, 2):
                print("all have met")
        except BadInput as error:
            print(error)
