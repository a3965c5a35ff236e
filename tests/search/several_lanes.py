"""A warp in plain Python: the functions of tree search as they are written, run by several lanes on threads.

Each lane is a thread. Where lanes agree on something they wait for one another, and a lane that stays away breaks the
barrier. So what is written for thirty-two lanes can be watched without a card, by as few as are wanted.
"""

from __future__ import annotations

import functools
import operator
import threading
import types

import numpy as np
from numba.core.dispatcher import Dispatcher

from rookery.games import rules
from rookery.games.rng import number
from rookery.search import tree_keep, tree_walk
from rookery.search.records import word_bytes
from rookery.search.tree_arrays import Tree

PATIENCE = 60  # seconds until a lane that stays away is an error


class Record:
    """A record of an array by its place, as compiled code knows it."""

    def __init__(self, array, place):
        self.__dict__.update(array=array, place=place)

    def __getattr__(self, name):
        return self.array[self.place][name]

    def __setattr__(self, name, value):
        self.array[name][self.place] = value


class Warp:
    """So many lanes that work on one tree."""

    def __init__(self, width):
        self.width, self.barrier, self.here = width, threading.Barrier(width), threading.local()
        self.said = [None] * width
        self.replaced = {
            "at": lambda record, steps: Record(record.array, record.place + int(steps)),
            "copy_record": copied,
            "copy_front": copied_front,
            "copy_of": lambda record: record,
            "number": lambda key, counter: np.uint64(number(np.uint64(key), counter)),
            "lane_sync": lambda: self.heard(None),
            "lane_sum": lambda x: functools.reduce(operator.add, self.heard(x)),
            "lane_max": lambda x: max(self.heard(x)),
            "lane_argmax": lambda x, index: min(self.heard((-x, index)))[1],
            "lane_rank": lambda flag, lane: sum(map(bool, self.heard(flag)[:lane])),
            "lane_count": lambda flag: sum(map(bool, self.heard(flag))),
        }
        for name in ("legal", "is_legal", "play", "over", "mover", "payoff", "observe"):
            self.replaced[name] = on_record(getattr(rules, name))
        self.known = {}

    def heard(self, x):
        """What all lanes say, once all have said it."""
        self.said[self.here.lane] = x
        self.barrier.wait(PATIENCE)
        said = list(self.said)
        self.barrier.wait(PATIENCE)
        return said

    def plain(self, function):
        """A compiled function, and all of search/ that it calls, as Python runs it."""
        if function not in self.known:
            source = function.py_func
            names = dict(source.__globals__)
            self.known[function] = types.FunctionType(source.__code__, names)
            for name in source.__code__.co_names:
                if name in self.replaced:
                    names[name] = self.replaced[name]
                elif isinstance(found := names.get(name), Dispatcher) and ".search." in found.py_func.__module__:
                    names[name] = self.plain(names[name])
        return self.known[function]

    def run(self, work):
        """Let every lane do the work; it is told its number."""
        errors = []

        def begin(lane):
            self.here.lane = lane
            try:
                work(lane)
            except BaseException as error:
                errors.append(error)
                self.barrier.abort()

        lanes = [threading.Thread(target=begin, args=(lane,)) for lane in range(self.width)]
        for lane in lanes:
            lane.start()
        for lane in lanes:
            lane.join()
        for error in sorted(errors, key=lambda error: isinstance(error, threading.BrokenBarrierError)):
            raise error

    # -- what takes the place of the compiled functions of `rookery.search.trees` --

    def step(self, a, first, last, kind, observations, moves):
        back_up, gather, observe = map(self.plain, (tree_walk.back_up, tree_walk.gather, tree_walk.observe_leaves))

        def work(lane):
            for b in range(first, last):
                t = tree_of(a, b)
                back_up(t, moves, lane, self.width)
                gather(t, lane, self.width)
                observe(t, kind, observations, b * int(t.options.leaves), lane, self.width)

        self.run(work)
        return int((a.trees["gathered"][first:last] > 0).sum())

    def play_tree(self, a, b, action, keep):
        play_on = self.plain(tree_keep.play_on)
        self.run(lambda lane: play_on(tree_of(a, b), action, keep, lane, self.width))


def copied(target, source, lane, width):
    """Copy a record, by one lane alone."""
    if lane == 0:
        target.array[target.place] = source.array[source.place]


def copied_front(target, source, words, lane, width):
    """Copy the first words of a record, by one lane alone."""
    if lane == 0:
        size = int(words) * word_bytes(target.array.itemsize)
        whole = source.array[source.place].tobytes()[:size] + target.array[target.place].tobytes()[size:]
        target.array[target.place] = np.frombuffer(whole, target.array.dtype)[0]


def on_record(rule):
    """A rule, for a record by its place."""
    return lambda state, *rest: rule(state.array[state.place], *rest)


def tree_of(a, b):
    """Return tree b, as `rookery.search.tree_arrays.tree_of` does."""
    row = b * int(a.options[0]["leaves"])
    firsts = {"options": 0, "leaves": row, "slots": row, "path": row, "logits": row, "values": row}

    def record(field, name):
        rest = field.size // len(field)
        return Record(field.reshape(-1), firsts.get(name, b) * rest)

    names = dict(zip(Tree._fields, a._fields, strict=True))
    return Tree(*(record(getattr(a, names[name]), name) for name in Tree._fields))
