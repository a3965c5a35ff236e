"""What Lc0's search has found: the moves of the root with all that is known of them, best first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from rookery.games.position import Action
from rookery.search.analysis import Analysis, Line
from rookery.search.lc0_arrays import OPEN, TWO_FOLD, Arrays
from rookery.search.lc0_backup import best_line

LONGEST_LINE = 64


@dataclass(frozen=True)
class MoveFound:
    """A move of the root. Values are the root mover's."""

    action: Action
    visits: int
    flight: int
    """visits under way"""
    prior: float
    q: float
    """mean value; for a move not visited, what it is taken to be worth"""
    d: float
    """chance to draw"""
    m: float
    """plies to the end of the game"""
    u: float
    """what the prior adds to its score"""
    length: float
    """what the moves left add to its score"""
    own: float | None
    """the network's value of the position after it"""
    result: int | None
    """-1, 0 or 1 where that is proven"""
    line: tuple[Action, ...]
    """the best play found, beginning with the move itself"""


@dataclass(frozen=True)
class Found:
    """A search, at some moment."""

    moves: tuple[MoveFound, ...]
    """best first; only those that are searched"""
    visits: int
    """of the root, those of earlier searches included"""
    made: int
    """visits of this search"""
    depth: int
    """mean depth of its leaves"""
    deepest: int
    known: int
    """leaves that were found in memory"""
    full: float
    """share of the tree's room that is taken"""
    q: float
    d: float
    m: float
    own: float
    """the network's value of the root"""

    @property
    def action(self) -> Action:
        """The move to play; -1 if the game is over."""
        return self.moves[0].action if self.moves else -1

    def analysis(self) -> Analysis:
        """Return the same as all searches say it."""
        lines = tuple(Line(move.action, move.q, move.visits, move.prior, move.line) for move in self.moves)
        proven = bool(self.moves) and self.moves[0].result is not None and self.moves[0].result != 0
        value = self.moves[0].q if proven else self.q
        return Analysis(self.action, value, lines, self.visits, self.depth, proven)


def chances(q: float, d: float) -> tuple[float, float, float]:
    """Return chances to win, draw and lose."""
    d = min(max(d, 0.0), 1.0 - min(1.0, abs(q)))
    return (1 - d + q) / 2, d, (1 - d - q) / 2


def found_in(t: Arrays, top: int = 0) -> Found:
    """Read what a tree knows of its root, or of a node that is to become the root."""
    root: Any = t.nodes[top]
    tree: Any = t.tree[0]
    visits = int(root["visits"])
    mean = 1.0 / max(1, visits)
    moves = sorted(moves_of_root(t, top), key=rank)
    return Found(
        moves=tuple(moves),
        visits=visits,
        made=int(tree["made"]),
        depth=round(int(tree["depths"]) / max(1, int(tree["made"]))),
        deepest=int(tree["deepest"]),
        known=int(tree["known"]),
        full=max(int(tree["nodes"]) / len(t.nodes), int(tree["edges"]) / len(t.edges)),
        q=float(root["value"]) * mean,
        d=float(root["draws"]) * mean,
        m=float(root["plies"]) * mean,
        own=float(root["own"]),
    )


def rank(move: MoveFound) -> tuple[float, ...]:
    """Order moves: proven wins, the shortest first; visits, value, prior; proven losses, the longest first."""
    if move.result == 1:
        return (0, move.m, -move.visits, -move.prior)
    if move.result == -1:
        return (2, -move.m, -move.visits, -move.prior)
    return (1, -move.visits, -move.q, -move.prior)


def moves_of_root(t: Arrays, top: int) -> list[MoveFound]:
    """Read the moves of the root that are searched."""
    root: Any = t.nodes[top]
    options: Any = t.options[0]
    first, count = int(root["first"]), int(root["count"])
    edges = [t.edges[e] for e in range(first, first + count)]
    if t.tree[0]["restricted"]:
        edges = [edge for edge in edges if t.allowed[int(edge["action"])]]
    visits = max(1, int(root["visits"]))
    cpuct = options["cpuct"] + options["cpuct_factor"] * math.log1p(int(root["visits"]) / options["cpuct_base"])
    scale = float(cpuct) * math.sqrt(max(visits - 1, 1))
    mean = float(root["value"]) / visits
    mass = sum(float(edge["prior"]) for edge in edges if edge["child"] >= 0 and t.nodes[edge["child"]]["visits"] > 0)
    urgency = float(options["fpu_value"]) if options["absolute"] else mean - float(options["fpu_value"]) * mass**0.5
    return [move_found(t, root, edge, scale, urgency) for edge in edges]


def move_found(t: Arrays, root: Any, edge: Any, scale: float, urgency: float) -> MoveFound:
    """Read one move of the root."""
    child = int(edge["child"])
    action, prior = int(edge["action"]), float(edge["prior"])
    node: Any = t.nodes[child] if child >= 0 else None
    if node is None or node["visits"] == 0:
        flight = 0 if node is None else int(node["flight"])
        u = scale * prior / (1 + flight)
        return MoveFound(action, 0, flight, prior, urgency, 0.0, 0.0, u, 0.0, None, None, (action,))
    visits, flight = int(node["visits"]), int(node["flight"])
    settled = node["kind"] not in (OPEN, TWO_FOLD)
    q, plies = -float(node["value"]) / visits, float(node["plies"]) / visits
    return MoveFound(
        action, visits, flight, prior, q, float(node["draws"]) / visits, plies,
        u=scale * prior / (1 + visits + flight),
        length=length_of(t, root, q, plies),
        own=-float(node["own"]) if node["kind"] == OPEN else q,
        result=-int(node["lower"]) if settled else None,
        line=(action, *line_below(t, child)),
    )  # fmt: skip


def length_of(t: Arrays, root: Any, q: float, plies: float) -> float:
    """Return what the moves left add to the score of a root's move."""
    options: Any = t.options[0]
    visits, threshold = max(1, int(root["visits"])), float(options["m_threshold"])
    if not options["moves_left"] or abs(float(root["value"]) / visits) <= threshold or q == 0:
        return 0.0
    most = float(options["m_most"])
    effect = min(max(float(options["m_slope"]) * (plies - float(root["plies"]) / visits), -most), most)
    far = max(0.0, abs(q) - threshold) / (1 - threshold) if 0 < threshold < 1 else abs(q)
    weight = float(options["m_constant"]) + float(options["m_scaled"]) * far + float(options["m_quadratic"]) * far**2
    return -effect * weight if q > 0 else effect * weight


def line_below(t: Arrays, n: int) -> list[Action]:
    """Return the best play from a node on."""
    actions = np.empty(LONGEST_LINE, np.int32)
    return [int(action) for action in actions[: best_line(t, n, actions)]]
