"""Lc0's search as its definition reads: one leaf at a time, nothing kept that could be worked out again.

Nodes are objects with a list of moves. Means are taken over the whole subtree each time they are asked for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from rookery.games.chess import MATE, ON
from rookery.games.position import Position
from rookery.lc0.evaluator import Evaluator
from rookery.search.lc0_settings import Lc0Settings


@dataclass
class Node:
    """A position. Values are its mover's."""

    position: Position
    parent: Node | None
    visits: int = 0
    own: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """value, chance to draw and plies left, by the network"""
    moves: list[tuple[int, float]] = field(default_factory=list)
    """action and prior, the highest prior first"""
    children: dict[int, Node] = field(default_factory=dict)
    borrowed: list[tuple[float, float, float]] = field(default_factory=list)
    """means of a twin, one for each visit that ended here for its sake"""
    ended: tuple[float, float, float] | None = None
    """the same of a game that is over, or counts as such"""
    certain: bool = False
    """whether that is by the rules, and not for coming twice"""
    proven: bool = False

    def total(self) -> tuple[float, float, float]:
        """The sums of value, chance to draw and plies left over all visits."""
        if self.visits == 0:
            return 0.0, 0.0, 0.0
        if self.ended is not None:
            return tuple(self.visits * part for part in self.ended)
        value, draws, plies = (sum(parts) for parts in zip(self.own, *self.borrowed, strict=True))
        for child in self.children.values():
            below = child.total()
            value, draws, plies = value - below[0], draws + below[1], plies + below[2] + child.visits
        return value, draws, plies

    def mean(self) -> tuple[float, float, float]:
        return tuple(part / self.visits for part in self.total())

    @property
    def depth(self) -> int:
        return 0 if self.parent is None else self.parent.depth + 1


def occurred(position: Position, plies: int) -> bool:
    """Whether the same position stood on the board so many plies ago, by the keys a state keeps.

    Keys leave out an en passant marker that allows no capture; for Lc0 it makes another position.
    """
    state = position.state
    since = int(state["since"])
    if plies > since or (plies == since and state["first_marked"]):
        return False
    return bool(state["history"][since - plies] == state["history"][since])


class SlowSearch:
    def __init__(self, evaluator: Evaluator, settings: Lc0Settings, position: Position, only: tuple[int, ...] = ()):
        self.evaluator, self.settings, self.only = evaluator, settings, only
        self.root = Node(position.copy(), None)
        self.speakers: dict[str, Node] = {}
        """of all nodes with the same position the one with the most visits, the first to have them"""
        self.judged = self.lent = 0
        self.lengths = evaluator.network.config.moves_left is not None

    def run(self, nodes: int) -> dict[int, int]:
        """Search until the root has so many visits; return those of its moves."""
        while self.root.visits < nodes:
            self.visit()
        return {action: child.visits for action, child in self.root.children.items()}

    def visit(self) -> None:
        node = self.root
        while node.visits > 0 and node.ended is None and self.speaker(node) is None:
            action = self.best(node)
            if action not in node.children:
                after = node.position.copy()
                after.states.setflags(write=True)
                play_on(after, action)
                node.children[action] = Node(after, node)
            node = node.children[action]
        first, speaker = node.visits == 0, self.speaker(node)
        if first:
            self.judge(node, speaker)
        if speaker is not None and node.ended is None:
            node.borrowed.append(speaker.mean())
            self.lent += 1
        at = node
        while at is not None:
            at.visits += 1
            self.speak(at)
            at = at.parent
        if first and node.certain and self.settings.sticky == "on":
            self.prove(node.parent)

    def speaker(self, node: Node) -> Node | None:
        """The twin of a node that has more visits, if transpositions are looked for and there is one."""
        if self.settings.transpositions == "off" or node.parent is None:
            return None
        found = self.speakers.get(twin_text(node))
        return found if found is not None and found.visits > node.visits else None

    def speak(self, node: Node) -> None:
        if self.settings.transpositions == "off" or node.parent is None or (node.ended and not node.proven):
            return
        text = twin_text(node)
        if not text:
            return
        if text not in self.speakers or self.speakers[text].visits < node.visits:
            self.speakers[text] = node

    def judge(self, node: Node, speaker: Node | None = None) -> None:
        state = node.position.state
        legal_count = len(legal(node.position))
        if legal_count == 0:
            node.ended, node.certain = ((-1.0, 0.0, 0.0) if state["ending"] == MATE else (0.0, 1.0, 0.0)), True
            return
        if node.parent is not None and state["ending"] != ON:
            node.ended, node.certain = (0.0, 1.0, 0.0), True
            return
        if self.settings.two_fold == "on" and node.depth >= 4:
            for plies in range(4, node.depth + 1, 2):
                if occurred(node.position, plies):
                    node.ended = (0.0, 1.0, float(plies))
                    return
        if speaker is not None:
            node.moves = speaker.moves
            return
        self.judged += 1
        found = self.evaluator.judge(node.position.states)
        logits = found.logits[0, : found.counts[0]].astype(np.float64)
        shares = np.exp((logits - logits.max()) / self.settings.policy_temperature)
        shares = (shares / shares.sum()).astype(np.float32)
        pairs = zip(found.actions[0], shares, strict=False)
        node.moves = sorted(((int(a), float(p)) for a, p in pairs), key=lambda pair: (-pair[1], pair[0]))
        node.own = (float(found.q[0]), float(found.chances[0, 1]), float(found.moves_left[0]))

    def prove(self, node: Node | None) -> None:
        """Settle a node below the root whose best result is sure, and those above it."""
        if node is None or node.parent is None or node.ended is not None:
            return
        bounds = [result_bounds(node.children.get(action)) for action, _ in node.moves]
        lower, upper = max(-high for _, high in bounds), max(-low for low, _ in bounds)
        if lower == upper:
            ends = [child.ended[2] for child in node.children.values() if child.proven or child.certain]
            wins = [
                child.ended[2]
                for child in node.children.values()
                if (child.proven or child.certain) and child.ended[0] == -1
            ]
            node.ended = (float(lower), float(lower == 0), 1 + (min(wins) if lower == 1 else max(ends)))
            node.proven = True
        self.prove(node.parent)

    def best(self, node: Node) -> int:
        s, n = self.settings, node.visits
        q, _, m = node.mean()
        visited = sum(p for a, p in node.moves if a in node.children and node.children[a].visits > 0)
        cpuct = s.cpuct + s.cpuct_factor * math.log((n + s.cpuct_base) / s.cpuct_base)
        best, score_of_best = None, -math.inf
        for action, prior in node.moves:
            if self.only and node is self.root and action not in self.only:
                continue
            child = node.children.get(action)
            visits = child.visits if child else 0
            if visits > 0:
                mean = child.mean()
                value = -mean[0]
                if self.lengths and abs(q) > s.m_threshold:
                    value += self.length(-mean[0], mean[2], m)
            else:
                value = s.fpu_value if s.fpu == "absolute" else q - s.fpu_value * math.sqrt(visited)
            score = value + cpuct * math.sqrt(max(n - 1, 1)) * prior / (1 + visits)
            if score > score_of_best:
                best, score_of_best = action, score
        return best

    def length(self, q: float, m: float, parent_m: float) -> float:
        s = self.settings
        u = max(-s.m_max_effect, min(s.m_max_effect, s.m_slope * (m - parent_m)))
        u *= (q < 0) - (q > 0)
        a = abs(q)
        if 0 < s.m_threshold < 1:
            a = max(0.0, a - s.m_threshold) / (1 - s.m_threshold)
        return u * (s.m_constant + s.m_scaled * a + s.m_quadratic * a * a)


def twin_text(node: Node) -> str:
    """What twins have in common: board, mover, rights, and the clock once it is at 50; empty if they have none."""
    if any(occurred(node.position, plies) for plies in range(4, 1 + int(node.position.state["since"]), 2)):
        return ""
    board, mover, rights, passant, clock, _ = node.position.game.fen(node.position.state).split()
    return " ".join([board, mover, rights, passant, clock if int(clock) >= 50 else "early"])


def result_bounds(child: Node | None) -> tuple[float, float]:
    """The least and the best result a node's mover can have, as far as that is proven."""
    if child is None or not (child.certain or child.proven):
        # what is known of an unsettled node: its own moves may rule out a result
        if child is None or child.ended is not None or not child.moves:
            return -1, 1
        bounds = [result_bounds(child.children.get(action)) for action, _ in child.moves]
        return max(-high for _, high in bounds), max(-low for low, _ in bounds)
    return child.ended[0], child.ended[0]


def legal(position: Position) -> list[int]:
    from rookery.lc0.search import legal_actions

    return legal_actions(position)


def play_on(position: Position, action: int) -> None:
    """Make a move, also in a position that is drawn."""
    from rookery.games.rules import play

    play(position.state, action)
