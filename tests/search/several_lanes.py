"""A warp in plain Python: the functions of tree search as they are written, run by several lanes on threads.

Each lane is a thread, but only one works at a time: until it has to agree on something with the others, then comes the
next. On a card lanes may run ahead of one another in any way; here the first runs as far ahead as it can, or the last,
so that a lane that reads what another has not written yet, or writes what another has yet to read, does so every time.
A lane that stays away is an error. So what is written for thirty-two lanes can be watched without a card, by as few as
are wanted.
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


class StaysAway(Exception):
    """A lane waits for one that has ended, or that waits for something else."""


class Record:
    """A record of an array by its place, as compiled code knows it."""

    def __init__(self, array, place):
        self.__dict__.update(array=array, place=place)

    def __getattr__(self, name):
        return self.array[self.place][name]

    def __setattr__(self, name, value):
        self.array[name][self.place] = value


class Warp:
    """So many lanes that work on one tree, the first of them ahead of the others, or the last."""

    def __init__(self, width, last_first=False):
        self.width, self.here = width, threading.local()
        self.order = range(width)[:: -1 if last_first else 1]
        self.replaced = {
            "at": lambda record, steps: Record(record.array, record.place + int(steps)),
            "copy_record": copied,
            "copy_front": copied_front,
            "copy_of": lambda record: record,
            "number": lambda key, counter: np.uint64(number(np.uint64(key), counter)),
            "lane_sync": lambda: self.heard("sync", None),
            "lane_sum": lambda x: functools.reduce(operator.add, self.heard("sum", x)),
            "lane_max": lambda x: max(self.heard("max", x)),
            "lane_argmax": lambda x, index: min(self.heard("argmax", (-x, index)))[1],
            "lane_union": lambda bits: functools.reduce(operator.or_, self.heard("union", bits)),
            "lane_rank": lambda flag, lane: sum(map(bool, self.heard("rank", flag)[:lane])),
            "lane_count": lambda flag: sum(map(bool, self.heard("count", flag))),
        }
        for name in ("legal", "is_legal", "play", "over", "mover", "payoff", "observe"):
            self.replaced[name] = on_record(getattr(rules, name))
        self.known = {}

    def heard(self, what, x):
        """What all lanes say, once all have said it."""
        here = self.here
        if self.ended:
            raise StaysAway(f"lane {here.lane} waits at {what!r} for lanes that have ended")
        said = self.said[here.calls % 2]  # a lane is at most one call ahead of another
        here.calls += 1
        said[here.lane] = (here.calls, what), x
        self.pass_on()
        self.turns[here.lane].acquire()
        if self.errors or {call for call, _ in said} != {(here.calls, what)}:
            raise StaysAway(f"lane {here.lane} waits at {what!r}, others elsewhere")
        return [x for _, x in said]

    def pass_on(self):
        """Let the next lane work that has not ended."""
        place = self.order.index(self.here.lane)
        later = (self.order[(place + k) % self.width] for k in range(1, self.width + 1))
        following = next((lane for lane in later if lane not in self.ended), None)
        if following is not None:
            self.turns[following].release()

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
        self.said = [(0, None)] * self.width, [(0, None)] * self.width
        self.turns = [threading.Semaphore(0) for _ in range(self.width)]
        self.errors, self.ended = [], set()

        def begin(lane):
            self.here.lane, self.here.calls = lane, 0
            self.turns[lane].acquire()
            try:
                if not self.errors:
                    work(lane)
            except BaseException as error:
                self.errors.append(error)
            self.ended.add(lane)
            self.pass_on()

        lanes = [threading.Thread(target=begin, args=(lane,)) for lane in range(self.width)]
        for lane in lanes:
            lane.start()
        self.turns[self.order[0]].release()
        for lane in lanes:
            lane.join()
        for error in sorted(self.errors, key=lambda error: isinstance(error, StaysAway)):
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


def words_of(record):
    """The words of a record, in its array's memory."""
    return record.array.view(f"u{word_bytes(record.array.itemsize)}").reshape(len(record.array), -1)[record.place]


def copied(target, source, lane, width):
    """Copy a record, the lanes taking its words in turn."""
    words_of(target)[lane::width] = words_of(source)[lane::width]


def copied_front(target, source, words, lane, width):
    """Copy the first words of a record, the lanes taking them in turn."""
    words_of(target)[lane : int(words) : width] = words_of(source)[lane : int(words) : width]


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
